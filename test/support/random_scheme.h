/* Random schemes: a preset with some of its parameters drawn anew. */
#ifndef ASSAY_TEST_RANDOM_SCHEME_H
#define ASSAY_TEST_RANDOM_SCHEME_H

#include "schemes/record/record.h"
#include "schemes/scheme.h"
#include "test/support/support.h"

/* A value of a field that is a choice or rounding steps (1 to max_steps of them); numbers are 0. */
assay_field_value test_random_choice(test_rng *r, const assay_field *f, int max_steps);

/* A scheme that the reader accepts, and its text in `text`. Free it with assay_scheme_free. */
assay_scheme *test_random_scheme(test_rng *r, char *text, size_t size);

#endif
