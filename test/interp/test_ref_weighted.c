/* conv, conv_transpose, fc, matmul against sums written from their definitions. */
#include "test/support/support.h"

#include "test/support/fake.h"

static assay_elem any_code(test_rng *r)
{
    static const struct {
        unsigned bits;
        bool is_signed;
    } kinds[] = {{8, true}, {8, false}, {4, true}, {16, true}, {5, false}};
    int k = (int)test_between(r, 0, 4);
    return assay_int(kinds[k].bits, kinds[k].is_signed);
}

/* ---- convolution ---- */

typedef struct conv_case {
    int spatial;
    bool nhwc;
    int64_t n, c, o, group; /* all channels */
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3], begin[3], end[3];
} conv_case;

static conv_case draw_conv(test_rng *r, bool transposed)
{
    conv_case k = {.spatial = (int)test_between(r, 1, 3), .nhwc = test_between(r, 0, 1)};
    k.n = test_between(r, 1, 2);
    k.group = transposed && k.nhwc ? 1 : test_between(r, 1, 3);
    k.c = k.group * test_between(r, 1, 4);
    k.o = k.group * test_between(r, 1, 4);
    for (int i = 0; i < 3; i++) {
        bool there = i >= 3 - k.spatial;
        k.in[i] = there ? test_between(r, 3, 7) : 1;
        k.kernel[i] = there ? test_between(r, 1, 3) : 1;
        k.stride[i] = there ? test_between(r, 1, 3) : 1;
        k.dilation[i] = there ? test_between(r, 1, 2) : 1;
        int64_t reach = (k.kernel[i] - 1) * k.dilation[i];
        k.begin[i] = there ? test_between(r, 0, reach) : 0;
        k.end[i] = there ? test_between(r, reach > k.in[i] ? reach - k.in[i] : 0, reach) : 0;
        k.out[i] = transposed ? (k.in[i] - 1) * k.stride[i] + reach + 1 - k.begin[i] - k.end[i]
                              : (k.in[i] + k.begin[i] + k.end[i] - reach - 1) / k.stride[i] + 1;
    }
    return k;
}

static void put_list(assay_list *l, const int64_t v[3], int spatial)
{
    l->n = spatial;
    for (int i = 0; i < spatial; i++)
        l->v[i] = v[3 - spatial + i];
}

static assay_attrs conv_attrs(const conv_case *k)
{
    assay_attrs a;
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = k->nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a.conv.group = k->group;
    put_list(&a.conv.kernel, k->kernel, k->spatial);
    put_list(&a.conv.stride, k->stride, k->spatial);
    put_list(&a.conv.dilation, k->dilation, k->spatial);
    put_list(&a.conv.pad_begin, k->begin, k->spatial);
    put_list(&a.conv.pad_end, k->end, k->spatial);
    return a;
}

/* Dimensions of a tensor [a, b, spatial...] (nchw) or [a, spatial..., b] (nhwc); returns the rank.
 */
static int shape(int64_t dim[6], const conv_case *k, int64_t a, int64_t b, const int64_t extent[3])
{
    int r = 0;
    dim[r++] = a;
    if (!k->nhwc)
        dim[r++] = b;
    for (int i = 3 - k->spatial; i < 3; i++)
        dim[r++] = extent[i];
    if (k->nhwc)
        dim[r++] = b;
    return r;
}

/* Index of element (a, b, at) in such a tensor of `channels`. */
static int64_t at(bool nhwc, int64_t a, int64_t b, int64_t channels, const int64_t extent[3],
                  const int64_t p[3])
{
    int64_t cell = (p[0] * extent[1] + p[1]) * extent[2] + p[2];
    int64_t cells = extent[0] * extent[1] * extent[2];
    return nhwc ? (a * cells + cell) * channels + b : (a * channels + b) * cells + cell;
}

/* One accumulator of a convolution, straight from the definition. */
static int64_t conv_sum(const fake_net *net, const conv_case *k, int64_t n, int64_t o,
                        const int64_t p[3])
{
    int64_t per = k->c / k->group, sum = net->n_in > 2 ? fake_in(net, 2, o) : 0, q[3], i[3];
    for (q[0] = 0; q[0] < k->kernel[0]; q[0]++)
        for (q[1] = 0; q[1] < k->kernel[1]; q[1]++)
            for (q[2] = 0; q[2] < k->kernel[2]; q[2]++) {
                bool inside = true;
                for (int d = 0; d < 3; d++) {
                    i[d] = p[d] * k->stride[d] - k->begin[d] + q[d] * k->dilation[d];
                    inside = inside && i[d] >= 0 && i[d] < k->in[d];
                }
                for (int64_t c = 0; inside && c < per; c++) {
                    int64_t x = o / (k->o / k->group) * per + c;
                    sum += fake_centred(net, 0, at(k->nhwc, n, x, k->c, k->in, i), 0) *
                           fake_centred(net, 1, at(k->nhwc, o, c, per, k->kernel, q), o);
                }
            }
    return sum;
}

/* One accumulator of a transposed convolution: every input cell is scattered, this keeps what falls
 * on p. */
static int64_t transposed_sum(const fake_net *net, const conv_case *k, int64_t n, int64_t o,
                              const int64_t p[3])
{
    int64_t per = k->c / k->group, outs = k->o / k->group;
    int64_t sum = net->n_in > 2 ? fake_in(net, 2, o) : 0, q[3], i[3];
    int64_t cells = k->in[0] * k->in[1] * k->in[2];
    int64_t taps = k->kernel[0] * k->kernel[1] * k->kernel[2];
    for (int64_t cell = 0; cell < cells; cell++)
        for (int64_t tap = 0; tap < taps; tap++) {
            int64_t rest = cell, rest_k = tap;
            bool here = true;
            for (int d = 2; d >= 0; d--) {
                i[d] = rest % k->in[d];
                q[d] = rest_k % k->kernel[d];
                rest /= k->in[d];
                rest_k /= k->kernel[d];
                here = here && i[d] * k->stride[d] - k->begin[d] + q[d] * k->dilation[d] == p[d];
            }
            for (int64_t c = 0; here && c < per; c++) {
                int64_t x = o / outs * per + c;
                int64_t w = k->nhwc ? at(true, o, x, k->c, k->kernel, q)
                                    : at(false, x, o % outs, outs, k->kernel, q);
                sum += fake_centred(net, 0, at(k->nhwc, n, x, k->c, k->in, i), 0) *
                       fake_centred(net, 1, w, o);
            }
        }
    return sum;
}

static void check_conv(test_rng *r, bool transposed)
{
    conv_case k = draw_conv(r, transposed);
    bool bias = test_between(r, 0, 3) > 0, channels = test_between(r, 0, 1);
    int64_t dim[6], p[3];
    fake_net net;
    int rank;

    if (k.out[0] < 1 || k.out[1] < 1 || k.out[2] < 1)
        return;
    fake_begin(&net);
    rank = shape(dim, &k, k.n, k.c, k.in);
    assay_type x = fake_type(any_code(r), rank, dim, -1, r, true);
    if (transposed && !k.nhwc)
        shape(dim, &k, k.c, k.o / k.group, k.kernel);
    else
        shape(dim, &k, k.o, k.c / k.group, k.kernel);
    int axis = transposed && !k.nhwc ? (k.group == 1 ? 1 : -1) : 0;
    assay_type w = fake_type(any_code(r), rank, dim, channels ? axis : -1, r, true);
    assay_type b =
        fake_type(assay_int(test_between(r, 0, 1) ? 32 : 64, true), 1, &k.o, -1, r, false);
    b.q.granularity = ASSAY_Q_NONE;
    b.q.count = 0;
    assay_type y = fake_type(any_code(r), 0, dim, -1, r, true);
    fake_input(&net, &x);
    fake_input(&net, &w);
    if (bias)
        fake_input(&net, &b);
    assay_attrs a = conv_attrs(&k);
    fake_run(&net, transposed ? ASSAY_OP_CONV_TRANSPOSE : ASSAY_OP_CONV, &a, &y, r);

    for (int64_t n = 0; n < k.n; n++)
        for (int64_t o = 0; o < k.o; o++)
            for (p[0] = 0; p[0] < k.out[0]; p[0]++)
                for (p[1] = 0; p[1] < k.out[1]; p[1]++)
                    for (p[2] = 0; p[2] < k.out[2]; p[2]++) {
                        int64_t i = at(k.nhwc, n, o, k.o, k.out, p);
                        int64_t acc = transposed ? transposed_sum(&net, &k, n, o, p)
                                                 : conv_sum(&net, &k, n, o, p);
                        assert_int_equal(net.accumulators[i], acc);
                        assert_int_equal(fake_out(&net, 0, i),
                                         fake_saturate(y.elem, fake_floor_div(acc, 16) + o));
                    }
    fake_end(&net);
}

static void test_conv(void **state)
{
    test_rng r = test_seed("conv", 1);
    (void)state;
    for (int i = 0; i < 200; i++)
        check_conv(&r, false);
}

static void test_conv_transpose(void **state)
{
    test_rng r = test_seed("conv_transpose", 2);
    (void)state;
    for (int i = 0; i < 150; i++)
        check_conv(&r, true);
}

/* ---- matrices ---- */

static void test_fc(void **state)
{
    test_rng r = test_seed("fc", 3);
    (void)state;
    for (int t = 0; t < 60; t++) {
        fake_net net;
        int64_t dim[3] = {test_between(&r, 1, 3), test_between(&r, 1, 4), test_between(&r, 1, 40)};
        int64_t depth = dim[2], rows = dim[0] * dim[1], outs = test_between(&r, 1, 9);
        int64_t wdim[2] = {outs, depth};
        fake_begin(&net);
        assay_type x = fake_type(any_code(&r), 3, dim, -1, &r, true);
        assay_type w = fake_type(any_code(&r), 2, wdim, t % 4 < 2 ? 0 : -1, &r, true);
        assay_type b = {.elem = assay_int(32, true), .rank = 1, .dim = {outs}};
        assay_type y = fake_type(any_code(&r), 0, dim, -1, &r, true);
        fake_input(&net, &x);
        fake_input(&net, &w);
        if (t % 2)
            fake_input(&net, &b);
        fake_run(&net, ASSAY_OP_FC, NULL, &y, &r);
        for (int64_t m = 0; m < rows; m++)
            for (int64_t o = 0; o < outs; o++) {
                int64_t acc = t % 2 ? fake_in(&net, 2, o) : 0;
                for (int64_t k = 0; k < depth; k++)
                    acc += fake_centred(&net, 0, m * depth + k, 0) *
                           fake_centred(&net, 1, o * depth + k, o);
                assert_int_equal(net.accumulators[m * outs + o], acc);
                assert_int_equal(fake_out(&net, 0, m * outs + o),
                                 fake_saturate(y.elem, fake_floor_div(acc, 16) + o));
            }
        fake_end(&net);
    }
}

/* Operand shapes are drawn as batch [B0,B1] with 1 or absence at random. */
static int draw_operand(test_rng *r, const int64_t batch[2], int64_t p, int64_t q, int64_t dim[4],
                        int64_t step[2])
{
    int axes = (int)test_between(r, 0, 2), rank = 0;
    step[0] = step[1] = 0;
    for (int i = 2 - axes; i < 2; i++)
        dim[rank++] = test_between(r, 0, 1) ? batch[i] : 1;
    if (axes >= 1)
        step[1] = dim[rank - 1] > 1 ? p * q : 0;
    if (axes == 2)
        step[0] = dim[0] > 1 ? p * q * dim[1] : 0;
    dim[rank++] = p;
    dim[rank++] = q;
    return rank;
}

static void test_matmul(void **state)
{
    test_rng r = test_seed("matmul", 4);
    (void)state;
    for (int t = 0; t < 100; t++) {
        fake_net net;
        assay_attrs a;
        int64_t batch[2] = {test_between(&r, 1, 3), test_between(&r, 1, 3)}, m, n, k;
        int64_t da[4], db[4], sa[2], sb[2];
        m = test_between(&r, 1, 5);
        n = test_between(&r, 1, 5);
        k = test_between(&r, 1, 9);
        assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
        bool ta = a.matmul.transpose_a = test_between(&r, 0, 1);
        bool tb = a.matmul.transpose_b = test_between(&r, 0, 1);
        int ra = draw_operand(&r, batch, ta ? k : m, ta ? m : k, da, sa);
        int rb = draw_operand(&r, batch, tb ? n : k, tb ? k : n, db, sb);
        fake_begin(&net);
        assay_type x = fake_type(any_code(&r), ra, da, -1, &r, true);
        assay_type w = fake_type(any_code(&r), rb, db, -1, &r, true);
        assay_type y = fake_type(any_code(&r), 0, da, -1, &r, true);
        fake_input(&net, &x);
        fake_input(&net, &w);
        fake_run(&net, ASSAY_OP_MATMUL, &a, &y, &r);
        const assay_type *yt = fake_out_type(&net, 0);
        int64_t b1 = yt->rank > 2 ? yt->dim[yt->rank - 3] : 1;
        for (int64_t i = 0; i < assay_shape_count(yt); i++) {
            int64_t col = i % n, line = i / n % m, bat = i / n / m, acc = 0;
            int64_t oa = bat / b1 * sa[0] + bat % b1 * sa[1];
            int64_t ob = bat / b1 * sb[0] + bat % b1 * sb[1];
            for (int64_t d = 0; d < k; d++)
                acc += fake_centred(&net, 0, oa + (ta ? d * m + line : line * k + d), 0) *
                       fake_centred(&net, 1, ob + (tb ? col * k + d : d * n + col), 0);
            assert_int_equal(net.accumulators[i], acc);
            assert_int_equal(fake_out(&net, 0, i),
                             fake_saturate(y.elem, fake_floor_div(acc, 16) + col));
        }
        fake_end(&net);
    }
}

/* numpy.matmul's rules for rank 1: [K] x [K,N], [M,K] x [K], [K] x [K]. */
static void test_matmul_rank_1(void **state)
{
    static const int64_t shapes[][3] = {{1, 2, 3}, {2, 1, 2}, {1, 1, 1}}; /* ranks, outputs */
    test_rng r = test_seed("matmul of rank 1", 5);
    (void)state;
    for (int t = 0; t < 3; t++) {
        fake_net net;
        int64_t row[1] = {4}, da[2] = {2, 4}, db[2] = {4, 3};
        fake_begin(&net);
        assay_type x = fake_type(assay_int(8, true), (int)shapes[t][0],
                                 shapes[t][0] == 1 ? row : da, -1, &r, true);
        assay_type w = fake_type(assay_int(8, true), (int)shapes[t][1],
                                 shapes[t][1] == 1 ? row : db, -1, &r, true);
        assay_type y = fake_type(assay_int(16, true), 0, da, -1, &r, true);
        fake_input(&net, &x);
        fake_input(&net, &w);
        fake_run(&net, ASSAY_OP_MATMUL, NULL, &y, &r);
        assert_int_equal(assay_shape_count(fake_out_type(&net, 0)), shapes[t][2]);
        for (int64_t i = 0; i < shapes[t][2]; i++) {
            int64_t acc = 0;
            for (int64_t d = 0; d < 4; d++)
                acc += fake_centred(&net, 0, shapes[t][0] == 1 ? d : i * 4 + d, 0) *
                       fake_centred(&net, 1, shapes[t][1] == 1 ? d : d * 3 + i, 0);
            assert_int_equal(net.accumulators[i], acc);
        }
        fake_end(&net);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conv),
        cmocka_unit_test(test_conv_transpose),
        cmocka_unit_test(test_fc),
        cmocka_unit_test(test_matmul),
        cmocka_unit_test(test_matmul_rank_1),
    };
    return cmocka_run_group_tests_name("ref_weighted", tests, NULL, NULL);
}
