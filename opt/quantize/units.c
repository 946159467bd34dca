/* Networks for matrix units of small floats: each conv, fc and matmul becomes a product of
 * patterns.
 *
 *   fc       y = scaled_matmul(encode(x), encode(w), scales, bias)
 *   matmul   the same of both operands, the second as [..,N,K]
 *   conv     the same of patches(x) and of the filters as rows in that order; then y in its layout
 *
 * The scales of activations are chosen in the run, from the row or block at hand; those of weights
 * are computed from the constants by nodes of the same kind. All other nodes stay: the scheme
 * computes them in floats, step by step. */
#include "opt/quantize/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/lower/opt.h"
#include "opt/quantize/plan.h"
#include "opt/quantize/units_parts.h"
#include "schemes/mac/scale.h"
#include "schemes/node/spec.h"

static int64_t whole(int64_t dim)
{
    return dim > 0 ? dim : 1;
}

/* What of x shares a scale, [.., rows, columns] at its end. */
static assay_list block_of(const assay_mac_sharing *h, const assay_type *x)
{
    assay_list l = {.n = x->rank};
    for (int d = 0; d < x->rank; d++)
        l.v[d] = h->rows == 0 ? whole(x->dim[d]) : 1;
    l.v[x->rank - 2] = h->rows == 0 ? whole(x->dim[x->rank - 2]) : h->rows;
    l.v[x->rank - 1] = h->columns == 0 ? whole(x->dim[x->rank - 1]) : h->columns;
    return l;
}

/* The greatest number of an f8e4m3fn, which scales of scales leave room for. */
#define REACH_E4M3 448.0F

/* The scale 1, for all of x. */
static assay_status one(units_maker *m, int x, const char *role, int *out)
{
    const assay_value v = m->g->value[x];
    char suffix[64];
    snprintf(suffix, sizeof suffix, "%sscale", role);
    return quantize_units_one(m, &v.type, v.name, suffix, out);
}

/* Scales of x for such elements, chosen by nodes. */
static assay_status scales(units_maker *m, int x, const assay_mac_sharing *h,
                           enum assay_mac_format elements, const char *role, units_operand *o)
{
    const assay_type type = m->g->value[x].type;
    const char *base = m->g->value[x].name;
    char suffix[64];
    assay_attrs a = {.block_scale = {.block = {.n = type.rank},
                                     .elements = (int)mac_elem_of(elements),
                                     .to = (int)ASSAY_FLOAT_F32,
                                     .rule = (int)ASSAY_SCALE_AMAX,
                                     .reach = REACH_E4M3}};
    for (int d = 0; d < type.rank; d++)
        a.block_scale.block.v[d] = whole(type.dim[d]);
    snprintf(suffix, sizeof suffix, "%sscale_of_scales", role);
    assay_status s =
        h->second ? quantize_units_add(m, ASSAY_OP_BLOCK_SCALE, &x, 1, base, suffix, &a, &o->second)
                  : ASSAY_OK;

    a.block_scale.block = o->block;
    a.block_scale.to = (int)mac_elem_of(h->to);
    a.block_scale.rule = h->to == ASSAY_MAC_E8M0 ? (int)m->s->scale_rule : (int)h->rule;
    a.block_scale.reach = 1;
    const int scaled[] = {x, o->second};
    snprintf(suffix, sizeof suffix, "%sscale", role);
    return !s ? quantize_units_add(m, ASSAY_OP_BLOCK_SCALE, scaled, h->second ? 2 : 1, base, suffix,
                                   &a, &o->scale)
              : s;
}

/* x as patterns under scales, or under none where those would take it out of the unit's range;
 * elements of f32 are x itself. `role` tells the same value as another operand. */
static assay_status encode(units_maker *m, int x, enum assay_mac_scales wanted,
                           const assay_mac *unit, int64_t format, const char *role,
                           units_operand *o)
{
    const enum assay_mac_format elements = (enum assay_mac_format)format;
    const bool too_far =
        unit->scale_block == 0 && mac_format_reaches(elements, (enum assay_mac_format)unit->out);
    const enum assay_mac_scales how = too_far ? ASSAY_MAC_SCALES_NONE : wanted;
    const assay_mac_sharing *h = mac_sharing_of(how);
    char suffix[64];
    *o = (units_operand){x, ASSAY_NO_VALUE, ASSAY_NO_VALUE, block_of(h, &m->g->value[x].type)};
    const assay_status s = how == ASSAY_MAC_SCALES_NONE ? one(m, x, role, &o->scale)
                                                        : scales(m, x, h, elements, role, o);
    if (s || elements == ASSAY_MAC_F32)
        return s;
    const assay_attrs e = {.float_encode = {.block = o->block,
                                            .to = (int)mac_elem_of(elements),
                                            .by = (int)m->s->scale_by,
                                            .saturate = m->s->saturate != 0}};
    const int encoded[] = {x, o->scale, o->second};
    snprintf(suffix, sizeof suffix, "%s%s", role, mac_layout_of(elements)->name);
    return quantize_units_add(m, ASSAY_OP_FLOAT_ENCODE, encoded, h->second ? 3 : 2,
                              m->g->value[x].name, suffix, &e, &o->codes);
}

/* The product of two operands, as value y; y < 0: as a new one. */
static assay_status multiply(units_maker *m, const units_operand *a, const units_operand *b,
                             int bias, int y, const char *suffix, int *out)
{
    const assay_attrs attr = {.scaled_matmul = {.a_block = a->block, .b_block = b->block}};
    const int in[] = {a->codes, b->codes, a->scale, b->scale, a->second, b->second, bias};
    const bool seconds = a->second != ASSAY_NO_VALUE || b->second != ASSAY_NO_VALUE;
    const int n = bias != ASSAY_NO_VALUE ? 7 : seconds ? 6 : 4;
    if (y < 0)
        return quantize_units_add(m, ASSAY_OP_SCALED_MATMUL, in, n, m->prefix, suffix, &attr, out);
    *out = y;
    return assay_graph_add_node(m->g, ASSAY_OP_SCALED_MATMUL, NULL, in, n, &y, 1, &attr, NULL,
                                m->err);
}

/* Operands that are made here are moved ones. */
static bool is_constant(const units_maker *m, int v)
{
    while (v >= m->n_given)
        v = m->g->node[m->g->value[v].producer].in[0];
    return m->constant[v];
}

static assay_status products(units_maker *m, int a, int b, bool constant_b, int bias, int y,
                             const char *suffix, int *out)
{
    const int64_t k = m->g->value[a].type.dim[m->g->value[a].type.rank - 1];
    const enum assay_mac_scales weights =
        (enum assay_mac_scales)(constant_b ? m->s->weight_scales : m->s->activation_scales);
    units_operand oa, ob;
    bool given_a = false, given_b = false;
    assay_status s = quantize_units_given(m, a, &oa, &given_a);
    if (!s)
        s = quantize_units_given(m, b, &ob, &given_b);
    if (s)
        return s;
    const assay_mac *unit = quantize_units_taking(m, given_a ? &oa : NULL, given_b ? &ob : NULL, k);
    if (!unit) {
        given_a = given_b = false;
        unit = &m->s->unit[0].record;
    }
    if (!given_a)
        s = encode(m, a, (enum assay_mac_scales)m->s->activation_scales, unit, unit->a,
                   is_constant(m, a) ? "a:" : "", &oa);
    if (!s && !given_b)
        s = encode(m, b, weights, unit, unit->b, constant_b ? "" : "b:", &ob);
    return !s ? multiply(m, &oa, &ob, bias, y, suffix, out) : s;
}

static int input(const assay_node *n, int i)
{
    return i < n->n_in ? n->in[i] : ASSAY_NO_VALUE;
}

/* The node added last bounds its results as n does: n's work ends there. */
static void bound(units_maker *m, const assay_node *n)
{
    assay_node *last = &m->g->node[m->g->n_nodes - 1];
    last->act_lo = n->act_lo;
    last->act_hi = n->act_hi;
}

static assay_status fc(units_maker *m, const assay_node *n)
{
    int out;
    const assay_status s =
        products(m, n->in[0], n->in[1], is_constant(m, n->in[1]), input(n, 2), n->out[0], "", &out);
    if (!s)
        bound(m, n);
    return s;
}

/* x with its last two axes exchanged. */
static assay_status transposed(units_maker *m, int x, const char *suffix, int *out)
{
    const int rank = m->g->value[x].type.rank;
    assay_attrs a = {.perm = {.perm = {.n = rank}}};
    for (int d = 0; d < rank; d++)
        a.perm.perm.v[d] = d;
    a.perm.perm.v[rank - 2] = rank - 1;
    a.perm.perm.v[rank - 1] = rank - 2;
    return quantize_units_add(m, ASSAY_OP_TRANSPOSE, &x, 1, m->prefix, suffix, &a, out);
}

static assay_status matmul(units_maker *m, const assay_node *n)
{
    int a = n->in[0], b = n->in[1], out;
    const bool constant = is_constant(m, b);
    assay_status s = n->attr.matmul.transpose_a ? transposed(m, n->in[0], "a_rows", &a) : ASSAY_OK;
    if (!s && !n->attr.matmul.transpose_b)
        s = transposed(m, n->in[1], "b_rows", &b);
    if (!s)
        s = products(m, a, b, constant, ASSAY_NO_VALUE, n->out[0], "", &out);
    if (!s)
        bound(m, n);
    return s;
}

/* Filters O,I/g,k.. or O,k..,I/g as [g, O/g, cells * I/g], channels fastest. */
static assay_status filter_rows(units_maker *m, const assay_node *n, int *out)
{
    const assay_attr_conv *c = &n->attr.conv;
    const assay_type w = m->g->value[n->in[1]].type;
    assay_attrs perm = {.perm = {.perm = {.n = w.rank}}}, shape = {.shape = {.shape = {.n = 3}}};
    int rows = n->in[1];
    assay_status s = ASSAY_OK;
    if (c->layout != ASSAY_LAYOUT_NHWC) {
        for (int d = 1; d < w.rank; d++)
            perm.perm.perm.v[d] = d < w.rank - 1 ? d + 1 : 1;
        s = quantize_units_add(m, ASSAY_OP_TRANSPOSE, &n->in[1], 1, m->prefix, "filters", &perm,
                               &rows);
    }
    shape.shape.shape.v[0] = c->group;
    shape.shape.shape.v[1] = w.dim[0] / c->group;
    shape.shape.shape.v[2] = w.dim[0] ? assay_shape_count(&w) / w.dim[0] : 0;
    return !s ? quantize_units_add(m, ASSAY_OP_RESHAPE, &rows, 1, m->prefix, "filter_rows", &shape,
                                   out)
              : s;
}

/* The bias as [g, 1, O/g], added where groups are several. */
static assay_status add_bias(units_maker *m, int bias, int64_t group, int x, int *out)
{
    const int64_t channels = m->g->value[bias].type.dim[0];
    const assay_attrs shape = {.shape = {.shape = {.n = 3, .v = {group, 1, channels / group}}}};
    int in[2] = {x, 0};
    assay_status s =
        quantize_units_add(m, ASSAY_OP_RESHAPE, &bias, 1, m->prefix, "bias_rows", &shape, &in[1]);
    return !s ? quantize_units_add(m, ASSAY_OP_ADD, in, 2, m->prefix, "with_bias", NULL, out) : s;
}

/* [N, g, windows, O/g] to y's shape. */
static assay_status as_image(units_maker *m, const assay_node *n, int x)
{
    static const int64_t nchw[] = {0, 1, 3, 2}, nhwc[] = {0, 2, 1, 3};
    const assay_type y = m->g->value[n->out[0]].type;
    assay_attrs perm = {.perm = {.perm = {.n = 4}}}, shape = {.shape = {.shape = {.n = y.rank}}};
    int transposed_x;
    memcpy(perm.perm.perm.v, n->attr.conv.layout == ASSAY_LAYOUT_NHWC ? nhwc : nchw, sizeof nchw);
    memcpy(shape.shape.shape.v, y.dim, (size_t)y.rank * sizeof *y.dim);
    const assay_status s =
        quantize_units_add(m, ASSAY_OP_TRANSPOSE, &x, 1, m->prefix, "turned", &perm, &transposed_x);
    return !s ? assay_graph_add_node(m->g, ASSAY_OP_RESHAPE, NULL, &transposed_x, 1, n->out, 1,
                                     &shape, NULL, m->err)
              : s;
}

static assay_status conv(units_maker *m, const assay_node *n)
{
    const assay_attrs attr = n->attr;
    const int64_t group = n->attr.conv.group;
    const int bias = input(n, 2);
    int x, w, y;
    assay_status s =
        quantize_units_add(m, ASSAY_OP_PATCHES, n->in, 1, m->prefix, "patches", &attr, &x);
    if (!s)
        s = filter_rows(m, n, &w);
    if (!s)
        s = products(m, x, w, is_constant(m, n->in[1]), group == 1 ? bias : ASSAY_NO_VALUE, -1,
                     "products", &y);
    if (!s && group > 1 && bias != ASSAY_NO_VALUE)
        s = add_bias(m, bias, group, y, &y);
    if (!s)
        bound(m, n);
    return !s ? as_image(m, n, y) : s;
}

static bool is_f32(const assay_graph *g, const assay_node *n)
{
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != ASSAY_NO_VALUE && g->value[n->in[i]].type.elem.kind != ASSAY_KIND_F32)
            return false;
    return true;
}

/* Is the node one that becomes a product? */
static bool multiplies(const assay_graph *g, const assay_node *n)
{
    if (!is_f32(g, n) || g->value[n->in[0]].type.rank < 2)
        return false;
    return n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_FC ||
           (n->op == ASSAY_OP_MATMUL && g->value[n->in[1]].type.rank >= 2);
}

static assay_status rewrite(units_maker *m, int i)
{
    const assay_node n = m->g->node[i]; /* its lists stay where they are in the graph's arena */
    m->prefix = m->g->value[n.out[0]].name;
    m->g->value[n.out[0]].producer = -1; /* the product will be */
    return n.op == ASSAY_OP_CONV ? conv(m, &n) : n.op == ASSAY_OP_FC ? fc(m, &n) : matmul(m, &n);
}

static assay_status rewrite_all(assay_graph *g, const assay_scheme *scheme, assay_error *err)
{
    const int nodes = g->n_nodes;
    bool *constant = quantize_units_constants(g);
    units_maker m = {g, scheme->mac, NULL, nodes, err, g->n_values, constant};
    assay_status s = constant ? ASSAY_OK : assay_out_of_memory(err);
    for (int i = 0; i < nodes && !s; i++)
        if (multiplies(g, &g->node[i]))
            s = rewrite(&m, i);
    free(constant);
    return s;
}

static assay_status judge(const assay_graph *g, const assay_scheme *scheme, const assay_node *n,
                          assay_quantize_report *r, assay_error *err)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit *unit = NULL;
    assay_error why;
    if (assay_op_get(n->op)->traits & (ASSAY_T_MOVE | ASSAY_T_SELECTS | ASSAY_T_COMPARE) ||
        n->op == ASSAY_OP_PATCHES)
        return ASSAY_OK; /* nothing is rounded */
    assay_unit_spec_fill(g, n, in, &spec);
    const assay_status s = scheme->vt->prepare(scheme, &spec, &unit, &why);
    if (s == ASSAY_ERR_MEMORY)
        return assay_fail(err, s, "%s", why.text);
    if (s)
        return quantize_report_note(r, n, why.text, err);
    scheme->vt->release(unit);
    r->n_integer++;
    return ASSAY_OK;
}

assay_status quantize_for_units(const assay_graph *g, const assay_scheme *scheme, assay_graph **out,
                                assay_quantize_report *report, assay_error *err)
{
    assay_graph *q;
    assay_status s = assay_graph_clone(g, &q, err);
    *out = NULL;
    if (s)
        return s;
    const int nodes = q->n_nodes;
    int changed;
    bool *dead = NULL;
    s = rewrite_all(q, scheme, err);
    dead = calloc((size_t)q->n_nodes + 1, sizeof *dead);
    if (!s && !dead)
        s = assay_out_of_memory(err);
    for (int i = 0; i < nodes && !s; i++)
        dead[i] = multiplies(q, &q->node[i]);
    if (!s)
        s = assay_graph_compact(q, dead, err);
    free(dead);
    if (!s) /* what was decoded for a product that takes the patterns */
        s = lower_eliminate_dead(q, &changed, err);
    for (int i = 0; i < q->n_nodes && !s; i++)
        s = judge(q, scheme, &q->node[i], report, err);
    if (!s)
        s = assay_graph_set_quantized_for(q, scheme->name, err);
    if (!s)
        s = assay_graph_verify(q, err);
    if (s)
        assay_graph_free(q);
    else
        *out = q;
    return s;
}
