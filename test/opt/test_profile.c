/* The profiler: its state depends on what was observed only, its file says it all, and files that
 * lie are refused. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/profile/profile.h"
#include "test/support/net.h"
#include "test/support/profile_text.h"

#define SAMPLES  64
#define ELEMENTS 300

static test_rng rng_of(void **state)
{
    return *(test_rng *)*state;
}

/* x -> relu -> "y z" -> exp -> "e\"1\"" */
static assay_graph *small_net(void)
{
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(1, ELEMENTS));
    int y = net_node(g, ASSAY_OP_RELU, "y z", NULL, x, -2);
    net_output(g, net_node(g, ASSAY_OP_EXP, "e\"1\"", NULL, y, -2));
    return g;
}

static assay_profile *profile_of(const assay_graph *g)
{
    assay_profile *p;
    assay_error err;
    assert_ok(profile_new(g, &p, &err), &err);
    assert_ok(profile_set_preprocessing(p, "scale: 1/255\nmean: [0, 0]", &err), &err);
    assert_ok(profile_set_whole(p, (assay_profile_range){0, SAMPLES}, &err), &err);
    return p;
}

/* Elements of sample s of value v: of very different magnitudes, some odd. The same every time. */
static void sample(int v, int s, float x[ELEMENTS])
{
    test_rng rng = {(uint64_t)(1000 * v + s)};
    for (int i = 0; i < ELEMENTS; i++) {
        int64_t kind = test_between(&rng, 0, 99);
        x[i] = ldexpf((float)(2 * test_unit(&rng) - 1), (int)test_between(&rng, -6, s % 16));
        if (kind == 0)
            x[i] = 0.0f * x[i]; /* both zeros */
        else if (kind == 1)
            x[i] = (float)(test_between(&rng, 0, 1) ? -1 : 1) * INFINITY;
        else if (kind == 2)
            x[i] = NAN;
        else if (kind == 3)
            x[i] = ldexpf(x[i] < 0 ? -1.0f : 1.0f, (int)test_between(&rng, -140, 3));
    }
}

static void observe(assay_profile *p, const assay_graph *g, int s)
{
    float x[ELEMENTS];
    assay_error err;
    for (int v = 0; v < g->n_values; v++) {
        sample(v, s, x);
        profile_observe(p, v, x, ELEMENTS);
    }
    assert_ok(profile_add_sample(p, (uint64_t)s, &err), &err);
}

static assay_profile *whole(const assay_graph *g)
{
    assay_profile *p = profile_of(g);
    for (int s = 0; s < SAMPLES; s++)
        observe(p, g, s);
    return p;
}

static void shuffle(test_rng *rng, int *order, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = (int)test_between(rng, 0, i), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
}

/* 1, 2, 7 and 16 shards, samples and merges in random order and grouping: one file. */
static void test_shards_give_one_file(void **state)
{
    test_rng rng = rng_of(state);
    const int shards[] = {1, 2, 7, 16};
    assay_graph *g = small_net();
    assay_profile *one = whole(g);
    char *expected = test_profile_text(one);
    assay_error err;
    for (int k = 0; k < 4; k++) {
        assay_profile *part[16];
        int order[SAMPLES], left = shards[k];
        for (int i = 0; i < SAMPLES; i++)
            order[i] = i;
        shuffle(&rng, order, SAMPLES);
        for (int i = 0; i < left; i++)
            part[i] = profile_of(g);
        for (int i = 0; i < SAMPLES; i++)
            observe(part[test_between(&rng, 0, left - 1)], g, order[i]);
        while (left > 1) {
            int a = (int)test_between(&rng, 0, left - 1), b = (int)test_between(&rng, 0, left - 2);
            b += b >= a;
            assert_ok(profile_merge(part[a], part[b], &err), &err);
            profile_free(part[b]);
            part[b] = part[--left];
        }
        char *text = test_profile_text(part[0]);
        assert_ok(profile_complete(part[0], &err), &err);
        assert_string_equal(text, expected);
        free(text);
        profile_free(part[0]);
    }
    free(expected);
    profile_free(one);
    assay_graph_free(g);
}

/* Every count, against a bin computed in double from the definition. */
static void test_counts(void **state)
{
    (void)state;
    assay_graph *g = small_net();
    assay_profile *p = whole(g);
    const assay_profile_entry *e = profile_find(p, "y z");
    int v = assay_graph_find_value(g, "y z");
    uint64_t *count = calloc(ASSAY_HISTOGRAM_BINS, sizeof *count), nan = 0, inf = 0, finite = 0;
    float x[ELEMENTS], min = INFINITY, max = -INFINITY;
    assert_non_null(e);
    for (int s = 0; s < SAMPLES; s++) {
        sample(v, s, x);
        for (int i = 0; i < ELEMENTS; i++) {
            nan += isnan(x[i]) ? 1 : 0;
            inf += isinf(x[i]) ? 1 : 0;
            if (!isfinite(x[i]))
                continue;
            finite++;
            min = fminf(min, x[i]);
            max = fmaxf(max, x[i]);
            count[(int)floor(ldexp((double)x[i], -e->seen.exponent)) &
                  (ASSAY_HISTOGRAM_BINS - 1)]++;
        }
    }
    assert_true(nan > 0 && inf > 0);
    assert_true(e->seen.nan == nan && e->seen.inf == inf && e->seen.finite == finite);
    assert_true(e->seen.min == min && e->seen.max == max);
    assert_memory_equal(count, e->seen.count, ASSAY_HISTOGRAM_BINS * sizeof *count);
    free(count);
    profile_free(p);
    assay_graph_free(g);
}

static void test_exponent_at_the_edges(void **state)
{
    (void)state;
    const struct {
        float x;
        int exponent;
    } cases[] = {{0, ASSAY_HISTOGRAM_MIN_EXPONENT},
                 {-0.0f, ASSAY_HISTOGRAM_MIN_EXPONENT},
                 {1, -23},
                 {-1, -23},
                 {0.99f, -24},
                 {-1.01f, -23},
                 {0x1.fffffep127f, 104},
                 {-0x1p127f, 104},
                 {0x1p-149f, ASSAY_HISTOGRAM_MIN_EXPONENT},
                 {-0x1p-149f, ASSAY_HISTOGRAM_MIN_EXPONENT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_graph *g = small_net();
        assay_profile *p = profile_of(g);
        double lo, hi;
        profile_observe(p, 0, &cases[i].x, 1);
        const assay_profile_entry *e = profile_find(p, "x");
        assert_int_equal(e->seen.exponent, cases[i].exponent);
        const int at = profile_histogram_bin(&e->seen, (double)cases[i].x);
        assert_int_equal(*profile_histogram_at(&e->seen, at), 1);
        profile_histogram_edges(&e->seen, at, &lo, &hi);
        assert_true((double)cases[i].x >= lo && (double)cases[i].x < hi);
        profile_free(p);
        assay_graph_free(g);
    }
}

static void test_file_round_trip(void **state)
{
    (void)state;
    assay_graph *g = small_net();
    assay_profile *p = whole(g), *q;
    char *text = test_profile_text(p), *again;
    assay_error err;
    assert_ok(test_profile_load(text, &q, &err), &err);
    again = test_profile_text(q);
    assert_string_equal(text, again);
    assert_ok(profile_check(q, g, &err), &err);
    assert_int_equal(profile_samples(q), SAMPLES);
    assert_string_equal(profile_get_origin(q).preprocessing, "scale: 1/255\nmean: [0, 0]");
    assert_true(profile_histogram_equal(&profile_find(p, "x")->seen, &profile_find(q, "x")->seen));
    free(text);
    free(again);
    profile_free(p);
    profile_free(q);
    assay_graph_free(g);
}

/* The text with the first `from` after `anchor` replaced; free it. */
static char *edited(const char *text, const char *anchor, const char *from, const char *to)
{
    const char *at = strstr(strstr(text, anchor), from);
    assert_non_null(at);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    size_t head = (size_t)(at - text);
    memcpy(out, text, head);
    strcpy(out + head, to);
    strcat(out, at + strlen(from));
    return out;
}

static void test_lies_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *anchor, *from, *to, *complaint;
    } cases[] = {
        {"values", "  min: -", "  min: 9", "min"},
        {"values", "  min: -", "  min: nan #", "finite number"},
        {"values", "  max: ", "  max: 1e39 #", "finite number"},
        {"values", "  finite: ", "  finite: 1", "add up"},
        {"values", "  finite: ", "  finite: -", "count"},
        {"values", "  nan: ", "  nam: ", "expected key 'nan'"},
        {"values", "  exponent: ", "  exponent: 999 #", "integer in"},
        {"values", "  lineage: \"", "  lineage: \"x", "hexadecimal"},
        {"values", "counts: |\n    ", "counts: |\n    x ", "expected a count, found 'x'"},
        {"values", "counts: |\n    ", "counts: |\n    0* ", "found '0*'"},
        {"values", "counts: |\n    ", "counts: |\n    2*3 ", "found '2*3'"},
        {"values", "counts: |\n    ", "counts: |\n    5, ", "found '5,'"},
        {"values", "counts: |\n    ", "counts: |\n    18446744073709551616 ", "found '184467"},
        {"values", "counts: |", "counts: {", "text of counts"},
        {"values", "- name: \"x\"", "- name: \"a\"", "sorted"},
        {"samples", "[0, 64]", "[5, 5]", "empty"},
        {"samples", "[[0, 64]]", "[]", "no samples"},
        {"samples", "[0, 64]", "[0, 64], [3, 4]", "overlap"},
        {"bins", "4096", "10", "integer in"},
        {"format", "6", "4", "integer in"},
        {"values", "  step: ", "  step: -", "integer in"},
        {"values", "  step: ", "  stop: ", "expected key 'step'"},
        {"values", "  first: ", "  first: 7 #", "first bin"},
        {"values", "counts: |\n    ", "counts: |\n    0*4096 ", "more counts than bins"},
        {"values", "counts: |\n    ", "counts: |\n    0*1 ", "more counts than bins"},
        {"whole", "[0, 64]", "[0, 63]", "outside of the whole"},
        {"whole", "[0, 64]", "[9, 9]", "empty"},
        {"# Ranges", "# Ranges", "\t[", "YAML"},
    };
    assay_graph *g = small_net();
    assay_profile *p = whole(g), *q;
    char *text = test_profile_text(p);
    assay_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *bad = edited(text, cases[i].anchor, cases[i].from, cases[i].to);
        assert_refused(test_profile_load(bad, &q, &err), &err, cases[i].complaint);
        assert_null(q);
        free(bad);
    }
    for (size_t length = 0; length < strlen(text); length += 97) { /* truncated anywhere */
        char *bad = strdup(text);
        bad[length] = '\0';
        assert_refused(test_profile_load(bad, &q, &err), &err, "p.yaml");
        free(bad);
    }
    *strstr(text, "values:") = '\0';
    char *empty = malloc(strlen(text) + 16);
    strcat(strcpy(empty, text), "values: []\n");
    assert_refused(test_profile_load(empty, &q, &err), &err, "empty");
    free(empty);
    free(text);
    assert_refused(profile_load("/no/such/file", &q, &err), &err, "/no/such/file");
    assert_refused(profile_save(p, "/no/such/dir/p", &err), &err, "/no/such/dir/p");
    profile_free(p);
    assay_graph_free(g);
}

/* Bytes changed at random: read in full or refused by name, nothing else. */
static void test_mutated_files(void **state)
{
    test_rng rng = rng_of(state);
    assay_graph *g = small_net();
    assay_profile *p = profile_of(g), *q;
    assay_error err;
    int refused = 0;
    observe(p, g, 0);
    char *text = test_profile_text(p);
    int64_t length = (int64_t)strlen(text);
    for (int i = 0; i < 300; i++) {
        char *bad = strdup(text);
        for (int64_t k = test_between(&rng, 1, 4); k > 0; k--)
            bad[test_between(&rng, 0, length - 1)] = (char)test_between(&rng, 1, 255);
        if (test_profile_load(bad, &q, &err)) {
            assert_non_null(strstr(err.text, "p.yaml"));
            assert_null(strchr(err.text, '\n'));
            refused++;
        } else {
            profile_free(q);
        }
        free(bad);
    }
    assert_true(refused > 200);
    free(text);
    profile_free(p);
    assay_graph_free(g);
}

static void test_merge_refuses(void **state)
{
    (void)state;
    assay_graph *g = small_net(), *other = net_new();
    assay_error err;
    net_output(other, net_node(other, ASSAY_OP_RELU, "y", NULL,
                               net_input(other, "x", NET_SHAPE(1, 3)), -2));
    assay_profile *p = profile_of(g), *q = profile_of(g), *o = profile_of(other);
    observe(p, g, 3);
    observe(p, g, 4);
    observe(q, g, 4);
    assert_refused(profile_merge(p, q, &err), &err, "sample 4");
    assert_int_equal(profile_samples(p), 2);
    assert_refused(profile_merge(p, o, &err), &err, "graph");
    assert_ok(profile_set_preprocessing(q, "none", &err), &err);
    assert_refused(profile_merge(p, q, &err), &err, "preprocessing");
    assert_refused(profile_complete(p, &err), &err, "sample 0 of [0, 64) is missing");
    profile_free(p);
    profile_free(q);
    profile_free(o);
    assay_graph_free(g);
    assay_graph_free(other);
}

/* x -> fc(w, b) whole, or lowered to matmul and add. */
static assay_graph *linear(bool lowered, uint64_t seed)
{
    test_rng rng = {seed};
    assay_graph *g = net_new();
    int x = net_input(g, "x", NET_SHAPE(2, 3));
    int w = net_constant(g, &rng, "w", -1, 1, NET_SHAPE(3, 3));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(3));
    int y = lowered ? net_node(g, ASSAY_OP_ADD, "y", NULL,
                               net_node(g, ASSAY_OP_MATMUL, "xw", NULL, x, w, -2), b, -2)
                    : net_node(g, ASSAY_OP_FC, "y", NULL, x, w, b, -2);
    net_output(g, y);
    return g;
}

static void test_check_names_what_is_missing(void **state)
{
    (void)state;
    assay_graph *lowered = linear(true, 1), *whole_fc = linear(false, 1), *other = linear(false, 2);
    assay_graph *small = small_net();
    assay_profile *p = profile_of(lowered), *q = profile_of(whole_fc);
    float x[9] = {1, 2, 3};
    assay_error err;
    for (int v = 0; v < lowered->n_values; v++)
        profile_observe(p, v, x, 9);
    for (int v = 0; v < whole_fc->n_values; v++)
        profile_observe(q, v, x, 9);
    assert_ok(profile_check(p, whole_fc, &err), &err); /* one lowering serves another */
    assert_ok(profile_check(q, lowered, &err), &err);  /* which has 'xw' in addition */
    assert_null(profile_entry_of(q, lowered, assay_graph_find_value(lowered, "xw")));
    assert_refused(profile_check(p, other, &err), &err, "other weights: 'y'");
    assert_refused(profile_check(p, small, &err), &err,
                   "2 value(s) of this network are not in it: 'y z', 'e\"1\"'; 2 of its values are "
                   "not in this network: 'xw', 'y'");
    profile_free(p);
    profile_free(q);
    assay_graph_free(small);
    assay_graph_free(lowered);
    assay_graph_free(whole_fc);
    assay_graph_free(other);
}

int main(void)
{
    test_rng rng = test_seed("profile", 20261121);
    void *state = &rng;
#define WITH_RNG(test) cmocka_unit_test_prestate(test, state)
    const struct CMUnitTest tests[] = {
        WITH_RNG(test_shards_give_one_file),  WITH_RNG(test_counts),
        WITH_RNG(test_exponent_at_the_edges), WITH_RNG(test_file_round_trip),
        WITH_RNG(test_lies_are_refused),      WITH_RNG(test_mutated_files),
        WITH_RNG(test_merge_refuses),         WITH_RNG(test_check_names_what_is_missing),
    };
    return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
