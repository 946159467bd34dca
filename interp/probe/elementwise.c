/* Elementwise ops: every pair of codes into an op of two, every code into a table. */
#include <stdio.h>
#include <string.h>

#include "interp/probe/makers.h"

enum { SIDE = 256, SOME = 96, SCALES = 16, SLOPES = 32 };

static enum assay_op op_of(const char *name)
{
    int op = 0;
    while (strcmp(assay_op_get((enum assay_op)op)->name, name) != 0)
        op++;
    return (enum assay_op)op;
}

void probe_pairs(probe_net *n, const char *op)
{
    static const struct {
        double a, b, out;
        int a_zero, b_zero, out_zero; /* beside the family's */
    } scales[] = {
        {0.05, 0.05, 0.1, 0, 0, 0},
        {0.037, 0.0071, 0.0411, 4, -9, 6},
        {0.0625, 0.015625, 0.0625, 0, 3, 1},
        {0.013, 0.47, 0.31, -2, 1, -3},
    };
    const probe_types *t = n->types;
    const bool wide = t->activation.bits > 8;
    for (int k = 0; k < (int)(sizeof scales / sizeof *scales); k++) {
        const bool all =
            !wide && !n->varied; /* that ADD shifts by 20 bits and not 18 shows in few of them */
        const int64_t side = all ? SIDE : SOME;
        const double of[2] = {probe_vary(n, scales[k].a), probe_vary(n, scales[k].b)};
        const double half =
            (double)(assay_elem_max(t->activation) / 2 - assay_elem_min(t->activation) / 2);
        /* a product of codes from all of their range fills the result's */
        const double product = of[0] * of[1] * half;
        const double plain = probe_vary(n, scales[k].out);
        const double out = strcmp(op, "mul") != 0 ? plain
                           : k == 2 /* ties */    ? of[0] * of[1] * 64
                                                  : product * plain / 0.1;
        const int zero[2] = {wide ? 0 : t->zero_point + scales[k].a_zero,
                             wide ? 0 : t->zero_point + scales[k].b_zero};
        char name[3][32];
        int in[2];
        snprintf(name[0], sizeof name[0], "a%d", k);
        snprintf(name[1], sizeof name[1], "b%d", k);
        snprintf(name[2], sizeof name[2], "%s%d", op, k);
        for (int i = 0; i < 2; i++) {
            const assay_type type =
                probe_type(n, t->activation, PROBE_SHAPE(side, side), of[i], zero[i]);
            void *data = probe_input(n, name[i], type, &in[i]);
            for (int64_t j = 0; data && j < side * side; j++)
                assay_elem_set(type.elem, data, (size_t)j,
                               probe_code(n, type.elem,
                                          !all ? probe_between(n, 0, 255)
                                          : i  ? j / side
                                               : j % side));
        }
        probe_node(n, op_of(op), name[2], in, 2,
                   probe_type(n, t->activation, PROBE_SHAPE(side, side), out,
                              wide ? 0 : t->zero_point + scales[k].out_zero),
                   NULL, all ? "every pair of codes" : "pairs of codes");
    }
}

/* What targets fix of an output: sigmoid's is a 256th (a 32768th), tanh's a 128th. */
static assay_type fixed_type(probe_net *n, const char *op, probe_shape shape, double scale, int k)
{
    const assay_elem e = n->types->activation;
    const double codes = (double)assay_elem_max(e) - (double)assay_elem_min(e) + 1;
    const bool wide = e.bits > 8;
    if (strcmp(op, "sigmoid") == 0)
        return probe_type(n, e, shape, wide ? 2 / codes : 1 / codes,
                          wide ? 0 : (int32_t)assay_elem_min(e));
    if (strcmp(op, "tanh") == 0)
        return probe_type(n, e, shape, 2 / codes, e.is_signed ? 0 : 128);
    return probe_type(n, e, shape, scale, wide ? 0 : n->types->zero_point + k);
}

void probe_prelu(probe_net *n, const char *op)
{
    static const struct {
        double in, slope, out;
    } scales[] = {{0.047, 0.011, 0.031},
                  {0.0625, 0.0078125, 0.0625},
                  {0.0213, 0.0039, 0.0217},
                  {0.05, 0.02, 0.0903}};
    const probe_types *t = n->types;
    const bool wide = t->activation.bits > 8;
    for (int k = 0; k < (int)(sizeof scales / sizeof *scales); k++) {
        const probe_shape shape = PROBE_SHAPE(1, SIDE, 1, SLOPES),
                          slopes = PROBE_SHAPE(1, 1, SLOPES);
        const double in_scale = probe_vary(n, scales[k].in);
        char name[3][16];
        int in[2];
        snprintf(name[0], sizeof name[0], "x%d", k);
        snprintf(name[1], sizeof name[1], "slope%d", k);
        snprintf(name[2], sizeof name[2], "%s%d", op, k);
        const assay_type type =
            probe_type(n, t->activation, shape, in_scale, wide ? 0 : t->zero_point + k);
        void *data = probe_input(n, name[0], type, &in[0]);
        for (int64_t i = 0; data && i < SIDE * SLOPES; i++)
            assay_elem_set(type.elem, data, (size_t)i, probe_code(n, type.elem, i / SLOPES));
        const assay_type of = probe_type(n, t->activation, slopes, probe_vary(n, scales[k].slope),
                                         wide ? 0 : t->zero_point - k);
        void *slope = probe_constant(n, name[1], of, &in[1]);
        for (int64_t i = 0; slope && i < SLOPES; i++)
            assay_elem_set(
                of.elem, slope, (size_t)i,
                probe_code(n, of.elem,
                           i * (SIDE / SLOPES) + probe_between(n, 0, SIDE / SLOPES - 1)));
        probe_node(n, ASSAY_OP_PRELU, name[2], in, 2,
                   probe_type(n, t->activation, shape, probe_vary(n, scales[k].out),
                              wide ? 0 : t->zero_point + 2 * k),
                   NULL, "codes by slopes, one per channel");
    }
}

void probe_single(probe_net *n, const char *op)
{
    static const struct {
        double in, out;
    } scales[SCALES] = {{0.047, 0.031},     {0.0625, 0.125},  {0.0213, 0.0217}, {0.09, 0.011},
                        {0.001, 0.03},      {0.0625, 0.25},   {0.05, 0.0125},   {0.03, 0.0903},
                        {0.07, 0.0700001},  {0.0999, 0.1001}, {0.02, 0.04},     {0.015, 0.12},
                        {0.0312499, 0.125}, {0.06, 0.0199},   {0.08, 0.56},     {0.11, 0.0733333}};
    const probe_types *t = n->types;
    const bool wide = t->activation.bits > 8;
    const int64_t count = wide ? 4096 : 256;
    for (int k = 0; k < SCALES; k++) {
        const double factor = wide ? 1 / 256.0 : 1;
        char name[2][24];
        assay_attrs attr = {0};
        snprintf(name[0], sizeof name[0], "x%d", k);
        snprintf(name[1], sizeof name[1], "%s%d", op, k);
        const bool is_elu = strcmp(op, "elu") == 0; /* TFLite's has no other alpha */
        attr.alpha.alpha = is_elu ? 1 : k % 2 ? 0.125f : 0.21f;
        const int in = probe_codes(n, name[0],
                                   probe_type(n, t->activation, PROBE_SHAPE(1, count),
                                              probe_vary(n, scales[k].in) * factor,
                                              strcmp(op, "rsqrt") == 0 /* of nothing below 0 */
                                                  ? (int32_t)assay_elem_min(t->activation)
                                                  : wide ? 0 : t->zero_point + k));
        probe_node(
            n, op_of(op), name[1], &in, 1,
            fixed_type(n, op, PROBE_SHAPE(1, count), probe_vary(n, scales[k].out) * factor, k),
            is_elu || strcmp(op, "leaky_relu") == 0 ? &attr : NULL, wide ? "codes" : "every code");
    }
}
