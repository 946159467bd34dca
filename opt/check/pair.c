/* The product of a fragment before and after a step: that it is one, and in all else the same. */
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

static bool is_product(const assay_node *n)
{
    return check_traits(n) & ASSAY_T_WEIGHTED || n->op == ASSAY_OP_MATMUL;
}

static const assay_node *find(const assay_graph *g, bool product)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (product == is_product(&g->node[i]))
            return &g->node[i];
    return NULL;
}

/* The operand of product a that the function in front of it yields, or -1. */
static int slot_of(const assay_node *a, const assay_node *function)
{
    for (int i = 0; i < 2; i++)
        if (a->in[i] == function->out[0])
            return i;
    return -1;
}

/* The rewritten product differs from the one before in nothing else than its input, bias and the
 * bias's unit (linear), or its output and bounds. */
static bool same_product(const check_context *c, const assay_node *a, const assay_node *function,
                         const assay_node *b, bool linear)
{
    const int slot = linear ? slot_of(a, function) : -1;
    bool same = a->op == b->op && a->n_in == b->n_in &&
                assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr) &&
                strcmp(a->name, b->name) == 0 && (!linear || check_same_bounds(a, b)) &&
                (linear ? slot >= 0 && a->in[0] != a->in[1] &&
                              check_same_value(c->before, function->in[0], c->after, b->in[slot])
                        : function->in[0] == a->out[0]);
    for (int i = 0; i < a->n_in && same; i++) {
        int v = a->in[i], w = b->in[i];
        same = (v < 0) == (w < 0);
        if (!same || v < 0 || i == slot)
            continue;
        const assay_type *s = &c->before->value[v].type, *t = &c->after->value[w].type;
        same = assay_shape_equal(s, t) &&
               (linear && i == 2 ? assay_elem_equal(s->elem, t->elem)
                                 : check_same_value(c->before, v, c->after, w));
    }
    return same;
}

/* The fragment's bias is the model's. */
assay_status check_model_bias(const check_context *c, const assay_node *a)
{
    const assay_value *b = a->n_in > 2 && a->in[2] >= 0 ? &c->before->value[a->in[2]] : NULL;
    const assay_value *m = b && b->data && c->model ? check_constant_of(c, b->name) : NULL;
    for (int64_t i = 0; m && i < assay_shape_count(&b->type); i++)
        if (assay_shape_count(&m->type) != assay_shape_count(&b->type) ||
            check_code(m, i) != check_code(b, i))
            return check_reject(c, "a bias that is not the model's");
    return ASSAY_OK;
}

assay_status check_product_pair(const check_context *c, bool linear, const assay_node **a,
                                const assay_node **function, const assay_node **b)
{
    *a = find(c->before, true);
    *b = find(c->after, true);
    *function = find(c->before, false);
    if (!*a || !*b || !*function || c->before->n_nodes != 2 || c->after->n_nodes != 1 ||
        !same_product(c, *a, *function, *b, linear))
        return check_reject(c, "a fragment of unexpected form");
    if (c->before->value[(*a)->in[1]].type.q.granularity == ASSAY_Q_BLOCK)
        return check_reject(c, "weights with a scale per block, for which no proof is known");
    return ASSAY_OK;
}

bool check_interval(const json_t *pair, int64_t *lo, int64_t *hi)
{
    json_int_t a, b;
    if (!json_is_array(pair) || json_array_size(pair) != 2 ||
        json_unpack((json_t *)(uintptr_t)pair, "[I, I]", &a, &b) || a > b)
        return false;
    *lo = a;
    *hi = b;
    return true;
}
