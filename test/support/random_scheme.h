/* Random schemes: a preset with some of its parameters drawn anew. */
#ifndef ASSAY_TEST_RANDOM_SCHEME_H
#define ASSAY_TEST_RANDOM_SCHEME_H

#include "schemes/scheme.h"
#include "test/support/support.h"

/* A scheme that the reader accepts, and its text in `text`. Free it with assay_scheme_free. */
assay_scheme *test_random_scheme(test_rng *r, char *text, size_t size);

#endif
