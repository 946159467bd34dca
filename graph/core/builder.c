/* Building graphs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/complete.h"
#include "graph/core/names.h"
#include "graph/memory.h"

#define MAX_COUNT (1 << 26) /* values, nodes, inputs of a node: far beyond any network */

/* Makes room for one more element. Arrays hold the next power of two above their count, so growth
 * is due only at powers of two. */
static assay_status grow(assay_graph *g, void *array, int n, size_t size, assay_error *err)
{
    void **p = array, *bigger;
    if (n >= MAX_COUNT)
        return assay_fail(err, ASSAY_ERR_LIMIT, "graph '%s': more than %d entries", g->name,
                          MAX_COUNT);
    if (n && (n < 8 || (n & (n - 1))))
        return ASSAY_OK;
    bigger = assay_arena_array(g->arena, n ? (size_t)n * 2 : 8, size);
    if (!bigger)
        return assay_out_of_memory(err);
    if (n)
        memcpy(bigger, *p, (size_t)n * size);
    *p = bigger;
    return ASSAY_OK;
}

/* Names stand in one-line messages and in the text form: no control characters. */
static assay_status check_name(const char *what, const char *name, assay_error *err)
{
    for (const unsigned char *p = (const unsigned char *)name; *p; ++p)
        if (*p < 0x20 || *p == 0x7f)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s '%.*s...': the name holds the control character 0x%02x", what,
                              (int)(p - (const unsigned char *)name < 200
                                        ? p - (const unsigned char *)name
                                        : 200),
                              name, *p);
    return ASSAY_OK;
}

assay_status assay_graph_new(const char *name, assay_graph **out, assay_error *err)
{
    assay_graph *g;
    assay_status s = check_name("graph", name ? name : "", err);
    *out = NULL;
    if (s)
        return s;
    g = calloc(1, sizeof *g);
    if (!g)
        return assay_out_of_memory(err);
    g->arena = assay_arena_new();
    if (g->arena)
        g->name = assay_arena_string(g->arena, name ? name : "");
    if (!g->name) {
        assay_graph_free(g);
        return assay_out_of_memory(err);
    }
    *out = g;
    return ASSAY_OK;
}

void assay_graph_free(assay_graph *g)
{
    if (!g)
        return;
    for (int i = 0; i < g->n_subgraphs; ++i)
        assay_graph_free(g->subgraph[i]);
    assay_arena_free(g->arena);
    free(g);
}

/* Copies the arrays of q into the graph's arena. */
static assay_status copy_qparams(assay_graph *g, assay_qparams *to, const assay_qparams *q,
                                 assay_error *err)
{
    assay_qparams copy = *q;
    if (q->granularity == ASSAY_Q_NONE) {
        *to = (assay_qparams){0};
        return ASSAY_OK;
    }
    copy.scale = NULL;
    copy.zero_point = NULL;
    if (q->count <= SIZE_MAX / sizeof(float)) {
        copy.scale = assay_arena_copy(g->arena, q->scale, q->count * sizeof *q->scale);
        copy.zero_point =
            assay_arena_copy(g->arena, q->zero_point, q->count * sizeof *q->zero_point);
    }
    if (!copy.scale || !copy.zero_point)
        return assay_out_of_memory(err);
    *to = copy;
    return ASSAY_OK;
}

assay_status assay_graph_set_qparams(assay_graph *g, int value, const assay_qparams *q,
                                     assay_error *err)
{
    return copy_qparams(g, &g->value[value].type.q, q, err);
}

assay_status assay_graph_add_value(assay_graph *g, const char *name, const assay_type *type,
                                   int *id, assay_error *err)
{
    assay_value v = {.producer = -1, .source_index = -1, .type = *type};
    char what[160];
    assay_status s;

    if (!name || !*name)
        return assay_fail(err, ASSAY_ERR_INPUT, "graph '%s': a value has an empty name", g->name);
    if ((s = check_name("value", name, err)))
        return s;
    if (assay_graph_find_value(g, name) >= 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "value '%.200s': the name is used twice", name);
    snprintf(what, sizeof what, "value '%.120s'", name);
    if ((s = assay_shape_check(type, what, err)) ||
        (s = grow(g, &g->value, g->n_values, sizeof v, err)) ||
        (s = copy_qparams(g, &v.type.q, &type->q, err)))
        return s;
    v.name = assay_arena_string(g->arena, name);
    if (!v.name)
        return assay_out_of_memory(err);
    *id = g->n_values;
    g->value[g->n_values++] = v;
    s = assay_names_add(g, *id, err);
    if (s)
        --g->n_values;
    return s;
}

assay_status assay_graph_add_constant(assay_graph *g, const char *name, const assay_type *type,
                                      const void *data, int *id, assay_error *err)
{
    size_t bytes;
    void *copy;
    char what[160];
    assay_status s;

    snprintf(what, sizeof what, "constant '%.120s'", name ? name : "");
    if ((s = assay_shape_check(type, what, err)))
        return s;
    bytes = assay_type_bytes(type);
    copy = data ? assay_arena_copy(g->arena, data, bytes) : assay_arena_alloc(g->arena, bytes);
    if (!copy)
        return assay_out_of_memory(err);
    return assay_graph_borrow_constant(g, name, type, copy, id, err);
}

assay_status assay_graph_borrow_constant(assay_graph *g, const char *name, const assay_type *type,
                                         const void *data, int *id, assay_error *err)
{
    assay_status s = assay_graph_add_value(g, name, type, id, err);
    if (!s)
        g->value[*id].data = data;
    return s;
}

assay_status assay_graph_add_variable(assay_graph *g, const char *name, const assay_type *type,
                                      const void *data, int *id, assay_error *err)
{
    assay_status s = assay_graph_add_constant(g, name, type, data, id, err);
    if (!s)
        g->value[*id].is_variable = true;
    return s;
}

/* ids within range; ASSAY_NO_VALUE only where allowed. */
static assay_status check_ids(const assay_graph *g, const char *what, const char *name,
                              const int *ids, int n, bool optional, assay_error *err)
{
    for (int i = 0; i < n; ++i)
        if (!(optional && ids[i] == ASSAY_NO_VALUE) && (ids[i] < 0 || ids[i] >= g->n_values))
            return assay_fail(err, ASSAY_ERR_INPUT, "%s '%.200s': there is no value %d", what, name,
                              ids[i]);
    return ASSAY_OK;
}

/* Makes the next node the producer of its outputs; on error of none. */
static assay_status claim_outputs(assay_graph *g, const char *name, const int *out, int n_out,
                                  assay_error *err)
{
    for (int i = 0; i < n_out; ++i) {
        assay_value *v = &g->value[out[i]];
        if (v->producer >= 0 || v->data) {
            for (int k = 0; k < i; ++k)
                g->value[out[k]].producer = -1;
            return assay_fail(err, ASSAY_ERR_INPUT, "node '%.200s': its output '%.200s' already %s",
                              name, v->name, v->data ? "is a constant" : "has a producer");
        }
        v->producer = g->n_nodes;
    }
    return ASSAY_OK;
}

static assay_status append_node(assay_graph *g, const assay_op_info *info, assay_node *n,
                                const char *name, const int *in, const int *out,
                                const assay_attrs *attr, assay_error *err)
{
    assay_status s = grow(g, &g->node, g->n_nodes, sizeof *n, err);
    if (s)
        return s;
    n->name = assay_arena_string(g->arena, name);
    n->in = assay_arena_copy(g->arena, in, (size_t)n->n_in * sizeof *in);
    n->out = assay_arena_copy(g->arena, out, (size_t)n->n_out * sizeof *out);
    if (!n->name || !n->in || !n->out)
        return assay_out_of_memory(err);
    if (attr)
        assay_attrs_copy(info->attrs, &n->attr, attr);
    else
        assay_attrs_defaults(info->attrs, &n->attr);
    assay_node_complete(g, n, &n->attr);
    g->node[g->n_nodes++] = *n;
    return ASSAY_OK;
}

assay_status assay_graph_add_node(assay_graph *g, assay_op op, const char *name, const int *in,
                                  int n_in, const int *out, int n_out, const assay_attrs *attr,
                                  int *id, assay_error *err)
{
    const assay_op_info *info = assay_op_get(op);
    assay_node n = {
        .op = op, .n_in = n_in, .n_out = n_out, .act_lo = -INFINITY, .act_hi = INFINITY};
    assay_status s;

    if (!info)
        return assay_fail(err, ASSAY_ERR_INPUT, "node '%.200s': there is no op %d",
                          name ? name : "", (int)op);
    if (n_in < 0 || n_in > MAX_COUNT || n_out < 1 || n_out > MAX_COUNT)
        return assay_fail(err, ASSAY_ERR_LIMIT,
                          "node '%.200s': %d inputs and %d outputs are too many or too few",
                          name ? name : "", n_in, n_out);
    if ((s = check_ids(g, "node", name ? name : "", in, n_in, true, err)) ||
        (s = check_ids(g, "node", name ? name : "", out, n_out, false, err)))
        return s;
    if (!name || !*name)
        name = g->value[out[0]].name;
    if ((s = check_name("node", name, err)))
        return s;
    if ((s = claim_outputs(g, name, out, n_out, err)))
        return s;
    s = append_node(g, info, &n, name, in, out, attr, err);
    if (s) {
        for (int i = 0; i < n_out; ++i)
            g->value[out[i]].producer = -1;
        return s;
    }
    if (id)
        *id = g->n_nodes - 1;
    return ASSAY_OK;
}

assay_status assay_graph_add_inferred(assay_graph *g, assay_op op, const char *name, const int *in,
                                      int n_in, const char *const *out_names, int n_out,
                                      const assay_attrs *attr, int *out, assay_error *err)
{
    const assay_op_info *info = assay_op_get(op);
    assay_node n = {.name = name && *name ? name
                            : n_out > 0   ? out_names[0]
                                          : "",
                    .op = op,
                    .n_in = n_in,
                    .n_out = n_out};
    assay_type *types = NULL;
    int done = 0;
    assay_status s;

    if (!info || n_out < 1 || n_out > MAX_COUNT)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "node '%.200s': unknown op, or a wrong number of outputs (%d)", n.name,
                          n_out);
    if (n_in > 0) {
        n.in = malloc((size_t)n_in * sizeof *n.in);
        if (!n.in)
            return assay_out_of_memory(err);
        memcpy(n.in, in, (size_t)n_in * sizeof *n.in);
    }
    types = calloc((size_t)n_out, sizeof *types);
    s = types ? check_ids(g, "node", n.name, in, n_in, true, err) : assay_out_of_memory(err);
    if (!s) {
        if (attr)
            assay_attrs_copy(info->attrs, &n.attr, attr);
        else
            assay_attrs_defaults(info->attrs, &n.attr);
        assay_node_complete(g, &n, &n.attr);
        s = assay_infer(g, &n, types, err);
    }
    for (; !s && done < n_out; ++done)
        s = assay_graph_add_value(g, out_names[done], &types[done], &out[done], err);
    if (!s)
        s = assay_graph_add_node(g, op, name, in, n_in, out, n_out, &n.attr, NULL, err);
    free(types);
    free(n.in);
    return s;
}

assay_status assay_graph_add_subgraph(assay_graph *g, assay_graph *sub, int *id, assay_error *err)
{
    assay_status s = grow(g, &g->subgraph, g->n_subgraphs, sizeof(assay_graph *), err);
    if (s)
        return s;
    if (id)
        *id = g->n_subgraphs;
    g->subgraph[g->n_subgraphs++] = sub;
    return ASSAY_OK;
}

static assay_status set_list(assay_graph *g, const char *what, int **list, int *count,
                             const int *ids, int n, assay_error *err)
{
    int *copy;
    assay_status s;
    if (n < 0 || n > MAX_COUNT)
        return assay_fail(err, ASSAY_ERR_LIMIT, "graph '%s': %d %s values are too many", g->name, n,
                          what);
    if ((s = check_ids(g, what, "", ids, n, false, err)))
        return s;
    copy = assay_arena_copy(g->arena, ids, (size_t)n * sizeof *ids);
    if (!copy)
        return assay_out_of_memory(err);
    *list = copy;
    *count = n;
    return ASSAY_OK;
}

assay_status assay_graph_set_inputs(assay_graph *g, const int *ids, int n, assay_error *err)
{
    return set_list(g, "graph input", &g->input, &g->n_inputs, ids, n, err);
}

assay_status assay_graph_set_outputs(assay_graph *g, const int *ids, int n, assay_error *err)
{
    return set_list(g, "graph output", &g->output, &g->n_outputs, ids, n, err);
}

assay_status assay_graph_set_quantized_for(assay_graph *g, const char *scheme, assay_error *err)
{
    const assay_status s = check_name("scheme", scheme ? scheme : "", err);
    if (s)
        return s;
    g->quantized_for = scheme ? assay_arena_string(g->arena, scheme) : NULL;
    return scheme && !g->quantized_for ? assay_out_of_memory(err) : ASSAY_OK;
}
