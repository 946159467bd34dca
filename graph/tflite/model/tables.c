/* A model's tables: operator codes, tensors, lists of them; names. */
#include <stdio.h>
#include <string.h>

#include "graph/tflite/model/model.h"

#define CODE_PLACEHOLDER 127 /* the greatest code that the old one-byte field could hold */
#define BUILTIN_CUSTOM   32

char *tfl_text(tfl_import *m, flat_table t, int slot)
{
    size_t length;
    const char *text = tfl_flat_text(t, slot, &length);
    char *copy;

    if (tfl_charge(m, length))
        return NULL;
    copy = assay_arena_alloc(m->temp, length + 1);
    if (copy && text)
        memcpy(copy, text, length);
    return copy;
}

const char *tfl_unique(tfl_import *m, const char *name, int index)
{
    char *longer;
    size_t room;

    if (*name && assay_graph_find_value(m->g, name) < 0)
        return name;
    room = strlen(name) + 16;
    longer = assay_arena_alloc(m->temp, room);
    if (!longer)
        return NULL;
    do
        snprintf(longer, room, "%s#%d", name, index++);
    while (assay_graph_find_value(m->g, longer) >= 0);
    return longer;
}

assay_status tfl_read_codes(tfl_import *m, flat_table model)
{
    flat_vector codes = tfl_flat_list(model, MODEL_OPERATOR_CODES, 4);

    m->code = assay_arena_array(m->temp, codes.count, sizeof *m->code);
    if (!m->code)
        return tfl_no_memory(m);
    m->n_codes = (int)codes.count;
    for (uint32_t i = 0; i < codes.count; ++i) {
        flat_table t = tfl_flat_list_table(codes, i);
        int old = tfl_flat_i8(t, CODE_DEPRECATED, 0), code = tfl_flat_i32(t, CODE_BUILTIN, 0);
        /* files before version 3a have the old field only */
        m->code[i].builtin = code > old || old >= CODE_PLACEHOLDER ? code : old;
        if (m->code[i].builtin == BUILTIN_CUSTOM && tfl_flat_has(t, CODE_CUSTOM)) {
            m->code[i].custom = tfl_text(m, t, CODE_CUSTOM);
            if (!m->code[i].custom)
                return tfl_no_memory(m);
        }
    }
    return tfl_flat_status(&m->file, m->err);
}

assay_status tfl_read_tensors(tfl_import *m, flat_table subgraph)
{
    flat_vector tensors = tfl_flat_list(subgraph, SUBGRAPH_TENSORS, 4);
    assay_status s = tfl_flat_status(&m->file, m->err);

    m->tensors.at = assay_arena_array(m->temp, tensors.count, sizeof *m->tensors.at);
    if (!m->tensors.at)
        return tfl_no_memory(m);
    m->tensors.n = (int)tensors.count;
    for (uint32_t i = 0; i < tensors.count; ++i)
        m->tensors.at[i].name = "";
    for (uint32_t i = 0; !s && i < tensors.count; ++i)
        s = tfl_describe(m, (int)i, tfl_flat_list_table(tensors, i));
    return s;
}

assay_status tfl_read_indices(tfl_import *m, flat_vector v, bool optional, const char *what,
                              const int **out)
{
    int *index;
    assay_status s = tfl_flat_status(&m->file, m->err);

    if (s || (s = tfl_charge(m, (uint64_t)v.count * 4)))
        return s;
    index = assay_arena_array(m->temp, v.count, sizeof *index);
    if (!index)
        return tfl_no_memory(m);
    for (uint32_t i = 0; i < v.count; ++i) {
        index[i] = tfl_flat_list_i32(v, i);
        if (index[i] < (optional ? -1 : 0) || index[i] >= m->tensors.n)
            return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: %s: there is no tensor %d", m->name,
                              what, index[i]);
    }
    *out = index;
    return ASSAY_OK;
}
