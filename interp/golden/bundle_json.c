/* Types and nodes as JSON, and types back. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/attr.h"
#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/page/json.h"

/* Scales print with 17 digits so that they read back to the same float. */
static json_t *scales(const assay_qparams *q)
{
    json_t *a;
    if (q->granularity == ASSAY_Q_TENSOR)
        return json_real((double)q->scale[0]);
    a = json_array();
    for (size_t i = 0; i < q->count; i++)
        page_json_add(&a, json_real((double)q->scale[i]));
    return a;
}

static json_t *zero_points(const assay_qparams *q)
{
    json_t *a;
    if (q->granularity == ASSAY_Q_TENSOR)
        return json_integer(q->zero_point[0]);
    a = json_array();
    for (size_t i = 0; i < q->count; i++)
        page_json_add(&a, json_integer(q->zero_point[i]));
    return a;
}

json_t *golden_json_array(const char *file, const char *digest)
{
    json_t *o = json_object();
    if (file)
        page_json_set(&o, "file", json_string(file));
    page_json_set(&o, "xxh3", json_string(digest));
    return o;
}

json_t *golden_json_type(const assay_type *t)
{
    const bool has = t->q.granularity != ASSAY_Q_NONE;
    return golden_json_type_with(t, has ? scales(&t->q) : NULL, has ? zero_points(&t->q) : NULL);
}

json_t *golden_json_type_with(const assay_type *t, json_t *scale, json_t *zero_point)
{
    json_t *o = json_object();
    json_t *shape = json_array();
    char unused[8];

    page_json_set(&o, "dtype", json_string(golden_dtype_name(t->elem)));
    page_json_set(&o, "bits", json_integer(t->elem.bits));
    if (assay_is_small_float(t->elem))
        page_json_set(&o, "float", json_string(assay_elem_print(t->elem, unused)));
    for (int d = 0; d < t->rank; d++)
        page_json_add(&shape, json_integer(t->dim[d]));
    page_json_set(&o, "shape", shape);
    if (t->q.granularity != ASSAY_Q_NONE) {
        page_json_set(&o, "scale", scale);
        page_json_set(&o, "zero_point", zero_point);
        if (t->q.granularity != ASSAY_Q_TENSOR)
            page_json_set(&o, "axis", json_integer(t->q.axis));
        if (t->q.granularity == ASSAY_Q_BLOCK)
            page_json_set(&o, "block", json_integer(t->q.block));
    }
    return o;
}

static json_t *names(const assay_graph *g, const int *ids, int n)
{
    json_t *a = json_array();
    for (int i = 0; i < n; i++)
        page_json_add(&a, ids[i] < 0 ? json_null() : page_json_text(g->value[ids[i]].name));
    return a;
}

/* JSON has neither infinities nor NaN: those as text. */
static json_t *number(float x)
{
    return isfinite(x) ? json_real((double)x)
                       : json_string(isnan(x)   ? "nan"
                                     : x > 0.0f ? "inf"
                                                : "-inf");
}

static json_t *attribute(const assay_attr_field *f, const assay_attrs *attrs)
{
    const void *at = (const char *)attrs + f->offset;
    json_t *a;

    switch (f->kind) {
    case 'I':
        return json_integer(*(const int64_t *)at);
    case 'B':
        return json_boolean(*(const bool *)at);
    case 'F':
        return number(*(const float *)at);
    case 'E':
        return json_string(f->names[*(const int *)at]);
    case 'L':
        a = json_array();
        for (int i = 0; i < ((const assay_list *)at)->n; i++)
            page_json_add(&a, json_integer(((const assay_list *)at)->v[i]));
        return a;
    default:
        a = json_array();
        for (int i = 0; i < ((const assay_float_list *)at)->n; i++)
            page_json_add(&a, number(((const assay_float_list *)at)->v[i]));
        return a;
    }
}

static json_t *attributes(const assay_node *n)
{
    const assay_attrs_info *info = assay_attrs_get(assay_op_get(n->op)->attrs);
    json_t *o = json_object();

    for (int i = 0; i < info->n_fields; i++)
        page_json_set(&o, info->field[i].name, attribute(&info->field[i], &n->attr));
    if (isfinite(n->act_lo))
        page_json_set(&o, "act_lo", json_real((double)n->act_lo));
    if (isfinite(n->act_hi))
        page_json_set(&o, "act_hi", json_real((double)n->act_hi));
    if (n->has_code_bounds) {
        page_json_set(&o, "code_lo", json_integer(n->code_lo));
        page_json_set(&o, "code_hi", json_integer(n->code_hi));
    }
    return o;
}

json_t *golden_json_node(const assay_graph *g, int node)
{
    const assay_node *n = &g->node[node];
    json_t *o = json_object();

    page_json_set(&o, "name", page_json_text(n->name));
    page_json_set(&o, "op", json_string(assay_op_get(n->op)->name));
    page_json_set(&o, "inputs", names(g, n->in, n->n_in));
    page_json_set(&o, "outputs", names(g, n->out, n->n_out));
    page_json_set(&o, "attributes", attributes(n));
    return o;
}

/* bits may be NULL: all that the dtype has. */
static bool elem_of_dtype(const char *dtype, const json_t *bits, assay_elem *e)
{
    static const struct {
        const char *name;
        assay_elem elem;
    } known[] = {{"float32", {ASSAY_KIND_F32, 32, true}}, {"bool", {ASSAY_KIND_BOOL, 8, false}},
                 {"int8", {ASSAY_KIND_INT, 8, true}},     {"uint8", {ASSAY_KIND_INT, 8, false}},
                 {"int16", {ASSAY_KIND_INT, 16, true}},   {"uint16", {ASSAY_KIND_INT, 16, false}},
                 {"int32", {ASSAY_KIND_INT, 32, true}},   {"uint32", {ASSAY_KIND_INT, 32, false}},
                 {"int64", {ASSAY_KIND_INT, 64, true}}};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(dtype, known[i].name) == 0) {
            const json_int_t n = bits ? json_integer_value(bits) : known[i].elem.bits;
            *e = known[i].elem;
            if (n < 1 || n > e->bits)
                return false;
            if (e->kind == ASSAY_KIND_INT)
                e->bits = (uint8_t)n;
            return true;
        }
    return false;
}

/* A small float's patterns are stored as unsigned integers; which it is stands beside. */
static bool read_float(const json_t *o, assay_elem *e)
{
    const char *name = json_string_value(json_object_get(o, "float"));
    const size_t size = assay_elem_size(*e);
    if (!json_object_get(o, "float"))
        return true;
    return name && !assay_elem_parse(name, e, NULL) && assay_is_small_float(*e) &&
           assay_elem_size(*e) == size;
}

/* Numbers of a list, or one, or those of a file; as f32 or i32, malloc'd. */
static assay_status read_numbers(const assay_bundle *b, const json_t *list, bool real,
                                 const char *what, void **data, size_t *n, assay_error *err)
{
    const bool is_list = json_is_array(list);
    assay_type t;
    if (json_is_object(list) && b) {
        assay_status status = golden_bundle_read_numbers(b, list, &t, data, err);
        *n = !status ? (size_t)t.dim[0] : 0;
        if (!status && !assay_elem_equal(t.elem, real ? assay_f32() : assay_int(32, true)))
            status = assay_fail(err, ASSAY_ERR_INPUT, "%s: a file of %s is not a list of %s", what,
                                golden_dtype_name(t.elem), real ? "scales" : "zero points");
        return status;
    }
    *n = is_list ? json_array_size(list) : 1;
    *data = calloc(*n + 1, 4);
    if (!*data)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < *n; i++) {
        const json_t *one = is_list ? json_array_get(list, i) : list;
        const json_int_t code = real ? 0 : json_integer_value(one);
        if (code != (int32_t)code)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: a zero point does not fit 32 bits", what);
        if (real)
            ((float *)*data)[i] = (float)json_number_value(one);
        else
            ((int32_t *)*data)[i] = (int32_t)code;
    }
    return ASSAY_OK;
}

/* One zero point beside scales in a file is that of all. */
static assay_status spread(int32_t **zero, size_t n, assay_error *err)
{
    int32_t *all = calloc(n + 1, sizeof *all);
    if (!all)
        return assay_out_of_memory(err);
    for (size_t i = 0; i < n; i++)
        all[i] = **zero;
    free(*zero);
    *zero = all;
    return ASSAY_OK;
}

static assay_status read_params(const assay_bundle *b, const json_t *o, const char *what,
                                assay_type *t, assay_error *err)
{
    const json_t *scale = json_object_get(o, "scale");
    const json_t *zero = json_object_get(o, "zero_point");
    const json_t *block = json_object_get(o, "block");
    const json_int_t axis = json_integer_value(json_object_get(o, "axis"));
    const bool one = !json_is_array(scale) && !json_is_object(scale);
    size_t n = 0, n_zero = 0;
    void *s = NULL, *z = NULL;

    if (!scale)
        return ASSAY_OK;
    assay_status status = read_numbers(b, scale, true, what, &s, &n, err);
    if (!status)
        status = read_numbers(b, zero, false, what, &z, &n_zero, err);
    t->q.scale = s;
    t->q.zero_point = z;
    if (!status && json_is_object(scale) && json_is_integer(zero)) {
        int32_t *all = z;
        status = spread(&all, n, err);
        t->q.zero_point = all;
        n_zero = n;
    }
    if (status)
        return status;
    if (n == 0 || n_zero != n || json_is_array(scale) != json_is_array(zero))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: scale and zero_point do not match", what);
    t->q.count = n;
    t->q.granularity = one ? ASSAY_Q_TENSOR : block ? ASSAY_Q_BLOCK : ASSAY_Q_AXIS;
    t->q.axis = axis == (int)axis ? (int)axis : -1;
    t->q.block = json_integer_value(block);
    if ((int64_t)n != assay_qparams_count(t))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %zu scales do not fit axis %lld of the shape",
                          what, n, (long long)axis);
    return ASSAY_OK;
}

assay_status golden_json_type_read(const assay_bundle *b, const json_t *o, const char *what,
                                   assay_type *t, assay_error *err)
{
    const char *dtype = json_string_value(json_object_get(o, "dtype"));
    const json_t *shape = json_object_get(o, "shape");
    assay_status status;

    memset(t, 0, sizeof *t);
    if (!dtype || !elem_of_dtype(dtype, json_object_get(o, "bits"), &t->elem))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: unknown dtype '%s', or \"bits\" that it has not", what,
                          dtype ? dtype : "(none)");
    if (!read_float(o, &t->elem))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: unknown small float in %s", what, dtype);
    if (!json_is_array(shape) || json_array_size(shape) > ASSAY_MAX_RANK)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: shape is not a list of at most %d sizes", what,
                          ASSAY_MAX_RANK);
    t->rank = (int)json_array_size(shape);
    for (int d = 0; d < t->rank; d++)
        t->dim[d] = json_integer_value(json_array_get(shape, (size_t)d));
    status = assay_shape_check(t, what, err);
    if (!status)
        status = read_params(b, o, what, t, err);
    if (status)
        golden_json_type_free(t);
    return status;
}

void golden_json_type_free(assay_type *t)
{
    free((void *)(uintptr_t)t->q.scale);
    free((void *)(uintptr_t)t->q.zero_point);
    t->q.scale = NULL;
    t->q.zero_point = NULL;
}
