/* Comparison of two rules on every row of the domain, box by box: each is shown to be equal, or
 * split, until nothing is left or a row is found on which they differ. */
#ifndef ASSAY_INTERP_INFER_BOXES_H
#define ASSAY_INTERP_INFER_BOXES_H

#include "interp/infer/reach.h"

enum infer_told {
    INFER_ALIKE,
    INFER_APART, /* *row is one on which they differ */
    INFER_UNTOLD /* too many boxes */
};

enum infer_told infer_tell(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                           infer_row *row);

#endif
