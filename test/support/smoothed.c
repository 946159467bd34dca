/* Smoothed networks beside those they were made of. */
#include "test/support/smoothed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void smoothed_scale(assay_graph *g, int constant, int64_t first, int64_t stride, int64_t n, int by)
{
    float *w = (float *)(uintptr_t)g->value[constant].data;
    for (int64_t i = 0; i < n; i++)
        w[first + i * stride] = ldexpf(w[first + i * stride], by);
}

int smoothed_compare(const assay_graph *before, const assay_graph *after, test_rng *rng,
                     smoothed_check scaled_by, assay_profile *p)
{
    float *x = net_random_input(rng, before, 0);
    assay_graph *a, *b;
    assay_error err;
    int scaled = 0;
    assert_ok(assay_graph_clone(before, &a, &err), &err);
    assert_ok(assay_graph_clone(after, &b, &err), &err);
    net_run(a, (const float *const *)&x);
    net_run(b, (const float *const *)&x);
    for (int v = 0; v < after->n_values; v++) {
        char name[64];
        snprintf(name, sizeof name, "%s", after->value[v].name);
        char *suffix = strstr(name, ":smoothed");
        if (after->value[v].data)
            continue;
        profile_observe(p, v, b->value[v].data, (size_t)assay_shape_count(&b->value[v].type));
        if (suffix)
            *suffix = '\0';
        int64_t n;
        const float *was = net_data(a, name, &n);
        if (suffix)
            scaled_by(was, b->value[v].data, n, name);
        else
            assert_memory_equal(was, b->value[v].data, (size_t)n * sizeof *was);
        scaled += suffix != NULL;
    }
    assay_graph_free(a);
    assay_graph_free(b);
    free(x);
    return scaled;
}

static void compare_profiles(const assay_profile *anew, const assay_profile *of_smoothed)
{
    for (int i = 0; i < profile_count(anew); i++) {
        const assay_profile_entry *seen = profile_get(anew, i);
        const assay_profile_entry *got = profile_find(of_smoothed, seen->name);
        assert_non_null(got);
        assert_true(got->lineage == seen->lineage);
        assert_true(profile_histogram_equal(&got->seen, &seen->seen));
        assert_int_equal(got->seen.exponent, seen->seen.exponent);
    }
}

/* The generator is copied: the samples are those that were profiled. */
void smoothed_floats_stay(assay_graph *g, test_rng *rng, smoothed_check scaled_by, int sites,
                          int scaled)
{
    test_rng samples = *rng;
    quantized s = quantized_prepare_channels(g, rng, "tflite");
    assay_profile *of_smoothed, *anew;
    assay_smoothing made;
    assay_graph *smoothed;
    assay_error err;
    assert_ok(assay_graph_clone(s.g, &smoothed, &err), &err);
    assert_ok(quantize_smooth(smoothed, s.profile, .5, &of_smoothed, &made, &err), &err);
    assert_ok(assay_graph_verify(smoothed, &err), &err);
    assert_ok(profile_check(of_smoothed, smoothed, &err), &err);
    assert_ok(profile_new(smoothed, &anew, &err), &err);
    assert_int_equal(made.n, sites);
    for (int i = 0; i < 64; i++)
        assert_int_equal(smoothed_compare(s.g, smoothed, &samples, scaled_by, anew), scaled);
    compare_profiles(anew, of_smoothed);
    quantize_smoothing_free(&made);
    profile_free(of_smoothed);
    profile_free(anew);
    assay_graph_free(smoothed);
    quantized_drop(&s);
}
