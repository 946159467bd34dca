/* Conformance against numbers that targets' own code gave (../shared/vectors/README.md says how).
 * One file of tests a kind of question; test_vectors.c runs them all and counts the tuples by
 * target. */
#ifndef ASSAY_TEST_VECTORS_H
#define ASSAY_TEST_VECTORS_H

#include "schemes/rescale/batch.h"
#include "test/support/npz.h"
#include "test/support/scheme_unit.h"
#include "test/support/support.h"

/* Opens the full file or its compact copy; fails the test when there is neither. */
struct npz *vectors_open(const char *file);
/* Columns that must be there, of *n rows. */
const int64_t *vectors_ints(struct npz *z, const char *name, size_t *n);
const double *vectors_reals(struct npz *z, const char *name, size_t *n);
/* Prints and adds a file's tuples ("tflite/requant_double_int8" counts for "tflite"). */
void vectors_count(const char *file, size_t tuples);

/* Each writes its tests, one a file, and returns how many (at most 128). */
size_t vectors_requant_tests(struct CMUnitTest *out);
size_t vectors_derive_tests(struct CMUnitTest *out);
size_t vectors_unit_tests(struct CMUnitTest *out);
size_t vectors_tosa_tests(struct CMUnitTest *out);
size_t vectors_exact_tests(struct CMUnitTest *out);

#endif
