/* Functions behind a product that are merged into it: threshold forms over the accumulators that
 * can occur. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/prove/fragment.h"
#include "opt/prove/products.h"
#include "opt/prove/prove.h"

/* Codes of the form through a table by code - least. */
static void map_codes(assay_threshold_form *s, const int64_t *table, int64_t least)
{
    for (size_t i = 0; table && i < s->n; i++)
        if (s->code[i] != ASSAY_REFUSED)
            s->code[i] = table[s->code[i] - least];
}

typedef struct weighted {
    const assay_scheme *scheme;
    const assay_type *weights;
    const int64_t *table; /* of the function behind the node, before; or NULL */
    int64_t least;
    size_t steps; /* of all forms together */
} weighted;

static assay_status compare_channel(const assay_unit *before, const assay_unit *after,
                                    size_t channel, weighted *w, assay_proof *proof,
                                    assay_error *err)
{
    assay_threshold_form a, b;
    assay_disagreements d;
    assay_verdict *v = &proof->verdict;
    const assay_interval r = proof->reach;
    assay_status s = prove_form_make(w->scheme, before, channel, r, &a, err);
    if (s)
        return s;
    s = prove_form_make(w->scheme, after, channel, r, &b, err);
    if (s) {
        assay_threshold_form_free(&a);
        return s;
    }
    map_codes(&a, w->table, w->least);
    assay_threshold_form_compare(&a, &b, &d);
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
    assay_threshold_form_free(&a);
    assay_threshold_form_free(&b);
    return ASSAY_OK;
}

/* first: the first channel that differs decides, because another attempt follows. */
static assay_status compare_forms(const assay_unit *before, const assay_unit *after, bool first,
                                  weighted *w, assay_proof *proof, assay_error *err)
{
    size_t channels = prove_form_count(w->scheme, before, w->weights);
    const size_t other = prove_form_count(w->scheme, after, w->weights);
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

assay_status prove_compare_forms(const assay_scheme *s, const assay_type *weights,
                                 const assay_unit *before, const assay_unit *after,
                                 assay_proof *proof, assay_error *err)
{
    weighted w = {.scheme = s, .weights = weights};
    return compare_forms(before, after, false, &w, proof, err);
}

/* again: where it is not exact, another attempt follows. */
static assay_status attempt(const assay_match *m, const assay_rule *rule, const assay_scheme *s,
                            const assay_unit *before, const assay_sums *sums,
                            const assay_rule_image *image, bool again, weighted *w,
                            assay_proof *proof, assay_error *err)
{
    assay_unit *after = NULL;
    assay_verdict *v = &proof->verdict;
    proof->possible = true;
    proof->uses_image = image != NULL;
    assay_status status = prove_rewrite(m, rule, image, proof, err);
    if (status || !proof->possible)
        return status;
    status = prove_product_prepare(proof->after, s, &after, err);
    if (!status && !prove_sums_alike(s, before, after, sums)) {
        memset(v, 0, sizeof *v);
        v->kind = ASSAY_UNPROVED;
        snprintf(v->evidence, sizeof v->evidence,
                 "the accumulators differ in width, overflow or order");
    } else if (!status) {
        status = compare_forms(before, after, again, w, proof, err);
    }
    if (after)
        s->vt->release(after);
    return prove_impossible(proof, status, err);
}

/* What the function makes of the codes that the unit ends at; of a plugin's, of all codes. */
static assay_rule_image image_of(const assay_scheme *s, const assay_unit *u, const weighted *w,
                                 size_t n)
{
    const bool known = s->vt == &assay_family_vtable;
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    return known ? (assay_rule_image){w->table[r->lo - w->least], w->table[r->hi - w->least]}
                 : (assay_rule_image){w->table[0], w->table[n - 1]};
}

assay_status prove_accumulators(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                                const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                                assay_error *err)
{
    const assay_node *node = &g->node[m->upper[0]];
    assay_unit *before = NULL;
    int64_t *table = NULL;
    size_t n = 0;
    assay_sums sums;
    weighted w = {.scheme = s,
                  .weights = &assay_node_in(g, node, 1)->type,
                  .least = assay_elem_min(assay_node_out(g, node, 0)->type.elem)};
    assay_status status = prove_product_cut(g, m, node, s, &proof->before, &before, err);
    if (!status)
        status = prove_tabulate(g, m->lower, s, run, &table, &n, err);
    w.table = table;
    if (!status)
        status = prove_product_reach(g, node, ASSAY_NO_VALUE, s, before, &sums, err);
    bool again = false;
    assay_rule_image image = {0};
    if (!status) {
        image = image_of(s, before, &w, n);
        again =
            rule->bounds && image.lo <= image.hi; /* codes that wrap may end below their start */
        proof->reach = sums.reach;
        status = attempt(m, rule, s, before, &sums, NULL, again, &w, proof, err);
    }
    if (!status && again && !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        proof->image = image;
        status = attempt(m, rule, s, before, &sums, &proof->image, false, &w, proof, err);
    }
    if (before)
        s->vt->release(before);
    free(table);
    return prove_impossible(proof, status, err);
}
