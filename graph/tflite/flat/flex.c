/* FlexBuffers: a map of numbers by key. */
#include "graph/tflite/flat/flex.h"

#include <assert.h>
#include <string.h>

/* type << 2 | log2 of the width of what it points to */
enum {
    FLEX_INT = 1,
    FLEX_UINT = 2,
    FLEX_FLOAT = 3,
    FLEX_INDIRECT_INT = 6,
    FLEX_INDIRECT_UINT = 7,
    FLEX_INDIRECT_FLOAT = 8,
    FLEX_MAP = 9,
    FLEX_BOOL = 26
};

typedef struct flex {
    const unsigned char *bytes;
    size_t size;
} flex;

static bool is_inside(const flex *f, size_t at, size_t n)
{
    return at <= f->size && n <= f->size - at;
}

/* An unsigned integer of `width` bytes. */
static bool load(const flex *f, size_t at, unsigned width, uint64_t *out)
{
    *out = 0;
    if (!is_inside(f, at, width))
        return false;
    for (unsigned i = width; i > 0; --i)
        *out = *out << 8 | f->bytes[at + i - 1];
    return true;
}

/* Where the offset at `at` points. */
static bool follow(const flex *f, size_t at, unsigned width, size_t *to)
{
    uint64_t back;
    if (!load(f, at, width, &back) || back > at)
        return false;
    *to = at - (size_t)back;
    return true;
}

static double extended(uint64_t bits, unsigned width)
{
    assert(width >= 1 && width <= 8);
    const unsigned unused = 64 - 8 * width;
    return (double)((int64_t)(bits << unused) >> unused);
}

/* Of 4 bytes or 8. */
static double real(uint64_t bits, unsigned width)
{
    const uint32_t word = (uint32_t)bits;
    double whole;
    float single;

    memcpy(&whole, &bits, sizeof whole);
    memcpy(&single, &word, sizeof single);
    return width == 8 ? whole : (double)single;
}

static bool number(const flex *f, size_t at, unsigned width, unsigned type, double *out)
{
    const unsigned kind = type >> 2;
    uint64_t bits;

    if (kind >= FLEX_INDIRECT_INT && kind <= FLEX_INDIRECT_FLOAT)
        return follow(f, at, width, &at) &&
               number(f, at, 1U << (type & 3),
                      (kind - FLEX_INDIRECT_INT + FLEX_INT) << 2 | (type & 3), out);
    if (!load(f, at, width, &bits))
        return false;
    if (kind == FLEX_INT)
        *out = extended(bits, width);
    else if (kind == FLEX_UINT || kind == FLEX_BOOL)
        *out = (double)bits;
    else if (kind == FLEX_FLOAT && width >= 4)
        *out = real(bits, width);
    else
        return false;
    return true;
}

static bool is_key(const flex *f, size_t at, const char *key)
{
    const size_t n = strlen(key) + 1;
    return is_inside(f, at, n) && memcmp(f->bytes + at, key, n) == 0;
}

/* In the map whose values begin at `at`: before them stand the offset of the keys, the width of
 * those, and the count; behind them the types. */
static bool find(const flex *f, size_t at, unsigned width, const char *key, double *out)
{
    uint64_t n, key_width;
    size_t keys, name;

    if (at < 3 * (size_t)width || !load(f, at - width, width, &n) ||
        !load(f, at - 2 * (size_t)width, width, &key_width) ||
        !follow(f, at - 3 * (size_t)width, width, &keys))
        return false;
    if (n > f->size || key_width < 1 || key_width > 8 || !is_inside(f, at, (size_t)n * (width + 1)))
        return false;
    for (size_t i = 0; i < n; ++i)
        if (follow(f, keys + i * (size_t)key_width, (unsigned)key_width, &name) &&
            is_key(f, name, key))
            return number(f, at + i * width, width, f->bytes[at + (size_t)n * width + i], out);
    return false;
}

bool tfl_flex_number(flat_vector bytes, const char *key, double *out)
{
    const flex f = {bytes.file ? bytes.file->bytes + bytes.at : NULL, bytes.count};
    size_t at;

    if (f.size < 3)
        return false;
    const unsigned type = f.bytes[f.size - 2], width = f.bytes[f.size - 1];
    if (width < 1 || width > 8 || f.size < 2 + width || type >> 2 != FLEX_MAP)
        return false;
    return follow(&f, f.size - 2 - width, width, &at) && find(&f, at, 1U << (type & 3), key, out);
}
