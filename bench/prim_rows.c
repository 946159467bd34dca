/* Rows through single arithmetic primitives, a loop each. */
#include "bench/prim_rows.h"

#include "schemes/apply/fixedpoint.h"
#include "schemes/apply/softfloat.h"

/* Values such as a layer has: a scale near 0.0037 in three encodings. Volatile, so that the
 * compiler does not fold them into the loop, where a kernel has them in variables. */
static volatile uint32_t scale_f32 = 0x3b727bb3; /* 0.0037f */
static volatile int32_t multiplier = 2034096512;
static volatile int shift = -8;

#define ROW(name, setup, expression)                                                               \
    static void name(const int32_t *acc, int32_t *out, size_t n)                                   \
    {                                                                                              \
        setup;                                                                                     \
        for (size_t i = 0; i < n; i++) {                                                           \
            int32_t x = acc[i];                                                                    \
            out[i] = (int32_t)(expression);                                                        \
        }                                                                                          \
    }
#define FIXED   int32_t m = multiplier, s = shift
#define FLOAT   uint32_t m = scale_f32
#define CODE(e) apply_clamp_to((e) + 3, -128, 127)

#define SHIFTED(mode) CODE(assay_round_shift((int64_t)x *m, (unsigned)(31 - s), ASSAY_ROUND_##mode))
ROW(mbqm_double, FIXED, CODE(apply_mbqm_double(x, m, s)))
ROW(mbqm_single, FIXED, CODE(apply_mbqm_single(x, m, s)))
ROW(mbqm_half_up, FIXED, CODE(apply_mbqm_half_up(x, m, s)))
ROW(mbqm64, FIXED, CODE(apply_mbqm64(x, m, s)))
ROW(shift_half_away, FIXED, SHIFTED(HALF_AWAY))
ROW(shift_half_even, FIXED, SHIFTED(HALF_EVEN))
ROW(shift_half_zero, FIXED, SHIFTED(HALF_ZERO))
ROW(shift_floor, FIXED, SHIFTED(FLOOR))
ROW(shift_trunc, FIXED, SHIFTED(TRUNC))
ROW(shift_ceil, FIXED, SHIFTED(CEIL))
ROW(shift_odd, FIXED, SHIFTED(ODD))
ROW(shift_away, FIXED, SHIFTED(AWAY))
ROW(divide_by_49, (void)0, assay_round_div(x, 49, ASSAY_ROUND_HALF_AWAY))

#define PRODUCT apply_f32_mul(apply_f32_from_i32(x), m)
ROW(f32_requantize, FLOAT, CODE(apply_f32_to_int(PRODUCT, ASSAY_ROUND_HALF_EVEN, -1000, 1000, 0)))
ROW(f32_from_i32, (void)0, apply_f32_from_i32(x))
ROW(f32_product, FLOAT, PRODUCT)
ROW(f32_add, FLOAT, apply_f32_add((uint32_t)x, m))
ROW(f32_div, FLOAT, apply_f32_div((uint32_t)x, m))
ROW(f32_fma, FLOAT, apply_f32_fma((uint32_t)x, m, m))
ROW(f32_sqrt, (void)0, apply_f32_sqrt((uint32_t)x))
ROW(f64_mul, FLOAT, apply_f64_mul((uint64_t)x << 32 >> 1, (uint64_t)m << 32))
ROW(f64_div, FLOAT, apply_f64_div((uint64_t)x << 32 >> 1, (uint64_t)m << 32))

ROW(fixed_logistic, (void)0, apply_fixed_logistic(x, 4))
ROW(fixed_tanh, (void)0, apply_fixed_tanh(x, 4))
ROW(table_logistic16, (void)0, apply_table_logistic16((int16_t)x, 3, 0, NULL))

const struct prim_row prim_rows[] = {
    {"mbqm double", mbqm_double},
    {"mbqm single", mbqm_single},
    {"mbqm two half-up", mbqm_half_up},
    {"mbqm64 (int16x8)", mbqm64},
    {"shift half-away", shift_half_away},
    {"shift half-even", shift_half_even},
    {"shift half-zero", shift_half_zero},
    {"shift floor", shift_floor},
    {"shift trunc", shift_trunc},
    {"shift ceil", shift_ceil},
    {"shift odd", shift_odd},
    {"shift away", shift_away},
    {"divide by 49", divide_by_49},
    {"f32 requantize", f32_requantize},
    {"f32 from i32", f32_from_i32},
    {"f32 from i32, mul", f32_product},
    {"f32 add", f32_add},
    {"f32 div", f32_div},
    {"f32 fma", f32_fma},
    {"f32 sqrt", f32_sqrt},
    {"f64 mul", f64_mul},
    {"f64 div", f64_div},
    {"fixed logistic", fixed_logistic},
    {"fixed tanh", fixed_tanh},
    {"table logistic16", table_logistic16},
};
const size_t prim_row_count = sizeof prim_rows / sizeof prim_rows[0];
