/* The passes over every element: each build of them against the definition, and counts beyond what
 * a narrow table holds. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "opt/profile/state.h"
#include "test/support/net.h"

enum { N = 1024 };

static float element(test_rng *rng, int kind)
{
    float x = ldexpf((float)(2 * test_unit(rng) - 1), (int)test_between(rng, -149, 3));
    switch (kind) {
    case 0:
        return 0.0f;
    case 1:
        return -0.0f;
    case 2:
        return ldexpf(x < 0 ? -1.0f : 1.0f, (int)test_between(rng, -149, 2));
    case 3: /* on the edge of a bin */
        return (float)test_between(rng, -(1 << 24), (1 << 24) - 1) * 0x1p-21f;
    default:
        return x;
    }
}

/* Without a clamp; or with one to [lo, hi], whose elements have bins twice as fine. */
static int expected_place(float x, size_t i, float lo, float hi)
{
    const bool out = x < lo || x > hi;
    const int bin = (int)floor(ldexp((double)x, out || isinf(hi) ? 21 : 22));
    return (x == 0.0f ? ASSAY_HISTOGRAM_BINS + (int)(i % ASSAY_PROFILE_ZEROS)
                      : bin & (ASSAY_HISTOGRAM_BINS - 1)) +
           (out ? ASSAY_PROFILE_ROW : 0);
}

static void check_places(const assay_profile_rows *rows, test_rng *rng, float lo, float hi)
{
    const float end = 8, all = INFINITY; /* of [-8, 8), or of all floats */
    const float first = isinf(hi) ? 0x1p21f : 0x1p22f;
    int32_t limit, all_limit;
    memcpy(&limit, &end, sizeof limit);
    memcpy(&all_limit, &all, sizeof all_limit);
    assay_profile_split s = {lo, hi, {first, 0x1p21f}, {limit - 1, limit - 1}, 0, 0, 0, 0};
    assay_profile_split wide = {
        lo, hi, {0x1p-116f, 0x1p-116f}, {all_limit - 1, all_limit - 1}, 0, 0, 0, 0};
    float x[N];
    uint16_t at[N];
    for (int round = 0; round < 200; round++) {
        size_t n = (size_t)test_between(rng, 1, N);
        float least = INFINITY, greatest = -INFINITY;
        uint32_t below = 0, above = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = element(rng, (int)test_between(rng, 0, 9));
            least = fminf(least, x[i]);
            greatest = fmaxf(greatest, x[i]);
            below += x[i] < lo;
            above += x[i] > hi;
        }
        assert_true(rows->places(x, n, &s, at));
        assert_true(s.least == least && s.greatest == greatest);
        assert_true(s.below == below && s.above == above);
        for (size_t i = 0; i < n; i++)
            if (at[i] != expected_place(x[i], i, lo, hi))
                fail_msg("%a at %zu is at %d, expected %d", (double)x[i], i, at[i],
                         expected_place(x[i], i, lo, hi));
        const float odd[] = {8, -8.000001f, 1e30f, NAN, -NAN, INFINITY, -INFINITY};
        const int kind = (int)test_between(rng, 0, 6);
        x[test_between(rng, 0, (int64_t)n - 1)] = odd[kind];
        assert_false(rows->places(x, n, &s, at));
        assert_true(rows->places(x, n, &wide, at) == (kind < 3));
    }
}

static void check_count(const assay_profile_rows *rows, test_rng *rng)
{
    uint16_t at[N], table[ASSAY_PROFILE_TABLE], expected[ASSAY_PROFILE_TABLE];
    for (int round = 0; round < 50; round++) {
        const size_t n = (size_t)test_between(rng, 0, N);
        for (int i = 0; i < ASSAY_PROFILE_TABLE; i++)
            table[i] = expected[i] = (uint16_t)test_between(rng, 0, 60000);
        for (size_t i = 0; i < n; i++) {
            const int64_t max = round % 2 ? 3 : ASSAY_PROFILE_TABLE - 1;
            at[i] = (uint16_t)test_between(rng, 0, max);
            expected[at[i]]++;
        }
        rows->count(at, n, table);
        assert_memory_equal(table, expected, sizeof table);
        uint16_t greatest = 0;
        for (int i = 0; i < ASSAY_PROFILE_TABLE; i++)
            greatest = table[i] > greatest ? table[i] : greatest;
        assert_int_equal(rows->greatest(table), greatest);
    }
}

static void check_build(const assay_profile_rows *rows, test_rng *rng)
{
    check_places(rows, rng, -INFINITY, INFINITY);
    check_places(rows, rng, 0, 2);
    check_places(rows, rng, -1, 0.25f);
    check_count(rows, rng);
}

static void test_builds(void **state)
{
    test_rng rng = test_seed("assay_profile_rows", 41);
    (void)state;
    check_build(&profile_rows_any, &rng);
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx2"))
        check_build(&profile_rows_avx2, &rng);
    if (profile_rows_best() == &profile_rows_avx512)
        check_build(&profile_rows_avx512, &rng);
#endif
}

/* 300,000 times the same element, and zeros, and a range that grows in between. */
static void test_many_of_one(void **state)
{
    (void)state;
    static float x[300001];
    assay_graph *g = net_new();
    assay_profile *p;
    assay_error err;
    net_output(g, net_node(g, ASSAY_OP_RELU, "y", NULL, net_input(g, "x", NET_SHAPE(1, 1)), -2));
    assert_ok(profile_new(g, &p, &err), &err);
    for (size_t i = 0; i < 300001; i++)
        x[i] = 0.75f;
    profile_observe(p, 0, x, 300001);
    memset(x, 0, sizeof x);
    profile_observe(p, 0, x, 300001);
    x[0] = 5;
    profile_observe(p, 0, x, 1);
    const assay_profile_entry *e = profile_find(p, "x");
    assert_int_equal(e->seen.exponent, -9); /* 5 * 2^10 is beyond 4096 bins */
    assert_int_equal(e->seen.count[0], 300001);
    assert_int_equal(e->seen.count[384], 300001); /* 0.75 * 2^9 */
    assert_int_equal(e->seen.count[2560], 1);
    assert_int_equal(e->seen.finite, 600003);
    profile_free(p);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builds),
        cmocka_unit_test(test_many_of_one),
    };
    return cmocka_run_group_tests_name("assay_profile_rows", tests, NULL, NULL);
}
