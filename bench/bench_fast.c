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

/* What one network is timed in: its forms, each ours or the peer's. */
typedef struct contest {
    const char *name;
    int64_t batch;
    int threads, n;
    enum form form[FORMS];
    assay_graph *g[FORMS];
    bench_ours ours[FORMS];
    bench_session peer[FORMS];
    bench_entrant entrant[FORMS];
} contest;

static bool is_single(const contest *c)
{
    return c->batch == 1 && c->threads == 1;
}

static void enter_ours(const options *o, contest *c, enum form form)
{
    const assay_program_options how = {
        .engine = ASSAY_ENGINE_FAST, .threads = c->threads, .outputs_only = true};
    bench_ours *ours = &c->ours[c->n];
    bench_ours_open(ours, c->g[c->n], forms[form].scheme, &how);
    if (o->cpu)
        ours->clock = CLOCK_PROCESS_CPUTIME_ID;
    soak(ours, o->soak);
    c->entrant[c->n] = (bench_entrant){.time = bench_ours_time, .user = ours};
}

/* False: the peer does not take the network. */
static bool enter_peer(const options *o, contest *c, enum form form)
{
    bench_session *peer = &c->peer[c->n];
    *peer = (bench_session){o->ort, form};
    if (!bench_session_export(peer, c->g[c->n], c->threads)) {
        assay_graph_free(c->g[c->n]);
        return false;
    }
    c->entrant[c->n] = (bench_entrant){.time = bench_session_time, .user = peer};
    return true;
}

static void enter(const options *o, contest *c, maker make, enum form form)
{
    const bench_form f = {forms[form].layout, forms[form].is_signed, c->batch};
    assay_error err;
    /* ONNX Runtime on signed codes takes twenty times as long: once is enough. */
    if (form <= ORT_S8 && (!o->ort || (form == ORT_S8 && !is_single(c))))
        return;
    bench_check(make(&f, &c->g[c->n], &err), &err);
    c->form[c->n] = form;
    if (form > ORT_S8)
        enter_ours(o, c, form);
    else if (!enter_peer(o, c, form))
        return;
    c->n++;
}

static void report_one(options *o, const contest *c, int i)
{
    const bool is_ours = c->form[i] > ORT_S8;
    bench_result b = {.name = c->name,
                      .form = forms[c->form[i]].label,
                      .engine = is_ours ? "assay" : "onnxruntime",
                      .images = c->batch,
                      .macs = bench_macs(c->g[i]),
                      .threads = c->threads,
                      .ns = bench_entrant_times(&c->entrant[i])};
    if (c->form[0] == ORT_U8)
        b.ratio = bench_entrant_ratio(&c->entrant[i], &c->entrant[0]);
    if (is_ours) {
        b.prepare_ns = c->ours[i].prepare_ns;
        b.peak_bytes = c->ours[i].peak_bytes;
        if (is_single(c) && !o->quick)
            b.ref = bench_reference_ns(c->g[i], forms[c->form[i]].scheme) / b.ns.median;
    }
    bench_report_add(&o->report, &b);
}

static void leave(const options *o, contest *c, int i)
{
    if (c->form[i] <= ORT_S8) {
        bench_ort_close(o->ort, c->peer[i].id);
    } else {
        if (o->profile)
            bench_ours_profile(&c->ours[i]);
        bench_ours_close(&c->ours[i]);
    }
    assay_graph_free(c->g[i]);
}

static void bench_net(options *o, const char *name, maker make, int64_t batch, int threads)
{
    contest c = {.name = name, .batch = batch, .threads = threads};
    char title[64];
    snprintf(title, sizeof title, "%s batch %d threads %d", name, (int)batch, threads);
    if (o->name && !strstr(title, o->name))
        return;
    for (int i = 0; i < FORMS; i++)
        enter(o, &c, make, (enum form)i);
    bench_contest(c.entrant, c.n);
    for (int i = 0; i < c.n; i++) {
        report_one(o, &c, i);
        leave(o, &c, i);
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
