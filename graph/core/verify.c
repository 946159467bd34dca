/* The verifier: what every pass and importer must leave behind. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/graph.h"
#include "graph/memory.h"

static assay_status check_qparams(const assay_value *v, assay_error *err)
{
    const assay_qparams *q = &v->type.q;
    int64_t count = assay_qparams_count(&v->type);

    if (q->granularity == ASSAY_Q_NONE)
        return ASSAY_OK;
    if (v->type.elem.kind != ASSAY_KIND_INT)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "value '%.200s': quantization parameters on a type that is not integer",
                          v->name);
    if (count < 0)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "value '%.200s': parameters along axis %d in blocks of %lld do not fit "
                          "rank %d",
                          v->name, q->axis, (long long)q->block, v->type.rank);
    if (q->count != (size_t)count || !q->scale || !q->zero_point)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "value '%.200s': %zu quantization parameters, expected %lld", v->name,
                          q->count, (long long)count);
    for (size_t i = 0; i < q->count; ++i) {
        if (!isfinite(q->scale[i]) || q->scale[i] <= 0)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "value '%.200s': scale %zu is %g, expected finite and above 0",
                              v->name, i, (double)q->scale[i]);
        if (q->zero_point[i] < assay_elem_min(v->type.elem) ||
            q->zero_point[i] > assay_elem_max(v->type.elem))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "value '%.200s': zero point %zu is %" PRId32 ", outside %lld..%lld",
                              v->name, i, q->zero_point[i], (long long)assay_elem_min(v->type.elem),
                              (long long)assay_elem_max(v->type.elem));
    }
    return ASSAY_OK;
}

/* Whether all elements of a byte each, signed or not, are from lo to hi. */
static bool bytes_within(const uint8_t *code, size_t n, int64_t lo, int64_t hi)
{
    const uint8_t least = (uint8_t)(lo & 255), width = (uint8_t)(hi - lo);
    bool outside = false;
    for (size_t i = 0; i < n; ++i)
        outside |= (uint8_t)(code[i] - least) > width;
    return !outside;
}

static assay_status check_constant(const assay_value *v, assay_error *err)
{
    size_t n = (size_t)assay_shape_count(&v->type);
    int64_t lo = 0, hi = 1; /* bool */

    if (v->type.elem.kind == ASSAY_KIND_F32) {
        const float *x = v->data;
        for (size_t i = 0; i < n; ++i)
            if (isnan(x[i]))
                return assay_fail(err, ASSAY_ERR_INPUT,
                                  "constant '%.200s': element %zu is not a number", v->name, i);
        return ASSAY_OK;
    }
    if (v->type.elem.kind == ASSAY_KIND_INT || assay_is_small_float(v->type.elem)) {
        if (v->type.elem.bits == assay_elem_size(v->type.elem) * 8)
            return ASSAY_OK; /* the type fills its container */
        lo = assay_elem_min(v->type.elem);
        hi = assay_elem_max(v->type.elem);
    }
    if (assay_elem_size(v->type.elem) == 1 && bytes_within(v->data, n, lo, hi))
        return ASSAY_OK;
    for (size_t i = 0; i < n; ++i) {
        int64_t code = assay_elem_get(v->type.elem, v->data, i);
        if (code < lo || code > hi)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "constant '%.200s': element %zu is %lld, outside %lld..%lld", v->name,
                              i, (long long)code, (long long)lo, (long long)hi);
    }
    return ASSAY_OK;
}

static assay_status check_value(const assay_graph *g, int i, assay_error *err)
{
    const assay_value *v = &g->value[i];
    char what[240];
    assay_status s;

    if (!v->name || !*v->name)
        return assay_fail(err, ASSAY_ERR_INPUT, "graph '%.200s': value %d has no name", g->name, i);
    if (assay_graph_find_value(g, v->name) != i)
        return assay_fail(err, ASSAY_ERR_INPUT, "value '%.200s': the name is used twice", v->name);
    if (!assay_elem_valid(v->type.elem))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "value '%.200s': kind %d with %d bits is not an element kind", v->name,
                          v->type.elem.kind, v->type.elem.bits);
    snprintf(what, sizeof what, "value '%.200s'", v->name);
    if ((s = assay_shape_check(&v->type, what, err)) || (s = check_qparams(v, err)))
        return s;
    return v->data ? check_constant(v, err) : ASSAY_OK;
}

/* Whether an op computes codes, which its unit makes of any kind: not positions, plain numbers, or
 * elements that stay as they are. */
static bool computes_codes(assay_op op)
{
    switch (op) {
    case ASSAY_OP_ARG_MAX:
    case ASSAY_OP_ARG_MIN:
    case ASSAY_OP_TOPK:
    case ASSAY_OP_WHERE:
    case ASSAY_OP_UPDATE_SLICE:
    case ASSAY_OP_SCATTER_ND:
        return false;
    default:
        return !(assay_op_get(op)->traits & ASSAY_T_FLOAT_ONLY);
    }
}

/* The element kind that a node gives may be the inferred one, or, where the network is quantized,
 * any integer with parameters; sums of products may also be given as they are, in plain i32. */
static bool kinds_fit(const assay_node *n, const assay_type *inferred, const assay_type *actual)
{
    bool sums = n->op == ASSAY_OP_MATMUL || assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;
    if (assay_elem_equal(inferred->elem, actual->elem))
        return true;
    if (sums && inferred->elem.kind == ASSAY_KIND_INT &&
        assay_elem_equal(actual->elem, assay_int(32, true)))
        return true;
    return computes_codes(n->op) && inferred->elem.kind == ASSAY_KIND_INT &&
           assay_is_quantized(actual);
}

static assay_status node_fail(const assay_node *n, assay_error *err, const char *text,
                              const char *name)
{
    return assay_fail(err, ASSAY_ERR_INPUT, "node '%.200s' (%s): %s '%.200s'", n->name,
                      assay_op_get(n->op)->name, text, name);
}

static assay_status check_types(const assay_graph *g, const assay_node *n, assay_error *err)
{
    bool moves =
        assay_op_get(n->op)->traits & (ASSAY_T_MOVE | ASSAY_T_STATE) || n->op == ASSAY_OP_SELECT;
    assay_type *out = calloc((size_t)n->n_out, sizeof *out);
    assay_status s = out ? assay_infer(g, n, out, err) : assay_out_of_memory(err);

    for (int i = 0; !s && i < n->n_out; ++i) {
        const assay_value *y = assay_node_out(g, n, i);
        char expected[128], found[128], ke[8], kf[8];
        if (!assay_shape_equal(&out[i], &y->type) || !kinds_fit(n, &out[i], &y->type))
            s = assay_fail(
                err, ASSAY_ERR_INPUT, "node '%.200s' (%s): output '%.200s' is %s%s, expected %s%s",
                n->name, assay_op_get(n->op)->name, y->name, assay_elem_print(y->type.elem, kf),
                assay_shape_print(&y->type, found, sizeof found), assay_elem_print(out[i].elem, ke),
                assay_shape_print(&out[i], expected, sizeof expected));
        else if (moves && (!assay_elem_equal(out[i].elem, y->type.elem) ||
                           !assay_qparams_equal(&out[i].q, &y->type.q)))
            s = node_fail(
                n, err,
                "it only moves elements, but the parameters differ from its input's in output",
                y->name);
    }
    free(out);
    return s;
}

/* Axis of the output channels in a weighted op's weights, -1 when parameters per axis cannot name
 * them (grouped conv_transpose splits them over two axes). */
static int weight_axis(const assay_node *n)
{
    if (n->op != ASSAY_OP_CONV_TRANSPOSE || n->attr.conv.layout == ASSAY_LAYOUT_NHWC)
        return 0;
    return n->attr.conv.group == 1 ? 1 : -1;
}

static assay_status check_weighted(const assay_graph *g, const assay_node *n, assay_error *err)
{
    const assay_value *w = assay_node_in(g, n, 1), *b = assay_node_in(g, n, 2);
    const assay_qparams *q = &w->type.q;

    if (!assay_is_quantized(&w->type))
        return ASSAY_OK;
    if (q->granularity == ASSAY_Q_AXIS && q->axis != weight_axis(n))
        return node_fail(n, err, "expected parameters along the output channels in weights",
                         w->name);
    if (!b)
        return ASSAY_OK;
    if (b->type.elem.kind != ASSAY_KIND_INT || !b->type.elem.is_signed)
        return node_fail(n, err, "expected a signed integer in bias", b->name);
    for (size_t i = 0; i < b->type.q.count; ++i)
        if (b->type.q.zero_point[i] != 0)
            return node_fail(n, err, "expected zero point 0 in bias", b->name);
    return ASSAY_OK;
}

static assay_status check_node(const assay_graph *g, int index, bool *defined, assay_error *err)
{
    const assay_node *n = &g->node[index];
    const assay_op_info *info = assay_op_get(n->op);
    assay_status s;

    if (!info || !n->name)
        return assay_fail(err, ASSAY_ERR_INPUT, "graph '%.200s': node %d has no op or name",
                          g->name, index);
    if (n->n_out < 1)
        return node_fail(n, err, "there is no output in", n->name);
    for (int i = 0; i < n->n_in; ++i) {
        if (n->in[i] == ASSAY_NO_VALUE)
            continue;
        if (n->in[i] < 0 || n->in[i] >= g->n_values)
            return node_fail(n, err, "an input index is out of range in", g->name);
        if (!defined[n->in[i]])
            return node_fail(n, err, "nothing before it defines its input",
                             g->value[n->in[i]].name);
    }
    for (int i = 0; i < n->n_out; ++i) {
        if (n->out[i] < 0 || n->out[i] >= g->n_values)
            return node_fail(n, err, "an output index is out of range in", g->name);
        if (defined[n->out[i]])
            return node_fail(n, err, "something before it defines its output",
                             g->value[n->out[i]].name);
        if (g->value[n->out[i]].producer != index)
            return node_fail(n, err, "it is not the producer of its output",
                             g->value[n->out[i]].name);
        defined[n->out[i]] = true;
    }
    if (!(n->act_lo <= n->act_hi))
        return node_fail(n, err, "the activation's bounds are empty in", n->name);
    if (n->has_code_bounds && n->code_lo > n->code_hi)
        return node_fail(n, err, "the activation's code bounds are empty in", n->name);
    if ((s = check_types(g, n, err)))
        return s;
    return info->traits & ASSAY_T_WEIGHTED ? check_weighted(g, n, err) : ASSAY_OK;
}

static assay_status check_interface(const assay_graph *g, bool *defined, assay_error *err)
{
    for (int i = 0; i < g->n_values; ++i)
        defined[i] = g->value[i].data || g->value[i].is_variable;
    for (int i = 0; i < g->n_inputs; ++i) {
        int id = g->input[i];
        if (id < 0 || id >= g->n_values)
            return assay_fail(err, ASSAY_ERR_INPUT, "graph '%.200s': input %d has no value",
                              g->name, i);
        if (defined[id])
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "graph input '%.200s' is constant or named twice", g->value[id].name);
        defined[id] = true;
    }
    return ASSAY_OK;
}

/* A body's variable that is named like one of g is that variable. */
static assay_status check_shared(const assay_graph *g, const assay_graph *body, assay_error *err)
{
    for (int i = 0; i < body->n_values; ++i) {
        const assay_value *inner = &body->value[i];
        const int same = inner->is_variable ? assay_graph_find_value(g, inner->name) : -1;
        const assay_type *t = same < 0 ? NULL : &g->value[same].type;
        if (t && g->value[same].is_variable &&
            (!assay_elem_equal(t->elem, inner->type.elem) || !assay_shape_equal(t, &inner->type) ||
             !assay_qparams_equal(&t->q, &inner->type.q)))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "variable '%.200s' has another type in subgraph '%.200s' than in the "
                              "graph around it",
                              inner->name, body->name);
    }
    return ASSAY_OK;
}

assay_status assay_graph_verify(const assay_graph *g, assay_error *err)
{
    bool *defined = calloc((size_t)g->n_values + 1, sizeof *defined);
    assay_status s = defined ? ASSAY_OK : assay_out_of_memory(err);

    for (int i = 0; !s && i < g->n_values; ++i)
        s = check_value(g, i, err);
    if (!s)
        s = check_interface(g, defined, err);
    for (int i = 0; !s && i < g->n_nodes; ++i)
        s = check_node(g, i, defined, err);
    for (int i = 0; !s && i < g->n_outputs; ++i) {
        int id = g->output[i];
        if (id < 0 || id >= g->n_values || !defined[id])
            s = assay_fail(err, ASSAY_ERR_INPUT, "graph output %d is not defined by any node", i);
    }
    for (int i = 0; !s && i < g->n_subgraphs; ++i)
        if (!(s = check_shared(g, g->subgraph[i], err)))
            s = assay_graph_verify(g->subgraph[i], err);
    free(defined);
    return s;
}
