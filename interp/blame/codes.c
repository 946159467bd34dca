/* Hypotheses over codes on their way out: lanes, bits, edges, samples. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

static int64_t total(const blame_search *s)
{
    return s->n_samples * s->count;
}

static bool is_code(const blame_search *s)
{
    return s->type->elem.kind == ASSAY_KIND_INT && s->type->elem.bits <= 32;
}

/* What has bits that may be stuck: codes, and floats and patterns of small ones that were dumped.
 */
static bool has_bits(const blame_search *s)
{
    const assay_elem e = s->type->elem;
    const bool floats = e.kind == ASSAY_KIND_F32 || assay_is_small_float(e);
    return is_code(s) || (floats && s->n_after == 0 && !s->on_sums);
}

static bool differs(const blame_search *s, int64_t i)
{
    return s->seen[i] && !blame_same(s, i, s->base[i]);
}

/* The code with these bits, as the type reads it. */
static int32_t as_code(assay_elem e, uint32_t bits)
{
    assert(e.bits >= 1 && e.bits <= 32);
    const uint32_t mask = e.bits < 32 ? (UINT32_C(1) << e.bits) - 1 : UINT32_MAX;
    bits &= mask;
    if (e.is_signed && bits >> (e.bits - 1) & 1)
        bits |= ~mask;
    return (int32_t)bits;
}

/* 0, the zero point, the type's ends. */
static bool is_usual(const blame_search *s, int32_t code)
{
    if (code == 0 || s->type->elem.kind != ASSAY_KIND_INT)
        return code == 0;
    return (s->type->q.zero_point && code == s->type->q.zero_point[0]) ||
           code == assay_elem_min(s->type->elem) || code == assay_elem_max(s->type->elem);
}

/* ---- lanes ---- */

static int64_t gcd(int64_t a, int64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

/* Along the axis of channels, or another that may be it. */
static blame_axis lane_axis(const blame_search *s, bool other)
{
    return blame_axis_of(s->type, other ? s->other_axis : s->channel_axis);
}

/* Channels at which anything differs: found once. False: none. */
static bool find_lane(blame_search *s, bool other, blame_lane *out)
{
    const blame_axis a = lane_axis(s, other);
    blame_lane *l = &s->lane[other];
    const bool known = l->known;
    if (!known)
        *l = (blame_lane){.known = true, .first = -1};
    for (int64_t i = 0; i < total(s) && !known && l->step != 1; i++)
        if (differs(s, i)) {
            const int64_t c = i % s->count / a.inner % a.n;
            if (l->first < 0)
                l->first = c;
            l->step = gcd(l->step, llabs(c - l->first));
        }
    if (!known && l->first >= 0 && l->step > 0)
        l->first %= l->step;
    *out = *l;
    return l->first >= 0;
}

/* Sources: a constant; the channel so far off. */
enum { FARTHEST = 16, N_SOURCES = 2 * FARTHEST + 1, WIDENINGS = 3 };

int blame_lane_count(blame_search *s)
{
    const int axes = s->other_axis >= 0 ? 2 : 1;
    return s->n_after == 0 && s->channel_axis >= 0 ? N_SOURCES * WIDENINGS * axes : 0;
}

static void say_lane(const blame_search *s, bool other, int64_t step, int64_t first, char *text,
                     size_t size)
{
    char along[32] = "";
    if (other)
        snprintf(along, sizeof along, " of axis %d", s->other_axis);
    if (step == lane_axis(s, other).n)
        snprintf(text, size, "channel %lld%s", (long long)first, along);
    else
        snprintf(text, size, "channels c%s with c mod %lld = %lld", along, (long long)step,
                 (long long)first);
}

bool blame_lane_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const bool other = i / (N_SOURCES * WIDENINGS);
    const blame_axis a = lane_axis(s, other);
    i %= N_SOURCES * WIDENINGS;
    const int offset = i % N_SOURCES % 2 ? (i % N_SOURCES + 1) / 2 : -(i % N_SOURCES / 2);
    bool has_constant = false;
    int32_t constant = 0;
    blame_lane l;
    if (a.n == 1 || !find_lane(s, other, &l))
        return false;
    const int64_t step = l.step == 0 ? a.n : l.step >> i / N_SOURCES;
    if (step < 1 || (l.step == 0 && i >= N_SOURCES) || (step == 1 && a.n > 1) || offset >= a.n ||
        -offset >= a.n || (l.step > 0 && step << i / N_SOURCES != l.step))
        return false;
    const int64_t first = l.first % step;
    int64_t held = 0;
    for (int64_t e = 0; e < total(s); e++) {
        const int64_t c = e % s->count / a.inner % a.n;
        if (c % step != first)
            continue;
        const int64_t from = c + offset;
        if (offset != 0 && (from < 0 || from >= a.n))
            continue;
        held += s->seen[e];
        if (offset == 0 && !has_constant && s->seen[e]) {
            constant = s->dev[e];
            has_constant = true;
        }
        codes[e] = offset == 0 ? constant : s->base[e + offset * a.inner];
    }
    char which[80];
    say_lane(s, other, step, first, which, sizeof which);
    float number;
    memcpy(&number, &constant, sizeof number);
    if (offset == 0 && s->type->elem.kind == ASSAY_KIND_F32)
        blame_tell(story, "lane", 2, "%s hold %.9g", which, (double)number);
    else if (offset == 0)
        blame_tell(story, "lane", 2, "%s hold %d", which, constant);
    else
        blame_tell(story, "lane", 2, "%s hold what the channel %d %s does", which, abs(offset),
                   offset > 0 ? "behind" : "before");
    /* one element may hold anything */
    return held > 1 ? offset != 0 || has_constant : offset == 0 && is_usual(s, constant);
}

/* Where the node's own output was not dumped its lanes are not seen: lanes in their turn, with the
 * codes that a dead one holds. */
enum { MIN_LANES = 2, MAX_LANES = 32, BLIND_CODES = 6 };
enum { BLIND_LANES = 2 * MAX_LANES - MIN_LANES };

int blame_blind_lane_count(blame_search *s)
{
    return s->n_after > 0 && is_code(s) && s->channel_axis >= 0 ? BLIND_LANES * BLIND_CODES : 0;
}

bool blame_blind_lane_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const blame_axis a = blame_axis_of(s->type, s->channel_axis);
    const int code = i % BLIND_CODES;
    const int32_t least = (int32_t)assay_elem_min(s->type->elem);
    const int32_t zero = s->type->q.zero_point ? s->type->q.zero_point[0] : least;
    const int32_t constants[BLIND_CODES] = {0, zero, least, (int32_t)assay_elem_max(s->type->elem)};
    int64_t r = i / BLIND_CODES, lanes = MIN_LANES;
    for (; r >= lanes; lanes *= 2)
        r -= lanes;
    if (r >= a.n || lanes > a.n || (code < 4 && code > 0 && constants[code] == 0) ||
        (code == 2 && zero == least))
        return false;
    for (int64_t e = 0; e < total(s); e++) {
        const int64_t c = e % s->count / a.inner % a.n;
        if (c % lanes == r && (code != 4 || c > 0) && (code != 5 || c < a.n - 1))
            codes[e] = code < 4 ? constants[code] : s->base[e + (code == 4 ? -1 : 1) * a.inner];
    }
    if (code < 4)
        blame_tell(story, "lane", 2, "channels c with c mod %lld = %lld hold %d", (long long)lanes,
                   (long long)r, constants[code]);
    else
        blame_tell(story, "lane", 2, "channels c with c mod %lld = %lld hold what the one %s does",
                   (long long)lanes, (long long)r, code == 4 ? "before" : "behind");
    return true;
}

/* ---- bits ---- */

/* A bit, its value, and whether it is so in all channels or in those that differ. */
int blame_stuck_bit_count(blame_search *s)
{
    return has_bits(s) ? s->type->elem.bits * 2 * (s->n_after == 0 && s->channel_axis >= 0 ? 2 : 1)
                       : 0;
}

bool blame_stuck_bit_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const int bits = s->type->elem.bits, bit = i / 2 % bits;
    assert(bits >= 1 && bits <= 32);
    const bool lanes = i / 2 / bits, set = i % 2;
    const uint32_t mask = UINT32_C(1) << bit;
    const blame_axis a = blame_axis_of(s->type, s->channel_axis);
    blame_lane l = {.step = 1};
    if (lanes && (!find_lane(s, false, &l) || l.step == 1))
        return false;
    const int64_t step = l.step == 0 ? a.n : l.step;
    for (int64_t e = 0; e < total(s); e++)
        if (!lanes || e % s->count / a.inner % a.n % step == l.first % step)
            codes[e] = as_code(s->type->elem,
                               set ? (uint32_t)codes[e] | mask : (uint32_t)codes[e] & ~mask);
    if (lanes)
        blame_tell(story, "stuck_bit", 2,
                   "bit %d is always %d in channels c with c mod %lld = %lld", bit, set,
                   (long long)step, (long long)(l.first % step));
    else
        blame_tell(story, "stuck_bit", 1, "bit %d is always %d", bit, set);
    return true;
}

int blame_flipped_count(blame_search *s)
{
    return has_bits(s) && s->type->elem.bits > 1;
}

bool blame_flipped_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    (void)i;
    assert(s->type->elem.bits >= 1 && s->type->elem.bits <= 32);
    for (int64_t e = 0; e < total(s); e++)
        codes[e] =
            as_code(s->type->elem, (uint32_t)codes[e] ^ UINT32_C(1) << (s->type->elem.bits - 1));
    blame_tell(story, "sign", 1, "the output is stored with its top bit flipped");
    return true;
}

/* ---- edges of tiles ---- */

/* BLIND: where the node's own output was not dumped, so that what lies on edges is not seen. */
enum { MIN_TILE = 2, MAX_TILE = 64, N_TILES = MAX_TILE - MIN_TILE + 1, BLIND_TILES = 15 };
enum { EDGE_AXES = 2, EDGE_SIDES = 2 };
enum { FROM_BEFORE, FROM_BEHIND, FROM_TILE, FROM_CONSTANT, FROMS };

int blame_edge_count(blame_search *s)
{
    const int tiles = s->n_after == 0 ? N_TILES : BLIND_TILES;
    return s->type->rank >= 3 ? tiles * EDGE_AXES * EDGE_SIDES * FROMS : 0;
}

/* Where edges are not seen: the codes that cells hold that were not written, the tensor's last cell
 * too. */
enum { BLIND_HELD = 3 };

int blame_blind_edge_count(blame_search *s)
{
    return s->n_after > 0 && is_code(s) && s->type->rank >= 3
               ? BLIND_TILES * EDGE_AXES * EDGE_SIDES * BLIND_HELD
               : 0;
}

bool blame_blind_edge_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const int held = i % BLIND_HELD, axis_index = i / BLIND_HELD % EDGE_AXES;
    const bool last = i / BLIND_HELD / EDGE_AXES % EDGE_SIDES;
    const int64_t tile = MIN_TILE + i / BLIND_HELD / EDGE_AXES / EDGE_SIDES;
    const bool channels_last = s->channel_axis == s->type->rank - 1;
    const int axis = (channels_last ? 1 : 2) + axis_index;
    const int32_t least = (int32_t)assay_elem_min(s->type->elem);
    const int32_t zero = s->type->q.zero_point ? s->type->q.zero_point[0] : 0;
    const int32_t code[BLIND_HELD] = {0, zero, least};
    if (axis >= s->type->rank - (channels_last ? 1 : 0) || tile > s->type->dim[axis] ||
        (held > 0 && code[held] == 0) || (held == 2 && least == zero))
        return false;
    const blame_axis a = blame_axis_of(s->type, axis);
    for (int64_t e = 0; e < total(s); e++)
        if (e % s->count / a.inner % a.n % tile == (last ? tile - 1 : 0))
            codes[e] = code[held];
    blame_tell(story, "tile.edge", 2, "the %s cell of tiles of %lld along axis %d holds %d",
               last ? "last" : "first", (long long)tile, axis, code[held]);
    return true;
}

static bool is_edge(int64_t r, int64_t n, int64_t tile, bool last)
{
    return last ? r % tile == tile - 1 && r != n - 1 : r % tile == 0 && r != 0;
}

static bool lies_on_edges(const blame_search *s, blame_axis a, int64_t tile, bool last)
{
    for (int64_t e = 0; e < total(s); e++)
        if (differs(s, e) && !is_edge(e % s->count / a.inner % a.n, a.n, tile, last))
            return false;
    return true;
}

bool blame_edge_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    static const char *const words[FROMS] = {"the cell before", "the cell behind",
                                             "the same edge of the tile before", "one code"};
    const int from = i % FROMS, axis_index = i / FROMS % EDGE_AXES;
    const bool last = i / FROMS / EDGE_AXES % EDGE_SIDES;
    const int64_t tile = MIN_TILE + i / FROMS / EDGE_AXES / EDGE_SIDES;
    const bool channels_last = s->channel_axis == s->type->rank - 1;
    const int axis = (channels_last ? 1 : 2) + axis_index;
    bool has_constant = false;
    int32_t constant = 0;
    if (axis >= s->type->rank - (channels_last ? 1 : 0))
        return false;
    const blame_axis a = blame_axis_of(s->type, axis);
    if (tile >= a.n || (s->n_after > 0 ? from == FROM_CONSTANT : !lies_on_edges(s, a, tile, last)))
        return false;
    const int64_t step = from == FROM_BEFORE ? -1 : from == FROM_BEHIND ? 1 : -tile;
    for (int64_t e = 0; e < total(s); e++) {
        const int64_t r = e % s->count / a.inner % a.n;
        const bool has_cell = from == FROM_CONSTANT || (r + step >= 0 && r + step < a.n);
        if (!is_edge(r, a.n, tile, last) || !has_cell)
            continue;
        if (from == FROM_CONSTANT && !has_constant && s->seen[e]) {
            constant = s->dev[e];
            has_constant = true;
        }
        codes[e] = from == FROM_CONSTANT ? constant : s->base[e + step * a.inner];
    }
    int64_t edges = 0, place = 0;
    for (int64_t r = 0; r < a.n; r++)
        if (is_edge(r, a.n, tile, last)) {
            edges++;
            place = r;
        }
    if (edges == 1)
        blame_tell(story, "tile.edge", 2, "cell %lld of %lld along axis %d holds %s",
                   (long long)place, (long long)a.n, axis, words[from]);
    else
        blame_tell(story, "tile.edge", 2, "the %s cell of tiles of %lld along axis %d holds %s",
                   last ? "last" : "first", (long long)tile, axis, words[from]);
    return true;
}
