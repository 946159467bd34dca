/* Arithmetic with a constant that a simpler op does: targets multiply better than they divide, and
 * have tables of functions but no powers. */
#include <math.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "opt/lower/pass.h"

static bool has_reciprocal(float x)
{
    return isnormal(x) && isnormal(1 / x);
}

/* The constant NAME:reciprocal, made once however many nodes divide by NAME; -1 when an element has
 * none. */
static assay_status reciprocal_constant(assay_graph *g, int divisor, int *id, assay_error *err)
{
    const assay_value *d = &g->value[divisor];
    const int64_t count = assay_shape_count(&d->type);
    const assay_type type = d->type;
    const float *x = d->data;
    *id = -1;
    for (int64_t i = 0; i < count; i++)
        if (!has_reciprocal(x[i]))
            return ASSAY_OK;
    char *name = assay_arena_alloc(g->arena, strlen(d->name) + 12);
    if (!name)
        return assay_out_of_memory(err);
    *id = assay_graph_find_value(g, strcat(strcpy(name, d->name), ":reciprocal"));
    if (*id >= 0)
        return ASSAY_OK;
    assay_status status = assay_graph_add_constant(g, name, &type, NULL, id, err);
    for (int64_t i = 0; i < count && !status; i++)
        ((float *)g->value[*id].data)[i] = 1 / x[i];
    return status;
}

/* x / c = x * (1 / c), to within one rounding of binary32. */
static assay_status lower_division(assay_graph *g, assay_node *n, int *changed, assay_error *err)
{
    int reciprocal;
    assay_status status = reciprocal_constant(g, n->in[1], &reciprocal, err);
    if (status || reciprocal < 0)
        return status;
    n->op = ASSAY_OP_MUL;
    n->in[1] = reciprocal;
    ++*changed;
    return ASSAY_OK;
}

/* x^2, sqrt(x), 1/x and 1/sqrt(x), where one exponent serves all elements. */
static void lower_power(const assay_graph *g, assay_node *n, int *changed)
{
    static const struct {
        float exponent;
        assay_op op;
    } known[] = {{2, ASSAY_OP_SQUARE},
                 {0.5f, ASSAY_OP_SQRT},
                 {-1, ASSAY_OP_RECIPROCAL},
                 {-0.5f, ASSAY_OP_RSQRT}};
    const assay_value *e = &g->value[n->in[1]];
    if (assay_shape_count(&e->type) != 1 ||
        !assay_shape_equal(&g->value[n->in[0]].type, &g->value[n->out[0]].type))
        return;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (*(const float *)e->data == known[i].exponent) {
            n->op = known[i].op;
            n->n_in = 1;
            ++*changed;
            return;
        }
}

/* 1 / x, as exporters write it. */
static void lower_reciprocal(const assay_graph *g, assay_node *n, int *changed)
{
    const assay_value *one = &g->value[n->in[0]];
    if (assay_shape_count(&one->type) != 1 || *(const float *)one->data != 1 ||
        !assay_shape_equal(&g->value[n->in[1]].type, &g->value[n->out[0]].type))
        return;
    n->op = ASSAY_OP_RECIPROCAL;
    n->in[0] = n->in[1];
    n->n_in = 1;
    ++*changed;
}

/* The operand that is a constant, where the other is a real value that is none; -1: neither. */
static int constant_operand(const assay_graph *g, const assay_node *n)
{
    for (int k = 0; k < 2; k++)
        if (lower_is_f32_constant(g, n->in[k]) && !lower_is_constant(g, n->in[1 - k]) &&
            g->value[n->in[1 - k]].type.elem.kind == ASSAY_KIND_F32)
            return k;
    return -1;
}

assay_status lower_arithmetic(assay_graph *g, int *changed, assay_error *err)
{
    assay_status status = ASSAY_OK;
    *changed = 0;
    for (int i = 0; i < g->n_nodes && !status; i++) {
        assay_node *n = &g->node[i];
        if (n->op != ASSAY_OP_DIV && n->op != ASSAY_OP_POW)
            continue;
        int slot = constant_operand(g, n);
        if (n->op == ASSAY_OP_DIV && slot == 1)
            status = lower_division(g, n, changed, err);
        else if (n->op == ASSAY_OP_DIV && slot == 0)
            lower_reciprocal(g, n, changed);
        else if (slot == 1)
            lower_power(g, n, changed);
    }
    return status;
}
