/* Operators whose result is known without running them, because every shape is. */
#include <string.h>

#include "graph/tflite/op/op.h"

enum { CODE_RANK = 110 };
#define MAX_RANGE (1 << 20) /* elements of a RANGE */

/* FILL: dims, value. The output tensor's shape is the dims. */
assay_status tfl_op_fill(const tfl_op *o)
{
    tfl_op value = *o;
    if (o->n_in != 2 || o->n_out != 1 || o->in[0] < 0 || o->in[1] < 0)
        return tfl_fail(o, "expected two inputs and one output");
    value.n_in = 1;
    value.in = &o->in[1];
    return tfl_op_expand(&value);
}

/* The code 0, as in TFLM, whatever the zero point. */
assay_status tfl_op_zeros_like(const tfl_op *o)
{
    assay_attrs a = {0};
    assay_type scalar;
    int zero, y;
    const char *name;
    assay_status s;

    if (o->n_in != 1 || o->n_out != 1)
        return tfl_fail(o, "expected one input and one output");
    if ((s = tfl_result(o, 0, &y)))
        return s;
    scalar = tfl_out(o, 0)->type;
    if (scalar.q.granularity == ASSAY_Q_AXIS)
        return tfl_unsupported(o, "with parameters per axis");
    a.shape.shape.n = scalar.rank;
    memcpy(a.shape.shape.v, scalar.dim, sizeof scalar.dim);
    scalar.rank = 0;
    name = tfl_unique(o->m, "zero", o->index);
    if (!name)
        return tfl_no_memory(o->m);
    s = assay_graph_add_constant(o->m->g, name, &scalar, NULL, &zero, o->m->err);
    return s ? s : tfl_node(o, ASSAY_OP_EXPAND, &zero, 1, &y, 1, &a, NULL);
}

/* Output 0 is n integers: the constant "OUTPUT/known", a node that gives it, so that the tensor is
 * one of those that are computed, and what other operators may read as constants. */
static assay_status constant_output(const tfl_op *o, const int64_t *value, int n)
{
    tfl_tensor *t = tfl_out(o, 0);
    void *data;
    int known, y;
    assay_status s;

    if (t->raw != TFL_INT32 && t->raw != TFL_INT64)
        return tfl_unsupported(o, "to %s", tfl_type_name(t->raw));
    if (t->data || t->value >= 0)
        return tfl_fail(o, "its output '%.200s' exists already", t->name);
    if (assay_shape_count(&t->type) != n)
        return tfl_fail(o, "its output has %lld elements, expected %d",
                        (long long)assay_shape_count(&t->type), n);
    data = assay_arena_array(o->m->g->arena, (size_t)n + 1, assay_elem_size(t->type.elem));
    if (!data)
        return tfl_no_memory(o->m);
    for (int i = 0; i < n; ++i)
        assay_elem_set(t->type.elem, data, (size_t)i, value[i]);
    if ((s = tfl_result(o, 0, &y)) || (s = tfl_part(o, "known", &t->type, &known)))
        return s;
    o->m->g->value[known].data = data;
    if ((s = tfl_reshape(o, known, y)))
        return s;
    t->data = data;
    t->bytes = assay_type_bytes(&t->type);
    t->is_native = true;
    return ASSAY_OK;
}

assay_status tfl_op_shape(const tfl_op *o)
{
    const assay_type *x;
    int64_t rank;

    if (o->n_in != 1 || o->n_out != 1 || o->in[0] < 0)
        return tfl_fail(o, "expected one input and one output");
    x = &tfl_in(o, 0)->type;
    rank = x->rank;
    return o->builtin == CODE_RANK ? constant_output(o, &rank, 1)
                                   : constant_output(o, x->dim, x->rank);
}

/* How many of start, start + delta, ... lie before the limit; delta is not 0. Distances of int64
 * are uint64. */
static uint64_t range_count(int64_t start, int64_t limit, int64_t delta)
{
    const uint64_t step = delta > 0 ? (uint64_t)delta : 0 - (uint64_t)delta;
    const uint64_t way =
        delta > 0 ? (uint64_t)limit - (uint64_t)start : (uint64_t)start - (uint64_t)limit;
    const bool none = delta > 0 ? limit <= start : limit >= start;
    return none ? 0 : way / step + (way % step != 0);
}

/* RANGE: start, limit, delta, which must be known: so many integers, whatever the file says. */
assay_status tfl_op_range(const tfl_op *o)
{
    int64_t part[3], n;
    int64_t *value;
    assay_status s = tfl_expect(o, 3);

    for (int i = 0; !s && i < 3; ++i)
        s = tfl_int(o, i, &part[i]);
    if (s)
        return s;
    if (part[2] == 0)
        return tfl_fail(o, "its delta is 0");
    const uint64_t count = range_count(part[0], part[1], part[2]);
    if (count > MAX_RANGE)
        return tfl_unsupported(o, "of %llu elements", (unsigned long long)count);
    n = (int64_t)count;
    value = assay_arena_array(o->m->temp, (size_t)n + 1, sizeof *value);
    if (!value)
        return tfl_no_memory(o->m);
    for (int64_t i = 0; i < n; ++i)
        value[i] = (int64_t)((uint64_t)part[0] + (uint64_t)i * (uint64_t)part[2]);
    if (tfl_out(o, 0)->value < 0) {
        tfl_out(o, 0)->type.rank = 1;
        tfl_out(o, 0)->type.dim[0] = n;
    }
    return constant_output(o, value, (int)n);
}

/* The shape to which two constant shapes broadcast. */
static assay_status broadcast_constants(const tfl_op *o)
{
    int64_t a[ASSAY_MAX_RANK], b[ASSAY_MAX_RANK], out[ASSAY_MAX_RANK];
    int na, nb, n;
    assay_status s;

    if ((s = tfl_ints(o, 0, ASSAY_MAX_RANK, a, &na)) ||
        (s = tfl_ints(o, 1, ASSAY_MAX_RANK, b, &nb)))
        return s;
    n = na > nb ? na : nb;
    for (int i = 0; i < n; ++i) {
        int64_t da = i < n - na ? 1 : a[i - (n - na)], db = i < n - nb ? 1 : b[i - (n - nb)];
        if (da != db && da != 1 && db != 1)
            return tfl_fail(o, "extents %lld and %lld do not broadcast", (long long)da,
                            (long long)db);
        out[i] = da == 1 ? db : da;
    }
    return constant_output(o, out, n);
}

/* Shape i with ones before it, as long as the output. */
static assay_status lengthened(const tfl_op *o, int i, const assay_type *to, int *value)
{
    assay_attrs a;
    int x;
    assay_status s = tfl_value(o, i, &x);

    *value = x;
    if (s || o->m->g->value[x].type.dim[0] == to->dim[0])
        return s;
    assay_attrs_defaults(ASSAY_ATTRS_pad, &a);
    a.pad.begin = (assay_list){.n = 1, .v = {to->dim[0] - o->m->g->value[x].type.dim[0]}};
    a.pad.end = (assay_list){.n = 1};
    a.pad.has_code = true;
    a.pad.code = 1;
    if ((s = tfl_part(o, "lengthened", to, value)))
        return s;
    return tfl_node(o, ASSAY_OP_PAD, &x, 1, value, 1, &a, NULL);
}

/* Of shapes that are known at run time: a where it is not 1, else b. */
static assay_status broadcast_values(const tfl_op *o)
{
    const assay_type to = tfl_out(o, 0)->type;
    assay_type flags = to, scalar = to;
    int a, b, one, equal, y;
    const char *name = tfl_unique(o->m, "one", o->index);
    assay_status s;

    if (to.rank != 1 || tfl_in(o, 0)->type.rank != 1 || tfl_in(o, 1)->type.rank != 1)
        return tfl_fail(o, "expected shapes as vectors");
    if (!name)
        return tfl_no_memory(o->m);
    flags.elem = assay_bool();
    scalar.rank = 0;
    if ((s = lengthened(o, 0, &to, &a)) || (s = lengthened(o, 1, &to, &b)) ||
        (s = assay_graph_add_constant(o->m->g, name, &scalar, NULL, &one, o->m->err)))
        return s;
    assay_elem_set(scalar.elem, (void *)(uintptr_t)o->m->g->value[one].data, 0, 1);
    if ((s = tfl_part(o, "ones", &flags, &equal)) ||
        (s = tfl_node(o, ASSAY_OP_EQUAL, (int[]){a, one}, 2, &equal, 1, NULL, NULL)) ||
        (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_SELECT, (int[]){equal, b, a}, 3, &y, 1, NULL, NULL);
}

assay_status tfl_op_broadcast_args(const tfl_op *o)
{
    if (o->n_in != 2 || o->n_out != 1 || o->in[0] < 0 || o->in[1] < 0)
        return tfl_fail(o, "expected two inputs and one output");
    return tfl_in(o, 0)->data && tfl_in(o, 1)->data ? broadcast_constants(o) : broadcast_values(o);
}

/* Element i of a constant is not zero. */
static bool is_set(const tfl_tensor *t, const void *data, int64_t i)
{
    return t->type.elem.kind == ASSAY_KIND_F32 ? ((const float *)data)[i] != 0
                                               : assay_elem_get(t->type.elem, data, (size_t)i) != 0;
}

/* How many rows WHERE gives is the data's affair: those of a constant, or of the value that the
 * input at hand leads to. The node counts again when it runs. */
assay_status tfl_op_where(const tfl_op *o)
{
    assay_attrs a = {0};
    tfl_tensor *t, *y;
    const void *data;
    assay_status s;

    if (o->n_in != 1 || o->n_out != 1 || o->in[0] < 0)
        return tfl_fail(o, "expected one input and one output");
    t = tfl_in(o, 0);
    y = tfl_out(o, 0);
    if (t->why || t->is_variable)
        return tfl_unsupported(o, "%s", t->why ? t->why : "of a variable");
    if (y->raw != TFL_INT64)
        return tfl_fail(o, "its output is not int64");
    s = t->data ? tfl_elements(o->m, t, &data) : tfl_compute(o, 0, &data);
    if (s)
        return s;
    for (int64_t i = 0; i < assay_shape_count(&t->type); ++i)
        a.where.count += is_set(t, data, i);
    y->type.rank = 2;
    y->type.dim[0] = a.where.count;
    y->type.dim[1] = t->type.rank;
    o->m->follows_data = true;
    return tfl_straight(o, &a, NULL);
}
