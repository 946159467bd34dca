/* QONNX's FloatQuant: floats rounded to a small float format and back,
 *
 *   y = decode(encode(clip(x / scale, -greatest, greatest))) * scale
 *
 * to the nearest, ties to even. Supported are the formats whose grid has a name here: exponent and
 * mantissa bits and the bias say which; max_val may leave out numbers at its end.
 * Source: QONNX's documentation of FloatQuant (opset 1), qonnx/custom_op/general/floatquant.py. */
#include <math.h>

#include "graph/onnx/op/op.h"

typedef struct grid {
    float exponent, mantissa, bias, greatest;
    assay_elem elem;
} grid;

static const grid grids[] = {{4, 3, 7, 448, {ASSAY_KIND_F8E4M3FN, 8, false}},
                             {5, 2, 15, 57344, {ASSAY_KIND_F8E5M2, 8, false}},
                             {3, 2, 3, 28, {ASSAY_KIND_F6E3M2, 6, false}},
                             {2, 3, 1, 7.5F, {ASSAY_KIND_F6E2M3, 6, false}},
                             {2, 1, 1, 6, {ASSAY_KIND_F4E2M1, 4, false}}};

/* Whether the format g has the number v above 0. */
static bool has(const grid *g, float v)
{
    int exponent;
    frexpf(v, &exponent); /* v < 2^exponent */
    const float least = 1 - g->bias - g->mantissa;
    const float step = fmaxf((float)exponent - 1 - g->mantissa, least);
    return v <= g->greatest && v == exp2f(step) * rintf(v / exp2f(step));
}

/* The format of the node's inputs 2 to 5; its greatest number is max_val. False after a failure. */
static bool read_grid(onnx_node *n, grid *out)
{
    grid g = {0};
    if (!onnx_one_float(n, 2, "exponent bit width", &g.exponent) ||
        !onnx_one_float(n, 3, "mantissa bit width", &g.mantissa) ||
        !onnx_one_float(n, 4, "exponent bias", &g.bias) ||
        !onnx_one_float(n, 5, "greatest value", &g.greatest))
        return false;
    /* where the formula ends by itself */
    const float end = (2 - exp2f(-g.mantissa)) * exp2f(exp2f(g.exponent) - 1 - g.bias);
    g.greatest = fminf(g.greatest, end);
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        *out = grids[i];
        out->greatest = g.greatest;
        if (g.exponent == grids[i].exponent && g.mantissa == grids[i].mantissa &&
            g.bias == grids[i].bias && g.greatest > 0 && has(&grids[i], g.greatest))
            return true;
    }
    onnx_refuse(n,
                "a float of %g exponent and %g mantissa bits, bias %g, up to %g; supported are "
                "4 and 3, bias 7, up to 448; 5 and 2, 15, 57344; 3 and 2, 3, 28; 2 and 3, 1, 7.5; "
                "2 and 1, 1, 6",
                (double)g.exponent, (double)g.mantissa, (double)g.bias, (double)g.greatest);
    return false;
}

void onnx_import_qonnx_float(onnx_node *n)
{
    static const char *const modes[] = {"ROUND", "round", NULL};
    onnx_value *x = onnx_in(n, 0), *scale = onnx_in(n, 1);
    const assay_type t = onnx_type(n, x);

    onnx_choice(n, "rounding_mode", modes, 0);
    if (!n->status && onnx_int(n, "saturation", 1) == 0)
        onnx_refuse(n, "saturation 0");
    if (!n->status && t.elem.kind != ASSAY_KIND_F32)
        onnx_refuse(n, "an input that is not float32");
    grid g;
    if (n->status || !read_grid(n, &g))
        return;
    const assay_attrs ends = {.clip = {.lo = -g.greatest, .hi = g.greatest}};
    x = onnx_op2(n, ASSAY_OP_DIV, NULL, x, scale, "scaled");
    x = onnx_op1(n, ASSAY_OP_CLIP, &ends, x, "clipped");
    x = onnx_to_small(n, x, g.elem, "codes");
    x = onnx_from_small(n, x, "numbers");
    onnx_op2(n, ASSAY_OP_MUL, NULL, x, scale, NULL);
}
