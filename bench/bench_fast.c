/* The fast engine on ResNet-50, MobileNetV2, a DS-CNN and matrix products: ns an image, effective
 * GMAC/s, the fraction of the machine's int8 peak measured in the same run, and the reference
 * engine as a multiple.
 *
 *   bench_fast [--json FILE] [--ref] [--profile] [NAME]
 *
 * --ref also times the reference engine (minutes); --profile prints the time by node; NAME runs
 * only the cases whose name contains it. */
#include <stdio.h>
#include <string.h>

#include "bench/nets.h"
#include "bench/peak.h"
#include "bench/timing.h"
#include "interp/program.h"

enum { RUNS = 11 };

static void check(assay_status status, const assay_error *err)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "bench_fast: %s\n", err->text);
        exit(2);
    }
}

typedef struct options {
    FILE *json;
    bool ref, profile, first;
    const char *name;
    double peak;
} options;

static void execute(void *run)
{
    assay_error err;
    check(assay_run_execute(run, NULL, false, NULL, &err), &err);
}

typedef struct node_times {
    double last, ns[4096];
} node_times;

static assay_status note(void *user, assay_run *r, int node, const int64_t *acc, assay_error *err)
{
    node_times *t = user;
    const double now = bench_now();
    (void)r;
    (void)acc;
    (void)err;
    if (node < 4096)
        t->ns[node] += now - t->last;
    t->last = now;
    return ASSAY_OK;
}

static void profile_nodes(const assay_program *p, assay_run *run)
{
    static node_times t;
    assay_error err;
    memset(&t, 0, sizeof t);
    for (int i = 0; i < RUNS; i++) {
        t.last = bench_now();
        check(assay_run_execute(run, note, false, &t, &err), &err);
    }
    for (int i = 0; i < p->graph->n_nodes && i < 4096; i++) {
        const int64_t macs = assay_node_macs(p->graph, &p->graph->node[i]);
        const double ns = t.ns[i] / RUNS;
        printf("    %-24s %-4s %10.1f us %8.2f GMAC/s\n", p->graph->node[i].name,
               p->fast && p->fast[i] ? "fast" : "ref", ns / 1e3, (double)macs / ns);
    }
}

static double measure(const options *o, const assay_graph *g, const assay_scheme *s,
                      enum assay_engine engine, int threads, int runs, bench_times *t)
{
    const assay_program_options how = {.engine = engine, .threads = threads, .outputs_only = true};
    assay_program *p;
    assay_run *run;
    assay_error err;
    const double begin = bench_now();
    check(assay_program_make_with(g, s, &how, &p, &err), &err);
    const double prepared = bench_now() - begin;
    check(assay_run_new(p, &run, &err), &err);
    uint8_t *x = assay_run_data(run, g->input[0]);
    for (size_t i = 0; i < assay_type_bytes(&g->value[g->input[0]].type); i++)
        x[i] = (uint8_t)(i * 2654435761u >> 13);
    *t = bench_measure(execute, run, runs);
    if (o->profile)
        profile_nodes(p, run);
    assay_run_free(run);
    assay_program_free(p);
    return prepared;
}

static void report(options *o, const char *name, const char *scheme, const assay_graph *g,
                   int64_t images, int threads)
{
    assay_scheme *s;
    assay_error err;
    bench_times t, ref;
    int64_t macs = 0;
    check(assay_scheme_open(scheme, &s, &err), &err);
    for (int i = 0; i < g->n_nodes; i++)
        macs += assay_node_macs(g, &g->node[i]);
    const double prepared = measure(o, g, s, ASSAY_ENGINE_FAST, threads, RUNS, &t);
    const double n = (double)images, rate = (double)macs / t.median;
    printf("%-28s %-12s batch %lld, %d thread%s %12.0f ns/image [%.0f, %.0f] %8.2f GMAC/s "
           "%5.1f %% of peak, prepared in %.1f ms",
           name, scheme, (long long)images, threads, threads > 1 ? "s" : " ", t.median / n,
           t.least / n, t.greatest / n, rate,
           o->peak > 0 ? 100 * rate * 1e9 / (o->peak * threads) : 0.0, prepared / 1e6);
    if (o->ref) {
        measure(o, g, s, ASSAY_ENGINE_REF, 1, 1, &ref);
        printf(", ref %.0f x", ref.median / t.median);
    }
    printf("\n");
    if (o->json)
        fprintf(o->json,
                "%s\n  {\"name\": \"%s\", \"scheme\": \"%s\", \"batch\": %lld, \"threads\": %d, "
                "\"ns_per_image\": %.0f, \"least\": %.0f, \"greatest\": %.0f, "
                "\"gmac_per_s\": %.3f, \"prepare_ns\": %.0f}",
                o->first ? "" : ",", name, scheme, (long long)images, threads, t.median / n,
                t.least / n, t.greatest / n, rate, prepared);
    o->first = false;
    assay_scheme_free(s);
}

typedef assay_status (*maker)(const bench_form *f, assay_graph **out, assay_error *err);

static void bench_net(options *o, const char *name, maker make)
{
    static const struct {
        const char *habit, *scheme;
        int layout;
        bool is_signed;
    } habits[] = {{"nchw u8", "onnxruntime", ASSAY_LAYOUT_NCHW, false},
                  {"nhwc s8", "tflite", ASSAY_LAYOUT_NHWC, true}};
    for (int h = 0; h < 2; h++)
        for (int64_t batch = 1; batch <= 8; batch += 7) {
            const bench_form f = {habits[h].layout, habits[h].is_signed, batch};
            char title[64];
            assay_graph *g;
            assay_error err;
            snprintf(title, sizeof title, "%s %s", name, habits[h].habit);
            if (o->name && !strstr(title, o->name))
                continue;
            check(make(&f, &g, &err), &err);
            for (int threads = 1; threads <= 2; threads++)
                report(o, title, habits[h].scheme, g, batch, threads);
            assay_graph_free(g);
        }
}

static void bench_matrices(options *o)
{
    static const int64_t depths[] = {256, 1024, 4096};
    for (int i = 0; i < 3; i++) {
        const bench_form f = {ASSAY_LAYOUT_NHWC, false, 1};
        char title[64];
        assay_graph *g;
        assay_error err;
        snprintf(title, sizeof title, "matrix 448x%lldx512 u8", (long long)depths[i]);
        if (o->name && !strstr(title, o->name))
            continue;
        check(bench_matrix(&f, 448, depths[i], 512, &g, &err), &err);
        for (int threads = 1; threads <= 2; threads++)
            report(o, title, "onnxruntime", g, 1, threads);
        assay_graph_free(g);
    }
}

int main(int argc, char **argv)
{
    options o = {.first = true};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--ref") == 0)
            o.ref = true;
        else if (strcmp(argv[i], "--profile") == 0)
            o.profile = true;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc)
            o.json = fopen(argv[++i], "w");
        else
            o.name = argv[i];
    }
    o.peak = bench_peak_vnni();
    printf("int8 peak by dot products: %.1f GMAC/s a thread\n", o.peak / 1e9);
    if (o.json)
        fprintf(o.json, "{\"peak_gmac_per_s\": %.3f, \"results\": [", o.peak / 1e9);
    bench_matrices(&o);
    bench_net(&o, "ds_cnn", bench_ds_cnn);
    bench_net(&o, "mobilenet2", bench_mobilenet2);
    bench_net(&o, "resnet50", bench_resnet50);
    if (o.json) {
        fprintf(o.json, "\n]}\n");
        fclose(o.json);
    }
    return 0;
}
