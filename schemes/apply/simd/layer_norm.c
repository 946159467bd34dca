/* Layer normalization by the integer square root (layer_norm.c) in C loops that compilers turn into
 * vectors: built once for each instruction set, which SIMD_NAME appends to the names.
 *
 * The division, half away from zero, is one of doubles: for |w|, r > 0 and 2|w| + 3r < 2^53,
 * (2|w| + r) / 2r rounded to a double and then toward zero is the exact quotient rounded toward
 * zero, since a quotient below an integer is further from it than half a unit in the last place. */
#include <assert.h>

#include "schemes/apply/apply.h"

#define JOIN2(a, b) a##_##b
#define JOIN(a, b)  JOIN2(a, b)

#if defined __AVX512F__
#define ISA ASSAY_ISA_VNNI
#elif defined __AVX2__
#define ISA ASSAY_ISA_AVX2
#else
#define ISA ASSAY_ISA_PORTABLE
#endif

#define EXACT 0x1p53 /* doubles below are exact */

static void use_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *scratch, uint8_t *out)
{
    u->row(u, x, n, scratch);
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)scratch[i];
}

/* z[i]; false where some quotient might be out of reach. */
static bool normalize(const assay_unit *u, const int32_t *restrict x, size_t n, int32_t *restrict z)
{
    assert(u->k[1] >= 0 && u->k[1] <= 16);
    const int64_t count = (int64_t)n, up = INT64_C(1) << (u->k[1] + ASSAY_LAYER_NORM_GUARD);
    int64_t sum;
    const int64_t root = apply_layer_norm_root(u, x, n, &sum);
    const double widest =
        ((double)count * 65536 + (sum < 0 ? -(double)sum : (double)sum)) * (double)up;
    if (root <= 0 || 2 * widest + 3 * (double)root >= EXACT || widest >= 0x1p30 * (double)root)
        return false;
    const double r = (double)root, twice = 2 * r;
    for (size_t i = 0; i < n; i++) {
        const double w = (double)((count * x[i] - sum) * up);
        const int32_t q = (int32_t)((2 * (w < 0 ? -w : w) + r) / twice);
        z[i] = w < 0 ? -q : q;
    }
    return true;
}

/* z * gamma + beta, shifted; false where one leaves int32. */
static bool scale(const assay_unit *u, const int32_t *restrict gamma, const int32_t *restrict beta,
                  size_t n, int32_t *restrict z)
{
    assert(u->k[2] >= 0 && u->k[2] <= 62);
    const unsigned shift = (unsigned)u->k[2];
    const int64_t half = ((int64_t)1 << shift) >> 1, some = shift > 0;
    const int64_t zero = u->in_zero[1], beta_zero = u->k[5];
    int64_t beyond = 0;
    for (size_t i = 0; i < n; i++) {
        const int64_t g = u->k[3] ? gamma[i] - zero : INT64_C(1) << shift;
        const int64_t p = z[i] * g + (u->k[4] ? beta[i] - beta_zero : 0);
        const int64_t v = (p + half - (some & (p < 0))) >> shift;
        z[i] = (int32_t)v;
        beyond |= v ^ z[i];
    }
    return beyond == 0;
}

static void layer_norm(const assay_unit *u, const int32_t *x, size_t n, int32_t *z, uint8_t *out)
{
    if (normalize(u, x, n, z) && scale(u, x + n, x + 2 * n, n, z))
        simd_block(u, ISA)(u, z, 1, n, n, 0, out, n);
    else
        use_row(u, x, n, z, out);
}

/* Where beta is in multiples of gamma's scale / 2^F as it stands, and the output's rescale has a
 * form. */
assay_row_fn JOIN(simd_layer_norm, SIMD_NAME)(const assay_unit *u)
{
    const bool fits = u->row == apply_layer_norm &&
                      u->rec.softmax.layer_norm == ASSAY_LAYER_NORM_SQRT && !u->k[6] &&
                      u->scale[ASSAY_OUT].n == 1;
    return fits && simd_block(u, ISA) ? layer_norm : NULL;
}
