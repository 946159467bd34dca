/* Integers of any storage to and from int64 rows. */
#include "interp/float/float.h"

#define LOAD(type)                                                                                 \
    for (size_t i = 0; i < n; i++)                                                                 \
    row[i] = (int64_t)((const type *)v->data)[first + (int64_t)i * step]

void float_load_integers(const assay_view *v, int64_t first, int64_t step, size_t n, int64_t *row)
{
    KERNEL_BY_STORAGE(v->type->elem, LOAD);
}

#define STORE(type)                                                                                \
    for (size_t i = 0; i < n; i++)                                                                 \
    ((type *)v->data)[first + (int64_t)i] = (type)row[i]

void float_store_integers(const assay_view *v, int64_t first, size_t n, const int64_t *row)
{
    KERNEL_BY_STORAGE(v->type->elem, STORE);
}
