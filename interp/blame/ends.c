/* Hypotheses over a node's end: scales, the output's zero point, bounds. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

/* ---- scales ---- */

float *blame_weight_scales(blame_case *c, int64_t *n)
{
    assay_type *w = &c->in[1];
    const bool weighted = assay_op_get(c->op)->traits & ASSAY_T_WEIGHTED;
    if (!weighted || c->op == ASSAY_OP_CONV_TRANSPOSE || !assay_is_quantized(w) ||
        w->q.granularity == ASSAY_Q_BLOCK)
        return NULL;
    *n = w->dim[0];
    float *scale = assay_arena_array(c->arena, (size_t)*n + 1, sizeof *scale);
    int32_t *zero = assay_arena_array(c->arena, (size_t)*n + 1, sizeof *zero);
    if (!scale || !zero)
        return NULL;
    for (int64_t k = 0; k < *n; k++) {
        const size_t from = w->q.count > 1 ? (size_t)k : 0;
        scale[k] = w->q.scale[from];
        zero[k] = w->q.zero_point ? w->q.zero_point[from] : 0;
    }
    w->q = (assay_qparams){.granularity = ASSAY_Q_AXIS,
                           .axis = 0,
                           .count = (size_t)*n,
                           .scale = scale,
                           .zero_point = zero};
    if (c->n_in > 2) /* its codes stay what they are */
        c->in[2].q = (assay_qparams){.granularity = ASSAY_Q_NONE};
    return scale;
}

static const int offsets[] = {1, -1, 2, -2, 4, -4, 8, -8, 16, -16, 32, -32};
enum { N_OFFSETS = sizeof offsets / sizeof *offsets, MAX_SHIFT = 8, OTHERS = 4 + BLAME_DEALT };
enum { SCALES = 2 * MAX_SHIFT + N_OFFSETS + OTHERS };

int blame_scale_count(blame_search *s)
{
    if (!assay_node_is_quantized(s->d->graph, s->n))
        return 0;
    return assay_op_get(s->n->op)->traits & ASSAY_T_WEIGHTED ? SCALES : 3 * 2 * MAX_SHIFT;
}

/* Twice, four times, ... as much, or as little. */
static int power_of(int i)
{
    return i < MAX_SHIFT ? i + 1 : MAX_SHIFT - 1 - i;
}

/* Another input's, or the output's, scale times a power of two. */
static bool shift_operand(blame_case *c, int i, blame_story *story)
{
    const int which = i / (2 * MAX_SHIFT), power = power_of(i % (2 * MAX_SHIFT));
    assay_type *t = which == 2 ? &c->out : &c->in[which];
    float *scale;
    if ((which < 2 && which >= c->n_in) || !assay_is_quantized(t) ||
        !blame_own_params(c, t, &scale, NULL))
        return false;
    for (size_t k = 0; k < t->q.count; k++)
        scale[k] = ldexpf(scale[k], power);
    if (which == 2)
        blame_tell(story, "rescale.shift", 1, "shifted by %d more to the %s", abs(power),
                   power > 0 ? "right" : "left");
    else
        blame_tell(story, "rescale.shift", 1, "operand %d shifted by %d more to the %s", which,
                   abs(power), power > 0 ? "left" : "right");
    return true;
}

static bool exchange_scales(float *scale, int64_t n, int i, blame_case *c, blame_story *story)
{
    const float *old = assay_arena_copy(c->arena, scale, (size_t)n * sizeof *scale);
    const int offset = i < N_OFFSETS ? offsets[i] : 0;
    if (!old || offset >= n || -offset >= n || n < 2)
        return false;
    const int way = i - N_OFFSETS - (OTHERS - BLAME_DEALT);
    if (way >= 0 && blame_dealt(way, n, 0) < 0)
        return false;
    double mean = 0;
    for (int64_t k = 0; k < n; k++)
        mean += (double)old[k] / (double)n;
    const bool is_mean = i == N_OFFSETS + 3;
    for (int64_t k = 0; k < n; k++)
        scale[k] = way >= 0             ? old[blame_dealt(way, n, k)]
                   : is_mean            ? (float)mean
                   : i < N_OFFSETS      ? old[((k + offset) % n + n) % n]
                   : i == N_OFFSETS     ? old[0]
                   : i == N_OFFSETS + 1 ? old[n - 1]
                                        : old[n - 1 - k];
    char text[48];
    if (way >= 0)
        blame_tell(story, "rescale.channel", 2, "the rescale of %s",
                   blame_say_dealt(way, text, sizeof text));
    else if (is_mean)
        blame_tell(story, "rescale.multiplier", 1, "all channels have the mean of their scales");
    else if (i < N_OFFSETS)
        blame_tell(story, "rescale.channel", 1, "the rescale of the channel %d %s", abs(offset),
                   offset > 0 ? "behind" : "before");
    else
        blame_tell(story, "rescale.channel", 1, "%s",
                   i == N_OFFSETS       ? "the rescale of channel 0"
                   : i == N_OFFSETS + 1 ? "the rescale of the last channel"
                                        : "rescales of channels in reverse order");
    return true;
}

bool blame_scale_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    int64_t n;
    (void)s;
    if (!(assay_op_get(c->op)->traits & ASSAY_T_WEIGHTED))
        return shift_operand(c, i, story);
    float *scale = blame_weight_scales(c, &n);
    if (!scale)
        return false;
    if (i >= 2 * MAX_SHIFT)
        return exchange_scales(scale, n, i - 2 * MAX_SHIFT, c, story);
    const int power = power_of(i);
    for (int64_t k = 0; k < n; k++)
        scale[k] = ldexpf(scale[k], power);
    blame_tell(story, "rescale.shift", 1, "shifted by %d more to the %s", abs(power),
               power > 0 ? "left" : "right");
    return true;
}

/* Multipliers of which the first bits alone are kept, or to which they are rounded. */
enum { MIN_BITS = 4, MAX_BITS = 24, BIT_COUNTS = MAX_BITS - MIN_BITS + 1 };

int blame_few_bits_count(blame_search *s)
{
    return assay_node_is_quantized(s->d->graph, s->n) && s->n->op != ASSAY_OP_CONV_TRANSPOSE &&
                   assay_op_get(s->n->op)->traits & ASSAY_T_WEIGHTED
               ? 2 * BIT_COUNTS
               : 0;
}

bool blame_few_bits_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    int64_t n;
    const int bits = MIN_BITS + i % BIT_COUNTS;
    const double half = i < BIT_COUNTS ? 0 : 0.5;
    const double other = (double)c->in[0].q.scale[0] / (double)c->out.q.scale[0];
    float *scale = blame_weight_scales(c, &n);
    (void)s;
    for (int64_t k = 0; k < n && scale; k++) {
        int exponent;
        const double m = frexp((double)scale[k] * other, &exponent);
        scale[k] = (float)(ldexp(floor(ldexp(m, bits) + half), exponent - bits) / other);
    }
    blame_tell(story, "rescale.multiplier", 2,
               half > 0 ? "multipliers rounded to %d bits"
                        : "of the multipliers the first %d bits alone",
               bits);
    return scale != NULL;
}

/* A bit of all multipliers, the highest but one first: always 0, always 1, or the other. */
enum { MULTIPLIER_BITS = 22, BIT_CLEAR = 0, BIT_SET, BIT_FLIPPED, BIT_WAYS };

int blame_multiplier_bit_count(blame_search *s)
{
    return blame_few_bits_count(s) > 0 ? MULTIPLIER_BITS * BIT_WAYS : 0;
}

bool blame_multiplier_bit_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    static const char *const words[BIT_WAYS] = {"always 0", "always 1", "flipped"};
    const int way = i % BIT_WAYS, place = i / BIT_WAYS;
    assert(place >= 0 && place <= MULTIPLIER_BITS);
    const int64_t bit = INT64_C(1) << (MULTIPLIER_BITS - place);
    const double other = (double)c->in[0].q.scale[0] / (double)c->out.q.scale[0];
    int64_t n;
    float *scale = blame_weight_scales(c, &n);
    (void)s;
    for (int64_t k = 0; k < n && scale; k++) {
        int exponent;
        const double whole = ldexp(frexp((double)scale[k] * other, &exponent), MULTIPLIER_BITS + 2);
        const int64_t m = (int64_t)whole;
        const int64_t to = way == BIT_CLEAR ? m & ~bit : way == BIT_SET ? m | bit : m ^ bit;
        scale[k] = (float)(ldexp(whole + (double)(to - m), exponent - MULTIPLIER_BITS - 2) / other);
    }
    blame_tell(story, "rescale.multiplier", 2, "bit %d of all multipliers, from the top, is %s",
               place + 1, words[way]);
    return scale != NULL;
}

/* ---- the output's zero point ---- */

/* The codes that the fused activation leaves, however its bounds are given. */
static void code_bounds(const blame_case *c, int64_t *lo, int64_t *hi)
{
    const double scale = (double)c->out.q.scale[0], zero = c->out.q.zero_point[0];
    const double a = isinf(c->act_lo) ? -INFINITY : rint((double)c->act_lo / scale) + zero;
    const double b = isinf(c->act_hi) ? INFINITY : rint((double)c->act_hi / scale) + zero;
    *lo = assay_elem_min(c->out.elem);
    *hi = assay_elem_max(c->out.elem);
    *lo = a > (double)*lo ? (int64_t)a : *lo;
    *hi = b < (double)*hi ? (int64_t)b : *hi;
    if (c->has_code_bounds) {
        *lo = c->code_lo > *lo ? c->code_lo : *lo;
        *hi = c->code_hi < *hi ? c->code_hi : *hi;
    }
}

static void set_bounds(blame_case *c, int64_t lo, int64_t hi)
{
    c->act_lo = -INFINITY;
    c->act_hi = INFINITY;
    c->has_code_bounds = lo > assay_elem_min(c->out.elem) || hi < assay_elem_max(c->out.elem);
    c->code_lo = (int32_t)lo;
    c->code_hi = (int32_t)hi;
}

bool blame_has_end(const blame_search *s)
{
    return assay_node_is_quantized(s->d->graph, s->n) && assay_is_quantized(s->type) &&
           s->type->q.granularity == ASSAY_Q_TENSOR && s->type->q.zero_point &&
           s->type->elem.bits <= 16;
}

/* Of codes of at most 8 bits every zero point, the bounds staying; of wider ones those near; and
 * the usual ones that the type has not. Where the scheme adds none after the rescale, each also
 * added there. */
enum { NEAR = 256, ZERO_POINTS = NEAR + BLAME_USUAL };

int blame_out_zero_point_count(blame_search *s)
{
    const bool after = !s->has_record || s->record.rescale.zero_point == ASSAY_STAGE_AFTER;
    return !blame_has_end(s) ? 0 : after ? ZERO_POINTS : 2 * ZERO_POINTS;
}

/* The output's zero point z, which the type may not have, its bounds staying. */
static bool set_out_zero_point(blame_case *c, int64_t z, bool after, blame_story *story)
{
    const int32_t now = c->out.q.zero_point[0];
    int64_t lo, hi;
    int32_t *zero;
    code_bounds(c, &lo, &hi);
    if (z == now || lo > hi || !blame_own_params(c, &c->out, NULL, &zero))
        return false;
    set_bounds(c, lo, hi);
    c->has_zero = z < assay_elem_min(c->out.elem) || z > assay_elem_max(c->out.elem);
    c->zero = c->has_zero ? (int32_t)z : 0;
    zero[0] = c->has_zero ? now : (int32_t)z;
    if (after) {
        c->record.rescale.zero_point = ASSAY_STAGE_AFTER;
        c->has_record = true;
    }
    blame_tell(story, "rescale.zero_point", after ? 2 : 1,
               "zero point of the output: %lld instead of %d%s", (long long)z, now,
               after ? ", added after the rescale" : "");
    return true;
}

bool blame_out_zero_point_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int32_t now = c->out.q.zero_point[0];
    const bool after = i >= ZERO_POINTS;
    const int64_t least = assay_elem_min(c->out.elem), greatest = assay_elem_max(c->out.elem);
    int32_t usual[BLAME_USUAL];
    const int n = blame_usual_zero_points(&c->out, now, usual);
    (void)s;
    i -= after ? ZERO_POINTS : 0;
    const bool is_usual = i >= NEAR && i - NEAR < n;
    const int64_t z = is_usual                ? usual[i - NEAR]
                      : c->out.elem.bits <= 8 ? least + i
                                              : now + i - 128;
    const bool has_code = z >= least && z <= greatest;
    return has_code != is_usual && (i < NEAR || is_usual) && set_out_zero_point(c, z, after, story);
}

/* Those further off are looked for. */
enum { FAR = 1 << 16 };

int blame_far_out_zero_point_count(blame_search *s)
{
    static const blame_family far = {.id = BLAME_FAMILY_far_out_zero_point,
                                     .edit = blame_far_out_zero_point_edit};
    s->sought[0] = blame_has_end(s) ? blame_seek(s, &far, 0, FAR, 2 * FAR) : FAR;
    return s->sought[0] != FAR;
}

bool blame_far_out_zero_point_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    (void)s;
    return set_out_zero_point(c, c->out.q.zero_point[0] + i - FAR, false, story);
}

/* ---- bounds ---- */

enum { NO_BOUNDS, LOW_BITS, RELU, RELU6, RELU1, SYMMETRIC, SEEN_LO, SEEN_HI, SEEN_BOTH, BOUNDS };

/* Whether the end's codes stand for what the node's own do. */
static bool is_end_alike(const blame_search *s)
{
    const assay_type *t = s->end_type;
    return assay_elem_equal(t->elem, s->type->elem) && t->q.granularity == ASSAY_Q_TENSOR &&
           t->q.zero_point && t->q.zero_point[0] == s->type->q.zero_point[0] &&
           t->q.scale[0] == s->type->q.scale[0];
}

int blame_bounds_count(blame_search *s)
{
    return !blame_has_end(s) ? 0 : s->n_after == 0 || is_end_alike(s) ? BOUNDS : SEEN_LO;
}

/* The least and greatest code that the device gave. */
static void seen_bounds(const blame_search *s, int64_t *lo, int64_t *hi)
{
    *lo = INT64_MAX;
    *hi = INT64_MIN;
    for (int64_t i = 0; i < s->n_samples * s->end_count; i++)
        if (s->seen[i]) {
            *lo = s->dev[i] < *lo ? s->dev[i] : *lo;
            *hi = s->dev[i] > *hi ? s->dev[i] : *hi;
        }
}

/* bounded: the node has bounds, which go too. */
static bool keep_low_bits(const blame_search *s, bool bounded, blame_case *c, blame_story *story)
{
    if (!s->has_record)
        return false;
    c->record.rescale.store = ASSAY_STORE_WRAP;
    c->has_record = true;
    set_bounds(c, assay_elem_min(c->out.elem), assay_elem_max(c->out.elem));
    blame_tell(story, "saturation.missing", bounded ? 2 : 1,
               "the low %u bits are stored, without bounds", c->out.elem.bits);
    return true;
}

bool blame_bounds_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int64_t least = assay_elem_min(c->out.elem), max = assay_elem_max(c->out.elem);
    const int32_t zero = c->out.q.zero_point[0];
    const double scale = (double)c->out.q.scale[0];
    int64_t lo, hi, to_lo = least, to_hi = max, seen_lo = 0, seen_hi = 0;
    code_bounds(c, &lo, &hi);
    if (i >= SEEN_LO)
        seen_bounds(s, &seen_lo, &seen_hi);
    if (i == LOW_BITS)
        return keep_low_bits(s, lo > least || hi < max, c, story);
    if (i == RELU || i == RELU6)
        to_lo = zero;
    if (i == RELU6 || i == RELU1)
        to_hi = (int64_t)fmin(rint((i == RELU6 ? 6.0 : 1.0) / scale) + zero, (double)max);
    if (i == RELU1 || i == SYMMETRIC)
        to_lo = i == SYMMETRIC ? -max : (int64_t)fmax(rint(-1.0 / scale) + zero, (double)least);
    if (i >= SEEN_LO && s->differing < 2)
        return false; /* one element may hold anything */
    if (i >= SEEN_LO) {
        to_lo = i == SEEN_HI ? lo : seen_lo;
        to_hi = i == SEEN_LO ? hi : seen_hi;
    }
    if (to_lo < least || to_lo > to_hi || (to_lo == lo && to_hi == hi))
        return false;
    set_bounds(c, to_lo, to_hi);
    /* between bounds there is more than one code */
    blame_tell(story, "saturation.bounds",
               to_lo == to_hi ? 2
               : i <= RELU6   ? 1
                              : (to_lo != lo) + (to_hi != hi),
               "bounds %lld and %lld instead of %lld and %lld", (long long)to_lo, (long long)to_hi,
               (long long)lo, (long long)hi);
    return true;
}
