/* Rows of each kind of probes.def, drawn. */
#ifndef ASSAY_INTERP_INFER_DOT_DRAW_H
#define ASSAY_INTERP_INFER_DOT_DRAW_H

#include "interp/infer/dot/rows.h"
#include "interp/rows/random.h"

/* Room for a row, values NULL where memory is short; freed by infer_dot_draft_close. */
bool infer_dot_draft_open(infer_dot_draft *d, const infer_dot_rows *like);
void infer_dot_draft_close(infer_dot_draft *d);
void infer_dot_draw(rows_random *r, const infer_dot_rows *like, enum infer_dot_probe probe,
                    infer_dot_draft *d);

#endif
