/* Memory of units. */
#include <stdlib.h>

#include "schemes/derive/derive.h"

struct assay_unit_block {
    struct assay_unit_block *next;
    int64_t data[]; /* 8-aligned */
};

void *derive_unit_alloc(assay_unit *u, size_t bytes)
{
    struct assay_unit_block *b = calloc(1, sizeof *b + bytes);
    if (!b) {
        u->memory_short = true;
        return NULL;
    }
    b->next = u->blocks;
    u->blocks = b;
    return b->data;
}

int64_t *derive_unit_array(assay_unit *u, const char *name, size_t n)
{
    int64_t *values = derive_unit_alloc(u, n * sizeof *values);
    if (!values || !name)
        return values;
    assay_unit_param *grown = realloc(u->param, (u->n_params + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    u->param = grown;
    grown[u->n_params++] = (assay_unit_param){name, n, values};
    return values;
}

assay_status derive_list_constants(const assay_derive *d, size_t n)
{
    int64_t *k = derive_unit_array(d->u, "constants", n);
    if (!k)
        return derive_memory(d);
    for (size_t i = 0; i < n; i++)
        k[i] = d->u->k[i];
    return ASSAY_OK;
}

void derive_unit_release(assay_unit *u)
{
    if (!u)
        return;
    while (u->blocks) {
        struct assay_unit_block *next = u->blocks->next;
        free(u->blocks);
        u->blocks = next;
    }
    free(u->param);
    free(u);
}
