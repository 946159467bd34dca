/* Hypotheses over bounds that the device's codes do not show: where the node's output was not
 * dumped, bits of it are not compared, or a bound acts before codes wrap, each code is a bound in
 * its turn. */
#include "interp/blame/families.h"

enum { CODES = 256 };

static bool can(const blame_search *s)
{
    return blame_has_end(s) && s->type->elem.bits <= 8;
}

int blame_blind_bounds_count(blame_search *s)
{
    const bool blind = s->n_after > 0 || s->unseen_bits != 0;
    return can(s) && blind ? 2 * CODES : 0;
}

/* The bound that is the choice i. */
static int32_t bound_of(const blame_search *s, int i, blame_story *story)
{
    const int32_t bound = (int32_t)assay_elem_min(s->type->elem) + i / 2;
    blame_tell(story, "saturation.bounds", 1, "no code is %s %d", i % 2 ? "above" : "below", bound);
    return bound;
}

bool blame_blind_bounds_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const int32_t bound = bound_of(s, i, story);
    bool changes = false;
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        if (i % 2 ? codes[e] > bound : codes[e] < bound) {
            codes[e] = bound;
            changes = true;
        }
    return changes;
}

/* Where the low bits of what is beyond the type's bounds are stored, a bound acts before that, and
 * the codes do not show it: what the other side lets pass may come out beyond it. */
int blame_early_bounds_count(blame_search *s)
{
    const bool wraps = s->has_record && s->record.rescale.store == ASSAY_STORE_WRAP;
    return can(s) && wraps && s->n_after == 0 ? 2 * CODES : 0;
}

/* The other side stays as it is, open if it is. */
bool blame_early_bounds_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int32_t bound = bound_of(s, i, story);
    const float real = c->out.q.scale[0] * (float)(bound - c->out.q.zero_point[0]);
    if (c->has_code_bounds && i % 2)
        c->code_hi = bound;
    else if (c->has_code_bounds)
        c->code_lo = bound;
    if (i % 2)
        c->act_hi = real;
    else
        c->act_lo = real;
    return !c->has_code_bounds || c->code_lo <= c->code_hi;
}
