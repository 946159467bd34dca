/* Data movement against naive twins that look every output element up by its indices, over random
 * shapes and every element size. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "test/support/op_case.h"

#define ROUNDS 60

typedef int64_t index_list[ASSAY_MAX_RANK];

static void transpose_swaps_axes(void **state)
{
    test_rng rng = test_seed(__func__, 20260711);
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        op_case c = op_begin(ASSAY_OP_TRANSPOSE, 1, 1);
        c.in[0] = op_any_tensor(&rng, 1, 6, 5);
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
            op_assert_moved(&c.out[0], i, &c.in[0], op_ravel(&c.in[0].type, from));
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
        c.in[0] = op_any_tensor(&rng, 1, 4, 3);
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
            op_assert_moved(&c.out[0], i, &c.in[0], op_ravel(x, from));
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
        c.in[0] = op_any_tensor(&rng, 1, 5, 6);
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
            op_assert_moved(&c.out[0], i, &c.in[0], op_ravel(x, at));
        }
        op_end(&c);

        op_case r = op_begin(ASSAY_OP_REVERSE, 1, 1);
        r.in[0] = op_any_tensor(&rng, 2, 4, 4);
        r.attr.axes.axes = (assay_list){2, {0, r.in[0].type.rank - 1}};
        op_run(&r);
        for (int64_t i = 0; i < assay_shape_count(&r.out[0].type); i++) {
            index_list at;
            int last = r.in[0].type.rank - 1;
            op_unravel(&r.out[0].type, i, at);
            at[0] = r.in[0].type.dim[0] - 1 - at[0];
            at[last] = r.in[0].type.dim[last] - 1 - at[last];
            op_assert_moved(&r.out[0], i, &r.in[0], op_ravel(&r.in[0].type, at));
        }
        op_end(&r);
    }
}

/* Walks from inside the axis one step at a time, transposition or jumping at the ends. */
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
            op_assert_moved(&c->out[0], i, &c->in[0], op_ravel(x, at));
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
            int64_t max = c.attr.pad.mode == ASSAY_PAD_REFLECT ? dim[d] - 1 : dim[d];
            c.attr.pad.begin.v[d] = none ? 0 : test_between(&rng, 0, max);
            c.attr.pad.end.v[d] = none ? 0 : test_between(&rng, 0, max);
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
        c.in[0] = op_any_tensor(&rng, 1, 4, 7);
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
                op_assert_moved(part, i, &c.in[0], op_ravel(x, at));
            }
            start += part->type.dim[axis];
        }
        op_case j = op_begin(ASSAY_OP_CONCAT, 3, 1);
        j.attr.axis.axis = axis - x->rank;
        memcpy(j.in, c.out, sizeof c.out);
        op_run(&j);
        op_assert_shape(&j.out[0], x->rank, x->dim);
        assert_memory_equal(j.out[0].data, c.in[0].data,
                            (size_t)assay_shape_count(x) * assay_elem_size(x->elem));
        c.n_out = 0; /* now j's */
        op_end(&j);
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transpose_swaps_axes),   cmocka_unit_test(expand_and_tile_repeat),
        cmocka_unit_test(slice_and_reverse_step), cmocka_unit_test(pad_in_every_mode),
        cmocka_unit_test(pad_fills_codes),        cmocka_unit_test(concat_undoes_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
