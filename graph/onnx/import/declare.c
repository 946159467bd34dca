/* Declarations: what a model's initializers, inputs, nodes and outputs are called and are. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/import/import.h"

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

assay_status onnx_read_initializers(onnx_import *im, const pb_graph *g, assay_error *err)
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
        if (s && onnx_tolerate(im, s, &cause))
            return assay_fail(err, s, "%s", cause.text);
        onnx_value *v = onnx_find_value(im, t->name);
        v->narrow = onnx_is_narrow(t->data_type) ? t->data_type : ONNX_UNDEFINED;
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

assay_status onnx_declare_nodes(onnx_import *im, const pb_graph *g, onnx_node *nodes,
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
            onnx_find_value(im, pb->output[k])->by = &nodes[i];
        }
    }
    for (size_t i = 0; i < g->n_node; i++) {
        for (size_t k = 0; k < g->node[i]->n_input; k++) {
            onnx_value *v;
            if (g->node[i]->input[k][0] == '\0')
                continue;
            v = onnx_find_here(im, g->node[i]->input[k]);
            if (!v)
                return assay_fail(err, ASSAY_ERR_INPUT,
                                  "%s: node '%s' (%s) uses '%s', which nothing defines", im->file,
                                  nodes[i].name, g->node[i]->op_type, g->node[i]->input[k]);
            v->uses++;
        }
    }
    return ASSAY_OK;
}

assay_status onnx_declare_outputs(onnx_import *im, const pb_graph *g, assay_error *err)
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
                      "%s: dimension %d of input '%s' is symbolic ('%s'): give the input a shape "
                      "(`shape` %s=DIMS)",
                      im->file, d, input, symbol, input);
}

static int narrow_of(const pb_value_info *in)
{
    const Assay__Onnx__TensorType *t = in->type ? in->type->tensor_type : NULL;
    return t && onnx_is_narrow(t->elem_type) ? t->elem_type : ONNX_UNDEFINED;
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

    if (!c || dtype == ONNX_UNDEFINED || !t ||
        t->elem_type != (dtype != ONNX_FLOAT           ? dtype
                         : v->narrow                   ? v->narrow
                         : t->elem_type == ONNX_DOUBLE ? ONNX_DOUBLE
                                                       : ONNX_FLOAT))
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

static assay_status wrong_count(const onnx_import *im, const pb_value_info *in, size_t n, int rank,
                                const int64_t *dim, assay_error *err)
{
    char shape[160] = "[";
    size_t at = 1;

    for (int d = 0; d < rank && rank <= ASSAY_MAX_RANK && at < sizeof shape; d++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, dim[d] < 0 ? "%s?" : "%s%lld",
                               d ? "," : "", (long long)dim[d]);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: %zu numbers are given for input '%s', which is %s%s", im->file, n,
                      in->name, rank <= ASSAY_MAX_RANK ? shape : "of too high rank",
                      rank <= ASSAY_MAX_RANK ? "]" : "");
}

/* The declared shape, or the one given for the input, with n elements in all. */
static assay_status shape_of_numbers(const onnx_import *im, const pb_value_info *in, size_t n,
                                     int *rank, int64_t *dim, assay_error *err)
{
    const Assay__Onnx__Shape *s = in->type->tensor_type->shape;
    const assay_onnx_shape *given = find_shape(im, in->name);
    int64_t known = 1, left = (int64_t)n;
    int open = -1;

    *rank = given ? given->rank : s ? (int)s->n_dim : 1;
    for (int d = 0; d < *rank && *rank <= ASSAY_MAX_RANK; d++) {
        dim[d] = given ? given->dim[d] : s && s->dim[d]->has_dim_value ? s->dim[d]->dim_value : -1;
        open = dim[d] < 0 && open < 0 ? d : open;
        dim[d] = dim[d] < 0 && open != d ? 1 : dim[d];
        if (dim[d] >= 0 && __builtin_mul_overflow(known, dim[d], &known))
            known = 0;
    }
    if (*rank > ASSAY_MAX_RANK || (open < 0 ? known != left : known == 0 || left % known != 0))
        return wrong_count(im, in, n, *rank, dim, err);
    if (open >= 0)
        dim[open] = left / known;
    return ASSAY_OK;
}

/* Whether the type holds the number: an integer in its range. */
static bool holds(int dtype, double number)
{
    assay_elem e;
    if (onnx_is_float(dtype) || !onnx_dtype_elem(dtype, &e))
        return true;
    if (e.kind == ASSAY_KIND_BOOL)
        return number == 0 || number == 1;
    return number == floor(number) && fabs(number) <= 0x1p53 &&
           number >= (double)assay_elem_min(e) && number <= (double)assay_elem_max(e);
}

static assay_status fix_numbers(onnx_import *im, const pb_value_info *in, onnx_value *v,
                                const assay_onnx_fixed *f, assay_error *err)
{
    const Assay__Onnx__TensorType *t = in->type ? in->type->tensor_type : NULL;
    const int dtype = v->narrow ? ONNX_FLOAT : t ? t->elem_type : ONNX_UNDEFINED;
    int64_t dim[ASSAY_MAX_RANK];
    assay_elem elem;
    int rank;
    onnx_const *c;

    if (!t || !onnx_dtype_elem(dtype, &elem))
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "input '%s' is %s", in->name,
                          t ? onnx_dtype_name(t->elem_type) : "not a tensor");
    const assay_status s = shape_of_numbers(im, in, f->n_numbers, &rank, dim, err);
    if (s)
        return s;
    c = onnx_new_const(im, dtype, rank, dim);
    if (!c)
        return assay_out_of_memory(err);
    for (int64_t i = 0; i < c->count; i++) {
        if (!holds(dtype, f->number[i]))
            return assay_fail(err, ASSAY_ERR_INPUT, "input '%s' is %s, which %.15g is not",
                              in->name, onnx_dtype_name(dtype), f->number[i]);
        if (onnx_is_float(dtype))
            onnx_set_real(c, i, f->number[i]);
        else
            onnx_set_int(c, i, (int64_t)f->number[i]);
    }
    v->constant = c;
    return ASSAY_OK;
}

/* Is everything that is fixed an input? */
static assay_status check_fixed(const onnx_import *im, const pb_graph *g, assay_error *err)
{
    for (size_t k = 0; k < im->options->n_fixed; k++) {
        bool found = false;
        for (size_t i = 0; i < g->n_input && !found; i++)
            found = strcmp(g->input[i]->name, im->options->fixed[k].input) == 0;
        if (!found)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: has no input '%.200s' that could be fixed",
                              im->file, im->options->fixed[k].input);
    }
    return ASSAY_OK;
}

assay_status onnx_read_inputs(onnx_import *im, const pb_graph *g, assay_error *err)
{
    int *ids = assay_arena_array(im->temp, g->n_input, sizeof *ids), n = 0;
    const assay_status checked = check_fixed(im, g, err);

    if (!ids)
        return assay_out_of_memory(err);
    if (checked)
        return checked;
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
        v->narrow = narrow_of(in);
        if (fixed) {
            s = fixed->number ? fix_numbers(im, in, v, fixed, err)
                              : fix_input(im, in, v, fixed, err);
            if (s)
                return s;
            continue;
        }
        s = input_type(im, in, &type, &cause);
        if (s && onnx_tolerate(im, s, &cause))
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
