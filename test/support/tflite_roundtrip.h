/* Networks written as TFLite and read again: they compute the same. */
#ifndef ASSAY_TEST_TFLITE_ROUNDTRIP_H
#define ASSAY_TEST_TFLITE_ROUNDTRIP_H

#include "graph/core/graph.h"
#include "test/support/support.h"

typedef struct roundtrip {
    long values, elements; /* compared: those with a name in both graphs */
    long mismatches;       /* codes that differ, floats that differ by more than 1e-5 */
} roundtrip;

/* Exports g, imports what was written, runs both under `scheme` on `runs` sets of random inputs
 * (one state between them), and compares every value that both have by name, in either layout.
 * Fails the test when an output is missing or an input's type changed. Adds to *sum. */
void test_tflite_roundtrip(const assay_graph *g, const char *scheme, int runs, test_rng *rng,
                           roundtrip *sum);

/* With ASSAY_SEEDS=DIR leaves the network there as a .tflite file, for fuzzers. */
void tflite_leave_seed(const assay_graph *g);

#endif
