/* The integer graph, built from the plan in one sweep over the float nodes. */
#include <string.h>

#include "graph/memory.h"
#include "opt/quantize/build.h"

/* ---- nodes ---- */

/* gamma (slot 1) or beta (slot 2) of a layer normalization. */
static assay_status norm_code(quantize_builder *b, const assay_node *n, int slot, const int *in,
                              assay_code *code)
{
    const assay_value *v = &b->q->g->value[n->in[slot]];
    const assay_type *gamma = in[1] >= 0 ? &b->to->value[in[1]].type : NULL;
    bool wide = b->to->value[in[0]].type.elem.bits > 8;
    return slot == 1 ? quantize_gamma_code(b->q->scheme, v, wide, code, b->err)
                     : quantize_beta_code(b->q->scheme, v, gamma ? gamma->q.scale[0] : 1, wide,
                                          code, b->err);
}

static assay_status integer_constant(quantize_builder *b, int i, int slot, const int *in, int *id)
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
    return quantize_build_coded_constant(b, v, b->q->g->value[b->q->node[i].out].name, &type, data,
                                         id);
}

static assay_status integer_input(quantize_builder *b, int i, int slot, int *in)
{
    const assay_node *n = &b->q->g->node[i];
    int v = n->in[slot];
    assay_code code;
    in[slot] = ASSAY_NO_VALUE;
    if (v < 0)
        return ASSAY_OK;
    if (b->q->g->value[v].type.elem.kind != ASSAY_KIND_F32)
        return quantize_build_get_real(b, v, &in[slot]);
    if (lower_is_constant(b->q->g, v))
        return integer_constant(b, i, slot, in, &in[slot]);
    assay_status status = quantize_plan_input_code(b->q, i, slot, &code, b->err);
    return status ? status : quantize_build_rescaled(b, i, v, &code, &in[slot]);
}

/* Output j of a node: a coded value under its own name, or an index or boolean as it was. */
static assay_status integer_output(quantize_builder *b, int i, int j, int *id)
{
    int v = j == 0 ? b->q->node[i].out : b->q->g->node[i].out[j];
    const assay_value *value = &b->q->g->value[v];
    assay_type type = value->type;
    assay_status status = ASSAY_OK;
    bool coded = value->type.elem.kind == ASSAY_KIND_F32;
    if (coded) {
        const assay_node *n = &b->q->g->node[i];
        assay_code code = quantize_plan_code(b->q, quantize_plan_is_state(n) ? n->in[0] : v);
        status = quantize_coded_type(b->q->arena, &value->type, &code, &type, b->err);
    }
    if (!status)
        status = quantize_build_add_value(b, value->name, &type, v, id);
    if (!status)
        *(coded ? &b->code[v] : &b->real[v]) = *id;
    return status;
}

/* A float or plain node reads values as they are. */
static assay_status plain_output(quantize_builder *b, int i, int j, int *id)
{
    int v = b->q->g->node[i].out[j];
    const assay_value *value = &b->q->g->value[v];
    const char *name =
        b->codes_wanted[v] ? quantize_build_derived(b, value->name, "f32") : value->name;
    assay_status status = quantize_build_add_value(b, name, &value->type, v, id);
    if (!status)
        b->to->value[*id].is_variable = value->is_variable;
    b->real[v] = *id;
    return status;
}

static assay_status build_node(quantize_builder *b, int i, int *ids)
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
            status = quantize_build_get_real(b, n->in[j], &in[j]);
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

/* A variable as codes, which begins as those of its initial values, or of zeros. */
static assay_status coded_variable(quantize_builder *b, int v)
{
    assay_value initial = b->q->g->value[v];
    const assay_code code = quantize_plan_code(b->q, v);
    const void *codes = NULL;
    assay_type type;
    assay_status status = ASSAY_OK;

    if (!initial.data)
        initial.data = assay_arena_array(b->q->arena, (size_t)assay_shape_count(&initial.type) + 1,
                                         sizeof(float));
    if (!initial.data)
        return assay_out_of_memory(b->err);
    status = quantize_constant_value(b->to, &initial, &code, b->q->caps.constant_round, &type,
                                     &codes, b->err);
    if (!status)
        status = quantize_build_coded_constant(b, v, "q", &type, codes, &b->code[v]);
    if (!status)
        b->to->value[b->code[v]].is_variable = true;
    return status;
}

static bool is_coded_variable(const quantize_builder *b, int v)
{
    for (int i = 0; i < b->q->g->n_nodes; i++)
        if (quantize_plan_is_state(&b->q->g->node[i]) && b->q->g->node[i].in[0] == v)
            return b->q->node[i].state == ASSAY_PLAN_INTEGER;
    return false;
}

static assay_status build_inputs(quantize_builder *b, int *ids)
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
            status = quantize_build_add_value(b, g->value[v].name, &type, v, &ids[i]);
        *(coded ? &b->code[v] : &b->real[v]) = ids[i];
    }
    for (int v = 0; v < g->n_values && !status; v++) { /* state that no node makes */
        int unused;
        if (g->value[v].is_variable && is_coded_variable(b, v))
            status = coded_variable(b, v);
        else if (g->value[v].is_variable && g->value[v].producer < 0 && b->real[v] < 0)
            status = g->value[v].data ? quantize_build_get_real(b, v, &unused)
                                      : quantize_build_add_value(b, g->value[v].name,
                                                                 &g->value[v].type, v, &b->real[v]);
    }
    return status ? status : assay_graph_set_inputs(b->to, ids, g->n_inputs, b->err);
}

static assay_status build_outputs(quantize_builder *b, int *ids)
{
    const assay_graph *g = b->q->g;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < g->n_outputs && !status; i++) {
        int v = g->output[i];
        if (b->q->options->integer_io && b->code[v] >= 0)
            ids[i] = b->code[v];
        else
            status = quantize_build_get_real(b, v, &ids[i]);
    }
    return status ? status : assay_graph_set_outputs(b->to, ids, g->n_outputs, b->err);
}

static void note_wanted(quantize_builder *b)
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

static assay_status build(quantize_builder *b, int *ids)
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
    quantize_builder b = {.q = q, .report = report, .err = err};
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
