/* Values, numbers and nodes of probe networks. */
#include "interp/probe/net.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "graph/memory.h"

static const probe_types families[] = {
    {"s8s8",
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 32, true},
     -5,
     "tflite"},
    {"u8s8",
     {ASSAY_KIND_INT, 8, false},
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 32, true},
     121,
     "onnxruntime"},
    {"u8u8",
     {ASSAY_KIND_INT, 8, false},
     {ASSAY_KIND_INT, 8, false},
     {ASSAY_KIND_INT, 32, true},
     121,
     "onnxruntime"},
    {"s16s8",
     {ASSAY_KIND_INT, 16, true},
     {ASSAY_KIND_INT, 8, true},
     {ASSAY_KIND_INT, 64, true},
     0,
     "tflite-int16x8"},
};

const probe_types *probe_types_find(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(families[i].name, name) == 0)
            return &families[i];
    return NULL;
}

/* ---- numbers ---- */

uint64_t probe_random(probe_net *n)
{
    return rows_next(&n->random);
}

int64_t probe_between(probe_net *n, int64_t lo, int64_t hi)
{
    return rows_between(&n->random, lo, hi);
}

double probe_unit(probe_net *n)
{
    return (double)(probe_random(n) >> 11) / 9007199254740992.0;
}

double probe_vary(probe_net *n, double scale)
{
    if (!n->varied)
        return scale;
    const double other = scale * exp2(3 * probe_unit(n) - 1.5);
    return probe_random(n) % 4 == 0 ? exp2(nearbyint(log2(other))) : other;
}

int64_t probe_code(probe_net *n, assay_elem e, int64_t i)
{
    const int64_t lo = assay_elem_min(e), hi = assay_elem_max(e);
    if (hi - lo < 256)
        return lo + i % (hi - lo + 1);
    switch (probe_random(n) % 8) {
    case 0:
        return probe_between(n, lo, lo + 3);
    case 1:
        return probe_between(n, hi - 3, hi);
    case 2:
        return probe_between(n, -8, 8);
    case 3: {
        assert(e.bits > 8 && e.bits <= 32); /* of fewer, all are taken */
        const int64_t power = (int64_t)1 << probe_between(n, 0, e.bits - 2);
        return (probe_random(n) & 1 && e.is_signed ? -power : power) + probe_between(n, -1, 0);
    }
    default:
        return probe_between(n, lo, hi);
    }
}

/* ---- types ---- */

static void short_of_memory(probe_net *n)
{
    if (!n->status)
        n->status = assay_out_of_memory(n->err);
}

static assay_type with_scales(probe_net *n, assay_elem e, probe_shape shape, size_t count,
                              const float *scale, int32_t zero)
{
    assay_type t = {.elem = e, .rank = shape.rank};
    float *scales = assay_arena_copy(n->graph->arena, scale, count * sizeof *scale);
    int32_t *zeros = assay_arena_array(n->graph->arena, count, sizeof *zeros);
    memcpy(t.dim, shape.dim, sizeof t.dim);
    for (size_t i = 0; i < count && scales && n->powers; i++)
        scales[i] = (float)exp2(nearbyint(log2((double)scales[i])));
    if (!scales || !zeros) {
        short_of_memory(n);
        return t;
    }
    for (size_t i = 0; i < count; i++)
        zeros[i] = zero;
    t.q = (assay_qparams){.granularity = count == 1 ? ASSAY_Q_TENSOR : ASSAY_Q_AXIS,
                          .count = count,
                          .scale = scales,
                          .zero_point = zeros};
    return t;
}

assay_type probe_type(probe_net *n, assay_elem e, probe_shape shape, double scale, int32_t zero)
{
    const float s = (float)scale;
    return with_scales(n, e, shape, 1, &s, zero);
}

assay_type probe_axis_type(probe_net *n, assay_elem e, probe_shape shape, const float *scale)
{
    return with_scales(n, e, shape, (size_t)shape.dim[0], scale, 0);
}

/* ---- values ---- */

void *probe_input(probe_net *n, const char *name, assay_type type, int *id)
{
    void *data = assay_arena_alloc(n->graph->arena, assay_type_bytes(&type) + 64);
    *id = 0;
    if (!data)
        short_of_memory(n);
    if (!n->status && n->n_inputs == PROBE_INPUTS)
        n->status = assay_fail(n->err, ASSAY_ERR_INTERNAL, "probe: too many inputs");
    if (!n->status)
        n->status = assay_graph_add_value(n->graph, name, &type, id, n->err);
    if (n->status)
        return NULL;
    n->input[n->n_inputs] = *id;
    n->data[n->n_inputs++] = data;
    return data;
}

int probe_codes(probe_net *n, const char *name, assay_type type)
{
    int id;
    void *data = probe_input(n, name, type, &id);
    for (int64_t i = 0; data && i < assay_shape_count(&type); i++)
        assay_elem_set(type.elem, data, (size_t)i, probe_code(n, type.elem, i));
    return id;
}

void *probe_constant(probe_net *n, const char *name, assay_type type, int *id)
{
    *id = 0;
    if (!n->status)
        n->status = assay_graph_add_constant(n->graph, name, &type, NULL, id, n->err);
    return !n->status ? (void *)(uintptr_t)n->graph->value[*id].data : NULL;
}

assay_node *probe_node(probe_net *n, enum assay_op op, const char *name, const int *in, int n_in,
                       assay_type out, const assay_attrs *attr, const char *what)
{
    int id = 0, node = 0;
    if (!n->status && n->n_outputs == PROBE_INPUTS)
        n->status = assay_fail(n->err, ASSAY_ERR_INTERNAL, "probe: too many outputs");
    if (!n->status)
        n->status = assay_graph_add_value(n->graph, name, &out, &id, n->err);
    if (!n->status)
        n->status = assay_graph_add_node(n->graph, op, name, in, n_in, &id, 1, attr, &node, n->err);
    if (n->status)
        return NULL;
    n->about[n->n_outputs] = what;
    n->output[n->n_outputs++] = id;
    return &n->graph->node[node];
}

assay_status probe_net_end(probe_net *n)
{
    if (!n->status)
        n->status = assay_graph_set_inputs(n->graph, n->input, n->n_inputs, n->err);
    if (!n->status)
        n->status = assay_graph_set_outputs(n->graph, n->output, n->n_outputs, n->err);
    if (!n->status)
        n->status = assay_graph_verify(n->graph, n->err);
    return n->status;
}
