/* Digests of tensors: XXH3-128 over the canonical bytes (little-endian, C order, smallest native
 * container), printed as 32 hex digits, high half first. */
#ifndef ASSAY_INTERP_DIGEST_H
#define ASSAY_INTERP_DIGEST_H

#include "graph/core/type.h"

typedef struct assay_digest {
    uint64_t high, low;
} assay_digest;

assay_digest golden_digest_of(const void *bytes, size_t n);
/* The same on a machine with AVX-512F, BW, DQ and VL. */
assay_digest golden_digest_avx512(const void *bytes, size_t n);
void golden_digest_print(assay_digest d, char hex[33]);
/* The two above. */
void golden_digest_bytes(const void *bytes, size_t n, char hex[33]);
/* Digest of n bytes that are elements of `width` bytes as they stand in memory. Fails only for lack
 * of memory on big-endian hosts, where a swapped copy is needed. */
assay_status golden_digest_elements(const void *data, size_t n, size_t width, assay_digest *out,
                                    assay_error *err);
/* The same for a whole tensor, printed. */
assay_status golden_digest_tensor(const assay_type *type, const void *data, char hex[33],
                                  assay_error *err);
/* Digest of a whole file, streamed. */
assay_status golden_digest_file(const char *path, char hex[33], assay_error *err);

#endif
