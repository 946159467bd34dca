/* Sums of raw codes: as many as are added times the greatest magnitude of one. */
#include <stdlib.h>

#include "interp/kernel/window.h"
#include "interp/ref/ref.h"
#include "interp/run/bound.h"

/* Cells under a window at most; padding that counts holds a code, the zero point. */
static int64_t pool_cells(const assay_attr_pool *a, const assay_type *x, const assay_type *y)
{
    assay_window w;
    int64_t cells = 1;
    kernel_window_of_pool(&w, a, x, y);
    for (int i = 0; i < ASSAY_SPATIAL; i++)
        cells *= w.kernel[i] < w.in[i] || a->count_include_pad ? w.kernel[i] : w.in[i];
    return cells;
}

static int64_t reduced_elements(const assay_attr_reduce *a, const assay_type *x)
{
    int64_t count = 1;
    for (int i = 0; i < x->rank; i++) {
        bool reduced = a->axes.n == 0;
        for (int k = 0; k < a->axes.n; k++)
            reduced = reduced || a->axes.v[k] == i || a->axes.v[k] + x->rank == i;
        count *= reduced ? x->dim[i] : 1;
    }
    return count;
}

static int64_t codes_in_sum(const assay_graph *g, const assay_node *n)
{
    const assay_type *x = &assay_node_in(g, n, 0)->type, *y = &assay_node_out(g, n, 0)->type;
    assay_window w;
    switch (n->op) {
    case ASSAY_OP_AVG_POOL:
        return pool_cells(&n->attr.pool, x, y);
    case ASSAY_OP_GLOBAL_AVG_POOL:
        kernel_window_of_layout(&w, n->attr.layout.layout, x, y);
        return w.in_area;
    case ASSAY_OP_ADD_N:
        return n->n_in;
    case ASSAY_OP_CUMSUM:
        return ref_walk_axis(x, n->attr.cumsum.axis).extent;
    case ASSAY_OP_REDUCE_SUM:
    case ASSAY_OP_REDUCE_MEAN:
        return reduced_elements(&n->attr.reduce, x);
    default:
        abort(); /* sums no codes */
    }
}

int64_t run_bound_of_sums(const assay_graph *g, const assay_node *n)
{
    const assay_elem e = assay_node_in(g, n, 0)->type.elem;
    const int64_t least = -assay_elem_min(e), max = assay_elem_max(e);
    return run_bound_of(codes_in_sum(g, n), least > max ? least : max, 0);
}
