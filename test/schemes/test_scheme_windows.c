/* Averages whose arithmetic is of a window's sides: 1 x 4 cells are not 2 x 2. */
#include "test/support/support.h"

#include <math.h>

#include "test/support/scheme_unit.h"

typedef struct window {
    int64_t rows, columns;
    double factor; /* what the sum is multiplied by, where one does it */
} window;

static int32_t i8_ref(double v)
{
    return (int32_t)fmin(fmax(v, -128), 127);
}

static int32_t two_stage_ref(const window *w, int64_t sum)
{
    const double across = round((double)(sum * (65536 / w->columns)) / 65536);
    return i8_ref(round(across * (double)(65536 / w->rows) / 65536));
}

static int32_t factor_ref(const window *w, int64_t sum)
{
    return i8_ref(floor((double)sum * w->factor + 0.5));
}

/* Every sum of signed codes of 8 bits under the record. */
static void all_sums(const char *record, const window *w,
                     int32_t (*ref)(const window *w, int64_t sum))
{
    const float one = 1;
    const int32_t zero = 0, count = (int32_t)(w->rows * w->columns);
    assay_scheme *s = unit_scheme(record);
    const assay_type codes = code_type(8, true, &one, &zero);
    assay_unit_spec spec = unit_spec("avg_pool", &codes, 1, &codes);
    spec.depth = count;
    spec.window[0] = w->rows;
    spec.window[1] = w->columns;
    assay_unit *u = unit_prepare(s, &spec);
    for (int64_t sum = -128 * count; sum <= 127 * count; sum++) {
        int32_t y;
        s->vt->pool(u, &sum, &count, 1, &y);
        if (y != ref(w, sum))
            fail_msg("%s%lld x %lld, sum %lld: %d, expected %d", record, (long long)w->rows,
                     (long long)w->columns, (long long)sum, y, ref(w, sum));
    }
    s->vt->release(u);
    assay_scheme_free(s);
}

static void two_stages(void **state)
{
    (void)state;
    static const window windows[] = {{1, 1, 0}, {1, 4, 0}, {4, 1, 0}, {2, 2, 0},
                                     {2, 8, 0}, {8, 2, 0}, {4, 4, 0}, {1, 3, 0},
                                     {3, 1, 0}, {3, 3, 0}, {7, 5, 0}, {8, 8, 0}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        all_sums("pool: {kind: two-stage}\n", &windows[i], two_stage_ref);
}

/* The DPU has fractions for some squares; 3 x 3 has 7 / 2^6, 1 x 9 the nearest of its bits. */
static void dpu_fractions(void **state)
{
    (void)state;
    static const window windows[] = {
        {3, 3, 7.0 / 64},    {1, 9, 57.0 / 512},   {9, 1, 57.0 / 512}, {6, 6, 7.0 / 256},
        {4, 9, 57.0 / 2048}, {2, 18, 57.0 / 2048}, {5, 5, 10.0 / 256}, {1, 25, 41.0 / 1024},
        {7, 7, 21.0 / 1024}, {14, 14, 21.0 / 4096}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        all_sums("pool: {kind: dpu, round: half-up}\n", &windows[i], factor_ref);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_stages),
                                       cmocka_unit_test(dpu_fractions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
