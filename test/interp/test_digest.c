/* Digests: XXH3-128 as the library has it, at every length; and a bundle's, whether its tensors
 * wait to be hashed together or are hashed at once. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "interp/golden/bundle.h"
#include "interp/golden/digest.h"
#include "test/support/folder.h"
#include "test/support/net.h"

static void assert_same_hash(assay_digest d, const void *bytes, size_t n)
{
    const XXH128_hash_t h = XXH3_128bits(bytes, n);
    if (d.high != h.high64 || d.low != h.low64)
        fail_msg("%zu bytes: %016llx%016llx", n, (unsigned long long)d.high,
                 (unsigned long long)d.low);
}

/* Blocks are 1024 bytes: four of them, with every rest, at every address modulo 64. */
static void every_length(void **state)
{
    enum { MAX = 4 * 1024 + 300 };
    uint8_t *bytes = malloc(MAX + 64);
    test_rng rng = test_seed("every_length", 240);
    (void)state;
    for (size_t i = 0; i < MAX + 64; i++)
        bytes[i] = (uint8_t)test_between(&rng, 0, 255);
    for (size_t n = 0; n <= MAX; n++)
        assert_same_hash(golden_digest_of(bytes + n % 64, n), bytes + n % 64, n);
    free(bytes);
}

/* Lanes that are all ones or all zeros. */
static void extreme_bytes(void **state)
{
    static const uint8_t fill[] = {0, 0xff, 0x80, 0x7f};
    enum { MAX = 200000 };
    uint8_t *bytes = malloc(MAX);
    (void)state;
    for (size_t i = 0; i < sizeof fill; i++) {
        memset(bytes, fill[i], MAX);
        for (size_t n = 1; n <= MAX; n = 2 * n + 1)
            assert_same_hash(golden_digest_of(bytes, n), bytes, n);
    }
    free(bytes);
}

static void printed(void **state)
{
    char hex[33];
    (void)state;
    golden_digest_bytes("", 0, hex);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f"); /* the specification's */
    golden_digest_print((assay_digest){.high = 1, .low = 0xa}, hex);
    assert_string_equal(hex, "0000000000000001000000000000000a");
}

/* ---- bundles ---- */

/* A chain of functions of values small and large, so that some wait and some do not. */
static assay_graph *chain(void)
{
    assay_graph *g = net_new();
    const int64_t small[] = {1, 100}, large[] = {50000, 1};
    int x = net_input(g, "x", 2, small), y = net_input(g, "y", 2, large);
    for (int i = 0; i < 6; i++) {
        char a[16], b[16];
        snprintf(a, sizeof a, "a%d", i);
        snprintf(b, sizeof b, "b%d", i);
        x = net_node(g, i % 2 ? ASSAY_OP_NEG : ASSAY_OP_RELU, a, NULL, x, -2);
        y = net_node(g, i % 2 ? ASSAY_OP_RELU : ASSAY_OP_NEG, b, NULL, y, -2);
    }
    net_output(g, x);
    net_output(g, y);
    return g;
}

static void fill(const assay_graph *g, assay_run *run, int64_t sample)
{
    for (int i = 0; i < g->n_inputs; i++) {
        float *x = assay_run_data(run, g->input[i]);
        for (int64_t k = 0; k < assay_shape_count(&g->value[g->input[i]].type); k++)
            x[k] = (float)((k * 7 + sample * 3 + i) % 11 - 5);
    }
}

enum { SAMPLES = 5 };

/* Digests of all values of all samples in order, 33 characters each; n receives how many. */
static char *record(const char *dir, const assay_graph *g, bool keep_all, int *n)
{
    assay_bundle_options o = {.dir = dir, .digests_only = true, .replace = true, .samples = 2};
    assay_bundle_writer *w;
    assay_program *p;
    assay_run *run;
    assay_bundle *b;
    assay_error err;
    assert_ok(assay_program_make(g, NULL, keep_all, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    assert_ok(golden_bundle_begin(&o, p, &w, &err), &err);
    for (int k = 0; k < SAMPLES; k++) { /* more than were announced */
        fill(g, run, k);
        assert_ok(golden_bundle_sample(w, run, 10 + k, NULL, &err), &err);
    }
    assert_ok(golden_bundle_commit(w, NULL, &err), &err);
    assert_ok(golden_bundle_open(dir, &b, &err), &err);
    char *all = calloc((size_t)b->n_tensors, 33);
    for (int i = 0; i < b->n_tensors; i++)
        memcpy(all + 33 * i, b->tensor[i].digest, 32);
    *n = b->n_tensors;
    assert_int_equal(b->tensor[b->n_tensors - 1].sample, 10 + SAMPLES - 1);
    golden_bundle_free(b);
    assay_run_free(run);
    assay_program_free(p);
    return all;
}

/* The digests are those of what each value holds after the run of its sample. */
static void bundles_waiting_or_not(void **state)
{
    char path[128];
    assay_graph *g = chain();
    assay_program *p;
    assay_run *run;
    assay_error err;
    int n, n_at_once, at = 0;
    char *waiting = record(folder_path(state, "waiting", path), g, true, &n);
    char *at_once = record(folder_path(state, "at_once", path), g, false, &n_at_once);
    assert_int_equal(n, SAMPLES * (g->n_inputs + g->n_nodes));
    assert_int_equal(n, n_at_once);
    assert_memory_equal(waiting, at_once, (size_t)n * 33);
    assert_ok(assay_program_make(g, NULL, true, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int k = 0; k < SAMPLES; k++) {
        fill(g, run, k);
        assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
        for (int i = 0; i < g->n_inputs + g->n_nodes; i++, at++) {
            const int v = i < g->n_inputs ? g->input[i] : g->node[i - g->n_inputs].out[0];
            char hex[33];
            assert_ok(golden_digest_tensor(&g->value[v].type, assay_run_data(run, v), hex, &err),
                      &err);
            assert_string_equal(hex, waiting + 33 * at);
        }
    }
    assay_run_free(run);
    assay_program_free(p);
    assay_graph_free(g);
    free(waiting);
    free(at_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_length),
                                       cmocka_unit_test(extreme_bytes), cmocka_unit_test(printed),
                                       IN_FOLDER(bundles_waiting_or_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
