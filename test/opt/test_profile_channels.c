/* Histograms per channel: every count, on which axis, mergeable, bounded, and files that lie. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/profile/profile.h"
#include "test/support/net.h"
#include "test/support/profile_text.h"

enum { SAMPLES = 20, C = 3, H = 37, W = 40, N = 2 * C * H * W };

/* x -> conv -> "c" -> relu -> "r", two images, channels first or last. */
static assay_graph *images(bool last)
{
    test_rng rng = {7};
    const assay_attrs conv = {
        .conv = {.group = 1, .layout = last ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW}};
    assay_graph *g = net_new();
    int x =
        last ? net_input(g, "x", NET_SHAPE(2, H, W, C)) : net_input(g, "x", NET_SHAPE(2, C, H, W));
    int w = last ? net_constant(g, &rng, "w", -1, 1, NET_SHAPE(C, 1, 1, C))
                 : net_constant(g, &rng, "w", -1, 1, NET_SHAPE(C, C, 1, 1));
    int c = net_node(g, ASSAY_OP_CONV, "c", &conv, x, w, -2);
    net_output(g, net_node(g, ASSAY_OP_RELU, "r", NULL, c, -2));
    return g;
}

static assay_profile *profile_of(const assay_graph *g, const char *pattern)
{
    assay_profile *p;
    assay_error err;
    assert_ok(profile_new(g, &p, &err), &err);
    assert_ok(profile_by_channel(p, g, pattern, &err), &err);
    assert_ok(profile_set_whole(p, (assay_profile_range){0, SAMPLES}, &err), &err);
    return p;
}

/* Elements of one sample: of very different magnitudes, zeros, NaNs, infinities. */
static void sample(int v, int s, float x[N])
{
    test_rng rng = {(uint64_t)(1000 * v + s)};
    for (int i = 0; i < N; i++) {
        const int64_t kind = test_between(&rng, 0, 99);
        x[i] = ldexpf((float)(2 * test_unit(&rng) - 1), (int)test_between(&rng, -6, s % 8));
        x[i] = kind < 30 ? 0.0f * x[i] : kind == 30 ? NAN : kind == 31 ? -INFINITY : x[i];
    }
}

static void observe(assay_profile *p, const assay_graph *g, int s)
{
    static float x[N];
    assay_error err;
    for (int v = 0; v < g->n_values; v++) {
        sample(v, s, x);
        profile_observe(p, v, x, N);
    }
    assert_ok(profile_add_sample(p, (uint64_t)s, &err), &err);
}

/* Counts of channel `c` of value `v`, from the definition. */
static void check_channel(const assay_histogram *h, int v, int c, bool last)
{
    static float x[N];
    uint64_t count[ASSAY_HISTOGRAM_BINS] = {0}, finite = 0, nan = 0, inf = 0;
    float min = INFINITY, max = -INFINITY;
    for (int s = 0; s < SAMPLES; s++) {
        sample(v, s, x);
        for (int i = 0; i < N; i++) {
            if ((last ? i % C : i / (H * W) % C) != c)
                continue;
            nan += isnan(x[i]) ? 1 : 0;
            inf += isinf(x[i]) ? 1 : 0;
            if (!isfinite(x[i]))
                continue;
            finite++;
            min = fminf(min, x[i]);
            max = fmaxf(max, x[i]);
            count[(int)floor(ldexp((double)x[i], -h->exponent)) & (ASSAY_HISTOGRAM_BINS - 1)]++;
        }
    }
    assert_true(h->finite == finite && h->nan == nan && h->inf == inf && nan > 0 && inf > 0);
    assert_true(h->min == min && h->max == max);
    assert_int_equal(h->exponent, profile_histogram_exponent(min, max));
    assert_memory_equal(h->count, count, sizeof count);
}

static void test_counts(void **state)
{
    (void)state;
    for (int last = 0; last < 2; last++) {
        assay_graph *g = images(last);
        assay_profile *p = profile_of(g, "*");
        for (int s = 0; s < SAMPLES; s++)
            observe(p, g, s);
        for (int i = 0; i < profile_count(p); i++) {
            const assay_profile_entry *e = profile_get(p, i);
            assert_int_equal(e->n_channels, C);
            for (int c = 0; c < C; c++)
                check_channel(&e->channel[c], assay_graph_find_value(g, e->name), c, last);
        }
        profile_free(p);
        assay_graph_free(g);
    }
}

/* Samples dealt to shards, shards merged in random order and grouping: one file, read back too. */
static void test_shards_give_one_file(void **state)
{
    test_rng rng = test_seed("profile_channels", 20261121);
    const int shards[] = {2, 7, 16};
    (void)state;
    assay_graph *g = images(false);
    assay_profile *one = profile_of(g, "[xr]"), *back;
    assay_error err;
    for (int s = 0; s < SAMPLES; s++)
        observe(one, g, s);
    char *expected = test_profile_text(one);
    for (int k = 0; k < 3; k++) {
        assay_profile *part[16];
        int left = shards[k];
        for (int i = 0; i < left; i++)
            part[i] = profile_of(g, "[xr]");
        for (int s = SAMPLES - 1; s >= 0; s--)
            observe(part[test_between(&rng, 0, left - 1)], g, s);
        while (left > 1) {
            int a = (int)test_between(&rng, 0, left - 1), b = (int)test_between(&rng, 0, left - 2);
            b += b >= a;
            assert_ok(profile_merge(part[a], part[b], &err), &err);
            profile_free(part[b]);
            part[b] = part[--left];
        }
        char *text = test_profile_text(part[0]);
        assert_string_equal(text, expected);
        free(text);
        profile_free(part[0]);
    }
    assert_ok(test_profile_load(expected, &back, &err), &err);
    assert_int_equal(profile_find(back, "c")->n_channels, 0);
    assert_int_equal(profile_find(back, "r")->n_channels, C);
    char *text = test_profile_text(back);
    assert_string_equal(text, expected);
    free(text);
    profile_free(back);
    free(expected);
    profile_free(one);
    assay_graph_free(g);
}

/* The text with the first `from` behind the first "channels:" replaced; free it. */
static char *edited(const char *text, const char *from, const char *to)
{
    const char *at = strstr(strstr(text, "channels:\n"), from);
    assert_non_null(at);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    sprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

static void test_lies_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *from, *to, *complaint;
    } cases[] = {
        {"    min: -", "    min: 9", "value 'c', channel 0: min"},
        {"    min: -", "    min: nan #", "finite number"},
        {"    finite: ", "    finite: 1", "value 'c', channel 0: counts add up to"},
        {"    nan: ", "    nan: 1", "value 'c': its channels do not add up"},
        {"    inf: ", "    fin: ", "expected key 'inf'"},
        {"    exponent: ", "    exponent: 9 #", "value 'c', channel 0: exponent 9"},
        {"    first: ", "    first: 7 #", "value 'c', channel 0: first bin"},
        {"counts: |\n      ", "counts: |\n      [",
         "value 'c', channel 0: counts: expected a count"},
        {"channels:\n", "channels:\n  - 3\n", "value 'c', channel 0: expected a channel's mapping"},
        {"channels:\n", "channels: []\n  more:\n", "no more keys in this value"},
    };
    assay_graph *g = images(true);
    assay_profile *p = profile_of(g, "c"), *q;
    assay_error err;
    for (int s = 0; s < SAMPLES; s++)
        observe(p, g, s);
    char *text = test_profile_text(p);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bad = edited(text, cases[i].from, cases[i].to);
        assert_refused(test_profile_load(bad, &q, &err), &err, cases[i].complaint);
        free(bad);
    }
    /* One count moved to the next bin of a channel: only the sum over channels can tell. */
    const assay_histogram *h = &profile_find(p, "c")->channel[0];
    int at, end;
    profile_histogram_extent(h, &at, &end);
    while (*profile_histogram_at(h, at) < 2 || *profile_histogram_at(h, at + 1) == 0)
        at++;
    --*profile_histogram_at(h, at);
    ++*profile_histogram_at(h, at + 1);
    free(text);
    text = test_profile_text(p);
    assert_refused(test_profile_load(text, &q, &err), &err,
                   "value 'c': its channels do not add up");
    free(text);
    profile_free(p);
    assay_graph_free(g);
}

static void test_limits(void **state)
{
    (void)state;
    assay_graph *g = net_new();
    assay_profile *p;
    assay_error err;
    int x = net_input(g, "x", NET_SHAPE(1, 40000));
    net_output(g, net_node(g, ASSAY_OP_RELU, "r", NULL, x, -2));
    assert_ok(profile_new(g, &p, &err), &err);
    assert_int_equal(profile_by_channel(p, g, "*", &err), ASSAY_ERR_LIMIT);
    assert_non_null(strstr(err.text, "80000 channels are asked for, of 56 KiB each"));
    assert_int_equal(profile_find(p, "x")->n_channels, 0);
    assert_refused(profile_by_channel(p, g, "y", &err), &err, "'y': no value has such a name");
    assert_ok(profile_by_channel(p, g, "r", &err), &err);
    assert_int_equal(profile_find(p, "r")->n_channels, 40000);
    profile_free(p);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_shards_give_one_file),
        cmocka_unit_test(test_lies_are_refused),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests_name("profile_channels", tests, NULL, NULL);
}
