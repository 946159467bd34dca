/* Local response normalization of the n channels of one place, windows of `size` channels:
 *
 *   d[c] = x[c] - zero point
 *   S[c] = sum of d[j]^2, j from c - floor((size-1)/2) to c + ceil((size-1)/2), within the channels
 *   y[c] = rescale(d[c] * gain(S[c]))             real scale of d * gain: input scale / 2^places
 *   gain(S) = about 2^places / (bias + alpha/size * scale^2 * S)^beta      (ONNX LRN)
 *
 * The gain is a table whose cells are as wide as the sum is great, C = lrn.cells: with e the bits
 * of S beyond its first C + 1, cell (e << C) + (S >> e) begins at the least S that falls into it,
 * and between the entries T of two cells
 *
 *   gain(S) = T[i] + round((T[i+1] - T[i]) * (S mod 2^e) / 2^e). */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/round.h"

/* The bits of a sum beyond its first cells + 1. */
static unsigned excess(int64_t sum, unsigned cells)
{
    assert(sum >= 0); /* so that at most 62 bits are beyond the first */
    const unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)sum | 1);
    return bits > cells + 1 ? bits - cells - 1 : 0;
}

int64_t apply_lrn_entry(int64_t sum, unsigned cells)
{
    assert(sum >= 0 && cells < 32);
    unsigned e = excess(sum, cells);
    assert(e <= 62);
    return ((int64_t)e << cells) + (sum >> e);
}

int64_t apply_lrn_least(int64_t entry, unsigned cells)
{
    assert(entry >= 0 && cells < 32);
    int64_t octave = entry >> cells, e = octave > 1 ? octave - 1 : 0;
    assert(e <= 62);
    return (entry - (e << cells)) << e;
}

static int64_t gain(const assay_unit *u, int64_t sum, const assay_teller *told)
{
    const assay_rule_lrn *k = &u->rec.lrn;
    const unsigned cells = (unsigned)k->cells, e = excess(sum, cells);
    const int64_t *t = u->table + apply_lrn_entry(sum, cells);
    assert(e <= 62);
    const int64_t rest = sum & ((INT64_C(1) << e) - 1);
    apply_tell(told, "sum of squares", sum);
    apply_tell(told, "number of the entry", t - u->table);
    apply_tell(told, "table entry", t[0]);
    if (!k->interpolate || rest == 0)
        return t[0];
    const int64_t more = (int64_t)assay_round_shift128((assay_int128)(t[1] - t[0]) * rest, e,
                                                       (enum assay_rounding)k->round);
    apply_tell(told, "next entry", t[1]);
    apply_tell_fixed(told, "from one to the other", rest, e);
    apply_tell_sum(told, "gain", t[0], more);
    return t[0] + more;
}

static int64_t square(const assay_unit *u, int32_t x)
{
    int64_t d = x - u->in_zero[0];
    return d * d;
}

void apply_lrn(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    assert(u->depth >= 1 && u->depth < 1 << 20 && u->table);
    const size_t before = (size_t)(u->depth - 1) / 2, after = (size_t)(u->depth - 1) - before;
    int64_t sum = 0; /* |d| < 2^17 and fewer than 2^20 of them: below 2^54 */
    for (size_t j = 0; j < n && j < after; j++)
        sum += square(u, x[j]);
    for (size_t c = 0; c < n; c++) {
        if (after < n - c)
            sum += square(u, x[c + after]);
        if (c > before)
            sum -= square(u, x[c - before - 1]);
        const assay_teller *t = apply_teller(u, c);
        const int64_t d = x[c] - u->in_zero[0], g = gain(u, sum, t);
        apply_tell_product(t, "times the gain", d, g);
        apply_tell_rescale(t, &u->scale[ASSAY_OUT], d * g);
        out[c] = apply_rescale_one(&u->scale[ASSAY_OUT], d * g, 0);
    }
}
