/* RNN operators against their formula in double precision, hybrid ones of relu bit for bit; both
 * directions of RNN and LSTM against one. Damaged copies are refused or imported. TensorFlow Lite
 * itself: ./dev peer litert (peer/recurrent.py). */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "test/support/tflite_recurrent.h"

/* The same in TFLite's integers: codes of -127 to 127 by the row's greatest magnitude, each step in
 * binary32 (reference/portable_tensor_utils.cc). */
static float hybrid_dot(const float *x, const int8_t *w, int n)
{
    float max = 0, factor, both;
    int sum = 0;
    for (int i = 0; i < n; ++i)
        max = fmaxf(max, fabsf(x[i]));
    if (max == 0)
        return 0;
    factor = 127 / max;
    for (int i = 0; i < n; ++i) {
        const float scaled = x[i] * factor;
        sum += (int)roundf(scaled) * w[i];
    }
    both = max / 127 * rec_scale;
    return (float)sum * both;
}

typedef struct rnn_case {
    int builtin;
    bool major, hybrid;
} rnn_case;

/* One step of a row: `now` becomes what the operator gives. */
static void twin_of_relu(bool hybrid, int w, int r, int b, const float *in, float now[UNITS])
{
    double x[IN], h[UNITS];
    float next[UNITS];

    for (int i = 0; i < IN; ++i)
        x[i] = (double)in[i];
    for (int i = 0; i < UNITS; ++i)
        h[i] = (double)now[i];
    for (int u = 0; u < UNITS; ++u) {
        const float from_x = hybrid_dot(in, rec_code[w] + u * IN, IN) + rec_real[b][u];
        const float sum = from_x + hybrid_dot(now, rec_code[r] + u * UNITS, UNITS);
        const double exact = rec_dot(x, rec_real[w] + u * IN, IN) + (double)rec_real[b][u] +
                             rec_dot(h, rec_real[r] + u * UNITS, UNITS);
        next[u] = fmaxf(hybrid ? sum : (float)exact, 0);
    }
    memcpy(now, next, sizeof next);
}

/* where: the tensors of weights, recurrent weights and biases. */
static tb_model relu_model(const rnn_case *k, int where[3])
{
    const bool single = k->builtin == RNN;
    tb_model m = {.n_inputs = 1, .n_outputs = 1};
    int h;
    tb_op *op;

    if (single)
        tb_add(&m, "x", TFL_FLOAT32, BATCH, IN, -1);
    else
        rec_over_time(&m, "x", IN, k->major);
    where[0] = rec_weights(&m, "w", UNITS, IN, k->hybrid);
    where[1] = rec_weights(&m, "r", UNITS, UNITS, k->hybrid);
    where[2] = rec_weights(&m, "b", UNITS, 1, false);
    h = rec_state(&m, "h", UNITS);
    m.output[0] = single ? tb_add(&m, "y", TFL_FLOAT32, BATCH, UNITS, -1)
                         : rec_over_time(&m, "y", UNITS, k->major);
    op = tb_operator(&m, k->builtin, 0, where[0], where[1], where[2], h, END);
    tb_outputs(op, m.output[0], END);
    tb_option_i8(op, single ? 0 : 1, ACTIVATION_RELU);
    if (!single)
        tb_option_i8(op, 0, k->major);
    return m;
}

static void check_relu(const rnn_case *k, test_rng *rng)
{
    const bool single = k->builtin == RNN;
    const int steps = single ? 1 : STEPS;
    int where[3];
    const tb_model m = relu_model(k, where);
    const int w = where[0], r = where[1], b = where[2];
    float x[BATCH * STEPS * IN], y[BATCH * STEPS * UNITS];

    rec_draw(rng, x, BATCH * steps * IN);
    rec_run(&m, k->hybrid, (const float *const[]){x}, (float *const[]){y});
    for (int row = 0; row < BATCH; ++row) {
        float now[UNITS] = {0};
        for (int s = 0; s < steps; ++s) {
            const float *got = y + (single ? row * UNITS : rec_at(k->major, row, s, UNITS));
            twin_of_relu(k->hybrid, w, r, b, x + (single ? row * IN : rec_at(k->major, row, s, IN)),
                         now);
            for (int u = 0; u < UNITS; ++u)
                if (k->hybrid)
                    assert_true(got[u] == now[u]);
                else
                    rec_close_to(&got[u], &(double){(double)now[u]}, 1);
        }
    }
}

/* relu leaves a hybrid step's numbers as they are, so that the bits must be equal. */
static void rnn_of_relu(void **unused)
{
    static const rnn_case cases[] = {{RNN, false, false},          {RNN, false, true},
                                     {SEQUENCE_RNN, false, false}, {SEQUENCE_RNN, true, false},
                                     {SEQUENCE_RNN, false, true},  {SEQUENCE_RNN, true, true}};
    test_rng rng = test_seed("tflite_recurrent", 20261127);

    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c)
        check_relu(&cases[c], &rng);
}

/* ---- both directions ---- */

static void reverse(bool major, const float *from, int n, float *to)
{
    for (int b = 0; b < BATCH; ++b)
        for (int s = 0; s < STEPS; ++s)
            memcpy(to + rec_at(major, b, s, n), from + rec_at(major, b, STEPS - 1 - s, n),
                   (size_t)n * sizeof *to);
}

typedef struct bi_case {
    int builtin;
    bool major, merged;
    int aux; /* 0: none, 1: what the second direction reads, 2: with weights */
} bi_case;

/* What the two directions read: operands of either, their number without states of an LSTM. */
typedef struct bi_inputs {
    int in[2][24], n, aux, aux_w[2][GATES];
} bi_inputs;

#define LSTM_INPUTS 17 /* before the two states */

static void lstm_inputs(tb_model *m, const bi_case *k, int direction, bi_inputs *b)
{
    const lstm_form plain = {.major = k->major};
    const lstm_tensors t = rec_lstm(m, &plain, direction ? "b" : "f");
    const int list[] = {t.w[0], t.w[1], t.w[2], t.w[3], t.r[0], t.r[1], t.r[2], t.r[3], NONE, NONE,
                        NONE,   t.b[0], t.b[1], t.b[2], t.b[3], NONE,   NONE,   t.h,    t.c};
    memcpy(b->in[direction], list, sizeof list);
    b->n = LSTM_INPUTS;
}

static void rnn_inputs(tb_model *m, int direction, bi_inputs *b)
{
    int *in = b->in[direction];
    in[0] = rec_weights(m, direction ? "bw" : "fw", UNITS, IN, false);
    in[1] = rec_weights(m, direction ? "br" : "fr", UNITS, UNITS, false);
    in[2] = rec_weights(m, direction ? "bb" : "fb", UNITS, 1, false);
    in[3] = rec_state(m, direction ? "bh" : "fh", UNITS);
    b->n = 4;
}

static bi_inputs bi_add_inputs(tb_model *m, const bi_case *k)
{
    bi_inputs b;
    const bool is_lstm = k->builtin == BI_LSTM;
    rec_over_time(m, "x", IN, k->major);
    for (int i = 0; i < 2; ++i)
        if (is_lstm)
            lstm_inputs(m, k, i, &b);
        else
            rnn_inputs(m, i, &b);
    b.aux = k->aux ? rec_over_time(m, "aux", IN, k->major) : NONE;
    m->input[1] = b.aux;
    for (int i = 0; i < 2; ++i)
        for (int g = 0; g < (is_lstm ? GATES : 1); ++g) {
            char name[16];
            snprintf(name, sizeof name, "aux%d%d", i, g);
            b.aux_w[i][g] = k->aux == 2 ? rec_weights(m, name, UNITS, IN, false) : NONE;
        }
    return b;
}

static void add_single(tb_model *m, const bi_case *k, const bi_inputs *b, int direction)
{
    const bool is_lstm = k->builtin == BI_LSTM;
    const int y = rec_over_time(m, "y", UNITS, k->major);
    tb_op *op = tb_operator(m, is_lstm ? SEQUENCE_LSTM : SEQUENCE_RNN, 0, END);
    m->n_inputs = 1;
    for (int i = 0; i < b->n; ++i)
        op->in[op->n_in++] = b->in[direction][i];
    for (int i = LSTM_INPUTS; is_lstm && i < LSTM_INPUTS + 6; ++i)
        op->in[op->n_in++] = i < LSTM_INPUTS + 2 ? b->in[direction][i] : NONE;
    tb_outputs(op, y, END);
    tb_option_i8(op, is_lstm ? LSTM_TIME_MAJOR : 0, k->major);
    tb_option_i8(op, is_lstm ? LSTM_ACTIVATION : 1, ACTIVATION_TANH);
    m->output[0] = y;
}

static void add_both(tb_model *m, const bi_case *k, const bi_inputs *b)
{
    const bool is_lstm = k->builtin == BI_LSTM;
    const int y = rec_over_time(m, "y", k->merged ? 2 * UNITS : UNITS, k->major);
    tb_op *op = tb_operator(m, k->builtin, 0, END);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < b->n; ++j)
            op->in[op->n_in++] = b->in[i][j];
    for (int i = 0; is_lstm && i < 4; ++i)
        op->in[op->n_in++] = b->in[i / 2][LSTM_INPUTS + i % 2];
    op->in[op->n_in++] = b->aux;
    for (int i = 0; i < 2; ++i)
        for (int g = 0; g < (is_lstm ? GATES : 1); ++g)
            op->in[op->n_in++] = b->aux_w[i][g];
    m->output[0] = y;
    tb_outputs(op, y, END);
    if (!k->merged) {
        m->output[1] = rec_over_time(m, "z", UNITS, k->major);
        op->out[op->n_out++] = m->output[m->n_outputs++];
    }
    tb_option_i8(op, is_lstm ? 4 : 0, k->major);
    tb_option_i8(op, is_lstm ? 0 : 1, ACTIVATION_TANH);
    tb_option_i8(op, is_lstm ? 3 : 2, k->merged);
}

/* The model, and (backward: 0 or 1) one of the sequence operator of one direction's weights. */
static tb_model bi_model(const bi_case *k, int backward)
{
    tb_model m = {.n_inputs = k->aux ? 2 : 1, .n_outputs = 1};
    const bi_inputs b = bi_add_inputs(&m, k);
    if (backward >= 0)
        add_single(&m, k, &b, backward);
    else
        add_both(&m, k, &b);
    return m;
}

/* The second direction is the first one's operator on time reversed, with its own weights. */
static void both_directions(void **unused)
{
    static const bi_case cases[] = {{BI_RNN, true, true, 0},   {BI_RNN, false, false, 0},
                                    {BI_RNN, true, false, 1},  {BI_RNN, false, true, 1},
                                    {BI_LSTM, true, false, 0}, {BI_LSTM, false, true, 0},
                                    {BI_LSTM, true, true, 1},  {BI_LSTM, false, false, 1}};
    test_rng rng = test_seed("tflite_recurrent_both", 20261127);
    enum { X = BATCH * STEPS * IN, Y = BATCH * STEPS * UNITS };

    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        const bi_case *k = &cases[c];
        float x[2][X], turned[X], y[2][2 * Y], one[2][Y], back[Y];
        /* by TFLite 2.9 an RNN where the batch comes first ignores the other input */
        const bool reads_aux = k->aux && (k->major || k->builtin == BI_LSTM);
        tb_model m = bi_model(k, -1), single;

        rec_draw(&rng, x[0], X);
        rec_draw(&rng, x[1], X);
        rec_run(&m, false, (const float *const[]){x[0], x[1]}, (float *const[]){y[0], y[1]});
        single = bi_model(k, 0);
        rec_run(&single, false, (const float *const[]){x[0]}, (float *const[]){one[0]});
        single = bi_model(k, 1);
        reverse(k->major, x[reads_aux], IN, turned);
        rec_run(&single, false, (const float *const[]){turned}, (float *const[]){back});
        reverse(k->major, back, UNITS, one[1]);
        for (int i = 0; i < 2; ++i)
            for (int e = 0; e < Y; ++e) {
                const int row = e / UNITS, u = e % UNITS;
                const float got = k->merged ? y[0][row * 2 * UNITS + i * UNITS + u] : y[i][e];
                assert_true(got == one[i][e]);
            }
    }
}

/* With weights for it the other input adds to both directions' sums: of zeros, nothing; of the
 * input, by the same weights, what twice the weights would. */
static void other_input(void **unused)
{
    static const bi_case cases[] = {{BI_RNN, true, true, 2}, {BI_LSTM, false, true, 2}};
    test_rng rng = test_seed("tflite_recurrent_aux", 20261127);
    enum { X = BATCH * STEPS * IN, Y = BATCH * STEPS * UNITS };

    (void)unused;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        bi_case without = cases[c];
        float x[X], zeros[X] = {0}, with[3][2 * Y];
        int changed = 0;
        tb_model m;

        without.aux = 0;
        rec_draw(&rng, x, X);
        m = bi_model(&without, -1);
        rec_run(&m, false, (const float *const[]){x}, (float *const[]){with[0]});
        m = bi_model(&cases[c], -1);
        rec_run(&m, false, (const float *const[]){x, zeros}, (float *const[]){with[1]});
        rec_run(&m, false, (const float *const[]){zeros, x}, (float *const[]){with[2]});
        assert_memory_equal(with[0], with[1], sizeof with[0]);
        for (int i = 0; i < 2 * Y; ++i)
            changed += with[2][i] != with[1][i];
        assert_true(changed > Y);
        m.op[0].in[m.op[0].n_in - 1] = NONE;
        tb_refuse(&m, cases[c].builtin == BI_RNN ? "auxiliary weights of one direction alone"
                                                 : "is missing");
    }
}

static void refusals(void **unused)
{
    bi_case k = {BI_RNN, true, true, 0};
    tb_model m = bi_model(&k, -1);
    tb_op op = m.op[0];

    (void)unused;
    m.op[0].n_in = 11;
    tb_refuse(&m, "11 inputs and 1 outputs, expected 12 and 1");
    m.op[0] = op;
    m.tensor[op.in[4]].is_variable = false;
    tb_refuse(&m, "a state is not a variable");
    m.tensor[op.in[4]].is_variable = true;
    m.op[0].in[2] = NONE;
    tb_refuse(&m, "input 2 is missing");
    m.op[0] = op;
    m.op[0].option[1].bits = 5;
    tb_refuse(&m, "activation 5");
    m = bi_model(&k, 0);
    m.tensor[0].rank = 2;
    tb_refuse(&m, "expected an input of 3 dimensions");
    m.tensor[0].rank = 3;
    m.op[0].n_in = 4;
    tb_refuse(&m, "4 inputs and 1 outputs, expected 5 and 1");
    k.builtin = BI_LSTM;
    m = bi_model(&k, -1);
    op = m.op[0];
    m.op[0].option[1].bits = ACTIVATION_NONE;
    tb_refuse(&m, "no activation");
    m.op[0] = op;
    m.op[0].in[1] = NONE;
    tb_refuse(&m, "the input gate has weights of one kind alone");
    m.op[0] = op;
    m.tensor[op.in[6]].dim[1] = 2;
    m.tensor[op.in[6]].bytes = UNITS * 2 * 4;
    tb_refuse(&m, "the weights in input 6 do not fit 4 inputs and 4 units");
    k.aux = 1;
    m = bi_model(&k, -1);
    m.tensor[m.input[1]].dim[0] = STEPS + 1;
    tb_refuse(&m, "the auxiliary input has other steps than the input");
}

/* Codes in place of floats: neither products of floats nor hybrid ones. */
static void other_elements(void **unused)
{
    (void)unused;
    for (int hybrid = 0; hybrid < 2; hybrid++)
        for (int single = 0; single < 2; single++) {
            const rnn_case k = {single ? RNN : SEQUENCE_RNN, false, hybrid};
            int where[3];
            tb_model m = relu_model(&k, where);
            const tb_op op = m.op[0];
            for (int i = 0; i < 2; i++) { /* the input; the state */
                const int t = i ? op.in[4] : op.in[0];
                m.tensor[t].type = TFL_INT32;
                rec_refuse(&m, "on elements other than floats");
                m.tensor[t].type = TFL_FLOAT32;
            }
            m.op[0].in[0] = NONE;
            rec_refuse(&m, "input 0 is missing");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rnn_of_relu),    cmocka_unit_test(both_directions),
        cmocka_unit_test(other_input),    cmocka_unit_test(refusals),
        cmocka_unit_test(other_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
