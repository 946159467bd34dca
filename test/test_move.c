/* Data movement against naive twins that look every output element up by its indices, over random
 * shapes and every element size. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "test/op_case.h"

#define ROUNDS 60

typedef int64_t index_list[ASSAY_MAX_RANK];

static assay_elem any_elem(test_rng *rng)
{
    const assay_elem elems[] = {assay_int(8, true),  assay_int(8, false), assay_int(4, true),
                                assay_int(16, true), assay_int(32, true), assay_f32(),
                                assay_int(64, true), assay_bool()};
    return elems[test_random(rng) % (sizeof elems / sizeof *elems)];
}

static op_tensor any_tensor(test_rng *rng, int min_rank, int max_rank, int64_t max_extent)
{
    int64_t dim[ASSAY_MAX_RANK];
    int rank = (int)test_between(rng, min_rank, max_rank);
    for (int d = 0; d < rank; d++)
        dim[d] = test_between(rng, 1, max_extent);
    return op_noise(rng, any_elem(rng), rank, dim);
}

/* Element i of `out` must be element j of `in`, byte for byte. */
static void assert_moved(const op_tensor *out, int64_t i, const op_tensor *in, int64_t j)
{
    size_t size = assay_elem_size(in->type.elem);
    assert_true(j >= 0 && j < assay_shape_count(&in->type));
    assert_memory_equal((char *)out->data + (size_t)i * size, (char *)in->data + (size_t)j * size,
                        size);
}

static void assert_shape(const op_tensor *t, int rank, const int64_t *dim)
{
    assert_int_equal(t->type.rank, rank);
    for (int d = 0; d < rank; d++)
        assert_int_equal(t->type.dim[d], dim[d]);
}

static void transpose_swaps_axes(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_TRANSPOSE, 1, 1);
        c.in[0] = any_tensor(&rng, 1, 6, 5);
        int rank = c.in[0].type.rank;
        assay_list *perm = &c.attr.perm.perm;
        for (perm->n = 0; perm->n < rank; perm->n++)
            perm->v[perm->n] = perm->n;
        for (int d = rank - 1; d > 0; d--) {
            int64_t swap = perm->v[d], e = test_between(&rng, 0, d);
            perm->v[d] = perm->v[e];
            perm->v[e] = swap;
        }
        op_run(&c);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at, from;
            op_unravel(&c.out[0].type, i, at);
            for (int d = 0; d < rank; d++)
                from[perm->v[d]] = at[d];
            assert_moved(&c.out[0], i, &c.in[0], op_ravel(&c.in[0].type, from));
        }
        op_end(&c);
    }
}

static void expand_and_tile_repeat(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool tile = round % 2;
        op_case c = op_begin(tile ? ASSAY_OP_TILE : ASSAY_OP_EXPAND, 1, 1);
        c.in[0] = any_tensor(&rng, 1, 4, 3);
        const assay_type *x = &c.in[0].type;
        int lead = tile ? 0 : (int)test_between(&rng, 0, 2);
        assay_list *l = tile ? &c.attr.tile.repeats : &c.attr.shape.shape;
        for (l->n = 0; l->n < x->rank + lead; l->n++) {
            int64_t own = l->n < lead ? 1 : x->dim[l->n - lead];
            l->v[l->n] = tile || own == 1 ? test_between(&rng, 1, 3) : own;
        }
        op_run(&c);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at, from;
            op_unravel(&c.out[0].type, i, at);
            for (int d = 0; d < x->rank; d++)
                from[d] = at[d + lead] % x->dim[d];
            assert_moved(&c.out[0], i, &c.in[0], op_ravel(x, from));
        }
        op_end(&c);
    }
}

static void slice_and_reverse_step(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_SLICE, 1, 1);
        c.in[0] = any_tensor(&rng, 1, 5, 6);
        const assay_type *x = &c.in[0].type;
        assay_attr_slice *a = &c.attr.slice;
        a->begin.n = a->step.n = a->size.n = x->rank;
        for (int d = 0; d < x->rank; d++) {
            a->begin.v[d] = test_between(&rng, 0, x->dim[d] - 1);
            a->step.v[d] = test_between(&rng, 1, 3) * (test_random(&rng) % 2 ? 1 : -1);
            int64_t room = a->step.v[d] > 0 ? (x->dim[d] - 1 - a->begin.v[d]) / a->step.v[d]
                                            : a->begin.v[d] / -a->step.v[d];
            a->size.v[d] = test_between(&rng, 1, room + 1);
        }
        op_run(&c);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at;
            op_unravel(&c.out[0].type, i, at);
            for (int d = 0; d < x->rank; d++)
                at[d] = a->begin.v[d] + at[d] * a->step.v[d];
            assert_moved(&c.out[0], i, &c.in[0], op_ravel(x, at));
        }
        op_end(&c);

        op_case r = op_begin(ASSAY_OP_REVERSE, 1, 1);
        r.in[0] = any_tensor(&rng, 2, 4, 4);
        r.attr.axes.axes = (assay_list){2, {0, r.in[0].type.rank - 1}};
        op_run(&r);
        for (int64_t i = 0; i < assay_shape_count(&r.out[0].type); i++) {
            index_list at;
            int last = r.in[0].type.rank - 1;
            op_unravel(&r.out[0].type, i, at);
            at[0] = r.in[0].type.dim[0] - 1 - at[0];
            at[last] = r.in[0].type.dim[last] - 1 - at[last];
            assert_moved(&r.out[0], i, &r.in[0], op_ravel(&r.in[0].type, at));
        }
        op_end(&r);
    }
}

/* Walks from inside the axis one step at a time, turning or jumping at the ends. */
static int64_t walk_source(int64_t i, int64_t n, int mode)
{
    int64_t at = 0, direction = i < 0 ? -1 : 1;
    if (mode == ASSAY_PAD_CONSTANT)
        return i < 0 || i >= n ? -1 : i;
    for (int64_t steps = i < 0 ? -i : i; steps > 0; steps--) {
        int64_t next = at + direction;
        if (next >= 0 && next < n) {
            at = next;
        } else if (mode == ASSAY_PAD_WRAP) {
            at = next < 0 ? n - 1 : 0;
        } else if (mode != ASSAY_PAD_EDGE) {
            direction = -direction;
            if (mode == ASSAY_PAD_REFLECT)
                at = n == 1 ? 0 : at + direction;
        }
    }
    return at;
}

static void assert_padded(const op_case *c)
{
    const assay_type *x = &c->in[0].type;
    for (int64_t i = 0; i < assay_shape_count(&c->out[0].type); i++) {
        index_list at;
        bool outside = false;
        op_unravel(&c->out[0].type, i, at);
        for (int d = 0; d < x->rank; d++) {
            at[d] = walk_source(at[d] - c->attr.pad.begin.v[d], x->dim[d], c->attr.pad.mode);
            outside = outside || at[d] < 0;
        }
        if (outside)
            assert_true(((float *)c->out[0].data)[i] == c->attr.pad.value);
        else
            assert_moved(&c->out[0], i, &c->in[0], op_ravel(x, at));
    }
}

static void pad_in_every_mode(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < 3 * ROUNDS; round++) {
        int64_t dim[4];
        op_case c = op_begin(ASSAY_OP_PAD, 1, 1);
        int rank = (int)test_between(&rng, 1, 4);
        for (int d = 0; d < rank; d++)
            dim[d] = test_between(&rng, 1, 4);
        c.in[0] = op_noise(&rng, assay_f32(), rank, dim);
        c.attr.pad.mode = round % 5;
        c.attr.pad.value = 7.5F;
        c.attr.pad.begin.n = c.attr.pad.end.n = rank;
        for (int d = 0; d < rank; d++) {
            bool none = test_random(&rng) % 3 == 0;
            int64_t most = c.attr.pad.mode == ASSAY_PAD_REFLECT ? dim[d] - 1 : dim[d];
            c.attr.pad.begin.v[d] = none ? 0 : test_between(&rng, 0, most);
            c.attr.pad.end.v[d] = none ? 0 : test_between(&rng, 0, most);
        }
        op_run(&c);
        assert_padded(&c);
        op_end(&c);
    }
}

/* Fill values of integers and codes. */
static void pad_fills_codes(void **state)
{
    const float scale[] = {0.5F};
    const int32_t zero[] = {-3};
    const struct {
        float value;
        bool quantized;
        int fill;
    } cases[] = {{0, true, -3}, {-INFINITY, true, -128}, {-FLT_MAX, true, -128},
                 {0, false, 0}, {-5, false, -5},         {100, false, 100}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = op_begin(ASSAY_OP_PAD, 1, 1);
        c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){1});
        ((int8_t *)c.in[0].data)[0] = 42;
        if (cases[k].quantized)
            c.in[0].type.q = (assay_qparams){
                .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = scale, .zero_point = zero};
        c.attr.pad = (assay_attr_pad){.begin = {1, {1}}, .end = {1, {1}}, .value = cases[k].value};
        op_run(&c);
        assert_int_equal(((int8_t *)c.out[0].data)[0], cases[k].fill);
        assert_int_equal(((int8_t *)c.out[0].data)[1], 42);
        assert_int_equal(((int8_t *)c.out[0].data)[2], cases[k].fill);
        op_end(&c);
    }
    op_case c = op_begin(ASSAY_OP_PAD, 1, 1);
    assay_error err;
    c.in[0] = op_zeros(assay_int(8, true), 1, (int64_t[]){1});
    c.attr.pad = (assay_attr_pad){.begin = {1, {1}}, .end = {1, {1}}, .value = 0.5F};
    assert_int_equal(op_try(&c, &err), ASSAY_ERR_UNSUPPORTED);
    op_end(&c);
}

static void concat_undoes_split(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_SPLIT, 1, 3);
        c.in[0] = any_tensor(&rng, 1, 4, 7);
        const assay_type *x = &c.in[0].type;
        int axis = (int)test_between(&rng, 0, x->rank - 1);
        int64_t a = test_between(&rng, 0, x->dim[axis]), b = test_between(&rng, a, x->dim[axis]);
        c.attr.split.axis = axis;
        c.attr.split.sizes = (assay_list){3, {a, b - a, x->dim[axis] - b}};
        op_run(&c);
        int64_t start = 0;
        for (int k = 0; k < 3; k++) {
            const op_tensor *part = &c.out[k];
            assert_int_equal(part->type.dim[axis], c.attr.split.sizes.v[k]);
            for (int64_t i = 0; i < assay_shape_count(&part->type); i++) {
                index_list at;
                op_unravel(&part->type, i, at);
                at[axis] += start;
                assert_moved(part, i, &c.in[0], op_ravel(x, at));
            }
            start += part->type.dim[axis];
        }
        op_case j = op_begin(ASSAY_OP_CONCAT, 3, 1);
        j.attr.axis.axis = axis - x->rank;
        memcpy(j.in, c.out, sizeof c.out);
        op_run(&j);
        assert_shape(&j.out[0], x->rank, x->dim);
        assert_memory_equal(j.out[0].data, c.in[0].data,
                            (size_t)assay_shape_count(x) * assay_elem_size(x->elem));
        c.n_out = 0; /* now j's */
        op_end(&j);
        op_end(&c);
    }
}

static op_tensor any_indices(test_rng *rng, int rank, const int64_t *dim, int64_t n)
{
    op_tensor t = op_zeros(assay_int(test_random(rng) % 2 ? 32 : 64, true), rank, dim);
    for (int64_t i = 0; i < assay_shape_count(&t.type); i++) {
        int64_t v = test_between(rng, -n, n - 1);
        if (t.type.elem.bits == 32)
            ((int32_t *)t.data)[i] = (int32_t)v;
        else
            ((int64_t *)t.data)[i] = v;
    }
    return t;
}

static int64_t index_value(const op_tensor *t, int64_t i, int64_t n)
{
    int64_t v = t->type.elem.bits == 32 ? ((int32_t *)t->data)[i] : ((int64_t *)t->data)[i];
    return v < 0 ? v + n : v;
}

static void gather_looks_up(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_GATHER, 2, 1);
        int64_t dim[2] = {test_between(&rng, 1, 3), test_between(&rng, 1, 3)};
        c.in[0] = any_tensor(&rng, 1, 3, 4);
        const assay_type *x = &c.in[0].type;
        int axis = (int)test_between(&rng, 0, x->rank - 1), picks = (int)test_between(&rng, 0, 2);
        c.attr.axis.axis = axis;
        c.in[1] = any_indices(&rng, picks, dim, x->dim[axis]);
        op_run(&c);
        assert_int_equal(c.out[0].type.rank, x->rank - 1 + picks);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at, from;
            op_unravel(&c.out[0].type, i, at);
            for (int d = 0; d < x->rank; d++)
                if (d != axis)
                    from[d] = at[d < axis ? d : d - 1 + picks];
            from[axis] = index_value(&c.in[1], op_ravel(&c.in[1].type, at + axis), x->dim[axis]);
            assert_moved(&c.out[0], i, &c.in[0], op_ravel(x, from));
        }
        op_end(&c);

        op_case n = op_begin(ASSAY_OP_GATHER_ND, 2, 1);
        n.in[0] = op_noise(&rng, any_elem(&rng), 3, (int64_t[]){3, 3, 4});
        n.in[1] = any_indices(&rng, 2, (int64_t[]){5, 2}, 3);
        op_run(&n);
        assert_shape(&n.out[0], 2, (int64_t[]){5, 4});
        for (int64_t i = 0; i < 20; i++)
            assert_moved(&n.out[0], i, &n.in[0],
                         (index_value(&n.in[1], i / 4 * 2, 3) * 3 +
                          index_value(&n.in[1], i / 4 * 2 + 1, 3)) *
                                 4 +
                             i % 4);
        op_end(&n);
    }
}

static void gather_refuses_far_indices(void **state)
{
    const int32_t bad[] = {4, -5};
    (void)state;
    for (int k = 0; k < 2; k++) {
        op_case c = op_begin(ASSAY_OP_GATHER, 2, 1);
        assay_error err = {0};
        c.in[0] = op_zeros(assay_f32(), 1, (int64_t[]){4});
        c.in[1] = op_zeros(assay_int(32, true), 1, (int64_t[]){1});
        ((int32_t *)c.in[1].data)[0] = bad[k];
        assert_int_equal(op_try(&c, &err), ASSAY_ERR_INPUT);
        assert_non_null(strstr(err.text, k ? "-5" : "4"));
        op_end(&c);
    }
}

/* The larger tensor's channel for cell (v, h) and small channel c. */
static int64_t deep_channel(const assay_attr_block *a, int64_t v, int64_t h, int64_t c, int64_t n)
{
    return a->order == ASSAY_D2S_DCR ? (v * a->block + h) * n + c
                                     : (c * a->block + v) * a->block + h;
}

static void blocks_become_channels_and_back(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_DEPTH_TO_SPACE, 1, 1);
        assay_attr_block *a = &c.attr.block;
        bool nhwc = round & 1;
        int64_t b = test_between(&rng, 1, 3), n = test_between(&rng, 1, 3);
        int64_t rows = test_between(&rng, 1, 4), columns = test_between(&rng, 1, 4);
        a->layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
        a->order = round & 2 ? ASSAY_D2S_CRD : ASSAY_D2S_DCR;
        a->block = b;
        int64_t nchw_dim[] = {2, b * b * n, rows, columns},
                nhwc_dim[] = {2, rows, columns, b * b * n};
        c.in[0] = op_noise(&rng, any_elem(&rng), 4, nhwc ? nhwc_dim : nchw_dim);
        op_run(&c);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at;
            op_unravel(&c.out[0].type, i, at);
            int64_t *y = &at[nhwc ? 1 : 2], *x = &at[nhwc ? 2 : 3], *ch = &at[nhwc ? 3 : 1];
            *ch = deep_channel(a, *y % b, *x % b, *ch, n);
            *y /= b;
            *x /= b;
            assert_moved(&c.out[0], i, &c.in[0], op_ravel(&c.in[0].type, at));
        }
        op_case s = op_begin(ASSAY_OP_SPACE_TO_DEPTH, 1, 1);
        s.attr = c.attr;
        s.in[0] = c.out[0];
        op_run(&s);
        assert_shape(&s.out[0], 4, c.in[0].type.dim);
        assert_memory_equal(s.out[0].data, c.in[0].data,
                            (size_t)assay_shape_count(&c.in[0].type) *
                                assay_elem_size(c.in[0].type.elem));
        c.n_out = 0; /* now s's */
        op_end(&s);
        op_end(&c);
    }
}

static void select_broadcasts_three(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_SELECT, 3, 1);
        int64_t full[4];
        assay_elem elem = any_elem(&rng);
        for (int d = 0; d < 4; d++)
            full[d] = test_between(&rng, 1, 4);
        for (int k = 0; k < 3; k++) {
            int64_t dim[4];
            int lead = k == 1 ? 0 : (int)test_between(&rng, 0, 3);
            for (int d = lead; d < 4; d++)
                dim[d - lead] = k != 1 && test_random(&rng) % 3 == 0 ? 1 : full[d];
            c.in[k] = op_noise(&rng, k ? elem : assay_bool(), 4 - lead, dim);
        }
        op_run(&c);
        assert_shape(&c.out[0], 4, full);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at, own;
            int64_t from[3];
            op_unravel(&c.out[0].type, i, at);
            for (int k = 0; k < 3; k++) {
                const assay_type *t = &c.in[k].type;
                for (int d = 0; d < t->rank; d++)
                    own[d] = at[d + 4 - t->rank] % t->dim[d];
                from[k] = op_ravel(t, own);
            }
            int k = ((uint8_t *)c.in[0].data)[from[0]] ? 1 : 2;
            assert_moved(&c.out[0], i, &c.in[k], from[k]);
        }
        op_end(&c);
    }
}

/* Values that repeat, so that ties are met. */
static double few_values(const op_tensor *t, int64_t i)
{
    return t->type.elem.kind == ASSAY_KIND_F32 ? (double)((float *)t->data)[i]
                                               : (double)((int8_t *)t->data)[i];
}

static op_tensor tied_tensor(test_rng *rng, int rank, const int64_t *dim)
{
    op_tensor t = op_zeros(test_random(rng) % 2 ? assay_f32() : assay_int(8, true), rank, dim);
    for (int64_t i = 0; i < assay_shape_count(&t.type); i++) {
        int64_t v = test_between(rng, -2, 2);
        if (t.type.elem.kind == ASSAY_KIND_F32)
            ((float *)t.data)[i] = (float)v * 0.5F;
        else
            ((int8_t *)t.data)[i] = (int8_t)v;
    }
    return t;
}

static void arg_finds_first_or_last(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        bool max = round & 1, last = round & 2;
        op_case c = op_begin(max ? ASSAY_OP_ARG_MAX : ASSAY_OP_ARG_MIN, 1, 1);
        int64_t dim[] = {test_between(&rng, 1, 3), test_between(&rng, 1, 9),
                         test_between(&rng, 1, 3)};
        c.in[0] = tied_tensor(&rng, 3, dim);
        c.attr.arg = (assay_attr_arg){.axis = 1, .select_last = last, .index_bits = 32};
        op_run(&c);
        assert_shape(&c.out[0], 2, (int64_t[]){dim[0], dim[2]});
        for (int64_t o = 0; o < dim[0] * dim[2]; o++) {
            int64_t best = 0;
            for (int64_t j = 1; j < dim[1]; j++) {
                double v = few_values(&c.in[0], (o / dim[2] * dim[1] + j) * dim[2] + o % dim[2]);
                double b = few_values(&c.in[0], (o / dim[2] * dim[1] + best) * dim[2] + o % dim[2]);
                if ((max ? v > b : v < b) || (last && v == b))
                    best = j;
            }
            assert_int_equal(((int32_t *)c.out[0].data)[o], best);
        }
        op_end(&c);
    }
}

static void topk_orders_with_ties_by_index(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_TOPK, 1, 2);
        int64_t n = test_between(&rng, 1, 12), k = test_between(&rng, 1, n);
        bool largest = round & 1, taken[12] = {false};
        c.in[0] = tied_tensor(&rng, 1, &n);
        c.attr.topk = (assay_attr_topk){.k = k, .axis = 0, .largest = largest, .index_bits = 64};
        op_run(&c);
        for (int64_t j = 0; j < k; j++) {
            int64_t best = -1;
            for (int64_t i = 0; i < n; i++) {
                double v = few_values(&c.in[0], i);
                if (taken[i])
                    continue;
                if (best < 0 ||
                    (largest ? v > few_values(&c.in[0], best) : v < few_values(&c.in[0], best)))
                    best = i;
            }
            taken[best] = true;
            assert_int_equal(((int64_t *)c.out[1].data)[j], best);
            assert_moved(&c.out[0], j, &c.in[0], best);
        }
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_swaps_axes),
        cmocka_unit_test(expand_and_tile_repeat),
        cmocka_unit_test(slice_and_reverse_step),
        cmocka_unit_test(pad_in_every_mode),
        cmocka_unit_test(pad_fills_codes),
        cmocka_unit_test(concat_undoes_split),
        cmocka_unit_test(gather_looks_up),
        cmocka_unit_test(gather_refuses_far_indices),
        cmocka_unit_test(blocks_become_channels_and_back),
        cmocka_unit_test(select_broadcasts_three),
        cmocka_unit_test(arg_finds_first_or_last),
        cmocka_unit_test(topk_orders_with_ties_by_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
