/* Data movement: kernels whose output elements are input elements. They copy bytes of any element
 * size, so one kernel serves floats, codes, indices and booleans, and no arithmetic is done.
 *
 * Shared by the float and the integer engines; compiled without floating point. */
#ifndef ASSAY_INTERP_MOVE_MOVE_H
#define ASSAY_INTERP_MOVE_MOVE_H

#include "interp/kernel/kernel.h"

/* The kernel of an op that moves data or picks (select, arg_max, arg_min, topk, where), or one
 * with run == NULL. None needs a unit. Quantized values keep their parameters. */
assay_kernel move_kernel(assay_op op);

/* Refuses what the kernel of a node that moves data could not do, whatever the data: a padding by a
 * value that the output's type does not state, the greatest of no elements. ASSAY_ERR_INPUT,
 * ASSAY_ERR_UNSUPPORTED. */
assay_status move_check_node(const assay_graph *g, const assay_node *n, assay_error *err);

/* ---- what the kernels are made of ---- */

#define ASSAY_STRIDED_RANK (2 * ASSAY_MAX_RANK)

/* A walk over a source: output element (i0, i1, ...) in C order is source element
 * offset + i0*step[0] + i1*step[1] + ...; steps count elements and may be zero or negative. */
typedef struct assay_strided {
    int rank;
    int64_t offset;
    int64_t dim[ASSAY_STRIDED_RANK];
    int64_t step[ASSAY_STRIDED_RANK];
} assay_strided;

/* Copies every output element of the walk; `size` is the element's bytes (1, 2, 4 or 8). */
void move_copy_strided(void *dst, const void *src, size_t size, const assay_strided *walk);

/* step[d]: elements between neighbours along axis d of a C-order array of the type's shape. */
void move_c_steps(const assay_type *t, int64_t step[ASSAY_MAX_RANK]);

/* Product of the dimensions first <= d < last. */
int64_t move_extent(const assay_type *t, int first, int last);

/* Element i of a view of integers or bool, widened; u64 does not occur. */
int64_t move_load_index(const assay_view *v, int64_t i);

/* Element i as an integer that orders as the element does: integers themselves, floats by their
 * bits (sign and magnitude made two's complement; -0 equals 0, NaN lies beyond the infinities). */
int64_t move_order_key(const assay_view *v, int64_t i);

/* Places (gather.c): row i of input 1, whose last axis runs over the first axes of x, as the
 * element of x where its slice begins, of `run` elements. Negative indices count from the end; one
 * outside is an error. */
assay_status move_place(const assay_call *call, const assay_type *x, int64_t i, int64_t run,
                        int64_t *at, assay_error *err);

/* move_check_node of a pad. */
assay_status move_check_pad(const assay_graph *g, const assay_node *n, assay_error *err);
assay_status move_reshape(assay_call *call, assay_error *err);
assay_status move_assign(assay_call *call, assay_error *err);
assay_status move_patches(assay_call *call, assay_error *err);
assay_status move_expand(assay_call *call, assay_error *err);
assay_status move_transpose(assay_call *call, assay_error *err);
assay_status move_concat(assay_call *call, assay_error *err);
assay_status move_split(assay_call *call, assay_error *err);
assay_status move_slice(assay_call *call, assay_error *err);
assay_status move_pad(assay_call *call, assay_error *err);
assay_status move_tile(assay_call *call, assay_error *err);
assay_status move_reverse(assay_call *call, assay_error *err);
assay_status move_gather(assay_call *call, assay_error *err);
assay_status move_gather_nd(assay_call *call, assay_error *err);
assay_status move_depth_to_space(assay_call *call, assay_error *err);
assay_status move_space_to_depth(assay_call *call, assay_error *err);
assay_status move_select(assay_call *call, assay_error *err);
assay_status move_arg(assay_call *call, assay_error *err);
assay_status move_update_slice(assay_call *call, assay_error *err);
assay_status move_scatter_nd(assay_call *call, assay_error *err);
assay_status move_where(assay_call *call, assay_error *err);
assay_status move_topk(assay_call *call, assay_error *err);
size_t move_topk_scratch(const assay_graph *g, const assay_node *n);

#endif
