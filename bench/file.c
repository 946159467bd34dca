#include "bench/file.h"

#include <stdlib.h>
#include <string.h>

#include "bench/ours.h"
#include "bench/session.h"
#include "interp/bundle.h"
#include "interp/model.h"
#include "opt/qdq.h"

static assay_graph *load(const char *path, const char *scheme)
{
    assay_graph *g;
    assay_scheme *s;
    assay_error err;
    bench_check(assay_model_load_canonical(path, NULL, &g, &err), &err);
    bench_check(assay_scheme_open(scheme, &s, &err), &err);
    if (assay_model_is_onnx(path))
        bench_check(assay_group_qdq(g, s, assay_has_integer_kernel, NULL, &err), &err);
    assay_scheme_free(s);
    return g;
}

static double least_load_ns(const char *path, const char *scheme)
{
    double least = 0;
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        const double begin = bench_now();
        assay_graph_free(load(path, scheme));
        const double ns = bench_now() - begin;
        least = i == 0 || ns < least ? ns : least;
    }
    return least;
}

/* ---- golden bundles ---- */

typedef struct golden {
    bench_ours *ours;
    bool digests_only;
    char dir[64];
} golden;

/* A bundle of so many samples, without what every bundle costs once. */
static double time_golden(void *user, int calls)
{
    golden *g = user;
    const assay_bundle_options o = {.dir = g->dir,
                                    .replace = true,
                                    .digests_only = g->digests_only,
                                    .samples = calls,
                                    .model_file = "bench"};
    assay_bundle_writer *w;
    assay_error err;
    bench_check(assay_bundle_begin(&o, g->ours->program, &w, &err), &err);
    const double begin = bench_now();
    for (int i = 0; i < calls; i++)
        bench_check(assay_bundle_sample(w, g->ours->run, i, NULL, &err), &err);
    const double ns = bench_now() - begin;
    assay_bundle_abort(w);
    return ns;
}

static void measure_golden(const assay_graph *g, const char *scheme, bench_result *b)
{
    const assay_program_options how = {.engine = ASSAY_ENGINE_FAST, .keep_all = true};
    bench_ours ours;
    golden digests = {&ours, true, "/tmp/assay-bench-digests"};
    golden dump = {&ours, false, "/tmp/assay-bench-dump"};
    bench_entrant e[3] = {{.time = bench_ours_time, .user = &ours},
                          {.time = time_golden, .user = &digests},
                          {.time = time_golden, .user = &dump}};
    bench_ours_open(&ours, g, scheme, &how);
    bench_contest(e, 3);
    b->digests = 1 / bench_entrant_ratio(&e[1], &e[0]);
    b->dump = 1 / bench_entrant_ratio(&e[2], &e[0]);
    bench_ours_close(&ours);
}

/* ---- a file ---- */

static void bench_threads(bench_report *r, bench_ort *ort, const char *path, const char *scheme,
                          const assay_graph *g, int threads)
{
    const assay_program_options how = {
        .engine = ASSAY_ENGINE_FAST, .threads = threads, .outputs_only = true};
    const char *slash = strrchr(path, '/');
    bench_ours ours;
    bench_session peer = {ort, 0};
    bench_entrant e[2] = {{.time = bench_ours_time, .user = &ours},
                          {.time = bench_session_time, .user = &peer}};
    const bool paired =
        ort && assay_model_is_onnx(path) && bench_ort_open(ort, 0, path, threads) >= 0;
    const int64_t *dim = g->value[g->input[0]].type.dim;
    bench_result b = {.name = slash ? slash + 1 : path,
                      .form = scheme,
                      .engine = "assay",
                      .images = dim[0] > 0 ? dim[0] : 1,
                      .macs = bench_macs(g),
                      .threads = threads};
    bench_ours_open(&ours, g, scheme, &how);
    bench_contest(e, paired ? 2 : 1);
    b.ns = bench_entrant_times(&e[0]);
    b.prepare_ns = ours.prepare_ns;
    b.peak_bytes = ours.peak_bytes;
    if (paired)
        b.ratio = bench_entrant_ratio(&e[0], &e[1]);
    if (threads == 1) {
        b.load_ns = least_load_ns(path, scheme);
        b.ref = bench_reference_ns(g, scheme) / b.ns.median;
        measure_golden(g, scheme, &b);
    }
    bench_report_add(r, &b);
    bench_ours_close(&ours);
    if (paired)
        bench_ort_close(ort, 0);
}

void bench_file(bench_report *r, bench_ort *ort, const char *path, const char *scheme)
{
    assay_graph *g = load(path, scheme);
    for (int threads = 1; threads <= 2; threads++)
        bench_threads(r, ort, path, scheme, g, threads);
    assay_graph_free(g);
}
