/* Checking what is merged into a local response normalization: the gains are the same, codes have
 * the same distance from their zero point, and the products with gains become the same codes. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

typedef struct normalizing {
    const assay_node *a, *b, *function; /* the normalization before and after */
    assay_unit *before, *after;
    bool down; /* the function stands in front */
} normalizing;

static assay_status find_nodes(const check_context *c, normalizing *k)
{
    const assay_graph *g = c->before, *h = c->after;
    if (g->n_nodes != 2 || h->n_nodes != 1)
        return check_reject(c, "a fragment of unexpected form");
    const int at = g->node[0].op == ASSAY_OP_LRN ? 0 : 1;
    k->a = &g->node[at];
    k->function = &g->node[1 - at];
    k->b = &h->node[0];
    k->down = at == 1;
    bool same = k->a->op == ASSAY_OP_LRN && k->b->op == ASSAY_OP_LRN &&
                strcmp(k->a->name, k->b->name) == 0 &&
                assay_attrs_equal(ASSAY_ATTRS_lrn, &k->a->attr, &k->b->attr) &&
                (k->down ? k->a->in[0] == k->function->out[0] && check_same_bounds(k->a, k->b)
                         : k->function->in[0] == k->a->out[0]) &&
                check_same_value(g, k->down ? k->function->in[0] : k->a->in[0], h, k->b->in[0]);
    return same ? ASSAY_OK : check_reject(c, "a fragment of unexpected form");
}

static assay_unit_param gains_of(const check_context *c, const assay_unit *u)
{
    assay_unit_param list[32], none = {NULL, 0, NULL};
    size_t n = c->scheme->vt->params(u, list, 32);
    for (size_t i = 0; i < n && i < 32; i++)
        if (strcmp(list[i].name, "table") == 0)
            return list[i];
    return none;
}

static bool keeps_counts(const assay_graph *g, const assay_node *function, const int32_t *table,
                         size_t size)
{
    const assay_type *x = &g->value[function->in[0]].type, *y = &g->value[function->out[0]].type;
    for (size_t i = 0; i < size; i++)
        if (table[i] - y->q.zero_point[0] !=
            assay_elem_min(x->elem) + (int64_t)i - x->q.zero_point[0])
            return false;
    return true;
}

static assay_status judge(const check_context *c, const normalizing *k, const int32_t *table,
                          size_t size, int64_t *worst)
{
    const assay_unit_param was = gains_of(c, k->before), is = gains_of(c, k->after);
    const assay_type *x = &c->after->value[k->b->in[0]].type;
    const size_t n = was.count < is.count ? was.count : is.count;
    if (n == 0 || memcmp(was.value, is.value, n * sizeof *was.value) != 0)
        return check_reject(c, "the gains differ");
    if (k->down && !keeps_counts(c->before, k->function, table, size))
        return check_reject(c, "the rescale does more than move the zero point");
    int64_t max = 0;
    for (size_t i = 0; i < is.count; i++)
        max = is.value[i] > max ? is.value[i] : max;
    const int64_t lo = (assay_elem_min(x->elem) - x->q.zero_point[0]) * max;
    const int64_t hi = (assay_elem_max(x->elem) - x->q.zero_point[0]) * max;
    const int64_t least = assay_elem_min(c->before->value[k->function->in[0]].type.elem);
    const check_table behind = {table, size, least};
    return check_forms(c, k->before, k->after, k->down ? NULL : &behind, 1, lo, hi, 1, worst);
}

assay_status check_gains(check_context *c, const json_t *step, int64_t *worst)
{
    normalizing k = {NULL, NULL, NULL, NULL, NULL, false};
    int32_t *table = NULL;
    size_t size = 0;
    (void)step;
    assay_status s = find_nodes(c, &k);
    if (!s)
        s = check_tabulate(c, c->before, k.function, &table, &size);
    if (!s)
        s = check_prepare_pair(c, k.a, k.b, &k.before, &k.after);
    if (!s)
        s = judge(c, &k, table, size, worst);
    check_release_pair(c, k.before, k.after);
    free(table);
    return s;
}
