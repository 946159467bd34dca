/* Control flow: the types of a node are those of its bodies. */
#include "graph/core/infer.h"

#include <stdio.h>

/* A body by its number, or NULL with the error set. */
static const assay_graph *body_of(const assay_inference *c, const char *role, int64_t number)
{
    if (number >= 0 && number < c->g->n_subgraphs)
        return c->g->subgraph[number];
    assay_infer_fail(c, "attribute '%s' is %lld, but there are %d subgraphs", role,
                     (long long)number, c->g->n_subgraphs);
    return NULL;
}

/* The node's inputs from `first` on are what the body takes. */
static assay_status check_inputs(const assay_inference *c, const assay_graph *body, int first)
{
    if (body->n_inputs != c->n->n_in - first)
        return assay_infer_fail(c, "subgraph '%.100s' takes %d inputs, expected %d", body->name,
                                body->n_inputs, c->n->n_in - first);
    for (int i = 0; i < body->n_inputs; ++i)
        if (!assay_type_equal(&body->value[body->input[i]].type, assay_infer_in(c, first + i)))
            return assay_infer_fail(c, "input %d differs in type from that of subgraph '%.100s'",
                                    first + i, body->name);
    return ASSAY_OK;
}

static assay_status check_outputs(const assay_inference *c, const assay_graph *body)
{
    if (body->n_outputs != c->n->n_out)
        return assay_infer_fail(c, "subgraph '%.100s' has %d outputs, expected %d", body->name,
                                body->n_outputs, c->n->n_out);
    return ASSAY_OK;
}

static bool is_one_bool(const assay_type *t)
{
    return t->elem.kind == ASSAY_KIND_BOOL && assay_shape_count(t) == 1;
}

/* Both bodies give the same types. */
assay_status assay_shape_branch(const assay_inference *c)
{
    const assay_graph *yes = body_of(c, "on_true", c->n->attr.branch.on_true), *no;
    assay_status s;

    if (!yes || !(no = body_of(c, "on_false", c->n->attr.branch.on_false)))
        return ASSAY_ERR_INPUT;
    if (!is_one_bool(c->x))
        return assay_infer_fail(c, "the condition is not a single bool");
    if ((s = check_inputs(c, yes, 1)) || (s = check_inputs(c, no, 1)) ||
        (s = check_outputs(c, yes)) || (s = check_outputs(c, no)))
        return s;
    for (int i = 0; i < c->n->n_out; ++i) {
        c->out[i] = yes->value[yes->output[i]].type;
        if (!assay_type_equal(&c->out[i], &no->value[no->output[i]].type))
            return assay_infer_fail(
                c, "output %d has different types in subgraphs '%.80s' and '%.80s'", i, yes->name,
                no->name);
    }
    return ASSAY_OK;
}

/* What the body gives is what it takes. */
assay_status assay_shape_loop(const assay_inference *c)
{
    const assay_graph *test = body_of(c, "condition", c->n->attr.loop.condition), *body;
    assay_status s;

    if (!test || !(body = body_of(c, "body", c->n->attr.loop.body)))
        return ASSAY_ERR_INPUT;
    if (test->n_outputs != 1 || !is_one_bool(&test->value[test->output[0]].type))
        return assay_infer_fail(c, "subgraph '%.100s' does not return a single bool", test->name);
    if (c->n->n_out != c->n->n_in)
        return assay_infer_fail(c, "%d inputs but %d outputs, expected as many of each", c->n->n_in,
                                c->n->n_out);
    if ((s = check_inputs(c, test, 0)) || (s = check_inputs(c, body, 0)) ||
        (s = check_outputs(c, body)))
        return s;
    for (int i = 0; i < c->n->n_out; ++i) {
        c->out[i] = *assay_infer_in(c, i);
        if (!assay_type_equal(&c->out[i], &body->value[body->output[i]].type))
            return assay_infer_fail(c, "value %d changes its type in subgraph '%.100s'", i,
                                    body->name);
    }
    return ASSAY_OK;
}
