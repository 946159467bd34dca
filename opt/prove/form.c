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
#include "opt/prove/fragment.h"
#include "opt/prove/products.h"
#include "opt/prove/prove.h"
#include "schemes/node/spec.h"
#include "schemes/prepare/prepare.h"

static const assay_node *made_by(const assay_graph *f, int value)
{
    int producer = value >= 0 ? f->value[value].producer : -1;
    return producer >= 0 ? &f->node[producer] : NULL;
}

static const assay_node *product_of(const assay_graph *f)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (lower_is_product(&f->node[i]))
            return &f->node[i];
    return NULL;
}

static bool same_name(const assay_graph *f, int v, const assay_graph *h, int w)
{
    return v >= 0 && w >= 0 && strcmp(f->value[v].name, h->value[w].name) == 0;
}

/* Value w of h is value v of f, through one movement of this kind (`op`; COUNT: through none). */
static bool is_moved(const assay_graph *f, int v, const assay_graph *h, int w, assay_op op,
                     const assay_list *perm)
{
    const assay_node *n = made_by(h, w);
    if (op == ASSAY_OP_COUNT)
        return !n && same_name(f, v, h, w);
    if (!n || n->op != op || !same_name(f, v, h, n->in[0]))
        return false;
    return op != ASSAY_OP_TRANSPOSE ||
           (n->attr.perm.perm.n == perm->n &&
            memcmp(n->attr.perm.perm.v, perm->v, (size_t)perm->n * sizeof *perm->v) == 0);
}

static bool is_one_cell(const assay_graph *g, const assay_node *n)
{
    const assay_attr_conv *a = &n->attr.conv;
    const assay_type *w = &assay_node_in(g, n, 1)->type;
    bool one = a->group == 1;
    for (int i = 0; i < a->kernel.n; i++)
        one &= a->kernel.v[i] == 1 && a->stride.v[i] == 1 && a->pad_begin.v[i] == 0 &&
               a->pad_end.v[i] == 0;
    return one && assay_shape_count(w) ==
                      w->dim[0] * w->dim[a->layout == ASSAY_LAYOUT_NHWC ? w->rank - 1 : 1];
}

/* What yields the result behind the movement (`op`) that puts it in place. */
static const assay_node *behind(const assay_graph *h, assay_op op, const assay_list *perm)
{
    const assay_node *n = made_by(h, h->output[0]);
    if (op == ASSAY_OP_COUNT)
        return n;
    if (!n || n->op != op ||
        (op == ASSAY_OP_TRANSPOSE &&
         memcmp(n->attr.perm.perm.v, perm->v, (size_t)perm->n * sizeof *perm->v) != 0))
        return NULL;
    return made_by(h, n->in[0]);
}

/* ---- FORM ---- */

static const assay_list swapped = {2, {1, 0}};

static bool from_fc_to_conv(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = behind(h, ASSAY_OP_RESHAPE, NULL);
    const assay_type *x = b ? &assay_node_in(h, b, 0)->type : NULL;
    return b && b->op == ASSAY_OP_CONV && b->attr.conv.layout == ASSAY_LAYOUT_NHWC &&
           is_one_cell(h, b) && assay_shape_count(x) == x->dim[0] * x->dim[x->rank - 1] &&
           is_moved(f, a->in[0], h, b->in[0], ASSAY_OP_RESHAPE, NULL) &&
           is_moved(f, a->in[1], h, b->in[1], ASSAY_OP_RESHAPE, NULL);
}

static bool from_conv_to_fc(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const bool last = a->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    const assay_op transpose = last ? ASSAY_OP_COUNT : ASSAY_OP_TRANSPOSE;
    assay_list there, back;
    lower_layout_perms(assay_node_in(f, a, 0)->type.rank, ASSAY_LAYOUT_NHWC, &there, &back);
    const assay_node *b = behind(h, transpose, &back);
    return b && b->op == ASSAY_OP_FC && is_one_cell(f, a) &&
           is_moved(f, a->in[0], h, b->in[0], transpose, &there) &&
           is_moved(f, a->in[1], h, b->in[1], ASSAY_OP_RESHAPE, NULL);
}

static bool from_matmul_to_fc(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = behind(h, ASSAY_OP_COUNT, NULL);
    return b && b->op == ASSAY_OP_FC && !a->attr.matmul.transpose_a && b->n_in == 2 &&
           assay_node_in(f, a, 1)->type.rank == 2 &&
           is_moved(f, a->in[0], h, b->in[0], ASSAY_OP_COUNT, NULL) &&
           is_moved(f, a->in[1], h, b->in[1],
                    a->attr.matmul.transpose_b ? ASSAY_OP_COUNT : ASSAY_OP_TRANSPOSE, &swapped);
}

static bool is_plain_i32(const assay_value *v)
{
    return assay_is_accumulator(&v->type);
}

/* A fragment that ends in rescale(relabel(sums)), sums a matrix product's or those plus a bias: all
 * plain numbers of 32 bits. */
typedef struct summed {
    const assay_node *matmul;
    int bias; /* plain numbers, or ASSAY_NO_VALUE */
} summed;

static bool read_summed(const assay_graph *f, summed *out)
{
    const assay_node *n = made_by(f, f->output[0]);
    out->bias = ASSAY_NO_VALUE;
    if (!n || n->op != ASSAY_OP_RESCALE || !(n = made_by(f, n->in[0])) ||
        n->op != ASSAY_OP_RELABEL || !lower_is_plain(n) ||
        assay_node_out(f, n, 0)->type.q.zero_point[0] != 0 || !(n = made_by(f, n->in[0])))
        return false;
    if (n->op == ASSAY_OP_ADD) {
        if (!is_plain_i32(assay_node_out(f, n, 0)) || !lower_is_plain(n))
            return false;
        out->bias = n->in[1];
        n = made_by(f, n->in[0]);
    }
    out->matmul = n;
    return n && n->op == ASSAY_OP_MATMUL && is_plain_i32(assay_node_out(f, n, 0)) &&
           lower_is_plain(n) && !n->attr.matmul.transpose_a;
}

/* Value w of h is what v of f holds, relabelled. */
static bool is_relabelled(const assay_graph *f, int v, const assay_graph *h, int w)
{
    const assay_node *n = made_by(h, w);
    return n && n->op == ASSAY_OP_RELABEL && lower_is_plain(n) && same_name(f, v, h, n->in[0]);
}

static bool from_fc_to_matmul(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const bool biased = a->n_in > 2 && a->in[2] >= 0;
    summed b;
    if (!read_summed(h, &b) || biased != (b.bias >= 0) || b.matmul->attr.matmul.transpose_b)
        return false;
    return (!biased ||
            (is_plain_i32(&h->value[b.bias]) && is_relabelled(f, a->in[2], h, b.bias))) &&
           is_moved(f, a->in[0], h, b.matmul->in[0], ASSAY_OP_COUNT, NULL) &&
           is_moved(f, a->in[1], h, b.matmul->in[1], ASSAY_OP_TRANSPOSE, &swapped);
}

static bool from_sums_to_fc(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = behind(h, ASSAY_OP_COUNT, NULL);
    summed was;
    if (!read_summed(f, &was) || !b || b->op != ASSAY_OP_FC || !lower_same_bounds(a, b) ||
        (was.bias >= 0) != (b->n_in > 2 && b->in[2] >= 0))
        return false;
    return (was.bias < 0 || is_relabelled(f, was.bias, h, b->in[2])) &&
           assay_node_in(f, was.matmul, 1)->type.rank == 2 &&
           is_moved(f, was.matmul->in[0], h, b->in[0], ASSAY_OP_COUNT, NULL) &&
           is_moved(f, was.matmul->in[1], h, b->in[1],
                    was.matmul->attr.matmul.transpose_b ? ASSAY_OP_COUNT : ASSAY_OP_TRANSPOSE,
                    &swapped);
}

/* The bias, where there is one, is read as before. */
static bool same_bias(const assay_graph *f, const assay_node *a, const assay_graph *h,
                      const assay_node *b)
{
    bool before = a->n_in > 2 && a->in[2] >= 0, after = b->n_in > 2 && b->in[2] >= 0;
    return before == after && (!before || same_name(f, a->in[2], h, b->in[2]));
}

static bool same_form(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = product_of(h);
    if (!b)
        return false;
    if (b->op == ASSAY_OP_MATMUL)
        return a->op == ASSAY_OP_FC && from_fc_to_matmul(f, a, h);
    if (a->op == ASSAY_OP_RESCALE)
        return from_sums_to_fc(f, a, h);
    if (!same_bias(f, a, h, b))
        return false;
    return a->op == ASSAY_OP_FC     ? from_fc_to_conv(f, a, h)
           : a->op == ASSAY_OP_CONV ? from_conv_to_fc(f, a, h)
                                    : from_matmul_to_fc(f, a, h);
}

/* ---- LAYOUT ---- */

static bool same_but_layout(const assay_node *a, const assay_node *b, const assay_list *there)
{
    assay_node turned = *a;
    int *layout = lower_layout_of(&turned);
    if (a->op != b->op || a->n_in != b->n_in || !layout || !lower_same_bounds(a, b))
        return false;
    *layout = *layout == ASSAY_LAYOUT_NHWC ? ASSAY_LAYOUT_NCHW : ASSAY_LAYOUT_NHWC;
    for (int i = 0; a->op == ASSAY_OP_RESIZE && i < there->n; i++) {
        if (turned.attr.resize.size.n == there->n)
            turned.attr.resize.size.v[i] = a->attr.resize.size.v[there->v[i]];
        if (turned.attr.resize.scales.n == there->n)
            turned.attr.resize.scales.v[i] = a->attr.resize.scales.v[there->v[i]];
    }
    return assay_attrs_equal(assay_op_get(a->op)->attrs, &turned.attr, &b->attr);
}

/* Axes of weights: the filter's outputs, inputs and cells, wherever the layouts have them. */
static void weight_perm(const assay_node *a, int rank, assay_list *perm)
{
    const bool from_first = a->attr.conv.layout == ASSAY_LAYOUT_NCHW;
    const bool inputs_first = a->op == ASSAY_OP_CONV_TRANSPOSE && from_first;
    const bool back = a->op == ASSAY_OP_CONV_TRANSPOSE && !from_first;
    const int outputs = inputs_first ? 1 : 0;
    const int inputs = inputs_first ? 0 : from_first ? 1 : rank - 1, cells = from_first ? 2 : 1;
    int n = 0;
    if (back)
        perm->v[n++] = inputs;
    perm->v[n++] = outputs;
    if (!from_first && !back)
        perm->v[n++] = inputs;
    for (int i = 0; i < rank - 2; i++)
        perm->v[n++] = cells + i;
    if (from_first)
        perm->v[n++] = inputs;
    perm->n = n;
}

static bool same_op_in_layout(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *behind_it = made_by(h, h->output[0]);
    const assay_node *b = behind_it ? made_by(h, behind_it->in[0]) : NULL;
    assay_node copy = *a;
    const int *from = lower_layout_of(&copy);
    assay_list there, back, perm;
    if (!b || !from)
        return false;
    lower_layout_perms(assay_node_in(f, a, 0)->type.rank,
                       *from == ASSAY_LAYOUT_NHWC ? ASSAY_LAYOUT_NCHW : ASSAY_LAYOUT_NHWC, &there,
                       &back);
    if (behind(h, ASSAY_OP_TRANSPOSE, &back) != b || !same_but_layout(a, b, &there) ||
        !is_moved(f, a->in[0], h, b->in[0], ASSAY_OP_TRANSPOSE, &there))
        return false;
    if (!lower_is_product(a))
        return a->n_in == 1;
    weight_perm(a, assay_node_in(f, a, 1)->type.rank, &perm);
    return is_moved(f, a->in[1], h, b->in[1], ASSAY_OP_TRANSPOSE, &perm) && same_bias(f, a, h, b);
}

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
    const assay_node *n = product_of(f), *last = n;
    summed plain;
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_status status = prove_product_prepare(f, s, &out->product, err);
    out->bias = ASSAY_NO_VALUE;
    out->plain = n && is_plain_i32(assay_node_out(f, n, 0));
    if (out->plain && read_summed(f, &plain)) {
        out->bias = plain.bias;
        last = made_by(f, f->output[0]);
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
        snprintf(v->evidence, sizeof v->evidence, "the accumulators have other rules");
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
    const bool same = layout ? same_op_in_layout(f, a, h) : same_form(f, a, h);
    v->kind = same ? ASSAY_EXACT : ASSAY_UNPROVED;
    snprintf(v->evidence, sizeof v->evidence, "%s",
             !same    ? "the layer is not the same"
             : layout ? "the same op, its axes in another order"
                      : "the same products");
}

/* Work on which samples would be felt; what is read off the fragments holds for them all the same.
 */
#define MUCH (INT64_C(1) << 22)

static bool is_much(const assay_graph *f)
{
    int64_t work = 0;
    for (int i = 0; i < f->n_nodes; i++)
        work += assay_node_macs(f, &f->node[i]);
    return work > MUCH;
}

/* Results on samples, of a layer that was read to be the same too; one that was not has a
 * counterexample at any rate. */
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
