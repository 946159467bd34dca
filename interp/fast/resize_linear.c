/* Bilinear resize of codes of at most 16 bits: the exact sum of the four corners' codes, first down
 * two input rows and then along the output row,
 *
 *   t[i] = (one - fy) * row0[i] + fy * row1[i]      sum[o] = (one - fx) * t[lo] + fx * t[hi]
 *
 * is what the reference hands to `interpolate`. The scheme's vector form of it rounds it to a code;
 * what becomes of four corners that all hold that code is a table. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/fast/table.h"
#include "interp/kernel/window.h"
#include "interp/ref/ref.h"
#include "schemes/apply/resize_axis.h"

enum { DEFAULT_BITS = 10 /* as in interp/ref/resize.c */ };

typedef struct interpolator {
    assay_fast base;
    assay_window w;
    int32_t one;
    bool is_signed;
    assay_interpolate_fn interpolate;
    assay_linear_tap *tap_y, *tap_x; /* by output row, by output column */
    assay_table table;               /* by the mixed code */
} interpolator;

static void free_interpolator(assay_fast *f)
{
    interpolator *p = (interpolator *)f;
    fast_table_free(&p->table);
    free(p->tap_y);
    free(p->tap_x);
    free(p);
}

static void arrange(assay_fast *f, bool in_last, bool out_last)
{
    interpolator *p = (interpolator *)f;
    (void)out_last; /* as the input */
    p->w.nhwc = p->w.nhwc || in_last;
}

typedef struct pieces {
    int64_t *sum;
    int32_t *down;
    char *code;
} pieces;

/* A worker's part; enough in either layout. */
static size_t carve(const interpolator *p, char *memory, pieces *s)
{
    const int64_t c = p->w.in_channels;
    size_t used = 0;
    s->sum = ref_carve(memory, &used, p->w.out[2] * c, sizeof *s->sum);
    s->down = ref_carve(memory, &used, p->w.in[2] * c, sizeof *s->down);
    s->code = ref_carve(memory, &used, p->w.out[2] * c, sizeof(int16_t));
    return (used + 63) / 64 * 64;
}

#define INTERPOLATE_ROWS(T)                                                                        \
    for (int64_t i = 0; i < n; i++)                                                                \
    down[i] = (p->one - f) * ((const T *)row0)[i] + f * ((const T *)row1)[i]

static void interpolate_rows(const interpolator *p, const char *row0, const char *row1, int32_t f,
                             int64_t n, int32_t *restrict down)
{
    if (p->table.in_size == 1) {
        if (p->is_signed)
            INTERPOLATE_ROWS(int8_t);
        else
            INTERPOLATE_ROWS(uint8_t);
    } else if (p->is_signed) {
        INTERPOLATE_ROWS(int16_t);
    } else {
        INTERPOLATE_ROWS(uint16_t);
    }
}

static void interpolate_along(const interpolator *p, const int32_t *restrict down, int64_t cell,
                              int64_t *restrict sum)
{
    for (int64_t o = 0; o < p->w.out[2]; o++) {
        const assay_linear_tap t = p->tap_x[o];
        const int32_t *lo = down + t.lo * cell, *hi = down + t.hi * cell;
        const int64_t g = p->one - t.fraction, f = t.fraction;
        for (int64_t c = 0; c < cell; c++)
            sum[o * cell + c] = g * lo[c] + f * hi[c];
    }
}

typedef struct work {
    const interpolator *p;
    assay_call *call;
    int workers;
} work;

/* One row of output cells of an image, or of a plane. */
static void run_row(void *user, int64_t line)
{
    const work *k = user;
    const interpolator *p = k->p;
    const assay_window *w = &p->w;
    const int64_t cell = w->nhwc ? w->in_channels : 1, plane = line / w->out[1];
    const int64_t row = w->in[2] * cell * p->table.in_size, n = w->out[2] * cell;
    const assay_linear_tap t = p->tap_y[line % w->out[1]];
    const char *x = (const char *)k->call->in[0].data + plane * w->in[1] * row;
    pieces s;
    const size_t part = carve(p, NULL, &s);
    carve(p, (char *)k->call->scratch + fast_worker(k->workers) * part, &s);
    interpolate_rows(p, x + t.lo * row, x + t.hi * row, t.fraction, w->in[2] * cell, s.down);
    interpolate_along(p, s.down, cell, s.sum);
    p->interpolate(k->call->unit, s.sum, (size_t)n, (size_t)p->table.in_size, s.code);
    fast_table_look_up(&p->table, s.code, (size_t)n,
                       (char *)k->call->out[0].data + line * n * p->table.out_size);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const interpolator *p = (const interpolator *)f;
    const int64_t planes = p->w.nhwc ? p->w.batch : p->w.batch * p->w.in_channels;
    const int64_t work_ahead = assay_shape_count(call->out[0].type) * 2;
    work k = {p, call, fast_threads(f->threads, work_ahead)};
    (void)err;
    fast_each(k.workers, planes * p->w.out[1], run_row, &k);
    return ASSAY_OK;
}

/* Four corners that hold the same code. */
static void ask_interpolate(const assay_fast_setup *s, const int32_t *x, size_t n, int32_t *y)
{
    const int32_t here = 0;
    for (size_t i = 0; i < n; i++) {
        const int32_t corner[4] = {x[i], x[i], x[i], x[i]};
        s->vt->interpolate(s->unit, corner, &here, &here, 1, &y[i]);
    }
}

static bool find_taps(const assay_attr_resize *a, int rank, unsigned bits, interpolator *p)
{
    const int first = a->layout == ASSAY_LAYOUT_NHWC ? 1 : 2, spatial = rank - 2;
    const int axis_x = first + spatial - 1, axis_y = spatial > 1 ? axis_x - 1 : -1;
    const assay_window *w = &p->w;
    p->tap_y = fast_alloc((size_t)w->out[1] * sizeof *p->tap_y);
    p->tap_x = fast_alloc((size_t)w->out[2] * sizeof *p->tap_x);
    if (!p->tap_y || !p->tap_x)
        return false;
    apply_linear_taps(a, axis_y, w->in[1], w->out[1], bits, p->tap_y);
    apply_linear_taps(a, axis_x, w->in[2], w->out[2], bits, p->tap_x);
    return true;
}

/* Two spatial axes at most, neither images nor channels resized; and down[] stays in int32. */
static bool is_plain(const assay_attr_resize *a, const assay_type *x, const assay_type *y)
{
    const int channel = a->layout == ASSAY_LAYOUT_NHWC ? x->rank - 1 : 1;
    return a->mode == ASSAY_RESIZE_LINEAR && x->rank >= 3 && x->rank <= 4 &&
           x->dim[0] == y->dim[0] && x->dim[channel] == y->dim[channel] &&
           (x->elem.bits < 16 || x->elem.is_signed);
}

assay_status fast_resize_linear(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_attr_resize *a = &s->node->attr.resize;
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    int32_t bits = DEFAULT_BITS;
    pieces unused;
    const assay_interpolate_fn interpolate =
        ASSAY_SCHEME_HAS(s->vt, simd, interpolate)
            ? s->vt->simd->interpolate(s->unit, s->kernels->isa)
            : NULL;
    if (!interpolate || !is_plain(a, x, y) || !fast_table_pays(s, assay_shape_count(y)))
        return ASSAY_OK;
    interpolator *p = fast_alloc(sizeof *p);
    if (!p)
        return fast_memory(s, err);
    s->vt->interpolate(s->unit, NULL, NULL, NULL, 0, &bits);
    kernel_window_of_layout(&p->w, a->layout, x, y);
    p->base = (assay_fast){.run = run,
                           .free = free_interpolator,
                           .threads = s->threads,
                           .layouts = p->w.nhwc ? ASSAY_LAYOUTS_FIXED : ASSAY_LAYOUTS_ALIKE,
                           .arrange = arrange,
                           .scratch = carve(p, NULL, &unused) * (size_t)s->threads};
    assert(bits >= 0 && bits < 31);
    p->one = 1 << bits;
    p->is_signed = x->elem.is_signed;
    p->interpolate = interpolate;
    assay_status status = find_taps(a, x->rank, (unsigned)bits, p)
                              ? fast_table_make_of(s, ask_interpolate, &p->table, err)
                              : fast_memory(s, err);
    if (!status)
        *out = &p->base;
    else
        free_interpolator(&p->base);
    return status;
}
