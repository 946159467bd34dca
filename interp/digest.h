/* Digests of tensors: XXH3-128 over the canonical bytes (little-endian, C order, smallest native
 * container), printed as 32 hex digits, high half first. */
#ifndef ASSAY_INTERP_DIGEST_H
#define ASSAY_INTERP_DIGEST_H

#include "graph/type.h"

void assay_digest_bytes(const void *bytes, size_t n, char hex[33]);
/* Digest of a tensor's elements as they stand in memory. Fails only for lack of memory on
 * big-endian hosts, where a swapped copy is needed. */
assay_status assay_digest_tensor(const assay_type *type, const void *data, char hex[33],
                                 assay_error *err);
/* Digest of a whole file, streamed. */
assay_status assay_digest_file(const char *path, char hex[33], assay_error *err);

#endif
