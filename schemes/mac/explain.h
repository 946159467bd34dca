/* A matrix unit's dot product in words. */
#ifndef ASSAY_SCHEMES_MAC_EXPLAIN_H
#define ASSAY_SCHEMES_MAC_EXPLAIN_H

#include <stdio.h>

#include "schemes/mac/mac.h"

/* The first row's dot product, step by step: terms, alignment, what is cut, the running value. */
assay_status mac_explain(FILE *to, const assay_mac *m, const assay_mac_rows *rows,
                         assay_error *err);

#endif
