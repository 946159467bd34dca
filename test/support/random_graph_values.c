/* Names, constants, inputs and variables of random graphs. */
#include "test/support/random_graph_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void graph_fresh_name(graph_drawing *x, char *buf, size_t size)
{
    static const char *const forms[] = {"v%d",  "/conv1/Conv_%d", "a b %d", "q\"uo\\te%d", "%d",
                                        "x:%d", "n\303\244me%d",  "-%d",    "output%d"};
    static const char *const words[] = {"graph", "input", "const", "var", "output", "model",
                                        "value", "_",     "act",   "q",   "file",   "f32"};
    size_t form = (size_t)test_between(x->r, 0, 40);
    if (x->n_names < (int)(sizeof words / sizeof *words))
        snprintf(buf, size, "%s", words[x->n_names]);
    else
        snprintf(buf, size, forms[form % (sizeof forms / sizeof *forms)], x->n_names);
    ++x->n_names;
}

float graph_random_float(test_rng *r)
{
    uint32_t bits = (uint32_t)test_random(r);
    float f;
    if (test_between(r, 0, 2))
        return (float)test_between(r, -8, 8) / 4;
    memcpy(&f, &bits, sizeof f);
    return isnan(f) ? -0.0F : f;
}

float graph_random_scale(test_rng *r)
{
    return (float)(test_unit(r) + 0.001);
}

void graph_random_params(test_rng *r, assay_type *t)
{
    float *scale;
    int32_t *zero_point;
    t->q.granularity = (assay_granularity)test_between(r, ASSAY_Q_TENSOR,
                                                       t->rank ? ASSAY_Q_BLOCK : ASSAY_Q_TENSOR);
    if (t->q.granularity > ASSAY_Q_TENSOR)
        t->q.axis = (int)test_between(r, 0, t->rank - 1);
    if (t->q.granularity == ASSAY_Q_BLOCK)
        t->q.block = test_between(r, 1, 3);
    t->q.count = (size_t)assay_qparams_count(t);
    scale = malloc((t->q.count + 1) * sizeof *scale);
    zero_point = malloc((t->q.count + 1) * sizeof *zero_point);
    assert_non_null(scale);
    assert_non_null(zero_point);
    for (size_t i = 0; i < t->q.count; ++i) {
        int64_t lo = assay_elem_min(t->elem), hi = assay_elem_max(t->elem);
        scale[i] = graph_random_scale(r);
        zero_point[i] = (int32_t)test_between(r, lo, hi > INT32_MAX ? INT32_MAX : hi);
    }
    t->q.scale = scale;
    t->q.zero_point = zero_point;
}

void graph_free_params(assay_type *t)
{
    free((void *)t->q.scale);
    free((void *)t->q.zero_point);
}

int graph_add_drawn_constant(graph_drawing *x, const assay_type *t)
{
    size_t n = (size_t)assay_shape_count(t);
    char name[64];
    assay_error err;
    int id;
    graph_fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_constant(x->g, name, t, NULL, &id, &err), &err);
    for (size_t i = 0; i < n; ++i) {
        void *data = (void *)x->g->value[id].data;
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)data)[i] = graph_random_float(x->r);
        else if (t->elem.kind == ASSAY_KIND_BOOL)
            assay_elem_set(t->elem, data, i, test_between(x->r, 0, 1));
        else
            assay_elem_set(t->elem, data, i,
                           test_between(x->r, assay_elem_min(t->elem), assay_elem_max(t->elem)));
    }
    return id;
}

void graph_add_loose_constant(graph_drawing *x)
{
    assay_type t = {.rank = (int)test_between(x->r, 0, 3)};
    int64_t kind = test_between(x->r, 0, 7);
    for (int i = 0; i < t.rank; ++i)
        t.dim[i] = test_between(x->r, 0, 5);
    t.elem =
        kind == 0   ? assay_f32()
        : kind == 1 ? assay_bool()
        : kind == 2 ? assay_int(64, true)
        : kind == 3
            ? assay_small_float((assay_kind)test_between(x->r, ASSAY_KIND_F16, ASSAY_KIND_INT8MX))
            : assay_int((unsigned)test_between(x->r, 1, 32), test_between(x->r, 0, 1) != 0);
    if (kind > 4)
        graph_random_params(x->r, &t);
    graph_add_drawn_constant(x, &t);
    if (kind > 4)
        graph_free_params(&t);
}

int graph_add_drawn_input(graph_drawing *x, assay_elem elem, int rank, const int64_t *dim)
{
    assay_type t = {.elem = elem, .rank = rank};
    char name[64];
    assay_error err;
    int id;
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    graph_fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_value(x->g, name, &t, &id, &err), &err);
    return id;
}

int graph_add_drawn_variable(graph_drawing *x)
{
    assay_type t = {.elem = assay_f32(), .rank = 2, .dim = {2, 3}};
    char name[64];
    int id;
    assay_error err;
    graph_fresh_name(x, name, sizeof name);
    assert_ok(assay_graph_add_variable(x->g, name, &t, NULL, &id, &err), &err);
    return id;
}
