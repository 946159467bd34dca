/* Claims of bit-exactness that a scheme file inherits by `extends`. */
#ifndef ASSAY_SCHEMES_CLAIMS_H
#define ASSAY_SCHEMES_CLAIMS_H

#include "schemes/read/read.h"

typedef struct assay_claims assay_claims;

/* After the parent was read: what its claims cover. *out goes to assay_claims_end, whatever
 * happens. */
assay_status assay_claims_begin(const assay_reading *c, assay_claims **out);
/* After the file's own keys: an op loses its claim where the file changed a parameter that it reads
 * (assay_scheme_data.lost_by, of floats float_lost_by), unless the file states exact_ops, or
 * exact_float_ops, itself. k may be NULL. */
void assay_claims_end(const assay_reading *c, assay_claims *k);

#endif
