#include "test/random_layers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/complete.h"
#include "interp/kernel.h"
#include "interp/program.h"

enum { USUAL = 20000, MOST = 200000, OPS = 8, ATTEMPTS = 20, MOST_SCALES = 256 };

typedef struct drawing {
    test_rng *r;
    const assay_scheme *scheme;
    assay_graph *g; /* what the attempt is made on */
    enum test_data weights;
    int n_names;
} drawing;

/* Parameters that a type points to, until the graph has its copy. */
typedef struct params {
    float scale[MOST_SCALES];
    int32_t zero[MOST_SCALES];
} params;

static int64_t upto(drawing *d, int64_t n)
{
    return test_between(d->r, 0, n);
}

static uint32_t traits(assay_op op)
{
    return assay_op_get(op)->traits;
}

/* ---- data ---- */

static int64_t draw_code(test_rng *r, enum test_data how, assay_elem e, int64_t i)
{
    int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    lo = lo < INT32_MIN ? INT32_MIN : lo;
    hi = hi > INT32_MAX ? INT32_MAX : hi;
    switch (how) {
    case TEST_DATA_LEAST:
        return lo;
    case TEST_DATA_MOST:
        return hi;
    case TEST_DATA_BOTH:
        return i % 2 ? lo : hi;
    default:
        return test_between(r, lo, hi);
    }
}

static float draw_float(test_rng *r)
{
    static const float odd[] = {0, -0.0F, INFINITY, -INFINITY, NAN, 0x1p-149F, 0x1.fffffep127F};
    if (test_between(r, 0, 5) == 0)
        return odd[test_between(r, 0, 6)];
    return (float)test_between(r, -400, 400) * 0.025F;
}

void test_random_data(test_rng *r, enum test_data how, const assay_type *t, void *data)
{
    how = test_between(r, 0, 7) ? how : (enum test_data)test_between(r, 0, TEST_DATA_WAYS - 1);
    for (int64_t i = 0; i < assay_shape_count(t); i++)
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = draw_float(r);
        else if (t->elem.kind == ASSAY_KIND_BOOL)
            assay_elem_set(t->elem, data, (size_t)i, test_between(r, 0, 1));
        else
            assay_elem_set(t->elem, data, (size_t)i, draw_code(r, how, t->elem, i));
}

/* ---- types ---- */

static float draw_scale(drawing *d)
{
    const double mantissa = upto(d, 2) ? 1 + test_unit(d->r) : 1;
    return (float)ldexp(mantissa, (int)test_between(d->r, -8, 0));
}

static assay_elem draw_elem(drawing *d)
{
    switch (upto(d, 9)) {
    case 0:
        return assay_int((unsigned)test_between(d->r, 1, 16), upto(d, 1) != 0);
    case 1:
        return assay_int(16, true);
    case 2:
        return assay_int(4, true);
    case 3:
    case 4:
    case 5:
        return assay_int(8, false);
    default:
        return assay_int(8, true);
    }
}

static int32_t draw_zero(drawing *d, assay_elem e)
{
    const int32_t middle = e.is_signed ? 0 : 1 << (e.bits - 1);
    if (upto(d, 2) == 0)
        return 0;
    if (upto(d, 2) == 0 || e.bits > 8)
        return middle;
    return (int32_t)test_between(d->r, assay_elem_min(e), assay_elem_max(e));
}

static void draw_type(drawing *d, assay_type *t, params *p)
{
    t->elem = draw_elem(d);
    p->scale[0] = draw_scale(d);
    p->zero[0] = draw_zero(d, t->elem);
    t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, p->scale, p->zero};
}

static int64_t draw_extent(drawing *d)
{
    switch (upto(d, 11)) {
    case 0:
        return upto(d, 7) ? 1 : 0;
    case 1:
    case 2:
        return 1;
    case 3:
        return test_between(d->r, 10, 70);
    default:
        return test_between(d->r, 2, 9);
    }
}

static void draw_shape(drawing *d, int rank, assay_type *t)
{
    t->rank = rank;
    do
        for (int i = 0; i < rank; i++)
            t->dim[i] = draw_extent(d);
    while (assay_shape_count(t) > USUAL);
    if (rank > 0 && rank < 3 && upto(d, 7) == 0) /* large enough for tables of all pairs */
        t->dim[rank - 1] = 70000;
    if (assay_shape_count(t) > MOST)
        t->dim[0] = 1;
}

/* ---- values ---- */

static const char *fresh(drawing *d, char *name, size_t size)
{
    snprintf(name, size, "v%d", d->n_names++);
    return name;
}

/* A value, or -1: its type is none that a graph may have. */
static int add_input(drawing *d, const assay_type *t)
{
    char name[16];
    assay_error err;
    int id;
    return assay_graph_add_value(d->g, fresh(d, name, sizeof name), t, &id, &err) ? -1 : id;
}

static int add_constant(drawing *d, const assay_type *t)
{
    char name[16];
    assay_error err;
    int id;
    if (assay_graph_add_constant(d->g, fresh(d, name, sizeof name), t, NULL, &id, &err))
        return -1;
    test_random_data(d->r, d->weights, t, (void *)(uintptr_t)d->g->value[id].data);
    return id;
}

/* A value that is computed, or a constant. */
static int add_either(drawing *d, const assay_type *t)
{
    return upto(d, 2) ? add_input(d, t) : add_constant(d, t);
}

static bool is_code(const assay_type *t)
{
    return t->q.granularity == ASSAY_Q_TENSOR && t->elem.bits <= 16;
}

/* Codes of a rank from lo to hi: some that are there, or a new input. */
static int operand(drawing *d, int lo, int hi)
{
    assay_type t = {.rank = 0};
    params p;
    for (int i = 0; i < 4 && d->g->n_values > 0; i++) {
        const int v = (int)upto(d, d->g->n_values - 1);
        const assay_type *x = &d->g->value[v].type;
        if (is_code(x) && x->rank >= lo && x->rank <= hi && d->g->value[v].producer >= 0)
            return v;
    }
    draw_shape(d, (int)test_between(d->r, lo, hi), &t);
    draw_type(d, &t, &p);
    return add_input(d, &t);
}

/* ---- weights ---- */

/* Scales of a constant: one, one along `axis`, or one a block along `blocked`. */
static void draw_scales(drawing *d, int axis, int blocked, assay_type *t, params *p)
{
    const int64_t way = upto(d, 7);
    const bool off = upto(d, 3) == 0;
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
    if (t->q.count > MOST_SCALES || t->q.count == 0)
        t->q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, p->scale, p->zero};
    const float base = draw_scale(d) / 8;
    for (size_t i = 0; i < t->q.count; i++) {
        p->scale[i] = (float)(base * (i ? 0.25 + test_unit(d->r) : 1));
        p->zero[i] =
            off ? (int32_t)test_between(d->r, assay_elem_min(t->elem), assay_elem_max(t->elem))
                : draw_zero(d, assay_int(t->elem.bits, true)) * 0;
        if (!off && !t->elem.is_signed)
            p->zero[i] = 1 << (t->elem.bits - 1);
    }
}

static assay_elem draw_weight_elem(drawing *d)
{
    const int64_t way = upto(d, 9);
    if (way < 6)
        return assay_int(8, true);
    return way < 8 ? assay_int(4, true)
                   : assay_int((unsigned)test_between(d->r, 1, 16), upto(d, 3) != 0);
}

/* Weights of a convolution of x; sets the group. */
static void shape_filter(drawing *d, assay_op op, const assay_type *x, assay_attr_conv *a,
                         assay_type *w, int *channel_axis)
{
    const bool last = a->layout == ASSAY_LAYOUT_NHWC, conv = op == ASSAY_OP_CONV;
    const int spatial = x->rank - 2;
    const int64_t in = x->dim[last ? x->rank - 1 : 1];
    int64_t group = upto(d, 2) ? 1 : upto(d, 1) && in > 0 ? in : test_between(d->r, 1, 4);
    if (in % group || (!conv && last))
        group = 1;
    const int64_t out = group * test_between(d->r, 1, group > 4 ? 2 : 40);
    a->group = group;
    w->rank = x->rank;
    w->dim[0] = conv || last ? out : in;
    w->dim[last ? w->rank - 1 : 1] = conv ? in / group : last ? in : out / group;
    for (int i = 0; i < spatial; i++)
        w->dim[(last ? 1 : 2) + i] = a->kernel.v[i];
    *channel_axis = conv || last ? 0 : group > 1 ? -1 : 1;
}

static int add_bias(drawing *d, const assay_type *x, const assay_type *w, int64_t outputs)
{
    params p;
    const bool wide = x->elem.bits > 8 && upto(d, 1);
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
    const int id = add_constant(d, &t);
    const int fewer = upto(d, 3) ? 16 : 0;
    for (int64_t i = 0; id >= 0 && i < outputs; i++) {
        void *data = (void *)(uintptr_t)d->g->value[id].data;
        assay_elem_set(t.elem, data, (size_t)i, assay_elem_get(t.elem, data, (size_t)i) >> fewer);
    }
    return id;
}

/* Operands of conv, conv_transpose, fc and matmul on x. */
static int draw_weighted(drawing *d, assay_op op, int x, assay_attrs *a, int in[4])
{
    const assay_type t = d->g->value[x].type;
    const int64_t depth = t.rank > 0 ? t.dim[t.rank - 1] : 1;
    assay_type w = {.elem = draw_weight_elem(d), .rank = 2};
    params p;
    int axis = 0, blocked = 1;
    int64_t outputs = test_between(d->r, 1, 40);
    if (op == ASSAY_OP_FC) {
        w.dim[0] = outputs;
        w.dim[1] = depth;
    } else if (op == ASSAY_OP_MATMUL) {
        const int64_t k = a->matmul.transpose_a && t.rank > 1 ? t.dim[t.rank - 2] : depth;
        const int more = upto(d, 2) == 0 && t.rank > 2 ? 1 : 0;
        axis = more ? -1 : a->matmul.transpose_b ? 0 : 1;
        blocked = more ? -1 : 1 - axis;
        w.rank = 2 + more;
        w.dim[0] = more && upto(d, 1) ? t.dim[t.rank - 3] : 1;
        w.dim[more + (a->matmul.transpose_b ? 0 : 1)] = outputs;
        w.dim[more + (a->matmul.transpose_b ? 1 : 0)] = k;
    } else {
        shape_filter(d, op, &t, &a->conv, &w, &axis);
        outputs = w.dim[0];
        blocked = op == ASSAY_OP_CONV ? (a->conv.layout == ASSAY_LAYOUT_NHWC ? w.rank - 1 : 1) : -1;
        if (op == ASSAY_OP_CONV_TRANSPOSE && a->conv.layout == ASSAY_LAYOUT_NCHW)
            outputs = w.dim[1] * a->conv.group;
    }
    if (op == ASSAY_OP_MATMUL && upto(d, 1)) { /* computed */
        draw_type(d, &w, &p);
        in[1] = add_input(d, &w);
        return 2;
    }
    draw_scales(d, axis, blocked, &w, &p);
    in[1] = add_constant(d, &w);
    if (op == ASSAY_OP_MATMUL || upto(d, 1) || in[1] < 0)
        return 2;
    in[2] = add_bias(d, &t, &w, outputs);
    return 3;
}

/* ---- other operands ---- */

/* A second operand of x's kind that broadcasts with it. */
static int add_partner(drawing *d, int x)
{
    assay_type t = d->g->value[x].type;
    params p;
    const int drop = t.rank > 0 && upto(d, 2) == 0 ? (int)upto(d, t.rank) : 0;
    if (upto(d, 5) == 0)
        return x;
    t.rank -= drop;
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = upto(d, 3) || drop == 0 ? d->g->value[x].type.dim[i + drop] : 1;
    for (int i = 0; i < t.rank && upto(d, 2) == 0; i++)
        t.dim[i] = t.dim[i] == 1 ? test_between(d->r, 1, 4) : upto(d, 1) ? 1 : t.dim[i];
    if (upto(d, 2)) {
        const assay_elem e = t.elem;
        draw_type(d, &t, &p);
        t.elem = upto(d, 3) ? e : t.elem;
        if (p.zero[0] < assay_elem_min(t.elem) || p.zero[0] > assay_elem_max(t.elem))
            p.zero[0] = 0;
    }
    return add_either(d, &t);
}

/* A value of the same type: for sums and concatenations; a concatenation's may be longer. */
static int add_sibling(drawing *d, assay_op op, int x, const assay_attrs *a)
{
    assay_type t = d->g->value[x].type;
    const int64_t axis = a->axis.axis < 0 ? a->axis.axis + t.rank : a->axis.axis;
    if (op == ASSAY_OP_CONCAT && axis < t.rank)
        t.dim[axis] = draw_extent(d);
    return upto(d, 3) ? add_either(d, &t) : x;
}

static int add_indices(drawing *d, assay_op op, const assay_type *x, const assay_attrs *a)
{
    const bool nd = op == ASSAY_OP_GATHER_ND;
    const int64_t axis = a->gather.axis < 0 ? a->gather.axis + x->rank : a->gather.axis;
    assay_type t = {.elem = assay_int(64, true), .rank = nd ? 2 : 1, .dim = {3, 1}};
    if (x->rank == 0 || x->dim[nd ? 0 : axis] == 0)
        return -1;
    const int id = add_constant(d, &t);
    for (int i = 0; id >= 0 && i < 3; i++)
        ((int64_t *)(uintptr_t)d->g->value[id].data)[i] = upto(d, x->dim[nd ? 0 : axis] - 1);
    return id;
}

/* Gamma and beta of a layer normalization over the axes from a->norm.axis on. */
static int draw_norm(drawing *d, const assay_type *x, const assay_attrs *a, int in[4])
{
    unsigned bits, finer;
    const float scale = draw_scale(d), fine = scale;
    const int32_t zero = 0;
    const int64_t axis = a->norm.axis < 0 ? a->norm.axis + x->rank : a->norm.axis;
    assay_type t = {.rank = x->rank - (int)axis};
    assay_scheme_norm_codes(d->scheme, x->elem.bits > 8, &bits, &finer);
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = x->dim[axis + i];
    t.elem = assay_int(bits, true);
    t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero};
    in[1] = add_constant(d, &t);
    if (upto(d, 1))
        return 2;
    const float beta = upto(d, 1) ? ldexpf(fine, -(int)finer) : draw_scale(d) / 64;
    t.elem = assay_int(upto(d, 1) ? 32 : 16, true);
    t.q.scale = &beta;
    in[2] = add_constant(d, &t);
    return 3;
}

static int draw_select(drawing *d, int x, int in[4])
{
    assay_type t = {.elem = assay_bool(), .rank = d->g->value[x].type.rank};
    memcpy(t.dim, d->g->value[x].type.dim, sizeof t.dim);
    in[0] = add_either(d, &t);
    in[1] = x;
    in[2] = upto(d, 1) ? x : add_either(d, &d->g->value[x].type);
    return 3;
}

/* Their number; one of them is -1 when there are none. */
static int draw_operands(drawing *d, assay_op op, int x, assay_attrs *a, int in[4])
{
    const assay_type t = d->g->value[x].type;
    in[0] = x;
    switch (op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
    case ASSAY_OP_FC:
    case ASSAY_OP_MATMUL:
        return draw_weighted(d, op, x, a, in);
    case ASSAY_OP_LOOKUP: {
        const assay_type table = {
            .elem = assay_int(8, true), .rank = 1, .dim = {INT64_C(1) << t.elem.bits}};
        in[1] = add_constant(d, &table);
        return 2;
    }
    case ASSAY_OP_GATHER:
    case ASSAY_OP_GATHER_ND:
        in[1] = add_indices(d, op, &t, a);
        return 2;
    case ASSAY_OP_SELECT:
        return draw_select(d, x, in);
    case ASSAY_OP_LAYER_NORM:
        return t.rank > 0 && upto(d, 3) ? draw_norm(d, &t, a, in) : 1;
    case ASSAY_OP_ADD_N:
    case ASSAY_OP_CONCAT:
        in[1] = add_sibling(d, op, x, a);
        in[2] = add_sibling(d, op, x, a);
        return (int)test_between(d->r, 1, 3);
    default:
        if (assay_op_get(op)->min_in == 2)
            in[1] = add_partner(d, x);
        return assay_op_get(op)->min_in;
    }
}

/* ---- nodes ---- */

static bool is_given(assay_op op)
{
    return op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE || op == ASSAY_OP_RESCALE ||
           op == ASSAY_OP_RELABEL;
}

/* An output scale that spreads sums of products over the codes. */
static float product_scale(drawing *d, const int in[4])
{
    const assay_type *x = &d->g->value[in[0]].type, *w = &d->g->value[in[1]].type;
    const int64_t outputs = w->dim[0] > 0 ? w->dim[0] : 1;
    const double depth = (double)assay_shape_count(w) / (double)outputs;
    return (float)(x->q.scale[0] * w->q.scale[0] * sqrt(depth + 1) *
                   ldexp(1, (int)test_between(d->r, 2, 8)));
}

/* Kind and parameters of an output whose shape is inferred. */
static void draw_output(drawing *d, assay_op op, const int in[4], assay_type *t, params *p)
{
    const assay_type *x = &d->g->value[in[op == ASSAY_OP_SELECT ? 1 : 0]].type;
    const uint32_t keeps = ASSAY_T_MOVE | ASSAY_T_SELECTS;
    if (traits(op) & ASSAY_T_COMPARE || op == ASSAY_OP_ARG_MAX || op == ASSAY_OP_ARG_MIN)
        return;
    if (op == ASSAY_OP_DEQUANTIZE) {
        t->elem = assay_f32();
        t->q = (assay_qparams){0};
        return;
    }
    t->elem = draw_elem(d);
    draw_type(d, t, p);
    if (is_code(x) && (traits(op) & keeps ? upto(d, 3) > 0 : upto(d, 2) == 0)) {
        t->elem = x->elem;
        p->scale[0] = x->q.scale[0];
        p->zero[0] = x->q.zero_point[0];
    } else if (traits(op) & ASSAY_T_WEIGHTED || op == ASSAY_OP_MATMUL) {
        p->scale[0] = product_scale(d, in);
    }
    float scale;
    int32_t zero;
    if (upto(d, 7) &&
        assay_scheme_fixed_output(d->scheme, assay_op_get(op)->name, t->elem, &scale, &zero)) {
        p->scale[0] = scale;
        p->zero[0] = zero;
    }
    if (op == ASSAY_OP_RELABEL)
        t->elem = x->elem;
    if (op == ASSAY_OP_LOOKUP)
        t->elem = assay_int(8, true);
    if (p->zero[0] < assay_elem_min(t->elem) || p->zero[0] > assay_elem_max(t->elem))
        p->zero[0] = (int32_t)assay_elem_min(t->elem);
}

/* A fused activation, or bounds as codes. */
static void draw_bounds(drawing *d, assay_node *n, const assay_type *y)
{
    if (!is_code(y) || traits(n->op) & (ASSAY_T_MOVE | ASSAY_T_CONVERT) || upto(d, 3))
        return;
    if (upto(d, 1)) {
        n->act_lo = upto(d, 1) ? 0 : -INFINITY;
        n->act_hi = upto(d, 1) ? 6 : INFINITY;
    } else {
        n->has_code_bounds = true;
        n->code_lo = (int32_t)assay_elem_min(y->elem) / 2;
        n->code_hi = (int32_t)assay_elem_max(y->elem) / 2;
    }
}

/* A first operand that suits the op. */
static int draw_first(drawing *d, assay_op op)
{
    if (op == ASSAY_OP_QUANTIZE) {
        assay_type t = {.rank = 0};
        draw_shape(d, (int)upto(d, 4), &t);
        t.elem = assay_f32();
        return add_input(d, &t);
    }
    if (op == ASSAY_OP_MATMUL)
        return operand(d, 1, 4);
    if (op == ASSAY_OP_FC || traits(op) & ASSAY_T_ROWWISE)
        return operand(d, 1, 4);
    if (op == ASSAY_OP_RESIZE)
        return operand(d, upto(d, 3) ? 3 : 1, 4);
    if (traits(op) & ASSAY_T_LAYOUT)
        return operand(d, 3, upto(d, 3) ? 4 : 5);
    return operand(d, 0, 5);
}

/* Adds a node of this op; false when it makes no sense for what was drawn. */
static bool add_node(drawing *d, assay_op op)
{
    assay_attrs a;
    int in[4] = {0}, out[2], id;
    const int n_out = op == ASSAY_OP_SPLIT ? 2 : 1, x = draw_first(d, op);
    assay_type t[2] = {{.elem = assay_bool()}, {.elem = assay_bool()}};
    params p;
    assay_error err;
    if (x < 0)
        return false;
    const assay_type from = d->g->value[x].type;
    test_random_attrs(d->r, op, &from, &a);
    const int n_in = draw_operands(d, op, x, &a, in);
    for (int i = 0; i < n_in; i++)
        if (in[i] < 0)
            return false;
    assay_node node = {
        .name = "drawn", .op = op, .n_in = n_in, .n_out = n_out, .in = in, .attr = a};
    node.act_lo = -INFINITY;
    node.act_hi = INFINITY;
    assay_node_complete(d->g, &node, &node.attr);
    if (is_given(op))
        t[0] = from;
    else if (assay_infer(d->g, &node, t, &err) != ASSAY_OK)
        return false;
    for (int i = 0; i < n_out; i++) {
        if (i == 0)
            draw_output(d, op, in, &t[0], &p);
        t[i].elem = t[0].elem;
        t[i].q = t[0].q;
        if ((out[i] = add_input(d, &t[i])) < 0)
            return false;
    }
    if (assay_graph_add_node(d->g, op, NULL, in, n_in, out, n_out, &a, &id, &err) != ASSAY_OK)
        return false;
    draw_bounds(d, &d->g->node[id], &t[0]);
    return true;
}

/* Every value without a producer is an input; those without a use, and the last, are outputs. */
static bool finish(assay_graph *g)
{
    int in[64], out[64], n_in = 0, n_out = 0;
    assay_error err;
    for (int v = 0; v < g->n_values && n_in < 64 && n_out < 64; v++) {
        const assay_value *x = &g->value[v];
        if (x->producer < 0 && !x->data && assay_graph_count_uses(g, v))
            in[n_in++] = v;
        if (x->producer >= 0 && (!assay_graph_count_uses(g, v) || v % 7 == 0))
            out[n_out++] = v;
    }
    return assay_graph_set_inputs(g, in, n_in, &err) == ASSAY_OK &&
           assay_graph_set_outputs(g, out, n_out, &err) == ASSAY_OK &&
           assay_graph_compact(g, NULL, &err) == ASSAY_OK &&
           assay_graph_verify(g, &err) == ASSAY_OK;
}

/* The network as it stands is valid, and the scheme computes it. */
static bool is_computed(const drawing *d)
{
    assay_graph *g;
    assay_program *p = NULL;
    assay_error err;
    for (int v = 0; v < d->g->n_values; v++)
        if (assay_shape_count(&d->g->value[v].type) > MOST)
            return false;
    if (assay_graph_clone(d->g, &g, &err) != ASSAY_OK)
        return false;
    const bool good = finish(g) && assay_program_make(g, d->scheme, false, &p, &err) == ASSAY_OK;
    assay_program_free(p);
    assay_graph_free(g);
    return good;
}

static bool is_wanted(assay_op op)
{
    const uint32_t not = ASSAY_T_STATE | ASSAY_T_FLOW;
    return !(traits(op) & not ) && op != ASSAY_OP_CUSTOM && op != ASSAY_OP_CUSTOM_MONOTONE &&
           op != ASSAY_OP_CUSTOM_BINARY && op != ASSAY_OP_SVDF_FEATURE &&
           op != ASSAY_OP_SVDF_TIME && op != ASSAY_OP_TOPK && op != ASSAY_OP_WHERE &&
           assay_has_integer_kernel(op);
}

/* Any op; products a quarter of the time. */
static assay_op draw_op(drawing *d)
{
    static const assay_op products[] = {ASSAY_OP_CONV, ASSAY_OP_CONV, ASSAY_OP_CONV_TRANSPOSE,
                                        ASSAY_OP_FC, ASSAY_OP_MATMUL};
    assay_op op;
    if (upto(d, 3) == 0)
        return products[upto(d, 4)];
    do
        op = (assay_op)upto(d, ASSAY_OP_COUNT - 1);
    while (!is_wanted(op));
    return op;
}

assay_graph *test_random_layers(test_rng *r, const assay_scheme *s, int nodes)
{
    drawing d = {.r = r, .scheme = s};
    assay_graph *g, *trial;
    assay_error err;
    d.weights = (enum test_data)upto(&d, TEST_DATA_WAYS);
    if (d.weights == TEST_DATA_WAYS)
        d.weights = TEST_DATA_ANY;
    if (assay_graph_new("random layers", &g, &err) != ASSAY_OK)
        return NULL;
    assay_op op = ASSAY_OP_COUNT;
    for (int i = 0; g->n_nodes < nodes && i < nodes * OPS * ATTEMPTS; i++) {
        op = i % ATTEMPTS && op != ASSAY_OP_COUNT ? op : draw_op(&d);
        if (assay_graph_clone(g, &trial, &err) != ASSAY_OK)
            break;
        d.g = trial;
        const bool good = add_node(&d, op) && is_computed(&d);
        assay_graph_free(good ? g : trial);
        g = good ? trial : g;
        op = good ? ASSAY_OP_COUNT : op;
    }
    if (g->n_nodes > 0 && finish(g))
        return g;
    assay_graph_free(g);
    return NULL;
}
