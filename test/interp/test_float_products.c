/* Products of floats: near the exact ones, the same by each instruction set's tiles and whoever
 * else computes. */
#include "test/support/support.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "interp/float/float.h"
#include "interp/float/gemm_tile.h"

#define MAX 40

typedef struct product {
    assay_gemm g;
    float a[MAX * MAX], b[MAX * MAX], c[MAX * MAX];
} product;

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

static void near_the_exact_sums(void **state)
{
    static product p;
    (void)state;
    test_rng r = test_seed("products", 3);
    for (int i = 0; i < 400; i++) {
        make(&p, &r);
        p.g.in_turn = i % 2 == 0;
        float_gemm_run(&p.g);
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
        float_gemm_run(&p.g);
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

/* A tile of drawn extents and strides, by one instruction set. */
typedef struct drawn_tile {
    float_tile t;
    float a[TILE_ROWS * MAX], b[MAX * 2 * TILE_COLUMNS + TILE_STEP],
        c[TILE_ROWS * 2 * TILE_COLUMNS];
    int64_t at[MAX];
} drawn_tile;

static void draw_tile(drawn_tile *d, test_rng *r, const float_tiles *tiles)
{
    const bool transposed = test_random(r) & 1;
    for (size_t i = 0; i < sizeof d->a / sizeof *d->a; i++)
        d->a[i] = (float)(test_unit(r) - 0.5);
    for (size_t i = 0; i < sizeof d->b / sizeof *d->b; i++)
        d->b[i] = (float)(test_unit(r) - 0.5);
    for (size_t i = 0; i < sizeof d->c / sizeof *d->c; i++)
        d->c[i] = (float)(test_unit(r) - 0.5);
    d->t = (float_tile){.a = d->a,
                        .b = d->b,
                        .next = d->a,
                        .at = d->at,
                        .c = d->c,
                        .down = transposed ? 1 : MAX,
                        .along = transposed ? TILE_ROWS : 1,
                        .ldc = 2 * TILE_COLUMNS,
                        .depth = test_between(r, 1, MAX),
                        .rows = (int)test_between(r, 1, tiles->rows),
                        .columns = (int)test_between(r, 1, tiles->columns),
                        .add = test_random(r) & 1};
    for (int64_t k = 0; k < d->t.depth; k++) /* rows of b overlap, as windows do */
        d->at[k] = test_between(r, 0, MAX) * TILE_COLUMNS;
}

/* By portable tiles, which are smaller. */
static void piece_by_piece(const float_tile *t)
{
    float_tile part = *t;
    for (int row = 0; row < t->rows; row += float_tiles_portable.rows)
        for (int column = 0; column < t->columns; column += float_tiles_portable.columns) {
            const int left = t->columns - column;
            part.rows = 1;
            part.columns =
                left < float_tiles_portable.columns ? left : float_tiles_portable.columns;
            part.a = t->a + row * t->down;
            part.b = t->b + column;
            part.c = t->c + row * t->ldc + column;
            float_tiles_portable.run(&part);
        }
}

static void tiles_of(const float_tiles *tiles, const char *name)
{
    static drawn_tile got, want;
    test_rng r = test_seed(name, 7);
    for (int i = 0; i < 500; i++) {
        draw_tile(&got, &r, tiles);
        want = got;
        want.t.a = want.a;
        want.t.b = want.b;
        want.t.at = want.at;
        want.t.c = want.c;
        tiles->run(&got.t);
        piece_by_piece(&want.t);
        assert_memory_equal(got.c, want.c, sizeof got.c); /* nor is anything beside it written */
    }
}

static void tiles_are_equal(void **state)
{
    (void)state;
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        tiles_of(&float_tiles_fma, "tiles of avx2");
    if (__builtin_cpu_supports("avx512f"))
        tiles_of(&float_tiles_avx512, "tiles of avx512");
#endif
    tiles_of(float_tiles_choose(), "tiles of this machine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_the_exact_sums),
        cmocka_unit_test(rows_that_overlap),
        cmocka_unit_test(same_side_by_side),
        cmocka_unit_test(tiles_are_equal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
