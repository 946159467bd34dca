/* Sums of codes of at most 16 bits that a scheme bounds and divides: average pools, mean, sum.
 * Where all are over the same number of codes and few values can occur, their results are a table
 * of all of them, computed by the unit itself. */
#ifndef ASSAY_INTERP_FAST_SUMS_H
#define ASSAY_INTERP_FAST_SUMS_H

#include "interp/fast/fast.h"

typedef struct assay_fast_sums {
    const assay_rows *rows;
    int32_t count; /* codes in a sum of the table */
    int64_t least; /* the sum of code[0] */
    uint8_t *code; /* NULL: no table */
} assay_fast_sums;

/* For `outputs` sums of codes like the node's input, most of them over `count`. There is a table
 * only where it costs little beside them. Fails only for want of memory. */
assay_status fast_sums_make(const assay_fast_setup *s, int64_t count, int64_t outputs,
                            assay_fast_sums *out, assay_error *err);
void fast_sums_free(assay_fast_sums *t);
/* Codes whose sums are taken: of at most 16 bits. */
bool fast_sums_has(const assay_type *x);
/* The most codes that int32 partial sums hold. */
int64_t fast_sums_max(const assay_type *x);
/* sum[i] += code i of x, and the sum of n codes, x of element kind e. */
void fast_sums_add(const assay_fast_sums *t, assay_elem e, const char *x, size_t n, int32_t *sum);
int64_t fast_sums_total(const assay_fast_sums *t, assay_elem e, const char *x, size_t n);

/* As ref_finish_pool (interp/ref/ref.h): n sums of count[i] codes to elements first, first + 1,
 * ... of output 0. */
void fast_sums_finish(const assay_fast_sums *t, assay_call *call, int64_t first, size_t n,
                      int64_t *sum, const int32_t *count, int32_t *y);

/* Whether the scheme adds codes in their order, so that sums are not enough. */
bool fast_sums_ordered(const assay_fast_setup *s);

#endif
