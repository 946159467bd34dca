/* Pieces of cutting a case (case.h), and the ops that need their own way of cutting. */
#ifndef ASSAY_INTERP_BLAME_CUT_H
#define ASSAY_INTERP_BLAME_CUT_H

#include "interp/blame/case.h"

/* Parameters along that axis become those of elements [first, first + n). */
void blame_cut_params(assay_type *t, int axis, int64_t first, int64_t n);
/* Input i cut to those elements of an axis; an input that is absent, or has n already, stays.
 * False: out of memory. */
bool blame_cut_input(blame_case *c, int i, int axis, int64_t first, int64_t n);
void blame_cut_output(blame_case *c, int axis, int64_t first, int64_t n);

/* An op, or several, with ways of their own: as blame_case_axes and blame_case_cut. */
typedef struct blame_cut_op {
    bool (*is)(const blame_case *c);
    unsigned (*axes)(const blame_case *c);
    bool (*cut)(blame_case *c, const blame_cut *cut);
} blame_cut_op;
/* NULL: this op has none. */
const blame_cut_op *blame_cut_op_of(const blame_case *c);
#endif
