/* A FlatBuffers writer for tests; see flat_writer.h. */
#include "test/support/flat_writer.h"

#include <stdlib.h>
#include <string.h>

#include "test/support/support.h"

size_t fb_reserve(fb_writer *w, size_t n, size_t align)
{
    size_t at = (w->size + align - 1) / align * align;
    if (at + n > w->room) {
        w->room = (at + n) * 2;
        w->bytes = realloc(w->bytes, w->room);
        assert_non_null(w->bytes);
    }
    memset(w->bytes + w->size, 0, at + n - w->size);
    w->size = at + n;
    return at;
}

void fb_put(fb_writer *w, size_t at, int64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        w->bytes[at + (size_t)i] = (unsigned char)((uint64_t)value >> (8 * i));
}

size_t fb_table(fb_writer *w, int n)
{
    size_t fields = (size_t)n, vtable = fb_reserve(w, 4 + 2 * fields, 2);
    size_t at = fb_reserve(w, 8 + 8 * fields, 8);
    fb_put(w, vtable, (int64_t)(4 + 2 * fields), 2);
    fb_put(w, vtable + 2, (int64_t)(8 + 8 * fields), 2);
    fb_put(w, at, (int64_t)at - (int64_t)vtable, 4);
    return at;
}

size_t fb_field(fb_writer *w, size_t t, int slot)
{
    size_t vtable = t - (size_t)(w->bytes[t] | w->bytes[t + 1] << 8 | w->bytes[t + 2] << 16);
    fb_put(w, vtable + 4 + 2 * (size_t)slot, 8 + 8 * slot, 2);
    return t + 8 + 8 * (size_t)slot;
}

void fb_set(fb_writer *w, size_t t, int slot, int64_t value, int bytes)
{
    fb_put(w, fb_field(w, t, slot), value, bytes);
}

void fb_refer(fb_writer *w, size_t at, size_t to)
{
    fb_put(w, at, (int64_t)(to - at), 4);
}

size_t fb_vector(fb_writer *w, int n, int size, size_t align)
{
    size_t at = fb_reserve(w, 4, 4);
    while ((at + 4) % align != 0)
        at = fb_reserve(w, 4, 4);
    fb_put(w, at, n, 4);
    fb_reserve(w, (size_t)n * (size_t)size, 1);
    return at;
}

size_t fb_ints(fb_writer *w, const int32_t *v, int n)
{
    size_t at = fb_vector(w, n, 4, 4);
    for (int i = 0; i < n; ++i)
        fb_put(w, at + 4 + 4 * (size_t)i, v[i], 4);
    return at;
}

size_t fb_bytes(fb_writer *w, const void *data, size_t n)
{
    size_t at = fb_vector(w, (int)n, 1, 16);
    if (n)
        memcpy(w->bytes + at + 4, data, n);
    return at;
}

void fb_child(fb_writer *w, size_t t, int slot, size_t to)
{
    fb_refer(w, fb_field(w, t, slot), to);
}
