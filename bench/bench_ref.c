/* ns per multiply-accumulate of the reference kernels on layers of common networks, int8, under the
 * scheme named on the command line (default tflite): the median of 9 runs, one thread.
 * TensorFlow Lite's reference kernels take about 1 to 1.7 ns on such layers on the same machine
 * (issue 4: 12.6 ms for the 12.5 million of ResNet-8, 4.5 ms for the 2.7 million of the DS-CNN). */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "interp/run/program.h"

enum { RUNS = 9 };

typedef struct layer {
    const char *name;
    int layout;
    int64_t channels, filters, group, side, kernel, stride;
} layer;

static const layer layers[] = {
    {"conv 3x3 64->64 16x16 nhwc", ASSAY_LAYOUT_NHWC, 64, 64, 1, 16, 3, 1},
    {"conv 3x3 64->64 16x16 nchw", ASSAY_LAYOUT_NCHW, 64, 64, 1, 16, 3, 1},
    {"conv 3x3 16->16 32x32 nhwc", ASSAY_LAYOUT_NHWC, 16, 16, 1, 32, 3, 1},
    {"conv 1x1 64->64 25x5 nhwc", ASSAY_LAYOUT_NHWC, 64, 64, 1, 11, 1, 1},
    {"conv 1x1 8->16 48x48 nhwc", ASSAY_LAYOUT_NHWC, 8, 16, 1, 48, 1, 1},
    {"conv 3x3 3->16 96x96 /2 nhwc", ASSAY_LAYOUT_NHWC, 3, 16, 1, 96, 3, 2},
    {"depthwise 3x3 64 24x24 nhwc", ASSAY_LAYOUT_NHWC, 64, 64, 64, 24, 3, 1},
    {"depthwise 3x3 64 24x24 nchw", ASSAY_LAYOUT_NCHW, 64, 64, 64, 24, 3, 1},
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void check(assay_status status, const assay_error *err)
{
    if (status) {
        fprintf(stderr, "bench_ref: %s\n", err->text);
        exit(2);
    }
}

static assay_type codes(int layout, int64_t n, int64_t c, int64_t h, int64_t w)
{
    static const float scale[1] = {0.05f};
    static const int32_t zero[1] = {0};
    bool nhwc = layout == ASSAY_LAYOUT_NHWC;
    return (assay_type){.elem = {ASSAY_KIND_INT, 8, true},
                        .rank = 4,
                        .dim = {n, nhwc ? h : c, nhwc ? w : h, nhwc ? c : w},
                        .q = {ASSAY_Q_TENSOR, 0, 0, 1, scale, zero}};
}

static void bench(const layer *l, const assay_scheme *scheme)
{
    assay_error err;
    assay_graph *g;
    assay_program *p;
    assay_run *r;
    assay_attrs a;
    int in[2], y;
    const char *name = "y";
    double ms[RUNS];
    assay_type x = codes(l->layout, 1, l->channels, l->side, l->side);
    assay_type w = codes(l->layout, l->filters, l->channels / l->group, l->kernel, l->kernel);

    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = l->layout;
    a.conv.group = l->group;
    a.conv.stride = (assay_list){2, {l->stride, l->stride}};
    a.conv.pad_begin = a.conv.pad_end = (assay_list){2, {l->kernel / 2, l->kernel / 2}};
    check(assay_graph_new(l->name, &g, &err), &err);
    check(assay_graph_add_value(g, "x", &x, &in[0], &err), &err);
    check(assay_graph_add_constant(g, "w", &w, NULL, &in[1], &err), &err);
    for (int64_t i = 0; i < assay_shape_count(&w); i++)
        ((int8_t *)(uintptr_t)g->value[in[1]].data)[i] = (int8_t)(i * 37);
    check(assay_graph_add_inferred(g, ASSAY_OP_CONV, "conv", in, 2, &name, 1, &a, &y, &err), &err);
    g->value[y].type.elem = x.elem;
    check(assay_graph_set_qparams(g, y, &x.q, &err), &err);
    check(assay_graph_set_inputs(g, in, 1, &err), &err);
    check(assay_graph_set_outputs(g, &y, 1, &err), &err);
    check(assay_program_make(g, scheme, false, &p, &err), &err);
    check(assay_run_new(p, &r, &err), &err);
    for (int64_t i = 0; i < assay_shape_count(&x); i++)
        ((int8_t *)assay_run_data(r, in[0]))[i] = (int8_t)(i * 59);
    for (int i = 0; i < RUNS; i++) {
        double start = now_ms();
        check(run_execute(r, NULL, false, NULL, &err), &err);
        ms[i] = now_ms() - start;
    }
    qsort(ms, RUNS, sizeof ms[0], ascending);
    printf("%-30s %8.3f ms %7.3f ns/MAC\n", l->name, ms[RUNS / 2],
           ms[RUNS / 2] * 1e6 / (double)assay_node_macs(g, &g->node[0]));
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

int main(int argc, char **argv)
{
    assay_error err;
    assay_scheme *scheme;
    check(assay_scheme_open(argc > 1 ? argv[1] : "tflite", &scheme, &err), &err);
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        bench(&layers[i], scheme);
    assay_scheme_free(scheme);
    return 0;
}
