/* Random valid graphs, node after node. */
#include "test/support/random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATTEMPTS     20000
#define MAX_ELEMENTS 4096 /* larger values are not built upon */

typedef struct generator {
    assay_graph *g;
    test_rng *r;
    int n_names;
} generator;

/* A fresh name, often one that needs quotes or looks like a word of the grammar. */
static void fresh_name(generator *x, char *buf, size_t size)
{
    static const char *const forms[] = {"v%d",  "/conv1/Conv_%d", "a b %d", "q\"uo\\te%d", "%d",
                                        "x:%d", "n\303\244me%d",  "-%d",    "output%d"};
    static const char *const words[] = {"graph", "input", "const", "var", "output", "model",
                                        "value", "_",     "act",   "q",   "file",   "f32"};
    size_t form = (size_t)test_between(x->r, 0, 40);
    if (x->n_names < (int)(sizeof words / sizeof *words))
        snprintf(buf, size, "%s", words[x->n_names]);
    else
        snprintf(buf, size, forms[form % (sizeof forms / sizeof *forms)], x->n_names);
    ++x->n_names;
}

static float random_float(test_rng *r)
{
    uint32_t bits = (uint32_t)test_random(r);
    float f;
    if (test_between(r, 0, 2))
        return (float)test_between(r, -8, 8) / 4;
    memcpy(&f, &bits, sizeof f);
    return isnan(f) ? -0.0F : f;
}

static float random_scale(test_rng *r)
{
    return (float)(test_unit(r) + 0.001);
}

/* Parameters of any granularity that fits the type; arrays are the caller's to free. */
static void random_params(test_rng *r, assay_type *t)
{
    float *scale;
    int32_t *zero_point;
    t->q.granularity = (assay_granularity)test_between(r, ASSAY_Q_TENSOR,
                                                       t->rank ? ASSAY_Q_BLOCK : ASSAY_Q_TENSOR);
    if (t->q.granularity > ASSAY_Q_TENSOR)
        t->q.axis = (int)test_between(r, 0, t->rank - 1);
    if (t->q.granularity == ASSAY_Q_BLOCK)
        t->q.block = test_between(r, 1, 3);
    t->q.count = (size_t)assay_qparams_count(t);
    scale = malloc((t->q.count + 1) * sizeof *scale);
    zero_point = malloc((t->q.count + 1) * sizeof *zero_point);
    assert_non_null(scale);
    assert_non_null(zero_point);
    for (size_t i = 0; i < t->q.count; ++i) {
        int64_t lo = assay_elem_min(t->elem), hi = assay_elem_max(t->elem);
        scale[i] = random_scale(r);
        zero_point[i] = (int32_t)test_between(r, lo, hi > INT32_MAX ? INT32_MAX : hi);
    }
    t->q.scale = scale;
    t->q.zero_point = zero_point;
}

static void free_params(assay_type *t)
{
    free((void *)t->q.scale);
    free((void *)t->q.zero_point);
}

static int add_constant(generator *x, const assay_type *t)
{
    size_t n = (size_t)assay_shape_count(t);
    char name[64];
    assay_error err;
    int id;
    fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_constant(x->g, name, t, NULL, &id, &err), &err);
    for (size_t i = 0; i < n; ++i) {
        void *data = (void *)x->g->value[id].data;
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = random_float(x->r);
        else if (t->elem.kind == ASSAY_KIND_BOOL)
            assay_elem_set(t->elem, data, i, test_between(x->r, 0, 1));
        else
            assay_elem_set(t->elem, data, i,
                           test_between(x->r, assay_elem_min(t->elem), assay_elem_max(t->elem)));
    }
    return id;
}

/* A constant of any kind, shape and parameters that no node uses. */
static void add_loose_constant(generator *x)
{
    assay_type t = {.rank = (int)test_between(x->r, 0, 3)};
    int64_t kind = test_between(x->r, 0, 7);
    for (int i = 0; i < t.rank; ++i)
        t.dim[i] = test_between(x->r, 0, 5);
    t.elem =
        kind == 0   ? assay_f32()
        : kind == 1 ? assay_bool()
        : kind == 2 ? assay_int(64, true)
        : kind == 3
            ? assay_small_float((assay_kind)test_between(x->r, ASSAY_KIND_F16, ASSAY_KIND_F8E8M0))
            : assay_int((unsigned)test_between(x->r, 1, 32), test_between(x->r, 0, 1) != 0);
    if (kind > 4)
        random_params(x->r, &t);
    add_constant(x, &t);
    if (kind > 4)
        free_params(&t);
}

static int add_input(generator *x, assay_elem elem, int rank, const int64_t *dim)
{
    assay_type t = {.elem = elem, .rank = rank};
    char name[64];
    assay_error err;
    int id;
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_value(x->g, name, &t, &id, &err), &err);
    return id;
}

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
            *(float *)p = random_float(r);
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
static int add_weights(generator *x, assay_op op, const assay_type *in, assay_attrs *a)
{
    assay_type t = {.elem = assay_f32(), .rank = in->rank};
    bool nchw = a->conv.layout == ASSAY_LAYOUT_NCHW;
    int64_t channels, out = test_between(x->r, 1, 3);
    if (op == ASSAY_OP_FC || op == ASSAY_OP_SVDF_FEATURE) {
        t.rank = 2;
        t.dim[0] = out;
        t.dim[1] = in->rank ? in->dim[in->rank - 1] : 1;
        return add_constant(x, &t);
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
    return add_constant(x, &t);
}

static void decorate(generator *x)
{
    assay_node *n = &x->g->node[x->g->n_nodes - 1];
    if (test_between(x->r, 0, 3) == 0) {
        n->act_lo = test_between(x->r, 0, 1) ? 0 : -INFINITY;
        n->act_hi = random_scale(x->r);
    }
    if (test_between(x->r, 0, 3) == 0) {
        n->has_code_bounds = true;
        n->code_lo = (int32_t)test_between(x->r, INT32_MIN, 0);
        n->code_hi = (int32_t)test_between(x->r, 0, INT32_MAX);
    }
    if (test_between(x->r, 0, 1))
        x->g->value[n->out[0]].source_index = (int)test_between(x->r, 0, 1000);
}

/* Quantize, dequantize, rescale: the output comes first. */
static bool add_convert(generator *x, assay_op op, int from)
{
    assay_type t = x->g->value[from].type;
    char name[64];
    assay_error err;
    assay_status s;
    int to;
    if ((op == ASSAY_OP_QUANTIZE) != (t.elem.kind == ASSAY_KIND_F32) ||
        (op != ASSAY_OP_QUANTIZE && !assay_is_quantized(&t)))
        return false;
    t.q = (assay_qparams){0};
    t.elem = op == ASSAY_OP_DEQUANTIZE ? assay_f32()
             : op == ASSAY_OP_RELABEL  ? t.elem
                                       : assay_int((unsigned)test_between(x->r, 2, 16), true);
    if (op != ASSAY_OP_DEQUANTIZE)
        random_params(x->r, &t);
    fresh_name(x, name, sizeof name);
    s = assay_graph_add_value(x->g, name, &t, &to, &err);
    if (op != ASSAY_OP_DEQUANTIZE)
        free_params(&t);
    assert_ok(s, &err);
    assert_ok(assay_graph_add_node(x->g, op, "convert", &from, 1, &to, 1, NULL, NULL, &err), &err);
    return true;
}

/* 4-bit codes with one scale, and a table of 16 others by them. */
static bool add_lookup(generator *x, int from)
{
    const float scale = 0.25F;
    const int32_t zero_point = 1;
    assay_type table = {.elem = assay_int(4, true), .rank = 1, .dim = {16}};
    assay_type codes = x->g->value[from].type;
    char name[2][64];
    assay_error err;
    int in[2], to;
    if (codes.elem.kind != ASSAY_KIND_F32)
        return false;
    codes.elem = table.elem;
    codes.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, &scale, &zero_point};
    fresh_name(x, name[0], sizeof name[0]);
    assert_ok(assay_graph_add_value(x->g, name[0], &codes, &in[0], &err), &err);
    in[1] = add_constant(x, &table);
    fresh_name(x, name[1], sizeof name[1]);
    assert_ok(assay_graph_add_value(x->g, name[1], &codes, &to, &err), &err);
    assert_ok(
        assay_graph_add_node(x->g, ASSAY_OP_QUANTIZE, "codes", &from, 1, in, 1, NULL, NULL, &err),
        &err);
    assert_ok(assay_graph_add_node(x->g, ASSAY_OP_LOOKUP, "table", in, 2, &to, 1, NULL, NULL, &err),
              &err);
    return true;
}

/* A body that gives what it takes, or one bool; returns its number. */
static int add_body(generator *x, const assay_type *t, bool test)
{
    static const bool no = false;
    const assay_type one = {.elem = assay_bool()};
    assay_graph *g;
    assay_error err;
    int v, out, id;
    assert_ok(assay_graph_new(test ? "test" : "body", &g, &err), &err);
    assert_ok(assay_graph_add_value(g, "v", t, &v, &err), &err);
    assert_ok(assay_graph_set_inputs(g, &v, 1, &err), &err);
    out = v;
    if (test)
        assert_ok(assay_graph_add_constant(g, "no", &one, &no, &out, &err), &err);
    assert_ok(assay_graph_set_outputs(g, &out, 1, &err), &err);
    assert_ok(assay_graph_add_subgraph(x->g, g, &id, &err), &err);
    return id;
}

static bool add_flow(generator *x, assay_op op, int value)
{
    const assay_type t = x->g->value[value].type, one = {.elem = assay_bool()};
    bool loop = op == ASSAY_OP_WHILE;
    int in[2] = {value, value}, first = add_body(x, &t, loop), second = add_body(x, &t, false), to;
    assay_attrs a = {0};
    char name[64];
    assay_error err;
    if (loop)
        a.loop = (assay_attr_loop){.condition = first, .body = second};
    else
        a.branch = (assay_attr_branch){.on_true = first, .on_false = second};
    if (!loop)
        in[0] = add_constant(x, &one);
    fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_value(x->g, name, &t, &to, &err), &err);
    assert_ok(assay_graph_add_node(x->g, op, NULL, in, loop ? 1 : 2, &to, 1, &a, NULL, &err), &err);
    return true;
}

static bool add_inferred(generator *x, assay_op op, const int *in, int n_in, const assay_attrs *a,
                         int *out)
{
    char name[64];
    const char *names = name;
    assay_error err;
    fresh_name(x, name, sizeof name);
    return !assay_graph_add_inferred(x->g, op, NULL, in, n_in, &names, 1, a, out, &err);
}

/* Scales of x's blocks, and what needs them: patterns, floats again, or a product of the patterns.
 */
static bool add_scaled(generator *x, assay_op op, int value)
{
    const assay_type t = x->g->value[value].type;
    const bool power = test_between(x->r, 0, 1) != 0;
    assay_attrs a;
    assay_list block = {.n = t.rank};
    int in[4] = {value, 0}, scale, codes, out;
    if (t.elem.kind != ASSAY_KIND_F32 || t.rank < 2)
        return false;
    for (int i = 0; i < t.rank; ++i)
        block.v[i] = test_between(x->r, 1, 3);
    assay_attrs_defaults(assay_op_get(ASSAY_OP_BLOCK_SCALE)->attrs, &a);
    a.block_scale.block = block;
    if (power) {
        a.block_scale.to = ASSAY_FLOAT_F8E8M0;
        a.block_scale.rule = (int)test_between(x->r, ASSAY_SCALE_FLOOR, ASSAY_SCALE_ROUND_UP);
    }
    if (!add_inferred(x, ASSAY_OP_BLOCK_SCALE, in, 1, &a, &scale) || op == ASSAY_OP_BLOCK_SCALE)
        return op == ASSAY_OP_BLOCK_SCALE;
    assay_attrs_defaults(assay_op_get(ASSAY_OP_FLOAT_ENCODE)->attrs, &a);
    a.float_encode.block = block;
    in[1] = scale;
    a.float_encode.to = (int)test_between(x->r, ASSAY_FLOAT_F16, ASSAY_FLOAT_F4E2M1);
    if (!add_inferred(x, ASSAY_OP_FLOAT_ENCODE, in, 2, &a, &codes) || op == ASSAY_OP_FLOAT_ENCODE)
        return op == ASSAY_OP_FLOAT_ENCODE;
    in[0] = codes;
    if (op == ASSAY_OP_FLOAT_DECODE) {
        a = (assay_attrs){.float_decode = {.block = block}};
        return add_inferred(x, op, in, 2, &a, &out);
    }
    in[2] = in[3] = scale;
    in[1] = codes;
    a = (assay_attrs){.scaled_matmul = {.a_block = block, .b_block = block}};
    return add_inferred(x, op, in, 4, &a, &out);
}

static int add_variable(generator *x)
{
    assay_type t = {.elem = assay_f32(), .rank = 2, .dim = {2, 3}};
    char name[64];
    int id;
    assay_error err;
    fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_variable(x->g, name, &t, NULL, &id, &err), &err);
    return id;
}

/* What goes with in[0] where an op names places: those are the integers among the graph's inputs.
 * No constant is added for what would be refused: attempt after attempt they would be all there is.
 */
static bool add_places(generator *x, assay_op op, int in[8])
{
    const assay_type of = x->g->value[in[0]].type;
    const bool is_float = of.elem.kind == ASSAY_KIND_F32;
    assay_type t = {.elem = assay_f32(), .rank = 2, .dim = {1, 4}};
    if (op == ASSAY_OP_ROI_ALIGN) {
        if (!is_float || of.rank != 4)
            return false;
        in[1] = add_constant(x, &t);
        in[2] = x->g->input[4];
        return true;
    }
    if (op == ASSAY_OP_GRID_SAMPLE) {
        if (!is_float || of.rank < 3 || of.rank > 5)
            return false;
        t = (assay_type){.elem = assay_f32(), .rank = of.rank, .dim = {of.dim[0], 1, 1, 1, 1}};
        t.dim[of.rank - 1] = of.rank - 2;
        in[1] = add_constant(x, &t);
        return true;
    }
    if (of.rank == 0 || of.q.granularity > ASSAY_Q_TENSOR ||
        (op == ASSAY_OP_SCATTER_REDUCE && !is_float))
        return false;
    t = of;
    t.dim[0] = 2;
    in[1] = x->g->input[5];
    in[2] = add_constant(x, &t);
    return true;
}

static int pick(generator *x)
{
    int id;
    do
        id = (int)test_between(x->r, 0, x->g->n_values - 1);
    while (assay_shape_count(&x->g->value[id].type) > MAX_ELEMENTS);
    return id;
}

static bool try_op(generator *x, assay_op op)
{
    const assay_op_info *info = assay_op_get(op);
    int n_in = info->max_in < 0 ? (int)test_between(x->r, 1, 3)
                                : (int)test_between(x->r, info->min_in, info->max_in);
    int n_out = info->n_out < 0 ? (int)test_between(x->r, 1, 3) : info->n_out;
    int in[8], out[4];
    char name[4][64];
    const char *names[4] = {name[0], name[1], name[2], name[3]};
    assay_attrs a;
    assay_error err;
    assay_status s;

    for (int i = 0; i < n_in; ++i)
        in[i] = i && test_between(x->r, 0, 1) ? in[0] : pick(x);
    if (info->traits & ASSAY_T_CONVERT)
        return add_convert(x, op, in[0]);
    if (op == ASSAY_OP_LOOKUP)
        return add_lookup(x, in[0]);
    if (info->traits & ASSAY_T_FLOW)
        return add_flow(x, op, in[0]);
    if (info->traits & ASSAY_T_MAC && op != ASSAY_OP_PATCHES)
        return add_scaled(x, op, in[0]);
    if (info->traits & ASSAY_T_STATE)
        in[0] = in[1] = add_variable(x);
    random_attrs(x->r, op, x->g->value[in[0]].type.rank, &a);
    if (op == ASSAY_OP_RESHAPE) {
        a.shape.shape.n = (int)test_between(x->r, 1, 2);
        a.shape.shape.v[0] = -1;
        a.shape.shape.v[1] = 2;
    }
    const bool places = op == ASSAY_OP_ROI_ALIGN || op == ASSAY_OP_GRID_SAMPLE ||
                        op == ASSAY_OP_SCATTER_ND || op == ASSAY_OP_SCATTER_REDUCE;
    if (places && !add_places(x, op, in))
        return false;
    if (info->traits & ASSAY_T_WEIGHTED) {
        assay_type t = x->g->value[in[0]].type;
        if (t.elem.kind != ASSAY_KIND_F32 ||
            (op != ASSAY_OP_FC && op != ASSAY_OP_SVDF_FEATURE && (t.rank < 3 || t.rank > 5)))
            return false;
        in[1] = add_weights(x, op, &t, &a);
        n_in = 2;
    }
    if (op == ASSAY_OP_BATCH_NORM) {
        const assay_type *t = &x->g->value[in[0]].type;
        int axis = a.batch_norm.layout == ASSAY_LAYOUT_NCHW ? 1 : t->rank - 1;
        assay_type channels = {.elem = t->elem, .rank = 1};
        if (t->rank < 2 || t->elem.kind != ASSAY_KIND_F32)
            return false;
        channels.dim[0] = t->dim[axis];
        in[1] = in[2] = in[3] = in[4] = add_constant(x, &channels);
    }
    for (int i = 0; i < n_out; ++i)
        fresh_name(x, name[i], sizeof name[i]);
    s = assay_graph_add_inferred(x->g, op, test_between(x->r, 0, 1) ? NULL : "named node", in, n_in,
                                 names, n_out, &a, out, &err);
    if (s) {
        assert_refused(s, &err, info->name);
        return false;
    }
    return true;
}

assay_graph *test_random_graph(test_rng *r)
{
    generator x = {.r = r};
    assay_error err;
    int inputs[6], order[ASSAY_OP_COUNT];

    assert_ok(assay_graph_new("random graph", &x.g, &err), &err);
    inputs[0] = add_input(&x, assay_f32(), 4, (int64_t[]){2, 4, 6, 6});
    inputs[1] = add_input(&x, assay_f32(), 3, (int64_t[]){1, 4, 8});
    inputs[2] = add_input(&x, assay_f32(), 1, (int64_t[]){4});
    inputs[3] = add_input(&x, assay_bool(), 2, (int64_t[]){2, 4});
    inputs[4] = add_input(&x, assay_int(64, true), 1, (int64_t[]){1});
    inputs[5] = add_input(&x, assay_int(32, true), 2, (int64_t[]){2, 1});
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
            add_loose_constant(&x);
    }
    assert_ok(assay_graph_set_outputs(x.g, x.g->node[x.g->n_nodes - 1].out, 1, &err), &err);
    snprintf(x.g->model_digest, sizeof x.g->model_digest, "%016llx%016llx",
             (unsigned long long)test_random(r), (unsigned long long)test_random(r));
    assert_ok(assay_graph_verify(x.g, &err), &err);
    return x.g;
}
