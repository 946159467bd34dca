/* Damaged TFLite models: bytes changed, runs overwritten, files cut short. Each is refused with one
 * line or imported, within a second of processor time, and what is imported can be prepared to run;
 * the sanitizers watch. An argument is how many (default 1,000; ./dev mutants: 10,000). */
#include "test/support/support.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "interp/run/program.h"
#include "test/support/tflite_build.h"
#include "test/support/tflite_graphs.h"

#define MAX_SEEDS 200
#define MAX_BYTES 100000 /* of a seed: damage should meet structure, not weights */
#define PREPARED  (1 << 22)

static int mutants = 1000;

typedef struct seed {
    unsigned char *bytes;
    size_t size;
} seed;

static int small_networks(seed *s)
{
    for (int i = 0; i < n_tflite_graphs; ++i) {
        assay_graph *g = tflite_graph(tflite_graphs[i]);
        assay_error err;
        assert_ok(tfl_export_graph(g, &s[i].bytes, &s[i].size, &err), &err);
        assay_graph_free(g);
    }
    return n_tflite_graphs;
}

/* Small real models, when they are there. */
static int shared_models(seed *s, int room)
{
    char folder[4096], path[4400];
    struct dirent **entry;
    int n, taken = 0;

    if (!test_shared("models", folder, sizeof folder) ||
        (n = scandir(folder, &entry, NULL, alphasort)) < 0)
        return 0;
    for (int i = 0; i < n; ++i) {
        if (taken < room && strstr(entry[i]->d_name, ".tflite")) {
            snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
            s[taken].bytes = (unsigned char *)test_read_file(path, &s[taken].size);
            if (s[taken].size > MAX_BYTES)
                free(s[taken].bytes);
            else
                ++taken;
        }
        free(entry[i]);
    }
    free(entry);
    return taken;
}

static bool is_small(const assay_graph *g)
{
    int64_t elements = 0;
    for (int v = 0; v < g->n_values; ++v) {
        int64_t n = assay_shape_count(&g->value[v].type);
        if (n > PREPARED || (elements += n) > PREPARED)
            return false;
    }
    return true;
}

/* 1: imported, 2: prepared too. */
static int try(const assay_scheme *scheme, const unsigned char *bytes, size_t size)
{
    assay_graph *g;
    assay_program *p;
    assay_error err;
    int result = 1;

    if (tfl_import_memory("mutant", bytes, size, &g, &err) != ASSAY_OK) {
        assert_true(err.text[0] != 0 && strchr(err.text, '\n') == NULL);
        return 0;
    }
    if (is_small(g) && assay_program_make_as_is(g, scheme, false, &p, &err) == ASSAY_OK) {
        assay_program_free(p);
        result = 2;
    }
    assay_graph_free(g);
    return result;
}

static void survive(void **state)
{
    test_rng rng = test_seed("tflite_mutants", 20261121);
    seed *s = calloc(MAX_SEEDS, sizeof *s);
    int n, count[3] = {0, 0, 0};
    double slowest = 0;
    assay_scheme *scheme;
    assay_error err;

    (void)state;
    assert_non_null(s);
    n = small_networks(s);
    n += shared_models(s + n, MAX_SEEDS - n);
    assert_ok(assay_scheme_open("tflite", &scheme, &err), &err);
    for (int i = 0; i < mutants; ++i) {
        const seed *from = &s[test_between(&rng, 0, n - 1)];
        size_t size = from->size;
        unsigned char *copy = malloc(size + 1);
        clock_t begin;
        double seconds;
        assert_non_null(copy);
        memcpy(copy, from->bytes, size);
        tb_damage(&rng, copy, &size);
        begin = clock();
        count[try(scheme, copy, size)]++;
        seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
        slowest = seconds > slowest ? seconds : slowest;
        free(copy);
    }
    print_message("# %d mutants of %d models: %d refused, %d imported, of which %d prepared; "
                  "the slowest took %.3f s\n",
                  mutants, n, count[0], count[1] + count[2], count[2], slowest);
    assert_true(slowest < 1);
    assert_true(count[0] > 0 && count[2] > 0);
    for (int i = 0; i < n; ++i)
        free(s[i].bytes);
    free(s);
    assay_scheme_free(scheme);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(survive)};
    if (argc > 1)
        mutants = atoi(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
