/* Whole rules against the log, the rows that last told rules apart first. */
#ifndef ASSAY_INTERP_INFER_CHECK_H
#define ASSAY_INTERP_INFER_CHECK_H

#include "interp/infer/finish.h"

typedef struct infer_check {
    infer_task *t;
    infer_model m;
    size_t *order; /* n places in the log */
    size_t n;
} infer_check;

/* live: only rows that are infer_in_window. The log must not grow while the check is open. Free
 * with infer_check_close, also on failure. */
assay_status infer_check_open(infer_check *c, infer_task *t, bool live, assay_error *err);
void infer_check_close(infer_check *c);
bool infer_check_holds(infer_check *c, const infer_rule *k);
/* Drops the rules that some row of the log contradicts. */
assay_status infer_rules_check(infer_task *t, infer_rules *r, assay_error *err);
/* Appends a rule; false when out of memory. */
bool infer_rules_keep(infer_rules *r, const infer_rule *k);

#endif
