/* Functions that the model itself defines: a call becomes the nodes of the function. */
#include <string.h>

#include "graph/onnx/op/op.h"

enum { MAX_NODES = 1 << 17 };

const pb_function *onnx_find_function(const onnx_import *im, const char *domain, const char *name)
{
    for (size_t i = 0; im->model && i < im->model->n_functions; i++) {
        const pb_function *f = im->model->functions[i];
        if (strcmp(f->name, name) == 0 && strcmp(onnx_standard_domain(f->domain), domain) == 0)
            return f;
    }
    return NULL;
}

static const pb_attribute *named(pb_attribute *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

/* What an attribute of the function's node stands for: what the call says, else the default; NULL:
 * neither. */
static const pb_attribute *given(const onnx_node *n, const pb_function *f, const pb_attribute *a)
{
    const pb_attribute *found;

    if (!a->ref_attr_name || !*a->ref_attr_name)
        return a;
    found = named(n->pb->attribute, n->pb->n_attribute, a->ref_attr_name);
    return found ? found : named(f->attribute_proto, f->n_attribute_proto, a->ref_attr_name);
}

static bool fill_attributes(onnx_node *n, const pb_function *f, pb_node *to)
{
    pb_attribute **list = onnx_alloc(n->im, to->n_attribute * sizeof *list + 1);
    pb_attribute *copy = onnx_alloc(n->im, to->n_attribute * sizeof *copy + 1);
    size_t count = 0;

    for (size_t k = 0; list && copy && k < to->n_attribute; k++) {
        const pb_attribute *a = given(n, f, to->attribute[k]);
        if (!a)
            continue;
        copy[count] = *a;
        copy[count].name = to->attribute[k]->name;
        list[count] = &copy[count];
        count++;
    }
    to->attribute = list;
    to->n_attribute = count;
    return list && copy;
}

/* An input that the call leaves out is one that the function's nodes leave out. */
static bool fill_inputs(onnx_node *n, const pb_function *f, pb_node *to)
{
    char **list = onnx_alloc(n->im, to->n_input * sizeof *list + 1);
    char *none = onnx_alloc(n->im, 1);

    for (size_t k = 0; list && none && k < to->n_input; k++) {
        list[k] = to->input[k];
        for (size_t i = 0; i < f->n_input; i++)
            if (!onnx_has(n, i) && strcmp(f->input[i], list[k]) == 0)
                list[k] = none;
    }
    to->input = list;
    return list && none;
}

static pb_node **nodes_of(onnx_node *n, const pb_function *f)
{
    pb_node **list = onnx_alloc(n->im, f->n_node * sizeof *list + 1);
    pb_node *copy = onnx_alloc(n->im, f->n_node * sizeof *copy + 1);

    for (size_t i = 0; list && copy && i < f->n_node; i++) {
        copy[i] = *f->node[i];
        list[i] = &copy[i];
        if (!fill_attributes(n, f, &copy[i]) || !fill_inputs(n, f, &copy[i]))
            return NULL;
    }
    return copy ? list : NULL;
}

/* Names as the ends of a graph. */
static pb_value_info **ends_of(onnx_node *n, char *const *name, size_t count)
{
    pb_value_info **list = onnx_alloc(n->im, count * sizeof *list + 1);
    pb_value_info *info = onnx_alloc(n->im, count * sizeof *info + 1);

    for (size_t i = 0; list && info && i < count; i++) {
        assay__onnx__value_info__init(&info[i]);
        info[i].name = name[i];
        list[i] = &info[i];
    }
    return info ? list : NULL;
}

/* The function as a graph whose inputs are those that the call gives, which `in` becomes. */
static bool graph_of(onnx_node *n, const pb_function *f, pb_graph *g, onnx_value **in)
{
    char **name = onnx_alloc(n->im, f->n_input * sizeof *name + 1);

    assay__onnx__graph__init(g);
    for (size_t i = 0; name && i < f->n_input; i++) {
        if (!onnx_has(n, i))
            continue;
        in[g->n_input] = onnx_find_value(n->im, n->pb->input[i]);
        name[g->n_input++] = f->input[i];
    }
    g->n_node = f->n_node;
    g->node = nodes_of(n, f);
    g->n_output = f->n_output;
    g->output = ends_of(n, f->output, f->n_output);
    g->input = name ? ends_of(n, name, g->n_input) : NULL;
    return (g->node && g->input && g->output) || onnx_no_memory(n);
}

/* The version of the standard operators that its nodes are of. */
static int64_t opset_of(const onnx_node *n, const pb_function *f)
{
    for (size_t i = 0; i < f->n_opset_import; i++)
        if (*onnx_standard_domain(f->opset_import[i]->domain) == '\0')
            return f->opset_import[i]->version;
    return n->im->opset;
}

void onnx_import_call(onnx_node *n)
{
    const pb_function *f =
        onnx_find_function(n->im, onnx_standard_domain(n->pb->domain), n->pb->op_type);
    onnx_value **in = onnx_alloc(n->im, f->n_input * sizeof(onnx_value *) + 1);
    onnx_value **out = onnx_alloc(n->im, f->n_output * sizeof(onnx_value *) + 1);
    const int64_t opset = n->im->opset;
    pb_graph *g = onnx_alloc(n->im, sizeof *g);

    if (!in || !out || !g) {
        onnx_no_memory(n);
        return;
    }
    if (n->pb->n_input > f->n_input || n->pb->n_output > f->n_output)
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu inputs and %zu outputs, the function has %zu and %zu",
                  n->pb->n_input, n->pb->n_output, f->n_input, f->n_output);
    n->im->called += f->n_node;
    if (n->im->called > MAX_NODES)
        onnx_refuse(n, "functions of more than %d nodes in all", MAX_NODES);
    if (n->status || !graph_of(n, f, g, in))
        return;
    n->im->opset = opset_of(n, f);
    (void)onnx_put_body(n, g, NULL, in, out);
    n->im->opset = opset;
    for (size_t i = 0; i < n->pb->n_output && !n->status; i++)
        onnx_bind_inner(n, i, out[i]);
}
