/* Operands of the operators on signals, for random networks. */
#ifndef ASSAY_TEST_RANDOM_SIGNAL_H
#define ASSAY_TEST_RANDOM_SIGNAL_H

#include "graph/core/graph.h"

/* Types of the operands of an op on signals: how many, 0 for any other op. */
int test_signal_types(assay_op op, assay_type t[3]);

#endif
