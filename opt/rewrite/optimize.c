/* The driver: tries every rule at every node until none applies; reports what it did and what it
 * refused. */
#include "opt/rewrite/optimize.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/text/text.h"
#include "opt/lower/opt.h"
#include "opt/lower/pass.h"
#include "opt/prove/prove.h"
#include "opt/prove/spread.h"
#include "opt/rewrite/certify.h"
#include "opt/rewrite/policy.h"
#include "opt/target/target.h"

/* One graph at work: the network, or a body of its control flow. */
typedef struct optimizer {
    assay_graph *g;
    const char *body; /* its name; NULL: the network itself */
    const assay_scheme *scheme;
    const assay_optimize_options *options;
    assay_optimize_report *report;
    json_t *certificate; /* of this graph */
    const assay_policy *policy;
    int64_t *spread; /* by output: codes that the applications so far may have changed it by */
    int *uses;
    uint64_t *refused; /* keys of matches that were refused, not to be proved again, and of lines */
    size_t n_refused, room;
} optimizer;

static void add_node_text(const assay_graph *g, const assay_node *n, assay_buf *b)
{
    assay_buf_printf(b, "|%s %d %a %a %d %d %d", n->name, (int)n->op, (double)n->act_lo,
                     (double)n->act_hi, n->has_code_bounds, n->code_lo, n->code_hi);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) {
            assay_buf_printf(b, " %s:", g->value[n->in[i]].name);
            text_type_print(&g->value[n->in[i]].type, b);
        }
    text_type_print(&g->value[n->out[0]].type, b);
}

/* What the outcome of a proof depends on, within one network and scheme. */
static assay_status key_of(const optimizer *o, const assay_rule *rule, const assay_match *m,
                           uint64_t *key, assay_error *err)
{
    assay_buf b = {0};
    assay_buf_printf(&b, "%s", rule->name);
    for (int i = 0; i < m->n_upper; i++)
        add_node_text(o->g, &o->g->node[m->upper[i]], &b);
    add_node_text(o->g, &o->g->node[m->lower], &b);
    assay_status s = assay_buf_status(&b, err);
    if (!s)
        *key = XXH3_64bits(b.text, b.length);
    assay_buf_free(&b);
    return s;
}

static bool was_refused(const optimizer *o, uint64_t key)
{
    for (size_t i = 0; i < o->n_refused; i++)
        if (o->refused[i] == key)
            return true;
    return false;
}

static assay_status note_refusal(optimizer *o, uint64_t key, assay_error *err)
{
    if (!assay_make_room(&o->refused, &o->room, o->n_refused + 1, sizeof *o->refused))
        return assay_out_of_memory(err);
    o->refused[o->n_refused++] = key;
    return ASSAY_OK;
}

/* The line for an application or a refusal. */
static void describe(const optimizer *o, const assay_rule *rule, const assay_match *m,
                     const assay_proof *p, bool applied, char *line, size_t size)
{
    const assay_verdict *v = &p->verdict;
    char verdict[64];
    const char *lower = o->g->node[m->lower].name;
    const char *upper = m->n_upper ? o->g->node[m->upper[0]].name : NULL;
    if (m->obstacle)
        snprintf(verdict, sizeof verdict, "refused");
    else if (!p->possible)
        snprintf(verdict, sizeof verdict, "refused, not on this target");
    else if (v->kind == ASSAY_EXACT)
        snprintf(verdict, sizeof verdict, "exact");
    else if (v->kind == ASSAY_BOUNDED)
        snprintf(verdict, sizeof verdict, "%s by %lld LSB",
                 applied ? "bounded" : "refused, differs", (long long)v->bound);
    else
        snprintf(verdict, sizeof verdict, "%s",
                 applied ? "not proved, allowed" : "refused, not proved");
    snprintf(line, size, "%s%.100s%s%s: %.200s%s%.200s: %s: %s%s%s", o->body ? "body '" : "",
             o->body ? o->body : "", o->body ? "': " : "", rule->name, lower,
             upper ? " after " : "", upper ? upper : "", verdict, v->evidence,
             v->counterexample[0] ? "; " : "", v->counterexample);
}

/* by_target: codes by which the target lets the rule change results. In a body only what is exact
 * is allowed: a loop may run it any number of times, and a condition may turn on a code. Without a
 * fragment afterwards the rewrite was not even tried: nothing allows that. */
static bool is_allowed(const optimizer *o, int64_t by_target, const assay_proof *p)
{
    const assay_optimize_options *given = o->options;
    if (!p->possible || !p->after)
        return false;
    if (p->verdict.kind == ASSAY_EXACT || o->body)
        return p->verdict.kind == ASSAY_EXACT;
    if (given->allow == ASSAY_ALLOW_ANY)
        return true;
    int64_t bound =
        given->allow == ASSAY_ALLOW_BOUNDED && given->bound > by_target ? given->bound : by_target;
    return p->verdict.kind == ASSAY_BOUNDED && p->verdict.bound <= bound;
}

/* What a bounded application adds at each output, from value `y` on; what lies below it is the
 * same afterwards. All together never come to more than the output's codes can differ by. */
static assay_status add_spread(optimizer *o, int y, int64_t bound, int64_t *spread,
                               assay_error *err)
{
    assay_status s =
        prove_spread(o->g, o->scheme, o->options->run, y, bound, o->spread, spread, err);
    for (int i = 0; i < o->g->n_outputs && !s; i++) {
        o->spread[i] += spread[i];
        if (o->spread[i] > o->report->output_bound)
            o->report->output_bound = o->spread[i];
    }
    return s;
}

static assay_status certify(optimizer *o, const assay_rule *rule, const assay_match *m,
                            const assay_proof *p, assay_error *err)
{
    const assay_node *lower = &o->g->node[m->lower];
    int64_t *spread = calloc((size_t)o->g->n_outputs + 1, sizeof *spread);
    assay_status s = spread ? ASSAY_OK : assay_out_of_memory(err);
    if (!s && p->verdict.kind == ASSAY_BOUNDED)
        s = add_spread(o, lower->out[0], p->verdict.bound, spread, err);
    if (!s)
        s = rewrite_certificate_add(o->certificate, rule, lower->name, p, spread, o->g->n_outputs,
                                    err);
    free(spread);
    return s;
}

static assay_status apply(optimizer *o, const assay_rule *rule, const assay_match *m,
                          const assay_proof *p, assay_error *err)
{
    int changed;
    assay_match with = *m;
    with.data = p->data;
    with.factor = p->factor;
    with.fills = p->fills;
    with.fill = p->fill;
    assay_status s = certify(o, rule, m, p, err);
    if (!s)
        s = rule->rewrite(o->g, &with, p->uses_image ? &p->image : NULL, err);
    if (!s)
        s = lower_eliminate_dead(o->g, &changed, err);
    if (s)
        return s;
    o->report->applied++;
    o->report->bounded += p->verdict.kind == ASSAY_BOUNDED;
    o->report->unproved += p->verdict.kind == ASSAY_UNPROVED;
    free(o->uses);
    o->uses = lower_rewrite_uses(o->g);
    return o->uses ? ASSAY_OK : assay_out_of_memory(err);
}

/* The pattern is there, but something that no proof helps against. */
static assay_status obstruct(const assay_match *m, assay_proof *proof)
{
    memset(proof, 0, sizeof *proof);
    proof->verdict.kind = ASSAY_UNPROVED;
    snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence, "%s", m->obstacle);
    return ASSAY_OK;
}

/* A refusal is told once: what is tried again because a neighbour changed, and refused in the same
 * words, is no news. */
static assay_status tell(optimizer *o, const assay_rule *rule, const assay_match *m,
                         const assay_proof *p, bool applied, uint64_t key, assay_error *err)
{
    char line[1100];
    describe(o, rule, m, p, applied, line, sizeof line);
    const uint64_t words = XXH3_64bits(line, strlen(line));
    const bool news = applied || !was_refused(o, words);
    assay_status s = applied ? ASSAY_OK : note_refusal(o, key, err);
    if (!s && !applied && news) {
        o->report->refused++;
        s = note_refusal(o, words, err);
    }
    if (news && o->options->log)
        o->options->log(o->options->user, line);
    return s;
}

/* Asks the target file about what the rewrite made; what it does not offer is not possible. */
static void ask_target(const optimizer *o, assay_proof *p)
{
    const assay_target *t = o->options->target;
    for (int i = 0; t && p->possible && p->after && i < p->after->n_nodes; i++)
        p->possible = target_allows(t, p->after, &p->after->node[i], p->verdict.evidence,
                                    sizeof p->verdict.evidence);
}

static assay_status attempt(optimizer *o, size_t r, int node, bool *applied, assay_error *err)
{
    const assay_rule *rule = &o->policy->rule[r];
    assay_match m = {.lower = node};
    assay_proof proof;
    uint64_t key = 0;
    *applied = false;
    if (!rule->matches(o->g, o->uses, &m))
        return ASSAY_OK;
    assay_status s = key_of(o, rule, &m, &key, err);
    if (s || was_refused(o, key))
        return s;
    s = m.obstacle ? obstruct(&m, &proof)
                   : prove_application(o->g, &m, rule, o->scheme, o->options->run, &proof, err);
    if (!s) {
        ask_target(o, &proof);
        *applied = is_allowed(o, o->policy->bound[r], &proof);
        s = tell(o, rule, &m, &proof, *applied, key, err);
        if (!s && *applied)
            s = apply(o, rule, &m, &proof, err);
    }
    prove_proof_free(&proof);
    return s;
}

/* Tells how far a sweep of so many rules is, at that node of one of them. */
static void tell_step(const optimizer *o, int64_t rules, int64_t rule, int node)
{
    const int64_t n = o->g->n_nodes;
    if (o->options->step)
        o->options->step(o->options->user, rule * n + node, rules * n);
}

static int count_rules(const assay_policy *policy, bool late)
{
    int n = 0;
    for (size_t r = 0; r < policy->n; r++)
        n += policy->rule[r].late == late;
    return n;
}

/* One sweep of the early or the late rules over every node. */
static assay_status sweep(optimizer *o, bool late, bool *changed, assay_error *err)
{
    const int rules = count_rules(o->policy, late);
    int before = 0;
    assay_status s = ASSAY_OK;
    *changed = false;
    for (size_t r = 0; r < o->policy->n && !s; r++) {
        if (o->policy->rule[r].late != late)
            continue;
        for (int i = 0; i < o->g->n_nodes && !s;) {
            bool applied;
            tell_step(o, rules, before, i);
            s = attempt(o, r, i, &applied, err);
            *changed |= applied;
            i = applied ? (i > 1 ? i - 2 : 0) : i + 1; /* nodes in front may have gone */
        }
        before++;
    }
    return s;
}

/* Until no rule applies. */
static assay_status rewrite(optimizer *o, assay_error *err)
{
    bool changed = true;
    o->uses = lower_rewrite_uses(o->g);
    o->spread = calloc((size_t)o->g->n_outputs + 1, sizeof *o->spread);
    assay_status s = o->certificate && o->uses && o->spread ? ASSAY_OK : assay_out_of_memory(err);
    while (!s && changed) {
        s = sweep(o, false, &changed, err);
        if (!s && !changed)
            s = sweep(o, true, &changed, err);
    }
    free(o->uses);
    free(o->spread);
    free(o->refused);
    return s;
}

/* The graph, and the bodies of its control flow: what enters a body is any code of its type, so
 * each is a network of its own, with steps of its own in the certificate. */
static assay_status optimize(const optimizer *like, assay_graph *g, json_t *certificate,
                             assay_error *err)
{
    optimizer o = *like;
    o.g = g;
    o.certificate = certificate;
    assay_status s = rewrite(&o, err);
    for (int i = 0; i < g->n_subgraphs && !s; i++) {
        optimizer inner = *like;
        inner.body = g->subgraph[i]->name;
        s = optimize(&inner, g->subgraph[i], rewrite_certificate_body(certificate), err);
    }
    return s;
}

assay_status rewrite_optimize(assay_graph *g, const assay_scheme *s,
                              const assay_optimize_options *options, assay_optimize_report *report,
                              assay_error *err)
{
    assay_policy policy;
    const optimizer o = {.scheme = s, .options = options, .report = report, .policy = &policy};
    memset(report, 0, sizeof *report);
    assay_status status = rewrite_policy_make(options, s, &policy, err);
    if (status) {
        rewrite_policy_free(&policy);
        return status;
    }
    json_t *certificate = rewrite_certificate_new(g, s);
    status = optimize(&o, g, certificate, err);
    if (!status)
        status = assay_graph_verify(g, err);
    if (!status && options->target)
        status = target_verify(options->target, g, err);
    if (!status)
        status =
            rewrite_certificate_print(certificate, g, report->unproved ? -1 : report->output_bound,
                                      &report->certificate, err);
    json_decref(certificate);
    rewrite_policy_free(&policy);
    return status;
}
