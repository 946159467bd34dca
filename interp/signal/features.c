/* Features of a spectrum, as TFLite Micro's front end for audio computes them (signal/src of
 * github.com/tensorflow/tflite-micro). Words of 32 bits wrap. length(v): the bits of v without
 * leading zeros.
 *
 *   signal_scale   y = x * 2^n, n = 15 - length(greatest |x|), 0 where that is less or all x are 0.
 *                  The magnitude of -32768 is held as -32768 and stays the greatest only until
 *                  the next element.
 *   signal_root    y = the integer nearest to the root of x; for x < 2^32 at most 65535
 *   pcan           g = the curve `gains` at the noise, by the noise's length: a polynomial of
 *                  degree 2 in its next 10 bits; s = floor(x * g / 2^shift);
 *                  y = floor(s^2 / 2^20) for s < 2^13, else floor(s / 64) - 64
 *   signal_log     v = x * 2^shift; y = 0 for v < 2; else log2 = length(v) - 1 and a fraction of
 *                  16 bits plus what `curve` says at its first 7, and between;
 *                  y = log2 * ln 2 * scale, each product rounded to 16 bits of fraction and the
 *                  last to an integer, at most 32767 */
#include <assert.h>

#include "interp/signal/signal.h"
#include "schemes/round.h"

static int length(uint32_t v)
{
    int n = 0;
    for (; v; v >>= 1)
        n++;
    return n;
}

/* ---- signal_scale ---- */

static int16_t greatest_of(const int16_t *x, int64_t n)
{
    int16_t greatest = 0;
    for (int64_t i = 0; i < n; i++) {
        if (x[i] > greatest)
            greatest = x[i];
        else if (-x[i] > greatest)
            greatest = (int16_t)-x[i];
    }
    return greatest;
}

assay_status signal_scale(assay_call *call, assay_error *err)
{
    const int64_t n = assay_shape_count(call->in[0].type);
    const int16_t *x = call->in[0].data, greatest = greatest_of(x, n);
    int16_t *y = call->out[0].data;
    const int bits = greatest > 0 ? 15 - length((uint32_t)greatest) : 0;

    (void)err;
    for (int64_t i = 0; i < n; i++)
        y[i] = (int16_t)(x[i] * (1 << bits));
    *(int32_t *)call->out[1].data = bits;
    return ASSAY_OK;
}

/* ---- signal_root ---- */

static uint32_t root_of(uint64_t v)
{
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= v)
            root |= bit;
    const uint64_t greatest = v >> 32 ? UINT32_MAX : UINT16_MAX;
    return (uint32_t)(root + (v - root * root > root && root != greatest));
}

assay_status signal_root(assay_call *call, assay_error *err)
{
    const int64_t n = assay_shape_count(call->in[0].type);
    const int64_t *x = call->in[0].data;
    uint32_t *y = call->out[0].data;

    (void)err;
    for (int64_t i = 0; i < n; i++)
        y[i] = root_of((uint64_t)x[i]);
    return ASSAY_OK;
}

/* ---- pcan ---- */

/* Three numbers for each length from 3 on stand four apart: value, slope, curvature. */
static int16_t gain_at(const int16_t *gains, uint32_t noise)
{
    const int bits = length(noise);
    if (noise <= 2)
        return gains[noise];
    const int16_t *g = gains + 4 * bits - 6;
    const int32_t part = (int32_t)(bits < 11 ? noise << (11 - bits) : noise >> (bits - 11)) & 0x3ff;
    const int64_t slope = apply_shift_right(g[2] * part, 5) + g[1] * 32;
    const int64_t rise = (int64_t)assay_round_shift128(slope * part, 15, ASSAY_ROUND_HALF_UP);
    return (int16_t)(rise + g[0]);
}

static uint32_t shrunk(uint32_t s)
{
    return s < 1U << 13 ? s * s >> 20 : (s >> 6) - 64;
}

assay_status signal_pcan(assay_call *call, assay_error *err)
{
    const int64_t n = assay_shape_count(call->in[0].type), shift = call->node->attr.pcan.shift;
    const uint32_t *x = call->in[0].data, *noise = call->in[1].data;
    uint32_t *y = call->out[0].data;

    (void)err;
    assert(shift >= 0 && shift <= 63); /* assay_shape_pcan */
    for (int64_t i = 0; i < n; i++) {
        const uint32_t gain = (uint32_t)gain_at(call->in[2].data, noise[i]);
        y[i] = shrunk((uint32_t)((uint64_t)x[i] * gain >> shift));
    }
    return ASSAY_OK;
}

/* ---- signal_log ---- */

enum { LN_2 = 45426, HALF = 0x8000 }; /* ln 2 and 1/2, times 2^16 */

/* log2(v) in 2^-16, v > 0. */
static uint32_t log_of(const int32_t *curve, uint32_t v)
{
    const int whole = length(v) - 1;
    assert(whole >= 0 && whole < 32);
    const uint32_t rest = v - (UINT32_C(1) << whole);
    const int32_t part = (int32_t)(whole < 16 ? rest << (16 - whole) : rest >> (whole - 16));
    const int32_t *at = curve + (part >> 9);
    const int64_t between = ((int64_t)at[1] - at[0]) * (part & 0x1ff);
    return ((uint32_t)whole << 16) + (uint32_t)(at[0] + apply_shift_right(between, 16) + part);
}

assay_status signal_log(assay_call *call, assay_error *err)
{
    const assay_attr_signal_log *a = &call->node->attr.signal_log;
    const int64_t n = assay_shape_count(call->in[0].type);
    const uint32_t *x = call->in[0].data;
    int16_t *y = call->out[0].data;

    (void)err;
    assert(a->shift >= 0 && a->shift <= 31); /* assay_shape_signal_log */
    for (int64_t i = 0; i < n; i++) {
        const uint32_t v = x[i] << a->shift;
        const uint64_t log = v > 1 ? (uint64_t)LN_2 * log_of(call->in[1].data, v) : 0;
        const uint32_t natural = (uint32_t)((log + HALF) >> 16);
        const uint32_t scaled = ((uint32_t)a->scale * natural + HALF) >> 16;
        y[i] = (int16_t)(scaled < INT16_MAX ? scaled : INT16_MAX);
    }
    return ASSAY_OK;
}
