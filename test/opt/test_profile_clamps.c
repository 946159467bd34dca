/* A value and what a ReLU or clip makes of it, counted together: the same file as when each is
 * counted by itself. */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opt/profile/profile.h"
#include "test/support/net.h"
#include "test/support/profile_text.h"

enum { SAMPLES = 12, C = 3, AREA = 900, N = C * AREA };

/* x -> relu "a" -> clip "b"; x -> clip "c"; x -> add "s" -> clip "d". */
static assay_graph *network(float lo, float hi, bool last)
{
    const assay_attrs clip = {.clip = {.lo = lo, .hi = hi}};
    assay_graph *g = net_new();
    int x = last ? net_input(g, "x", NET_SHAPE(1, 30, 30, C))
                 : net_input(g, "x", NET_SHAPE(1, C, 30, 30));
    int a = net_node(g, ASSAY_OP_RELU, "a", NULL, x, -2);
    net_output(g, net_node(g, ASSAY_OP_CLIP, "b", &clip, a, -2));
    net_output(g, net_node(g, ASSAY_OP_CLIP, "c", &clip, x, -2));
    int s = net_node(g, ASSAY_OP_ADD, "s", NULL, x, x, -2);
    net_output(g, net_node(g, ASSAY_OP_CLIP, "d", &clip, s, -2));
    return g;
}

static float clamp(float x, float lo, float hi)
{
    x = x < lo ? lo : x;
    return x > hi ? hi : x;
}

/* Ranges that grow, zeros, elements alike, some on a bound; NaN and infinity in some samples. */
static void fill(test_rng *rng, int sample, float x[N], float bound)
{
    for (int i = 0; i < N; i++) {
        const int64_t kind = test_between(rng, 0, 99);
        x[i] = ldexpf((float)(2 * test_unit(rng) - 1), sample - 4);
        x[i] = kind < 20 ? 0 * x[i] : kind < 25 ? bound : kind < 40 ? 0.37F : x[i];
        if (sample % 4 == 3)
            x[i] = kind == 97 ? NAN : kind == 98 ? INFINITY : kind == 99 ? -INFINITY : x[i];
        if (sample < 2) /* only below, only above most bounds */
            x[i] = sample == 0 ? -9 - fabsf(x[i]) : 9 + fabsf(x[i]);
    }
}

static void observe(assay_profile *p, const assay_graph *g, uint64_t sample, const float *x,
                    float lo, float hi)
{
    static float y[N];
    assay_error err;
    for (int v = 0; v < g->n_values; v++) {
        const char name = g->value[v].name[0];
        for (int i = 0; i < N; i++) {
            const float positive = clamp(x[i], 0, INFINITY);
            y[i] = name == 'a'   ? positive
                   : name == 'b' ? clamp(positive, lo, hi)
                   : name == 'c' ? clamp(x[i], lo, hi)
                   : name == 's' ? x[i] + x[i]
                   : name == 'd' ? clamp(x[i] + x[i], lo, hi)
                                 : x[i];
        }
        profile_observe(p, v, y, N);
    }
    assert_ok(profile_add_sample(p, sample, &err), &err);
}

static void check(test_rng *rng, float lo, float hi, bool last, const char *channels)
{
    static float x[N];
    assay_graph *g = network(lo, hi, last);
    assay_profile *p[2];
    assay_error err;
    for (int k = 0; k < 2; k++) {
        assert_ok(profile_new(g, &p[k], &err), &err);
        if (channels)
            assert_ok(profile_by_channel(p[k], g, channels, &err), &err);
    }
    profile_follow_clamps(p[1], g);
    const int first = (int)test_between(rng, 0, 3); /* sometimes without those beyond the bounds */
    for (int s = first; s < SAMPLES; s++) {
        fill(rng, s, x, s % 2 ? lo : hi);
        for (int k = 0; k < 2; k++)
            observe(p[k], g, (uint64_t)s, x, lo, hi);
        if (s % 5 == 4) /* what is looked at in between changes nothing */
            assert_true(profile_find(p[1], "x")->seen.finite > 0);
    }
    char *apart = test_profile_text(p[0]), *together = test_profile_text(p[1]);
    assert_string_equal(apart, together);
    free(apart);
    free(together);
    for (int k = 0; k < 2; k++)
        profile_free(p[k]);
    assay_graph_free(g);
}

static void test_same_file(void **state)
{
    static const float bounds[][2] = {{0, 6},           {-1, 1},        {2, 5},
                                      {-3, -2},         {0.37F, 0.37F}, {-INFINITY, 0.5F},
                                      {0, 0},           {-0.0F, 8},     {-0.5F, INFINITY},
                                      {-1e-20F, 1e20F}, {7, 1e30F}};
    static const char *const channels[] = {NULL, "*", "[xabs]", "c"};
    test_rng rng = test_seed("profile_clamps", 20261122);
    (void)state;
    for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++)
        for (int k = 0; k < 8; k++)
            check(&rng, bounds[b][0], bounds[b][1], k % 2, channels[k / 2]);
}

/* Bounds that exclude each other are no clamp: the upper one wins, and each is counted by itself.
 */
static void test_no_clamp(void **state)
{
    test_rng rng = test_seed("profile_clamps", 20261122);
    (void)state;
    check(&rng, 3, 1, false, NULL);
}

/* Many samples of one element each: no narrow count overflows. */
static void test_many_small(void **state)
{
    enum { MANY = 200000 };
    assay_graph *g = net_new();
    assay_profile *p;
    assay_error err;
    (void)state;
    net_output(g, net_node(g, ASSAY_OP_RELU, "y", NULL, net_input(g, "x", NET_SHAPE(1, 1)), -2));
    for (int k = 0; k < 2; k++) {
        assert_ok(profile_new(g, &p, &err), &err);
        if (k)
            assert_ok(profile_by_channel(p, g, "*", &err), &err);
        profile_follow_clamps(p, g);
        for (int i = 0; i < MANY; i++)
            profile_observe(p, 0, i % 4 ? &(float){0.75F} : &(float){-1}, 1);
        const assay_histogram *x = &profile_find(p, "x")->seen, *y = &profile_find(p, "y")->seen;
        assert_int_equal(*profile_histogram_at(x, profile_histogram_bin(x, 0.75)), MANY / 4 * 3);
        assert_int_equal(*profile_histogram_at(x, profile_histogram_bin(x, -1)), MANY / 4);
        assert_int_equal(*profile_histogram_at(y, profile_histogram_bin(y, 0.75)), MANY / 4 * 3);
        assert_int_equal(*profile_histogram_at(y, 0), MANY / 4);
        assert_true(x->min == -1 && x->max == 0.75F && y->min == 0 && y->finite == MANY);
        profile_free(p);
    }
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_file),
        cmocka_unit_test(test_no_clamp),
        cmocka_unit_test(test_many_small),
    };
    return cmocka_run_group_tests_name("profile_clamps", tests, NULL, NULL);
}
