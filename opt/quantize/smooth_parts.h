/* Inside smoothing: what is scaled when a channel is. Shared by smooth_find.c, which finds it
 * (smooth_follow.c, smooth_labels.c), and smooth.c. */
#ifndef ASSAY_OPT_SMOOTH_PARTS_H
#define ASSAY_OPT_SMOOTH_PARTS_H

#include "opt/lower/pass.h"
#include "opt/quantize/smooth.h"

enum { ASSAY_SMOOTH_MOST = 64 }; /* values, and constants, of a site */

/* A constant to scale: element i is of channel[i / stride % n], -1: of none, and is multiplied
 * (sign 1) or divided (-1) by the channel's factor. */
typedef struct smooth_term {
    int node, slot, sign;
    int64_t stride, n;
    const int *channel;
    bool reads; /* weights of a layer that reads the value */
} smooth_term;

/* A value to scale. */
typedef struct smooth_scaled {
    int value, sign;
    const int *label;   /* the channel of each element, or -1; while it is being found */
    int moved_to;       /* the site's value that has the same elements, or -1 */
    int seen;           /* the value whose observed channels are this one's, too, or -1: */
    int n;              /* so many, */
    const int *channel; /* each of which belongs to one of the site's, or -1 */
} smooth_scaled;

/* What is smoothed: value[0] is what layers read, or the first operand of a product; `other` is
 * the number of the second one among the values, or -1. */
typedef struct smooth_site {
    int channels, layers, other;
    int n_values, n_terms;
    smooth_scaled value[ASSAY_SMOOTH_MOST];
    smooth_term term[ASSAY_SMOOTH_MOST];
    int *exponent; /* by channel: of the factor */
} smooth_site;

typedef struct smooth_finder {
    const assay_graph *g;
    const assay_profile *profile;
    int *uses, *axis;    /* of g as it came; axis: of a value's channels in the profile */
    bool *taken;         /* values that a site scales */
    const char *lacking; /* a value of which the profile has no channels, or NULL */
    assay_arena *arena;
} smooth_finder;

/* The site of value v, as layers read it; or of node i, a product of two values. *found: there is
 * one, which nothing forbids. */
assay_status quantize_smooth_find_value(smooth_finder *f, int v, smooth_site *x, bool *found,
                                        assay_error *err);
assay_status quantize_smooth_find_product(smooth_finder *f, int i, smooth_site *x, bool *found,
                                          assay_error *err);

/* A site that is being found; `full` when memory ended. */
typedef struct smooth_walk {
    smooth_finder *f;
    smooth_site *x;
    assay_arena *scratch; /* labels */
    bool full;
} smooth_walk;

/* ---- smooth_labels.c ---- */
const assay_type *quantize_smooth_type(const smooth_walk *w, int v);
/* Elements from one index of an axis to the next. */
int64_t quantize_smooth_inner(const assay_type *t, int axis);
/* Labels of n elements, all -1. */
int *quantize_smooth_new_labels(smooth_walk *w, int64_t n);
/* A copy that lasts as long as the finder. */
const int *quantize_smooth_keep(smooth_walk *w, const int *label, int64_t n);
/* The label of each index along an axis; NULL: elements of an index differ. */
int *quantize_smooth_by_axis(smooth_walk *w, const assay_type *t, int axis, const int *label);
/* Labels of elements that an index along an axis gives. */
int *quantize_smooth_along_axis(smooth_walk *w, const assay_type *t, int axis, const int *of);
/* Labels of an operand that is broadcast to the labelled elements; NULL: an element is of two. */
const int *quantize_smooth_of_operand(smooth_walk *w, const assay_type *t,
                                      const assay_type *operand, const int *label);
/* The axis of a layer's input or output channels. */
int quantize_smooth_channel_axis(const assay_node *n, const assay_type *t);

/* ---- smooth_follow.c ---- */
/* Notes a constant of the site; false: it is none, or there are no labels. */
bool quantize_smooth_add_term(smooth_walk *w, int node, int slot, int sign, int64_t stride,
                              int64_t n, const int *channel, bool reads);
/* Follows v up to constants that take the factors; its elements are those of value `moved_to` of
 * the site, or -1. quantize_smooth_follow: and it has no other reader. */
bool quantize_smooth_follow_up(smooth_walk *w, int v, const int *label, int sign, int moved_to);
bool quantize_smooth_follow(smooth_walk *w, int v, const int *label, int sign, int moved_to);

#endif
