/* One linear layer in several forms: fully connected, a convolution of one cell, a matrix product
 * with an addition behind it. Which of them a target wants, its file says (target.h: prefer). */
#include "graph/memory.h"
#include "opt/rewrite/rules.h"

#include <string.h>

#include "graph/core/type.h"

/* ---- what the rewrites add ---- */

/* BASE + suffix, once more where that is taken. */
static char *free_name(assay_graph *g, const char *base, const char *suffix)
{
    char *name = lower_derived_name(g, base, suffix);
    while (name && assay_graph_find_value(g, name) >= 0)
        name = lower_derived_name(g, name, suffix);
    return name;
}

assay_status rewrite_add_derived(assay_graph *g, int like, const char *suffix,
                                 const assay_type *type, int *id, assay_error *err)
{
    char *name = free_name(g, g->value[like].name, suffix);
    return name ? assay_graph_add_value(g, name, type, id, err) : assay_out_of_memory(err);
}

/* A reshape of x to type t; a value named after `like`. */
static assay_status add_reshape(assay_graph *g, int like, int x, const char *suffix,
                                const assay_type *t, int *y, assay_error *err)
{
    assay_attrs a = {0};
    a.shape.shape.n = t->rank;
    for (int i = 0; i < t->rank; i++)
        a.shape.shape.v[i] = t->dim[i];
    assay_status s = rewrite_add_derived(g, like, suffix, t, y, err);
    return s ? s : assay_graph_add_node(g, ASSAY_OP_RESHAPE, NULL, &x, 1, y, 1, &a, NULL, err);
}

/* The node yields a new value of type t; a movement behind it makes the old one of that. */
static assay_status move_behind(assay_graph *g, int node, const char *suffix, const assay_type *t,
                                assay_op op, const assay_attrs *a, assay_error *err)
{
    int y = g->node[node].out[0], inner;
    assay_status s = rewrite_add_derived(g, y, suffix, t, &inner, err);
    if (s)
        return s;
    lower_rewrite_output(g, node, inner);
    return assay_graph_add_node(g, op, NULL, &inner, 1, &y, 1, a, NULL, err);
}

static assay_type with_dims(const assay_type *t, int rank, const int64_t *dim)
{
    assay_type to = *t;
    to.rank = rank;
    memcpy(to.dim, dim, (size_t)rank * sizeof *dim);
    return to;
}

static int64_t rows_of(const assay_type *t)
{
    int64_t rows = 1;
    for (int i = 0; i + 1 < t->rank; i++)
        rows *= t->dim[i];
    return rows;
}

/* A layer of codes with its weights as they are. */
static bool is_layer(const assay_graph *g, const assay_node *n, assay_op op)
{
    const assay_value *w = n->op == op ? assay_node_in(g, n, 1) : NULL;
    return w && lower_is_code(assay_node_in(g, n, 0)) && lower_is_code(assay_node_out(g, n, 0)) &&
           w->type.q.granularity != ASSAY_Q_BLOCK && n->in[0] != n->in[1];
}

/* ---- fully connected -> convolution of one cell, channels last ---- */

bool rewrite_fc_to_conv_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    (void)uses;
    return is_layer(g, &g->node[m->lower], ASSAY_OP_FC);
}

static void to_one_cell(assay_node *n)
{
    assay_attr_conv a = {.layout = ASSAY_LAYOUT_NHWC, .group = 1};
    a.kernel.n = a.stride.n = a.dilation.n = a.pad_begin.n = a.pad_end.n = a.output_padding.n = 2;
    for (int i = 0; i < 2; i++)
        a.kernel.v[i] = a.stride.v[i] = a.dilation.v[i] = 1;
    n->op = ASSAY_OP_CONV;
    memset(&n->attr, 0, sizeof n->attr);
    n->attr.conv = a;
}

assay_status rewrite_fc_to_conv_rewrite(assay_graph *g, const assay_match *m,
                                        const assay_rule_image *image, assay_error *err)
{
    int x = g->node[m->lower].in[0], w = g->node[m->lower].in[1], y = g->node[m->lower].out[0];
    const assay_type tx = g->value[x].type, tw = g->value[w].type, ty = g->value[y].type;
    const int64_t rows = rows_of(&tx), k = tx.dim[tx.rank - 1], o = tw.dim[0];
    const assay_type x4 = with_dims(&tx, 4, (int64_t[]){rows, 1, 1, k});
    const assay_type w4 = with_dims(&tw, 4, (int64_t[]){o, 1, 1, k});
    const assay_type y4 = with_dims(&ty, 4, (int64_t[]){rows, 1, 1, o});
    assay_attrs back = {0};
    (void)image;
    back.shape.shape.n = ty.rank;
    for (int i = 0; i < ty.rank; i++)
        back.shape.shape.v[i] = ty.dim[i];
    assay_status s = add_reshape(g, y, x, ":conv:in", &x4, &x, err);
    if (!s)
        s = add_reshape(g, y, w, ":conv:weights", &w4, &w, err);
    if (s)
        return s;
    to_one_cell(&g->node[m->lower]);
    g->node[m->lower].in[0] = x;
    g->node[m->lower].in[1] = w;
    s = move_behind(g, m->lower, ":conv", &y4, ASSAY_OP_RESHAPE, &back, err);
    return s ? s : assay_graph_compact(g, NULL, err);
}

/* ---- convolution of one cell -> fully connected ---- */

static bool is_one_cell(const assay_attr_conv *a)
{
    bool one = a->group == 1;
    for (int i = 0; i < a->kernel.n; i++)
        one &= a->kernel.v[i] == 1 && a->stride.v[i] == 1 && a->pad_begin.v[i] == 0 &&
               a->pad_end.v[i] == 0;
    return one;
}

bool rewrite_conv_to_fc_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    return is_layer(g, n, ASSAY_OP_CONV) && is_one_cell(&n->attr.conv);
}

/* A transpose of x that takes its channels last; the attributes of the one that takes them back. */
static assay_status add_transpose(assay_graph *g, int like, int x, const char *suffix, int *y,
                                  assay_attrs *back, assay_error *err)
{
    assay_type t = g->value[x].type;
    assay_attrs a = {0};
    lower_layout_perms(t.rank, ASSAY_LAYOUT_NHWC, &a.perm.perm, &back->perm.perm);
    t = lower_permuted_type(&t, &a.perm.perm);
    assay_status s = rewrite_add_derived(g, like, suffix, &t, y, err);
    return s ? s : assay_graph_add_node(g, ASSAY_OP_TRANSPOSE, NULL, &x, 1, y, 1, &a, NULL, err);
}

assay_status rewrite_conv_to_fc_rewrite(assay_graph *g, const assay_match *m,
                                        const assay_rule_image *image, assay_error *err)
{
    const bool first = g->node[m->lower].attr.conv.layout == ASSAY_LAYOUT_NCHW;
    int x = g->node[m->lower].in[0], w = g->node[m->lower].in[1], y = g->node[m->lower].out[0];
    const assay_type tw = g->value[w].type, ty = g->value[y].type;
    const int64_t k = assay_shape_count(&tw) / tw.dim[0];
    const assay_type w2 = with_dims(&tw, 2, (int64_t[]){tw.dim[0], k});
    assay_attrs back = {0};
    (void)image;
    assay_status s = add_reshape(g, y, w, ":fc:weights", &w2, &w, err);
    if (!s && first)
        s = add_transpose(g, y, x, ":fc:in", &x, &back, err);
    if (s)
        return s;
    assay_node *n = &g->node[m->lower];
    n->op = ASSAY_OP_FC;
    memset(&n->attr, 0, sizeof n->attr);
    n->in[0] = x;
    n->in[1] = w;
    if (first) {
        assay_list there, unused;
        lower_layout_perms(ty.rank, ASSAY_LAYOUT_NHWC, &there, &unused);
        const assay_type transposed = lower_permuted_type(&ty, &there);
        s = move_behind(g, m->lower, ":fc", &transposed, ASSAY_OP_TRANSPOSE, &back, err);
    }
    return s ? s : assay_graph_compact(g, NULL, err);
}

/* ---- matrix product by a constant -> fully connected ---- */

bool rewrite_matmul_to_fc_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    return is_layer(g, n, ASSAY_OP_MATMUL) && lower_is_constant(g, n->in[1]) &&
           assay_node_in(g, n, 1)->type.rank == 2 && !n->attr.matmul.transpose_a;
}

/* w with its axes exchanged, named after `like`. */
static assay_status add_transposed(assay_graph *g, int like, int w, const char *suffix, int *id,
                                   assay_error *err)
{
    assay_attrs a = {.perm = {.perm = {2, {1, 0}}}};
    const assay_type t = lower_permuted_type(&g->value[w].type, &a.perm.perm);
    assay_status s = rewrite_add_derived(g, like, suffix, &t, id, err);
    return s ? s : assay_graph_add_node(g, ASSAY_OP_TRANSPOSE, NULL, &w, 1, id, 1, &a, NULL, err);
}

assay_status rewrite_matmul_to_fc_rewrite(assay_graph *g, const assay_match *m,
                                          const assay_rule_image *image, assay_error *err)
{
    int w = g->node[m->lower].in[1];
    assay_status s = ASSAY_OK;
    (void)image;
    if (!g->node[m->lower].attr.matmul.transpose_b)
        s = add_transposed(g, g->node[m->lower].out[0], w, ":fc:weights", &w, err);
    if (s)
        return s;
    assay_node *n = &g->node[m->lower];
    n->op = ASSAY_OP_FC;
    memset(&n->attr, 0, sizeof n->attr);
    n->in[1] = w;
    return assay_graph_compact(g, NULL, err);
}

/* ---- fully connected -> matrix product, addition, and one rescale of the sums ---- */

bool rewrite_fc_to_matmul_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *n = &g->node[m->lower];
    (void)uses;
    if (!is_layer(g, n, ASSAY_OP_FC) || assay_node_in(g, n, 0)->type.rank < 2)
        return false;
    if (assay_node_in(g, n, 1)->type.q.count > 1)
        m->obstacle = "its weights have a scale per row, and a rescale of sums has but one";
    return true;
}

/* A relabel of v to type t, named after `like`. */
static assay_status add_relabel(assay_graph *g, int like, int v, const char *suffix,
                                const assay_type *t, int *id, assay_error *err)
{
    assay_status s = rewrite_add_derived(g, like, suffix, t, id, err);
    return s ? s : assay_graph_add_node(g, ASSAY_OP_RELABEL, NULL, &v, 1, id, 1, NULL, NULL, err);
}

/* Sums plus bias, both plain numbers. */
static assay_status add_bias(assay_graph *g, int y, int bias, int *sums, assay_error *err)
{
    assay_type plain = g->value[bias].type;
    const assay_type t = g->value[*sums].type;
    int b, in[2];
    plain.q = (assay_qparams){0};
    assay_status s = add_relabel(g, y, bias, ":matmul:bias", &plain, &b, err);
    in[0] = *sums;
    in[1] = b;
    if (!s)
        s = rewrite_add_derived(g, y, ":biased", &t, sums, err);
    return s ? s : assay_graph_add_node(g, ASSAY_OP_ADD, NULL, in, 2, sums, 1, NULL, NULL, err);
}

assay_status rewrite_fc_to_matmul_rewrite(assay_graph *g, const assay_match *m,
                                          const assay_rule_image *image, assay_error *err)
{
    const assay_node fc = g->node[m->lower];
    const int bias = fc.n_in > 2 ? fc.in[2] : ASSAY_NO_VALUE, y = fc.out[0];
    const float scale =
        bias >= 0 ? g->value[bias].type.q.scale[0]
                  : g->value[fc.in[0]].type.q.scale[0] * g->value[fc.in[1]].type.q.scale[0];
    const int32_t zero = 0;
    assay_type plain = g->value[y].type, codes;
    int w, sums, in[2], id;
    (void)image;
    plain.elem = assay_int(32, true);
    plain.q = (assay_qparams){0};
    codes = plain;
    codes.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero};
    assay_status s = add_transposed(g, y, fc.in[1], ":matmul:weights", &w, err);
    if (!s)
        s = rewrite_add_derived(g, y, ":sums", &plain, &sums, err);
    in[0] = fc.in[0];
    in[1] = w;
    if (!s)
        s = assay_graph_add_node(g, ASSAY_OP_MATMUL, NULL, in, 2, &sums, 1, NULL, &id, err);
    if (!s && bias >= 0)
        s = add_bias(g, y, bias, &sums, err);
    if (!s)
        s = add_relabel(g, y, sums, ":codes", &codes, &sums, err);
    if (s)
        return s;
    assay_node *n = &g->node[m->lower]; /* bounds and name stay */
    n->op = ASSAY_OP_RESCALE;
    memset(&n->attr, 0, sizeof n->attr);
    n->in[0] = sums;
    n->n_in = 1;
    return assay_graph_compact(g, NULL, err);
}

/* ---- matrix product by a constant, addition, and one rescale of the sums -> fully connected ----
 */

/* What yields v, for one reader only; noted in the match behind the others. */
static const assay_node *sole(const assay_graph *g, const int *uses, int v, assay_op op, int *node)
{
    *node = v >= 0 ? g->value[v].producer : -1;
    const assay_node *n = *node >= 0 ? &g->node[*node] : NULL;
    return n && n->op == op && uses[v] == 1 && lower_is_plain(n) ? n : NULL;
}

/* A number for each column, plain numbers of 32 bits. */
static bool is_column_bias(const assay_graph *g, int v, int64_t columns)
{
    const assay_type *t = &g->value[v].type;
    return lower_is_constant(g, v) && assay_is_accumulator(t) && t->rank == 1 &&
           t->dim[0] == columns;
}

bool rewrite_sums_to_fc_matches(const assay_graph *g, const int *uses, assay_match *m)
{
    const assay_node *rescale = &g->node[m->lower];
    int node[3], n = 3;
    if (rescale->op != ASSAY_OP_RESCALE || !lower_is_code(assay_node_out(g, rescale, 0)))
        return false;
    const assay_node *below = sole(g, uses, rescale->in[0], ASSAY_OP_RELABEL, &node[--n]);
    if (!below || !assay_is_accumulator(&assay_node_in(g, below, 0)->type) ||
        assay_node_out(g, below, 0)->type.q.granularity != ASSAY_Q_TENSOR ||
        assay_node_out(g, below, 0)->type.q.zero_point[0] != 0)
        return false;
    const assay_node *add = sole(g, uses, below->in[0], ASSAY_OP_ADD, &node[n - 1]);
    n -= add != NULL;
    const int sums = add ? add->in[0] : below->in[0];
    const assay_node *matmul = sole(g, uses, sums, ASSAY_OP_MATMUL, &node[--n]);
    if (!matmul || !lower_is_code(assay_node_in(g, matmul, 0)) ||
        assay_node_in(g, matmul, 0)->type.rank < 2 || matmul->attr.matmul.transpose_a ||
        !lower_is_constant(g, matmul->in[1]) || !lower_is_code(assay_node_in(g, matmul, 1)) ||
        assay_node_in(g, matmul, 1)->type.rank != 2)
        return false;
    const assay_type *y = &assay_node_out(g, matmul, 0)->type;
    if (add && !is_column_bias(g, add->in[1], y->dim[y->rank - 1]))
        return false;
    for (; n < 3; n++) { /* what is summed first */
        m->upper[m->n_upper] = node[n];
        m->slot[m->n_upper++] = 0;
    }
    return true;
}

assay_status rewrite_sums_to_fc_rewrite(assay_graph *g, const assay_match *m,
                                        const assay_rule_image *image, assay_error *err)
{
    const assay_node matmul = g->node[m->upper[0]];
    const int y = g->node[m->lower].out[0];
    int in[3] = {matmul.in[0], matmul.in[1], ASSAY_NO_VALUE};
    assay_status s = ASSAY_OK;
    (void)image;
    if (!matmul.attr.matmul.transpose_b)
        s = add_transposed(g, y, matmul.in[1], ":fc:weights", &in[1], err);
    if (!s && m->n_upper == 3) {
        assay_type codes = g->value[g->node[m->upper[1]].in[1]].type;
        codes.q = g->value[g->node[m->lower].in[0]].type.q;
        s = add_relabel(g, y, g->node[m->upper[1]].in[1], ":fc:bias", &codes, &in[2], err);
    }
    if (!s)
        s = lower_rewrite_input(g, m->lower, 0, in[0], err);
    for (int i = 1; i < m->n_upper && !s; i++)
        s = lower_rewrite_input(g, m->lower, i, in[i], err);
    if (s)
        return s;
    assay_node *n = &g->node[m->lower]; /* bounds and name stay */
    n->op = ASSAY_OP_FC;
    memset(&n->attr, 0, sizeof n->attr);
    return assay_graph_compact(g, NULL, err);
}
