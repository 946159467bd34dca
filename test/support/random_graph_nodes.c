/* Nodes of random graphs whose operands are made to suit them. */
#include "test/support/random_graph_parts.h"

bool graph_add_convert(graph_drawing *x, assay_op op, int from)
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
        graph_random_params(x->r, &t);
    graph_fresh_name(x, name, sizeof name);
    s = assay_graph_add_value(x->g, name, &t, &to, &err);
    if (op != ASSAY_OP_DEQUANTIZE)
        graph_free_params(&t);
    assert_ok(s, &err);
    assert_ok(assay_graph_add_node(x->g, op, "convert", &from, 1, &to, 1, NULL, NULL, &err), &err);
    return true;
}

bool graph_add_lookup(graph_drawing *x, int from)
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
    graph_fresh_name(x, name[0], sizeof name[0]);
    assert_ok(assay_graph_add_value(x->g, name[0], &codes, &in[0], &err), &err);
    in[1] = graph_add_drawn_constant(x, &table);
    graph_fresh_name(x, name[1], sizeof name[1]);
    assert_ok(assay_graph_add_value(x->g, name[1], &codes, &to, &err), &err);
    assert_ok(
        assay_graph_add_node(x->g, ASSAY_OP_QUANTIZE, "codes", &from, 1, in, 1, NULL, NULL, &err),
        &err);
    assert_ok(assay_graph_add_node(x->g, ASSAY_OP_LOOKUP, "table", in, 2, &to, 1, NULL, NULL, &err),
              &err);
    return true;
}

/* A body that gives what it takes, or one bool; returns its number. */
static int add_body(graph_drawing *x, const assay_type *t, bool test)
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

bool graph_add_flow(graph_drawing *x, assay_op op, int value)
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
        in[0] = graph_add_drawn_constant(x, &one);
    graph_fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_value(x->g, name, &t, &to, &err), &err);
    assert_ok(assay_graph_add_node(x->g, op, NULL, in, loop ? 1 : 2, &to, 1, &a, NULL, &err), &err);
    return true;
}

static bool add_inferred(graph_drawing *x, assay_op op, const int *in, int n_in,
                         const assay_attrs *a, int *out)
{
    char name[64];
    const char *names = name;
    assay_error err;
    graph_fresh_name(x, name, sizeof name);
    return !assay_graph_add_inferred(x->g, op, NULL, in, n_in, &names, 1, a, out, &err);
}

bool graph_add_scaled(graph_drawing *x, assay_op op, int value)
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

/* Boxes and their scores; of a detection encodings, scores of two classes and anchors. */
static void add_boxes(graph_drawing *x, assay_op op, int in[8])
{
    assay_type t = {.elem = assay_f32(), .rank = 3, .dim = {1, 3, 4}};
    if (op == ASSAY_OP_SOFT_NMS)
        t = (assay_type){.elem = assay_f32(), .rank = 2, .dim = {3, 4}};
    in[0] = graph_add_drawn_constant(x, &t);
    if (op == ASSAY_OP_NMS)
        t.dim[1] = 2;
    if (op == ASSAY_OP_SOFT_NMS)
        t.rank = 1;
    else
        t.dim[2] = op == ASSAY_OP_NMS ? 3 : 2;
    in[1] = graph_add_drawn_constant(x, &t);
    if (op != ASSAY_OP_DETECTION)
        return;
    t = (assay_type){.elem = assay_f32(), .rank = 2, .dim = {3, 4}};
    in[2] = graph_add_drawn_constant(x, &t);
    for (int i = 0; in[2] >= 0 && i < 12; i++) /* extents are not negative */
        ((float *)(uintptr_t)x->g->value[in[2]].data)[i] = (float)(i % 5);
}

bool graph_add_places(graph_drawing *x, assay_op op, int in[8])
{
    const assay_type of = x->g->value[in[0]].type;
    const bool is_float = of.elem.kind == ASSAY_KIND_F32;
    assay_type t = {.elem = assay_f32(), .rank = 2, .dim = {1, 4}};
    if (op == ASSAY_OP_NMS || op == ASSAY_OP_SOFT_NMS || op == ASSAY_OP_DETECTION) {
        add_boxes(x, op, in);
        return true;
    }
    if (op == ASSAY_OP_ROI_ALIGN) {
        if (!is_float || of.rank != 4)
            return false;
        in[1] = graph_add_drawn_constant(x, &t);
        in[2] = x->g->input[4];
        return true;
    }
    if (op == ASSAY_OP_GRID_SAMPLE) {
        if (!is_float || of.rank < 3 || of.rank > 5)
            return false;
        t = (assay_type){.elem = assay_f32(), .rank = of.rank, .dim = {of.dim[0], 1, 1, 1, 1}};
        t.dim[of.rank - 1] = of.rank - 2;
        in[1] = graph_add_drawn_constant(x, &t);
        return true;
    }
    if (of.rank == 0 || of.q.granularity > ASSAY_Q_TENSOR ||
        (op == ASSAY_OP_SCATTER_REDUCE && !is_float))
        return false;
    t = of;
    t.dim[0] = 2;
    in[1] = x->g->input[5];
    in[2] = graph_add_drawn_constant(x, &t);
    return true;
}
