/* Second moments of what fully connected layers read: for each such value the sum of x x^T over its
 * rows x, of as many elements as the layer has inputs. In doubles, in the order of the rows. */
#ifndef ASSAY_OPT_MOMENTS_H
#define ASSAY_OPT_MOMENTS_H

#include "graph/core/graph.h"

typedef struct assay_moments assay_moments;

/* None observed as yet; memory is 8 bytes for each pair of a layer's inputs. */
assay_status profile_moments_new(const assay_graph *g, assay_moments **out, assay_error *err);
void profile_moments_free(assay_moments *m);

/* Adds n elements, whole rows, of the value with this index in g; others are ignored. */
void profile_moments_observe(assay_moments *m, int value, const float *x, size_t n);

/* The moments of a value by name: *width rows of *width numbers, of which those on and above the
 * diagonal count. NULL: no layer reads it. */
const double *profile_moments_find(const assay_moments *m, const char *name, int64_t *width);

#endif
