/* Hypotheses over which sample, or which step of a sequence, a value is of. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

enum { STALE_ALL, STALE_PARTS = STALE_ALL + ASSAY_MAX_RANK };
enum { MANY = 4 }; /* places that are as good as a range */
enum { BEFORE, FIRST, BEHIND, INITIAL, SOURCES };

int blame_stale_sample_count(blame_search *s)
{
    return s->n_samples > 1 ? (1 + ASSAY_MAX_RANK) * SOURCES : 0;
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
    int64_t most = 1;
    bool good = bad && from && (source != INITIAL || initial(s, from));
    for (int k = 0; k < s->n_samples && good; k++) {
        const int other = source == BEFORE ? k - 1 : source == BEHIND ? k + 1 : 0;
        if (other < 0 || other >= s->n_samples)
            continue;
        if (source != INITIAL)
            memcpy(from, s->base + other * s->count, (size_t)s->count * sizeof *from);
        bad[0] = true;
        const int64_t places = s->n_after == 0 ? mark(s, k, a, bad) : 1;
        most = places > most ? places : most;
        for (int64_t e = 0; e < s->count; e++)
            if (bad[e / a.inner % a.n])
                codes[k * s->count + e] = from[e];
    }
    if (part == 0)
        blame_tell(story, "stale.sample", 1, "what %s gives", words[source]);
    else
        blame_tell(story, "stale.sample", 1 + (int)(most < MANY ? most : MANY),
                   "in part (along axis %d) what %s gives", part - 1, words[source]);
    free(bad);
    free(from);
    return good;
}
