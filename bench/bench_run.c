/* ns per image of the reference engine on the shipped networks under several presets, with the
 * float engine in the same run as the peer.
 *
 *   bench_run MODEL PROFILE.yaml SCHEME ... */
#include <stdio.h>
#include <string.h>

#include "bench/timing.h"
#include "interp/run/model.h"
#include "interp/run/program.h"
#include "opt/quantize/quantize.h"

enum { RUNS = 31 };

static void execute(void *user)
{
    assay_error err;
    if (run_execute(user, NULL, false, NULL, &err) != ASSAY_OK) {
        fprintf(stderr, "bench_run: %s\n", err.text);
        exit(2);
    }
}

static int64_t macs_of(const assay_graph *g)
{
    int64_t macs = 0;
    for (int n = 0; n < g->n_nodes; n++)
        macs += assay_node_macs(g, &g->node[n]);
    return macs;
}

/* Times one program on a fixed input. */
static assay_status measure(const assay_graph *g, const assay_scheme *s, bench_times *t,
                            size_t *arena, assay_error *err)
{
    assay_program *p = NULL;
    assay_run *run = NULL;
    assay_status status = assay_program_make(g, s, false, &p, err);

    if (status == ASSAY_OK)
        status = assay_run_new(p, &run, err);
    if (status == ASSAY_OK) {
        const assay_type *in = &g->value[g->input[0]].type;
        memset(assay_run_data(run, g->input[0]), 0x3c,
               (size_t)assay_shape_count(in) * assay_elem_size(in->elem));
        *t = bench_measure(execute, run, RUNS);
        *arena = p->plan->arena_bytes;
    }
    assay_run_free(run);
    assay_program_free(p);
    return status;
}

static assay_status measure_scheme(const assay_graph *g, const assay_profile *profile,
                                   const char *name, double float_ns, assay_error *err)
{
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assay_scheme *s = NULL;
    assay_graph *q = NULL;
    bench_times t;
    size_t arena;
    assay_status status = assay_scheme_open(name, &s, err);

    if (status == ASSAY_OK)
        status = quantize_network(g, profile, s, &options, &q, NULL, err);
    if (status == ASSAY_OK)
        status = measure(q, s, &t, &arena, err);
    if (status == ASSAY_OK)
        printf("  %-16s %9.3f ms  [%.3f, %.3f]  %6.3f ns/MAC  %6.2f x float  arena %zu bytes\n",
               name, t.median / 1e6, t.least / 1e6, t.greatest / 1e6, t.median / (double)macs_of(q),
               t.median / float_ns, arena);
    assay_graph_free(q);
    assay_scheme_free(s);
    return status;
}

int main(int argc, char **argv)
{
    assay_graph *g = NULL;
    assay_profile *profile = NULL;
    assay_error err;
    bench_times t = {0};
    size_t arena = 0;
    assay_status status;

    if (argc < 4) {
        fprintf(stderr, "usage: bench_run MODEL PROFILE.yaml SCHEME ...\n");
        return 2;
    }
    status = run_model_load_canonical(argv[1], NULL, &g, &err);
    if (status == ASSAY_OK)
        status = profile_load(argv[2], &profile, &err);
    if (status == ASSAY_OK)
        status = measure(g, NULL, &t, &arena, &err);
    if (status == ASSAY_OK) {
        printf("%s: %lld MACs; median [least, greatest] of %d runs, one thread\n", argv[1],
               (long long)macs_of(g), RUNS);
        printf("  %-16s %9.3f ms  [%.3f, %.3f]  %6.3f ns/MAC               arena %zu bytes\n",
               "float", t.median / 1e6, t.least / 1e6, t.greatest / 1e6,
               t.median / (double)macs_of(g), arena);
    }
    for (int i = 3; i < argc && status == ASSAY_OK; i++)
        status = measure_scheme(g, profile, argv[i], t.median, &err);
    profile_free(profile);
    assay_graph_free(g);
    if (status != ASSAY_OK) {
        fprintf(stderr, "bench_run: %s\n", err.text);
        return 2;
    }
    return 0;
}
