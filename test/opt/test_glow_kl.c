/* Glow's KL calibration against numbers that its own code gave (test/vectors/glow/choose_kl.csv).
 */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/calibrate/calibrate.h"

enum { BINS = 2048, ROWS = 300 };

typedef struct row {
    uint64_t seed;
    int bins, shape;
    assay_choice choice;
    float min, max, scale;
    int32_t offset;
} row;

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool read_row(FILE *f, row *r)
{
    char symmetry[32], kind[8];
    unsigned seed, min, max, scale;
    assay_error err;
    *r = (row){.choice = {.method = ASSAY_QPARAMS_GLOW}};
    if (fscanf(f, "%u,%d,%d,%31[^,],%7[^,],%x,%x,%x,%d\n", &seed, &r->bins, &r->shape, symmetry,
               kind, &min, &max, &scale, &r->offset) != 9)
        return false;
    assert_true(calibrate_symmetry_find(symmetry, &r->choice));
    assert_ok(assay_elem_parse(kind, &r->choice.elem, &err), &err);
    r->seed = seed;
    r->min = float_of(min);
    r->max = float_of(max);
    r->scale = float_of(scale);
    return true;
}

/* Counts of a row: test/vectors/README.md says how they were drawn. */
static void draw(const row *r, float count[BINS])
{
    test_rng rng = {r->seed};
    const int64_t n = r->bins;
    for (int64_t i = 0; i < n; i++) {
        const int64_t far = r->shape == 1 ? llabs(2 * i - n) : r->shape == 2 ? i : 0;
        const int64_t near = far < n ? n - far : 1;
        int64_t max = 0;
        if (r->shape == 0)
            max = 1000;
        else if (r->shape == 1 || r->shape == 2)
            max = 1 + near * near * near / (n * n);
        else if (r->shape == 3)
            max = test_between(&rng, 0, 15) == 0 ? 20000000 : 30;
        const int64_t drawn = test_between(&rng, 0, max);
        count[i] = test_between(&rng, 0, 4) == 0 ? 0.0f : (float)drawn;
    }
}

static FILE *open_vectors(void)
{
    char path[512], line[128];
    assert_true(test_source("test/vectors/glow/choose_kl.csv", path, sizeof path));
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(fgets(line, sizeof line, f));
    return f;
}

static void test_vectors(void **state)
{
    (void)state;
    FILE *f = open_vectors();
    row r;
    int rows = 0, narrowed = 0;
    for (; read_row(f, &r); rows++) {
        float count[BINS], lo, hi, least, scale;
        bool symmetric;
        int32_t offset;
        assay_error err;
        draw(&r, count);
        assert_ok(calibrate_choose_glow_range(&r.choice, (double)r.min, (double)r.max, &lo, &hi,
                                              &symmetric, &err),
                  &err);
        least = lo;
        r.choice.final = calibrate_glow_kl(count, r.bins, r.min, r.max, symmetric, &lo, &hi);
        assert_true(r.choice.final == (r.bins >= 255));
        narrowed += lo != least;
        assert_ok(
            calibrate_choose_qparams(&r.choice, (double)lo, (double)hi, &scale, &offset, &err),
            &err);
        if (scale != r.scale || offset != r.offset)
            fail_msg("row %d: scale %a, offset %d; Glow has %a, %d", rows, (double)scale, offset,
                     (double)r.scale, r.offset);
    }
    fclose(f);
    assert_int_equal(rows, ROWS);
    assert_true(narrowed > ROWS / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
    };
    return cmocka_run_group_tests_name("glow_kl", tests, NULL, NULL);
}
