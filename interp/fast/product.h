/* Many rows times packed weights: the one blocked GEMM that convolution, fc and matmul share. */
#ifndef ASSAY_INTERP_FAST_PRODUCT_H
#define ASSAY_INTERP_FAST_PRODUCT_H

#include "interp/fast/narrow.h"
#include "interp/fast/weights.h"

/* The right operand, packed in panels of the tile's width (README.md has the drawing). */
typedef struct assay_product {
    const assay_isa_kernels *kernels;
    assay_tile_fn tile;
    int64_t outputs, n_runs, run_units;
    const int32_t *run; /* bytes from a row's first element to each run; borrowed */
    char *packed;
    int32_t *start; /* by output, up to whole panels */
    assay_narrower narrowing;
} assay_product;

/* Of a product whose rows are one run each. */
static const int32_t assay_one_run[1] = {0};

/* Packs filters first .. first + outputs - 1 of f, each cut into n_runs runs of equal length. */
assay_status fast_product_make(const assay_fast_setup *s, const assay_filters *f,
                               const assay_operand_form *form, int64_t first, int64_t outputs,
                               const int32_t *run, int64_t n_runs, assay_product *out,
                               assay_error *err);
/* The place of unit 0 of column j, and the bytes from there to the next unit. */
char *fast_product_column(const assay_product *p, int64_t j, int64_t *step);
void fast_product_free(assay_product *p);

/* Where accumulators go: row r, column c is element first + r * row_step + c * column_step of
 * output 0, of channel `channel` + c. Where the scheme narrows blocks of sums to bytes, they go to
 * codes + r * codes_step + c instead. */
typedef struct assay_sink {
    assay_call *call;
    assay_block_fn block; /* NULL: none */
    char *codes;
    int64_t codes_step;
    int64_t first, row_step, column_step;
    int64_t channel;
} assay_sink;

/* The scheme's function for output 0 of a node, or NULL. */
assay_block_fn fast_sink_block(const assay_fast_setup *s);

/* Passes on the accumulators of rows x columns from (row, column) on; acc_step a row. */
void fast_sink_take(const assay_sink *k, const int32_t *acc, int64_t acc_step, int64_t row,
                    int rows, int64_t column, int columns);

/* Row i of the left operand stands at left + row[i]. */
void fast_product_run(const assay_product *p, const char *left, const int32_t *row, int64_t rows,
                      const assay_sink *sink, int threads);

#endif
