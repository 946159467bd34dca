/* Operands that come as patterns: those of a float_decode, as QDQ networks of small floats have
 * them, taken into the product as they are instead of being decoded and encoded again.
 *
 *   product(move(decode(codes, scale)), ..)  =  scaled product(move(codes), .., move(scale), ..)
 *
 * Moves are transpose, reshape and the patches of a convolution. One scale for all goes through any
 * of them; scales of blocks through transpose, and those of the first axis, a filter each, through
 * the reshape of filters to rows. */
#include <string.h>

#include "opt/quantize/units_parts.h"

#define MAX_MOVES 8

static bool has_one_scale(const units_maker *m, const units_operand *o)
{
    return assay_shape_count(&m->g->value[o->scale].type) == 1;
}

static assay_status reshape(units_maker *m, int x, int rank, const int64_t *dim, const char *base,
                            const char *suffix, int *out)
{
    assay_attrs a = {.shape = {.shape = {.n = rank}}};
    memcpy(a.shape.shape.v, dim, (size_t)rank * sizeof *dim);
    return quantize_units_add(m, ASSAY_OP_RESHAPE, &x, 1, base, suffix, &a, out);
}

/* The one scale, in the rank of y. */
static assay_status move_one_scale(units_maker *m, const assay_value *y, units_operand *o)
{
    int64_t ones[ASSAY_MAX_RANK];
    o->block.n = y->type.rank;
    for (int d = 0; d < y->type.rank; d++) {
        ones[d] = 1;
        o->block.v[d] = y->type.dim[d] > 0 ? y->type.dim[d] : 1;
    }
    return reshape(m, o->scale, y->type.rank, ones, y->name, "given_scale", &o->scale);
}

static assay_status transpose(units_maker *m, const assay_node *n, const assay_value *y,
                              units_operand *o)
{
    const assay_list *perm = &n->attr.perm.perm;
    const assay_list old = o->block;
    const int scale = o->scale;
    for (int d = 0; d < perm->n; d++)
        o->block.v[d] = old.v[perm->v[d]];
    return quantize_units_add(m, ASSAY_OP_TRANSPOSE, &scale, 1, y->name, "given_scale", &n->attr,
                              &o->scale);
}

/* Filters [O, ..] to rows [g, O/g, K], a scale each. */
static bool is_rows(const units_maker *m, const assay_node *n, const units_operand *o)
{
    const assay_type *x = &m->g->value[n->in[0]].type, *y = &m->g->value[n->out[0]].type;
    bool whole =
        x->rank >= 2 && y->rank == 3 && o->block.v[0] == 1 && y->dim[0] * y->dim[1] == x->dim[0];
    for (int d = 1; d < x->rank && whole; d++)
        whole = o->block.v[d] >= x->dim[d];
    return whole;
}

static assay_status rows(units_maker *m, const assay_value *y, units_operand *o)
{
    const int64_t scales[3] = {y->type.dim[0], y->type.dim[1], 1};
    o->block = (assay_list){.n = 3, .v = {1, 1, y->type.dim[2] > 0 ? y->type.dim[2] : 1}};
    return reshape(m, o->scale, 3, scales, y->name, "given_scale", &o->scale);
}

/* Operand o through the move n; *can is false where its scales do not go through. */
static assay_status move(units_maker *m, const assay_node *n, units_operand *o, bool *can)
{
    const assay_value *y = &m->g->value[n->out[0]];
    const bool one = has_one_scale(m, o);
    *can = one || n->op == ASSAY_OP_TRANSPOSE || (n->op == ASSAY_OP_RESHAPE && is_rows(m, n, o));
    if (!*can)
        return ASSAY_OK;
    const assay_node moved = *n; /* the list of nodes may move */
    const assay_value to = *y;
    const int codes = o->codes;
    assay_status s =
        quantize_units_add(m, moved.op, &codes, 1, to.name, "given", &moved.attr, &o->codes);
    if (s)
        return s;
    return one                              ? move_one_scale(m, &to, o)
           : moved.op == ASSAY_OP_TRANSPOSE ? transpose(m, &moved, &to, o)
                                            : rows(m, &to, o);
}

static bool moves(assay_op op)
{
    return op == ASSAY_OP_TRANSPOSE || op == ASSAY_OP_RESHAPE || op == ASSAY_OP_PATCHES;
}

assay_status quantize_units_given(units_maker *m, int x, units_operand *o, bool *is)
{
    int path[MAX_MOVES], n = 0, at = m->g->value[x].producer;
    assay_status s = ASSAY_OK;
    *is = false;
    for (; at >= 0 && n < MAX_MOVES && moves(m->g->node[at].op); n++) {
        path[n] = at;
        at = m->g->value[m->g->node[at].in[0]].producer;
    }
    if (at < 0 || m->g->node[at].op != ASSAY_OP_FLOAT_DECODE)
        return ASSAY_OK;
    const assay_node *decode = &m->g->node[at];
    units_operand given = {decode->in[0], decode->in[1],
                           decode->n_in > 2 ? decode->in[2] : ASSAY_NO_VALUE,
                           decode->attr.float_decode.block};
    bool can = true;
    while (n > 0 && can && !s)
        s = move(m, &m->g->node[path[--n]], &given, &can);
    *is = can && !s;
    if (*is)
        *o = given;
    return s;
}

/* Does the unit take what was given, of format f? NULL: it is made as the unit wants it. */
static bool takes(const units_maker *m, const assay_mac *unit, int64_t f, const units_operand *o,
                  int64_t k)
{
    enum assay_mac_format elements, scale;
    if (!o)
        return true;
    const int64_t run = o->block.v[o->block.n - 1];
    if (!mac_format_of(m->g->value[o->codes].type.elem, &elements) ||
        !mac_format_of(m->g->value[o->scale].type.elem, &scale) || (int64_t)elements != f)
        return false;
    if (unit->scale_block == 0)
        return run >= k || run % (int64_t)mac_multiple(unit) == 0;
    const int64_t format = unit->scale == ASSAY_MAC_UE4M3 ? ASSAY_MAC_E4M3FN : unit->scale;
    return (int64_t)scale == format && run % unit->scale_block == 0;
}

const assay_mac *quantize_units_taking(const units_maker *m, const units_operand *a,
                                       const units_operand *b, int64_t k)
{
    for (int i = 0; i < m->s->n_units; i++) {
        const assay_mac *unit = &m->s->unit[i].record;
        if (takes(m, unit, unit->a, a, k) && takes(m, unit, unit->b, b, k))
            return unit;
    }
    return NULL;
}
