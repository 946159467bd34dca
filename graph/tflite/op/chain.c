/* Chains of nodes that a custom operator becomes. */
#include "graph/tflite/op/chain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/tflite/flat/flex.h"

static assay_status check_port(const tfl_op *o, const tfl_tensor *t, tfl_port p, const char *side,
                               int i)
{
    if (t->raw != p.type)
        return tfl_fail(o, "%s %d is %s, expected %s", side, i, tfl_type_name(t->raw),
                        tfl_type_name(p.type));
    if (p.rank >= 0 && t->type.rank != p.rank)
        return tfl_fail(o, "%s %d has %d dimensions, expected %d", side, i, t->type.rank, p.rank);
    if (assay_is_quantized(&t->type))
        return tfl_unsupported(o, "a scale of plain integers (%s %d)", side, i);
    return ASSAY_OK;
}

tfl_chain tfl_chain_of(const tfl_op *o, int n_in, const tfl_port *in, int n_out,
                       const tfl_port *out)
{
    tfl_chain c = {o, tfl_expect(o, n_in)};

    if (!c.s && (o->n_in != n_in || o->n_out != n_out))
        c.s = tfl_fail(o, "%d inputs and %d outputs, expected %d and %d", o->n_in, o->n_out, n_in,
                       n_out);
    for (int i = 0; !c.s && i < n_in; ++i)
        c.s = check_port(o, tfl_in(o, i), in[i], "input", i);
    for (int i = 0; !c.s && i < n_out; ++i)
        c.s = check_port(o, tfl_out(o, i), out[i], "output", i);
    return c;
}

int64_t tfl_whole(tfl_chain *c, const char *key, int64_t lo, int64_t hi)
{
    double v = 0;

    if (c->s)
        return lo;
    if (!tfl_flex_number(c->o->custom_options, key, &v))
        c->s = tfl_fail(c->o, "its option '%s' is missing or no number", key);
    else if (!(v >= (double)lo && v <= (double)hi) || v != floor(v))
        c->s = tfl_fail(c->o, "its option '%s' is %g, expected a whole number from %lld to %lld",
                        key, v, (long long)lo, (long long)hi);
    return c->s ? lo : (int64_t)v;
}

bool tfl_holds(tfl_chain *c, bool holds, const char *reason)
{
    if (!c->s && !holds)
        c->s = tfl_fail(c->o, "%s", reason);
    return !c->s;
}

int tfl_chain_in(tfl_chain *c, int i)
{
    int value = ASSAY_NO_VALUE;
    if (!c->s)
        c->s = tfl_value(c->o, i, &value);
    return value;
}

int tfl_chain_out(tfl_chain *c, int i)
{
    int value = ASSAY_NO_VALUE;
    if (!c->s)
        c->s = tfl_result(c->o, i, &value);
    return value;
}

const assay_type *tfl_chain_type(const tfl_chain *c, int value)
{
    return &c->o->m->g->value[value].type;
}

int tfl_chain_table(tfl_chain *c, const char *part, const assay_type *type, void **data)
{
    assay_graph *g = c->o->m->g;
    int value = ASSAY_NO_VALUE;

    *data = NULL;
    if (!c->s)
        c->s = tfl_filled(c->o, part, type, 0, &value);
    if (c->s)
        return ASSAY_NO_VALUE;
    *data = (void *)(uintptr_t)g->value[value].data;
    return value;
}

int tfl_chain_number(tfl_chain *c, const char *part, assay_elem elem, int64_t number)
{
    const assay_type type = {.elem = elem};
    void *data;
    const int value = tfl_chain_table(c, part, &type, &data);

    if (data)
        assay_elem_set(elem, data, 0, number);
    return value;
}

/* "OUTPUT/part", of no other value; NULL behind a failure. */
static const char *name_of(tfl_chain *c, const char *part)
{
    tfl_import *m = c->o->m;
    const char *base = tfl_op_name(c->o), *unique = NULL;
    const size_t room = strlen(base) + strlen(part) + 2;
    char *name = c->s ? NULL : assay_arena_alloc(m->temp, room);

    if (name) {
        snprintf(name, room, "%s/%s", base, part);
        unique = tfl_unique(m, name, 0);
    }
    if (!c->s && !unique)
        c->s = tfl_no_memory(m);
    return unique;
}

static int link(tfl_chain *c, const char *part, assay_op kind, const assay_attrs *a, const int *in,
                int n_in)
{
    const char *name = name_of(c, part);
    int out = ASSAY_NO_VALUE;

    if (!c->s)
        c->s = assay_graph_add_inferred(c->o->m->g, kind, NULL, in, n_in, &name, 1, a, &out,
                                        c->o->m->err);
    return out;
}

int tfl_link(tfl_chain *c, const char *part, assay_op kind, const assay_attrs *a, int x, int z)
{
    return link(c, part, kind, a, (int[]){x, z}, z == ASSAY_NO_VALUE ? 1 : 2);
}

int tfl_chain_select(tfl_chain *c, const char *part, int condition, int a, int b)
{
    return link(c, part, ASSAY_OP_SELECT, NULL, (int[]){condition, a, b}, 3);
}

int tfl_chain_cast(tfl_chain *c, const char *part, int to, int x)
{
    const assay_attrs a = {.cast.to = to};
    return tfl_link(c, part, ASSAY_OP_CAST, &a, x, ASSAY_NO_VALUE);
}

int tfl_chain_saturated(tfl_chain *c, int x)
{
    const assay_elem word = assay_int(32, true);
    x = tfl_link(c, "above", ASSAY_OP_MAX, NULL, x, tfl_chain_number(c, "least", word, INT16_MIN));
    return tfl_link(c, "within", ASSAY_OP_MIN, NULL, x,
                    tfl_chain_number(c, "most", word, INT16_MAX));
}

int tfl_chain_slice(tfl_chain *c, const char *part, int x, int64_t first, int64_t n)
{
    assay_attrs a = {0};

    if (c->s)
        return ASSAY_NO_VALUE;
    const assay_type *t = tfl_chain_type(c, x);
    a.slice.begin.n = a.slice.size.n = t->rank;
    memcpy(a.slice.size.v, t->dim, (size_t)t->rank * sizeof *t->dim);
    a.slice.begin.v[t->rank - 1] = first;
    a.slice.size.v[t->rank - 1] = n;
    return tfl_link(c, part, ASSAY_OP_SLICE, &a, x, ASSAY_NO_VALUE);
}

int tfl_chain_concat(tfl_chain *c, const char *part, int a, int b)
{
    assay_attrs last = {0};

    if (c->s || a == ASSAY_NO_VALUE)
        return b;
    last.axis.axis = tfl_chain_type(c, a)->rank - 1;
    return tfl_link(c, part, ASSAY_OP_CONCAT, &last, a, b);
}

void tfl_chain_end(tfl_chain *c, int y, assay_op kind, const assay_attrs *a, int x, int z)
{
    if (!c->s)
        c->s = tfl_node(c->o, kind, (int[]){x, z}, z == ASSAY_NO_VALUE ? 1 : 2, &y, 1, a, NULL);
}

/* Initial elements: `first` throughout; NULL for zeros, and behind a failure. */
static const void *initial(tfl_chain *c, const assay_type *type, int64_t first)
{
    assay_graph *g = c->o->m->g;
    void *data;

    if (c->s || first == 0)
        return NULL;
    const int64_t n = assay_shape_count(type);
    data = assay_arena_array(g->arena, (size_t)n, assay_elem_size(type->elem));
    c->s = data ? ASSAY_OK : tfl_no_memory(c->o->m);
    for (int64_t i = 0; data && i < n; ++i)
        assay_elem_set(type->elem, data, (size_t)i, first);
    return data;
}

int tfl_chain_state(tfl_chain *c, const char *part, const assay_type *type, int64_t first,
                    int *variable)
{
    tfl_import *m = c->o->m;
    const char *name = name_of(c, part);

    *variable = ASSAY_NO_VALUE;
    if (!c->s && m->depth)
        c->s = tfl_unsupported(c->o, "its state in a body of control flow");
    if (!c->s)
        c->s = assay_shape_check(type, part, m->err);
    if (!c->s)
        c->s = tfl_charge(m, assay_type_bytes(type) / 4);
    const void *data = initial(c, type, first);
    if (!c->s)
        c->s = tfl_add_variable(m, name, type, data, variable);
    return tfl_link(c, "before", ASSAY_OP_READ, NULL, *variable, ASSAY_NO_VALUE);
}

int tfl_chain_assign(tfl_chain *c, const char *part, int variable, int value)
{
    return tfl_link(c, part, ASSAY_OP_ASSIGN, NULL, variable, value);
}
