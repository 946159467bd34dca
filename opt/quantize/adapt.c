/* Replacement of parameters that a target cannot represent by ones that it can. */
#include "opt/quantize/adapt.h"
#include "graph/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "opt/calibrate/qparams.h"
#include "opt/lower/pass.h"

typedef struct adapter {
    assay_graph *g;
    assay_scheme_caps caps;
    bool *fixed; /* of values: something other than a conversion sees the codes */
    int n_changed;
    bool rescaled; /* a scale is another: biases are in another unit */
    assay_error *err;
} adapter;

static bool find_fixed(adapter *a)
{
    const assay_graph *g = a->g;
    a->fixed = calloc((size_t)g->n_values + 1, sizeof *a->fixed);
    if (!a->fixed)
        return false;
    for (int i = 0; i < g->n_inputs; i++)
        a->fixed[g->input[i]] = true;
    for (int i = 0; i < g->n_outputs; i++)
        a->fixed[g->output[i]] = true;
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        for (int k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && n->op != ASSAY_OP_DEQUANTIZE)
                a->fixed[n->in[k]] = true;
        for (int k = 0; k < n->n_out; k++)
            if (n->op != ASSAY_OP_QUANTIZE)
                a->fixed[n->out[k]] = true;
    }
    return true;
}

/* Can the target represent these parameters? */
static bool suits(const adapter *a, const assay_type *t, bool zero_points)
{
    for (size_t i = 0; i < t->q.count; i++)
        if ((a->caps.power_of_two && !assay_is_power_of_two(t->q.scale[i])) ||
            (!zero_points && t->q.zero_point[i] != 0))
            return false;
    return true;
}

/* The finest parameters that cover the values of all codes of t at index i of its parameters;
 * constants are centred and need only cover their own greatest magnitude, max. */
static assay_status choose(const adapter *a, const assay_choice *c, const assay_type *t, size_t i,
                           double max, float *scale, int32_t *zero)
{
    double s = (double)t->q.scale[i], z = t->q.zero_point[i];
    double lo = s * ((double)assay_elem_min(t->elem) - z);
    double hi = s * ((double)assay_elem_max(t->elem) - z);
    return max >= 0 ? calibrate_choose_qparams(c, -max, max, scale, zero, a->err)
                    : calibrate_choose_qparams(c, lo, hi, scale, zero, a->err);
}

static assay_choice choice_for(const adapter *a, unsigned bits, bool is_signed, bool narrow)
{
    return (assay_choice){.elem = assay_int(bits, is_signed),
                          .symmetry =
                              a->caps.power_of_two ? ASSAY_SYMMETRIC_POWER_OF_TWO : ASSAY_SYMMETRIC,
                          .narrow = narrow};
}

/* Codes of the other signedness, with the zero point at the same distance from the least code: the
 * same numbers. */
static assay_status flip_sign(adapter *a, int v)
{
    assay_type *t = &a->g->value[v].type;
    assert(t->elem.bits >= 1 && t->elem.bits <= 31); /* zero points moved by a half stay in 32 */
    const int64_t half = INT64_C(1) << (t->elem.bits - 1);
    const int64_t by = t->elem.is_signed ? half : -half, count = assay_shape_count(t);
    const assay_elem to = assay_int(t->elem.bits, !t->elem.is_signed);
    assay_qparams q = t->q;
    int32_t *zero = assay_arena_array(a->g->arena, q.count, sizeof *zero);
    char *data = a->g->value[v].data ? assay_arena_alloc(a->g->arena, assay_type_bytes(t)) : NULL;
    if (!zero || (a->g->value[v].data && !data))
        return assay_out_of_memory(a->err);
    for (size_t k = 0; k < q.count; k++)
        zero[k] = (int32_t)(q.zero_point[k] + by);
    for (int64_t i = 0; data && i < count; i++)
        assay_elem_set(to, data, (size_t)i,
                       assay_elem_get(t->elem, a->g->value[v].data, (size_t)i) + by);
    if (data)
        a->g->value[v].data = data;
    t->elem = to;
    q.zero_point = zero;
    a->n_changed++;
    return assay_graph_set_qparams(a->g, v, &q, a->err);
}

static assay_status adapt_activation(adapter *a, int v)
{
    assay_type *t = &a->g->value[v].type;
    assay_choice c = choice_for(a, t->elem.bits, a->caps.activation_signed, false);
    float scale;
    int32_t zero;
    assay_qparams q = {
        .granularity = ASSAY_Q_TENSOR, .count = 1, .scale = &scale, .zero_point = &zero};
    const bool any = t->elem.bits > 8 ? a->caps.wide_zero_point : a->caps.activation_zero_point;
    const bool flipped =
        t->elem.is_signed != a->caps.activation_signed && !a->caps.activation_either_sign;
    if (t->q.granularity != ASSAY_Q_TENSOR || (suits(a, t, any) && !flipped))
        return ASSAY_OK;
    if (suits(a, t, any) && any && !a->caps.zero_point_middle_only)
        return flip_sign(a, v);
    assay_status s = choose(a, &c, t, 0, -1, &scale, &zero);
    if (s)
        return s;
    t->elem = c.elem;
    a->n_changed++;
    a->rescaled = true;
    return assay_graph_set_qparams(a->g, v, &q, a->err);
}

/* The index of element i's parameters. */
static size_t index_of(const assay_type *t, int64_t i)
{
    int64_t inner = 1;
    if (t->q.count == 1)
        return 0;
    for (int d = t->q.axis + 1; d < t->rank; d++)
        inner *= t->dim[d];
    return (size_t)(i / inner % t->dim[t->q.axis]);
}

static double real_at(const assay_value *v, int64_t i)
{
    size_t k = index_of(&v->type, i);
    return (double)v->type.q.scale[k] *
           (double)(assay_elem_get(v->type.elem, v->data, (size_t)i) - v->type.q.zero_point[k]);
}

/* The most negative code, where the target's weights never hold it. */
static bool holds_least(const adapter *a, const assay_value *v)
{
    const int64_t least = assay_elem_min(v->type.elem), count = assay_shape_count(&v->type);
    const bool matters = v->type.elem.is_signed && v->type.elem.bits == a->caps.weight_bits &&
                         a->caps.weight_narrow && !a->caps.weight_least_code;
    for (int64_t i = 0; matters && i < count; i++)
        if (assay_elem_get(v->type.elem, v->data, (size_t)i) == least)
            return true;
    return false;
}

static assay_status adapt_weights(adapter *a, int id)
{
    assay_value *v = &a->g->value[id];
    size_t n = v->type.q.count;
    int64_t count = assay_shape_count(&v->type), lo, hi;
    assay_choice c = choice_for(a, v->type.elem.bits, a->caps.weight_signed, a->caps.weight_narrow);
    const bool flipped =
        v->type.elem.is_signed != a->caps.weight_signed && !a->caps.weight_either_sign;
    const bool suited = suits(a, &v->type, a->caps.weight_zero_point) && !holds_least(a, v);
    if (v->type.q.granularity == ASSAY_Q_BLOCK || (suited && !flipped))
        return ASSAY_OK;
    if (suited && a->caps.weight_zero_point)
        return flip_sign(a, id);
    float *scale = assay_arena_array(a->g->arena, n, sizeof *scale);
    int32_t *zero = assay_arena_array(a->g->arena, n, sizeof *zero);
    double *max = assay_arena_array(a->g->arena, n, sizeof *max);
    void *data = assay_arena_alloc(a->g->arena, assay_type_bytes(&v->type));
    assay_status s = ASSAY_OK;
    if (!scale || !zero || !max || !data)
        return assay_out_of_memory(a->err);
    for (int64_t i = 0; i < count; i++)
        max[index_of(&v->type, i)] = fmax(max[index_of(&v->type, i)], fabs(real_at(v, i)));
    for (size_t k = 0; k < n && !s; k++)
        s = choose(a, &c, &v->type, k, max[k], &scale[k], &zero[k]);
    if (s)
        return s;
    calibrate_choice_codes(&c, &lo, &hi);
    for (int64_t i = 0; i < count; i++) {
        size_t k = index_of(&v->type, i);
        assay_elem_set(c.elem, data, (size_t)i,
                       calibrate_quantize_real(real_at(v, i), (double)scale[k], zero[k], lo, hi,
                                               a->caps.constant_round));
    }
    assay_qparams q = v->type.q;
    q.scale = scale;
    q.zero_point = zero;
    v->data = data;
    v->type.elem = c.elem;
    a->n_changed++;
    a->rescaled = true;
    return assay_graph_set_qparams(a->g, id, &q, a->err);
}

/* The bias behind dequantize node i as floats; the node loses its users. */
static assay_status real_bias(adapter *a, int i)
{
    const assay_value *v = &a->g->value[a->g->node[i].in[0]];
    assay_type t = v->type;
    int64_t count = assay_shape_count(&t);
    float *real = malloc(((size_t)count + 1) * sizeof *real);
    int id;
    if (!real)
        return assay_out_of_memory(a->err);
    for (int64_t k = 0; k < count; k++)
        real[k] = (float)real_at(v, k);
    t.elem = assay_f32();
    t.q = (assay_qparams){0};
    assay_status s = lower_rewrite_constant(a->g, v->name, "float", &t, real, &id, a->err);
    free(real);
    if (!s)
        assay_graph_replace_uses(a->g, a->g->node[i].out[0], id);
    return s;
}

static assay_status adapt(adapter *a)
{
    assay_graph *g = a->g;
    assay_status s = ASSAY_OK;
    for (int v = 0; v < g->n_values && !s; v++) {
        const assay_value *x = &g->value[v];
        if (a->fixed[v] || !assay_is_quantized(&x->type) || x->type.elem.bits > 16)
            continue;
        s = lower_is_constant(g, v) ? adapt_weights(a, v) : adapt_activation(a, v);
    }
    for (int i = 0; i < g->n_nodes && !s && a->rescaled; i++) {
        const assay_node *n = &g->node[i];
        if (n->op == ASSAY_OP_DEQUANTIZE && lower_is_constant(g, n->in[0]) &&
            g->value[n->in[0]].type.elem.bits > 16 &&
            g->value[n->in[0]].type.q.granularity != ASSAY_Q_BLOCK)
            s = real_bias(a, i);
    }
    return s;
}

assay_status quantize_adapt_parameters(assay_graph *g, const assay_scheme *scheme, int *n_changed,
                                       assay_error *err)
{
    adapter a = {.g = g, .err = err};
    int dropped;
    assay_status s = ASSAY_OK;
    assay_scheme_get_caps(scheme, &a.caps);
    if (!find_fixed(&a))
        return assay_out_of_memory(err);
    s = adapt(&a);
    free(a.fixed);
    if (!s && a.n_changed)
        s = lower_eliminate_dead(g, &dropped, err);
    if (n_changed)
        *n_changed = a.n_changed;
    return s ? s : assay_graph_verify(g, err);
}
