/* Second moments of what fully connected layers read; see moments.h. */
#include "opt/profile/moments.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/arena.h"
#include "graph/memory.h"

typedef struct moments_of {
    char *name;
    int64_t width;
    double *sum;
} moments_of;

struct assay_moments {
    int n_values;
    moments_of *of; /* by value of the graph; those of no layer have no name */
};

static assay_status begin(const assay_value *v, moments_of *of, assay_error *err)
{
    of->width = v->type.dim[v->type.rank - 1];
    of->name = strdup(v->name);
    of->sum = calloc((size_t)of->width * (size_t)of->width + 1, sizeof *of->sum);
    return of->name && of->sum ? ASSAY_OK : assay_out_of_memory(err);
}

assay_status profile_moments_new(const assay_graph *g, assay_moments **out, assay_error *err)
{
    assay_moments *m = calloc(1, sizeof *m);
    assay_status status = ASSAY_OK;
    *out = NULL;
    if (!m)
        return assay_out_of_memory(err);
    m->of = calloc((size_t)g->n_values + 1, sizeof *m->of);
    m->n_values = m->of ? g->n_values : 0;
    if (!m->of)
        status = assay_out_of_memory(err);
    for (int i = 0; i < g->n_nodes && !status; i++) {
        const assay_node *n = &g->node[i];
        if (n->op == ASSAY_OP_FC && !m->of[n->in[0]].name)
            status = begin(&g->value[n->in[0]], &m->of[n->in[0]], err);
    }
    if (status)
        profile_moments_free(m);
    else
        *out = m;
    return status;
}

void profile_moments_free(assay_moments *m)
{
    for (int i = 0; m && i < m->n_values; i++) {
        free(m->of[i].name);
        free(m->of[i].sum);
    }
    if (m)
        free(m->of);
    free(m);
}

void profile_moments_observe(assay_moments *m, int value, const float *x, size_t n)
{
    const moments_of *of = value >= 0 && value < m->n_values ? &m->of[value] : NULL;
    if (!of || !of->name)
        return;
    for (const float *row = x; row < x + n; row += of->width)
        for (int64_t i = 0; i < of->width; i++) {
            const double factor = (double)row[i];
            double *sum = of->sum + i * of->width;
            for (int64_t k = i; k < of->width && factor != 0; k++)
                sum[k] += factor * (double)row[k];
        }
}

const double *profile_moments_find(const assay_moments *m, const char *name, int64_t *width)
{
    for (int i = 0; i < m->n_values; i++)
        if (m->of[i].name && strcmp(m->of[i].name, name) == 0) {
            *width = m->of[i].width;
            return m->of[i].sum;
        }
    return NULL;
}
