/* Row functions that note what passes; see watch.h. */
#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interp/explain/watching.h"
#include "schemes/apply/apply.h"
#include "schemes/mac/explain.h"

static explain_watcher *watch_of(const assay_unit *u)
{
    return (explain_watcher *)(uintptr_t)u;
}

/* ---- productions ---- */

/* The digit of production i. */
int64_t explain_digit(const explain_watcher *w, int64_t i)
{
    assert(w->bits >= 1 && w->bits <= 32 && w->shift < 64);
    const uint64_t mask = (UINT64_C(1) << w->bits) - 1;
    return w->least + (int64_t)((uint64_t)i >> w->shift & mask);
}

/* n codes are asked for: digits are given, or the place of the wanted one is. False: nothing is
 * left to compute. */
static bool begin(explain_watcher *w, size_t n, int32_t *out, int64_t *at)
{
    *at = w->want - w->made;
    if (*at < 0 || *at >= (int64_t)n)
        *at = -1;
    for (size_t i = 0; i < n && w->mode == EXPLAIN_NUMBER; i++)
        out[i] = (int32_t)explain_digit(w, w->made + (int64_t)i);
    w->made += (int64_t)n;
    if (w->mode == EXPLAIN_WATCH)
        return w->whole || *at >= 0;
    for (size_t i = 0; i < n && w->mode == EXPLAIN_FIND; i++)
        out[i] = 0;
    return false;
}

static void note(explain_watcher *w, enum explain_kind kind, int64_t value)
{
    w->seen->kind = kind;
    w->seen->value = value;
    w->inside = false;
}

static int32_t *kept(explain_watcher *w, const int32_t *from, size_t n)
{
    int32_t *to = malloc((n + 1) * sizeof *to);
    if (to)
        memcpy(to, from, n * sizeof *to);
    else
        w->short_of_memory = true;
    return to;
}

static void keep_row(explain_watcher *w, const int32_t *x, size_t n, size_t at)
{
    w->seen->row = kept(w, x, n);
    w->seen->n_row = w->seen->row ? n : 0;
    w->seen->at = at;
}

/* ---- sums ---- */

static int64_t watch_accumulate(const assay_unit *u, const int32_t *x, const int32_t *f, size_t n,
                                int64_t bias, int32_t zx, int32_t zw, bool *trapped)
{
    explain_watcher *w = watch_of(u);
    const int64_t number = w->sums++;
    if (w->mode != EXPLAIN_WATCH)
        return number;
    if (number == w->want_sum) {
        explain_seen *s = w->seen;
        s->x = kept(w, x, n);
        s->w = kept(w, f, n);
        s->n = s->x && s->w ? n : 0;
        s->bias = bias;
        s->zx = zx;
        s->zw = zw;
    }
    return w->whole || number == w->want_sum
               ? w->vt->accumulate(w->real, x, f, n, bias, zx, zw, trapped)
               : 0;
}

static int64_t watch_combine(const assay_unit *u, int64_t *sum, size_t n, size_t channel,
                             int64_t bias, bool *trapped)
{
    explain_watcher *w = watch_of(u);
    const int64_t number = w->sums++;
    if (w->mode != EXPLAIN_WATCH)
        return number;
    if (number == w->want_sum) {
        w->seen->block = malloc((n + 1) * sizeof *sum);
        w->short_of_memory = w->short_of_memory || !w->seen->block;
        w->seen->n_blocks = w->seen->block ? n : 0;
        w->seen->bias = bias;
        if (w->seen->block)
            memcpy(w->seen->block, sum, n * sizeof *sum);
    }
    return w->vt->combine(w->real, sum, n, channel, bias, trapped);
}

static int64_t watch_overflow(const assay_unit *u, int64_t sum, bool *trapped)
{
    const explain_watcher *w = watch_of(u);
    return w->mode == EXPLAIN_WATCH ? w->vt->apply_overflow(w->real, sum, trapped) : sum;
}

/* ---- codes ---- */

static void watch_requantize(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                             int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    const bool goes_on = begin(w, n, out, &at);
    if (w->mode == EXPLAIN_FIND && at >= 0)
        w->want_sum = acc[at];
    if (!goes_on)
        return;
    if (w->whole)
        w->vt->requantize(w->real, acc, n, channel, out);
    if (at < 0)
        return;
    w->inside = true;
    w->vt->requantize(explain_telling(w, 0), acc + at, 1, channel + (size_t)at, out + at);
    w->seen->acc = acc[at];
    w->seen->channel = channel + (size_t)at;
    note(w, EXPLAIN_REQUANTIZE, out[at]);
}

static void watch_binary(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                         int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, n, out, &at))
        return;
    const int32_t x[2] = {at >= 0 ? a[at] : 0, at >= 0 ? b[at] : 0};
    w->vt->binary(w->real, a, b, n, out);
    if (at < 0)
        return;
    int32_t code;
    w->inside = true;
    memcpy(w->seen->in, x, sizeof x);
    w->vt->binary(explain_telling(w, 0), &x[0], &x[1], 1, &code);
    note(w, EXPLAIN_BINARY, code);
}

static void watch_unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, n, out, &at))
        return;
    const int32_t in = at >= 0 ? x[at] : 0;
    w->vt->unary(w->real, x, n, out);
    if (at < 0)
        return;
    int32_t code;
    w->inside = true;
    w->seen->in[0] = in;
    w->vt->unary(explain_telling(w, 0), &in, 1, &code);
    note(w, EXPLAIN_UNARY, code);
}

static void watch_pool(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                       int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, n, out, &at))
        return;
    w->vt->pool(w->real, sum, count, n, out);
    if (at < 0)
        return;
    w->inside = true;
    w->seen->acc = sum[at];
    w->seen->count = count[at];
    w->vt->pool(explain_telling(w, 0), sum + at, count + at, 1, out + at);
    note(w, EXPLAIN_POOL, out[at]);
}

static bool watch_window(const assay_unit *u, const int32_t *x, size_t n, int32_t count,
                         int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!out)
        return w->vt->window && w->vt->window(w->real, x, n, count, out);
    if (!begin(w, 1, out, &at))
        return true;
    w->vt->window(at >= 0 ? explain_telling(w, 0) : w->real, x, n, count, out);
    if (at >= 0) {
        keep_row(w, x, n, 0);
        w->seen->count = count;
        note(w, EXPLAIN_WINDOW, *out);
    }
    return true;
}

static void watch_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, w->is_mac && mac_ends_in_one(&w->mac) ? 1 : n, out, &at))
        return;
    if (at >= 0)
        keep_row(w, x, n, (size_t)at);
    w->vt->row(at >= 0 ? explain_telling(w, (size_t)at) : w->real, x, n, out);
    if (at >= 0)
        note(w, EXPLAIN_ROW, out[at]);
}

static void watch_interpolate(const assay_unit *u, const int32_t *c, const int32_t *fy,
                              const int32_t *fx, size_t n, int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (n == 0) {
        w->vt->interpolate(w->real, c, fy, fx, n, out);
        return;
    }
    if (!begin(w, n, out, &at))
        return;
    if (at >= 0) {
        keep_row(w, c + 4 * at, 4, 0);
        w->seen->in[0] = fy[at];
        w->seen->in[1] = fx[at];
    }
    const int32_t corner[4] = {c[4 * (at < 0 ? 0 : at)], c[4 * (at < 0 ? 0 : at) + 1],
                               c[4 * (at < 0 ? 0 : at) + 2], c[4 * (at < 0 ? 0 : at) + 3]};
    w->vt->interpolate(w->real, c, fy, fx, n, out);
    if (at < 0)
        return;
    w->inside = true;
    w->vt->interpolate(explain_telling(w, 0), corner, &fy[at], &fx[at], 1, out + at);
    note(w, EXPLAIN_INTERPOLATE, out[at]);
}

static void watch_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                           int32_t *out)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, n, out, &at))
        return;
    const uint32_t x = at >= 0 ? bits[at] : 0;
    w->vt->quantize(w->real, bits, n, channel, out);
    if (at < 0)
        return;
    w->inside = true;
    w->seen->bits = x;
    w->seen->channel = channel + (size_t)at;
    w->vt->quantize(explain_telling(w, 0), &x, 1, channel + (size_t)at, out + at);
    note(w, EXPLAIN_QUANTIZE, out[at]);
}

static void watch_dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                             uint32_t *bits)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, n, (int32_t *)bits, &at))
        return;
    const int32_t code = at >= 0 ? q[at] : 0;
    w->vt->dequantize(w->real, q, n, channel, bits);
    if (at < 0)
        return;
    w->inside = true;
    w->seen->in[0] = code;
    w->seen->channel = channel + (size_t)at;
    w->vt->dequantize(explain_telling(w, 0), &code, 1, channel + (size_t)at, bits + at);
    note(w, EXPLAIN_DEQUANTIZE, (int64_t)bits[at]);
}

static assay_status watch_dot(const assay_unit *u, const assay_dot *d, int32_t *out,
                              assay_error *err)
{
    explain_watcher *w = watch_of(u);
    int64_t at;
    if (!begin(w, 1, out, &at))
        return ASSAY_OK;
    if (at < 0)
        return w->vt->dot(w->real, d, out, err);
    const assay_status s =
        w->is_mac ? mac_explain_unit(explain_telling(w, 0), d, out, explain_hear_line, w, err)
                  : w->vt->dot(w->real, d, out, err);
    note(w, EXPLAIN_DOT, (int64_t)(uint32_t)*out);
    return s;
}

const assay_scheme_vtable explain_watching_mac = {
    .abi = ASSAY_SCHEME_ABI,
    .size = sizeof(assay_scheme_vtable),
    .name = "watching a matrix unit",
    .description = "another scheme, watched",
    .binary = watch_binary,
    .unary = watch_unary,
    .row = watch_row,
    .quantize = watch_quantize,
    .dequantize = watch_dequantize,
    .dot = watch_dot,
};

const assay_scheme_vtable explain_watching = {
    .abi = ASSAY_SCHEME_ABI,
    .size = sizeof(assay_scheme_vtable),
    .name = "watching",
    .description = "another scheme, watched",
    .accumulate = watch_accumulate,
    .combine = watch_combine,
    .apply_overflow = watch_overflow,
    .requantize = watch_requantize,
    .binary = watch_binary,
    .unary = watch_unary,
    .pool = watch_pool,
    .window = watch_window,
    .row = watch_row,
    .interpolate = watch_interpolate,
    .quantize = watch_quantize,
    .dequantize = watch_dequantize,
    .dot = watch_dot,
};
