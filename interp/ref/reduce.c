/* Reductions over attr.axes (none: all axes).
 *
 *   reduce_mean, reduce_sum   y = pool(sum of x, how many)
 *   reduce_max, reduce_min    y = f(max or min of x)            f: activation and rescale
 *   reduce_prod               y = product(x in memory order)    each factor rescaled by the unit
 *
 * Sums are of raw codes: the unit handles zero points. */
#include <assert.h>

#include "interp/ref/ref.h"
#include "interp/ref/walk.h"

/* Which axes are reduced. */
static void reduced_axes(const assay_attr_reduce *a, const assay_type *x,
                         bool reduced[ASSAY_MAX_RANK])
{
    for (int i = 0; i < ASSAY_MAX_RANK; i++)
        reduced[i] = a->axes.n == 0;
    for (int i = 0; i < a->axes.n; i++)
        reduced[a->axes.v[i] + (a->axes.v[i] < 0 ? x->rank : 0)] = true;
}

static int64_t sum_row(const assay_view *x, int64_t first, int64_t step, int64_t n)
{
    int32_t row[ASSAY_ROW];
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i += ASSAY_ROW) {
        size_t m = (size_t)(n - i < ASSAY_ROW ? n - i : ASSAY_ROW);
        ref_load_row(x, first + i * step, step, m, row);
        for (size_t j = 0; j < m; j++)
            sum += row[j];
    }
    return sum;
}

/* The greatest of `best` and a row, or the least. */
static int32_t extreme_of_row(const assay_view *x, int64_t first, int64_t step, int64_t n,
                              bool greatest, int32_t best)
{
    int32_t row[ASSAY_ROW];
    for (int64_t i = 0; i < n; i += ASSAY_ROW) {
        size_t m = (size_t)(n - i < ASSAY_ROW ? n - i : ASSAY_ROW);
        ref_load_row(x, first + i * step, step, m, row);
        for (size_t j = 0; j < m; j++)
            best = (row[j] > best) == greatest ? row[j] : best;
    }
    return best;
}

/* Walks the output through the axes that are kept, and for each of its elements the input through
 * those that are reduced. */
typedef struct reduction {
    assay_walk kept, reduced;
    int64_t count; /* elements reduced into one */
} reduction;

static reduction reduction_of(const assay_call *call)
{
    const assay_type *x = call->in[0].type;
    bool reduced[ASSAY_MAX_RANK], kept[ASSAY_MAX_RANK];
    reduction r = {.count = 1};
    reduced_axes(&call->node->attr.reduce, x, reduced);
    for (int i = 0; i < ASSAY_MAX_RANK; i++) {
        kept[i] = !reduced[i];
        r.count *= reduced[i] && i < x->rank ? x->dim[i] : 1;
    }
    assert(x->rank <= ASSAY_MAX_RANK);
    r.kept = ref_walk_axes(x, kept);
    r.reduced = ref_walk_axes(x, reduced);
    return r;
}

assay_status ref_reduce_sum(assay_call *call, assay_error *err)
{
    reduction r = reduction_of(call);
    int64_t sum[ASSAY_ROW], first = 0;
    int32_t count[ASSAY_ROW], y[ASSAY_ROW];
    size_t n = 0;
    (void)err;

    do {
        for (int64_t i = 0; i < r.kept.row; i++) {
            int64_t at = r.kept.at + i * r.kept.row_step;
            sum[n] = 0;
            count[n] = (int32_t)r.count;
            do
                sum[n] +=
                    sum_row(&call->in[0], at + r.reduced.at, r.reduced.row_step, r.reduced.row);
            while (ref_walk_next(&r.reduced));
            if (++n == ASSAY_ROW) {
                ref_finish_pool(call, first, 1, n, sum, count, y);
                first += ASSAY_ROW;
                n = 0;
            }
        }
    } while (ref_walk_next(&r.kept));
    ref_finish_pool(call, first, 1, n, sum, count, y);
    return ASSAY_OK;
}

assay_status ref_reduce_max(assay_call *call, assay_error *err)
{
    bool greatest = call->node->op == ASSAY_OP_REDUCE_MAX;
    assay_elem e = call->in[0].type->elem;
    reduction r = reduction_of(call);
    int64_t element = 0;
    (void)err;

    do {
        for (int64_t i = 0; i < r.kept.row; i++, element++) {
            int64_t at = r.kept.at + i * r.kept.row_step;
            int32_t y, best = (int32_t)(greatest ? assay_elem_min(e) : assay_elem_max(e));
            do
                best = extreme_of_row(&call->in[0], at + r.reduced.at, r.reduced.row_step,
                                      r.reduced.row, greatest, best);
            while (ref_walk_next(&r.reduced));
            ref_finish_unary(call, element, 1, 1, &best, &y);
        }
    } while (ref_walk_next(&r.kept));
    return ASSAY_OK;
}

static int64_t reduced_elements(const assay_node *n, const assay_type *x)
{
    bool reduced[ASSAY_MAX_RANK];
    int64_t count = 1;
    reduced_axes(&n->attr.reduce, x, reduced);
    for (int i = 0; i < x->rank; i++)
        count *= reduced[i] ? x->dim[i] : 1;
    return count;
}

size_t ref_product_scratch(const assay_graph *g, const assay_node *n)
{
    int64_t count = reduced_elements(n, &assay_node_in(g, n, 0)->type);
    size_t used = 0;
    ref_carve(NULL, &used, count, sizeof(int32_t));
    ref_carve(NULL, &used, count + 1, sizeof(int32_t)); /* a product of nothing is one code */
    return used;
}

/* The unit's row function leaves the product in the first place. */
assay_status ref_product(assay_call *call, assay_error *err)
{
    reduction r = reduction_of(call);
    size_t used = 0;
    int32_t *x = ref_carve(call->scratch, &used, r.count, sizeof *x);
    int32_t *y = ref_carve(call->scratch, &used, r.count + 1, sizeof *y);
    int64_t element = 0;
    (void)err;

    do {
        for (int64_t i = 0; i < r.kept.row; i++, element++) {
            int64_t at = r.kept.at + i * r.kept.row_step, n = 0;
            do {
                ref_load_row(&call->in[0], at + r.reduced.at, r.reduced.row_step,
                             (size_t)r.reduced.row, x + n);
                n += r.reduced.row;
            } while (ref_walk_next(&r.reduced));
            call->vt->row(call->unit, x, (size_t)n, y);
            ref_store_row(&call->out[0], element, 1, 1, y);
        }
    } while (ref_walk_next(&r.kept));
    return ASSAY_OK;
}
