/* Registers whose width is the target's own and no parameter of the record: what codes of a type
 * can bring into them. What could leave one is refused when the unit is prepared; nothing wraps
 * around there unseen. */
#include "graph/core/type.h"
#include "schemes/derive/derive.h"

int64_t derive_reach(const assay_type *t)
{
    const int64_t least = assay_elem_min(t->elem), greatest = assay_elem_max(t->elem);
    int64_t reach = 0;
    for (size_t i = 0; i < t->q.count; i++) {
        const int64_t zero = t->q.zero_point != NULL ? t->q.zero_point[i] : 0;
        const int64_t down = zero - least, up = greatest - zero;
        reach = down > reach ? down : reach;
        reach = up > reach ? up : reach;
    }
    return reach;
}

assay_status derive_fits(const assay_derive *d, double max, unsigned bits, const char *what)
{
    if (max < (double)(UINT64_C(1) << (bits - 1)))
        return ASSAY_OK;
    return derive_fail(d, "%s can reach %.9g, beyond the %u bits that hold it", what, max, bits);
}

assay_status derive_accepts(const assay_derive *d, const assay_rescale *r, int64_t max,
                            const char *what)
{
    if (!apply_rescale_may_refuse(r, max))
        return ASSAY_OK;
    return derive_fail(d,
                       "%s can reach %lld, of which the rescale refuses some (rescale.input_bits, "
                       "input_shift_range, result_overflow or sum_overflow)",
                       what, (long long)max);
}

/* Codes that are rescaled, or multiplied first: of such rows nobody asks as a network runs. Those
 * of more than 16 bits are left alone: nearly all of their range is refused by any target. */
assay_status derive_accepts_codes(const assay_derive *d)
{
    const assay_unit *u = d->u;
    if (d->spec->in[0].elem.bits > 16)
        return ASSAY_OK;
    const assay_rescale *o = &u->scale[ASSAY_OUT], *other = &u->scale[ASSAY_FIRST];
    const int64_t a = derive_reach(&d->spec->in[0]);
    const int64_t ab = u->binary != NULL ? a * derive_reach(&d->spec->in[1]) : a;
    const char *code = "a code less its zero point", *product = "a product of two codes";
    const bool negative = u->unary == apply_slope || u->binary == apply_prelu;
    assay_status s = ASSAY_OK;
    if (u->binary == apply_mul)
        s = derive_accepts(d, o, ab, product);
    else if (negative || u->unary == apply_rescale || u->unary == apply_abs)
        s = derive_accepts(d, o, a, code);
    return s != ASSAY_OK || !negative
               ? s
               : derive_accepts(d, other, ab, u->binary != NULL ? product : code);
}

assay_status derive_left_shift(const assay_derive *d, int n, int32_t wanted, int32_t *bits)
{
    int64_t reach = 1;
    for (int i = 0; i < n; i++) {
        const int64_t r = derive_reach(&d->spec->in[i]);
        reach = r > reach ? r : reach;
    }
    *bits = wanted;
    while (*bits > 0 && reach > INT32_MAX >> *bits)
        (*bits)--;
    return derive_fits(d, (double)reach, 32, "a code less its zero point");
}
