/* Whole nodes under the presets tflite and tflite-single against what TensorFlow Lite Micro's own
 * kernels gave (shared/vectors/tflite-ops): weighted ops, pooling, reductions, resizing,
 * conversion. A case is a graph of one node, run as any program is. */
#include "support.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/program.h"
#include "npz.h"

/* ---- one vector file ---- */

typedef struct vectors {
    struct npz *data;
    json_t *about;
    const assay_scheme *scheme;
} vectors;

/* Opens tflite-ops/NAME, or skips the test. */
static vectors open_vectors(const char *name, const char *scheme)
{
    char path[600], relative[200];
    assay_error err;
    assay_scheme *s;
    vectors v;
    snprintf(relative, sizeof relative, "vectors/tflite-ops/%s.npz", name);
    if (!test_shared(relative, path, sizeof path))
        skip();
    v.data = npz_open(path);
    assert_non_null(v.data);
    memcpy(path + strlen(path) - 3, "json", 5);
    v.about = json_load_file(path, 0, NULL);
    assert_non_null(v.about);
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    v.scheme = s;
    return v;
}

static void close_vectors(vectors *v)
{
    npz_close(v->data);
    json_decref(v->about);
    assay_scheme_free((assay_scheme *)(uintptr_t)v->scheme);
}

static double number(const json_t *c, const char *key)
{
    return json_number_value(json_object_get(c, key));
}

static const char *word(const json_t *c, const char *key)
{
    const char *s = json_string_value(json_object_get(c, key));
    return s ? s : "";
}

/* ---- one node ---- */

typedef struct node_case {
    const vectors *from;
    assay_graph *graph;
    int in[3], n_in;
    const int64_t *values[3]; /* of in[], as numbers */
} node_case;

static node_case begin(const vectors *v)
{
    assay_error err;
    node_case c = {.from = v};
    assert_ok(assay_graph_new("case", &c.graph, &err), &err);
    return c;
}

static assay_type type_of(const struct npz_shape *s, const float *scale, const int32_t *zero,
                          size_t count, int axis)
{
    assay_type t = {.elem = assay_int((unsigned)s->size * 8, s->kind == 'i'), .rank = s->ndim};
    for (int i = 0; i < s->ndim; i++)
        t.dim[i] = (int64_t)s->dim[i];
    if (count > 0)
        t.q = (assay_qparams){
            count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, count > 1 ? axis : 0, 0, count, scale, zero};
    return t;
}

/* Adds array `column` as an input; its parameters are per tensor, or along axis 0 when count > 1.
 */
static void add_input(node_case *c, const char *column, const float *scale, const int32_t *zero,
                      size_t count)
{
    static const char *const names[] = {"x", "w", "b"};
    struct npz_shape s;
    size_t n;
    assay_error err;
    c->values[c->n_in] = npz_i64(c->from->data, column, &n, &s);
    assert_non_null(c->values[c->n_in]);
    assay_type t = type_of(&s, scale, zero, count, 0);
    assert_ok(assay_graph_add_value(c->graph, names[c->n_in], &t, &c->in[c->n_in], &err), &err);
    c->n_in++;
}

/* Runs the node and counts elements that differ from array `column`. The fused activation is given
 * in real values. Ends the case. */
static size_t differences(node_case *c, assay_op op, const assay_attrs *attr, const char *column,
                          float scale, int32_t zero, const char *activation)
{
    assay_error err;
    assay_program *p;
    assay_run *r;
    assay_graph *g = c->graph;
    struct npz_shape s;
    size_t n, wrong = 0;
    const char *name = "y";
    int y;
    const int64_t *expected = npz_i64(c->from->data, column, &n, &s);
    assert_non_null(expected);
    assay_type t = type_of(&s, &scale, &zero, 1, 0);
    assert_ok(assay_graph_add_inferred(g, op, column, c->in, c->n_in, &name, 1, attr, &y, &err),
              &err);
    g->value[y].type.elem = t.elem;
    assert_ok(assay_graph_set_qparams(g, y, &t.q, &err), &err);
    assert_int_equal(assay_shape_count(&g->value[y].type), n);
    if (strncmp(activation, "RELU", 4) == 0) {
        bool around_zero = strcmp(activation, "RELU_N1_TO_1") == 0;
        g->node[0].act_lo = around_zero ? -1 : 0;
        g->node[0].act_hi = around_zero ? 1 : activation[4] == '6' ? 6 : INFINITY;
    }
    assert_ok(assay_graph_set_inputs(g, c->in, c->n_in, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &y, 1, &err), &err);
    assert_ok(assay_program_make(g, c->from->scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int k = 0; k < c->n_in; k++) {
        assay_view v = {assay_run_data(r, c->in[k]), &g->value[c->in[k]].type};
        for (int64_t i = 0; i < assay_shape_count(v.type); i++) {
            int32_t x = (int32_t)c->values[k][i];
            if (v.type->elem.bits == 64)
                ((int64_t *)v.data)[i] = c->values[k][i];
            else
                assay_store_row(&v, i, 1, 1, &x);
        }
    }
    assert_ok(assay_run_execute(r, NULL, false, NULL, &err), &err);
    assay_view v = {assay_run_data(r, y), &g->value[y].type};
    for (size_t i = 0; i < n; i++) {
        int32_t got;
        assay_load_row(&v, (int64_t)i, 1, 1, &got);
        wrong += got != expected[i];
    }
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    return wrong;
}

/* ---- weighted ops ---- */

/* Padding of one axis under TFLite's SAME or VALID. */
static void put_padding(assay_attr_conv *a, int i, const char *padding, int64_t in, int64_t out)
{
    int64_t reach = (a->kernel.v[i] - 1) * a->dilation.v[i] + 1;
    int64_t total = (out - 1) * a->stride.v[i] + reach - in;
    total = strcmp(padding, "SAME") == 0 && total > 0 ? total : 0;
    a->pad_begin.v[i] = total / 2;
    a->pad_end.v[i] = total - total / 2;
}

/* 1HWO depthwise weights as O,H,W,1, in the archive's own memory. */
static const int64_t *depthwise_weights(struct npz *z, const char *column)
{
    struct npz_shape s;
    size_t n;
    int64_t *w = (int64_t *)(uintptr_t)npz_i64(z, column, &n, &s);
    size_t outs = s.dim[3], cells = n / outs;
    int64_t *copy = malloc(n * sizeof *copy);
    assert_non_null(copy);
    memcpy(copy, w, n * sizeof *copy);
    for (size_t k = 0; k < cells; k++)
        for (size_t o = 0; o < outs; o++)
            w[o * cells + k] = copy[k * outs + o];
    free(copy);
    return w;
}

static assay_attrs conv_attrs(const json_t *c, const struct npz_shape *x, const struct npz_shape *w,
                              const json_t *out_shape, bool transposed)
{
    static const char axis_name[2] = {'h', 'w'};
    assay_attrs a;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    a.conv.kernel.n = a.conv.stride.n = a.conv.dilation.n = 2;
    a.conv.pad_begin.n = a.conv.pad_end.n = 2;
    for (int i = 0; i < 2; i++) {
        char stride[] = "stride_?", dilation[] = "dilation_?";
        int64_t in = (int64_t)x->dim[1 + i];
        int64_t out = json_integer_value(json_array_get(out_shape, (size_t)i + 1));
        stride[7] = dilation[9] = axis_name[i];
        a.conv.kernel.v[i] = (int64_t)w->dim[1 + i];
        a.conv.stride.v[i] = (int64_t)number(c, stride);
        a.conv.dilation.v[i] = transposed ? 1 : (int64_t)number(c, dilation);
        if (transposed)
            put_padding(&a.conv, i, word(c, "padding"), out, in);
        else
            put_padding(&a.conv, i, word(c, "padding"), in, out);
        /* what TFLite pads for but never reads: a shape rule would count it as output */
        if (transposed)
            a.conv.pad_end.v[i] =
                (in - 1) * a.conv.stride.v[i] + a.conv.kernel.v[i] - a.conv.pad_begin.v[i] - out;
    }
    return a;
}

static size_t weighted_case(vectors *v, const json_t *c)
{
    char x[32], w[32], b[32], y[32], s[32];
    const char *op = word(c, "op"), *prefix = word(c, "prefix");
    struct npz_shape xs, ws;
    size_t n, n_scale;
    float x_scale = (float)number(c, "in_scale"), scale[64];
    int32_t x_zero = (int32_t)number(c, "in_zp"), zero[64];
    assay_attrs a;
    node_case k = begin(v);
    assay_op kind = ASSAY_OP_CONV;

    snprintf(x, sizeof x, "%s_x", prefix);
    snprintf(w, sizeof w, "%s_w", prefix);
    snprintf(b, sizeof b, "%s_b", prefix);
    snprintf(y, sizeof y, "%s_y", prefix);
    snprintf(s, sizeof s, "%s_wscale", prefix);
    npz_i64(v->data, x, &n, &xs);
    npz_i64(v->data, w, &n, &ws);
    const double *w_scale = npz_f64(v->data, s, &n_scale, NULL);
    assert_non_null(w_scale);
    assert_true(n_scale <= 64);
    for (size_t i = 0; i < n_scale; i++) {
        scale[i] = (float)w_scale[i];
        zero[i] = (int32_t)number(c, "w_zp");
    }
    add_input(&k, x, &x_scale, &x_zero, 1);
    if (strcmp(op, "DEPTHWISE_CONV_2D") == 0) {
        assay_error err;
        struct npz_shape o = {
            .ndim = 4, .dim = {ws.dim[3], ws.dim[1], ws.dim[2], 1}, .kind = 'i', .size = 1};
        assay_type t = type_of(&o, scale, zero, n_scale, 0);
        k.values[1] = depthwise_weights(v->data, w);
        assert_ok(assay_graph_add_value(k.graph, "w", &t, &k.in[1], &err), &err);
        k.n_in = 2;
    } else {
        add_input(&k, w, scale, zero, n_scale);
    }
    if (npz_has(v->data, b))
        add_input(&k, b, NULL, NULL, 0);
    if (strcmp(op, "FULLY_CONNECTED") == 0) {
        kind = ASSAY_OP_FC;
        assay_attrs_defaults(ASSAY_ATTRS_none, &a);
    } else if (strcmp(op, "BATCH_MATMUL") == 0) {
        kind = ASSAY_OP_MATMUL;
        assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
        a.matmul.transpose_a = json_is_true(json_object_get(c, "adj_x"));
        a.matmul.transpose_b = json_is_true(json_object_get(c, "adj_y"));
    } else {
        bool transposed = strcmp(op, "TRANSPOSE_CONV") == 0;
        kind = transposed ? ASSAY_OP_CONV_TRANSPOSE : ASSAY_OP_CONV;
        a = conv_attrs(c, &xs, &ws, json_object_get(c, "out_shape"), transposed);
        a.conv.group = strcmp(op, "DEPTHWISE_CONV_2D") == 0 ? (int64_t)xs.dim[3] : 1;
    }
    return differences(&k, kind, &a, y, (float)number(c, "out_scale"), (int32_t)number(c, "out_zp"),
                       word(c, "activation"));
}

/* Runs every case of a file through `one`, which returns how many elements differ. */
static void run_file(const char *file, const char *scheme,
                     size_t (*one)(vectors *v, const json_t *c))
{
    vectors v = open_vectors(file, scheme);
    json_t *cases = json_object_get(v.about, "cases");
    size_t failed = 0;
    assert_true(json_array_size(cases) > 0);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *c = json_array_get(cases, i);
        size_t wrong = one(&v, c);
        if (wrong)
            print_message("# case %zu %s %s: %zu elements differ\n", i, word(c, "op"),
                          word(c, "type"), wrong);
        failed += wrong != 0;
    }
    print_message("# %s under %s: %zu cases, %zu with differences\n", file, scheme,
                  json_array_size(cases), failed);
    close_vectors(&v);
    assert_int_equal(failed, 0);
}

static void test_weighted(void **state)
{
    (void)state;
    run_file("conv_family_double", "tflite", weighted_case);
    run_file("conv_family_single", "tflite-single", weighted_case);
}

/* ---- pooling ---- */

/* Array PREFIX_INDEX of a case. */
static const char *array(char buf[64], const char *prefix, const json_t *c)
{
    snprintf(buf, 64, "%s_%d", prefix, (int)number(c, "index"));
    return buf;
}

static size_t pool_case(vectors *v, const json_t *c)
{
    static const struct {
        const char *name;
        assay_op op;
    } kinds[2] = {{"avg_out", ASSAY_OP_AVG_POOL}, {"max_out", ASSAY_OP_MAX_POOL}};
    static const char *const side[2] = {"filter_h", "filter_w"};
    static const char *const step[2] = {"stride_h", "stride_w"};
    size_t wrong = 0, n;
    float scale = (float)number(c, "scale");
    int32_t zero = (int32_t)number(c, "zp");
    for (int k = 0; k < 2; k++) {
        char in[64], out[64];
        struct npz_shape x, y;
        assay_attrs a;
        node_case net = begin(v);
        npz_i64(v->data, array(in, "in", c), &n, &x);
        npz_i64(v->data, array(out, kinds[k].name, c), &n, &y);
        assay_attrs_defaults(ASSAY_ATTRS_pool, &a);
        a.pool.layout = ASSAY_LAYOUT_NHWC;
        a.pool.kernel.n = a.pool.stride.n = a.pool.pad_begin.n = a.pool.pad_end.n = 2;
        for (int i = 0; i < 2; i++) {
            a.pool.kernel.v[i] = (int64_t)number(c, side[i]);
            a.pool.stride.v[i] = (int64_t)number(c, step[i]);
            int64_t total = ((int64_t)y.dim[1 + i] - 1) * a.pool.stride.v[i] + a.pool.kernel.v[i] -
                            (int64_t)x.dim[1 + i];
            total = strcmp(word(c, "padding"), "SAME") == 0 && total > 0 ? total : 0;
            a.pool.pad_begin.v[i] = total / 2;
            a.pool.pad_end.v[i] = total - total / 2;
        }
        add_input(&net, in, &scale, &zero, 1);
        wrong += differences(&net, kinds[k].op, &a, out, scale, zero, word(c, "activation"));
    }
    return wrong;
}

static void test_pooling(void **state)
{
    (void)state;
    run_file("pooling", "tflite", pool_case);
}

/* ---- reductions ---- */

static size_t reduce_case(vectors *v, const json_t *c)
{
    static const struct {
        const char *name;
        assay_op op;
        bool sums; /* has parameters of its own; the others keep the input's */
    } kinds[4] = {{"mean", ASSAY_OP_REDUCE_MEAN, true},
                  {"sum", ASSAY_OP_REDUCE_SUM, true},
                  {"reduce_max", ASSAY_OP_REDUCE_MAX, false},
                  {"reduce_min", ASSAY_OP_REDUCE_MIN, false}};
    const json_t *axes = json_object_get(c, "axes");
    float scale = (float)number(c, "in_scale"), out_scale = (float)number(c, "out_scale");
    int32_t zero = (int32_t)number(c, "in_zp"), out_zero = (int32_t)number(c, "out_zp");
    size_t wrong = 0;
    for (int k = 0; k < 4; k++) {
        char in[64], out[64];
        assay_attrs a;
        if (!npz_has(v->data, array(out, kinds[k].name, c)))
            continue;
        node_case net = begin(v);
        assay_attrs_defaults(ASSAY_ATTRS_reduce, &a);
        a.reduce.keepdims = json_is_true(json_object_get(c, "keep_dims"));
        for (size_t i = 0; i < json_array_size(axes); i++)
            a.reduce.axes.v[a.reduce.axes.n++] = json_integer_value(json_array_get(axes, i));
        add_input(&net, array(in, "in", c), &scale, &zero, 1);
        size_t differ = differences(&net, kinds[k].op, &a, out, kinds[k].sums ? out_scale : scale,
                                    kinds[k].sums ? out_zero : zero, "");
        if (differ)
            print_message("# %s: %zu\n", out, differ);
        wrong += differ;
    }
    return wrong;
}

static void test_reductions(void **state)
{
    (void)state;
    run_file("reduce_double", "tflite", reduce_case);
    run_file("reduce_single", "tflite-single", reduce_case);
}

/* ---- resizing ---- */

static size_t resize_case(vectors *v, const json_t *c)
{
    bool corners = json_is_true(json_object_get(c, "align_corners"));
    bool half = json_is_true(json_object_get(c, "half_pixel_centers"));
    static const float scale = 0.25f;
    static const int32_t zero = 3;
    size_t wrong = 0, n;
    for (int linear = 0; linear < 2; linear++) {
        char in[64], out[64];
        struct npz_shape y;
        assay_attrs a;
        node_case net = begin(v);
        npz_i64(v->data, array(out, linear ? "bilinear" : "nearest", c), &n, &y);
        assay_attrs_defaults(ASSAY_ATTRS_resize, &a);
        a.resize.layout = ASSAY_LAYOUT_NHWC;
        a.resize.mode = linear ? ASSAY_RESIZE_LINEAR : ASSAY_RESIZE_NEAREST;
        a.resize.coordinate = corners ? ASSAY_COORD_ALIGN_CORNERS
                              : half  ? ASSAY_COORD_TFLITE_HALF_PIXEL
                                      : ASSAY_COORD_ASYMMETRIC;
        a.resize.nearest = corners ? ASSAY_NEAREST_ROUND_PREFER_CEIL : ASSAY_NEAREST_FLOOR;
        for (int i = 0; i < 4; i++)
            a.resize.size.v[a.resize.size.n++] = (int64_t)y.dim[i];
        add_input(&net, array(in, "in", c), &scale, &zero, 1);
        size_t differ = differences(&net, ASSAY_OP_RESIZE, &a, out, scale, zero, "");
        if (differ)
            print_message("# %s: %zu\n", out, differ);
        wrong += differ;
    }
    return wrong;
}

static void test_resizing(void **state)
{
    (void)state;
    run_file("resize_int8", "tflite", resize_case);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weighted),
        cmocka_unit_test(test_pooling),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_resizing),
    };
    return cmocka_run_group_tests_name("tflite_ops", tests, NULL, NULL);
}
