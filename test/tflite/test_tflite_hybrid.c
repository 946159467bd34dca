/* Integer weights under float activations in a TFLite model, with one scale, one per channel or one
 * a block: real numbers in the network. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"
#include "test/support/tflite_lstm.h"

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
    tb_model m = tflite_lstm(&(tflite_lstm_case){TFL_FLOAT32, 1, 2, true, 0});
    unsigned char *file;
    assay_graph *g;

    (void)state;
    for (int k = 0; k < 2 * LSTM_GATES; ++k) {
        tb_tensor *t = &m.tensor[m.op[0].in[1 + k]];
        t->type = TFL_INT8;
        t->data = codes;
        t->bytes = k < LSTM_GATES ? LSTM_UNITS * LSTM_INPUTS : LSTM_UNITS * LSTM_UNITS;
        t->n_scales = 1;
        t->scale[0] = 0.01F;
    }
    g = tb_import_ok(&m, &file);
    for (int k = 0; k < 2 * LSTM_GATES; ++k) {
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
    tb_refuse(&m, "not constants, one per block");
    m.tensor[0].type = m.tensor[3].type = TFL_INT8;
    m.tensor[0].n_scales = m.tensor[3].n_scales = 1;
    m.tensor[0].scale[0] = m.tensor[3].scale[0] = 1;
    tb_refuse(&m, "blockwise parameters");
}

/* y of an FC on two rows, imported with its integers and run under tflite. */
static void run_integers(const tb_model *m, const float *x, float y[6])
{
    const assay_tflite_options options = {.hybrid = true};
    size_t size;
    unsigned char *file = tb_finish(m, &size);
    assay_graph *g;
    assay_scheme *scheme;
    assay_program *p;
    assay_run *r;
    assay_error err;

    assert_ok(tfl_import_entry("hybrid", NULL, file, size, &options, &g, &err), &err);
    assert_ok(assay_scheme_open("tflite", &scheme, &err), &err);
    assert_ok(assay_program_make(g, scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, g->input[0]), x, 6 * sizeof *x);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    memcpy(y, assay_run_data(r, g->output[0]), 6 * sizeof *y);
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(scheme);
    assay_graph_free(g);
    free(file);
}

/* Codes by each row's own range, products in integers, rounded where TFLite's kernel rounds; one
 * scale and one per channel, with a zero point and without. */
static void hybrid_integers(void **state)
{
    enum { FC = 9, K = 3, O = 3 };
    static const int8_t w[O * K] = {10, -20, 30, -40, 50, -60, 7, 8, -127};
    static const float x[2 * K] = {0.7F, -1.3F, 2.9F, -0.011F, 0.002F, 0.033F},
                             b[O] = {1, -2, 0.5F};

    (void)state;
    for (int k = 0; k < 4; ++k) {
        tb_model m = {.n_inputs = 1, .n_outputs = 1, .output = {3}};
        float y[2 * O];
        tb_op *op;

        tb_add(&m, "x", TFL_FLOAT32, 2, K, -1);
        tb_add(&m, "w", TFL_INT8, O, K, -1);
        for (int i = 0; i < (k & 1 ? O : 1); ++i)
            tb_quant(&m, 0.013F + 0.004F * (float)i, 0);
        tb_data(&m, w, sizeof w);
        tb_add(&m, "b", TFL_FLOAT32, O, -1);
        tb_data(&m, b, sizeof b);
        tb_add(&m, "y", TFL_FLOAT32, 2, O, -1);
        op = tb_operator(&m, FC, 0, 1, 2, -2);
        tb_outputs(op, 3, -2);
        tb_option_i8(op, 3, k >= 2);
        run_integers(&m, x, y);
        for (int i = 0; i < 2 * O; ++i) {
            const float *row = x + i / O * K, min = fminf(row[0], row[1]), max = row[2];
            const float scale = k < 2 ? max / 127 : (float)(((double)max - (double)min) / 255);
            const float factor = k < 2 ? 127 / max : 1 / scale;
            const double low = (double)min / (((double)max - (double)min) / 255);
            const int zero = k < 2 ? 0 : (int)round(-128 - low); /* |least| is less than max here */
            const float channel = 0.013F + 0.004F * (float)(k & 1 ? i % O : 0);
            int sum = 0;
            for (int j = 0; j < K; ++j) {
                const float scaled = row[j] * factor;
                sum += ((int)roundf(scaled + (float)zero) - zero) * w[i % O * K + j];
            }
            const float both = scale * channel, product = (float)sum * both;
            assert_true(y[i] == product + b[i % O]);
        }
    }
}

/* An SVDF's features alone are in integers; a memory of one step and weights of 1 in time show
 * them. */
static void svdf_integers(void **state)
{
    enum { SVDF = 27, K = 3, O = 3 };
    static const int8_t w[O * K] = {10, -20, 30, -40, 50, -60, 7, 8, -127}, ones[O] = {64, 64, 64};
    static const float x[2 * K] = {0.7F, -1.3F, 2.9F, -0.011F, 0.002F, 0.033F};
    tb_model m = {.n_inputs = 1, .n_outputs = 1, .output = {4}};
    float y[2 * O];

    (void)state;
    tb_add(&m, "x", TFL_FLOAT32, 2, K, -1);
    tb_add(&m, "feature", TFL_INT8, O, K, -1);
    tb_quant(&m, 0.013F, 0);
    tb_data(&m, w, sizeof w);
    tb_add(&m, "time", TFL_INT8, O, 1, -1);
    tb_quant(&m, 1.0F / 64, 0);
    tb_data(&m, ones, sizeof ones);
    tb_add(&m, "memory", TFL_FLOAT32, 2, O, -1);
    m.tensor[3].is_variable = true;
    tb_add(&m, "y", TFL_FLOAT32, 2, O, -1);
    tb_operator(&m, SVDF, 0, 1, 2, -1, 3, -2);
    tb_option_i32(&m.op[0], 0, 1);
    tb_outputs(&m.op[0], 4, -2);
    run_integers(&m, x, y);
    for (int i = 0; i < 2 * O; ++i) {
        const float *row = x + i / O * K, factor = 127 / row[2], both = row[2] / 127 * 0.013F;
        int sum = 0;
        for (int j = 0; j < K; ++j) {
            const float scaled = row[j] * factor;
            sum += (int)roundf(scaled) * w[i % O * K + j];
        }
        assert_true(y[i] == (float)sum * both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hybrid),        cmocka_unit_test(hybrid_integers),
        cmocka_unit_test(svdf_integers), cmocka_unit_test(hybrid_state),
        cmocka_unit_test(blockwise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
