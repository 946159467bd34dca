/* Check of movements: all elements of the inputs are numbered, from 1 on, and the numbers carried
 * through both fragments; cells of padding are 0, and the code that pads must be the same. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

#define MAX_VALUES 40

/* Where element `at` of the node's output comes from: input *slot at *index; false: padding. */
static bool source(const assay_graph *g, const assay_node *n, const int64_t *at, int *slot,
                   int64_t *index)
{
    const int rank = g->value[n->out[0]].type.rank;
    int64_t from[ASSAY_MAX_RANK];
    *slot = 0;
    for (int k = 0; k < rank; k++)
        from[n->op == ASSAY_OP_TRANSPOSE ? n->attr.perm.perm.v[k] : k] =
            n->op == ASSAY_OP_PAD     ? at[k] - n->attr.pad.begin.v[k]
            : n->op == ASSAY_OP_SLICE ? n->attr.slice.begin.v[k] + n->attr.slice.step.v[k] * at[k]
                                      : at[k];
    if (n->op == ASSAY_OP_CONCAT) {
        const int axis = (int)n->attr.axis.axis;
        while (from[axis] >= g->value[n->in[*slot]].type.dim[axis])
            from[axis] -= g->value[n->in[(*slot)++]].type.dim[axis];
    }
    const assay_type *x = &g->value[n->in[*slot]].type;
    *index = 0;
    for (int k = 0; k < x->rank; k++) {
        if (from[k] < 0 || from[k] >= x->dim[k])
            return false;
        *index = *index * x->dim[k] + from[k];
    }
    return true;
}

static bool only_moves(const assay_node *n)
{
    return n->op == ASSAY_OP_RESHAPE || n->op == ASSAY_OP_TRANSPOSE || n->op == ASSAY_OP_CONCAT ||
           n->op == ASSAY_OP_SLICE ||
           (n->op == ASSAY_OP_PAD && n->attr.pad.mode == ASSAY_PAD_CONSTANT);
}

static void carry(const assay_graph *g, const assay_node *n, int64_t *const *number)
{
    const assay_type *y = &g->value[n->out[0]].type;
    int64_t at[ASSAY_MAX_RANK] = {0}, *out = number[n->out[0]], index;
    for (int64_t i = 0, count = assay_shape_count(y); i < count; i++) {
        int slot = 0;
        if (n->op == ASSAY_OP_RESHAPE)
            out[i] = number[n->in[0]][i];
        else
            out[i] = source(g, n, at, &slot, &index) ? number[n->in[slot]][index] : 0;
        for (int k = y->rank - 1; k >= 0 && ++at[k] == y->dim[k]; k--)
            at[k] = 0;
    }
}

/* Numbers of the output's elements; *result is malloc'd. */
static assay_status trace(const check_context *c, const assay_graph *g, int64_t **result)
{
    int64_t *number[MAX_VALUES] = {NULL}, next = 1;
    assay_status s = ASSAY_OK;
    if (g->n_values > MAX_VALUES || g->n_outputs != 1)
        return check_reject(c, "a fragment of unexpected form");
    for (int v = 0; v < g->n_values && !s; v++)
        if (!(number[v] =
                  calloc((size_t)assay_shape_count(&g->value[v].type) + 1, sizeof *number[v])))
            s = check_out_of_memory(c);
    for (int i = 0; i < g->n_inputs && !s; i++)
        for (int64_t k = 0; k < assay_shape_count(&g->value[g->input[i]].type); k++)
            number[g->input[i]][k] = next++;
    for (int i = 0; i < g->n_nodes && !s; i++) {
        if (!only_moves(&g->node[i]))
            s = check_reject(c, "a movement that the checker cannot follow");
        else
            carry(g, &g->node[i], number);
    }
    for (int v = 0; v < g->n_values; v++)
        if (v == g->output[0] && !s)
            *result = number[v];
        else
            free(number[v]);
    return s;
}

/* What a fragment pads with. */
typedef struct padding {
    enum { PADS_NOTHING, PADS_CODE, PADS_REAL, PADS_TWICE } kind;
    int64_t code;
    float value;            /* real: in the codes of `type` */
    const assay_type *type; /* of what is padded */
} padding;

static padding padding_of(const assay_graph *g)
{
    padding found = {.kind = PADS_NOTHING};
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_attr_pad *p = &g->node[i].attr.pad;
        const assay_type *t = &g->value[g->node[i].out[0]].type;
        if (g->node[i].op != ASSAY_OP_PAD)
            continue;
        if (found.kind != PADS_NOTHING || t->q.count != 1)
            return (padding){.kind = PADS_TWICE};
        found = (padding){PADS_CODE, p->code, p->value, t};
        if (p->has_code)
            continue;
        if (p->value == 0)
            found.code = t->q.zero_point[0];
        else if (p->value <= -FLT_MAX)
            found.code = assay_elem_min(t->elem);
        else
            found.kind = PADS_REAL;
    }
    return found;
}

/* A real value is the same code where the codes mean the same. */
static bool pads_same(const padding *a, const padding *b)
{
    if (a->kind != b->kind || a->kind == PADS_TWICE)
        return false;
    if (a->kind == PADS_REAL)
        return a->value == b->value && assay_elem_equal(a->type->elem, b->type->elem) &&
               assay_qparams_equal(&a->type->q, &b->type->q);
    return a->kind == PADS_NOTHING || a->code == b->code;
}

assay_status check_indices(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before, *h = c->after;
    int64_t *a = NULL, *b = NULL;
    (void)step;
    *worst = 0;
    const padding before = padding_of(g), after = padding_of(h);
    if (!pads_same(&before, &after) ||
        !assay_shape_equal(&g->value[g->output[0]].type, &h->value[h->output[0]].type))
        return check_reject(c, "different padding or extents");
    assay_status s = trace(c, g, &a);
    if (!s)
        s = trace(c, h, &b);
    if (!s &&
        memcmp(a, b, (size_t)assay_shape_count(&g->value[g->output[0]].type) * sizeof *a) != 0)
        *worst = INT64_MAX;
    free(a);
    free(b);
    return s;
}
