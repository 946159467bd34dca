/* Hypotheses over ops that move codes: what padding holds and where it stands, where a slice begins
 * and how it steps, the order of blocks, which operand a part of a concatenation is. */
#include "interp/blame/families.h"

/* ---- pad ---- */

int blame_fill_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_PAD && assay_is_quantized(s->type) ? BLAME_USUAL : 0;
}

static bool fill_with(blame_case *c, int32_t code, blame_story *story)
{
    assay_attr_pad *a = &c->attr.pad;
    const int32_t zero = c->in[0].q.zero_point[0];
    if (a->mode != ASSAY_PAD_CONSTANT || (a->has_code ? a->code == code : zero == code))
        return false;
    blame_tell(story, "padding.value", 1, "padding holds the code %d", code);
    a->has_code = true;
    a->code = code;
    return true;
}

bool blame_fill_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int32_t zero = c->in[0].q.zero_point[0];
    int32_t usual[BLAME_USUAL];
    (void)s;
    return i < blame_usual_codes(&c->in[0], zero, usual) && fill_with(c, usual[i], story);
}

int blame_any_fill_count(blame_search *s)
{
    return blame_fill_count(s) > 0 && s->type->elem.bits <= 8 ? 1 << s->type->elem.bits : 0;
}

bool blame_any_fill_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    (void)s;
    return fill_with(c, (int32_t)assay_elem_min(c->in[0].elem) + i, story);
}

/* Both ends exchanged along all axes; or so many cells more in front of an axis, or of two. */
enum { MAX_MOVE = 3, MOVES = 2 * MAX_MOVE + 1, PLACES = MOVES * ASSAY_MAX_RANK };

int blame_fill_place_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_PAD ? 1 + PLACES : 0;
}

bool blame_fill_place_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    assay_attr_pad *a = &c->attr.pad;
    const int axis = (i - 1) / MOVES, by = (i - 1) % MOVES - MAX_MOVE;
    (void)s;
    if (i == 0) {
        const assay_list begin = a->begin;
        a->begin = a->end;
        a->end = begin;
        blame_tell(story, "padding.place", 1, "padding in front and behind exchanged");
        return true;
    }
    if (axis >= a->begin.n || by == 0 || a->begin.v[axis] + by < 0 || a->end.v[axis] - by < 0)
        return false;
    a->begin.v[axis] += by;
    a->end.v[axis] -= by;
    blame_tell(story, "padding.place", 1, "cells of padding in front of axis %d: %+d", axis, by);
    return true;
}

/* ---- slice ---- */

enum { STEPS = 4, SLICES = STEPS + MOVES };

int blame_slice_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_SLICE ? (1 + s->type->rank) * SLICES : 0;
}

/* Whether what is taken lies in the input. */
static bool is_inside(const blame_case *c)
{
    const assay_attr_slice *a = &c->attr.slice;
    for (int d = 0; d < a->begin.n; d++) {
        const int64_t first = a->begin.v[d], last = first + (a->size.v[d] - 1) * a->step.v[d];
        if (first < 0 || first >= c->in[0].dim[d] || last < 0 || last >= c->in[0].dim[d])
            return false;
    }
    return true;
}

/* Axis 0 of the choices is all axes. */
bool blame_slice_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    assay_attr_slice *a = &c->attr.slice;
    const int set = i / SLICES, what = i % SLICES;
    bool changes = false;
    (void)s;
    for (int d = 0; d < a->begin.n; d++) {
        int64_t *v = what < STEPS ? &a->step.v[d] : &a->begin.v[d];
        const int64_t to = what < STEPS ? what + 1 : *v + what - STEPS - MAX_MOVE;
        if (set > 0 && d != set - 1)
            continue;
        changes = changes || *v != to;
        *v = to;
    }
    if (what < STEPS)
        blame_tell(story, "stride", 1, set ? "steps of %d along axis %d" : "steps of %d", what + 1,
                   set - 1);
    else
        blame_tell(story, "output.layout", 1,
                   set ? "taken from %+d places on along axis %d" : "taken from %+d places on",
                   what - STEPS - MAX_MOVE, set - 1);
    return changes && is_inside(c);
}

/* ---- blocks ---- */

int blame_blocks_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_DEPTH_TO_SPACE || s->n->op == ASSAY_OP_SPACE_TO_DEPTH;
}

bool blame_blocks_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const bool depth_first = c->attr.block.order == ASSAY_D2S_DCR;
    (void)s;
    (void)i;
    c->attr.block.order = depth_first ? ASSAY_D2S_CRD : ASSAY_D2S_DCR;
    blame_tell(story, "output.layout", 1, "blocks in the order %s",
               depth_first ? "column, row, depth" : "depth, column, row");
    return true;
}

/* ---- concat ---- */

int blame_parts_count(blame_search *s)
{
    const int n = s->n->n_in;
    return s->n->op == ASSAY_OP_CONCAT && n <= BLAME_IN ? n * n : 0;
}

bool blame_parts_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int to = i / c->n_in, from = i % c->n_in;
    (void)s;
    if (to == from || !assay_shape_equal(&c->in[to], &c->in[from]) ||
        !assay_elem_equal(c->in[to].elem, c->in[from].elem))
        return false;
    c->data[to] = c->data[from];
    c->constant[to] = c->constant[from];
    blame_tell(story, "operands.swapped", 1, "operand %d in the place of operand %d", from, to);
    return true;
}

/* ---- what is not moved ---- */

int blame_unmoved_count(blame_search *s)
{
    const assay_type *t = blame_input_type(s, 0);
    return s->n->n_in == 1 && assay_op_get(s->n->op)->traits & ASSAY_T_MOVE &&
           t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 32 && assay_shape_count(t) > 1 &&
           s->count % assay_shape_count(t) == 0;
}

/* The input as it lies in memory, as often as it goes into the output. */
bool blame_unmoved_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    (void)i;
    for (int k = 0; k < s->n_samples; k++) {
        blame_case c;
        const int32_t *x = blame_search_case(s, k, &c) ? blame_codes_of(&c, 0) : NULL;
        const int64_t n = x ? assay_shape_count(&c.in[0]) : 1;
        for (int64_t e = 0; e < s->count && x; e++)
            codes[k * s->count + e] = x[e % n];
        if (!x)
            return false;
    }
    blame_tell(story, "output.layout", 1, "the input's elements are copied as they lie");
    return true;
}
