/* Element-wise ops (binary.def) of two plain integers (indices, shapes), for constant folding and
 * the float engine. */
#ifndef ASSAY_GRAPH_CORE_INTEGERS_H
#define ASSAY_GRAPH_CORE_INTEGERS_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/core/op.h"

/* Whether z = 0 has no result. */
bool assay_integers_divide(assay_op op);

/* *y = x op z, as binary.def says; false where op is not a function of two integers. Sums,
 * differences, products and powers wrap in 64 bits; div is toward zero, floor_div down; mod has the
 * sign of b, or of x where it is truncated (attribute of mod). z is not 0 where
 * assay_integers_divide(op). */
bool assay_integers_binary(assay_op op, bool truncated, int64_t x, int64_t z, int64_t *y);

/* What a reduction (reduce_sum, ...) does with two elements, a mean before it divides;
 * ASSAY_OP_COUNT for other ops. */
assay_op assay_op_merge(assay_op op);

#endif
