/* Tensors as .npy files: the container of the element kind, in C order; constants of many codes of
 * fewer than 8 bits in one dimension of uint8, packed (packed.h). */
#ifndef ASSAY_GRAPH_CONSTANT_H
#define ASSAY_GRAPH_CONSTANT_H

#include "graph/core/type.h"
#include "graph/text/npy.h"

/* NumPy's type for an element kind's container. */
assay_npy_type text_elem_npy(assay_elem e);

/* XXH3-128 of elements of type t, little-endian in C order: 32 hex digits, high half first. */
assay_status text_constant_digest(const assay_type *t, const void *data, char hex[33],
                                  assay_error *err);

/* Constants of so many elements of fewer than 8 bits are packed in files. */
#define ASSAY_TEXT_PACKED ((int64_t)1 << 16)
bool text_constant_is_packed(const assay_type *t);

/* Writes a constant of type t to a file. */
assay_status text_constant_write(const char *path, const assay_type *t, const void *data,
                                 assay_error *err);
/* The bytes of that file, malloc'd for the caller. */
assay_status text_constant_render(const assay_type *t, const void *data, void **bytes, size_t *size,
                                  assay_error *err);
/* Where *a may be t's elements, packed, it gets a byte an element and t's shape. On failure it
 * stays as it is. */
assay_status text_constant_unpack(const char *path, assay_npy *a, const assay_type *t,
                                  assay_error *err);
/* Reads a file that must hold t's container and shape, or its elements packed, however many; *data
 * is malloc'd for the caller. */
assay_status text_constant_read(const char *path, const assay_type *t, void **data,
                                assay_error *err);
/* The same for a file's bytes, which are in memory; `path` is for messages. */
assay_status text_constant_parse(const char *path, const unsigned char *bytes, size_t size,
                                 const assay_type *t, void **data, assay_error *err);

#endif
