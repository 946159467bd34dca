/* Operands of an op for test_random_layers; those with weights are random_weights.c's. */
#include "test/support/random_drawing.h"
#include "test/support/random_signal.h"

#include <math.h>
#include <string.h>

/* A second operand of x's kind that broadcasts with it. */
static int add_partner(test_drawing *d, int x)
{
    assay_type t = d->g->value[x].type;
    test_params p;
    const int drop = t.rank > 0 && test_upto(d, 2) == 0 ? (int)test_upto(d, t.rank) : 0;
    if (test_upto(d, 5) == 0)
        return x;
    t.rank -= drop;
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = test_upto(d, 3) || drop == 0 ? d->g->value[x].type.dim[i + drop] : 1;
    for (int i = 0; i < t.rank && test_upto(d, 2) == 0; i++)
        t.dim[i] = t.dim[i] == 1 ? test_between(d->r, 1, 4) : test_upto(d, 1) ? 1 : t.dim[i];
    if (test_is_code(&t) && test_upto(d, 2)) {
        const assay_elem e = t.elem;
        test_draw_type(d, &t, &p);
        t.elem = test_upto(d, 3) ? e : t.elem;
        if (p.zero[0] < assay_elem_min(t.elem) || p.zero[0] > assay_elem_max(t.elem))
            p.zero[0] = 0;
    }
    return test_add_either(d, &t);
}

/* A value of the same type: for sums and concatenations; a concatenation's may be longer. */
static int add_sibling(test_drawing *d, assay_op op, int x, const assay_attrs *a)
{
    assay_type t = d->g->value[x].type;
    const int64_t axis = a->axis.axis < 0 ? a->axis.axis + t.rank : a->axis.axis;
    if (op == ASSAY_OP_CONCAT && axis < t.rank)
        t.dim[axis] = test_draw_extent(d);
    return test_upto(d, 3) ? test_add_either(d, &t) : x;
}

/* Indices of gather along an axis, in step along the batch axes, or of gather_nd. */
static int add_indices(test_drawing *d, assay_op op, const assay_type *x, assay_attrs *a)
{
    const bool nd = op == ASSAY_OP_GATHER_ND;
    const int64_t axis = a->gather.axis < 0 ? a->gather.axis + x->rank : a->gather.axis;
    assay_type t = {.elem = assay_int(test_upto(d, 1) ? 64 : 32, true)};
    if (x->rank == 0 || assay_shape_count(x) == 0)
        return -1;
    if (!nd && test_upto(d, 4) == 0)
        a->gather.batch_dims = test_upto(d, axis);
    while (!nd && t.rank < a->gather.batch_dims) {
        t.dim[t.rank] = x->dim[t.rank];
        t.rank++;
    }
    for (int64_t more = test_upto(d, 2); more > 0 && t.rank < 3; more--)
        t.dim[t.rank++] = test_upto(d, 4);
    if (nd)
        t.dim[t.rank++] = test_between(d->r, 1, x->rank);
    const int id = test_add_constant(d, &t);
    for (int64_t i = 0; id >= 0 && i < assay_shape_count(&t); i++) {
        const int64_t along = nd ? i % t.dim[t.rank - 1] : axis;
        const int64_t index = test_upto(d, x->dim[along] - 1);
        assay_elem_set(t.elem, (void *)(uintptr_t)d->g->value[id].data, (size_t)i, index);
    }
    return id;
}

/* Indices as of gather_nd, and what goes there. */
static int draw_scatter(test_drawing *d, int x, assay_attrs *a, int in[TEST_MAX_IN])
{
    assay_type t = d->g->value[x].type;
    in[1] = add_indices(d, ASSAY_OP_GATHER_ND, &t, a);
    if (in[1] < 0)
        return 3;
    const assay_type *at = &d->g->value[in[1]].type;
    const int64_t depth = at->dim[at->rank - 1];
    const int own = t.rank - (int)depth;
    if (at->rank - 1 + own > ASSAY_MAX_RANK) {
        in[1] = -1; /* none: the attempt is over */
        return 3;
    }
    memmove(t.dim + at->rank - 1, t.dim + depth, (size_t)own * sizeof *t.dim);
    memcpy(t.dim, at->dim, (size_t)(at->rank - 1) * sizeof *t.dim);
    t.rank = at->rank - 1 + own;
    in[2] = test_add_either(d, &t);
    return 3;
}

/* Places in x, or rois of x and their images. */
static int draw_samples(test_drawing *d, assay_op op, const assay_type *x, int in[TEST_MAX_IN])
{
    assay_type t = {.elem = assay_f32(), .rank = x->rank, .dim = {x->dim[0]}};
    for (int i = 1; i < x->rank; i++)
        t.dim[i] = i == x->rank - 1 ? x->rank - 2 : test_draw_extent(d);
    if (op == ASSAY_OP_GRID_SAMPLE) {
        in[1] = test_add_either(d, &t);
        return 2;
    }
    t = (assay_type){.elem = assay_f32(), .rank = 2, .dim = {test_draw_extent(d), 4}};
    in[1] = test_add_either(d, &t);
    t = (assay_type){.elem = assay_int(64, true), .rank = 1, .dim = {t.dim[0]}};
    in[2] = test_add_constant(d, &t);
    for (int i = 0; in[2] >= 0 && i < t.dim[0]; i++)
        assay_elem_set(t.elem, (void *)(uintptr_t)d->g->value[in[2]].data, (size_t)i,
                       test_upto(d, x->dim[0]));
    return 3;
}

/* Boxes and their scores. */
static int draw_boxes(test_drawing *d, int in[TEST_MAX_IN])
{
    const int64_t images = test_draw_extent(d), boxes = test_draw_extent(d);
    assay_type t = {.elem = assay_f32(), .rank = 3, .dim = {images, boxes, 4}};
    in[0] = test_add_either(d, &t);
    t = (assay_type){.elem = assay_f32(), .rank = 3, .dim = {images, test_draw_extent(d), boxes}};
    in[1] = test_add_either(d, &t);
    return 2;
}

/* Encodings, their scores (of two classes, with and without a background) and anchors, whose
 * extents are not negative. */
static int draw_detection(test_drawing *d, int in[TEST_MAX_IN])
{
    const int64_t boxes = test_draw_extent(d);
    assay_type t = {.elem = assay_f32(), .rank = 3, .dim = {1, boxes, 4}};
    in[0] = test_add_either(d, &t);
    t.dim[2] = 2 + test_upto(d, 1);
    in[1] = test_add_either(d, &t);
    t = (assay_type){.elem = assay_f32(), .rank = 2, .dim = {boxes, 4}};
    in[2] = test_add_constant(d, &t);
    for (int64_t i = 0; in[2] >= 0 && i < 4 * boxes; i++) {
        float *anchor = (float *)(uintptr_t)d->g->value[in[2]].data + i;
        *anchor = fabsf(*anchor);
    }
    return 3;
}

static int draw_soft_nms(test_drawing *d, int in[TEST_MAX_IN])
{
    const int64_t boxes = test_draw_extent(d);
    assay_type t = {.elem = assay_f32(), .rank = 2, .dim = {boxes, 4}};
    in[0] = test_add_either(d, &t);
    t.rank = 1;
    in[1] = test_add_either(d, &t);
    return 2;
}

/* A constant of x's type, because its count of what is set must be known; now and then another. */
static int draw_where(test_drawing *d, int x, assay_attrs *a)
{
    const assay_type t = d->g->value[x].type;
    const int id = test_add_constant(d, &t);
    a->where.count = test_upto(d, 9) ? 0 : 1;
    for (int64_t i = 0; id >= 0 && i < assay_shape_count(&t); i++)
        a->where.count += t.elem.kind == ASSAY_KIND_F32
                              ? ((const float *)d->g->value[id].data)[i] != 0
                              : assay_elem_get(t.elem, d->g->value[id].data, (size_t)i) != 0;
    return id;
}

/* What stands in a slice, and where it begins: anywhere, outside as well. */
static int draw_update(test_drawing *d, int x, int in[TEST_MAX_IN])
{
    assay_type t = d->g->value[x].type;
    const assay_type begin = {
        .elem = assay_int(test_upto(d, 1) ? 64 : 32, true), .rank = 1, .dim = {t.rank}};
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = test_upto(d, t.dim[i]);
    in[1] = test_add_either(d, &t);
    in[2] = test_add_constant(d, &begin);
    for (int i = 0; in[2] >= 0 && i < t.rank; i++)
        assay_elem_set(begin.elem, (void *)(uintptr_t)d->g->value[in[2]].data, (size_t)i,
                       test_between(d->r, -2, 9));
    return 3;
}

/* Scale, bias, mean and variance of floats. */
static int draw_batch_norm(test_drawing *d, const assay_type *x, const assay_attrs *a,
                           int in[TEST_MAX_IN])
{
    const bool last = a->batch_norm.layout == ASSAY_LAYOUT_NHWC;
    const assay_type t = {.elem = assay_f32(), .rank = 1, .dim = {x->dim[last ? x->rank - 1 : 1]}};
    for (int k = 1; k < 5; k++) {
        in[k] = test_add_constant(d, &t);
        float *data = in[k] < 0 ? NULL : (float *)(uintptr_t)d->g->value[in[k]].data;
        for (int64_t i = 0; data && i < t.dim[0]; i++) /* constants have no NaN */
            data[i] = (float)test_between(d->r, k == 4 ? 0 : -40, 40) / 8;
    }
    return 5;
}

/* Gamma and beta of a layer normalization over the axes from a->norm.axis on. */
static int draw_norm(test_drawing *d, const assay_type *x, const assay_attrs *a,
                     int in[TEST_MAX_IN])
{
    unsigned bits, finer;
    const float scale = test_draw_scale(d), fine = scale;
    const int32_t zero = 0;
    const int64_t axis = a->norm.axis < 0 ? a->norm.axis + x->rank : a->norm.axis;
    assay_type t = {.rank = x->rank - (int)axis};
    assay_scheme_norm_codes(d->scheme, x->elem.bits > 8, &bits, &finer);
    for (int i = 0; i < t.rank; i++)
        t.dim[i] = x->dim[axis + i];
    t.elem = assay_int(bits, true);
    t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero};
    in[1] = test_add_constant(d, &t);
    if (test_upto(d, 1))
        return 2;
    const float beta = test_upto(d, 1) ? ldexpf(fine, -(int)finer) : test_draw_scale(d) / 64;
    t.elem = assay_int(test_upto(d, 1) ? 32 : 16, true);
    t.q.scale = &beta;
    in[2] = test_add_constant(d, &t);
    return 3;
}

static int draw_select(test_drawing *d, int x, int in[TEST_MAX_IN])
{
    assay_type t = {.elem = assay_bool(), .rank = d->g->value[x].type.rank};
    memcpy(t.dim, d->g->value[x].type.dim, sizeof t.dim);
    in[0] = test_add_either(d, &t);
    in[1] = x;
    in[2] = test_upto(d, 1) ? x : test_add_either(d, &d->g->value[x].type);
    return 3;
}

/* Plain integers, and attributes of no choice. */
static int draw_signal(test_drawing *d, assay_op op, assay_attrs *a, int in[TEST_MAX_IN])
{
    assay_type t[3];
    const int n = test_signal_types(op, t);
    for (int i = 0; i < n; i++)
        in[i] = test_add_either(d, &t[i]);
    assay_attrs_defaults(assay_op_get(op)->attrs, a);
    return n;
}

/* Of ops on places, boxes and signals; 0: `op` is none of them. */
static int draw_places(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[TEST_MAX_IN])
{
    const assay_type t = d->g->value[x].type;
    switch (op) {
    case ASSAY_OP_GATHER:
    case ASSAY_OP_GATHER_ND:
        in[1] = add_indices(d, op, &t, a);
        return 2;
    case ASSAY_OP_GRID_SAMPLE:
    case ASSAY_OP_ROI_ALIGN:
        return draw_samples(d, op, &t, in);
    case ASSAY_OP_NMS:
        return draw_boxes(d, in);
    case ASSAY_OP_SOFT_NMS:
        return draw_soft_nms(d, in);
    case ASSAY_OP_DETECTION:
        return draw_detection(d, in);
    case ASSAY_OP_SCATTER_ND:
    case ASSAY_OP_SCATTER_REDUCE:
        return draw_scatter(d, x, a, in);
    case ASSAY_OP_UPDATE_SLICE:
        return draw_update(d, x, in);
    default:
        return 0;
    }
}

/* Values of one table, of several siblings, or a partner. */
static int draw_values(test_drawing *d, assay_op op, int x, const assay_attrs *a,
                       int in[TEST_MAX_IN])
{
    if (op == ASSAY_OP_LOOKUP) {
        const int64_t codes = INT64_C(1) << d->g->value[x].type.elem.bits;
        const assay_type table = {.elem = assay_int(8, true), .rank = 1, .dim = {codes}};
        in[1] = test_add_constant(d, &table);
        return 2;
    }
    if (op == ASSAY_OP_ADD_N || op == ASSAY_OP_CONCAT) {
        for (int i = 1; i < TEST_MAX_IN; i++)
            in[i] = i < 3 || test_upto(d, 3) == 0 ? add_sibling(d, op, x, a) : x;
        return (int)test_between(d->r, 1, test_upto(d, 7) ? 3 : TEST_MAX_IN);
    }
    if (assay_op_get(op)->min_in == 2)
        in[1] = add_partner(d, x);
    return assay_op_get(op)->min_in;
}

/* Their number; one of them is -1 when there are none. */
int test_draw_operands(test_drawing *d, assay_op op, int x, assay_attrs *a, int in[TEST_MAX_IN])
{
    const assay_type t = d->g->value[x].type;
    in[0] = x;
    const int n = draw_places(d, op, x, a, in);
    if (n > 0)
        return n;
    switch (op) {
    case ASSAY_OP_CONV:
    case ASSAY_OP_CONV_TRANSPOSE:
    case ASSAY_OP_FC:
    case ASSAY_OP_SVDF_FEATURE:
    case ASSAY_OP_SVDF_TIME:
    case ASSAY_OP_MATMUL:
        return test_draw_weighted(d, op, x, a, in);
    case ASSAY_OP_SELECT:
        return draw_select(d, x, in);
    case ASSAY_OP_WHERE:
        in[0] = draw_where(d, x, a);
        return 1;
    case ASSAY_OP_SIGNAL_SCALE:
    case ASSAY_OP_RFFT:
    case ASSAY_OP_IRFFT:
    case ASSAY_OP_SIGNAL_ROOT:
    case ASSAY_OP_PCAN:
    case ASSAY_OP_SIGNAL_LOG:
        return draw_signal(d, op, a, in);
    case ASSAY_OP_READ:
    case ASSAY_OP_ASSIGN:
        return test_draw_state(d, op, x, in);
    case ASSAY_OP_BATCH_NORM:
        return draw_batch_norm(d, &t, a, in);
    case ASSAY_OP_LAYER_NORM:
        return t.rank > 0 && test_is_code(&t) && test_upto(d, 3) ? draw_norm(d, &t, a, in) : 1;
    default:
        return draw_values(d, op, x, a, in);
    }
}
