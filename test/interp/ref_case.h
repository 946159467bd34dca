/* Codes and places that tests of the reference kernels share. */
#ifndef ASSAY_TEST_INTERP_REF_CASE_H
#define ASSAY_TEST_INTERP_REF_CASE_H

#include "test/support/fake.h"
#include "test/support/support.h"

static const int64_t scalar[1] = {1};

static inline assay_type code(unsigned bits, int rank, const int64_t *dim, test_rng *r)
{
    return fake_type(assay_int(bits, true), rank, dim, -1, r, true);
}

/* Coordinates of element i of a shape, and back. */
static inline void unravel(const assay_type *t, int64_t i, int64_t at[6])
{
    for (int d = t->rank - 1; d >= 0; i /= t->dim[d], d--)
        at[d] = i % t->dim[d];
}

static inline int64_t ravel(const assay_type *t, const int64_t *at)
{
    int64_t i = 0;
    for (int d = 0; d < t->rank; d++)
        i = i * t->dim[d] + at[d];
    return i;
}

#endif
