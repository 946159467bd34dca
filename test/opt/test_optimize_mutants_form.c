/* Mutated rules that sink, move, or change forms and layouts: each is caught by its proof, with a
 * counterexample. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

#include "opt/lower/pass.h"

REWRITE_MUTANT(arms_exchanged, "sink-move", {
    int arm;
    if ((n = rewrite_find(g, ASSAY_OP_SELECT))) {
        arm = n->in[1];
        n->in[1] = n->in[2];
        n->in[2] = arm;
    }
})
REWRITE_MUTANT(another_neighbour, "sink-move", {
    if ((n = rewrite_find(g, ASSAY_OP_RESIZE)))
        n->attr.resize.nearest = ASSAY_NEAREST_CEIL;
})
REWRITE_MUTANT(wider_window, "absorb-down-lrn", {
    if ((n = rewrite_find(g, ASSAY_OP_LRN)))
        n->attr.lrn.size = 1;
})
REWRITE_MUTANT(weights_not_transposed, "matmul-to-fc", {
    if ((n = rewrite_find(g, ASSAY_OP_FC)))
        n->in[1] = g->node[g->value[n->in[1]].producer].in[0];
})
REWRITE_MUTANT(bias_forgotten, "fc-to-matmul", {
    assay_node *add = rewrite_find(g, ASSAY_OP_ADD);
    if ((n = rewrite_find(g, ASSAY_OP_RELABEL)) && add)
        for (int i = 0; i < g->n_nodes; i++)
            if (g->node[i].op == ASSAY_OP_RELABEL && g->node[i].in[0] == add->out[0])
                g->node[i].in[0] = add->in[0];
})
REWRITE_MUTANT(cells_exchanged, "to-nhwc", {
    if ((n = rewrite_find(g, ASSAY_OP_CONV))) {
        assay_list *perm = &g->node[g->value[n->in[1]].producer].attr.perm.perm;
        perm->v[1] = 3;
        perm->v[2] = 2;
    }
})
REWRITE_MUTANT(padding_on_the_other_side, "to-nhwc", {
    if ((n = rewrite_find(g, ASSAY_OP_MAX_POOL))) {
        const assay_list begin = n->attr.pool.pad_begin;
        n->attr.pool.pad_begin = n->attr.pool.pad_end;
        n->attr.pool.pad_end = begin;
    }
})
REWRITE_MUTANT(transposed_back_otherwise, "conv-to-fc", {
    if ((n = rewrite_find(g, ASSAY_OP_TRANSPOSE)))
        for (int i = 0; i < g->n_nodes; i++)
            if (g->node[i].op == ASSAY_OP_TRANSPOSE && g->node[i].in[0] != g->input[0]) {
                assay_list *perm = &g->node[i].attr.perm.perm;
                int64_t v = perm->v[2];
                perm->v[2] = perm->v[3];
                perm->v[3] = v;
            }
})

/* Glow's own: the sums are rounded to the layer's type before the bias is added. */
static assay_status requantized_twice(assay_graph *g, const assay_match *m,
                                      const assay_rule_image *image, assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    const int y = n->out[0], bias = n->in[2];
    int sums, unused;
    (void)image;
    assay_status s = assay_graph_add_value(g, "rounded", &g->value[y].type, &sums, err);
    if (s)
        return s;
    n = &g->node[m->lower];
    n->n_in = 2;
    lower_rewrite_output(g, m->lower, sums);
    (void)bias;
    s = assay_graph_add_node(g, ASSAY_OP_RESCALE, NULL, &sums, 1, &y, 1, NULL, &unused, err);
    return s ? s : assay_graph_compact(g, NULL, err);
}

/* The pad goes on filling with its old code. */
static assay_status old_filling(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                                assay_error *err)
{
    assay_match other = *m;
    other.fills = false;
    return rewrite_rule("sink-move")->rewrite(g, &other, image, err);
}

static assay_status zeros_instead(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    const int8_t zeros[64] = {0};
    return rewrite_with_data("constant-move", g, m, image, zeros, err);
}

/* Linear, as if it only moved. */
static bool any_resize(const assay_graph *g, const int *uses, assay_match *m)
{
    return g->node[m->lower].op == ASSAY_OP_RESIZE &&
           rewrite_rule("sink-interpolation")->matches(g, uses, m);
}

/* Convolutions of several cells too. */
static bool any_conv(const assay_graph *g, const int *uses, assay_match *m)
{
    (void)uses;
    return g->node[m->lower].op == ASSAY_OP_CONV;
}

/* Reads one cell in two, as if it read all. */
static assay_status stride_forgotten(assay_graph *g, const assay_match *m,
                                     const assay_rule_image *image, assay_error *err)
{
    assay_attr_conv *a = &g->node[m->lower].attr.conv;
    (void)image;
    (void)err;
    a->pad_begin.v[0]++;
    a->pad_end.v[0]--;
    return ASSAY_OK;
}

#define A "graph t { input x: i8[1,1,3,3] q(0.1,0) a: i8[1,1,3,3] q(0.3,5) = rescale(x)\n"
#define IMAGE                                                                                      \
    "graph t { input x: i8[1,2,4,4] q(0.1,3)\n"                                                    \
    "const w: i8[1,2,2,2] q(0.01,0) = [1,2,3,4,-90,100,-110,120]\n"
#define LAYER                                                                                      \
    "graph t { input x: i8[2,2] q(0.1,4) const w: i8[2,2] q(0.01,0) = [1,-70,90,120]\n"            \
    "const b: i32[2] q(0.001,0) = [1000,-2000]\n"

static void mutants_are_caught(void **state)
{
    const rewrite_mutant mutants[] = {
        {"a padding that is not mapped", "sink-move", ASSAY_PROVE_MOVE, NULL, old_filling,
         A "b: i8[1,1,3,4] q(0.3,5) = pad(a) {begin=[0,0,0,1],end=[0,0,0,0],has_code=true,code=25}"
           " output b }"},
        {"the arms of a choice exchanged", "sink-move", ASSAY_PROVE_MOVE, NULL, arms_exchanged,
         "graph t { input p: bool[4] input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
         "a: i8[4] q(0.3,5) = rescale(x) b: i8[4] q(0.3,5) = rescale(z)\n"
         "c: i8[4] q(0.3,5) = select(p, a, b) output c }"},
        {"another neighbour", "sink-move", ASSAY_PROVE_MOVE, NULL, another_neighbour,
         A "b: i8[1,1,5,7] q(0.3,5) = resize(a) {size=[1,1,5,7]} output b }"},
        {"a linear resize sunk as if it moved", "sink-move", ASSAY_PROVE_MOVE, any_resize, NULL,
         A "b: i8[1,1,5,7] q(0.3,5) = resize(a) {mode=linear,size=[1,1,5,7]} output b }"},
        {"another window of channels", "absorb-down-lrn", ASSAY_PROVE_GAINS, NULL, wider_window,
         "graph t { input x: i8[1,4,2,2] q(0.5,0) a: u8[1,4,2,2] q(0.5,128) = rescale(x)\n"
         "l: i8[1,4,2,2] q(0.25,3) = lrn(a) {size=3,alpha=0.01} output l }"},
        {"a relu dropped behind a normalization", "absorb-up-lrn", ASSAY_PROVE_GAINS, NULL, NULL,
         "graph t { input x: i8[1,4,2,2] q(0.5,0)\n"
         "l: i8[1,4,2,2] q(0.25,3) = lrn(x) {size=3,alpha=0.01}\n"
         "r: i8[1,4,2,2] q(0.25,3) = relu(l) output r }"},
        {"weights that were not transposed", "matmul-to-fc", ASSAY_PROVE_FORM, NULL,
         weights_not_transposed, LAYER "y: i8[2,2] q(0.5,3) = matmul(x,w) output y }"},
        {"a bias forgotten", "fc-to-matmul", ASSAY_PROVE_FORM, NULL, bias_forgotten,
         LAYER "y: i8[2,2] q(0.5,3) = fc(x,w,b) output y }"},
        {"sums that are rounded twice", "fc-to-matmul", ASSAY_PROVE_FORM, NULL, requantized_twice,
         LAYER "y: i8[2,2] q(0.5,3) = fc(x,w,b) output y }"},
        {"a result transposed back otherwise", "conv-to-fc", ASSAY_PROVE_FORM, NULL,
         transposed_back_otherwise,
         "graph t { input x: i8[1,2,3,3] q(0.1,3) const w: i8[3,2,1,1] q(0.01,0) = [1,2,3,4,5,6]\n"
         "c: i8[1,3,3,3] q(0.5,1) = conv(x,w) output c }"},
        {"weights whose cells are exchanged", "to-nhwc", ASSAY_PROVE_LAYOUT, NULL, cells_exchanged,
         IMAGE "c: i8[1,1,3,3] q(0.5,1) = conv(x,w) {kernel=[2,2]} output c }"},
        {"a padding on the other side", "to-nhwc", ASSAY_PROVE_LAYOUT, NULL,
         padding_on_the_other_side,
         IMAGE "c: i8[1,2,4,4] q(0.1,3) = max_pool(x) {kernel=[2,2],pad_begin=[1,1]} output c }"},
        {"a layer in place that reads other cells", "conv-to-fc", ASSAY_PROVE_FORM, any_conv,
         stride_forgotten,
         IMAGE "c: i8[1,1,4,3] q(0.5,1) = conv(x,w) {kernel=[2,2],pad_end=[1,0]} output c }"},
        {"another constant", "constant-move", ASSAY_PROVE_MOVED, NULL, zeros_instead,
         "graph t { input x: i8[2,3] q(0.1,0) const k: i8[3,2] q(0.1,0) = [1,2,3,4,5,6]\n"
         "r: i8[2,3] q(0.1,0) = transpose(k) {perm=[1,0]}\n"
         "y: i8[2,3] q(0.2,0) = add(x,r) output y }"},
    };
    (void)state;
    rewrite_catches(mutants, sizeof mutants / sizeof *mutants);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mutants_are_caught),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
