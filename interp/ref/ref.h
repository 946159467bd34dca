/* The integer reference kernels and what they share.
 *
 * A kernel is two functions: assay_ref_NAME computes a node's outputs from its inputs, and
 * assay_ref_NAME_scratch says how many bytes of scratch that takes. Kernels allocate nothing, hold
 * no state and contain no floating point; whatever rounds is the unit's. */
#ifndef ASSAY_INTERP_REF_REF_H
#define ASSAY_INTERP_REF_REF_H

#include <assert.h>

#include "graph/core/blocks.h"
#include "interp/kernel/kernel.h"

#define ASSAY_ROW 256 /* elements that an element-wise kernel carries at a time, on the stack */

assay_status ref_conv(assay_call *call, assay_error *err); /* conv_transpose too */
assay_status ref_fc(assay_call *call, assay_error *err);
assay_status ref_matmul(assay_call *call, assay_error *err);
assay_status ref_binary(assay_call *call, assay_error *err);
assay_status ref_unary(assay_call *call, assay_error *err);
assay_status ref_lookup(assay_call *call, assay_error *err);
assay_status ref_row(assay_call *call, assay_error *err);
assay_status ref_max_pool(assay_call *call, assay_error *err);
assay_status ref_avg_pool(assay_call *call, assay_error *err);   /* global_avg_pool too */
assay_status ref_reduce_sum(assay_call *call, assay_error *err); /* mean too */
assay_status ref_add_n(assay_call *call, assay_error *err);
assay_status ref_cumsum(assay_call *call, assay_error *err);
assay_status ref_reduce_max(assay_call *call, assay_error *err); /* min too */
assay_status ref_product(assay_call *call, assay_error *err);    /* reduce_prod */
assay_status ref_resize(assay_call *call, assay_error *err);
assay_status ref_quantize(assay_call *call, assay_error *err);
assay_status ref_dequantize(assay_call *call, assay_error *err);

/* Nodes of floats under a scheme that computes them in integers. */
assay_status ref_blocks(assay_call *call, assay_error *err); /* block_scale, float_encode ... */
assay_status ref_scaled_matmul(assay_call *call, assay_error *err);
assay_status ref_float_reduce(assay_call *call, assay_error *err); /* global_avg_pool too */
assay_status ref_float_pool(assay_call *call, assay_error *err);

size_t ref_blocks_scratch(const assay_graph *g, const assay_node *n);
size_t ref_scaled_matmul_scratch(const assay_graph *g, const assay_node *n);
size_t ref_float_reduce_scratch(const assay_graph *g, const assay_node *n);
size_t ref_float_pool_scratch(const assay_graph *g, const assay_node *n);
size_t ref_conv_scratch(const assay_graph *g, const assay_node *n);
size_t ref_fc_scratch(const assay_graph *g, const assay_node *n);
size_t ref_matmul_scratch(const assay_graph *g, const assay_node *n);
size_t ref_row_scratch(const assay_graph *g, const assay_node *n);
size_t ref_pool_scratch(const assay_graph *g, const assay_node *n);
size_t ref_product_scratch(const assay_graph *g, const assay_node *n);
size_t ref_resize_scratch(const assay_graph *g, const assay_node *n);
/* Whether the kernel computes the node: nearest, or linear over 1 or 2 spatial axes. */
bool ref_resize_has_form(const assay_graph *g, const assay_node *n);

/* ---- zero points ---- */

/* The zero point of index i along the parameters' axis; 0 when the type has no parameters. (Of
 * weights with parameters per block: products.c.) */
static inline int32_t ref_zero_point(const assay_type *t, int64_t i)
{
    if (t->q.granularity == ASSAY_Q_NONE)
        return 0;
    assert(t->q.granularity != ASSAY_Q_AXIS || (size_t)i < t->q.count);
    return t->q.zero_point[t->q.granularity == ASSAY_Q_AXIS ? i : 0];
}

/* Loads n codes and subtracts the zero point of index `channel`: the operands of a product. */
static inline void ref_load_centred(const assay_view *v, int64_t first, int64_t step, size_t n,
                                    int64_t channel, int32_t *row)
{
    int32_t z = ref_zero_point(v->type, channel);
    ref_load_row(v, first, step, n, row);
    if (z)
        for (size_t i = 0; i < n; i++)
            row[i] -= z;
}

/* A bias, a signed integer of any width; 0 where the input is absent. */
static inline int64_t ref_load_bias(const assay_view *v, int64_t i)
{
    int32_t narrow;
    if (!v || !v->data)
        return 0;
    if (v->type->elem.bits > 32)
        return ((const int64_t *)v->data)[i];
    ref_load_row(v, i, 1, 1, &narrow);
    return narrow;
}

/* ---- scratch: a kernel's scratch function and its run function carve the same pieces ---- */

/* The next piece of `memory`, 16-aligned; NULL memory only counts. */
static inline void *ref_carve(char *memory, size_t *used, int64_t count, size_t size)
{
    assert(count >= 0 && *used % 16 == 0);
    void *piece = memory ? memory + *used : NULL;
    *used += ((size_t)count * size + 15) / 16 * 16;
    return piece;
}

/* ---- products of small floats ---- */

/* One operand of scaled_matmul: room for a row of it and for the scales along that row. */
typedef struct ref_operand {
    const assay_view *codes, *scales;
    const assay_list *block;
    int32_t *row, *scale;
    int64_t depth, runs; /* elements of a row, and of its scales */
} ref_operand;
ref_operand ref_operand_of(const assay_view *codes, const assay_view *scales,
                           const assay_list *block, int32_t *row, int32_t *scale);
/* Loads row `row` of the operand in batch `batch` of the output's type y, and its scales. */
void ref_load_operand(const ref_operand *o, const assay_type *y, int64_t batch, int64_t row);
/* One element of input i, or `absent`. */
int32_t ref_operand_element(const assay_call *call, int i, int64_t at, int32_t absent);
#define ASSAY_REF_ONE INT32_C(0x3f800000) /* 1, an f32 */

/* ---- sums ---- */

/* The weights of a node and how its products are summed (products.c). */
typedef struct assay_products {
    const assay_view *weights;
    assay_blocks blocks;
    int32_t zx;
    int64_t *sums; /* blocks.count, when the weights have a scale per block */
} assay_products;
/* Carves what sums need from scratch memory (NULL: only counts it). */
assay_products ref_products_of(const assay_node *n, const assay_type *x, const assay_view *w,
                               char *memory, size_t *used);
/* n weights of a filter from element `first` on, `step` apart, in memory's order of the filter,
 * minus their zero points; `at`: which weight of the filter the first is. */
void ref_load_filter(const assay_products *p, int64_t first, int64_t step, size_t n,
                     int64_t channel, int64_t at, int32_t *row);
/* The accumulator of one filter over what it sees, both centred and n long; a trap is noted for
 * `element` of the output. */
int64_t ref_sum_products(assay_call *call, const assay_products *p, const int32_t *x,
                         const int32_t *filter, size_t n, int64_t channel, int64_t bias,
                         int64_t element);

/* Records the element at which an accumulator declared to trap first left its range. */
static inline void ref_note_trap(assay_call *call, bool trapped, int64_t element)
{
    if (trapped && !call->trapped) {
        call->trapped = true;
        call->trapped_at = element;
    }
}

/* The end of a weighted op: n accumulators of channels from `channel` on become codes at elements
 * first, first + step, ... of output 0; they are kept if that was asked for. y has room for n. */
void ref_finish_sums(assay_call *call, int64_t first, int64_t step, size_t n, size_t channel,
                     const int64_t *acc, int32_t *y);

/* The end of an averaging op: n sums over count[i] cells as the accumulator holds them, then as
 * above (sum is overwritten). */
void ref_finish_pool(assay_call *call, int64_t first, int64_t step, size_t n, int64_t *sum,
                     const int32_t *count, int32_t *y);

/* ---- codes ---- */

/* The end of a function of one code, or of two: n of them become codes at elements first,
 * first + step, ... of output 0. y has room for n, and may be x. */
void ref_finish_unary(assay_call *call, int64_t first, int64_t step, size_t n, const int32_t *x,
                      int32_t *y);
void ref_finish_binary(assay_call *call, int64_t first, size_t n, const int32_t *a,
                       const int32_t *b, int32_t *y);

/* ---- walking ---- */

/* Elements before, along and after an axis (negative counts from the end): element (o, a, i) of a
 * C-order tensor stands at (o * extent + a) * inner + i. */
typedef struct assay_axis_walk {
    int64_t outer, extent, inner;
} assay_axis_walk;
assay_axis_walk ref_walk_axis(const assay_type *t, int64_t axis);
/* The rows of softmax, l2_norm, layer_norm, lrn over x (row.c). */
assay_axis_walk ref_row_walk(const assay_node *n, const assay_type *x);

#endif
