/* Names, types and shapes of a network's values, in the words of the format. */
#include "graph/onnx/export/write.h"

/* Name and type of a value of the network. */
static pb_value_info *described(onnx_writer *w, int value)
{
    const assay_value *v = &w->g->value[value];
    pb_value_info *info = onnx_memory(w, sizeof *info);
    Assay__Onnx__Type *type = onnx_memory(w, sizeof *type);
    Assay__Onnx__TensorType *tensor = onnx_memory(w, sizeof *tensor);
    Assay__Onnx__Shape *shape = onnx_memory(w, sizeof *shape);
    Assay__Onnx__Dimension *dim = onnx_memory(w, ((size_t)v->type.rank + 1) * sizeof *dim);
    Assay__Onnx__Dimension **dims = onnx_memory(w, ((size_t)v->type.rank + 1) * sizeof(void *));

    if (!info || !type || !tensor || !shape || !dim || !dims)
        return NULL;
    assay__onnx__value_info__init(info);
    assay__onnx__type__init(type);
    assay__onnx__tensor_type__init(tensor);
    assay__onnx__shape__init(shape);
    for (int i = 0; i < v->type.rank; i++) {
        assay__onnx__dimension__init(&dim[i]);
        dim[i].has_dim_value = true;
        dim[i].dim_value = v->type.dim[i];
        dims[i] = &dim[i];
    }
    shape->n_dim = (size_t)v->type.rank;
    shape->dim = dims;
    tensor->has_elem_type = true;
    tensor->elem_type = onnx_elem_dtype(v->type.elem);
    tensor->shape = shape;
    type->tensor_type = tensor;
    info->name = (char *)(uintptr_t)v->name;
    info->type = type;
    return info;
}

static pb_value_info **interfaces(onnx_writer *w, const int *id, int n)
{
    pb_value_info **list = onnx_memory(w, ((size_t)n + 1) * sizeof(void *));
    for (int i = 0; i < n && list; i++)
        list[i] = described(w, id[i]);
    return list;
}

static bool is_among(const int *id, int n, int value)
{
    int i = 0;
    while (i < n && id[i] != value)
        i++;
    return i < n;
}

/* The other values that nodes give, for viewers: readers find their types by themselves. */
static void describe_rest(onnx_writer *w)
{
    const assay_graph *g = w->g;
    pb_value_info **list = onnx_memory(w, ((size_t)g->n_values + 1) * sizeof(void *));
    size_t n = 0;
    for (int v = 0; v < g->n_values && list; v++)
        if (!g->value[v].data && onnx_elem_dtype(g->value[v].type.elem) != ONNX_UNDEFINED &&
            !is_among(g->input, g->n_inputs, v) && !is_among(g->output, g->n_outputs, v))
            list[n++] = described(w, v);
    w->graph.value_info = list;
    w->graph.n_value_info = n;
}

void onnx_write_values(onnx_writer *w)
{
    w->graph.input = interfaces(w, w->g->input, w->g->n_inputs);
    w->graph.output = interfaces(w, w->g->output, w->g->n_outputs);
    w->graph.n_input = (size_t)w->g->n_inputs;
    w->graph.n_output = (size_t)w->g->n_outputs;
    describe_rest(w);
}
