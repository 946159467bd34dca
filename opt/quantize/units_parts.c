/* Nodes of networks for matrix units, under names made of their content. */
#include "opt/quantize/units_parts.h"

#include <stdio.h>

assay_status units_add(units_maker *m, assay_op op, const int *in, int n_in, const char *base,
                       const char *suffix, const assay_attrs *attr, int *out)
{
    char name[512];
    const char *names = name;
    if (snprintf(name, sizeof name, "%s:%s", base, suffix) >= (int)sizeof name)
        return assay_fail(m->err, ASSAY_ERR_LIMIT, "value '%.100s...': the name is too long", base);
    *out = assay_graph_find_value(m->g, name);
    const int maker_of = *out < 0 ? -1 : m->g->value[*out].producer;
    if (maker_of >= m->first_made && m->g->node[maker_of].op == op)
        return ASSAY_OK;
    if (*out >= 0)
        return assay_fail(m->err, ASSAY_ERR_INPUT,
                          "value '%.200s': its name is one that a product on matrix units needs",
                          name);
    return assay_graph_add_inferred(m->g, op, name, in, n_in, &names, 1, attr, out, m->err);
}
