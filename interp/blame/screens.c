/* Screens: changes that are made to a node's codes last (a flipped top bit, a stuck bit, dead
 * lanes, edges that were not written, another order, another sample's) and may hide an earlier
 * fault. The search looks through a screen: codes are flipped or put back, the stuck bit is not
 * compared, the dead lanes are left out. */
#include "interp/blame/screens.h"
#include "interp/blame/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_LANES = 2, MAX_LANES = 32, MIN_HELD = 8, MIN_TILE = 4 };

static int64_t total(const blame_search *s)
{
    return s->n_samples * s->count;
}

static void put(blame_screen *out, int *n, int max, blame_screen screen)
{
    if (*n < max)
        out[(*n)++] = screen;
}

static int32_t flipped(const blame_search *s, int32_t code)
{
    if (s->type->elem.kind == ASSAY_KIND_F32)
        return (int32_t)((uint32_t)code ^ UINT32_C(1) << 31);
    const int32_t half = (int32_t)(INT64_C(1) << (s->type->elem.bits - 1));
    const int64_t middle = assay_elem_min(s->type->elem) + half;
    return code >= middle ? code - half : code + half;
}

/* Whether the device always has a value of a bit that the replay has not. */
static bool is_stuck(const blame_search *s, int bit, int value)
{
    bool differs = false;
    for (int64_t e = 0; e < total(s); e++) {
        if (s->seen[e] && ((uint32_t)s->dev[e] >> bit & 1) != (uint32_t)value)
            return false;
        differs = differs || (s->seen[e] && ((uint32_t)s->base[e] >> bit & 1) != (uint32_t)value);
    }
    return differs;
}

/* Whether places c along an axis with c mod lanes = lane hold one code (from: 0), or what the place
 * so far off does, and the replay's do not. */
static bool is_lane(const blame_search *s, blame_axis a, int lanes, int lane, int from,
                    int32_t *code)
{
    const int64_t off = from * a.inner;
    int64_t held = 0;
    bool differs = false;
    for (int64_t e = 0; e < total(s); e++) {
        const int64_t c = e / a.inner % a.n;
        if (c % lanes != lane || !s->seen[e])
            continue;
        if (from != 0 && (c + from < 0 || c + from >= a.n || !s->seen[e + off]))
            return false;
        if (from == 0 && held == 0)
            *code = s->dev[e];
        if (s->dev[e] != (from != 0 ? s->dev[e + off] : *code))
            return false;
        differs = differs || s->base[e] != (from != 0 ? s->base[e + off] : *code);
        held++;
    }
    return differs && (held >= MIN_HELD || from != 0);
}

static float float_of(int32_t bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void say_held(const blame_search *s, const char *class, const char *where, int from,
                     int32_t code, blame_story *story)
{
    if (from != 0)
        blame_tell(story, class, 2, "%s what the one %s does", where,
                   from < 0 ? "before" : "behind");
    else if (s->type->elem.kind == ASSAY_KIND_F32)
        blame_tell(story, class, 2, "%s %.9g", where, (double)float_of(code));
    else
        blame_tell(story, class, 2, "%s %d", where, code);
}

static void find_lanes(const blame_search *s, int axis, blame_screen *out, int *n, int max)
{
    if (axis < 0)
        return;
    const blame_axis a = blame_axis_of(s->type, axis);
    for (int lanes = MIN_LANES; lanes <= MAX_LANES; lanes *= 2)
        for (int lane = 0; lane < lanes && lane < a.n; lane++)
            for (int from = 0; from >= -1; from--) {
                blame_screen made = {
                    .kind = BLAME_SCREEN_LANE, .axis = axis, .lanes = lanes, .lane = lane};
                int32_t code = 0;
                char where[80];
                if (!is_lane(s, a, lanes, lane, from, &code))
                    continue;
                snprintf(where, sizeof where, "channels c with c mod %d = %d hold", lanes, lane);
                say_held(s, "lane", where, from, code, &made.story);
                put(out, n, max, made);
            }
}

/* The first and the last cell of tiles along an axis of the image, the whole of it the greatest. */
static void find_edges_along(const blame_search *s, int axis, blame_screen *out, int *n, int max)
{
    const blame_axis a = blame_axis_of(s->type, axis);
    for (int64_t tile = MIN_TILE; tile < 2 * a.n && a.n > 1 && tile <= INT32_MAX; tile *= 2) {
        const int cells = (int)(tile < a.n ? tile : a.n);
        for (int k = 0; k < 4; k++) {
            const int place = k / 2 ? 0 : cells - 1, from = k % 2 == 0 ? 0 : k / 2 ? 1 : -1;
            blame_screen made = {
                .kind = BLAME_SCREEN_LANE, .axis = axis, .lanes = cells, .lane = place};
            int32_t code = 0;
            char where[80];
            if (!is_lane(s, a, cells, place, from, &code))
                continue;
            snprintf(where, sizeof where, "the %s cell of %s%d along axis %d holds",
                     place ? "last" : "first", cells < a.n ? "tiles of " : "", cells, axis);
            say_held(s, "tile.edge", where, from, code, &made.story);
            put(out, n, max, made);
        }
    }
}

static void find_edges(const blame_search *s, blame_screen *out, int *n, int max)
{
    if (s->type->rank < 3 || s->channel_axis < 0)
        return;
    const bool last = s->channel_axis == s->type->rank - 1;
    for (int axis = last ? 1 : 2; axis < s->type->rank - (last ? 1 : 0); axis++)
        find_edges_along(s, axis, out, n, max);
}

int blame_screens(const blame_search *s, blame_screen *out, int max)
{
    int n = 0;
    const assay_elem e = s->type->elem;
    const bool floats = e.kind == ASSAY_KIND_F32;
    if (s->n_after > 0 || s->on_sums ||
        (!floats && (e.kind != ASSAY_KIND_INT || e.bits > 16 || e.bits < 2)))
        return 0;
    blame_screen flip = {.kind = BLAME_SCREEN_FLIP,
                         .family = &blame_families[BLAME_FAMILY_flipped]};
    blame_tell(&flip.story, "sign", 1, "the output is stored with its top bit flipped");
    for (int i = 0; i < 2 * e.bits && !floats; i++)
        if (is_stuck(s, i / 2, i % 2)) {
            blame_screen made = {.kind = BLAME_SCREEN_BIT,
                                 .family = &blame_families[BLAME_FAMILY_stuck_bit],
                                 .i = i,
                                 .bit = i / 2};
            blame_tell(&made.story, "stuck_bit", 1, "bit %d is always %d", i / 2, i % 2);
            put(out, &n, max - 1, made);
        }
    find_lanes(s, s->channel_axis, out, &n, max - 1);
    find_lanes(s, s->other_axis, out, &n, max - 1);
    find_edges(s, out, &n, max - 1);
    n += blame_moved_screens(s, &blame_families[BLAME_FAMILY_permuted], out + n, max - 1 - n);
    n += blame_moved_screens(s, &blame_families[BLAME_FAMILY_stale_sample], out + n, max - 1 - n);
    n += blame_repeated_screens(s, out + n, max - 1 - n);
    put(out, &n, max, flip);
    return n;
}

void blame_screen_through(blame_search *s, const blame_screen *screen)
{
    const blame_axis a = blame_axis_of(s->type, screen->axis);
    blame_search_forget_lanes(s);
    s->n_seen = 0;
    s->differing = 0;
    if (screen->kind == BLAME_SCREEN_BIT)
        s->unseen_bits = screen->bit + 1 == s->type->elem.bits
                             ? UINT32_MAX << screen->bit /* and the copies of the sign */
                             : UINT32_C(1) << screen->bit;
    if (screen->kind == BLAME_SCREEN_MOVED)
        blame_moved_through(s, screen);
    for (int64_t e = 0; e < total(s); e++) {
        if (screen->kind == BLAME_SCREEN_SAMPLE && e / s->count == screen->sample)
            s->seen[e] = 0;
        if (screen->kind == BLAME_SCREEN_FLIP)
            s->dev[e] = flipped(s, s->dev[e]);
        if (screen->kind == BLAME_SCREEN_LANE && e / a.inner % a.n % screen->lanes == screen->lane)
            s->seen[e] = 0;
        s->n_seen += s->seen[e];
        s->differing += s->seen[e] && !blame_same(s, e, s->end_base[e]);
    }
}
