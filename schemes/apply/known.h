/* Records that the short forms of arithmetic may compute. */
#ifndef ASSAY_SCHEMES_APPLY_KNOWN_H
#define ASSAY_SCHEMES_APPLY_KNOWN_H

#include "schemes/record/record.h"

/* Where a field stands in assay_record. */
typedef struct apply_place {
    size_t offset, size;
} apply_place;

/* The fields of known.def; *n receives their number. */
const apply_place *apply_known(size_t *n);

/* Whether r, but for the n fields of `known` and what tensors may hold, is
 * `plain`. */
bool apply_is_plain_beside(const assay_record *r, const assay_record *plain,
                           const apply_place *known, size_t n);

#endif
