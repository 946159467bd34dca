/* A matrix unit's dot product as text. */
#ifndef ASSAY_SCHEMES_MAC_EXPLAIN_H
#define ASSAY_SCHEMES_MAC_EXPLAIN_H

#include <stdio.h>

#include "schemes/mac/unit.h"

/* Prints the first row's dot product step by step: terms, alignment, bits cut off, running value.
 */
assay_status mac_explain(FILE *to, const assay_mac *m, const assay_mac_rows *rows,
                         assay_error *err);

/* A prepared unit's dot product, traced as it is computed: `say` receives the lines that
 * mac_explain prints for each run of K; above ASSAY_MAC_SAID products the terms are left out. */
enum { ASSAY_MAC_SAID = 64 };
typedef void mac_say_fn(void *to, const char *line);
assay_status mac_explain_unit(const assay_unit *u, const assay_dot *d, int32_t *out,
                              mac_say_fn *say, void *to, assay_error *err);

#endif
