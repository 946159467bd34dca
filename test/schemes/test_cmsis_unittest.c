/* CMSIS-NN's own unit tests (shared/vectors/cmsis-nn-unittest): multipliers, shifts and bounds are
 * given as codes, as a compiler for a device hands them over, through `nodes: given:` of a scheme
 * file that extends cmsis-nn. */
#include "test/support/support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "test/support/tflite_case.h"

/* The archive's name of an array: of a layer of a network, "L03_" stands before it. */
static const char *array(const tflite_file *f, const char *key)
{
    static char name[4][80];
    static int next;
    char *to = name[next++ % 4];
    snprintf(to, sizeof name[0], "%s%s", tflite_word(f->about, "prefix"), key);
    return to;
}

static int64_t param(const tflite_file *f, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(f->about, "params"), key));
}

/* A scheme with this case's multipliers for the node, where it has any. */
static assay_scheme *scheme_of(const tflite_file *f)
{
    static const char *const keys[2] = {"multiplier", "shift"};
    static char text[40000];
    assay_error err;
    assay_scheme *s;
    int at = snprintf(text, sizeof text, "scheme: case\nextends: cmsis-nn\n");
    if (npz_has(f->data, array(f, keys[0]))) {
        at += snprintf(text + at, sizeof text - (size_t)at, "nodes:\n  node: {given: {");
        for (int k = 0; k < 2; k++) {
            size_t n;
            const int64_t *v = npz_i64(f->data, array(f, keys[k]), &n, NULL);
            at += snprintf(text + at, sizeof text - (size_t)at, "%s%s: [", k ? ", " : "", keys[k]);
            for (size_t i = 0; i < n && (size_t)at < sizeof text - 64; i++)
                at += snprintf(text + at, sizeof text - (size_t)at, "%s%lld", i ? ", " : "",
                               (long long)v[i]);
            at += snprintf(text + at, sizeof text - (size_t)at, "]");
        }
        /* an output offset may lie outside the type, where no zero point can */
        at += snprintf(text + at, sizeof text - (size_t)at, ", zero_point: [%lld]}}\n",
                       (long long)param(f, "output_offset"));
    }
    assert_ok(assay_scheme_parse("case.yaml", text, (size_t)at, &s, &err), &err);
    return s;
}

static int64_t dim(const tflite_file *f, const char *list, size_t i)
{
    return json_integer_value(
        json_array_get(json_object_get(json_object_get(f->about, "dims"), list), i));
}

#define CHANNELS 1024

/* Adds an array under dimensions of ours; parameters along axis 0 when channels > 1. */
static void add(tflite_node *n, const char *column, unsigned bits, int32_t zero, int rank,
                const int64_t *dims, size_t channels)
{
    static float scale[CHANNELS];
    static int32_t zeros[3][CHANNELS];
    size_t count;
    assay_type t = {.elem = assay_int(bits, true), .rank = rank};
    assert_true(channels <= CHANNELS);
    for (int i = 0; i < rank; i++)
        t.dim[i] = dims[i];
    for (size_t i = 0; i < channels; i++) {
        scale[i] = 1;
        zeros[n->n_in][i] = zero;
    }
    if (channels)
        t.q = (assay_qparams){
            channels > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, 0, 0, channels, scale, zeros[n->n_in]};
    const int64_t *v = npz_i64(n->from->data, array(n->from, column), &count, NULL);
    assert_non_null(v);
    assert_int_equal(count, assay_shape_count(&t));
    tflite_values(n, &t, v);
}

static size_t multipliers(tflite_file *f)
{
    size_t n;
    npz_i64(f->data, array(f, "multiplier"), &n, NULL);
    return n;
}

static unsigned width(tflite_file *f, const char *column)
{
    struct npz_shape s;
    size_t n;
    npz_i64(f->data, array(f, column), &n, &s);
    return (unsigned)s.size * 8;
}

static void add_bias(tflite_node *n, int64_t outputs)
{
    if (npz_has(n->from->data, array(n->from, "bias")))
        add(n, "bias", width(n->from, "bias"), 0, 1, &outputs, 0);
}

static size_t finish(tflite_node *n, assay_op op, const assay_attrs *a)
{
    const json_t *params = json_object_get(n->from->about, "params");
    if (json_object_get(params, "act_min")) {
        n->bounded = true;
        n->code_lo = (int32_t)param(n->from, "act_min");
        n->code_hi = (int32_t)param(n->from, "act_max");
    }
    int64_t zero = param(n->from, "output_offset");
    bool given = npz_has(n->from->data, array(n->from, "multiplier"));
    const char *expected = *tflite_word(n->from->about, "prefix") ? "cmsis_output" : "expected";
    return tflite_compare(n, op, a, array(n->from, expected), 1, given ? 0 : (int32_t)zero, "");
}

/* ---- ops ---- */

static void put_window(tflite_file *f, assay_list *stride, assay_list *pad_begin,
                       assay_list *pad_end, const int64_t reach[2], bool transposed)
{
    static const char *const strides[2] = {"stride_h", "stride_w"}, *const pads[2] = {"pad_h",
                                                                                      "pad_w"};
    stride->n = pad_begin->n = pad_end->n = 2;
    for (size_t i = 0; i < 2; i++) {
        int64_t in = dim(f, transposed ? "output_dims" : "input_dims", i + 1);
        int64_t out = dim(f, transposed ? "input_dims" : "output_dims", i + 1);
        stride->v[i] = param(f, strides[i]);
        pad_begin->v[i] = param(f, pads[i]);
        pad_end->v[i] = (out - 1) * stride->v[i] + reach[i] - in - pad_begin->v[i];
    }
}

static size_t conv_case(tflite_file *f, bool depthwise, bool transposed)
{
    static const char *const dilations[2] = {"dilation_h", "dilation_w"};
    bool int4 = strcmp(tflite_word(f->about, "dtype"), "s4") == 0;
    int64_t x[4], w[4], reach[2], outputs = dim(f, "output_dims", 3);
    assay_attrs a;
    tflite_node n = tflite_begin(f);
    for (size_t i = 0; i < 4; i++) {
        x[i] = dim(f, "input_dims", i);
        w[i] = dim(f, "filter_dims", i);
    }
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    a.conv.dilation.n = 2;
    for (int i = 0; i < 2; i++) {
        int64_t dilation = param(f, dilations[i]); /* of 1x1 kernels it was never set */
        a.conv.dilation.v[i] = w[1 + i] > 1 ? dilation : 1;
        reach[i] = (w[1 + i] - 1) * a.conv.dilation.v[i] + 1;
    }
    put_window(f, &a.conv.stride, &a.conv.pad_begin, &a.conv.pad_end, reach, transposed);
    for (int i = 0; i < 2; i++)
        if (a.conv.pad_end.v[i] < 0) { /* cells that no window reaches, or rows that none writes */
            if (transposed) {
                a.conv.output_padding.n = 2;
                a.conv.output_padding.v[i] = -a.conv.pad_end.v[i];
            }
            a.conv.pad_end.v[i] = 0;
        }
    a.conv.group = depthwise ? x[3] : transposed ? 1 : x[3] / w[3];
    add(&n, "input", width(f, "input"), (int32_t)-param(f, "input_offset"), 4, x, 1);
    if (depthwise) { /* H,W,O to O,H,W,1 */
        size_t count;
        int64_t *v = (int64_t *)(uintptr_t)npz_i64(f->data, array(f, "weights"), &count, NULL);
        int64_t *copy = malloc(count * sizeof *copy), cells = w[1] * w[2];
        assert_true(v && copy);
        memcpy(copy, v, count * sizeof *copy);
        for (int64_t k = 0; k < cells; k++)
            for (int64_t o = 0; o < outputs; o++)
                v[o * cells + k] = copy[k * outputs + o];
        free(copy);
        w[0] = outputs;
        w[3] = 1;
        add(&n, "weights", int4 ? 4 : 8, 0, 4, w, multipliers(f));
        n.values[1] = v;
    } else {
        add(&n, "weights", int4 ? 4 : 8, 0, 4, w, multipliers(f));
    }
    add_bias(&n, outputs);
    return finish(&n, transposed ? ASSAY_OP_CONV_TRANSPOSE : ASSAY_OP_CONV, &a);
}

static size_t ordinary_conv(tflite_file *f)
{
    return conv_case(f, false, false);
}

static size_t depthwise_conv(tflite_file *f)
{
    return conv_case(f, true, false);
}

static size_t transpose_conv(tflite_file *f)
{
    return conv_case(f, false, true);
}

static size_t fully_connected(tflite_file *f)
{
    bool int4 = strcmp(tflite_word(f->about, "dtype"), "s4") == 0;
    int64_t depth = dim(f, "filter_dims", 0), outputs = dim(f, "output_dims", 3);
    int64_t x[2] = {dim(f, "output_dims", 0), depth}, w[2] = {outputs, depth};
    tflite_node n = tflite_begin(f);
    add(&n, "input", width(f, "input"), (int32_t)-param(f, "input_offset"), 2, x, 1);
    add(&n, "weights", int4 ? 4 : 8, (int32_t)-param(f, "filter_offset"), 2, w, multipliers(f));
    add_bias(&n, outputs);
    return finish(&n, ASSAY_OP_FC, NULL);
}

static size_t batch_matmul(tflite_file *f)
{
    int64_t a[4], b[4];
    assay_attrs attr;
    tflite_node n = tflite_begin(f);
    for (size_t i = 0; i < 4; i++) {
        a[i] = dim(f, "lhs_dims", i);
        b[i] = dim(f, "rhs_dims", i);
    }
    assay_attrs_defaults(ASSAY_ATTRS_matmul, &attr);
    attr.matmul.transpose_b = true; /* as CMSIS-NN wants it */
    add(&n, "lhs", width(f, "lhs"), (int32_t)-param(f, "input_offset"), 4, a, 1);
    add(&n, "rhs", width(f, "rhs"), (int32_t)-param(f, "filter_offset"), 4, b, 1);
    return finish(&n, ASSAY_OP_MATMUL, &attr);
}

static size_t pool_case(tflite_file *f, assay_op op)
{
    int64_t x[4], reach[2] = {dim(f, "filter_dims", 1), dim(f, "filter_dims", 2)};
    assay_attrs a;
    tflite_node n = tflite_begin(f);
    for (size_t i = 0; i < 4; i++)
        x[i] = dim(f, "input_dims", i);
    assay_attrs_defaults(ASSAY_ATTRS_pool, &a);
    a.pool.layout = ASSAY_LAYOUT_NHWC;
    a.pool.kernel = (assay_list){2, {reach[0], reach[1]}};
    put_window(f, &a.pool.stride, &a.pool.pad_begin, &a.pool.pad_end, reach, false);
    for (int i = 0; i < 2; i++)
        if (a.pool.pad_end.v[i] < 0)
            a.pool.pad_end.v[i] = 0;
    add(&n, "input", width(f, "input"), 0, 4, x, 1);
    return finish(&n, op, &a);
}

static size_t avg_pool(tflite_file *f)
{
    return pool_case(f, ASSAY_OP_AVG_POOL);
}

static size_t max_pool(tflite_file *f)
{
    return pool_case(f, ASSAY_OP_MAX_POOL);
}

static size_t extreme(tflite_file *f)
{
    bool max = strcmp(tflite_word(f->about, "op"), "maximum") == 0;
    int64_t a[4], b[4];
    tflite_node n = tflite_begin(f);
    for (size_t i = 0; i < 4; i++) {
        a[i] = dim(f, "input1_dims", i);
        b[i] = dim(f, "input2_dims", i);
    }
    add(&n, "input1", 8, 0, 4, a, 1);
    add(&n, "input2", 8, 0, 4, b, 1);
    return finish(&n, max ? ASSAY_OP_MAX : ASSAY_OP_MIN, NULL);
}

/* ---- folders ---- */

#define FOLDER(name, one, least)                                                                   \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        tflite_folder("cmsis-nn-unittest/" #name, scheme_of, one, least);                          \
    }
FOLDER(conv, ordinary_conv, 70)
FOLDER(depthwise_conv, depthwise_conv, 36)
FOLDER(transpose_conv, transpose_conv, 8)
FOLDER(fully_connected, fully_connected, 16)
FOLDER(batch_matmul, batch_matmul, 10)
FOLDER(avg_pool, avg_pool, 10)
FOLDER(max_pool, max_pool, 11)
FOLDER(maximum, extreme, 7)
FOLDER(minimum, extreme, 7)

/* ---- whole networks, layer by layer ---- */

static size_t softmax_layer(tflite_file *f)
{
    int64_t dims[2] = {param(f, "num_rows"), param(f, "row_size")};
    assay_attrs a = {.softmax = {.axis = 1, .beta = 1}};
    tflite_node n = tflite_begin(f);
    add(&n, "input", 8, 0, 2, dims, 1); /* scale 1 */
    a.softmax.beta = (float)ldexp((double)param(f, "mult"), (int)param(f, "shift") - 31 - 26);
    return tflite_compare(&n, ASSAY_OP_SOFTMAX, &a, array(f, "expected"), 1.0F / 256, -128, "");
}

static size_t layer(tflite_file *f)
{
    static const struct {
        const char *op;
        size_t (*run)(tflite_file *f);
    } ops[] = {{"conv", ordinary_conv},
               {"depthwise_conv", depthwise_conv},
               {"avg_pool", avg_pool},
               {"fully_connected", fully_connected},
               {"softmax", softmax_layer}};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (strcmp(tflite_word(f->about, "op"), ops[i].op) == 0)
            return ops[i].run(f);
    fail_msg("a layer of kind %s", tflite_word(f->about, "op"));
    return 0;
}

static size_t network(tflite_file *f)
{
    json_t *whole = f->about, *one;
    size_t i, wrong = 0, count;
    json_array_foreach(json_object_get(whole, "layers"), i, one)
    {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "L%02zu_", i);
        json_object_set_new(one, "prefix", json_string(prefix));
        f->about = one;
        assay_scheme_free(f->scheme);
        f->scheme = scheme_of(f);
        count = layer(f);
        if (count)
            print_message("# layer %zu: %zu elements differ\n", i, count);
        wrong += count;
    }
    f->about = whole;
    return wrong;
}
FOLDER(network, network, 2)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),           cmocka_unit_test(test_depthwise_conv),
        cmocka_unit_test(test_transpose_conv), cmocka_unit_test(test_fully_connected),
        cmocka_unit_test(test_batch_matmul),   cmocka_unit_test(test_avg_pool),
        cmocka_unit_test(test_max_pool),       cmocka_unit_test(test_maximum),
        cmocka_unit_test(test_minimum),        cmocka_unit_test(test_network),
    };
    return cmocka_run_group_tests_name("cmsis_unittest", tests, NULL, NULL);
}
