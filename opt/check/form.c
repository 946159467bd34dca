/* Checking a linear layer that took another form, an op that took another layout, and constants
 * that moved. What is read off the fragments: the same operands, reshaped or transposed as the
 * forms say, the same op. Then the codes that become of the sums are compared over all that can
 * occur. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

/* ---- movements ---- */

typedef enum movement { NOTHING, RESHAPED, TRANSPOSED } movement;

/* Value w of h is v of g, moved so; a transposition has the permutation `perm`. */
static bool is_moved(const assay_graph *g, int v, const assay_graph *h, int w, movement how,
                     const int64_t *perm)
{
    const assay_node *n = w < 0 ? NULL : check_producer(h, w);
    if (v < 0 || w < 0)
        return v < 0 && w < 0;
    if (how == NOTHING)
        return !n && check_same_value(g, v, h, w);
    if (!n || n->op != (how == TRANSPOSED ? ASSAY_OP_TRANSPOSE : ASSAY_OP_RESHAPE))
        return false;
    for (int i = 0; how == TRANSPOSED && i < n->attr.perm.perm.n; i++)
        if (n->attr.perm.perm.v[i] != perm[i])
            return false;
    return check_same_value(g, v, h, n->in[0]);
}

/* The node whose result, moved so, is the fragment's. */
static const assay_node *inner_of(const assay_graph *h, movement how, const int64_t *perm)
{
    const assay_node *n = check_producer(h, h->output[0]);
    if (how == NOTHING)
        return n;
    if (!n || n->op != (how == TRANSPOSED ? ASSAY_OP_TRANSPOSE : ASSAY_OP_RESHAPE))
        return NULL;
    for (int i = 0; how == TRANSPOSED && i < n->attr.perm.perm.n; i++)
        if (n->attr.perm.perm.v[i] != perm[i])
            return NULL;
    return check_producer(h, n->in[0]);
}

/* Channels last: 0, 2 .., 1; channels first: 0, rank - 1, 1 ... */
static void transpose(int rank, bool to_last, int64_t *perm)
{
    perm[0] = 0;
    for (int i = 1; i < rank; i++)
        perm[i] = to_last ? i % (rank - 1) + 1 : i == 1 ? rank - 1 : i - 1;
}

static const assay_type *input_type(const assay_graph *g, const assay_node *n, int slot)
{
    return &g->value[n->in[slot]].type;
}

/* ---- forms ---- */

static bool is_trivial(const assay_graph *g, const assay_node *n)
{
    const assay_attr_conv *a = &n->attr.conv;
    const assay_type *w = input_type(g, n, 1);
    int64_t cells = 1;
    for (int i = 0; i < a->kernel.n; i++) {
        cells *= w->dim[a->layout == ASSAY_LAYOUT_NHWC ? 1 + i : 2 + i];
        if (a->kernel.v[i] != 1 || a->stride.v[i] != 1 || a->pad_begin.v[i] || a->pad_end.v[i])
            return false;
    }
    return a->group == 1 && cells == 1;
}

/* The bias, where there is one, is read as it is. */
static bool same_bias(const check_context *c, const assay_node *a, const assay_node *b)
{
    const int was = a->n_in > 2 ? a->in[2] : -1, is = b->n_in > 2 ? b->in[2] : -1;
    return is_moved(c->before, was, c->after, is, NOTHING, NULL);
}

static bool fc_as_conv(const check_context *c, const assay_node *a, const assay_node **b)
{
    const assay_graph *g = c->before, *h = c->after;
    *b = inner_of(h, RESHAPED, NULL);
    if (!*b || (*b)->op != ASSAY_OP_CONV || (*b)->attr.conv.layout != ASSAY_LAYOUT_NHWC)
        return false;
    const assay_type *x = input_type(h, *b, 0);
    return is_trivial(h, *b) && x->rank == 4 && x->dim[1] == 1 && x->dim[2] == 1 &&
           is_moved(g, a->in[0], h, (*b)->in[0], RESHAPED, NULL) &&
           is_moved(g, a->in[1], h, (*b)->in[1], RESHAPED, NULL) && same_bias(c, a, *b);
}

static bool conv_as_fc(const check_context *c, const assay_node *a, const assay_node **b)
{
    const assay_graph *g = c->before, *h = c->after;
    const int rank = input_type(g, a, 0)->rank;
    const movement how = a->attr.conv.layout == ASSAY_LAYOUT_NHWC ? NOTHING : TRANSPOSED;
    int64_t there[ASSAY_MAX_RANK], back[ASSAY_MAX_RANK];
    transpose(rank, true, there);
    transpose(rank, false, back);
    *b = inner_of(h, how, back);
    return *b && (*b)->op == ASSAY_OP_FC && is_trivial(g, a) &&
           is_moved(g, a->in[0], h, (*b)->in[0], how, there) &&
           is_moved(g, a->in[1], h, (*b)->in[1], RESHAPED, NULL) && same_bias(c, a, *b);
}

static bool matmul_as_fc(const check_context *c, const assay_node *a, const assay_node **b)
{
    const int64_t swapped[2] = {1, 0};
    *b = inner_of(c->after, NOTHING, NULL);
    return *b && (*b)->op == ASSAY_OP_FC && !a->attr.matmul.transpose_a &&
           input_type(c->before, a, 1)->rank == 2 &&
           is_moved(c->before, a->in[0], c->after, (*b)->in[0], NOTHING, NULL) &&
           is_moved(c->before, a->in[1], c->after, (*b)->in[1],
                    a->attr.matmul.transpose_b ? NOTHING : TRANSPOSED, swapped) &&
           same_bias(c, a, *b);
}

static bool is_plain(const assay_graph *g, int v)
{
    return assay_is_accumulator(&g->value[v].type);
}

static bool is_bare(const assay_node *n)
{
    return n->act_lo == -INFINITY && n->act_hi == INFINITY && !n->has_code_bounds;
}

/* A fragment that ends in a rescale of (sums + bias), relabelled as codes. */
typedef struct sums {
    const assay_node *product, *rescale;
    int bias; /* or -1 */
} sums;

static bool find_sums(const assay_graph *g, sums *of)
{
    const assay_node *n = check_producer(g, g->output[0]);
    *of = (sums){.rescale = n, .bias = -1};
    n = n && n->op == ASSAY_OP_RESCALE ? check_producer(g, n->in[0]) : NULL;
    if (!n || n->op != ASSAY_OP_RELABEL || !is_bare(n) ||
        !check_is_code(&g->value[n->out[0]].type) ||
        g->value[n->out[0]].type.q.zero_point[0] != 0 || !is_plain(g, n->in[0]))
        return false;
    n = check_producer(g, n->in[0]);
    if (n && n->op == ASSAY_OP_ADD) {
        of->bias = n->in[1];
        if (!is_bare(n) || !is_plain(g, n->in[0]) || !is_plain(g, n->in[1]))
            return false;
        n = check_producer(g, n->in[0]);
    }
    of->product = n;
    return n && n->op == ASSAY_OP_MATMUL && is_bare(n) && !n->attr.matmul.transpose_a &&
           is_plain(g, n->out[0]);
}

/* Value w of h is what v of g holds, by another name for its numbers. */
static bool is_relabelled(const assay_graph *g, int v, const assay_graph *h, int w)
{
    const assay_node *n = check_producer(h, w);
    return n && n->op == ASSAY_OP_RELABEL && is_bare(n) && check_same_value(g, v, h, n->in[0]);
}

static bool fc_as_matmul(const check_context *c, const assay_node *a, sums *to)
{
    const assay_graph *g = c->before, *h = c->after;
    const int bias = a->n_in > 2 ? a->in[2] : -1;
    const int64_t swapped[2] = {1, 0};
    return find_sums(h, to) && check_same_bounds(a, to->rescale) &&
           !to->product->attr.matmul.transpose_b && (bias < 0) == (to->bias < 0) &&
           (bias < 0 || is_relabelled(g, bias, h, to->bias)) &&
           is_moved(g, a->in[0], h, to->product->in[0], NOTHING, NULL) &&
           is_moved(g, a->in[1], h, to->product->in[1], TRANSPOSED, swapped);
}

static bool sums_as_fc(const check_context *c, sums *from, const assay_node **b)
{
    const assay_graph *g = c->before, *h = c->after;
    const int64_t swapped[2] = {1, 0};
    *b = inner_of(h, NOTHING, NULL);
    if (!*b || (*b)->op != ASSAY_OP_FC || !find_sums(g, from) ||
        input_type(g, from->product, 1)->rank != 2)
        return false;
    const int bias = (*b)->n_in > 2 ? (*b)->in[2] : -1;
    return (bias < 0) == (from->bias < 0) && (bias < 0 || is_relabelled(g, from->bias, h, bias)) &&
           check_same_bounds(from->rescale, *b) &&
           is_moved(g, from->product->in[0], h, (*b)->in[0], NOTHING, NULL) &&
           is_moved(g, from->product->in[1], h, (*b)->in[1],
                    from->product->attr.matmul.transpose_b ? NOTHING : TRANSPOSED, swapped);
}

/* ---- what becomes of the sums ---- */

/* A layer's product, and the node that makes codes of its sums, before and after. */
typedef struct forms {
    const assay_node *product[2], *codes[2];
    int bias;      /* added to the sums behind the product before, or -1 */
    bool in_order; /* the sums have the order that they had */
} forms;

static assay_status judge_reach(check_context *c, const json_t *step, const forms *f,
                                assay_unit *const summed[2])
{
    const assay_node *a = f->product[0];
    int64_t lo = 0, hi = 0;
    if (step && !check_interval(json_object_get(step, "reachable"), &lo, &hi))
        return check_reject(c, "no interval of accumulators");
    if (step && (is_plain(c->after, f->product[1]->out[0]) || is_plain(c->before, a->out[0])) &&
        (lo < INT32_MIN || hi > INT32_MAX))
        return check_reject(c, "sums that do not fit 32 bits");
    const check_reachable all =
        check_reach(c, c->before, a, f->bias, summed[0], input_type(c->before, a, 0));
    c->given += !all.known;
    if (!check_sums_alike(c, summed[0], summed[1], &all))
        return check_reject(c, "the accumulators differ in width, overflow or order");
    if (all.known && step && (lo != all.lo || hi != all.hi))
        return check_reject(c, "the reachable accumulators are not those claimed");
    return all.known && all.overflows && !f->in_order
               ? check_reject(c, "the accumulator may overflow")
               : ASSAY_OK;
}

static assay_status compare_sums(check_context *c, const json_t *step, const forms *f,
                                 int64_t *worst)
{
    assay_unit *summed[2] = {NULL, NULL}, *made[2] = {NULL, NULL};
    const assay_type *w = input_type(c->before, f->product[0], 1);
    int64_t lo, hi;
    assay_status s = ASSAY_OK;
    for (int i = 0; i < 2 && !s; i++) {
        s = check_prepare(c, i ? c->after : c->before, f->product[i], &summed[i]);
        if (!s)
            s = check_prepare(c, i ? c->after : c->before, f->codes[i], &made[i]);
    }
    if (!s)
        s = judge_reach(c, step, f, summed);
    if (!s && step) {
        check_interval(json_object_get(step, "reachable"), &lo, &hi);
        s = check_forms(c, made[0], made[1], NULL, 1, lo, hi,
                        w->q.count > 1 ? (int64_t)w->q.count : 1, worst);
    }
    for (int i = 0; i < 4; i++) {
        assay_unit *u = i < 2 ? summed[i] : made[i - 2];
        if (u)
            c->scheme->vt->release(u);
    }
    return s;
}

/* One product before; or several nodes that end in a rescale of its sums. */
static bool find_forms(const check_context *c, forms *f)
{
    const assay_graph *g = c->before;
    const assay_node *a = g->n_nodes == 1 ? &g->node[0] : NULL, *b = NULL;
    sums s;
    bool same = false;
    *f = (forms){.bias = -1, .in_order = true};
    if (!a) {
        if (!sums_as_fc(c, &s, &b))
            return false;
        *f = (forms){{s.product, b}, {s.rescale, b}, s.bias, false};
        return true;
    }
    if (a->n_in < 2)
        return false;
    if (a->op == ASSAY_OP_CONV)
        same = conv_as_fc(c, a, &b);
    else if (a->op == ASSAY_OP_MATMUL)
        same = matmul_as_fc(c, a, &b);
    else if (a->op == ASSAY_OP_FC)
        same = fc_as_conv(c, a, &b);
    *f = (forms){{a, b}, {a, b}, -1, true};
    if (a->op == ASSAY_OP_FC && !same && (same = fc_as_matmul(c, a, &s)))
        *f = (forms){{a, s.product}, {a, s.rescale}, -1, false};
    return same && check_same_bounds(a, f->codes[1]);
}

assay_status check_form(check_context *c, const json_t *step, int64_t *worst)
{
    forms f;
    if (!find_forms(c, &f))
        return check_reject(c, "the layer is not the same");
    if (!check_is_code(&c->before->value[f.codes[0]->out[0]].type) ||
        !check_is_code(input_type(c->before, f.product[0], 0)))
        return check_reject(c, "a fragment of unexpected form");
    return compare_sums(c, step, &f, worst);
}

/* ---- layout ---- */

static const int *layout_of(const assay_node *n)
{
    switch (n->op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
        return &n->attr.conv.layout;
    case ASSAY_OP_MAX_POOL:
    case ASSAY_OP_AVG_POOL:
        return &n->attr.pool.layout;
    case ASSAY_OP_GLOBAL_AVG_POOL:
        return &n->attr.layout.layout;
    case ASSAY_OP_LRN:
        return &n->attr.lrn.layout;
    case ASSAY_OP_RESIZE:
        return &n->attr.resize.layout;
    default:
        return NULL;
    }
}

/* The attributes of b, as they would stand in a's layout. */
static void put_back(const assay_node *a, const assay_node *b, const int64_t *back,
                     assay_attrs *out)
{
    assay_node n = *b;
    *(int *)(uintptr_t)layout_of(&n) = *layout_of(a);
    for (int i = 0; b->op == ASSAY_OP_RESIZE && i < b->attr.resize.size.n; i++)
        n.attr.resize.size.v[i] = b->attr.resize.size.v[back[i]];
    for (int i = 0; b->op == ASSAY_OP_RESIZE && i < b->attr.resize.scales.n; i++)
        n.attr.resize.scales.v[i] = b->attr.resize.scales.v[back[i]];
    *out = n.attr;
}

/* Outputs, inputs and cells of weights, in the order of the other layout. */
static void transpose_weights(const assay_node *a, int rank, bool to_last, int64_t *perm)
{
    transpose(rank, to_last, perm);
    if (a->op != ASSAY_OP_CONV_TRANSPOSE)
        return;
    for (int i = 0; i < rank; i++) /* I,O,k.. to O,k..,I and back: a rotation */
        perm[i] = to_last ? (i + 1 == rank ? 0 : i + 1) : (i == 0 ? rank - 1 : i - 1);
}

static bool same_in_layout(const check_context *c, const assay_node *a, const assay_node **b)
{
    const assay_graph *g = c->before, *h = c->after;
    const int rank = input_type(g, a, 0)->rank;
    const bool to_last = *layout_of(a) == ASSAY_LAYOUT_NCHW;
    int64_t there[ASSAY_MAX_RANK], back[ASSAY_MAX_RANK], weights[ASSAY_MAX_RANK];
    assay_attrs attr;
    transpose(rank, to_last, there);
    transpose(rank, !to_last, back);
    *b = inner_of(h, TRANSPOSED, back);
    if (!*b || (*b)->op != a->op || (*b)->n_in != a->n_in || *layout_of(*b) == *layout_of(a) ||
        !is_moved(g, a->in[0], h, (*b)->in[0], TRANSPOSED, there) || !check_same_bounds(a, *b))
        return false;
    put_back(a, *b, back, &attr);
    if (!assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &attr))
        return false;
    if (a->n_in == 1)
        return true;
    transpose_weights(a, rank, to_last, weights);
    return is_moved(g, a->in[1], h, (*b)->in[1], TRANSPOSED, weights) && same_bias(c, a, *b) &&
           (a->op != ASSAY_OP_CONV_TRANSPOSE || a->attr.conv.group == 1);
}

assay_status check_layout(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_node *a = c->before->n_nodes == 1 ? &c->before->node[0] : NULL, *b = NULL;
    (void)step;
    *worst = 0;
    if (!a || !layout_of(a) || !same_in_layout(c, a, &b))
        return check_reject(c, "the op is not the same in another layout");
    return a->n_in == 1 ? ASSAY_OK
                        : compare_sums(c, NULL, &(forms){{a, b}, {a, b}, -1, false}, worst);
}

/* ---- constants that move ---- */

assay_status check_moved(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before, *h = c->after;
    const assay_node *n = g->n_nodes == 1 ? &g->node[0] : NULL;
    (void)step;
    *worst = 0;
    bool moves = n && (n->op == ASSAY_OP_TRANSPOSE || n->op == ASSAY_OP_RESHAPE ||
                       n->op == ASSAY_OP_RELABEL);
    if (!moves || h->n_nodes != 0 || h->n_outputs != 1 || g->n_outputs != 1 || h->n_inputs != 2 ||
        h->n_values != 2 || g->n_inputs != 1 || !check_same_value(g, g->input[0], h, h->input[0]) ||
        !assay_shape_equal(&g->value[g->input[0]].type, &h->value[h->input[0]].type) ||
        !check_same_value(g, n->out[0], h, h->output[0]) ||
        !assay_shape_equal(&g->value[n->out[0]].type, &h->value[h->output[0]].type))
        return check_reject(c, "a constant that does not only move");
    return ASSAY_OK;
}
