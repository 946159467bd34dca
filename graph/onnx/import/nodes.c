/* Nodes, in order: each checked against its line of ops.def and handed to its handler. */
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/import/import.h"

static bool contains_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = words; n > 0 && (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

/* The line of an operator that the model defines. */
static const onnx_op_row function = {"", "", onnx_import_call, ASSAY_OP_COUNT, 0, -1, -1, ""};

static void check_node(onnx_node *n)
{
    const pb_node *pb = n->pb;
    const char *domain = onnx_standard_domain(pb->domain);

    n->row = onnx_find_op(domain, pb->op_type);
    if (onnx_find_function(n->im, domain, pb->op_type)) {
        n->row = &function;
        return;
    }
    if (!n->row) {
        onnx_refuse(n, "unknown op%s%s", *domain ? " in domain " : "", domain);
        return;
    }
    for (size_t i = 0; i < pb->n_attribute; i++) {
        if (!contains_word(n->row->attributes, pb->attribute[i]->name))
            onnx_refuse(n, "attribute '%s'", pb->attribute[i]->name);
        if (pb->attribute[i]->ref_attr_name)
            onnx_refuse(n, "attribute '%s' refers to an attribute of a function",
                        pb->attribute[i]->name);
    }
    if ((n->row->max_in >= 0 && pb->n_input > (size_t)n->row->max_in) ||
        (n->row->max_out >= 0 && pb->n_output > (size_t)n->row->max_out) || pb->n_output == 0)
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu inputs and %zu outputs, expected at most %d and %d",
                  pb->n_input, pb->n_output, n->row->max_in, n->row->max_out);
    for (int i = 0; i < n->row->min_in; i++)
        if (!onnx_has(n, (size_t)i))
            onnx_fail(n, ASSAY_ERR_INPUT, "input %d is missing", i);
}

/* A sequence is no tensor, of which most operators take nothing else. */
static void check_sequence(onnx_node *n, size_t i, const onnx_value *v)
{
    static const char takers[] = "SequenceAt SequenceLength SequenceInsert SequenceErase "
                                 "SequenceMap ConcatFromSequence SequenceConstruct Identity Loop";

    if (v->list && !contains_word(takers, n->pb->op_type))
        onnx_refuse(n, "input '%s' is a sequence", n->pb->input[i]);
}

/* Are the inputs there, and does none come from an unsupported node? */
static bool inputs_ready(onnx_node *n)
{
    for (size_t i = 0; i < n->pb->n_input; i++) {
        onnx_value *v = onnx_in(n, i);
        if (v && v->is_lost)
            return false;
        if (v && !onnx_is_made(v)) {
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "uses '%s' before node '%s' makes it: the nodes form a cycle",
                      n->pb->input[i], v->maker);
            return false;
        }
        if (v)
            check_sequence(n, i, v);
    }
    return !n->status;
}

assay_status onnx_import_nodes(onnx_import *im, onnx_node *nodes, size_t count, assay_error *err)
{
    onnx_node **order = onnx_order_nodes(im, nodes, count);

    if (!order)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < count; i++) {
        onnx_node *n = order[i];
        assay_error cause;

        n->err = &cause;
        check_node(n);
        if (!n->status && inputs_ready(n)) {
            onnx_begin_narrow(n);
            n->row->import(n);
            onnx_end_narrow(n);
        }
        if (n->status && onnx_tolerate(im, n->status, &cause))
            return assay_fail(err, n->status, "%s", cause.text);
        for (size_t k = 0; k < n->pb->n_output; k++) {
            onnx_value *v = onnx_find_value(im, n->pb->output[k]);
            if (v && !onnx_is_made(onnx_resolve(v)))
                v->is_lost = true;
        }
    }
    return ASSAY_OK;
}
