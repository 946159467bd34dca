/* The reference kernels of windows and sums, pools and reductions, against loops written from their
 * definitions. */
#include <string.h>

#include "test/interp/ref_case.h"

/* ---- pooling: two spatial axes ---- */

/* A pool that was drawn: sizes, and what becomes of each window. */
typedef struct pool {
    bool nhwc, include;
    int64_t in[2], k[2], stride[2], dil[2], begin[2], end[2];
} pool;

static pool draw_pool(test_rng *r, bool global)
{
    pool p = {.nhwc = test_between(r, 0, 1), .in = {test_between(r, 5, 8), test_between(r, 5, 8)}};
    for (int i = 0; i < 2; i++) {
        p.k[i] = global ? p.in[i] : test_between(r, 1, 3);
        p.stride[i] = global ? 1 : test_between(r, 1, 3);
        p.dil[i] = global ? 1 : test_between(r, 1, 2);
        p.begin[i] = global ? 0 : test_between(r, 0, p.k[i] - 1);
        p.end[i] = global ? 0 : test_between(r, 0, p.k[i] - 1);
    }
    p.include = !global && test_between(r, 0, 1);
    return p;
}

static assay_attrs attrs_of_pool(test_rng *r, assay_op op, const pool *p)
{
    assay_attrs a;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    if (op == ASSAY_OP_GLOBAL_AVG_POOL) {
        a.layout.layout = p->nhwc;
        return a;
    }
    a.pool.layout = p->nhwc;
    a.pool.ceil_mode = test_between(r, 0, 1);
    a.pool.count_include_pad = p->include;
    a.pool.kernel = (assay_list){2, {p->k[0], p->k[1]}};
    a.pool.stride = (assay_list){2, {p->stride[0], p->stride[1]}};
    a.pool.dilation = (assay_list){2, {p->dil[0], p->dil[1]}};
    a.pool.pad_begin = (assay_list){2, {p->begin[0], p->begin[1]}};
    a.pool.pad_end = (assay_list){2, {p->end[0], p->end[1]}};
    return a;
}

typedef struct window {
    int64_t sum, count, best;
} window;

/* Adds what stands under cell q of the window at `at`. */
static void add_cell(fake_net *net, const pool *p, const assay_type *x, const int64_t at[6],
                     const int64_t q[2], window *w)
{
    bool inside = true, counted = true;
    int64_t from[4];
    memcpy(from, at, sizeof from);
    for (int d = 0; d < 2; d++) {
        const int axis = (p->nhwc ? 1 : 2) + d;
        from[axis] = at[axis] * p->stride[d] - p->begin[d] + q[d] * p->dil[d];
        inside = inside && from[axis] >= 0 && from[axis] < p->in[d];
        counted = counted && from[axis] < p->in[d] + p->end[d];
    }
    w->count += p->include ? counted : inside;
    if (inside) {
        const int64_t v = fake_in(net, 0, ravel(x, from));
        w->sum += v;
        w->best = v > w->best ? v : w->best;
    } else if (p->include && counted) {
        w->sum += x->q.zero_point[0];
    }
}

static void check_window(fake_net *net, assay_op op, const pool *p, const assay_type *x,
                         assay_elem y, int64_t i)
{
    int64_t at[6], q[2];
    window w = {0, 0, assay_elem_min(x->elem)};
    unravel(fake_out_type(net, 0), i, at);
    for (q[0] = 0; q[0] < p->k[0]; q[0]++)
        for (q[1] = 0; q[1] < p->k[1]; q[1]++)
            add_cell(net, p, x, at, q, &w);
    if (op == ASSAY_OP_MAX_POOL) {
        assert_int_equal(fake_out(net, 0, i), fake_saturate(y, 5 - w.best));
        return;
    }
    assert_int_equal(net->accumulators[i], w.sum);
    assert_int_equal(fake_out(net, 0, i),
                     w.count ? fake_saturate(y, fake_floor_div(8 * w.sum, w.count)) : 0);
}

static void check_pool(test_rng *r, assay_op op)
{
    fake_net net;
    const int64_t n = test_between(r, 1, 2), c = test_between(r, 1, 5);
    const pool p = draw_pool(r, op == ASSAY_OP_GLOBAL_AVG_POOL);
    const assay_attrs a = attrs_of_pool(r, op, &p);
    const int64_t dim[4] = {n, p.nhwc ? p.in[0] : c, p.nhwc ? p.in[1] : p.in[0],
                            p.nhwc ? c : p.in[1]};
    fake_begin(&net);
    assay_type x = code(8, 4, dim, r), y = code(8, 1, scalar, r);
    fake_input(&net, &x);
    fake_run(&net, op, &a, &y, r);
    for (int64_t i = 0; i < assay_shape_count(fake_out_type(&net, 0)); i++)
        check_window(&net, op, &p, &x, y.elem, i);
    fake_end(&net);
}

static void test_pool(void **state)
{
    static const assay_op ops[] = {ASSAY_OP_MAX_POOL, ASSAY_OP_AVG_POOL, ASSAY_OP_GLOBAL_AVG_POOL};
    test_rng r = test_seed("pool", 4);
    (void)state;
    for (int t = 0; t < 150; t++)
        check_pool(&r, ops[t % 3]);
}

/* ---- reductions ---- */

typedef struct reduction {
    int rank;
    bool reduced[6];
    int64_t dim[6], count; /* elements of each sum */
} reduction;

static reduction draw_reduction(test_rng *r, assay_list *axes)
{
    reduction d = {.rank = (int)test_between(r, 1, 5), .count = 1};
    for (int i = 0; i < d.rank; i++) {
        d.dim[i] = test_between(r, 1, d.rank == 1 ? 700 : 5);
        d.reduced[i] = test_between(r, 0, 1) || d.rank == 1;
        if (d.reduced[i])
            axes->v[axes->n++] = test_between(r, 0, 1) ? i : i - d.rank;
        d.count *= d.reduced[i] ? d.dim[i] : 1;
    }
    return d;
}

/* Whether an element of x belongs to the result's at `at`. */
static bool is_part(const reduction *d, const int64_t *at, const int64_t *of)
{
    bool part = true;
    for (int i = 0; i < d->rank; i++)
        part = part && (d->reduced[i] || of[i] == at[i]);
    return part;
}

static void check_reduced(fake_net *net, assay_op op, const reduction *d, const assay_type *x,
                          const int64_t *at, int64_t o)
{
    const assay_elem y = fake_out_type(net, 0)->elem;
    int64_t of[6], sum = 0, max = INT64_MIN, min = INT64_MAX;
    for (int64_t i = 0; i < assay_shape_count(x); i++) {
        unravel(x, i, of);
        if (!is_part(d, at, of))
            continue;
        const int64_t v = fake_in(net, 0, i);
        sum += v;
        max = v > max ? v : max;
        min = v < min ? v : min;
    }
    const int64_t expected = op == ASSAY_OP_REDUCE_MAX   ? 5 - max
                             : op == ASSAY_OP_REDUCE_MIN ? 5 - min
                                                         : fake_floor_div(8 * sum, d->count);
    assert_int_equal(fake_out(net, 0, o), fake_saturate(y, expected));
    if (op == ASSAY_OP_REDUCE_MEAN || op == ASSAY_OP_REDUCE_SUM)
        assert_int_equal(net->accumulators[o], sum);
}

static void check_reduction(test_rng *r, assay_op op)
{
    fake_net net;
    assay_attrs a;
    int64_t at[6];
    assay_attrs_defaults(ASSAY_ATTRS_reduce, &a);
    const reduction d = draw_reduction(r, &a.reduce.axes);
    if (a.reduce.axes.n == 0)
        return;
    fake_begin(&net);
    assay_type x = code(8, d.rank, d.dim, r), y = code(16, 1, scalar, r);
    fake_input(&net, &x);
    fake_run(&net, op, &a, &y, r);
    assay_type kept = x; /* the output's shape with the reduced axes as 1 */
    for (int i = 0; i < d.rank; i++)
        kept.dim[i] = d.reduced[i] ? 1 : d.dim[i];
    assert_int_equal(assay_shape_count(&kept), assay_shape_count(fake_out_type(&net, 0)));
    for (int64_t o = 0; o < assay_shape_count(&kept); o++) {
        unravel(&kept, o, at);
        check_reduced(&net, op, &d, &x, at, o);
    }
    fake_end(&net);
}

static void test_reduce(void **state)
{
    static const assay_op ops[] = {ASSAY_OP_REDUCE_MEAN, ASSAY_OP_REDUCE_SUM, ASSAY_OP_REDUCE_MAX,
                                   ASSAY_OP_REDUCE_MIN};
    enum { OPS = sizeof ops / sizeof *ops };
    test_rng r = test_seed("reduce", 5);
    (void)state;
    for (int t = 0; t < 160; t++)
        check_reduction(&r, ops[t % OPS]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pool), cmocka_unit_test(test_reduce)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
