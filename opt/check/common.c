/* Queries about fragments, nodes and types that all of the checker's obligations share. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/check/check.h"
#include "schemes/node/spec.h"

assay_status check_reject(const check_context *c, const char *what)
{
    return c->pass ? assay_fail(c->err, ASSAY_ERR_INPUT, "%s: step %d (%.60s): %s", c->file,
                                c->step, c->pass, what)
                   : assay_fail(c->err, ASSAY_ERR_INPUT, "%s: step %d: %s", c->file, c->step, what);
}

assay_status check_out_of_memory(const check_context *c)
{
    return assay_out_of_memory_for(c->err, "%s: step %d", c->file, c->step);
}

uint32_t check_traits(const assay_node *n)
{
    return assay_op_get(n->op)->traits;
}

assay_status check_prepare(const check_context *c, const assay_graph *g, const assay_node *n,
                           assay_unit **unit)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, n, in, &spec);
    return c->scheme->vt->prepare(c->scheme, &spec, unit, c->err);
}

assay_status check_prepare_pair(const check_context *c, const assay_node *a, const assay_node *b,
                                assay_unit **before, assay_unit **after)
{
    const assay_status s = check_prepare(c, c->before, a, before);
    return s ? s : check_prepare(c, c->after, b, after);
}

void check_release_pair(const check_context *c, assay_unit *before, assay_unit *after)
{
    if (before)
        c->scheme->vt->release(before);
    if (after)
        c->scheme->vt->release(after);
}

bool check_is_code(const assay_type *t)
{
    return assay_is_quantized(t) && t->q.granularity == ASSAY_Q_TENSOR;
}

bool check_same_type(const assay_type *a, const assay_type *b)
{
    return assay_elem_equal(a->elem, b->elem) && assay_qparams_equal(&a->q, &b->q);
}

bool check_same_bounds(const assay_node *a, const assay_node *b)
{
    return a->act_lo == b->act_lo && a->act_hi == b->act_hi &&
           a->has_code_bounds == b->has_code_bounds && a->code_lo == b->code_lo &&
           a->code_hi == b->code_hi;
}

const assay_node *check_producer(const assay_graph *g, int value)
{
    return value >= 0 && g->value[value].producer >= 0 ? &g->node[g->value[value].producer] : NULL;
}

bool check_same_value(const assay_graph *g, int v, const assay_graph *h, int w)
{
    if (v < 0 || w < 0)
        return v < 0 && w < 0;
    return strcmp(g->value[v].name, h->value[w].name) == 0 &&
           check_same_type(&g->value[v].type, &h->value[w].type);
}

void check_store(const assay_type *t, int32_t *code, size_t count)
{
    const unsigned bits = t->elem.bits;
    const int64_t least = assay_elem_min(t->elem);
    for (size_t i = 0; i < count && check_is_code(t) && bits < 32; i++)
        code[i] = (int32_t)(least + (((int64_t)code[i] - least) & ((INT64_C(1) << bits) - 1)));
}

assay_status check_tabulate(const check_context *c, const assay_graph *g, const assay_node *n,
                            int32_t **table, size_t *size)
{
    const assay_type *x = &g->value[n->in[0]].type, *y = &g->value[n->out[0]].type;
    assay_unit *u = NULL;
    if (!(check_traits(n) & ASSAY_T_UNARY) || n->op == ASSAY_OP_LOOKUP || !check_is_code(x) ||
        !check_is_code(y) || x->elem.bits > CHECK_MAX_BITS || !c->scheme->vt->unary)
        return check_reject(c, "a function that is not of one code");
    assay_status s = check_prepare(c, g, n, &u);
    if (s)
        return s;
    *size = (size_t)1 << x->elem.bits;
    int32_t *in = calloc(*size, sizeof *in), *out = calloc(*size, sizeof *out);
    for (size_t i = 0; i < *size && in; i++)
        in[i] = (int32_t)(assay_elem_min(x->elem) + (int64_t)i);
    if (in && out)
        c->scheme->vt->unary(u, in, *size, out);
    else
        s = check_out_of_memory(c);
    if (!s)
        check_store(y, out, *size);
    c->scheme->vt->release(u);
    free(in);
    if (s)
        free(out);
    else
        *table = out;
    return s;
}

const assay_value *check_constant_of(const check_context *c, const char *name)
{
    int v = c->model ? assay_graph_find_value(c->model, name) : -1;
    if (v >= 0 && c->model->value[v].data)
        return &c->model->value[v];
    for (int i = 0; i < c->n_constants; i++) {
        v = assay_graph_find_value(c->constant[i], name);
        if (v >= 0 && c->constant[i]->value[v].data)
            return &c->constant[i]->value[v];
    }
    return NULL;
}

int64_t check_code(const assay_value *v, int64_t i)
{
    return assay_elem_get(v->type.elem, v->data, (size_t)i);
}
