/* RNN, UNIDIRECTIONAL_SEQUENCE_RNN and BIDIRECTIONAL_SEQUENCE_RNN, unrolled
 * (kernels/internal/kernel_utils.cc):
 *
 *   h = f(x W' + bias + h R')
 *
 * Of two directions that are stacked on two others the second reads the other input (by TFLite 2.9
 * where time comes first alone: else its kernel reads the first one); with weights for it, both
 * directions add its product. Hybrid, where time comes first, that kernel runs all steps as often
 * as there are steps: we compute such ones in float. */
#include "graph/tflite/op/unroll.h"

enum { CODE_RNN = 24 };
enum { IN_X = 0, IN_WEIGHTS, IN_RECURRENT, IN_BIAS, IN_HIDDEN, IN_COUNT };
enum { BACKWARD = 4, BI_AUX = 9, BI_AUX_WEIGHTS = 10, BI_COUNT = 12 };
enum { RNN_ACTIVATION = 0, RNN_ASYMMETRIC = 1 };
enum { SEQUENCE_TIME_MAJOR = 0, SEQUENCE_ACTIVATION = 1, SEQUENCE_ASYMMETRIC = 2 };
enum { BI_MERGE = 2, BI_ASYMMETRIC = 3 };

/* One direction. */
typedef struct rnn {
    tfl_unroll at;
    int first; /* its inputs stand that far behind those of the first direction */
    int activation;
    int x, aux; /* values over all steps; aux: ASSAY_NO_VALUE without weights for it */
    int bias, hidden;
    tfl_factor w, r, aux_w;
    assay_type type; /* of the state */
} rnn;

static assay_status read_operands(rnn *n)
{
    const tfl_op *o = n->at.o;
    int w, r;
    assay_status s;

    if ((s = tfl_unroll_weights(&n->at, IN_X, n->first + IN_WEIGHTS)) ||
        (s = tfl_unroll_weights(&n->at, IN_X, n->first + IN_RECURRENT)) ||
        (s = tfl_value(o, n->first + IN_WEIGHTS, &w)) ||
        (s = tfl_value(o, n->first + IN_RECURRENT, &r)) ||
        (s = tfl_value(o, n->first + IN_BIAS, &n->bias)))
        return s;
    n->w = tfl_factor_of(w);
    n->r = tfl_factor_of(r);
    if ((s = tfl_unroll_read(&n->at, n->first + IN_HIDDEN, "hidden_before", &n->hidden)))
        return s;
    n->type = o->m->g->value[n->hidden].type;
    return n->type.elem.kind == ASSAY_KIND_F32 && tfl_in(o, IN_X)->type.elem.kind == ASSAY_KIND_F32
               ? ASSAY_OK
               : tfl_unsupported(o, "on elements other than floats");
}

/* *sum += what the auxiliary input brings. */
static assay_status add_aux(rnn *n, int *sum)
{
    tfl_factor rows;
    int aux, brought, before = *sum;
    assay_status s = tfl_unroll_input(&n->at, n->aux, &aux);

    rows = tfl_factor_of(aux);
    if (s || (s = tfl_unroll_product(&n->at, &rows, &n->aux_w, ASSAY_NO_VALUE, "", "from_aux",
                                     &n->type, &brought)))
        return s;
    return tfl_unroll_node(&n->at, ASSAY_OP_ADD, (int[]){before, brought}, 2, NULL, "", "with_aux",
                           &n->type, sum, NULL);
}

static assay_status make_step(rnn *n)
{
    tfl_factor x, h = tfl_factor_of(n->hidden);
    int now, from_x, from_h, sum;
    assay_status s = tfl_unroll_input(&n->at, n->x, &now);

    x = tfl_factor_of(now);
    if (s ||
        (s = tfl_unroll_product(&n->at, &x, &n->w, n->bias, "", "from_x", &n->type, &from_x)) ||
        (n->aux != ASSAY_NO_VALUE && (s = add_aux(n, &from_x))) ||
        (s = tfl_unroll_product(&n->at, &h, &n->r, ASSAY_NO_VALUE, "", "from_h", &n->type,
                                &from_h)) ||
        (s = tfl_unroll_node(&n->at, ASSAY_OP_ADD, (int[]){from_x, from_h}, 2, NULL, "", "sum",
                             &n->type, &sum, NULL)))
        return s;
    return tfl_unroll_bend(&n->at, n->activation, sum, "", "hidden", &n->type, &n->hidden);
}

/* All steps, from the last one when it is the backward direction; results in the order of time. */
static assay_status unroll(rnn *n, int **all)
{
    const int steps = (int)n->at.steps;
    assay_status s = read_operands(n);

    *all = tfl_unroll_room(&n->at);
    if (!*all)
        return tfl_no_memory(n->at.o->m);
    for (int i = 0; !s && i < steps; ++i) {
        n->at.step = n->first ? steps - 1 - i : i;
        s = make_step(n);
        (*all)[n->at.step] = n->hidden;
    }
    return s ? s : tfl_unroll_assign(&n->at, n->first + IN_HIDDEN, "hidden_after", n->hidden);
}

assay_status tfl_op_rnn(const tfl_op *o)
{
    const bool single = o->builtin == CODE_RNN;
    rnn n = {.at = {.o = o, .direction = ""}, .aux = ASSAY_NO_VALUE};
    int y, *all;
    assay_status s;

    if (o->n_in != IN_COUNT || o->n_out != 1)
        return tfl_fail(o, "%d inputs and %d outputs, expected 5 and 1", o->n_in, o->n_out);
    if (!tfl_has(o, IN_X))
        return tfl_fail(o, "input %d is missing", IN_X);
    n.at.time_major = !single && tfl_flat_bool(o->options, SEQUENCE_TIME_MAJOR);
    n.at.asymmetric = tfl_flat_bool(o->options, single ? RNN_ASYMMETRIC : SEQUENCE_ASYMMETRIC);
    n.activation = tfl_flat_i8(o->options, single ? RNN_ACTIVATION : SEQUENCE_ACTIVATION, 0);
    if ((s = tfl_unroll_sizes(&n.at, IN_X, single)) || (s = tfl_value(o, IN_X, &n.x)) ||
        (s = tfl_result(o, 0, &y)) || (s = unroll(&n, &all)))
        return s;
    return tfl_unroll_join(&n.at, all, y);
}

/* What the directions read beside the weights of their own. */
static assay_status read_aux(rnn n[2])
{
    const tfl_op *o = n[0].at.o;
    int aux, w;
    assay_status s = tfl_value(o, BI_AUX, &aux);

    if (s || aux == ASSAY_NO_VALUE)
        return s;
    if ((s = tfl_unroll_beside(o, IN_X, BI_AUX)))
        return s;
    if (tfl_has(o, BI_AUX_WEIGHTS) != tfl_has(o, BI_AUX_WEIGHTS + 1))
        return tfl_fail(o, "auxiliary weights of one direction alone");
    if (!tfl_has(o, BI_AUX_WEIGHTS)) {
        n[1].x = n[1].at.time_major ? aux : n[1].x;
        return ASSAY_OK;
    }
    for (int i = 0; !s && i < 2; ++i) {
        n[i].aux = aux;
        if (!(s = tfl_unroll_weights(&n[i].at, BI_AUX, BI_AUX_WEIGHTS + i)))
            s = tfl_value(o, BI_AUX_WEIGHTS + i, &w);
        n[i].aux_w = tfl_factor_of(s ? 0 : w);
    }
    return s;
}

assay_status tfl_op_bidirectional_rnn(const tfl_op *o)
{
    const bool merged = tfl_flat_bool(o->options, BI_MERGE);
    rnn n[2];
    int *all[2];
    assay_status s = ASSAY_OK;

    if (o->n_in != BI_COUNT || !tfl_has(o, IN_X) || o->n_out != (merged ? 1 : 2))
        return tfl_fail(o, "%d inputs and %d outputs, expected 12 and %d", o->n_in, o->n_out,
                        merged ? 1 : 2);
    for (int i = 0; !s && i < 2; ++i) {
        n[i] = (rnn){.at = {.o = o,
                            .direction = i ? "backward/" : "forward/",
                            .time_major = tfl_flat_bool(o->options, SEQUENCE_TIME_MAJOR),
                            .asymmetric = tfl_flat_bool(o->options, BI_ASYMMETRIC)},
                     .first = i * BACKWARD,
                     .aux = ASSAY_NO_VALUE,
                     .activation = tfl_flat_i8(o->options, SEQUENCE_ACTIVATION, 0)};
        (void)((s = tfl_unroll_sizes(&n[i].at, IN_X, false)) || (s = tfl_value(o, IN_X, &n[i].x)));
        n[i].at.in_float = n[i].at.time_major && n[i].at.steps > 1;
    }
    if (s || (s = read_aux(n)) || (s = unroll(&n[0], &all[0])) || (s = unroll(&n[1], &all[1])))
        return s;
    return tfl_unroll_results((tfl_unroll[]){n[0].at, n[1].at}, all, merged);
}
