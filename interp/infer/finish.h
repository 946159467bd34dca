/* Whole rules, made from candidates that lack their ends. */
#ifndef ASSAY_INTERP_INFER_FINISH_H
#define ASSAY_INTERP_INFER_FINISH_H

#include "interp/infer/engine.h"

typedef struct infer_rules {
    infer_rule *rule;
    size_t n, room;
} infer_rules;

/* Every whole rule that agrees with the log: the engine's candidates with each end of their class,
 * each narrowing of the result and each refusal of operands. Narrowings that no row of the domain
 * reaches are left out (see reach.c). */
assay_status infer_finish(infer_engine *e, infer_rules *out, assay_error *err);
void infer_rules_free(infer_rules *r);

#endif
