/* The float engine: binary32 kernels for profiling, for folding constants and for comparison.
 *
 * A kernel takes what its row in registry.c admits and may count on the verifier: shapes are what
 * the op's shape rule says. The fused activation is applied in one place, after a kernel
 * (registry.c), so that no kernel looks at act_lo and act_hi; but for convolutions, which apply it
 * to what is still in the cache (finish.h). */
#ifndef ASSAY_INTERP_FLOAT_FLOAT_H
#define ASSAY_INTERP_FLOAT_FLOAT_H

#include "interp/kernel/kernel.h"
#include "schemes/apply/tell_real.h"

/* ---- numbers (number.c): integers and bool of any width, widened to int64; storing wraps ---- */
void float_load_integers(const assay_view *v, int64_t first, int64_t step, size_t n, int64_t *row);
void float_store_integers(const assay_view *v, int64_t first, size_t n, const int64_t *row);

static inline bool float_holds_f32(const assay_view *v)
{
    return v->type->elem.kind == ASSAY_KIND_F32;
}

/* Rows of an operand that lie in the windows of staged planes (stage.h): row c * taps + t begins at
 * element c * plane + at[t]. at NULL: rows lie as assay_gemm says. */
typedef struct float_windows {
    const int64_t *at;
    int64_t taps, plane;
} float_windows;

/* ---- gemm.c ----
 * C[m,n] = A[m,k] * B[k,n], or that added to C; row-major; a_t, b_t: the operand is stored
 * transposed. lda, ldb, ldc: elements between stored rows. Added in ONNX Runtime's order, or
 * in_turn, where the scheme says so: one product after the other, then what was in C. What ONNX
 * Runtime's order depends on beside the extents:
 *   packed  B is a constant of the network, which ONNX Runtime lays out beforehand
 *   a_transposed, b_transposed  the operand is stored here the other way than ONNX Runtime has it
 *   block   0, or the depth of blocks where the product is a part of a greater one
 * b_window: of B; FLOAT_STAGE_STEP elements beyond the last are readable, m > 1.
 * One thread: callers run images side by side. */
typedef struct assay_gemm {
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    int64_t lda, ldb, ldc, block;
    float_windows b_window;
    bool a_t, b_t, add, in_turn, packed, a_transposed, b_transposed;
} assay_gemm;
void float_gemm_run(const assay_gemm *g);
/* The depth of blocks of a whole product: only extents, a_t, a_transposed and packed are read. */
int64_t float_gemm_block(const assay_gemm *g);

/* ---- reduce_sum.c: sums or means of floats over the node's axes ---- */
void float_sums(const assay_call *call, bool mean);

/* ---- rows.c: what is computed along one axis, as interp/ref/row.c walks it ---- */
/* One row of n elements, `step` apart. */
typedef struct float_axis_row {
    const assay_node *node;
    const float *x;
    float *y;
    int64_t n, step;
    const assay_teller *teller; /* of element teller->at of the row; NULL: nobody asks */
} float_axis_row;
typedef void (*float_row_fn)(const float_axis_row *row);
void float_rows(const assay_call *call, float_row_fn compute);

/* ---- steps told (schemes/apply/tell_real.h) ---- */
enum { FLOAT_TOLD = 32 }; /* terms of a sum that are told one by one */
/* The teller of an element, counted over the whole output, or NULL. */
static inline const assay_teller *float_teller(const assay_call *call, int64_t element)
{
    return apply_tell_at(call->teller, (size_t)element);
}

struct assay_axis_walk;
/* The teller of a row, which holds every w->inner-th element from `first` on, in *room; NULL: it is
 * asked for another row, or for none. */
const assay_teller *float_row_teller(const assay_call *call, const struct assay_axis_walk *w,
                                     int64_t first, assay_teller *room);

/* ---- kernels; each file opens with its formula ---- */
assay_status float_conv(assay_call *call, assay_error *err);
size_t float_conv_scratch(const assay_graph *g, const assay_node *n);
assay_status float_conv_transpose(assay_call *call, assay_error *err);
size_t float_conv_transpose_scratch(const assay_graph *g, const assay_node *n);
assay_status float_fc(assay_call *call, assay_error *err);
assay_status float_matmul(assay_call *call, assay_error *err);
assay_status float_batch_norm(assay_call *call, assay_error *err);
assay_status float_binary(assay_call *call, assay_error *err);
assay_status float_compare(assay_call *call, assay_error *err);
assay_status float_logical_not(assay_call *call, assay_error *err);
assay_status float_unary_op(assay_call *call, assay_error *err);
assay_status float_softmax(assay_call *call, assay_error *err);
assay_status float_l2_norm(assay_call *call, assay_error *err);
assay_status float_layer_norm(assay_call *call, assay_error *err);
assay_status float_lrn(assay_call *call, assay_error *err);
assay_status float_max_pool(assay_call *call, assay_error *err);
assay_status float_avg_pool(assay_call *call, assay_error *err);
assay_status float_global_avg_pool(assay_call *call, assay_error *err);
assay_status float_reduce(assay_call *call, assay_error *err);
size_t float_reduce_scratch(const assay_graph *g, const assay_node *n);
assay_status float_add_n(assay_call *call, assay_error *err);
assay_status float_scatter_reduce(assay_call *call, assay_error *err);
assay_status float_cumsum(assay_call *call, assay_error *err);
assay_status float_resize(assay_call *call, assay_error *err);
size_t float_resize_scratch(const assay_graph *g, const assay_node *n);
assay_status float_grid_sample(assay_call *call, assay_error *err);
assay_status float_roi_align(assay_call *call, assay_error *err);
assay_status float_nms(assay_call *call, assay_error *err);
assay_status float_soft_nms(assay_call *call, assay_error *err);
assay_status float_detection(assay_call *call, assay_error *err);
assay_status float_dynamic_params(assay_call *call, assay_error *err);
assay_status float_cast(assay_call *call, assay_error *err);

#endif
