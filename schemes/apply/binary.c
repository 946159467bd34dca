/* MUL, MIN, MAX, PRELU, squared difference and comparisons of two codes. */
#include <assert.h>

#include "schemes/apply/apply.h"
#include "schemes/apply/operand.h"
#include "schemes/round.h"

static int32_t rescaled(const assay_unit *u, assay_operand o)
{
    return apply_rescale_one(&u->scale[o.slot], o.x, 0);
}

/* out = rescale((a - z1) * (b - z2)), real scale s1*s2/s_out. */
void apply_mul(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rescaled(u, apply_operand_mul(u, a[i], b[i]));
}

/* Each operand rescaled to the output (k[0], k[1]: 1 when it has the output's parameters already),
 * then the greater or the lesser. */
void apply_minmax(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int32_t x = a[i], y = b[i];
        if (!u->k[0])
            x = apply_rescale_one(&u->scale[ASSAY_FIRST], x - u->in_zero[0], 0);
        if (!u->k[1])
            y = apply_rescale_one(&u->scale[ASSAY_SECOND], y - u->in_zero[1], 0);
        apply_tell(t, "first at the output's scale", x);
        apply_tell(t, "second at the output's scale", y);
        const int32_t chosen = (u->op == ASSAY_OP_MAX) == (x > y) ? x : y;
        apply_tell(t, u->op == ASSAY_OP_MAX ? "the greater" : "the lesser", chosen);
        out[i] = apply_tell_store(t, o, chosen);
    }
}

/* TFLite: operands as in ADD with left shift k[0]; the difference squared, then rescaled. */
void apply_squared_difference(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n,
                              int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        int64_t x = apply_shift_left_wrap(a[i] - u->in_zero[0], (unsigned)u->k[0], 32);
        int64_t y = apply_shift_left_wrap(b[i] - u->in_zero[1], (unsigned)u->k[0], 32);
        const uint64_t d = (uint64_t)(apply_rescale_value(&u->scale[ASSAY_FIRST], x, 0) -
                                      apply_rescale_value(&u->scale[ASSAY_SECOND], y, 0));
        out[i] = apply_rescale_one(&u->scale[ASSAY_OUT], apply_wrap((int64_t)(d * d), 32), 0);
    }
}

/* Non-negative inputs by the output rescale, negative ones times the slope code by the first. */
void apply_prelu(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = rescaled(u, apply_operand_prelu(u, a[i], b[i]));
}

/* -1, 0, 1 as a * 2^e is below, at or above b, for |a|, |b| < 2^63 and e >= 0. */
static int order_scaled(int64_t a, int64_t e, int64_t b)
{
    assert(e >= 0);
    if (a == 0 || e > 63)
        return a == 0 ? (b < 0) - (b > 0) : (a > 0) - (a < 0);
    assay_int128 x = (assay_int128)a * ((assay_int128)1 << e);
    return (x > b) - (x < b);
}

/* exact: compares s1*(a - z1) with s2*(b - z2); a scale is a 24-bit integer k[0] (k[1]) times a
 * power of two, k[2] is the difference of the exponents.
 * rescale: compares rescale_1((a - z1) << 8) with rescale_2((b - z2) << 8), as TFLite does.
 * k[3], k[4], k[5]: what is stored for below, at and above. */
void apply_compare(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    for (size_t i = 0; i < n; i++) {
        const assay_teller *t = apply_teller(u, i);
        int64_t x = a[i] - u->in_zero[0], y = b[i] - u->in_zero[1];
        int order;
        apply_tell(t, "first less zero point", x);
        apply_tell(t, "second less zero point", y);
        if (u->rec.binary.compare == ASSAY_COMPARE_RESCALE) {
            const assay_int128 p =
                apply_rescale_value(&u->scale[ASSAY_FIRST], apply_shift_left_wrap(x, 8, 32), 0);
            const assay_int128 q =
                apply_rescale_value(&u->scale[ASSAY_SECOND], apply_shift_left_wrap(y, 8, 32), 0);
            order = (p > q) - (p < q);
            apply_tell(t, "first * 2^8, rescaled", (int64_t)p);
            apply_tell(t, "second * 2^8, rescaled", (int64_t)q);
        } else {
            apply_tell_product(t, "first product", x, u->k[0]);
            apply_tell_product(t, "second product", y, u->k[1]);
            apply_tell(t, "the first counts 2 to the", u->k[2]);
            order = u->k[2] >= 0 ? order_scaled(x * u->k[0], u->k[2], y * u->k[1])
                                 : -order_scaled(y * u->k[1], -u->k[2], x * u->k[0]);
        }
        apply_tell(t, "below (-1), equal or above (1)", order);
        out[i] = u->k[4 + order] != 0;
    }
}

/* Operands that are rescaled apart: k[0] and k[1] of minmax say which are not. */
bool apply_binary_accepts(const assay_unit *u, int32_t a, int32_t b)
{
    const int64_t code[2] = {a - u->in_zero[0], b - u->in_zero[1]};
    const bool compares = u->binary == apply_compare;
    for (int i = 0; i < 2; i++)
        if ((compares || !u->k[i]) &&
            !apply_rescale_accepts(&u->scale[i == 0 ? ASSAY_FIRST : ASSAY_SECOND],
                                   compares ? apply_shift_left_wrap(code[i], 8, 32) : code[i], 0))
            return false;
    return true;
}
