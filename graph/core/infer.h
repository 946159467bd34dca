/* The view of a shape rule. One function per rule (op.def's seventh column): assay_shape_RULE, in
 * infer_*.c. To add a rule, name it in op.def and write the function. */
#ifndef ASSAY_GRAPH_INFER_H
#define ASSAY_GRAPH_INFER_H

#include "graph/core/graph.h"

/* When a rule is called, the arity has been checked, required inputs are present, attributes are in
 * range and completed; out[0] has the element kind of input 0 and rank 0. The rule sets ranks and
 * dimensions, and the element kind where it differs; its result is size-checked by the caller. */
typedef struct assay_inference {
    const assay_graph *g;
    const assay_node *n;
    const assay_type *x; /* type of input 0 */
    assay_type *out;     /* n->n_out types */
    assay_error *err;
} assay_inference;

/* Type of input i, or NULL when absent. */
const assay_type *assay_infer_in(const assay_inference *c, int i);

/* Fails with "node 'NAME' (OP): ...". */
assay_status assay_infer_fail(const assay_inference *c, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* ---- checks that rules share ---- */
/* 0 <= axis < rank of x (negative axes were completed). */
assay_status assay_infer_axis(const assay_inference *c, int64_t axis);
/* Distinct axes of x. */
assay_status assay_infer_axes(const assay_inference *c, const assay_list *axes);
/* A list of n entries, each in lo..hi. */
assay_status assay_infer_list(const assay_inference *c, const char *name, const assay_list *l,
                              int n, int64_t lo, int64_t hi);
/* Inputs first..last have one element kind: float, integer or bool. Absent inputs are skipped. */
assay_status assay_infer_alike(const assay_inference *c, int first, int last);
/* Input i, when present, is a vector of n elements. */
assay_status assay_infer_vector(const assay_inference *c, int i, const char *what, int64_t n);
/* Numpy broadcasting of two shapes into out (rank and dimensions only; out may be a or b). */
assay_status assay_infer_broadcast(const assay_inference *c, const assay_type *a,
                                   const assay_type *b, assay_type *out);
/* assay_shape_check, naming the node; the caller of the rule does this for its results. */
assay_status assay_infer_size(const assay_inference *c, const assay_type *t);
/* Copies rank and dimensions. */
void assay_infer_shape(assay_type *out, const assay_type *from);

typedef assay_status (*assay_shape_fn)(const assay_inference *c);
#define OP(ID, name, attr, min_in, max_in, n_out, shape, traits)                                   \
    assay_status assay_shape_##shape(const assay_inference *c);
#include "graph/core/op.def"

#endif
