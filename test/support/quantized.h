/* A network, its profile, and what the quantizer makes of it: for tests. */
#ifndef ASSAY_TEST_QUANTIZED_H
#define ASSAY_TEST_QUANTIZED_H

#include "opt/quantize/quantize.h"
#include "test/support/net.h"

typedef struct quantized {
    assay_graph *g; /* float, canonical */
    assay_profile *profile;
    assay_scheme *scheme;
    assay_graph *q; /* integer */
    assay_quantize_report report;
} quantized;

/* Takes g: canonical form, profile of 64 random samples, scheme by name or as YAML text. */
quantized quantized_prepare(assay_graph *g, test_rng *rng, const char *scheme);
/* The same, of samples whose input i is what draw(rng, g, i) allocates. */
typedef float *(*quantized_draw)(test_rng *rng, const assay_graph *g, int i);
quantized quantized_prepare_drawn(assay_graph *g, test_rng *rng, const char *scheme,
                                  quantized_draw draw);
/* The same as quantized_prepare, with histograms per channel. */
quantized quantized_prepare_channels(assay_graph *g, test_rng *rng, const char *scheme);
/* Quantizes with the reference kernels; the test fails when that fails. */
void quantized_make(quantized *s, assay_quantize_options options);
void quantized_drop(quantized *s);

bool quantized_has_kernel(assay_op op);
/* Type of a value of the integer network; the test fails when there is none. */
const assay_type *quantized_type(const quantized *s, const char *name);
void quantized_assert_same(const quantized *s, const char *a, const char *b);
/* Why a node stayed in float, or NULL. */
const char *quantized_reason(const quantized *s, const char *node);
/* Signal to noise of the integer network's output k against the float one's, in dB. */
double quantized_sqnr(const quantized *s, test_rng *rng, int k);
double quantized_sqnr_drawn(const quantized *s, test_rng *rng, int k, quantized_draw draw);

/* x -> conv1 -> relu1 -> pool -> depthwise (channels of very different size) -> up + skip -> fc ->
 * softmax */
assay_graph *quantized_classifier(test_rng *rng);

#endif
