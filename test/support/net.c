/* Small float networks for tests. */
#include "test/support/net.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "interp/run/evaluate.h"

assay_graph *net_new(void)
{
    assay_graph *g;
    assay_error err;
    assert_ok(assay_graph_new("net", &g, &err), &err);
    return g;
}

static assay_type f32_type(int rank, const int64_t *dim)
{
    assay_type t = {.elem = assay_f32(), .rank = rank};
    for (int i = 0; i < rank; i++) /* a scalar has no list */
        t.dim[i] = dim[i];
    return t;
}

int net_input(assay_graph *g, const char *name, int rank, const int64_t *dim)
{
    assay_type t = f32_type(rank, dim);
    assay_error err;
    int ids[9];
    if (g->n_inputs)
        memcpy(ids, g->input, (size_t)g->n_inputs * sizeof *ids);
    assert_ok(assay_graph_add_value(g, name, &t, &ids[g->n_inputs], &err), &err);
    assert_ok(assay_graph_set_inputs(g, ids, g->n_inputs + 1, &err), &err);
    return g->input[g->n_inputs - 1];
}

int net_constant(assay_graph *g, test_rng *rng, const char *name, double lo, double hi, int rank,
                 const int64_t *dim)
{
    assay_type t = f32_type(rank, dim);
    assay_error err;
    int id;
    assert_ok(assay_graph_add_constant(g, name, &t, NULL, &id, &err), &err);
    for (int64_t i = 0; i < assay_shape_count(&t); i++)
        ((float *)(uintptr_t)g->value[id].data)[i] = (float)(lo + (hi - lo) * test_unit(rng));
    return id;
}

int net_node(assay_graph *g, assay_op op, const char *out, const assay_attrs *attr, ...)
{
    int in[8], n = 0, id;
    assay_error err;
    va_list args;
    va_start(args, attr);
    while ((in[n] = va_arg(args, int)) != -2)
        n++;
    va_end(args);
    assert_ok(assay_graph_add_inferred(g, op, NULL, in, n, &out, 1, attr, &id, &err), &err);
    return id;
}

void net_output(assay_graph *g, int value)
{
    int ids[32];
    assay_error err;
    assert_in_range(g->n_outputs, 0, 31);
    if (g->n_outputs)
        memcpy(ids, g->output, (size_t)g->n_outputs * sizeof *ids);
    ids[g->n_outputs] = value;
    assert_ok(assay_graph_set_outputs(g, ids, g->n_outputs + 1, &err), &err);
}

void net_run(assay_graph *g, const float *const *x)
{
    assay_error err;
    void *out[8];
    for (int i = 0; i < g->n_inputs; i++)
        g->value[g->input[i]].data = x[i];
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        for (int j = 0; j < n->n_out; j++)
            out[j] = assay_arena_alloc(g->arena, assay_type_bytes(&g->value[n->out[j]].type));
        assert_ok(run_evaluate_node(g, n, out, &err), &err);
        for (int j = 0; j < n->n_out; j++)
            g->value[n->out[j]].data = out[j];
    }
}

float *net_random_input(test_rng *rng, const assay_graph *g, int i)
{
    int64_t n = assay_shape_count(&g->value[g->input[i]].type);
    float *x = malloc((size_t)n * sizeof *x);
    for (int64_t k = 0; k < n; k++)
        x[k] = (float)(2 * test_unit(rng) - 1);
    return x;
}

const float *net_data(const assay_graph *g, const char *name, int64_t *n)
{
    int v = assay_graph_find_value(g, name);
    assert_true(v >= 0);
    assert_non_null(g->value[v].data);
    *n = assay_shape_count(&g->value[v].type);
    return g->value[v].data;
}

const assay_node *net_producer(const assay_graph *g, const char *name)
{
    int v = assay_graph_find_value(g, name);
    if (v < 0)
        fail_msg("there is no value '%s'", name);
    return g->value[v].producer < 0 ? NULL : &g->node[g->value[v].producer];
}

int net_count_op(const assay_graph *g, assay_op op)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        n += g->node[i].op == op;
    return n;
}
