/* Products of op handlers: nodes, constants, names for outputs. */
#include <stdio.h>
#include <string.h>

#include "graph/onnx/node/node.h"

/* The value that will carry a result: the node's first output, or a derived name. */
static onnx_value *result_value(onnx_node *n, size_t output, const char *suffix)
{
    const char *name = output < n->pb->n_output ? n->pb->output[output] : "", *given = suffix;

    if (n->narrow && output == 0 && !suffix) { /* rounded when the node is done */
        if (n->wide)
            return n->wide;
        suffix = "wide";
    }
    if (suffix || name[0] == '\0')
        name = onnx_fresh_name(n->im, n->pb->output[0][0] ? n->pb->output[0] : n->name,
                               suffix ? suffix : "unused");
    onnx_value *v = name ? onnx_add_value(n->im, name) : NULL;
    if (!v)
        return onnx_no_memory(n);
    if (!v->maker)
        v->maker = n->name;
    if (n->narrow && output == 0 && !given)
        n->wide = v;
    return v;
}

onnx_value *onnx_result(onnx_node *n, const char *suffix)
{
    return result_value(n, 0, suffix);
}

/* Every value as a graph value. */
static bool materialize_all(onnx_node *n, onnx_value *const *in, int n_in, int *id)
{
    for (int i = 0; i < n_in; i++) {
        assay_error cause = {.status = ASSAY_ERR_INTERNAL};
        id[i] = ASSAY_NO_VALUE;
        if (!in[i])
            continue;
        id[i] = onnx_materialize(n->im, in[i], &cause);
        if (id[i] == ASSAY_NO_VALUE) {
            onnx_fail_because(n, cause.status, &cause);
            return false;
        }
    }
    return true;
}

static const char *node_name(onnx_node *n, const char *suffix)
{
    size_t length = strlen(n->name) + (suffix ? strlen(suffix) : 4) + 2;
    char *name;

    if (!suffix && !n->narrow)
        return n->name;
    suffix = suffix ? suffix : "wide";
    name = onnx_alloc(n->im, length);
    if (!name)
        return onnx_no_memory(n);
    snprintf(name, length, "%s/%s", n->name, suffix);
    return name;
}

/* A graph output that is constant needs a node to make it. */
static void make_constant_output(onnx_node *n, onnx_value *y, const onnx_const *c)
{
    onnx_value *v = onnx_constant(n, c, "value");
    assay_attrs attr = {.shape = {.shape = {.n = c->rank}}};
    assay_error cause;
    int id;

    memcpy(attr.shape.shape.v, c->dim, sizeof c->dim);
    if (!v || !materialize_all(n, &v, 1, &id))
        return;
    assay_status s = assay_graph_add_inferred(n->im->graph, ASSAY_OP_RESHAPE, n->name, &id, 1,
                                              &y->name, 1, &attr, &y->id, &cause);
    if (s)
        onnx_fail_because(n, s, &cause);
}

/* The result of a node as a constant, named as output `output` or by the suffix. */
static onnx_value *constant_result(onnx_node *n, const onnx_const *c, size_t output,
                                   const char *suffix)
{
    onnx_value *v;

    if (n->status)
        return NULL;
    if (!c)
        return onnx_no_memory(n);
    v = result_value(n, output, suffix);
    if (v && v->is_output)
        make_constant_output(n, v, c);
    else if (v)
        v->constant = c;
    return n->status ? NULL : v;
}

static onnx_value *apply(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *const *in,
                         int n_in, size_t output, const char *suffix)
{
    const onnx_const *folded = NULL;
    onnx_value *y;
    int *id;
    const char *name;
    assay_error cause;

    for (int i = 0; i < n_in && !n->status; i++)
        if (in[i] && !onnx_is_made(in[i]))
            onnx_fail(n, ASSAY_ERR_INTERNAL, "input '%s' was never made", in[i]->name);
    if (n->status)
        return NULL;
    onnx_fold(n, op, attr, in, n_in, &folded);
    if (folded)
        return constant_result(n, folded, output, suffix);
    if (n->status || !(y = result_value(n, output, suffix)))
        return NULL;
    id = assay_arena_array(n->im->temp, (size_t)n_in, sizeof *id);
    name = node_name(n, suffix);
    if (!id || !name)
        return onnx_no_memory(n);
    if (!materialize_all(n, in, n_in, id))
        return NULL;
    assay_status s = assay_graph_add_inferred(n->im->graph, op, name, id, n_in, &y->name, 1, attr,
                                              &y->id, &cause);
    return s ? onnx_fail_because(n, s, &cause) : y;
}

onnx_value *onnx_op(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *const *in,
                    int n_in, const char *suffix)
{
    return apply(n, op, attr, in, n_in, 0, suffix);
}

void onnx_op_out(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x, size_t output)
{
    apply(n, op, attr, &x, 1, output, NULL);
}

onnx_value *onnx_op1(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x,
                     const char *suffix)
{
    return onnx_op(n, op, attr, &x, 1, suffix);
}

onnx_value *onnx_op2(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *a,
                     onnx_value *b, const char *suffix)
{
    onnx_value *in[2] = {a, b};
    return onnx_op(n, op, attr, in, 2, suffix);
}

void onnx_op_several(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x, int n_out,
                     const char *suffix, onnx_value **y)
{
    const char **names = assay_arena_array(n->im->temp, (size_t)n_out, sizeof *names);
    int *out = assay_arena_array(n->im->temp, (size_t)n_out, sizeof *out);
    const char *name = node_name(n, suffix);
    assay_error cause;
    int id;

    if (!names || !out || !name) {
        onnx_no_memory(n);
        return;
    }
    for (int i = 0; i < n_out && !n->status; i++) {
        y[i] = result_value(n, (size_t)i, suffix);
        if (y[i])
            names[i] = y[i]->name;
    }
    if (n->status || !materialize_all(n, &x, 1, &id))
        return;
    assay_status s =
        assay_graph_add_inferred(n->im->graph, op, name, &id, 1, names, n_out, attr, out, &cause);
    if (s) {
        onnx_fail_because(n, s, &cause);
        return;
    }
    for (int i = 0; i < n_out; i++)
        y[i]->id = out[i];
}

void onnx_op_multi(onnx_node *n, assay_op op, const assay_attrs *attr, onnx_value *x, int n_out)
{
    onnx_value **y = assay_arena_array(n->im->temp, (size_t)n_out, sizeof *y);

    if (y)
        onnx_op_several(n, op, attr, x, n_out, NULL, y);
    else
        onnx_no_memory(n);
}

void onnx_bind(onnx_node *n, size_t i, onnx_value *v)
{
    onnx_value *y = i < n->pb->n_output ? onnx_find_value(n->im, n->pb->output[i]) : NULL;

    if (n->status || !y || !v || y == v)
        return;
    if (n->narrow && i == 0) {
        n->wide = v;
        return;
    }
    if (!y->is_output) {
        y->same = v;
        v->uses += y->uses;
        return;
    }
    /* A graph output keeps its own name, so it needs its own value. */
    if (v->constant) {
        make_constant_output(n, y, v->constant);
    } else {
        assay_type t = onnx_type(n, v);
        assay_attrs attr = {.shape = {.shape = {.n = t.rank}}};
        assay_error cause;
        int id;
        memcpy(attr.shape.shape.v, t.dim, sizeof t.dim);
        if (!materialize_all(n, &v, 1, &id))
            return;
        assay_status s = assay_graph_add_inferred(n->im->graph, ASSAY_OP_RESHAPE, n->name, &v->id,
                                                  1, &y->name, 1, &attr, &y->id, &cause);
        if (s)
            onnx_fail_because(n, s, &cause);
    }
}

onnx_value *onnx_constant(onnx_node *n, const onnx_const *c, const char *suffix)
{
    return constant_result(n, c, 0, suffix);
}

onnx_value *onnx_scalar(onnx_node *n, onnx_value *like, double value, const char *suffix)
{
    assay_type t = onnx_type(n, like);
    onnx_const *c;

    if (n->status)
        return NULL;
    c = onnx_new_const(n->im, like->constant ? like->constant->dtype : onnx_elem_dtype(t.elem), 0,
                       t.dim);
    if (!c)
        return onnx_no_memory(n);
    onnx_set_real(c, 0, value);
    return onnx_constant(n, c, suffix);
}

onnx_value *onnx_reshaped(onnx_node *n, onnx_value *x, int rank, const int64_t *dim,
                          const char *suffix)
{
    assay_attrs attr = {.shape = {.shape = {.n = rank}}};

    memcpy(attr.shape.shape.v, dim, (size_t)rank * sizeof *dim);
    return onnx_op1(n, ASSAY_OP_RESHAPE, &attr, x, suffix);
}

/* Codes of weights are transposed themselves. Their floats carry the name of the node's output when
 * suffix is NULL, else one derived from the weights'. */
static onnx_value *transposed_codes(onnx_node *n, onnx_value *x, const int64_t *perm,
                                    const char *suffix)
{
    onnx_value *constant = onnx_transposed(n, x->codes->constant, perm, suffix ? suffix : "codes");
    const char *name = suffix ? onnx_fresh_name(n->im, x->name, suffix) : NULL;
    onnx_value *y = !suffix ? onnx_result(n, NULL) : name ? onnx_add_value(n->im, name) : NULL;
    onnx_codes *codes = onnx_alloc(n->im, sizeof *codes);

    if (n->status)
        return NULL;
    if (!y || !codes)
        return onnx_no_memory(n);
    onnx_inherit_name(constant, x->codes->constant);
    *codes = (onnx_codes){constant, x->codes->q, x->codes->narrow, x->codes->no_zero_point};
    for (int i = 0; codes->q.granularity == ASSAY_Q_AXIS && i < constant->constant->rank; i++)
        if (perm[i] == x->codes->q.axis)
            codes->q.axis = i;
    y->codes = codes;
    y->maker = n->name;
    return y;
}

onnx_value *onnx_transposed(onnx_node *n, onnx_value *x, const int64_t *perm, const char *suffix)
{
    if (n->status || !x)
        return NULL;
    if (x->codes && x->id == ASSAY_NO_VALUE && x->codes->q.granularity != ASSAY_Q_BLOCK)
        return transposed_codes(n, x, perm, suffix);
    assay_attrs attr = {.perm = {.perm = {.n = onnx_type(n, x).rank}}};

    memcpy(attr.perm.perm.v, perm, (size_t)attr.perm.perm.n * sizeof *perm);
    return onnx_op1(n, ASSAY_OP_TRANSPOSE, &attr, x, suffix);
}

void onnx_inherit_name(onnx_value *changed, onnx_value *original)
{
    if (changed && original && changed != original && changed->constant &&
        changed->id == ASSAY_NO_VALUE && original->constant && original->id == ASSAY_NO_VALUE &&
        original->uses <= 1)
        changed->name = original->name;
}
