/* Small domains of multipliers and shifts, whose every row can be compared, and rules drawn for
 * them. */
#ifndef ASSAY_TEST_INFER_WORLDS_H
#define ASSAY_TEST_INFER_WORLDS_H

#include "interp/infer/engine.h"
#include "test/infer/naive.h"
#include "test/support/support.h"

typedef struct world {
    infer_options o;
    infer_task t;
    infer_engine e;
} world;

#define WORLD_TYPES 7
extern const assay_elem world_types[WORLD_TYPES];

void world_make(world *w, assay_elem type, int acc_bits, int64_t m_lo, int64_t m_hi, int32_t s_lo,
                int32_t s_hi);
/* Fails the test at the first row on which they differ, without bounds or with some. */
void world_compare(const world *w, const infer_rule *a, const infer_rule *b);
/* The rule that does least. */
infer_rule world_plain(void);
int32_t world_some(test_rng *r, int64_t lo, int64_t hi);
/* One of an array. */
#define WORLD_SOME_OF(r, list)                                                                     \
    (list)[world_some(r, 0, (int64_t)(sizeof(list) / sizeof *(list)) - 1)]
void world_steps(test_rng *r, infer_rule *k, int64_t max);
/* Any fields, of a size that such domains reach. */
infer_rule world_rule(test_rng *r, int32_t multiplier_bits);

#endif
