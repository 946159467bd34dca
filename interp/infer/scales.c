/* Rows of scales; see scales.h. */
#include "interp/infer/scales.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "schemes/round.h"

const int32_t infer_formations[INFER_FORMATIONS] = {ASSAY_FORM_DOUBLE, ASSAY_FORM_F32_PRODUCT,
                                                    ASSAY_FORM_F32, ASSAY_FORM_F32_RECIPROCAL};

double infer_real(const infer_row *row)
{
    return (double)row->in * (double)row->weight / (double)row->out;
}

int infer_exponent(double real)
{
    int e;
    frexp(real, &e);
    return e - 1;
}

/* ---- R as three scales ---- */

/* Splits R into a * 2^i, b * 2^j and the divisor 1 * 2^l. */
static void place(rows_random *r, infer_row *row, double a, double b, int e)
{
    const bool wide = e < -40 || e > 40;
    const int first = wide ? e / 2 : (int)rows_between(r, -14, 2);
    const int last = wide ? 0 : (int)rows_between(r, -8, 8);
    row->in = (float)ldexp(a, first);
    row->weight = (float)ldexp(b, e - first + last);
    row->out = (float)ldexp(1, last);
}

/* A factor for an odd number such that both factors have 24 bits; 0: none was found. */
static int64_t factor(rows_random *r, int64_t odd)
{
    if (odd < INT64_C(1) << 24)
        return 1;
    int64_t min = (odd >> 24) | 1;
    min += 2 * rows_between(r, 0, 3);
    for (int64_t a = min; a < min + 1200; a += 2)
        if (odd % a == 0 && odd / a < INT64_C(1) << 24)
            return a;
    return 0;
}

void infer_set_scales(rows_random *r, infer_row *row, int64_t m, int e)
{
    const int64_t sign = m < 0 ? -1 : 1;
    int64_t odd = m * sign;
    if (odd == 0) {
        place(r, row, 0, 1, 0);
        return;
    }
    for (; odd % 2 == 0; odd /= 2)
        e++;
    const int64_t a = factor(r, odd);
    if (a == 0)
        infer_near_scales(r, row, ldexp((double)(odd * sign), e));
    else
        place(r, row, (double)(a * sign), (double)(odd / a), e);
}

enum { TRIES = 1000, FEW_TRIES = 32 };

static float any_scale(rows_random *r, int lo, int hi)
{
    const double m = (double)rows_between(r, 1 << 23, (1 << 24) - 1);
    return (float)ldexp(m, (int)rows_between(r, lo, hi) - 23);
}

static void try_scales(rows_random *r, infer_row *row, double real, int tries)
{
    double best = INFINITY;
    for (int i = 0; i < tries && best > 0; i++) {
        const float in = any_scale(r, -12, 2), out = any_scale(r, -8, 8);
        const float weight = (float)(real * (double)out / (double)in);
        const double off = fabs((double)in * (double)weight / (double)out - real);
        if (!(off < best))
            continue;
        best = off;
        row->in = in;
        row->weight = weight;
        row->out = out;
    }
}

void infer_near_scales(rows_random *r, infer_row *row, double real)
{
    try_scales(r, row, real, TRIES);
}

/* ---- R through the encoder ---- */

bool infer_is_near_power(const infer_row *row)
{
    infer_rule k;
    infer_plain_rule(&k);
    for (int f = 0; f < INFER_FORMATIONS; f++) {
        k.scale = infer_formations[f];
        const double real = fabs(derive_form_scale(&k, row->in, row->weight, row->out, true));
        const int e = infer_exponent(real);
        if (real > 0 && real != ldexp(1, e) && floor(log(real) / log(2)) != e)
            return true;
    }
    return false;
}

bool infer_is_quotient(const infer_rule *k)
{
    return k->scale == ASSAY_FORM_F32_PRODUCT && k->multiplier_bits > 24;
}

int64_t infer_greatest(const infer_rule *k)
{
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 32);
    const int64_t power = INT64_C(1) << k->multiplier_bits;
    if (k->beyond_shift_max ==
        ASSAY_SMALL_GENERATOR) /* which doubles a multiplier that is a power of two */
        return power;
    if (infer_is_quotient(k))
        return power - (power >> 24);
    return k->multiplier_renormalise ? power - 1 : power;
}

bool infer_is_single(const infer_rule *k)
{
    return k->scale == ASSAY_FORM_F32 || k->scale == ASSAY_FORM_F32_RECIPROCAL;
}

bool infer_is_edge(const infer_rule *k, double real)
{
    enum { LEAST = 6 }; /* with fewer bits a large part of all R would count */
    int e;
    const int bits = k->reduced_bits > 0 ? k->reduced_bits : k->multiplier_bits;
    return k->encoding == ASSAY_ENCODE_MULTIPLIER && bits >= LEAST &&
           fabs(frexp(real, &e)) >= 1 - ldexp(1, -bits);
}

void infer_encode_row(const infer_task *t, infer_row *row)
{
    char why[256];
    assay_encoded e = {0, 0, 0};
    const double exact = infer_real(row);
    const double real = derive_form_scale(&t->encoder, row->in, row->weight, row->out, true);
    const int at = isfinite(exact) && exact != 0 ? infer_exponent(exact) : INT16_MIN;
    row->live = at >= t->live_lo && at <= t->live_hi && real != 0 &&
                !(t->core && infer_is_edge(&t->encoder, exact)) &&
                derive_encode(&t->encoder, real, &e, why, sizeof why);
    row->multiplier = e.multiplier;
    row->shift = (int32_t)e.shift;
    row->pre = (int32_t)e.pre;
}

void infer_encode_log(infer_task *t)
{
    for (size_t i = 0; i < t->log.n; i++)
        infer_encode_row(t, &t->log.row[i]);
}

/* ---- rows with a given multiplier and shift ---- */

void infer_form_row(infer_task *t, infer_row *row, bool exact)
{
    int64_t m = row->multiplier ? row->multiplier : 1;
    assert(infer_bits_of(m) >= 1 && infer_bits_of(m) <= 63);
    if (t->powers)
        m = (m < 0 ? -1 : 1) * (INT64_C(1) << (infer_bits_of(m) - 1));
    const int e = (int)apply_clamp_to(infer_bits_of(m) - 1 - row->shift, t->live_lo, t->live_hi);
    const int place_of_one = e - (infer_bits_of(m) - 1);
    if (exact || t->powers || rows_next(&t->random) & 1)
        infer_set_scales(&t->random, row, m, place_of_one);
    else
        try_scales(&t->random, row, ldexp((double)m, place_of_one), FEW_TRIES);
    infer_encode_row(t, row);
}

static int64_t clamp_acc(const infer_task *t, double x)
{
    const int bits = t->o->acc_bits;
    const double max = ldexp(1, bits - 1);
    return x >= max      ? apply_int_max((unsigned)bits)
           : !(x > -max) ? apply_int_min((unsigned)bits)
                         : (int64_t)x;
}

static double any_code(infer_task *t, int32_t zp)
{
    const int64_t lo = assay_elem_min(t->o->type), hi = assay_elem_max(t->o->type);
    const double half = rows_between(&t->random, 0, 3) ? 0.5 : 0;
    return (double)(rows_between(&t->random, lo - 2, hi + 2) - zp) + half;
}

/* Gives the row an R between two multipliers of the encoder that give different codes. */
static void put_multiplier_tie(infer_task *t, infer_row *row)
{
    const int bits = t->encoder.multiplier_bits;
    const double code = fabs(any_code(t, row->zp)) + 0.5;
    const double x = ldexp(1 + (double)rows_between(&t->random, 0, 1 << 20) * 0x1p-20,
                           t->o->acc_bits - 2 - (int)rows_between(&t->random, 0, 5));
    const int e = infer_exponent(code / floor(x));
    const int64_t m = (int64_t)floor(ldexp(code / floor(x), bits - 1 - e));
    row->acc = clamp_acc(t, rows_next(&t->random) & 1 ? floor(x) : -floor(x));
    infer_set_scales(&t->random, row, 2 * m + 1, e - bits);
}

void infer_form_any_row(infer_task *t, infer_row *row)
{
    const int64_t pick = rows_between(&t->random, 0, 31);
    infer_form_row(t, row, false);
    if (pick < 2)
        infer_set_scales(&t->random, row, t->powers ? 1 : rows_between(&t->random, 1, 1 << 24),
                         (int)rows_between(&t->random, -100, 40));
    else if (pick == 2)
        infer_set_scales(&t->random, row, 0, 0);
    else if (pick < 12 && !t->powers)
        put_multiplier_tie(t, row);
    else if (pick < 24)
        row->acc = clamp_acc(t, floor(any_code(t, row->zp) / infer_real(row)) +
                                    (double)rows_between(&t->random, -1, 1));
    infer_encode_row(t, row);
}
