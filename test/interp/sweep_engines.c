/* Random networks by the reference and by the fast engine: the same bits, or the same refusal.
 *
 *   sweep_engines [FIRST [COUNT [DEPTH]]]   networks of seeds FIRST, FIRST + 1, ...
 *
 * Each is drawn from its own seed alone, under a preset, a random scheme or a plugin, and run on
 * every instruction set that the machine has, with 1 to 3 threads, on several inputs in turn
 * (variables keep their state): by engine `both` with accumulators, by `fast` with every value in a
 * place of its own, and by `fast` with only its outputs of interest. What differs is printed whole;
 * DEPTH is how many nodes a network may have. */
#include "test/support/random_layers.h"
#include "test/support/random_scheme.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"
#include "graph/text/text.h"
#include "interp/fast/fast.h"
#include "interp/run/program.h"

enum { INPUTS = 3, SCHEME_TEXT = 2000, WAYS = 3 };

typedef struct sweep {
    int seen[ASSAY_OP_COUNT];  /* nodes */
    int taken[ASSAY_OP_COUNT]; /* of them by the fast engine */
    int networks, trapped, differing;
} sweep;

typedef struct subject {
    uint64_t seed;
    const assay_graph *g;
    const assay_scheme *s;
    const char *scheme_text;
} subject;

static void report(const subject *t, const assay_program_options *o, const char *what)
{
    assay_buf text = {0};
    assay_error err;
    const bool printed = text_graph_print(t->g, NULL, &text, &err) == ASSAY_OK;
    printf("not ok - seed %" PRIu64 ", isa %s, %d threads, engine %s: %s\n%s%s\n", t->seed, o->isa,
           o->threads, o->engine == ASSAY_ENGINE_BOTH ? "both" : "fast", what, t->scheme_text,
           printed ? text.text : "");
    assay_buf_free(&text);
}

/* The inputs of round i: anything, all the least, all the greatest, alternating. */
static void fill_inputs(const subject *t, assay_run *run, int i)
{
    test_rng seed = {t->seed * INPUTS + (uint64_t)i}, r = {test_random(&seed)};
    for (int k = 0; k < t->g->n_inputs; k++) {
        const int v = t->g->input[k];
        void *data = assay_run_data(run, v);
        const enum test_data how = (enum test_data)test_between(&r, 0, TEST_DATA_WAYS - 1);
        if (data)
            test_random_data(&r, i == 0 ? TEST_DATA_ANY : how, &t->g->value[v].type, data);
    }
}

/* Whether two runs have the same outputs; with keep_all, all values. */
static bool same_values(const assay_graph *g, bool all, assay_run *a, assay_run *b,
                        const char **name)
{
    for (int v = 0; v < g->n_values; v++) {
        const size_t bytes = assay_type_bytes(&g->value[v].type);
        bool wanted = all && (g->value[v].producer >= 0 || g->value[v].is_variable);
        for (int k = 0; k < g->n_outputs; k++)
            wanted = wanted || g->output[k] == v;
        *name = g->value[v].name;
        if (wanted && bytes && memcmp(assay_run_data(a, v), assay_run_data(b, v), bytes) != 0)
            return false;
    }
    return true;
}

/* One program against the reference's; false, and said, when they differ. */
static bool compare(const subject *t, const assay_program_options *o, const assay_program *ref,
                    sweep *w)
{
    assay_program *p = NULL;
    assay_run *run = NULL, *want = NULL;
    assay_error err, said;
    bool good = run_program_make_with(t->g, t->s, o, &p, &err) == ASSAY_OK &&
                assay_run_new(p, &run, &err) == ASSAY_OK &&
                assay_run_new(ref, &want, &err) == ASSAY_OK;
    for (int i = 0; i < INPUTS && good; i++) {
        fill_inputs(t, want, i);
        fill_inputs(t, run, i);
        const assay_status expected = run_execute(want, NULL, false, NULL, &said);
        const assay_status status =
            run_execute(run, NULL, o->engine == ASSAY_ENGINE_BOTH, NULL, &err);
        good = status == expected;
        w->trapped += expected != ASSAY_OK;
        if (good && expected != ASSAY_OK)
            good = strcmp(err.text, said.text) == 0;
        const char *name;
        if (good && expected == ASSAY_OK && !same_values(t->g, o->keep_all, run, want, &name)) {
            snprintf(err.text, sizeof err.text, "'%s' differs from the reference's", name);
            good = false;
        }
    }
    if (!good)
        report(t, o, err.text);
    for (int i = 0; p && i < t->g->n_nodes; i++)
        w->taken[t->g->node[i].op] += p->fast[i] != NULL;
    for (int i = 0; p && i < t->g->n_nodes; i++)
        w->seen[t->g->node[i].op]++;
    assay_run_free(run);
    assay_run_free(want);
    assay_program_free(p);
    return good;
}

static void check(const subject *t, sweep *w)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    assay_program *ref;
    assay_error err;
    if (assay_program_make_as_is(t->g, t->s, true, &ref, &err) != ASSAY_OK) {
        w->differing++;
        report(t, &(assay_program_options){.isa = "-"}, err.text);
        return;
    }
    w->networks++;
    for (int i = 0; i < 3 * WAYS; i++) {
        const int way = i % WAYS;
        const assay_program_options o = {.engine = way ? ASSAY_ENGINE_FAST : ASSAY_ENGINE_BOTH,
                                         .keep_all = way == 1,
                                         .outputs_only = way == 2,
                                         .threads = 1 + (int)((t->seed + (uint64_t)way) % 3),
                                         .isa = isas[i / WAYS]};
        const assay_isa_kernels *k;
        if (fast_isa_choose(o.isa, &k, &err) == ASSAY_OK && !compare(t, &o, ref, w)) {
            w->differing++;
            break;
        }
    }
    assay_program_free(ref);
}

/* A preset, or one time in three a random scheme, now and then a plugin. */
static assay_scheme *draw_scheme(test_rng *r, char text[SCHEME_TEXT])
{
    const char *const *presets = assay_scheme_presets();
    int n = 0;
    assay_scheme *s;
    assay_error err;
    static const char *const plugins[] = {PLUGINS};
    while (presets[n])
        n++;
    if (test_between(r, 0, 2) == 0)
        return test_random_scheme(r, text, SCHEME_TEXT);
    const char *name = test_between(r, 0, 15)
                           ? presets[test_between(r, 0, n - 1)]
                           : plugins[test_between(r, 0, sizeof plugins / sizeof *plugins - 1)];
    snprintf(text, SCHEME_TEXT, "scheme: %s\n", name);
    return assay_scheme_open(name, &s, &err) == ASSAY_OK ? s : NULL;
}

static void print_tally(const sweep *w)
{
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (w->seen[op])
            printf("# %-20s %7d nodes, %3d %% of them by the fast engine\n",
                   assay_op_get((assay_op)op)->name, w->seen[op],
                   (int)(100LL * w->taken[op] / w->seen[op]));
    printf("# %d networks, %d runs refused alike\n", w->networks, w->trapped);
}

int main(int argc, char **argv)
{
    const uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
    const int depth = argc > 3 ? atoi(argv[3]) : 5;
    sweep w = {.networks = 0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (uint64_t i = 0; i < count; i++) {
        char text[SCHEME_TEXT];
        test_rng seed = {first + i}, r = {test_random(&seed)};
        assay_scheme *s = draw_scheme(&r, text);
        assay_graph *g = s ? test_random_layers(&r, s, (int)test_between(&r, 1, depth)) : NULL;
        if (getenv("ASSAY_SWEEP_LOG"))
            fprintf(stderr, "seed %" PRIu64 "\n", first + i);
        if (g)
            check(&(subject){first + i, g, s, text}, &w);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
    print_tally(&w);
    printf("%s 1 - both engines agree on %d random networks, seeds %" PRIu64 " to %" PRIu64
           "\n1..1\n",
           w.differing ? "not ok" : "ok", w.networks, first, first + count - 1);
    return w.differing > 0;
}
