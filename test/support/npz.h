/* A reader of NumPy .npz archives for the tests: a zip file (stored or deflated members, no
 * zip64, at most 4 GB) of .npy arrays (versions 1 to 3, C order, little endian, of bool, integer or
 * float elements). Test vectors are trusted, yet a damaged file is reported, not believed. */
#ifndef ASSAY_TEST_NPZ_H
#define ASSAY_TEST_NPZ_H

#include <stddef.h>
#include <stdint.h>

struct npz;

struct npz_shape {
    int ndim;
    size_t dim[8];
    char kind;   /* 'b' bool, 'i' signed, 'u' unsigned, 'f' float */
    size_t size; /* bytes of an element: 1, 2, 4, 8 */
};

/* Opens an archive; NULL after one line on stderr when it cannot be read. */
struct npz *npz_open(const char *path);
/* Frees the archive and every column that was read from it. */
void npz_close(struct npz *z);

/* How many columns there are, and their names (without ".npy"). */
size_t npz_count(const struct npz *z);
const char *npz_name(const struct npz *z, size_t index);
/* Whether there is such a column. */
int npz_has(const struct npz *z, const char *name);

/* The column `name` ("acc", not "acc.npy") as int64 or double, *count elements in C order; shape
 * may be NULL. The array belongs to the archive and lives until npz_close. NULL after one line on
 * stderr when the column is missing, damaged, or (npz_i64) not of an integer type. uint64 values
 * above INT64_MAX keep their bits. */
const int64_t *npz_i64(struct npz *z, const char *name, size_t *count, struct npz_shape *shape);
const double *npz_f64(struct npz *z, const char *name, size_t *count, struct npz_shape *shape);

/* Path of "vectors/<relative>" in the conformance data when it is there, else of its compact copy
 * in "test/vectors/<relative>"; NULL when there is neither. described: the .json beside it is
 * needed too, which thinned copies do not have. */
const char *npz_vectors_path(const char *relative, int described, char *buf, size_t size);
/* Opens "vectors/<relative>" of the conformance data when it is there, else
 * "test/vectors/<relative>" of the source, its compact copy (each n-th row). NULL after one line on
 * stderr when there is neither. */
struct npz *npz_vectors(const char *relative);

#endif
