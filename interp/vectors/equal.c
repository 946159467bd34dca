/* Domains of a record's rows, and records that are one function there; see equal.h. */
#include "interp/vectors/equal.h"

#include <assert.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/infer/same.h"
#include "schemes/record/data.h"

static void record_of(const assay_scheme *side, const vectors_space *space, assay_record *r)
{
    assay_effective_record(assay_data(side), space->op, "", vectors_form(space), r);
}

static bool takes(const assay_scheme *side, const vectors_space *space, int64_t m, int64_t shift)
{
    const vectors_row row = {.multiplier = m, .shift = shift};
    assay_single single;
    return vectors_single(side, space, &row, &single);
}

static int bits_of(int64_t x)
{
    int bits = 1;
    while (bits < 64 && (x < 0 ? x < -(INT64_C(1) << (bits - 1)) : x >= INT64_C(1) << (bits - 1)))
        bits++;
    return bits;
}

bool vectors_domain_of(const assay_scheme *side, const vectors_space *space, vectors_domain *out)
{
    enum { MIN_SHIFT = -1200, MAX_SHIFT = 1200 }; /* shifts of any record */
    assay_record r;
    const int bits = bits_of(space->lo), max = bits_of(space->hi);
    record_of(side, space, &r);
    *out = (vectors_domain){.acc_bits = bits > max ? bits : max, .shift_lo = 1};
    if (space->scales || r.rescale.encoding != ASSAY_ENCODE_MULTIPLIER || out->acc_bits > 62)
        return false;
    /* those that R becomes: what else the record takes as given (derive_check_precomputed), a
     * register of so many bits may not hold */
    assert(r.rescale.multiplier_bits >= 1 && r.rescale.multiplier_bits <= 32);
    out->multiplier_hi =
        (INT64_C(1) << r.rescale.multiplier_bits) - r.rescale.multiplier_renormalise;
    out->multiplier_lo = r.rescale.negative_scale ? -out->multiplier_hi : 0;
    for (int64_t s = MIN_SHIFT; s <= MAX_SHIFT; s++)
        if (takes(side, space, 1, s)) {
            out->shift_lo = out->shift_lo > out->shift_hi ? s : out->shift_lo;
            out->shift_hi = s;
        }
    return out->shift_lo <= out->shift_hi;
}

bool vectors_add_corners(const vectors_space *space, const vectors_domain *d, vectors_rows *rows)
{
    const int64_t acc[] = {space->lo, space->lo + 1, -1, 1, space->hi - 1, space->hi};
    const int64_t m[] = {d->multiplier_lo, d->multiplier_lo + 1, 1, d->multiplier_hi - 1,
                         d->multiplier_hi};
    const int64_t ends[] = {assay_elem_min(space->type), assay_elem_max(space->type)};
    const int64_t step = 1 + (d->shift_hi - d->shift_lo) / 96;
    for (int64_t s = d->shift_lo; s <= d->shift_hi;
         s = s < d->shift_hi && s + step > d->shift_hi ? d->shift_hi : s + step)
        for (size_t i = 0; i < sizeof acc / sizeof *acc; i++)
            for (size_t k = 0; k < sizeof m / sizeof *m; k++) {
                const vectors_row row = {
                    .acc = acc[i], .multiplier = m[k], .shift = s, .zero = ends[(i + k) % 2]};
                if (acc[i] >= space->lo && acc[i] <= space->hi && !vectors_rows_add(rows, &row))
                    return false;
            }
    return true;
}

/* Fields by which rows are refused and nothing else: no more rows than `a` takes are asked. */
static void widen(const vectors_domain *d, const infer_rule *a, infer_rule *b)
{
    if (b->shift_min <= d->shift_lo)
        b->shift_min = a->shift_min;
    if (b->shift_max >= d->shift_hi)
        b->shift_max = a->shift_max;
    if (b->multiplier_bits >= a->multiplier_bits && a->reduced_bits == 0 && b->reduced_bits == 0)
        b->multiplier_bits = a->multiplier_bits;
    if (a->input_bits > 0 && (b->input_bits == 0 || b->input_bits > a->input_bits) &&
        b->input_shift_range == a->input_shift_range)
        b->input_bits = a->input_bits;
    b->negative_scale = a->negative_scale; /* of R alone */
}

/* Boxes may find a row that is none of the space: with bounds, or beyond its accumulators. */
static enum infer_told tell(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                            const vectors_space *space, vectors_row *row)
{
    infer_row r;
    const enum infer_told told = infer_tell(e, a, b, &r);
    if (told != INFER_APART)
        return told;
    *row = (vectors_row){.acc = r.acc, .zero = r.zp, .multiplier = r.multiplier, .shift = r.shift};
    return r.bounded || r.acc < space->lo || r.acc > space->hi ? INFER_UNTOLD : told;
}

enum infer_told vectors_tell(const assay_scheme *a, const assay_scheme *b,
                             const vectors_space *space, const vectors_domain *d, uint64_t *left,
                             vectors_row *row)
{
    const infer_options o = {
        .kind = INFER_MULTIPLIER, .type = space->type, .acc_bits = d->acc_bits};
    infer_task t = {.o = &o,
                    .multiplier_lo = d->multiplier_lo,
                    .multiplier_hi = d->multiplier_hi,
                    .shift_lo = (int32_t)d->shift_lo,
                    .shift_hi = (int32_t)d->shift_hi};
    const infer_engine e = {.t = &t,
                            .multiplier_lo = d->multiplier_lo,
                            .multiplier_hi = d->multiplier_hi,
                            .shift_lo = t.shift_lo,
                            .shift_hi = t.shift_hi};
    assay_record x, y;
    record_of(a, space, &x);
    record_of(b, space, &y);
    widen(d, &x.rescale, &y.rescale);
    const infer_rule one = infer_normal(&e, &x.rescale), other = infer_normal(&e, &y.rescale);
    y.rescale = x.rescale;
    if (memcmp(&x, &y, sizeof x) != 0)
        return INFER_UNTOLD;
    if (infer_is_same(&e, &one, &other))
        return INFER_ALIKE;
    if (*left == 0)
        return INFER_UNTOLD;
    const enum infer_told told = tell(&e, &one, &other, space, row);
    *left -= t.work < *left ? t.work : *left;
    return told;
}
