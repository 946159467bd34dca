/* Mutated rules: each is caught by its proof, with a counterexample. */
#include "test/support/rewrite_case.h"

#include <stdio.h>
#include <string.h>

#include "opt/lower/pass.h"

static const char pool[] = "graph t { input x: i8[1,1,4,4] q(0.1,0)\n"
                           "a: i8[1,1,4,4] q(0.13,5) = rescale(x)\n"
                           "b: i8[1,1,2,2] q(0.13,5) = %s(a) {kernel=[2,2],stride=[2,2]}\n"
                           "output b }";

static assay_status last_range_wins(assay_graph *g, const assay_match *m,
                                    const assay_rule_image *image, assay_error *err)
{
    (void)image;
    (void)err;
    g->node[m->lower].in[0] = g->node[m->upper[0]].in[0];
    return ASSAY_OK;
}

static assay_status off_by_one(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                               assay_error *err)
{
    assay_node *n = &g->node[m->lower];
    (void)image;
    (void)err;
    n->in[0] = g->node[m->upper[0]].in[0];
    n->has_code_bounds = true;
    n->code_lo = 21;
    n->code_hi = 30;
    return ASSAY_OK;
}

/* The rescale's work is forgotten: its input is declared to have the parameters of its output. */
static assay_status drop_rescale(assay_graph *g, const assay_match *m,
                                 const assay_rule_image *image, assay_error *err)
{
    int x = g->node[m->upper[0]].in[0];
    (void)image;
    g->node[m->lower].in[0] = x;
    return assay_graph_set_qparams(g, x, &g->value[g->node[m->upper[0]].out[0]].type.q, err);
}

/* The producer yields the output's codes under a zero point of its own. */
static assay_status wrong_zero_point(assay_graph *g, const assay_match *m,
                                     const assay_rule_image *image, assay_error *err)
{
    const float scale = g->value[g->node[m->lower].out[0]].type.q.scale[0];
    const int32_t zero = g->value[g->node[m->lower].out[0]].type.q.zero_point[0] + 1;
    assay_qparams q = {ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero};
    assay_status s = assay_graph_set_qparams(g, g->node[m->lower].out[0], &q, err);
    return s ? s : rewrite_rule("absorb-up")->rewrite(g, m, image, err);
}

/* One bound of the saturation is lost. */
static assay_status no_lower_bound(assay_graph *g, const assay_match *m,
                                   const assay_rule_image *image, assay_error *err)
{
    assay_rule_image wide = {-128, image ? image->hi : 127};
    return rewrite_rule("merge-rescales")->rewrite(g, m, &wide, err);
}

static bool average_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    int producer = n->in[0] >= 0 ? g->value[n->in[0]].producer : -1;
    (void)uses;
    if (n->op != ASSAY_OP_AVG_POOL || producer < 0 || g->node[producer].op != ASSAY_OP_RESCALE)
        return false;
    m->n_upper = 1;
    m->upper[0] = producer;
    m->slot[0] = 0;
    return true;
}

/* Transposes with another permutation while it is at it. */
static assay_status careless_sink(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    assay_list *perm = &g->node[m->lower].attr.perm.perm;
    for (int i = 0; i < perm->n; i++)
        perm->v[i] = i;
    return rewrite_rule("sink-move")->rewrite(g, m, image, err);
}

static assay_status pad_forgotten(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    g->node[m->lower].attr.conv.pad_begin.v[0]++;
    g->node[m->lower].attr.conv.pad_end.v[0]--;
    return rewrite_rule("pad-into-conv")->rewrite(g, m, image, err);
}

static assay_status constant_forgotten(assay_graph *g, const assay_match *m,
                                       const assay_rule_image *image, assay_error *err)
{
    const int8_t zeros[64] = {0};
    return rewrite_with_data("constant", g, m, image, zeros, err);
}

/* The table begins at the second code. */
static assay_status shifted_table(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    int8_t table[256] = {0};
    for (int i = 0; i < 255; i++)
        table[i] = ((const int8_t *)m->data)[i + 1];
    return rewrite_with_data("table", g, m, image, table, err);
}

static assay_status alias_output(assay_graph *g, const assay_match *m,
                                 const assay_rule_image *image, assay_error *err)
{
    (void)image;
    (void)err;
    assay_graph_replace_uses(g, g->node[m->lower].out[0], g->node[m->lower].in[0]);
    return ASSAY_OK;
}

static void mutants_are_caught(void **state)
{
    char average[400];
    snprintf(average, sizeof average, pool, "avg_pool");
    const char conv_rescale[] = "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
                                "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
                                "r: i8[1,2,2,2] q(0.5,7) = rescale(c) output r }";
    const char relu_chain[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.2,0) = rescale(x)\n"
                              "b: i8[4] q(0.2,0) = relu(a) output b }";
    const char into_conv[] = "graph t { input x: i8[1,1,3,3] q(0.2,0) a: i8[1,1,3,3] q(0.1,0) = "
                             "rescale(x)\n" REWRITE_CONV_PARTS
                             "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }";
    const char into_tanh[] = "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.05,3) = rescale(x)\n"
                             "c: i8[4] q(0.0078125,0) = tanh(a) output c }";
    const char narrow_tanh[] =
        "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.004,0) = rescale(x)\n"
        "c: i8[4] q(0.0078125,0) = tanh(a) output c }";
    const char two[] = "graph t { input x: u8[6] q(0.1,0)\n"
                       "a: u8[6] q(0.1,0) = rescale(x) codes[10,30]\n"
                       "b: u8[6] q(0.1,0) = rescale(a) codes[20,40] output b }";
    const char transpose[] =
        "graph t { input x: i8[2,2] q(0.1,0) a: i8[2,2] q(0.3,5) = rescale(x)\n"
        "b: i8[2,2] q(0.3,5) = transpose(a) {perm=[1,0]} output b }";
    const char add_rescale[] =
        "graph t { input x: i8[4] q(0.1,0) input z: i8[4] q(0.1,0)\n"
        "c: i8[4] q(0.2,0) = add(x, z) r: i8[4] q(0.2,5) = rescale(c) output r }";
    const char pad_conv[] = "graph t { input x: i8[1,1,3,3] q(0.1,5)\n" REWRITE_CONV_PARTS
                            "p: i8[1,1,5,5] q(0.1,5) = pad(x) {begin=[0,0,1,1],end=[0,0,1,1]}\n"
                            "c: i8[1,2,4,4] q(0.5,0) = conv(p,w,b) {kernel=[2,2]} output c }";
    const char doubled[] = "graph t { input x: i4[1,1,3,3] q(0.25,0)\n"
                           "const w: i8[1,1,2,2] q(0.0078125,0) = [1,2,3,4]\n"
                           "const b: i32[1] q(0.0009765625,0) = [100]\n"
                           "a: i8[1,1,3,3] q(0.125,0) = rescale(x)\n"
                           "c: i8[1,1,2,2] q(0.015625,0) = conv(a,w,b) {kernel=[2,2]} output c }";
    const char constant[] =
        "graph t { input x: i8[3] q(0.1,0) const k: i8[3] q(0.1,0) = [10,-20,30]\n"
        "r: i8[3] q(0.2,1) = rescale(k) y: i8[3] q(0.2,0) = add(x,r) output y }";
    const char transposed[] = "graph t { input x: i8[2,2,2] q(0.1,0)\n"
                              "a: i8[2,2,2] q(0.1,0) = transpose(x) {perm=[2,0,1]}\n"
                              "b: i8[2,2,2] q(0.1,0) = transpose(a) {perm=[2,1,0]} output b }";
    const char functions[] = "graph t { input x: i8[4] q(0.1,3)\n"
                             "a: i8[4] q(0.00390625,-128) = sigmoid(x)\n"
                             "b: i8[4] q(0.05,1) = square(a) output b }";
    const char siblings[] = "graph t { input x: i8[4] q(0.1,3) a: i8[4] q(0.1,0) = rescale(x)\n"
                            "b: i8[4] q(0.1,0) = rescale(x) codes[0,9]\n"
                            "c: i8[4] q(0.1,0) = add(a,b) output c }";
    const char quantized[] = "graph t { input x: f32[4] q: i8[4] q(0.1,3) = quantize(x)\n"
                             "r: i8[4] q(0.1,3) = relu(q) output r }";
    const char averaged[] = "graph t { input x: i8[1,1,4,4] q(0.1,3)\n"
                            "b: i8[1,1,2,2] q(0.1,3) = avg_pool(x) {kernel=[2,2],stride=[2,2]}\n"
                            "r: i8[1,1,2,2] q(0.1,3) = relu(b) output r }";
    const char averaged_rescale[] =
        "graph t { input x: i8[1,1,4,4] q(0.1,0) a: i8[1,1,4,4] q(0.13,5) = rescale(x)\n"
        "b: i8[1,1,2,2] q(0.13,5) = avg_pool(a) {kernel=[2,2],stride=[2,2]} output b }";
    const char bounded[] = "graph t { input x: i8[4] q(0.1,0) const lo: i8[1] q(0.1,0) = [-30]\n"
                           "b: i8[4] q(0.1,0) = max(x,lo) output b }";
    const rewrite_mutant mutants[] = {
        {"last range wins", "merge-rescales", ASSAY_PROVE_CODES, NULL, last_range_wins, two},
        {"a bound off by one", "merge-rescales", ASSAY_PROVE_CODES, NULL, off_by_one, two},
        {"a bound lost", "merge-rescales", ASSAY_PROVE_CODES, NULL, no_lower_bound, relu_chain},
        {"relu dropped", "identity", ASSAY_PROVE_CODES, NULL, alias_output, relu_chain},
        {"rescale dropped before conv", "absorb-down-weighted", ASSAY_PROVE_LINEAR, NULL,
         last_range_wins, into_conv},
        {"rescale dropped, parameters forged", "absorb-down", ASSAY_PROVE_CODES, NULL, drop_rescale,
         into_tanh},
        {"wrong zero point after conv", "absorb-up-weighted", ASSAY_PROVE_ACCUMULATORS, NULL,
         wrong_zero_point, conv_rescale},
        {"wrong zero point after add", "absorb-up", ASSAY_PROVE_CODES, NULL, wrong_zero_point,
         add_rescale},
        {"average pool sunk", "sink-order", ASSAY_PROVE_ORDER, average_matches, NULL, average},
        {"average pool sunk as if it moved", "sink-move", ASSAY_PROVE_MOVE, average_matches, NULL,
         average},
        {"transposed otherwise", "sink-move", ASSAY_PROVE_MOVE, NULL, careless_sink, transpose},
        {"padding on one side only", "pad-into-conv", ASSAY_PROVE_PADDING, NULL, pad_forgotten,
         pad_conv},
        {"bias left in the old unit", "absorb-down-weighted", ASSAY_PROVE_LINEAR, NULL,
         last_range_wins, doubled},
        {"another constant", "constant", ASSAY_PROVE_CONSTANT, NULL, constant_forgotten, constant},
        {"a transpose dropped", "merge-moves", ASSAY_PROVE_INDICES, NULL, last_range_wins,
         transposed},
        {"a table off by one", "table", ASSAY_PROVE_TABLE, NULL, shifted_table, functions},
        {"two nodes that differ in bounds", "common", ASSAY_PROVE_SAME, rewrite_first_two, NULL,
         siblings},
        {"relu dropped behind quantize", "absorb-up-quantize", ASSAY_PROVE_FLOATS, NULL, NULL,
         quantized},
        {"relu dropped behind an average", "absorb-up-average", ASSAY_PROVE_SUMS, NULL, NULL,
         averaged},
        {"average pool sunk with its proof", "sink-average", ASSAY_PROVE_AVERAGE, NULL, NULL,
         averaged_rescale},
        {"the bound of a choice dropped", "choice-to-clip", ASSAY_PROVE_CODES, NULL, NULL, bounded},
        {"saturation dropped before tanh", "absorb-down", ASSAY_PROVE_CODES, NULL, last_range_wins,
         narrow_tanh},
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
