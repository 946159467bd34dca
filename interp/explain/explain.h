/* One output element of a node, worked through: every product or partial sum, the accumulator, each
 * step of the rescale. The operands are what the node's own kernel hands to the scheme (watch.h),
 * and every number is given by the scheme's row functions and traces. */
#ifndef ASSAY_INTERP_EXPLAIN_EXPLAIN_H
#define ASSAY_INTERP_EXPLAIN_EXPLAIN_H

#include <jansson.h>

#include "interp/explain/watch.h"

#define EXPLAIN_PRODUCTS 32 /* shown one by one up to this number, beyond it in as many groups */

/* Element `element` of output 0. in[i] as for assay_replay_node. What *t holds is to be freed by
 * explain_trace_free, whatever is returned. The last step, "element", is the value. */
assay_status explain_element(const assay_program *p, int node, const void *const *in,
                             int64_t element, explain_trace *t, assay_error *err);

/* sums.c: the products of an accumulator, and the sum of them at each step of the scheme's order.
 */
void explain_sums(explain_trace *t, const assay_program *p, int node, int64_t element,
                  const explain_seen *s);

/* Two ways side by side: pairs of steps by name; -1: the other side has none. Returns how many, at
 * most a->n + b->n; *parts is the first pair that is not equal, or -1. */
typedef struct explain_pair {
    int a, b;
} explain_pair;
int explain_align(const explain_trace *a, const explain_trace *b, explain_pair *pair, int *parts);

/* {"steps": [{"name", "text"}], "value", "note"}; a new reference. */
json_t *explain_json(const explain_trace *t);
/* An element's place, "[0,3,5,7]". */
const char *explain_place(const assay_type *t, int64_t element, char *text, size_t size);
#endif
