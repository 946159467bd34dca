/* Element-wise float kernels, casts and resize: worked values where a formula has corners. */
#include "test/support/op_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/kernel/kernel.h"

/* Ops that worked values of this file were computed of. */
static bool worked[ASSAY_OP_COUNT];

static void run_worked(op_case *c)
{
    op_run(c);
    worked[c->op] = true;
}

/* ---- element-wise ---- */

static void unary_worked_values(void **state)
{
    const float x[] = {-3, -0.5F, 0, 0.5F, 2.5F};
    const struct {
        assay_op op;
        float want[5];
    } cases[] = {
        {ASSAY_OP_RELU, {0, 0, 0, 0.5F, 2.5F}},
        {ASSAY_OP_LEAKY_RELU, {-0.03F, -0.005F, 0, 0.5F, 2.5F}},
        {ASSAY_OP_SIGMOID, {0.04742587F, 0.37754067F, 0.5F, 0.62245933F, 0.92414182F}},
        {ASSAY_OP_TANH, {-0.99505475F, -0.46211716F, 0, 0.46211716F, 0.98661430F}},
        {ASSAY_OP_HARD_SWISH, {0, -0.20833333F, 0, 0.29166667F, 2.29166667F}},
        {ASSAY_OP_HARD_SIGMOID, {0, 0.4F, 0.5F, 0.6F, 1}},
        {ASSAY_OP_ELU, {-0.0095021293F, -0.0039346934F, 0, 0.5F, 2.5F}},
        {ASSAY_OP_GELU, {-0.0040496940F, -0.15426877F, 0, 0.34573123F, 2.4844758F}},
        {ASSAY_OP_ERF, {-0.99997791F, -0.52049988F, 0, 0.52049988F, 0.99959305F}},
        {ASSAY_OP_EXP, {0.049787068F, 0.60653066F, 1, 1.6487213F, 12.182494F}},
        {ASSAY_OP_SQUARE, {9, 0.25F, 0, 0.25F, 6.25F}},
        {ASSAY_OP_ABS, {3, 0.5F, 0, 0.5F, 2.5F}},
        {ASSAY_OP_NEG, {3, 0.5F, 0, -0.5F, -2.5F}},
        {ASSAY_OP_SIGN, {-1, -1, 0, 1, 1}},
        {ASSAY_OP_FLOOR, {-3, -1, 0, 0, 2}},
        {ASSAY_OP_CEIL, {-3, 0, 0, 1, 3}},
        {ASSAY_OP_ROUND, {-3, 0, 0, 0, 2}},
        {ASSAY_OP_SIN, {-0.14112001F, -0.47942554F, 0, 0.47942554F, 0.59847214F}},
        {ASSAY_OP_COS, {-0.98999250F, 0.87758256F, 1, 0.87758256F, -0.80114362F}},
        {ASSAY_OP_TAN, {0.14254654F, -0.54630249F, 0, 0.54630249F, -0.74702230F}},
        {ASSAY_OP_ATAN, {-1.2490458F, -0.46364761F, 0, 0.46364761F, 1.1902899F}},
        {ASSAY_OP_SINH, {-10.017875F, -0.52109531F, 0, 0.52109531F, 6.0502045F}},
        {ASSAY_OP_COSH, {10.067662F, 1.1276260F, 1, 1.1276260F, 6.1322895F}},
        {ASSAY_OP_ASINH, {-1.8184465F, -0.48121183F, 0, 0.48121183F, 1.6472311F}},
        {ASSAY_OP_SOFTPLUS, {0.048587352F, 0.47407698F, 0.69314718F, 0.97407698F, 2.5788907F}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 1, 1);
        c.in[0] = op_floats(1, (int64_t[]){5}, x);
        run_worked(&c);
        op_assert_close(&c.out[0], cases[k].want, assay_op_get(c.op)->name);
        op_end(&c);
    }
}

static void values_of_narrow_domains(void **state)
{
    const struct {
        assay_op op;
        float x[3], want[3];
    } cases[] = {
        {ASSAY_OP_SQRT, {0.25F, 1, 4}, {0.5F, 1, 2}},
        {ASSAY_OP_RSQRT, {0.25F, 1, 4}, {2, 1, 0.5F}},
        {ASSAY_OP_RECIPROCAL, {0.25F, 1, 4}, {4, 1, 0.25F}},
        {ASSAY_OP_LOG, {0.25F, 1, 4}, {-1.3862944F, 0, 1.3862944F}},
        {ASSAY_OP_ASIN, {-0.75F, 0.25F, 0.5F}, {-0.84806208F, 0.25268026F, 0.52359878F}},
        {ASSAY_OP_ACOS, {-0.75F, 0.25F, 0.5F}, {2.4188584F, 1.3181161F, 1.0471976F}},
        {ASSAY_OP_ATANH, {-0.75F, 0.25F, 0.5F}, {-0.97295507F, 0.25541281F, 0.54930614F}},
        {ASSAY_OP_ACOSH, {1, 2, 4}, {0, 1.3169579F, 2.0634371F}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 1, 1);
        c.in[0] = op_floats(1, (int64_t[]){3}, cases[k].x);
        run_worked(&c);
        op_assert_close(&c.out[0], cases[k].want, assay_op_get(c.op)->name);
        op_end(&c);
    }
}

static void gelu_with_tanh_and_clip(void **state)
{
    (void)state;
    op_case g = op_begin(ASSAY_OP_GELU, 1, 1);
    g.attr.gelu.approximate = ASSAY_GELU_TANH;
    g.in[0] = op_floats(1, (int64_t[]){2}, (float[]){-1, 2});
    op_run(&g);
    op_assert_close(&g.out[0], (float[]){-0.15880801F, 1.95459769F}, "gelu tanh");
    op_end(&g);

    op_case c = op_begin(ASSAY_OP_CLIP, 1, 1);
    c.attr.clip = (assay_attr_clip){.lo = -1.5F, .hi = 2.5F};
    c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){3});
    memcpy(c.in[0].data, (int8_t[]){-100, 1, 100}, 3);
    run_worked(&c);
    assert_memory_equal(c.out[0].data, ((int8_t[]){-1, 1, 2}), 3);
    op_end(&c);
}

static void fused_activation_bounds_every_kernel(void **state)
{
    (void)state;
    op_case c = op_begin(ASSAY_OP_ADD, 2, 1);
    c.fused = true;
    c.act_lo = 0;
    c.act_hi = 6;
    c.in[0] = op_floats(1, (int64_t[]){3}, (float[]){-5, 1, 5});
    c.in[1] = op_floats(1, (int64_t[]){1}, (float[]){2});
    run_worked(&c);
    op_assert_close(&c.out[0], (float[]){0, 3, 6}, "add with relu6");
    op_end(&c);
}

static void binary_floats(void **state)
{
    const float a[] = {-7, 7, -7, 7}, b[] = {3, 3, -3, -3};
    const struct {
        assay_op op;
        float want[4];
    } cases[] = {
        {ASSAY_OP_ADD, {-4, 10, -10, 4}},
        {ASSAY_OP_SUB, {-10, 4, -4, 10}},
        {ASSAY_OP_MUL, {-21, 21, 21, -21}},
        {ASSAY_OP_DIV, {-7 / 3.0F, 7 / 3.0F, 7 / 3.0F, -7 / 3.0F}},
        {ASSAY_OP_MIN, {-7, 3, -7, -3}},
        {ASSAY_OP_MAX, {3, 7, -3, 7}},
        {ASSAY_OP_POW, {-343, 343, 1 / -343.0F, 1 / 343.0F}},
        {ASSAY_OP_MOD, {2, 1, -1, -2}},
        {ASSAY_OP_FLOOR_DIV, {-3, 2, 2, -3}},
        {ASSAY_OP_SQUARED_DIFFERENCE, {100, 16, 16, 100}},
        {ASSAY_OP_ATAN2, {-1.1659045F, 1.1659045F, -1.9756881F, 1.9756881F}},
        {ASSAY_OP_PRELU, {-21, 7, 21, 7}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 2, 1);
        c.in[0] = op_floats(1, (int64_t[]){4}, a);
        c.in[1] = op_floats(1, (int64_t[]){4}, b);
        run_worked(&c);
        op_assert_close(&c.out[0], cases[k].want, assay_op_get(c.op)->name);
        op_end(&c);
    }
    op_case t = op_begin(ASSAY_OP_MOD, 2, 1);
    t.attr.mod.truncated = true;
    t.in[0] = op_floats(1, (int64_t[]){4}, a);
    t.in[1] = op_floats(1, (int64_t[]){4}, b);
    op_run(&t);
    op_assert_close(&t.out[0], (float[]){-1, 1, -1, 1}, "mod truncated");
    op_end(&t);
}

static void binary_integers(void **state)
{
    const int8_t a[] = {-7, 7, -128, 100}, b[] = {3, -3, -1, 100};
    const struct {
        assay_op op;
        int8_t want[4];
    } cases[] = {
        {ASSAY_OP_ADD, {-4, 4, 127, -56}},         {ASSAY_OP_SUB, {-10, 10, -127, 0}},
        {ASSAY_OP_MUL, {-21, -21, -128, 16}},      {ASSAY_OP_DIV, {-2, -2, -128, 1}},
        {ASSAY_OP_FLOOR_DIV, {-3, -3, -128, 1}},   {ASSAY_OP_MOD, {2, -2, 0, 0}},
        {ASSAY_OP_MIN, {-7, -3, -128, 100}},       {ASSAY_OP_MAX, {3, 7, -1, 100}},
        {ASSAY_OP_BITWISE_AND, {1, 5, -128, 100}}, {ASSAY_OP_BITWISE_OR, {-5, -1, -1, 100}},
        {ASSAY_OP_BITWISE_XOR, {-6, -6, 127, 0}},  {ASSAY_OP_SHIFT_LEFT, {-56, 7, -128, 0}},
        {ASSAY_OP_SHIFT_RIGHT, {-1, 7, -128, 0}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k].op, 2, 1);
        c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){4});
        c.in[1] = op_zeros(assay_int(8, true), 1, (int64_t[]){4});
        memcpy(c.in[0].data, a, sizeof a);
        memcpy(c.in[1].data, b, sizeof b);
        run_worked(&c);
        assert_memory_equal(c.out[0].data, cases[k].want, 4);
        op_end(&c);
    }
    op_case z = op_begin(ASSAY_OP_DIV, 2, 1);
    assay_error err = {0};
    z.in[0] = op_zeros(assay_int(64, true), 1, (int64_t[]){1});
    z.in[1] = op_zeros(assay_int(64, true), 1, (int64_t[]){1});
    assert_refused(op_try(&z, &err), &err, "division by zero");
    op_end(&z);
}

static void comparisons_and_logic(void **state)
{
    const struct {
        assay_op op;
        uint8_t want[3]; /* of 1 ? 2, 2 ? 2, 3 ? 2 */
    } cases[] = {{ASSAY_OP_EQUAL, {0, 1, 0}},   {ASSAY_OP_NOT_EQUAL, {1, 0, 1}},
                 {ASSAY_OP_LESS, {1, 0, 0}},    {ASSAY_OP_LESS_EQUAL, {1, 1, 0}},
                 {ASSAY_OP_GREATER, {0, 0, 1}}, {ASSAY_OP_GREATER_EQUAL, {0, 1, 1}}};
    (void)state;
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(cases[k / 2].op, 2, 1);
        if (k % 2) {
            c.in[0] = op_floats(1, (int64_t[]){3}, (float[]){1, 2, 3});
            c.in[1] = op_floats(0, NULL, (float[]){2});
        } else {
            c.in[0] = op_zeros(assay_int(64, true), 1, (int64_t[]){3});
            c.in[1] = op_zeros(assay_int(64, true), 0, NULL);
            memcpy(c.in[0].data, (int64_t[]){1, 2, 3}, 24);
            memcpy(c.in[1].data, (int64_t[]){2}, 8);
        }
        run_worked(&c);
        assert_memory_equal(c.out[0].data, cases[k / 2].want, 3);
        op_end(&c);
    }
    for (int k = 0; k < 3; k++) {
        const assay_op ops[] = {ASSAY_OP_LOGICAL_AND, ASSAY_OP_LOGICAL_OR, ASSAY_OP_LOGICAL_NOT};
        const uint8_t want[3][4] = {{0, 0, 0, 1}, {0, 1, 1, 1}, {1, 1, 0, 0}};
        op_case c = op_begin(ops[k], k == 2 ? 1 : 2, 1);
        for (int i = 0; i < c.n_in; i++)
            c.in[i] = op_zeros(assay_bool(), 1, (int64_t[]){4});
        memcpy(c.in[0].data, (uint8_t[]){0, 0, 1, 1}, 4);
        if (c.n_in > 1)
            memcpy(c.in[1].data, (uint8_t[]){0, 1, 0, 1}, 4);
        run_worked(&c);
        assert_memory_equal(c.out[0].data, want[k], 4);
        op_end(&c);
    }
}

static void casts_truncate_and_saturate(void **state)
{
    (void)state;
    op_case c = op_begin(ASSAY_OP_CAST, 1, 1);
    c.attr.cast.to = ASSAY_CAST_I8;
    c.in[0] = op_floats(1, (int64_t[]){5}, (float[]){-1.9F, 1.9F, 1000, -INFINITY, NAN});
    run_worked(&c);
    assert_memory_equal(c.out[0].data, ((int8_t[]){-1, 1, 127, -128, 0}), 5);
    op_end(&c);

    op_case b = op_begin(ASSAY_OP_CAST, 1, 1);
    b.attr.cast.to = ASSAY_CAST_BOOL;
    b.in[0] = op_floats(1, (int64_t[]){3}, (float[]){0, 0.25F, -3});
    op_run(&b);
    assert_memory_equal(b.out[0].data, ((uint8_t[]){0, 1, 1}), 3);
    op_end(&b);

    op_case f = op_begin(ASSAY_OP_CAST, 1, 1);
    f.attr.cast.to = ASSAY_CAST_F32;
    f.in[0] = op_zeros(assay_int(16, false), 1, (int64_t[]){1});
    *(uint16_t *)f.in[0].data = 65535;
    op_run(&f);
    op_assert_close(&f.out[0], (float[]){65535}, "cast of u16");
    op_end(&f);
}

static void every_element_wise_op_has_worked_values(void **state)
{
    (void)state;
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        const assay_op_info *info = assay_op_get((assay_op)op);
        if (info->traits & (ASSAY_T_UNARY | ASSAY_T_BINARY) && float_kernel((assay_op)op).run &&
            !worked[op])
            fail_msg("%s has no worked values in test_float_elements.c", info->name);
    }
}

/* ---- resize: one axis of four inputs, worked by the formulas of ONNX Resize ---- */

typedef struct resize_case {
    int mode, coordinate, nearest;
    int64_t size;
    float want[8];
} resize_case;

static void resize_worked_values(void **state)
{
    const resize_case cases[] = {
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_FLOOR,
         8,
         {1, 1, 2, 2, 3, 3, 4, 4}},
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_CEIL,
         8,
         {1, 2, 2, 3, 3, 4, 4, 4}},
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_ROUND_PREFER_FLOOR,
         8,
         {1, 1, 2, 2, 3, 3, 4, 4}},
        {ASSAY_RESIZE_NEAREST,
         ASSAY_COORD_ASYMMETRIC,
         ASSAY_NEAREST_ROUND_PREFER_CEIL,
         8,
         {1, 2, 2, 3, 3, 4, 4, 4}},
        {ASSAY_RESIZE_LINEAR,
         ASSAY_COORD_HALF_PIXEL,
         0,
         8,
         {1, 1.25F, 1.75F, 2.25F, 2.75F, 3.25F, 3.75F, 4}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_ALIGN_CORNERS, 0, 7, {1, 1.5F, 2, 2.5F, 3, 3.5F, 4}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_ASYMMETRIC, 0, 2, {1, 3}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_PYTORCH_HALF_PIXEL, 0, 1, {1}},
        {ASSAY_RESIZE_LINEAR, ASSAY_COORD_HALF_PIXEL, 0, 1, {2.5F}},
        /* at 0.5: taps 0..3 weigh a/8*(-1), 1/2 - a/8*(-1) ... = -3/32, 19/32, 19/32, -3/32 */
        {ASSAY_RESIZE_CUBIC, ASSAY_COORD_HALF_PIXEL, 0, 2, {1.40625F, 3.59375F}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (int leading = 0; leading < 2; leading++) { /* the axis innermost, then outermost */
            const resize_case *r = &cases[k];
            int64_t last = leading ? 2 : 4;
            op_case c = op_begin(ASSAY_OP_RESIZE, 1, 1);
            c.attr.resize.mode = r->mode;
            c.attr.resize.coordinate = r->coordinate;
            c.attr.resize.nearest = r->nearest;
            c.attr.resize.size =
                (assay_list){4, {1, 1, leading ? r->size : 2, leading ? 2 : r->size}};
            float x[8], want[16];
            for (int64_t i = 0; i < 8; i++)
                x[i] = (float)(leading ? i / 2 : i % 4) + 1;
            c.in[0] = op_floats(4, (int64_t[]){1, 1, 8 / last, last}, x);
            run_worked(&c);
            for (int64_t i = 0; i < 2 * r->size; i++)
                want[i] = r->want[leading ? i / 2 : i % r->size];
            op_assert_close(&c.out[0], want, "resize");
            op_end(&c);
        }
}

static void quantized_values_are_refused(void **state)
{
    const float scale[] = {1};
    const int32_t zero[] = {0};
    (void)state;
    op_case c = op_begin(ASSAY_OP_RELU, 1, 1);
    assay_error err = {0};
    c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){2});
    c.in[0].type.q = (assay_qparams){
        .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = scale, .zero_point = zero};
    assert_refused(op_try(&c, &err), &err, "quantized i8");
    op_end(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unary_worked_values),
        cmocka_unit_test(values_of_narrow_domains),
        cmocka_unit_test(gelu_with_tanh_and_clip),
        cmocka_unit_test(fused_activation_bounds_every_kernel),
        cmocka_unit_test(binary_floats),
        cmocka_unit_test(binary_integers),
        cmocka_unit_test(comparisons_and_logic),
        cmocka_unit_test(every_element_wise_op_has_worked_values), /* after those before it */
        cmocka_unit_test(casts_truncate_and_saturate),
        cmocka_unit_test(resize_worked_values),
        cmocka_unit_test(quantized_values_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
