/* Families of what is done to the order of codes: axes exchanged, transposed, dealt, blocked. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"
#include "interp/golden/permuted.h"

static const int groups[] = {2, 4, 8, 16, 32, 64};
static const int rotations[] = {1, -1, 2, -2, 4, -4, 8, -8};
enum {
    PERMUTATIONS = 24,
    FLIPS = 64,
    N_GROUPS = sizeof groups / sizeof *groups,
    N_ROTATIONS = sizeof rotations / sizeof *rotations,
    ROTATED = N_ROTATIONS * ASSAY_MAX_RANK,
    BLOCKED = 2 * N_GROUPS,
    FORWARD = PERMUTATIONS + FLIPS + 2 * N_GROUPS + ROTATED + BLOCKED
};

/* Whether some order of a sample's codes may be the device's: it has no code more often than the
 * replay has. counts: one for each code. */
static bool has_no_more(const blame_search *s, int k, int64_t *counts)
{
    const int64_t least = assay_elem_min(s->type->elem), from = k * s->count;
    assert(s->type->elem.bits <= 16);
    memset(counts, 0, (sizeof *counts) << s->type->elem.bits);
    for (int64_t e = from; e < from + s->count; e++)
        counts[s->base[e] - least]++;
    for (int64_t e = from; e < from + s->count; e++) {
        const int64_t code = s->dev[e] - least;
        if (s->seen[e] && (code < 0 || code >> s->type->elem.bits || --counts[code] < 0))
            return false;
    }
    return true;
}

/* Of large tensors, where many orders take long, those alone that can explain everything. */
enum { LARGE = 1 << 16 };

static bool may_be_ordered(const blame_search *s)
{
    const assay_elem e = s->type->elem;
    bool may = true;
    if (s->count < LARGE || s->n_after > 0 || s->on_sums || s->unseen_bits ||
        e.kind != ASSAY_KIND_INT || e.bits > 16)
        return true;
    int64_t *counts = malloc(sizeof *counts << e.bits);
    for (int k = 0; k < s->n_samples && counts && may; k++)
        may = has_no_more(s, k, counts);
    free(counts);
    return may;
}

int blame_permuted_count(blame_search *s)
{
    return s->count > 1 && may_be_ordered(s) ? FORWARD + PERMUTATIONS : 0;
}

/* Channel c to c % g * (n / g) + c / g, or back. */
static bool shuffle(const blame_search *s, int g, bool back, const int32_t *from, int32_t *to)
{
    if (s->channel_axis < 0)
        return false;
    const blame_axis a = blame_axis_of(s->type, s->channel_axis);
    if (a.n % g != 0 || a.n == g)
        return false;
    for (int64_t e = 0; e < s->count; e++) {
        const int64_t c = e / a.inner % a.n;
        const int64_t there = c % g * (a.n / g) + c / g, here = c % (a.n / g) * g + c / (a.n / g);
        to[e] = from[e + ((back ? here : there) - c) * a.inner];
    }
    return true;
}

static bool rotate(const blame_search *s, int axis, int by, const int32_t *from, int32_t *to)
{
    const blame_axis a = blame_axis_of(s->type, axis);
    if (axis >= s->type->rank || abs(by) >= a.n)
        return false;
    for (int64_t e = 0; e < s->count; e++) {
        const int64_t c = e / a.inner % a.n;
        to[e] = from[e + (((c + by) % a.n + a.n) % a.n - c) * a.inner];
    }
    return true;
}

/* Channels in blocks of g, each block's beside one another (NCHWc), or such blocks taken apart. */
static bool block(const blame_search *s, int g, bool back, const int32_t *from, int32_t *to)
{
    if (s->channel_axis < 0)
        return false;
    const blame_axis a = blame_axis_of(s->type, s->channel_axis);
    const bool last = a.inner == 1;
    const int64_t n = a.n, cells = s->count / n / (last ? 1 : a.outer);
    if (n % g != 0 || (n == g && last) || cells == 1)
        return false;
    for (int64_t e = 0; e < s->count; e++) {
        const int64_t image = e / (n * cells) * n * cells, r = e % (n * cells);
        const int64_t c = last ? r % n : r / cells, p = last ? r / n : r % cells;
        const int64_t there = image + (c / g * cells + p) * g + c % g;
        to[back ? e : there] = from[back ? there : e];
    }
    return true;
}

static bool permute(const blame_search *s, int i, const int32_t *from, int32_t *to,
                    blame_story *story)
{
    int perm[ASSAY_MAX_RANK];
    char text[32];
    const bool back = i >= FORWARD;
    i -= back ? FORWARD : 0;
    if (i < PERMUTATIONS) {
        if (i == 0 || s->type->rank > 4 ||
            !golden_permuted_axes(s->type->rank, GOLDEN_OWN_ORDER + i, perm))
            return false;
        (back ? blame_untranspose : blame_transpose)(s->type, perm, from, to);
        blame_tell(story, "output.layout", 1, "elements %s with axes in the order %s",
                   back ? "read" : "stored",
                   blame_say_list(perm, s->type->rank, text, sizeof text));
        return true;
    }
    i -= PERMUTATIONS;
    if (i < FLIPS) {
        if (i == 0 || i >> s->type->rank)
            return false;
        blame_flip(s->type, (unsigned)i, from, to);
        blame_tell(story, "output.layout", 1, "reverse order along axes (set %d)", i);
        return true;
    }
    i -= FLIPS;
    if (i < 2 * N_GROUPS) {
        blame_tell(story, "output.layout", 1, "channels %s groups of %d",
                   i % 2 ? "taken out of" : "dealt to", groups[i / 2]);
        return shuffle(s, groups[i / 2], i % 2, from, to);
    }
    i -= 2 * N_GROUPS;
    if (i >= ROTATED) {
        i -= ROTATED;
        blame_tell(story, "output.layout", 1,
                   i % 2 ? "blocks of %d channels taken apart" : "channels stored in blocks of %d",
                   groups[i / 2]);
        return block(s, groups[i / 2], i % 2, from, to);
    }
    blame_tell(story, "output.layout", 1, "moved by %d along axis %d", rotations[i % N_ROTATIONS],
               i / N_ROTATIONS);
    return rotate(s, i / N_ROTATIONS, rotations[i % N_ROTATIONS], from, to);
}

bool blame_moves_channels(const blame_search *s, int i)
{
    int perm[ASSAY_MAX_RANK];
    i -= i >= FORWARD ? FORWARD : 0;
    return i < PERMUTATIONS && s->type->rank == 4 &&
           golden_permuted_axes(4, GOLDEN_OWN_ORDER + i, perm) && perm[0] == 0 &&
           ((perm[1] == 2 && perm[2] == 3) || (perm[1] == 3 && perm[2] == 1));
}

bool blame_permuted_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    bool good = true;
    for (int k = 0; k < s->n_samples && good; k++)
        good = permute(s, i, s->base + k * s->count, codes + k * s->count, story);
    return good;
}
