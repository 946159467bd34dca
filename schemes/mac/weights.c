/* Codes and scales of weights in llama.cpp's blocks; weights.h has the formulas. */
#include "schemes/mac/weights.h"

#include <string.h>

#include "schemes/apply/softfloat.h"
#include "schemes/mac/functions.h"
#include "schemes/mac/scale.h"

#define SIGN UINT32_C(0x80000000)

static uint32_t f32(int64_t x)
{
    return apply_f32_from_i64(x);
}

static uint32_t f16(uint32_t x)
{
    return mac_from_f32(ASSAY_MAC_F16, x, false);
}

static uint32_t of_f16(uint32_t pattern)
{
    return mac_to_f32(ASSAY_MAC_F16, pattern);
}

/* x / y, or 0 if y is 0. */
static uint32_t over(uint32_t x, uint32_t y)
{
    return y << 1 == 0 ? 0 : apply_f32_div(x, y);
}

static int32_t code_of(uint32_t x, enum assay_rounding mode, int32_t lo, int32_t hi)
{
    return (int32_t)apply_f32_to_int(x, mode, lo, hi, 0);
}

/* The first of the elements with the greatest magnitude. */
static uint32_t farthest(const int32_t *x, int n)
{
    uint32_t best = 0;
    for (int i = 0; i < n; i++)
        if (((uint32_t)x[i] & ~SIGN) > (best & ~SIGN))
            best = (uint32_t)x[i];
    return best;
}

static void choose_q4_0(const int32_t *x, mac_weights_block *b)
{
    const uint32_t t = apply_f32_div(farthest(x, 32), f32(-8)), back = over(ASSAY_F32_ONE, t);
    const uint32_t middle = apply_f32_div(f32(17), f32(2));
    b->d = f16(t);
    for (int i = 0; i < 32; i++)
        b->code[i] = code_of(apply_f32_add(apply_f32_mul((uint32_t)x[i], back), middle),
                             ASSAY_ROUND_TRUNC, 0, 15);
}

static void choose_q8_0(const int32_t *x, mac_weights_block *b)
{
    const uint32_t t = apply_f32_div(farthest(x, 32) & ~SIGN, f32(127));
    const uint32_t back = over(ASSAY_F32_ONE, t);
    b->d = f16(t);
    for (int i = 0; i < 32; i++)
        b->code[i] = code_of(apply_f32_mul((uint32_t)x[i], back), ASSAY_ROUND_HALF_AWAY, -128, 127);
}

/* The least element, 0 at most, and the greatest, 0 at least. */
static void reach(const int32_t *x, int n, uint32_t *lo, uint32_t *hi)
{
    *lo = *hi = 0;
    for (int i = 0; i < n; i++) {
        *lo = apply_f32_min(*lo, (uint32_t)x[i]);
        *hi = apply_f32_max(*hi, (uint32_t)x[i]);
    }
}

static void choose_q4_k(const int32_t *x, mac_weights_block *b)
{
    uint32_t t[8], u[8], max_t = 0, max_u = 0;
    for (int j = 0; j < 8; j++) {
        uint32_t lo, hi;
        reach(x + 32 * j, 32, &lo, &hi);
        t[j] = apply_f32_div(apply_f32_sub(hi, lo), f32(15));
        u[j] = apply_f32_sub(0, lo);
        max_t = apply_f32_max(max_t, t[j]);
        max_u = apply_f32_max(max_u, u[j]);
    }
    b->d = f16(apply_f32_div(max_t, f32(63)));
    b->d_min = f16(apply_f32_div(max_u, f32(63)));
    for (int j = 0; j < 8; j++) {
        const uint32_t d = of_f16(b->d), d_min = of_f16(b->d_min);
        b->scale[j] = code_of(over(t[j], d), ASSAY_ROUND_HALF_EVEN, 0, 63);
        b->min[j] = code_of(over(u[j], d_min), ASSAY_ROUND_HALF_EVEN, 0, 63);
        const uint32_t step = apply_f32_mul(d, f32(b->scale[j])),
                       up = apply_f32_mul(d_min, f32(b->min[j]));
        for (int i = 32 * j; i < 32 * j + 32; i++)
            b->code[i] = code_of(over(apply_f32_add((uint32_t)x[i], up), step),
                                 ASSAY_ROUND_HALF_EVEN, 0, 15);
    }
}

static void choose_q6_k(const int32_t *x, mac_weights_block *b)
{
    int32_t t[16];
    for (int j = 0; j < 16; j++)
        t[j] = (int32_t)apply_f32_div(farthest(x + 16 * j, 16), f32(-32));
    b->d = f16(apply_f32_div(farthest(t, 16), f32(-128)));
    for (int j = 0; j < 16; j++) {
        const uint32_t d = of_f16(b->d);
        b->scale[j] = code_of(over((uint32_t)t[j], d), ASSAY_ROUND_HALF_EVEN, -128, 127);
        const uint32_t step = apply_f32_mul(d, f32(b->scale[j]));
        for (int i = 16 * j; i < 16 * j + 16; i++)
            b->code[i] = code_of(over((uint32_t)x[i], step), ASSAY_ROUND_HALF_EVEN, -32, 31) + 32;
    }
}

#define INT(bits, is_signed)                                                                       \
    {                                                                                              \
        ASSAY_KIND_INT, bits, is_signed                                                            \
    }
static const mac_weights_format formats[] = {
    {"q4_0", 32, 32, INT(4, false), 8, {0}, false, choose_q4_0},
    {"q8_0", 32, 32, INT(8, true), 0, {0}, false, choose_q8_0},
    {"q4_K", 256, 32, INT(4, false), 0, INT(6, false), true, choose_q4_k},
    {"q6_K", 256, 16, INT(6, false), 32, INT(8, true), false, choose_q6_k},
};
enum { N_FORMATS = sizeof formats / sizeof *formats };
const char *const mac_weights_names[] = {"q4_0", "q8_0", "q4_K", "q6_K", NULL};

const mac_weights_format *mac_weights_find(const char *name)
{
    for (int i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

bool mac_weights_encode(const mac_weights_format *f, const int32_t *x, mac_weights_block *b)
{
    const uint32_t f16_inf = 0x7c00;
    memset(b, 0, sizeof *b);
    for (int i = 0; i < f->block; i++)
        if (((uint32_t)x[i] & ~SIGN) >= ASSAY_F32_INF)
            return false;
    f->choose(x, b);
    return (b->d & 0x7fff) < f16_inf && (b->d_min & 0x7fff) < f16_inf;
}
