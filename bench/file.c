/* Models from files, profiled and quantized where they are floats. */
#include "bench/file.h"

#include <stdlib.h>
#include <string.h>

#include "bench/golden.h"
#include "bench/ours.h"
#include "bench/session.h"
#include "interp/run/model.h"
#include "opt/quantize/qdq.h"

static assay_graph *load(const char *path, const char *scheme)
{
    assay_graph *g;
    assay_scheme *s;
    assay_error err;
    bench_check(run_model_load_canonical(path, NULL, &g, &err), &err);
    bench_check(assay_scheme_open(scheme, &s, &err), &err);
    if (run_model_is_onnx(path))
        bench_check(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
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
        ort && run_model_is_onnx(path) && bench_ort_open(ort, 0, path, threads) >= 0;
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
        bench_golden(g, scheme, &b);
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
