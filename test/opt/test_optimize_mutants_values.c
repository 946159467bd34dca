/* Mutated rules that get a number wrong: a shift, a channel, a bound, a sign, an order. Each is
 * caught by its proof, with a counterexample. */
#include "test/support/rewrite_case.h"

#include <string.h>

/* ---- tables ---- */

static assay_status other_table(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                                int (*entry)(const int8_t *table, int i), assay_error *err)
{
    int8_t table[256];
    for (int i = 0; i < 256; i++)
        table[i] = (int8_t)entry(m->data, i);
    return rewrite_with_data("table", g, m, image, table, err);
}

static int halved(const int8_t *table, int i)
{
    return table[i] / 2;
}

static int by_unsigned_code(const int8_t *table, int i)
{
    return table[i ^ 128];
}

static int last_entry(const int8_t *table, int i)
{
    return i == 255 ? table[254] : table[i];
}

static assay_status shift_dropped(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    return other_table(g, m, image, halved, err);
}

static assay_status other_sign(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                               assay_error *err)
{
    return other_table(g, m, image, by_unsigned_code, err);
}

static assay_status entry_missing(assay_graph *g, const assay_match *m,
                                  const assay_rule_image *image, assay_error *err)
{
    return other_table(g, m, image, last_entry, err);
}

/* ---- channels ---- */

/* Each channel's weights get the scale of the next. */
static assay_status next_scale(assay_graph *g, int value, assay_error *err)
{
    assay_qparams q = g->value[value].type.q;
    float scale[8];
    for (size_t i = 0; i < q.count; i++)
        scale[i] = q.scale[(i + 1) % q.count];
    q.scale = scale;
    return assay_graph_set_qparams(g, value, &q, err);
}

REWRITE_MUTANT(scales_of_the_next_channel, "conv-to-fc", {
    if ((n = rewrite_find(g, ASSAY_OP_FC)))
        s = next_scale(g, n->in[1], err);
    if (!s && n)
        s = next_scale(g, g->node[g->value[n->in[1]].producer].in[0], err);
    if (s)
        return s;
})

/* The bias in the new unit, of the next channel; or one more than it is. */
static assay_status edit_bias(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                              bool next, assay_error *err)
{
    assay_status s = rewrite_rule("absorb-down-weighted")->rewrite(g, m, image, err);
    if (s)
        return s;
    const assay_node *n = &g->node[m->lower];
    int32_t *bias = (int32_t *)(uintptr_t)g->value[n->in[2]].data, first = bias[0];
    if (next) {
        bias[0] = bias[1];
        bias[1] = first;
    } else {
        bias[1]++;
    }
    return ASSAY_OK;
}

static assay_status bias_of_the_next_channel(assay_graph *g, const assay_match *m,
                                             const assay_rule_image *image, assay_error *err)
{
    return edit_bias(g, m, image, true, err);
}

static assay_status bias_off_by_one(assay_graph *g, const assay_match *m,
                                    const assay_rule_image *image, assay_error *err)
{
    return edit_bias(g, m, image, false, err);
}

/* ---- bounds ---- */

/* relu goes into the layer, but keeps the code below zero too. */
REWRITE_MUTANT(bound_off_by_one, "absorb-up-weighted", {
    if ((n = rewrite_find(g, ASSAY_OP_CONV))) {
        n->has_code_bounds = true;
        n->code_lo = g->value[n->out[0]].type.q.zero_point[0] - 1;
        n->code_hi = 127;
    }
})

/* max(x, -30), from which -30 itself is missing. */
REWRITE_MUTANT(clip_off_by_one, "choice-to-clip", {
    if ((n = rewrite_find(g, ASSAY_OP_RESCALE))) {
        n->has_code_bounds = true;
        n->code_lo = -29;
        n->code_hi = 127;
    }
})

/* ---- padding ---- */

/* What is padded is 0 and not the zero point. */
static bool any_pad(const assay_graph *g, const int *uses, assay_match *m)
{
    return rewrite_rule("pad-into-conv")->matches(g, uses, m);
}

REWRITE_MUTANT(pads_with_zero, "sink-move", {
    if ((n = rewrite_find(g, ASSAY_OP_PAD))) {
        n->attr.pad.has_code = true;
        n->attr.pad.code = 0;
    }
})

/* ---- order ---- */

REWRITE_MUTANT(parts_exchanged, "sink-move", {
    if ((n = rewrite_find(g, ASSAY_OP_CONCAT))) {
        const int first = n->in[0];
        n->in[0] = n->in[1];
        n->in[1] = first;
    }
})
REWRITE_MUTANT(results_exchanged, "sink-move", {
    if ((n = rewrite_find(g, ASSAY_OP_SPLIT))) {
        const int first = n->out[0];
        n->out[0] = n->out[1];
        n->out[1] = first;
        g->value[n->out[0]].producer = g->value[n->out[1]].producer = (int)(n - g->node);
    }
})
REWRITE_MUTANT(transposed_the_other_way, "sink-transpose", {
    if ((n = rewrite_find(g, ASSAY_OP_TRANSPOSE))) {
        assay_list inverse = n->attr.perm.perm;
        for (int i = 0; i < inverse.n; i++)
            inverse.v[n->attr.perm.perm.v[i]] = i;
        n->attr.perm.perm = inverse;
    }
})

/* ---- what is the same, what is an average ---- */

static bool any_mean(const assay_graph *g, const int *uses, assay_match *m)
{
    return rewrite_rule("sink-average")->matches(g, uses, m);
}

static assay_status not_divided(assay_graph *g, const assay_match *m, const assay_rule_image *image,
                                assay_error *err)
{
    (void)image;
    (void)err;
    g->node[m->lower].op = ASSAY_OP_REDUCE_SUM;
    return ASSAY_OK;
}

/* ---- sums ---- */

REWRITE_MUTANT(bias_of_sums_forgotten, "sums-to-fc", {
    if ((n = rewrite_find(g, ASSAY_OP_FC)))
        n->n_in = 2;
})
REWRITE_MUTANT(weights_of_sums_not_transposed, "sums-to-fc", {
    if ((n = rewrite_find(g, ASSAY_OP_FC)))
        n->in[1] = g->node[g->value[n->in[1]].producer].in[0];
})

/* Rescales after a layer that are read as one of twice the scale. */
static assay_status half_the_scale(assay_graph *g, const assay_match *m,
                                   const assay_rule_image *image, assay_error *err)
{
    const int x = g->node[m->upper[0]].in[0];
    const float scale = g->value[x].type.q.scale[0] / 2;
    assay_qparams q = g->value[x].type.q;
    q.scale = &scale;
    assay_status s = rewrite_rule("merge-rescales")->rewrite(g, m, image, err);
    return s ? s : assay_graph_set_qparams(g, x, &q, err);
}

#define SUMMED                                                                                     \
    "graph t { input x: i8[2,2] q(0.1,4) const w: i8[2,2] q(0.01,0) = [1,-70,90,120]\n"            \
    "const b: i32[2] = [1000,-2000] s: i32[2,2] = matmul(x,w) t: i32[2,2] = add(s,b)\n"            \
    "c: i32[2,2] q(0.001,0) = relabel(t) y: i8[2,2] q(0.5,3) = rescale(c) output y }"
#define FUNCTIONS                                                                                  \
    "graph t { input x: i8[4] q(0.1,3) a: i8[4] q(0.00390625,-128) = sigmoid(x)\n"                 \
    "b: i8[4] q(0.005,-100) = sqrt(a) output b }"
#define DOUBLED                                                                                    \
    "graph t { input x: i4[1,1,3,3] q(0.25,0)\n"                                                   \
    "const w: i8[2,1,2,2] q(0.0078125,0) = [1,2,3,4,5,6,7,8]\n"                                    \
    "const b: i32[2] q(0.0009765625,0) = [100,-60]\n"                                              \
    "a: i8[1,1,3,3] q(0.125,0) = rescale(x)\n"                                                     \
    "c: i8[1,2,2,2] q(0.015625,0) = conv(a,w,b) {kernel=[2,2]} output c }"

static void mutants_are_caught(void **state)
{
    const rewrite_mutant mutants[] = {
        {"a table that forgot a shift", "table", ASSAY_PROVE_TABLE, NULL, shift_dropped, FUNCTIONS},
        {"a table by unsigned codes", "table", ASSAY_PROVE_TABLE, NULL, other_sign, FUNCTIONS},
        {"a table without its last entry", "table", ASSAY_PROVE_TABLE, NULL, entry_missing,
         "graph t { input x: i8[4] q(0.02,3) a: i8[4] q(0.05,-128) = square(x)\n"
         "b: i8[4] q(0.05,127) = neg(a) output b }"},
        {"scales of the next channel", "conv-to-fc", ASSAY_PROVE_FORM, NULL,
         scales_of_the_next_channel,
         "graph t { input x: i8[1,2,3,3] q(0.1,3)\n"
         "const w: i8[3,2,1,1] q(axis=0,[0.01,0.02,0.05],[0,0,0]) = [1,2,3,4,5,6]\n"
         "c: i8[1,3,3,3] q(0.5,1) = conv(x,w) output c }"},
        {"a bias of the next channel", "absorb-down-weighted", ASSAY_PROVE_LINEAR, NULL,
         bias_of_the_next_channel, DOUBLED},
        {"a bias off by one", "absorb-down-weighted", ASSAY_PROVE_LINEAR, NULL, bias_off_by_one,
         DOUBLED},
        {"a bound off by one behind a layer", "absorb-up-weighted", ASSAY_PROVE_ACCUMULATORS, NULL,
         bound_off_by_one,
         "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
         "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
         "r: i8[1,2,2,2] q(0.5,0) = relu(c) output r }"},
        {"a clip off by one", "choice-to-clip", ASSAY_PROVE_CODES, NULL, clip_off_by_one,
         "graph t { input x: i8[4] q(0.1,0) const lo: i8[1] q(0.1,0) = [-30]\n"
         "b: i8[4] q(0.1,0) = max(x,lo) output b }"},
        {"another padding than the zero point", "pad-into-conv", ASSAY_PROVE_PADDING, any_pad, NULL,
         "graph t { input x: i8[1,1,3,3] q(0.1,5)\n" REWRITE_CONV_PARTS
         "p: i8[1,1,5,5] q(0.1,5) = pad(x) "
         "{begin=[0,0,1,1],end=[0,0,1,1],has_code=true,code=6}\n"
         "c: i8[1,2,4,4] q(0.5,0) = conv(p,w,b) {kernel=[2,2]} output c }"},
        {"a padding by zero", "sink-move", ASSAY_PROVE_MOVE, NULL, pads_with_zero,
         "graph t { input x: i8[1,3] q(0.1,7) a: i8[1,3] q(0.3,5) = rescale(x)\n"
         "b: i8[1,5] q(0.3,5) = pad(a) {begin=[0,1],end=[0,1]} output b }"},
        {"parts of a concat exchanged", "sink-move", ASSAY_PROVE_MOVE, NULL, parts_exchanged,
         "graph t { input x: i8[1,3] q(0.1,0) input z: i8[1,3] q(0.1,0)\n"
         "a: i8[1,3] q(0.3,5) = rescale(x) b: i8[1,3] q(0.3,5) = rescale(z)\n"
         "c: i8[1,6] q(0.3,5) = concat(a,b) {axis=1} output c }"},
        {"parts of a split exchanged", "sink-move", ASSAY_PROVE_MOVE, NULL, results_exchanged,
         "graph t { input x: i8[1,6] q(0.1,0) a: i8[1,6] q(0.3,5) = rescale(x)\n"
         "b: i8[1,3] q(0.3,5), c: i8[1,3] q(0.3,5) = split(a) {axis=1} output b output c }"},
        {"a permutation instead of its inverse", "sink-transpose", ASSAY_PROVE_ELEMENTS, NULL,
         transposed_the_other_way,
         "graph t { input x: i8[2,2,2] q(0.1,0)\n"
         "a: i8[2,2,2] q(0.1,0) = transpose(x) {perm=[1,2,0]}\n"
         "c: i8[2,2,2] q(0.3,0) = neg(a) output c }"},
        {"two nodes of other scales as one", "common", ASSAY_PROVE_SAME, rewrite_first_two, NULL,
         "graph t { input x: i8[4] q(0.1,3) a: i8[4] q(0.1,0) = rescale(x)\n"
         "b: i8[4] q(0.2,0) = rescale(x) c: i8[4] q(0.1,0) = add(a,b) output c }"},
        {"a mean sunk as if it moved", "sink-move", ASSAY_PROVE_MOVE, any_mean, NULL,
         "graph t { input x: i8[1,1,4,4] q(0.1,0) a: i8[1,1,4,4] q(0.13,5) = rescale(x)\n"
         "b: i8[1,1,1,1] q(0.13,5) = reduce_mean(a) {axes=[2,3],keepdims=true} output b }"},
        {"a sum sunk like an average", "sink-average", ASSAY_PROVE_AVERAGE, NULL, NULL,
         "graph t { input x: i8[1,1,2,2] q(0.1,0) a: i8[1,1,2,2] q(0.13,5) = rescale(x)\n"
         "b: i8[1,1,1,1] q(0.13,5) = reduce_sum(a) {axes=[2,3],keepdims=true} output b }"},
        {"a mean that is not divided", "mean-to-pool", ASSAY_PROVE_SUMS, NULL, not_divided,
         "graph t { input x: i8[1,4,2,2] q(0.1,0)\n"
         "b: i8[1,4,1,1] q(0.1,0) = reduce_mean(x) {axes=[2,3],keepdims=true} output b }"},
        {"the bias of sums forgotten", "sums-to-fc", ASSAY_PROVE_FORM, NULL, bias_of_sums_forgotten,
         SUMMED},
        {"weights of sums that were not transposed", "sums-to-fc", ASSAY_PROVE_FORM, NULL,
         weights_of_sums_not_transposed, SUMMED},
        {"half the scale on the way", "merge-rescales", ASSAY_PROVE_CODES, NULL, half_the_scale,
         "graph t { input x: i8[6] q(0.2,0) z: i8[6] q(0.2,0) = neg(x)\n"
         "a: i8[6] q(0.2,0) = rescale(z) b: i8[6] q(0.25,3) = rescale(a) output b }"},
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
