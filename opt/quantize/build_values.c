/* Values of the integer graph: their names, their conversions, and source values in other
 * parameters than their own. */
#include "opt/quantize/build.h"

#include <string.h>

#include "graph/memory.h"

/* ---- names ---- */

const char *quantize_build_derived(quantize_builder *b, const char *name, const char *suffix)
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
static const char *free_name(quantize_builder *b, const char *name, const char *suffix)
{
    return assay_graph_find_value(b->to, name) < 0 ? name : quantize_build_derived(b, name, suffix);
}

assay_status quantize_build_add_value(quantize_builder *b, const char *name, const assay_type *type,
                                      int source, int *id)
{
    if (!name)
        return assay_out_of_memory(b->err);
    assay_status status = assay_graph_add_value(b->to, name, type, id, b->err);
    if (!status)
        b->to->value[*id].source_index = b->q->g->value[source].source_index;
    return status;
}

/* ---- conversions ---- */

static assay_status convert(quantize_builder *b, assay_op op, int from, const char *name,
                            const assay_type *type, int source, int *id)
{
    assay_status status = quantize_build_add_value(b, name, type, source, id);
    if (!status)
        status = assay_graph_add_node(b->to, op, name, &from, 1, id, 1, NULL, NULL, b->err);
    if (!status && op == ASSAY_OP_RESCALE)
        b->report->n_rescale++;
    else if (!status)
        b->report->n_convert++;
    return status;
}

static assay_status add_constant(quantize_builder *b, int source, const char *name,
                                 const assay_type *type, const void *data, bool owned, int *id)
{
    if (!name)
        return assay_out_of_memory(b->err);
    assay_status status = owned ? assay_graph_borrow_constant(b->to, name, type, data, id, b->err)
                                : assay_graph_add_constant(b->to, name, type, data, id, b->err);
    if (!status)
        b->to->value[*id].source_index = b->q->g->value[source].source_index;
    return status;
}

assay_status quantize_build_get_real(quantize_builder *b, int v, int *id)
{
    const assay_value *value = &b->q->g->value[v];
    assay_status status = ASSAY_OK;
    if (b->real[v] < 0 && value->data) {
        status = add_constant(b, v, free_name(b, value->name, "f32"), &value->type, value->data,
                              false, &b->real[v]);
        if (!status)
            b->to->value[b->real[v]].is_variable = value->is_variable;
    } else if (b->real[v] < 0 && b->code[v] >= 0) {
        status =
            convert(b, ASSAY_OP_DEQUANTIZE, b->code[v],
                    quantize_build_derived(b, value->name, "f32"), &value->type, v, &b->real[v]);
    } else if (b->real[v] < 0) {
        status = assay_fail(b->err, ASSAY_ERR_INTERNAL, "value '%.200s' is used before it is made",
                            value->name);
    }
    *id = b->real[v];
    return status;
}

/* The value as codes in its own parameters. */
static assay_status get_code(quantize_builder *b, int v, int *id)
{
    const assay_value *value = &b->q->g->value[v];
    assay_code code = quantize_plan_code(b->q, v);
    assay_type type;
    int real;
    assay_status status = ASSAY_OK;
    if (b->code[v] < 0) {
        status = quantize_build_get_real(b, v, &real);
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

static int find_variant(const quantize_builder *b, int source, const assay_type *type)
{
    for (const quantize_variant *x = b->variants; x; x = x->next)
        if (x->source == source && assay_elem_equal(b->to->value[x->id].type.elem, type->elem) &&
            assay_qparams_equal(&b->to->value[x->id].type.q, &type->q))
            return x->id;
    return -1;
}

static assay_status note_variant(quantize_builder *b, int source, int id)
{
    quantize_variant *x = assay_arena_alloc(b->q->arena, sizeof *x);
    if (!x)
        return assay_out_of_memory(b->err);
    *x = (quantize_variant){source, id, b->variants};
    b->variants = x;
    return ASSAY_OK;
}

assay_status quantize_build_coded_constant(quantize_builder *b, int v, const char *role,
                                           const assay_type *type, const void *data, int *id)
{
    *id = find_variant(b, v, type);
    if (*id >= 0)
        return ASSAY_OK;
    assay_status status =
        add_constant(b, v, free_name(b, b->q->g->value[v].name, role), type, data, true, id);
    return status ? status : note_variant(b, v, *id);
}

assay_status quantize_build_rescaled(quantize_builder *b, int i, int v, const assay_code *code,
                                     int *id)
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
        name = quantize_build_derived(b, value->name, assay_elem_print(type.elem, width));
    } else {
        const char *out = b->q->g->value[b->q->node[i].out].name;
        name = quantize_build_derived(b, value->name, "as");
        name = name ? quantize_build_derived(b, name, out) : NULL;
    }
    status = convert(b, ASSAY_OP_RESCALE, own, name, &type, v, id);
    return status ? status : note_variant(b, v, *id);
}
