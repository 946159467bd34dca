/* Columns of rows; see column.h. */
#include "interp/rows/column.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"

void rows_store(void *data, assay_elem type, size_t i, int64_t v)
{
    const size_t size = assay_elem_size(type);
    if (size == 1)
        ((int8_t *)data)[i] = (int8_t)v;
    else if (size == 2)
        ((int16_t *)data)[i] = (int16_t)v;
    else if (size == 4)
        ((int32_t *)data)[i] = (int32_t)v;
    else
        ((int64_t *)data)[i] = v;
}

void *rows_column_values(const rows_column *c, assay_elem type, const void *row, size_t size,
                         size_t n)
{
    void *data = malloc((n + 1) * sizeof(int64_t));
    for (size_t i = 0; data && i < n; i++) {
        const char *at = (const char *)row + i * size + c->offset;
        int32_t narrow;
        int64_t wide;
        double real;
        switch (c->member) {
        case ROWS_I32:
            memcpy(&narrow, at, sizeof narrow);
            rows_store(data, type, i, narrow);
            break;
        case ROWS_I64:
            memcpy(&wide, at, sizeof wide);
            rows_store(data, type, i, wide);
            break;
        case ROWS_F32:
            memcpy((float *)data + i, at, sizeof(float));
            break;
        case ROWS_F64:
            memcpy(&real, at, sizeof real);
            ((float *)data)[i] = (float)real;
            break;
        }
    }
    return data;
}
