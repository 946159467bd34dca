/* Messages of the format, in an arena, then packed. */
#include "graph/onnx/export/write.h"
#include "graph/memory.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void no_memory(onnx_writer *w)
{
    if (!w->status)
        w->status = assay_out_of_memory(w->err);
}

void *onnx_memory(onnx_writer *w, size_t bytes)
{
    void *p = w->status ? NULL : assay_arena_alloc(w->arena, bytes);
    if (!p)
        no_memory(w);
    return p;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of the network's own values and nodes, in order: none that is made may be one of them.
 */
static void note_names(onnx_writer *w)
{
    const assay_graph *g = w->g;
    w->own = onnx_memory(w, ((size_t)g->n_values + 1) * sizeof *w->own);
    w->node_names = onnx_memory(w, ((size_t)g->n_nodes + 1) * sizeof *w->node_names);
    if (!w->own || !w->node_names)
        return;
    for (int v = 0; v < g->n_values; v++)
        w->own[v] = g->value[v].name;
    for (int i = 0; i < g->n_nodes; i++)
        w->node_names[i] = g->node[i].name;
    qsort(w->own, (size_t)g->n_values, sizeof *w->own, compare_names);
    qsort(w->node_names, (size_t)g->n_nodes, sizeof *w->node_names, compare_names);
}

static bool is_own(const onnx_writer *w, const char *name)
{
    return w->own && bsearch(&name, w->own, (size_t)w->g->n_values, sizeof *w->own, compare_names);
}

const char *onnx_text(onnx_writer *w, const char *format, ...)
{
    va_list args;
    char *text;
    int n;

    va_start(args, format);
    n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = n < 0 ? NULL : onnx_memory(w, (size_t)n + 1);
    if (!text)
        return "";
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return is_own(w, text) ? onnx_text(w, "%s:made", text) : text;
}

void onnx_write_refuse(onnx_writer *w, const assay_node *n, const char *what)
{
    if (!w->status)
        w->status = assay_fail(w->err, ASSAY_ERR_UNSUPPORTED, "node '%.200s' (%s): %s", n->name,
                               assay_op_get(n->op)->name, what);
}

/* Room for one more pointer in a list of n, which doubles at powers of two. */
static void *grown(onnx_writer *w, void *list, size_t n)
{
    void *more;
    if (n != 0 && (n & (n - 1)) != 0)
        return list;
    more = onnx_memory(w, (n ? 2 * n : 1) * sizeof(void *));
    if (more && n)
        memcpy(more, list, n * sizeof(void *));
    return more;
}

void onnx_write_begin(onnx_writer *w, const assay_graph *g, int64_t opset, assay_error *err)
{
    *w = (onnx_writer){.g = g, .opset = opset, .err = err, .arena = assay_arena_new()};
    assay__onnx__graph__init(&w->graph);
    if (!w->arena) {
        no_memory(w);
        return;
    }
    w->has_params = onnx_memory(w, (size_t)g->n_values + 1);
    w->has_real = onnx_memory(w, (size_t)g->n_values + 1);
    w->graph.name = (char *)(uintptr_t)g->name;
    note_names(w);
}

void onnx_write_for(onnx_writer *w, const assay_node *n)
{
    w->of = n;
}

void onnx_write_operation(onnx_writer *w)
{
    w->is_operation = true;
}

/* How many of the network's nodes have that name. */
static int count_nodes(const onnx_writer *w, const char *name)
{
    int n = 0;
    const char *const *end = w->node_names + w->g->n_nodes;
    const char *const *at =
        bsearch(&name, w->node_names, (size_t)w->g->n_nodes, sizeof *w->node_names, compare_names);
    while (at && at > w->node_names && strcmp(at[-1], name) == 0)
        at--;
    for (; at && at < end && strcmp(*at, name) == 0; at++)
        n++;
    return n;
}

/* A name for the next node: the network's where that is one node's alone, else one that none has.
 */
static const char *next_name(onnx_writer *w, const char *op)
{
    const char *of = w->of ? w->of->name : "", *name;
    const bool is_operation = w->is_operation;
    w->is_operation = false;
    if (is_operation && *of && count_nodes(w, of) == 1)
        return of;
    name = onnx_text(w, "%s%s%s_%zu", of, *of ? ":" : "", op, w->graph.n_node);
    while (!w->status && count_nodes(w, name) > 0)
        name = onnx_text(w, "%s:made", name);
    return name;
}

void onnx_write_node(onnx_writer *w, const char *op, const char *output)
{
    pb_node *n = onnx_memory(w, sizeof *n);
    pb_node **list = n ? grown(w, w->graph.node, w->graph.n_node) : NULL;

    if (!list)
        return;
    assay__onnx__node__init(n);
    n->op_type = (char *)(uintptr_t)op;
    n->name = (char *)(uintptr_t)next_name(w, op);
    w->graph.node = list;
    w->graph.node[w->graph.n_node++] = n;
    w->node = n;
    if (output)
        onnx_write_output(w, output);
}

void onnx_write_input(onnx_writer *w, const char *name)
{
    char **list = w->status ? NULL : grown(w, w->node->input, w->node->n_input);
    if (!list)
        return;
    w->node->input = list;
    w->node->input[w->node->n_input++] = (char *)(uintptr_t)name;
}

void onnx_write_output(onnx_writer *w, const char *name)
{
    char **list = w->status ? NULL : grown(w, w->node->output, w->node->n_output);
    if (!list)
        return;
    w->node->output = list;
    w->node->output[w->node->n_output++] = (char *)(uintptr_t)name;
}

static pb_attribute *attribute(onnx_writer *w, const char *name, int type)
{
    pb_attribute *a = onnx_memory(w, sizeof *a);
    pb_attribute **list = a ? grown(w, w->node->attribute, w->node->n_attribute) : NULL;

    if (!list)
        return &w->unused;
    assay__onnx__attribute__init(a);
    a->name = (char *)(uintptr_t)name;
    a->has_type = true;
    a->type = type;
    w->node->attribute = list;
    w->node->attribute[w->node->n_attribute++] = a;
    return a;
}

void onnx_write_int(onnx_writer *w, const char *name, int64_t v)
{
    pb_attribute *a = attribute(w, name, ONNX_ATTR_INT);
    a->has_i = true;
    a->i = v;
}

void onnx_write_float(onnx_writer *w, const char *name, float v)
{
    pb_attribute *a = attribute(w, name, ONNX_ATTR_FLOAT);
    a->has_f = true;
    a->f = v;
}

void onnx_write_string(onnx_writer *w, const char *name, const char *v)
{
    pb_attribute *a = attribute(w, name, ONNX_ATTR_STRING);
    a->has_s = true;
    a->s = (ProtobufCBinaryData){strlen(v), (uint8_t *)(uintptr_t)v};
}

void onnx_write_list(onnx_writer *w, const char *name, const assay_list *a, const assay_list *b)
{
    size_t n = (size_t)a->n + (b ? (size_t)b->n : 0);
    int64_t *v = onnx_memory(w, (n + 1) * sizeof *v);
    pb_attribute *to = attribute(w, name, ONNX_ATTR_INTS);

    if (!v)
        return;
    memcpy(v, a->v, (size_t)a->n * sizeof *v);
    if (b)
        memcpy(v + a->n, b->v, (size_t)b->n * sizeof *v);
    to->n_ints = n;
    to->ints = v;
}

/* Elements of so many bits, several a byte, the first one lowest. */
static const void *packed(onnx_writer *w, const uint8_t *code, size_t n, unsigned bits)
{
    assert(bits >= 1 && bits <= 8);
    const size_t each = 8 / bits;
    uint8_t *to = onnx_memory(w, n / each + 1);
    for (size_t i = 0; to && i < n; i++)
        to[i / each] =
            (uint8_t)(to[i / each] | (code[i] & ((1U << bits) - 1)) << (i % each * bits));
    return to;
}

void onnx_write_tensor(onnx_writer *w, const char *name, assay_elem elem, int rank,
                       const int64_t *dim, const void *data)
{
    pb_tensor *t = onnx_memory(w, sizeof *t);
    int64_t *dims = onnx_memory(w, ((size_t)rank + 1) * sizeof *dims);
    pb_tensor **list = t && dims ? grown(w, w->graph.initializer, w->graph.n_initializer) : NULL;
    size_t count = 1;
    int dtype = onnx_elem_dtype(elem);

    if (!list || !data)
        return;
    if (dtype == ONNX_UNDEFINED) {
        w->status = assay_fail(w->err, ASSAY_ERR_UNSUPPORTED,
                               "value '%.200s': ONNX has no such element type", name);
        return;
    }
    for (int i = 0; i < rank; i++)
        count *= (size_t)dim[i];
    if (rank > 0)
        memcpy(dims, dim, (size_t)rank * sizeof *dims);
    assay__onnx__tensor__init(t);
    t->n_dims = (size_t)rank;
    t->dims = dims;
    t->has_data_type = true;
    t->data_type = dtype;
    t->name = (char *)(uintptr_t)name;
    t->has_raw_data = true;
    const unsigned bits = onnx_dtype_packed(dtype);
    t->raw_data.len = bits > 0 ? (count * bits + 7) / 8 : count * assay_elem_size(elem);
    if (bits > 0)
        data = packed(w, data, count, bits);
    t->raw_data.data = (uint8_t *)(uintptr_t)data;
    w->graph.initializer = list;
    w->graph.initializer[w->graph.n_initializer++] = t;
}

static Assay__Onnx__KeyValue *entry(onnx_writer *w, const char *key, const char *value)
{
    Assay__Onnx__KeyValue *e = onnx_memory(w, sizeof *e);
    if (!e)
        return NULL;
    assay__onnx__key_value__init(e);
    e->key = (char *)(uintptr_t)key;
    e->value = (char *)(uintptr_t)value;
    return e;
}

void onnx_write_annotation(onnx_writer *w, const char *tensor, const char *scale, const char *zero)
{
    Assay__Onnx__Annotation *a = onnx_memory(w, sizeof *a);
    Assay__Onnx__KeyValue **list = onnx_memory(w, 2 * sizeof *list);
    Assay__Onnx__Annotation **all =
        a && list ? grown(w, w->graph.quantization_annotation, w->graph.n_quantization_annotation)
                  : NULL;
    if (!all)
        return;
    list[0] = entry(w, "SCALE_TENSOR", scale);
    list[1] = zero ? entry(w, "ZERO_POINT_TENSOR", zero) : NULL;
    assay__onnx__annotation__init(a);
    a->tensor_name = (char *)(uintptr_t)tensor;
    a->n_quant_parameter_tensor_names = zero ? 2 : 1;
    a->quant_parameter_tensor_names = list;
    w->graph.quantization_annotation = all;
    w->graph.quantization_annotation[w->graph.n_quantization_annotation++] = a;
}

const char *onnx_write_integers(onnx_writer *w, const char *base, const char *suffix,
                                const assay_list *list)
{
    const char *name = onnx_text(w, "%s:%s", base, suffix);
    int64_t n = list->n, *v = onnx_memory(w, ((size_t)n + 1) * sizeof *v);

    if (v)
        memcpy(v, list->v, (size_t)n * sizeof *v);
    onnx_write_tensor(w, name, assay_int(64, true), 1, &n, v);
    return name;
}

const char *onnx_write_numbers(onnx_writer *w, const char *base, const char *suffix,
                               const assay_float_list *list)
{
    const char *name = onnx_text(w, "%s:%s", base, suffix);
    int64_t n = list->n;
    float *v = onnx_memory(w, ((size_t)n + 1) * sizeof *v);

    if (v)
        memcpy(v, list->v, (size_t)n * sizeof *v);
    onnx_write_tensor(w, name, assay_f32(), 1, &n, v);
    return name;
}

const char *onnx_write_filled(onnx_writer *w, const char *base, const char *suffix, int rank,
                              const int64_t *dim, float v)
{
    const char *name = onnx_text(w, "%s:%s", base, suffix);
    size_t count = 1;

    for (int i = 0; i < rank; i++)
        count *= (size_t)dim[i];
    float *at = onnx_memory(w, count * sizeof *at + 1);
    for (size_t k = 0; at && k < count; k++)
        at[k] = v;
    onnx_write_tensor(w, name, assay_f32(), rank, dim, at);
    return name;
}

const char *onnx_write_number(onnx_writer *w, const char *base, const char *suffix, float v)
{
    return onnx_write_filled(w, base, suffix, 0, NULL, v);
}

assay_status onnx_write_end(onnx_writer *w, unsigned char **bytes, size_t *length)
{
    Assay__Onnx__Model model = ASSAY__ONNX__MODEL__INIT;
    char producer[] = "assay";
    Assay__Onnx__OperatorSet set = ASSAY__ONNX__OPERATOR_SET__INIT, *sets[1] = {&set};

    set.has_version = true;
    set.version = w->opset;
    model.producer_name = producer;
    model.has_ir_version = true;
    model.ir_version = w->opset > 24   ? 13
                       : w->opset > 23 ? 12
                       : w->opset > 22 ? 11
                       : w->opset > 20 ? 10
                       : w->opset > 18 ? 9
                       : w->opset > 14 ? 8
                                       : 7;
    model.n_opset_import = 1;
    model.opset_import = sets;
    model.graph = &w->graph;
    if (!w->status) {
        *length = assay__onnx__model__get_packed_size(&model);
        *bytes = malloc(*length + 1);
        if (*bytes)
            assay__onnx__model__pack(&model, *bytes);
        else
            no_memory(w);
    }
    assay_arena_free(w->arena);
    return w->status;
}
