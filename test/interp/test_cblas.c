/* Influence of the machine's CBLAS: nothing under a scheme, whose products have an order of
 * their own; without one, sums that are near the exact ones and the same whoever else computes. */
#include "test/support/support.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "interp/float/float.h"
#include "interp/float/setup.h"

#define MAX 40

typedef struct product {
    assay_gemm g;
    float a[MAX * MAX], b[MAX * MAX], c[MAX * MAX];
} product;

static _Thread_local int calls; /* of cblas_sgemm, which the linker wraps */

void __real_cblas_sgemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, int,
                        float, const float *, int, const float *, int, float, float *, int);
void __wrap_cblas_sgemm(enum CBLAS_ORDER, enum CBLAS_TRANSPOSE, enum CBLAS_TRANSPOSE, int, int, int,
                        float, const float *, int, const float *, int, float, float *, int);

void __wrap_cblas_sgemm(enum CBLAS_ORDER order, enum CBLAS_TRANSPOSE a_t, enum CBLAS_TRANSPOSE b_t,
                        int m, int n, int k, float alpha, const float *a, int lda, const float *b,
                        int ldb, float beta, float *c, int ldc)
{
    calls++;
    __real_cblas_sgemm(order, a_t, b_t, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

static void make(product *p, test_rng *r)
{
    for (int i = 0; i < MAX * MAX; i++) {
        p->a[i] = (float)(test_unit(r) - 0.5);
        p->b[i] = (float)(test_unit(r) - 0.5);
        p->c[i] = 0;
    }
    p->g = (assay_gemm){.m = test_between(r, 2, MAX),
                        .n = test_between(r, 2, MAX),
                        .k = test_between(r, 1, MAX),
                        .a = p->a,
                        .b = p->b,
                        .c = p->c,
                        .lda = MAX,
                        .ldb = MAX,
                        .ldc = MAX,
                        .a_t = test_random(r) & 1,
                        .b_t = test_random(r) & 1};
}

/* Within k roundings of the exact sum. */
static void is_near(const product *p)
{
    const assay_gemm *g = &p->g;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < g->k; k++) {
                const double t = (double)p->a[g->a_t ? k * MAX + i : i * MAX + k] *
                                 (double)p->b[g->b_t ? j * g->ldb + k : k * g->ldb + j];
                sum += t;
                size += fabs(t);
            }
            assert_true(fabs((double)p->c[i * MAX + j] - sum) <=
                        (double)(g->k + 1) * size * 0x1p-24);
        }
}

static void never_under_a_scheme(void **state)
{
    static product p;
    (void)state;
    test_rng r = test_seed("products", 3);
    for (int i = 0; i < 200; i++) {
        make(&p, &r);
        p.g.ordered = i % 2 == 0;
        p.g.in_turn = !p.g.ordered;
        calls = 0;
        float_gemm_run(&p.g);
        assert_int_equal(calls, 0);
        is_near(&p);
    }
}

static void near_without(void **state)
{
    static product p;
    (void)state;
    test_rng r = test_seed("products", 4);
    for (int i = 0; i < 200; i++) {
        make(&p, &r);
        calls = 0;
        float_gemm_run(&p.g);
        assert_int_equal(calls, 1);
        is_near(&p);
    }
}

/* A convolution whose windows are whole rows of an image takes it as it stands: rows of B overlap.
 */
static void rows_that_overlap(void **state)
{
    static product p;
    (void)state;
    test_rng r = test_seed("products", 6);
    for (int i = 0; i < 200; i++) {
        make(&p, &r);
        p.g.b_t = true;
        p.g.k = test_between(&r, 2, MAX);
        p.g.ldb = test_between(&r, 1, p.g.k - 1);
        calls = 0;
        float_gemm_run(&p.g);
        assert_int_equal(calls, 0);
        is_near(&p);
    }
}

static void *again(void *arg)
{
    product *p = arg;
    for (int i = 0; i < 200; i++)
        float_gemm_run(&p->g);
    return NULL;
}

static void same_side_by_side(void **state)
{
    enum { THREADS = 4 };
    static product alone, many[THREADS];
    pthread_t threads[THREADS];
    (void)state;
    test_rng r = test_seed("products", 5);
    make(&alone, &r);
    float_single_thread();
    for (int t = 0; t < THREADS; t++) {
        many[t] = alone;
        many[t].g.a = many[t].a;
        many[t].g.b = many[t].b;
        many[t].g.c = many[t].c;
        assert_int_equal(pthread_create(&threads[t], NULL, again, &many[t]), 0);
    }
    float_gemm_run(&alone.g);
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_memory_equal(many[t].c, alone.c, sizeof alone.c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_under_a_scheme),
        cmocka_unit_test(near_without),
        cmocka_unit_test(rows_that_overlap),
        cmocka_unit_test(same_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
