/* Codes and patterns of fewer than 8 bits without gaps, as files hold many of them: a stream of
 * bits, the lowest of each byte first, in which each element's lowest bit comes first. */
#ifndef ASSAY_GRAPH_PACKED_H
#define ASSAY_GRAPH_PACKED_H

#include "graph/core/type.h"

/* Whether elements of the type have bits to save; in memory each fills a byte. */
bool text_is_packable(assay_elem e);
/* Bytes of all elements of a packable type, without gaps. */
size_t text_packed_bytes(const assay_type *t);
/* Between a byte an element and text_packed_bytes; bits after the last element are zeros. */
void text_pack(const assay_type *t, const void *data, unsigned char *packed);
void text_unpack(const assay_type *t, const unsigned char *packed, void *data);
/* Whether bits after the last element are zeros. */
bool text_packed_ends(const assay_type *t, const unsigned char *packed);

#endif
