/* Hypotheses over how weights are read: their signs and their order. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "interp/blame/families.h"
#include "interp/golden/permuted.h"

int blame_weights_sign_count(blame_search *s)
{
    return blame_has_weights(s) && s->has_record && blame_can_change_sign(blame_input_type(s, 1))
               ? 7
               : 0;
}

bool blame_weights_sign_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    static const char *const words[] = {
        "with the top bit flipped",   "read with the other sign", "negated",
        "read as sign and magnitude", "read without their sign",  "half the range too great",
        "half the range too small"};
    const int64_t n = assay_shape_count(&c->in[1]), half = INT64_C(1) << (c->in[1].elem.bits - 1);
    assay_type t = c->in[1];
    int32_t *w;
    (void)s;
    assert(blame_can_change_sign(&t)); /* bits from 2 to 16: sums with a half stay in 32 */
    blame_tell(story, "weights.sign", 1, "weights %s", words[i]);
    if (i < 2)
        return blame_change_sign(c, 1, i == 0);
    if (!t.elem.is_signed || !(w = blame_codes_of(c, 1)))
        return false;
    for (int64_t k = 0; k < n; k++)
        w[k] = i == 4                    ? abs(w[k])
               : i == 5                  ? w[k] + (int32_t)half
               : i == 6                  ? w[k] - (int32_t)half
               : i == 2 || w[k] == -half ? -w[k]
               : w[k] < 0                ? (int32_t) - (w[k] + half)
                                         : w[k];
    t.elem = assay_int(16, true);
    c->has_record = true;
    return blame_set_codes(c, 1, &t, w);
}

enum { PERMUTATIONS = 24, FLIPS = 16, FLATTENED = 2 };

int blame_weights_layout_count(blame_search *s)
{
    return blame_has_weights(s) && blame_input_type(s, 1)->rank <= 4
               ? 2 * PERMUTATIONS + FLIPS + FLATTENED
               : 0;
}

/* Weights of inputs that were an image before they were made a row: in the image's other order. */
static bool reorder_flattened(const blame_search *s, bool back, blame_case *c, blame_story *story)
{
    const assay_graph *g = s->d->graph;
    const assay_value *x = assay_node_in(g, s->n, 0);
    const assay_node *reshape = x->producer >= 0 ? &g->node[x->producer] : NULL;
    if (s->n->op != ASSAY_OP_FC || !reshape || reshape->op != ASSAY_OP_RESHAPE)
        return false;
    const assay_type *image = &assay_node_in(g, reshape, 0)->type;
    const int64_t outputs = c->in[1].dim[0], depth = c->in[1].dim[1];
    if (image->rank != 4 || assay_shape_count(image) != depth)
        return false;
    const int64_t inner = back ? image->dim[1] : image->dim[2] * image->dim[3];
    int32_t *from = blame_codes_of(c, 1), *to = blame_codes_of(c, 1);
    if (!from || !to || inner == 1 || inner == depth)
        return false;
    for (int64_t o = 0; o < outputs; o++)
        for (int64_t k = 0; k < depth; k++)
            to[o * depth + k] = from[o * depth + k % inner * (depth / inner) + k / inner];
    blame_tell(story, "weights.layout", 1, "weights of the flattened image in its other order");
    return blame_set_codes(c, 1, &c->in[1], to);
}

bool blame_weights_layout_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const assay_type *t = &c->in[1];
    int perm[ASSAY_MAX_RANK];
    char text[32];
    const bool back = i >= PERMUTATIONS + FLIPS + FLATTENED;
    if (back)
        i -= PERMUTATIONS + FLIPS + FLATTENED;
    else if (i >= PERMUTATIONS + FLIPS)
        return reorder_flattened(s, i > PERMUTATIONS + FLIPS, c, story);
    const bool flips = i >= PERMUTATIONS;
    assert(t->rank <= ASSAY_MAX_RANK);
    const unsigned axes = flips ? (unsigned)(i - PERMUTATIONS) : 0;
    if (flips ? axes == 0 || axes >> t->rank
              : i == 0 || !golden_permuted_axes(t->rank, GOLDEN_OWN_ORDER + i, perm))
        return false;
    int32_t *from = blame_codes_of(c, 1), *to = blame_codes_of(c, 1);
    if (!from || !to)
        return false;
    if (flips) {
        blame_flip(t, axes, from, to);
        blame_tell(story, "weights.layout", 1, "weights in reverse order along axes (set %u)",
                   axes);
    } else {
        (back ? blame_untranspose : blame_transpose)(t, perm, from, to);
        blame_tell(story, "weights.layout", 1, "weights %s with axes in the order %s",
                   back ? "read" : "stored", blame_say_list(perm, t->rank, text, sizeof text));
    }
    return blame_set_codes(c, 1, t, to);
}
