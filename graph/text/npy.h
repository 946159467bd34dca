/* NumPy's .npy files: one array, read from versions 1, 2 and 3, written as version 1.
 *
 * Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
 * Either order of elements and of bytes is read; C order, little-endian, is written. */
#ifndef ASSAY_GRAPH_NPY_H
#define ASSAY_GRAPH_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"

#define ASSAY_NPY_MAX_RANK 8
/* No header is longer: magic, version, length, and at most 65535 bytes of text. */
#define ASSAY_NPY_MAX_HEADER (12 + 65535)

typedef enum assay_npy_type {
    ASSAY_NPY_BOOL, /* one byte, 0 or 1 */
    ASSAY_NPY_I1,
    ASSAY_NPY_U1,
    ASSAY_NPY_I2,
    ASSAY_NPY_U2,
    ASSAY_NPY_I4,
    ASSAY_NPY_U4,
    ASSAY_NPY_I8,
    ASSAY_NPY_U8,
    ASSAY_NPY_F2,
    ASSAY_NPY_F4,
    ASSAY_NPY_F8
} assay_npy_type;

/* An array in C order and native byte order. `data` is malloc'd and owned by the struct
 * (text_npy_free) where a reader filled it; the writers only borrow it. */
typedef struct assay_npy {
    assay_npy_type type;
    int rank;
    int64_t shape[ASSAY_NPY_MAX_RANK];
    void *data;
} assay_npy;

/* What a header says, for readers that fetch parts of a large file themselves. */
typedef struct assay_npy_header {
    assay_npy_type type;
    bool swap;    /* elements are in the other byte order than this machine's */
    bool fortran; /* the first index runs fastest; never of arrays that are one row */
    int rank;
    int64_t shape[ASSAY_NPY_MAX_RANK];
    size_t offset; /* of the first element, from the start of the file */
    size_t bytes;  /* of all elements */
} assay_npy_header;

/* Bytes of one element. */
size_t text_npy_type_size(assay_npy_type type);

/* Unsigned integers of 8, 16, 32 or 64 bits. */
assay_npy_type text_npy_unsigned(int bits);

/* "bool", "int8", ... "float64": NumPy's names. */
const char *text_npy_type_name(assay_npy_type type);

/* Number of elements and of bytes; only for arrays whose shape a reader has checked. */
size_t text_npy_count(const assay_npy *a);
size_t text_npy_bytes(const assay_npy *a);

/* Element i as a double: exact but for 64-bit integers beyond 2^53. */
double text_npy_get(const void *data, assay_npy_type type, size_t i);
/* Whether all elements of the type are integers that int64 holds; and such an element, exact. */
bool text_npy_is_integer(assay_npy_type type);
int64_t text_npy_integer(const void *data, assay_npy_type type, size_t i);

/* Reverses the bytes of each of `count` elements of `size` bytes in place. */
void text_npy_swap(void *data, size_t count, size_t size);

/* Reads a header from the first `size` bytes of a file; `name` is for messages. Fails with
 * ASSAY_ERR_INPUT (malformed), _UNSUPPORTED (other types, rank above 8) or _LIMIT
 * (more than 2^40 bytes). Whether the file holds as many bytes as it says is for the caller. */
assay_status text_npy_parse_header(const void *bytes, size_t size, const char *name,
                                   assay_npy_header *out, assay_error *err);

/* Read a whole array; the file or memory must end where the array does. On failure *out is
 * zeroed. As above, and ASSAY_ERR_IO or _MEMORY. */
assay_status text_npy_read_memory(const void *bytes, size_t size, const char *name, assay_npy *out,
                                  assay_error *err);
assay_status text_npy_read_file(const char *path, assay_npy *out, assay_error *err);

/* Widens float16 to float32, which is exact; other types stay. */
assay_status text_npy_widen(assay_npy *a, assay_error *err);
/* Rounds float64 to float32, to nearest even; other types stay. */
assay_status text_npy_round(assay_npy *a, assay_error *err);

void text_npy_free(assay_npy *a);

/* Write version 1, little-endian, C order, header padded to a multiple of 64 bytes as NumPy does:
 * equal arrays give equal files. *bytes is malloc'd for the caller. _write_file: as
 * file_write_file (graph/files/files.h); _put: where it is to stay, for what is in a partial
 * folder. */
assay_status text_npy_write_memory(const assay_npy *a, void **bytes, size_t *size,
                                   assay_error *err);
assay_status text_npy_write_file(const char *path, const assay_npy *a, assay_error *err);
assay_status text_npy_put(const char *path, const assay_npy *a, assay_error *err);

#endif
