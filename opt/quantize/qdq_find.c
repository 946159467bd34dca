/* Surroundings of a node in a QDQ network: codes behind its inputs, quantize nodes behind its
 * outputs. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "graph/core/blocks.h"
#include "opt/quantize/qdq_parts.h"

bool quantize_qdq_because(assay_grouping *q, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(q->why, sizeof q->why, format, args);
    va_end(args);
    return false;
}

static const char *name_of(const assay_grouping *q, int value)
{
    return q->g->value[value].name;
}

const assay_type *quantize_qdq_type_of(const assay_grouping *q, int value)
{
    return &q->g->value[value].type;
}

static const assay_node *maker_of(const assay_grouping *q, int value)
{
    int i = q->g->value[value].producer;
    return i >= 0 ? &q->g->node[i] : NULL;
}

const assay_node *quantize_qdq_real_maker_of(const assay_grouping *q, int value)
{
    const assay_node *n = maker_of(q, value);
    while (n && assay_is_narrowing(n) &&
           quantize_qdq_type_of(q, n->in[0])->elem.kind == ASSAY_KIND_F32)
        n = maker_of(q, n->in[0]);
    return n;
}

/* The only reader of a value, or -1 if there are several. */
static int only_reader(const assay_grouping *q, int value)
{
    return value < q->n_values && q->uses[value] == 1 ? q->reader[value] : -1;
}

/* ---- what is around a node ---- */

static bool is_weighted(assay_op op)
{
    return assay_op_get(op)->traits & ASSAY_T_WEIGHTED;
}

/* Parameters per index are for weights, along their output channels. */
static bool fits_slot(const assay_grouping *q, const assay_node *n, int slot, int codes)
{
    const assay_qparams *p = &quantize_qdq_type_of(q, codes)->q;
    int last = quantize_qdq_type_of(q, codes)->rank - 1;
    if (p->granularity == ASSAY_Q_TENSOR)
        return true;
    if (p->granularity == ASSAY_Q_BLOCK) {
        bool transpose_b = n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_b;
        assay_blocks unused;
        return slot == 1 &&
               assay_blocks_of(n->op, transpose_b, quantize_qdq_type_of(q, codes), &unused);
    }
    if (p->granularity != ASSAY_Q_AXIS)
        return false;
    if (is_weighted(n->op))
        return slot == 2 || (slot == 1 && p->axis == (n->op == ASSAY_OP_CONV_TRANSPOSE));
    return n->op == ASSAY_OP_MATMUL && slot == 1 &&
           p->axis == (n->attr.matmul.transpose_b ? last - 1 : last);
}

/* Whether the target computes n in float because `from`, an operand's conversion, has no zero
 * point. Of products that goes for those alone that the network writes as Gemm. */
static bool is_bare(assay_grouping *q, const assay_node *n, const assay_node *from)
{
    const char *op = assay_op_get(n->op)->name;
    if (!from->attr.convert.no_zero_point || assay_scheme_fuses_bare(q->scheme, op) ||
        (n->op == ASSAY_OP_FC && !n->attr.fc.gemm) ||
        (n->op == ASSAY_OP_MATMUL && !n->attr.matmul.gemm))
        return false;
    return !quantize_qdq_because(
        q, "the target computes %s in float where '%.60s' has no zero point (bare_unfused_ops)", op,
        name_of(q, from->in[0]));
}

bool quantize_qdq_keeps_narrow(assay_grouping *q, int value)
{
    const assay_node *n = maker_of(q, value);
    return n && assay_is_narrowing(n) && !assay_scheme_groups_narrow_floats(q->scheme) &&
           !quantize_qdq_because(
               q,
               "the target computes on '%.80s' in the narrow floats that it holds "
               "(convert.group_narrow_floats)",
               name_of(q, value));
}

bool quantize_qdq_find_inputs(assay_grouping *q, const assay_node *n, assay_qdq_group *group)
{
    int floats = 0;
    if (n->n_in > q->max_in)
        return quantize_qdq_because(q, "%d inputs", n->n_in);
    for (int i = 0; i < n->n_in; i++) {
        int v = n->in[i];
        group->in[i] = v;
        if (v < 0 || quantize_qdq_type_of(q, v)->elem.kind != ASSAY_KIND_F32)
            continue;
        floats++;
        if (quantize_qdq_keeps_narrow(q, v))
            return false;
        const assay_node *from = quantize_qdq_real_maker_of(q, v);
        if (from && from->op == ASSAY_OP_DEQUANTIZE) {
            group->in[i] = from->in[0];
            if (!fits_slot(q, n, i, from->in[0]))
                return quantize_qdq_because(
                    q, "it does not accept parameters of the form that '%.60s' has",
                    name_of(q, from->in[0]));
            if (i < 2 && is_bare(q, n, from))
                return false;
        } else if (is_weighted(n->op) && i == 2 && lower_is_f32_constant(q->g, v)) {
            group->float_bias = v;
        } else if (n->op == ASSAY_OP_LAYER_NORM && i > 0 && lower_is_f32_constant(q->g, v)) {
            group->float_norm = true;
        } else {
            return quantize_qdq_because(q, "its input '%.80s' is in float", name_of(q, v));
        }
    }
    return floats > 0;
}

static bool absorbs_activation(const assay_node *n)
{
    return assay_op_get(n->op)->traits & ASSAY_T_ABSORB_OUT || n->op == ASSAY_OP_MAX_POOL;
}

/* Whether the codes of t clamp as much as the activation: then it changes none of them. ONNX
 * Runtime asks in floats, and of a clip only where the parameters are no lists (qdq_util.cc). */
static bool is_redundant(const assay_node *a, const assay_type *t, const assay_node *quantize)
{
    const int32_t zero = t->q.zero_point[0];
    const float scale = t->q.scale[0];
    if (a->op == ASSAY_OP_RELU)
        return zero == assay_elem_min(t->elem);
    return !quantize->attr.convert.in_list &&
           rintf(a->attr.clip.lo / scale) + (float)zero <= (float)assay_elem_min(t->elem) &&
           rintf(a->attr.clip.hi / scale) + (float)zero >= (float)assay_elem_max(t->elem);
}

/* The first activation behind a node that keeps it in float: one that clamps more than the codes
 * do, which `quantize` makes; without that node (-1), one that something else reads alone. Or -1.
 */
static int clamping(const assay_grouping *q, const assay_qdq_group *group, int quantize)
{
    const assay_node *to = quantize >= 0 ? &q->g->node[quantize] : NULL;
    for (int i = 0; i < group->n_fused; i++) {
        const assay_node *a = &q->g->node[group->fused[i]];
        if (assay_is_narrowing(a))
            continue;
        if (to ? !is_redundant(a, quantize_qdq_type_of(q, to->out[0]), to)
               : only_reader(q, a->out[0]) >= 0)
            return group->fused[i];
        if (!to)
            break;
    }
    return -1;
}

/* Whether the target computes n in float for the sake of an activation. */
static bool is_clamped(assay_grouping *q, const assay_node *n, const assay_qdq_group *group,
                       int quantize)
{
    const int a = clamping(q, group, quantize);
    return a >= 0 && !assay_scheme_fuses_clamped(q->scheme, assay_op_get(n->op)->name) &&
           !quantize_qdq_because(
               q, "the target computes %s before '%.60s' in float (clamped_unfused_ops)",
               assay_op_get(n->op)->name, q->g->node[a].name);
}

/* The quantize node behind output k, with relu and clip between; -1 when there is none. */
static int find_quantize(assay_grouping *q, const assay_node *n, int k, assay_qdq_group *group)
{
    int reader = only_reader(q, n->out[k]);
    while (reader >= 0 && k == 0 && n->n_out == 1 && group->n_fused < ASSAY_QDQ_FUSED) {
        const assay_node *a = &q->g->node[reader];
        if (assay_is_narrowing(a) && quantize_qdq_keeps_narrow(q, a->out[0]))
            return -1;
        if (assay_is_narrowing(a)) {
            group->fused[group->n_fused++] = reader;
            group->n_narrowing++;
            reader = only_reader(q, a->out[0]);
            continue;
        }
        if (!absorbs_activation(n))
            break;
        if (a->op != ASSAY_OP_RELU && a->op != ASSAY_OP_CLIP)
            break;
        float lo = a->op == ASSAY_OP_RELU ? 0 : a->attr.clip.lo;
        float hi = a->op == ASSAY_OP_RELU ? INFINITY : a->attr.clip.hi;
        group->lo = fminf(fmaxf(group->lo, lo), hi);
        group->hi = fmaxf(fminf(group->hi, hi), lo);
        group->fused[group->n_fused++] = reader;
        reader = only_reader(q, a->out[0]);
    }
    if (reader < 0 || q->g->node[reader].op != ASSAY_OP_QUANTIZE ||
        q->g->node[reader].has_code_bounds)
        reader = -1;
    group->clamped = is_clamped(q, n, group, reader);
    return group->clamped ? -1 : reader;
}

bool quantize_qdq_find_outputs(assay_grouping *q, const assay_node *n, assay_qdq_group *group)
{
    if (n->n_out > q->max_in)
        return quantize_qdq_because(q, "%d outputs", n->n_out);
    for (int k = 0; k < n->n_out; k++) {
        group->quantize[k] = find_quantize(q, n, k, group);
        if (group->clamped)
            return false;
        if (group->quantize[k] < 0)
            return quantize_qdq_because(
                q, "its output '%.80s' is not quantized, or is also read in float",
                name_of(q, n->out[k]));
        const assay_type *t = quantize_qdq_type_of(q, q->g->node[group->quantize[k]].out[0]);
        if (t->q.granularity != ASSAY_Q_TENSOR)
            return quantize_qdq_because(q, "its output has parameters per index of an axis");
    }
    return true;
}
