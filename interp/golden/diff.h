/* Diff: one set of tensors against another, in execution order, with a verdict.
 *
 * A side is a golden bundle, a folder of a device's dumps (dumps.h), or one .npy file.
 * Accumulators, constants and the nodes' parameters are compared too, where both have them: they
 * must be equal when no threshold is given (constants and parameters of two bundles: of one and the
 * same scheme), else they are only shown. */
#ifndef ASSAY_INTERP_DIFF_H
#define ASSAY_INTERP_DIFF_H

#include <stdio.h>

#include "interp/golden/bundle.h"
#include "interp/golden/permuted.h"

#define ASSAY_DIFF_SHOWN 20 /* mismatching elements kept for the report */

typedef struct assay_diff_override { /* --rel conv1=0.01 */
    const char *tensor;
    assay_thresholds limits; /* only the ones set here replace the general ones */
} assay_diff_override;

typedef struct assay_diff_options {
    assay_thresholds limits;
    const assay_diff_override *overrides;
    int n_overrides;
    unsigned hex_bits; /* width of a word of .hex dumps; 0: as they say themselves */
} assay_diff_options;

typedef struct assay_diff_row {
    char *name, *op;
    int64_t sample;
    int index;
    enum { ASSAY_DIFF_COMPARED, ASSAY_DIFF_DIGEST_ONLY, ASSAY_DIFF_MISSING, ASSAY_DIFF_SHAPE } kind;
    bool shown;              /* alone: decides nothing, passes whatever differs */
    assay_comparison result; /* for DIGEST_ONLY only pass is meaningful */
    bool permuted;           /* it fails, and its elements are the first's, in another order: */
    int rank, order; /* its axes as the first's (permuted.h), of those that it may be in the one */
    golden_orders orders; /* that the most other rows may be in */
    char note[160];
} assay_diff_row;

typedef struct assay_diff_element {
    int row;
    int rank;
    int64_t at[ASSAY_MAX_RANK];
    bool codes;
    int64_t code_a, code_b;
    double real_a, real_b;
} assay_diff_element;

typedef struct assay_diff {
    int n_rows, n_compared, n_failed;
    assay_diff_row *row;
    int first;      /* first divergent row in execution order, or -1 */
    int n_elements; /* those of rows that decide come first, each in execution order */
    assay_diff_element element[ASSAY_DIFF_SHOWN];
    json_t *extra;  /* names of what only the second has (extra.h); NULL of two files */
    json_t *unread; /* what was not read of the others (extra.h); NULL: all was */
} assay_diff;

/* Compares b against the reference a. Nothing in common is an error (nothing compared is trouble);
 * a difference is not. */
assay_status golden_diff_paths(const char *a, const char *b, const assay_diff_options *options,
                               assay_diff **out, assay_error *err);
void golden_diff_free(assay_diff *d);

/* Verdict, then at most ASSAY_DIFF_SHOWN elements, then the table. */
void golden_diff_print(const assay_diff *d, FILE *f);
/* What it writes: a new reference, NULL when out of memory. */
json_t *golden_diff_json(const assay_diff *d);
assay_status golden_diff_write_json(const assay_diff *d, const char *path, assay_error *err);
assay_status golden_diff_write_junit(const assay_diff *d, const char *path, assay_error *err);

#endif
