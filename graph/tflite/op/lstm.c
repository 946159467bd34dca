/* UNIDIRECTIONAL_SEQUENCE_LSTM, unrolled over its time steps into ops that exist already.
 *
 * TFLite Micro's kernel (micro/kernels/lstm_eval.h) is made of the same arithmetic as its separate
 * operators, so the unrolled network gives its bits:
 *   gate  = f(fc(x, W, bias) + fc(h, R))      codes at 2^-12, f gives codes at 2^-15
 *   cell  = clip(forget * cell + input * candidate)
 *   h     = tanh(cell) * output
 * The saturating sums are ADD with equal scales, which is exact; the products are MUL. The state
 * tensors are variables, read before the first step and assigned after the last. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/tflite/op/op.h"

#define MAX_STEPS 2048
#define STEP_COST 256 /* of the budget, for the nodes of one step */

/* Inputs (micro/kernels/lstm_shared.h). */
enum {
    IN_X = 0,
    IN_WEIGHTS = 1,   /* input, forget, cell, output */
    IN_RECURRENT = 5, /* in the same order */
    IN_PEEPHOLE = 9,
    IN_BIAS = 12,
    IN_PROJECTION = 16,
    IN_HIDDEN = 18,
    IN_CELL = 19,
    IN_NORM = 20,
    IN_COUNT = 24
};
enum { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };
static const char *const gate_name[GATES] = {"input", "forget", "candidate", "output"};

static const float gate_scale = 1.0F / 4096, act_scale = 1.0F / 32768;
static const int32_t no_offset = 0;

typedef struct lstm {
    const tfl_op *o;
    int64_t batch, steps, inputs, units;
    bool time_major;
    int step; /* of which nodes are made */
    int w[GATES], r[GATES], b[GATES];
    int no_bias; /* of 16-bit activations: zeros, which make the accumulator 64 bits wide */
    assay_type gate, act, cell, hidden;
    bool has_clip;
    float clip;
    int32_t clip_code;
} lstm;

static assay_status check(const tfl_op *o)
{
    if (o->n_in != IN_COUNT && o->n_in != IN_NORM)
        return tfl_fail(o, "%d inputs, expected 20 or 24", o->n_in);
    for (int i = IN_PEEPHOLE; i < IN_BIAS; ++i)
        if (tfl_has(o, i))
            return tfl_unsupported(o, "peephole weights");
    for (int i = IN_PROJECTION; i < IN_HIDDEN; ++i)
        if (tfl_has(o, i))
            return tfl_unsupported(o, "projection");
    for (int i = IN_NORM; i < IN_COUNT; ++i)
        if (tfl_has(o, i))
            return tfl_unsupported(o, "layer normalization");
    if (!tfl_has(o, IN_WEIGHTS) || !tfl_has(o, IN_RECURRENT))
        return tfl_unsupported(o, "coupled input and forget gates");
    if (tfl_flat_i8(o->options, LSTM_ACTIVATION, 0) != ACTIVATION_TANH)
        return tfl_unsupported(o, "an activation other than tanh");
    if (tfl_flat_bool(o->options, LSTM_DIAGONAL))
        return tfl_unsupported(o, "diagonal recurrent weights");
    for (int i = 0; i < IN_HIDDEN + 2; ++i)
        if (!(i >= IN_PEEPHOLE && i < IN_BIAS) && !(i >= IN_PROJECTION && i < IN_HIDDEN) &&
            !tfl_has(o, i))
            return tfl_fail(o, "input %d is missing", i);
    if (!tfl_in(o, IN_HIDDEN)->is_variable || !tfl_in(o, IN_CELL)->is_variable)
        return tfl_fail(o, "a state is not a variable");
    return ASSAY_OK;
}

/* Sizes and types, and that the operands agree. */
static assay_status read_sizes(lstm *l)
{
    const tfl_op *o = l->o;
    const assay_type *x = &tfl_in(o, IN_X)->type;
    const assay_type *h = &tfl_in(o, IN_HIDDEN)->type, *c = &tfl_in(o, IN_CELL)->type;
    bool quantized = x->elem.kind == ASSAY_KIND_INT;
    bool weights_f32 = tfl_in(o, IN_WEIGHTS)->type.elem.kind == ASSAY_KIND_F32;
    assay_status s;

    l->time_major = tfl_flat_bool(o->options, LSTM_TIME_MAJOR);
    if (x->rank != 3 || h->rank != 2 || c->rank != 2)
        return tfl_fail(o, "expected an input of 3 dimensions and states of 2");
    if (weights_f32 && quantized)
        return tfl_unsupported(o, "float weights under integer activations");
    for (int i = IN_WEIGHTS; i < IN_PEEPHOLE && !quantized; ++i)
        if ((s = tfl_real_weights(o, IN_X, i)))
            return s;
    if (quantized &&
        (c->elem.bits != 16 || c->q.granularity != ASSAY_Q_TENSOR || c->q.zero_point[0] != 0 ||
         h->q.granularity != ASSAY_Q_TENSOR || !assay_elem_equal(h->elem, x->elem)))
        return tfl_unsupported(o, "unsupported types of states");
    l->batch = x->dim[l->time_major ? 1 : 0];
    l->steps = x->dim[l->time_major ? 0 : 1];
    l->inputs = x->dim[2];
    l->units = h->dim[1];
    if (l->steps < 1 || l->batch < 1)
        return tfl_fail(o, "the input is empty");
    if (l->steps > MAX_STEPS)
        return tfl_unsupported(o, "more than %d time steps", MAX_STEPS);
    for (int i = IN_WEIGHTS; i < IN_PEEPHOLE; ++i) { /* before thousands of nodes are made */
        const assay_type *w = &tfl_in(o, i)->type;
        if (w->rank != 2 || w->dim[0] != l->units ||
            w->dim[1] != (i < IN_RECURRENT ? l->inputs : l->units))
            return tfl_fail(o, "the weights in input %d do not fit %lld inputs and %lld units", i,
                            (long long)l->inputs, (long long)l->units);
    }
    l->hidden = *h;
    l->cell = *c;
    l->gate = *c;
    l->act = *c;
    if (quantized) {
        l->gate.q.scale = &gate_scale;
        l->act.q.scale = &act_scale;
        l->gate.q.zero_point = l->act.q.zero_point = &no_offset;
    }
    return tfl_charge(o->m, (uint64_t)l->steps * STEP_COST);
}

/* Codes: the clip's quotient by the scale, cut toward zero (micro/kernels/lstm_eval_common.cc). */
static void read_clip(lstm *l)
{
    float clip = tfl_flat_f32(l->o->options, LSTM_CELL_CLIP, 0);
    double code;

    l->has_clip = clip > 0;
    l->clip = clip;
    if (!l->has_clip || l->cell.q.granularity == ASSAY_Q_NONE)
        return;
    code = (double)clip / (double)l->cell.q.scale[0];
    l->clip_code = (int32_t)(code < 32767 ? code : 32767);
}

/* "OUTPUT/step3/forget/sum" */
static assay_status part(const lstm *l, const char *gate, const char *what, const assay_type *type,
                         int *value)
{
    char name[64];
    snprintf(name, sizeof name, "step%d/%s%s%s", l->step, gate, *gate ? "/" : "", what);
    return tfl_part(l->o, name, type, value);
}

/* One node with a new value for its result. */
static assay_status add(const lstm *l, assay_op op, const int *in, int n_in, const char *gate,
                        const char *what, const assay_type *type, int *value, int *id)
{
    assay_status s = part(l, gate, what, type, value);
    return s ? s : tfl_node(l->o, op, in, n_in, value, 1, NULL, id);
}

static assay_status make_gate(const lstm *l, int g, int x, int h, int *out)
{
    int from_x, from_h, sum;
    const char *name = gate_name[g];
    assay_status s;

    if ((s = add(l, ASSAY_OP_FC, (int[]){x, l->w[g], l->b[g]}, 3, name, "x", &l->gate, &from_x,
                 NULL)) ||
        (s = add(l, ASSAY_OP_FC, (int[]){h, l->r[g], l->no_bias},
                 l->no_bias == ASSAY_NO_VALUE ? 2 : 3, name, "h", &l->gate, &from_h, NULL)) ||
        (s = add(l, ASSAY_OP_ADD, (int[]){from_x, from_h}, 2, name, "sum", &l->gate, &sum, NULL)))
        return s;
    return add(l, g == GATE_CELL ? ASSAY_OP_TANH : ASSAY_OP_SIGMOID, &sum, 1, name, "gate", &l->act,
               out, NULL);
}

static assay_status make_cell(const lstm *l, const int *gate, int *cell)
{
    int kept, fresh, id;
    assay_node *n;
    assay_status s;

    if ((s = add(l, ASSAY_OP_MUL, (int[]){gate[GATE_FORGET], *cell}, 2, "", "kept", &l->cell, &kept,
                 NULL)) ||
        (s = add(l, ASSAY_OP_MUL, (int[]){gate[GATE_INPUT], gate[GATE_CELL]}, 2, "", "fresh",
                 &l->cell, &fresh, NULL)) ||
        (s = add(l, ASSAY_OP_ADD, (int[]){kept, fresh}, 2, "", "cell", &l->cell, cell, &id)))
        return s;
    n = &l->o->m->g->node[id];
    if (l->has_clip && l->cell.q.granularity == ASSAY_Q_NONE) {
        n->act_lo = -l->clip;
        n->act_hi = l->clip;
    } else if (l->has_clip) {
        n->has_code_bounds = true;
        n->code_lo = -l->clip_code;
        n->code_hi = l->clip_code;
    }
    return ASSAY_OK;
}

/* tanh reads the cell's codes at a power of two: the cell's scale rounded to one (CheckedLog2 of
 * kernels/internal/quantization_util.cc, in float32 as there). */
static assay_status bend(const lstm *l, int cell, int *out)
{
    float power;
    assay_type type = l->cell;
    int read = cell;
    assay_status s = ASSAY_OK;

    if (type.q.granularity == ASSAY_Q_TENSOR) {
        power = ldexpf(1, (int)roundf(logf(type.q.scale[0]) * (1.0F / logf(2.0F))));
        if (power != type.q.scale[0]) {
            type.q.scale = &power;
            s = add(l, ASSAY_OP_RELABEL, &cell, 1, "", "cell_power_of_two", &type, &read, NULL);
        }
    }
    return s ? s : add(l, ASSAY_OP_TANH, &read, 1, "", "tanh", &l->act, out, NULL);
}

static assay_status make_step(const lstm *l, int x, int *cell, int *hidden)
{
    int gate[GATES], bent;
    assay_status s = ASSAY_OK;

    for (int g = 0; !s && g < GATES; ++g)
        s = make_gate(l, g, x, *hidden, &gate[g]);
    if (s || (s = make_cell(l, gate, cell)) || (s = bend(l, *cell, &bent)))
        return s;
    return add(l, ASSAY_OP_MUL, (int[]){bent, gate[GATE_OUTPUT]}, 2, "", "hidden", &l->hidden,
               hidden, NULL);
}

/* x at one step, [batch, inputs]. */
static assay_status input_at(const lstm *l, int x, int *out)
{
    int axis = l->time_major ? 0 : 1;
    assay_type type = l->o->m->g->value[x].type;
    assay_attrs a = {.slice = {.begin.n = 3, .size.n = 3}};
    int slice = x;
    assay_status s = ASSAY_OK;

    type.dim[axis] = 1;
    a.slice.begin.v[axis] = l->step;
    memcpy(a.slice.size.v, type.dim, 3 * sizeof *type.dim);
    if (l->steps > 1 && !(s = part(l, "", "slice", &type, &slice)))
        s = tfl_node(l->o, ASSAY_OP_SLICE, &x, 1, &slice, 1, &a, NULL);
    type.rank = 2;
    type.dim[0] = l->batch;
    type.dim[1] = l->inputs;
    if (s || (s = part(l, "", "x", &type, out)))
        return s;
    return tfl_reshape(l->o, slice, *out);
}

/* The hidden states of all steps side by side. */
static assay_status join(const lstm *l, int *hidden, int y)
{
    assay_attrs a = {.axis.axis = l->time_major ? 0 : 1};
    assay_type type = l->hidden;
    lstm at = *l;

    if (l->steps == 1)
        return tfl_reshape(l->o, hidden[0], y);
    type.rank = 3;
    type.dim[0] = l->time_major ? 1 : l->batch;
    type.dim[1] = l->time_major ? l->batch : 1;
    type.dim[2] = l->units;
    for (at.step = 0; at.step < l->steps; ++at.step) {
        int row;
        assay_status s = part(&at, "", "y", &type, &row);
        if (s || (s = tfl_reshape(l->o, hidden[at.step], row)))
            return s;
        hidden[at.step] = row;
    }
    return tfl_node(l->o, ASSAY_OP_CONCAT, hidden, (int)l->steps, &y, 1, &a, NULL);
}

static assay_status assign(const lstm *l, const char *what, int variable, int value)
{
    int stored;
    assay_status s = tfl_part(l->o, what, &l->o->m->g->value[variable].type, &stored);
    return s ? s
             : tfl_node(l->o, ASSAY_OP_ASSIGN, (int[]){variable, value}, 2, &stored, 1, NULL, NULL);
}

static assay_status read_operands(lstm *l)
{
    assay_status s = ASSAY_OK;
    for (int g = 0; !s && g < GATES; ++g)
        (void)((s = tfl_value(l->o, IN_WEIGHTS + g, &l->w[g])) ||
               (s = tfl_value(l->o, IN_RECURRENT + g, &l->r[g])) ||
               (s = tfl_value(l->o, IN_BIAS + g, &l->b[g])));
    l->no_bias = ASSAY_NO_VALUE;
    if (!s && l->hidden.elem.bits == 16)
        s = tfl_zero_bias(l->o, 64, l->units, &l->no_bias);
    return s;
}

assay_status tfl_op_lstm(const tfl_op *o)
{
    lstm l = {.o = o};
    int x, y, hidden_state, cell_state, hidden, cell, *all;
    assay_status s = check(o);

    if (s || (s = read_sizes(&l)))
        return s;
    read_clip(&l);
    if ((s = read_operands(&l)) || (s = tfl_value(o, IN_X, &x)) ||
        (s = tfl_value(o, IN_HIDDEN, &hidden_state)) || (s = tfl_value(o, IN_CELL, &cell_state)) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    all = assay_arena_array(o->m->temp, (size_t)l.steps, sizeof *all);
    if (!all)
        return tfl_no_memory(o->m);
    if ((s = add(&l, ASSAY_OP_READ, &hidden_state, 1, "", "hidden_before", &l.hidden, &hidden,
                 NULL)) ||
        (s = add(&l, ASSAY_OP_READ, &cell_state, 1, "", "cell_before", &l.cell, &cell, NULL)))
        return s;
    for (l.step = 0; l.step < l.steps; ++l.step) {
        int now;
        if ((s = input_at(&l, x, &now)) || (s = make_step(&l, now, &cell, &hidden)))
            return s;
        all[l.step] = hidden;
    }
    (void)((s = assign(&l, "hidden_after", hidden_state, hidden)) ||
           (s = assign(&l, "cell_after", cell_state, cell)) || (s = join(&l, all, y)));
    return s;
}
