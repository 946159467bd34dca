/* One node at a time under a preset, against what targets' own kernels gave: the archives of
 * shared/vectors/tflite-ops (TensorFlow Lite Micro) and of shared/vectors/cmsis-nn-unittest. A case
 * is a graph of one node, run as any program is. */
#ifndef ASSAY_TEST_TFLITE_CASE_H
#define ASSAY_TEST_TFLITE_CASE_H

#include <jansson.h>

#include "interp/run/program.h"
#include "test/support/npz.h"

typedef struct tflite_file {
    const char *name, *scheme_name;
    struct npz *data;
    json_t *about; /* the header beside the archive */
    assay_scheme *scheme;
} tflite_file;

/* Opens tflite-ops/NAME, or skips the test when the conformance data is not there. */
tflite_file tflite_open(const char *name, const char *scheme);
/* Opens an archive and its header by path; the scheme is the caller's to set. */
tflite_file tflite_open_path(const char *path);
/* Closes it, prints its line and fails the test when a case of `cases` differed. */
void tflite_close(tflite_file *f, size_t cases, size_t failed);
/* All of a file whose header lists "cases": `one` returns how many elements differ. */
void tflite_run(const char *name, const char *scheme,
                size_t (*one)(tflite_file *f, const json_t *c));

/* All archives of the folder vectors/FOLDER, at least so many, each under the scheme that `scheme`
 * opens for it: `one` returns how many elements differ, 0 everywhere or the test fails. */
void tflite_folder(const char *folder, assay_scheme *(*scheme)(const tflite_file *f),
                   size_t (*one)(tflite_file *f), int least);

/* An array of codes that is there. */
const int64_t *tflite_codes(tflite_file *f, const char *name);
/* Prints a line where a case differs; whether it does, as 0 or 1. */
size_t tflite_told(const char *what, size_t i, size_t wrong);
double tflite_number(const json_t *c, const char *key);    /* 0 when absent */
const char *tflite_word(const json_t *c, const char *key); /* "" when absent */
/* "PREFIX_INDEX" of a case. Returns buf. */
const char *tflite_array(char buf[64], const char *prefix, const json_t *c);

typedef struct tflite_node {
    tflite_file *from;
    assay_graph *graph;
    int in[3], n_in;
    const int64_t *values[3]; /* of in[], as numbers */
    bool bounded;             /* the fused activation as codes of the output */
    int32_t code_lo, code_hi;
} tflite_node;

/* A type of an archive's shape; parameters per tensor, along `axis` when count > 1, none for 0. */
assay_type tflite_type(const struct npz_shape *s, const float *scale, const int32_t *zero,
                       size_t count, int axis);

tflite_node tflite_begin(tflite_file *f);
/* Adds an input: an array of the archive (parameters along axis 0 when count > 1), or any values of
 * a per-tensor type, which must outlive the case. */
void tflite_column(tflite_node *c, const char *column, const float *scale, const int32_t *zero,
                   size_t count);
void tflite_values(tflite_node *c, const assay_type *t, const int64_t *values);

/* Runs the node, counts elements that differ from the expected ones, and ends the case. The output
 * has `elem`, `scale` and `zero`; activation is TFLite's word for the fused one ("" for none). */
size_t tflite_expect(tflite_node *c, assay_op op, const assay_attrs *attr, assay_elem elem,
                     float scale, int32_t zero, const char *activation, const int64_t *expected,
                     size_t n);
/* The same against an array of the archive. */
size_t tflite_compare(tflite_node *c, assay_op op, const assay_attrs *attr, const char *column,
                      float scale, int32_t zero, const char *activation);

#endif
