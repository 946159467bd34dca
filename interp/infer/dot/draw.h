/* Random rows of each kind of probes.def. */
#ifndef ASSAY_INTERP_INFER_DOT_DRAW_H
#define ASSAY_INTERP_INFER_DOT_DRAW_H

#include "interp/infer/dot/rows.h"
#include "interp/rows/random.h"

/* Row i of the ladder: the product at place i and the accumulator are large and cancel, all others
 * are small, so that only those after it are left. Behind the rungs are rows in which two products
 * cancel. */
enum { INFER_DOT_RUNGS = 64, INFER_DOT_CROSSED = 96 };
size_t infer_dot_rungs(const infer_dot_rows *like);
void infer_dot_rung(rows_random *r, const infer_dot_rows *like, size_t i, infer_dot_draft *d);
/* DOT_LADDER: of any place. */
void infer_dot_draw(rows_random *r, const infer_dot_rows *like, enum infer_dot_probe probe,
                    infer_dot_draft *d);

#endif
