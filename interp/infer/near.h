/* The rule that contradicts the fewest rows, for when every rule contradicts some. */
#ifndef ASSAY_INTERP_INFER_NEAR_H
#define ASSAY_INTERP_INFER_NEAR_H

#include "interp/infer/task.h"

/* Starts at the nearest shipped presets and changes one field after another. */
void infer_nearest(const infer_task *t, infer_rule *out);
/* The presets whose rule agrees with every row: their names, and how many. */
int infer_presets(const infer_task *t, const char **name, int room);

#endif
