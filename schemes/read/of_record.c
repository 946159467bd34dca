/* A scheme from a record that was made, not read. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "schemes/prepare/prepare.h"
#include "schemes/record/data.h"

static void *copy(const void *from, size_t bytes)
{
    void *to = malloc(bytes + 1);
    if (to && from)
        memcpy(to, from, bytes);
    return to;
}

static bool take_precomputed(assay_scheme_data *d, const assay_precomputed *g)
{
    assay_precomputed *to = d->precomputed = calloc(1, sizeof *to);
    if (!to)
        return false;
    d->n_precomputed = 1;
    *to = *g;
    to->node = strdup(g->node);
    to->multiplier = copy(g->multiplier, g->n * sizeof *g->multiplier);
    to->shift = copy(g->shift, g->n * sizeof *g->shift);
    return to->node && to->multiplier && to->shift;
}

assay_status assay_scheme_of_record(const assay_scheme *like, const assay_record *r,
                                    const assay_precomputed *given, assay_scheme **out,
                                    assay_error *err)
{
    const assay_scheme_data *old = assay_data(like);
    char why[256];
    *out = NULL;
    if (!assay_record_check(r, why, sizeof why))
        return assay_fail(err, ASSAY_ERR_SCHEME, "scheme %s: %s", like->name, why);
    assay_scheme *s = calloc(1, sizeof *s);
    assay_scheme_data *d = assay_scheme_data_new();
    char *text = calloc(1, 1);
    bool good = s && d && text;
    if (good) {
        d->base = *r;
        memcpy(d->in_float, old->in_float, sizeof d->in_float);
        d->name = strdup(like->name);
        good = d->name && (!given || take_precomputed(d, given));
    }
    if (!good) {
        assay_scheme_data_free(d);
        free(text);
        free(s);
        return assay_out_of_memory_for(err, "scheme %s", like->name);
    }
    *s = (assay_scheme){.vt = &assay_family_vtable, .name = d->name, .text = text, .record = d};
    *out = s;
    return ASSAY_OK;
}
