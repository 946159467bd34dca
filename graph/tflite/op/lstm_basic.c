/* LSTM's basic kernel: one step whose states are ordinary tensors, one product for all gates.
 *
 *   sums = fc(concat(x, h), W, bias)         input, candidate, forget, output side by side
 *   cell = sigmoid(input) * tanh(candidate) + sigmoid(forget) * cell before
 *   h    = sigmoid(output) * tanh(cell)
 *
 * Of its results the third is what was concatenated and the fourth the sums. */
#include "graph/tflite/op/lstm.h"

enum { BASIC_X, BASIC_HIDDEN, BASIC_WEIGHTS, BASIC_BIAS, BASIC_CELL, BASIC_INPUTS };
enum { BASIC_NEW_HIDDEN, BASIC_NEW_CELL, BASIC_ROWS, BASIC_SUMS, BASIC_OUTPUTS };

static assay_status check(const tfl_op *o)
{
    assay_status s = tfl_expect(o, BASIC_INPUTS);

    if (s)
        return s;
    if (o->n_in != BASIC_INPUTS || o->n_out != BASIC_OUTPUTS)
        return tfl_fail(o, "%d inputs and %d outputs, expected 5 and 4", o->n_in, o->n_out);
    if (tfl_in(o, BASIC_X)->type.elem.kind != ASSAY_KIND_F32)
        return tfl_unsupported(o, "the basic kernel on integers");
    if (tfl_flat_i8(o->options, LSTM_ACTIVATION, 0) != ACTIVATION_TANH ||
        tfl_flat_f32(o->options, LSTM_CELL_CLIP, 0) != 0)
        return tfl_unsupported(o, "the basic kernel with a clip or an activation other than tanh");
    for (int i = 0; i < BASIC_INPUTS; ++i)
        if (tfl_in(o, i)->is_variable)
            return tfl_unsupported(o, "the basic kernel with a state that is a variable");
    return ASSAY_OK;
}

/* The four gates of the sums, bent. */
static assay_status make_gates(const tfl_op *o, int sums, const assay_type *type, int gate[GATES])
{
    static const char *const name[GATES] = {"input", "candidate", "forget", "output"};
    static const char *const bent[GATES] = {"input/gate", "candidate/gate", "forget/gate",
                                            "output/gate"};
    assay_attrs a = {.split = {.axis = 1, .sizes.n = GATES}};
    int part[GATES];
    assay_status s = ASSAY_OK;

    for (int g = 0; !s && g < GATES; ++g) {
        a.split.sizes.v[g] = type->dim[1];
        s = tfl_part(o, name[g], type, &part[g]);
    }
    if (!s)
        s = tfl_node(o, ASSAY_OP_SPLIT, &sums, 1, part, GATES, &a, NULL);
    for (int g = 0; !s && g < GATES; ++g)
        s = tfl_step(o, g == 1 ? ASSAY_OP_TANH : ASSAY_OP_SIGMOID, &part[g], 1, bent[g], type,
                     &gate[g]);
    return s;
}

assay_status tfl_basic_lstm(const tfl_op *o)
{
    const assay_attrs last = {.axis.axis = 1};
    const assay_type *type;
    int in[BASIC_INPUTS], out[BASIC_OUTPUTS], gate[GATES], fresh, kept, bent;
    assay_status s = check(o);

    for (int i = 0; !s && i < BASIC_INPUTS; ++i)
        s = tfl_value(o, i, &in[i]);
    for (int i = 0; !s && i < BASIC_OUTPUTS; ++i)
        s = tfl_result(o, i, &out[i]);
    if (s)
        return s;
    type = &tfl_in(o, BASIC_CELL)->type;
    if (type->rank != 2)
        return tfl_fail(o, "expected states of 2 dimensions");
    if ((s = tfl_node(o, ASSAY_OP_CONCAT, (int[]){in[BASIC_X], in[BASIC_HIDDEN]}, 2,
                      &out[BASIC_ROWS], 1, &last, NULL)) ||
        (s = tfl_node(o, ASSAY_OP_FC, (int[]){out[BASIC_ROWS], in[BASIC_WEIGHTS], in[BASIC_BIAS]},
                      3, &out[BASIC_SUMS], 1, NULL, NULL)) ||
        (s = make_gates(o, out[BASIC_SUMS], type, gate)) ||
        (s = tfl_step(o, ASSAY_OP_MUL, (int[]){gate[0], gate[1]}, 2, "fresh", type, &fresh)) ||
        (s = tfl_step(o, ASSAY_OP_MUL, (int[]){gate[2], in[BASIC_CELL]}, 2, "kept", type, &kept)) ||
        (s = tfl_node(o, ASSAY_OP_ADD, (int[]){fresh, kept}, 2, &out[BASIC_NEW_CELL], 1, NULL,
                      NULL)) ||
        (s = tfl_step(o, ASSAY_OP_TANH, &out[BASIC_NEW_CELL], 1, "tanh", type, &bent)))
        return s;
    return tfl_node(o, ASSAY_OP_MUL, (int[]){gate[3], bent}, 2, &out[BASIC_NEW_HIDDEN], 1, NULL,
                    NULL);
}
