/* Tensors and operators of a model that is being written. */
#include "graph/tflite/export/emit.h"
#include "graph/memory.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LIST_ROOM 560 /* of a message */

static void list(tfl_export *x, const char *what, const char *name, const char *kind,
                 const char *why)
{
    tfl_refusals *r = x->refused;

    if (r->text.length < LIST_ROOM)
        assay_buf_printf(&r->text, "%s%s '%.100s' (%s): %s", r->n ? "; " : "", what, name, kind,
                         why);
    else
        ++r->untold;
    ++r->n;
}

void tfl_refuse(tfl_export *x, const assay_node *n, const char *format, ...)
{
    char what[100];
    va_list args;

    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    list(x, "node", n->name, assay_op_get(n->op)->name, what);
}

void *tfl_room(tfl_export *x, size_t bytes)
{
    void *p = x->status ? NULL : assay_arena_alloc(x->arena, bytes);
    if (!p && !x->status)
        x->status = assay_out_of_memory(x->err);
    return p;
}

/* Room for one more element of a list of n; lists double. */
static bool grow(tfl_export *x, void **list, int n, int *room, size_t size)
{
    void *more;

    if (n < *room)
        return true;
    more = tfl_room(x, (size_t)(n ? 2 * n : 64) * size);
    if (!more)
        return false;
    if (n)
        memcpy(more, *list, (size_t)n * size);
    *list = more;
    *room = n ? 2 * n : 64;
    return true;
}

/* ---- tensors ---- */

/* The TFLite type of an element kind, or -1. Constants of few bits may be kept in more. */
static int raw_type(assay_elem e, bool constant)
{
    if (e.kind == ASSAY_KIND_F32)
        return TFL_FLOAT32;
    if (e.kind == ASSAY_KIND_BOOL)
        return TFL_BOOL;
    switch (e.bits) {
    case 8:
        return e.is_signed ? TFL_INT8 : TFL_UINT8;
    case 16:
        return e.is_signed ? TFL_INT16 : TFL_UINT16;
    case 32:
        return e.is_signed ? TFL_INT32 : TFL_UINT32;
    case 64:
        return TFL_INT64;
    case 4:
        return constant && e.is_signed ? TFL_INT4 : -1;
    default:
        return constant && e.is_signed && e.bits < 8 ? TFL_INT8 : -1;
    }
}

static int add_tensor(tfl_export *x, const char *name, const assay_type *type, const void *data)
{
    int raw = raw_type(type->elem, data != NULL);
    char kind[8];

    if (x->status || !name)
        return -1;
    if (raw < 0 || type->q.granularity == ASSAY_Q_BLOCK) {
        list(x, "value", name, assay_elem_print(type->elem, kind),
             raw < 0 ? "a type that TFLite does not have" : "parameters for each block");
        return -1;
    }
    if (!grow(x, (void **)&x->tensor, x->n_tensors, &x->room_tensors, sizeof *x->tensor))
        return -1;
    x->tensor[x->n_tensors] = (tfl_out_tensor){name, *type, data, raw, false};
    return x->n_tensors++;
}

int tfl_tensor_as(tfl_export *x, int value, const assay_type *type, const void *data)
{
    const assay_value *v = &x->g->value[value];
    int t = x->tensor_of[value];

    if (t >= 0 && x->tensor[t].data == data && assay_qparams_equal(&x->tensor[t].type.q, &type->q))
        return t;
    t = add_tensor(x, v->name, type, data);
    if (x->tensor_of[value] < 0)
        x->tensor_of[value] = t;
    return t;
}

int tfl_add_tensor(tfl_export *x, int value)
{
    const assay_value *v;

    if (value == ASSAY_NO_VALUE)
        return -1;
    v = &x->g->value[value];
    if (x->tensor_of[value] < 0)
        x->tensor_of[value] = add_tensor(x, v->name, &v->type, v->is_variable ? NULL : v->data);
    return x->tensor_of[value];
}

int tfl_extra(tfl_export *x, const assay_node *n, const char *what, const assay_type *type,
              const void *data)
{
    const char *base = x->g->value[n->out[0]].name;
    size_t room = strlen(base) + strlen(what) + 16;
    char *name = tfl_room(x, room);

    if (!name)
        return -1;
    snprintf(name, room, "%s:%s", base, what);
    for (int i = 2; assay_graph_find_value(x->g, name) >= 0; ++i)
        snprintf(name, room, "%s:%s%d", base, what, i);
    return add_tensor(x, name, type, data);
}

int tfl_numbers(tfl_export *x, const assay_node *n, const char *what, const int64_t *value,
                int count)
{
    assay_type type = {.elem = assay_int(32, true), .rank = 1, .dim = {count}};
    int32_t *data = tfl_room(x, (size_t)count * sizeof *data + 1);

    for (int i = 0; data && i < count; ++i) {
        if (value[i] < INT32_MIN || value[i] > INT32_MAX)
            tfl_refuse(x, n, "%s beyond 32 bits", what);
        data[i] = (int32_t)value[i];
    }
    return tfl_extra(x, n, what, &type, data);
}

int tfl_number(tfl_export *x, const assay_node *n, const char *what, int64_t value)
{
    int t = tfl_numbers(x, n, what, &value, 1);
    if (t >= 0)
        x->tensor[t].type.rank = 0;
    return t;
}

/* ---- operators ---- */

void tfl_add_operator(tfl_export *x, int builtin, const int *in, int n_in, const int *out,
                      int n_out)
{
    tfl_out_operator *o;

    if (!grow(x, (void **)&x->op, x->n_ops, &x->room_ops, sizeof *x->op))
        return;
    o = &x->op[x->n_ops];
    *o = (tfl_out_operator){.builtin = builtin, .version = 1, .n_in = n_in, .n_out = n_out};
    o->in = tfl_room(x, (size_t)n_in * sizeof *in + 1);
    o->out = tfl_room(x, (size_t)n_out * sizeof *out + 1);
    if (!o->in || !o->out)
        return;
    if (n_in)
        memcpy(o->in, in, (size_t)n_in * sizeof *in);
    if (n_out)
        memcpy(o->out, out, (size_t)n_out * sizeof *out);
    ++x->n_ops;
}

void tfl_option(tfl_export *x, int slot, int size, int32_t value)
{
    tfl_out_operator *o = x->n_ops ? &x->op[x->n_ops - 1] : NULL;
    if (!x->status && o && o->n_options < FLAT_MAX_FIELDS)
        o->option[o->n_options++] = (flat_field){slot, size, (uint32_t)value};
}

void tfl_option_float(tfl_export *x, int slot, float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    tfl_option(x, slot, 4, bits);
}

void tfl_version(tfl_export *x, int version)
{
    if (!x->status && x->n_ops)
        x->op[x->n_ops - 1].version = version;
}

/* ---- bounds ---- */

static int activation_of(const assay_node *n)
{
    if (n->has_code_bounds)
        return -1;
    if (n->act_lo == -INFINITY && n->act_hi == INFINITY)
        return ACTIVATION_NONE;
    if (n->act_lo == 0 && n->act_hi == INFINITY)
        return ACTIVATION_RELU;
    if (n->act_lo == 0 && n->act_hi == 6)
        return ACTIVATION_RELU6;
    return n->act_lo == -1 && n->act_hi == 1 ? ACTIVATION_RELU_N1_TO_1 : -1;
}

int tfl_begin(tfl_export *x, const assay_node *n, bool can_fuse, int *fused)
{
    int activation = activation_of(n);

    *fused = ACTIVATION_NONE;
    if (activation == ACTIVATION_NONE)
        return tfl_add_tensor(x, n->out[0]);
    if (activation >= 0 && can_fuse) {
        *fused = activation;
        return tfl_add_tensor(x, n->out[0]);
    }
    return tfl_extra(x, n, "unbounded", &x->g->value[n->out[0]].type, NULL);
}

/* The code of a bound, as TFLite rounds it (kernels/kernel_util.cc: half away from zero, float32).
 */
static int64_t code_of(const assay_type *t, float bound)
{
    return (int64_t)roundf(bound / t->q.scale[0]) + t->q.zero_point[0];
}

static int bound_constant(tfl_export *x, const assay_node *n, const char *what, float real,
                          int64_t code)
{
    assay_type type = x->g->value[n->out[0]].type;
    void *data = tfl_room(x, sizeof(int64_t));

    type.rank = 0;
    if (!data)
        return -1;
    if (type.elem.kind == ASSAY_KIND_F32)
        memcpy(data, &real, sizeof real);
    else
        assay_elem_set(type.elem, data, 0, code);
    return tfl_extra(x, n, what, &type, data);
}

void tfl_finish(tfl_export *x, const assay_node *n, int from)
{
    const assay_type *t = &x->g->value[n->out[0]].type;
    bool codes = assay_is_quantized(t);
    int64_t least = codes ? assay_elem_min(t->elem) : 0;
    int64_t max = codes ? assay_elem_max(t->elem) : 0, lo = least, hi = max;
    int y = tfl_add_tensor(x, n->out[0]), at = from;
    bool below, above;

    if (x->status || from == y)
        return;
    if ((!codes && t->elem.kind != ASSAY_KIND_F32) ||
        (codes && t->q.granularity != ASSAY_Q_TENSOR)) {
        tfl_refuse(x, n, "bounds of a result of this type");
        return;
    }
    if (codes && n->act_lo != -INFINITY && code_of(t, n->act_lo) > lo)
        lo = code_of(t, n->act_lo);
    if (codes && n->act_hi != INFINITY && code_of(t, n->act_hi) < hi)
        hi = code_of(t, n->act_hi);
    if (n->has_code_bounds) {
        lo = n->code_lo > lo ? n->code_lo : lo;
        hi = n->code_hi < hi ? n->code_hi : hi;
    }
    above = codes ? hi < max : n->act_hi != INFINITY;
    below = codes ? lo > least || !above : n->act_lo != -INFINITY;
    if (below) {
        int to = above ? tfl_extra(x, n, "bounded_below", t, NULL) : y;
        tfl_add_operator(x, BUILTIN_MAXIMUM,
                         (int[]){at, bound_constant(x, n, "least", n->act_lo, lo)}, 2, &to, 1);
        at = to;
    }
    if (above)
        tfl_add_operator(x, BUILTIN_MINIMUM,
                         (int[]){at, bound_constant(x, n, "most", n->act_hi, hi)}, 2, &y, 1);
}
