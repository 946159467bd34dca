/* The integer graph, built from the plan in one sweep over the float nodes. */
#include <string.h>

#include "graph/memory.h"
#include "opt/quantize/plan.h"

/* A value of the new graph in particular parameters, made for a use that wants them. */
typedef struct variant {
    int source, id;
    struct variant *next;
} variant;

typedef struct builder {
    assay_quantizer *q;
    assay_graph *to;
    assay_quantize_report *report;
    int *real;          /* by source value: the float (or index) value in `to`, or -1 */
    int *code;          /* by source value: its codes in the value's own parameters, or -1 */
    bool *codes_wanted; /* by source value: some integer node reads it */
    variant *variants;
    assay_error *err;
} builder;

/* ---- names ---- */

/* NAME:SUFFIX, with the suffix again for as long as the name is taken. */
static const char *derived(builder *b, const char *name, const char *suffix)
{
    for (;;) {
        char *full = assay_arena_alloc(b->q->arena, strlen(name) + strlen(suffix) + 2);
        if (!full)
            return NULL;
        strcat(strcat(strcpy(full, name), ":"), suffix);
        if (assay_graph_find_value(b->to, full) < 0 && assay_graph_find_value(b->q->g, full) < 0)
            return full;
        name = full;
    }
}

/* NAME when it is free, else NAME:SUFFIX. */
static const char *free_name(builder *b, const char *name, const char *suffix)
{
    return assay_graph_find_value(b->to, name) < 0 ? name : derived(b, name, suffix);
}

static assay_status add_value(builder *b, const char *name, const assay_type *type, int source,
                              int *id)
{
    if (!name)
        return assay_out_of_memory(b->err);
    assay_status status = assay_graph_add_value(b->to, name, type, id, b->err);
    if (!status)
        b->to->value[*id].source_index = b->q->g->value[source].source_index;
    return status;
}

/* ---- conversions ---- */

static assay_status convert(builder *b, assay_op op, int from, const char *name,
                            const assay_type *type, int source, int *id)
{
    assay_status status = add_value(b, name, type, source, id);
    if (!status)
        status = assay_graph_add_node(b->to, op, name, &from, 1, id, 1, NULL, NULL, b->err);
    if (!status && op == ASSAY_OP_RESCALE)
        b->report->n_rescale++;
    else if (!status)
        b->report->n_convert++;
    return status;
}

static assay_status add_constant(builder *b, int source, const char *name, const assay_type *type,
                                 const void *data, bool owned, int *id)
{
    if (!name)
        return assay_out_of_memory(b->err);
    assay_status status = owned ? assay_graph_borrow_constant(b->to, name, type, data, id, b->err)
                                : assay_graph_add_constant(b->to, name, type, data, id, b->err);
    if (!status)
        b->to->value[*id].source_index = b->q->g->value[source].source_index;
    return status;
}

/* The value as it is in the float graph. */
static assay_status get_real(builder *b, int v, int *id)
{
    const assay_value *value = &b->q->g->value[v];
    assay_status status = ASSAY_OK;
    if (b->real[v] < 0 && value->data) {
        status = add_constant(b, v, free_name(b, value->name, "f32"), &value->type, value->data,
                              false, &b->real[v]);
        if (!status)
            b->to->value[b->real[v]].is_variable = value->is_variable;
    } else if (b->real[v] < 0 && b->code[v] >= 0) {
        status = convert(b, ASSAY_OP_DEQUANTIZE, b->code[v], derived(b, value->name, "f32"),
                         &value->type, v, &b->real[v]);
    } else if (b->real[v] < 0) {
        status = assay_fail(b->err, ASSAY_ERR_INTERNAL, "value '%.200s' is used before it is made",
                            value->name);
    }
    *id = b->real[v];
    return status;
}

/* The value as codes in its own parameters. */
static assay_status get_code(builder *b, int v, int *id)
{
    const assay_value *value = &b->q->g->value[v];
    assay_code code = quantize_plan_code(b->q, v);
    assay_type type;
    int real;
    assay_status status = ASSAY_OK;
    if (b->code[v] < 0) {
        status = get_real(b, v, &real);
        if (!status)
            status = quantize_coded_type(b->q->arena, &value->type, &code, &type, b->err);
        if (!status)
            status = convert(b, ASSAY_OP_QUANTIZE, real, free_name(b, value->name, "q"), &type, v,
                             &b->code[v]);
    }
    *id = b->code[v];
    return status;
}

/* ---- variants: a source value in other parameters than its own ---- */

static int find_variant(const builder *b, int source, const assay_type *type)
{
    for (const variant *x = b->variants; x; x = x->next)
        if (x->source == source && assay_elem_equal(b->to->value[x->id].type.elem, type->elem) &&
            assay_qparams_equal(&b->to->value[x->id].type.q, &type->q))
            return x->id;
    return -1;
}

static assay_status note_variant(builder *b, int source, int id)
{
    variant *x = assay_arena_alloc(b->q->arena, sizeof *x);
    if (!x)
        return assay_out_of_memory(b->err);
    *x = (variant){source, id, b->variants};
    b->variants = x;
    return ASSAY_OK;
}

/* A constant with codes that were just made in the arena of `to`. `role` tells twins apart. */
static assay_status coded_constant(builder *b, int v, const char *role, const assay_type *type,
                                   const void *data, int *id)
{
    *id = find_variant(b, v, type);
    if (*id >= 0)
        return ASSAY_OK;
    assay_status status =
        add_constant(b, v, free_name(b, b->q->g->value[v].name, role), type, data, true, id);
    return status ? status : note_variant(b, v, *id);
}

static assay_status rescaled(builder *b, int i, int v, const assay_code *code, int *id)
{
    const assay_value *value = &b->q->g->value[v];
    const char *name;
    char width[8];
    assay_type type;
    int own;
    assay_status status = get_code(b, v, &own);
    if (!status)
        status = quantize_coded_type(b->q->arena, &value->type, code, &type, b->err);
    if (status)
        return status;
    if (assay_elem_equal(b->to->value[own].type.elem, type.elem) &&
        assay_qparams_equal(&b->to->value[own].type.q, &type.q)) {
        *id = own;
        return ASSAY_OK;
    }
    *id = find_variant(b, v, &type);
    if (*id >= 0)
        return ASSAY_OK;
    if (!assay_elem_equal(b->to->value[own].type.elem, type.elem)) {
        name = derived(b, value->name, assay_elem_print(type.elem, width));
    } else {
        const char *out = b->q->g->value[b->q->node[i].out].name;
        name = derived(b, value->name, "as");
        name = name ? derived(b, name, out) : NULL;
    }
    status = convert(b, ASSAY_OP_RESCALE, own, name, &type, v, id);
    return status ? status : note_variant(b, v, *id);
}

/* ---- nodes ---- */

/* gamma (slot 1) or beta (slot 2) of a layer normalization. */
static assay_status norm_code(builder *b, const assay_node *n, int slot, const int *in,
                              assay_code *code)
{
    const assay_value *v = &b->q->g->value[n->in[slot]];
    const assay_type *gamma = in[1] >= 0 ? &b->to->value[in[1]].type : NULL;
    bool wide = b->to->value[in[0]].type.elem.bits > 8;
    return slot == 1 ? quantize_gamma_code(b->q->scheme, v, wide, code, b->err)
                     : quantize_beta_code(b->q->scheme, v, gamma ? gamma->q.scale[0] : 1, wide,
                                          code, b->err);
}

static assay_status integer_constant(builder *b, int i, int slot, const int *in, int *id)
{
    const assay_node *n = &b->q->g->node[i];
    bool weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;
    int v = n->in[slot];
    const void *data = NULL;
    assay_type type;
    assay_code code;
    assay_status status;
    if (weighted && slot == 1) {
        const assay_type x = b->to->value[in[0]].type;
        status = quantize_weights(b->q, b->to, n, &x, &type, &data, b->err);
    } else if (weighted && slot == 2) {
        const assay_type x = b->to->value[in[0]].type;
        status = quantize_bias_constant(b->q, b->to, n, &x, &b->to->value[in[1]].type, &type, &data,
                                        b->err);
    } else {
        status = n->op == ASSAY_OP_LAYER_NORM && slot > 0
                     ? norm_code(b, n, slot, in, &code)
                     : quantize_plan_input_code(b->q, i, slot, &code, b->err);
        if (!status)
            status = quantize_constant_value(b->to, &b->q->g->value[v], &code,
                                             b->q->caps.constant_round, &type, &data, b->err);
    }
    if (status)
        return status;
    return coded_constant(b, v, b->q->g->value[b->q->node[i].out].name, &type, data, id);
}

static assay_status integer_input(builder *b, int i, int slot, int *in)
{
    const assay_node *n = &b->q->g->node[i];
    int v = n->in[slot];
    assay_code code;
    in[slot] = ASSAY_NO_VALUE;
    if (v < 0)
        return ASSAY_OK;
    if (b->q->g->value[v].type.elem.kind != ASSAY_KIND_F32)
        return get_real(b, v, &in[slot]);
    if (lower_is_constant(b->q->g, v))
        return integer_constant(b, i, slot, in, &in[slot]);
    assay_status status = quantize_plan_input_code(b->q, i, slot, &code, b->err);
    return status ? status : rescaled(b, i, v, &code, &in[slot]);
}

/* Output j of a node: a coded value under its own name, or an index or boolean as it was. */
static assay_status integer_output(builder *b, int i, int j, int *id)
{
    int v = j == 0 ? b->q->node[i].out : b->q->g->node[i].out[j];
    const assay_value *value = &b->q->g->value[v];
    assay_type type = value->type;
    assay_status status = ASSAY_OK;
    bool coded = value->type.elem.kind == ASSAY_KIND_F32;
    if (coded) {
        assay_code code = quantize_plan_code(b->q, v);
        status = quantize_coded_type(b->q->arena, &value->type, &code, &type, b->err);
    }
    if (!status)
        status = add_value(b, value->name, &type, v, id);
    if (!status)
        *(coded ? &b->code[v] : &b->real[v]) = *id;
    return status;
}

/* A float or plain node reads values as they are. */
static assay_status plain_output(builder *b, int i, int j, int *id)
{
    int v = b->q->g->node[i].out[j];
    const assay_value *value = &b->q->g->value[v];
    const char *name = b->codes_wanted[v] ? derived(b, value->name, "f32") : value->name;
    assay_status status = add_value(b, name, &value->type, v, id);
    if (!status)
        b->to->value[*id].is_variable = value->is_variable;
    b->real[v] = *id;
    return status;
}

static assay_status build_node(builder *b, int i, int *ids)
{
    const assay_node *n = &b->q->g->node[i];
    assay_plan_node *p = &b->q->node[i];
    bool integer = p->state == ASSAY_PLAN_INTEGER;
    int *in = ids, *out = ids + n->n_in, id;
    assay_status status = ASSAY_OK;
    for (int j = 0; j < n->n_in && !status; j++) {
        if (integer)
            status = integer_input(b, i, j, in);
        else if ((in[j] = n->in[j]) >= 0)
            status = get_real(b, n->in[j], &in[j]);
    }
    for (int j = 0; j < n->n_out && !status; j++)
        status = integer ? integer_output(b, i, j, &out[j]) : plain_output(b, i, j, &out[j]);
    if (!status)
        status = assay_graph_add_node(b->to, n->op, n->name, in, n->n_in, out, n->n_out, &n->attr,
                                      &id, b->err);
    if (status)
        return status;
    assay_node *made = &b->to->node[id];
    made->act_lo = integer ? p->act_lo : n->act_lo;
    made->act_hi = integer ? p->act_hi : n->act_hi;
    made->has_code_bounds = n->has_code_bounds;
    made->code_lo = n->code_lo;
    made->code_hi = n->code_hi;
    if (integer)
        lower_fit_attributes(b->q->scheme, b->to, made);
    p->built = id;
    return ASSAY_OK;
}

/* ---- inputs and outputs ---- */

static assay_status build_inputs(builder *b, int *ids)
{
    const assay_graph *g = b->q->g;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < g->n_inputs && !status; i++) {
        int v = g->input[i];
        assay_type type = g->value[v].type;
        bool coded = b->q->options->integer_io && b->codes_wanted[v];
        if (coded) {
            assay_code code = quantize_plan_code(b->q, v);
            status = quantize_coded_type(b->q->arena, &g->value[v].type, &code, &type, b->err);
        }
        if (!status)
            status = add_value(b, g->value[v].name, &type, v, &ids[i]);
        *(coded ? &b->code[v] : &b->real[v]) = ids[i];
    }
    for (int v = 0; v < g->n_values && !status; v++) { /* state that no node makes */
        int unused;
        if (g->value[v].is_variable && g->value[v].producer < 0 && b->real[v] < 0)
            status = g->value[v].data
                         ? get_real(b, v, &unused)
                         : add_value(b, g->value[v].name, &g->value[v].type, v, &b->real[v]);
    }
    return status ? status : assay_graph_set_inputs(b->to, ids, g->n_inputs, b->err);
}

static assay_status build_outputs(builder *b, int *ids)
{
    const assay_graph *g = b->q->g;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < g->n_outputs && !status; i++) {
        int v = g->output[i];
        if (b->q->options->integer_io && b->code[v] >= 0)
            ids[i] = b->code[v];
        else
            status = get_real(b, v, &ids[i]);
    }
    return status ? status : assay_graph_set_outputs(b->to, ids, g->n_outputs, b->err);
}

static void note_wanted(builder *b)
{
    for (int i = 0; i < b->q->g->n_nodes; i++) {
        const assay_node *n = &b->q->g->node[i];
        for (int j = 0; j < n->n_in; j++)
            if (b->q->node[i].state == ASSAY_PLAN_INTEGER && quantize_plan_is_data(b->q, n, j))
                b->codes_wanted[n->in[j]] = true;
    }
}

/* The most inputs and outputs that a node, or the graph, has. */
static size_t max_ids(const assay_graph *g)
{
    int max = g->n_inputs + g->n_outputs;
    for (int i = 0; i < g->n_nodes; i++)
        max = g->node[i].n_in + g->node[i].n_out > max ? g->node[i].n_in + g->node[i].n_out : max;
    return (size_t)max;
}

static assay_status build(builder *b, int *ids)
{
    const assay_graph *g = b->q->g;
    note_wanted(b);
    assay_status status = build_inputs(b, ids);
    for (int i = 0; i < g->n_nodes && !status; i++)
        if (b->q->node[i].state != ASSAY_PLAN_FUSED)
            status = build_node(b, i, ids);
    if (!status)
        status = build_outputs(b, ids);
    memcpy(b->to->model_digest, g->model_digest, sizeof g->model_digest);
    return status;
}

assay_status quantize_plan_build(assay_quantizer *q, assay_graph **out,
                                 assay_quantize_report *report, assay_error *err)
{
    size_t n = (size_t)q->g->n_values + 1;
    builder b = {.q = q, .report = report, .err = err};
    *out = NULL;
    report->n_rescale = report->n_convert = 0;
    b.real = assay_arena_array(q->arena, n, sizeof *b.real);
    b.code = assay_arena_array(q->arena, n, sizeof *b.code);
    b.codes_wanted = assay_arena_array(q->arena, n, sizeof *b.codes_wanted);
    int *ids = assay_arena_array(q->arena, max_ids(q->g) + 1, sizeof *ids);
    if (!b.real || !b.code || !b.codes_wanted || !ids)
        return assay_out_of_memory(err);
    memset(b.real, -1, n * sizeof *b.real);
    memset(b.code, -1, n * sizeof *b.code);
    assay_status status = assay_graph_new(q->g->name, &b.to, err);
    if (!status)
        status = assay_graph_set_quantized_for(b.to, q->scheme->name, err);
    if (!status)
        status = build(&b, ids);
    if (status)
        assay_graph_free(b.to);
    else
        *out = b.to;
    return status;
}
