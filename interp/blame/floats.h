/* Float sums: how much the order in which a device adds them may change. */
#ifndef ASSAY_INTERP_BLAME_FLOATS_H
#define ASSAY_INTERP_BLAME_FLOATS_H

#include "interp/blame/device.h"

/* How far a sample's elements of a node's output may be from the replay's: two sums of n products,
 * in any order, with or without fused steps, are no further apart than 2 n 2^-24 times the sum of
 * the products' magnitudes. *out is to be freed; NULL: the node does not add floats. */
assay_status blame_float_slack(const blame_device *d, int node, int sample, float **out,
                               assay_error *err);
#endif
