/* The reference kernels without weights against loops written from their definitions. */
#include <math.h>
#include <string.h>

#include "test/interp/ref_case.h"

/* ---- element-wise ---- */

static void test_binary(void **state)
{
    test_rng r = test_seed("binary", 1);
    (void)state;
    for (int t = 0; t < 120; t++) {
        fake_net net;
        int rank = (int)test_between(&r, 0, 5), rb = (int)test_between(&r, 0, rank);
        int64_t da[6], db[6], at[6];
        for (int i = 0; i < rank; i++) {
            int64_t extent = test_between(&r, 1, i == rank - 1 && t % 10 == 0 ? 600 : 4);
            da[i] = i < rank - rb || test_between(&r, 0, 3) ? extent : 1;
            if (i >= rank - rb)
                db[i - rank + rb] = test_between(&r, 0, 2) ? extent : 1;
        }
        bool compare = t % 3 == 0;
        fake_begin(&net);
        assay_type a = code(8, rank, da, &r), b = code(16, rb, db, &r), y = code(8, 1, scalar, &r);
        if (compare)
            y = (assay_type){.elem = assay_bool()};
        fake_input(&net, &a);
        fake_input(&net, &b);
        fake_run(&net, compare ? ASSAY_OP_LESS : ASSAY_OP_SUB, NULL, &y, &r);
        const assay_type *yt = fake_out_type(&net, 0);
        for (int64_t i = 0; i < assay_shape_count(yt); i++) {
            int64_t ia = 0, ib = 0;
            unravel(yt, i, at);
            for (int d = 0; d < rank; d++)
                ia = ia * a.dim[d] + (a.dim[d] == 1 ? 0 : at[d]);
            for (int d = 0; d < rb; d++)
                ib = ib * b.dim[d] + (b.dim[d] == 1 ? 0 : at[d + rank - rb]);
            int64_t va = fake_in(&net, 0, ia), vb = fake_in(&net, 1, ib);
            assert_int_equal(fake_out(&net, 0, i),
                             compare ? va < vb : fake_saturate(y.elem, 3 * va - 2 * vb));
        }
        assert_null(net.accumulators);
        fake_end(&net);
    }
}

static void test_unary(void **state)
{
    static const unsigned bits[] = {4, 1, 8, 12, 32, 16};
    test_rng r = test_seed("unary", 2);
    (void)state;
    for (int t = 0; t < (int)(sizeof bits / sizeof *bits); t++) {
        fake_net net;
        int64_t dim[2] = {3, 300};
        fake_begin(&net);
        assay_type x = fake_type(assay_int(bits[t], t % 2 == 0), 2, dim, -1, &r, true);
        assay_type y = code(16, 1, scalar, &r);
        fake_input(&net, &x);
        fake_run(&net, ASSAY_OP_SIGMOID, NULL, &y, &r);
        for (int64_t i = 0; i < 900; i++)
            assert_int_equal(fake_out(&net, 0, i), fake_saturate(y.elem, 5 - fake_in(&net, 0, i)));
        fake_end(&net);
    }
}

static void test_row(void **state)
{
    static const assay_op ops[] = {ASSAY_OP_SOFTMAX, ASSAY_OP_L2_NORM, ASSAY_OP_LAYER_NORM};
    test_rng r = test_seed("row", 3);
    (void)state;
    for (int t = 0; t < 60; t++) {
        fake_net net;
        assay_attrs a;
        assay_op op = ops[t % 3];
        int64_t dim[3] = {test_between(&r, 1, 4), test_between(&r, 1, 4), test_between(&r, 1, 4)};
        int64_t axis = test_between(&r, -3, 2), at[6];
        assay_attrs_defaults(assay_op_get(op)->attrs, &a);
        if (op == ASSAY_OP_SOFTMAX)
            a.softmax.axis = axis;
        else
            a.norm.axis = axis;
        axis += axis < 0 ? 3 : 0;
        fake_begin(&net);
        assay_type x = code(8, 3, dim, &r), y = code(8, 1, scalar, &r);
        fake_input(&net, &x);
        fake_run(&net, op, &a, &y, &r);
        for (int64_t i = 0; i < assay_shape_count(&x); i++) {
            int64_t from = i, place;
            if (op == ASSAY_OP_LAYER_NORM) {
                int64_t n = 1;
                for (int64_t d = axis; d < 3; d++)
                    n *= dim[d];
                place = i % n;
                from = i - place + n - 1 - place;
            } else {
                unravel(&x, i, at);
                place = at[axis];
                at[axis] = dim[axis] - 1 - at[axis];
                from = ravel(&x, at);
            }
            assert_int_equal(fake_out(&net, 0, i),
                             fake_saturate(y.elem, fake_in(&net, 0, from) + place));
        }
        fake_end(&net);
    }
}

/* ---- resize ---- */

static assay_attrs resize_attrs(int mode, int coordinate, int nearest, bool nhwc, int64_t n,
                                int64_t c, int64_t h, int64_t w)
{
    assay_attrs a;
    assay_attrs_defaults(ASSAY_ATTRS_resize, &a);
    a.resize.mode = mode;
    a.resize.coordinate = coordinate;
    a.resize.nearest = nearest;
    a.resize.layout = nhwc;
    a.resize.size = nhwc ? (assay_list){4, {n, h, w, c}} : (assay_list){4, {n, c, h, w}};
    return a;
}

/* Both layouts, all roundings, against double precision; sizes are such that no coordinate lies so
 * near a tie or an integer that binary32 could decide otherwise than the real number, other than
 * exactly on it. */
static void test_resize_nearest(void **state)
{
    static const int64_t sizes[][2] = {{4, 8}, {8, 4}, {3, 6}, {2, 5}, {7, 7}, {8, 6}, {1, 4}};
    test_rng r = test_seed("resize nearest", 6);
    (void)state;
    for (int t = 0; t < 7 * 16; t++) {
        fake_net net;
        int64_t in = sizes[t % 7][0], out = sizes[t % 7][1], at[6];
        int mode = t / 7 % 4;
        bool half = t / 28 % 2, nhwc = t / 56 % 2;
        int64_t dim[4] = {2, nhwc ? in : 3, nhwc ? 5 : in, nhwc ? 3 : 5};
        assay_attrs a = resize_attrs(ASSAY_RESIZE_NEAREST,
                                     half ? ASSAY_COORD_HALF_PIXEL : ASSAY_COORD_ASYMMETRIC, mode,
                                     nhwc, 2, 3, out, 5);
        fake_begin(&net);
        assay_type x = code(8, 4, dim, &r), y = code(8, 1, scalar, &r);
        fake_input(&net, &x);
        fake_run(&net, ASSAY_OP_RESIZE, &a, &y, &r);
        const assay_type *yt = fake_out_type(&net, 0);
        for (int64_t i = 0; i < assay_shape_count(yt); i++) {
            unravel(yt, i, at);
            int d = nhwc ? 1 : 2;
            double ratio = (double)in / (double)out, o = (double)at[d];
            double p = half ? (o + 0.5) * ratio - 0.5 : o * ratio;
            p = mode == ASSAY_NEAREST_FLOOR               ? floor(p)
                : mode == ASSAY_NEAREST_CEIL              ? ceil(p)
                : mode == ASSAY_NEAREST_ROUND_PREFER_CEIL ? floor(p + 0.5)
                                                          : ceil(p - 0.5);
            at[d] = p < 0 ? 0 : p > (double)in - 1 ? in - 1 : (int64_t)p;
            assert_int_equal(fake_out(&net, 0, i),
                             fake_saturate(y.elem, 5 - fake_in(&net, 0, ravel(&x, at))));
        }
        fake_end(&net);
    }
}

/* 2x2 {-100, 20, 60, 127} to 3x3 as TFLite's integer kernel gives it (schemes/SOURCES.md)
 * before its rounding: the fake scheme takes the floor of the same 20-bit sums. */
static void test_resize_linear(void **state)
{
    static const int8_t corner[4] = {-100, 20, 60, 127};
    test_rng r = test_seed("resize linear", 7);
    (void)state;
    for (int nhwc = 0; nhwc < 2; nhwc++) {
        fake_net net;
        assay_error err;
        int64_t dim[4] = {1, nhwc ? 2 : 1, 2, nhwc ? 1 : 2};
        assay_attrs a =
            resize_attrs(ASSAY_RESIZE_LINEAR, ASSAY_COORD_ASYMMETRIC, 0, nhwc, 1, 1, 3, 3);
        int64_t step = (2 * 1024 + 1) / 3;
        fake_begin(&net);
        assay_type x = code(8, 4, dim, &r), y = code(8, 1, scalar, &r);
        fake_input(&net, &x);
        fake_run(&net, ASSAY_OP_RESIZE, &a, &y, &r);
        memcpy(assay_run_data(net.run, net.in[0]), corner, 4);
        assert_ok(run_execute(net.run, NULL, false, NULL, &err), &err);
        for (int64_t i = 0; i < 9; i++) {
            int64_t vy = i / 3 * step, vx = i % 3 * step;
            vy = vy > 1024 ? 1024 : vy;
            vx = vx > 1024 ? 1024 : vx;
            int64_t sum = corner[0] * (1024 - vy) * (1024 - vx) + corner[1] * (1024 - vy) * vx +
                          corner[2] * vy * (1024 - vx) + corner[3] * vy * vx;
            assert_int_equal(fake_out(&net, 0, i), fake_floor_div(sum, 1 << 20));
        }
        fake_end(&net);
    }
}

/* ---- conversion: per tensor and along each axis ---- */

static void test_convert(void **state)
{
    test_rng r = test_seed("convert", 8);
    (void)state;
    for (int axis = -1; axis < 3; axis++)
        for (int back = 0; back < 2; back++) {
            fake_net net;
            int64_t dim[3] = {5, 7, 60}, at[6];
            fake_begin(&net);
            assay_type q = fake_type(assay_int(16, true), 3, dim, axis, &r, true);
            assay_type f = {.elem = assay_f32(), .rank = 3, .dim = {5, 7, 60}};
            fake_input(&net, back ? &q : &f);
            fake_run_as(&net, back ? ASSAY_OP_DEQUANTIZE : ASSAY_OP_QUANTIZE, back ? &f : &q, &r);
            for (int64_t i = 0; i < assay_shape_count(&q); i++) {
                unravel(&q, i, at);
                int64_t channel = axis < 0 ? i : at[axis], in = fake_in(&net, 0, i);
                assert_int_equal(fake_out(&net, 0, i),
                                 back ? (int64_t)(((uint32_t)in << 20) + (uint32_t)channel)
                                      : fake_saturate(q.elem, (in >> 20) + channel));
            }
            fake_end(&net);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_binary),        cmocka_unit_test(test_unary),
        cmocka_unit_test(test_row),           cmocka_unit_test(test_resize_nearest),
        cmocka_unit_test(test_resize_linear), cmocka_unit_test(test_convert),
    };
    return cmocka_run_group_tests_name("ref", tests, NULL, NULL);
}
