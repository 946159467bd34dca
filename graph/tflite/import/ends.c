/* Ends of a model: its signatures, the inputs and outputs of a subgraph. */
#include <stdio.h>
#include <string.h>

#include "graph/tflite/import/import.h"

#define SIGNATURES_MAX 64 /* that are looked at */

/* The name that the model's signature gives to input tensor `tensor`, or NULL. */
static const char *signature_name(tfl_import *m, flat_table model, int tensor)
{
    flat_vector signatures = tfl_flat_list(model, MODEL_SIGNATURE_DEFS, 4), inputs;
    flat_table signature;

    if (signatures.count == 0)
        return NULL;
    signature = tfl_flat_list_table(signatures, 0);
    for (uint32_t i = 1; i < signatures.count && i < SIGNATURES_MAX; ++i)
        if (tfl_flat_u32(signature, SIGNATURE_SUBGRAPH, 0) != (uint32_t)m->subgraph)
            signature = tfl_flat_list_table(signatures, i);
    inputs = tfl_flat_list(signature, SIGNATURE_INPUTS, 4);
    if (tfl_flat_u32(signature, SIGNATURE_SUBGRAPH, 0) != (uint32_t)m->subgraph ||
        tfl_charge(m, inputs.count))
        return NULL;
    for (uint32_t i = 0; i < inputs.count; ++i) {
        flat_table map = tfl_flat_list_table(inputs, i);
        if (tfl_flat_u32(map, MAP_TENSOR, 0) == (uint32_t)tensor) {
            const char *name = tfl_text(m, map, MAP_NAME);
            return name && *name ? name : NULL;
        }
    }
    return NULL;
}

assay_status tfl_add_inputs(tfl_import *m, flat_table model, flat_vector list)
{
    const int *index;
    const tfl_op whole = {.m = m, .kind = "model input", .index = -1};
    int *id = assay_arena_array(m->temp, list.count, sizeof *id);
    assay_status s = tfl_read_indices(m, list, false, "model inputs", &index);

    if (!s && !id)
        s = tfl_no_memory(m);
    for (uint32_t i = 0; !s && i < list.count; ++i) {
        tfl_tensor *t = &m->tensors.at[index[i]];
        const char *name = m->depth ? NULL : signature_name(m, model, index[i]);
        if (t->why) {
            s = tfl_unsupported(&whole, "%s", t->why);
            if (s == ASSAY_ERR_UNSUPPORTED)
                s = ASSAY_OK;
            continue;
        }
        if (t->value >= 0)
            return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: an input of the model is listed twice",
                              m->name);
        t->name = tfl_unique(m, name ? name : t->name, index[i]);
        t->data = NULL; /* what runs, not what may be stored */
        t->is_variable = false;
        s = t->name ? assay_graph_add_value(m->g, t->name, &t->type, &t->value, m->err)
                    : tfl_no_memory(m);
        id[i] = t->value;
        if (!s)
            m->g->value[t->value].source_index = index[i];
    }
    if (!s && m->n_faults == 0)
        s = assay_graph_set_inputs(m->g, id, (int)list.count, m->err);
    return s;
}

assay_status tfl_add_outputs(tfl_import *m, flat_vector list)
{
    const int *index;
    tfl_op whole = {.m = m, .kind = "model output", .index = -1, .n_in = (int)list.count};
    int *id = assay_arena_array(m->temp, list.count, sizeof *id);
    assay_status s = tfl_read_indices(m, list, false, "model outputs", &index);

    whole.in = index;
    if (!s && !id)
        s = tfl_no_memory(m);
    for (uint32_t i = 0; !s && i < list.count; ++i)
        s = tfl_value(&whole, (int)i, &id[i]);
    return s ? s : assay_graph_set_outputs(m->g, id, (int)list.count, m->err);
}

assay_status tfl_find_entry(tfl_import *m, flat_table model, const char *entry)
{
    flat_vector signatures = tfl_flat_list(model, MODEL_SIGNATURE_DEFS, 4);
    char known[200] = "";
    size_t used = 0;

    if (!entry)
        return ASSAY_OK;
    for (uint32_t i = 0; i < signatures.count && i < SIGNATURES_MAX; ++i) {
        flat_table t = tfl_flat_list_table(signatures, i);
        uint32_t subgraph = tfl_flat_u32(t, SIGNATURE_SUBGRAPH, 0);
        const char *key = tfl_text(m, t, SIGNATURE_KEY);
        if (!key)
            return tfl_no_memory(m);
        if (strcmp(key, entry) == 0 && subgraph < m->subgraphs.count) {
            m->subgraph = (int)subgraph;
            return ASSAY_OK;
        }
        if (used + 1 < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, " '%.60s'", key);
    }
    return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: there is no signature '%.100s'; there %s:%s",
                      m->name, entry, known[0] ? "are" : "is", known[0] ? known : " none");
}
