/* Whole operators: units of the presets against tables made by the targets' own code
 * (../shared/vectors), most of them exhaustive. */
#ifndef ASSAY_TEST_OP_VECTORS_H
#define ASSAY_TEST_OP_VECTORS_H

#include "test/support/support.h"

#include <jansson.h>

#include "test/support/npz.h"
#include "test/support/scheme_unit.h"

typedef struct op_vectors {
    const char *file;
    struct npz *data;
    json_t *about;
} op_vectors;

/* False, with a line, when the file is not there. */
bool op_vectors_open(const char *file, op_vectors *v);
void op_vectors_close(op_vectors *v);
double op_vectors_number(const json_t *o, const char *key, double otherwise);
const char *op_vectors_word(const json_t *o, const char *key); /* "" when absent */

/* One unit and what it is prepared from. */
typedef struct op_unit {
    float scale[3]; /* first input, second input, output */
    int32_t zero[3];
    assay_type type[3];
    assay_unit_spec spec;
    assay_scheme *scheme;
    assay_unit *unit;
} op_unit;

/* From a case of the header. bits < 0: signed. */
void op_unit_describe(op_unit *b, const char *op, int in_bits, int out_bits, const json_t *c);
void op_unit_prepare(op_unit *b, const char *scheme);
void op_unit_release(op_unit *b);

/* *wrong is increased by mismatches. */
void op_vectors_compare(const op_vectors *v, const char *what, const int32_t *got,
                        const int64_t *expected, size_t n, size_t *wrong);
/* Prints n, the tuples compared, and fails the test where any was wrong. */
void op_vectors_verdict(const op_vectors *v, const char *what, const char *scheme, size_t n,
                        size_t wrong);

#endif
