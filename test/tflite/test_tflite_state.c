/* SVDF and LSTM as the importer takes them apart, against ../shared/vectors/cmsis-nn-unittest,
 * whose expectations TFLite produced. The vectors give multipliers and shifts, so a scheme file
 * hands them to the nodes. */
#include "test/support/tflite_build.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"
#include "test/support/npz.h"

enum { LSTM = 44, SVDF = 27, GATES = 4 };

typedef struct kase {
    json_t *about;
    struct npz *data;
    char scheme[60000];
    int used; /* of the scheme's text */
} kase;

static bool open_case(kase *k, const char *name)
{
    char part[100], path[4096];
    snprintf(part, sizeof part, "vectors/cmsis-nn-unittest/%s.json", name);
    if (!test_shared(part, path, sizeof path))
        return false;
    k->about = json_load_file(path, 0, NULL);
    path[strlen(path) - 4] = 0;
    strcat(path, "npz");
    k->data = npz_open(path);
    assert_non_null(k->about);
    assert_non_null(k->data);
    k->used = snprintf(k->scheme, sizeof k->scheme, "scheme: case\nextends: tflite\nnodes:\n");
    return true;
}

static void close_case(kase *k)
{
    json_decref(k->about);
    npz_close(k->data);
}

static int param(const kase *k, const char *key)
{
    return (int)json_integer_value(json_object_get(json_object_get(k->about, "params"), key));
}

/* Column as elements of `size` bytes; free it. */
static void *column(const kase *k, const char *name, size_t size, size_t *n)
{
    const int64_t *v = npz_i64(k->data, name, n, NULL);
    char *out;
    assert_non_null(v);
    out = calloc(*n + 1, size);
    assert_non_null(out);
    for (size_t i = 0; i < *n; ++i)
        memcpy(out + i * size, &v[i], size); /* little-endian, as the model file is */
    return out;
}

static void give(kase *k, const char *node, int multiplier, int shift)
{
    k->used +=
        snprintf(k->scheme + k->used, sizeof k->scheme - (size_t)k->used,
                 "  %s: {given: {multiplier: [%d], shift: [%d]}}\n", node, multiplier, shift);
    assert_true((size_t)k->used < sizeof k->scheme);
}

typedef struct machine {
    unsigned char *file;
    assay_graph *g;
    assay_scheme *scheme;
    assay_program *program;
    assay_run *run;
} machine;

static void start(machine *x, const tb_model *m, const kase *k)
{
    size_t size;
    assay_error err;
    x->file = tb_finish(m, &size);
    assert_ok(tfl_import_memory("model", x->file, size, &x->g, &err), &err);
    assert_ok(assay_scheme_parse("case", k->scheme, (size_t)k->used, &x->scheme, &err), &err);
    assert_ok(assay_program_make_as_is(x->g, x->scheme, true, &x->program, &err), &err);
    assert_ok(assay_run_new(x->program, &x->run, &err), &err);
}

static void stop(machine *x)
{
    assay_run_free(x->run);
    assay_program_free(x->program);
    assay_scheme_free(x->scheme);
    assay_graph_free(x->g);
    free(x->file);
}

static void feed(machine *x, const void *data)
{
    assay_error err;
    memcpy(assay_run_data(x->run, x->g->input[0]), data,
           assay_type_bytes(&x->g->value[x->g->input[0]].type));
    assert_ok(run_execute(x->run, NULL, false, NULL, &err), &err);
}

static void check_tensor(const machine *x, const char *name, const void *want, size_t bytes)
{
    int v = assay_graph_find_value(x->g, name);
    assert_true(v >= 0);
    assert_int_equal(assay_type_bytes(&x->g->value[v].type), bytes);
    assert_memory_equal(assay_run_data(x->run, v), want, bytes);
}

/* ---- SVDF: several steps, output of each and the state after the last ---- */

static void run_svdf(kase *k, int state_bits)
{
    size_t n_feature, n_time, n_state, n_x, n_want, n_bias = 0, n, size = (size_t)state_bits / 8;
    int8_t *feature = column(k, "weights_feature", 1, &n_feature);
    int8_t *x = column(k, "input", 1, &n_x), *want = column(k, "cmsis_output_per_step", 1, &n_want);
    void *time = column(k, "weights_time", size, &n_time);
    void *state = column(k, "state_in", size, &n_state);
    void *after = column(k, "state_after_last", size, &n);
    int32_t *bias = npz_has(k->data, "bias") ? column(k, "bias", 4, &n_bias) : NULL;
    int steps = (int)json_integer_value(json_object_get(k->about, "steps"));
    int state_type = state_bits == 16 ? TFL_INT16 : TFL_INT8;
    int batch = (int)(n_state / n_time), inputs = (int)n_x / steps / batch;
    int filters = (int)n_feature / inputs, memory = (int)n_time / filters;
    int units = filters / param(k, "rank");
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {5}};
    machine run;
    tb_op *op;

    tb_add(&m, "x", TFL_INT8, batch, inputs, -1);
    tb_quant(&m, 1, param(k, "input_offset")); /* arm_svdf_s8 takes the zero point itself */
    tb_add(&m, "feature_weights", TFL_INT8, filters, inputs, -1);
    tb_quant(&m, 1, 0);
    tb_data(&m, feature, n_feature);
    tb_add(&m, "time_weights", state_type, filters, memory, -1);
    tb_quant(&m, 1, 0);
    tb_data(&m, time, n_time * size);
    tb_add(&m, "bias", TFL_INT32, units, -1);
    tb_data(&m, bias, n_bias * 4);
    tb_add(&m, "state", state_type, batch, filters * memory, -1);
    tb_quant(&m, 1, 0);
    tb_data(&m, state, n_state * size);
    m.tensor[4].is_variable = true;
    tb_add(&m, "y", TFL_INT8, batch, units, -1);
    tb_quant(&m, 1, param(k, "output_offset"));
    op = tb_operator(&m, SVDF, 0, 1, 2, bias ? 3 : -1, 4, -2);
    tb_outputs(op, 5, -2);
    tb_option_i32(op, 0, param(k, "rank"));
    give(k, "y/feature", param(k, "input_multiplier"), param(k, "input_shift"));
    give(k, "y/sum", param(k, "output_multiplier"), param(k, "output_shift"));
    start(&run, &m, k);
    for (int i = 0; i < steps; ++i) {
        feed(&run, x + i * batch * inputs);
        check_tensor(&run, "y", want + i * batch * units, (size_t)(batch * units));
    }
    check_tensor(&run, "state", after, n * size);
    stop(&run);
    free(feature);
    free(x);
    free(want);
    free(time);
    free(state);
    free(after);
    free(bias);
}

static void test_svdf(void **unused)
{
    static const char *const names[] = {"svdf/svdf_s16state_s8",   "svdf/svdf_1_s16state_s8",
                                        "svdf/svdf_2_s16state_s8", "svdf/svdf_3_s16state_s8",
                                        "svdf/svdf_int8_s8",       "svdf/svdf_int8_2_s8"};
    (void)unused;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); ++i) {
        static kase k;
        if (!open_case(&k, names[i]))
            skip();
        print_message("# %s\n", names[i]);
        run_svdf(&k, strstr(names[i], "s16state") ? 16 : 8);
        close_case(&k);
    }
}

/* ---- LSTM ---- */

/* The importer's names for the gates, and the vectors'. */
static const char *const ours[GATES] = {"input", "forget", "candidate", "output"};
static const char *const theirs[GATES] = {"input_gate", "forget_gate", "cell_gate", "output_gate"};

static void give_gate(kase *k, int step, int gate, const char *side, const char *name)
{
    char node[80], multiplier[80], shift[80];
    snprintf(node, sizeof node, "y/step%d/%s/%s", step, ours[gate], side);
    snprintf(multiplier, sizeof multiplier, "%s_%s_multiplier", theirs[gate], name);
    snprintf(shift, sizeof shift, "%s_%s_shift", theirs[gate], name);
    give(k, node, param(k, multiplier), param(k, shift));
}

static void give_step(kase *k, int step)
{
    char node[80];
    for (int g = 0; g < GATES; ++g) {
        give_gate(k, step, g, "x", "input");
        give_gate(k, step, g, "h", "hidden");
    }
    snprintf(node, sizeof node, "y/step%d/kept", step);
    give(k, node, param(k, "forget_to_cell_multiplier"), param(k, "forget_to_cell_shift"));
    snprintf(node, sizeof node, "y/step%d/fresh", step);
    give(k, node, param(k, "input_to_cell_multiplier"), param(k, "input_to_cell_shift"));
    snprintf(node, sizeof node, "y/step%d/hidden", step);
    give(k, node, param(k, "output_multiplier"), param(k, "output_shift"));
}

/* Adds a constant column as a tensor; the array joins `owned`. */
static int weights(tb_model *m, const kase *k, const char *gate, const char *what, int type,
                   size_t size, int rows, int columns, void **owned)
{
    char name[80];
    size_t n;
    void *data;
    int id;
    snprintf(name, sizeof name, "%s_%s", gate, what);
    data = column(k, name, size, &n);
    id = columns ? tb_add(m, name, type, rows, columns, -1) : tb_add(m, name, type, rows, -1);
    if (columns)
        tb_quant(m, 1, 0);
    tb_data(m, data, n * size);
    *owned = data;
    return id;
}

static int state_tensor(tb_model *m, const kase *k, const char *name, const char *column_name,
                        int type, size_t size, int batch, int units, float scale, int zero,
                        void **owned)
{
    size_t n;
    int id = tb_add(m, name, type, batch, units, -1);
    tb_quant(m, scale, zero);
    m->tensor[id].is_variable = true;
    if (param(k, "has_hidden_state")) { /* else arm_lstm_unidirectional clears both states */
        *owned = column(k, column_name, size, &n);
        tb_data(m, *owned, n * size);
    }
    return id;
}

static void run_lstm(kase *k, int bits)
{
    size_t size = (size_t)bits / 8, n_x, n_want, n_cell;
    int type = bits == 16 ? TFL_INT16 : TFL_INT8, bias = bits == 16 ? TFL_INT64 : TFL_INT32;
    bool major = param(k, "time_major");
    int batch = param(k, "batch_size"), steps = param(k, "time_steps");
    int inputs = param(k, "input_size"), units = param(k, "hidden_size"), x, y, w[3 * GATES];
    int d0 = major ? steps : batch, d1 = major ? batch : steps, hidden, cell;
    float cell_scale = ldexpf(1, param(k, "cell_scale_power"));
    void *owned[3 * GATES + 2] = {0};
    void *in = column(k, "input", size, &n_x), *want = column(k, "expected", size, &n_want);
    int16_t *after = column(k, "cell_state_out", 2, &n_cell);
    tb_model m = {.n_inputs = 1, .n_outputs = 1};
    machine run;
    tb_op *op;

    x = tb_add(&m, "x", type, d0, d1, inputs, -1);
    tb_quant(&m, 1, -param(k, "input_offset"));
    y = tb_add(&m, "y", type, d0, d1, units, -1);
    tb_quant(&m, 1, param(k, "output_offset"));
    m.input[0] = x;
    m.output[0] = y;
    for (int g = 0; g < GATES; ++g) {
        w[g] = weights(&m, k, theirs[g], "input_weights", TFL_INT8, 1, units, inputs, &owned[g]);
        w[4 + g] =
            weights(&m, k, theirs[g], "hidden_weights", TFL_INT8, 1, units, units, &owned[4 + g]);
        w[8 + g] =
            weights(&m, k, theirs[g], "bias", bias, bits == 16 ? 8 : 4, units, 0, &owned[8 + g]);
    }
    hidden = state_tensor(&m, k, "hidden", "hidden_state_in", type, size, batch, units, 1,
                          param(k, "output_offset"), &owned[12]);
    cell = state_tensor(&m, k, "cell", "cell_state_in", TFL_INT16, 2, batch, units, cell_scale, 0,
                        &owned[13]);
    op = tb_operator(&m, LSTM, x, w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], -1, -1, -1, w[8],
                     w[9], w[10], w[11], -1, -1, hidden, cell, -1, -1, -1, -1, -2);
    tb_outputs(op, y, -2);
    tb_option_i8(op, LSTM_ACTIVATION, ACTIVATION_TANH);
    tb_option_i8(op, LSTM_TIME_MAJOR, major);
    tb_option_f32(op, LSTM_CELL_CLIP, (float)param(k, "cell_clip") * cell_scale);
    for (int t = 0; t < steps; ++t)
        give_step(k, t);
    start(&run, &m, k);
    feed(&run, in);
    check_tensor(&run, "y", want, n_want * size);
    check_tensor(&run, "cell", after, n_cell * 2);
    stop(&run);
    for (int i = 0; i < 3 * GATES + 2; ++i)
        free(owned[i]);
    free(in);
    free(want);
    free(after);
}

static void test_lstm(void **unused)
{
    static const char *const names[] = {"lstm/lstm_1", "lstm/lstm_2", "lstm/lstm_one_time_step",
                                        "lstm/lstm_stateful_batch_major_multibatch"};
    (void)unused;
    for (int i = 0; i < 8; ++i) {
        static kase k;
        char name[100];
        snprintf(name, sizeof name, "%s_s%d", names[i / 2], i % 2 ? 16 : 8);
        if (!open_case(&k, name))
            skip();
        print_message("# %s\n", name);
        run_lstm(&k, i % 2 ? 16 : 8);
        close_case(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_svdf), cmocka_unit_test(test_lstm)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
