/* A TFLite model of one LSTM, put together. */
#include "test/support/tflite_lstm.h"

#include <stdio.h>

#include "graph/tflite/flat/schema.h"

enum { LSTM = 44 };

/* Weights and biases: three constants of a gate each. */
static void add_weights(tb_model *m, const tflite_lstm_case *c, int w[3 * LSTM_GATES])
{
    static int8_t codes[3 * LSTM_GATES][8];
    static int64_t wide[LSTM_GATES][LSTM_UNITS];
    static int32_t bias[LSTM_GATES][LSTM_UNITS];
    static float real[3 * LSTM_GATES][8];
    const bool codes_used = c->type != TFL_FLOAT32;
    for (int k = 0; k < 3 * LSTM_GATES; ++k) {
        const int n = k < LSTM_GATES       ? LSTM_UNITS * LSTM_INPUTS
                      : k < 2 * LSTM_GATES ? LSTM_UNITS * LSTM_UNITS
                                           : LSTM_UNITS;
        char name[16];
        snprintf(name, sizeof name, "w%d", k);
        for (int i = 0; i < n; ++i) {
            const int v = (k * 31 + i * 47) % 201 - 100;
            real[k][i] = (float)v / 100;
            codes[k][i] = (int8_t)v;
            if (k >= 2 * LSTM_GATES)
                wide[k - 2 * LSTM_GATES][i] = bias[k - 2 * LSTM_GATES][i] = 20 * v;
        }
        if (k < 2 * LSTM_GATES)
            w[k] = tb_add(m, name, codes_used ? TFL_INT8 : TFL_FLOAT32, LSTM_UNITS,
                          k < LSTM_GATES ? LSTM_INPUTS : LSTM_UNITS, -1);
        else
            w[k] = tb_add(m, name,
                          !codes_used            ? TFL_FLOAT32
                          : c->type == TFL_INT16 ? TFL_INT64
                                                 : TFL_INT32,
                          LSTM_UNITS, -1);
        if (!codes_used)
            tb_data(m, real[k], (size_t)n * 4);
        else if (k < 2 * LSTM_GATES)
            tb_data(m, codes[k], (size_t)n);
        else if (c->type == TFL_INT16)
            tb_data(m, wide[k - 2 * LSTM_GATES], (size_t)n * 8);
        else
            tb_data(m, bias[k - 2 * LSTM_GATES], (size_t)n * 4);
        if (codes_used)
            tb_quant(m, k < 2 * LSTM_GATES ? 0.01F : 0.001F, 0);
    }
}

tb_model tflite_lstm(const tflite_lstm_case *c)
{
    tb_model m = {.n_inputs = 1, .n_outputs = 1, .input = {0}, .output = {1}};
    const bool codes = c->type != TFL_FLOAT32, narrow = c->type == TFL_INT8;
    const int d0 = c->major ? c->steps : c->batch, d1 = c->major ? c->batch : c->steps;
    int w[3 * LSTM_GATES], hidden, cell;
    tb_op *op;

    tb_add(&m, "x", c->type, d0, d1, LSTM_INPUTS, -1);
    if (codes)
        tb_quant(&m, narrow ? 0.05F : 0.0002F, narrow ? 3 : 0);
    tb_add(&m, "y", c->type, d0, d1, LSTM_UNITS, -1);
    if (codes)
        tb_quant(&m, narrow ? 0.01F : 1.0F / 32768, narrow ? -5 : 0);
    add_weights(&m, c, w);
    hidden = tb_add(&m, "hidden", c->type, c->batch, LSTM_UNITS, -1);
    m.tensor[hidden].is_variable = true;
    if (codes)
        tb_quant(&m, narrow ? 0.01F : 1.0F / 32768, narrow ? -5 : 0);
    cell = tb_add(&m, "cell", codes ? TFL_INT16 : TFL_FLOAT32, c->batch, LSTM_UNITS, -1);
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
