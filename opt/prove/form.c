/* One linear layer in another form, or another layout.
 *
 * FORM    the same products in the same order are summed: the weights and the input are only
 *         reshaped, or transposed, as the two forms say; the threshold forms of what becomes of the
 *         sums agree over all that can occur. Where an addition follows the product (before or
 *         afterwards), no sum may leave the accumulator on the way.
 * LAYOUT  the op is the same but for the order of axes, which transposes in front and behind undo;
 *         sums have another order, so none may leave the accumulator on the way.
 *
 * Samples with weights and bias at random are tried beside it, where that is little work. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/lower/nodes.h"
#include "opt/prove/form_same.h"
#include "opt/prove/fragment.h"
#include "opt/prove/products.h"
#include "opt/prove/prove.h"
#include "schemes/node/spec.h"
#include "schemes/prepare/prepare.h"

/* ---- what becomes of the sums ---- */

/* A fragment's product, and what ends in its codes: the product, or the rescale of its sums. */
typedef struct summing {
    assay_unit *product, *last;
    bool plain; /* sums stand in memory as numbers of 32 bits */
    int bias;   /* added there, a value of the fragment, or ASSAY_NO_VALUE */
} summing;

static assay_status prepare(const assay_graph *f, const assay_scheme *s, summing *out,
                            assay_error *err)
{
    const assay_node *n = prove_product_of(f), *last = n;
    prove_summed plain;
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_status status = prove_product_prepare(f, s, &out->product, err);
    out->bias = ASSAY_NO_VALUE;
    out->plain = n && prove_is_plain_i32(assay_node_out(f, n, 0));
    if (out->plain && prove_read_summed(f, &plain)) {
        out->bias = plain.bias;
        last = prove_made_by(f, f->output[0]);
    }
    if (status)
        return status;
    assay_unit_spec_fill(f, last, in, &spec);
    return s->vt->prepare(s, &spec, &out->last, err);
}

static void release(const assay_scheme *s, summing *of)
{
    if (of->product)
        s->vt->release(of->product);
    if (of->last)
        s->vt->release(of->last);
}

/* The product in the network: of the match its last node, or the first. */
static const assay_node *product_in(const assay_graph *g, const assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    return lower_is_product(n) || m->n_upper == 0 ? n : &g->node[m->upper[0]];
}

static assay_status compare_sums(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                                 const assay_scheme *s, assay_proof *proof, assay_error *err)
{
    summing before = {0}, after = {0};
    assay_verdict *v = &proof->verdict;
    const assay_node *n = product_in(g, m);
    assay_sums sums = {0};
    assay_status status = prove_product_has_proof(g, n, err);
    if (!status)
        status = prepare(proof->before, s, &before, err);
    if (!status)
        status = prepare(proof->after, s, &after, err);
    if (!status) {
        const int bias = before.bias < 0
                             ? ASSAY_NO_VALUE
                             : assay_graph_find_value(g, proof->before->value[before.bias].name);
        status = prove_product_reach(g, n, bias, s, before.product, &sums, err);
        proof->reach = sums.reach;
    }
    const bool plain = before.plain || after.plain;
    if (!status && (plain || rule->obligation == ASSAY_PROVE_LAYOUT) && !sums.exact)
        snprintf(v->evidence, sizeof v->evidence, "the accumulator may overflow on the way");
    else if (!status && plain && (proof->reach.lo < INT32_MIN || proof->reach.hi > INT32_MAX))
        snprintf(v->evidence, sizeof v->evidence, "sums in [%lld, %lld] do not fit 32 bits",
                 (long long)proof->reach.lo, (long long)proof->reach.hi);
    else if (!status && !prove_sums_alike(s, before.product, after.product, &sums))
        snprintf(v->evidence, sizeof v->evidence,
                 "the accumulators differ in width, overflow or order");
    else if (!status)
        status = prove_compare_forms(s, &assay_node_in(g, n, 1)->type, before.last, after.last,
                                     proof, err);
    release(s, &before);
    release(s, &after);
    return status;
}

/* ---- both ---- */

static void judge(const assay_rule *rule, assay_proof *proof)
{
    const assay_graph *f = proof->before, *h = proof->after;
    const assay_node *a = &f->node[f->n_nodes - 1];
    assay_verdict *v = &proof->verdict;
    const bool layout = rule->obligation == ASSAY_PROVE_LAYOUT;
    const bool same = layout ? prove_same_op_in_layout(f, a, h) : prove_same_form(f, a, h);
    v->kind = same ? ASSAY_EXACT : ASSAY_UNPROVED;
    snprintf(v->evidence, sizeof v->evidence, "%s",
             !same    ? "the layer is not the same"
             : layout ? "the same op with its axes in another order"
                      : "the same products");
}

/* So much work that samples would take noticeable time; what is read off the fragments holds
 * without them. */
#define MUCH (INT64_C(1) << 22)

static bool is_much(const assay_graph *f)
{
    int64_t work = 0;
    for (int i = 0; i < f->n_nodes; i++)
        work += assay_node_macs(f, &f->node[i]);
    return work > MUCH;
}

/* Results on samples, even of a layer that was found to be the same; one that is not gets a
 * counterexample in any case. */
static assay_status try_samples(const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                                assay_error *err)
{
    assay_verdict *v = &proof->verdict;
    const bool same = v->kind == ASSAY_EXACT;
    assay_status status = ASSAY_OK;
    if (!same || !is_much(proof->before))
        status = prove_samples(s, run, ASSAY_SAMPLES, proof, err);
    if (v->counterexample[0])
        v->kind = ASSAY_UNPROVED;
    else if (!same && proof->possible)
        snprintf(v->counterexample, sizeof v->counterexample,
                 "a layer became one that reads or yields something else");
    return status;
}

assay_status prove_form(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                        const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                        assay_error *err)
{
    assay_verdict *v = &proof->verdict;
    v->kind = ASSAY_UNPROVED;
    assay_status status = prove_fragment_cut(g, m, 0, &proof->before, err);
    if (!status)
        status = prove_rewrite(m, rule, NULL, proof, err);
    if (!status && proof->possible)
        status = prove_target(s, proof, err);
    if (!status && proof->possible) {
        judge(rule, proof);
        status = try_samples(s, run, proof, err);
    }
    if (!status && v->kind == ASSAY_EXACT && lower_is_product(product_in(g, m))) {
        v->kind = ASSAY_UNPROVED;
        status = compare_sums(g, m, rule, s, proof, err);
    }
    return prove_impossible(proof, status, err);
}
