/* Weights with a scale for each block of an output channel's inputs, for targets that have them. */
#include <math.h>

#include "graph/core/blocks.h"
#include "graph/memory.h"
#include "opt/quantize/plan.h"

bool quantize_takes_blocks(const assay_quantizer *q, const assay_node *n, int *axis)
{
    const assay_type *w = &q->g->value[n->in[1]].type;
    const assay_target_rule *rule = quantize_plan_rule(q, n->op);
    bool nhwc = n->op == ASSAY_OP_CONV && n->attr.conv.layout == ASSAY_LAYOUT_NHWC;
    *axis = nhwc ? w->rank - 1 : 1;
    return q->block > 0 && (n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_FC) && !rule->per_tensor &&
           !rule->per_channel && w->dim[*axis] > q->block;
}

assay_status quantize_weight_units(const assay_quantizer *q, const assay_node *n, float in_scale,
                                   const assay_type *weights, float *unit, size_t *count,
                                   assay_error *err)
{
    const assay_type in[2] = {
        {.elem = q->activation.elem,
         .q = {.granularity = ASSAY_Q_TENSOR, .count = 1, .scale = &in_scale}},
        *weights};
    const assay_unit_spec spec = {
        .size = sizeof spec, .op = assay_op_get(n->op)->name, .node = n->name, .in = in, .n_in = 2};
    return assay_scheme_weight_units(q->scheme, &spec, unit, count, err);
}

/* Doubles a channel's scales until its bias fits `limit` units. */
static assay_status make_room(const assay_quantizer *q, const assay_node *n, float in_scale,
                              const assay_type *type, const assay_blocks *b, float *scale,
                              double limit, assay_error *err)
{
    const assay_value *bias = n->n_in > 2 && n->in[2] >= 0 ? &q->g->value[n->in[2]] : NULL;
    float *unit = assay_arena_array(q->arena, type->q.count, sizeof *unit);
    size_t count;
    if (!unit)
        return assay_out_of_memory(err);
    assay_status s = quantize_weight_units(q, n, in_scale, type, unit, &count, err);
    for (int64_t o = 0; bias && o < assay_shape_count(&bias->type) && !s; o++) {
        double need = fabs((double)((const float *)bias->data)[o]) / limit / (double)in_scale;
        double grow = need > (double)unit[o] ? exp2(ceil(log2(need / (double)unit[o]))) : 1;
        for (int64_t i = 0; i < b->count; i++)
            scale[assay_block_scale(b, o, i)] *= (float)grow;
    }
    return s;
}

assay_status quantize_block_size(const assay_quantizer *q, assay_graph *to, const assay_node *n,
                                 float in_scale, int axis, double bias_limit, assay_type *type,
                                 const void **data, assay_error *err)
{
    const assay_value *w = &q->g->value[n->in[1]];
    const float *x = w->data;
    const assay_choice *choice = &q->weight;
    int64_t lo, hi, along = (w->type.dim[axis] + q->block - 1) / q->block;
    size_t n_scales = (size_t)(assay_shape_count(&w->type) / w->type.dim[axis] * along);
    float *scale = assay_arena_array(to->arena, n_scales, sizeof *scale);
    int32_t *zero = assay_arena_array(to->arena, n_scales, sizeof *zero);
    double *range = assay_arena_array(q->arena, 2 * n_scales, sizeof *range), min, max;
    assay_blocks b;
    bool done = false;
    assay_status s = quantize_constant_range(w, &min, &max, err); /* finite? */
    *type = w->type;
    type->elem = choice->elem;
    type->q = (assay_qparams){ASSAY_Q_BLOCK, axis, q->block, n_scales, scale, zero};
    void *codes = assay_arena_alloc(to->arena, assay_type_bytes(type));
    if (!s && (!scale || !zero || !range || !codes))
        return assay_out_of_memory(err);
    if (s || !assay_blocks_of(n->op, false, type, &b))
        return s;
    const int64_t depth = b.outer * b.extent * b.inner;
    for (int64_t i = 0; i < b.channels * depth; i++) {
        double *r = range + 2 * assay_block_scale(&b, i / depth, assay_block_number(&b, i % depth));
        r[0] = fmin(r[0], (double)x[i]);
        r[1] = fmax(r[1], (double)x[i]);
    }
    for (size_t i = 0; i < n_scales && !s; i++)
        s = calibrate_choose_qparams(choice, range[2 * i], range[2 * i + 1], &scale[i], &zero[i],
                                     err);
    if (!s)
        s = make_room(q, n, in_scale, type, &b, scale, bias_limit, err);
    if (!s)
        s = quantize_gptq(q, n, type, codes, &done, err);
    calibrate_choice_codes(choice, &lo, &hi);
    for (int64_t i = 0; i < b.channels * depth && !s && !done; i++) {
        int64_t k = assay_block_scale(&b, i / depth, assay_block_number(&b, i % depth));
        assay_elem_set(type->elem, codes, (size_t)i,
                       calibrate_quantize_real((double)x[i], (double)scale[k], zero[k], lo, hi,
                                               q->caps.constant_round));
    }
    *data = codes;
    return s;
}
