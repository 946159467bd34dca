/* Rows aimed at what rescales differ in; see draw.h. */
#include "interp/vectors/draw.h"

#include <assert.h>
#include <math.h>

#include "graph/core/type.h"
#include "interp/rows/random.h"
#include "schemes/record/data.h"

typedef struct drawer {
    const vectors_space *space;
    assay_rule_rescale rule;
    int accumulator_bits; /* of the space's greatest accumulator */
    rows_random random;
} drawer;

static uint64_t draw(drawer *d)
{
    return rows_next(&d->random);
}

static int64_t between(drawer *d, int64_t lo, int64_t hi)
{
    return rows_between(&d->random, lo, hi);
}

/* Of R: most where a whole range of codes lies among the accumulators; some where none or few do;
 * a few so large that only the least accumulators have codes, and registers overflow. */
static int exponent(drawer *d)
{
    const int codes = (int)d->space->type.bits;
    const uint64_t kind = draw(d) % 8;
    if (kind == 0)
        return (int)between(d, 0, 40);
    if (kind == 1)
        return (int)between(d, -d->accumulator_bits - 2, 4);
    return (int)between(d, codes - d->accumulator_bits, 0);
}

/* A multiplier of up to `bits` bits: an end, a power of two beside its neighbours, or any; a few of
 * fewer bits. */
static int64_t multiplier(drawer *d, int bits)
{
    assert(bits >= 0 && bits <= 62);
    const int64_t top = INT64_C(1) << bits, half = top / 2;
    const int64_t ends[] = {half, half + 1, top - 1, half + half / 2, half + half / 2 - 1};
    const uint64_t kind = draw(d) % 16;
    int64_t m = between(d, half, top - 1);
    if (kind < sizeof ends / sizeof *ends && ends[kind] > 0 && ends[kind] < top)
        m = ends[kind];
    else if (kind == 5)
        m = between(d, 0, top - 1);
    else if (kind == 6)
        m = INT64_C(1) << between(d, 0, bits - 1);
    return d->rule.negative_scale && draw(d) % 4 == 0 ? -m : m;
}

static float scale(drawer *d)
{
    const double m = draw(d) % 8 == 0 ? 1 : 1 + (double)(draw(d) >> 11) * 0x1p-53;
    return (float)ldexp(m, (int)between(d, -12, 2));
}

/* Multiplier and shift, or the scales; returns R. */
static double setting(drawer *d, vectors_row *row)
{
    const int e = exponent(d);
    if (d->space->scales) {
        row->in = (double)scale(d);
        row->weight = (double)scale(d);
        row->out = (double)(float)(row->in * row->weight * ldexp(1, -e));
        row->out = draw(d) % 4 == 0 ? row->out : row->out * (double)scale(d);
        row->out = (double)(float)row->out;
        return row->in * row->weight / row->out;
    }
    const bool shifts = d->rule.encoding == ASSAY_ENCODE_SHIFT;
    row->multiplier = shifts ? 1 : multiplier(d, d->rule.multiplier_bits);
    row->shift = (shifts ? 0 : d->rule.multiplier_bits) - e;
    if (draw(d) % 16 == 0)
        row->shift = between(d, row->shift - 8, row->shift + 24);
    return (double)row->multiplier * ldexp(1, (int)-row->shift);
}

static int64_t zero(drawer *d)
{
    const int64_t lo = assay_elem_min(d->space->type), hi = assay_elem_max(d->space->type);
    const int64_t known[] = {0, lo, hi, lo + (hi - lo) / 2 + 1};
    const uint64_t kind = draw(d) % 8;
    const int64_t z = kind < 4 ? known[kind] : between(d, lo, hi);
    return z < lo || z > hi ? lo : z;
}

static int64_t clamp(const drawer *d, double x)
{
    const double lo = (double)d->space->lo, hi = (double)d->space->hi;
    return !(x > lo) ? d->space->lo : x >= hi ? d->space->hi : (int64_t)x;
}

/* An accumulator beside the tie under some code, or at that code's own value. */
static int64_t near_tie(drawer *d, double real, int64_t zero_point)
{
    const int64_t lo = assay_elem_min(d->space->type), hi = assay_elem_max(d->space->type);
    const double code = (double)(between(d, lo - 3, hi + 3) - zero_point);
    const double x = real != 0 ? (code + (draw(d) % 4 == 0 ? 0 : 0.5)) / real : 0;
    return clamp(d, floor(x) + (double)between(d, -1, 2));
}

static int64_t power(drawer *d)
{
    assert(d->accumulator_bits >= 1 && d->accumulator_bits <= 61);
    const int64_t p = INT64_C(1) << between(d, 0, d->accumulator_bits - 1);
    return clamp(d, (double)((draw(d) % 2 ? p : -p) + between(d, -1, 1)));
}

static int64_t anywhere(drawer *d)
{
    assert(d->accumulator_bits >= 1 && d->accumulator_bits <= 61);
    const int64_t x = between(d, d->space->lo, d->space->hi);
    return x / (INT64_C(1) << between(d, 0, d->accumulator_bits - 1));
}

static int64_t accumulator(drawer *d, int k, double real, int64_t zero_point)
{
    const int64_t first[] = {0, 1, -1, d->space->lo, d->space->hi};
    if (k < (int)(sizeof first / sizeof *first))
        return clamp(d, (double)first[k]);
    switch (k % 4) {
    case 0:
        return power(d);
    case 1:
        return anywhere(d);
    default:
        return near_tie(d, real, zero_point);
    }
}

bool vectors_draw(const assay_scheme *side, const vectors_space *space, size_t settings,
                  uint64_t seed, vectors_rows *rows)
{
    assay_record r;
    assay_effective_record(assay_data(side), space->op, "", vectors_form(space), &r);
    drawer d = {.space = space, .rule = r.rescale, .accumulator_bits = 1, .random = {seed}};
    while (d.accumulator_bits < 61 && INT64_C(1) << (d.accumulator_bits - 1) <= space->hi)
        d.accumulator_bits++;
    bool good = true;
    for (size_t i = 0; i < settings && good; i++) {
        vectors_row row = {.in = 1, .weight = 1, .out = 1};
        const double real = setting(&d, &row);
        row.zero = zero(&d);
        for (int k = 0; k < VECTORS_PER_SETTING && good; k++) {
            row.acc = accumulator(&d, k, real, row.zero);
            good = vectors_rows_add(rows, &row);
        }
    }
    return good;
}
