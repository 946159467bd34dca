/* Kind multiplier: rows of accumulators, multipliers and shifts. */
#ifndef ASSAY_INTERP_INFER_MULTIPLIER_H
#define ASSAY_INTERP_INFER_MULTIPLIER_H

#include "interp/infer/finish.h"

/* Finds every consistent rule; none if there is none. Whether they are proved to be one function on
 * the domain is noted in the task. */
assay_status infer_multiplier(infer_task *t, infer_rules *out, assay_error *err);

/* ---- refine.c ---- */
/* Asks rows on which the engine's candidates differ and drops those that are wrong, until none of
 * many drawn rows tells them apart. */
assay_status infer_part_candidates(infer_engine *e, assay_error *err);
/* The same for whole rules. */
assay_status infer_part_rules(infer_task *t, infer_rules *rules, assay_error *err);
/* Drops the rules that rows of the log, from `from` on, contradict. */
void infer_drop_rules(infer_task *t, infer_rules *rules, size_t from);

/* ---- distinct.c ---- */
/* Keeps one rule of each set proved to be one function, and asks rows on which the others are found
 * to differ, until none is found. Whether one function is left is noted in the task. */
assay_status infer_keep_distinct(infer_engine *e, infer_rules *rules, assay_error *err);

#endif
