/* Floats to codes and back: ties, their neighbours, numbers beyond the codes. */
#include <math.h>
#include <stdio.h>

#include "interp/probe/makers.h"

enum { NUMBERS = 4096, SCALES = 4 };
static const double scales[SCALES] = {0.0625, 0.1, 0.037, 1.7};

void probe_quantize(probe_net *n, const char *op)
{
    const probe_types *t = n->types;
    for (int k = 0; k < SCALES; k++) {
        char name[2][24];
        int in;
        snprintf(name[0], sizeof name[0], "x%d", k);
        snprintf(name[1], sizeof name[1], "%s%d", op, k);
        const int32_t zero = t->activation.bits > 8 ? 0 : t->zero_point + k;
        const float scale = (float)probe_vary(n, scales[k]);
        float *x = probe_input(
            n, name[0], (assay_type){.elem = assay_f32(), .rank = 2, .dim = {1, NUMBERS}}, &in);
        for (int64_t i = 0; x && i < NUMBERS; i++) {
            const double code =
                (double)probe_code(n, t->activation, probe_between(n, 0, 255)) - zero;
            x[i] = (float)((code + (i % 2 ? 0.5 : probe_unit(n))) * (double)scale);
            if (i % 8 > 5)
                x[i] = nextafterf(x[i], i % 8 == 6 ? -INFINITY : INFINITY);
            if (i % 64 == 0)
                x[i] *= 4;
        }
        probe_node(n, ASSAY_OP_QUANTIZE, name[1], &in, 1,
                   probe_type(n, t->activation, PROBE_SHAPE(1, NUMBERS), scale, zero), NULL,
                   "floats at ties, beside them, and beyond the codes");
    }
}

void probe_dequantize(probe_net *n, const char *op)
{
    const probe_types *t = n->types;
    for (int k = 0; k < SCALES; k++) {
        char name[2][24];
        snprintf(name[0], sizeof name[0], "x%d", k);
        snprintf(name[1], sizeof name[1], "%s%d", op, k);
        const int in =
            probe_codes(n, name[0],
                        probe_type(n, t->activation, PROBE_SHAPE(1, 256), probe_vary(n, scales[k]),
                                   t->activation.bits > 8 ? 0 : t->zero_point + k));
        probe_node(n, ASSAY_OP_DEQUANTIZE, name[1], &in, 1,
                   (assay_type){.elem = assay_f32(), .rank = 2, .dim = {1, 256}}, NULL,
                   "every code, or some of many");
    }
}
