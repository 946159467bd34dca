/* A FlatBuffers reader that trusts nothing: every offset, size and count is checked against the
 * file before it is used, and nothing is copied.
 *
 * Format: https://flatbuffers.dev/internals (tables, vtables, vectors, strings; little-endian).
 *
 * The first fault is kept in the file's record with its byte offset; from then on every read gives
 * its default, an absent table or an empty vector, so that callers check once (tfl_flat_status)
 * after a batch of reads and before they act on them. */
#ifndef ASSAY_GRAPH_TFLITE_FLAT_H
#define ASSAY_GRAPH_TFLITE_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"

typedef struct flat_file {
    const char *name; /* for messages */
    const unsigned char *bytes;
    size_t size;
    const char *fault; /* what is wrong, or NULL */
    size_t fault_at;   /* byte offset */
} flat_file;

typedef struct flat_table {
    flat_file *file;
    size_t at;     /* byte offset; 0: absent */
    size_t vtable; /* byte offset */
    unsigned vtable_size, table_size;
} flat_table;

typedef struct flat_vector {
    flat_file *file;
    size_t at;      /* byte offset of the first element */
    uint32_t count; /* 0 when absent */
} flat_vector;

/* ASSAY_ERR_INPUT with the file's first fault, if there was one. */
assay_status tfl_flat_status(const flat_file *f, assay_error *err);

/* Little-endian loads from anywhere. */
uint16_t tfl_flat_load16(const unsigned char *p);
uint32_t tfl_flat_load32(const unsigned char *p);
uint64_t tfl_flat_load64(const unsigned char *p);

flat_table tfl_flat_root(flat_file *f);
bool tfl_flat_present(flat_table t);
/* Is the field stored (not left to its default)? Slots count from 0 in schema order. */
bool tfl_flat_has(flat_table t, int slot);
int8_t tfl_flat_i8(flat_table t, int slot, int8_t otherwise);
int32_t tfl_flat_i32(flat_table t, int slot, int32_t otherwise);
uint32_t tfl_flat_u32(flat_table t, int slot, uint32_t otherwise);
uint64_t tfl_flat_u64(flat_table t, int slot, uint64_t otherwise);
float tfl_flat_f32(flat_table t, int slot, float otherwise);
bool tfl_flat_bool(flat_table t, int slot);
flat_table tfl_flat_child(flat_table t, int slot);
/* `size` is that of an element in bytes. */
flat_vector tfl_flat_list(flat_table t, int slot, size_t size);
/* Bytes of a string, not NUL-terminated; NULL when absent. */
const char *tfl_flat_text(flat_table t, int slot, size_t *length);

/* Elements; an index outside the vector is a fault. */
flat_table tfl_flat_list_table(flat_vector v, uint32_t i);
uint8_t tfl_flat_list_u8(flat_vector v, uint32_t i);
uint16_t tfl_flat_list_u16(flat_vector v, uint32_t i);
int32_t tfl_flat_list_i32(flat_vector v, uint32_t i);
int64_t tfl_flat_list_i64(flat_vector v, uint32_t i);
float tfl_flat_list_f32(flat_vector v, uint32_t i);

#endif
