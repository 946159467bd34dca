/* Common parts of the functions of whole rows. */
#ifndef ASSAY_SCHEMES_APPLY_ROW_H
#define ASSAY_SCHEMES_APPLY_ROW_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The greatest of n > 0 codes. */
static inline int32_t apply_greatest(const int32_t *x, size_t n)
{
    assert(n > 0);
    int32_t max = x[0];
    for (size_t i = 1; i < n; i++)
        max = x[i] > max ? x[i] : max;
    return max;
}

#endif
