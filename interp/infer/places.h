/* Kind scale: where R makes a difference, and pairs of R between which the code changes. */
#ifndef ASSAY_INTERP_INFER_PLACES_H
#define ASSAY_INTERP_INFER_PLACES_H

#include "interp/infer/scales.h"

#define INFER_MIN_EXPONENT (-149) /* the least and greatest exponents of R that are asked */
#define INFER_MAX_EXPONENT 128

/* Finds which R the device accepts: fills live_lo, live_hi, powers and the encoder's negative_scale
 * and exponent_by_log. ASSAY_ERR_INPUT where it accepts none. */
assay_status infer_find_taken(infer_task *t, assay_error *err);
/* Narrows live_lo..live_hi to the R whose doubling changes codes, if there are any. Then asks pairs
 * of R with different codes, ever nearer, and exact ties between them. */
assay_status infer_find_places(infer_task *t, assay_error *err);
/* The zero point in these rows. */
int32_t infer_middle_zero(const infer_options *o);

#endif
