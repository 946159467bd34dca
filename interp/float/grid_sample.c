/* grid_sample: y[n, c, o..] = x[n, c, .] at the place grid[n, o.., .], which names the last axis of
 * x first and runs from -1 to 1 along each:
 *
 *   p = (g + 1) / 2 * (L - 1)   align_corners        p = ((g + 1) * L - 1) / 2   otherwise
 *
 * nearest   x at p rounded, half to even
 * linear    the two neighbours along each axis, with weights 1 - |p - i|
 * cubic     the four along each axis, Keys' kernel with a = -0.75
 *
 * Outside of x stand zeros, its border, or its reflection about the borders (of cells, or of their
 * middles where corners are aligned). The last axis is summed first. Source: GridSample in
 * Operators.md of github.com/onnx/onnx. */
#include <math.h>

#include "interp/float/float.h"
#include "interp/move/move.h"

#define TAPS 4
#define AXES 3
#define FAR  16777216.0F /* places beyond are as good as there */

typedef struct taps {
    float place;
    int n;
    int64_t at[TAPS]; /* elements of x, -1 for a zero */
    float weight[TAPS];
} taps;

/* Mirrored until it lies between the two. */
static float reflected(float p, float lo, float hi)
{
    const float range = hi - lo, out = p < lo ? lo - p : p - hi;
    if (out <= 0)
        return p;
    if (range <= 0)
        return lo;
    const float times = floorf(out / range), rest = out - times * range;
    const bool even = fmodf(times, 2) == 0;
    return (p < lo) == even ? lo + rest : hi - rest;
}

typedef struct axis {
    int64_t extent;
    int padding;
    float lo, hi; /* what is reflected about */
} axis;

static int64_t cell(const axis *a, float p)
{
    const float last = (float)(a->extent - 1);
    if (p >= 0 && p <= last)
        return (int64_t)p;
    if (a->padding == ASSAY_GRID_ZEROS)
        return -1;
    if (a->padding == ASSAY_GRID_REFLECTION)
        p = reflected(p, a->lo, a->hi);
    return p < 0 ? 0 : p > last ? a->extent - 1 : (int64_t)p;
}

static float keys(float d)
{
    const float a = -0.75F;
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
}

/* What is read along an axis for the place p. */
static taps taps_at(const axis *a, int mode, float p)
{
    taps t = {.place = p, .n = 1, .weight = {1}};

    p = p < -FAR || isnan(p) ? -FAR : p > FAR ? FAR : p;
    if (mode == ASSAY_RESIZE_NEAREST)
        p = nearbyintf(p);
    if (mode != ASSAY_RESIZE_CUBIC && a->padding == ASSAY_GRID_BORDER)
        p = fminf(fmaxf(p, 0), (float)(a->extent - 1));
    if (mode != ASSAY_RESIZE_CUBIC && a->padding == ASSAY_GRID_REFLECTION)
        p = reflected(p, a->lo, a->hi);
    if (mode == ASSAY_RESIZE_NEAREST) {
        t.at[0] = cell(a, p);
        return t;
    }
    const float first = floorf(p) - (mode == ASSAY_RESIZE_CUBIC);
    t.n = mode == ASSAY_RESIZE_CUBIC ? TAPS : 2;
    for (int i = 0; i < t.n; i++) {
        const float d = fabsf(p - (first + (float)i));
        t.weight[i] = mode == ASSAY_RESIZE_CUBIC ? keys(d) : 1 - d;
        t.at[i] = cell(a, first + (float)i);
    }
    return t;
}

/* The weighted sum over axis `k` of `axes` and those behind it. */
static float sampled(const float *x, const taps *t, const int64_t *step, int k, int axes,
                     const assay_teller *teller)
{
    float sum = 0;
    for (int i = 0; i < t[k].n; i++) {
        const float *from = x + (t[k].at[i] < 0 ? 0 : t[k].at[i] * step[k]);
        const float v = t[k].at[i] < 0  ? 0
                        : k + 1 == axes ? *from
                                        : sampled(from, t, step, k + 1, axes, teller);
        sum = i == 0 ? t[k].weight[i] * v : sum + t[k].weight[i] * v;
        if (k + 1 == axes || t[k].at[i] < 0)
            apply_tell_float(teller, t[k].at[i] < 0 ? "zero beyond the border" : "x", v);
        apply_tell_float(teller, "weight", t[k].weight[i]);
        apply_tell_float(teller, "sum so far", sum);
    }
    apply_tell(teller, "sum along axis", 2 + k);
    apply_tell_float(teller, "sum", sum);
    return sum;
}

/* Where x is read: the cells of each axis. */
static void tell_taps(const assay_teller *t, const taps *of, int axes)
{
    for (int k = 0; t && k < axes; k++) {
        apply_tell(t, "axis", 2 + k);
        apply_tell_float(t, "place", of[k].place);
        for (int i = 0; i < of[k].n; i++)
            apply_tell(t, "cell", of[k].at[i]);
    }
}

assay_status float_grid_sample(assay_call *call, assay_error *err)
{
    const assay_type *x = call->in[0].type;
    const assay_attr_grid *a = &call->node->attr.grid;
    const int axes = x->rank - 2;
    const int64_t places = move_extent(call->out[0].type, 2, x->rank),
                  image = move_extent(x, 2, x->rank);
    const float *grid = call->in[1].data;
    int64_t step[ASSAY_MAX_RANK];
    axis along[AXES];
    taps t[AXES];

    (void)err;
    move_c_steps(x, step);
    for (int k = 0; k < axes; k++) {
        const float last = (float)(x->dim[2 + k] - 1);
        along[k] = (axis){x->dim[2 + k], a->padding, 0, last};
        if (!a->align_corners)
            along[k].lo = -0.5F, along[k].hi = last + 0.5F;
    }
    for (int64_t i = 0; i < x->dim[0] * places; i++) {
        const int64_t n = i / places;
        for (int k = 0; k < axes; k++) {
            const float g = grid[i * axes + axes - 1 - k] + 1, extent = (float)along[k].extent;
            t[k] = taps_at(&along[k], a->mode,
                           a->align_corners ? g / 2 * (extent - 1) : (g * extent - 1) / 2);
        }
        for (int64_t c = n * x->dim[1]; c < (n + 1) * x->dim[1]; c++) {
            const int64_t to = c * places + i % places;
            const assay_teller *teller = float_teller(call, to);
            tell_taps(teller, t, axes);
            ((float *)call->out[0].data)[to] =
                sampled((const float *)call->in[0].data + c * image, t, step + 2, 0, axes, teller);
        }
    }
    return ASSAY_OK;
}
