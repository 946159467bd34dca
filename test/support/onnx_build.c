/* ONNX models from text. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/value/value.h"
#include "test/support/onnx_build.h"

typedef struct builder {
    assay_arena *arena;
    pb_graph *graph;
} builder;

static void *need(void *p)
{
    assert_non_null(p);
    return p;
}

static void *make(builder *b, size_t size)
{
    return need(assay_arena_alloc(b->arena, size));
}

/* Appends a message pointer to a repeated field. */
#define APPEND(b, list, count, item)                                                               \
    do {                                                                                           \
        void *grown_ = make(b, ((count) + 1) * sizeof *(list));                                    \
        if (count)                                                                                 \
            memcpy(grown_, list, (count) * sizeof *(list));                                        \
        (list) = grown_;                                                                           \
        (list)[(count)++] = (item);                                                                \
    } while (0)

/* The next word of *text, up to one of `stops`; NULL at the end. */
static char *word(builder *b, const char **text, const char *stops)
{
    size_t n;
    char *w;

    *text += strspn(*text, stops);
    n = strcspn(*text, stops);
    if (n == 0)
        return NULL;
    w = make(b, n + 1);
    memcpy(w, *text, n);
    *text += n;
    return w;
}

/* "2,3,4" as dims; "-" has none. */
static size_t parse_dims(builder *b, const char *text, int64_t **dims)
{
    size_t n = 0;
    char *w;

    *dims = NULL;
    if (strcmp(text, "-") == 0)
        return 0;
    while ((w = word(b, &text, ",")))
        APPEND(b, *dims, n, strtoll(w, NULL, 10));
    return n;
}

static void add_number(builder *b, pb_tensor *t, bool raw, double v, int64_t iv)
{
    if (raw) {
        int64_t i = (int64_t)(t->raw_data.len / onnx_dtype_size(t->data_type));
        size_t length = t->raw_data.len + onnx_dtype_size(t->data_type);
        uint8_t *grown = make(b, length);
        const bool packed = onnx_dtype_packed(t->data_type) > 0; /* numbers are bytes */
        onnx_const c = {.dtype = packed ? ONNX_UINT8 : t->data_type, .data = grown};
        if (t->raw_data.len)
            memcpy(grown, t->raw_data.data, t->raw_data.len);
        if (onnx_is_float(t->data_type) && !onnx_is_narrow(t->data_type))
            onnx_set_real(&c, i, v);
        else
            onnx_set_int(&c, i, iv);
        t->raw_data.data = grown;
        t->raw_data.len = length;
        return;
    }
    switch (t->data_type) {
    case ONNX_FLOAT:
        APPEND(b, t->float_data, t->n_float_data, (float)v);
        break;
    case ONNX_DOUBLE:
        APPEND(b, t->double_data, t->n_double_data, v);
        break;
    case ONNX_INT64:
        APPEND(b, t->int64_data, t->n_int64_data, iv);
        break;
    case ONNX_UINT32:
    case ONNX_UINT64:
        APPEND(b, t->uint64_data, t->n_uint64_data, (uint64_t)iv);
        break;
    default:
        APPEND(b, t->int32_data, t->n_int32_data, (int32_t)iv);
    }
}

/* "DTYPE DIMS [NUMBERS]" */
static pb_tensor *parse_tensor(builder *b, const char **text, bool raw, bool fill)
{
    pb_tensor *t = make(b, sizeof *t);
    int64_t count = 1;
    char *w;

    assay__onnx__tensor__init(t);
    t->data_type = onnx_build_dtype(need(word(b, text, " ")));
    t->has_data_type = true;
    t->n_dims = parse_dims(b, need(word(b, text, " ")), &t->dims);
    t->has_raw_data = raw;
    *text += strspn(*text, " =");
    if (**text && **text != '\n') {
        while ((w = word(b, text, " ")))
            add_number(b, t, raw, strtod(w, NULL), strtoll(w, NULL, 10));
    } else if (fill) {
        for (size_t i = 0; i < t->n_dims; i++)
            count *= t->dims[i];
        for (int64_t i = 0; i < count; i++)
            add_number(b, t, raw, (double)(i % 7 - 3) / 4, i % 7 - 3);
    }
    return t;
}

static Assay__Onnx__Type *parse_type(builder *b, const char **text)
{
    Assay__Onnx__Type *type = make(b, sizeof *type);
    Assay__Onnx__TensorType *tensor = make(b, sizeof *tensor);
    char *dims, *w;

    assay__onnx__type__init(type);
    assay__onnx__tensor_type__init(tensor);
    type->tensor_type = tensor;
    tensor->has_elem_type = true;
    tensor->elem_type = onnx_build_dtype(need(word(b, text, " ")));
    dims = word(b, text, " ");
    if (!dims)
        return type;
    tensor->shape = make(b, sizeof *tensor->shape);
    assay__onnx__shape__init(tensor->shape);
    if (strcmp(dims, "-") == 0)
        return type;
    for (const char *rest = dims; (w = word(b, &rest, ","));) {
        Assay__Onnx__Dimension *d = make(b, sizeof *d);
        assay__onnx__dimension__init(d);
        if ((*w >= '0' && *w <= '9') || *w == '-') {
            d->has_dim_value = true;
            d->dim_value = strtoll(w, NULL, 10);
        } else {
            d->dim_param = w;
        }
        APPEND(b, tensor->shape->dim, tensor->shape->n_dim, d);
    }
    return type;
}

static pb_value_info *parse_value(builder *b, const char **text)
{
    pb_value_info *v = make(b, sizeof *v);

    assay__onnx__value_info__init(v);
    v->name = need(word(b, text, " "));
    if (**text)
        v->type = parse_type(b, text);
    return v;
}

static bool looks_float(const char *text)
{
    return strcspn(text, ".n") < strlen(text); /* also nan and inf */
}

static void parse_list(builder *b, pb_attribute *a, const char *text)
{
    bool real = strchr(text, '.') != NULL;
    char *w;

    a->type = real ? ONNX_ATTR_FLOATS : ONNX_ATTR_INTS;
    while ((w = word(b, &text, ",]"))) {
        if (real)
            APPEND(b, a->floats, a->n_floats, strtof(w, NULL));
        else
            APPEND(b, a->ints, a->n_ints, strtoll(w, NULL, 10));
    }
}

static void parse_line(builder *b, const char *line);

/* The text from *text to the character `end` outside of braces, as a string, or to the end of all;
 * *text goes behind it. */
static char *part(builder *b, const char **text, char end)
{
    const char *from = *text, *to = from;
    char *copy;

    for (int depth = 0; *to && (depth > 0 || *to != end); to++)
        depth += *to == '{' ? 1 : *to == '}' ? -1 : 0;
    copy = make(b, (size_t)(to - from) + 1);
    memcpy(copy, from, (size_t)(to - from));
    *text = *to ? to + 1 : to;
    return copy;
}

/* "LINE; LINE; ..." as the bytes of a graph; a line may hold graphs */
static void parse_subgraph(builder *b, pb_attribute *a, const char *text)
{
    Assay__Onnx__Graph graph = ASSAY__ONNX__GRAPH__INIT;
    builder inside = {b->arena, &graph};

    while (*(text += strspn(text, " ")))
        parse_line(&inside, part(b, &text, ';'));
    a->type = ONNX_ATTR_GRAPH;
    a->has_g = true;
    a->g.len = assay__onnx__graph__get_packed_size(&graph);
    a->g.data = make(b, a->g.len);
    assay__onnx__graph__pack(&graph, a->g.data);
}

/* NAME=VALUE at *text */
static pb_attribute *parse_attribute(builder *b, const char **text)
{
    pb_attribute *a = make(b, sizeof *a);
    char *v;

    assay__onnx__attribute__init(a);
    a->name = need(word(b, text, " ="));
    (*text)++;
    a->has_type = true;
    if (**text == '{') {
        const char *inside;
        (*text)++;
        inside = v = part(b, text, '}');
        if (strncmp(v, "graph ", 6) == 0) {
            parse_subgraph(b, a, v + 6);
            return a;
        }
        a->type = ONNX_ATTR_TENSOR;
        a->t = parse_tensor(b, &inside, true, false);
        return a;
    }
    v = need(word(b, text, " "));
    if (*v == '[') {
        parse_list(b, a, v + 1);
    } else if ((*v >= '0' && *v <= '9') || *v == '-' || strcmp(v, "nan") == 0 ||
               strcmp(v, "inf") == 0) {
        a->type = looks_float(v) ? ONNX_ATTR_FLOAT : ONNX_ATTR_INT;
        a->has_f = looks_float(v);
        a->has_i = !a->has_f;
        a->f = strtof(v, NULL);
        a->i = strtoll(v, NULL, 10);
    } else {
        a->type = ONNX_ATTR_STRING;
        a->has_s = true;
        a->s.data = (uint8_t *)v;
        a->s.len = strlen(v);
    }
    return a;
}

static void parse_node(builder *b, char *op, const char **text)
{
    pb_node *n = make(b, sizeof *n);
    const char *names;
    char *w, *colon = strchr(op, ':');

    assay__onnx__node__init(n);
    if (colon) {
        *colon = '\0';
        n->domain = op;
        op = colon + 1;
    }
    n->op_type = op;
    names = need(word(b, text, " "));
    while (strcmp(names, "-") != 0 && (w = word(b, &names, ",")))
        APPEND(b, n->input, n->n_input, strcmp(w, "_") == 0 ? w + 1 : w);
    assert_string_equal(need(word(b, text, " ")), "->");
    names = need(word(b, text, " "));
    while ((w = word(b, &names, ",")))
        APPEND(b, n->output, n->n_output, strcmp(w, "_") == 0 ? w + 1 : w);
    for (;;) {
        *text += strspn(*text, " ");
        if (**text == '\0')
            break;
        if (**text == ':') {
            (*text)++;
            n->name = need(word(b, text, " "));
            break;
        }
        APPEND(b, n->attribute, n->n_attribute, parse_attribute(b, text));
    }
    APPEND(b, b->graph->node, b->graph->n_node, n);
}

static void add_external(builder *b, pb_tensor *t, const char *key, char *value)
{
    Assay__Onnx__KeyValue *kv = make(b, sizeof *kv);

    assay__onnx__key_value__init(kv);
    kv->key = need(assay_arena_string(b->arena, key));
    kv->value = value;
    APPEND(b, t->external_data, t->n_external_data, kv);
}

/* "DTYPE DIMS LOCATION OFFSET LENGTH" */
static pb_tensor *parse_external(builder *b, const char **text)
{
    pb_tensor *t = make(b, sizeof *t);

    assay__onnx__tensor__init(t);
    t->has_data_type = true;
    t->data_type = onnx_build_dtype(need(word(b, text, " ")));
    t->n_dims = parse_dims(b, need(word(b, text, " ")), &t->dims);
    t->has_data_location = true;
    t->data_location = 1;
    add_external(b, t, "location", need(word(b, text, " ")));
    add_external(b, t, "offset", need(word(b, text, " ")));
    add_external(b, t, "length", need(word(b, text, " ")));
    return t;
}

static void parse_line(builder *b, const char *line)
{
    char *first = word(b, &line, " ");

    if (!first)
        return;
    if (strcmp(first, "in") == 0) {
        APPEND(b, b->graph->input, b->graph->n_input, parse_value(b, &line));
    } else if (strcmp(first, "out") == 0) {
        APPEND(b, b->graph->output, b->graph->n_output, parse_value(b, &line));
    } else if (strcmp(first, "const") == 0 || strcmp(first, "list") == 0 ||
               strcmp(first, "ext") == 0) {
        char *name = need(word(b, &line, " "));
        pb_tensor *t =
            *first == 'e' ? parse_external(b, &line) : parse_tensor(b, &line, *first == 'c', true);
        t->name = name;
        APPEND(b, b->graph->initializer, b->graph->n_initializer, t);
    } else {
        parse_node(b, first, &line);
    }
}

void *onnx_build(int64_t opset, const char *text, size_t *length)
{
    builder b = {.arena = assay_arena_new()};
    Assay__Onnx__Model model = ASSAY__ONNX__MODEL__INIT;
    Assay__Onnx__Graph graph = ASSAY__ONNX__GRAPH__INIT;
    Assay__Onnx__OperatorSet standard = ASSAY__ONNX__OPERATOR_SET__INIT;
    Assay__Onnx__OperatorSet *sets[1] = {&standard};
    char *line;
    void *bytes;

    assert_non_null(b.arena);
    b.graph = &graph;
    while ((line = word(&b, &text, "\n")))
        parse_line(&b, line);
    standard.has_version = true;
    standard.version = opset;
    if (opset == ONNX_BUILD_NO_OPSET)
        standard.domain = (char *)"com.microsoft";
    model.has_ir_version = true;
    model.ir_version = 8;
    model.n_opset_import = 1;
    model.opset_import = sets;
    model.graph = &graph;
    *length = assay__onnx__model__get_packed_size(&model);
    bytes = need(malloc(*length ? *length : 1));
    assay__onnx__model__pack(&model, bytes);
    assay_arena_free(b.arena);
    return bytes;
}
