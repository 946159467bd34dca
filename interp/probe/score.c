/* The share of answers that a record gives, and what contradicts it. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "interp/probe/find.h"
#include "schemes/derive/derive.h"
#include "schemes/node/spec.h"

void probe_case_of(const blame_device *d, int node, int k, assay_arena *arena, blame_case *c)
{
    const assay_node *n = &d->graph->node[node];
    const void *in[BLAME_IN] = {NULL};
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != ASSAY_NO_VALUE)
            in[i] = blame_at(d, k, n->in[i])->believed;
    blame_case_fill(c, d->graph, n, d->scheme, in, arena);
}

unsigned probe_variant_of(const blame_device *d, int node)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(d->graph, &d->graph->node[node], in, &spec);
    return derive_variant_of(&spec);
}

bool probe_computes_in_float(const assay_scheme *scheme, enum assay_op op, unsigned variant)
{
    const assay_scheme_data *d = assay_data(scheme);
    return d->in_float[op] ||
           d->unfused[variant & ASSAY_VARIANT_WIDE ? ASSAY_UNFUSED_WIDE : ASSAY_UNFUSED][op];
}

bool probe_record_of(const blame_device *d, const probe_group *g, const assay_scheme *scheme,
                     assay_record *r)
{
    assay_record own;
    blame_case c;
    probe_case_of(d, g->node[0], 0, NULL, &c);
    if (!blame_case_record(&c, &own))
        return false;
    c.scheme = scheme;
    if (!blame_case_record(&c, r))
        return false;
    r->types = own.types;
    r->accepts = own.accepts;
    return true;
}

/* The codes that the record gives, to be freed; NULL: it refuses the node. */
static assay_status run_node(const blame_device *d, int node, int k, const assay_record *r,
                             void **out, assay_error *err)
{
    assay_arena *arena = assay_arena_new();
    blame_case c;
    *out = NULL;
    if (!arena)
        return assay_out_of_memory(err);
    probe_case_of(d, node, k, arena, &c);
    c.record = *r;
    c.has_record = true;
    *out = malloc(assay_type_bytes(&c.out) + 64);
    assay_status status = *out ? blame_case_run(&c, *out, NULL, err) : assay_out_of_memory(err);
    assay_arena_free(arena);
    if (status) {
        free(*out);
        *out = NULL;
    }
    return status == ASSAY_ERR_MEMORY ? status : ASSAY_OK;
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
    snprintf(words, 200, "%.60s[%s]: device %.20s, record %.20s", v->name, at, a, b);
}

int64_t probe_count_seen(const blame_device *d, int sample, int value)
{
    const blame_tensor *t = blame_at(d, sample, value);
    int64_t n = 0;
    for (int64_t e = 0; e < assay_shape_count(&d->graph->value[value].type); e++)
        n += is_seen(t, e);
    return n;
}

int64_t probe_compare(const blame_device *d, int sample, int value, const void *given,
                      probe_told_elements *told)
{
    const assay_value *v = &d->graph->value[value];
    const blame_tensor *t = blame_at(d, sample, value);
    int64_t n = 0;
    for (int64_t e = 0; e < assay_shape_count(&v->type); e++) {
        const bool good = is_given(&v->type, t->device, given, e);
        n += is_seen(t, e) && good;
        if (is_seen(t, e) && !good && told && told->n < PROBE_FIRST)
            say(v, t->device, given, e, told->words[told->n++]);
    }
    return n;
}

/* ---- a group ---- */

assay_status probe_score_of(const blame_device *d, const probe_group *g, const assay_record *r,
                            int64_t least, probe_score *score, assay_error *err)
{
    int64_t left = g->elements;
    *score = (probe_score){0, false};
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < d->n_samples && score->given + left >= least; k++) {
            const int value = d->graph->node[g->node[i]].out[0];
            void *out;
            if (!probe_is_asked(d, g->node[i], k))
                continue;
            assay_status status = run_node(d, g->node[i], k, r, &out, err);
            if (status)
                return status;
            score->refused = score->refused || !out;
            score->given += probe_compare(d, k, value, out, NULL);
            left -= probe_count_seen(d, k, value);
            free(out);
        }
    return ASSAY_OK;
}

assay_status probe_contradictions(const blame_device *d, const probe_group *g,
                                  const assay_record *r, char words[PROBE_FIRST][200], int *n,
                                  assay_error *err)
{
    probe_told_elements told = {words, 0};
    assay_status status = ASSAY_OK;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < d->n_samples && told.n < PROBE_FIRST && !status; k++) {
            void *out;
            if (!probe_is_asked(d, g->node[i], k))
                continue;
            status = run_node(d, g->node[i], k, r, &out, err);
            if (status)
                break;
            probe_compare(d, k, d->graph->node[g->node[i]].out[0], out, &told);
            free(out);
        }
    *n = told.n;
    return status;
}
