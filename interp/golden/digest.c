/* XXH3-128 of tensors, bytes and files. */
#include "interp/golden/digest.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xxhash.h>
#if (defined(__x86_64__) || defined(__i386__)) && __has_include(<xxh_x86dispatch.h>)
/* The same hash by the machine's vectors, where the library has it: its archive may not. */
#include <xxh_x86dispatch.h>
#undef XXH3_128bits
#undef XXH3_128bits_update
#pragma weak XXH3_128bits_dispatch
#pragma weak XXH3_128bits_update_dispatch
#define BY_VECTORS(function) (function##_dispatch ? function##_dispatch : (function))
#else
#define BY_VECTORS(function) (function)
#endif

#include "graph/core/slurp.h"

static assay_digest from_hash(XXH128_hash_t h)
{
    return (assay_digest){.high = h.high64, .low = h.low64};
}

assay_digest golden_digest_of(const void *bytes, size_t n)
{
#ifdef ASSAY_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return golden_digest_avx512(bytes, n);
#endif
    return from_hash(BY_VECTORS(XXH3_128bits)(bytes, n));
}

void golden_digest_print(assay_digest d, char hex[33])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < 16; i++) {
        hex[15 - i] = digits[d.high >> 4 * i & 15];
        hex[31 - i] = digits[d.low >> 4 * i & 15];
    }
    hex[32] = 0;
}

void golden_digest_bytes(const void *bytes, size_t n, char hex[33])
{
    golden_digest_print(golden_digest_of(bytes, n), hex);
}

static bool host_is_little_endian(void)
{
    const uint16_t probe = 1;
    uint8_t first;
    memcpy(&first, &probe, 1);
    return first == 1;
}

assay_status golden_digest_elements(const void *data, size_t n, size_t width, assay_digest *out,
                                    assay_error *err)
{
    const uint8_t *from = data;
    uint8_t *swapped;

    if (width == 1 || host_is_little_endian()) {
        *out = golden_digest_of(data, n);
        return ASSAY_OK;
    }
    swapped = malloc(n ? n : 1);
    if (!swapped)
        return assay_out_of_memory_for(err, "digesting %zu bytes", n);
    for (size_t i = 0; i < n; i += width)
        for (size_t b = 0; b < width; b++)
            swapped[i + b] = from[i + width - 1 - b];
    *out = golden_digest_of(swapped, n);
    free(swapped);
    return ASSAY_OK;
}

assay_status golden_digest_tensor(const assay_type *type, const void *data, char hex[33],
                                  assay_error *err)
{
    const size_t width = assay_elem_size(type->elem);
    assay_digest d = {0, 0};
    const assay_status status =
        golden_digest_elements(data, (size_t)assay_shape_count(type) * width, width, &d, err);

    golden_digest_print(d, hex);
    return status;
}

assay_status golden_digest_file(const char *path, char hex[33], assay_error *err)
{
    XXH3_state_t *state = XXH3_createState();
    uint8_t block[65536];
    int file;
    size_t left;
    assay_status status =
        state ? assay_open_regular(path, &file, &left, err) : assay_out_of_memory(err);

    if (!status) {
        XXH3_128bits_reset(state);
        for (size_t n; left > 0 && !status; left -= n) {
            n = left < sizeof block ? left : sizeof block;
            status = assay_read_whole(file, path, block, n, err);
            BY_VECTORS(XXH3_128bits_update)(state, block, n);
        }
        close(file);
    }
    if (!status)
        golden_digest_print(from_hash(XXH3_128bits_digest(state)), hex);
    XXH3_freeState(state);
    return status;
}
