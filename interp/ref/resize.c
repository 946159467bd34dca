/* Resizing over the spatial axes.
 *
 *   nearest   y[.., o] = f(x[.., i(o)])             f: activation and rescale
 *   linear    y[n,c,o] = weighted sum of the four cells around, over one or two spatial axes
 *
 * Coordinates are computed in integers: nearest in IEEE binary32 on bit patterns, as frameworks
 * define it (schemes/apply/resize_axis.h); linear in fixed point with the scheme's fraction bits,
 * as TFLite's reference/resize_bilinear.h, which here serves every target. */
#include "interp/kernel/window.h"
#include "interp/ref/ref.h"
#include "schemes/apply/resize_axis.h"

#define DEFAULT_BITS 10 /* of a scheme that does not say */

typedef struct nearest_scratch {
    int32_t *index[ASSAY_MAX_RANK]; /* by axis: the input index of every output index */
    int32_t *x, *y;                 /* a row of the last axis */
} nearest_scratch;

static size_t carve_nearest(const assay_type *x, const assay_type *y, char *memory,
                            nearest_scratch *s)
{
    size_t used = 0;
    for (int i = 0; i < y->rank; i++)
        s->index[i] = ref_carve(memory, &used, y->dim[i], sizeof *s->index[i]);
    s->x = ref_carve(memory, &used, x->dim[x->rank - 1], sizeof *s->x);
    s->y = ref_carve(memory, &used, y->dim[y->rank - 1], sizeof *s->y);
    return used;
}

typedef struct linear_scratch {
    int32_t *image;                  /* one image of raw codes, in the order of memory */
    assay_linear_tap *tap_y, *tap_x; /* by output row, by output column */
} linear_scratch;

static size_t carve_linear(const assay_window *w, char *memory, linear_scratch *s)
{
    size_t used = 0;
    s->image = ref_carve(memory, &used, w->in_channels * w->in_area, sizeof *s->image);
    s->tap_y = ref_carve(memory, &used, w->out[1], sizeof *s->tap_y);
    s->tap_x = ref_carve(memory, &used, w->out[2], sizeof *s->tap_x);
    return used;
}

bool ref_resize_has_form(const assay_graph *g, const assay_node *n)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    const assay_attr_resize *a = &n->attr.resize;
    int channel = a->layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1;
    if (a->mode == ASSAY_RESIZE_NEAREST)
        return true;
    return a->mode == ASSAY_RESIZE_LINEAR && x->rank >= 3 && x->rank <= 4 &&
           x->dim[0] == y->dim[0] && x->dim[channel] == y->dim[channel];
}

size_t ref_resize_scratch(const assay_graph *g, const assay_node *n)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    if (n->attr.resize.mode == ASSAY_RESIZE_NEAREST) {
        nearest_scratch s;
        return carve_nearest(x, y, NULL, &s);
    }
    if (!ref_resize_has_form(g, n))
        return 0;
    assay_window w;
    linear_scratch s;
    kernel_window_of_layout(&w, n->attr.resize.layout, x, y);
    return carve_linear(&w, NULL, &s);
}

static void resize_nearest(assay_call *call)
{
    const assay_type *x = call->in[0].type, *y = call->out[0].type;
    int last = y->rank - 1;
    int64_t rows = 1, at[ASSAY_MAX_RANK] = {0};
    nearest_scratch s;

    carve_nearest(x, y, call->scratch, &s);
    for (int i = 0; i <= last; i++) {
        apply_nearest_indices(&call->node->attr.resize, i, x->dim[i], y->dim[i], s.index[i]);
        rows *= i < last ? y->dim[i] : 1;
    }
    for (int64_t r = 0; r < rows; r++) {
        int64_t from = 0;
        for (int i = 0; i < last; i++)
            from = from * x->dim[i] + s.index[i][at[i]];
        ref_load_row(&call->in[0], from * x->dim[last], 1, (size_t)x->dim[last], s.x);
        for (int64_t i = 0; i < y->dim[last]; i++)
            s.y[i] = s.x[s.index[last][i]];
        ref_finish_unary(call, r * y->dim[last], 1, (size_t)y->dim[last], s.y, s.y);
        for (int i = last - 1; i >= 0 && ++at[i] == y->dim[i]; i--)
            at[i] = 0;
    }
}

/* One row of the output: n elements, each with its corners and fractions. */
typedef struct interpolated_row {
    int32_t corner[4 * ASSAY_ROW], fy[ASSAY_ROW], fx[ASSAY_ROW], y[ASSAY_ROW];
} interpolated_row;

static void resize_linear(assay_call *call)
{
    const assay_attr_resize *a = &call->node->attr.resize;
    assay_window w;
    kernel_window_of_layout(&w, a->layout, call->in[0].type, call->out[0].type);
    const assay_strides in = kernel_strides_in(&w), out = kernel_strides_out(&w);
    int first_axis = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2, spatial = call->in[0].type->rank - 2;
    int axis_x = first_axis + spatial - 1, axis_y = spatial > 1 ? axis_x - 1 : -1;
    linear_scratch s;
    interpolated_row r;

    carve_linear(&w, call->scratch, &s);
    int32_t bits = DEFAULT_BITS;
    call->vt->interpolate(call->unit, NULL, NULL, NULL, 0, &bits);
    apply_linear_taps(a, axis_y, w.in[1], w.out[1], (unsigned)bits, s.tap_y);
    apply_linear_taps(a, axis_x, w.in[2], w.out[2], (unsigned)bits, s.tap_x);
    for (int64_t n = 0; n < w.batch; n++) {
        ref_load_row(&call->in[0], n * in.image, 1, (size_t)in.image, s.image);
        for (int64_t p = 0; p < w.out_area; p++) {
            assay_linear_tap ty = s.tap_y[p / w.out[2]], tx = s.tap_x[p % w.out[2]];
            const int32_t *row0 = s.image + ty.lo * w.in[2] * in.cell;
            const int32_t *row1 = s.image + ty.hi * w.in[2] * in.cell;
            for (int64_t c = 0; c < w.in_channels; c += ASSAY_ROW) {
                int64_t m = w.in_channels - c < ASSAY_ROW ? w.in_channels - c : ASSAY_ROW;
                for (int64_t i = 0; i < m; i++) {
                    int64_t at = (c + i) * in.channel;
                    r.corner[4 * i] = row0[at + tx.lo * in.cell];
                    r.corner[4 * i + 1] = row0[at + tx.hi * in.cell];
                    r.corner[4 * i + 2] = row1[at + tx.lo * in.cell];
                    r.corner[4 * i + 3] = row1[at + tx.hi * in.cell];
                    r.fy[i] = ty.fraction;
                    r.fx[i] = tx.fraction;
                }
                call->vt->interpolate(call->unit, r.corner, r.fy, r.fx, (size_t)m, r.y);
                ref_store_row(&call->out[0], n * out.image + p * out.cell + c * out.channel,
                              out.channel, (size_t)m, r.y);
            }
        }
    }
}

assay_status ref_resize(assay_call *call, assay_error *err)
{
    (void)err;
    if (call->node->attr.resize.mode == ASSAY_RESIZE_NEAREST)
        resize_nearest(call);
    else
        resize_linear(call);
    return ASSAY_OK;
}
