/* FlatBuffers, written front to back. */
#include "graph/tflite/flat/write.h"

#include <assert.h>
#include <string.h>

static void put(flat_writer *w, uint64_t bits, size_t size)
{
    char byte[8];
    assert(size <= sizeof byte);
    for (size_t i = 0; i < size; ++i)
        byte[i] = (char)(bits >> (8 * i));
    assay_buf_add(&w->bytes, byte, size);
}

/* Zeros until `ahead` bytes from here are a multiple of `align`. */
static void align_to(flat_writer *w, size_t align, size_t ahead)
{
    while ((w->bytes.length + ahead) % align && !w->bytes.failed)
        put(w, 0, 1);
}

/* The 4 bytes at `at` become the distance from there to `target`. */
static void point(flat_writer *w, size_t at, size_t target)
{
    for (size_t i = 0; i < 4 && !w->bytes.failed; ++i)
        w->bytes.text[at + i] = (char)((target - at) >> (8 * i));
}

void tfl_flat_begin(flat_writer *w, const char *identifier)
{
    *w = (flat_writer){0};
    put(w, 0, 4);
    assay_buf_add(&w->bytes, identifier, 4);
}

/* The vtable stands in front of its table; wide fields come first, so that all are aligned. */
size_t tfl_flat_write_table(flat_writer *w, const flat_field *field, int n)
{
    static const size_t width[] = {4, 2, 1};
    uint16_t at[FLAT_MAX_FIELDS] = {0}, slots = 0, size = 4;
    size_t table;

    for (size_t k = 0; k < 3; ++k)
        for (int i = 0; i < n; ++i)
            if ((field[i].size == FLAT_OFFSET ? 4 : (size_t)field[i].size) == width[k]) {
                at[field[i].slot] = size;
                size = (uint16_t)(size + width[k]);
                if (field[i].slot >= slots)
                    slots = (uint16_t)(field[i].slot + 1);
            }
    align_to(w, 4, 4 + 2 * (size_t)slots);
    put(w, 4 + 2 * (uint64_t)slots, 2);
    put(w, size, 2);
    for (int i = 0; i < slots; ++i)
        put(w, at[i], 2);
    table = w->bytes.length;
    put(w, 4 + 2 * (uint64_t)slots, 4); /* back to the vtable */
    for (size_t k = 0; k < 3; ++k)
        for (int i = 0; i < n; ++i)
            if ((field[i].size == FLAT_OFFSET ? 4 : (size_t)field[i].size) == width[k])
                put(w, field[i].bits, width[k]);
    return table;
}

static uint64_t element_at(const void *element, size_t i, size_t size)
{
    const char *p = (const char *)element + i * size;
    uint16_t v16;
    uint32_t v32;
    uint64_t v64;

    switch (size) {
    case 1:
        return (unsigned char)*p;
    case 2:
        memcpy(&v16, p, 2);
        return v16;
    case 4:
        memcpy(&v32, p, 4);
        return v32;
    default:
        memcpy(&v64, p, 8);
        return v64;
    }
}

/* Elements behind a length, which counts what the vector is of: elements, or their bytes. */
static size_t put_elements(flat_writer *w, size_t length, const void *element, size_t count,
                           size_t size, size_t align)
{
    size_t vector;

    align_to(w, align > 4 ? align : 4, 4);
    vector = w->bytes.length;
    put(w, length, 4);
    if (size == 1)
        assay_buf_add(&w->bytes, element, count);
    for (size_t i = 0; size > 1 && i < count && !w->bytes.failed; ++i)
        put(w, element_at(element, i, size), size);
    return vector;
}

size_t tfl_flat_write_vector(flat_writer *w, const void *element, size_t count, size_t size,
                             size_t align)
{
    return put_elements(w, count, element, count, size, align);
}

size_t tfl_flat_write_bytes(flat_writer *w, const void *element, size_t count, size_t size,
                            size_t align)
{
    return put_elements(w, count * size, element, count, size, align);
}

size_t tfl_flat_write_string(flat_writer *w, const char *text)
{
    size_t at = tfl_flat_write_vector(w, text, strlen(text), 1, 4);
    put(w, 0, 1);
    return at;
}

size_t tfl_flat_write_offsets(flat_writer *w, size_t count)
{
    size_t vector;

    align_to(w, 4, 4);
    vector = w->bytes.length;
    put(w, count, 4);
    for (size_t i = 0; i < count; ++i)
        put(w, 0, 4);
    return vector;
}

void tfl_flat_refer_root(flat_writer *w, size_t target)
{
    point(w, 0, target);
}

void tfl_flat_refer(flat_writer *w, size_t table, int slot, size_t target)
{
    const unsigned char *vtable;

    if (w->bytes.failed)
        return;
    vtable = (const unsigned char *)w->bytes.text + table;
    vtable -= (size_t)vtable[0] | (size_t)vtable[1] << 8;
    point(w, table + (vtable[4 + 2 * slot] | (size_t)vtable[5 + 2 * slot] << 8), target);
}

void tfl_flat_refer_element(flat_writer *w, size_t vector, size_t i, size_t target)
{
    point(w, vector + 4 + 4 * i, target);
}

assay_status tfl_flat_write_status(const flat_writer *w, assay_error *err)
{
    assay_status s = assay_buf_status(&w->bytes, err);
    if (!s && w->bytes.length > INT32_MAX)
        s = assay_fail(err, ASSAY_ERR_LIMIT,
                       "a TFLite file of %zu bytes; it can have at most 2 GiB", w->bytes.length);
    return s;
}
