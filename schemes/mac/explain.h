/* A matrix unit's dot product in words. */
#ifndef ASSAY_SCHEMES_MAC_EXPLAIN_H
#define ASSAY_SCHEMES_MAC_EXPLAIN_H

#include <stdio.h>

#include "schemes/mac/unit.h"

/* The first row's dot product, step by step: terms, alignment, what is cut, the running value. */
assay_status mac_explain(FILE *to, const assay_mac *m, const assay_mac_rows *rows,
                         assay_error *err);

/* A prepared unit's dot as it computes it: `say` hears the lines that mac_explain prints of each
 * run of K; of more than ASSAY_MAC_SAID products not their terms. */
enum { ASSAY_MAC_SAID = 64 };
typedef void mac_say_fn(void *to, const char *line);
assay_status mac_explain_unit(const assay_unit *u, const assay_dot *d, int32_t *out,
                              mac_say_fn *say, void *to, assay_error *err);

#endif
