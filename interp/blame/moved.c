/* Screens of codes in other places: another order, another sample's. Where a family takes each code
 * from is seen by giving it places for codes; the device's codes are then put back to where they
 * were taken from. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"
#include "interp/blame/screens.h"

enum { MAX_MOVED = 4, MAX_SAMPLES = 4 };

static int64_t total(const blame_search *s)
{
    return s->n_samples * s->count;
}

/* Where a choice of a family that moves codes takes each from, of all samples. False: it is not for
 * this node. */
static bool sources(const blame_search *s, const blame_family *f, int i, int32_t *from,
                    blame_story *story)
{
    blame_search places = *s;
    places.base = malloc((size_t)total(s) * sizeof *places.base + 64);
    for (int64_t e = 0; e < total(s) && places.base; e++)
        from[e] = places.base[e] = (int32_t)e;
    const bool good = places.base && f->post(&places, i, from, story);
    free(places.base);
    return good;
}

/* The device's codes where they came from; those that nothing shows are not seen. False: two that
 * came from one place differ, which of codes of another sample says that they did not. */
static bool put_back(const blame_search *s, const int32_t *from, int32_t *dev, uint8_t *seen)
{
    memset(seen, 0, (size_t)total(s));
    for (int64_t e = 0; e < total(s); e++) {
        if (!s->seen[e])
            continue;
        if (seen[from[e]] && dev[from[e]] != s->dev[e])
            return false;
        dev[from[e]] = s->dev[e];
        seen[from[e]] = 1;
    }
    return true;
}

/* How near codes are to the replay's. */
typedef struct nearness {
    int64_t seen, equal;
    double distance; /* an element, in codes */
} nearness;

static nearness compare(const blame_search *s, const int32_t *dev, const uint8_t *seen)
{
    nearness to = {0};
    for (int64_t e = 0; e < total(s); e++) {
        to.seen += seen[e];
        to.equal += seen[e] && dev[e] == s->base[e];
        to.distance += seen[e] ? (double)llabs((int64_t)dev[e] - s->base[e]) : 0;
    }
    to.distance /= to.seen > 0 ? (double)to.seen : 1;
    return to;
}

/* Whether an order put back is clearly nearer than what was dumped; channels that were stored
 * before or behind the cells are a usual thing, and good enough where no fewer are equal. */
static bool is_nearer(const nearness *back, const nearness *as_dumped, bool usual)
{
    return back->distance < .75 * as_dumped->distance || (usual && back->equal >= as_dumped->equal);
}

/* Puts a screen where it belongs among the nearest ones so far, the nearest first. */
static void rank(blame_screen *list, int *n, int max, const blame_screen *made)
{
    if (max < 1 || (*n == max && list[max - 1].distance <= made->distance))
        return;
    int at = *n < max ? (*n)++ : max - 1;
    for (; at > 0 && list[at - 1].distance > made->distance; at--)
        list[at] = list[at - 1];
    list[at] = *made;
}

int blame_moved_screens(const blame_search *s, const blame_family *f, blame_screen *out, int max)
{
    blame_search asked = *s;
    const size_t all = (size_t)total(s);
    int32_t *from = malloc(all * sizeof *from + 64), *dev = malloc(all * sizeof *dev + 64);
    uint8_t *seen = malloc(all + 64);
    const nearness as_dumped = compare(s, s->dev, s->seen);
    const bool orders = f->id == BLAME_FAMILY_permuted;
    const int choices = from && dev && seen && total(s) < INT32_MAX ? f->count(&asked) : 0;
    int n = 0;
    for (int i = 0; i < choices; i++) {
        blame_screen made = {.kind = BLAME_SCREEN_MOVED, .family = f, .i = i};
        if (!sources(s, f, i, from, &made.story) || !put_back(s, from, dev, seen))
            continue;
        const nearness back = compare(s, dev, seen);
        const bool usual = orders && blame_moves_channels(s, i);
        made.distance = usual || !orders ? 0 : back.distance;
        if (back.seen > 0 && (!orders || is_nearer(&back, &as_dumped, usual)))
            rank(out, &n, max < MAX_MOVED ? max : MAX_MOVED, &made);
    }
    free(from);
    free(dev);
    free(seen);
    return n;
}

void blame_moved_through(blame_search *s, const blame_screen *screen)
{
    blame_story story;
    const size_t all = (size_t)total(s);
    int32_t *from = malloc(all * sizeof *from + 64), *dev = calloc(all + 1, sizeof *dev);
    uint8_t *seen = malloc(all + 64);
    if (from && dev && seen && sources(s, screen->family, screen->i, from, &story) &&
        put_back(s, from, dev, seen)) {
        memcpy(s->dev, dev, all * sizeof *dev);
        memcpy(s->seen, seen, all);
    }
    free(from);
    free(dev);
    free(seen);
}

/* ---- samples ---- */

/* Whether a sample holds what the one before does and should not. */
static bool repeats(const blame_search *s, int k)
{
    bool differs = false;
    const int64_t at = k * s->count;
    for (int64_t e = at; e < at + s->count; e++) {
        if (s->seen[e] && (!s->seen[e - s->count] || s->dev[e] != s->dev[e - s->count]))
            return false;
        differs = differs || (s->seen[e] && s->base[e] != s->base[e - s->count]);
    }
    return differs;
}

int blame_repeated_screens(const blame_search *s, blame_screen *out, int max)
{
    int n = 0;
    for (int k = 1; k < s->n_samples && n < max && n < MAX_SAMPLES; k++)
        if (repeats(s, k)) {
            out[n] = (blame_screen){.kind = BLAME_SCREEN_SAMPLE, .sample = k};
            blame_tell(&out[n++].story, "stale.sample", 1,
                       "sample %d holds what the sample before does", s->sample[k]);
        }
    return n;
}
