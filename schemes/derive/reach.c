/* Registers whose width is the target's own and no parameter of the record: what codes of a type
 * can bring into them. What could leave one is refused when the unit is prepared; nothing wraps
 * around there unseen. */
#include <assert.h>
#include <math.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"

static int64_t min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

assay_interval derive_codes(const assay_type *t)
{
    assay_interval x = {INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < t->q.count; i++) {
        const int64_t zero = t->q.zero_point ? t->q.zero_point[i] : 0;
        x.lo = min(x.lo, assay_elem_min(t->elem) - zero);
        x.hi = max(x.hi, assay_elem_max(t->elem) - zero);
    }
    return t->q.count ? x : (assay_interval){0, 0};
}

int64_t derive_reach(const assay_type *t)
{
    return derive_magnitudes(derive_codes(t)).hi;
}

/* The nearest to x of what an interval may hold. */
static int64_t within(assay_int128 x)
{
    const int64_t end = INT64_C(1) << 62;
    return (int64_t)(x > end ? end : x < -end ? -end : x);
}

assay_interval derive_times(assay_interval x, assay_interval y)
{
    const assay_int128 lo = x.lo, hi = x.hi;
    const int64_t a = within(lo * y.lo), b = within(lo * y.hi), c = within(hi * y.lo),
                  d = within(hi * y.hi);
    return (assay_interval){min(min(a, b), min(c, d)), max(max(a, b), max(c, d))};
}

assay_interval derive_plus(assay_interval x, assay_interval y)
{
    return (assay_interval){within((assay_int128)x.lo + y.lo), within((assay_int128)x.hi + y.hi)};
}

assay_interval derive_minus(assay_interval x, assay_interval y)
{
    return (assay_interval){within((assay_int128)x.lo - y.hi), within((assay_int128)x.hi - y.lo)};
}

assay_interval derive_shifted(assay_interval x, int bits)
{
    assert(bits >= 0 && bits <= 62);
    const int64_t factor = INT64_C(1) << bits;
    return derive_times(x, (assay_interval){factor, factor});
}

assay_interval derive_with_zero(assay_interval x)
{
    return (assay_interval){min(x.lo, 0), max(x.hi, 0)};
}

assay_interval derive_magnitudes(assay_interval x)
{
    return x.lo >= 0   ? x
           : x.hi <= 0 ? (assay_interval){-x.hi, -x.lo}
                       : (assay_interval){0, max(-x.lo, x.hi)};
}

assay_interval derive_around(double lo, double hi)
{
    return (assay_interval){(int64_t)fmax(floor(lo), -0x1p62), (int64_t)fmin(ceil(hi), 0x1p62)};
}

assay_status derive_fits(const assay_derive *d, double lo, double hi, unsigned bits,
                         const char *what)
{
    const double end = ldexp(1, (int)bits - 1);
    if (lo >= -end && hi < end)
        return ASSAY_OK;
    return derive_fail(d, "%s can reach %.9g, beyond the %u bits that hold it", what,
                       hi >= end && hi >= -lo ? hi : lo, bits);
}

assay_status derive_fits_product(const assay_derive *d, assay_interval x, assay_interval y,
                                 double terms, unsigned bits, const char *what)
{
    const double a = (double)x.lo * (double)y.lo, b = (double)x.lo * (double)y.hi,
                 c = (double)x.hi * (double)y.lo, e = (double)x.hi * (double)y.hi;
    return derive_fits(d, terms * fmin(fmin(a, b), fmin(c, e)),
                       terms * fmax(fmax(a, b), fmax(c, e)), bits, what);
}

assay_status derive_holds(const assay_derive *d, assay_interval x, unsigned bits, const char *what)
{
    return derive_fits(d, (double)x.lo, (double)x.hi, bits, what);
}

assay_status derive_hold_both(const assay_derive *d, const assay_interval x[2], const char *what)
{
    const assay_interval either = {min(x[0].lo, x[1].lo), max(x[0].hi, x[1].hi)};
    return derive_holds(d, either, 32, what);
}

assay_status derive_centred(const assay_derive *d, int input)
{
    const assay_type *t = &d->spec->in[input];
    const int64_t lo = assay_elem_min(t->elem), hi = assay_elem_max(t->elem);
    for (size_t i = 0; i < t->q.count; i++) {
        const int64_t zero = t->q.zero_point ? t->q.zero_point[i] : 0;
        if (lo - zero < INT32_MIN || hi - zero > INT32_MAX)
            return derive_fail(d,
                               "a code of %d bits less its zero point %lld can leave the 32 bits "
                               "that hold it",
                               t->elem.bits, (long long)zero);
    }
    return ASSAY_OK;
}

/* Of codes of more than 16 bits nearly all of the range is refused by any target: each is asked
 * about as a network runs (apply/accept.c). */
static bool asked_by_code(const assay_derive *d)
{
    const assay_unit *u = d->u;
    const bool wide = d->spec->in[0].elem.bits > 16 || (u->binary && d->spec->in[1].elem.bits > 16);
    return wide && apply_asks_codes(u);
}

/* The end of x that is refused, the farther one where both are. */
static int64_t refused_end(const assay_rescale *form, assay_interval x)
{
    const bool lo = apply_rescale_may_refuse(form, (assay_interval){x.lo, x.lo});
    const bool hi = apply_rescale_may_refuse(form, (assay_interval){x.hi, x.hi});
    return lo && (!hi || -x.lo > x.hi) ? x.lo : x.hi;
}

assay_status derive_accepts_form(const assay_derive *d, int slot, const assay_rescale *form,
                                 assay_interval x, const char *what)
{
    d->u->judged[slot] = true;
    if (asked_by_code(d) || !apply_rescale_may_refuse(form, x))
        return ASSAY_OK;
    return derive_fail(
        d,
        "%s can reach %lld, and the rescale refuses some of these values (rescale.input_bits, "
        "input_shift_range, result_overflow or sum_overflow)",
        what, (long long)refused_end(form, x));
}

assay_status derive_accepts(const assay_derive *d, int slot, assay_interval x, const char *what)
{
    return derive_accepts_form(d, slot, &d->u->scale[slot], x, what);
}

assay_status derive_accepts_both(const assay_derive *d, const assay_interval x[2], const char *what,
                                 assay_interval y[2])
{
    assay_status s = ASSAY_OK;
    for (int i = ASSAY_FIRST; i <= ASSAY_SECOND && !s; i++) {
        s = derive_accepts(d, i, x[i], what);
        y[i] = apply_rescale_can_refuse(&d->u->rec.rescale)
                   ? apply_rescale_reach(&d->u->scale[i], x[i])
                   : (assay_interval){0, 0};
    }
    return s;
}

assay_interval derive_sum_of(const assay_derive *d, const assay_interval x[2])
{
    return d->u->subtract ? derive_minus(x[0], x[1]) : derive_plus(x[0], x[1]);
}

assay_status derive_accepts_end(const assay_derive *d, assay_interval x, const char *what)
{
    const assay_rescale *o = &d->u->scale[ASSAY_OUT];
    const bool above = !apply_rescale_end_accepts(o, x.hi);
    d->u->judged[ASSAY_OUT] = true;
    if (asked_by_code(d) || (!above && apply_rescale_end_accepts(o, x.lo)))
        return ASSAY_OK;
    return derive_fail(d,
                       "%s can reach %lld, and with the zero point %lld leave the %d bits beyond "
                       "which rescale.sum_overflow refuses",
                       what, (long long)(above ? x.hi : x.lo), (long long)o->zero_point,
                       o->rule->sum_bits);
}

/* Codes that are rescaled, or multiplied first. */
assay_status derive_accepts_codes(const assay_derive *d)
{
    const assay_unit *u = d->u;
    const assay_interval a = derive_codes(&d->spec->in[0]), above = {0, max(a.hi, 0)},
                         below = {min(a.lo, 0), 0};
    const char *code = "a code less its zero point", *product = "a product of two codes";
    assay_status s = ASSAY_OK;
    if (u->binary == apply_mul)
        return derive_accepts(d, ASSAY_OUT, derive_times(a, derive_codes(&d->spec->in[1])),
                              product);
    if (u->unary == apply_rescale)
        return derive_accepts(d, ASSAY_OUT, a, code);
    if (u->unary == apply_abs)
        return derive_accepts(d, ASSAY_OUT, derive_magnitudes(a), code);
    if (u->unary != apply_slope && u->binary != apply_prelu)
        return ASSAY_OK;
    s = derive_accepts(d, ASSAY_OUT, above, code);
    if (!s && u->binary)
        s = derive_accepts(d, ASSAY_FIRST, derive_times(below, derive_codes(&d->spec->in[1])),
                           product);
    else if (!s)
        s = derive_accepts(d, ASSAY_FIRST, u->k[0] ? derive_magnitudes(below) : below, code);
    return s;
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
            return derive_fail(d,
                               "a rescale within it may refuse operands, which a run does not "
                               "check (rescale.input_bits, input_shift_range, result_overflow or "
                               "sum_overflow)");
    return ASSAY_OK;
}

void derive_left_shift(const assay_derive *d, int n, int32_t wanted, int32_t *bits)
{
    int64_t reach = 1;
    for (int i = 0; i < n; i++) {
        const int64_t r = derive_reach(&d->spec->in[i]);
        reach = r > reach ? r : reach;
    }
    assert(wanted <= 31);
    *bits = wanted;
    while (*bits > 0 && reach > INT32_MAX >> *bits)
        (*bits)--;
}
