/* Operators over time: what the unrolled steps of all of them are made of. */
#include "graph/tflite/op/unroll.h"

#include <stdio.h>
#include <string.h>

#define MAX_STEPS 2048
#define STEP_COST 256 /* of the budget, for the nodes of one step */

assay_status tfl_unroll_sizes(tfl_unroll *u, int x, bool single)
{
    const tfl_op *o = u->o;
    const assay_type *type = &tfl_in(o, x)->type;

    if (type->rank != (single ? 2 : 3))
        return tfl_fail(o, "expected an input of %d dimensions", single ? 2 : 3);
    u->batch = type->dim[!single && u->time_major ? 1 : 0];
    u->steps = single ? 1 : type->dim[u->time_major ? 0 : 1];
    if (u->steps < 1 || u->batch < 1)
        return tfl_fail(o, "the input is empty");
    if (u->steps > MAX_STEPS)
        return tfl_unsupported(o, "more than %d time steps", MAX_STEPS);
    return tfl_charge(o->m, (uint64_t)u->steps * STEP_COST);
}

assay_status tfl_unroll_weights(const tfl_unroll *u, int x, int w)
{
    const tfl_op *o = u->o;

    if (!tfl_has(o, w))
        return tfl_fail(o, "input %d is missing", w);
    if (tfl_in(o, w)->type.rank != 2)
        return tfl_fail(o, "the weights in input %d do not have 2 dimensions", w);
    return !u->in_float && tfl_is_hybrid_product(o, x, w) ? ASSAY_OK : tfl_real_weights(o, x, w);
}

assay_status tfl_unroll_beside(const tfl_op *o, int x, int aux)
{
    const assay_type *a = &tfl_in(o, x)->type, *b = &tfl_in(o, aux)->type;

    if (b->rank != 3 || b->dim[0] != a->dim[0] || b->dim[1] != a->dim[1])
        return tfl_fail(o, "the auxiliary input has other steps than the input");
    return ASSAY_OK;
}

/* "backward/step3/forget/sum" */
static const char *named(const tfl_unroll *u, const char *gate, const char *what, char room[96])
{
    snprintf(room, 96, "%sstep%d/%s%s%s", u->direction, u->step, gate, *gate ? "/" : "", what);
    return room;
}

assay_status tfl_unroll_node(const tfl_unroll *u, assay_op op, const int *in, int n_in,
                             const assay_attrs *attr, const char *gate, const char *what,
                             const assay_type *type, int *value, int *id)
{
    char room[96];
    assay_status s = tfl_part(u->o, named(u, gate, what, room), type, value);
    return s ? s : tfl_node(u->o, op, in, n_in, value, 1, attr, id);
}

assay_status tfl_unroll_read(const tfl_unroll *u, int state, const char *what, int *value)
{
    int variable;
    assay_status s = tfl_has(u->o, state) && tfl_in(u->o, state)->is_variable
                         ? tfl_value(u->o, state, &variable)
                         : tfl_fail(u->o, "a state is not a variable");
    return s ? s
             : tfl_unroll_node(u, ASSAY_OP_READ, &variable, 1, NULL, "", what,
                               &tfl_in(u->o, state)->type, value, NULL);
}

assay_status tfl_unroll_assign(const tfl_unroll *u, int state, const char *what, int value)
{
    char room[96];
    int variable, stored;
    assay_status s = tfl_value(u->o, state, &variable);

    snprintf(room, sizeof room, "%s%s", u->direction, what);
    return s ? s
             : tfl_step(u->o, ASSAY_OP_ASSIGN, (int[]){variable, value}, 2, room,
                        &tfl_in(u->o, state)->type, &stored);
}

assay_status tfl_unroll_input(const tfl_unroll *u, int x, int *out)
{
    const int axis = u->time_major ? 0 : 1;
    assay_type type = u->o->m->g->value[x].type;
    assay_attrs a = {.slice = {.begin.n = 3, .size.n = 3}};
    char room[96];
    int slice = x;
    assay_status s = ASSAY_OK;

    *out = x;
    if (type.rank == 2)
        return ASSAY_OK;
    type.dim[axis] = 1;
    a.slice.begin.v[axis] = u->step;
    memcpy(a.slice.size.v, type.dim, 3 * sizeof *type.dim);
    if (u->steps > 1)
        s = tfl_unroll_node(u, ASSAY_OP_SLICE, &x, 1, &a, "", "slice", &type, &slice, NULL);
    type.rank = 2;
    type.dim[0] = u->batch;
    type.dim[1] = type.dim[2];
    if (s || (s = tfl_part(u->o, named(u, "", "x", room), &type, out)))
        return s;
    return tfl_reshape(u->o, slice, *out);
}

assay_status tfl_unroll_product(const tfl_unroll *u, tfl_factor *x, tfl_factor *w, int bias,
                                const char *gate, const char *what, const assay_type *type,
                                int *out)
{
    const assay_graph *g = u->o->m->g;
    char room[128];
    assay_status s;

    if (g->value[x->value].type.elem.kind != ASSAY_KIND_F32 ||
        g->value[w->value].type.elem.kind != ASSAY_KIND_INT)
        return tfl_unroll_node(u, ASSAY_OP_FC, (int[]){x->value, w->value, bias},
                               bias == ASSAY_NO_VALUE ? 2 : 3, NULL, gate, what, type, out, NULL);
    named(u, gate, what, room);
    if ((s = tfl_part(u->o, room, type, out)))
        return s;
    strcat(room, "/");
    return tfl_hybrid_product(u->o, room, u->asymmetric, x, w, bias, *out);
}

assay_status tfl_unroll_bend(const tfl_unroll *u, int activation, int x, const char *gate,
                             const char *what, const assay_type *type, int *out)
{
    assay_attrs a = {.clip = {.lo = activation == ACTIVATION_RELU_N1_TO_1 ? -1 : 0,
                              .hi = activation == ACTIVATION_RELU6 ? 6 : 1}};
    assay_op op = ASSAY_OP_CLIP;

    *out = x;
    switch (activation) {
    case ACTIVATION_NONE:
        return ASSAY_OK;
    case ACTIVATION_RELU:
        op = ASSAY_OP_RELU;
        break;
    case ACTIVATION_TANH:
        op = ASSAY_OP_TANH;
        break;
    case ACTIVATION_RELU6:
    case ACTIVATION_RELU_N1_TO_1:
        break;
    default:
        return tfl_unsupported(u->o, "activation %d", activation);
    }
    return tfl_unroll_node(u, op, &x, 1, op == ASSAY_OP_CLIP ? &a : NULL, gate, what, type, out,
                           NULL);
}

int *tfl_unroll_room(const tfl_unroll *u)
{
    return assay_arena_array(u->o->m->temp, (size_t)u->steps, sizeof(int));
}

/* y of one step with an axis of time. */
static assay_type row_type(const tfl_unroll *u, int result)
{
    assay_type type = u->o->m->g->value[result].type;

    type.rank = 3;
    type.dim[2] = type.dim[1];
    type.dim[0] = u->time_major ? 1 : u->batch;
    type.dim[1] = u->time_major ? u->batch : 1;
    return type;
}

assay_status tfl_unroll_join(const tfl_unroll *u, int *result, int y)
{
    const assay_attrs a = {.axis.axis = u->time_major ? 0 : 1};
    const assay_type type = row_type(u, result[0]);
    tfl_unroll at = *u;

    if (u->steps == 1)
        return tfl_reshape(u->o, result[0], y);
    for (at.step = 0; at.step < u->steps; ++at.step) {
        char room[96];
        int row;
        assay_status s = tfl_part(u->o, named(&at, "", "y", room), &type, &row);
        if (s || (s = tfl_reshape(u->o, result[at.step], row)))
            return s;
        result[at.step] = row;
    }
    return tfl_node(u->o, ASSAY_OP_CONCAT, result, (int)u->steps, &y, 1, &a, NULL);
}

/* The results of one direction in a value of its own. */
static assay_status join_apart(const tfl_unroll *u, int *result, int *y)
{
    assay_type type = row_type(u, result[0]);
    char room[32];
    assay_status s;

    type.dim[u->time_major ? 0 : 1] = u->steps;
    snprintf(room, sizeof room, "%sall", u->direction);
    s = tfl_part(u->o, room, &type, y);
    return s ? s : tfl_unroll_join(u, result, *y);
}

assay_status tfl_unroll_results(const tfl_unroll u[2], int *result[2], bool merged)
{
    const tfl_op *o = u[0].o;
    const assay_attrs last = {.axis.axis = 2};
    int y, side[2];
    assay_status s = ASSAY_OK;

    for (int i = 0; !s && !merged && i < 2; ++i)
        if (!(s = tfl_result(o, i, &y)))
            s = tfl_unroll_join(&u[i], result[i], y);
    for (int i = 0; !s && merged && i < 2; ++i)
        s = join_apart(&u[i], result[i], &side[i]);
    if (s || !merged || (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_CONCAT, side, 2, &y, 1, &last, NULL);
}
