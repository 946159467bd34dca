/* Two schemes node by node, over the accumulators that the weights can reach or over all operands;
 * see pair.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/decide/pair.h"
#include "interp/decide/walk.h"
#include "interp/page/json.h"
#include "schemes/node/admit.h"
#include "schemes/prepare/asks.h"

static json_t *row_of(const assay_node *n, const char *verdict)
{
    json_t *o = json_object();
    page_json_set(&o, "node", page_json_text(n->name));
    page_json_set(&o, "op", json_string(assay_op_get(n->op)->name));
    page_json_set(&o, "verdict", json_string(verdict));
    return o;
}

/* A row of counts; `of`: what was considered. */
static void add_counts(decide_pair *p, const assay_node *n, const char *of, uint64_t considered,
                       uint64_t differ, int64_t greatest, json_t *first)
{
    json_t *o = row_of(n, differ > 0 ? "different" : "identical");
    page_json_set(&o, "of", json_string(of));
    page_json_set(&o, "considered", json_integer((json_int_t)considered));
    page_json_set(&o, "differ", json_integer((json_int_t)differ));
    page_json_set(&o, "greatest", json_integer(greatest));
    page_json_set(&o, "first", first);
    page_json_add(&p->nodes, o);
}

/* A row of words. */
static void add_words(decide_pair *p, const assay_node *n, const char *verdict, const char *why)
{
    json_t *o = row_of(n, verdict);
    page_json_set(&o, "why", page_json_text(why));
    page_json_add(&p->nodes, o);
}

/* One that nothing is known of. */
static void leave(decide_pair *p, const assay_node *n, const char *verdict, const char *why)
{
    fprintf(p->out, "  %-28s %-8s %s: %s\n", n->name, assay_op_get(n->op)->name, verdict, why);
    add_words(p, n, verdict, why);
    p->undecided++;
}

/* One that a side has no arithmetic for, as err says; where it is a lack of memory that is the
 * status. */
static assay_status not_comparable(decide_pair *p, const assay_node *n, const assay_error *err)
{
    if (err->status == ASSAY_ERR_MEMORY)
        return err->status;
    leave(p, n, "not comparable", err->text);
    return ASSAY_OK;
}

/* A node whose operands are too many to try all. */
static void not_decided(decide_pair *p, const assay_node *n, const assay_unit_spec *spec,
                        const char *why)
{
    const char *op = assay_op_get(n->op)->name;
    if (assay_reads_same(p->a, p->b, spec)) {
        fprintf(p->out, "  %-28s %-8s identical: it reads the same parameters\n", n->name, op);
        add_words(p, n, "identical", "it reads the same parameters");
        return;
    }
    leave(p, n, "not decided", why);
}

/* The same where both schemes have arithmetic for it. */
static assay_status leave_node(decide_pair *p, const assay_node *n, const assay_unit_spec *spec,
                               const char *why, assay_error *err)
{
    const assay_scheme *const side[2] = {p->a, p->b};
    for (int i = 0; i < 2; i++) {
        assay_unit *u;
        if (side[i]->vt->prepare(side[i], spec, &u, err))
            return not_comparable(p, n, err);
        side[i]->vt->release(u);
    }
    not_decided(p, n, spec, why);
    return ASSAY_OK;
}

typedef struct totals {
    uint64_t count, considered, channels;
    int64_t greatest;
    int64_t channel; /* of the first example */
    assay_disagreements first;
} totals;

static assay_status compare_channels(const decide_layer *l, const assay_unit *a,
                                     const assay_unit *b, totals *t, assay_error *err)
{
    memset(t, 0, sizeof *t);
    for (size_t c = 0; c < l->channels; c++) {
        assay_disagreements d;
        assay_status status = decide_rescales(&a->scale[ASSAY_OUT], c, &b->scale[ASSAY_OUT], c,
                                              l->lo[c], l->hi[c], &d, err);
        if (status)
            return status;
        t->considered += d.considered;
        t->count += d.count;
        t->channels += d.count > 0;
        t->greatest = d.greatest > t->greatest ? d.greatest : t->greatest;
        if (d.count > 0 && t->first.n_first == 0) {
            t->first = d;
            t->channel = (int64_t)c;
        }
    }
    return ASSAY_OK;
}

/* What the rescales of both come to, once their accumulators are exact. */
static assay_status tell_layer(decide_pair *p, const decide_layer *l, const assay_unit *a,
                               const assay_unit *b, assay_error *err)
{
    const char *name = l->node->name, *op = assay_op_get(l->node->op)->name;
    totals t;
    const assay_status status = compare_channels(l, a, b, &t, err);
    if (status == ASSAY_ERR_MEMORY)
        return status;
    if (status) {
        not_decided(p, l->node, &l->spec, err->text);
    } else if (t.considered == 0) {
        not_decided(p, l->node, &l->spec, "both refuse every accumulator");
    } else if (t.count == 0) {
        fprintf(p->out, "  %-28s %-8s identical for every reachable accumulator\n", name, op);
        add_counts(p, l->node, "accumulators", t.considered, 0, 0, json_array());
    } else {
        fprintf(p->out,
                "  %-28s %-8s %" PRIu64 " of %" PRIu64 " accumulators, in %" PRIu64
                " of %zu channels, by at most %" PRId64 "; channel %" PRId64 ":\n",
                name, op, t.count, t.considered, t.channels, l->channels, t.greatest, t.channel);
        decide_print_first(p->out, &t.first, 2);
        add_counts(p, l->node, "accumulators", t.considered, t.count, t.greatest,
                   decide_first_json(&t.first));
        p->differ = true;
    }
    return ASSAY_OK;
}

static assay_status compare_layer(void *user, const assay_graph *g, const decide_layer *l,
                                  assay_error *err)
{
    decide_pair *p = user;
    (void)g;
    assay_unit *a = NULL, *b = NULL;
    assay_status status = p->a->vt->prepare(p->a, &l->spec, &a, err);
    if (!status)
        status = p->b->vt->prepare(p->b, &l->spec, &b, err);
    if (status) {
        status = not_comparable(p, l->node, err);
    } else if (l->why) {
        not_decided(p, l->node, &l->spec, l->why);
    } else if (!decide_layer_is_exact(l, p->a, a) || !decide_layer_is_exact(l, p->b, b)) {
        char why[160];
        snprintf(why, sizeof why, "sums can leave %.80s's accumulator; compare runs of both",
                 (decide_layer_is_exact(l, p->a, a) ? p->b : p->a)->name);
        not_decided(p, l->node, &l->spec, why);
    } else {
        status = tell_layer(p, l, a, b, err);
    }
    if (a)
        p->a->vt->release(a);
    if (b)
        p->b->vt->release(b);
    return status;
}

/* A node with few operands: all of them. */
static assay_status compare_domain(void *user, const assay_graph *g, const decide_domain *d,
                                   assay_error *err)
{
    decide_pair *p = user;
    (void)g;
    const char *name = d->node->name, *op = assay_op_get(d->node->op)->name;
    const size_t n = d->n * d->width;
    int32_t *a = malloc(2 * n * sizeof *a), *b = a + n;
    size_t count = 0, first = 0;
    int64_t greatest = 0;
    if (!a)
        return assay_out_of_memory(err);
    if (decide_domain_run(d, p->a, a, err) || decide_domain_run(d, p->b, b, err)) {
        free(a);
        return not_comparable(p, d->node, err);
    }
    for (size_t i = 0; i < d->n; i++) {
        size_t at = i * d->width;
        bool differs = false;
        for (size_t k = at; k < at + d->width; k++) {
            int64_t apart = llabs((long long)a[k] - b[k]);
            if (apart > 0 && !differs && count++ == 0)
                first = k;
            differs = differs || apart > 0;
            greatest = apart > greatest ? apart : greatest;
        }
    }
    if (count == 0) {
        fprintf(p->out, "  %-28s %-8s identical for all %zu %s\n", name, op, d->n, d->what);
        add_counts(p, d->node, d->what, d->n, 0, 0, json_array());
    } else {
        char point[64];
        fprintf(p->out, "  %-28s %-8s %zu of %zu %s, by at most %" PRId64 ":\n    %s: %d, %d\n",
                name, op, count, d->n, d->what, greatest,
                decide_domain_point(d, first / d->width, point, sizeof point), a[first], b[first]);
        add_counts(
            p, d->node, d->what, d->n, count, greatest,
            json_pack("[{s:s,s:i,s:i}]", "at", point, "a", (int)a[first], "b", (int)b[first]));
        p->differ = true;
    }
    free(a);
    return ASSAY_OK;
}

/* Whether a side has no claim on the node, which its types do not admit. */
static bool is_outside(void *user, const assay_graph *g, const assay_node *n)
{
    decide_pair *p = user;
    const assay_scheme *const side[2] = {p->a, p->b};
    char why[ASSAY_ADMIT_WHY];
    for (int i = 0; i < 2; i++) {
        if (p->as_is || assay_scheme_admits(side[i], g, n, why, sizeof why))
            continue;
        fprintf(p->out, "  %-28s %-8s outside the types of %s: %s; compared only as is\n", n->name,
                assay_op_get(n->op)->name, side[i]->name, why);
        add_words(p, n, "outside", why);
        p->undecided++;
        return true;
    }
    return false;
}

static assay_status neither(void *user, const decide_domain *d, assay_error *err)
{
    return leave_node(user, d->node, &d->spec, d->why, err);
}

assay_status decide_nodes(decide_pair *p, const assay_graph *g, assay_error *err)
{
    const decide_visitor nodes = {.user = p,
                                  .skips = is_outside,
                                  .layer = compare_layer,
                                  .domain = compare_domain,
                                  .neither = neither};
    int found = 0;
    fprintf(p->out,
            "nodes, with the accumulators that their weights can reach, or all their operands:\n");
    const assay_status status = decide_walk(g, &nodes, &found, err);
    if (!status && found == 0)
        fprintf(p->out, "  none: the network has no quantized node that can be decided\n");
    p->undecided += !status && found == 0;
    return status;
}
