/* CONCATENATION, whose inputs may have parameters of their own. */
#include <math.h>

#include "graph/tflite/op/op.h"

/* uint8: round(q * (s_in / s_out) - z_in * (s_in / s_out)) + z_out in binary32
 * (reference/concatenation.h, ConcatenationWithScaling), as a table of all codes. */
static assay_status requantize_u8(const tfl_op *o, int x, int to)
{
    assay_graph *g = o->m->g;
    const assay_type *in = &g->value[x].type, *out = &g->value[to].type;
    assay_type type = {.elem = out->elem, .rank = 1, .dim = {256}};
    float inverse = 1.0F / out->q.scale[0], scale = in->q.scale[0] * inverse;
    float bias = (float)-in->q.zero_point[0] * scale;
    uint8_t table[256];
    const char *name = tfl_unique(o->m, "requantized", o->index);
    int id;
    assay_status s;

    if (!name)
        return tfl_no_memory(o->m);
    for (int q = 0; q < 256; ++q) {
        float product = (float)q * scale;
        float code = fminf(fmaxf(roundf(product + bias), -65536), 65536);
        int32_t v = (int32_t)code + out->q.zero_point[0];
        table[q] = (uint8_t)(v < 0 ? 0 : v > 255 ? 255 : v);
    }
    s = assay_graph_add_constant(g, name, &type, table, &id, o->m->err);
    return s ? s : tfl_node(o, ASSAY_OP_LOOKUP, (int[]){x, id}, 2, &to, 1, NULL, NULL);
}

/* Input i under the output's parameters: int16 keeps its codes (TFLite does not look at them
 * there), uint8 is requantized by TFLite's own rule, int8, which TFLite's reference refuses, as
 * QUANTIZE does it. */
static assay_status joined(const tfl_op *o, int i, int *x)
{
    const assay_qparams *q = &tfl_out(o, 0)->type.q;
    assay_type type;
    int from, to;
    assay_status s = tfl_value(o, i, &from);

    *x = from;
    if (s || from == ASSAY_NO_VALUE)
        return s ? s : tfl_fail(o, "input %d is missing", i);
    type = o->m->g->value[from].type;
    if (q->granularity != ASSAY_Q_TENSOR || type.q.granularity != ASSAY_Q_TENSOR ||
        !assay_elem_equal(type.elem, tfl_out(o, 0)->type.elem) || assay_qparams_equal(&type.q, q))
        return ASSAY_OK;
    type.q = *q;
    if ((s = tfl_part(o, "joined", &type, &to)))
        return s;
    *x = to;
    if (type.elem.bits == 8 && !type.elem.is_signed)
        return requantize_u8(o, from, to);
    return assay_graph_add_node(o->m->g, type.elem.bits == 8 ? ASSAY_OP_RESCALE : ASSAY_OP_RELABEL,
                                NULL, &from, 1, &to, 1, NULL, NULL, o->m->err);
}

assay_status tfl_op_concat(const tfl_op *o)
{
    assay_attrs a = {.axis.axis = tfl_flat_i32(o->options, 0, 0)};
    int *in, y;
    assay_status s = ASSAY_OK;

    if (o->n_in < 1 || o->n_out != 1)
        return tfl_fail(o, "%d inputs and %d outputs, expected at least 1 and exactly 1", o->n_in,
                        o->n_out);
    if (tfl_flat_i8(o->options, 1, 0) != ACTIVATION_NONE)
        return tfl_unsupported(o, "a fused activation");
    in = assay_arena_array(o->m->temp, (size_t)o->n_in, sizeof *in);
    if (!in)
        return tfl_no_memory(o->m);
    for (int i = 0; !s && i < o->n_in; ++i)
        s = joined(o, i, &in[i]);
    if (s || (s = tfl_result(o, 0, &y)))
        return s;
    return tfl_node(o, ASSAY_OP_CONCAT, in, o->n_in, &y, 1, &a, NULL);
}
