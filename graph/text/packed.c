/* Elements of fewer than 8 bits without gaps. */
#include <assert.h>

#include "graph/text/packed.h"

bool text_is_packable(assay_elem e)
{
    return (e.kind == ASSAY_KIND_INT || assay_is_small_float(e)) && e.bits < 8;
}

size_t text_packed_bytes(const assay_type *t)
{
    return ((size_t)assay_shape_count(t) * t->elem.bits + 7) / 8;
}

void text_pack(const assay_type *t, const void *data, unsigned char *packed)
{
    assert(t->elem.bits >= 1 && t->elem.bits < 8);
    const unsigned bits = t->elem.bits, mask = (1U << bits) - 1;
    const size_t n = (size_t)assay_shape_count(t);
    unsigned window = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        window |= (((const unsigned char *)data)[i] & mask) << have;
        have += bits;
        if (have < 8)
            continue;
        *packed++ = (unsigned char)(window & 255);
        window >>= 8;
        have -= 8;
    }
    if (have > 0)
        *packed = (unsigned char)window;
}

void text_unpack(const assay_type *t, const unsigned char *packed, void *data)
{
    assert(t->elem.bits >= 1 && t->elem.bits < 8);
    const unsigned bits = t->elem.bits, mask = (1U << bits) - 1;
    const unsigned sign =
        t->elem.kind == ASSAY_KIND_INT && t->elem.is_signed ? 1U << (bits - 1) : 0;
    const size_t n = (size_t)assay_shape_count(t);
    unsigned window = 0, have = 0;
    for (size_t i = 0; i < n; i++) {
        if (have < bits) {
            window |= (unsigned)*packed++ << have;
            have += 8;
        }
        ((unsigned char *)data)[i] = (unsigned char)(((window & mask) ^ sign) - sign);
        window >>= bits;
        have -= bits;
    }
}

bool text_packed_ends(const assay_type *t, const unsigned char *packed)
{
    const size_t used = (size_t)assay_shape_count(t) * t->elem.bits;
    return used % 8 == 0 || packed[used / 8] >> used % 8 == 0;
}
