/* Hypotheses over the zero points of what goes into a node. */
#include <stdlib.h>

#include "interp/blame/families.h"

static bool has_codes(const assay_type *t)
{
    return assay_is_quantized(t) && t->q.granularity == ASSAY_Q_TENSOR && t->q.zero_point;
}

/* Codes in a type that has z, too. */
static bool widen(blame_case *c, int input, int32_t z)
{
    assay_type t = c->in[input];
    if (z >= assay_elem_min(t.elem) && z <= assay_elem_max(t.elem))
        return true;
    int32_t *codes =
        c->constant[input] || !blame_can_change_sign(&t) ? NULL : blame_codes_of(c, input);
    unsigned bits = t.elem.bits + 1U;
    while (z < assay_elem_min(assay_int(bits, true)) || z > assay_elem_max(assay_int(bits, true)))
        bits++;
    t.elem = assay_int(bits, true);
    c->has_record = true;
    return codes && blame_set_codes(c, input, &t, codes);
}

static bool set_zero_point(blame_search *s, int input, int32_t z, blame_case *c, blame_story *story)
{
    int32_t *zero;
    const int32_t now = c->in[input].q.zero_point[0];
    if (z == now || !widen(c, input, z) || !blame_own_params(c, &c->in[input], NULL, &zero))
        return false;
    zero[0] = z;
    blame_tell(story,
               blame_is_weighted(s->n) && input == 1 ? "weights.zero_point" : "input.zero_point", 1,
               "zero point of input %d: %d instead of %d", input, z, now);
    return true;
}

/* The usual ones, each also with the cells of padding at the old zero point's code, as where
 * padding is in memory; then those of the node's other values. */
enum { ZERO_CHOICES = 2 * BLAME_USUAL + 2 };

int blame_zero_point_count(blame_search *s)
{
    return has_codes(blame_input_type(s, 0)) || has_codes(blame_input_type(s, 1)) ? 2 * ZERO_CHOICES
                                                                                  : 0;
}

bool blame_zero_point_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int input = i / ZERO_CHOICES, k = i % ZERO_CHOICES;
    int32_t usual[BLAME_USUAL];
    if (input >= c->n_in || !has_codes(&c->in[input]))
        return false;
    const int32_t now = c->in[input].q.zero_point[0];
    const int n = blame_usual_zero_points(&c->in[input], now, usual);
    if (k >= 2 * BLAME_USUAL) {
        const assay_type *t = k == 2 * BLAME_USUAL ? &c->out : &c->in[1 - input];
        if ((k > 2 * BLAME_USUAL && c->n_in < 2) || !has_codes(t) ||
            t->q.zero_point[0] < assay_elem_min(c->in[input].elem) ||
            t->q.zero_point[0] > assay_elem_max(c->in[input].elem))
            return false;
        return set_zero_point(s, input, t->q.zero_point[0], c, story);
    }
    if (k % BLAME_USUAL >= n ||
        (k >= BLAME_USUAL && (input > 0 || !blame_pad_input(c, now, false))))
        return false;
    return set_zero_point(s, input, usual[k % BLAME_USUAL], c, story);
}

/* ---- any code of the type ---- */

/* Codes of at most 8 bits are tried one by one: this also finds those that not every element rises
 * or falls with; in a region, where none are looked for, as many again around them. */
enum { MAX_CODES = 256 };

static int tried(const blame_search *s)
{
    return s->n_after > 0 ? 2 * MAX_CODES : MAX_CODES;
}

static bool keeps_padding(const blame_search *s)
{
    return s->n->op == ASSAY_OP_CONV;
}

/* The inputs whose zero points are tried; of a convolution also its own with the cells of padding
 * at the old zero point's code. */
static int ways(blame_search *s)
{
    const bool two = !blame_is_weighted(s->n) && has_codes(blame_input_type(s, 1));
    return !has_codes(blame_input_type(s, 0)) ? 0 : two || keeps_padding(s) ? 2 : 1;
}

/* In way `way` the zero point z. */
static bool set_in_way(blame_search *s, int way, int64_t z, blame_case *c, blame_story *story)
{
    const int input = keeps_padding(s) ? 0 : way;
    if (!has_codes(&c->in[input]) ||
        (way > input && !blame_pad_input(c, c->in[0].q.zero_point[0], false)))
        return false;
    return set_zero_point(s, input, (int32_t)z, c, story);
}

int blame_any_zero_point_count(blame_search *s)
{
    return ways(s) * tried(s);
}

bool blame_any_zero_point_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int all = tried(s), around = (all - MAX_CODES) / 2, way = i / all;
    const assay_type *t = blame_input_type(s, keeps_padding(s) ? 0 : way);
    const int64_t z = assay_elem_min(t->elem) - around + i % all;
    return z <= assay_elem_max(t->elem) + around && t->elem.bits <= 8 &&
           set_in_way(s, way, z, c, story);
}

/* ---- far ones, which are looked for ---- */

/* How far from the zero point that is right: the type's codes less that still have 16 bits. */
enum { FAR = 1 << 14, REACH = 2 * FAR + 1 };

int blame_far_zero_point_count(blame_search *s)
{
    static const blame_family far = {.id = BLAME_FAMILY_far_zero_point,
                                     .edit = blame_far_zero_point_edit};
    int n = 0;
    for (int way = 0; way < ways(s); way++) {
        const int from = way * REACH + FAR,
                  found = blame_seek(s, &far, from - FAR, from, from + FAR);
        if (found != from)
            s->sought[n++] = found;
    }
    return n;
}

bool blame_far_zero_point_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int way = i / REACH;
    const assay_type *t = blame_input_type(s, keeps_padding(s) ? 0 : way);
    const int64_t z = t->q.zero_point[0] + i % REACH - FAR;
    const bool fits =
        t->elem.bits <= 8 || (z >= assay_elem_min(t->elem) && z <= assay_elem_max(t->elem));
    return fits && set_in_way(s, way, z, c, story);
}
