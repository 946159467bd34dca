/* A FlatBuffers reader that trusts nothing; see flat.h. */
#include "graph/tflite/flat/flat.h"

#include <string.h>

static void fault(flat_file *f, size_t at, const char *what)
{
    if (!f->fault) {
        f->fault = what;
        f->fault_at = at;
    }
}

/* Are bytes at..at+size inside the file, and has nothing gone wrong yet? */
static bool inside(flat_file *f, size_t at, size_t size, const char *what)
{
    if (f->fault)
        return false;
    if (at <= f->size && size <= f->size - at)
        return true;
    fault(f, at, what);
    return false;
}

assay_status tfl_flat_status(const flat_file *f, assay_error *err)
{
    if (!f->fault)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: at byte %zu of %zu: %s", f->name, f->fault_at,
                      f->size, f->fault);
}

uint16_t tfl_flat_load16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t tfl_flat_load32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

uint64_t tfl_flat_load64(const unsigned char *p)
{
    return (uint64_t)tfl_flat_load32(p) | (uint64_t)tfl_flat_load32(p + 4) << 32;
}

/* The table at byte `at`: it starts with the signed distance back to its vtable, which starts with
 * its own size and the table's. */
static flat_table table_at(flat_file *f, size_t at)
{
    const flat_table absent = {.file = f};
    flat_table t = {.file = f, .at = at};
    int64_t vtable;

    if (!inside(f, at, 4, "a table lies outside the file"))
        return absent;
    vtable = (int64_t)at - (int32_t)tfl_flat_load32(f->bytes + at);
    if (vtable < 0 || (uint64_t)vtable > f->size || f->size - (size_t)vtable < 4) {
        fault(f, at, "a table's vtable lies outside the file");
        return absent;
    }
    t.vtable = (size_t)vtable;
    t.vtable_size = tfl_flat_load16(f->bytes + t.vtable);
    t.table_size = tfl_flat_load16(f->bytes + t.vtable + 2);
    if (t.vtable_size < 4 || t.vtable_size % 2 != 0 || t.table_size < 4) {
        fault(f, t.vtable, "a vtable's sizes make no sense");
        return absent;
    }
    if (!inside(f, t.vtable, t.vtable_size, "a vtable ends outside the file") ||
        !inside(f, at, t.table_size, "a table ends outside the file"))
        return absent;
    return t;
}

/* What the offset stored at byte `at` points to; 0 after a fault. */
static size_t follow(flat_file *f, size_t at)
{
    uint32_t distance;
    if (!inside(f, at, 4, "an offset lies outside the file"))
        return 0;
    distance = tfl_flat_load32(f->bytes + at);
    if (distance == 0 || distance > f->size - at) {
        fault(f, at, "an offset points outside the file");
        return 0;
    }
    return at + distance;
}

flat_table tfl_flat_root(flat_file *f)
{
    size_t at = follow(f, 0);
    return at ? table_at(f, at) : (flat_table){.file = f};
}

bool tfl_flat_present(flat_table t)
{
    return t.at != 0;
}

/* Byte offset of a field of `size` bytes, 0 when it is not stored. */
static size_t field(flat_table t, int slot, size_t size)
{
    unsigned entry = 4 + 2 * (unsigned)slot, offset;
    if (t.at == 0 || t.file->fault || entry + 2 > t.vtable_size)
        return 0;
    offset = tfl_flat_load16(t.file->bytes + t.vtable + entry);
    if (offset == 0)
        return 0;
    if (offset < 4 || offset + size > t.table_size) {
        fault(t.file, t.vtable + entry, "a field lies outside its table");
        return 0;
    }
    return t.at + offset;
}

bool tfl_flat_has(flat_table t, int slot)
{
    return field(t, slot, 1) != 0;
}

int8_t tfl_flat_i8(flat_table t, int slot, int8_t otherwise)
{
    size_t at = field(t, slot, 1);
    return at ? (int8_t)t.file->bytes[at] : otherwise;
}

bool tfl_flat_bool(flat_table t, int slot)
{
    return tfl_flat_i8(t, slot, 0) != 0;
}

uint32_t tfl_flat_u32(flat_table t, int slot, uint32_t otherwise)
{
    size_t at = field(t, slot, 4);
    return at ? tfl_flat_load32(t.file->bytes + at) : otherwise;
}

int32_t tfl_flat_i32(flat_table t, int slot, int32_t otherwise)
{
    return (int32_t)tfl_flat_u32(t, slot, (uint32_t)otherwise);
}

uint64_t tfl_flat_u64(flat_table t, int slot, uint64_t otherwise)
{
    size_t at = field(t, slot, 8);
    return at ? tfl_flat_load64(t.file->bytes + at) : otherwise;
}

static float as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

float tfl_flat_f32(flat_table t, int slot, float otherwise)
{
    size_t at = field(t, slot, 4);
    return at ? as_float(tfl_flat_load32(t.file->bytes + at)) : otherwise;
}

flat_table tfl_flat_child(flat_table t, int slot)
{
    size_t at = field(t, slot, 4);
    at = at ? follow(t.file, at) : 0;
    return at ? table_at(t.file, at) : (flat_table){.file = t.file};
}

flat_vector tfl_flat_list(flat_table t, int slot, size_t size)
{
    flat_vector v = {.file = t.file};
    size_t at = field(t, slot, 4);
    uint32_t count;

    at = at ? follow(t.file, at) : 0;
    if (at == 0 || !inside(t.file, at, 4, "a vector lies outside the file"))
        return v;
    count = tfl_flat_load32(t.file->bytes + at);
    if (count > (t.file->size - at - 4) / size) {
        fault(t.file, at, "a vector has more elements than the file can hold");
        return v;
    }
    v.at = at + 4;
    v.count = count;
    return v;
}

const char *tfl_flat_text(flat_table t, int slot, size_t *length)
{
    flat_vector v = tfl_flat_list(t, slot, 1);
    *length = v.count;
    return v.at ? (const char *)t.file->bytes + v.at : NULL;
}

/* Byte offset of element i, or 0 after a fault. */
static size_t element(flat_vector v, uint32_t i, size_t size)
{
    if (i >= v.count) {
        fault(v.file, v.at, "an index lies outside its vector");
        return 0;
    }
    return v.file->fault ? 0 : v.at + i * size;
}

flat_table tfl_flat_list_table(flat_vector v, uint32_t i)
{
    size_t at = element(v, i, 4);
    at = at ? follow(v.file, at) : 0;
    return at ? table_at(v.file, at) : (flat_table){.file = v.file};
}

uint8_t tfl_flat_list_u8(flat_vector v, uint32_t i)
{
    size_t at = element(v, i, 1);
    return at ? v.file->bytes[at] : 0;
}

uint16_t tfl_flat_list_u16(flat_vector v, uint32_t i)
{
    size_t at = element(v, i, 2);
    return at ? tfl_flat_load16(v.file->bytes + at) : 0;
}

int32_t tfl_flat_list_i32(flat_vector v, uint32_t i)
{
    size_t at = element(v, i, 4);
    return at ? (int32_t)tfl_flat_load32(v.file->bytes + at) : 0;
}

int64_t tfl_flat_list_i64(flat_vector v, uint32_t i)
{
    size_t at = element(v, i, 8);
    return at ? (int64_t)tfl_flat_load64(v.file->bytes + at) : 0;
}

float tfl_flat_list_f32(flat_vector v, uint32_t i)
{
    size_t at = element(v, i, 4);
    return at ? as_float(tfl_flat_load32(v.file->bytes + at)) : 0;
}
