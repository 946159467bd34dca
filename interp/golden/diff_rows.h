/* The rows that a diff is made of, inside interp/golden/. */
#ifndef ASSAY_INTERP_GOLDEN_DIFF_ROWS_H
#define ASSAY_INTERP_GOLDEN_DIFF_ROWS_H

#include "interp/golden/diff.h"
#include "interp/golden/dumps.h"

/* A new row at the end, not yet counted; NULL when out of memory. A later one moves it. */
assay_diff_row *golden_diff_add_row(assay_diff *d, const char *name, const char *op, int64_t sample,
                                    int index);
/* Takes its verdict into the diff's; a row that is only shown passes. */
void golden_diff_count_row(assay_diff *d, assay_diff_row *r);
/* Compares elements in memory as that row, keeps the first that differ, and counts it. */
assay_status golden_diff_compare_row(assay_diff *d, assay_diff_row *r, const assay_diff_options *o,
                                     const assay_type *ta, const void *a, const assay_type *tb,
                                     const void *b, assay_error *err);
/* Once all rows are there: of the orders of axes in which a row equals the first's, the one that
 * the most rows may be in; where a tensor's shape leaves several, the others tell. Notes it. */
void golden_diff_choose_orders(assay_diff *d);
/* Accumulators, constants, parameters and meanings decide where nothing but equality is asked for;
 * constants and parameters of two bundles, where these are of one scheme, too. */
bool golden_diff_is_exact(const assay_diff_options *o);
bool golden_diff_one_scheme(const assay_bundle *a, const assay_bundle *b);

/* The node of that name in a manifest, likely entry i; NULL: none. */
const json_t *golden_diff_node(const assay_bundle *b, size_t i, const char *name);
/* A row for each constant that a node of a reads and the same node of bundle b with other elements
 * (names of constants need not be the same), or (b NULL) that is dumped, and for each list of a
 * node's parameters that is dumped. */
assay_status golden_diff_constants(assay_diff *d, const assay_diff_options *o,
                                   const assay_bundle *a, const assay_bundle *b,
                                   const assay_dumps *dumps, assay_error *err);
/* A row for each node whose parameters differ in bundle b (NULL: none). */
assay_status golden_diff_parameters(assay_diff *d, const assay_diff_options *o,
                                    const assay_bundle *a, const assay_bundle *b, assay_error *err);
/* A row for tensor i of the first sample whose codes mean something else in entry `entry` of b. */
assay_status golden_diff_meaning(assay_diff *d, const assay_diff_options *o, const assay_bundle *a,
                                 const assay_bundle *b, int i, int entry, assay_error *err);

#endif
