/* Vectors of TOSA's reference model that have no rescale: convolutions down to the accumulator,
 * integer operators of elements, reciprocals. */
#include "test/support/vectors.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/core/type.h"
#include "schemes/apply/apply.h"
#include "schemes/apply/fixedpoint.h"
#include "test/support/scheme_unit.h"

/* ---- TOSA: elements ---- */

static void tosa_elements(void **state)
{
    const char *file = "tosa/elementwise_int";
    struct npz *z = vectors_open(file);
    size_t n, total = 0;
    (void)state;
    const int64_t *a = vectors_ints(z, "mul_a", &n), *b = vectors_ints(z, "mul_b", &n);
    const int64_t *s = vectors_ints(z, "mul_shift", &n), *y = vectors_ints(z, "mul_y", &n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(assay_round_shift(a[i] * b[i], (unsigned)s[i], ASSAY_ROUND_HALF_UP), y[i]);
    total += n;
    for (int rounds = 0; rounds < 2; rounds++) {
        a = vectors_ints(z, rounds ? "asr1_a" : "asr0_a", &n);
        s = vectors_ints(z, rounds ? "asr1_s" : "asr0_s", &n);
        y = vectors_ints(z, rounds ? "asr1_y" : "asr0_y", &n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(assay_round_shift(a[i], (unsigned)s[i],
                                               rounds ? ASSAY_ROUND_HALF_UP : ASSAY_ROUND_FLOOR),
                             y[i]);
        total += n;
    }
    a = vectors_ints(z, "un_a", &n);
    y = vectors_ints(z, "clz_y", &n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(apply_clz32((uint32_t)a[i]), y[i]);
    total += n;
    a = vectors_ints(z, "div_a", &n);
    b = vectors_ints(z, "div_b", &n);
    y = vectors_ints(z, "div_y", &n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(assay_round_div(a[i], b[i], ASSAY_ROUND_TRUNC), y[i]);
    vectors_count(file, total + n);
    npz_close(z);
}

/* What an op makes of n codes of so many bits, scale 1 in and out, in TOSA's preset. */
static void tosa_unary(const char *op, unsigned bits, const int32_t zero[2], const int32_t *x,
                       size_t n, int32_t *y)
{
    static const float one = 1;
    assay_scheme *s = unit_open("tosa-single");
    const assay_type in = code_type(bits, true, &one, &zero[0]);
    const assay_type out = code_type(bits, true, &one, &zero[1]);
    const assay_unit_spec spec = unit_spec(op, &in, 1, &out);
    assay_unit *u;
    assay_error err;
    assert_ok(s->vt->prepare(s, &spec, &u, &err), &err);
    s->vt->unary(u, x, n, y);
    s->vt->release(u);
    assay_scheme_free(s);
}

/* ABS of int32, NEGATE of int8 with each pair of zero points that the file has. */
static void tosa_signs(void **state)
{
    static const int32_t none[2] = {0, 0};
    static const int32_t zero[4][2] = {{0, 0}, {5, -7}, {-128, 127}, {127, -128}};
    const char *file = "tosa/elementwise_int";
    struct npz *z = vectors_open(file);
    size_t n, total;
    (void)state;
    const int64_t *a = vectors_ints(z, "un_a", &n), *y = vectors_ints(z, "abs_y", &n);
    int32_t *x = calloc(2 * n, sizeof *x), *got = x + n;
    assert_non_null(x);
    for (size_t i = 0; i < n; i++)
        x[i] = (int32_t)a[i];
    tosa_unary("abs", 32, none, x, n, got);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i], y[i]);
    free(x);
    y = vectors_ints(z, "negate8", &total);
    for (size_t k = 0; k < total / 256; k++) {
        int32_t codes[256], negative[256];
        for (int i = 0; i < 256; i++)
            codes[i] = i - 128;
        tosa_unary("neg", 8, zero[k], codes, 256, negative);
        for (size_t i = 0; i < 256; i++)
            assert_int_equal(negative[i], y[256 * k + i]);
    }
    vectors_count(file, n + total);
    npz_close(z);
}

static void tosa_reciprocal(void **state)
{
    const char *file = "tosa/reciprocal_scale";
    struct npz *z = vectors_open(file);
    size_t n;
    (void)state;
    const int64_t *d = vectors_ints(z, "value", &n), *m = vectors_ints(z, "multiplier", &n);
    const int64_t *s = vectors_ints(z, "shift", &n);
    for (size_t i = 0; i < n; i++) {
        unsigned shift;
        assert_int_equal(apply_reciprocal(d[i], &shift), m[i]);
        assert_int_equal(shift, s[i]);
    }
    vectors_count(file, n);
    npz_close(z);
}

/* ---- TOSA: convolutions ---- */

typedef struct conv_case {
    struct npz *z;
    const char *prefix;
    bool transposed, depthwise;
    int64_t zero[2]; /* input, weights */
    int64_t pad[4];  /* top, bottom, left, right; out_pad when transposed */
    int64_t stride[2], dilation[2];

} conv_case;

static void list_of(const json_t *c, const char *key, int64_t *out, size_t n)
{
    const json_t *list = json_object_get(c, key);
    for (size_t i = 0; i < n && i < json_array_size(list); i++)
        out[i] = json_integer_value(json_array_get(list, i));
}

static const int64_t *column(const conv_case *c, const char *suffix, size_t *n,
                             struct npz_shape *shape)
{
    char name[32];
    snprintf(name, sizeof name, "%s_%s", c->prefix, suffix);
    const int64_t *v = npz_i64(c->z, name, n, shape);
    assert_non_null(v);
    return v;
}

/* Codes in storage, with a scale of 1 and the zero point. */
static int add_codes(assay_graph *g, const char *name, const int64_t *v, int rank,
                     const int64_t *dim, unsigned bits, int64_t zero, bool constant)
{
    static const float one = 1;
    const int32_t z = (int32_t)zero;
    assay_type t = {.elem = {ASSAY_KIND_INT, (uint8_t)bits, true}, .rank = rank};
    assay_error err;
    int id;
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    t.q = (assay_qparams){.granularity = bits < 32 ? ASSAY_Q_TENSOR : ASSAY_Q_NONE,
                          .count = bits < 32,
                          .scale = bits < 32 ? &one : NULL,
                          .zero_point = bits < 32 ? &z : NULL};
    if (!constant) {
        assert_ok(assay_graph_add_value(g, name, &t, &id, &err), &err);
        return id;
    }
    size_t n = (size_t)assay_shape_count(&t), size = assay_elem_size(t.elem);
    char *data = calloc(n + 1, size);
    assert_non_null(data);
    for (size_t i = 0; i < n; i++)
        memcpy(data + i * size, &v[i], size); /* little endian, as the archive's reader */
    assert_ok(assay_graph_add_constant(g, name, &t, data, &id, &err), &err);
    free(data);
    return id;
}

/* Depthwise weights [KH, KW, C, M] as [C * M, KH, KW, 1]. */
static int64_t *per_channel(const int64_t *w, const size_t *dim)
{
    size_t taps = dim[0] * dim[1], o = dim[2] * dim[3];
    int64_t *out = malloc(taps * o * sizeof *out);
    assert_non_null(out);
    for (size_t k = 0; k < taps; k++)
        for (size_t i = 0; i < o; i++)
            out[i * taps + k] = w[k * o + i];
    return out;
}

static int64_t positive(int64_t x)
{
    return x > 0 ? x : 0;
}

/* The columns of a case. */
typedef struct conv_columns {
    size_t nx, nb, ny;
    struct npz_shape xs, ws, ys;
    const int64_t *x, *w, *bias, *y;
    int64_t channels, kh, kw, more_h, more_w; /* more: begin rows that are added */
} conv_columns;

static conv_columns columns_of(conv_case *c)
{
    size_t nw;
    struct npz_shape bs;
    conv_columns k = {.nx = 0};
    k.x = column(c, "x", &k.nx, &k.xs);
    k.w = column(c, "w", &nw, &k.ws);
    k.bias = column(c, "b", &k.nb, &bs);
    k.y = column(c, "y", &k.ny, &k.ys);
    k.channels = (int64_t)k.ys.dim[3];
    k.kh = (int64_t)k.ws.dim[c->depthwise ? 0 : 1];
    k.kw = (int64_t)k.ws.dim[c->depthwise ? 1 : 2];
    k.more_h = c->transposed ? positive(c->pad[0]) : 0;
    k.more_w = c->transposed ? positive(c->pad[2]) : 0;
    return k;
}

static assay_attrs attrs_of(const conv_case *c, const conv_columns *k)
{
    assay_attrs a;
    assay_attrs_defaults(assay_op_get(ASSAY_OP_CONV)->attrs, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    a.conv.group = c->depthwise ? (int64_t)k->xs.dim[3] : 1;
    a.conv.kernel = (assay_list){2, {k->kh, k->kw}};
    a.conv.stride = (assay_list){2, {c->stride[0], c->stride[1]}};
    a.conv.dilation = (assay_list){2, {c->dilation[0], c->dilation[1]}};
    if (c->transposed) {
        a.conv.pad_begin = (assay_list){2, {positive(-c->pad[0]), positive(-c->pad[2])}};
        a.conv.pad_end = (assay_list){2, {positive(-c->pad[1]), positive(-c->pad[3])}};
        a.conv.output_padding = (assay_list){2, {positive(c->pad[1]), positive(c->pad[3])}};
    } else {
        a.conv.pad_begin = (assay_list){2, {c->pad[0], c->pad[2]}};
        a.conv.pad_end = (assay_list){2, {c->pad[1], c->pad[3]}};
    }
    return a;
}

/* A network of the one node; its input and output values. */
static assay_graph *network_of(const conv_case *c, const conv_columns *k, unsigned x_bits,
                               unsigned w_bits, int *input, int *output)
{
    const assay_op op = c->transposed ? ASSAY_OP_CONV_TRANSPOSE : ASSAY_OP_CONV;
    const assay_attrs a = attrs_of(c, k);
    int64_t *transposed = c->depthwise ? per_channel(k->w, k->ws.dim) : NULL;
    const int64_t w_dim[4] = {k->channels, k->kh, k->kw, c->depthwise ? 1 : (int64_t)k->ws.dim[3]};
    const int64_t b_dim[1] = {(int64_t)k->nb};
    const int64_t y_dim[4] = {(int64_t)k->ys.dim[0], (int64_t)k->ys.dim[1] - k->more_h,
                              (int64_t)k->ys.dim[2] - k->more_w, k->channels};
    int64_t x_dim[4];
    assay_graph *g;
    assay_error err;
    int id;
    for (int i = 0; i < 4; i++)
        x_dim[i] = (int64_t)k->xs.dim[i];
    assert_ok(assay_graph_new("conv", &g, &err), &err);
    const int in[3] = {
        add_codes(g, "x", NULL, 4, x_dim, x_bits, c->zero[0], false),
        add_codes(g, "w", transposed ? transposed : k->w, 4, w_dim, w_bits, c->zero[1], true),
        add_codes(g, "b", k->bias, 1, b_dim, x_bits > 8 ? 64 : 32, 0, true)};
    const int out = add_codes(g, "y", NULL, 4, y_dim, 32, 0, false);
    assert_ok(assay_graph_set_inputs(g, in, 1, &err), &err);
    assert_ok(assay_graph_add_node(g, op, "y", in, 3, &out, 1, &a, &id, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &out, 1, &err), &err);
    free(transposed);
    *input = in[0];
    *output = out;
    return g;
}

/* A transposed convolution's added begin rows hold the bias alone; removed ones are padding. */
static void compare_sums(const conv_case *c, const conv_columns *k, const int32_t *got)
{
    const int64_t height = (int64_t)k->ys.dim[1], width = (int64_t)k->ys.dim[2];
    for (size_t i = 0; i < k->ny; i++) {
        const int64_t o = (int64_t)i % k->channels, place = (int64_t)i / k->channels;
        const int64_t row = place / width % height - k->more_h, col = place % width - k->more_w;
        const int64_t image = place / width / height;
        const int64_t at =
            ((image * (height - k->more_h) + row) * (width - k->more_w) + col) * k->channels + o;
        const int64_t sum = row < 0 || col < 0 ? k->bias[o] : got[at];
        if ((int32_t)sum != (int32_t)(uint32_t)(uint64_t)k->y[i])
            fail_msg("%s: element %zu is %lld, the model %lld", c->prefix, i, (long long)sum,
                     (long long)k->y[i]);
    }
}

/* One case: the accumulators of our node against the target's. */
static size_t run_case(conv_case *c, const assay_scheme *scheme, unsigned x_bits, unsigned w_bits)
{
    const conv_columns k = columns_of(c);
    assay_program *program;
    assay_run *run;
    assay_error err;
    int in, out;
    assay_graph *g = network_of(c, &k, x_bits, w_bits, &in, &out);
    assert_ok(assay_program_make_as_is(g, scheme, true, &program, &err), &err);
    assert_ok(assay_run_new(program, &run, &err), &err);
    char *to = assay_run_data(run, in);
    for (size_t i = 0; i < k.nx; i++)
        memcpy(to + i * (x_bits / 8), &k.x[i], x_bits / 8);
    assert_ok(assay_execute(run, &err), &err);
    compare_sums(c, &k, assay_run_data(run, out));
    assay_run_free(run);
    assay_program_free(program);
    assay_graph_free(g);
    return k.ny;
}

static void tosa_conv(void **state)
{
    const char *file = "tosa/conv_ops";
    char path[600];
    size_t total = 0;
    (void)state;
    assert_non_null(npz_vectors_path("tosa/conv_ops.npz", 1, path, sizeof path));
    struct npz *z = npz_open(path);
    memcpy(path + strlen(path) - 3, "json", 5);
    json_t *about = json_load_file(path, 0, NULL);
    assert_non_null(z);
    assert_non_null(about);
    assay_scheme *narrow = unit_open("tosa-single"), *wide = unit_open("tosa-inexact-16");
    const json_t *list = json_object_get(about, "cases");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *j = json_array_get(list, i);
        const char *op = json_string_value(json_object_get(j, "op"));
        bool w4 = strcmp(json_string_value(json_object_get(j, "weight_type")), "INT4") == 0;
        bool x16 = strcmp(json_string_value(json_object_get(j, "input_type")), "INT16") == 0;
        conv_case c = {.z = z,
                       .prefix = json_string_value(json_object_get(j, "prefix")),
                       .transposed = op[0] == 'T',
                       .depthwise = op[0] == 'D',
                       .zero = {json_integer_value(json_object_get(j, "input_zp")),
                                json_integer_value(json_object_get(j, "weight_zp"))},
                       .stride = {1, 1},
                       .dilation = {1, 1}};
        list_of(j, c.transposed ? "out_pad" : "pad", c.pad, 4);
        list_of(j, "stride", c.stride, 2);
        list_of(j, "dilation", c.dilation, 2);
        total += run_case(&c, x16 ? wide : narrow, x16 ? 16 : 8, w4 ? 4 : 8);
    }
    assert_true(json_array_size(list) > 40);
    vectors_count(file, total);
    json_decref(about);
    npz_close(z);
    assay_scheme_free(narrow);
    assay_scheme_free(wide);
}

size_t vectors_tosa_tests(struct CMUnitTest *out)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tosa_elements),
        cmocka_unit_test(tosa_signs),
        cmocka_unit_test(tosa_reciprocal),
        cmocka_unit_test(tosa_conv),
    };
    memcpy(out, tests, sizeof tests);
    return sizeof tests / sizeof *tests;
}
