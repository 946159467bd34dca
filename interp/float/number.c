/* Integers of any storage to and from int64 rows. */
#include "interp/float/float.h"

#define LOAD(type)                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
    row[i] = (int64_t)((const type *)v->data)[first + (int64_t)i * step]

void float_load_integers(const assay_view *v, int64_t first, int64_t step, size_t n, int64_t *row)
{
    bool is_signed = v->type->elem.is_signed;
    switch (assay_elem_size(v->type->elem)) {
    case 1:
        if (is_signed)
            LOAD(int8_t);
        else
            LOAD(uint8_t);
        return;
    case 2:
        if (is_signed)
            LOAD(int16_t);
        else
            LOAD(uint16_t);
        return;
    case 4:
        if (is_signed)
            LOAD(int32_t);
        else
            LOAD(uint32_t);
        return;
    default:
        LOAD(int64_t);
    }
}

#define STORE(type)                                                                                \
    for (size_t i = 0; i < n; i++)                                                                 \
    ((type *)v->data)[first + (int64_t)i] = (type)row[i]

void float_store_integers(const assay_view *v, int64_t first, size_t n, const int64_t *row)
{
    switch (assay_elem_size(v->type->elem)) {
    case 1:
        STORE(uint8_t);
        return;
    case 2:
        STORE(uint16_t);
        return;
    case 4:
        STORE(uint32_t);
        return;
    default:
        STORE(int64_t);
    }
}
