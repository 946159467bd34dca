/* Checking what can be read off the fragments: nodes that only moved, duplicates, padding. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "opt/check/check.h"

static bool same_work(const assay_node *a, const assay_node *b)
{
    return a->op == b->op && a->n_in == b->n_in && a->n_out == b->n_out &&
           check_same_bounds(a, b) &&
           assay_attrs_equal(assay_op_get(a->op)->attrs, &a->attr, &b->attr);
}

/* ---- sinking: the same nodes, a rescale behind for each output ---- */

bool check_same_rescale(const assay_graph *g, const assay_node *a, const assay_graph *h,
                        const assay_node *b)
{
    return a->op == b->op && check_traits(a) & ASSAY_T_CONVERT && check_same_bounds(a, b) &&
           check_same_type(&g->value[a->in[0]].type, &h->value[b->in[0]].type) &&
           check_same_type(&g->value[a->out[0]].type, &h->value[b->out[0]].type);
}

/* The same work; what a pad fills with is looked at apart. */
static bool same_movement(const assay_node *below, const assay_node *moved)
{
    assay_node other = *moved;
    if (below->op == ASSAY_OP_PAD && moved->op == ASSAY_OP_PAD) {
        other.attr.pad.value = below->attr.pad.value;
        other.attr.pad.has_code = below->attr.pad.has_code;
        other.attr.pad.code = below->attr.pad.code;
    }
    return same_work(below, &other);
}

/* The node below reads rescales where it reads codes; in its place it reads what they read. */
bool check_is_sunk(const assay_graph *g, const assay_node *below, const assay_graph *h,
                   const assay_node *moved, const assay_node *rescale)
{
    bool any = false;
    if (!same_movement(below, moved))
        return false;
    for (int i = 0; i < below->n_in; i++) {
        const bool rescaled = below->in[i] >= 0 && check_is_code(&g->value[below->in[i]].type);
        const assay_node *p = rescaled ? check_producer(g, below->in[i]) : NULL;
        int source = p ? p->in[0] : below->in[i];
        if ((rescaled && !p) || (p && !check_same_rescale(g, p, h, rescale)) || source < 0 ||
            !check_same_value(g, source, h, moved->in[i]))
            return false;
        any |= rescaled;
    }
    return any;
}

/* What a pad fills a value of type t with. */
static bool fill_of(const assay_attr_pad *p, const assay_type *t, int64_t *code)
{
    if (p->has_code)
        *code = p->code;
    else
        *code = p->value == 0 ? t->q.zero_point[0] : assay_elem_min(t->elem);
    return (p->has_code || p->value == 0 || p->value <= -FLT_MAX) &&
           *code >= assay_elem_min(t->elem) && *code <= assay_elem_max(t->elem);
}

/* The filling, rescaled, is what it was. */
static bool fills_alike(const assay_node *below, const assay_node *moved, const assay_type *x,
                        const assay_type *y, const int32_t *table)
{
    int64_t was, is;
    if (below->op != ASSAY_OP_PAD || below->attr.pad.mode != ASSAY_PAD_CONSTANT)
        return true;
    return fill_of(&below->attr.pad, y, &was) && fill_of(&moved->attr.pad, x, &is) &&
           table[is - assay_elem_min(x->elem)] == was;
}

/* By its op, the node outputs codes that it was given. */
static bool only_moves(const assay_node *n, bool by_order)
{
    const uint32_t traits = check_traits(n), ordered = ASSAY_T_SELECTS | ASSAY_T_MONOTONE;
    if (by_order)
        return (traits & ordered) == ordered;
    return traits & ASSAY_T_MOVE || (traits & ordered) == ASSAY_T_SELECTS ||
           (traits & ASSAY_T_INTERPOLATES && n->attr.resize.mode == ASSAY_RESIZE_NEAREST);
}

/* Where the target does arithmetic on a chosen code, its result is the same on both sides of the
 * rescale. */
static assay_status compare_choices(const check_context *c, const assay_node *below,
                                    const assay_node *moved, const int32_t *table, size_t size)
{
    const assay_type *x = &c->after->value[moved->in[0]].type;
    const assay_type *y = &c->before->value[below->in[0]].type;
    const int64_t least_x = assay_elem_min(x->elem);
    assay_unit *before = NULL, *after = NULL;
    bool same = true;
    if (check_traits(below) & ASSAY_T_MOVE || below->op == ASSAY_OP_SELECT)
        return ASSAY_OK;
    if (!c->scheme->vt->unary)
        return check_reject(c, "the scheme has no unit that chooses codes");
    assay_status s = check_prepare_pair(c, below, moved, &before, &after);
    for (size_t i = 0; i < size && !s && same; i++) {
        int32_t was = table[i], is = (int32_t)(least_x + (int64_t)i);
        c->scheme->vt->unary(before, &was, 1, &was);
        c->scheme->vt->unary(after, &is, 1, &is);
        same = is >= least_x && is <= assay_elem_max(x->elem) && was == table[is - least_x] &&
               check_is_code(y);
    }
    check_release_pair(c, before, after);
    return s || same ? s : check_reject(c, "the target does arithmetic on the chosen codes");
}

static bool may_miss_the_image(const assay_node *n)
{
    const assay_attr_pool *a = &n->attr.pool;
    bool may = false;
    for (int i = 0; assay_op_get(n->op)->attrs == ASSAY_ATTRS_pool && i < a->kernel.n; i++) {
        int64_t pad = a->pad_begin.v[i] > a->pad_end.v[i] ? a->pad_begin.v[i] : a->pad_end.v[i];
        may |= a->ceil_mode || pad >= a->kernel.v[i] || (pad > 0 && a->dilation.v[i] != 1);
    }
    return may;
}

/* Output i before is what the moved node's output i, rescaled, is after. */
bool check_outputs_fit(const check_context *c, const assay_node *below, const assay_node *moved,
                       const assay_node *first)
{
    const assay_graph *g = c->before, *h = c->after;
    if (g->n_outputs != h->n_outputs || g->n_outputs != below->n_out)
        return false;
    for (int i = 0; i < g->n_outputs; i++) {
        const assay_node *r = check_producer(h, h->output[i]);
        if (!r || r->in[0] != moved->out[i] || g->output[i] != below->out[i] ||
            !check_same_rescale(h, r, h, first) ||
            !check_same_type(&g->value[g->output[i]].type, &h->value[h->output[i]].type) ||
            !assay_shape_equal(&g->value[g->output[i]].type, &h->value[h->output[i]].type))
            return false;
    }
    return true;
}

static assay_status check_sink(const check_context *c, bool by_order)
{
    const assay_node *below = check_producer(c->before, c->before->output[0]);
    const assay_node *rescale = check_producer(c->after, c->after->output[0]);
    const assay_node *moved = rescale ? check_producer(c->after, rescale->in[0]) : NULL;
    int32_t *table = NULL;
    size_t size = 0;
    if (!below || !moved || !check_is_sunk(c->before, below, c->after, moved, rescale) ||
        !check_outputs_fit(c, below, moved, rescale))
        return check_reject(c, "the rescale was not only moved");
    if (!only_moves(below, by_order))
        return check_reject(c, "the node does not only move codes");
    assay_status s = check_tabulate(c, c->after, rescale, &table, &size);
    if (s)
        return s;
    const assay_type *x = &c->after->value[rescale->in[0]].type;
    const assay_type *y = &c->after->value[rescale->out[0]].type;
    bool least_kept = table[0] == assay_elem_min(y->elem);
    for (size_t i = 1; i < size && by_order && !s; i++)
        if (table[i] < table[i - 1])
            s = check_reject(c, "the rescale is not monotone");
    if (!s && by_order && may_miss_the_image(below) && !least_kept)
        s = check_reject(c, "a window may lie in the padding");
    if (!s && !fills_alike(below, moved, x, y, table))
        s = check_reject(c, "the padding would be rescaled to another code");
    if (!s)
        s = compare_choices(c, below, moved, table, size);
    free(table);
    return s;
}

assay_status check_move(check_context *c, const json_t *step, int64_t *worst)
{
    (void)step;
    *worst = 0;
    return check_sink(c, false);
}

assay_status check_order(check_context *c, const json_t *step, int64_t *worst)
{
    (void)step;
    *worst = 0;
    return check_sink(c, true);
}

/* ---- elements: transposes in front of an element-wise node, then one behind it ---- */

assay_status check_elements(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before, *h = c->after;
    const assay_node *below = check_producer(g, g->output[0]);
    const assay_node *transpose = check_producer(h, h->output[0]);
    const assay_node *moved = transpose ? check_producer(h, transpose->in[0]) : NULL;
    const uint32_t element_wise = ASSAY_T_UNARY | ASSAY_T_BINARY | ASSAY_T_CONVERT;
    (void)step;
    *worst = 0;
    bool same = below && moved && transpose->op == ASSAY_OP_TRANSPOSE && h->n_nodes == 2 &&
                same_work(below, moved) && check_traits(below) & element_wise && below->n_out == 1;
    same = same && check_same_type(&g->value[below->out[0]].type, &h->value[moved->out[0]].type) &&
           g->value[below->out[0]].type.q.granularity <= ASSAY_Q_TENSOR;
    for (int i = 0; same && i < below->n_in; i++) {
        const assay_node *p = check_producer(g, below->in[i]);
        same = p && p->op == ASSAY_OP_TRANSPOSE &&
               assay_attrs_equal(ASSAY_ATTRS_perm, &p->attr, &transpose->attr) &&
               assay_shape_equal(&g->value[below->in[i]].type, &g->value[below->in[0]].type) &&
               g->value[p->in[0]].type.q.granularity <= ASSAY_Q_TENSOR &&
               check_same_value(g, p->in[0], h, moved->in[i]);
    }
    return same ? ASSAY_OK : check_reject(c, "the transposes were not only moved");
}

/* ---- same: two nodes alike, of which one is left ---- */

assay_status check_same(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before, *h = c->after;
    const assay_node *left = check_producer(h, h->output[0]);
    bool same = left && g->n_nodes == 2 && h->n_nodes == 1 && left->n_out == 1;
    (void)step;
    *worst = 0;
    for (int i = 0; same && i < 2; i++) {
        const assay_node *n = &g->node[i];
        same = same_work(n, left) && !(check_traits(n) & ASSAY_T_STATE) &&
               check_same_type(&g->value[n->out[0]].type, &h->value[left->out[0]].type);
        for (int k = 0; same && k < n->n_in; k++)
            same = check_same_value(g, n->in[k], h, left->in[k]);
    }
    return same ? ASSAY_OK : check_reject(c, "two nodes that are not the same");
}

/* ---- padding: a pad of zero points went into the convolution ---- */

static bool pads_alike(const assay_graph *g, const assay_node *pad, const assay_node *a,
                       const assay_node *b)
{
    const assay_attr_pad *p = &pad->attr.pad;
    assay_attrs attr = b->attr;
    int first = a->attr.conv.layout == ASSAY_LAYOUT_NHWC ? 1 : 2, spatial = attr.conv.pad_begin.n;
    for (int k = 0; k < g->value[pad->out[0]].type.rank; k++) {
        bool in_space = k >= first && k - first < spatial;
        if (in_space) {
            attr.conv.pad_begin.v[k - first] -= p->begin.v[k];
            attr.conv.pad_end.v[k - first] -= p->end.v[k];
        } else if (p->begin.v[k] != 0 || p->end.v[k] != 0) {
            return false;
        }
    }
    return assay_attrs_equal(ASSAY_ATTRS_conv, &attr, &a->attr);
}

assay_status check_padding(check_context *c, const json_t *step, int64_t *worst)
{
    const assay_graph *g = c->before, *h = c->after;
    const assay_node *a = check_producer(g, g->output[0]), *b = check_producer(h, h->output[0]);
    const assay_node *pad = a ? check_producer(g, a->in[0]) : NULL;
    (void)step;
    *worst = 0;
    if (!pad || !b || a->op != ASSAY_OP_CONV || b->op != ASSAY_OP_CONV || h->n_nodes != 1 ||
        pad->op != ASSAY_OP_PAD || pad->attr.pad.mode != ASSAY_PAD_CONSTANT ||
        !check_same_bounds(a, b) || a->n_in != b->n_in || !pads_alike(g, pad, a, b) ||
        !check_same_value(g, pad->in[0], h, b->in[0]))
        return check_reject(c, "the padding did not only move");
    for (int i = 1; i < a->n_in; i++)
        if (!check_same_value(g, a->in[i], h, b->in[i]))
            return check_reject(c, "the convolution reads something else");
    const assay_type *t = &g->value[pad->out[0]].type;
    int64_t fill;
    if (!check_is_code(t) || !fill_of(&pad->attr.pad, t, &fill) || fill != t->q.zero_point[0])
        return check_reject(c, "the padding is not the zero point");
    return ASSAY_OK;
}
