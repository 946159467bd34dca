/* Control flow: IF and WHILE, whose bodies are subgraphs of the model, and STABLEHLO_COMPOSITE.
 *
 * TFLite copies bytes between an operator's tensors and a body's. Where the two differ in shape but
 * not in count, or in parameters, a reshape or a relabel stands between them, so that in the graph
 * a body has the types of its node. Values whose shape the data decides are not supported. */
#include <string.h>

#include "graph/tflite/op/op.h"

enum { OPTION_FIRST = 0, OPTION_SECOND = 1 };

/* The bytes of `x` as a value of type `type`: into *to when that is given, else a new part. */
static assay_status convey(const tfl_op *o, int x, const assay_type *type, int *to)
{
    assay_graph *g = o->m->g;
    assay_type middle = *type;
    bool same_shape = assay_shape_equal(&g->value[x].type, type);
    bool same_params = assay_qparams_equal(&g->value[x].type.q, &type->q);
    int reshaped = *to;
    assay_status s;

    if (!assay_elem_equal(g->value[x].type.elem, type->elem) ||
        assay_shape_count(&g->value[x].type) != assay_shape_count(type))
        return tfl_unsupported(o, "a value that differs in type or size inside a body and outside");
    if (*to < 0 && (s = tfl_part(o, "passed", type, to)))
        return s;
    if (same_shape)
        return assay_graph_add_node(g, ASSAY_OP_RELABEL, NULL, &x, 1, to, 1, NULL, NULL, o->m->err);
    if (same_params)
        return tfl_reshape(o, x, *to);
    middle.q = g->value[x].type.q;
    if ((s = tfl_part(o, "reshaped", &middle, &reshaped)) || (s = tfl_reshape(o, x, reshaped)))
        return s;
    return assay_graph_add_node(g, ASSAY_OP_RELABEL, NULL, &reshaped, 1, to, 1, NULL, NULL,
                                o->m->err);
}

/* The operands from `first` on, as the body takes them. */
static assay_status operands(const tfl_op *o, int first, const assay_graph *body, int *in)
{
    if (body->n_inputs != o->n_in - first)
        return tfl_fail(o, "%d operands, but the body takes %d", o->n_in - first, body->n_inputs);
    for (int i = 0; i < body->n_inputs; ++i) {
        const assay_type *type = &body->value[body->input[i]].type;
        int x, passed = -1;
        assay_status s = tfl_value(o, first + i, &x);
        if (s)
            return s;
        if (x == ASSAY_NO_VALUE)
            return tfl_fail(o, "input %d is missing", first + i);
        if (!assay_type_equal(&o->m->g->value[x].type, type)) {
            if ((s = convey(o, x, type, &passed)))
                return s;
            x = passed;
        }
        in[first + i] = x;
    }
    return ASSAY_OK;
}

/* A node with the results of `body`, brought to the operator's outputs. */
static assay_status finish(const tfl_op *o, const assay_graph *body, const int *in, int *out,
                           const assay_attrs *a)
{
    assay_graph *g = o->m->g;
    assay_status s = ASSAY_OK;

    if (body->n_outputs != o->n_out)
        return tfl_fail(o, "%d outputs, but the body has %d", o->n_out, body->n_outputs);
    for (int i = 0; !s && i < o->n_out; ++i) {
        const assay_type *type = &body->value[body->output[i]].type;
        if (!(s = tfl_result(o, i, &out[i])) && !assay_type_equal(&g->value[out[i]].type, type))
            s = tfl_part(o, "result", type, &out[i]);
    }
    if (!s)
        s = assay_graph_add_node(g, o->op, NULL, in, o->n_in, out, o->n_out, a, NULL, o->m->err);
    for (int i = 0; !s && i < o->n_out; ++i) {
        int y;
        if (!(s = tfl_result(o, i, &y)) && y != out[i])
            s = convey(o, out[i], &g->value[y].type, &y);
    }
    return s;
}

static assay_status lists(const tfl_op *o, int **in, int **out)
{
    *in = assay_arena_array(o->m->temp, (size_t)o->n_in + 1, sizeof **in);
    *out = assay_arena_array(o->m->temp, (size_t)o->n_out + 1, sizeof **out);
    return *in && *out ? ASSAY_OK : tfl_no_memory(o->m);
}

/* Both bodies, so that all that either holds and is not supported is listed. */
static assay_status bodies(const tfl_op *o, int64_t *first, int64_t *second)
{
    assay_status s = o->m->import_body(o, tfl_flat_i32(o->options, OPTION_FIRST, 0), first);
    assay_status t = s && s != ASSAY_ERR_UNSUPPORTED
                         ? s
                         : o->m->import_body(o, tfl_flat_i32(o->options, OPTION_SECOND, 0), second);
    return t ? t : s;
}

assay_status tfl_op_if(const tfl_op *o)
{
    assay_attrs a = {0};
    const assay_graph *body;
    int *in, *out;
    assay_status s;

    if (!tfl_has(o, 0))
        return tfl_fail(o, "the condition is missing");
    if ((s = lists(o, &in, &out)) || (s = tfl_value(o, 0, &in[0])) ||
        (s = bodies(o, &a.branch.on_true, &a.branch.on_false)))
        return s;
    body = o->m->g->subgraph[a.branch.on_true];
    s = operands(o, 1, body, in);
    return s ? s : finish(o, body, in, out, &a);
}

/* A fused operation with what it is made of, which TFLite runs (kernels/stablehlo_composite.cc). */
assay_status tfl_op_composite(const tfl_op *o)
{
    return o->m->inline_body(o, tfl_flat_i32(o->options, COMPOSITE_BODY, 0));
}

assay_status tfl_op_while(const tfl_op *o)
{
    assay_attrs a = {0};
    const assay_graph *body;
    int *in, *out;
    assay_status s;

    if ((s = lists(o, &in, &out)) || (s = bodies(o, &a.loop.condition, &a.loop.body)))
        return s;
    body = o->m->g->subgraph[a.loop.body];
    s = operands(o, 0, body, in);
    return s ? s : finish(o, body, in, out, &a);
}
