/* Hypotheses over the codes of nodes whose end no edit reaches (softmax, moves): another zero
 * point, other bounds. */
#include "interp/blame/families.h"

static bool has_codes(const blame_search *s)
{
    return s->n_after == 0 && s->type->elem.kind == ASSAY_KIND_INT && s->type->elem.bits <= 16 &&
           assay_is_quantized(s->type) && !(assay_op_get(s->n->op)->traits & ASSAY_T_STATE);
}

static int64_t total(const blame_search *s)
{
    return s->n_samples * s->count;
}

static bool differs(const blame_search *s, int64_t e)
{
    return s->seen[e] && !blame_same(s, e, s->base[e]);
}

/* What does not fit saturates; or its low bits are kept. */
enum { SATURATES, WRAPS, ENDS };

int blame_moved_count(blame_search *s)
{
    return has_codes(s) ? ENDS : 0;
}

/* By what most of the elements say that lie within the type's bounds. */
bool blame_moved_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const int64_t lo = assay_elem_min(s->type->elem), hi = assay_elem_max(s->type->elem);
    int64_t by = 0, votes = 0;
    bool wrapped = false;
    for (int64_t e = 0; e < total(s); e++) {
        const int64_t d = (int64_t)s->dev[e] - s->base[e];
        if (!differs(s, e) || s->dev[e] == lo || s->dev[e] == hi)
            continue;
        by = votes == 0 ? d : by;
        votes += d == by ? 1 : -1;
    }
    for (int64_t e = 0; e < total(s); e++) {
        const int64_t to = codes[e] + by;
        const bool fits = to >= lo && to <= hi;
        const int64_t around = to < lo ? to + (hi - lo + 1) : to - (hi - lo + 1);
        wrapped = wrapped || !fits;
        codes[e] = (int32_t)(fits ? to : i == WRAPS ? around : to < lo ? lo : hi);
    }
    blame_tell(story, "rescale.zero_point", 1 + i, "zero point of the output: %+lld%s",
               (long long)by, i == WRAPS ? ", of what does not fit the low bits" : "");
    return by != 0 && s->differing > 1 && (i == SATURATES || wrapped);
}

enum { LOW, HIGH, BOTH, SIDES };

int blame_clamped_count(blame_search *s)
{
    return has_codes(s) && !(assay_op_get(s->n->op)->traits & ASSAY_T_ABSORB_OUT) ? SIDES : 0;
}

/* One element alone that was to be the greatest (or the least) of many and still is: that is no
 * chance. Of few it is named beside what else explains it. */
enum { MANY_ELEMENTS = 16 };

int blame_single_bound_count(blame_search *s)
{
    const bool said = s->explained || s->n_seen >= MANY_ELEMENTS;
    return has_codes(s) && said && s->differing == 1 ? BOTH : 0;
}

bool blame_single_bound_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    blame_clamped_post(s, i, codes, story);
    return true;
}

bool blame_clamped_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    int32_t lo = INT32_MAX, hi = INT32_MIN;
    for (int64_t e = 0; e < total(s); e++)
        if (s->seen[e]) {
            lo = s->dev[e] < lo ? s->dev[e] : lo;
            hi = s->dev[e] > hi ? s->dev[e] : hi;
        }
    lo = i == HIGH ? (int32_t)assay_elem_min(s->type->elem) : lo;
    hi = i == LOW ? (int32_t)assay_elem_max(s->type->elem) : hi;
    for (int64_t e = 0; e < total(s); e++)
        codes[e] = codes[e] < lo ? lo : codes[e] > hi ? hi : codes[e];
    /* between bounds there is more than one code */
    blame_tell(story, "saturation.bounds", i == BOTH || lo == hi ? 2 : 1, "bounds %d and %d", lo,
               hi);
    return s->differing > 1; /* one element may hold anything */
}
