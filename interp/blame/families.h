/* The families of hypotheses.def, by file: hypotheses.c (the record, schemes), dumped.c
 * (constants that were dumped), zero_points.c,
 * operands.c (signs, scales), matrices.c (readings of matrices, values of channels), moves.c (ops
 * that move), weights_order.c and weights.c (weights, bias), windows.c (padding, strides, tiles),
 * pools.c (divisors), ends.c (scales, zero point and bounds of the output), blind.c (bounds that
 * codes do not show), stored.c (the same where no edit reaches them), codes.c, stale.c and orders.c
 * (what is done to codes), samples.c (samples, steps), tables.c (functions of codes), fits.c and
 * fit_scales.c (numbers that are solved for); what they share is in pieces.c and fits.h. */
#ifndef ASSAY_INTERP_BLAME_FAMILIES_H
#define ASSAY_INTERP_BLAME_FAMILIES_H

#include "interp/blame/search.h"

#define FAMILY(id, kind, late)                                                                     \
    int blame_##id##_count(blame_search *s);                                                       \
    FAMILY_##kind(id)
#define FAMILY_edit(id)                                                                            \
    bool blame_##id##_edit(blame_search *s, int i, blame_case *c, blame_story *story);
#define FAMILY_post(id)                                                                            \
    bool blame_##id##_post(blame_search *s, int i, int32_t *codes, blame_story *story);
#define FAMILY_end_edit(id)        FAMILY_edit(id)
#define FAMILY_sought_edit(id)     FAMILY_edit(id)
#define FAMILY_sought_end_edit(id) FAMILY_edit(id)
#define FAMILY_end_post(id)        FAMILY_post(id)
#include "interp/blame/hypotheses.def"
#undef FAMILY_edit
#undef FAMILY_post
#undef FAMILY_end_edit
#undef FAMILY_end_post
#undef FAMILY_sought_edit
#undef FAMILY_sought_end_edit

void blame_tell(blame_story *story, const char *class, int changed, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Puts the record that a scheme has for the node in place of the case's, which it must have; types
 * and what is accepted stay. Returns how many of the fields that the node reads changed; 0: none.
 */
int blame_scheme_apply(const assay_scheme *scheme, blame_case *c);

/* Ops with weights in input 1; the type of input i, kind NONE where it is absent; its elements
 * where it is a constant. */
bool blame_is_weighted(const assay_node *n);
/* Such an op whose weights are a constant of integers or float32 (weights.c). */
bool blame_has_weights(const blame_search *s);
const assay_type *blame_input_type(const blame_search *s, int i);
const void *blame_constant_of(const blame_search *s, int i);
/* Codes of an input read in the other signedness; flip: with their top bits flipped (operands.c).
 */
bool blame_can_change_sign(const assay_type *t);
bool blame_change_sign(blame_case *c, int input, bool flip);

/* An input of the case with parameters of its own to change, in the case's arena. */
bool blame_own_params(blame_case *c, assay_type *t, float **scale, int32_t **zero_point);
/* Elements of input i as int32 and back; false: out of memory. */
int32_t *blame_codes_of(blame_case *c, int i);
bool blame_set_codes(blame_case *c, int i, const assay_type *t, const int32_t *codes);
/* n elements of t's type from `at` on become a code. */
void blame_fill(const assay_type *t, char *at, int64_t n, int32_t code);
/* Input 0 of a windowed op with its padding made explicit: `code`, or the nearest cell. */
bool blame_pad_input(blame_case *c, int32_t code, bool nearest);
/* The lists of a windowed op's attributes. */
typedef struct blame_lists {
    assay_list *kernel, *stride, *dilation, *begin, *end;
    int first; /* the tensors' axis that spatial axis 0 is */
} blame_lists;
blame_lists blame_lists_of(blame_case *c);
/* Whether the output has one zero point and bounds that are codes of at most 16 bits. */
bool blame_has_end(const blame_search *s);
/* Scales of the weights of a weighted op, one per channel, to be changed; NULL: none. */
float *blame_weight_scales(blame_case *c, int64_t *n);

/* Orders of elements: from, of t's shape, in the order of permuted axes; in reverse order along a
 * set of axes; a list in words. */
void blame_transpose(const assay_type *t, const int *perm, const int32_t *from, int32_t *to);
/* The inverse: elements in the order of permuted axes, in t's order. */
void blame_untranspose(const assay_type *t, const int *perm, const int32_t *from, int32_t *to);
void blame_flip(const assay_type *t, unsigned axes, const int32_t *from, int32_t *to);
const char *blame_say_list(const int *list, int n, char *text, size_t size);

/* Whether choice i of `permuted` moves the channels of an image behind its cells, or before them.
 */
bool blame_moves_channels(const blame_search *s, int i);

/* Ways in which channels are dealt another's numbers by their place in a group: the channel whose
 * numbers channel k of n has, and those ways in words, "... of TEXT"; -1: all have their own. */
enum { BLAME_DEALT = 10 };
int64_t blame_dealt(int way, int64_t n, int64_t k);
const char *blame_say_dealt(int way, char *text, size_t size);

/* Codes that are worth trying before all others; as zero points also those beside them that the
 * type has not: one more or less, the other sign. */
#define BLAME_USUAL 12
int blame_usual_codes(const assay_type *t, int32_t zero_point, int32_t code[BLAME_USUAL]);
int blame_usual_zero_points(const assay_type *t, int32_t zero_point, int32_t code[BLAME_USUAL]);

/* seek.c: the choice from `least` to `most` of a family, with which every code rises or falls, that
 * gives most of what is looked at, sought from the one that is the replay; `from`: none is better.
 */
int blame_seek(blame_search *s, const blame_family *f, int least, int from, int max);
#endif
