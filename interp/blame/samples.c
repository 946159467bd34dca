/* Hypotheses over which sample, or which step of a sequence, a value is of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

enum { STALE_ALL, STALE_PARTS = STALE_ALL + ASSAY_MAX_RANK };
enum { MANY = 4 }; /* places that are as good as a range */
enum { BEFORE, FIRST, BEHIND, INITIAL, SOURCES };

int blame_stale_sample_count(blame_search *s)
{
    return s->n_samples > 1 && !s->left_out ? (1 + ASSAY_MAX_RANK) * SOURCES : 0;
}

/* Memory that was not written from an element on, or up to one: what the sample before left there;
 * before the first sample what memory holds at first, or nothing is wrong with that sample. */
enum { CLEAN_AT_FIRST, ZERO_AT_FIRST, ZERO_POINT_AT_FIRST, FIRSTS };

int blame_stale_memory_count(blame_search *s)
{
    const bool many = s->n_samples > 1 && !s->left_out;
    return many && s->n_after == 0 && s->differing > 1 ? 2 * FIRSTS : 0;
}

/* The stale elements [*from, *to): front or back of the tensor, as far as anything differs. */
static void find_stale(const blame_search *s, bool front, int64_t *from, int64_t *to)
{
    int64_t first = s->count, last = -1;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        if (s->seen[e] && !blame_same(s, e, s->base[e])) {
            first = e % s->count < first ? e % s->count : first;
            last = e % s->count > last ? e % s->count : last;
        }
    *from = front ? 0 : first;
    *to = front ? last + 1 : s->count;
}

bool blame_stale_memory_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const bool front = i % 2;
    const int at_first = i / 2;
    int64_t from, to;
    if (at_first == ZERO_POINT_AT_FIRST && !s->type->q.zero_point)
        return false;
    const int32_t fill = at_first == ZERO_POINT_AT_FIRST ? s->type->q.zero_point[0] : 0;
    find_stale(s, front, &from, &to);
    for (int k = at_first == CLEAN_AT_FIRST; k < s->n_samples; k++)
        for (int64_t e = from; e < to; e++)
            codes[k * s->count + e] = k == 0 ? fill : s->base[(k - 1) * s->count + e];
    char then[48] = "";
    if (at_first != CLEAN_AT_FIRST)
        snprintf(then, sizeof then, ", in the first one %d", fill);
    blame_tell(story, "stale.sample", to - from == s->count ? 2 : 3,
               "elements %lld to %lld hold what the sample before gives%s", (long long)from,
               (long long)to - 1, then);
    return true;
}

/* What a state holds before the first step, as codes; false: the node reads none. */
static bool initial(const blame_search *s, int32_t *codes)
{
    if (s->n->op != ASSAY_OP_READ)
        return false;
    const assay_value *v = assay_node_in(s->d->graph, s->n, 0);
    for (int64_t e = 0; e < s->count; e++)
        codes[e] = v->type.q.zero_point ? v->type.q.zero_point[0] : 0;
    if (v->data)
        blame_load(&v->type, v->data, codes);
    return true;
}

/* Positions of an axis at which sample k differs; returns how many. */
static int64_t mark(const blame_search *s, int k, blame_axis a, bool *bad)
{
    memset(bad, 0, (size_t)a.n);
    for (int64_t e = k * s->count, j = 0; j < s->count; e++, j++)
        if (s->seen[e] && !blame_same(s, e, s->base[e]))
            bad[j / a.inner % a.n] = true;
    int64_t n = 0;
    for (int64_t p = 0; p < a.n; p++)
        n += bad[p];
    return n;
}

/* Part 0 is whole samples: those that differ, or, where the node's own output was not dumped, all.
 */
bool blame_stale_sample_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    static const char *const words[SOURCES] = {"the sample before", "the first sample",
                                               "the sample behind", "the initial state"};
    const int source = i % SOURCES, part = i / SOURCES;
    if (part > s->type->rank || (part > 0 && s->n_after > 0))
        return false;
    const blame_axis a = blame_axis_of(s->type, part - 1);
    bool *bad = calloc((size_t)a.n + 1, sizeof *bad);
    int32_t *from = malloc((size_t)s->count * sizeof *from + 64);
    int64_t max = 1;
    bool good = bad && from && (source != INITIAL || initial(s, from));
    for (int k = 0; k < s->n_samples && good; k++) {
        const int other = source == BEFORE ? k - 1 : source == BEHIND ? k + 1 : 0;
        if (other < 0 || other >= s->n_samples)
            continue;
        if (source != INITIAL)
            memcpy(from, s->base + other * s->count, (size_t)s->count * sizeof *from);
        bad[0] = true;
        const int64_t places = s->n_after == 0 ? mark(s, k, a, bad) : 1;
        max = places > max ? places : max;
        for (int64_t e = 0; e < s->count; e++)
            if (bad[e / a.inner % a.n])
                codes[k * s->count + e] = from[e];
    }
    if (part == 0)
        blame_tell(story, "stale.sample", 1, "what %s gives", words[source]);
    else
        blame_tell(story, "stale.sample", 1 + (int)(max < MANY ? max : MANY),
                   "in part (along axis %d) what %s gives", part - 1, words[source]);
    free(bad);
    free(from);
    return good;
}
