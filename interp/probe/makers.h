/* The makers of networks.def, by file: weighted.c (sums of products), elementwise.c (pairs and
 * single codes), rows.c (pools, means,
 * resizes, softmax, norms), edges.c (floats to codes and back). */
#ifndef ASSAY_INTERP_PROBE_MAKERS_H
#define ASSAY_INTERP_PROBE_MAKERS_H

#include "interp/probe/net.h"

probe_maker probe_weighted, probe_depthwise, probe_matmul;
probe_maker probe_pairs, probe_single, probe_prelu;
probe_maker probe_pool, probe_means, probe_resize, probe_softmax, probe_layer_norm;
probe_maker probe_quantize, probe_dequantize;

#endif
