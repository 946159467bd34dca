/* The rule that contradicts the fewest rows, where none contradicts none. */
#ifndef ASSAY_INTERP_INFER_NEAR_H
#define ASSAY_INTERP_INFER_NEAR_H

#include "interp/infer/task.h"

/* Changes one field after another, from the shipped presets that are nearest. */
void infer_nearest(const infer_task *t, infer_rule *out);
/* The rules of presets that agree with every row: their names, how many. */
int infer_presets(const infer_task *t, const char **name, int room);

#endif
