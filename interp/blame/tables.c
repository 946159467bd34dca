/* Functions of codes: entries of a table, where the device's output is a function of its input; the
 * scale before an exponential. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "interp/blame/families.h"

/* ---- entries ---- */

int blame_table_entry_count(blame_search *s)
{
    const assay_value *v = s->n->n_in > 0 ? assay_node_in(s->d->graph, s->n, 0) : NULL;
    return v && s->n_after == 0 && assay_op_get(s->n->op)->traits & ASSAY_T_UNARY &&
           v->type.elem.kind == ASSAY_KIND_INT && v->type.elem.bits <= 16 && blame_case_can(s->n) &&
           assay_shape_count(&v->type) == s->count;
}

bool blame_table_entry_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    int32_t *to = calloc(65536, sizeof *to);
    uint8_t *known = calloc(65536, 1);
    int changed = 0, which = 0;
    bool good = to && known;
    (void)i;
    for (int k = 0; k < s->n_samples && good; k++) {
        blame_case c;
        int32_t *x = NULL;
        good = blame_search_case(s, k, &c) && (x = blame_codes_of(&c, 0));
        for (int64_t e = k * s->count, j = 0; j < s->count && good; e++, j++) {
            const int at = x[j] & 0xFFFF;
            if (s->seen[e] && !known[at]) {
                known[at] = 1;
                to[at] = s->dev[e];
                if (s->dev[e] != s->base[e])
                    which = changed++ ? which : x[j];
            }
            codes[e] = known[at] ? to[at] : codes[e];
        }
    }
    if (good)
        blame_tell(story, "table.entry", 1 + changed,
                   "%d entr%s of the table differ; first that of code %d", changed,
                   changed == 1 ? "y" : "ies", which);
    free(to);
    free(known);
    return good && changed > 0;
}

/* ---- parts of a table ---- */

/* Aligned parts of 16 to 128 entries that were not loaded: 0, the zero point, the least code. */
enum { MIN_PART = 16, PARTS = 16 + 8 + 4 + 2, HELD = 3 };

int blame_table_part_count(blame_search *s)
{
    const assay_type *t = blame_input_type(s, 0);
    return assay_op_get(s->n->op)->traits & ASSAY_T_UNARY && t->elem.kind == ASSAY_KIND_INT &&
                   t->elem.bits == 8 && assay_is_quantized(s->type) && s->type->q.zero_point &&
                   assay_shape_count(t) == s->count && blame_case_can(s->n)
               ? PARTS * HELD
               : 0;
}

bool blame_table_part_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    const int64_t least = assay_elem_min(blame_input_type(s, 0)->elem);
    int64_t part = i / HELD, size = MIN_PART;
    for (; part >= 256 / size; size *= 2)
        part -= 256 / size;
    const int32_t held[HELD] = {0, s->type->q.zero_point[0],
                                (int32_t)assay_elem_min(s->type->elem)};
    const int32_t code = held[i % HELD];
    const int64_t first = least + part * size;
    for (int k = 0; k < i % HELD; k++)
        if (held[k] == code)
            return false;
    for (int k = 0; k < s->n_samples; k++) {
        blame_case c;
        const int32_t *x = blame_search_case(s, k, &c) ? blame_codes_of(&c, 0) : NULL;
        for (int64_t j = 0; j < s->count && x; j++)
            if (x[j] >= first && x[j] < first + size)
                codes[k * s->count + j] = code;
        if (!x)
            return false;
    }
    blame_tell(story, "table.entry", 2, "the table's entries of codes %lld to %lld hold %d",
               (long long)first, (long long)(first + size - 1), code);
    return true;
}

/* ---- the scale before an exponential ---- */

enum { FRACTION = 24, MIN_BIT = 12 };

int blame_exponent_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_SOFTMAX || s->n->op == ASSAY_OP_LOG_SOFTMAX ? FRACTION - 1 - MIN_BIT
                                                                            : 0;
}

/* One of the upper bits of its fraction is the other. */
bool blame_exponent_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    float *scale;
    int exponent;
    (void)s;
    if (!assay_is_quantized(&c->in[0]) || !blame_own_params(c, &c->in[0], &scale, NULL))
        return false;
    assert(i >= 0 && i <= FRACTION - 2);
    const int64_t m = (int64_t)ldexp(frexp((double)scale[0], &exponent), FRACTION);
    scale[0] = (float)ldexp((double)(m ^ INT64_C(1) << (FRACTION - 2 - i)), exponent - FRACTION);
    blame_tell(story, "rescale.multiplier", 2, "bit %d of the input's multiplier is flipped",
               29 - i);
    return true;
}
