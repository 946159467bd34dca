/* Options of custom operators: a FlexBuffers map of numbers (https://flatbuffers.dev/flexbuffers:
 * the root stands at the end, offsets point backwards). Nothing in it is trusted. */
#ifndef ASSAY_GRAPH_TFLITE_FLEX_H
#define ASSAY_GRAPH_TFLITE_FLEX_H

#include "graph/tflite/flat/flat.h"

/* The number (integer, float or bool) of that key in the map that the bytes are; false: there is no
 * such key, or no such map, and *out is as it was. */
bool tfl_flex_number(flat_vector bytes, const char *key, double *out);

#endif
