/* Hypotheses over what goes into a node: signs, weights, bias, scales. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/families.h"

/* ---- signs ---- */

/* Codes with the top bit flipped (flip), or read with the other signedness, which takes wider
 * storage. */
bool blame_change_sign(blame_case *c, int input, bool flip)
{
    assay_type t = c->in[input];
    assert(blame_can_change_sign(&t)); /* bits from 2 to 16: codes moved by a half stay in 32 */
    const int64_t n = assay_shape_count(&t), half = INT64_C(1) << (t.elem.bits - 1);
    int32_t *codes = blame_codes_of(c, input);
    if (!codes)
        return false;
    for (int64_t i = 0; i < n; i++)
        if (flip)
            codes[i] += (int32_t)(codes[i] >= assay_elem_min(t.elem) + half ? -half : half);
        else if (t.elem.is_signed ? codes[i] < 0 : codes[i] >= half)
            codes[i] += (int32_t)(t.elem.is_signed ? 2 * half : -2 * half);
    if (!flip)
        t.elem = assay_int(t.elem.bits + 1U, true);
    c->has_record = true;
    return blame_set_codes(c, input, &t, codes);
}

bool blame_can_change_sign(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_INT && t->elem.bits <= 16 && t->elem.bits > 1 &&
           assay_is_quantized(t);
}

int blame_sign_count(blame_search *s)
{
    return s->has_record && blame_can_change_sign(blame_input_type(s, 0)) ? 4 : 0;
}

bool blame_sign_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int input = i / 2;
    (void)s;
    if (input >= c->n_in || c->constant[input] || !blame_can_change_sign(&c->in[input]))
        return false;
    blame_tell(story, "sign", 1, i % 2 ? "codes of input %d read as %s" : "top bit of input %d %s",
               input,
               i % 2 == 0                    ? "flipped"
               : c->in[input].elem.is_signed ? "unsigned"
                                             : "signed");
    return blame_change_sign(c, input, i % 2 == 0);
}

/* The greatest of codes that are compared with the other signedness and pass as they are: as of
 * codes with the top bit flipped, which is flipped back. */
int blame_other_order_count(blame_search *s)
{
    return s->n->op == ASSAY_OP_MAX_POOL && blame_can_change_sign(s->type);
}

bool blame_other_order_post(blame_search *s, int i, int32_t *codes, blame_story *story)
{
    assert(blame_can_change_sign(s->type)); /* bits from 2 to 16 */
    const int64_t half = INT64_C(1) << (s->type->elem.bits - 1);
    const int64_t middle = assay_elem_min(s->type->elem) + half;
    (void)i;
    for (int k = 0; k < s->n_samples; k++) {
        blame_case c;
        assay_arena_free(s->arena);
        if (!(s->arena = assay_arena_new()) || !blame_search_case(s, k, &c) ||
            !blame_change_sign(&c, 0, true) || !blame_search_outcome(s, &c, codes + k * s->count))
            return false;
    }
    for (int64_t e = 0; e < s->n_samples * s->count; e++)
        codes[e] += (int32_t)(codes[e] >= middle ? -half : half);
    blame_tell(story, "sign", 1, "codes of input 0 compared as %s",
               s->type->elem.is_signed ? "unsigned" : "signed");
    return true;
}

/* ---- operands ---- */

enum {
    SWAP_ALL,
    SWAP_DATA,
    SWAP_PARAMETERS,
    SWAP_SCALES,
    SWAP_ZEROS,
    TRANSPOSE_A,
    TRANSPOSE_B,
    SWAPS
};

int blame_operands_count(blame_search *s)
{
    return s->n->n_in >= 2 && !blame_is_weighted(s->n) ? SWAPS * (s->n->n_in > 2 ? 2 : 1) : 0;
}

static void swap_types(assay_type *a, assay_type *b)
{
    const assay_type t = *a;
    *a = *b;
    *b = t;
}

static bool swap_parameters(blame_case *c, int other, int what)
{
    float *scale[2];
    int32_t *zero[2];
    assay_type *a = &c->in[0], *b = &c->in[other];
    if (a->q.count != 1 || b->q.count != 1 || !blame_own_params(c, a, &scale[0], &zero[0]) ||
        !blame_own_params(c, b, &scale[1], &zero[1]))
        return false;
    const float f = scale[0][0];
    const int32_t z = zero[0][0];
    if (what != SWAP_ZEROS) {
        scale[0][0] = scale[1][0];
        scale[1][0] = f;
    }
    if (what != SWAP_SCALES) {
        zero[0][0] = zero[1][0];
        zero[1][0] = z;
    }
    return true;
}

bool blame_operands_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    static const char *const words[] = {"operands",
                                        "operands' codes, each with the other's parameters",
                                        "scales and zero points of the operands",
                                        "scales of the operands", "zero points of the operands"};
    const int what = i % SWAPS, other = i / SWAPS ? c->n_in - 1 : 1;
    const void *data = c->data[0];
    const bool constant = c->constant[0];
    (void)s;
    if (what >= TRANSPOSE_A) {
        bool *transposed =
            what == TRANSPOSE_A ? &c->attr.matmul.transpose_a : &c->attr.matmul.transpose_b;
        if (c->op != ASSAY_OP_MATMUL)
            return false;
        *transposed = !*transposed;
        blame_tell(story, "operands.swapped", 1, "operand %d transposed", what - TRANSPOSE_A);
        return true;
    }
    blame_tell(story, "operands.swapped", what == SWAP_PARAMETERS ? 2 : 1, "%s exchanged",
               words[what]);
    if (what >= SWAP_PARAMETERS)
        return swap_parameters(c, other, what);
    if (what == SWAP_DATA && (!assay_shape_equal(&c->in[0], &c->in[other]) ||
                              !assay_elem_equal(c->in[0].elem, c->in[other].elem)))
        return false;
    c->data[0] = c->data[other];
    c->data[other] = data;
    c->constant[0] = c->constant[other];
    c->constant[other] = constant;
    if (what == SWAP_ALL)
        swap_types(&c->in[0], &c->in[other]);
    return true;
}
