/* Two pairs of conversions in a row, as ONNX Runtime's DoubleQDQPairsRemover merges them: quantize,
 * dequantize, quantize and dequantize become one quantize and one dequantize, with codes that stand
 * for what both kinds of codes reach; and clips that it drops before a quantize. */
#include <float.h>
#include <math.h>

#include "graph/core/arena.h"
#include "graph/memory.h"
#include "opt/quantize/qdq_parts.h"

/* ---- readers ---- */

/* What reads each value: reader[first[v]] up to, and without, reader[first[v + 1]]. */
typedef struct readers {
    assay_arena *arena;
    int *first, *reader;
    bool *is_output;
} readers;

static assay_status find_readers(const assay_graph *g, readers *r, assay_error *err)
{
    size_t total = 0;
    for (int i = 0; i < g->n_nodes; i++)
        total += (size_t)g->node[i].n_in;
    r->arena = assay_arena_new();
    if (!r->arena)
        return assay_out_of_memory(err);
    r->first = assay_arena_array(r->arena, (size_t)g->n_values + 2, sizeof *r->first);
    r->reader = assay_arena_array(r->arena, total + 1, sizeof *r->reader);
    r->is_output = assay_arena_array(r->arena, (size_t)g->n_values + 1, sizeof *r->is_output);
    if (!r->first || !r->reader || !r->is_output)
        return assay_out_of_memory(err);
    for (int i = 0; i < g->n_outputs; i++)
        r->is_output[g->output[i]] = true;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->node[i].n_in; k++)
            if (g->node[i].in[k] >= 0)
                r->first[g->node[i].in[k] + 2]++;
    for (int v = 0; v < g->n_values; v++)
        r->first[v + 2] += r->first[v + 1];
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->node[i].n_in; k++)
            if (g->node[i].in[k] >= 0)
                r->reader[r->first[g->node[i].in[k] + 1]++] = i;
    return ASSAY_OK;
}

/* Whether something reads v, and all that does is of the op, with a zero point of its own. */
static bool read_by(const assay_graph *g, const readers *r, int v, assay_op op)
{
    for (int i = r->first[v]; i < r->first[v + 1]; i++) {
        const assay_node *n = &g->node[r->reader[i]];
        if (n->op != op || n->attr.convert.no_zero_point)
            return false;
    }
    return !r->is_output[v] && r->first[v] < r->first[v + 1];
}

/* The only reader of v, which the network does not give; NULL: there are none, or several. */
static const assay_node *only_reader(const assay_graph *g, const readers *r, int v)
{
    const bool one = r->first[v + 1] - r->first[v] == 1 && !r->is_output[v];
    return one ? &g->node[r->reader[r->first[v]]] : NULL;
}

/* x + 0, x - 0, x * 1 or x / 1, which ONNX Runtime drops (NoopElimination). */
static bool is_neutral(const assay_graph *g, const assay_node *n)
{
    const bool sums = n->op == ASSAY_OP_ADD || n->op == ASSAY_OP_SUB;
    const bool turns = n->op == ASSAY_OP_ADD || n->op == ASSAY_OP_MUL;
    if (!sums && n->op != ASSAY_OP_MUL && n->op != ASSAY_OP_DIV)
        return false;
    const int k = turns && lower_is_f32_constant(g, n->in[0]) ? 0 : 1;
    const assay_value *c = &g->value[n->in[k]], *x = &g->value[n->in[1 - k]];
    return lower_is_f32_constant(g, n->in[k]) && assay_shape_count(&c->type) == 1 &&
           *(const float *)c->data == (sums ? 0.0F : 1.0F) &&
           assay_shape_equal(&x->type, &g->value[n->out[0]].type);
}

/* A quantize to codes of 8 or 16 bits with one scale and a stated zero point. */
static bool begins_pair(const assay_graph *g, const assay_node *n)
{
    const assay_type *t = &g->value[n->out[0]].type;
    return n->op == ASSAY_OP_QUANTIZE && !n->attr.convert.no_zero_point && !n->has_code_bounds &&
           t->q.granularity == ASSAY_Q_TENSOR && (t->elem.bits == 8 || t->elem.bits == 16);
}

/* The quantize that alone reads v, or NULL; what is neutral between them is looked through. */
static const assay_node *quantize_of(const assay_graph *g, const readers *r, int v)
{
    const assay_node *n = only_reader(g, r, v);
    while (n && is_neutral(g, n))
        n = only_reader(g, r, n->out[0]);
    return n && begins_pair(g, n) ? n : NULL;
}

/* ---- a pair behind a pair ---- */

/* What the codes are made to by one DQ and one Q, and read by DQs alone; ASSAY_NO_VALUE: nothing.
 */
static int codes_behind(const assay_graph *g, const readers *r, int codes)
{
    const assay_node *from = only_reader(g, r, codes), *to;
    if (!from || from->op != ASSAY_OP_DEQUANTIZE || from->attr.convert.no_zero_point)
        return ASSAY_NO_VALUE;
    to = quantize_of(g, r, from->out[0]);
    return to && read_by(g, r, to->out[0], ASSAY_OP_DEQUANTIZE) ? to->out[0] : ASSAY_NO_VALUE;
}

/* ---- the range that lies in both ---- */

typedef struct range {
    float lo, hi;
} range;

static range range_of(const assay_type *t)
{
    const float zero = (float)t->q.zero_point[0], scale = t->q.scale[0];
    return (range){((float)assay_elem_min(t->elem) - zero) * scale,
                   ((float)assay_elem_max(t->elem) - zero) * scale};
}

/* Scale and zero point of the codes for both ranges, in float32 step by step. False: nothing but 0
 * lies in both. */
static bool merge(const assay_type *a, const assay_type *b, float *scale, int32_t *zero)
{
    const range x = range_of(a), y = range_of(b);
    const float lo = fmaxf(x.lo, y.lo), hi = fminf(x.hi, y.hi);
    const float min = (float)assay_elem_min(a->elem), max = (float)assay_elem_max(a->elem);
    *scale = a->q.scale[0];
    *zero = a->q.zero_point[0];
    if (assay_qparams_equal(&a->q, &b->q))
        return true;
    *scale = (hi - lo) / (max - min);
    if (!(*scale > 0))
        return false;
    const float start = lo / *scale;
    *zero = (int32_t)roundf(min - start);
    return true;
}

/* Gives `codes` the merged parameters, and what read the second codes to it. */
static assay_status merge_into(assay_graph *g, int codes, int second, bool *merged,
                               assay_error *err)
{
    float *scale = assay_arena_array(g->arena, 1, sizeof *scale);
    int32_t *zero = assay_arena_array(g->arena, 1, sizeof *zero);
    assay_qparams *q = &g->value[codes].type.q;
    if (!scale || !zero)
        return assay_out_of_memory(err);
    *merged = merge(&g->value[codes].type, &g->value[second].type, scale, zero);
    if (*merged) {
        q->scale = scale;
        q->zero_point = zero;
        assay_graph_replace_uses(g, second, codes);
    }
    return ASSAY_OK;
}

/* Merges the first two pairs that stand in a row, if there are any. */
static assay_status merge_first(assay_graph *g, bool *merged, assay_error *err)
{
    readers r = {0};
    int changed;
    assay_status status = find_readers(g, &r, err);
    *merged = false;
    for (int i = 0; i < g->n_nodes && !status && !*merged; i++) {
        if (!begins_pair(g, &g->node[i]))
            continue;
        const int codes = g->node[i].out[0], second = codes_behind(g, &r, codes);
        if (second >= 0 && assay_elem_equal(g->value[codes].type.elem, g->value[second].type.elem))
            status = merge_into(g, codes, second, merged, err);
    }
    assay_arena_free(r.arena);
    return status || !*merged ? status : lower_eliminate_dead(g, &changed, err);
}

/* ---- clips before a quantize ---- */

/* A clip of computed values whose bounds lie at most FLT_EPSILON within what the codes reach,
 * whatever it clamps: ONNX Runtime drops it (ClipQuantFusion). */
static bool is_dropped(const assay_graph *g, const readers *r, const assay_node *n)
{
    if (n->op != ASSAY_OP_CLIP || g->value[n->in[0]].producer < 0)
        return false;
    const assay_node *to = only_reader(g, r, n->out[0]);
    if (!to || !begins_pair(g, to) || to->attr.convert.in_list)
        return false;
    const range codes = range_of(&g->value[to->out[0]].type);
    return n->attr.clip.lo - codes.lo <= FLT_EPSILON && codes.hi - n->attr.clip.hi <= FLT_EPSILON;
}

static assay_status drop_clips(assay_graph *g, assay_error *err)
{
    readers r = {0};
    int changed;
    bool any = false;
    assay_status status = find_readers(g, &r, err);
    for (int i = 0; i < g->n_nodes && !status; i++) {
        if (!is_dropped(g, &r, &g->node[i]))
            continue;
        assay_graph_replace_uses(g, g->node[i].out[0], g->node[i].in[0]);
        any = true;
    }
    assay_arena_free(r.arena);
    return status || !any ? status : lower_eliminate_dead(g, &changed, err);
}

assay_status quantize_qdq_merge_pairs(assay_graph *g, assay_error *err)
{
    assay_status status = drop_clips(g, err);
    for (bool merged = true; merged && !status;)
        status = merge_first(g, &merged, err);
    return status;
}
