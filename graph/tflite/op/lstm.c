/* UNIDIRECTIONAL_SEQUENCE_LSTM, BIDIRECTIONAL_SEQUENCE_LSTM and LSTM, unrolled over their time
 * steps (lstm_step.c). The state tensors are variables, read before the first step and assigned
 * after the last. LSTM's basic kernel has no state: what a step needs comes in and goes out. */
#include "graph/tflite/op/lstm.h"

#include <string.h>

/* Inputs of the first direction (micro/kernels/lstm_shared.h), and of two. */
enum {
    IN_X = 0,
    IN_WEIGHTS = 1,   /* input, forget, cell, output */
    IN_RECURRENT = 5, /* in the same order */
    IN_PEEPHOLE = 9,  /* input, forget, output */
    IN_BIAS = 12,
    IN_PROJECTION = 16,
    IN_HIDDEN = 18,
    IN_NORM = 20,
    IN_COUNT = 24,
    BACKWARD = 17, /* how far behind the first direction's the second's weights stand */
    BI_HIDDEN = 35,
    BI_AUX = 39,
    BI_AUX_WEIGHTS = 40,
    BI_COUNT = 48
};
enum { CODE_LSTM = 16 };
enum { LSTM_KERNEL = 3, KERNEL_BASIC = 1, LSTM_ASYMMETRIC = 4 };
enum { BI_MERGE = 3, BI_TIME_MAJOR = 4, BI_ASYMMETRIC = 5 };
enum { NONE = ASSAY_NO_VALUE };

static const float gate_scale = 1.0F / 4096, act_scale = 1.0F / 32768;
static const int32_t no_offset = 0;

/* Where one direction's inputs stand; its states: hidden, cell. -1: it has none. */
typedef struct places {
    int first, state, norm, aux; /* aux: weights of the auxiliary input */
} places;

static bool any(const tfl_op *o, int first, int n)
{
    for (int i = first; i < first + n; ++i)
        if (tfl_has(o, i))
            return true;
    return false;
}

/* What TFLite's integer LSTM may have and we do not. */
static assay_status check_integers(const tfl_op *o, int activation)
{
    const assay_type *h = &tfl_in(o, IN_HIDDEN)->type, *c = &tfl_in(o, IN_HIDDEN + 1)->type;

    if (any(o, IN_PEEPHOLE, 3))
        return tfl_unsupported(o, "peephole weights of integers");
    if (any(o, IN_PROJECTION, 2))
        return tfl_unsupported(o, "projection of integers");
    if (any(o, IN_NORM, 4))
        return tfl_unsupported(o, "layer normalization of integers");
    if (!tfl_has(o, IN_WEIGHTS))
        return tfl_unsupported(o, "coupled input and forget gates of integers");
    if (activation != ACTIVATION_TANH)
        return tfl_unsupported(o, "an activation of integers other than tanh");
    if (c->elem.bits != 16 || c->q.granularity != ASSAY_Q_TENSOR || c->q.zero_point[0] != 0 ||
        h->q.granularity != ASSAY_Q_TENSOR ||
        !assay_elem_equal(h->elem, tfl_in(o, IN_X)->type.elem))
        return tfl_unsupported(o, "unsupported types of states");
    return ASSAY_OK;
}

/* The weights in input i: rows by columns, before thousands of nodes are made. */
static assay_status read_weights(const tfl_lstm *l, int x, int i, int64_t rows, int64_t columns,
                                 tfl_factor *out)
{
    const tfl_op *o = l->at.o;
    int w;
    assay_status s = tfl_unroll_weights(&l->at, x, i);

    if (s)
        return s;
    const assay_type *type = &tfl_in(o, i)->type;
    if (type->dim[0] != rows || type->dim[1] != columns)
        return tfl_fail(o, "the weights in input %d do not fit %lld inputs and %lld units", i,
                        (long long)columns, (long long)rows);
    if (l->cell.elem.kind == ASSAY_KIND_INT && type->elem.kind != ASSAY_KIND_INT)
        return tfl_unsupported(o, "float weights under integer activations");
    s = tfl_value(o, i, &w);
    *out = tfl_factor_of(w);
    return s;
}

/* Weights of the cell, which are one number a unit. */
static assay_status read_peephole(const tfl_lstm *l, int i, int *value)
{
    assay_status s = tfl_has(l->at.o, i) ? tfl_real_weights(l->at.o, IN_X, i) : ASSAY_OK;
    return s ? s : tfl_value(l->at.o, i, value);
}

static assay_status read_gate(tfl_lstm *l, const places *p, int g)
{
    static const int peephole[GATES] = {0, 1, -1, 2};
    const tfl_op *o = l->at.o;
    tfl_lstm_gate *of = &l->gate[g];
    const int64_t units = l->cell.dim[1];
    assay_status s;

    of->peephole = of->norm = of->bias = NONE;
    if ((g == GATE_INPUT && l->coupled))
        return ASSAY_OK;
    if (!tfl_has(o, p->first + IN_BIAS + g))
        return tfl_fail(o, "input %d is missing", p->first + IN_BIAS + g);
    if ((s = read_weights(l, IN_X, p->first + IN_WEIGHTS + g, units,
                          tfl_in(o, IN_X)->type.dim[tfl_in(o, IN_X)->type.rank - 1], &of->w)) ||
        (s = read_weights(l, IN_X, p->first + IN_RECURRENT + g, units, l->hidden.dim[1], &of->r)) ||
        (s = tfl_value(o, p->first + IN_BIAS + g, &of->bias)) ||
        (peephole[g] >= 0 &&
         (s = read_peephole(l, p->first + IN_PEEPHOLE + peephole[g], &of->peephole))) ||
        (p->norm >= 0 && (s = tfl_value(o, p->norm + g, &of->norm))))
        return s;
    return l->has_aux ? read_weights(l, BI_AUX, p->aux + g, units, tfl_in(o, BI_AUX)->type.dim[2],
                                     &of->aux)
                      : ASSAY_OK;
}

static assay_status read_projection(tfl_lstm *l, const places *p)
{
    const int i = p->first + IN_PROJECTION;
    assay_status s;

    l->projection = tfl_factor_of(NONE);
    l->projection_bias = NONE;
    if (!tfl_has(l->at.o, i))
        return ASSAY_OK;
    s = read_weights(l, IN_X, i, l->hidden.dim[1], l->cell.dim[1], &l->projection);
    return s ? s : tfl_value(l->at.o, i + 1, &l->projection_bias);
}

/* Types, by those of the states. */
static assay_status read_types(tfl_lstm *l, const places *p)
{
    const tfl_op *o = l->at.o;

    for (int i = p->state; i < p->state + 2; ++i)
        if (!tfl_has(o, i) || !tfl_in(o, i)->is_variable)
            return tfl_fail(o, "a state is not a variable");
    l->hidden = tfl_in(o, p->state)->type;
    l->cell = tfl_in(o, p->state + 1)->type;
    if (l->hidden.rank != 2 || l->cell.rank != 2)
        return tfl_fail(o, "expected states of 2 dimensions");
    l->sum = l->bent = l->cell;
    if (tfl_in(o, IN_X)->type.elem.kind != ASSAY_KIND_INT)
        return l->hidden.elem.kind == ASSAY_KIND_F32 && l->cell.elem.kind == ASSAY_KIND_F32
                   ? ASSAY_OK
                   : tfl_unsupported(o, "states of other elements than the input's");
    l->sum.q.scale = &gate_scale;
    l->bent.q.scale = &act_scale;
    l->sum.q.zero_point = l->bent.q.zero_point = &no_offset;
    return p->aux >= 0 ? tfl_unsupported(o, "integer activations")
                       : check_integers(o, l->activation);
}

/* Constants that no input holds. */
static assay_status make_constants(tfl_lstm *l)
{
    const assay_type scalar = {.elem = assay_f32(), .rank = 0};
    const bool wide = l->hidden.elem.kind == ASSAY_KIND_INT && l->hidden.elem.bits == 16;
    assay_status s = ASSAY_OK;

    l->zeros = l->one = NONE;
    if (wide)
        s = tfl_zero_bias(l->at.o, 64, l->cell.dim[1], &l->zeros);
    return s || !l->coupled ? s : tfl_filled(l->at.o, "one", &scalar, 1, &l->one);
}

static assay_status read_operands(tfl_lstm *l, const places *p)
{
    const tfl_op *o = l->at.o;
    assay_status s;

    if (l->activation == ACTIVATION_NONE) /* TFLite's kernel then reads what its scratch holds */
        return tfl_unsupported(o, "no activation");
    l->coupled = !tfl_has(o, p->first + IN_WEIGHTS);
    if (l->coupled != !tfl_has(o, p->first + IN_RECURRENT))
        return tfl_fail(o, "the input gate has weights of one kind alone");
    if ((s = read_types(l, p)))
        return s;
    for (int g = 0; !s && g < GATES; ++g)
        s = read_gate(l, p, g);
    return s || (s = read_projection(l, p)) ? s : make_constants(l);
}

/* All steps of values x and aux, from the last one when `backward`; results in the order of
 * time. */
static assay_status unroll(tfl_lstm *l, const places *p, int x, int aux, bool backward, int **all)
{
    const int steps = (int)l->at.steps;
    int hidden, cell;
    assay_status s;

    *all = tfl_unroll_room(&l->at);
    if (!*all)
        return tfl_no_memory(l->at.o->m);
    if ((s = tfl_unroll_read(&l->at, p->state, "hidden_before", &hidden)) ||
        (s = tfl_unroll_read(&l->at, p->state + 1, "cell_before", &cell)))
        return s;
    for (int i = 0; i < steps; ++i) {
        int now, beside = NONE;
        tfl_factor rows, others;
        l->at.step = backward ? steps - 1 - i : i;
        if ((s = tfl_unroll_input(&l->at, x, &now)) ||
            (l->has_aux && (s = tfl_unroll_input(&l->at, aux, &beside))))
            return s;
        rows = tfl_factor_of(now);
        others = tfl_factor_of(beside);
        if ((s = tfl_lstm_step(l, &rows, &others, &cell, &hidden)))
            return s;
        (*all)[l->at.step] = hidden;
    }
    s = tfl_unroll_assign(&l->at, p->state, "hidden_after", hidden);
    return s ? s : tfl_unroll_assign(&l->at, p->state + 1, "cell_after", cell);
}

assay_status tfl_op_lstm(const tfl_op *o)
{
    const bool single = o->builtin == CODE_LSTM;
    const places p = {0, IN_HIDDEN, o->n_in == IN_COUNT && any(o, IN_NORM, 4) ? IN_NORM : -1, -1};
    tfl_lstm l = {.at = {.o = o,
                         .direction = "",
                         .time_major = !single && tfl_flat_bool(o->options, LSTM_TIME_MAJOR),
                         .asymmetric = tfl_flat_bool(o->options, LSTM_ASYMMETRIC)},
                  .activation = tfl_flat_i8(o->options, LSTM_ACTIVATION, 0),
                  .clip = tfl_flat_f32(o->options, LSTM_CELL_CLIP, 0),
                  .projection_clip = tfl_flat_f32(o->options, LSTM_PROJ_CLIP, 0)};
    int x, y, *all;
    assay_status s;

    if (single && tfl_flat_i8(o->options, LSTM_KERNEL, 0) == KERNEL_BASIC)
        return tfl_basic_lstm(o);
    if ((o->n_in != IN_COUNT && o->n_in != IN_NORM) || o->n_out != 1)
        return tfl_fail(o, "%d inputs and %d outputs, expected 20 or 24 and 1", o->n_in, o->n_out);
    if (!tfl_has(o, IN_X))
        return tfl_fail(o, "input %d is missing", IN_X);
    if (!single && tfl_flat_bool(o->options, LSTM_DIAGONAL))
        return tfl_unsupported(o, "diagonal recurrent weights");
    if ((s = tfl_unroll_sizes(&l.at, IN_X, single)) || (s = read_operands(&l, &p)) ||
        (s = tfl_value(o, IN_X, &x)) || (s = tfl_result(o, 0, &y)) ||
        (s = unroll(&l, &p, x, NONE, false, &all)))
        return s;
    return tfl_unroll_join(&l.at, all, y);
}

/* The other input of directions that are stacked on two others: both add its products, or the
 * second reads nothing else. */
static assay_status read_aux(const tfl_op *o, int x[2], int *aux, bool *weighted)
{
    int other;
    assay_status s = tfl_value(o, BI_AUX, &other);

    *weighted = any(o, BI_AUX_WEIGHTS, 2 * GATES);
    *aux = other;
    if (s || other == NONE)
        return s || !*weighted ? s : tfl_fail(o, "auxiliary weights without an input");
    if (!*weighted)
        x[1] = other;
    return tfl_unroll_beside(o, IN_X, BI_AUX);
}

assay_status tfl_op_bidirectional_lstm(const tfl_op *o)
{
    const bool merged = tfl_flat_bool(o->options, BI_MERGE);
    static const places p[2] = {{0, BI_HIDDEN, -1, BI_AUX_WEIGHTS},
                                {BACKWARD, BI_HIDDEN + 2, -1, BI_AUX_WEIGHTS + GATES}};
    tfl_lstm l[2];
    int x[2], aux, *all[2];
    bool weighted;
    assay_status s;

    if (o->n_in != BI_COUNT || !tfl_has(o, IN_X) || o->n_out != (merged ? 1 : 2))
        return tfl_fail(o, "%d inputs and %d outputs, expected 48 and %d", o->n_in, o->n_out,
                        merged ? 1 : 2);
    if ((s = tfl_value(o, IN_X, &x[0])))
        return s;
    x[1] = x[0];
    s = read_aux(o, x, &aux, &weighted);
    for (int i = 0; !s && i < 2; ++i) {
        l[i] = (tfl_lstm){.at = {.o = o,
                                 .direction = i ? "backward/" : "forward/",
                                 .time_major = tfl_flat_bool(o->options, BI_TIME_MAJOR),
                                 .asymmetric = tfl_flat_bool(o->options, BI_ASYMMETRIC)},
                          .activation = tfl_flat_i8(o->options, LSTM_ACTIVATION, 0),
                          .clip = tfl_flat_f32(o->options, LSTM_CELL_CLIP, 0),
                          .projection_clip = tfl_flat_f32(o->options, LSTM_PROJ_CLIP, 0),
                          .has_aux = weighted};
        (void)((s = tfl_unroll_sizes(&l[i].at, IN_X, false)) || (s = read_operands(&l[i], &p[i])) ||
               (s = unroll(&l[i], &p[i], x[i], aux, i, &all[i])));
    }
    return s ? s : tfl_unroll_results((tfl_unroll[]){l[0].at, l[1].at}, all, merged);
}
