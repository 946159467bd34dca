/* From a model's bytes to a graph: declarations, inputs, nodes in order, outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/onnx/import.h"
#include "graph/slurp.h"

static const onnx_op_row op_table[] = {
#define ONNX_OP(domain, type, fn, op, min_in, max_in, max_out, attributes)                         \
    {domain, #type, onnx_import_##fn, ASSAY_OP_##op, min_in, max_in, max_out, attributes},
#include "graph/onnx/ops.def"
#undef ONNX_OP
};

const onnx_op_row *onnx_find_op(const char *domain, const char *type)
{
    for (size_t i = 0; i < sizeof op_table / sizeof op_table[0]; i++)
        if (strcmp(op_table[i].type, type) == 0 && strcmp(op_table[i].domain, domain) == 0)
            return &op_table[i];
    return NULL;
}

/* ---- the list of what is unsupported ---- */

static void list_unsupported(onnx_import *im, const char *text)
{
    size_t room = sizeof im->unsupported - im->unsupported_length;
    int n = snprintf(im->unsupported + im->unsupported_length, room, "%s%s",
                     im->n_unsupported ? "; " : "", text);

    if (n > 0 && (size_t)n < room)
        im->unsupported_length += (size_t)n;
    else
        im->unsupported[im->unsupported_length] = '\0'; /* whole entries only */
    im->n_unsupported++;
}

/* A failure ends the import unless it is only unsupported: that goes into the list. */
static assay_status tolerate(onnx_import *im, assay_status s, const assay_error *err)
{
    if (s != ASSAY_ERR_UNSUPPORTED)
        return s;
    list_unsupported(im, err->text);
    return ASSAY_OK;
}

/* ---- parsing ---- */

/* What an import may allocate for a file of `length` bytes: models unpack to a few times their
 * size, and folding adds a little. */
static size_t memory_limit(size_t length)
{
    return ((size_t)256 << 20) + 16 * length;
}

static void *pb_alloc(void *import, size_t size)
{
    return onnx_alloc(import, size);
}

static void pb_free(void *import, void *pointer)
{
    (void)import, (void)pointer; /* goes with the arena */
}

static pb_model *parse(onnx_import *im, const void *bytes, size_t length)
{
    ProtobufCAllocator allocator = {pb_alloc, pb_free, im};

    return assay__onnx__model__unpack(&allocator, length, bytes);
}

static const char *standard_domain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

static assay_status read_opset(onnx_import *im, const pb_model *m, assay_error *err)
{
    for (size_t i = 0; i < m->n_opset_import; i++)
        if (*standard_domain(m->opset_import[i]->domain) == '\0')
            im->opset = m->opset_import[i]->version;
    if (im->opset == 0)
        return assay_fail(err, m->n_opset_import ? ASSAY_ERR_UNSUPPORTED : ASSAY_ERR_INPUT,
                          "%s: imports no opset of the standard domain", im->file);
    if (im->opset < ASSAY_ONNX_OPSET_MIN || im->opset > ASSAY_ONNX_OPSET_MAX)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: opset %lld of the standard domain, expected %d to %d", im->file,
                          (long long)im->opset, ASSAY_ONNX_OPSET_MIN, ASSAY_ONNX_OPSET_MAX);
    return ASSAY_OK;
}

/* Absent strings become empty ones, so that nothing after this meets NULL. */
static assay_status fill_strings(onnx_import *im, pb_graph *g, assay_error *err)
{
    char *empty = onnx_alloc(im, 1);

    if (!empty)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < g->n_node; i++) {
        pb_node *n = g->node[i];
        n->op_type = n->op_type ? n->op_type : empty;
        n->name = n->name ? n->name : empty;
        for (size_t k = 0; k < n->n_attribute; k++)
            if (!n->attribute[k]->name)
                n->attribute[k]->name = empty;
    }
    for (size_t i = 0; i < g->n_initializer; i++)
        if (!g->initializer[i]->name)
            g->initializer[i]->name = empty;
    for (size_t i = 0; i < g->n_input; i++)
        if (!g->input[i]->name)
            g->input[i]->name = empty;
    for (size_t i = 0; i < g->n_output; i++)
        if (!g->output[i]->name)
            g->output[i]->name = empty;
    return ASSAY_OK;
}

/* ---- declarations ---- */

static assay_status declare(onnx_import *im, const char *name, const char *maker, assay_error *err)
{
    onnx_value *v;

    if (*name == '\0')
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %s has an empty name", im->file, maker);
    v = onnx_add_value(im, name);
    if (!v)
        return assay_out_of_memory(err);
    if (v->maker)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: '%s' is defined twice: by %s and by %s",
                          im->file, name, v->maker, maker);
    v->maker = maker;
    return ASSAY_OK;
}

static assay_status read_initializers(onnx_import *im, const pb_graph *g, assay_error *err)
{
    for (size_t i = 0; i < g->n_initializer; i++) {
        const pb_tensor *t = g->initializer[i];
        onnx_const *c = onnx_alloc(im, sizeof *c);
        char what[160];
        assay_error cause;

        if (!c)
            return assay_out_of_memory(err);
        assay_status s = declare(im, t->name, "an initializer", err);
        if (s)
            return s;
        snprintf(what, sizeof what, "initializer '%.120s'", t->name);
        s = onnx_read_tensor(im, t, what, c, &cause);
        if (s && tolerate(im, s, &cause))
            return assay_fail(err, s, "%s", cause.text);
        onnx_value *v = onnx_find_value(im, t->name);
        if (s)
            v->is_lost = true;
        else
            v->constant = c;
    }
    return ASSAY_OK;
}

/* A node's name, or OPTYPE_INDEX. */
static const char *node_name(onnx_import *im, const pb_node *n, size_t index)
{
    size_t length = strlen(n->op_type) + 24;
    char *name;

    if (n->name[0] != '\0')
        return n->name;
    name = onnx_alloc(im, length);
    if (name)
        snprintf(name, length, "%s_%zu", n->op_type, index);
    return name;
}

/* Declares what nodes make, and counts uses. */
static assay_status declare_nodes(onnx_import *im, const pb_graph *g, onnx_node *nodes,
                                  assay_error *err)
{
    for (size_t i = 0; i < g->n_node; i++) {
        const pb_node *pb = g->node[i];
        nodes[i] = (onnx_node){.im = im, .pb = pb, .opset = im->opset};
        nodes[i].name = node_name(im, pb, i);
        if (!nodes[i].name)
            return assay_out_of_memory(err);
        for (size_t k = 0; k < pb->n_output; k++) {
            if (pb->output[k][0] == '\0')
                continue;
            assay_status s = declare(im, pb->output[k], nodes[i].name, err);
            if (s)
                return s;
        }
    }
    for (size_t i = 0; i < g->n_node; i++) {
        for (size_t k = 0; k < g->node[i]->n_input; k++) {
            onnx_value *v;
            if (g->node[i]->input[k][0] == '\0')
                continue;
            v = onnx_find_value(im, g->node[i]->input[k]);
            if (!v)
                return assay_fail(err, ASSAY_ERR_INPUT,
                                  "%s: node '%s' (%s) uses '%s', which nothing defines", im->file,
                                  nodes[i].name, g->node[i]->op_type, g->node[i]->input[k]);
            v->uses++;
        }
    }
    return ASSAY_OK;
}

static assay_status declare_outputs(onnx_import *im, const pb_graph *g, assay_error *err)
{
    for (size_t i = 0; i < g->n_output; i++) {
        onnx_value *v = onnx_find_value(im, g->output[i]->name);
        if (!v)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: output '%s' is not defined by an input, initializer or node",
                              im->file, g->output[i]->name);
        v->uses++;
        v->is_output = true;
    }
    return ASSAY_OK;
}

/* ---- inputs ---- */

static const assay_onnx_fixed *find_fixed(const onnx_import *im, const char *name)
{
    for (size_t i = 0; i < im->options->n_fixed; i++)
        if (strcmp(im->options->fixed[i].input, name) == 0)
            return &im->options->fixed[i];
    return NULL;
}

static const assay_onnx_shape *find_shape(const onnx_import *im, const char *name)
{
    for (size_t i = 0; i < im->options->n_shapes; i++)
        if (strcmp(im->options->shapes[i].input, name) == 0)
            return &im->options->shapes[i];
    return NULL;
}

/* The extent of dimension d: as given in the model, else by its symbol, else the batch. */
static assay_status input_extent(const onnx_import *im, const char *input, int d,
                                 const Assay__Onnx__Dimension *dim, int64_t *extent,
                                 assay_error *err)
{
    const char *symbol = dim->dim_param ? dim->dim_param : "";

    if (dim->has_dim_value && dim->dim_value >= 0) {
        *extent = dim->dim_value;
        return ASSAY_OK;
    }
    for (size_t i = 0; i < im->options->n_dims; i++) {
        if (*symbol && strcmp(im->options->dims[i].symbol, symbol) == 0) {
            *extent = im->options->dims[i].extent;
            return ASSAY_OK;
        }
    }
    if (d == 0) {
        *extent = im->options->batch > 0 ? im->options->batch : 1;
        return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: dimension %d of input '%s' is symbolic ('%s'): give it a value, or give "
                      "the input a shape",
                      im->file, d, input, symbol);
}

static assay_status input_type(const onnx_import *im, const pb_value_info *in, assay_type *type,
                               assay_error *err)
{
    const Assay__Onnx__TensorType *t = in->type ? in->type->tensor_type : NULL;
    const assay_onnx_shape *given = find_shape(im, in->name);

    if (!t || !onnx_dtype_elem(t->elem_type, &type->elem))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "input '%s' is %s", in->name,
                          t ? onnx_dtype_name(t->elem_type) : "not a tensor");
    if (given) {
        if (given->rank < 0 || given->rank > ASSAY_MAX_RANK)
            return assay_fail(err, ASSAY_ERR_INPUT, "shape given for '%s': rank %d", in->name,
                              given->rank);
        type->rank = given->rank;
        memcpy(type->dim, given->dim, sizeof given->dim);
    } else if (!t->shape) {
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: input '%s' has no shape: give it one",
                          im->file, in->name);
    } else if (t->shape->n_dim > ASSAY_MAX_RANK) {
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "input '%s' has rank %zu, more than %d",
                          in->name, t->shape->n_dim, ASSAY_MAX_RANK);
    } else {
        type->rank = (int)t->shape->n_dim;
        for (int d = 0; d < type->rank; d++) {
            assay_status s = input_extent(im, in->name, d, t->shape->dim[d], &type->dim[d], err);
            if (s)
                return s;
        }
    }
    char what[200];
    snprintf(what, sizeof what, "%.60s: input '%.100s'", im->file, in->name);
    return assay_shape_check(type, what, err);
}

static assay_status fix_input(onnx_import *im, const pb_value_info *in, onnx_value *v,
                              const assay_onnx_fixed *f, assay_error *err)
{
    const Assay__Onnx__TensorType *t = in->type ? in->type->tensor_type : NULL;
    int dtype = onnx_elem_dtype(f->type.elem);
    onnx_const *c = onnx_new_const(im, dtype, f->type.rank, f->type.dim);

    if (!c || dtype == ONNX_UNDEFINED || !t || t->elem_type != dtype)
        return assay_fail(err, ASSAY_ERR_INPUT, "value given for '%s' is %s, the input is %s",
                          v->name, onnx_dtype_name(dtype),
                          t ? onnx_dtype_name(t->elem_type) : "not a tensor");
    for (int64_t i = 0; i < c->count; i++) {
        onnx_const from = *c;
        from.data = f->data;
        if (c->dtype == ONNX_FLOAT)
            onnx_set_real(c, i, onnx_get_real(&from, i));
        else
            onnx_set_int(c, i, onnx_get_int(&from, i));
    }
    v->constant = c;
    return ASSAY_OK;
}

static assay_status read_inputs(onnx_import *im, const pb_graph *g, assay_error *err)
{
    int *ids = assay_arena_array(im->temp, g->n_input, sizeof *ids), n = 0;

    if (!ids)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < g->n_input; i++) {
        const pb_value_info *in = g->input[i];
        onnx_value *v = onnx_find_value(im, in->name);
        const assay_onnx_fixed *fixed = find_fixed(im, in->name);
        assay_type type = {.rank = 0};
        assay_error cause;
        assay_status s;

        if (v && (v->constant || v->is_lost))
            continue; /* an initializer, which is then the default value of the input */
        s = declare(im, in->name, "an input", err);
        if (s)
            return s;
        v = onnx_find_value(im, in->name);
        if (fixed) {
            s = fix_input(im, in, v, fixed, err);
            if (s)
                return s;
            continue;
        }
        s = input_type(im, in, &type, &cause);
        if (s && tolerate(im, s, &cause))
            return assay_fail(err, s, "%s", cause.text);
        if (s) {
            v->is_lost = true;
            continue;
        }
        s = assay_graph_add_value(im->graph, in->name, &type, &v->id, err);
        if (s)
            return s;
        ids[n++] = v->id;
    }
    return assay_graph_set_inputs(im->graph, ids, n, err);
}

/* ---- nodes ---- */

#define MAX_DEPTH 16 /* of subgraphs */

static bool contains_word(const char *words, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = words; n > 0 && (p = strstr(p, word)); p += n)
        if ((p == words || p[-1] == ' ') && (p[n] == ' ' || p[n] == '\0'))
            return true;
    return false;
}

static void check_node(onnx_node *n)
{
    const pb_node *pb = n->pb;
    const char *domain = standard_domain(pb->domain);

    n->row = onnx_find_op(domain, pb->op_type);
    if (!n->row) {
        onnx_refuse(n, "no such op here%s%s", *domain ? " in domain " : "", domain);
        return;
    }
    for (size_t i = 0; i < pb->n_attribute; i++) {
        if (!contains_word(n->row->attributes, pb->attribute[i]->name))
            onnx_refuse(n, "attribute '%s'", pb->attribute[i]->name);
        if (pb->attribute[i]->ref_attr_name)
            onnx_refuse(n, "attribute '%s' refers to a function's", pb->attribute[i]->name);
    }
    if ((n->row->max_in >= 0 && pb->n_input > (size_t)n->row->max_in) ||
        (n->row->max_out >= 0 && pb->n_output > (size_t)n->row->max_out) || pb->n_output == 0)
        onnx_fail(n, ASSAY_ERR_INPUT, "%zu inputs and %zu outputs, expected at most %d and %d",
                  pb->n_input, pb->n_output, n->row->max_in, n->row->max_out);
    for (int i = 0; i < n->row->min_in; i++)
        if (!onnx_has(n, (size_t)i))
            onnx_fail(n, ASSAY_ERR_INPUT, "input %d is missing", i);
}

/* Are the inputs there, and does none come from an unsupported node? */
static bool inputs_ready(onnx_node *n)
{
    for (size_t i = 0; i < n->pb->n_input; i++) {
        onnx_value *v = onnx_in(n, i);
        if (v && v->is_lost)
            return false;
        if (v && !v->constant && v->id == ASSAY_NO_VALUE) {
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "uses '%s' before node '%s' makes it: nodes are cyclic or out of order",
                      n->pb->input[i], v->maker);
            return false;
        }
    }
    return true;
}

static assay_status import_nodes(onnx_import *im, onnx_node *nodes, size_t count, assay_error *err)
{
    for (size_t i = 0; i < count; i++) {
        onnx_node *n = &nodes[i];
        assay_error cause;

        n->err = &cause;
        check_node(n);
        if (!n->status && inputs_ready(n))
            n->row->import(n);
        if (n->status && tolerate(im, n->status, &cause))
            return assay_fail(err, n->status, "%s", cause.text);
        for (size_t k = 0; k < n->pb->n_output; k++) {
            onnx_value *v = onnx_find_value(im, n->pb->output[k]);
            if (v && !onnx_resolve(v)->constant && onnx_resolve(v)->id == ASSAY_NO_VALUE)
                v->is_lost = true;
        }
    }
    return ASSAY_OK;
}

assay_status onnx_import_body(onnx_import *im, const ProtobufCBinaryData *bytes, onnx_value **out,
                              size_t n_out, assay_error *err)
{
    ProtobufCAllocator allocator = {pb_alloc, pb_free, im};
    pb_graph *g;
    onnx_node *nodes;
    assay_status s;

    if (im->depth == MAX_DEPTH)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "subgraphs nested %d deep", MAX_DEPTH);
    g = assay__onnx__graph__unpack(&allocator, bytes->len, bytes->data);
    if (!g || g->n_input > 0 || g->n_output != n_out)
        return assay_fail(err, ASSAY_ERR_INPUT, "malformed subgraph, or not one with %zu outputs",
                          n_out);
    nodes = assay_arena_array(im->temp, g->n_node, sizeof *nodes);
    if (!nodes)
        return assay_out_of_memory(err);
    im->depth++;
    s = fill_strings(im, g, err);
    if (!s)
        s = read_initializers(im, g, err);
    if (!s)
        s = declare_nodes(im, g, nodes, err);
    if (!s)
        s = import_nodes(im, nodes, g->n_node, err);
    im->depth--;
    for (size_t i = 0; i < n_out && !s; i++) {
        out[i] = onnx_resolve(onnx_find_value(im, g->output[i]->name));
        if (!out[i])
            s = assay_fail(err, ASSAY_ERR_INPUT, "output '%s' of the subgraph is not defined",
                           g->output[i]->name);
    }
    return s;
}

static assay_status set_outputs(onnx_import *im, const pb_graph *g, assay_error *err)
{
    int *ids = assay_arena_array(im->temp, g->n_output, sizeof *ids);

    if (!ids)
        return assay_out_of_memory(err);
    if (g->n_output == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the graph has no outputs", im->file);
    for (size_t i = 0; i < g->n_output; i++) {
        onnx_value *v = onnx_resolve(onnx_find_value(im, g->output[i]->name));
        ids[i] = onnx_materialize(im, v, err);
        if (ids[i] == ASSAY_NO_VALUE)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: output '%s' was not made", im->file,
                              g->output[i]->name);
    }
    return assay_graph_set_outputs(im->graph, ids, (int)g->n_output, err);
}

static assay_status import_graph(onnx_import *im, const pb_graph *g, assay_error *err)
{
    onnx_node *nodes = assay_arena_array(im->temp, g->n_node, sizeof *nodes);
    assay_status s;

    if (!nodes)
        return assay_out_of_memory(err);
    if (g->n_sparse_initializer > 0)
        list_unsupported(im, "sparse initializers");
    s = read_initializers(im, g, err);
    if (!s)
        s = read_inputs(im, g, err);
    if (!s)
        s = declare_nodes(im, g, nodes, err);
    if (!s)
        s = declare_outputs(im, g, err);
    if (!s)
        s = import_nodes(im, nodes, g->n_node, err);
    if (s)
        return s;
    if (im->n_unsupported > 0) {
        bool cut = im->n_unsupported > 1 && im->unsupported_length > 500;
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%.100s: %d unsupported: %s%s", im->file,
                          im->n_unsupported, im->unsupported, cut ? "; ..." : "");
    }
    s = set_outputs(im, g, err);
    if (!s)
        s = onnx_fuse(im->graph, err);
    return s ? s : assay_graph_verify(im->graph, err);
}

/* ---- entry points ---- */

static assay_status import_bytes(const char *file, const char *folder, const void *bytes,
                                 size_t length, const assay_onnx_options *options,
                                 assay_graph **out, assay_error *err)
{
    static const assay_onnx_options none;
    onnx_import im = {.file = file,
                      .folder = folder,
                      .options = options ? options : &none,
                      .left = memory_limit(length)};
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    pb_model *model;
    assay_status s;

    *out = NULL;
    im.temp = assay_arena_new();
    if (!im.temp)
        return assay_out_of_memory(err);
    model = parse(&im, bytes, length);
    if (!model || !model->graph)
        s = assay_fail(err, ASSAY_ERR_INPUT, "%s: not an ONNX model: %s", file,
                       model ? "it has no graph" : "malformed or truncated protobuf");
    else
        s = read_opset(&im, model, err);
    if (!s)
        s = fill_strings(&im, model->graph, err);
    if (!s)
        s = assay_graph_new(model->graph->name && *model->graph->name ? model->graph->name : "onnx",
                            &im.graph, err);
    if (!s)
        s = import_graph(&im, model->graph, err);
    if (s) {
        assay_graph_free(im.graph);
    } else {
        snprintf(im.graph->model_digest, sizeof im.graph->model_digest, "%016llx%016llx",
                 (unsigned long long)hash.high64, (unsigned long long)hash.low64);
        *out = im.graph;
    }
    assay_arena_free(im.temp);
    return s;
}

assay_status assay_onnx_import_memory(const char *name, const void *bytes, size_t length,
                                      const assay_onnx_options *options, assay_graph **out,
                                      assay_error *err)
{
    return import_bytes(name, NULL, bytes, length, options, out, err);
}

assay_status assay_onnx_import_file(const char *path, const assay_onnx_options *options,
                                    assay_graph **out, assay_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == path ? strdup("/")
                   : slash       ? strndup(path, (size_t)(slash - path))
                                 : strdup(".");
    unsigned char *bytes = NULL;
    size_t length;
    assay_status s;

    *out = NULL;
    if (!folder)
        return assay_out_of_memory(err);
    s = assay_slurp(path, &bytes, &length, err);
    if (!s)
        s = import_bytes(path, folder, bytes, length, options, out, err);
    free(bytes);
    free(folder);
    return s;
}
