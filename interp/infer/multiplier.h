/* Kind multiplier: rows of accumulators, multipliers and shifts. */
#ifndef ASSAY_INTERP_INFER_MULTIPLIER_H
#define ASSAY_INTERP_INFER_MULTIPLIER_H

#include "interp/infer/finish.h"

/* Every rule that is consistent; none if no rule is. Whether they are proved to be
 * one function on the domain goes to the task. */
assay_status infer_multiplier(infer_task *t, infer_rules *out, assay_error *err);

/* ---- refine.c ---- */
/* Asks rows on which the engine's candidates differ and drops those that are wrong, until no row of
 * many that are drawn distinguishes them. */
assay_status infer_part_candidates(infer_engine *e, assay_error *err);
/* The same for whole rules. */
assay_status infer_part_rules(infer_task *t, infer_rules *rules, assay_error *err);
/* Those that rows of the log, from `from` on, contradict. */
void infer_drop_rules(infer_task *t, infer_rules *rules, size_t from);

/* ---- distinct.c ---- */
/* Keeps one rule of each that are proved to be one function, and asks rows on which others are
 * found to differ, until none are. Whether one function is left goes to the task. */
assay_status infer_keep_distinct(infer_engine *e, infer_rules *rules, assay_error *err);

#endif
