/* The table of import-time values: found by name, made into graph values when a node needs them. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "graph/memory.h"
#include "graph/onnx/value/value.h"

/* The slot of that name, or the empty one where it belongs. n_slots is never 0 here. */
static size_t find_slot(const onnx_import *im, const char *name)
{
    size_t mask = im->n_slots - 1;
    size_t i = (size_t)XXH3_64bits(name, strlen(name)) & mask;

    while (im->slot[i] != 0 && strcmp(im->value[im->slot[i] - 1]->name, name) != 0)
        i = (i + 1) & mask;
    return i;
}

onnx_value *onnx_find_value(const onnx_import *im, const char *name)
{
    size_t i;
    if (im->n_slots == 0)
        return NULL;
    i = find_slot(im, name);
    return im->slot[i] != 0 ? im->value[im->slot[i] - 1] : NULL;
}

/* Doubles the table; old ones stay in the arena, together no larger than the new. */
static bool grow(onnx_import *im)
{
    size_t cap = im->cap_values ? 2 * im->cap_values : 64;
    onnx_value **value = assay_arena_array(im->temp, cap, sizeof(onnx_value *));
    size_t *slot = assay_arena_array(im->temp, 2 * cap, sizeof *slot);

    if (!value || !slot)
        return false;
    if (im->n_values)
        memcpy(value, im->value, im->n_values * sizeof(onnx_value *));
    im->value = value;
    im->cap_values = cap;
    im->slot = slot;
    im->n_slots = 2 * cap;
    for (size_t i = 0; i < im->n_values; i++)
        im->slot[find_slot(im, value[i]->name)] = i + 1;
    return true;
}

onnx_value *onnx_add_value(onnx_import *im, const char *name)
{
    onnx_value *v = onnx_find_value(im, name);

    if (v)
        return v;
    if (im->n_values == im->cap_values && !grow(im))
        return NULL;
    v = onnx_alloc(im, sizeof *v);
    if (!v || !(v->name = assay_arena_string(im->temp, name)))
        return NULL;
    v->id = ASSAY_NO_VALUE;
    v->home = im->home;
    im->slot[find_slot(im, name)] = im->n_values + 1;
    im->value[im->n_values++] = v;
    return v;
}

onnx_value *onnx_resolve(onnx_value *v)
{
    while (v && v->same)
        v = v->same;
    return v;
}

const char *onnx_fresh_name(onnx_import *im, const char *base, const char *suffix)
{
    size_t n = strlen(base) + strlen(suffix) + 16;
    char *name = onnx_alloc(im, n);

    if (!name)
        return NULL;
    snprintf(name, n, "%s/%s", base, suffix);
    while (onnx_find_value(im, name) || assay_graph_find_value(im->graph, name) >= 0)
        snprintf(name, n, "%s/%s%u", base, suffix, ++im->n_fresh);
    return name;
}

static bool has_nan(const onnx_const *c)
{
    const char *p = c->data;
    bool nan = false;
    for (int64_t i = 0; i < c->count; i++) {
        float v;
        memcpy(&v, p + (size_t)i * sizeof v, sizeof v);
        nan |= v != v;
    }
    return nan;
}

static assay_status add_constant(onnx_import *im, const char *name, const assay_type *type,
                                 const onnx_const *c, int *id, assay_error *err)
{
    assay_status s;

    if (c->lasts || onnx_keep_block(im, c->block))
        return assay_graph_borrow_constant(im->graph, name, type, c->data, id, err);
    s = assay_graph_add_constant(im->graph, name, type, c->data, id, err);
    onnx_forget(im, c); /* one copy is enough */
    return s;
}

int onnx_materialize_codes(onnx_import *im, onnx_value *v, const assay_qparams *q, assay_error *err)
{
    const assay_qparams *own;
    int id = onnx_materialize(im, v, err);

    if (id == ASSAY_NO_VALUE)
        return id;
    own = &im->graph->value[id].type.q;
    if (own->granularity == ASSAY_Q_NONE)
        return assay_graph_set_qparams(im->graph, id, q, err) ? ASSAY_NO_VALUE : id;
    if (assay_qparams_equal(own, q))
        return id;
    if (v->constant) { /* the same codes in other parameters are another constant */
        assay_type type = im->graph->value[id].type;
        const char *name = onnx_fresh_name(im, v->name, "codes");
        type.q = *q;
        if (!name)
            assay_out_of_memory(err);
        return name && !add_constant(im, name, &type, v->constant, &id, err) ? id : ASSAY_NO_VALUE;
    }
    assay_fail(err, ASSAY_ERR_UNSUPPORTED,
               "'%s' is read with other parameters than it has: scale %.9g and zero point %d, "
               "not %.9g and %d",
               v->name, (double)q->scale[0], q->zero_point[0], (double)own->scale[0],
               own->zero_point[0]);
    return ASSAY_NO_VALUE;
}

/* The floats of a constant behind a DequantizeLinear. */
static int materialize_floats(onnx_import *im, onnx_value *v, assay_error *err)
{
    int codes = onnx_materialize_codes(im, v->codes->constant, &v->codes->q, err), id, narrow;
    const assay_attrs attr = {.convert = {.no_zero_point = v->codes->no_zero_point}};
    const char *name;
    assay_type type;

    if (codes == ASSAY_NO_VALUE)
        return codes;
    type = im->graph->value[codes].type;
    type.elem = assay_f32();
    type.q = (assay_qparams){0};
    narrow = v->codes->narrow;
    name = narrow ? onnx_fresh_name(im, v->name, "wide") : v->name;
    if (!name || assay_graph_add_value(im->graph, name, &type, &id, err) ||
        assay_graph_add_node(im->graph, ASSAY_OP_DEQUANTIZE, NULL, &codes, 1, &id, 1, &attr, NULL,
                             err))
        return ASSAY_NO_VALUE;
    if (narrow) {
        const assay_attrs cast = {
            .cast = {.to = narrow == ONNX_FLOAT16 ? ASSAY_CAST_F16 : ASSAY_CAST_BF16}};
        const int wide = id;
        if (assay_graph_add_inferred(im->graph, ASSAY_OP_CAST, NULL, &wide, 1, &v->name, 1, &cast,
                                     &id, err))
            return ASSAY_NO_VALUE;
    }
    return v->id = id;
}

/* A constant of float64 in the graph's width; NULL when out of memory. */
static const onnx_const *as_float32(onnx_import *im, const onnx_const *c)
{
    onnx_const *y = onnx_new_const(im, ONNX_FLOAT, c->rank, c->dim);

    for (int64_t i = 0; y && i < c->count; i++)
        onnx_set_real(y, i, onnx_get_real(c, i));
    return y;
}

int onnx_materialize(onnx_import *im, onnx_value *v, assay_error *err)
{
    const onnx_const *c = v->constant;
    assay_type type = {.rank = 0};

    if (v->list) {
        assay_fail(err, ASSAY_ERR_UNSUPPORTED, "'%s' is a sequence", v->name);
        return ASSAY_NO_VALUE;
    }
    if (v->codes && v->id == ASSAY_NO_VALUE)
        return materialize_floats(im, v, err);
    if (v->id != ASSAY_NO_VALUE || !c)
        return v->id;
    if (!onnx_dtype_elem(c->dtype, &type.elem)) {
        assay_fail(err, ASSAY_ERR_UNSUPPORTED, "constant '%s' is %s", v->name,
                   onnx_dtype_name(c->dtype));
        return ASSAY_NO_VALUE;
    }
    if (c->dtype == ONNX_DOUBLE && !(c = as_float32(im, c))) {
        assay_out_of_memory(err);
        return ASSAY_NO_VALUE;
    }
    if (c->dtype == ONNX_FLOAT && has_nan(c)) {
        assay_fail(err, ASSAY_ERR_INPUT, "constant '%s' has a NaN", v->name);
        return ASSAY_NO_VALUE;
    }
    type.rank = c->rank;
    memcpy(type.dim, c->dim, sizeof type.dim);
    /* A changed constant may have taken the name over before a subgraph asked for the original. */
    if (assay_graph_find_value(im->graph, v->name) >= 0)
        v->name = onnx_fresh_name(im, v->name, "original");
    if (!v->name) {
        assay_out_of_memory(err);
        return ASSAY_NO_VALUE;
    }
    if (add_constant(im, v->name, &type, c, &v->id, err))
        v->id = ASSAY_NO_VALUE;
    return v->id;
}
