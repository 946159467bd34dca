/* A FlatBuffers writer for tests: parents before children, every field in eight bytes. */
#ifndef ASSAY_TEST_FLAT_WRITER_H
#define ASSAY_TEST_FLAT_WRITER_H

#include <stddef.h>
#include <stdint.h>

typedef struct fb_writer {
    unsigned char *bytes;
    size_t size, room;
} fb_writer;

size_t fb_reserve(fb_writer *w, size_t n, size_t align);
void fb_put(fb_writer *w, size_t at, int64_t value, int bytes);
/* A table of n fields, none stored yet; field i lives at table + 8 + 8i. */
size_t fb_table(fb_writer *w, int n);
size_t fb_field(fb_writer *w, size_t t, int slot);
void fb_set(fb_writer *w, size_t t, int slot, int64_t value, int bytes);
void fb_refer(fb_writer *w, size_t at, size_t to);
size_t fb_vector(fb_writer *w, int n, int size, size_t align);
size_t fb_ints(fb_writer *w, const int32_t *v, int n);
size_t fb_bytes(fb_writer *w, const void *data, size_t n);
void fb_child(fb_writer *w, size_t t, int slot, size_t to);

#endif
