/* Rows through single arithmetic primitives, compiled as kernels are (integers only). */
#ifndef ASSAY_BENCH_PRIM_ROWS_H
#define ASSAY_BENCH_PRIM_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* One row: n accumulators to n results. */
struct prim_row {
    const char *name;
    void (*run)(const int32_t *acc, int32_t *out, size_t n);
};
extern const struct prim_row prim_rows[];
extern const size_t prim_row_count;

#endif
