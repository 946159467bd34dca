/* Two fragments that hold one linear layer in two forms or layouts; see form.c. */
#include "opt/prove/form_same.h"

#include <string.h>

#include "graph/core/type.h"
#include "opt/lower/nodes.h"

const assay_node *prove_made_by(const assay_graph *f, int value)
{
    int producer = value >= 0 ? f->value[value].producer : -1;
    return producer >= 0 ? &f->node[producer] : NULL;
}

const assay_node *prove_product_of(const assay_graph *f)
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
    const assay_node *n = prove_made_by(h, w);
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
    const assay_node *n = prove_made_by(h, h->output[0]);
    if (op == ASSAY_OP_COUNT)
        return n;
    if (!n || n->op != op ||
        (op == ASSAY_OP_TRANSPOSE &&
         memcmp(n->attr.perm.perm.v, perm->v, (size_t)perm->n * sizeof *perm->v) != 0))
        return NULL;
    return prove_made_by(h, n->in[0]);
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

bool prove_is_plain_i32(const assay_value *v)
{
    return assay_is_accumulator(&v->type);
}

bool prove_read_summed(const assay_graph *f, prove_summed *out)
{
    const assay_node *n = prove_made_by(f, f->output[0]);
    out->bias = ASSAY_NO_VALUE;
    if (!n || n->op != ASSAY_OP_RESCALE || !(n = prove_made_by(f, n->in[0])) ||
        n->op != ASSAY_OP_RELABEL || !lower_is_plain(n) ||
        assay_node_out(f, n, 0)->type.q.zero_point[0] != 0 || !(n = prove_made_by(f, n->in[0])))
        return false;
    if (n->op == ASSAY_OP_ADD) {
        if (!prove_is_plain_i32(assay_node_out(f, n, 0)) || !lower_is_plain(n))
            return false;
        out->bias = n->in[1];
        n = prove_made_by(f, n->in[0]);
    }
    out->matmul = n;
    return n && n->op == ASSAY_OP_MATMUL && prove_is_plain_i32(assay_node_out(f, n, 0)) &&
           lower_is_plain(n) && !n->attr.matmul.transpose_a;
}

/* Value w of h is what v of f holds, relabelled. */
static bool is_relabelled(const assay_graph *f, int v, const assay_graph *h, int w)
{
    const assay_node *n = prove_made_by(h, w);
    return n && n->op == ASSAY_OP_RELABEL && lower_is_plain(n) && same_name(f, v, h, n->in[0]);
}

static bool from_fc_to_matmul(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const bool biased = a->n_in > 2 && a->in[2] >= 0;
    prove_summed b;
    if (!prove_read_summed(h, &b) || biased != (b.bias >= 0) || b.matmul->attr.matmul.transpose_b)
        return false;
    return (!biased ||
            (prove_is_plain_i32(&h->value[b.bias]) && is_relabelled(f, a->in[2], h, b.bias))) &&
           is_moved(f, a->in[0], h, b.matmul->in[0], ASSAY_OP_COUNT, NULL) &&
           is_moved(f, a->in[1], h, b.matmul->in[1], ASSAY_OP_TRANSPOSE, &swapped);
}

static bool from_sums_to_fc(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = behind(h, ASSAY_OP_COUNT, NULL);
    prove_summed was;
    if (!prove_read_summed(f, &was) || !b || b->op != ASSAY_OP_FC || !lower_same_bounds(a, b) ||
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

bool prove_same_form(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *b = prove_product_of(h);
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
    assay_node transposed = *a;
    int *layout = lower_layout_of(&transposed);
    if (a->op != b->op || a->n_in != b->n_in || !layout || !lower_same_bounds(a, b))
        return false;
    *layout = *layout == ASSAY_LAYOUT_NHWC ? ASSAY_LAYOUT_NCHW : ASSAY_LAYOUT_NHWC;
    for (int i = 0; a->op == ASSAY_OP_RESIZE && i < there->n; i++) {
        if (transposed.attr.resize.size.n == there->n)
            transposed.attr.resize.size.v[i] = a->attr.resize.size.v[there->v[i]];
        if (transposed.attr.resize.scales.n == there->n)
            transposed.attr.resize.scales.v[i] = a->attr.resize.scales.v[there->v[i]];
    }
    return assay_attrs_equal(assay_op_get(a->op)->attrs, &transposed.attr, &b->attr);
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

bool prove_same_op_in_layout(const assay_graph *f, const assay_node *a, const assay_graph *h)
{
    const assay_node *behind_it = prove_made_by(h, h->output[0]);
    const assay_node *b = behind_it ? prove_made_by(h, behind_it->in[0]) : NULL;
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
