/* Nodes of networks for matrix units, under names made of their content. */
#include "opt/quantize/units_parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "opt/lower/pass.h"

/* Is the value one that was there before, or made by another op? */
static bool is_foreign(const units_maker *m, int v, assay_op op)
{
    const int maker_of = m->g->value[v].producer;
    return maker_of < m->first_made || m->g->node[maker_of].op != op;
}

assay_status quantize_units_name(units_maker *m, const char *base, const char *suffix, bool again,
                                 char name[UNITS_NAME])
{
    if (snprintf(name, UNITS_NAME, "%s:%s%s", base, suffix, again ? ":made" : "") < UNITS_NAME)
        return ASSAY_OK;
    return assay_fail(m->err, ASSAY_ERR_LIMIT, "value '%.100s...': the name is too long", base);
}

assay_status quantize_units_taken(units_maker *m, const char *name)
{
    return assay_fail(
        m->err, ASSAY_ERR_INPUT,
        "value '%.200s': the quantizer needs this name for a value of its own; rename it", name);
}

assay_status quantize_units_add(units_maker *m, assay_op op, const int *in, int n_in,
                                const char *base, const char *suffix, const assay_attrs *attr,
                                int *out)
{
    char name[UNITS_NAME];
    const char *names = name;
    for (int again = 0; again < 2; again++) {
        const assay_status s = quantize_units_name(m, base, suffix, again > 0, name);
        if (s)
            return s;
        *out = assay_graph_find_value(m->g, name);
        if (*out < 0)
            return assay_graph_add_inferred(m->g, op, name, in, n_in, &names, 1, attr, out, m->err);
        if (!is_foreign(m, *out, op))
            return ASSAY_OK;
    }
    return quantize_units_taken(m, name);
}

/* Is value v of g the scale 1 as type t has it? */
static bool is_one(const assay_graph *g, int v, const assay_type *t)
{
    return lower_is_f32_constant(g, v) && assay_shape_equal(&g->value[v].type, t) &&
           (assay_shape_count(t) == 0 || *(const float *)g->value[v].data == 1);
}

assay_status quantize_units_one(units_maker *m, const assay_type *scaled, const char *base,
                                const char *suffix, int *out)
{
    static const float number = 1;
    assay_type t = {.elem = assay_f32(), .rank = scaled->rank};
    char name[UNITS_NAME];
    for (int d = 0; d < t.rank; d++)
        t.dim[d] = scaled->dim[d] > 0;
    for (int again = 0; again < 2; again++) {
        const assay_status s = quantize_units_name(m, base, suffix, again > 0, name);
        if (s)
            return s;
        *out = assay_graph_find_value(m->g, name);
        if (*out < 0)
            return assay_graph_add_constant(m->g, name, &t, &number, out, m->err);
        if (is_one(m->g, *out, &t))
            return ASSAY_OK;
    }
    return quantize_units_taken(m, name);
}

bool *quantize_units_constants(const assay_graph *g)
{
    bool *constant = calloc((size_t)g->n_values + 1, sizeof *constant);
    for (int v = 0; constant && v < g->n_values; v++)
        constant[v] = lower_is_constant(g, v);
    for (int i = 0; constant && i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        bool all = n->n_in > 0;
        for (int j = 0; j < n->n_in; j++)
            all &= n->in[j] == ASSAY_NO_VALUE || constant[n->in[j]];
        for (int j = 0; j < n->n_out; j++)
            constant[n->out[j]] = all;
    }
    return constant;
}
