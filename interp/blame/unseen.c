/* Elements of a tensor at fault that were not observed: the cause that explains the rest says what
 * they are. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/faults.h"

static assay_status keep_caused(const blame_search *s, int k, const int32_t *codes,
                                assay_error *err)
{
    blame_tensor *t = blame_at(s->d, s->sample[k], s->end);
    if (!t->mask)
        return ASSAY_OK;
    free(t->caused);
    t->caused = malloc(assay_type_bytes(s->end_type) + 64);
    if (!t->caused)
        return assay_out_of_memory(err);
    blame_store(s->end_type, codes + k * s->end_count, t->caused);
    return ASSAY_OK;
}

/* A cause may be that of some channels only: the others are as replayed. */
static void keep_channels(const blame_search *s, int32_t *codes)
{
    const blame_axis a = blame_axis_of(s->end_type, s->n_after == 0 ? s->channel_axis : -1);
    bool *other = calloc((size_t)a.n + 1, sizeof *other);
    for (int64_t e = 0; e < s->n_samples * s->end_count && other; e++)
        if (s->seen[e] && !blame_same(s, e, codes[e]))
            other[e % s->end_count / a.inner % a.n] = true;
    for (int64_t e = 0; e < s->n_samples * s->end_count && other; e++)
        if (other[e % s->end_count / a.inner % a.n])
            codes[e] = s->end_base[e];
    free(other);
}

/* Of what a node reads, the tensors at fault of which a cause said what was not observed: nobody
 * knows that any more. */
static bool doubt_inputs(const blame_device *d, const assay_node *n)
{
    bool found = false;
    for (int i = 0; i < n->n_in; i++)
        for (int k = 0; k < d->n_samples && n->in[i] != ASSAY_NO_VALUE; k++) {
            blame_tensor *t = blame_at(d, k, n->in[i]);
            if (!t->caused)
                continue;
            free(t->caused);
            t->caused = NULL;
            t->unknown = found = true;
        }
    return found;
}

bool blame_doubt_unseen(const blame_report *r, int row)
{
    bool found = false;
    for (int i = 0; i <= row; i++)
        if (i == row || r->row[i].region == row)
            found |= doubt_inputs(&r->device, &r->device.graph->node[i]);
    return found;
}

assay_status blame_assume_unseen(blame_search *s, const blame_finding *f, bool *replay,
                                 assay_error *err)
{
    blame_story story;
    bool partly = false;
    for (int k = 0; k < s->n_samples; k++)
        partly = partly || blame_at(s->d, s->sample[k], s->end)->mask;
    if (!partly || s->on_sums)
        return ASSAY_OK;
    *replay = true;
    int32_t *codes = calloc((size_t)(s->n_samples * s->end_count) + 16, sizeof *codes);
    assay_status status = codes ? ASSAY_OK : assay_out_of_memory(err);
    const bool known = codes && f && blame_predict(s, f->family, f->i, codes, &story);
    if (known)
        keep_channels(s, codes);
    for (int k = 0; k < s->n_samples && !status; k++) {
        if (known)
            status = keep_caused(s, k, codes, err);
        else
            blame_at(s->d, s->sample[k], s->end)->unknown =
                blame_at(s->d, s->sample[k], s->end)->mask != NULL;
    }
    free(codes);
    return status;
}
