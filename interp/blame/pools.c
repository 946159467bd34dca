/* Hypotheses over what an average pool divides by. */
#include <string.h>

#include "interp/blame/families.h"

/* Whether padding counts, of sums of reals or of codes as they are; divisors that are greater than
 * a window: cells more, and those that are less, some cells holding two: each with the zero point
 * left out of the sum that is divided, or the codes as they are. */
enum { REALS, CODES, SIZES, MORE_CELLS = 16, FEWER_CELLS = 8 };
enum { DIVISORS = SIZES + 2 * (MORE_CELLS + FEWER_CELLS) };

int blame_divisor_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_AVG_POOL || s->n->op == ASSAY_OP_GLOBAL_AVG_POOL ? DIVISORS : 0;
}

/* Where a pool is no division: one, by each rounding. */
int blame_division_count(blame_search *s)
{
    const bool sums = assay_op_get(s->n->op)->traits & ASSAY_T_SUMS;
    return sums && s->has_record && s->record.pool.kind != ASSAY_POOL_DIVIDE ? ASSAY_ROUND_COUNT
                                                                             : 0;
}

bool blame_division_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    (void)s;
    c->has_record = true;
    c->record.pool.kind = ASSAY_POOL_DIVIDE;
    c->record.pool.round = i;
    blame_tell(story, "pool.rounding", 2, "the sum is divided, and rounded by %s",
               assay_rounding_name((enum assay_rounding)i));
    return true;
}

static void window_of(const blame_case *c, assay_window *w)
{
    if (c->op == ASSAY_OP_AVG_POOL)
        kernel_window_of_pool(w, &c->attr.pool, &c->in[0], &c->out);
    else
        kernel_window_of_layout(w, c->attr.layout.layout, &c->in[0], &c->out);
}

static int64_t taps_of(const blame_case *c)
{
    assay_window w;
    window_of(c, &w);
    return c->op == ASSAY_OP_AVG_POOL ? w.taps : w.in_area;
}

/* A pool's windows, one after the other: areas of them, each of so many taps. */
typedef struct windows {
    assay_window w;
    bool global;
    int64_t areas, taps;
} windows;

/* Cells of padding hold the zero point, so that all windows are as large. */
static bool windows_of(blame_case *c, windows *ws)
{
    const int32_t zero = c->in[0].q.zero_point ? c->in[0].q.zero_point[0] : 0;
    window_of(c, &ws->w);
    ws->global = c->op == ASSAY_OP_GLOBAL_AVG_POOL;
    ws->taps = ws->global ? ws->w.in_area : ws->w.taps;
    ws->areas = ws->global ? 1 : ws->w.out_area;
    bool padded = false;
    for (int d = 0; d < ASSAY_SPATIAL; d++)
        padded = padded || ws->w.pad[d] || ws->w.pad_end[d];
    if (padded && !blame_pad_input(c, zero, false))
        return false;
    window_of(c, &ws->w);
    return true;
}

/* The input's cell that tap j of window p reads. */
static int64_t cell_of(const windows *ws, int64_t p, int64_t j)
{
    const assay_window *w = &ws->w;
    if (ws->global)
        return j;
    const int64_t o[3] = {p / w->out[2] / w->out[1], p / w->out[2] % w->out[1], p % w->out[2]};
    const int64_t tap[3] = {j / w->kernel[2] / w->kernel[1], j / w->kernel[2] % w->kernel[1],
                            j % w->kernel[2]};
    int64_t cell = 0;
    for (int d = 0; d < 3; d++)
        cell = cell * w->in[d] + o[d] * w->stride[d] + tap[d] * w->dilation[d];
    return cell;
}

/* The codes of one window in `cells` places: the rest filled, or what is left over added to the
 * first ones. */
static void spread_window(const windows *ws, const int32_t *channel, int64_t p, int64_t cells,
                          int32_t fill, int32_t *y)
{
    for (int64_t j = 0; j < cells; j++)
        y[j] = fill;
    for (int64_t j = 0; j < ws->taps; j++) {
        const int32_t code = channel[cell_of(ws, p, j) * kernel_strides_in(&ws->w).cell];
        y[j % cells] = j < cells ? code : y[j % cells] + code - fill;
    }
}

/* The case as a pool over its windows laid out one after the other, of `cells` cells each. */
static bool pool_of_cells(blame_case *c, const windows *ws, int64_t cells, const int32_t *y)
{
    assay_type t = {.elem = cells < ws->taps ? assay_int(16, true) : c->in[0].elem,
                    .rank = 4,
                    .dim = {ws->w.batch, ws->w.nhwc ? ws->areas : ws->w.in_channels,
                            ws->w.nhwc ? ws->w.in_channels : ws->areas, cells},
                    .q = c->in[0].q};
    c->op = ASSAY_OP_AVG_POOL;
    c->attr.pool = (assay_attr_pool){.layout = ASSAY_LAYOUT_NCHW,
                                     .kernel = {2, {1, cells}},
                                     .stride = {2, {1, cells}},
                                     .dilation = {2, {1, 1}},
                                     .pad_begin = {2, {0, 0}},
                                     .pad_end = {2, {0, 0}}};
    c->out.rank = 4;
    memcpy(c->out.dim, t.dim, sizeof c->out.dim);
    c->out.dim[3] = 1;
    return blame_set_codes(c, 0, &t, y);
}

/* The window of each output cell in so many cells instead of its own. */
static bool spread_windows(blame_case *c, int64_t cells, int32_t fill)
{
    windows ws;
    if (cells < 1 || cells == taps_of(c) || !windows_of(c, &ws))
        return false;
    const assay_strides in = kernel_strides_in(&ws.w);
    const int64_t count = ws.w.batch * ws.w.in_channels * ws.areas;
    const int32_t *x = blame_codes_of(c, 0);
    int32_t *y = assay_arena_array(c->arena, (size_t)(count * cells) + 1, sizeof *y);
    if (!x || !y)
        return false;
    for (int64_t i = 0; i < count; i++) {
        const int64_t inner = ws.w.nhwc ? ws.w.in_channels : ws.areas, a = i % inner,
                      b = i / inner % (ws.areas * ws.w.in_channels / inner);
        const int64_t p = ws.w.nhwc ? b : a, k = ws.w.nhwc ? a : b;
        const int64_t n = i / ws.areas / ws.w.in_channels;
        spread_window(&ws, x + n * in.image + k * in.channel, p, cells, fill, y + i * cells);
    }
    return pool_of_cells(c, &ws, cells, y);
}

/* The i-th divisor that is less than so many cells; 0: there are no more. */
static int64_t fewer(int64_t taps, int i)
{
    int64_t power = 1;
    while (2 * power < taps)
        power *= 2;
    const int64_t found = i < FEWER_CELLS / 2 ? taps - 1 - i : power >> (i - FEWER_CELLS / 2);
    return found > taps / 4 ? found : 0;
}

/* Where padding does not count it does, and the other way round. */
static bool count_padding(blame_case *c, bool codes, blame_story *story)
{
    const bool counts = c->op == ASSAY_OP_AVG_POOL && c->attr.pool.count_include_pad;
    if (c->op != ASSAY_OP_AVG_POOL || (codes && counts))
        return false;
    c->attr.pool.count_include_pad = !counts;
    blame_tell(story, "pool.divisor", 1, "cells of padding %s%s", counts ? "do not count" : "count",
               codes ? ", in a sum of codes as they are" : "");
    return !codes || blame_pad_input(c, 0, false);
}

bool blame_divisor_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int32_t zero = c->in[0].q.zero_point ? c->in[0].q.zero_point[0] : 0;
    (void)s;
    if (i < SIZES)
        return count_padding(c, i == CODES, story);
    const int64_t taps = taps_of(c);
    const int k = (i - SIZES) / 2;
    const int32_t fill = (i - SIZES) % 2 ? 0 : zero;
    int64_t cells = 1;
    if (k >= MORE_CELLS) {
        cells = fewer(taps, k - MORE_CELLS);
        blame_tell(story, "pool.divisor", 1, "divided by %lld instead of %lld", (long long)cells,
                   (long long)taps);
        c->has_record = true;
        return cells > 0 && spread_windows(c, cells, fill);
    }
    while (cells <= taps)
        cells *= 2;
    cells = k < 2 ? cells << k : taps + k - 1;
    blame_tell(story, "pool.divisor", 1, "divided by %lld instead of %lld", (long long)cells,
               (long long)taps);
    return spread_windows(c, cells, fill);
}

/* ---- means ---- */

/* Means whose count is in their rescale: twice as many, one more or fewer, powers of two. */
enum { MEAN_NEAR = 2, MEAN_POWERS = 4, MEANS = 2 * MEAN_NEAR + MEAN_POWERS };

int blame_mean_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_REDUCE_MEAN && assay_node_is_quantized(s->d->graph, s->n) ? MEANS
                                                                                          : 0;
}

static int64_t other_count(int64_t count, int i)
{
    int64_t power = 1;
    if (i < 2 * MEAN_NEAR)
        return i % 2 ? count - 1 - i / 2 : count + 1 + i / 2;
    while (2 * power < count)
        power *= 2;
    i -= 2 * MEAN_NEAR;
    return i == 0 ? 2 * count : power << (i - 1);
}

bool blame_mean_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int64_t count = assay_shape_count(&c->in[0]) / assay_shape_count(&c->out);
    const int64_t other = other_count(count, i);
    float *scale;
    (void)s;
    if (other < 1 || other == count || !blame_own_params(c, &c->out, &scale, NULL))
        return false;
    for (size_t k = 0; k < c->out.q.count; k++)
        scale[k] = (float)((double)scale[k] * (double)other / (double)count);
    blame_tell(story, "pool.divisor", 1, "divided by %lld instead of %lld", (long long)other,
               (long long)count);
    return true;
}

/* ---- late ---- */

/* Every other divisor, of both sums. */
enum { MAX_DIVISOR = 1024 };

int blame_any_divisor_count(blame_search *s)
{
    return blame_divisor_count(s) > 0 ? 2 * MAX_DIVISOR : 0;
}

bool blame_any_divisor_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int64_t taps = taps_of(c);
    const int32_t zero = c->in[0].q.zero_point ? c->in[0].q.zero_point[0] : 0;
    const int divisor = i / 2 + 1;
    (void)s;
    if (divisor > 4 * taps)
        return false;
    blame_tell(story, "pool.divisor", 1, "divided by %d instead of %lld", divisor, (long long)taps);
    c->has_record = c->has_record || divisor < taps;
    return spread_windows(c, divisor, i % 2 ? 0 : zero);
}
