/* Constants and parameters of nodes that the second side of a comparison has otherwise: for reports
 * that are about tensors. */
#ifndef ASSAY_INTERP_GOLDEN_NUMBERS_H
#define ASSAY_INTERP_GOLDEN_NUMBERS_H

#include <stdio.h>

#include "interp/golden/dumps.h"

/* A new list of objects, one for each that differs: "name", as "w (constant)", and "difference", as
 * "1 of 8 elements, first [1,3]  8 != 7". Of bundle b where it is of the scheme of a
 * (another scheme's may differ), else (NULL) of dumps. */
assay_status golden_numbers(const assay_bundle *a, const assay_bundle *b, const assay_dumps *dumps,
                            json_t **out, assay_error *err);
/* What that side has in place of the constant that input k of a node is: elements of type t,
 * malloc'd. The node is a's, called `name`, and likely entry `node` there. *data is NULL where that
 * side has none, or others than t has. */
assay_status golden_number_constant(const assay_bundle *a, const assay_bundle *b,
                                    const assay_dumps *dumps, const char *name, size_t node,
                                    size_t k, const assay_type *t, void **data, assay_error *err);
/* A line for each of the first, and how many there are more. NULL is none. */
void golden_numbers_print(const json_t *numbers, FILE *f);

#endif
