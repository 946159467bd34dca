/* A FlatBuffers writer: front to back, so that every offset points ahead.
 *
 * Format: https://flatbuffers.dev/internals. A table or vector of offsets is written with zeros in
 * their place; tfl_flat_refer fills one in when its target has been written. Positions are bytes
 * from the start. Failures are sticky: tfl_flat_write_status reports the first. */
#ifndef ASSAY_GRAPH_TFLITE_FLAT_WRITE_H
#define ASSAY_GRAPH_TFLITE_FLAT_WRITE_H

#include <stdint.h>

#include "graph/core/buf.h"

typedef struct flat_writer {
    assay_buf bytes;
} flat_writer;

/* A scalar field of a table, or (size FLAT_OFFSET) an offset that is filled in later. */
#define FLAT_OFFSET 0
typedef struct flat_field {
    int slot;
    int size; /* 1, 2, 4 bytes, or FLAT_OFFSET */
    uint32_t bits;
} flat_field;

#define FLAT_MAX_FIELDS 12 /* of one table, and slots */

/* Room for the root's offset, and the file identifier of 4 letters. */
void tfl_flat_begin(flat_writer *w, const char *identifier);
size_t tfl_flat_write_table(flat_writer *w, const flat_field *field, int n);
/* `count` elements of 1, 2, 4 or 8 bytes in native order; the first is aligned to `align`. */
size_t tfl_flat_write_vector(flat_writer *w, const void *element, size_t count, size_t size,
                             size_t align);
/* The same elements, little-endian, as a vector of bytes. */
size_t tfl_flat_write_bytes(flat_writer *w, const void *element, size_t count, size_t size,
                            size_t align);
size_t tfl_flat_write_string(flat_writer *w, const char *text);
/* A vector of `count` offsets, zeros at first. */
size_t tfl_flat_write_offsets(flat_writer *w, size_t count);

/* Makes the root, a table's field, or element i of a vector of offsets point at `target`. */
void tfl_flat_refer_root(flat_writer *w, size_t target);
void tfl_flat_refer(flat_writer *w, size_t table, int slot, size_t target);
void tfl_flat_refer_element(flat_writer *w, size_t vector, size_t i, size_t target);

/* ASSAY_ERR_MEMORY, or ASSAY_ERR_LIMIT beyond the 2 GiB that offsets reach. */
assay_status tfl_flat_write_status(const flat_writer *w, assay_error *err);

#endif
