/* Dumps pulled back to the node that gave them. Where the nodes behind it only move codes, a dump
 * of their result holds codes that the node gave: the search then compares those, as if the node's
 * own output had been dumped in part. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/search.h"

static bool only_moves(const blame_search *s)
{
    const assay_elem e = s->type->elem;
    bool moves = s->n_after > 0 && e.kind == ASSAY_KIND_INT && e.bits >= 4 && e.bits <= 16 &&
                 assay_elem_equal(e, s->end_type->elem);
    for (int i = 0; i < s->n_after; i++)
        moves = moves && assay_op_get(s->d->graph->node[s->after[i]].op)->traits & ASSAY_T_MOVE;
    return moves;
}

/* What the end shows when the node's codes are a digit of their own numbers, or that digit's
 * complement. Adds the digit to *place where both say the same; else the element is none of them.
 */
static bool follow_digit(const blame_search *s, int k, int shift, int32_t *codes, int32_t *end,
                         int64_t *place)
{
    const int bits = s->type->elem.bits;
    assert(bits >= 1 && bits <= 32 && shift < 63);
    const int64_t max = (INT64_C(1) << bits) - 1, min = assay_elem_min(s->type->elem);
    int32_t *straight = end, *complement = end + s->end_count;
    for (int64_t e = 0; e < s->count; e++)
        codes[e] = (int32_t)((e >> shift & max) + min);
    bool good = blame_finish(s, k, codes, straight);
    for (int64_t e = 0; e < s->count; e++)
        codes[e] = (int32_t)(max - (e >> shift & max) + min);
    good = good && blame_finish(s, k, codes, complement);
    for (int64_t j = 0; j < s->end_count && good; j++) {
        const int64_t digit = straight[j] - min;
        if (place[j] < 0 || digit != max - (complement[j] - min))
            place[j] = -1;
        else
            place[j] |= digit << shift;
    }
    return good;
}

/* The node's elements as the end shows them. False: what was dumped beside them differs, or says
 * two things of one of them. */
static bool pull_sample(const blame_search *s, int k, const int64_t *place, int32_t *dev,
                        uint8_t *seen)
{
    for (int64_t j = 0; j < s->end_count; j++) {
        const int64_t e = k * s->end_count + j, own = place[j];
        if (!s->seen[e])
            continue;
        if (own < 0 || own >= s->count) {
            if (!blame_same(s, e, s->end_base[e]))
                return false;
            continue;
        }
        if (seen[own] && dev[own] != s->dev[e])
            return false;
        dev[own] = s->dev[e];
        seen[own] = 1;
    }
    return true;
}

/* The search's arrays, of the node's own elements. */
static void take(blame_search *s, int32_t *dev, uint8_t *seen)
{
    free(s->dev);
    free(s->seen);
    s->dev = dev;
    s->seen = seen;
    s->end = s->n->out[0];
    s->end_type = s->type;
    s->end_count = s->count;
    s->n_after = 0;
    s->n_seen = s->differing = 0;
    for (int k = 0; k < s->n_samples; k++)
        blame_load(s->type, blame_at(s->d, s->sample[k], s->end)->golden, s->gold + k * s->count);
    memcpy(s->end_base, s->base, (size_t)(s->n_samples * s->count) * sizeof *s->end_base);
    for (int64_t e = 0; e < s->n_samples * s->count; e++) {
        s->n_seen += s->seen[e];
        s->differing += s->seen[e] && !blame_same(s, e, s->end_base[e]);
    }
}

static bool has_golden(const blame_search *s)
{
    bool all = true;
    for (int k = 0; k < s->n_samples; k++)
        all = all && blame_at(s->d, s->sample[k], s->n->out[0])->golden;
    return all;
}

void blame_search_pull(blame_search *s)
{
    const size_t own = (size_t)(s->n_samples * s->count) + 1, end = (size_t)s->end_count + 1;
    const size_t all = own + (size_t)s->n_samples * end;
    if (!only_moves(s) || !has_golden(s))
        return;
    int32_t *dev = malloc(own * sizeof *dev), *shown = malloc(2 * end * sizeof *shown);
    int32_t *codes = malloc((size_t)s->count * sizeof *codes + 64);
    uint8_t *seen = calloc(own, 1);
    int64_t *place = malloc(end * sizeof *place);
    int32_t *gold = realloc(s->gold, all * sizeof *gold);
    s->gold = gold ? gold : s->gold;
    int32_t *base = realloc(s->end_base, all * sizeof *base);
    s->end_base = base ? base : s->end_base;
    bool good = dev && codes && shown && seen && place && gold && base;
    if (good)
        memcpy(dev, s->base, (own - 1) * sizeof *dev);
    for (int k = 0; k < s->n_samples && good; k++) {
        memset(place, 0, end * sizeof *place);
        for (int shift = 0; shift == 0 || (shift < 63 && s->count >> shift > 0);
             shift += s->type->elem.bits)
            good = good && follow_digit(s, k, shift, codes, shown, place);
        good = good && pull_sample(s, k, place, dev + k * s->count, seen + k * s->count);
    }
    if (good) {
        take(s, dev, seen);
        dev = NULL;
        seen = NULL;
    }
    free(dev);
    free(codes);
    free(shown);
    free(seen);
    free(place);
}

assay_status blame_search_again(const blame_search *s, blame_search *again)
{
    const assay_status status = blame_search_open(again, s->d, s->schemes, s->node, s->asked_end,
                                                  s->after, s->n_asked_after, s->rel, NULL);
    again->budget = s->budget;
    if (status)
        blame_search_close(again);
    else if (s->left_out)
        blame_search_leave_clean(again);
    if (!status && s->n_after < s->n_asked_after)
        blame_search_pull(again);
    return status;
}
