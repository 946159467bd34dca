/* The parts that a group is made of, and the report. */
#include "opt/quantize/qdq_parts.h"
#include "graph/memory.h"
#include "schemes/derive/real.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/quantize/plan.h"

assay_status quantize_qdq_begin(assay_grouping *q, assay_error *err)
{
    const assay_graph *g = q->g;
    int extra = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        assay_op op = g->node[i].op;
        q->any |= op == ASSAY_OP_QUANTIZE || op == ASSAY_OP_DEQUANTIZE;
        extra += g->node[i].n_in + 2;
    }
    q->n_values = g->n_values;
    q->n_nodes = g->n_nodes;
    q->uses = lower_rewrite_uses(g);
    q->dead = lower_rewrite_dead(g, extra);
    q->reader = calloc((size_t)g->n_values + 1, sizeof *q->reader);
    q->arena = assay_arena_new();
    if (!q->uses || !q->dead || !q->reader || !q->arena)
        return assay_out_of_memory(err);
    q->reason = assay_arena_array(q->arena, (size_t)g->n_nodes + 1, sizeof *q->reason);
    q->node_name = assay_arena_array(q->arena, (size_t)g->n_nodes + 1, sizeof *q->node_name);
    if (!q->reason || !q->node_name)
        return assay_out_of_memory(err);
    for (int i = 0; i < g->n_values; i++)
        q->reader[i] = -1;
    for (int i = 0; i < g->n_nodes; i++) {
        q->node_name[i] = g->node[i].name;
        for (int k = 0; k < g->node[i].n_in; k++)
            if (g->node[i].in[k] >= 0)
                q->reader[g->node[i].in[k]] = i;
    }
    return ASSAY_OK;
}

void quantize_qdq_end(assay_grouping *q)
{
    free(q->uses);
    free(q->dead);
    free(q->reader);
    assay_arena_free(q->arena);
}

bool quantize_qdq_is_output(const assay_grouping *q, int value)
{
    for (int i = 0; i < q->g->n_outputs; i++)
        if (q->g->output[i] == value)
            return true;
    return false;
}

/* ---- bias ---- */

/* The scale of a product's sums: in * weight, for all or for each output channel. */
typedef struct sum_scales {
    size_t n;
    double *scale;
} sum_scales;

/* Empty when the scheme has no sums of such codes; q->why then says so. */
static assay_status find_sum_scales(assay_grouping *q, const assay_node *n, const assay_type *x,
                                    const assay_type *w, sum_scales *out, assay_error *err)
{
    const assay_type in[2] = {*x, *w};
    const assay_unit_spec spec = {
        .size = sizeof spec,
        .op = assay_op_get(n->op)->name,
        .node = n->name,
        .in = in,
        .n_in = 2,
        .flag = n->op == ASSAY_OP_MATMUL && n->attr.matmul.transpose_b,
    };
    float *unit = assay_arena_array(q->arena, w->q.count, sizeof *unit);
    assay_error why;
    *out = (sum_scales){0, assay_arena_array(q->arena, w->q.count, sizeof *out->scale)};
    if (!unit || !out->scale)
        return assay_out_of_memory(err);
    if (assay_scheme_weight_units(q->scheme, &spec, unit, &out->n, &why)) {
        snprintf(q->why, sizeof q->why, "%.400s", why.text);
        out->n = 0;
    }
    for (size_t c = 0; c < out->n; c++)
        out->scale[c] = (double)x->q.scale[0] * (double)unit[c];
    return ASSAY_OK;
}

/* Whether codes are at the scale of the sums, within float32's precision. */
static bool at_sum_scale(const assay_type *b, const sum_scales *sums)
{
    size_t n = b->q.count > sums->n ? b->q.count : sums->n;
    for (size_t c = 0; c < n; c++) {
        double wanted = sums->scale[sums->n > 1 ? c : 0];
        size_t i = b->q.count > 1 ? c : 0;
        if (fabs((double)b->q.scale[i] - wanted) > 1e-4 * wanted || b->q.zero_point[i] != 0)
            return false;
    }
    return true;
}

/* Codes round(b / scale); false when one does not fit. */
static bool bias_codes(const assay_value *b, const float *scale, size_t scales, assay_elem elem,
                       enum assay_rounding round, void *codes)
{
    const double max = ldexp(1, elem.bits - 1) - 1;
    const float *real = b->data;
    for (size_t i = 0; i < (size_t)assay_shape_count(&b->type); i++) {
        double s = (double)scale[scales > 1 ? i : 0], v = (double)real[i] / s;
        if (!(s > 0 && fabs(v) <= max && fabs(v) < 0x1p62))
            return false;
        assay_elem_set(elem, codes, i, derive_round_real(v, round));
    }
    return true;
}

/* A float bias in codes at the scales of the sums. */
static assay_status quantize_bias(assay_grouping *q, const assay_node *node, const sum_scales *sums,
                                  assay_qdq_group *group, bool *fits, assay_error *err)
{
    const bool wide = q->g->value[group->in[0]].type.elem.bits > 8;
    const assay_value *b = &q->g->value[group->float_bias];
    assay_scheme_caps caps;
    assay_type t = b->type;
    size_t n = (size_t)assay_shape_count(&t);
    t.elem = assay_int(assay_scheme_bias_bits(q->scheme, assay_op_get(node->op)->name, wide), true);
    void *code = assay_arena_array(q->arena, n + 1, assay_elem_size(t.elem));
    float *scale = assay_arena_array(q->arena, sums->n, sizeof *scale);
    int32_t *zero = assay_arena_array(q->arena, sums->n, sizeof *zero);
    if (!code || !scale || !zero)
        return assay_out_of_memory(err);
    for (size_t c = 0; c < sums->n; c++)
        scale[c] = (float)sums->scale[c];
    assay_scheme_get_caps(q->scheme, &caps);
    *fits = (sums->n == 1 || sums->n == n) &&
            bias_codes(b, scale, sums->n, t.elem, caps.constant_round, code);
    if (t.elem.bits <= 32) /* 64 bits are plain: their scale is the products' */
        t.q = (assay_qparams){.granularity = sums->n > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR,
                              .count = sums->n,
                              .scale = scale,
                              .zero_point = zero};
    for (int k = 2; k < 100 && *fits; k++) { /* layers may share a float bias */
        char suffix[16];
        char name[256];
        snprintf(suffix, sizeof suffix, k == 2 ? "q" : "q%d", k);
        snprintf(name, sizeof name, "%.200s:%s", b->name, suffix);
        if (assay_graph_find_value(q->g, name) < 0)
            return lower_rewrite_constant(q->g, b->name, suffix, &t, code, &group->in[2], err);
    }
    *fits = false;
    return ASSAY_OK;
}

bool quantize_qdq_bias(assay_grouping *q, const assay_node *n, assay_qdq_group *group,
                       assay_status *status, assay_error *err)
{
    bool weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED, fits = true;
    if (!weighted || n->n_in < 3 || group->in[2] < 0)
        return true;
    const assay_type *x = &q->g->value[group->in[0]].type, *w = &q->g->value[group->in[1]].type;
    sum_scales sums;
    *status = find_sum_scales(q, n, x, w, &sums, err);
    if (*status || sums.n == 0)
        return false;
    if (group->float_bias >= 0) {
        *status = quantize_bias(q, n, &sums, group, &fits, err);
    } else {
        const assay_type *b = &q->g->value[group->in[2]].type;
        fits = b->elem.is_signed && at_sum_scale(b, &sums);
    }
    if (!fits)
        snprintf(q->why, sizeof q->why, "its bias '%.80s' is not at the scale of input and weights",
                 q->g->value[n->in[2]].name);
    return fits && !*status;
}

/* ---- layer normalization ---- */

assay_status quantize_qdq_norm(assay_grouping *q, const assay_node *n, assay_qdq_group *group,
                               assay_error *err)
{
    assay_status status = ASSAY_OK;
    assay_scheme_caps caps;
    assay_scheme_get_caps(q->scheme, &caps);
    bool wide = q->g->value[group->in[0]].type.elem.bits > 8;
    for (int k = 1; k < n->n_in && !status; k++) {
        if (group->in[k] < 0 || q->g->value[group->in[k]].type.elem.kind != ASSAY_KIND_F32)
            continue;
        const assay_value *v = &q->g->value[group->in[k]];
        const assay_type *gamma = group->in[1] >= 0 ? &q->g->value[group->in[1]].type : NULL;
        const void *codes;
        assay_code code;
        assay_type type;
        status = k == 1 ? quantize_gamma_code(q->scheme, v, wide, &code, err)
                        : quantize_beta_code(q->scheme, v, gamma ? gamma->q.scale[0] : 1, wide,
                                             &code, err);
        if (!status)
            status =
                quantize_constant_value(q->g, v, &code, caps.constant_round, &type, &codes, err);
        if (!status)
            status =
                lower_rewrite_constant(q->g, v->name, n->name, &type, codes, &group->in[k], err);
    }
    return status;
}

/* ---- nodes that are added ---- */

/* A value BASE:SUFFIX. */
static assay_status add_value(assay_grouping *q, const char *base, const char *suffix,
                              const assay_type *type, int *id, assay_error *err)
{
    size_t room = strlen(base) + strlen(suffix) + 2;
    char *name = assay_arena_alloc(q->arena, room);
    if (!name)
        return assay_out_of_memory(err);
    snprintf(name, room, "%s:%s", base, suffix);
    return assay_graph_add_value(q->g, name, type, id, err);
}

assay_status quantize_qdq_rescale(assay_grouping *q, int value, int like, int *id, assay_error *err)
{
    const assay_value *x = &q->g->value[value], *y = &q->g->value[like];
    size_t room = strlen(y->name) + 16;
    char *suffix = assay_arena_alloc(q->arena, room), *name;
    assay_type type = x->type;
    if (!suffix)
        return assay_out_of_memory(err);
    snprintf(suffix, room, "as:%s", y->name);
    room += strlen(x->name) + 2;
    name = assay_arena_alloc(q->arena, room);
    if (!name)
        return assay_out_of_memory(err);
    snprintf(name, room, "%s:%s", x->name, suffix);
    *id = assay_graph_find_value(q->g, name);
    if (*id >= 0) /* the same operand twice */
        snprintf(suffix + strlen(suffix), 8, ":%d", q->g->n_nodes % 100000);
    type.elem = y->type.elem;
    type.q = y->type.q;
    assay_status status = add_value(q, x->name, suffix, &type, id, err);
    return status ? status
                  : assay_graph_add_node(q->g, ASSAY_OP_RESCALE, NULL, &value, 1, id, 1, NULL, NULL,
                                         err);
}

assay_status quantize_qdq_sums(assay_grouping *q, int y, int *id, assay_error *err)
{
    assay_type type = q->g->value[y].type;
    type.elem = assay_int(32, true);
    return add_value(q, q->g->value[y].name, "sums", &type, id, err);
}

assay_status quantize_qdq_real_sums(assay_grouping *q, int i, int y, assay_error *err)
{
    const assay_node *n = &q->g->node[i];
    const assay_type *x = &q->g->value[n->in[0]].type, *w = &q->g->value[n->in[1]].type;
    assay_attrs cast = {.cast = {.to = ASSAY_CAST_F32}};
    assay_type real = q->g->value[y].type, step = {.elem = assay_f32(), .rank = 1};
    int sums = n->out[0], operand[2];
    sum_scales worth;
    assay_status status = find_sum_scales(q, n, x, w, &worth, err);
    float *scale = status ? NULL : assay_arena_array(q->arena, worth.n, sizeof *scale);
    if (!scale)
        return status ? status : assay_out_of_memory(err);
    for (size_t c = 0; c < worth.n; c++)
        scale[c] = (float)worth.scale[c];
    step.dim[0] = (int64_t)worth.n;
    const char *name = q->g->value[y].name;
    status = add_value(q, name, "real_sums", &real, &operand[0], err);
    if (!status)
        status = assay_graph_add_node(q->g, ASSAY_OP_CAST, NULL, &sums, 1, &operand[0], 1, &cast,
                                      NULL, err);
    if (!status)
        status = lower_rewrite_constant(q->g, name, "step", &step, scale, &operand[1], err);
    return status
               ? status
               : assay_graph_add_node(q->g, ASSAY_OP_MUL, NULL, operand, 2, &y, 1, NULL, NULL, err);
}

/* ---- the report ---- */

assay_status quantize_qdq_note(assay_grouping *q, int i, assay_error *err)
{
    q->reason[i] = assay_arena_string(q->arena, q->why[0] ? q->why : "it has no float input");
    return q->reason[i] ? ASSAY_OK : assay_out_of_memory(err);
}

static bool gives_floats(const assay_graph *g, const assay_node *n)
{
    return !(assay_op_get(n->op)->traits & ASSAY_T_CONVERT) && !assay_node_is_quantized(g, n) &&
           assay_node_out(g, n, 0)->type.elem.kind == ASSAY_KIND_F32;
}

static const char *find_reason(const assay_grouping *q, const char *name)
{
    for (int i = 0; i < q->n_nodes; i++)
        if (q->reason[i] && strcmp(q->node_name[i], name) == 0)
            return q->reason[i];
    return q->any ? "it converts exact sums to floats" : "the network has no conversions";
}

assay_status quantize_qdq_report(assay_grouping *q, assay_error *err)
{
    const assay_graph *g = q->g;
    assay_quantize_report *r = &q->report;
    r->float_node = calloc((size_t)g->n_nodes + 1, sizeof *r->float_node);
    if (!r->float_node)
        return assay_out_of_memory(err);
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        bool converts = n->op == ASSAY_OP_QUANTIZE || n->op == ASSAY_OP_DEQUANTIZE;
        r->n_convert += converts;
        r->n_integer += !converts && assay_node_is_quantized(g, n);
        r->n_rescale += n->op == ASSAY_OP_RESCALE;
        if (!gives_floats(g, n))
            continue;
        assay_float_node *f = &r->float_node[r->n_float++];
        f->node = strdup(n->name);
        f->op = strdup(assay_op_get(n->op)->name);
        f->reason = strdup(find_reason(q, n->name));
        if (!f->node || !f->op || !f->reason)
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}
