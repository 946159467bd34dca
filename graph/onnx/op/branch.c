/* If: the branch taken, in its place, where that is known; else a node with two bodies. */
#include "graph/onnx/op/op.h"

/* The results of a body that was put into a graph of its own. */
typedef struct side {
    onnx_value **out;
    int64_t number; /* of that graph */
    bool there;     /* and nothing in it is unsupported */
} side;

static side import_side(onnx_node *n, const pb_graph *g, const char *tag, const onnx_captures *c,
                        onnx_inner *inner)
{
    side s = {.out = onnx_alloc(n->im, n->pb->n_output * sizeof(onnx_value *) + 1)};

    if (!s.out)
        onnx_no_memory(n);
    if (n->status || !onnx_enter(n, inner, tag, c, 0))
        return s;
    s.there = onnx_put_body(n, g, tag, NULL, s.out);
    s.number = onnx_leave(n, inner, s.there ? s.out : NULL, (int)n->pb->n_output);
    s.there = s.there && s.number >= 0;
    return s;
}

static const assay_type *result_type(const onnx_node *n, const side *s, size_t i)
{
    const assay_graph *g = n->im->graph->subgraph[s->number];
    return &g->value[g->output[i]].type;
}

static void check_results(onnx_node *n, const side *yes, const side *no)
{
    for (size_t i = 0; i < n->pb->n_output; i++) {
        const assay_type *a = result_type(n, yes, i), *b = result_type(n, no, i);
        char shape[2][160];
        if (!assay_elem_equal(a->elem, b->elem))
            onnx_fail(n, ASSAY_ERR_INPUT, "output '%s' has different types in the two branches",
                      n->pb->output[i]);
        else if (!assay_shape_equal(a, b))
            onnx_refuse(n,
                        "the condition is not known at import, and output '%s' is %s in one "
                        "branch, %s in the other",
                        n->pb->output[i], assay_shape_print(a, shape[0], sizeof shape[0]),
                        assay_shape_print(b, shape[1], sizeof shape[1]));
    }
}

/* The condition is a value of run time. */
static void import_both(onnx_node *n, onnx_value *condition)
{
    const size_t n_out = n->pb->n_output;
    const pb_graph *g[2] = {onnx_subgraph(n, "then_branch", 0, n_out, true),
                            onnx_subgraph(n, "else_branch", 0, n_out, true)};
    onnx_captures c;
    onnx_inner inner;
    side s[2];

    if (n->status || !onnx_capture(n, g, 2, &c))
        return;
    s[0] = import_side(n, g[0], "then", &c, &inner);
    s[1] = import_side(n, g[1], "else", &c, &inner);
    if (n->status || !s[0].there || !s[1].there)
        return;
    int *in = onnx_alloc(n->im, ((size_t)inner.n_in + 1) * sizeof *in);
    onnx_value **y = onnx_alloc(n->im, n_out * sizeof(onnx_value *) + 1);
    const assay_attrs a = {.branch = {.on_true = s[0].number, .on_false = s[1].number}};
    if (!in || !y) {
        onnx_no_memory(n);
        return;
    }
    check_results(n, &s[0], &s[1]);
    in[0] = condition->id;
    for (int i = 0; i < inner.n_in; i++)
        in[i + 1] = inner.outer[i];
    for (size_t i = 0; i < n_out && !n->status; i++) {
        y[i] = n->pb->output[i][0] ? onnx_find_value(n->im, n->pb->output[i]) : NULL;
        if (y[i])
            y[i]->narrow = s[0].out[i]->narrow;
    }
    onnx_flow(n, ASSAY_OP_IF, &a, in, inner.n_in + 1, y, (int)n_out);
}

void onnx_import_if_then_else(onnx_node *n)
{
    onnx_value *condition = onnx_in(n, 0), **out;
    const assay_type t = onnx_type(n, condition);
    const pb_graph *g;

    if (t.elem.kind != ASSAY_KIND_BOOL || onnx_count(&t) != 1) {
        onnx_fail(n, ASSAY_ERR_INPUT, "condition '%s' is not a single bool", n->pb->input[0]);
        return;
    }
    if (!condition->constant) {
        import_both(n, condition);
        return;
    }
    g = onnx_subgraph(n, onnx_get_int(condition->constant, 0) ? "then_branch" : "else_branch", 0,
                      n->pb->n_output, true);
    if (!g)
        return;
    out = onnx_alloc(n->im, n->pb->n_output * sizeof(onnx_value *) + 1);
    if (!out) {
        onnx_no_memory(n);
        return;
    }
    (void)onnx_put_body(n, g, NULL, NULL, out);
    for (size_t i = 0; i < n->pb->n_output && !n->status; i++)
        onnx_bind_inner(n, i, out[i]);
}
