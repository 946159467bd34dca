/* Codes of 32 unsigned bits: their top above int32, on the way in and out. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/support/scheme_unit.h"

static uint32_t binary(const char *record, const char *op, float in, float out, int32_t a,
                       int32_t b)
{
    const int32_t zero = 0;
    assay_scheme *s = unit_scheme(record);
    const assay_type ins[2] = {code_type(16, true, &in, &zero), code_type(16, true, &in, &zero)};
    const assay_type to = code_type(32, false, &out, &zero);
    const assay_unit_spec spec = unit_spec(op, ins, 2, &to);
    assay_unit *u = unit_prepare(s, &spec);
    int32_t code;
    s->vt->binary(u, &a, &b, 1, &code);
    s->vt->release(u);
    assay_scheme_free(s);
    return (uint32_t)code;
}

/* Floats on their way to 32 unsigned bits reach the type's own top. */
static void unsigned_tops(void **state)
{
    (void)state;
    static const char *const adds[] = {"float-real", "float-ratio", "float-scaled"};
    for (size_t i = 0; i < sizeof adds / sizeof *adds; i++) {
        char record[80];
        snprintf(record, sizeof record, "add: {kind: %s}\n", adds[i]);
        assert_int_equal(binary(record, "add", 0x1p17F, 1, 1 << 14, 1 << 13), UINT32_C(3) << 30);
        assert_int_equal(binary(record, "add", 0x1p18F, 1, 1 << 14, 1 << 13), UINT32_MAX);
    }
    assert_int_equal(
        binary("add: {kind: fixed-scale, bits: 0}\n", "add", 0x1p13F, 0x1p-4F, 1 << 14, 1 << 13),
        UINT32_C(3) << 30);
    assert_int_equal(binary("add: {kind: float-scaled, float_overflow: int-min}\n", "add", 0x1p18F,
                            1, 1 << 14, 1 << 13),
                     0);
    assert_int_equal(
        binary("binary: {div: float}\nrescale: {encoding: float32, round: [half-away]}\n", "div", 1,
               0x1p-18F, 3 << 12, 1),
        UINT32_C(3) << 30);
}

/* Tables, quantize and the real bounds of an activation too. */
static void unsigned_codes(void **state)
{
    (void)state;
    static const float one = 1, fine = 0x1p-26F;
    static const int32_t zero = 0, some = 5;
    const assay_type in = code_type(8, true, &one, &zero);
    for (int i = 0; i < 4; i++) {
        const assay_type out = code_type(32, false, &fine, i < 2 ? &zero : &some);
        char record[120];
        snprintf(record, sizeof record,
                 "unary: {rescale: table}\ntable: {zero_point: %s}\n"
                 "convert: {zero_point: %s}\n",
                 i % 2 ? "after" : "inside", i % 2 ? "after" : "inside");
        assay_scheme *s = unit_scheme(record);
        assay_unit_spec spec = unit_spec("rescale", &in, 1, &out);
        assay_unit *u = unit_prepare(s, &spec);
        const int32_t x[4] = {-1, 40, 63, 64};
        const int64_t more = i == 3 ? 5 : 0; /* inside, a float has no room for it */
        int32_t y[4];
        size_t count;
        s->vt->unary(u, x, 4, y);
        const int64_t *table = unit_param(s, u, "table", &count);
        const int64_t want[4] = {0, (INT64_C(40) << 26) + more, (INT64_C(63) << 26) + more,
                                 UINT32_MAX};
        for (int k = 0; k < 4; k++) {
            assert_int_equal((uint32_t)y[k], want[k]);
            assert_int_equal(table[x[k] + 128], want[k]);
        }
        s->vt->release(u);
        spec.act_hi = 40;
        u = unit_prepare(s, &spec);
        s->vt->unary(u, x, 4, y);
        assert_int_equal((uint32_t)y[3], want[1]);
        s->vt->release(u);
        const assay_type real = {.elem = {.kind = ASSAY_KIND_F32, .bits = 32}};
        spec = unit_spec("quantize", &real, 1, &out);
        u = unit_prepare(s, &spec);
        const float f[2] = {40, 1e9F};
        uint32_t bits[2];
        memcpy(bits, f, sizeof bits);
        s->vt->quantize(u, bits, 2, 0, y);
        assert_int_equal((uint32_t)y[0], want[1]);
        assert_int_equal((uint32_t)y[1], UINT32_MAX);
        s->vt->release(u);
        assay_scheme_free(s);
    }
}

/* And back: what is above int32 is no negative number. Nothing else computes with u32. */
static void unsigned_inputs(void **state)
{
    (void)state;
    static const float one = 1;
    static const int32_t zero = 256;
    static const char *const ops[] = {"rescale", "max_pool", "add", "mul", "less", "reduce_sum"};
    const assay_type in[2] = {code_type(32, false, &one, &zero), code_type(32, false, &one, &zero)};
    const assay_type real = {.elem = {.kind = ASSAY_KIND_F32, .bits = 32}};
    assay_scheme *s = unit_scheme("");
    assay_unit_spec spec = unit_spec("dequantize", in, 1, &real);
    assay_unit *u = unit_prepare(s, &spec);
    const int32_t code = (int32_t)(UINT32_C(3) << 30);
    float f;
    uint32_t bits;
    s->vt->dequantize(u, &code, 1, 0, &bits);
    memcpy(&f, &bits, sizeof f);
    assert_true(f == 0xc0000000U - 256.0F);
    s->vt->release(u);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        char why[200];
        spec = unit_spec(ops[i], in, 2, &in[0]);
        assert_false(assay_scheme_supports(s, &spec, why, sizeof why));
        assert_string_equal(why, "input 0 has unsigned codes of 32 bits; expected at most 31, or "
                                 "32 signed");
    }
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsigned_tops),
        cmocka_unit_test(unsigned_codes),
        cmocka_unit_test(unsigned_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
