/* Float kernels over rows (matrices, softmax, normalizations, reductions, sums) against naive twins
 * in double. */
#include "test/support/op_case.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 40

/* ---- matrices ---- */

static void fc_equals_naive_sums(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t k = test_between(&rng, 1, 9), o = test_between(&rng, 1, 9), n = round % 4 + 1;
        op_case c = op_begin(ASSAY_OP_FC, 2 + round % 2, 1);
        c.in[0] = op_noise(&rng, assay_f32(), 3, (int64_t[]){2, n, k});
        c.in[1] = op_noise(&rng, assay_f32(), 2, (int64_t[]){o, k});
        if (round % 2)
            c.in[2] = op_noise(&rng, assay_f32(), 1, &o);
        op_run(&c);
        float *want = op_wanted(&c.out[0]);
        for (int64_t i = 0; i < op_count(&c.out[0]); i++) {
            double sum = round % 2 ? (double)op_f32(&c.in[2])[i % o] : 0;
            for (int64_t j = 0; j < k; j++)
                sum += (double)op_f32(&c.in[0])[i / o * k + j] *
                       (double)op_f32(&c.in[1])[i % o * k + j];
            want[i] = (float)sum;
        }
        op_assert_close(&c.out[0], want, "fc");
        free(want);
        op_end(&c);
    }
}

/* Transposed operands, and batches of one that are repeated. */
static void matmul_broadcasts_batches(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t m = test_between(&rng, 1, 5), n = test_between(&rng, 1, 5),
                k = test_between(&rng, 1, 5);
        bool ta = round & 1, tb = round & 2, one_a = round & 4, one_b = round & 8;
        op_case c = op_begin(ASSAY_OP_MATMUL, 2, 1);
        c.attr.matmul = (assay_attr_matmul){.transpose_a = ta, .transpose_b = tb};
        c.in[0] =
            op_noise(&rng, assay_f32(), 4, (int64_t[]){3, one_a ? 1 : 2, ta ? k : m, ta ? m : k});
        c.in[1] =
            op_noise(&rng, assay_f32(), 3, (int64_t[]){one_b ? 1 : 2, tb ? n : k, tb ? k : n});
        op_run(&c);
        int64_t inner = one_a && one_b ? 1 : 2;
        assert_int_equal(op_count(&c.out[0]), 3 * inner * m * n);
        float *want = op_wanted(&c.out[0]);
        for (int64_t i = 0; i < op_count(&c.out[0]); i++) {
            int64_t row = i / n % m, column = i % n, b = i / n / m;
            int64_t a_at = one_a ? b / inner : b / inner * 2 + b % inner;
            int64_t b_at = one_b ? 0 : b % inner;
            double sum = 0;
            for (int64_t j = 0; j < k; j++)
                sum +=
                    (double)op_f32(&c.in[0])[a_at * m * k + (ta ? j * m + row : row * k + j)] *
                    (double)op_f32(&c.in[1])[b_at * n * k + (tb ? column * k + j : j * n + column)];
            want[i] = (float)sum;
        }
        op_assert_close(&c.out[0], want, "matmul");
        free(want);
        op_end(&c);
    }
}

static void matmul_of_integers_wraps(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const int64_t m = test_between(&rng, 1, 5), n = test_between(&rng, 1, 5),
                      k = test_between(&rng, 0, 5);
        const bool is_signed = round & 1, tb = round & 2;
        op_case c = op_begin(ASSAY_OP_MATMUL, 2, 1);
        c.attr.matmul = (assay_attr_matmul){.transpose_b = tb};
        c.in[0] = op_noise(&rng, assay_int(32, is_signed), 2, (int64_t[]){m, k});
        c.in[1] = op_noise(&rng, assay_int(32, is_signed), 2, (int64_t[]){tb ? n : k, tb ? k : n});
        op_run(&c);
        const uint32_t *a = c.in[0].data, *b = c.in[1].data, *y = c.out[0].data;
        for (int64_t i = 0; i < m * n; i++) {
            uint32_t sum = 0;
            for (int64_t j = 0; j < k; j++)
                sum += a[i / n * k + j] * b[tb ? i % n * k + j : j * n + i % n];
            assert_int_equal(y[i], sum);
        }
        op_end(&c);
    }
}

static void matmul_of_vectors(void **state)
{
    (void)state;
    op_case v = op_begin(ASSAY_OP_MATMUL, 2, 1);
    v.in[0] = op_floats(1, (int64_t[]){2}, (float[]){1, 2});
    v.in[1] = op_floats(1, (int64_t[]){2}, (float[]){3, 4});
    op_run(&v);
    assert_int_equal(v.out[0].type.rank, 0);
    op_assert_close(&v.out[0], (float[]){11}, "matmul of vectors");
    op_end(&v);
}

/* ---- rows and channels ---- */

static void softmax_along_any_axis(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool is_log = round & 1;
        int64_t axis = round % 3, dim[] = {2, 3, 4};
        op_case c = op_begin(is_log ? ASSAY_OP_LOG_SOFTMAX : ASSAY_OP_SOFTMAX, 1, 1);
        c.attr.softmax.axis = axis;
        c.attr.softmax.beta = 1.5F;
        c.in[0] = op_noise(&rng, assay_f32(), 3, dim);
        if (round == 1)
            ((float *)c.in[0].data)[0] = 10000; /* would overflow without the maximum taken out */
        op_run(&c);
        float *want = op_wanted(&c.out[0]);
        for (int64_t i = 0; i < 24; i++) {
            int64_t at[ASSAY_MAX_RANK];
            double sum = 0, x = (double)op_f32(&c.in[0])[i];
            op_unravel(&c.in[0].type, i, at);
            for (at[axis] = 0; at[axis] < dim[axis]; at[axis]++)
                sum += exp(1.5 * ((double)op_f32(&c.in[0])[op_ravel(&c.in[0].type, at)] - x));
            want[i] = (float)(is_log ? -log(sum) : 1 / sum);
        }
        if (round == 1)
            assert_true(isfinite(op_f32(&c.out[0])[0]) && op_f32(&c.out[0])[0] == 0);
        else
            op_assert_close(&c.out[0], want, "softmax");
        free(want);
        op_end(&c);
    }
}

static void normalizations(void **state)
{
    (void)state;
    op_case b = op_begin(ASSAY_OP_BATCH_NORM, 5, 1);
    b.in[0] = op_floats(3, (int64_t[]){1, 2, 2}, (float[]){1, 2, 3, 4});
    b.in[1] = op_floats(1, (int64_t[]){2}, (float[]){2, 3});
    b.in[2] = op_floats(1, (int64_t[]){2}, (float[]){10, 20});
    b.in[3] = op_floats(1, (int64_t[]){2}, (float[]){1, 3});
    b.in[4] = op_floats(1, (int64_t[]){2}, (float[]){3, 8});
    b.attr.batch_norm.epsilon = 1;
    op_run(&b);
    op_assert_close(&b.out[0], (float[]){10, 11, 20, 21}, "batch_norm");
    op_end(&b);

    op_case n = op_begin(ASSAY_OP_L2_NORM, 1, 1);
    n.attr.norm = (assay_attr_norm){.axis = 0, .epsilon = 1e-12F};
    n.in[0] = op_floats(2, (int64_t[]){2, 2}, (float[]){3, 5, 4, 12});
    op_run(&n);
    op_assert_close(&n.out[0], (float[]){0.6F, 5 / 13.0F, 0.8F, 12 / 13.0F}, "l2_norm");
    op_end(&n);

    op_case l = op_begin(ASSAY_OP_LAYER_NORM, 3, 1);
    l.attr.norm = (assay_attr_norm){.axis = 1, .epsilon = 0};
    l.in[0] = op_floats(2, (int64_t[]){2, 2}, (float[]){1, 3, 10, 30});
    l.in[1] = op_floats(1, (int64_t[]){2}, (float[]){2, 5});
    l.in[2] = op_floats(1, (int64_t[]){1}, (float[]){1});
    op_run(&l);
    op_assert_close(&l.out[0], (float[]){-1, 6, -1, 6}, "layer_norm");
    op_end(&l);

    op_case r = op_begin(ASSAY_OP_LRN, 1, 1);
    r.attr.lrn = (assay_attr_lrn){.size = 2, .alpha = 2, .beta = 1, .bias = 1};
    r.in[0] = op_floats(3, (int64_t[]){1, 3, 1}, (float[]){1, 2, 3});
    op_run(&r); /* of size 2, the window reaches one channel ahead */
    op_assert_close(&r.out[0], (float[]){1 / 6.0F, 2 / 14.0F, 3 / 10.0F}, "lrn");
    op_end(&r);
}

static void reductions(void **state)
{
    const assay_op ops[] = {ASSAY_OP_REDUCE_SUM, ASSAY_OP_REDUCE_MEAN, ASSAY_OP_REDUCE_PROD,
                            ASSAY_OP_REDUCE_MAX, ASSAY_OP_REDUCE_MIN};
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        int64_t dim[] = {2, 3, 2, 4};
        unsigned axes = (unsigned)test_between(&rng, 1, 15);
        op_case c = op_begin(ops[round % 5], 1, 1);
        c.attr.reduce.keepdims = true;
        for (int d = 0; d < 4; d++)
            if (axes >> d & 1)
                c.attr.reduce.axes.v[c.attr.reduce.axes.n++] = d;
        c.in[0] = op_noise(&rng, assay_f32(), 4, dim);
        op_run(&c);
        float *want = op_wanted(&c.out[0]);
        for (int64_t o = 0; o < op_count(&c.out[0]); o++) {
            double sum = 0, product = 1, top = -INFINITY, least = INFINITY, n = 0;
            for (int64_t i = 0; i < 48; i++) {
                int64_t at[ASSAY_MAX_RANK];
                op_unravel(&c.in[0].type, i, at);
                for (int d = 0; d < 4; d++)
                    at[d] = axes >> d & 1 ? 0 : at[d];
                if (op_ravel(&c.out[0].type, at) != o)
                    continue;
                double v = (double)op_f32(&c.in[0])[i];
                sum += v, product *= v, n++;
                top = fmax(top, v), least = fmin(least, v);
            }
            const double each[] = {sum, sum / n, product, top, least};
            want[o] = (float)each[round % 5];
        }
        op_assert_close(&c.out[0], want, assay_op_get(c.op)->name);
        free(want);
        op_end(&c);
    }
}

static void cumulative_sums(void **state)
{
    const float want[4][3] = {{1, 3, 6}, {0, 1, 3}, {6, 5, 3}, {5, 3, 0}};
    (void)state;
    for (int k = 0; k < 4; k++) {
        op_case c = op_begin(ASSAY_OP_CUMSUM, 1, 1);
        c.attr.cumsum = (assay_attr_cumsum){.axis = 1, .exclusive = k & 1, .reverse = k & 2};
        c.in[0] = op_floats(3, (int64_t[]){1, 3, 1}, (float[]){1, 2, 3});
        op_run(&c);
        op_assert_close(&c.out[0], want[k], "cumsum");
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fc_equals_naive_sums),
        cmocka_unit_test(matmul_broadcasts_batches),
        cmocka_unit_test(matmul_of_integers_wraps),
        cmocka_unit_test(matmul_of_vectors),
        cmocka_unit_test(softmax_along_any_axis),
        cmocka_unit_test(normalizations),
        cmocka_unit_test(reductions),
        cmocka_unit_test(cumulative_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
