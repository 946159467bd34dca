/* Smoothing of activations into weights (Xiao et al., SmoothQuant, 2022): a channel of what fully
 * connected layers and convolutions read is divided by a factor, and the layers' weights of that
 * channel are multiplied by it. The division goes into constants of the nodes that compute the
 * channel: gamma and beta, a factor, an addend, the weights and bias of a layer in front; also of
 * what lies behind pools, transposes, a product with another value (gates) or a product of matrices
 * (the values of an attention). Of a product of two computed matrices (queries and keys) one
 * operand is divided, and the other multiplied.
 *
 * Factors are powers of two, and only those that scale every constant and every observed element
 * without rounding. Then each product of activation and weight is the same real number as before,
 * and so is every float that the layers compute: the network is another way to write the same
 * function of floats, to the bit, short of numbers beyond their exponents. */
#ifndef ASSAY_OPT_QUANTIZE_SMOOTH_H
#define ASSAY_OPT_QUANTIZE_SMOOTH_H

#include "opt/profile/profile.h"

/* A value that was smoothed. */
typedef struct assay_smoothed {
    char *value;   /* its name; in the network made it is VALUE:smoothed */
    char *other;   /* the other operand of a product of matrices, which was multiplied; or NULL */
    int channels;  /* it has */
    int layers;    /* that read it */
    int *exponent; /* by channel, which was divided by 2^exponent: */
    int least, greatest; /* their range */
} assay_smoothed;

typedef struct assay_smoothing {
    int n;
    assay_smoothed *value;
} assay_smoothing;
void quantize_smoothing_free(assay_smoothing *s);

/* Smooths every value of g, a canonical float network, that allows it: nothing but layers, or one
 * product of matrices, reads it, and what computes it has constants per channel. Channel c is
 * divided by the power of two nearest to max|x[c]|^alpha / max|w[c]|^(1 - alpha), w the layers'
 * weights or the other operand. *of_smoothed is the profile of the network made. ASSAY_ERR_INPUT:
 * values could be smoothed, but p has the channels of none. */
assay_status quantize_smooth(assay_graph *g, const assay_profile *p, double alpha,
                             assay_profile **of_smoothed, assay_smoothing *made, assay_error *err);

#endif
