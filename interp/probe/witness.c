/* Telling elements of a group; see witness.h. */
#include "interp/probe/witness.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"

enum { FIRST = 768, MORE = 64, MAX_PLACES = 4096 };

/* ---- elements on their own ---- */

static bool is_plain(const assay_type *t, int64_t count)
{
    return assay_shape_count(t) == count &&
           (t->elem.kind == ASSAY_KIND_F32 || t->q.granularity == ASSAY_Q_TENSOR);
}

/* Ops whose element i is made of the inputs' elements i. */
static bool can_gather(const blame_device *d, int node)
{
    const assay_node *n = &d->graph->node[node];
    const assay_type *out = &d->graph->value[n->out[0]].type;
    const int64_t count = assay_shape_count(out);
    bool good = assay_op_get(n->op)->traits & (ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_CONVERT);
    for (int i = 0; i < n->n_in && good; i++)
        good = n->in[i] != ASSAY_NO_VALUE && is_plain(&d->graph->value[n->in[i]].type, count);
    return good && is_plain(out, count) && count > FIRST;
}

static void flatten(assay_type *t, int64_t n)
{
    t->rank = 2;
    t->dim[0] = 1;
    t->dim[1] = n;
}

static bool gather(blame_case *c, const probe_part *p)
{
    for (int i = 0; i < c->n_in; i++) {
        const size_t width = assay_elem_size(c->in[i].elem);
        char *data = assay_arena_alloc(c->arena, (size_t)p->n * width + 64);
        if (!data)
            return false;
        for (int64_t k = 0; k < p->n; k++)
            memcpy(data + (size_t)k * width, (const char *)c->data[i] + (size_t)p->at[k] * width,
                   width);
        flatten(&c->in[i], p->n);
        c->data[i] = data;
    }
    flatten(&c->out, p->n);
    return true;
}

/* ---- parts ---- */

/* Spread over the elements: by steps of a prime number. */
static void spread(probe_part *p)
{
    const int64_t step = 1000003;
    for (p->n = 0; p->n < FIRST; p->n++)
        p->at[p->n] = p->n * step % p->count;
}

assay_status probe_witness_open(const blame_device *d, const probe_group *g, probe_witness *w,
                                assay_error *err)
{
    *w = (probe_witness){.d = d, .g = g};
    w->part = calloc((size_t)g->n_nodes * (size_t)d->n_samples + 1, sizeof *w->part);
    if (!w->part)
        return assay_out_of_memory(err);
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < d->n_samples; k++) {
            if (!probe_is_asked(d, g->node[i], k))
                continue;
            probe_part *p = &w->part[w->n++];
            const int value = d->graph->node[g->node[i]].out[0];
            *p = (probe_part){.node = g->node[i],
                              .sample = k,
                              .gathers = can_gather(d, g->node[i]) && !blame_at(d, k, value)->mask,
                              .count = assay_shape_count(&d->graph->value[value].type)};
            if (p->gathers && !(p->at = malloc(MAX_PLACES * sizeof *p->at)))
                return assay_out_of_memory(err);
            if (p->gathers)
                spread(p);
        }
    return ASSAY_OK;
}

void probe_witness_close(probe_witness *w)
{
    for (int i = 0; i < w->n; i++)
        free(w->part[i].at);
    free(w->part);
    *w = (probe_witness){0};
}

/* ---- a record ---- */

/* What the record gives for a part, or for its telling elements alone; NULL: it refuses them. */
static assay_status run(const probe_witness *w, const probe_part *p, bool telling,
                        const assay_record *r, void **out, assay_error *err)
{
    assay_arena *arena = assay_arena_new();
    blame_case c;
    *out = NULL;
    if (!arena)
        return assay_out_of_memory(err);
    probe_case_of(w->d, p->node, p->sample, arena, &c);
    c.record = *r;
    c.has_record = true;
    const bool good = !telling || gather(&c, p);
    *out = good ? malloc(assay_type_bytes(&c.out) + 64) : NULL;
    assay_status status = *out ? blame_case_run(&c, *out, NULL, err) : assay_out_of_memory(err);
    assay_arena_free(arena);
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status == ASSAY_ERR_MEMORY ? status : ASSAY_OK;
}

/* Of the telling elements so many are given. */
static int64_t compare(const probe_witness *w, const probe_part *p, const void *out)
{
    const int value = w->d->graph->node[p->node].out[0];
    const size_t width = assay_elem_size(w->d->graph->value[value].type.elem);
    const char *device = blame_at(w->d, p->sample, value)->device, *given = out;
    int64_t n = 0;
    for (int64_t k = 0; k < p->n && given; k++)
        n += memcmp(device + (size_t)p->at[k] * width, given + (size_t)k * width, width) == 0;
    return n;
}

/* Elements that contradict a record that the telling ones let through. */
static void learn(const probe_witness *w, probe_part *p, const void *out)
{
    const int value = w->d->graph->node[p->node].out[0];
    const size_t width = assay_elem_size(w->d->graph->value[value].type.elem);
    const char *device = blame_at(w->d, p->sample, value)->device, *given = out;
    int left = MORE;
    for (int64_t i = 0; i < p->count && left > 0 && p->n < MAX_PLACES && given; i++)
        if (memcmp(device + (size_t)i * width, given + (size_t)i * width, width) != 0) {
            p->at[p->n++] = i;
            left--;
        }
}

/* A part that contradicts is asked first from then on. */
static void put_first(probe_witness *w, int i)
{
    const probe_part p = w->part[i];
    memmove(&w->part[1], &w->part[0], (size_t)i * sizeof p);
    w->part[0] = p;
}

assay_status probe_witness_all(probe_witness *w, const assay_record *r, enum probe_depth depth,
                               bool *given, bool *refused, assay_error *err)
{
    assay_status status = ASSAY_OK;
    *given = true;
    *refused = false;
    w->tests++;
    for (int round = 0; round <= (int)depth && *given && !status; round++)
        for (int i = 0; i < w->n && *given && !status; i++) {
            probe_part *p = &w->part[i];
            const bool telling = round == 0 && p->gathers;
            const int value = w->d->graph->node[p->node].out[0];
            void *out;
            if (round == 1 && !p->gathers)
                continue;
            status = run(w, p, telling, r, &out, err);
            if (status)
                break;
            *refused = !out;
            *given = out && (telling ? compare(w, p, out) == p->n
                                     : probe_compare(w->d, p->sample, value, out, NULL) ==
                                           probe_count_seen(w->d, p->sample, value));
            if (!*given && round == 1)
                learn(w, p, out);
            if (!*given)
                put_first(w, i);
            free(out);
        }
    return status;
}

assay_status probe_witness_count(probe_witness *w, const assay_record *r, int64_t least,
                                 int64_t *given, assay_error *err)
{
    int64_t left = 0;
    assay_status status = ASSAY_OK;
    *given = 0;
    w->tests++;
    for (int i = 0; i < w->n; i++)
        left += w->part[i].gathers ? w->part[i].n : w->part[i].count;
    for (int i = 0; i < w->n && *given + left >= least && !status; i++) {
        probe_part *p = &w->part[i];
        void *out;
        status = run(w, p, p->gathers, r, &out, err);
        if (status)
            break;
        *given += p->gathers ? compare(w, p, out)
                             : probe_compare(w->d, p->sample, w->d->graph->node[p->node].out[0],
                                             out, NULL);
        left -= p->gathers ? p->n : p->count;
        free(out);
    }
    return status;
}
