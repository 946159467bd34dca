/* One step of an LSTM, in ops that exist already.
 *
 * TFLite Micro's kernel (micro/kernels/lstm_eval.h) is made of the same arithmetic as its separate
 * operators, so the unrolled network gives its bits:
 *   gate  = f(fc(x, W, bias) + fc(h, R))      codes at 2^-12, f gives codes at 2^-15
 *   cell  = clip(forget * cell + input * candidate)
 *   h     = tanh(cell) * output
 * The saturating sums are ADD with equal scales, which is exact; the products are MUL.
 *
 * Floats may have more (kernels/lstm_eval.cc): an auxiliary input, weights of the cell in the
 * gates' sums (the output gate sees the new cell), sums normalized over the units before their
 * bias, an input gate of 1 - forget, and a projection of h. */
#include <math.h>

#include "graph/tflite/op/lstm.h"

static const char *const gate_name[GATES] = {"input", "forget", "candidate", "output"};

static const float norm_epsilon = 1e-8F; /* kNormalizationConstant */

static assay_status add(const tfl_lstm *l, assay_op op, const int *in, int n_in, const char *gate,
                        const char *what, const assay_type *type, int *value)
{
    return tfl_unroll_node(&l->at, op, in, n_in, NULL, gate, what, type, value, NULL);
}

/* *sum += rows by weights. */
static assay_status add_product(const tfl_lstm *l, tfl_factor *rows, tfl_factor *w,
                                const char *gate, const char *from, const char *what, int *sum)
{
    const int before = *sum;
    int product;
    assay_status s = tfl_unroll_product(&l->at, rows, w, l->zeros, gate, from, &l->sum, &product);
    return s ? s : add(l, ASSAY_OP_ADD, (int[]){before, product}, 2, gate, what, &l->sum, sum);
}

/* *sum += weights of the cell. */
static assay_status add_peephole(const tfl_lstm *l, const char *gate, int peephole, int cell,
                                 int *sum)
{
    const int before = *sum;
    int product;
    assay_status s =
        add(l, ASSAY_OP_MUL, (int[]){cell, peephole}, 2, gate, "from_cell", &l->sum, &product);
    return s ? s
             : add(l, ASSAY_OP_ADD, (int[]){before, product}, 2, gate, "with_cell", &l->sum, sum);
}

static assay_status normalize(const tfl_lstm *l, const char *gate, const tfl_lstm_gate *of,
                              int *sum)
{
    const assay_attrs a = {.norm = {.axis = 1, .epsilon = norm_epsilon}};
    return tfl_unroll_node(&l->at, ASSAY_OP_LAYER_NORM, (int[]){*sum, of->norm, of->bias}, 3, &a,
                           gate, "normal", &l->sum, sum, NULL);
}

static assay_status make_gate(tfl_lstm *l, int g, tfl_factor *x, tfl_factor *aux, tfl_factor *h,
                              int cell, int *out)
{
    tfl_lstm_gate *of = &l->gate[g];
    const char *name = gate_name[g];
    int sum;
    assay_status s = tfl_unroll_product(&l->at, x, &of->w,
                                        of->norm == ASSAY_NO_VALUE ? of->bias : ASSAY_NO_VALUE,
                                        name, "x", &l->sum, &sum);

    if (s || (l->has_aux && (s = add_product(l, aux, &of->aux, name, "aux", "with_aux", &sum))) ||
        (s = add_product(l, h, &of->r, name, "h", "sum", &sum)) ||
        (of->peephole != ASSAY_NO_VALUE && (s = add_peephole(l, name, of->peephole, cell, &sum))) ||
        (of->norm != ASSAY_NO_VALUE && (s = normalize(l, name, of, &sum))))
        return s;
    if (g == GATE_CELL)
        return tfl_unroll_bend(&l->at, l->activation, sum, name, "gate", &l->bent, out);
    return add(l, ASSAY_OP_SIGMOID, &sum, 1, name, "gate", &l->bent, out);
}

/* Bounds of a node's result. Codes: the clip's quotient by the scale, cut toward zero
 * (micro/kernels/lstm_eval_common.cc). */
static void clip(const tfl_lstm *l, float by, int id)
{
    assay_node *n = &l->at.o->m->g->node[id];

    if (!(by > 0))
        return;
    if (l->cell.q.granularity == ASSAY_Q_NONE) {
        n->act_lo = -by;
        n->act_hi = by;
        return;
    }
    const double code = (double)by / (double)l->cell.q.scale[0];
    n->has_code_bounds = true;
    n->code_hi = (int32_t)(code < 32767 ? code : 32767);
    n->code_lo = -n->code_hi;
}

static assay_status make_cell(const tfl_lstm *l, int *gate, int *cell)
{
    int kept, fresh, id;
    assay_status s;

    if (l->coupled && (s = add(l, ASSAY_OP_SUB, (int[]){l->one, gate[GATE_FORGET]}, 2, "input",
                               "gate", &l->bent, &gate[GATE_INPUT])))
        return s;
    if ((s = add(l, ASSAY_OP_MUL, (int[]){gate[GATE_FORGET], *cell}, 2, "", "kept", &l->cell,
                 &kept)) ||
        (s = add(l, ASSAY_OP_MUL, (int[]){gate[GATE_INPUT], gate[GATE_CELL]}, 2, "", "fresh",
                 &l->cell, &fresh)) ||
        (s = tfl_unroll_node(&l->at, ASSAY_OP_ADD, (int[]){kept, fresh}, 2, NULL, "", "cell",
                             &l->cell, cell, &id)))
        return s;
    clip(l, l->clip, id);
    return ASSAY_OK;
}

/* tanh reads the cell's codes at a power of two: the cell's scale rounded to one (CheckedLog2 of
 * kernels/internal/quantization_util.cc, in float32 as there). */
static assay_status bend(const tfl_lstm *l, int cell, int *out)
{
    float power;
    assay_type type = l->cell;
    int read = cell;
    assay_status s = ASSAY_OK;

    if (type.q.granularity == ASSAY_Q_TENSOR) {
        power = ldexpf(1, (int)roundf(logf(type.q.scale[0]) * (1.0F / logf(2.0F))));
        if (power != type.q.scale[0]) {
            type.q.scale = &power;
            s = add(l, ASSAY_OP_RELABEL, &cell, 1, "", "cell_power_of_two", &type, &read);
        }
    }
    return s ? s : tfl_unroll_bend(&l->at, l->activation, read, "", "tanh", &l->bent, out);
}

static assay_status project(tfl_lstm *l, int inner, int *hidden)
{
    tfl_factor rows = tfl_factor_of(inner);
    assay_status s = tfl_unroll_product(&l->at, &rows, &l->projection, l->projection_bias, "",
                                        "hidden", &l->hidden, hidden);
    if (!s)
        clip(l, l->projection_clip, l->at.o->m->g->value[*hidden].producer);
    return s;
}

assay_status tfl_lstm_step(tfl_lstm *l, tfl_factor *x, tfl_factor *aux, int *cell, int *hidden)
{
    const bool projected = l->projection.value != ASSAY_NO_VALUE;
    const bool sees_cell = l->gate[GATE_OUTPUT].peephole != ASSAY_NO_VALUE;
    tfl_factor h = tfl_factor_of(*hidden);
    int gate[GATES], bent, inner;
    assay_status s = ASSAY_OK;

    for (int g = l->coupled ? GATE_FORGET : GATE_INPUT; !s && g < GATES - sees_cell; ++g)
        s = make_gate(l, g, x, aux, &h, *cell, &gate[g]);
    if (s || (s = make_cell(l, gate, cell)) ||
        (sees_cell && (s = make_gate(l, GATE_OUTPUT, x, aux, &h, *cell, &gate[GATE_OUTPUT]))) ||
        (s = bend(l, *cell, &bent)) ||
        (s = add(l, ASSAY_OP_MUL, (int[]){bent, gate[GATE_OUTPUT]}, 2, "",
                 projected ? "inner" : "hidden", projected ? &l->bent : &l->hidden, &inner)))
        return s;
    *hidden = inner;
    return projected ? project(l, inner, hidden) : ASSAY_OK;
}
