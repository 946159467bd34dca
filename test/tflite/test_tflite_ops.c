/* Whole nodes under the presets tflite and tflite-single against what TensorFlow Lite Micro's own
 * kernels gave (shared/vectors/tflite-ops): weighted ops, pooling, reductions, resizing. Elements
 * and rows are test_tflite_elements.c. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "test/support/tflite_case.h"

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
        a.conv.stride.v[i] = (int64_t)tflite_number(c, stride);
        a.conv.dilation.v[i] = transposed ? 1 : (int64_t)tflite_number(c, dilation);
        if (transposed)
            put_padding(&a.conv, i, tflite_word(c, "padding"), out, in);
        else
            put_padding(&a.conv, i, tflite_word(c, "padding"), in, out);
        /* what TFLite pads for but never reads: a shape rule would count it as output */
        if (transposed)
            a.conv.pad_end.v[i] =
                (in - 1) * a.conv.stride.v[i] + a.conv.kernel.v[i] - a.conv.pad_begin.v[i] - out;
    }
    return a;
}

static size_t weighted_case(tflite_file *v, const json_t *c)
{
    char x[32], w[32], b[32], y[32], s[32];
    const char *op = tflite_word(c, "op"), *prefix = tflite_word(c, "prefix");
    struct npz_shape xs, ws;
    size_t n, n_scale;
    float x_scale = (float)tflite_number(c, "in_scale"), scale[64];
    int32_t x_zero = (int32_t)tflite_number(c, "in_zp"), zero[64];
    assay_attrs a;
    tflite_node k = tflite_begin(v);
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
        zero[i] = (int32_t)tflite_number(c, "w_zp");
    }
    tflite_column(&k, x, &x_scale, &x_zero, 1);
    if (strcmp(op, "DEPTHWISE_CONV_2D") == 0) {
        assay_error err;
        struct npz_shape o = {
            .ndim = 4, .dim = {ws.dim[3], ws.dim[1], ws.dim[2], 1}, .kind = 'i', .size = 1};
        assay_type t = tflite_type(&o, scale, zero, n_scale, 0);
        k.values[1] = depthwise_weights(v->data, w);
        assert_ok(assay_graph_add_value(k.graph, "w", &t, &k.in[1], &err), &err);
        k.n_in = 2;
    } else {
        tflite_column(&k, w, scale, zero, n_scale);
    }
    if (npz_has(v->data, b))
        tflite_column(&k, b, NULL, NULL, 0);
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
    return tflite_compare(&k, kind, &a, y, (float)tflite_number(c, "out_scale"),
                          (int32_t)tflite_number(c, "out_zp"), tflite_word(c, "activation"));
}

static void test_weighted(void **state)
{
    (void)state;
    tflite_run("conv_family_double", "tflite", weighted_case);
    tflite_run("conv_family_single", "tflite-single", weighted_case);
}

/* ---- pooling ---- */

static size_t pool_case(tflite_file *v, const json_t *c)
{
    static const struct {
        const char *name;
        assay_op op;
    } kinds[2] = {{"avg_out", ASSAY_OP_AVG_POOL}, {"max_out", ASSAY_OP_MAX_POOL}};
    static const char *const side[2] = {"filter_h", "filter_w"};
    static const char *const step[2] = {"stride_h", "stride_w"};
    size_t wrong = 0, n;
    float scale = (float)tflite_number(c, "scale");
    int32_t zero = (int32_t)tflite_number(c, "zp");
    for (int k = 0; k < 2; k++) {
        char in[64], out[64];
        struct npz_shape x, y;
        assay_attrs a;
        tflite_node net = tflite_begin(v);
        npz_i64(v->data, tflite_array(in, "in", c), &n, &x);
        npz_i64(v->data, tflite_array(out, kinds[k].name, c), &n, &y);
        assay_attrs_defaults(ASSAY_ATTRS_pool, &a);
        a.pool.layout = ASSAY_LAYOUT_NHWC;
        a.pool.kernel.n = a.pool.stride.n = a.pool.pad_begin.n = a.pool.pad_end.n = 2;
        for (int i = 0; i < 2; i++) {
            a.pool.kernel.v[i] = (int64_t)tflite_number(c, side[i]);
            a.pool.stride.v[i] = (int64_t)tflite_number(c, step[i]);
            int64_t total = ((int64_t)y.dim[1 + i] - 1) * a.pool.stride.v[i] + a.pool.kernel.v[i] -
                            (int64_t)x.dim[1 + i];
            total = strcmp(tflite_word(c, "padding"), "SAME") == 0 && total > 0 ? total : 0;
            a.pool.pad_begin.v[i] = total / 2;
            a.pool.pad_end.v[i] = total - total / 2;
        }
        tflite_column(&net, in, &scale, &zero, 1);
        wrong +=
            tflite_compare(&net, kinds[k].op, &a, out, scale, zero, tflite_word(c, "activation"));
    }
    return wrong;
}

static void test_pooling(void **state)
{
    (void)state;
    tflite_run("pooling", "tflite", pool_case);
}

/* ---- reductions ---- */

static size_t reduce_case(tflite_file *v, const json_t *c)
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
    float scale = (float)tflite_number(c, "in_scale"),
          out_scale = (float)tflite_number(c, "out_scale");
    int32_t zero = (int32_t)tflite_number(c, "in_zp"),
            out_zero = (int32_t)tflite_number(c, "out_zp");
    size_t wrong = 0;
    for (int k = 0; k < 4; k++) {
        char in[64], out[64];
        assay_attrs a;
        if (!npz_has(v->data, tflite_array(out, kinds[k].name, c)))
            continue;
        tflite_node net = tflite_begin(v);
        assay_attrs_defaults(ASSAY_ATTRS_reduce, &a);
        a.reduce.keepdims = json_is_true(json_object_get(c, "keep_dims"));
        for (size_t i = 0; i < json_array_size(axes); i++)
            a.reduce.axes.v[a.reduce.axes.n++] = json_integer_value(json_array_get(axes, i));
        tflite_column(&net, tflite_array(in, "in", c), &scale, &zero, 1);
        size_t differ =
            tflite_compare(&net, kinds[k].op, &a, out, kinds[k].sums ? out_scale : scale,
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
    tflite_run("reduce_double", "tflite", reduce_case);
    tflite_run("reduce_single", "tflite-single", reduce_case);
}

/* ---- resizing ---- */

static size_t resize_case(tflite_file *v, const json_t *c)
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
        tflite_node net = tflite_begin(v);
        npz_i64(v->data, tflite_array(out, linear ? "bilinear" : "nearest", c), &n, &y);
        assay_attrs_defaults(ASSAY_ATTRS_resize, &a);
        a.resize.layout = ASSAY_LAYOUT_NHWC;
        a.resize.mode = linear ? ASSAY_RESIZE_LINEAR : ASSAY_RESIZE_NEAREST;
        a.resize.coordinate = corners ? ASSAY_COORD_ALIGN_CORNERS
                              : half  ? ASSAY_COORD_TFLITE_HALF_PIXEL
                                      : ASSAY_COORD_ASYMMETRIC;
        a.resize.nearest = corners ? ASSAY_NEAREST_ROUND_PREFER_CEIL : ASSAY_NEAREST_FLOOR;
        for (int i = 0; i < 4; i++)
            a.resize.size.v[a.resize.size.n++] = (int64_t)y.dim[i];
        tflite_column(&net, tflite_array(in, "in", c), &scale, &zero, 1);
        size_t differ = tflite_compare(&net, ASSAY_OP_RESIZE, &a, out, scale, zero, "");
        if (differ)
            print_message("# %s: %zu\n", out, differ);
        wrong += differ;
    }
    return wrong;
}

static void test_resizing(void **state)
{
    (void)state;
    tflite_run("resize_int8", "tflite", resize_case);
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
