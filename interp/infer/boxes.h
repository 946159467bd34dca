/* Two rules compared on every row of the domain, box by box: a box is shown to be equal or split,
 * until none is left or a row is found on which the rules differ. */
#ifndef ASSAY_INTERP_INFER_BOXES_H
#define ASSAY_INTERP_INFER_BOXES_H

#include "interp/infer/reach.h"

enum infer_told {
    INFER_ALIKE,
    INFER_APART, /* *row is a row on which they differ */
    INFER_UNTOLD /* undecided: too many boxes */
};

enum infer_told infer_tell(const infer_engine *e, const infer_rule *a, const infer_rule *b,
                           infer_row *row);

#endif
