/* LSTM operators of every form against their formulas in double precision: coupled gates, weights
 * of the cell, projection, normalized sums; the basic kernel. Damaged copies are refused or
 * imported. TensorFlow Lite itself: ./dev peer litert (peer/recurrent.py). */
#include "test/support/support.h"

#include <math.h>
#include <string.h>

#include "test/support/tflite_recurrent.h"

static void normalize(double sum[UNITS], const float *by, const float *bias)
{
    double mean = 0, variance = 0;
    for (int u = 0; u < UNITS; ++u)
        mean += sum[u] / UNITS;
    for (int u = 0; u < UNITS; ++u)
        variance += (sum[u] - mean) * (sum[u] - mean) / UNITS;
    for (int u = 0; u < UNITS; ++u)
        sum[u] = (sum[u] - mean) / sqrt(variance + 1e-8) * (double)by[u] + (double)bias[u];
}

/* A gate's sums, of every unit, before its function. */
static void gate_sums(const lstm_tensors *t, const lstm_form *f, int g, const double *x,
                      const double *h, const double *c, double sum[UNITS])
{
    static const int peephole[GATES] = {0, 1, -1, 2};
    const int out = f->projected ? OUT : UNITS;

    for (int u = 0; u < UNITS; ++u) {
        sum[u] = rec_dot(x, rec_real[t->w[g]] + u * IN, IN) +
                 rec_dot(h, rec_real[t->r[g]] + u * out, out);
        if (f->peephole && peephole[g] >= 0)
            sum[u] += c[u] * (double)rec_real[t->p[peephole[g]]][u];
        if (!f->norm)
            sum[u] += (double)rec_real[t->b[g]][u];
    }
    if (f->norm)
        normalize(sum, rec_real[t->norm[g]], rec_real[t->b[g]]);
}

static double sigmoid(double v)
{
    return 1 / (1 + exp(-v));
}

static void twin_step(const lstm_tensors *t, const lstm_form *f, const float *x, double h[UNITS],
                      double c[UNITS])
{
    double in[IN], sum[GATES][UNITS], inner[UNITS];

    for (int i = 0; i < IN; ++i)
        in[i] = (double)x[i];
    for (int g = f->coupled; g < GATE_OUTPUT; ++g)
        gate_sums(t, f, g, in, h, c, sum[g]);
    for (int u = 0; u < UNITS; ++u) {
        const double forget = sigmoid(sum[GATE_FORGET][u]);
        const double input = f->coupled ? 1 - forget : sigmoid(sum[GATE_INPUT][u]);
        c[u] = forget * c[u] + input * tanh(sum[GATE_CELL][u]);
    }
    gate_sums(t, f, GATE_OUTPUT, in, h, c, sum[GATE_OUTPUT]);
    for (int u = 0; u < UNITS; ++u)
        h[u] = inner[u] = tanh(c[u]) * sigmoid(sum[GATE_OUTPUT][u]);
    for (int o = 0; f->projected && o < OUT; ++o)
        h[o] = rec_dot(inner, rec_real[t->projection] + o * UNITS, UNITS);
}

/* Codes of 8 bits are within a hundredth of the numbers that they stand for, and those of three
 * steps add up. */
static void near(const float *got, const double *want, int n, double by)
{
    for (int i = 0; i < n; ++i)
        if (!(fabs((double)got[i] - want[i]) < by))
            fail_msg("element %d is %.9g, expected %.9g", i, (double)got[i], want[i]);
}

static void lstm_of_every_form(void **unused)
{
    static const lstm_form forms[] = {
        {false, false, false, false, true},        {true, false, false, false, false},
        {false, true, false, false, true},         {false, false, true, false, false},
        {false, false, false, true, true},         {true, true, true, true, false},
        {false, false, false, false, false, true}, {true, true, true, true, true, true}};
    test_rng rng = test_seed("tflite_recurrent_lstm", 20261127);

    (void)unused;
    for (int single = 0; single < 2; ++single)
        for (size_t k = 0; k < sizeof forms / sizeof *forms; ++k) {
            const lstm_form *f = &forms[k];
            const int out = f->projected ? OUT : UNITS, steps = single ? 1 : STEPS;
            tb_model m = {.n_inputs = 1, .n_outputs = 1};
            float x[BATCH * STEPS * IN], y[BATCH * STEPS * UNITS];
            lstm_tensors t;
            tb_op *op;

            if (single)
                tb_add(&m, "x", TFL_FLOAT32, BATCH, IN, -1);
            else
                rec_over_time(&m, "x", IN, f->major);
            t = rec_lstm(&m, f, "");
            m.output[0] = single ? tb_add(&m, "y", TFL_FLOAT32, BATCH, out, -1)
                                 : rec_over_time(&m, "y", out, f->major);
            op = tb_operator(&m, single ? LSTM : SEQUENCE_LSTM, 0, t.w[0], t.w[1], t.w[2], t.w[3],
                             t.r[0], t.r[1], t.r[2], t.r[3], t.p[0], t.p[1], t.p[2], t.b[0], t.b[1],
                             t.b[2], t.b[3], t.projection, NONE, t.h, t.c, t.norm[0], t.norm[1],
                             t.norm[2], t.norm[3], END);
            tb_outputs(op, m.output[0], END);
            tb_option_i8(op, LSTM_ACTIVATION, ACTIVATION_TANH);
            if (!single)
                tb_option_i8(op, LSTM_TIME_MAJOR, f->major);
            rec_draw(&rng, x, BATCH * steps * IN);
            rec_run(&m, f->hybrid, (const float *const[]){x}, (float *const[]){y});
            for (int state = 0; state < 2; ++state) {
                const int s = state ? t.c : t.h;
                m.tensor[s].type = TFL_INT32;
                rec_refuse(&m, "states of other elements than the input's");
                m.tensor[s].type = TFL_FLOAT32;
            }
            for (int row = 0; row < BATCH; ++row) {
                double h[UNITS] = {0}, c[UNITS] = {0};
                for (int s = 0; s < steps; ++s) {
                    twin_step(&t, f, x + (single ? row * IN : rec_at(f->major, row, s, IN)), h, c);
                    near(y + (single ? row * out : rec_at(f->major, row, s, out)), h, out,
                         f->hybrid ? 0.03 : 1e-6);
                }
            }
        }
}

/* What goes in and comes out of the basic kernel is what the full one keeps. */
static void basic_lstm(void **unused)
{
    enum { WIDE = IN + UNITS, GATES_WIDE = GATES * UNITS };
    static float w[GATES_WIDE * WIDE], b[GATES_WIDE];
    tb_model m = {.n_inputs = 3, .n_outputs = 4, .input = {0, 1, 4}, .output = {5, 6, 7, 8}};
    float x[BATCH * IN], h[BATCH * UNITS], c[BATCH * UNITS], y[4][BATCH * GATES_WIDE];
    test_rng rng = test_seed("tflite_recurrent_basic", 20261127);
    tb_op *op;

    (void)unused;
    tb_add(&m, "x", TFL_FLOAT32, BATCH, IN, -1);
    tb_add(&m, "h", TFL_FLOAT32, BATCH, UNITS, -1);
    tb_add(&m, "w", TFL_FLOAT32, GATES_WIDE, WIDE, -1);
    tb_data(&m, w, sizeof w);
    tb_add(&m, "b", TFL_FLOAT32, GATES_WIDE, -1);
    tb_data(&m, b, sizeof b);
    tb_add(&m, "c", TFL_FLOAT32, BATCH, UNITS, -1);
    tb_add(&m, "y", TFL_FLOAT32, BATCH, UNITS, -1);
    tb_add(&m, "cell", TFL_FLOAT32, BATCH, UNITS, -1);
    tb_add(&m, "rows", TFL_FLOAT32, BATCH, WIDE, -1);
    tb_add(&m, "sums", TFL_FLOAT32, BATCH, GATES_WIDE, -1);
    op = tb_operator(&m, LSTM, 0, 1, 2, 3, 4, END);
    tb_outputs(op, 5, 6, 7, 8, END);
    tb_option_i8(op, 0, ACTIVATION_TANH);
    tb_option_i8(op, 3, 1);
    rec_draw(&rng, w, GATES_WIDE * WIDE);
    rec_draw(&rng, b, GATES_WIDE);
    rec_draw(&rng, x, BATCH * IN);
    rec_draw(&rng, h, BATCH * UNITS);
    rec_draw(&rng, c, BATCH * UNITS);
    rec_run(&m, false, (const float *const[]){x, h, c}, (float *const[]){y[0], y[1], y[2], y[3]});
    for (int row = 0; row < BATCH; ++row)
        for (int u = 0; u < UNITS; ++u) {
            double in[WIDE], sum[GATES], cell;
            for (int i = 0; i < WIDE; ++i)
                in[i] = i < IN ? (double)x[row * IN + i] : (double)h[row * UNITS + i - IN];
            for (int g = 0; g < GATES; ++g) /* input, candidate, forget, output */
                sum[g] = rec_dot(in, w + (g * UNITS + u) * WIDE, WIDE) + (double)b[g * UNITS + u];
            cell = sigmoid(sum[0]) * tanh(sum[1]) + sigmoid(sum[2]) * (double)c[row * UNITS + u];
            rec_close_to(&y[1][row * UNITS + u], &cell, 1);
            rec_close_to(&y[0][row * UNITS + u], &(double){tanh(cell) * sigmoid(sum[3])}, 1);
        }
    m.tensor[0].type = TFL_INT8;
    tb_refuse(&m, "the basic kernel on integers");
    m.tensor[0].type = TFL_FLOAT32;
    m.op[0].option[0].bits = ACTIVATION_RELU;
    tb_refuse(&m, "a clip or an activation other than tanh");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lstm_of_every_form),
        cmocka_unit_test(basic_lstm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
