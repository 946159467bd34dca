/* Common traits of the elements that no hypothesis explains. */
#include <stdio.h>
#include <stdlib.h>

#include "interp/blame/blame.h"

/* How many positions of an axis hold an element that differs, and between which they lie. */
static int64_t spread(const blame_search *s, int axis, int64_t *first, int64_t *last)
{
    const blame_axis a = blame_axis_of(s->end_type, axis);
    bool *bad = calloc((size_t)a.n + 1, sizeof *bad);
    int64_t count = 0;
    *first = *last = 0;
    for (int64_t i = 0; i < s->n_samples * s->end_count && bad; i++)
        if (s->seen[i] && !blame_same(s, i, s->end_base[i]))
            bad[i % s->end_count / a.inner % a.n] = true;
    for (int64_t k = a.n - 1; k >= 0 && bad; k--)
        if (bad[k]) {
            *last = count++ ? *last : k;
            *first = k;
        }
    free(bad);
    return count;
}

/* Whether what is replayed from is made of accumulators, not of codes that were dumped. */
static bool rests_on_sums(const blame_search *s)
{
    for (int i = 0; i < s->n->n_in && s->n_samples > 0; i++)
        if (s->n->in[i] != ASSAY_NO_VALUE && blame_at(s->d, s->sample[0], s->n->in[i])->sums)
            return true;
    return false;
}

void blame_say_common(const blame_search *s, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int axis = 0; axis < s->end_type->rank && used < size; axis++) {
        int64_t first, last;
        const int64_t n = spread(s, axis, &first, &last);
        if (n == 0 || n == s->end_type->dim[axis])
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%lld of %lld along axis %d (%lld",
                                 used ? ", " : "; they lie at ", (long long)n,
                                 (long long)s->end_type->dim[axis], axis, (long long)first);
        if (used < size && last > first)
            used += (size_t)snprintf(text + used, size - used, " to %lld", (long long)last);
        if (used < size)
            used += (size_t)snprintf(text + used, size - used, ")");
    }
    if (used < size && rests_on_sums(s))
        snprintf(text + used, size - used,
                 "; it may be what a node before does behind its accumulators");
}
