/* Columns of rows: a member of a row's struct as an array in the type that its file has. Those who
 * ask rows of a device, and those who write suites of them, list their columns. */
#ifndef ASSAY_INTERP_ROWS_COLUMN_H
#define ASSAY_INTERP_ROWS_COLUMN_H

#include <stddef.h>

#include "graph/base.h"

enum rows_member { ROWS_I32, ROWS_I64, ROWS_F32, ROWS_F64 };

typedef struct rows_column {
    const char *name; /* of its file */
    size_t offset;    /* of the member in a row */
    enum rows_member member;
} rows_column;

/* A column of member `m`, an int32_t, int64_t, float or double of struct `row`. */
#define ROWS_COLUMN(name, row, m)                                                                  \
    {                                                                                              \
        name, offsetof(row, m),                                                                    \
            _Generic(((row *)0)->m, int32_t                                                        \
                     : ROWS_I32, int64_t                                                           \
                     : ROWS_I64, float                                                             \
                     : ROWS_F32, double                                                            \
                     : ROWS_F64)                                                                   \
    }

/* Element i of an array of `type` is the integer v, which fits. */
void rows_store(void *data, assay_elem type, size_t i, int64_t v);
/* The column's values in n rows of `size` bytes each, as elements of `type` (integers of 8 to 64
 * bits, or float32): malloc'd, the caller's; NULL: out of memory. */
void *rows_column_values(const rows_column *c, assay_elem type, const void *row, size_t size,
                         size_t n);

#endif
