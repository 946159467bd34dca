/* SVDF: a fully connected layer whose results enter a memory, and a filter over each memory
 * (Nakkiran et al. 2015).
 *
 *   feature = fc(x, weights_feature)                       one number per filter
 *   memory  = the last M features of each filter           a variable
 *   y[unit] = bias + sum of memory * weights_time over the unit's `rank` filters
 *
 * The sum is a convolution over one cell in as many groups as there are units. Quantized, both
 * steps are ops of their own, because their multipliers are derived in another way than fc's and
 * conv's (micro/kernels/svdf_common.cc: ratios in float32), and the activation is not applied. */
#include <string.h>

#include "graph/tflite/op/op.h"

enum { IN_X, IN_FEATURE, IN_TIME, IN_BIAS, IN_STATE, IN_COUNT };
enum { OPTION_RANK = 0, OPTION_ACTIVATION = 1, OPTION_ASYMMETRIC = 2 };

typedef struct svdf {
    const tfl_op *o;
    int64_t batch, filters, units, memory;
    bool quantized;
} svdf;

static assay_status read_sizes(svdf *v)
{
    const tfl_op *o = v->o;
    const assay_type *x, *f, *t, *state;
    int32_t rank = tfl_flat_i32(o->options, OPTION_RANK, 0);
    assay_status s;

    if (o->n_in != IN_COUNT || o->n_out != 1)
        return tfl_fail(o, "%d inputs and %d outputs, expected 5 and 1", o->n_in, o->n_out);
    for (int i = 0; i < IN_COUNT; ++i)
        if (i != IN_BIAS && !tfl_has(o, i))
            return tfl_fail(o, "input %d is missing", i);
    x = &tfl_in(o, IN_X)->type;
    f = &tfl_in(o, IN_FEATURE)->type;
    t = &tfl_in(o, IN_TIME)->type;
    state = &tfl_in(o, IN_STATE)->type;
    if (x->rank != 2 || f->rank != 2 || t->rank != 2 || state->rank != 2)
        return tfl_fail(o, "expected input, weights and state of 2 dimensions");
    v->batch = x->dim[0];
    v->filters = f->dim[0];
    v->memory = t->dim[1];
    if (rank < 1 || v->filters < 1 || v->filters % rank != 0 || v->memory < 1 ||
        t->dim[0] != v->filters || state->dim[0] != v->batch ||
        state->dim[1] != v->filters * v->memory)
        return tfl_fail(o, "the shapes of weights and state do not agree for rank %d", rank);
    v->units = v->filters / rank;
    v->quantized = x->elem.kind == ASSAY_KIND_INT;
    if (f->elem.kind != ASSAY_KIND_INT && v->quantized)
        return tfl_unsupported(o, "float weights under integer activations");
    if ((!tfl_is_hybrid_product(o, IN_X, IN_FEATURE) &&
         (s = tfl_real_weights(o, IN_X, IN_FEATURE))) ||
        (s = tfl_real_weights(o, IN_X, IN_TIME)))
        return s;
    if (!tfl_in(o, IN_STATE)->is_variable)
        return tfl_fail(o, "the state is not a variable");
    if (v->quantized &&
        (state->q.granularity != ASSAY_Q_TENSOR || t->q.granularity != ASSAY_Q_TENSOR))
        return tfl_unsupported(o, "a state or weights with unsupported quantization parameters");
    if (!tfl_in(o, IN_TIME)->data)
        return tfl_unsupported(o, "time weights that are not constant");
    return ASSAY_OK;
}

/* weights_time [filters, memory] as the filters [units, 1, 1, rank * memory] of a convolution. */
static assay_status time_weights(const svdf *v, int *value)
{
    tfl_tensor *t = tfl_in(v->o, IN_TIME);
    assay_type type = t->type;
    const void *data = NULL;
    const char *name;
    assay_status s = t->why ? tfl_unsupported(v->o, "%s", t->why) : tfl_elements(v->o->m, t, &data);

    if (s)
        return s;
    type.rank = 4;
    type.dim[0] = v->units;
    type.dim[1] = type.dim[2] = 1;
    type.dim[3] = v->filters / v->units * v->memory;
    name = tfl_unique(v->o->m, t->name, (int)(t - v->o->m->tensors.at));
    if (!name)
        return tfl_no_memory(v->o->m);
    s = assay_graph_borrow_constant(v->o->m->g, name, &type, data, value, v->o->m->err);
    if (!s)
        v->o->m->g->value[*value].source_index = (int)(t - v->o->m->tensors.at);
    return s;
}

static assay_status reshaped(const svdf *v, int x, const char *name, assay_type type, int rank,
                             const int64_t *dim, int *out)
{
    assay_status s;
    type.rank = rank;
    memcpy(type.dim, dim, (size_t)rank * sizeof *dim);
    s = tfl_part(v->o, name, &type, out);
    return s ? s : tfl_reshape(v->o, x, *out);
}

/* The memory without its oldest features and with the new ones behind. */
static assay_status remember(const svdf *v, int state, int feature, int *stored)
{
    const tfl_op *o = v->o;
    assay_type type = tfl_in(o, IN_STATE)->type;
    const int64_t flat[2] = {v->batch, v->filters * v->memory};
    const int64_t cube[3] = {v->batch, v->filters, v->memory};
    const int64_t column[3] = {v->batch, v->filters, 1};
    assay_attrs young = {.slice = {.begin = {.n = 3, .v = {0, 0, 1}},
                                   .size = {.n = 3, .v = {v->batch, v->filters, v->memory - 1}}}};
    assay_attrs last = {.axis.axis = 2};
    int before, old, kept, fresh, joined, after;
    assay_status s;

    if ((s = tfl_part(o, "memory_before", &type, &before)) ||
        (s = tfl_node(o, ASSAY_OP_READ, &state, 1, &before, 1, NULL, NULL)) ||
        (s = reshaped(v, before, "memory", type, 3, cube, &old)) ||
        (s = reshaped(v, feature, "newest", type, 3, column, &fresh)))
        return s;
    joined = fresh;
    if (v->memory > 1) {
        type.rank = 3;
        memcpy(type.dim, young.slice.size.v, sizeof cube);
        if ((s = tfl_part(o, "kept", &type, &kept)) ||
            (s = tfl_node(o, ASSAY_OP_SLICE, &old, 1, &kept, 1, &young, NULL)))
            return s;
        memcpy(type.dim, cube, sizeof cube);
        if ((s = tfl_part(o, "joined", &type, &joined)) ||
            (s = tfl_node(o, ASSAY_OP_CONCAT, (int[]){kept, fresh}, 2, &joined, 1, &last, NULL)))
            return s;
    }
    if ((s = reshaped(v, joined, "memory_after", type, 2, flat, &after)))
        return s;
    type = tfl_in(o, IN_STATE)->type;
    s = tfl_part(o, "stored", &type, stored);
    return s ? s : tfl_node(o, ASSAY_OP_ASSIGN, (int[]){state, after}, 2, stored, 1, NULL, NULL);
}

/* The filters' features of x; hybrid, these alone are in integers (kernels/svdf.cc). */
static assay_status make_feature(const svdf *v, int x, int w, int feature)
{
    const tfl_op *o = v->o;
    tfl_factor rows = tfl_factor_of(x), weights = tfl_factor_of(w);

    if (!v->quantized && o->m->g->value[w].type.elem.kind == ASSAY_KIND_INT)
        return tfl_hybrid_product(o, "feature/", tfl_flat_bool(o->options, OPTION_ASYMMETRIC),
                                  &rows, &weights, ASSAY_NO_VALUE, feature);
    return tfl_node(o, v->quantized ? ASSAY_OP_SVDF_FEATURE : ASSAY_OP_FC, (int[]){x, w}, 2,
                    &feature, 1, NULL, NULL);
}

assay_status tfl_op_svdf(const tfl_op *o)
{
    svdf v = {.o = o};
    assay_attrs a;
    assay_type type;
    int x, w, state, feature, stored, cells, sum, y, id, in[3];
    assay_status s = read_sizes(&v);

    if (s || (s = tfl_value(o, IN_X, &x)) || (s = tfl_value(o, IN_FEATURE, &w)) ||
        (s = tfl_value(o, IN_STATE, &state)) || (s = tfl_result(o, 0, &y)))
        return s;
    type = tfl_in(o, IN_STATE)->type;
    type.dim[1] = v.filters;
    if ((s = tfl_part(o, "feature", &type, &feature)) || (s = make_feature(&v, x, w, feature)) ||
        (s = remember(&v, state, feature, &stored)) ||
        (s = reshaped(&v, stored, "cells", type, 4,
                      (int64_t[]){v.batch, 1, 1, v.filters * v.memory}, &cells)))
        return s;
    type = tfl_out(o, 0)->type;
    type.rank = 4;
    type.dim[0] = v.batch;
    type.dim[1] = type.dim[2] = 1;
    type.dim[3] = v.units;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = ASSAY_LAYOUT_NHWC;
    a.conv.group = v.units;
    in[0] = cells;
    if ((s = time_weights(&v, &in[1])) || (s = tfl_value(o, IN_BIAS, &in[2])) ||
        (s = tfl_part(o, "sum", &type, &sum)) ||
        (s = tfl_node(o, v.quantized ? ASSAY_OP_SVDF_TIME : ASSAY_OP_CONV, in,
                      in[2] == ASSAY_NO_VALUE ? 2 : 3, &sum, 1, &a, &id)))
        return s;
    if (!v.quantized && (s = tfl_activation_bounds(o, OPTION_ACTIVATION, id)))
        return s;
    return tfl_reshape(o, sum, y);
}
