/* Small networks in text form that TFLite can express: seeds for mutants and fuzzers, and what the
 * exporter must write so that it comes back the same. */
#ifndef ASSAY_TEST_TFLITE_GRAPHS_H
#define ASSAY_TEST_TFLITE_GRAPHS_H

#include "graph/core/graph.h"
#include "test/support/support.h"

extern const char *const tflite_graphs[];
extern const int n_tflite_graphs;

/* Parses text, fails the test where it is wrong. */
assay_graph *tflite_graph(const char *text);

#endif
