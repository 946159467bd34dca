/* Accumulators: which ones can occur, and the threshold forms of what becomes of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/type.h"
#include "opt/fragment.h"
#include "opt/prove.h"
#include "opt/rewrite.h"
#include "schemes/derive/prepare.h"
#include "schemes/spec.h"
#include "schemes/staircase.h"

/* A weighted node's unit, outside of any program. */
static assay_status prepare(const assay_graph *g, const assay_node *n, const assay_scheme *s,
                            assay_unit **unit, assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, n, in, &spec);
    return s->vt->prepare(s, &spec, unit, err);
}

static const assay_node *weighted_node(const assay_graph *f)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (assay_fragment_shrinks(f, &f->node[i]))
            return &f->node[i];
    return NULL;
}

static int64_t zero_point(const assay_type *t, int64_t channel)
{
    return !t->q.zero_point ? 0 : t->q.zero_point[t->q.count > 1 ? channel : 0];
}

typedef struct extremes {
    int64_t lo, hi, magnitude;
} extremes;

/* Adds a product of a centred input in lo..hi and a centred weight in w_lo..w_hi, `count` times. */
static void add_product(extremes *e, int64_t lo, int64_t hi, int64_t w_lo, int64_t w_hi,
                        int64_t count)
{
    int64_t p[4] = {lo * w_lo, lo * w_hi, hi * w_lo, hi * w_hi}, least = p[0], most = p[0];
    for (int i = 1; i < 4; i++) {
        least = p[i] < least ? p[i] : least;
        most = p[i] > most ? p[i] : most;
    }
    least = least > 0 ? 0 : least; /* a cell of padding adds nothing */
    most = most < 0 ? 0 : most;
    e->lo += least * count;
    e->hi += most * count;
    e->magnitude += (most > -least ? most : -least) * count;
}

/* Exact sums of one output channel. */
static extremes channel_extremes(const assay_graph *g, const assay_node *n, int64_t depth,
                                 int64_t channel)
{
    const assay_value *x = &g->value[n->in[0]], *w = &g->value[n->in[1]];
    const assay_value *bias = n->n_in > 2 ? assay_node_in(g, n, 2) : NULL;
    int64_t zx = zero_point(&x->type, 0), zw = zero_point(&w->type, channel);
    int64_t lo = assay_elem_min(x->type.elem) - zx, hi = assay_elem_max(x->type.elem) - zx;
    extremes e = {0, 0, 0};
    if (w->data && !w->is_variable && n->op != ASSAY_OP_MATMUL)
        for (int64_t i = 0; i < depth; i++) {
            int64_t c = assay_elem_get(w->type.elem, w->data, (size_t)(channel * depth + i)) - zw;
            add_product(&e, lo, hi, c, c, 1);
        }
    else
        add_product(&e, lo, hi, assay_elem_min(w->type.elem) - zw,
                    assay_elem_max(w->type.elem) - zw, depth);
    if (bias) {
        bool known = bias->data && !bias->is_variable;
        assay_elem b = bias->type.elem;
        int64_t least = known ? assay_elem_get(b, bias->data, (size_t)channel) : assay_elem_min(b);
        int64_t most = known ? least : assay_elem_max(b);
        e.lo += least;
        e.hi += most;
        e.magnitude += most > -least ? most : -least;
    }
    return e;
}

#define WIDEST_SUM (INT64_C(1) << 50)

/* What the accumulator can hold at the end: the exact sums of all channels where none can leave its
 * width on the way, else its whole width. */
static assay_status reach(const assay_graph *g, const assay_node *n, const assay_unit *u,
                          assay_interval *out, assay_error *err)
{
    const assay_rule_accumulator *a = &u->rec.accumulator;
    const assay_type *w = &g->value[n->in[1]].type;
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, n, in, &spec);
    int64_t channels = n->op == ASSAY_OP_MATMUL ? 1 : w->dim[0], greatest = 0;
    if (in[0].elem.bits > 16 || w->elem.bits > 16 || spec.depth > INT64_C(1) << 18 ||
        (n->n_in > 2 && n->in[2] >= 0 && in[2].elem.bits > 48))
        return assay_fail(err, ASSAY_ERR_LIMIT, "node '%s': sums too wide for an interval",
                          n->name);
    *out = (assay_interval){0, 0};
    for (int64_t c = 0; c < channels; c++) {
        extremes e = channel_extremes(g, n, spec.depth, c);
        out->lo = e.lo < out->lo ? e.lo : out->lo;
        out->hi = e.hi > out->hi ? e.hi : out->hi;
        greatest = e.magnitude > greatest ? e.magnitude : greatest;
    }
    int64_t most = a->bits < 52 ? (INT64_C(1) << (a->bits - 1)) - 1 : WIDEST_SUM;
    if (greatest <= most && !a->saturate_pairs)
        return ASSAY_OK;
    if (a->bits >= 52)
        return assay_fail(err, ASSAY_ERR_LIMIT, "node '%s': sums too wide for an interval",
                          n->name);
    *out = (assay_interval){-most - 1, most};
    return ASSAY_OK;
}

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
static assay_status compare_units(const assay_unit *before, const assay_unit *after, bool first,
                                  weighted *w, assay_proof *proof, assay_error *err)
{
    size_t channels = before->scale[ASSAY_OUT].n, other = after->scale[ASSAY_OUT].n;
    channels = other > channels ? other : channels;
    assay_verdict *v = &proof->verdict;
    memset(v, 0, sizeof *v);
    w->steps = 0;
    if (memcmp(&before->rec.accumulator, &after->rec.accumulator, sizeof before->rec.accumulator)) {
        v->kind = ASSAY_UNPROVED;
        snprintf(v->evidence, sizeof v->evidence, "the accumulators have other rules");
        return ASSAY_OK;
    }
    assay_status s = ASSAY_OK;
    for (size_t c = 0; c < channels && !s && !(first && v->kind != ASSAY_EXACT); c++)
        s = compare_channel(before, after, c, w, proof, err);
    if (!s && v->kind == ASSAY_EXACT)
        snprintf(v->evidence, sizeof v->evidence,
                 "reachable [%lld, %lld], threshold forms equal (%zu channels, %zu steps)",
                 (long long)proof->reach.lo, (long long)proof->reach.hi, channels, w->steps);
    return s;
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
    const assay_node *n = weighted_node(proof->after);
    if (!n)
        return assay_fail(err, ASSAY_ERR_INTERNAL, "%s: the weighted node is gone", rule->name);
    status = prepare(proof->after, n, s, &after, err);
    if (!status)
        status = compare_units(before, after, rule->bounds && !image, w, proof, err);
    if (after)
        s->vt->release(after);
    return assay_prove_impossible(proof, status, err);
}

/* The rescale in front moves every code as far as it moves the zero point: what the node sums is
 * the same, product by product, under every policy of overflow. */
static bool only_shifts(const assay_graph *g, const assay_node *rescale, const int64_t *table,
                        size_t n, assay_proof *proof)
{
    const assay_type *x = &g->value[rescale->in[0]].type, *y = &g->value[rescale->out[0]].type;
    int64_t least = assay_elem_min(x->elem), by = zero_point(y, 0) - zero_point(x, 0);
    for (size_t i = 0; i < n; i++)
        if (table[i] != least + (int64_t)i + by) {
            assay_verdict *v = &proof->verdict;
            v->kind = ASSAY_UNPROVED;
            snprintf(v->evidence, sizeof v->evidence,
                     "the rescale does more than to move the zero point by %lld", (long long)by);
            snprintf(v->counterexample, sizeof v->counterexample,
                     "input %lld: %lld became %lld (relative to zero points)",
                     (long long)least + (long long)i, (long long)(table[i] - zero_point(y, 0)),
                     (long long)(least + (int64_t)i - zero_point(x, 0)));
            return false;
        }
    return true;
}

static assay_image image_of(const assay_rescale *r, const int64_t *table, int64_t least)
{
    assay_image image = {table[r->lo - least], table[r->hi - least]};
    return image;
}

/* With the unit of the node as it is. */
static assay_status prove_with(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                               const assay_scheme *s, const assay_unit *before,
                               const int64_t *table, size_t n, assay_proof *proof, assay_error *err)
{
    bool shift = rule->obligation == ASSAY_PROVE_SHIFT;
    const assay_node *node = &g->node[shift ? m->lower : m->upper[0]];
    const assay_node *function = &g->node[shift ? m->upper[0] : m->lower];
    weighted w = {0};
    assay_status status = reach(g, node, before, &proof->reach, err);
    if (status)
        return status;
    if (shift) {
        if (!only_shifts(g, function, table, n, proof))
            return ASSAY_OK;
        if (before->rec.accumulator.saturate_pairs) {
            proof->verdict.kind = ASSAY_UNPROVED;
            snprintf(proof->verdict.evidence, sizeof proof->verdict.evidence,
                     "pairs of raw codes saturate in this target's accumulator");
            return ASSAY_OK;
        }
    } else {
        w.table = table;
        w.least = assay_elem_min(g->value[function->in[0]].type.elem);
    }
    status = attempt(m, rule, s, before, NULL, &w, proof, err);
    if (!status && rule->bounds && table &&
        !(proof->possible && proof->verdict.kind == ASSAY_EXACT)) {
        proof->image = image_of(&before->scale[ASSAY_OUT], table, w.least);
        if (proof->image.lo <= proof->image.hi)
            status = attempt(m, rule, s, before, &proof->image, &w, proof, err);
    }
    return status;
}

assay_status assay_prove_accumulators(const assay_graph *g, const assay_match *m,
                                      const assay_rule *rule, const assay_scheme *s,
                                      assay_run_fn run, assay_proof *proof, assay_error *err)
{
    bool shift = rule->obligation == ASSAY_PROVE_SHIFT;
    const assay_node *node = &g->node[shift ? m->lower : m->upper[0]];
    assay_unit *before = NULL;
    int64_t *table = NULL;
    size_t n = 0;
    assay_status status = ASSAY_OK;
    if (s->vt != &assay_family_vtable)
        status = assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                            "the scheme is a plugin: its rescales have no threshold form");
    else if (!assay_fragment_shrinks(g, node))
        status = assay_fail(err, ASSAY_ERR_UNSUPPORTED, "no proof is known for this form of %s",
                            assay_op_get(node->op)->name);
    if (!status)
        status = assay_fragment_shrink(g, m, &proof->before, err);
    if (!status)
        status = assay_tabulate(g, shift ? m->upper[0] : m->lower, s, run, &table, &n, err);
    if (!status)
        status = prepare(proof->before, weighted_node(proof->before), s, &before, err);
    if (!status)
        status = prove_with(g, m, rule, s, before, table, n, proof, err);
    if (before)
        s->vt->release(before);
    free(table);
    return assay_prove_impossible(proof, status, err);
}
