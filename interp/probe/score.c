/* The share of answers that a record gives, and what contradicts it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/probe/find.h"

/* A node of sample k as it was given to the device. */
static void case_of(const blame_device *d, int node, int k, assay_arena *arena, blame_case *c)
{
    const assay_node *n = &d->graph->node[node];
    const void *in[BLAME_IN] = {NULL};
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != ASSAY_NO_VALUE)
            in[i] = blame_at(d, k, n->in[i])->believed;
    blame_case_fill(c, d->graph, n, d->scheme, in, arena);
}

bool probe_record_of(const blame_device *d, const probe_group *g, const assay_scheme *scheme,
                     assay_record *r)
{
    assay_record own;
    blame_case c;
    case_of(d, g->node[0], 0, NULL, &c);
    if (!blame_case_record(&c, &own))
        return false;
    c.scheme = scheme;
    if (!blame_case_record(&c, r))
        return false;
    r->types = own.types;
    r->accepts = own.accepts;
    return true;
}

/* The codes that the record gives; NULL: it refuses the node, or memory is short. */
static void *run_node(const blame_device *d, int node, int k, const assay_record *r)
{
    assay_arena *arena = assay_arena_new();
    blame_case c;
    void *out = NULL;
    if (!arena)
        return NULL;
    case_of(d, node, k, arena, &c);
    c.record = *r;
    c.has_record = true;
    out = malloc(assay_type_bytes(&c.out) + 64);
    if (out && blame_case_run(&c, out, NULL, NULL)) {
        free(out);
        out = NULL;
    }
    assay_arena_free(arena);
    return out;
}

static bool is_given(const assay_type *t, const void *device, const void *given, int64_t i)
{
    const size_t width = assay_elem_size(t->elem), at = (size_t)i * width;
    return given && memcmp((const char *)device + at, (const char *)given + at, width) == 0;
}

static bool is_seen(const blame_tensor *t, int64_t i)
{
    return !t->mask || t->mask[i];
}

int64_t probe_score(const blame_device *d, const probe_group *g, const assay_record *r,
                    int64_t least, bool *refused)
{
    int64_t good = 0, left = g->elements;
    if (refused)
        *refused = false;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < d->n_samples && good + left >= least; k++) {
            const int value = d->graph->node[g->node[i]].out[0];
            const assay_type *type = &d->graph->value[value].type;
            const blame_tensor *t = blame_at(d, k, value);
            if (!t->device)
                continue;
            void *out = run_node(d, g->node[i], k, r);
            if (!out && refused)
                *refused = true;
            for (int64_t e = 0; e < assay_shape_count(type); e++) {
                good += is_seen(t, e) && is_given(type, t->device, out, e);
                left -= is_seen(t, e);
            }
            free(out);
        }
    return good;
}

/* ---- words ---- */

static void say_element(const assay_type *t, const void *data, int64_t i, char *text, size_t size)
{
    if (!data)
        snprintf(text, size, "refused");
    else if (t->elem.kind == ASSAY_KIND_F32)
        snprintf(text, size, "%.9g", (double)((const float *)data)[i]);
    else
        snprintf(text, size, "%" PRId64, assay_elem_get(t->elem, data, (size_t)i));
}

static void say(const assay_value *v, const void *device, const void *given, int64_t i,
                char words[200])
{
    char at[80] = "", a[32], b[32];
    int64_t rest = i;
    for (int k = v->type.rank - 1; k >= 0; k--) {
        char before[80];
        memcpy(before, at, sizeof before);
        snprintf(at, sizeof at, "%" PRId64 "%s%.50s", rest % v->type.dim[k], *before ? "," : "",
                 before);
        rest /= v->type.dim[k];
    }
    say_element(&v->type, device, i, a, sizeof a);
    say_element(&v->type, given, i, b, sizeof b);
    snprintf(words, 200, "%.60s[%s]: device %s, record %s", v->name, at, a, b);
}

int probe_contradictions(const blame_device *d, const probe_group *g, const assay_record *r,
                         char words[PROBE_FIRST][200])
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < d->n_samples && n < PROBE_FIRST; k++) {
            const assay_value *v = &d->graph->value[d->graph->node[g->node[i]].out[0]];
            const blame_tensor *t = blame_at(d, k, d->graph->node[g->node[i]].out[0]);
            if (!t->device)
                continue;
            void *out = run_node(d, g->node[i], k, r);
            for (int64_t e = 0; e < assay_shape_count(&v->type) && n < PROBE_FIRST; e++)
                if (is_seen(t, e) && !is_given(&v->type, t->device, out, e))
                    say(v, t->device, out, e, words[n++]);
            free(out);
        }
    return n;
}
