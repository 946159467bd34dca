/* Random graphs over every op, node after node through the float engine: whatever the verifier lets
 * through, a kernel succeeds or refuses in words, and writes its outputs and nothing beyond. What
 * it reads out of bounds is for the sanitizers to see (./dev sanitize). */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/graph.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "test/support/random_graph.h"

#define GRAPHS 500
#define GUARD  64
#define MARK   0xa5

/* Memory for a value with a guard behind it. */
static unsigned char *guarded(const assay_type *t, size_t *bytes)
{
    *bytes = (size_t)assay_shape_count(t) * assay_elem_size(t->elem);
    unsigned char *p = calloc(*bytes + GUARD, 1);
    assert_non_null(p);
    memset(p + *bytes, MARK, GUARD);
    return p;
}

static void check_guard(const unsigned char *p, size_t bytes, const assay_node *n)
{
    for (size_t i = 0; i < GUARD; i++)
        if (p[bytes + i] != MARK)
            fail_msg("%s writes beyond its output", assay_op_get(n->op)->name);
}

static assay_status evaluate(assay_graph *g, const assay_node *n, unsigned char **owned)
{
    void *out[ASSAY_MAX_RANK];
    size_t bytes[ASSAY_MAX_RANK];
    assay_error err = {0};
    assert_true(n->n_out <= ASSAY_MAX_RANK);
    for (int i = 0; i < n->n_out; i++) {
        assay_value *v = &g->value[n->out[i]];
        v->data = out[i] = owned[n->out[i]] = guarded(&v->type, &bytes[i]);
    }
    assay_status s = run_evaluate_node(g, n, out, &err);
    for (int i = 0; i < n->n_out; i++)
        check_guard(out[i], bytes[i], n);
    if (s)
        assert_non_null(strstr(err.text, n->name));
    return s;
}

static void random_graphs_stay_in_bounds(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    int done[ASSAY_OP_COUNT] = {0};

    (void)state;
    for (int k = 0; k < GRAPHS; k++) {
        assay_graph *g = test_random_graph(&rng);
        unsigned char **owned = calloc((size_t)g->n_values + 1, sizeof *owned);
        size_t bytes;
        assert_non_null(owned);
        for (int i = 0; i < g->n_inputs; i++) {
            assay_value *v = &g->value[g->input[i]];
            v->data = owned[g->input[i]] = guarded(&v->type, &bytes);
            for (size_t b = 0; v->type.elem.kind == ASSAY_KIND_F32 && b < bytes / 4; b++)
                ((float *)(uintptr_t)v->data)[b] = (float)test_between(&rng, -8, 8) / 4;
        }
        for (int i = 0; i < g->n_nodes; i++) {
            assay_status s = evaluate(g, &g->node[i], owned);
            assert_true(s == ASSAY_OK || s == ASSAY_ERR_UNSUPPORTED || s == ASSAY_ERR_INPUT);
            done[g->node[i].op] += s == ASSAY_OK;
        }
        for (int v = 0; v < g->n_values; v++)
            free(owned[v]);
        free(owned);
        assay_graph_free(g);
    }
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (float_kernel((assay_op)op).run && done[op] == 0)
            fail_msg("%s was never run", assay_op_get((assay_op)op)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs_stay_in_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
