/* Values with quantization parameters: what scale and zero point inputs say becomes part of types.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/onnx/node/node.h"

/* The constant behind input i, which must be known. */
static const onnx_const *parameter(onnx_node *n, size_t i, const char *what)
{
    onnx_value *v = onnx_in(n, i);

    if (!v || n->status)
        return NULL;
    if (!v->constant)
        return onnx_refuse(n,
                           "%s ('%s') is not known at import: only constant parameters can be "
                           "imported",
                           what, n->pb->input[i]);
    return v->constant;
}

static bool check_scales(onnx_node *n, const char *name, const float *scale, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(scale[i]) || scale[i] <= 0) {
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "scale '%s' has the element %g at index %zu, expected finite and above 0",
                      name, (double)scale[i], i);
            return false;
        }
    return true;
}

static bool check_zeros(onnx_node *n, const char *name, const onnx_const *c, assay_elem elem)
{
    assay_elem own;
    char expected[8];

    if (!onnx_dtype_elem(c->dtype, &own) || !assay_elem_equal(own, elem)) {
        onnx_fail(n, ASSAY_ERR_INPUT, "zero point '%s' is %s, expected %s as its codes", name,
                  onnx_dtype_name(c->dtype), assay_elem_print(elem, expected));
        return false;
    }
    return true;
}

/* "1", "1 or 4"; count -1: any number. */
static void expected_count(char *room, size_t size, int64_t count)
{
    if (count > 1)
        snprintf(room, size, "1 or %lld", (long long)count);
    else
        snprintf(room, size, "%s", count < 0 ? "at least 1" : "1");
}

bool onnx_read_any_params(onnx_node *n, size_t scale, size_t zero, assay_elem elem, int64_t count,
                          assay_qparams *q)
{
    const onnx_const *s = NULL, *z = onnx_has(n, zero) ? parameter(n, zero, "zero point") : NULL;
    char room[32];

    *q = (assay_qparams){.granularity = ASSAY_Q_TENSOR, .count = 1};
    if (scale != ONNX_NO_INPUT) {
        if (!onnx_has(n, scale))
            onnx_fail(n, ASSAY_ERR_INPUT, "input %zu, a scale, is missing", scale);
        s = parameter(n, scale, "scale");
    }
    if (n->status)
        return false;
    if (s && s->dtype != ONNX_FLOAT) {
        onnx_refuse(n, "scale '%s' is %s, only float32, float16 and bfloat16 are supported",
                    n->pb->input[scale], onnx_dtype_name(s->dtype));
        return false;
    }
    if (s || z)
        q->count = (size_t)(s && (!z || s->count > z->count) ? s->count : z->count);
    if (q->count == 0 || (count >= 0 && q->count != 1 && q->count != (size_t)count) ||
        (s && s->count != 1 && (size_t)s->count != q->count)) {
        expected_count(room, sizeof room, count);
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu scales or zero points ('%s'), expected %s", q->count,
                  n->pb->input[s ? scale : zero], room);
        return false;
    }
    if (z && z->count != 1 && (size_t)z->count != q->count) {
        expected_count(room, sizeof room, (int64_t)q->count);
        onnx_fail(n, ASSAY_ERR_INPUT, "zero point '%s' has %lld elements, expected %s",
                  n->pb->input[zero], (long long)z->count, room);
        return false;
    }
    float *scales = onnx_alloc(n->im, q->count * sizeof *scales);
    int32_t *zeros = onnx_alloc(n->im, q->count * sizeof *zeros);
    if (!scales || !zeros) {
        onnx_no_memory(n);
        return false;
    }
    for (size_t i = 0; i < q->count; i++) {
        scales[i] = s ? (float)onnx_get_real(s, s->count == 1 ? 0 : (int64_t)i) : 1;
        zeros[i] = z ? (int32_t)onnx_get_int(z, z->count == 1 ? 0 : (int64_t)i) : 0;
    }
    q->scale = scales;
    q->zero_point = zeros;
    return !z || check_zeros(n, n->pb->input[zero], z, elem);
}

bool onnx_read_params(onnx_node *n, size_t scale, size_t zero, assay_elem elem, int64_t count,
                      assay_qparams *q)
{
    return onnx_read_any_params(n, scale, zero, elem, count, q) &&
           (scale == ONNX_NO_INPUT || check_scales(n, n->pb->input[scale], q->scale, q->count));
}

onnx_value *onnx_quantized(onnx_node *n, onnx_value *v, const assay_qparams *q)
{
    assay_error cause = {.status = ASSAY_ERR_INTERNAL};
    onnx_value *y;

    if (n->status)
        return NULL;
    if (onnx_type(n, v).elem.kind != ASSAY_KIND_INT)
        return onnx_fail(n, ASSAY_ERR_INPUT, "'%s' is not an integer, as codes must be", v->name);
    y = onnx_alloc(n->im, sizeof *y);
    if (!y)
        return onnx_no_memory(n);
    y->name = v->name;
    y->maker = v->maker;
    y->id = onnx_materialize_codes(n->im, v, q, &cause);
    return y->id == ASSAY_NO_VALUE ? onnx_fail_because(n, cause.status, &cause) : y;
}

onnx_value *onnx_quantized_axis(onnx_node *n, onnx_value *v, size_t scale, size_t zero, int axis)
{
    assay_type t = onnx_type(n, v);
    assay_qparams q;

    if (n->status || !onnx_read_params(n, scale, zero, t.elem, axis < 0 ? 1 : t.dim[axis], &q))
        return NULL;
    if (q.count > 1) {
        q.granularity = ASSAY_Q_AXIS;
        q.axis = axis;
    }
    return onnx_quantized(n, v, &q);
}

onnx_value *onnx_quantized_in(onnx_node *n, size_t i, size_t scale, size_t zero)
{
    if (!onnx_has(n, i))
        return onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
    return onnx_quantized_axis(n, onnx_in(n, i), scale, zero, -1);
}

onnx_value *onnx_quantized_op(onnx_node *n, assay_op op, const assay_attrs *attr,
                              onnx_value *const *in, int n_in, assay_elem elem,
                              const assay_qparams *q, const char *suffix)
{
    onnx_value *y = onnx_op(n, op, attr, in, n_in, suffix);
    assay_error cause;

    if (!y || n->status)
        return NULL;
    assay_type *t = &n->im->graph->value[y->id].type;
    t->elem = elem;
    t->q = (assay_qparams){0};
    assay_status s = q ? assay_graph_set_qparams(n->im->graph, y->id, q, &cause) : ASSAY_OK;
    return s ? onnx_fail_because(n, s, &cause) : y;
}

onnx_value *onnx_convert(onnx_node *n, assay_op op, onnx_value *x, assay_elem elem,
                         const assay_qparams *q, const char *suffix)
{
    assay_error cause = {.status = ASSAY_ERR_INTERNAL};
    assay_type type;
    onnx_value *y = n->status ? NULL : onnx_result(n, suffix);
    int in = y ? onnx_materialize(n->im, x, &cause) : ASSAY_NO_VALUE;
    assay_status s = cause.status;

    if (!y)
        return NULL;
    if (in != ASSAY_NO_VALUE) {
        type = n->im->graph->value[in].type;
        type.elem = elem;
        type.q = q ? *q : (assay_qparams){0};
        s = assay_graph_add_value(n->im->graph, y->name, &type, &y->id, &cause);
        if (!s)
            s = assay_graph_add_node(n->im->graph, op, suffix ? NULL : n->name, &in, 1, &y->id, 1,
                                     NULL, NULL, &cause);
    }
    return s ? onnx_fail_because(n, s, &cause) : y;
}

/* ---- parameters that spread ---- */

static bool has_none(const assay_graph *g, int v)
{
    const assay_type *t = &g->value[v].type;
    return t->elem.kind == ASSAY_KIND_INT && t->q.granularity == ASSAY_Q_NONE;
}

/* The inputs of a node whose codes reach its outputs: first..last. False: there are none. */
static bool carries(const assay_node *n, int *first, int *last)
{
    if (!(assay_op_get(n->op)->traits & (ASSAY_T_MOVE | ASSAY_T_SELECTS)))
        return false;
    *first = n->op == ASSAY_OP_SELECT ? 1 : 0;
    *last = n->op == ASSAY_OP_GATHER || n->op == ASSAY_OP_GATHER_ND ? 0 : n->n_in - 1;
    return true;
}

static const assay_qparams *known(const assay_graph *g, int v)
{
    const assay_qparams *q = &g->value[v].type.q;
    return q->granularity == ASSAY_Q_TENSOR ? q : NULL;
}

/* Gives what one of two values has to the other. */
static assay_status tie(assay_graph *a, int x, assay_graph *b, int y, assay_error *err)
{
    const assay_qparams *p = known(a, x), *q = known(b, y);

    if (p && has_none(b, y))
        return assay_graph_set_qparams(b, y, p, err);
    return q && has_none(a, x) ? assay_graph_set_qparams(a, x, q, err) : ASSAY_OK;
}

assay_status onnx_tie_params(assay_graph *g, assay_op op, const assay_attrs *a, const int *in,
                             const int *out, assay_error *err)
{
    const bool branch = op == ASSAY_OP_IF;
    assay_graph *one = g->subgraph[branch ? a->branch.on_true : a->loop.condition];
    assay_graph *two = g->subgraph[branch ? a->branch.on_false : a->loop.body];
    const int *around = in + (branch ? 1 : 0);
    assay_status s = ASSAY_OK;

    for (int pass = 0; pass < 2 && !s; pass++) { /* the second carries on what the first found */
        for (int i = 0; i < two->n_inputs && !s; i++)
            (void)((s = tie(g, around[i], one, one->input[i], err)) ||
                   (s = tie(g, around[i], two, two->input[i], err)));
        for (int i = 0; i < two->n_outputs && !s; i++) {
            s = branch ? tie(one, one->output[i], two, two->output[i], err)
                       : tie(two, two->input[i], two, two->output[i], err);
            if (!s && out)
                s = tie(g, out[i], two, two->output[i], err);
        }
    }
    return s;
}

/* Gives parameters that one value of node n has to those that have none. */
static assay_status spread(assay_graph *g, const assay_node *n, assay_error *err)
{
    const assay_qparams *q = NULL;
    assay_status s = ASSAY_OK;
    int first, last;

    if (assay_op_get(n->op)->traits & ASSAY_T_FLOW)
        return onnx_tie_params(g, n->op, &n->attr, n->in, n->out, err);
    if (!carries(n, &first, &last))
        return ASSAY_OK;
    for (int i = first; i <= last && !q; i++)
        q = known(g, n->in[i]);
    for (int i = 0; i < n->n_out && !q; i++)
        q = known(g, n->out[i]);
    for (int i = first; i <= last && q && !s; i++)
        if (has_none(g, n->in[i]))
            s = assay_graph_set_qparams(g, n->in[i], q, err);
    for (int i = 0; i < n->n_out && q && !s; i++)
        if (has_none(g, n->out[i]) && !(n->op == ASSAY_OP_TOPK && i == 1))
            s = assay_graph_set_qparams(g, n->out[i], q, err);
    return s;
}

/* A pad by the code that stands for 0 is one by 0, which more ops can take in. */
static void complete_fill(const assay_graph *g, assay_node *n)
{
    const assay_qparams *q = &g->value[n->out[0]].type.q;
    const int64_t zero = q->granularity == ASSAY_Q_NONE ? 0 : q->zero_point[0];

    if (n->op == ASSAY_OP_PAD && n->attr.pad.has_code && n->attr.pad.code == zero &&
        assay_qparams_one_zero_point(q)) {
        n->attr.pad.has_code = false;
        n->attr.pad.code = 0;
    }
}

assay_status onnx_spread_params(assay_graph *g, assay_error *err)
{
    assay_status s = ASSAY_OK;

    for (int i = g->n_nodes - 1; i >= 0 && !s; i--)
        s = spread(g, &g->node[i], err);
    for (int i = 0; i < g->n_nodes && !s; i++)
        s = spread(g, &g->node[i], err);
    for (int i = 0; i < g->n_nodes && !s; i++)
        complete_fill(g, &g->node[i]);
    for (int i = 0; i < g->n_subgraphs && !s; i++)
        s = onnx_spread_params(g->subgraph[i], err);
    return s;
}
