/* Local response normalization: a code, counted from its zero point, times a gain, then one rescale
 * (schemes/node/spec.h says so of units that are made from a record). What follows goes into that
 * rescale where the threshold forms agree on all products that can occur; a rescale in front is
 * read past where it keeps what codes count from their zero points, for then sums of squares and
 * gains stay. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/lower/nodes.h"
#include "opt/prove/fragment.h"
#include "opt/prove/prove.h"
#include "schemes/node/spec.h"
#include "schemes/prepare/prepare.h"
#include "schemes/rescale/thresholds.h"

typedef struct gains {
    bool down;                   /* the rescale stands in front */
    const assay_type *from, *to; /* of the function */
    int64_t *table;              /* of the function, by code - least */
    size_t size;
    assay_unit *before;
} gains;

static const assay_node *node_of(const assay_graph *f)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (f->node[i].op == ASSAY_OP_LRN)
            return &f->node[i];
    return NULL;
}

static assay_status prepare(const assay_graph *f, const assay_scheme *s, assay_unit **unit,
                            assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    const assay_node *n = node_of(f);
    if (!n)
        return assay_fail(err, ASSAY_ERR_INTERNAL, "the normalization is gone");
    assay_unit_spec_fill(f, n, in, &spec);
    return s->vt->prepare(s, &spec, unit, err);
}

static const assay_unit_param *gains_of(const assay_unit *u)
{
    for (size_t i = 0; i < u->n_params; i++)
        if (strcmp(u->param[i].name, "table") == 0)
            return &u->param[i];
    return NULL;
}

/* Codes count as much from their zero point behind the rescale as in front of it. */
static bool keeps_counts(const gains *k, assay_verdict *v)
{
    for (size_t i = 0; i < k->size; i++) {
        int64_t code = assay_elem_min(k->from->elem) + (int64_t)i;
        int64_t is = code - k->from->q.zero_point[0], was = k->table[i] - k->to->q.zero_point[0];
        if (was == is)
            continue;
        snprintf(v->evidence, sizeof v->evidence, "the rescale does more than move the zero point");
        if (!v->counterexample[0])
            snprintf(v->counterexample, sizeof v->counterexample,
                     "input %lld: %lld became %lld (counted from zero points)", (long long)code,
                     (long long)was, (long long)is);
        return false;
    }
    return true;
}

/* Products of codes of the node's input with gains, 0 among them. */
static assay_interval reach_of(const assay_graph *f, const assay_unit_param *table)
{
    const assay_type *x = &assay_node_in(f, node_of(f), 0)->type;
    int64_t greatest = 0;
    for (size_t i = 0; i < table->count; i++)
        greatest = table->value[i] > greatest ? table->value[i] : greatest;
    return (assay_interval){(assay_elem_min(x->elem) - x->q.zero_point[0]) * greatest,
                            (assay_elem_max(x->elem) - x->q.zero_point[0]) * greatest};
}

static assay_status compare_forms(const gains *k, const assay_unit *after, assay_proof *proof,
                                  assay_error *err)
{
    assay_verdict *v = &proof->verdict;
    assay_threshold_form a, b;
    assay_disagreements d;
    const assay_interval r = proof->reach;
    assay_status s =
        assay_threshold_form_make(&k->before->scale[ASSAY_OUT], 0, r.lo, r.hi, &a, err);
    if (s)
        return s;
    s = assay_threshold_form_make(&after->scale[ASSAY_OUT], 0, r.lo, r.hi, &b, err);
    for (size_t i = 0; i < a.n && !s && !k->down; i++)
        if (a.code[i] != ASSAY_REFUSED)
            a.code[i] = k->table[a.code[i] - assay_elem_min(k->from->elem)];
    if (!s) {
        assay_threshold_form_compare(&a, &b, &d);
        const assay_disagreement *f = &d.first[0];
        memset(v, 0, sizeof *v);
        v->bound = d.greatest;
        v->kind = !d.count                                         ? ASSAY_EXACT
                  : f->a == ASSAY_REFUSED || f->b == ASSAY_REFUSED ? ASSAY_UNPROVED
                                                                   : ASSAY_BOUNDED;
        snprintf(v->evidence, sizeof v->evidence,
                 "products with gains in [%lld, %lld], threshold forms %s (%zu steps)",
                 (long long)r.lo, (long long)r.hi, d.count ? "differ" : "equal", b.n);
        if (d.count)
            snprintf(v->counterexample, sizeof v->counterexample, "product %lld: %lld became %lld",
                     (long long)f->from, (long long)f->a, (long long)f->b);
        assay_threshold_form_free(&b);
    }
    assay_threshold_form_free(&a);
    return s;
}

static assay_status judge(const gains *k, const assay_unit *after, assay_proof *proof,
                          assay_error *err)
{
    const assay_unit_param *was = gains_of(k->before), *is = gains_of(after);
    if (k->down && !keeps_counts(k, &proof->verdict))
        return ASSAY_OK;
    const size_t n = was && is ? (was->count < is->count ? was->count : is->count) : 0;
    if (n == 0 || memcmp(was->value, is->value, n * sizeof *was->value) != 0) {
        snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence, "the gains differ");
        return ASSAY_OK;
    }
    proof->reach = reach_of(proof->after, is);
    return compare_forms(k, after, proof, err);
}

static assay_status attempt(const assay_match *m, const assay_rule *rule, const assay_scheme *s,
                            assay_run_fn run, const gains *k, const assay_rule_image *image,
                            assay_proof *proof, assay_error *err)
{
    assay_unit *after = NULL;
    memset(&proof->verdict, 0, sizeof proof->verdict);
    proof->verdict.kind = ASSAY_UNPROVED;
    proof->possible = true;
    proof->uses_image = image != NULL;
    assay_status status = prove_rewrite(m, rule, image, proof, err);
    if (!status && proof->possible && k->down)
        status = prove_samples(s, run, ASSAY_SAMPLES, proof, err);
    if (!status && proof->possible)
        status = prepare(proof->after, s, &after, err);
    if (!status && after)
        status = judge(k, after, proof, err);
    if (after)
        s->vt->release(after);
    return prove_impossible(proof, status, err);
}

assay_status prove_gains(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                         const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                         assay_error *err)
{
    const int function = g->node[m->lower].op == ASSAY_OP_LRN ? m->upper[0] : m->lower;
    const assay_node *n = &g->node[function];
    gains k = {.down = function != m->lower,
               .from = &assay_node_in(g, n, 0)->type,
               .to = &assay_node_out(g, n, 0)->type};
    assay_status status =
        s->vt == &assay_family_vtable
            ? ASSAY_OK
            : assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                         "the scheme is a plugin: its rescales have no threshold form");
    if (!status)
        status = prove_fragment_cut(g, m, 0, &proof->before, err);
    if (!status)
        status = prove_tabulate(g, function, s, run, &k.table, &k.size, err);
    if (!status)
        status = prepare(proof->before, s, &k.before, err);
    if (!status)
        status = attempt(m, rule, s, run, &k, NULL, proof, err);
    if (!status && rule->bounds && !k.down &&
        !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        const assay_rescale *r = &k.before->scale[ASSAY_OUT];
        const int64_t least = assay_elem_min(k.from->elem);
        proof->image = (assay_rule_image){k.table[r->lo - least], k.table[r->hi - least]};
        status = attempt(m, rule, s, run, &k, &proof->image, proof, err);
    }
    if (k.before)
        s->vt->release(k.before);
    free(k.table);
    return prove_impossible(proof, status, err);
}
