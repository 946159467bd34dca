/* Schemes compared over scales and networks: shared by the library and the command. */
#ifndef ASSAY_INTERP_API_DECIDE_H
#define ASSAY_INTERP_API_DECIDE_H

#include "interp/assay_arithmetic.h"
#include "interp/decide/matrix.h"
#include "interp/decide/pair.h"

/* n schemes with records, of different names, or of one record; `type` of scheme 0 where none is
 * asked for. */
assay_status assay_decide_question(const assay_scheme *const *s, int n,
                                   const assay_scheme_question *o, decide_question *out,
                                   assay_error *err);

#endif
