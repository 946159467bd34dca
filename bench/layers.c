/* Layers with random weights, appended to a graph under construction. */
#include "bench/layers.h"

#include <math.h>
#include <stdio.h>

static const float activation_scale[1] = {0.02f};

static int32_t next(bench_builder *b, int32_t lo, int32_t hi)
{
    b->seed = b->seed * 6364136223846793005u + 1442695040888963407u;
    return lo + (int32_t)((b->seed >> 33) % (uint64_t)(hi - lo + 1));
}

static bool ok(bench_builder *b, assay_status status)
{
    if (b->status == ASSAY_OK)
        b->status = status;
    return b->status == ASSAY_OK;
}

/* Codes of one scale; the zero point is the middle, or the least code after a relu. */
static assay_type activation(const bench_builder *b, bool relu)
{
    static const int32_t zeros[4] = {128, 0, 0, -128}; /* [signed][relu] */
    if (b->form->is_float)
        return (assay_type){.elem = assay_f32()};
    return (assay_type){
        .elem = assay_int(8, b->form->is_signed),
        .q = {ASSAY_Q_TENSOR, 0, 0, 1, activation_scale, &zeros[2 * b->form->is_signed + relu]}};
}

static int start(bench_builder *b, const char *name, const assay_type *t)
{
    int id = 0;
    if (ok(b, assay_graph_new(name, &b->graph, b->err)) &&
        ok(b, assay_graph_add_value(b->graph, "input", t, &id, b->err)))
        ok(b, assay_graph_set_inputs(b->graph, &id, 1, b->err));
    return id;
}

int bench_start(bench_builder *b, const char *name, int64_t c, int64_t h, int64_t w)
{
    assay_type t = activation(b, false);
    bool nhwc = b->form->layout == ASSAY_LAYOUT_NHWC;
    t.rank = 4;
    t.dim[0] = b->form->batch;
    t.dim[nhwc ? 3 : 1] = c;
    t.dim[nhwc ? 1 : 2] = h;
    t.dim[nhwc ? 2 : 3] = w;
    return start(b, name, &t);
}

int bench_start_rows(bench_builder *b, const char *name, int64_t rows, int64_t depth)
{
    assay_type t = activation(b, false);
    t.rank = 2;
    t.dim[0] = rows;
    t.dim[1] = depth;
    return start(b, name, &t);
}

void bench_finish(bench_builder *b, int y, assay_graph **out)
{
    if (b->status == ASSAY_OK)
        ok(b, assay_graph_set_outputs(b->graph, &y, 1, b->err));
    *out = b->graph;
    if (b->status != ASSAY_OK) {
        assay_graph_free(b->graph);
        *out = NULL;
    }
}

static int add(bench_builder *b, assay_op op, const int *in, int n_in, const assay_attrs *a,
               bool relu)
{
    char name[32];
    const char *names = name;
    int y = 0;
    assay_type t = activation(b, relu);
    snprintf(name, sizeof name, "%s%d", assay_op_get(op)->name, b->nodes++);
    if (b->status != ASSAY_OK ||
        !ok(b, assay_graph_add_inferred(b->graph, op, name, in, n_in, &names, 1, a, &y, b->err)))
        return 0;
    if (!b->form->is_float) {
        b->graph->value[y].type.elem = t.elem;
        ok(b, assay_graph_set_qparams(b->graph, y, &t.q, b->err));
    }
    if (relu) {
        b->graph->node[b->graph->n_nodes - 1].act_lo = 0;
        b->graph->node[b->graph->n_nodes - 1].act_hi = INFINITY;
    }
    return y;
}

/* A constant of floats in [-most, most]. */
static int add_floats(bench_builder *b, char letter, const assay_type *shape, double max)
{
    char name[32];
    int id = 0;
    assay_type t = *shape;
    t.elem = assay_f32();
    snprintf(name, sizeof name, "%c%d", letter, b->nodes);
    if (b->status != ASSAY_OK ||
        !ok(b, assay_graph_add_constant(b->graph, name, &t, NULL, &id, b->err)))
        return 0;
    float *x = (float *)(uintptr_t)b->graph->value[id].data;
    for (int64_t i = 0; i < assay_shape_count(&t); i++)
        x[i] = (float)(max * next(b, -1000, 1000) / 1000);
    return id;
}

/* Weights [o, ...] of `depth` a filter, and a bias, as inputs 1 and 2. */
static void add_weights(bench_builder *b, const assay_type *shape, int64_t depth, int in[3])
{
    enum { MAX = 2048 };
    char name[32];
    float scale[MAX];
    int32_t zero[MAX];
    const int64_t o = shape->dim[0];
    assay_type w = *shape;
    if (b->form->is_float) {
        const assay_type sums = {.rank = 1, .dim = {o}};
        in[1] = add_floats(b, 'w', shape, sqrt(3 / (double)depth)); /* keeps the spread */
        in[2] = add_floats(b, 'b', &sums, 0.5);
        return;
    }
    for (int64_t i = 0; i < o; i++) { /* sums of `depth` products of spread 40 * 70, to spread 40 */
        scale[i] = (float)(1.0 / 70 / sqrt((double)depth) * (0.7 + 0.01 * next(b, 0, 60)));
        zero[i] = 0;
    }
    w.elem = assay_int(8, true);
    w.q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, (size_t)o, scale, zero};
    snprintf(name, sizeof name, "w%d", b->nodes);
    if (b->status != ASSAY_OK ||
        !ok(b, assay_graph_add_constant(b->graph, name, &w, NULL, &in[1], b->err)))
        return;
    int8_t *codes = (int8_t *)(uintptr_t)b->graph->value[in[1]].data;
    for (int64_t i = 0; i < o * depth; i++)
        codes[i] = (int8_t)next(b, -127, 127);
    const assay_type bias = {.elem = assay_int(32, true), .rank = 1, .dim = {o}};
    snprintf(name, sizeof name, "b%d", b->nodes);
    if (!ok(b, assay_graph_add_constant(b->graph, name, &bias, NULL, &in[2], b->err)))
        return;
    int32_t *sums = (int32_t *)(uintptr_t)b->graph->value[in[2]].data;
    for (int64_t i = 0; i < o; i++)
        sums[i] = next(b, -4000, 4000);
}

int bench_conv(bench_builder *b, int x, int64_t o, int64_t kernel_h, int64_t kernel_w,
               int64_t stride, bool depthwise, bool relu)
{
    int in[3] = {x};
    assay_attrs a;
    bool nhwc = b->form->layout == ASSAY_LAYOUT_NHWC;
    if (b->status != ASSAY_OK)
        return 0;
    const int64_t c = b->graph->value[x].type.dim[nhwc ? 3 : 1], per = depthwise ? 1 : c;
    assay_type w = {.rank = 4, .dim = {o}};
    w.dim[nhwc ? 3 : 1] = per;
    w.dim[nhwc ? 1 : 2] = kernel_h;
    w.dim[nhwc ? 2 : 3] = kernel_w;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = b->form->layout;
    a.conv.group = depthwise ? c : 1;
    a.conv.stride = (assay_list){2, {stride, stride}};
    a.conv.pad_begin = (assay_list){2, {(kernel_h - 1) / 2, (kernel_w - 1) / 2}};
    a.conv.pad_end = (assay_list){2, {kernel_h / 2, kernel_w / 2}};
    add_weights(b, &w, per * kernel_h * kernel_w, in);
    return add(b, ASSAY_OP_CONV, in, 3, &a, relu);
}

int bench_max_pool(bench_builder *b, int x, int64_t kernel, int64_t stride)
{
    const int64_t pad = (kernel - 1) / 2;
    assay_attrs a;
    assay_attrs_defaults(ASSAY_ATTRS_pool, &a);
    a.pool.layout = b->form->layout;
    a.pool.kernel = (assay_list){2, {kernel, kernel}};
    a.pool.stride = (assay_list){2, {stride, stride}};
    a.pool.pad_begin = (assay_list){2, {pad, pad}};
    a.pool.pad_end = (assay_list){2, {pad, pad}};
    return add(b, ASSAY_OP_MAX_POOL, &x, 1, &a, true);
}

int bench_sum(bench_builder *b, int x, int y, bool relu)
{
    const int both[2] = {x, y};
    return add(b, ASSAY_OP_ADD, both, 2, NULL, relu);
}

int bench_fc(bench_builder *b, int x, int64_t outputs, bool relu)
{
    int in[3] = {x};
    if (b->status != ASSAY_OK)
        return 0;
    const int64_t depth = b->graph->value[x].type.dim[1];
    const assay_type w = {.rank = 2, .dim = {outputs, depth}};
    add_weights(b, &w, depth, in);
    return add(b, ASSAY_OP_FC, in, 3, NULL, relu);
}

int bench_classify(bench_builder *b, int x, int64_t outputs)
{
    assay_attrs a;
    if (b->status != ASSAY_OK)
        return 0;
    assay_attrs_defaults(ASSAY_ATTRS_layout, &a);
    a.layout.layout = b->form->layout;
    x = add(b, ASSAY_OP_GLOBAL_AVG_POOL, &x, 1, &a, true);
    if (b->status != ASSAY_OK)
        return 0;
    const int64_t depth = assay_shape_count(&b->graph->value[x].type) / b->form->batch;
    assay_attrs_defaults(ASSAY_ATTRS_shape, &a);
    a.shape.shape = (assay_list){2, {b->form->batch, depth}};
    x = add(b, ASSAY_OP_RESHAPE, &x, 1, &a, true);
    if (b->status != ASSAY_OK)
        return 0;
    b->graph->node[b->graph->n_nodes - 1].act_lo = -INFINITY; /* it only has a relu's codes */
    return bench_fc(b, x, outputs, false);
}
