/* Small networks written as TFLite: each comes back the same; what TFLite has no words for is
 * refused by name, all of it at once. With ASSAY_SEEDS=DIR the files are left there, for fuzzers.
 */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "test/support/tflite_build.h"
#include "test/support/tflite_graphs.h"
#include "test/support/tflite_roundtrip.h"

static void leave(const assay_graph *g)
{
    const char *folder = getenv("ASSAY_SEEDS");
    char path[4096];
    unsigned char *bytes;
    size_t length;
    assay_error err;

    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%s.tflite", folder, g->name);
    assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
    test_write_file(path, bytes, length);
    free(bytes);
}

static void comes_back(void **state)
{
    test_rng rng = test_seed("tflite_export", 7);
    (void)state;
    for (int i = 0; i < n_tflite_graphs; ++i) {
        assay_graph *g = tflite_graph(tflite_graphs[i]);
        roundtrip sum = {0};
        test_tflite_roundtrip(g, "tflite", 3, &rng, &sum);
        test_tflite_roundtrip(g, "tflite-single", 1, &rng, &sum);
        if (sum.mismatches)
            fail_msg("%s: %ld mismatches", g->name, sum.mismatches);
        assert_true(sum.values >= 4 * (g->n_nodes > 1 ? g->n_nodes / 2 : 1));
        leave(g);
        assay_graph_free(g);
    }
}

static const char *const refusals[][2] = {
    {"graph a { input x: f32[2,3]\n y: f32[2,3] = erf(x)\n z: f32[2,3] = softplus(y)\n output z }",
     "node 'y' (erf): no operator of TFLite's is written for it; node 'z' (softplus)"},
    {"graph b { input x: i8[2,3] q(0.1,0)\n const w: i8[4,3] q(0.1,0) = splat 1\n"
     "y: i32[2,4] = fc(x, w)\n output y }",
     "plain sums"},
    {"graph c { input x: i8[2,3] q(0.1,0)\n const w: i8[4,3] q(0.1,5) = splat 1\n"
     "y: i8[2,4] q(0.1,0) = fc(x, w)\n output y }",
     "signed weights with a zero point"},
    {"graph d { input x: u4[2,3] q(0.1,0)\n y: u4[6] q(0.1,0) = reshape(x) {shape=[6]}\n output y "
     "}",
     "value 'x' (u4): no type of TFLite's"},
    {"graph e { input x: f32[1,4,4,1]\n y: f32[1,2,2,1] = avg_pool(x) {layout=nhwc, kernel=[3,3], "
     "stride=[2,2], pad_begin=[1,1]}\n output y }",
     "averages at the border"},
    {"graph f { input x: i8[2,3] q(0.1,0)\n y: i8[2,3] q(0.2,0) = clip(x) {lo=-1, hi=2}\n output y "
     "}",
     "between different parameters"},
    {"graph g { input x: f32[2,3]\n y: f32[2,3] = softmax(x) {axis=0}\n output y }",
     "an axis that is not the last"},
    {"graph h { input x: f32[1,2,4,4,4]\n const w: f32[1,2,1,1,1] = splat 1\n"
     "y: f32[1,1,4,4,4] = conv(x, w)\n output y }",
     "two spatial dimensions"},
    {"graph k { input x: f32[1,1,3,3]\n y: f32[1,1,6,6] = resize(x) {size=[1,1,6,6]}\n output y }",
     "no resize"},
    {"graph l { input x: i16[2,3] q(0.1,7)\n const w: i8[4,3] q(0.1,0) = splat 1\n"
     "y: i16[2,4] q(0.1,0) = fc(x, w)\n output y }",
     "16-bit codes with a zero point"},
};

/* MAXIMUM compares raw codes: what has other parameters than the result is requantized before it in
 * what we write, and codes of the result in what we read. */
static void raw_maximum(void **state)
{
    (void)state;
    assay_graph *g = tflite_graph("graph m { input a: i8[2] q(0.1,3)\n input b: i8[2] q(0.2,1)\n"
                                  "y: i8[2] q(0.2,1) = max(a, b)\n output y }");
    assay_graph *back;
    unsigned char *bytes, *file;
    size_t length;
    assay_error err;
    assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(tfl_import_memory("m", bytes, length, &back, &err), &err);
    assert_int_equal(back->n_nodes, 2);
    assert_int_equal(back->node[0].op, ASSAY_OP_RESCALE);
    assert_int_equal(tb_producer(back, "y")->op, ASSAY_OP_MAX);
    assay_graph_free(back);
    assay_graph_free(g);
    free(bytes);

    tb_model m = {.n_inputs = 2, .n_outputs = 1, .input = {0, 1}, .output = {2}};
    tb_add(&m, "a", TFL_INT8, 2, -1);
    tb_quant(&m, 0.1F, 3);
    tb_add(&m, "b", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_add(&m, "y", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_outputs(tb_operator(&m, 55, 0, 1, -2), 2, -2); /* MAXIMUM */
    back = tb_import_ok(&m, &file);
    assert_int_equal(back->n_nodes, 2);
    assert_int_equal(back->node[0].op, ASSAY_OP_RELABEL);
    assay_graph_free(back);
    free(file);
}

/* SELECT_V2 likewise: of its operands the two that it chooses from. */
static void raw_select(void **state)
{
    (void)state;
    assay_graph *back;
    unsigned char *file;
    tb_model m = {.n_inputs = 3, .n_outputs = 1, .input = {0, 1, 2}, .output = {3}};
    tb_add(&m, "c", TFL_BOOL, 2, -1);
    tb_add(&m, "a", TFL_INT8, 2, -1);
    tb_quant(&m, 0.1F, 3);
    tb_add(&m, "b", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_add(&m, "y", TFL_INT8, 2, -1);
    tb_quant(&m, 0.2F, 1);
    tb_outputs(tb_operator(&m, 123, 0, 1, 2, -2), 3, -2); /* SELECT_V2 */
    back = tb_import_ok(&m, &file);
    assert_int_equal(back->n_nodes, 2);
    assert_int_equal(back->node[0].op, ASSAY_OP_RELABEL);
    assert_string_equal(back->value[back->node[0].in[0]].name, "a");
    assay_graph_free(back);
    free(file);
}

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; ++i) {
        assay_graph *g = tflite_graph(refusals[i][0]);
        unsigned char *bytes;
        size_t length;
        assay_error err;
        assert_refused(tfl_export_graph(g, &bytes, &length, &err), &err, refusals[i][1]);
        assert_null(bytes);
        assay_graph_free(g);
    }
}

/* A graph of a hundred nodes that cannot be written: the message stays a line and counts them. */
static void refused_all(void **state)
{
    static char text[8192];
    size_t used = (size_t)snprintf(text, sizeof text, "graph many { input v0: f32[2]\n");
    unsigned char *bytes;
    size_t length;
    assay_graph *g;
    assay_error err;

    (void)state;
    for (int i = 1; i <= 100; ++i)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "v%d: f32[2] = erf(v%d)\n", i, i - 1);
    snprintf(text + used, sizeof text - used, "output v100 }");
    g = tflite_graph(text);
    assert_refused(tfl_export_graph(g, &bytes, &length, &err), &err, "more");
    assay_graph_free(g);
}

/* ---- an LSTM comes apart when it is read, and is whole in the file ---- */

enum { LSTM = 44, GATES = 4, UNITS = 2, INPUTS = 3 };

typedef struct lstm_case {
    int type, batch, steps;
    bool major;
    float clip;
} lstm_case;

/* Weights and biases: three constants of a gate each. */
static void add_weights(tb_model *m, const lstm_case *c, int w[3 * GATES])
{
    static int8_t codes[3 * GATES][8];
    static int64_t wide[GATES][UNITS];
    static int32_t bias[GATES][UNITS];
    static float real[3 * GATES][8];
    const bool codes_used = c->type != TFL_FLOAT32;
    for (int k = 0; k < 3 * GATES; ++k) {
        const int n = k < GATES ? UNITS * INPUTS : k < 2 * GATES ? UNITS * UNITS : UNITS;
        char name[16];
        snprintf(name, sizeof name, "w%d", k);
        for (int i = 0; i < n; ++i) {
            const int v = (k * 31 + i * 47) % 201 - 100;
            real[k][i] = (float)v / 100;
            codes[k][i] = (int8_t)v;
            if (k >= 2 * GATES)
                wide[k - 2 * GATES][i] = bias[k - 2 * GATES][i] = 20 * v;
        }
        if (k < 2 * GATES)
            w[k] = tb_add(m, name, codes_used ? TFL_INT8 : TFL_FLOAT32, UNITS,
                          k < GATES ? INPUTS : UNITS, -1);
        else
            w[k] = tb_add(m, name,
                          !codes_used            ? TFL_FLOAT32
                          : c->type == TFL_INT16 ? TFL_INT64
                                                 : TFL_INT32,
                          UNITS, -1);
        if (!codes_used)
            tb_data(m, real[k], (size_t)n * 4);
        else if (k < 2 * GATES)
            tb_data(m, codes[k], (size_t)n);
        else if (c->type == TFL_INT16)
            tb_data(m, wide[k - 2 * GATES], (size_t)n * 8);
        else
            tb_data(m, bias[k - 2 * GATES], (size_t)n * 4);
        if (codes_used)
            tb_quant(m, k < 2 * GATES ? 0.01F : 0.001F, 0);
    }
}

static tb_model lstm_model(const lstm_case *c)
{
    tb_model m = {.n_inputs = 1, .n_outputs = 1, .input = {0}, .output = {1}};
    const bool codes = c->type != TFL_FLOAT32, narrow = c->type == TFL_INT8;
    const int d0 = c->major ? c->steps : c->batch, d1 = c->major ? c->batch : c->steps;
    int w[3 * GATES], hidden, cell;
    tb_op *op;

    tb_add(&m, "x", c->type, d0, d1, INPUTS, -1);
    if (codes)
        tb_quant(&m, narrow ? 0.05F : 0.0002F, narrow ? 3 : 0);
    tb_add(&m, "y", c->type, d0, d1, UNITS, -1);
    if (codes)
        tb_quant(&m, narrow ? 0.01F : 1.0F / 32768, narrow ? -5 : 0);
    add_weights(&m, c, w);
    hidden = tb_add(&m, "hidden", c->type, c->batch, UNITS, -1);
    m.tensor[hidden].is_variable = true;
    if (codes)
        tb_quant(&m, narrow ? 0.01F : 1.0F / 32768, narrow ? -5 : 0);
    cell = tb_add(&m, "cell", codes ? TFL_INT16 : TFL_FLOAT32, c->batch, UNITS, -1);
    m.tensor[cell].is_variable = true;
    if (codes) /* one is a power of two, one is rounded to one before the tanh */
        tb_quant(&m, narrow ? 1.0F / 2048 : 0.0003F, 0);
    op = tb_operator(&m, LSTM, 0, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], -1, -1, -1, w[8],
                     w[9], w[10], w[11], -1, -1, hidden, cell, -1, -1, -1, -1, -2);
    tb_outputs(op, 1, -2);
    tb_option_i8(op, LSTM_ACTIVATION, ACTIVATION_TANH);
    tb_option_i8(op, LSTM_TIME_MAJOR, c->major);
    tb_option_f32(op, LSTM_CELL_CLIP, c->clip);
    return m;
}

static void lstm_is_whole(void **state)
{
    static const lstm_case cases[] = {
        {TFL_INT8, 2, 3, true, 0},    {TFL_INT8, 1, 3, false, 1.5F},   {TFL_INT8, 2, 1, false, 0},
        {TFL_INT8, 2, 1, true, 6},    {TFL_INT16, 1, 2, true, 0.7F},   {TFL_INT16, 2, 4, false, 0},
        {TFL_FLOAT32, 1, 3, true, 0}, {TFL_FLOAT32, 2, 2, false, 0.5F}};
    test_rng rng = test_seed("tflite_export_lstm", 8);
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
        const tb_model m = lstm_model(&cases[i]);
        unsigned char *file, *bytes;
        size_t length;
        roundtrip sum = {0};
        assay_error err;
        assay_graph *g = tb_import_ok(&m, &file);
        g->name = "lstm";
        test_tflite_roundtrip(g, "tflite", 3, &rng, &sum);
        test_tflite_roundtrip(g, "tflite-single", 2, &rng, &sum);
        assert_int_equal(sum.mismatches, 0);
        assert_true(sum.values >= 5 * g->n_nodes - 10);
        assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
        assert_true(length < 5000); /* one operator: taken apart, names alone are more */
        free(bytes);
        leave(g);
        assay_graph_free(g);
        free(file);
    }
}

/* A gate that is read from outside: the nodes stay what they are, which TFLite has no words for. */
static void open_lstm_is_refused(void **state)
{
    const tb_model m = lstm_model(&(lstm_case){TFL_INT8, 1, 2, true, 0});
    unsigned char *file, *bytes;
    size_t length;
    assay_error err;
    assay_graph *g = tb_import_ok(&m, &file);
    int out[2] = {g->output[0], assay_graph_find_value(g, "y/step1/cell")};

    (void)state;
    assert_true(out[1] >= 0);
    assert_ok(assay_graph_set_outputs(g, out, 2, &err), &err);
    assert_refused(tfl_export_graph(g, &bytes, &length, &err), &err, "i8 by i8 to i16");
    assay_graph_free(g);
    free(file);
}

/* Integer weights under float activations: the real values of the weights. */
static void hybrid(void **state)
{
    enum { FC = 9 };
    static const int8_t weights[6] = {10, -20, 30, -40, 50, -60};
    tb_model m = {0};
    unsigned char *file;
    size_t size;
    assay_graph *g;
    assay_error err;

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 1, 3, -1);
    tb_add(&m, "w", TFL_INT8, 2, 3, -1);
    tb_quant(&m, 0.5F, 2);
    tb_data(&m, weights, sizeof weights);
    tb_add(&m, "y", TFL_FLOAT32, 1, 2, -1);
    tb_outputs(tb_operator(&m, FC, 0, 1, -1, -2), 2, -2);
    m.n_inputs = m.n_outputs = 1;
    m.output[0] = 2;
    file = tb_finish(&m, &size);
    assert_ok(tfl_import_memory("hybrid", file, size, &g, &err), &err);
    for (int i = 0; i < 6; ++i) {
        const assay_value *w = &g->value[assay_graph_find_value(g, "w")];
        assert_true(w->type.elem.kind == ASSAY_KIND_F32 && w->type.q.count == 0);
        assert_true(((const float *)w->data)[i] == 0.5F * (float)(weights[i] - 2));
    }
    assay_graph_free(g);
    free(file);
}

/* Real weights of a constant, one scale. */
static void real_of_codes(const assay_graph *g, const char *name, const int8_t *codes, int n)
{
    const assay_value *w = tb_value(g, name);
    assert_true(w->type.elem.kind == ASSAY_KIND_F32 && assay_shape_count(&w->type) == n);
    for (int i = 0; i < n; ++i)
        assert_true(((const float *)w->data)[i] == 0.01F * (float)codes[i]);
}

static void hybrid_state(void **state)
{
    enum { SVDF = 27, SVDF_RANK = 0 };
    static const int8_t codes[6] = {10, -20, 30, -40, 50, -60};
    tb_model m = lstm_model(&(lstm_case){TFL_FLOAT32, 1, 2, true, 0});
    unsigned char *file;
    assay_graph *g;

    (void)state;
    for (int k = 0; k < 2 * GATES; ++k) {
        tb_tensor *t = &m.tensor[m.op[0].in[1 + k]];
        t->type = TFL_INT8;
        t->data = codes;
        t->bytes = k < GATES ? UNITS * INPUTS : UNITS * UNITS;
        t->n_scales = 1;
        t->scale[0] = 0.01F;
    }
    g = tb_import_ok(&m, &file);
    for (int k = 0; k < 2 * GATES; ++k) {
        const tb_tensor *t = &m.tensor[m.op[0].in[1 + k]];
        real_of_codes(g, t->name, codes, (int)t->bytes);
    }
    assay_graph_free(g);
    free(file);

    m = (tb_model){.n_inputs = 1, .n_outputs = 1, .output = {4}};
    tb_add(&m, "x", TFL_FLOAT32, 1, 3, -1);
    tb_add(&m, "feature", TFL_INT8, 2, 3, -1);
    tb_quant(&m, 0.01F, 0);
    tb_data(&m, codes, 6);
    tb_add(&m, "time", TFL_INT8, 2, 2, -1);
    tb_quant(&m, 0.01F, 0);
    tb_data(&m, codes, 4);
    tb_add(&m, "memory", TFL_FLOAT32, 1, 4, -1);
    m.tensor[3].is_variable = true;
    tb_add(&m, "y", TFL_FLOAT32, 1, 2, -1);
    tb_operator(&m, SVDF, 0, 1, 2, -1, 3, -2);
    tb_option_i32(&m.op[0], SVDF_RANK, 1);
    tb_outputs(&m.op[0], 4, -2);
    g = tb_import_ok(&m, &file);
    real_of_codes(g, "feature", codes, 6);
    real_of_codes(g, "time", codes, 4);
    assay_graph_free(g);
    free(file);
}

/* Weights with a scale for each block of two inputs: real numbers, under float activations only. */
static void blockwise(void **state)
{
    enum { FC = 9 };
    static const int8_t weights[8] = {10, -20, 30, -40, 50, -60, 70, -80};
    static const float scales[4] = {0.5F, 2, 0.25F, 1};
    static const float want[8] = {5, -10, 60, -80, 12.5F, -15, 70, -80};
    tb_model m = {.n_inputs = 1, .n_outputs = 1, .output = {3}};
    unsigned char *file;
    assay_graph *g;

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 1, 4, -1);
    tb_add(&m, "w", TFL_INT8, 2, 4, -1);
    tb_data(&m, weights, sizeof weights);
    m.tensor[1].block = 2;
    m.tensor[1].block_scales = 2;
    tb_add(&m, "scales", TFL_FLOAT32, 2, 2, -1);
    tb_data(&m, scales, sizeof scales);
    tb_add(&m, "y", TFL_FLOAT32, 1, 2, -1);
    tb_outputs(tb_operator(&m, FC, 0, 1, -1, -2), 3, -2);
    g = tb_import_ok(&m, &file);
    assert_memory_equal(tb_value(g, "w")->data, want, sizeof want);
    assay_graph_free(g);
    free(file);
    m.tensor[1].block = 3;
    tb_refuse(&m, "does not divide into blocks");
    m.tensor[1].block = 2;
    m.tensor[1].block_scales = 0;
    tb_refuse(&m, "not constants, one a block");
    m.tensor[0].type = m.tensor[3].type = TFL_INT8;
    m.tensor[0].n_scales = m.tensor[3].n_scales = 1;
    m.tensor[0].scale[0] = m.tensor[3].scale[0] = 1;
    tb_refuse(&m, "blockwise parameters");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_maximum),          cmocka_unit_test(raw_select),
        cmocka_unit_test(comes_back),           cmocka_unit_test(refused),
        cmocka_unit_test(refused_all),          cmocka_unit_test(lstm_is_whole),
        cmocka_unit_test(open_lstm_is_refused), cmocka_unit_test(hybrid),
        cmocka_unit_test(hybrid_state),         cmocka_unit_test(blockwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
