/* Constants as codes. */
#include <math.h>
#include <string.h>

#include "graph/memory.h"
#include "opt/quantize/plan.h"

/* A bias uses at most 30 of 32 bits, so that it leaves room for the sum that it starts. */
#define BIAS_HEADROOM 2

/* A type like `source` with `count` parameters (all zero as yet) along `axis`, or per tensor. */
static assay_status type_with_params(assay_arena *arena, const assay_type *source, assay_elem elem,
                                     size_t count, int axis, assay_type *type, float **scale,
                                     int32_t **zero_point, assay_error *err)
{
    *scale = assay_arena_array(arena, count, sizeof **scale);
    *zero_point = assay_arena_array(arena, count, sizeof **zero_point);
    if (!*scale || !*zero_point)
        return assay_out_of_memory(err);
    *type = *source;
    type->elem = elem;
    type->q = (assay_qparams){.granularity = axis < 0 ? ASSAY_Q_TENSOR : ASSAY_Q_AXIS,
                              .axis = axis < 0 ? 0 : axis,
                              .count = count,
                              .scale = *scale,
                              .zero_point = *zero_point};
    return ASSAY_OK;
}

assay_status quantize_coded_type(assay_arena *arena, const assay_type *source,
                                 const assay_code *code, assay_type *type, assay_error *err)
{
    float *scale;
    int32_t *zero_point;
    assay_status status =
        type_with_params(arena, source, code->elem, 1, -1, type, &scale, &zero_point, err);
    if (!status) {
        *scale = code->scale;
        *zero_point = code->zero_point;
    }
    return status;
}

static assay_status code_room(assay_arena *arena, const assay_type *type, void **data,
                              assay_error *err)
{
    *data = assay_arena_alloc(arena, assay_type_bytes(type));
    return *data ? ASSAY_OK : assay_out_of_memory(err);
}

assay_status quantize_constant_value(assay_graph *to, const assay_value *v, const assay_code *code,
                                     enum assay_rounding round, assay_type *type, const void **data,
                                     assay_error *err)
{
    void *codes;
    int64_t lo = assay_elem_min(code->elem), hi = assay_elem_max(code->elem);
    const double floor = (double)code->scale * (double)(lo - code->zero_point);
    double min, max;
    assay_status status = quantize_constant_range_above(v, floor, &min, &max, err); /* finite? */
    if (!status)
        status = quantize_coded_type(to->arena, &v->type, code, type, err);
    if (!status)
        status = code_room(to->arena, type, &codes, err);
    if (status)
        return status;
    for (int64_t i = 0, n = assay_shape_count(type); i < n; i++)
        assay_elem_set(code->elem, codes, (size_t)i,
                       calibrate_quantize_real((double)((const float *)v->data)[i],
                                               (double)code->scale, code->zero_point, lo, hi,
                                               round));
    *data = codes;
    return ASSAY_OK;
}

/* ---- weights ---- */

static assay_weight_map weight_map_of(const assay_quantizer *q, const assay_node *n)
{
    const assay_type *w = &q->g->value[n->in[1]].type;
    assay_weight_map m = {.axis = 0, .channels = 1, .stride = assay_shape_count(w)};
    if (n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.layout == ASSAY_LAYOUT_NCHW)
        m.axis = n->attr.conv.group == 1 ? 1 : -1;
    if (!q->per_channel || quantize_plan_rule(q, n->op)->per_tensor || w->rank < 2)
        m.axis = -1;
    if (m.axis < 0)
        return m;
    m.channels = w->dim[m.axis];
    m.stride = 1;
    for (int i = m.axis + 1; i < w->rank; i++)
        m.stride *= w->dim[i];
    return m;
}

static assay_choice weight_choice(const assay_quantizer *q, const assay_node *n)
{
    assay_choice c = q->weight;
    c.power_of_two |= quantize_plan_rule(q, n->op)->power_of_two;
    return c;
}

/* Of node n beside codes of type `in`. */
static unsigned bias_bits(const assay_quantizer *q, const assay_node *n, const assay_type *in)
{
    const char *op = assay_op_get(n->op)->name;
    bool wide = in->elem.bits > 8 && assay_scheme_bias_bits(q->scheme, op, true) > 32;
    return wide || q->caps.bias_bits > 32 ? 64 : q->caps.bias_bits;
}

/* The greatest bias that is chosen: all that its type holds where the accumulator is wide enough
 * for it and the products; else what leaves room for them. */
static double bias_limit(const assay_quantizer *q, const assay_node *n, const assay_type *in)
{
    const unsigned bits = bias_bits(q, n, in);
    const char *op = assay_op_get(n->op)->name;
    if (assay_scheme_accumulator_bits(q->scheme, op, in->elem.bits > 8) >= bits + BIAS_HEADROOM)
        return ldexp(1, (int)bits - 1) - 1;
    return ldexp(1, (int)bits - 1 - BIAS_HEADROOM);
}

/* Raises scales so that every bias fits: |bias| <= scale * in_scale * bias_limit. */
static assay_status make_room_for_bias(const assay_quantizer *q, const assay_node *n,
                                       const assay_type *in, int64_t channels, float *scale,
                                       assay_error *err)
{
    const assay_value *b = n->n_in > 2 && n->in[2] >= 0 ? &q->g->value[n->in[2]] : NULL;
    double min, max, limit = bias_limit(q, n, in), in_scale = (double)in->q.scale[0];
    if (!b || n->op == ASSAY_OP_MATMUL)
        return ASSAY_OK;
    assay_status status = quantize_constant_range(b, &min, &max, err);
    for (int64_t o = 0; o < assay_shape_count(&b->type) && !status; o++) {
        int64_t c = channels == 1 ? 0 : o % channels;
        double need = fabs((double)((const float *)b->data)[o]) / limit / in_scale;
        if (need <= (double)scale[c])
            continue;
        scale[c] = weight_choice(q, n).power_of_two ? exp2f(ceilf(log2f((float)need)))
                                                    : nextafterf((float)need, INFINITY);
    }
    return status;
}

/* Squared error of one channel's weights at a scale. */
static double weight_error(const float *x, const assay_weight_map *m, int64_t count,
                           int64_t channel, double scale, int64_t lo, int64_t hi,
                           enum assay_rounding round)
{
    double sum = 0;
    for (int64_t i = channel * m->stride; i < count; i += m->stride * m->channels)
        for (int64_t k = i; k < i + m->stride; k++) {
            double off = (double)x[k] - scale * (double)calibrate_quantize_real((double)x[k], scale,
                                                                                0, lo, hi, round);
            sum += off * off;
        }
    return sum;
}

/* The power of two that holds a channel's weights may be almost twice too coarse: halves the scale
 * while the error of clipping plus rounding falls. */
static void fit_power_of_two(const float *x, const assay_weight_map *m, int64_t count,
                             const assay_choice *choice, enum assay_rounding round, float *scale)
{
    int64_t lo, hi;
    calibrate_choice_codes(choice, &lo, &hi);
    for (int64_t c = 0; c < m->channels; c++) {
        double best = weight_error(x, m, count, c, (double)scale[c], lo, hi, round), cost;
        while (best > 0 &&
               (cost = weight_error(x, m, count, c, (double)scale[c] / 2, lo, hi, round)) < best) {
            scale[c] /= 2;
            best = cost;
        }
    }
}

/* Least and greatest weight of each channel, and 0. */
static void measure_ranges(const float *x, const assay_weight_map *m, int64_t count, double *range)
{
    for (int64_t i = 0; i < count; i += m->stride) {
        double *r = &range[2 * (i / m->stride % m->channels)];
        for (int64_t k = i; k < i + m->stride; k++) {
            r[0] = (double)x[k] < r[0] ? (double)x[k] : r[0];
            r[1] = (double)x[k] > r[1] ? (double)x[k] : r[1];
        }
    }
}

/* Scale and zero point of each channel. */
static assay_status choose_scales(const assay_quantizer *q, const assay_node *n,
                                  const assay_type *in, const assay_weight_map *m, float *scale,
                                  int32_t *zero_point, assay_error *err)
{
    const assay_value *w = &q->g->value[n->in[1]];
    const assay_choice choice = weight_choice(q, n);
    const int64_t count = assay_shape_count(&w->type);
    double *range = assay_arena_array(q->arena, 2 * (size_t)m->channels, sizeof *range);
    if (!range)
        return assay_out_of_memory(err);
    measure_ranges(w->data, m, count, range);
    assay_status status = quantize_calibrate_weights(q, &choice, w->data, m, count, range, err);
    for (int64_t c = 0; c < m->channels && !status; c++)
        status = calibrate_choose_qparams(&choice, range[2 * c], range[2 * c + 1], &scale[c],
                                          &zero_point[c], err);
    if (!status && q->weight.power_of_two && q->weight.method == ASSAY_QPARAMS_ASSAY)
        fit_power_of_two(w->data, m, count, &q->weight, q->caps.constant_round, scale);
    return status ? status : make_room_for_bias(q, n, in, m->channels, scale, err);
}

assay_status quantize_weights(const assay_quantizer *q, assay_graph *to, const assay_node *n,
                              const assay_type *in, assay_type *type, const void **data,
                              assay_error *err)
{
    const assay_value *w = &q->g->value[n->in[1]];
    const float *x = w->data;
    assay_weight_map m = weight_map_of(q, n);
    int64_t count = assay_shape_count(&w->type), lo, hi;
    float *scale;
    int32_t *zero_point;
    void *codes;
    double min, max;
    bool done = false;
    int axis;
    if (quantize_takes_blocks(q, n, &axis))
        return quantize_block_size(q, to, n, in->q.scale[0], axis, bias_limit(q, n, in), type, data,
                                   err);
    assay_status status = quantize_constant_range(w, &min, &max, err); /* finite? */
    if (!status)
        status = type_with_params(to->arena, &w->type, q->weight.elem, (size_t)m.channels, m.axis,
                                  type, &scale, &zero_point, err);
    if (!status)
        status = choose_scales(q, n, in, &m, scale, zero_point, err);
    if (!status)
        status = code_room(to->arena, type, &codes, err);
    if (!status)
        status = quantize_gptq(q, n, type, codes, &done, err);
    if (status)
        return status;
    calibrate_choice_codes(&q->weight, &lo, &hi);
    for (int64_t i = 0; i < count && !done; i += m.stride) {
        int64_t c = i / m.stride % m.channels;
        for (int64_t k = i; k < i + m.stride; k++)
            assay_elem_set(q->weight.elem, codes, (size_t)k,
                           calibrate_quantize_real((double)x[k], (double)scale[c], zero_point[c],
                                                   lo, hi, q->caps.constant_round));
    }
    *data = codes;
    return ASSAY_OK;
}

assay_status quantize_bias_constant(const assay_quantizer *q, assay_graph *to, const assay_node *n,
                                    const assay_type *in, const assay_type *weights,
                                    assay_type *type, const void **data, assay_error *err)
{
    const assay_value *b = &q->g->value[n->in[2]];
    bool per_channel = weights->q.granularity != ASSAY_Q_TENSOR;
    assay_elem elem = assay_int(bias_bits(q, n, in), true);
    const float in_scale = in->q.scale[0];
    float *scale, *unit = assay_arena_array(q->arena, weights->q.count, sizeof *unit);
    size_t count;
    int32_t *zero_point;
    void *codes;
    assay_status status = unit ? quantize_weight_units(q, n, in_scale, weights, unit, &count, err)
                               : assay_out_of_memory(err);
    if (!status)
        status = type_with_params(to->arena, &b->type, elem, count, per_channel ? 0 : -1, type,
                                  &scale, &zero_point, err);
    if (!status)
        status = code_room(to->arena, type, &codes, err);
    if (status)
        return status;
    for (size_t c = 0; c < count; c++)
        scale[c] = in_scale * unit[c];
    int64_t lo = assay_elem_min(elem), hi = assay_elem_max(elem);
    for (int64_t o = 0; o < assay_shape_count(&b->type); o++)
        assay_elem_set(elem, codes, (size_t)o,
                       calibrate_quantize_real((double)((const float *)b->data)[o],
                                               (double)scale[per_channel ? o : 0], 0, lo, hi,
                                               q->caps.constant_round));
    *data = codes;
    return ASSAY_OK;
}
