/* arg_max, arg_min: the index of the greatest (least) element along attr.axis, the first of equals
 * or, with select_last, the last.
 * topk: the k greatest (least) elements along attr.axis in order, equals by index, and their
 * indices. Only the order of elements matters, so codes serve as well as the reals they stand for.
 */
#include <string.h>

#include "interp/move/move.h"
#include "schemes/apply/tell.h"

static void store_index(const assay_view *v, int64_t i, int64_t index)
{
    if (assay_elem_size(v->type->elem) == 8)
        ((int64_t *)v->data)[i] = index;
    else
        ((int32_t *)v->data)[i] = (int32_t)index;
}

/* Which element was taken, of how many equal ones. */
static void tell(const assay_call *call, int64_t first, int64_t step, int64_t n, int64_t best)
{
    const assay_view *x = &call->in[0];
    const int64_t top = move_order_key(x, first + best * step);
    int64_t equal = 0;
    for (int64_t j = 0; j < n; j++)
        equal += move_order_key(x, first + j * step) == top;
    const char *which = call->node->op == ASSAY_OP_ARG_MAX ? "the greatest" : "the least";
    if (x->type->elem.kind == ASSAY_KIND_F32)
        apply_tell_f32(call->teller, which, ((const uint32_t *)x->data)[first + best * step]);
    else
        apply_tell(call->teller, which, top);
    apply_tell(call->teller, "of so many elements", n);
    apply_tell(call->teller, "equal to it", equal);
    apply_tell(call->teller,
               equal < 2                          ? "its place along the axis"
               : call->node->attr.arg.select_last ? "place of the last of these"
                                                  : "place of the first of these",
               best);
}

assay_status move_arg(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *y = &call->out[0];
    const assay_attr_arg *a = &call->node->attr.arg;
    int axis = (int)a->axis;
    int64_t outer = move_extent(x->type, 0, axis), n = x->type->dim[axis];
    int64_t inner = move_extent(x->type, axis + 1, x->type->rank);
    bool greatest = call->node->op == ASSAY_OP_ARG_MAX;

    (void)err;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            int64_t best = 0, top = 0;
            for (int64_t j = 0; j < n; j++) {
                int64_t key = move_order_key(x, (o * n + j) * inner + i);
                bool before = greatest ? key > top : key < top;
                if (j == 0 || before || (a->select_last && key == top)) {
                    top = key;
                    best = j;
                }
            }
            store_index(y, o * inner + i, best);
            if (apply_tell_at(call->teller, (size_t)(o * inner + i)))
                tell(call, o * n * inner + i, inner, n, best);
        }
    return ASSAY_OK;
}

typedef struct ranked {
    int64_t key, index;
} ranked;

/* Whether a comes after b in the result. */
static bool after(ranked a, ranked b)
{
    return a.key != b.key ? a.key < b.key : a.index > b.index;
}

/* heap[0..n) with the one that comes last at the top, true but for its root: puts that right. */
static void sift_down(ranked *heap, int64_t n)
{
    for (int64_t at = 0;;) {
        int64_t child = 2 * at + 1;
        if (child >= n)
            return;
        if (child + 1 < n && after(heap[child + 1], heap[child]))
            child++;
        if (!after(heap[child], heap[at]))
            return;
        ranked swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
        at = child;
    }
}

static void sift_up(ranked *heap, int64_t at)
{
    while (at > 0 && after(heap[at], heap[(at - 1) / 2])) {
        ranked swap = heap[at];
        heap[at] = heap[(at - 1) / 2];
        heap[(at - 1) / 2] = swap;
        at = (at - 1) / 2;
    }
}

/* The k foremost of n keys at element `first`, `step` apart, into heap[0..k), foremost first. */
static void foremost(const assay_view *x, int64_t first, int64_t step, int64_t n, int64_t sign,
                     ranked *heap, int64_t k)
{
    int64_t held = 0;
    for (int64_t j = 0; j < n; j++) {
        int64_t key = move_order_key(x, first + j * step);
        ranked r = {sign > 0 ? key : ~key, j}; /* ~ turns the order around, and never overflows */
        if (held < k) {
            heap[held] = r;
            sift_up(heap, held++);
        } else if (k > 0 && after(heap[0], r)) {
            heap[0] = r;
            sift_down(heap, k);
        }
    }
    for (int64_t left = held - 1; left > 0; left--) { /* heap sort: the last to the end */
        ranked swap = heap[0];
        heap[0] = heap[left];
        heap[left] = swap;
        sift_down(heap, left);
    }
}

size_t move_topk_scratch(const assay_graph *g, const assay_node *n)
{
    (void)g;
    return (size_t)n->attr.topk.k * sizeof(ranked);
}

assay_status move_topk(assay_call *call, assay_error *err)
{
    const assay_view *x = &call->in[0], *values = &call->out[0], *indices = &call->out[1];
    const assay_attr_topk *a = &call->node->attr.topk;
    int axis = (int)a->axis;
    int64_t outer = move_extent(x->type, 0, axis), n = x->type->dim[axis];
    int64_t inner = move_extent(x->type, axis + 1, x->type->rank), k = a->k;
    size_t size = assay_elem_size(x->type->elem);
    ranked *heap = call->scratch;

    (void)err;
    for (int64_t o = 0; o < outer; o++)
        for (int64_t i = 0; i < inner; i++) {
            foremost(x, o * n * inner + i, inner, n, a->largest ? 1 : -1, heap, k);
            for (int64_t j = 0; j < k; j++) {
                int64_t to = (o * k + j) * inner + i, from = (o * n + heap[j].index) * inner + i;
                if (values->data)
                    memcpy((char *)values->data + (size_t)to * size,
                           (const char *)x->data + (size_t)from * size, size);
                if (indices->data)
                    store_index(indices, to, heap[j].index);
            }
        }
    return ASSAY_OK;
}
