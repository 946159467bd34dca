/* Values for the parameters of matrix units, and their dots. */
#ifndef ASSAY_TEST_SUPPORT_MAC_VALUES_H
#define ASSAY_TEST_SUPPORT_MAC_VALUES_H

#include <stddef.h>
#include <stdint.h>

#include "schemes/mac/parameters.h"

/* Values that p may have: formats, roundings, words, and numbers at its ends and beside `now`, the
 * unit's. Returns how many, 0 for orders and patterns. */
size_t test_mac_values(const assay_mac_parameter *p, int64_t now, int64_t v[64]);

/* A row's dot as the unit computes it, as an f32. */
uint32_t test_mac_dot(const assay_mac *m, const assay_mac_rows *row);

#endif
