/* Weights and biases for test_random_layers. */
#include "test/support/random_drawing.h"

/* Scales of a constant: one, one along `axis`, or one per block along `blocked`. */
static void draw_scales(test_drawing *d, int axis, int blocked, assay_type *t, test_params *p)
{
    const int64_t way = test_upto(d, 7);
    const bool off = test_upto(d, 3) == 0;
    t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, p->scale, p->zero};
    if (way < 4 && axis >= 0) {
        t->q.granularity = ASSAY_Q_AXIS;
        t->q.axis = axis;
    } else if (way == 4 && blocked >= 0 && t->dim[blocked] > 1) {
        t->q.granularity = ASSAY_Q_BLOCK;
        t->q.axis = blocked;
        t->q.block = test_between(d->r, 1, t->dim[blocked]);
    }
    t->q.count = (size_t)assay_qparams_count(t);
    if (t->q.count > TEST_MAX_SCALES || t->q.count == 0)
        t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, p->scale, p->zero};
    const float base = test_draw_scale(d) / 8;
    for (size_t i = 0; i < t->q.count; i++) {
        p->scale[i] = (float)(base * (i ? 0.25 + test_unit(d->r) : 1));
        p->zero[i] =
            off ? (int32_t)test_between(d->r, assay_elem_min(t->elem), assay_elem_max(t->elem))
                : test_draw_zero(d, assay_int(t->elem.bits, true)) * 0;
        if (!off && !t->elem.is_signed)
            p->zero[i] = 1 << (t->elem.bits - 1);
    }
}

static assay_elem draw_weight_elem(test_drawing *d)
{
    const int64_t way = test_upto(d, 11);
    if (way > 9)
        return assay_int(way == 10 ? 2 : 1, way == 10 || test_upto(d, 1));
    if (way < 6)
        return assay_int(8, true);
    return way < 8 ? assay_int(4, true)
                   : assay_int((unsigned)test_between(d->r, 1, 16), test_upto(d, 3) != 0);
}

/* Weights of a convolution of x; sets the group. */
static void shape_filter(test_drawing *d, assay_op op, const assay_type *x, assay_attr_conv *a,
                         assay_type *w, int *channel_axis)
{
    const bool last = a->layout == ASSAY_LAYOUT_NHWC, conv = op != ASSAY_OP_CONV_TRANSPOSE;
    const int spatial = x->rank - 2;
    const int64_t in = x->dim[last ? x->rank - 1 : 1];
    int64_t group = test_upto(d, 2) ? 1 : test_upto(d, 1) && in > 0 ? in : test_between(d->r, 1, 7);
    if (in % group || (!conv && last))
        group = 1;
    const int64_t out = group * test_between(d->r, 1, group > 4 || in > 1000 ? 3 : 40);
    a->group = group;
    w->rank = x->rank;
    w->dim[0] = conv || last ? out : in;
    w->dim[last ? w->rank - 1 : 1] = conv ? in / group : last ? in : out / group;
    for (int i = 0; i < spatial; i++)
        w->dim[(last ? 1 : 2) + i] = a->kernel.v[i];
    *channel_axis = conv || last ? 0 : group > 1 ? -1 : 1;
}

static int add_bias(test_drawing *d, const assay_type *x, const assay_type *w, int64_t outputs)
{
    test_params p;
    const bool wide = x->elem.bits > 8 && test_upto(d, 1);
    assay_type t = {.elem = assay_int(wide ? 64 : 32, true), .rank = 1, .dim = {outputs}};
    if (w->q.granularity != ASSAY_Q_BLOCK) {
        const bool by_channel = (int64_t)w->q.count == outputs && outputs > 1;
        t.q = (assay_qparams){by_channel ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                              0,
                              0,
                              by_channel ? w->q.count : 1,
                              p.scale,
                              p.zero};
        for (size_t i = 0; i < t.q.count; i++) {
            p.scale[i] = x->q.scale[0] * w->q.scale[i];
            p.zero[i] = 0;
        }
    }
    const int id = test_add_constant(d, &t);
    const int fewer = test_upto(d, 3) ? 16 : 0;
    for (int64_t i = 0; id >= 0 && i < outputs; i++) {
        void *data = (void *)(uintptr_t)d->g->value[id].data;
        assay_elem_set(t.elem, data, (size_t)i, assay_elem_get(t.elem, data, (size_t)i) >> fewer);
    }
    return id;
}

/* Operands of conv, conv_transpose, fc and matmul on x. */
int test_draw_weighted(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[TEST_MAX_IN])
{
    const assay_type t = d->g->value[x].type;
    const int64_t depth = t.rank > 0 ? t.dim[t.rank - 1] : 1;
    assay_type w = {.elem = draw_weight_elem(d), .rank = 2};
    test_params p;
    int axis = 0, blocked = 1;
    int64_t outputs = test_between(d->r, 1, depth > 5000 ? 3 : test_upto(d, 15) ? 40 : 2100);
    if (op == ASSAY_OP_FC || op == ASSAY_OP_SVDF_FEATURE) {
        w.dim[0] = outputs;
        w.dim[1] = depth;
    } else if (op == ASSAY_OP_MATMUL) {
        const int64_t k = a->matmul.transpose_a && t.rank > 1 ? t.dim[t.rank - 2] : depth;
        const int more = test_upto(d, 2) == 0 && t.rank > 2 ? 1 : 0;
        axis = more ? -1 : a->matmul.transpose_b ? 0 : 1;
        blocked = more ? -1 : 1 - axis;
        w.rank = 2 + more;
        w.dim[0] = more && test_upto(d, 1) ? t.dim[t.rank - 3] : 1;
        w.dim[more + (a->matmul.transpose_b ? 0 : 1)] = outputs;
        w.dim[more + (a->matmul.transpose_b ? 1 : 0)] = k;
    } else {
        shape_filter(d, op, &t, &a->conv, &w, &axis);
        outputs = w.dim[0];
        blocked = op != ASSAY_OP_CONV_TRANSPOSE
                      ? (a->conv.layout == ASSAY_LAYOUT_NHWC ? w.rank - 1 : 1)
                      : -1;
        if (op == ASSAY_OP_CONV_TRANSPOSE && a->conv.layout == ASSAY_LAYOUT_NCHW)
            outputs = w.dim[1] * a->conv.group;
    }
    if (t.elem.kind == ASSAY_KIND_F32) {
        const assay_type bias = {.elem = assay_f32(), .rank = 1, .dim = {outputs}};
        w.elem = assay_f32();
        in[1] = test_add_either(d, &w);
        if (op == ASSAY_OP_MATMUL || test_upto(d, 1))
            return 2;
        in[2] = test_add_either(d, &bias);
        return 3;
    }
    if (op == ASSAY_OP_MATMUL && test_upto(d, 1)) { /* computed */
        test_draw_type(d, &w, &p);
        in[1] = test_add_input(d, &w);
        return 2;
    }
    draw_scales(d, axis, blocked, &w, &p);
    in[1] = test_add_constant(d, &w);
    if (op == ASSAY_OP_MATMUL || op == ASSAY_OP_SVDF_FEATURE || test_upto(d, 1) || in[1] < 0)
        return 2;
    in[2] = add_bias(d, &t, &w, outputs);
    return 3;
}
