/* Screens: changes that are made to a node's codes last (a flipped top bit, a stuck bit, dead
 * lanes, edges that were not written, another order, another sample's) and may hide an earlier
 * fault. The search looks through a screen: codes are flipped or put back, the stuck bit is not
 * compared, the dead lanes are left out. */
#include "interp/blame/screens.h"
#include "interp/blame/families.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_LANES = 2, MAX_LANES = 32, MIN_HELD = 8, MIN_TILE = 2, MAX_TILE = 64, FARTHEST = 16 };

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
    assert(s->type->elem.bits >= 2 && s->type->elem.bits <= 16); /* blame_screens */
    const int32_t half = (int32_t)(INT64_C(1) << (s->type->elem.bits - 1));
    const int64_t middle = assay_elem_min(s->type->elem) + half;
    return code >= middle ? code - half : code + half;
}

/* Whether the device always has a value of a bit that the replay has not. */
static bool is_stuck(const blame_search *s, int bit, int value)
{
    bool differs = false;
    assert(bit >= 0 && bit < 32);
    for (int64_t e = 0; e < total(s); e++) {
        if (s->seen[e] && ((uint32_t)s->dev[e] >> bit & 1) != (uint32_t)value)
            return false;
        differs = differs || (s->seen[e] && ((uint32_t)s->base[e] >> bit & 1) != (uint32_t)value);
    }
    return differs;
}

/* Whether place c along its axis is one of a screen of lanes. */
static bool is_held(const blame_screen *of, blame_axis a, int64_t c)
{
    const int64_t in = c % of->lanes - of->lane, from = c + of->from;
    return in >= 0 && in < of->run && from >= 0 && from < a.n;
}

/* What was seen of places of a screen of lanes. */
typedef struct holding {
    int64_t held;
    bool differs; /* from what the replay has there */
    int32_t code; /* that they hold, where that is what the screen says */
} holding;

/* Whether element e holds what the screen says. */
static bool holds(const blame_search *s, int64_t e, int64_t off, holding *h)
{
    if (!s->seen[e])
        return true;
    if (off != 0 && !s->seen[e + off])
        return false;
    h->code = off != 0 ? s->dev[e + off] : h->held == 0 ? s->dev[e] : h->code;
    h->differs = h->differs || s->base[e] != (off != 0 ? s->base[e + off] : h->code);
    h->held++;
    return s->dev[e] == h->code;
}

static bool place_holds(const blame_search *s, blame_axis a, int64_t c, int from, holding *h)
{
    for (int64_t o = 0; o < s->n_samples * a.outer; o++)
        for (int64_t i = 0; i < a.inner; i++)
            if (!holds(s, (o * a.n + c) * a.inner + i, from * a.inner, h))
                return false;
    return true;
}

/* Whether the other places hold the same, or a code each: then the screen says nothing of its own.
 */
static bool is_everywhere(const blame_search *s, blame_axis a, const blame_screen *of, holding h)
{
    bool any = false;
    for (int64_t c = 0; c < a.n; c++) {
        if (is_held(of, a, c) || c + of->from < 0 || c + of->from >= a.n)
            continue;
        if (of->from == 0)
            h = (holding){0};
        const int64_t held = h.held;
        if (!place_holds(s, a, c, of->from, &h) || (of->from == 0 && h.held == 1))
            return false;
        any = any || h.held > held;
    }
    return any || of->from != 0; /* with nothing to compare with it says nothing either */
}

/* Whether the places of a screen of lanes hold what it says, and the replay's do not. */
static bool is_lane(const blame_search *s, blame_axis a, const blame_screen *of, int32_t *code)
{
    holding h = {0};
    for (int64_t c = 0; c < a.n; c++)
        if (is_held(of, a, c) && !place_holds(s, a, c, of->from, &h))
            return false;
    *code = h.code;
    return h.differs && h.held >= (of->from == 0 ? MIN_HELD : 1) && !is_everywhere(s, a, of, h);
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
    char far[16] = "";
    if (abs(from) > 1)
        snprintf(far, sizeof far, "%d ", abs(from));
    if (from != 0)
        blame_tell(story, class, 2, "%s what the one %s%s does", where, far,
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
            for (int k = 0; k < 3; k++) {
                static const int sources[] = {0, -1, 1};
                const int from = sources[k];
                blame_screen made = {.kind = BLAME_SCREEN_LANE,
                                     .axis = axis,
                                     .lanes = lanes,
                                     .lane = lane,
                                     .run = 1,
                                     .from = from};
                int32_t code = 0;
                char where[80];
                if (!is_lane(s, a, &made, &code))
                    continue;
                snprintf(where, sizeof where, "channels c with c mod %d = %d hold", lanes, lane);
                say_held(s, "lane", where, from, code, &made.story);
                put(out, n, max, made);
            }
}

/* Whether the places of a screen are some of one that was found. */
static bool is_part(const blame_screen *out, int n, const blame_screen *made, blame_axis a)
{
    bool part = false;
    for (int i = 0; i < n && !part; i++) {
        part = out[i].kind == BLAME_SCREEN_LANE && out[i].axis == made->axis;
        for (int64_t c = 0; c < a.n && part; c++)
            part = !is_held(made, a, c) || is_held(&out[i], a, c);
    }
    return part;
}

/* The first or the last cell of tiles of so many along an axis of the image, that holds one code,
 * or what the cell before or behind does. */
static void find_edge(const blame_search *s, int axis, int cells, bool last, blame_screen *out,
                      int *n, int max)
{
    const blame_axis a = blame_axis_of(s->type, axis);
    for (int from = -1; from <= 1; from++) {
        blame_screen made = {.kind = BLAME_SCREEN_LANE,
                             .axis = axis,
                             .lanes = cells,
                             .lane = last ? cells - 1 : 0,
                             .run = 1,
                             .from = from};
        int32_t code = 0;
        char where[80];
        if (is_part(out, *n, &made, a) || !is_lane(s, a, &made, &code))
            continue;
        snprintf(where, sizeof where, "the %s cell of %s%d along axis %d holds",
                 last ? "last" : "first", cells < a.n ? "tiles of " : "", cells, axis);
        say_held(s, "tile.edge", where, from, code, &made.story);
        put(out, n, max, made);
    }
}

static void find_edges_along(const blame_search *s, int axis, blame_screen *out, int *n, int max)
{
    const blame_axis a = blame_axis_of(s->type, axis);
    if (a.n < MIN_TILE || a.n > INT32_MAX)
        return;
    for (int cells = MIN_TILE; cells < a.n && cells <= MAX_TILE; cells++)
        for (int last = 0; last < 2; last++)
            find_edge(s, axis, cells, last, out, n, max);
    for (int last = 0; last < 2; last++)
        find_edge(s, axis, (int)a.n, last, out, n, max);
}

/* The cells in a run, the first of them given, that hold one code or what cells so far off do.
 * False: there are none. */
static bool find_run(const blame_search *s, blame_axis a, blame_screen *made, int32_t *code)
{
    int32_t more;
    made->run = 1;
    if (!is_lane(s, a, made, code))
        return false;
    while (made->lane + made->run + (made->from > 0 ? made->from : 0) < a.n) {
        made->run++;
        if (!is_lane(s, a, made, &more)) {
            made->run--;
            break;
        }
    }
    return true;
}

/* Cells in a row along an axis of the image that were not written. */
static void find_runs(const blame_search *s, int axis, int from, blame_screen *out, int *n, int max)
{
    const blame_axis a = blame_axis_of(s->type, axis);
    blame_screen made = {
        .kind = BLAME_SCREEN_LANE, .axis = axis, .lanes = (int)a.n, .from = from, .run = 1};
    for (; made.lane < a.n; made.lane += made.run) {
        int32_t code = 0;
        char where[80];
        if (!find_run(s, a, &made, &code) || is_part(out, *n, &made, a))
            continue;
        snprintf(where, sizeof where, "%d cells from %d on along axis %d hold", made.run, made.lane,
                 axis);
        say_held(s, "tile.edge", where, from, code, &made.story);
        put(out, n, max, made);
    }
}

static void find_edges(const blame_search *s, blame_screen *out, int *n, int max)
{
    if (s->type->rank < 3 || s->channel_axis < 0)
        return;
    const bool last = s->channel_axis == s->type->rank - 1;
    for (int axis = last ? 1 : 2; axis < s->type->rank - (last ? 1 : 0); axis++) {
        const int64_t cells = s->type->dim[axis];
        find_edges_along(s, axis, out, n, max);
        for (int far = 0; far <= FARTHEST && far < cells && cells <= INT32_MAX; far++) {
            find_runs(s, axis, -far, out, n, max);
            if (far > 0)
                find_runs(s, axis, far, out, n, max);
        }
    }
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
    assert(screen->kind != BLAME_SCREEN_BIT || (screen->bit >= 0 && screen->bit < 32));
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
        if (screen->kind == BLAME_SCREEN_LANE && is_held(screen, a, e / a.inner % a.n))
            s->seen[e] = 0;
        s->n_seen += s->seen[e];
        s->differing += s->seen[e] && !blame_same(s, e, s->end_base[e]);
    }
}
