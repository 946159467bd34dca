/* Sums, and codes of many bits, that the target refuses to rescale (rescale.input_bits,
 * input_shift_range, result_overflow and sum_overflow: refuse): asked as a network runs. */
#include "schemes/apply/apply.h"
#include "schemes/apply/operand.h"

/* What rescales the sum of `count` codes, or an accumulator (0); NULL: nothing does, or a division
 * comes first, whose results are codes, looked at when the unit is prepared. */
static const assay_rescale *rescale_of(const assay_unit *u, int32_t count)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    if (u->by_count)
        return &u->by_count[u->n_by_count > 1 && count > 0 ? count - 1 : 0];
    if (u->pool)
        return u->pool == apply_sum || u->pool == apply_pool_rescale_divide ||
                       u->pool == apply_add_n
                   ? o
                   : NULL;
    const bool codes = u->binary || u->unary || u->row || u->interpolate || u->window;
    return !codes && o->row != apply_rescale_row_sums ? o : NULL;
}

bool apply_asks(const assay_unit *u)
{
    return rescale_of(u, 1) != NULL;
}

size_t apply_accepted(const assay_unit *u, const int64_t *acc, const int32_t *count, size_t n,
                      size_t channel)
{
    for (size_t i = 0; i < n; i++) {
        const int32_t cells = count ? count[i] : 0;
        const assay_rescale *r = rescale_of(u, cells);
        if (!r || (i == 0 && !apply_rescale_can_refuse(r->rule)))
            return n;
        const int64_t zeros = count ? cells * (int64_t)u->in_zero[0] : 0;
        const int64_t operand =
            u->pool == apply_add_n ? apply_add_n_operand(u, acc[i], cells) : acc[i] - zeros;
        if (!apply_rescale_accepts(r, operand, channel + i))
            return i;
    }
    return n;
}

bool apply_may_refuse(const assay_unit *u, assay_interval sums)
{
    if (u->untold || u->asks_row)
        return true;
    const int32_t counts = u->by_count ? (int32_t)u->n_by_count : 1;
    for (int32_t count = 1; count <= counts; count++) {
        const assay_rescale *r = rescale_of(u, count);
        if (r && apply_rescale_may_refuse(r, sums))
            return true;
    }
    return false;
}

/* What of the i-th code, or pair of codes, is rescaled; false: nobody asks here. */
static bool operand_of(const assay_unit *u, int32_t a, int32_t b, assay_operand *o)
{
    if (u->binary == apply_mul)
        *o = apply_operand_mul(u, a, b);
    else if (u->binary == apply_prelu)
        *o = apply_operand_prelu(u, a, b);
    else if (u->unary == apply_slope)
        *o = apply_operand_slope(u, a);
    else if (u->unary == apply_abs)
        *o = apply_operand_abs(u, a);
    else if (u->unary == apply_rescale)
        *o = apply_operand_rescale(u, a);
    else
        return false;
    return true;
}

/* What is one operand, as of a product. */
static bool one_accepts(const assay_unit *u, int32_t a, int32_t b)
{
    assay_operand o;
    return !operand_of(u, a, b, &o) || apply_rescale_accepts(&u->scale[o.slot], o.x, 0);
}

/* Who is asked about a pair of codes; NULL: nobody, the unit's types bound them. */
static apply_accepts_fn *asked(const assay_unit *u)
{
    assay_operand o;
    if (operand_of(u, 0, 0, &o))
        return one_accepts;
    if (u->unary == apply_rsqrt || u->unary == apply_slope_fixed8)
        return apply_unary_accepts;
    if (u->binary == apply_add_left_shift || u->binary == apply_add_common_exponent ||
        u->binary == apply_add_separate || u->binary == apply_add_align ||
        u->binary == apply_add_plain)
        return apply_add_accepts;
    if (u->binary == apply_div_truncate || u->binary == apply_div_reciprocal)
        return apply_div_accepts;
    const bool compares = u->binary == apply_compare;
    if ((compares && u->rec.binary.compare == ASSAY_COMPARE_RESCALE) || u->binary == apply_minmax)
        return apply_binary_accepts;
    return NULL;
}

bool apply_asks_codes(const assay_unit *u)
{
    return asked(u) != NULL;
}

size_t apply_accepted_codes(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n)
{
    apply_accepts_fn *accepts = asked(u);
    if (!accepts || !apply_rescale_can_refuse(&u->rec.rescale))
        return n;
    for (size_t i = 0; i < n; i++)
        if (!accepts(u, a[i], b ? b[i] : 0))
            return i;
    return n;
}
