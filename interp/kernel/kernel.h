/* The view of a kernel. Kernels index, schemes round: a kernel loads codes into int32 rows, asks
 * the unit for everything that rounds, and stores codes back.
 *
 * This header is included by files compiled without floating point. */
#ifndef ASSAY_INTERP_KERNEL_H
#define ASSAY_INTERP_KERNEL_H

#include "graph/core/graph.h"
#include "schemes/vtable.h"

typedef struct assay_view {
    void *data; /* NULL when the optional input is absent */
    const assay_type *type;
} assay_view;

/* DO(T), where T is the C type that holds codes of this element. */
#define KERNEL_BY_STORAGE(element, DO)                                                             \
    do {                                                                                           \
        const assay_elem e_ = (element);                                                           \
        const size_t size_ = assay_elem_size(e_);                                                  \
        if (size_ == 1 && e_.is_signed)                                                            \
            DO(int8_t);                                                                            \
        else if (size_ == 1)                                                                       \
            DO(uint8_t);                                                                           \
        else if (size_ == 2 && e_.is_signed)                                                       \
            DO(int16_t);                                                                           \
        else if (size_ == 2)                                                                       \
            DO(uint16_t);                                                                          \
        else if (size_ == 4 && e_.is_signed)                                                       \
            DO(int32_t);                                                                           \
        else if (size_ == 4)                                                                       \
            DO(uint32_t);                                                                          \
        else                                                                                       \
            DO(int64_t);                                                                           \
    } while (0)

#define ASSAY_KERNEL_IN 8 /* views kept inline; variadic ops (concat, split) get longer arrays */

typedef struct assay_call {
    const assay_graph *graph;
    const assay_node *node;
    const assay_view *in;  /* node->n_in views */
    const assay_view *out; /* node->n_out views */
    const assay_scheme_vtable *vt;
    const assay_unit *unit; /* NULL for pure data movement and float kernels */
    bool in_turn;           /* float products are added one by one, in the scheme's order */
    void *scratch;          /* at least what the kernel's scratch function asked for, 16-aligned */
    int64_t *accumulators;  /* when not NULL: receives the pre-rescale sums, out element order */
    bool trapped;           /* set when an accumulator declared to trap left its range ... */
    int64_t trapped_at;     /* ... first at this element of the output */
    bool refused;           /* set when the scheme refuses to rescale an accumulator ... */
    int64_t refused_at, refused_sum; /* ... first at this element: the accumulator */
    bool refused_row;                /* or, in a layer norm, what is rescaled on the way there */
    int refused_codes;               /* or what the element makes of one code or two: so many */
    int32_t refused_code[2];
    /* When not NULL: kernels of floats and those that choose an element tell the steps of element
     * teller->at of output 0 (schemes/apply/tell.h). */
    const struct assay_teller *teller;
} assay_call;

typedef assay_status (*assay_kernel_fn)(assay_call *call, assay_error *err);
/* Bytes of scratch for a node. */
typedef size_t (*assay_scratch_fn)(const assay_graph *g, const assay_node *n);

/* Row functions of the vtable that a kernel calls. */
enum assay_calls {
    ASSAY_CALLS_ACCUMULATE = 1 << 0, /* and requantize */
    ASSAY_CALLS_POOL = 1 << 1,       /* and apply_overflow */
    ASSAY_CALLS_BINARY = 1 << 2,
    ASSAY_CALLS_UNARY = 1 << 3,
    ASSAY_CALLS_ROW = 1 << 4,
    ASSAY_CALLS_INTERPOLATE = 1 << 5,
    ASSAY_CALLS_QUANTIZE = 1 << 6,
    ASSAY_CALLS_DEQUANTIZE = 1 << 7,
    ASSAY_CALLS_DOT = 1 << 8
};

typedef struct assay_kernel {
    assay_kernel_fn run;
    assay_scratch_fn scratch; /* NULL: none */
    bool needs_unit;          /* a unit is prepared by the scheme for this node */
    unsigned calls;           /* enum assay_calls; 0 without a unit */
} assay_kernel;

/* The kernel that computes a node of a graph under the reference engine: an integer kernel where
 * the node is quantized, else a float kernel; run == NULL when there is none
 * (interp/run/kernel.c).
 */
assay_kernel run_node_kernel(const assay_graph *g, const assay_node *n);

/* The same under a scheme (NULL: none): one that computes floats has a kernel in integers for each
 * node of floats that it knows. */
assay_kernel run_kernel_under(const assay_graph *g, const assay_node *n, bool computes_floats);

/* The kernel of a node of floats in integers: an op of matrix units, or one between them
 * (interp/ref/floats.c); or one with run == NULL. */
assay_kernel ref_float_kernel(assay_op op);

/* The integer reference kernel of an op (interp/ref/registry.c), or one with run == NULL. */
assay_kernel ref_kernel(assay_op op);
/* The float kernel of an op (interp/float/registry.c), or one with run == NULL. Float kernels also
 * serve bool, i32 and i64 (index arithmetic) where the op has a meaning for them. */
assay_kernel float_kernel(assay_op op);

/* Refuses an element kind that the float kernel of the node's op does not take (same file); OK for
 * ops that are moves or that it has no kernel for. */
assay_status float_check_float_node(const assay_graph *g, const assay_node *n, assay_error *err);

/* Whether the op has an integer kernel: for the quantizer (assay_quantize_options.has_kernel).
 */
bool run_has_integer_kernel(assay_op op);

/* ---- rows (interp/ref/rows.c): codes between storage and int32 ---- */
/* Loads n elements starting at element `first` with element stride `step` into row. */
void ref_load_row(const assay_view *v, int64_t first, int64_t step, size_t n, int32_t *row);
void ref_store_row(const assay_view *v, int64_t first, int64_t step, size_t n, const int32_t *row);

#endif
