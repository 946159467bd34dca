/* Hypotheses over windows: padding, strides, dilation, tiles without their halo. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

static bool is_windowed(const blame_search *s)
{
    return s->n->op == ASSAY_OP_CONV || s->n->op == ASSAY_OP_MAX_POOL ||
           s->n->op == ASSAY_OP_AVG_POOL;
}

/* Sets of spatial axes: all, then each alone. */
enum { AXIS_SETS = 4 };
static bool is_in_set(int set, int axis)
{
    return set == 0 || set == axis + 1;
}
static bool has_set(int set, int axes)
{
    return set == 0 || (axes > 1 && set <= axes);
}
static const char *const set_words[AXIS_SETS] = {"along all axes", "along axis 0", "along axis 1",
                                                 "along axis 2"};

/* ---- padding ---- */

int blame_padding_value_count(blame_search *s)
{
    return is_windowed(s) ? BLAME_USUAL + 1 : 0;
}

static bool pad_with(blame_case *c, int32_t code, blame_story *story)
{
    const int32_t zero = c->in[0].q.zero_point ? c->in[0].q.zero_point[0] : 0;
    if (code == zero && c->op != ASSAY_OP_MAX_POOL)
        return false; /* sums see nothing of it; that averages count it is said of divisors */
    const bool counts = c->op != ASSAY_OP_AVG_POOL || c->attr.pool.count_include_pad;
    blame_tell(story, "padding.value", counts ? 1 : 2, "padding%s holds the code %d instead of %d",
               counts ? "" : " counts and", code, zero);
    return blame_pad_input(c, code, false);
}

bool blame_padding_value_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int32_t zero = c->in[0].q.zero_point ? c->in[0].q.zero_point[0] : 0;
    int32_t usual[BLAME_USUAL];
    (void)s;
    if (c->in[0].elem.kind != ASSAY_KIND_INT)
        return false;
    if (i == BLAME_USUAL) {
        blame_tell(story, "padding.value", 1, "padding repeats the nearest cell");
        return blame_pad_input(c, 0, true);
    }
    return i < blame_usual_codes(&c->in[0], zero, usual) && pad_with(c, usual[i], story);
}

int blame_any_padding_count(blame_search *s)
{
    const assay_value *v = assay_node_in(s->d->graph, s->n, 0);
    return is_windowed(s) && v->type.elem.kind == ASSAY_KIND_INT && v->type.elem.bits <= 8
               ? 1 << v->type.elem.bits
               : 0;
}

bool blame_any_padding_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    (void)s;
    return pad_with(c, (int32_t)assay_elem_min(c->in[0].elem) + i, story);
}

/* Windows begin behind the input's first cells. */
static bool skip_cells(blame_case *c, int axis, int64_t n)
{
    const int64_t left = c->in[0].dim[axis] - n;
    if (left < 1 || !(c->data[0] = blame_slice(c->arena, &c->in[0], c->data[0], axis, n, left)))
        return false;
    c->in[0].dim[axis] = left;
    return true;
}

/* What stands in front moves by so many cells, along the first two axes each for itself; what is
 * behind follows from the output's shape. */
enum { MAX_MOVE = 3, MOVES = 2 * MAX_MOVE + 1 };

int blame_padding_place_count(blame_search *s)
{
    return is_windowed(s) ? MOVES * MOVES : 0;
}

bool blame_padding_place_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int move[2] = {i / MOVES - MAX_MOVE, i % MOVES - MAX_MOVE};
    const blame_lists l = blame_lists_of(c);
    (void)s;
    if ((move[0] == 0 && move[1] == 0) || (l.begin->n < 2 && move[1] != 0))
        return false;
    for (int k = 0; k < l.begin->n && k < 2; k++) {
        const int64_t begin = l.begin->v[k] + move[k];
        if (begin < 0 && !skip_cells(c, l.first + k, -begin))
            return false;
        l.begin->v[k] = begin < 0 ? 0 : begin;
    }
    blame_tell(story, "padding.place", move[0] == move[1] || !move[0] || !move[1] ? 1 : 2,
               "cells of padding in front of axis 0: %+d, of axis 1: %+d", move[0], move[1]);
    return true;
}

/* ---- strides ---- */

enum { MAX_STEP = 4 };

int blame_stride_count(blame_search *s)
{
    return is_windowed(s) ? 2 * MAX_STEP * AXIS_SETS : 0;
}

/* Windows of a maximum that lie wholly behind the input find the least code there: shapes are
 * refused where no cell of a window is the input's, so that the cells are put there. */
static bool reach_windows(blame_case *c)
{
    const blame_lists l = blame_lists_of(c);
    bool beyond = false;
    if (c->op != ASSAY_OP_MAX_POOL || c->in[0].elem.kind != ASSAY_KIND_INT)
        return true;
    for (int k = 0; k < l.kernel->n; k++) {
        const int64_t out = c->out.dim[l.first + k], in = c->in[0].dim[l.first + k];
        const int64_t last = (out - 1) * l.stride->v[k] - l.begin->v[k];
        const int64_t end = last + (l.kernel->v[k] - 1) * l.dilation->v[k] + 1 - in;
        beyond = beyond || last >= in;
        l.end->v[k] = end > 0 ? end : 0;
    }
    return !beyond || blame_pad_input(c, (int32_t)assay_elem_min(c->in[0].elem), false);
}

bool blame_stride_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const bool dilates = i >= MAX_STEP * AXIS_SETS;
    const int set = i % (MAX_STEP * AXIS_SETS) / MAX_STEP, step = i % MAX_STEP + 1;
    const blame_lists l = blame_lists_of(c);
    assay_list *list = dilates ? l.dilation : l.stride;
    bool changes = false;
    (void)s;
    if (!has_set(set, list->n))
        return false;
    for (int k = 0; k < list->n; k++)
        if (is_in_set(set, k)) {
            changes = changes || list->v[k] != step;
            list->v[k] = step;
        }
    blame_tell(story, dilates ? "dilation" : "stride", 1, "%s %d %s",
               dilates ? "dilation" : "stride", step, set_words[set]);
    return changes && reach_windows(c);
}

/* ---- tiles ---- */

enum { N_TILES = 64, BLIND_TILES = 16, SIDES = 3 };
static const char *const side_words[SIDES] = {"", " behind", " in front"};

int blame_tile_count(blame_search *s)
{
    const int tiles = s->n_after == 0 ? N_TILES : BLIND_TILES;
    return is_windowed(s) ? tiles * AXIS_SETS * SIDES : 0;
}

/* Puts the cells of a part in their place. */
static void put_part(const blame_search *s, const blame_case *c, const int64_t *first,
                     const int32_t *from, int32_t *to)
{
    const int64_t n = assay_shape_count(&c->out);
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = i, at = 0, step = 1;
        for (int d = s->type->rank - 1; d >= 0; d--) {
            at += (rest % c->out.dim[d] + first[d]) * step;
            step *= s->type->dim[d];
            rest /= c->out.dim[d];
        }
        to[at] = from[i];
    }
}

static bool run_part(blame_search *s, int k, const blame_rows *rows, int n, int32_t *codes)
{
    blame_case c;
    int64_t first[ASSAY_MAX_RANK] = {0};
    assay_arena_free(s->arena);
    if (!(s->arena = assay_arena_new()) || !blame_search_case(s, k, &c) ||
        !blame_case_narrow(&c, rows, n))
        return false;
    const blame_lists l = blame_lists_of(&c);
    for (int i = 0; i < n; i++)
        first[l.first + rows[i].axis] = rows[i].first;
    int32_t *part =
        assay_arena_array(s->arena, (size_t)assay_shape_count(&c.out) + 1, sizeof *part);
    if (!part || !blame_search_outcome(s, &c, part))
        return false;
    put_part(s, &c, first, part, codes + k * s->count);
    return true;
}

/* Tile t along an axis: its rows, and the input's that are its own. */
static blame_rows rows_of(blame_case *c, int axis, int64_t tile, int64_t t, int side)
{
    const blame_lists l = blame_lists_of(c);
    const int64_t out = c->out.dim[l.first + axis], in = c->in[0].dim[l.first + axis];
    const int64_t stride = l.stride->v[axis];
    blame_rows r = {axis, t * tile, (t + 1) * tile, 0, 0};
    r.end = r.end < out ? r.end : out;
    if (side != 1)
        r.in_first = r.first * stride < in ? r.first * stride : in - 1;
    r.in_end = side == 2 || r.end == out || r.end * stride > in ? in : r.end * stride;
    return r;
}

/* Whether all that differs is so near to a tile's edge that a window there reaches over it. */
static bool lies_near_edges(const blame_search *s, const blame_lists *l, const int *axis, int axes,
                            int64_t tile)
{
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        bool near = !s->seen[e] || blame_same(s, e, s->base[e]);
        for (int k = 0; k < axes && !near; k++) {
            const int d = axis[k];
            const int64_t reach = (l->kernel->v[d] - 1) * l->dilation->v[d];
            const int64_t halo = (reach + l->stride->v[d] - 1) / l->stride->v[d];
            const blame_axis a = blame_axis_of(s->type, l->first + d);
            const int64_t r = e % s->count / a.inner % a.n % tile;
            near = r < halo || r >= tile - halo;
        }
        if (!near)
            return false;
    }
    return true;
}

bool blame_tile_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const int side = i % SIDES, set = i / SIDES % AXIS_SETS;
    const int64_t tile = i / SIDES / AXIS_SETS + 1;
    blame_case c;
    int axis[2], axes = 0, taps = 0;
    if (!blame_search_case(s, 0, &c))
        return false;
    const blame_lists l = blame_lists_of(&c);
    if (!has_set(set, l.kernel->n))
        return false;
    for (int k = 0; k < l.kernel->n && axes < 2; k++)
        if (is_in_set(set, k) && c.out.dim[l.first + k] > tile) {
            taps += l.kernel->v[k] > 1;
            axis[axes++] = k;
        }
    if (taps == 0 || (s->n_after > 0 ? side > 0 : !lies_near_edges(s, &l, axis, axes, tile)))
        return false;
    int64_t n[2] = {1, 1};
    for (int k = 0; k < axes; k++)
        n[k] = (c.out.dim[l.first + axis[k]] + tile - 1) / tile;
    if (n[0] * n[1] > 1024)
        return false;
    for (int k = 0; k < s->n_samples; k++)
        for (int64_t t = 0; t < n[0] * n[1]; t++) {
            blame_rows rows[2];
            if (!blame_search_case(s, k, &c))
                return false;
            rows[0] = rows_of(&c, axis[0], tile, t / n[1], side);
            if (axes > 1)
                rows[1] = rows_of(&c, axis[1], tile, t % n[1], side);
            if (!run_part(s, k, rows, axes, codes))
                return false;
        }
    blame_tell(story, "tile.edge", 1, "tiles of %lld %s have no halo%s", (long long)tile,
               set_words[set], side_words[side]);
    return true;
}
