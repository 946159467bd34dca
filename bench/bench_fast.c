/* The fast engine beside ONNX Runtime, in turns: ns an image, effective GMAC/s, the fraction of the
 * machine's int8 peak measured in the same run, how many times as fast as ONNX Runtime on the same
 * network as U8S8, and as our reference engine.
 *
 *   bench_fast [--json FILE] [--ort SCRIPT] [--cpu] [--profile] [--soak SECONDS] [--quick]
 *              [--file MODEL SCHEME ...] [--process NAME COMMAND ...] [--all | NAME]
 *
 * --ort runs the peer (bench/ort.js); --profile prints the time by node; --soak runs each of our
 * programs so long before it is timed, for a sampling profiler; --quick leaves the reference engine
 * out; --cpu takes CPU time, which a busy machine lengthens less, and means
 * something for one thread only; NAME runs only the cases whose title
 * ("resnet50 batch 1 threads 2") contains it. With --file only models from files are run, and with
 * --process only commands (from start to finish), unless there is --all or a NAME. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/file.h"
#include "bench/nets.h"
#include "bench/ort.h"
#include "bench/ours.h"
#include "bench/process.h"
#include "bench/report.h"
#include "bench/session.h"
#include "interp/run/model.h"

typedef struct options {
    bench_report report;
    bench_ort *ort; /* NULL: without the peer */
    bool profile, quick, cpu, files;
    double soak; /* seconds */
    const char *name;
} options;

typedef assay_status (*maker)(const bench_form *f, assay_graph **out, assay_error *err);

/* ---- a network ---- */

enum form { ORT_U8, ORT_S8, U8_NCHW, S8_NCHW, S8_NHWC, FORMS };

static const struct {
    const char *label, *scheme;
    int layout;
    bool is_signed;
} forms[FORMS] = {{"u8s8", NULL, ASSAY_LAYOUT_NCHW, false},
                  {"s8s8", NULL, ASSAY_LAYOUT_NCHW, true},
                  {"u8 nchw", "onnxruntime", ASSAY_LAYOUT_NCHW, false},
                  {"s8 nchw", "onnxruntime", ASSAY_LAYOUT_NCHW, true},
                  {"s8 nhwc", "tflite", ASSAY_LAYOUT_NHWC, true}};

static void soak(bench_ours *ours, double seconds)
{
    const double end = bench_now() + seconds * 1e9;
    while (bench_now() < end)
        bench_ours_time(ours, 1);
}

static void bench_net(options *o, const char *name, maker make, int64_t batch, int threads)
{
    const assay_program_options how = {
        .engine = ASSAY_ENGINE_FAST, .threads = threads, .outputs_only = true};
    const bool single = batch == 1 && threads == 1;
    bench_entrant entrant[FORMS];
    bench_ours ours[FORMS];
    bench_session peer[FORMS];
    assay_graph *g[FORMS];
    enum form form[FORMS];
    char title[64];
    int n = 0;
    snprintf(title, sizeof title, "%s batch %d threads %d", name, (int)batch, threads);
    if (o->name && !strstr(title, o->name))
        return;
    for (int i = 0; i < FORMS; i++) {
        const bench_form f = {forms[i].layout, forms[i].is_signed, batch};
        assay_error err;
        /* ONNX Runtime on signed codes takes twenty times as long: once is enough. */
        if (i <= ORT_S8 && (!o->ort || (i == ORT_S8 && !single)))
            continue;
        bench_check(make(&f, &g[n], &err), &err);
        form[n] = (enum form)i;
        if (i <= ORT_S8) {
            peer[n] = (bench_session){o->ort, i};
            if (!bench_session_export(&peer[n], g[n], threads)) {
                assay_graph_free(g[n]);
                continue;
            }
            entrant[n] = (bench_entrant){.time = bench_session_time, .user = &peer[n]};
        } else {
            bench_ours_open(&ours[n], g[n], forms[i].scheme, &how);
            if (o->cpu)
                ours[n].clock = CLOCK_PROCESS_CPUTIME_ID;
            soak(&ours[n], o->soak);
            entrant[n] = (bench_entrant){.time = bench_ours_time, .user = &ours[n]};
        }
        n++;
    }
    bench_contest(entrant, n);
    for (int i = 0; i < n; i++) {
        const bool is_ours = form[i] > ORT_S8;
        bench_result b = {.name = name,
                          .form = forms[form[i]].label,
                          .engine = is_ours ? "assay" : "onnxruntime",
                          .images = batch,
                          .macs = bench_macs(g[i]),
                          .threads = threads,
                          .ns = bench_entrant_times(&entrant[i])};
        if (form[0] == ORT_U8)
            b.ratio = bench_entrant_ratio(&entrant[i], &entrant[0]);
        if (is_ours) {
            b.prepare_ns = ours[i].prepare_ns;
            b.peak_bytes = ours[i].peak_bytes;
            if (single && !o->quick)
                b.ref = bench_reference_ns(g[i], forms[form[i]].scheme) / b.ns.median;
        }
        bench_report_add(&o->report, &b);
        if (o->profile && is_ours)
            bench_ours_profile(&ours[i]);
        if (is_ours)
            bench_ours_close(&ours[i]);
        else
            bench_ort_close(o->ort, peer[i].id);
        assay_graph_free(g[i]);
    }
}

static void bench_nets(options *o)
{
    static const struct {
        const char *name;
        maker make;
    } nets[] = {{"ds_cnn", bench_ds_cnn},
                {"resnet8", bench_resnet8},
                {"vww", bench_vww},
                {"autoencoder", bench_autoencoder},
                {"mobilenet2", bench_mobilenet2},
                {"resnet50", bench_resnet50}};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (int64_t batch = 1; batch <= 8; batch += 7)
            for (int threads = 1; threads <= 2; threads++)
                bench_net(o, nets[i].name, nets[i].make, batch, threads);
}

/* ResNet-50 as a user has it: a QDQ file. */
static void bench_resnet50_file(options *o)
{
    const bench_form f = {ASSAY_LAYOUT_NCHW, false, 1};
    char folder[] = "/tmp/assay-bench-XXXXXX", path[64];
    assay_graph *g;
    assay_error err;
    if (o->name && !strstr("resnet50 file", o->name))
        return;
    if (!mkdtemp(folder)) {
        fprintf(stderr, "bench: cannot create a folder in /tmp\n");
        exit(2);
    }
    snprintf(path, sizeof path, "%s/resnet50.onnx", folder);
    bench_check(bench_resnet50(&f, &g, &err), &err);
    bench_check(run_model_save(g, path, &err), &err);
    assay_graph_free(g);
    bench_file(&o->report, o->ort, path, "onnxruntime");
    unlink(path);
    rmdir(folder);
}

/* Products of ever more multiply-accumulates: their cost is linear. */
static void bench_matrices(options *o)
{
    static const int64_t depths[] = {256, 512, 1024, 2048, 4096};
    for (size_t i = 0; i < 2 * sizeof depths / sizeof *depths; i++) {
        const bench_form f = {ASSAY_LAYOUT_NHWC, false, 1};
        const assay_program_options how = {
            .engine = ASSAY_ENGINE_FAST, .threads = 1 + (int)i % 2, .outputs_only = true};
        char title[32];
        assay_graph *g;
        assay_error err;
        bench_ours ours;
        bench_entrant e = {.time = bench_ours_time, .user = &ours};
        snprintf(title, sizeof title, "448x%lldx512", (long long)depths[i / 2]);
        if (o->name && !strstr(title, o->name))
            continue;
        bench_check(bench_matrix(&f, 448, depths[i / 2], 512, &g, &err), &err);
        bench_ours_open(&ours, g, "onnxruntime", &how);
        bench_contest(&e, 1);
        bench_report_add(&o->report, &(bench_result){.name = title,
                                                     .form = "u8 product",
                                                     .engine = "assay",
                                                     .images = 1,
                                                     .macs = bench_macs(g),
                                                     .threads = how.threads,
                                                     .ns = bench_entrant_times(&e),
                                                     .prepare_ns = ours.prepare_ns,
                                                     .peak_bytes = ours.peak_bytes});
        bench_ours_close(&ours);
        assay_graph_free(g);
    }
}

int main(int argc, char **argv)
{
    options o = {0};
    FILE *json = NULL;
    const char *script = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0)
            o.quick = true;
        else if (strcmp(argv[i], "--soak") == 0 && i + 1 < argc)
            o.soak = atof(argv[++i]);
        else if (strcmp(argv[i], "--cpu") == 0)
            o.cpu = true;
        else if (strcmp(argv[i], "--file") == 0 && i + 2 < argc) {
            o.files = true;
            i += 2;
        } else if (strcmp(argv[i], "--process") == 0 && i + 2 < argc) {
            o.files = true;
            i += 2;
        } else if (strcmp(argv[i], "--all") == 0)
            o.name = "";
        else if (strcmp(argv[i], "--profile") == 0)
            o.profile = true;
        else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
            json = fopen(argv[++i], "w");
            if (!json) {
                fprintf(stderr, "bench: cannot write '%s'\n", argv[i]);
                return 2;
            }
        } else if (strcmp(argv[i], "--ort") == 0 && i + 1 < argc)
            script = argv[++i];
        else
            o.name = argv[i];
    }
    if (script)
        o.ort = bench_ort_start(script, o.cpu);
    o.report = bench_report_begin(json);
    for (int i = 1; i + 2 < argc; i++)
        if (strcmp(argv[i], "--file") == 0)
            bench_file(&o.report, o.ort, argv[i + 1], argv[i + 2]);
        else if (strcmp(argv[i], "--process") == 0)
            bench_process(&o.report, argv[i + 1], argv[i + 2]);
    if (!o.files || o.name) {
        bench_matrices(&o);
        bench_nets(&o);
        bench_resnet50_file(&o);
    }
    bench_report_end(&o.report);
    bench_ort_stop(o.ort);
    return 0;
}
