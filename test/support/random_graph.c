/* Random valid graphs, node after node. */
#include "test/support/random_graph_parts.h"
#include "test/support/random_signal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define ATTEMPTS     20000
#define MAX_ELEMENTS 4096 /* larger values are not built upon */

static void random_list(test_rng *r, int rank, assay_list *l)
{
    static const int64_t values[] = {-1, 0, 0, 1, 1, 1, 2, 2, 3, 4};
    int64_t n = test_between(r, 0, 5);
    l->n = n < 2                ? 0
           : n == 2             ? (int)test_between(r, 0, rank)
           : n == 3 && rank > 2 ? rank - 2
                                : rank;
    for (int i = 0; i < l->n; ++i)
        l->v[i] = values[test_between(r, 0, 9)];
}

/* Any attributes; most are refused, and then others are tried. */
static void random_attrs(test_rng *r, assay_op op, int rank, assay_attrs *a)
{
    const assay_attrs_info *info = assay_attrs_get(assay_op_get(op)->attrs);
    assay_attrs_defaults(assay_op_get(op)->attrs, a);
    for (int i = 0; i < info->n_fields; ++i) {
        const assay_attr_field *f = &info->field[i];
        void *p = (char *)a + f->offset;
        int names = 0;
        if (test_between(r, 0, 1))
            continue;
        switch (f->kind) {
        case 'I':
            *(int64_t *)p = strcmp(f->name, "index_bits") == 0 ? 32 : test_between(r, -2, 4);
            break;
        case 'B':
            *(bool *)p = test_between(r, 0, 1) != 0;
            break;
        case 'F':
            *(float *)p = graph_random_float(r);
            break;
        case 'E':
            while (f->names[names])
                ++names;
            *(int *)p = (int)test_between(r, 0, names - 1);
            break;
        case 'L':
            random_list(r, rank, p);
            break;
        default: {
            assay_float_list *l = p;
            l->n = test_between(r, 0, 1) ? rank : 0;
            for (int k = 0; k < l->n; ++k)
                l->v[k] = (float)test_unit(r) + 0.5F;
        }
        }
    }
}

/* Weights for x's channels, layout and a random number of groups. */
static int add_weights(graph_drawing *x, assay_op op, const assay_type *in, assay_attrs *a)
{
    assay_type t = {.elem = assay_f32(), .rank = in->rank};
    bool nchw = a->conv.layout == ASSAY_LAYOUT_NCHW;
    int64_t channels, out = test_between(x->r, 1, 3);
    if (op == ASSAY_OP_FC || op == ASSAY_OP_SVDF_FEATURE) {
        t.rank = 2;
        t.dim[0] = out;
        t.dim[1] = in->rank ? in->dim[in->rank - 1] : 1;
        return graph_add_drawn_constant(x, &t);
    }
    channels = in->dim[nchw ? 1 : in->rank - 1];
    a->conv.group = channels % 2 == 0 && nchw && test_between(x->r, 0, 1) ? 2 : 1;
    a->conv.kernel.n = 0;
    for (int i = 0; i < in->rank; ++i)
        t.dim[i] = test_between(x->r, 1, 2);
    if (op == ASSAY_OP_CONV || op == ASSAY_OP_SVDF_TIME) {
        t.dim[0] = out * a->conv.group;
        t.dim[nchw ? 1 : in->rank - 1] = channels / a->conv.group;
    } else {
        t.dim[nchw ? 1 : 0] = out;
        t.dim[nchw ? 0 : in->rank - 1] = channels;
    }
    return graph_add_drawn_constant(x, &t);
}

static void decorate(graph_drawing *x)
{
    assay_node *n = &x->g->node[x->g->n_nodes - 1];
    if (test_between(x->r, 0, 3) == 0) {
        n->act_lo = test_between(x->r, 0, 1) ? 0 : -INFINITY;
        n->act_hi = graph_random_scale(x->r);
    }
    if (test_between(x->r, 0, 3) == 0) {
        n->has_code_bounds = true;
        n->code_lo = (int32_t)test_between(x->r, INT32_MIN, 0);
        n->code_hi = (int32_t)test_between(x->r, 0, INT32_MAX);
    }
    if (test_between(x->r, 0, 1))
        x->g->value[n->out[0]].source_index = (int)test_between(x->r, 0, 1000);
}

static int pick(graph_drawing *x)
{
    int id;
    do
        id = (int)test_between(x->r, 0, x->g->n_values - 1);
    while (assay_shape_count(&x->g->value[id].type) > MAX_ELEMENTS);
    return id;
}

/* Attributes that fit what the op's operands will be. */
static void fitting_attrs(graph_drawing *x, assay_op op, int first, assay_attrs *a)
{
    random_attrs(x->r, op, x->g->value[first].type.rank, a);
    if (op == ASSAY_OP_RESHAPE) {
        a->shape.shape.n = (int)test_between(x->r, 1, 2);
        a->shape.shape.v[0] = -1;
        a->shape.shape.v[1] = 2;
    }
    if (op == ASSAY_OP_DETECTION) { /* for the scores that graph_add_places draws */
        a->detection.most = a->detection.per_box = a->detection.per_class = 2;
        a->detection.classes = 2;
        a->detection.scale = (assay_float_list){.n = 4, .v = {10, 10, 5, 5}};
    }
}

static bool has_places(assay_op op)
{
    static const assay_op ops[] = {
        ASSAY_OP_ROI_ALIGN, ASSAY_OP_GRID_SAMPLE, ASSAY_OP_NMS,           ASSAY_OP_SOFT_NMS,
        ASSAY_OP_DETECTION, ASSAY_OP_SCATTER_ND,  ASSAY_OP_SCATTER_REDUCE};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i)
        if (ops[i] == op)
            return true;
    return false;
}

/* in[1] of an op with weights, for its drawn in[0]; false where that has none. */
static bool add_weights_of(graph_drawing *x, assay_op op, int *in, assay_attrs *a)
{
    const assay_type t = x->g->value[in[0]].type;
    const bool rows = op == ASSAY_OP_FC || op == ASSAY_OP_SVDF_FEATURE;
    if (t.elem.kind != ASSAY_KIND_F32 || (!rows && (t.rank < 3 || t.rank > 5)))
        return false;
    in[1] = add_weights(x, op, &t, a);
    return true;
}

/* in[1] to in[4] of a batch normalization: one list for all; false where in[0] has no channels. */
static bool add_channel_lists(graph_drawing *x, int *in, const assay_attrs *a)
{
    const assay_type *t = &x->g->value[in[0]].type;
    const int axis = a->batch_norm.layout == ASSAY_LAYOUT_NCHW ? 1 : t->rank - 1;
    assay_type channels = {.elem = t->elem, .rank = 1};
    if (t->rank < 2 || t->elem.kind != ASSAY_KIND_F32)
        return false;
    channels.dim[0] = t->dim[axis];
    in[1] = in[2] = in[3] = in[4] = graph_add_drawn_constant(x, &channels);
    return true;
}

/* The operands that cannot be any values drawn before; *n_in becomes what there are. */
static bool add_operands(graph_drawing *x, assay_op op, int *in, int *n_in, assay_attrs *a)
{
    const assay_op_info *info = assay_op_get(op);
    assay_type signal[3];
    if (has_places(op) && !graph_add_places(x, op, in))
        return false;
    const int n_signal = test_signal_types(op, signal);
    if (n_signal)
        assay_attrs_defaults(info->attrs, a);
    for (int i = 0; i < n_signal; ++i)
        in[i] = graph_add_drawn_constant(x, &signal[i]);
    if (info->traits & ASSAY_T_WEIGHTED) {
        *n_in = 2;
        return add_weights_of(x, op, in, a);
    }
    return op != ASSAY_OP_BATCH_NORM || add_channel_lists(x, in, a);
}

static bool add_node(graph_drawing *x, assay_op op, const int *in, int n_in, int n_out,
                     const assay_attrs *a)
{
    int out[4];
    char name[4][64];
    const char *names[4] = {name[0], name[1], name[2], name[3]};
    assay_error err;
    for (int i = 0; i < n_out; ++i)
        graph_fresh_name(x, name[i], sizeof name[i]);
    const assay_status s =
        assay_graph_add_inferred(x->g, op, test_between(x->r, 0, 1) ? NULL : "named node", in, n_in,
                                 names, n_out, a, out, &err);
    if (s)
        assert_refused(s, &err, assay_op_get(op)->name);
    return !s;
}

static bool try_op(graph_drawing *x, assay_op op)
{
    const assay_op_info *info = assay_op_get(op);
    int n_in = info->max_in < 0 ? (int)test_between(x->r, 1, 3)
                                : (int)test_between(x->r, info->min_in, info->max_in);
    const int n_out = info->n_out < 0 ? (int)test_between(x->r, 1, 3) : info->n_out;
    int in[8];
    assay_attrs a;
    for (int i = 0; i < n_in; ++i)
        in[i] = i && test_between(x->r, 0, 1) ? in[0] : pick(x);
    if (info->traits & ASSAY_T_CONVERT)
        return graph_add_convert(x, op, in[0]);
    if (op == ASSAY_OP_LOOKUP)
        return graph_add_lookup(x, in[0]);
    if (info->traits & ASSAY_T_FLOW)
        return graph_add_flow(x, op, in[0]);
    if (info->traits & ASSAY_T_MAC && op != ASSAY_OP_PATCHES)
        return graph_add_scaled(x, op, in[0]);
    if (info->traits & ASSAY_T_STATE)
        in[0] = in[1] = graph_add_drawn_variable(x);
    fitting_attrs(x, op, in[0], &a);
    return add_operands(x, op, in, &n_in, &a) && add_node(x, op, in, n_in, n_out, &a);
}

assay_graph *test_random_graph(test_rng *r)
{
    graph_drawing x = {.r = r};
    assay_error err;
    int inputs[6], order[ASSAY_OP_COUNT];

    assert_ok(assay_graph_new("random graph", &x.g, &err), &err);
    inputs[0] = graph_add_drawn_input(&x, assay_f32(), 4, (int64_t[]){2, 4, 6, 6});
    inputs[1] = graph_add_drawn_input(&x, assay_f32(), 3, (int64_t[]){1, 4, 8});
    inputs[2] = graph_add_drawn_input(&x, assay_f32(), 1, (int64_t[]){4});
    inputs[3] = graph_add_drawn_input(&x, assay_bool(), 2, (int64_t[]){2, 4});
    inputs[4] = graph_add_drawn_input(&x, assay_int(64, true), 1, (int64_t[]){1});
    inputs[5] = graph_add_drawn_input(&x, assay_int(32, true), 2, (int64_t[]){2, 1});
    assert_ok(assay_graph_set_inputs(x.g, inputs, 6, &err), &err);
    for (int i = 0; i < ASSAY_OP_COUNT; ++i) {
        int k = (int)test_between(r, 0, i);
        order[i] = order[k];
        order[k] = i;
    }
    /* quantized values must exist before what consumes them */
    while (!try_op(&x, ASSAY_OP_QUANTIZE))
        ;
    for (int i = 0; i < ASSAY_OP_COUNT; ++i) {
        int attempt = 0;
        while (!try_op(&x, (assay_op)order[i]))
            if (++attempt == ATTEMPTS)
                fail_msg("no valid %s in %d attempts", assay_op_get((assay_op)order[i])->name,
                         ATTEMPTS);
        decorate(&x);
        if (test_between(r, 0, 3) == 0)
            graph_add_loose_constant(&x);
    }
    assert_ok(assay_graph_set_outputs(x.g, x.g->node[x.g->n_nodes - 1].out, 1, &err), &err);
    snprintf(x.g->model_digest, sizeof x.g->model_digest, "%016llx%016llx",
             (unsigned long long)test_random(r), (unsigned long long)test_random(r));
    assert_ok(assay_graph_verify(x.g, &err), &err);
    return x.g;
}
