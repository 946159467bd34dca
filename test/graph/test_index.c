/* Movement by computed indices (gather, blocks, select, arg, top-k, where) against naive twins that
 * look every output element up, over random shapes and every element size. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "test/support/op_case.h"

#define ROUNDS 60

typedef int64_t index_list[ASSAY_MAX_RANK];

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
        c.in[0] = op_any_tensor(&rng, 1, 3, 4);
        const assay_type *x = &c.in[0].type;
        int axis = (int)test_between(&rng, 0, x->rank - 1), picks = (int)test_between(&rng, 0, 2);
        c.attr.gather.axis = axis;
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
            op_assert_moved(&c.out[0], i, &c.in[0], op_ravel(x, from));
        }
        op_end(&c);

        op_case n = op_begin(ASSAY_OP_GATHER_ND, 2, 1);
        n.in[0] = op_noise(&rng, op_any_elem(&rng), 3, (int64_t[]){3, 3, 4});
        n.in[1] = any_indices(&rng, 2, (int64_t[]){5, 2}, 3);
        op_run(&n);
        op_assert_shape(&n.out[0], 2, (int64_t[]){5, 4});
        for (int64_t i = 0; i < 20; i++)
            op_assert_moved(&n.out[0], i, &n.in[0],
                            (index_value(&n.in[1], i / 4 * 2, 3) * 3 +
                             index_value(&n.in[1], i / 4 * 2 + 1, 3)) *
                                    4 +
                                i % 4);
        op_end(&n);
    }
}

/* y[b, i, c] = x[b, index[b, i], c], and with an axis between: y[b, d, i] = x[b, d, index[b, i]].
 */
static void gather_keeps_batches_apart(void **state)
{
    test_rng rng = test_seed(__func__, 20260712);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_GATHER, 2, 1);
        const int64_t x[3] = {3, test_between(&rng, 1, 4), test_between(&rng, 1, 5)};
        const int64_t list[2] = {3, test_between(&rng, 1, 6)};
        const int axis = 1 + round % 2;
        c.in[0] = op_noise(&rng, op_any_elem(&rng), 3, x);
        c.in[1] = any_indices(&rng, 2, list, x[axis]);
        c.attr.gather = (assay_attr_gather){.axis = axis, .batch_dims = 1};
        op_run(&c);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at, from;
            op_unravel(&c.out[0].type, i, at);
            memcpy(from, at, sizeof from);
            from[axis] = index_value(&c.in[1], at[0] * list[1] + at[axis], x[axis]);
            op_assert_moved(&c.out[0], i, &c.in[0], op_ravel(&c.in[0].type, from));
        }
        op_end(&c);
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
        c.in[0] = op_noise(&rng, op_any_elem(&rng), 4, nhwc ? nhwc_dim : nchw_dim);
        op_run(&c);
        for (int64_t i = 0; i < assay_shape_count(&c.out[0].type); i++) {
            index_list at;
            op_unravel(&c.out[0].type, i, at);
            int64_t *y = &at[nhwc ? 1 : 2], *x = &at[nhwc ? 2 : 3], *ch = &at[nhwc ? 3 : 1];
            *ch = deep_channel(a, *y % b, *x % b, *ch, n);
            *y /= b;
            *x /= b;
            op_assert_moved(&c.out[0], i, &c.in[0], op_ravel(&c.in[0].type, at));
        }
        op_case s = op_begin(ASSAY_OP_SPACE_TO_DEPTH, 1, 1);
        s.attr = c.attr;
        s.in[0] = c.out[0];
        op_run(&s);
        op_assert_shape(&s.out[0], 4, c.in[0].type.dim);
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
        assay_elem elem = op_any_elem(&rng);
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
        op_assert_shape(&c.out[0], 4, full);
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
            op_assert_moved(&c.out[0], i, &c.in[k], from[k]);
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
        op_assert_shape(&c.out[0], 2, (int64_t[]){dim[0], dim[2]});
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
            op_assert_moved(&c.out[0], j, &c.in[0], best);
        }
        op_end(&c);
    }
}

/* Every element that is not 0 has its row, in order; another count than that is an error. */
static void where_lists_what_is_set(void **state)
{
    test_rng rng = test_seed(__func__, 20260713);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_WHERE, 1, 1);
        const int64_t dim[3] = {test_between(&rng, 1, 4), test_between(&rng, 1, 4), 3};
        const int64_t n = dim[0] * dim[1] * 3;
        const bool real = round & 1;
        int64_t row = 0;
        assay_error err = {0};
        c.in[0] = op_zeros(real ? assay_f32() : assay_bool(), 3, dim);
        for (int64_t i = 0; i < n; i++) {
            const int64_t draw = test_between(&rng, 0, 3);
            if (real)
                ((float *)c.in[0].data)[i] = draw == 0   ? 0
                                             : draw == 1 ? -0.0F
                                             : draw == 2 ? NAN
                                                         : -3;
            else
                ((bool *)c.in[0].data)[i] = draw > 1;
            c.attr.where.count += draw > 1;
        }
        op_run(&c);
        for (int64_t i = 0; i < n; i++) {
            const float v = real ? ((float *)c.in[0].data)[i] : ((bool *)c.in[0].data)[i];
            const int64_t want[3] = {i / (3 * dim[1]), i / 3 % dim[1], i % 3};
            if (v == 0)
                continue;
            assert_memory_equal((int64_t *)c.out[0].data + 3 * row, want, sizeof want);
            row++;
        }
        assert_int_equal(row, c.attr.where.count);
        op_end(&c);

        op_case wrong = op_begin(ASSAY_OP_WHERE, 1, 1);
        wrong.in[0] = op_zeros(assay_bool(), 1, (int64_t[]){4});
        ((bool *)wrong.in[0].data)[2] = true;
        wrong.attr.where.count = 2 * (round & 1);
        assert_int_equal(op_try(&wrong, &err), ASSAY_ERR_INPUT);
        assert_non_null(strstr(err.text, "1 elements are set"));
        op_end(&wrong);
    }
}

/* The update, moved inside, over what was there. */
static void update_slice_replaces(void **state)
{
    test_rng rng = test_seed(__func__, 20260714);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_UPDATE_SLICE, 3, 1);
        const int64_t x[3] = {4, 1 + round % 5, 3}, rank = 3;
        int64_t u[3], begin[3];
        c.in[2] = op_zeros(assay_int(64, true), 1, &rank);
        for (int d = 0; d < 3; d++) {
            const int64_t given = test_between(&rng, -3, 6);
            u[d] = test_between(&rng, 1, x[d]);
            begin[d] = given < 0 ? 0 : given + u[d] > x[d] ? x[d] - u[d] : given;
            ((int64_t *)c.in[2].data)[d] = given;
        }
        c.in[0] = op_noise(&rng, op_any_elem(&rng), 3, x);
        c.in[1] = op_noise(&rng, c.in[0].type.elem, 3, u);
        op_run(&c);
        for (int64_t i = 0; i < x[0] * x[1] * x[2]; i++) {
            index_list at;
            bool inside = true;
            op_unravel(&c.out[0].type, i, at);
            for (int d = 0; d < 3; d++) {
                at[d] -= begin[d];
                inside = inside && at[d] >= 0 && at[d] < u[d];
            }
            if (inside)
                op_assert_moved(&c.out[0], i, &c.in[1], op_ravel(&c.in[1].type, at));
            else
                op_assert_moved(&c.out[0], i, &c.in[0], i);
        }
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gather_looks_up),
        cmocka_unit_test(gather_keeps_batches_apart),
        cmocka_unit_test(gather_refuses_far_indices),
        cmocka_unit_test(blocks_become_channels_and_back),
        cmocka_unit_test(select_broadcasts_three),
        cmocka_unit_test(arg_finds_first_or_last),
        cmocka_unit_test(topk_orders_with_ties_by_index),
        cmocka_unit_test(where_lists_what_is_set),
        cmocka_unit_test(update_slice_replaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
