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
        const int64_t zero = t->q.zero_point ? t->q.zero_point[i] : 0;
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

assay_status derive_centred(const assay_derive *d, int input)
{
    const assay_type *t = &d->spec->in[input];
    const int64_t least = assay_elem_min(t->elem), greatest = assay_elem_max(t->elem);
    for (size_t i = 0; i < t->q.count; i++) {
        const int64_t zero = t->q.zero_point ? t->q.zero_point[i] : 0;
        if (least - zero < INT32_MIN || greatest - zero > INT32_MAX)
            return derive_fail(d,
                               "a code of %d bits less its zero point %lld can leave the 32 bits "
                               "that hold it",
                               t->elem.bits, (long long)zero);
    }
    return ASSAY_OK;
}

assay_status derive_accepts_form(const assay_derive *d, int slot, const assay_rescale *form,
                                 int64_t max, const char *what)
{
    d->u->judged[slot] = true;
    if (!apply_rescale_may_refuse(form, max))
        return ASSAY_OK;
    return derive_fail(d,
                       "%s can reach %lld, of which the rescale refuses some (rescale.input_bits, "
                       "input_shift_range, result_overflow or sum_overflow)",
                       what, (long long)max);
}

assay_status derive_accepts(const assay_derive *d, int slot, int64_t max, const char *what)
{
    return derive_accepts_form(d, slot, &d->u->scale[slot], max, what);
}

assay_status derive_accepts_both(const assay_derive *d, int64_t first, int64_t second,
                                 const char *what, int64_t *sum)
{
    *sum = 0;
    assay_status s = derive_accepts(d, ASSAY_FIRST, first, what);
    if (!s)
        s = derive_accepts(d, ASSAY_SECOND, second, what);
    if (!s && apply_rescale_can_refuse(&d->u->rec.rescale)) {
        const int64_t a = apply_rescale_reach(&d->u->scale[ASSAY_FIRST], first);
        const int64_t b = apply_rescale_reach(&d->u->scale[ASSAY_SECOND], second);
        *sum = a / 2 + b / 2 < INT64_C(1) << 61 ? a + b : INT64_C(1) << 62;
    }
    return s;
}

assay_status derive_accepts_end(const assay_derive *d, int64_t max, const char *what)
{
    const assay_rescale *o = &d->u->scale[ASSAY_OUT];
    const assay_rule_rescale *k = o->rule;
    const assay_int128 most = (assay_int128)max + o->zero_point,
                       least = o->zero_point - (assay_int128)max;
    d->u->judged[ASSAY_OUT] = true;
    if (k->sum_overflow != ASSAY_NARROW_REFUSE || k->sum_bits == 0 ||
        (most == apply_saturate128(most, (unsigned)k->sum_bits) &&
         least == apply_saturate128(least, (unsigned)k->sum_bits)))
        return ASSAY_OK;
    return derive_fail(d,
                       "%s can reach %lld, and with the zero point %lld leave the %d bits beyond "
                       "which rescale.sum_overflow refuses",
                       what, (long long)max, (long long)o->zero_point, k->sum_bits);
}

/* Codes that are rescaled, or multiplied first. */
static assay_status accepts_codes(const assay_derive *d)
{
    const assay_unit *u = d->u;
    const int64_t a = derive_reach(&d->spec->in[0]);
    const int64_t ab = u->binary ? a * derive_reach(&d->spec->in[1]) : a;
    const char *code = "a code less its zero point", *product = "a product of two codes";
    const bool negative = u->unary == apply_slope || u->binary == apply_prelu;
    assay_status s = ASSAY_OK;
    if (u->binary == apply_mul)
        s = derive_accepts(d, ASSAY_OUT, ab, product);
    else if (negative || u->unary == apply_rescale || u->unary == apply_abs)
        s = derive_accepts(d, ASSAY_OUT, a, code);
    return s || !negative ? s : derive_accepts(d, ASSAY_FIRST, ab, u->binary ? product : code);
}

/* Of codes of more than 16 bits nearly all of the range is refused by any target: each is asked
 * about as a network runs (apply/accept.c). */
assay_status derive_accepts_codes(const assay_derive *d)
{
    assay_unit *u = d->u;
    const bool wide = d->spec->in[0].elem.bits > 16 || (u->binary && d->spec->in[1].elem.bits > 16);
    if (!wide || !apply_asks_codes(u))
        return accepts_codes(d);
    for (int i = 0; i < 3; i++)
        u->judged[i] = true;
    return ASSAY_OK;
}

/* Sums that are stored as they are go through no rescale. */
static bool rescales(const assay_rescale *r)
{
    return r->row && r->row != apply_rescale_row_sums;
}

assay_status derive_accepts_rest(const assay_derive *d)
{
    const assay_unit *u = d->u;
    if (!apply_rescale_can_refuse(&u->rec.rescale))
        return ASSAY_OK;
    for (int i = 0; i < 3; i++)
        if (rescales(&u->scale[i]) && !u->judged[i] && !(i == ASSAY_OUT && apply_asks(u)))
            return derive_fail(d, "a rescale within it may refuse what nobody asks about "
                                  "(rescale.input_bits, input_shift_range, result_overflow or "
                                  "sum_overflow)");
    return ASSAY_OK;
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
