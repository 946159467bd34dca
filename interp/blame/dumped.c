/* Constants as the device has them: read where they were dumped, and what they explain. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/families.h"

static assay_status read_input(blame_device *d, const assay_bundle *other, const assay_dumps *dumps,
                               size_t node, int k, assay_error *err)
{
    const assay_node *n = &d->graph->node[node];
    const int v = n->in[k];
    if (v < 0 || !d->graph->value[v].data || d->constant[v])
        return ASSAY_OK;
    const assay_value *value = &d->graph->value[v];
    void *data;
    const assay_status s = golden_number_constant(d->bundle, other, dumps, n->name, node, (size_t)k,
                                                  &value->type, &data, err);
    if (data && memcmp(data, value->data, assay_type_bytes(&value->type)) != 0) {
        d->constant[v] = data;
        return s;
    }
    free(data);
    return s;
}

assay_status blame_device_numbers(blame_device *d, const assay_bundle *other,
                                  const assay_dumps *dumps, assay_error *err)
{
    d->constant = calloc((size_t)d->graph->n_values + 1, sizeof *d->constant);
    if (!d->constant)
        return assay_out_of_memory(err);
    assay_status s = golden_numbers(d->bundle, other, dumps, &d->numbers, err);
    for (int i = 0; i < d->graph->n_nodes; i++)
        for (int k = 0; k < d->graph->node[i].n_in && !s; k++)
            s = read_input(d, other, dumps, (size_t)i, k, err);
    return s;
}

/* ---- what they explain ---- */

static const void *dumped(const blame_search *s, int k)
{
    return s->d->constant && s->n->in[k] >= 0 ? s->d->constant[s->n->in[k]] : NULL;
}

/* All of them together, and where there are several each alone. */
int blame_dumped_count(blame_search *s)
{
    int n = 0;
    for (int k = 0; k < s->n->n_in && k < BLAME_IN; k++)
        n += dumped(s, k) != NULL;
    return n > 1 ? 1 + s->n->n_in : n;
}

bool blame_dumped_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    char names[160] = "";
    for (int k = 0; k < c->n_in; k++) {
        const size_t used = strlen(names);
        if ((i > 0 && i != 1 + k) || !dumped(s, k))
            continue;
        c->data[k] = dumped(s, k);
        snprintf(names + used, sizeof names - used, "%s'%.60s'", used ? ", " : "",
                 assay_node_in(s->d->graph, s->n, k)->name);
    }
    blame_tell(story, "constant.dumped", 0, "with the device's own %s", names);
    return names[0] != 0;
}
