/* resize (ONNX Resize): y is x sampled at other positions, axis after axis. Output index o of an
 * axis with n_in inputs and n_out outputs, scale s = attr.scales or n_out/n_in, lies at
 *
 *   half_pixel            (o + 0.5)/s - 0.5        asymmetric     o/s
 *   pytorch_half_pixel    the same; 0 if n_out==1  align_corners  o*(n_in - 1)/(n - 1)
 *   half_pixel_symmetric  the same, about the centre of the input as scaled
 *
 * where n is n_out, or n_in*s before rounding when scales are given (ONNX's node tests say so),
 * and is the nearest input, the two beside it weighted by distance (linear), or the four about it
 * weighted by Keys' cubic with coefficient a. Inputs beyond an end are that end, or with
 * exclude_outside left out and the remaining weights scaled to sum 1.
 *
 * Linear in both axes of an image is one sum of four products in float32, as ONNX Runtime forms it
 * (its bits decide at the ties of a quantize behind): positions in float32, weights |x - at|, both
 * 1/2 where the two inputs are one; (wx*wy)*x from the first row's first column to the last. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/float/float.h"
#include "interp/move/move.h"

#define TAPS 4

/* What one output index of an axis is made of. */
typedef struct sample {
    int64_t at[TAPS];
    float weight[TAPS];
} sample;

static double position(const assay_attr_resize *a, int64_t o, int64_t n_in, int64_t n_out, double s)
{
    double half = ((double)o + 0.5) / s - 0.5, in = (double)n_in, out = (double)n_out;
    double scaled = a->scales.n > 0 ? in * s : out;
    switch ((enum assay_resize_coordinate)a->coordinate) {
    case ASSAY_COORD_ALIGN_CORNERS:
        return scaled == 1 ? 0 : (double)o * (in - 1) / (scaled - 1);
    case ASSAY_COORD_ASYMMETRIC:
        return (double)o / s;
    case ASSAY_COORD_TFLITE_HALF_PIXEL: { /* the cell that holds the centre, in binary32 */
        float step = (float)n_in / (float)n_out, centre = (float)o + 0.5F;
        return (double)(centre * step);
    }
    case ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS: {
        float step =
            n_out > 1 ? (float)(n_in - 1) / (float)(n_out - 1) : (float)n_in / (float)n_out;
        return (double)(((float)o + 0.5F) * step);
    }
    case ASSAY_COORD_PYTORCH_HALF_PIXEL:
        return n_out == 1 ? 0 : half;
    case ASSAY_COORD_HALF_PIXEL_SYMMETRIC:
        return in / 2 * (1 - out / scaled) + half;
    case ASSAY_COORD_HALF_PIXEL:
        break;
    }
    return half;
}

static double nearest(const assay_attr_resize *a, double x)
{
    switch ((enum assay_resize_nearest)a->nearest) {
    case ASSAY_NEAREST_ROUND_PREFER_CEIL:
        return floor(x + 0.5);
    case ASSAY_NEAREST_FLOOR:
        return floor(x);
    case ASSAY_NEAREST_CEIL:
        return ceil(x);
    case ASSAY_NEAREST_ROUND_PREFER_FLOOR:
        break;
    }
    return ceil(x - 0.5);
}

/* Keys' cubic convolution kernel at distance d (IEEE Trans. ASSP 29(6), 1981). */
static double keys(double a, double d)
{
    if (d <= 1)
        return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static int taps_of(int mode)
{
    switch ((enum assay_resize_mode)mode) {
    case ASSAY_RESIZE_NEAREST:
        return 1;
    case ASSAY_RESIZE_LINEAR:
        return 2;
    case ASSAY_RESIZE_CUBIC:
        return TAPS;
    }
    abort(); /* graph/core/infer.c lets no other through */
}

static void sample_at(const assay_attr_resize *a, double x, int64_t n_in, sample *s)
{
    int taps = taps_of(a->mode);
    double first = floor(x) - (taps == TAPS), weight[TAPS] = {1}, total = 0;

    if (taps == 1)
        first = nearest(a, x);
    for (int t = 0; t < taps; t++) {
        double at = first + t, distance = fabs(x - at);
        if (taps > 1)
            weight[t] = taps == 2 ? 1 - distance : keys((double)a->cubic_a, distance);
        bool outside = at < 0 || at > (double)(n_in - 1);
        if (outside && a->exclude_outside && taps > 1)
            weight[t] = 0;
        total += weight[t];
        s->at[t] = at < 0 ? 0 : outside ? n_in - 1 : (int64_t)at;
    }
    for (int t = 0; t < taps; t++)
        s->weight[t] = (float)(a->exclude_outside && total != 0 ? weight[t] / total : weight[t]);
}

static bool leaves(const assay_attr_resize *a, const assay_type *x, const assay_type *y, int d)
{
    return x->dim[d] == y->dim[d] && !assay_resize_shifts(a, d) &&
           (a->scales.n == 0 || a->scales.v[d] == 1.0F);
}

/* Output index o of axis d. */
static void sample_of(const assay_attr_resize *a, const assay_type *x, const assay_type *y, int d,
                      int64_t o, sample *s)
{
    const int64_t n_in = x->dim[d], n_out = y->dim[d];
    const double scale = a->scales.n > 0 ? (double)a->scales.v[d] : (double)n_out / (double)n_in;
    sample_at(a, position(a, o, n_in, n_out, scale), n_in, s);
}

/* [outer, n_in, inner] to [outer, n_out, inner]. */
static void resample(const sample *table, int taps, int64_t outer, int64_t n_in, int64_t n_out,
                     int64_t inner, const float *x, float *y)
{
    for (int64_t o = 0; o < outer; o++, x += n_in * inner)
        for (int64_t j = 0; j < n_out; j++, y += inner) {
            const sample *s = &table[j];
            for (int64_t i = 0; i < inner; i++) {
                float sum = x[s->at[0] * inner + i] * s->weight[0];
                for (int t = 1; t < taps; t++)
                    sum += x[s->at[t] * inner + i] * s->weight[t];
                y[i] = sum;
            }
        }
}

/* ---- steps told ---- */

/* An element of the output, or of what lies between axes. */
typedef struct sought {
    const assay_attr_resize *a;
    const assay_type *x, *y;
    const float *from; /* x's elements */
    const assay_teller *teller;
    int64_t step[ASSAY_MAX_RANK], index[ASSAY_MAX_RANK];
} sought;

static void tell_weighted(const assay_teller *t, float weight, float sum)
{
    apply_tell_float(t, "weight", weight);
    apply_tell_float(t, "sum so far", sum);
}

/* The element as the first `axes` axes make it: of each, what those before it make of its inputs,
 * in turn. */
static float seek(sought *e, int axes)
{
    const int d = axes - 1;
    float sum = 0;
    sample s;
    if (axes == 0) {
        int64_t at = 0;
        for (int k = 0; k < e->x->rank; k++)
            at += e->index[k] * e->step[k];
        apply_tell_float(e->teller, "x", e->from[at]);
        return e->from[at];
    }
    if (leaves(e->a, e->x, e->y, d))
        return seek(e, d);
    const int64_t o = e->index[d];
    sample_of(e->a, e->x, e->y, d, o, &s);
    for (int t = 0; t < taps_of(e->a->mode); t++) {
        e->index[d] = s.at[t];
        const float part = seek(e, d) * s.weight[t];
        sum = t == 0 ? part : sum + part;
        tell_weighted(e->teller, s.weight[t], sum);
    }
    e->index[d] = o;
    apply_tell(e->teller, "sum along axis", d);
    apply_tell_float(e->teller, "sum", sum);
    return sum;
}

/* What is copied from the nearest input has no steps. */
static void tell_axes(const assay_call *call)
{
    sought e = {.a = &call->node->attr.resize,
                .x = call->in[0].type,
                .y = call->out[0].type,
                .from = call->in[0].data,
                .teller = call->teller};
    if (!e.teller || e.a->mode == ASSAY_RESIZE_NEAREST)
        return;
    int64_t rest = (int64_t)e.teller->at;
    for (int d = e.y->rank - 1; d >= 0; d--) {
        e.index[d] = rest % e.y->dim[d];
        rest /= e.y->dim[d];
    }
    move_c_steps(e.x, e.step);
    seek(&e, e.x->rank);
}

/* ---- linear in an image ---- */

/* Only the last two axes change, nothing is left out at the ends, and extents as scaled are whole
 * where they matter (ONNX Runtime rounds them first). */
static bool is_bilinear(const assay_attr_resize *a, const assay_type *x, const assay_type *y)
{
    bool fits = (x->rank == 2 || x->rank == 4) && a->mode == ASSAY_RESIZE_LINEAR &&
                !a->exclude_outside && a->coordinate != ASSAY_COORD_HALF_PIXEL_SYMMETRIC &&
                a->coordinate != ASSAY_COORD_TFLITE_HALF_PIXEL;
    for (int d = 0; d < x->rank && fits; d++)
        if (d < x->rank - 2)
            fits = leaves(a, x, y, d);
        else if (a->coordinate == ASSAY_COORD_ALIGN_CORNERS && a->scales.n > 0)
            fits = (double)x->dim[d] * (double)a->scales.v[d] == (double)y->dim[d];
    return fits;
}

static float position32(const assay_attr_resize *a, float o, int64_t n_in, int64_t n_out, float s)
{
    if (s == 1.0F)
        return o;
    switch ((enum assay_resize_coordinate)a->coordinate) {
    case ASSAY_COORD_ASYMMETRIC:
        return o / s;
    case ASSAY_COORD_ALIGN_CORNERS:
        return n_out == 1 ? 0 : o * (float)(n_in - 1) / (float)(n_out - 1);
    case ASSAY_COORD_PYTORCH_HALF_PIXEL:
        return n_out == 1 ? 0 : (o + 0.5F) / s - 0.5F;
    case ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS:
    case ASSAY_COORD_HALF_PIXEL:
        return (o + 0.5F) / s - 0.5F;
    case ASSAY_COORD_HALF_PIXEL_SYMMETRIC:
    case ASSAY_COORD_TFLITE_HALF_PIXEL:
        break;
    }
    abort(); /* is_bilinear takes no other */
}

static void linear_table(const assay_attr_resize *a, const assay_type *x, const assay_type *y,
                         int d, sample *table)
{
    int64_t last = x->dim[d] - 1;
    float s = a->scales.n > 0 ? a->scales.v[d] : (float)y->dim[d] / (float)x->dim[d];

    for (int64_t o = 0; o < y->dim[d]; o++) {
        float at = position32(a, (float)o, x->dim[d], y->dim[d], s);
        at = fminf(fmaxf(at, 0), (float)last);
        sample *t = &table[o];
        t->at[0] = (int64_t)at < last ? (int64_t)at : last;
        t->at[1] = t->at[0] < last ? t->at[0] + 1 : last;
        t->weight[0] = t->at[0] == t->at[1] ? 0.5F : fabsf(at - (float)t->at[1]);
        t->weight[1] = t->at[0] == t->at[1] ? 0.5F : fabsf(at - (float)t->at[0]);
    }
}

/* The element's four products, added in the order of `bilinear`. */
static void tell_corners(const assay_call *call, const sample *row, const sample *column)
{
    const int64_t *in = call->in[0].type->dim + call->in[0].type->rank - 2;
    const int64_t *out = call->out[0].type->dim + call->out[0].type->rank - 2;
    const int64_t at = (int64_t)call->teller->at, r = at / out[1] % out[0], c = at % out[1];
    const float *image = (const float *)call->in[0].data + at / (out[0] * out[1]) * in[0] * in[1];
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        const float weight = column[c].weight[k % 2] * row[r].weight[k / 2];
        const float x = image[row[r].at[k / 2] * in[1] + column[c].at[k % 2]];
        sum = k == 0 ? weight * x : sum + weight * x;
        apply_tell_float(call->teller, "x", x);
        tell_weighted(call->teller, weight, sum);
    }
    apply_tell_float(call->teller, "sum", sum);
}

static void bilinear(const assay_call *call, sample *table)
{
    const assay_attr_resize *a = &call->node->attr.resize;
    const assay_type *tx = call->in[0].type, *ty = call->out[0].type;
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    const int rows = tx->rank - 2, columns = tx->rank - 1;
    const int64_t image = tx->dim[rows] * tx->dim[columns], width = tx->dim[columns];
    sample *column = table + ty->dim[rows];

    linear_table(a, tx, ty, rows, table);
    linear_table(a, tx, ty, columns, column);
    for (int64_t n = move_extent(tx, 0, rows); n > 0; n--, x += image)
        for (int64_t r = 0; r < ty->dim[rows]; r++)
            for (int64_t c = 0; c < ty->dim[columns]; c++) {
                const sample *sr = &table[r], *sc = &column[c];
                const float *up = x + sr->at[0] * width, *down = x + sr->at[1] * width;
                float sum = sc->weight[0] * sr->weight[0] * up[sc->at[0]];
                sum += sc->weight[1] * sr->weight[0] * up[sc->at[1]];
                sum += sc->weight[0] * sr->weight[1] * down[sc->at[0]];
                sum += sc->weight[1] * sr->weight[1] * down[sc->at[1]];
                *y++ = sum;
            }
    if (call->teller)
        tell_corners(call, table, column);
}

/* Scratch: tables of the two longest axes, then two buffers for what lies between axes. */
static void layout_scratch(const assay_type *x, const assay_type *y, size_t *table, size_t *buffer)
{
    int64_t longest = 1, count = assay_shape_count(x), max = count;
    for (int d = 0; d < x->rank; d++) {
        longest = y->dim[d] > longest ? y->dim[d] : longest;
        count = x->dim[d] > 0 ? count / x->dim[d] * y->dim[d] : 0;
        max = count > max ? count : max;
    }
    *table = 2 * (size_t)longest * sizeof(sample);
    *buffer = (size_t)max * sizeof(float);
}

size_t float_resize_scratch(const assay_graph *g, const assay_node *n)
{
    size_t table, buffer;
    layout_scratch(&assay_node_in(g, n, 0)->type, &assay_node_out(g, n, 0)->type, &table, &buffer);
    return table + 2 * buffer;
}

assay_status float_resize(assay_call *call, assay_error *err)
{
    const assay_attr_resize *a = &call->node->attr.resize;
    const assay_type *x = call->in[0].type, *y = call->out[0].type;
    const float *from = call->in[0].data;
    sample *table = call->scratch;
    size_t table_bytes, buffer_bytes;
    assay_type now = *x;

    (void)err;
    if (assay_shape_count(x) == 0 || assay_shape_count(y) == 0)
        return ASSAY_OK;
    if (is_bilinear(a, x, y)) {
        bilinear(call, table);
        return ASSAY_OK;
    }
    layout_scratch(x, y, &table_bytes, &buffer_bytes);
    float *buffer[2] = {(float *)(void *)((char *)call->scratch + table_bytes), NULL};
    buffer[1] = buffer[0] + buffer_bytes / sizeof(float);
    for (int d = 0, pass = 0; d < x->rank; d++) {
        if (leaves(a, x, y, d))
            continue;
        for (int64_t o = 0; o < y->dim[d]; o++)
            sample_of(a, x, y, d, o, &table[o]);
        float *to = buffer[pass++ % 2];
        resample(table, taps_of(a->mode), move_extent(&now, 0, d), x->dim[d], y->dim[d],
                 move_extent(&now, d + 1, now.rank), from, to);
        now.dim[d] = y->dim[d];
        from = to;
    }
    memcpy(call->out[0].data, from, (size_t)assay_shape_count(y) * sizeof(float));
    tell_axes(call);
    return ASSAY_OK;
}
