/* Importing a TFLite model of 4 MB and an ONNX model of 100 MB: time, and memory beside the mapped
 * file.
 *
 *   bench_import [MODEL ...]      without arguments: chains of int8 convolutions, written first */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/timing.h"
#include "graph/onnx/export.h"
#include "graph/tflite/export.h"
#include "interp/run/model.h"
#include "interp/run/program.h"

static void check(assay_status status, const assay_error *err)
{
    if (status == ASSAY_OK)
        return;
    fprintf(stderr, "bench_import: %s\n", err->text);
    exit(2);
}

/* Convolutions of 3x3, as many channels in as out. */
static assay_graph *chain(int layers, int channels)
{
    static const float scale = 0.01F;
    static const int32_t zero = 0;
    assay_qparams q = {
        .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = &scale, .zero_point = &zero};
    assay_type x = {.elem = assay_int(8, true), .rank = 4, .dim = {1, 16, 16, channels}, .q = q};
    assay_type w = {.elem = x.elem, .rank = 4, .dim = {channels, 3, 3, channels}, .q = q};
    assay_attrs a;
    assay_graph *g;
    assay_error err;
    int in[2];

    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    a.conv.pad_begin = a.conv.pad_end = (assay_list){.n = 2, .v = {1, 1}};
    check(assay_graph_new("chain", &g, &err), &err);
    check(assay_graph_add_value(g, "x", &x, &in[0], &err), &err);
    check(assay_graph_set_inputs(g, in, 1, &err), &err);
    for (int i = 0; i < layers; i++) {
        char name[32];
        int y;
        snprintf(name, sizeof name, "w%d", i);
        check(assay_graph_add_constant(g, name, &w, NULL, &in[1], &err), &err);
        snprintf(name, sizeof name, "y%d", i);
        check(assay_graph_add_value(g, name, &x, &y, &err), &err);
        check(assay_graph_add_node(g, ASSAY_OP_CONV, NULL, in, 2, &y, 1, &a, NULL, &err), &err);
        in[0] = y;
    }
    check(assay_graph_set_outputs(g, in, 1, &err), &err);
    return g;
}

static bool is_onnx(const char *path)
{
    return strlen(path) > 5 && strcmp(path + strlen(path) - 5, ".onnx") == 0;
}

static void write_chain(const char *path, int layers, int channels)
{
    assay_graph *g = chain(layers, channels);
    unsigned char *bytes;
    size_t length;
    assay_error err;
    FILE *f = fopen(path, "wb");

    check((is_onnx(path) ? onnx_export_graph : tfl_export_graph)(g, &bytes, &length, &err), &err);
    if (!f || fwrite(bytes, 1, length, f) != length || fclose(f) != 0) {
        perror(path);
        exit(2);
    }
    free(bytes);
    assay_graph_free(g);
}

/* Memory of this process that no file backs, in bytes (/proc/self/status, RssAnon). */
static double anonymous(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    double kib = 0;

    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "RssAnon: %lf kB", &kib) == 1)
            break;
    if (f)
        fclose(f);
    return kib * 1024;
}

static void import_once(void *user)
{
    assay_graph *g;
    assay_error err;
    check(run_model_load(user, NULL, &g, &err), &err);
    assay_graph_free(g);
}

static void bench(char *path)
{
    struct stat st;
    bench_times t;
    assay_graph *g;
    assay_program *p;
    assay_run *run;
    assay_scheme *scheme;
    assay_error err;
    double before, imported, prepared, ready;

    check(assay_scheme_open("tflite", &scheme, &err), &err);
    before = anonymous();
    check(run_model_load(path, NULL, &g, &err), &err);
    imported = anonymous();
    check(assay_program_make(g, scheme, false, &p, &err), &err);
    prepared = anonymous();
    check(assay_run_new(p, &run, &err), &err);
    memset(assay_run_data(run, g->input[0]), 0, assay_type_bytes(&g->value[g->input[0]].type));
    check(run_execute(run, NULL, false, NULL, &err), &err);
    ready = anonymous();
    assay_run_free(run);
    assay_program_free(p);
    assay_graph_free(g);
    assay_scheme_free(scheme);
    t = bench_measure(import_once, path, 21);
    if (stat(path, &st) != 0)
        exit(2);
    printf("%-32.32s %7.2f MB  import %6.2f ms (%.2f .. %.2f)  memory beside the file: import %.0f "
           "KB, "
           "prepare %.0f KB, run %.0f KB\n",
           strrchr(path, '/') ? strrchr(path, '/') + 1 : path, (double)st.st_size / 1e6,
           t.median / 1e6, t.least / 1e6, t.greatest / 1e6, (imported - before) / 1e3,
           (prepared - imported) / 1e3, (ready - prepared) / 1e3);
}

static void bench_chain(const char *end, int layers, int channels)
{
    char path[64];
    int file;

    snprintf(path, sizeof path, "/tmp/assay-bench-import-XXXXXX%s", end);
    file = mkstemps(path, (int)strlen(end));
    if (file < 0) {
        perror(path);
        exit(2);
    }
    close(file);
    write_chain(path, layers, channels);
    bench(path);
    unlink(path);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        bench(argv[i]);
    if (argc > 1)
        return 0;
    bench_chain(".tflite", 16, 168);
    bench_chain(".onnx", 16, 840);
    return 0;
}
