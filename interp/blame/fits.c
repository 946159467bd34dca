/* Numbers of a channel that are solved for, a bias: rescales are monotone in it, so that what the
 * device gave leaves an interval, found by bisection, or none. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/fits.h"

bool blame_votes_open(blame_votes *v, int64_t n)
{
    v->n = n;
    v->more = calloc((size_t)(2 * n) + 1, sizeof *v->more);
    v->less = v->more + n;
    return v->more != NULL;
}

bool blame_is_above(const blame_search *s, int32_t device, int32_t predicted)
{
    const int32_t compared = (int32_t)~s->unseen_bits;
    return (device & compared) > (predicted & compared);
}

blame_axis blame_channels_of(const blame_search *s)
{
    return blame_axis_of(s->type, s->channel_axis);
}

bool blame_is_thin(const blame_search *s)
{
    const blame_axis a = blame_channels_of(s);
    return !s->explained && s->n_samples * a.outer * a.inner < 2;
}

static bool requantize(blame_search *s, const int64_t *delta, int32_t *codes)
{
    const blame_axis a = blame_channels_of(s);
    const int64_t *sums = blame_sums(s);
    int64_t *moved = malloc((size_t)s->count * sizeof *moved + 64);
    void *out = malloc(assay_type_bytes(s->type) + 64);
    bool good = sums && moved && out;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        for (int64_t e = 0; e < s->count; e++)
            moved[e] = sums[k * s->count + e] + delta[e / a.inner % a.n];
        good = blame_search_case(s, k, &c) && !blame_case_requantize(&c, moved, out, NULL);
        if (good)
            blame_load(s->type, out, codes + k * s->count);
    }
    free(moved);
    free(out);
    return good;
}

int blame_fit_bias_count(blame_search *s)
{
    return assay_op_get(s->n->op)->traits & ASSAY_T_WEIGHTED && s->n_after == 0 &&
           assay_node_is_quantized(s->d->graph, s->n) && s->channel_axis >= 0;
}

static void vote(const blame_search *s, const int32_t *codes, blame_votes *v)
{
    const blame_axis a = blame_channels_of(s);
    memset(v->more, 0, (size_t)(2 * v->n) * sizeof *v->more);
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        const int64_t c = e % s->count / a.inner % a.n;
        if (s->seen[e] && !blame_same(s, e, codes[e]))
            (blame_is_above(s, s->dev[e], codes[e]) ? v->more : v->less)[c] = true;
    }
}

/* How many channels have another bias, and whether all of those are determined. */
static bool solve_biases(blame_search *s, int64_t *lo, int64_t *hi, int64_t *delta, blame_votes *v,
                         int32_t *codes, int *changed)
{
    const blame_axis a = blame_channels_of(s);
    bool open = true;
    for (int step = 0; step < 40 && open; step++) {
        if (!requantize(s, delta, codes))
            return false;
        vote(s, codes, v);
        open = false;
        for (int64_t c = 0; c < a.n; c++) {
            if (v->more[c] && v->less[c])
                return false;
            if (v->more[c])
                lo[c] = delta[c] + 1;
            else if (v->less[c])
                hi[c] = delta[c] - 1;
            else
                continue;
            if (lo[c] > hi[c])
                return false;
            delta[c] = lo[c] + (hi[c] - lo[c]) / 2;
            open = true;
        }
    }
    *changed = 0;
    for (int64_t c = 0; c < a.n; c++)
        *changed += delta[c] != 0;
    return !open;
}

enum { MAX_NAMED = 4 };

/* Whether channel c is explained with this much more. */
static bool holds(blame_search *s, int64_t *delta, int64_t c, int64_t candidate, blame_votes *v,
                  int32_t *codes)
{
    const int64_t old = delta[c];
    delta[c] = candidate;
    const bool good = requantize(s, delta, codes);
    if (good)
        vote(s, codes, v);
    if (good && !v->more[c] && !v->less[c])
        return true;
    delta[c] = old;
    return false;
}

/* The biases that are solved for as ones that are there: none, or another channel's. Returns the
 * class, and in *source the channel that the last one is of. */
static const char *name_biases(blame_search *s, const int64_t *lo, const int64_t *hi,
                               int64_t *delta, blame_votes *v, int32_t *codes, int64_t *source)
{
    const char *class = NULL;
    const blame_axis a = blame_channels_of(s);
    blame_case c;
    int tries = 0;
    if (!blame_search_case(s, 0, &c) || c.n_in < 3 || !c.data[2])
        return "bias.value";
    int64_t *bias = assay_arena_array(c.arena, (size_t)a.n + 1, sizeof *bias);
    for (int64_t k = 0; k < a.n && bias; k++)
        bias[k] = assay_elem_get(c.in[2].elem, c.data[2], (size_t)k);
    for (int64_t k = 0; k < a.n && bias; k++) {
        if (delta[k] == 0)
            continue;
        const char *found = holds(s, delta, k, -bias[k], v, codes) ? "bias.missing" : NULL;
        for (int64_t j = 0; j < a.n && !found && tries < BLAME_CANDIDATES; j++) {
            const int64_t candidate = bias[j] - bias[k];
            if (j == k || candidate < lo[k] || candidate > hi[k])
                continue;
            tries++;
            if (holds(s, delta, k, candidate, v, codes)) {
                found = "bias.channel";
                *source = j;
            }
        }
        if (!found || (class && strcmp(class, found) != 0))
            return "bias.value";
        class = found;
    }
    return class ? class : "bias.value";
}

bool blame_fit_bias_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const blame_axis a = blame_channels_of(s);
    int64_t *lo = calloc((size_t)(3 * a.n) + 1, sizeof *lo), *hi = lo + a.n, *delta = hi + a.n;
    blame_votes v;
    int changed = 0;
    bool good = lo && blame_votes_open(&v, a.n);
    (void)i;
    for (int64_t c = 0; c < a.n && good; c++) {
        lo[c] = INT32_MIN;
        hi[c] = INT32_MAX;
    }
    good = good && solve_biases(s, lo, hi, delta, &v, codes, &changed);
    int64_t source = -1, which = -1;
    const char *class = good && changed > 0 && changed <= MAX_NAMED
                            ? name_biases(s, lo, hi, delta, &v, codes, &source)
                            : "bias.value";
    for (int64_t c = 0; c < a.n && good; c++)
        which = delta[c] != 0 ? c : which;
    good = good && changed > 0 && requantize(s, delta, codes) &&
           !(blame_is_thin(s) && strcmp(class, "bias.value") == 0);
    if (good && source >= 0)
        blame_tell(story, class, 1 + changed, "channel %lld has the bias of channel %lld",
                   (long long)which, (long long)source);
    else if (good)
        blame_tell(story, class, 1 + changed, "%d channel%s another bias; channel %lld: %lld more",
                   changed, changed == 1 ? " has" : "s have", (long long)which,
                   (long long)delta[which]);
    if (lo)
        free(v.more);
    free(lo);
    return good;
}
