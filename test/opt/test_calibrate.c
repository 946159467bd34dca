/* Calibration: which part of a range is worth codes, and the methods' names. */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "opt/calibrate/calibrate.h"
#include "opt/profile/profile.h"
#include "test/support/net.h"

typedef struct observed {
    assay_graph *graph;
    assay_profile *profile;
} observed;

/* x -> relu -> y, nothing observed yet. */
static observed nothing(void)
{
    observed o = {.graph = net_new()};
    assay_error err;
    int x = net_input(o.graph, "x", NET_SHAPE(1, 1));
    net_output(o.graph, net_node(o.graph, ASSAY_OP_RELU, "y", NULL, x, -2));
    assert_ok(profile_new(o.graph, &o.profile, &err), &err);
    return o;
}

static void see(observed *o, float x)
{
    profile_observe(o->profile, 0, &x, 1);
}

static void forget(observed *o)
{
    profile_free(o->profile);
    assay_graph_free(o->graph);
}

/* 100,000 elements of a bell around 0 (sums of 12 uniform numbers). */
static observed bell(test_rng *rng)
{
    observed o = nothing();
    for (int i = 0; i < 100000; i++) {
        float x = 0;
        for (int k = 0; k < 12; k++)
            x += (float)test_unit(rng) - 0.5f;
        see(&o, x);
    }
    return o;
}

static assay_calibrated calibrate(const observed *o, const char *method, double levels)
{
    assay_calibrate_how how;
    assay_calibrated c;
    assert_true(calibrate_find(method, &how));
    calibrate_range(&profile_find(o->profile, "x")->seen, &how, levels, &c);
    return c;
}

/* A bell with one far outlier, in 4 bits: every calibration but min-max lets go of it. */
static void test_outlier(void **state)
{
    const char *const methods[] = {"percentile", "mse", "kl"};
    test_rng rng = test_seed("calibrate", 20261121);
    observed o = bell(&rng);
    (void)state;
    see(&o, 200);
    assay_calibrated c = calibrate(&o, "min-max", 256);
    assert_true(c.max == 200 && c.clipped == 0 && c.used == ASSAY_CALIBRATE_MIN_MAX);
    for (int i = 0; i < 3; i++) {
        c = calibrate(&o, methods[i], 16);
        if (!(c.max > 2 && c.max < 60 && c.min < -2))
            fail_msg("%s chose [%g, %g]", methods[i], c.min, c.max);
        assert_true(c.clipped > 0 && c.clipped < 0.05);
        assert_null(c.note);
    }
    forget(&o);
}

/* What lies outside is what was asked for, to the resolution of the bins, and is counted. */
static void test_percentile(void **state)
{
    test_rng rng = test_seed("calibrate", 5);
    observed o = bell(&rng);
    (void)state;
    assay_calibrated c = calibrate(&o, "percentile:90", 256);
    assert_true(c.clipped > 0.09 && c.clipped <= 0.1);
    assert_true(fabs(c.max - 1.645) < 0.03 && fabs(c.min + 1.645) < 0.03); /* of a normal */
    assay_calibrated wider = calibrate(&o, "percentile", 256);
    assert_true(wider.max > c.max && wider.clipped <= 1e-4);
    c = calibrate(&o, "percentile:100", 256);
    assert_true(c.max == (double)profile_find(o.profile, "x")->seen.max);
    forget(&o);
}

/* More codes than bins: nothing can be judged by KL, which is said. */
static void test_kl_says_when_it_cannot_judge(void **state)
{
    test_rng rng = test_seed("calibrate", 6);
    observed o = bell(&rng);
    (void)state;
    see(&o, 200);
    assay_calibrated c = calibrate(&o, "kl", 65536);
    assert_true(c.used == ASSAY_CALIBRATE_MIN_MAX && c.max == 200);
    assert_non_null(c.note);
    assert_non_null(strstr(c.note, "fewer bins"));
    forget(&o);
}

/* Twice the range, or as often as is said, around 0; codes of 8 bits have none to spare. */
static void test_headroom(void **state)
{
    observed o = nothing();
    (void)state;
    see(&o, -1);
    see(&o, 3);
    assay_calibrated c = calibrate(&o, "headroom", 65536);
    assert_true(c.min == -2 && c.max == 6 && c.clipped == 0 && c.used == ASSAY_CALIBRATE_HEADROOM);
    calibrate_power_of_two(&profile_find(o.profile, "x")->seen, -32768, 32767, &c);
    assert_true(c.min == -2 && c.max == 6); /* what was observed has room in half of it */
    c = calibrate(&o, "headroom:1.5", 65536);
    assert_true(c.min == -1.5 && c.max == 4.5);
    c = calibrate(&o, "headroom", 1024);
    assert_true(c.min == -1 && c.max == 3 && c.used == ASSAY_CALIBRATE_MIN_MAX);
    assert_non_null(strstr(c.note, "none to spare"));
    forget(&o);
    o = nothing();
    see(&o, 2);
    see(&o, 3);
    c = calibrate(&o, "headroom", 65536);
    assert_true(c.min == 2 && c.max == 6); /* never less than what was observed */
    forget(&o);
}

static void test_constant_values(void **state)
{
    (void)state;
    observed o = nothing();
    for (int i = 0; i < 10; i++)
        see(&o, 0.25f);
    assay_calibrated c = calibrate(&o, "kl", 256);
    assert_true(c.min == 0.25 && c.max == 0.25 && c.clipped == 0);
    forget(&o);
}

static void test_names(void **state)
{
    const char *const bad[] = {"",          "minmax",        "kl:3",           "percentile:",
                               "min-max2",  "percentile:9x", "percentile:101", "percentile:10",
                               "min-max:2", "headroom:0.9",  "headroom:17",    "headroom:"};
    assay_calibrate_how how;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(calibrate_find(bad[i], &how));
    for (int c = ASSAY_CALIBRATE_MIN_MAX; c <= ASSAY_CALIBRATE_HEADROOM; c++) {
        assert_true(calibrate_find(calibrate_name((assay_calibration)c), &how));
        assert_int_equal(how.method, c);
    }
    assert_true(calibrate_find("percentile:99.5", &how) && how.percentile == 99.5);
    assert_true(calibrate_find("headroom:1.5", &how) && how.headroom == 1.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_percentile),
        cmocka_unit_test(test_kl_says_when_it_cannot_judge),
        cmocka_unit_test(test_headroom),
        cmocka_unit_test(test_constant_values),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests_name("calibrate", tests, NULL, NULL);
}
