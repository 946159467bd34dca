/* One linear layer in another form, or another layout.
 *
 * FORM    the same products in the same order are summed: the weights and the input are only
 *         reshaped, or transposed, as the two forms say; the threshold forms of what becomes of the
 *         sums agree over all that can occur. Where an addition follows the product, no sum may
 *         leave the accumulator on the way.
 * LAYOUT  the op is the same but for the order of axes, which transposes in front and behind undo;
 *         sums have another order, so none may leave the accumulator on the way.
 *
 * Samples with weights and bias at random look for what tells first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/type.h"
#include "opt/fragment.h"
#include "opt/products.h"
#include "opt/prove.h"
#include "opt/rules.h"
#include "schemes/derive/prepare.h"
#include "schemes/spec.h"

static const assay_node *made_by(const assay_graph *f, int value)
{
    int producer = value >= 0 ? f->value[value].producer : -1;
    return producer >= 0 ? &f->node[producer] : NULL;
}

static const assay_node *product_of(const assay_graph *f)
{
    for (int i = 0; i < f->n_nodes; i++)
        if (assay_is_product(&f->node[i]))
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
    const assay_op turn = last ? ASSAY_OP_COUNT : ASSAY_OP_TRANSPOSE;
    assay_list there, back;
    assay_layout_perms(assay_node_in(f, a, 0)->type.rank, ASSAY_LAYOUT_NHWC, &there, &back);
    const assay_node *b = behind(h, turn, &back);
    return b && b->op == ASSAY_OP_FC && is_one_cell(f, a) &&
           is_moved(f, a->in[0], h, b->in[0], turn, &there) &&
           is_moved(f, a->in[1], h, b->in[1], ASSAY_OP_RESHAPE, NULL);
}

static bool from_matmul_to_fc(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = behind(h, ASSAY_OP_COUNT, NULL);
    const assay_list swapped = {2, {1, 0}};
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

/* rescale(relabel(sums)), sums the product's or those plus the bias as plain numbers. */
static bool from_fc_to_matmul(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *rescale = made_by(h, h->output[0]), *codes, *sums, *b, *bias;
    const assay_list swapped = {2, {1, 0}};
    if (!rescale || rescale->op != ASSAY_OP_RESCALE || !(codes = made_by(h, rescale->in[0])) ||
        codes->op != ASSAY_OP_RELABEL || assay_node_in(h, rescale, 0)->type.q.zero_point[0] != 0 ||
        !(sums = made_by(h, codes->in[0])))
        return false;
    b = sums;
    if (a->n_in > 2 && a->in[2] >= 0) {
        b = sums->op == ASSAY_OP_ADD ? made_by(h, sums->in[0]) : NULL;
        bias = b ? made_by(h, sums->in[1]) : NULL;
        if (!bias || bias->op != ASSAY_OP_RELABEL || !same_name(f, a->in[2], h, bias->in[0]) ||
            !is_plain_i32(assay_node_out(h, sums, 0)) || !is_plain_i32(assay_node_out(h, bias, 0)))
            return false;
    }
    return b->op == ASSAY_OP_MATMUL && is_plain_i32(assay_node_out(h, b, 0)) &&
           !b->attr.matmul.transpose_a && !b->attr.matmul.transpose_b &&
           is_moved(f, a->in[0], h, b->in[0], ASSAY_OP_COUNT, NULL) &&
           is_moved(f, a->in[1], h, b->in[1], ASSAY_OP_TRANSPOSE, &swapped);
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
    int *layout = assay_layout_of(&turned);
    if (a->op != b->op || a->n_in != b->n_in || !layout || !assay_same_bounds(a, b))
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
    const bool swapped = a->op == ASSAY_OP_CONV_TRANSPOSE && from_first;
    const bool back = a->op == ASSAY_OP_CONV_TRANSPOSE && !from_first;
    const int outputs = swapped ? 1 : 0;
    const int inputs = swapped ? 0 : from_first ? 1 : rank - 1, cells = from_first ? 2 : 1;
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
    const int *from = assay_layout_of(&copy);
    assay_list there, back, perm;
    if (!b || !from)
        return false;
    assay_layout_perms(assay_node_in(f, a, 0)->type.rank,
                       *from == ASSAY_LAYOUT_NHWC ? ASSAY_LAYOUT_NCHW : ASSAY_LAYOUT_NHWC, &there,
                       &back);
    if (behind(h, ASSAY_OP_TRANSPOSE, &back) != b || !same_but_layout(a, b, &there) ||
        !is_moved(f, a->in[0], h, b->in[0], ASSAY_OP_TRANSPOSE, &there))
        return false;
    if (!assay_is_product(a))
        return a->n_in == 1;
    weight_perm(a, assay_node_in(f, a, 1)->type.rank, &perm);
    return is_moved(f, a->in[1], h, b->in[1], ASSAY_OP_TRANSPOSE, &perm) && same_bias(f, a, h, b);
}

/* ---- what becomes of the sums ---- */

/* The unit that ends in the codes of fragment h: its product's, or the rescale's behind the sums.
 */
static assay_status last_unit(const assay_graph *h, const assay_scheme *s, assay_unit **unit,
                              assay_error *err)
{
    const assay_node *n = product_of(h);
    for (int i = 0; i < h->n_nodes; i++)
        n = h->node[i].op == ASSAY_OP_RESCALE ? &h->node[i] : n;
    if (!n)
        return assay_fail(err, ASSAY_ERR_INTERNAL, "the product is gone");
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(h, n, in, &spec);
    return s->vt->prepare(s, &spec, unit, err);
}

/* Sums stand in memory as numbers of 32 bits. */
static bool has_plain_sums(const assay_graph *h)
{
    const assay_node *n = product_of(h);
    return n && is_plain_i32(assay_node_out(h, n, 0));
}

static assay_status compare_sums(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                                 const assay_scheme *s, assay_proof *proof, assay_error *err)
{
    const assay_node *n = &g->node[m->lower];
    const bool ordered = rule->obligation == ASSAY_PROVE_FORM && product_of(proof->after) &&
                         product_of(proof->after)->op != ASSAY_OP_MATMUL;
    assay_graph *shrunk = NULL;
    assay_unit *before = NULL, *product = NULL, *last = NULL;
    assay_verdict *v = &proof->verdict;
    bool exact_sums = false;
    assay_status status = assay_product_cut(g, m, n, s, &shrunk, &before, err);
    if (!status)
        status = assay_product_reach(g, n, before, &proof->reach, &exact_sums, err);
    if (!status && shrunk) {
        const assay_match inner = assay_prove_match(m, proof);
        status = rule->rewrite(shrunk, &inner, NULL, err);
    }
    if (!status)
        status = assay_product_prepare(shrunk, s, &product, err);
    if (!status)
        status = last_unit(shrunk, s, &last, err);
    if (!status && !ordered && !exact_sums)
        snprintf(v->evidence, sizeof v->evidence, "the accumulator may overflow on the way");
    else if (!status && has_plain_sums(shrunk) &&
             (proof->reach.lo < INT32_MIN || proof->reach.hi > INT32_MAX))
        snprintf(v->evidence, sizeof v->evidence, "sums in [%lld, %lld] do not fit 32 bits",
                 (long long)proof->reach.lo, (long long)proof->reach.hi);
    else if (!status && memcmp(&before->rec.accumulator, &product->rec.accumulator,
                               sizeof before->rec.accumulator) != 0)
        snprintf(v->evidence, sizeof v->evidence, "the accumulators have other rules");
    else if (!status)
        status = assay_compare_forms(before, last, proof, err);
    if (before)
        s->vt->release(before);
    if (product)
        s->vt->release(product);
    if (last)
        s->vt->release(last);
    assay_graph_free(shrunk);
    return status;
}

/* ---- both ---- */

static void judge(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                  assay_proof *proof)
{
    const assay_graph *f = proof->before, *h = proof->after;
    const assay_node *a = &f->node[f->n_nodes - 1];
    assay_verdict *v = &proof->verdict;
    const bool layout = rule->obligation == ASSAY_PROVE_LAYOUT;
    const bool same = layout ? same_op_in_layout(f, a, h) : same_form(f, a, h);
    (void)g;
    (void)m;
    v->kind = same ? ASSAY_EXACT : ASSAY_UNPROVED;
    snprintf(v->evidence, sizeof v->evidence, "%s",
             !same    ? "the layer is not the same"
             : layout ? "the same op, its axes in another order"
                      : "the same products");
    if (!same)
        snprintf(v->counterexample, sizeof v->counterexample,
                 "a layer became one that reads or yields something else");
}

assay_status assay_prove_form(const assay_graph *g, const assay_match *m, const assay_rule *rule,
                              const assay_scheme *s, assay_run_fn run, assay_proof *proof,
                              assay_error *err)
{
    assay_verdict *v = &proof->verdict;
    v->kind = ASSAY_UNPROVED;
    assay_status status = assay_fragment_cut(g, m, 0, &proof->before, err);
    if (!status)
        status = assay_prove_rewrite(m, rule, NULL, proof, err);
    if (!status && proof->possible)
        status = assay_prove_target(s, proof, err);
    if (!status && proof->possible)
        status = assay_prove_samples(s, run, proof, err);
    if (!status && proof->possible && !v->counterexample[0]) {
        judge(g, m, rule, proof);
        if (v->kind == ASSAY_EXACT && assay_is_product(&g->node[m->lower])) {
            v->kind = ASSAY_UNPROVED;
            status = compare_sums(g, m, rule, s, proof, err);
        }
    }
    return assay_prove_impossible(proof, status, err);
}
