/* What follows a product goes into it: threshold forms over the accumulators that can occur. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/fragment.h"
#include "opt/products.h"
#include "opt/prove.h"

/* Codes of the form through a table by code - least. */
static void map_codes(assay_staircase *s, const int64_t *table, int64_t least)
{
    for (size_t i = 0; table && i < s->n; i++)
        if (s->code[i] != ASSAY_REFUSED)
            s->code[i] = table[s->code[i] - least];
}

typedef struct weighted {
    const int64_t *table; /* of the function behind the node, before; or NULL */
    int64_t least;
    size_t steps; /* of all forms together */
} weighted;

static assay_status compare_channel(const assay_unit *before, const assay_unit *after,
                                    size_t channel, weighted *w, assay_proof *proof,
                                    assay_error *err)
{
    assay_staircase a, b;
    assay_disagreements d;
    assay_verdict *v = &proof->verdict;
    const assay_interval r = proof->reach;
    assay_status s = assay_staircase_make(&before->scale[ASSAY_OUT], channel, r.lo, r.hi, &a, err);
    if (s)
        return s;
    s = assay_staircase_make(&after->scale[ASSAY_OUT], channel, r.lo, r.hi, &b, err);
    if (s) {
        assay_staircase_free(&a);
        return s;
    }
    map_codes(&a, w->table, w->least);
    assay_staircase_compare(&a, &b, &d);
    w->steps += a.n;
    if (d.count && (v->kind == ASSAY_EXACT || d.greatest > v->bound)) {
        const assay_disagreement *f = &d.first[0];
        bool refused = f->a == ASSAY_REFUSED || f->b == ASSAY_REFUSED;
        v->kind = refused ? ASSAY_UNPROVED : ASSAY_BOUNDED;
        v->bound = d.greatest;
        snprintf(v->evidence, sizeof v->evidence,
                 "reachable [%lld, %lld], threshold forms differ in channel %zu", (long long)r.lo,
                 (long long)r.hi, channel);
        snprintf(v->counterexample, sizeof v->counterexample,
                 "accumulator %lld of channel %zu: %lld became %lld", (long long)f->from, channel,
                 (long long)f->a, (long long)f->b);
    }
    assay_staircase_free(&a);
    assay_staircase_free(&b);
    return ASSAY_OK;
}

/* first: the first channel that differs decides, because another attempt follows. */
static assay_status compare_forms(const assay_unit *before, const assay_unit *after, bool first,
                                  weighted *w, assay_proof *proof, assay_error *err)
{
    size_t channels = before->scale[ASSAY_OUT].n, other = after->scale[ASSAY_OUT].n;
    channels = other > channels ? other : channels;
    assay_verdict *v = &proof->verdict;
    memset(v, 0, sizeof *v);
    w->steps = 0;
    assay_status s = ASSAY_OK;
    for (size_t c = 0; c < channels && !s && !(first && v->kind != ASSAY_EXACT); c++)
        s = compare_channel(before, after, c, w, proof, err);
    if (!s && v->kind == ASSAY_EXACT)
        snprintf(v->evidence, sizeof v->evidence,
                 "reachable [%lld, %lld], threshold forms equal (%zu channels, %zu steps)",
                 (long long)proof->reach.lo, (long long)proof->reach.hi, channels, w->steps);
    return s;
}

static assay_status compare_units(const assay_unit *before, const assay_unit *after, bool first,
                                  weighted *w, assay_proof *proof, assay_error *err)
{
    assay_verdict *v = &proof->verdict;
    if (memcmp(&before->rec.accumulator, &after->rec.accumulator, sizeof before->rec.accumulator)) {
        memset(v, 0, sizeof *v);
        v->kind = ASSAY_UNPROVED;
        snprintf(v->evidence, sizeof v->evidence, "the accumulators have other rules");
        return ASSAY_OK;
    }
    return compare_forms(before, after, first, w, proof, err);
}

assay_status assay_compare_forms(const assay_unit *before, const assay_unit *after,
                                 assay_proof *proof, assay_error *err)
{
    weighted w = {NULL, 0, 0};
    return compare_forms(before, after, false, &w, proof, err);
}

static assay_status attempt(const assay_match *m, const assay_rule *rule, const assay_scheme *s,
                            const assay_unit *before, const assay_image *image, weighted *w,
                            assay_proof *proof, assay_error *err)
{
    assay_unit *after = NULL;
    proof->possible = true;
    proof->uses_image = image != NULL;
    assay_status status = assay_prove_rewrite(m, rule, image, proof, err);
    if (status || !proof->possible)
        return status;
    status = assay_product_prepare(proof->after, s, &after, err);
    if (!status)
        status = compare_units(before, after, rule->bounds && !image, w, proof, err);
    if (after)
        s->vt->release(after);
    return assay_prove_impossible(proof, status, err);
}

static assay_image image_of(const assay_rescale *r, const int64_t *table, int64_t least)
{
    assay_image image = {table[r->lo - least], table[r->hi - least]};
    return image;
}

assay_status assay_prove_accumulators(const assay_graph *g, const assay_match *m,
                                      const assay_rule *rule, const assay_scheme *s,
                                      assay_run_fn run, assay_proof *proof, assay_error *err)
{
    const assay_node *node = &g->node[m->upper[0]];
    assay_unit *before = NULL;
    int64_t *table = NULL;
    size_t n = 0;
    bool exact_sums;
    weighted w = {.least = assay_elem_min(assay_node_out(g, node, 0)->type.elem)};
    assay_status status = assay_product_cut(g, m, node, s, &proof->before, &before, err);
    if (!status)
        status = assay_tabulate(g, m->lower, s, run, &table, &n, err);
    w.table = table;
    if (!status)
        status = assay_product_reach(g, node, ASSAY_NO_VALUE, before, &proof->reach, &exact_sums, err);
    if (!status)
        status = attempt(m, rule, s, before, NULL, &w, proof, err);
    if (!status && rule->bounds && !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        proof->image = image_of(&before->scale[ASSAY_OUT], table, w.least);
        if (proof->image.lo <= proof->image.hi)
            status = attempt(m, rule, s, before, &proof->image, &w, proof, err);
    }
    if (before)
        s->vt->release(before);
    free(table);
    return assay_prove_impossible(proof, status, err);
}
