/* Weights in blocks of codes, decoded to numbers before the ops that use them. */
#ifndef ASSAY_OPT_QUANTIZE_PACKED_H
#define ASSAY_OPT_QUANTIZE_PACKED_H

#include "opt/quantize/quantize.h"

/* g, float and canonical, with the weights of its conv and fc in llama.cpp's blocks
 * (schemes/mac/weights.h): each is a row of an output channel, cut along its inputs. A weight W
 * keeps its name and is computed by nodes from the constants W:codes, W:d and what else the format
 * has. The report counts the weights (n_integer), and lists the nodes whose weights stay as they
 * are, with the reason: free it with quantize_report_free whatever the status. ASSAY_ERR_INPUT: no
 * such format; a weight that is not a number, or beyond its scales. */
assay_status quantize_pack_weights(const assay_graph *g, const char *format, assay_graph **out,
                                   assay_quantize_report *report, assay_error *err);

#endif
