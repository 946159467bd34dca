/* Open addressing over XXH3; slots hold value index + 1, at most half of them in use. */
#include "graph/core/names.h"
#include "graph/memory.h"

#include <string.h>
#include <xxhash.h>

static uint64_t first_slot(const assay_graph *g, const char *name)
{
    return XXH3_64bits(name, strlen(name)) & (uint64_t)(g->n_name_slots - 1);
}

static void enter(assay_graph *g, int id)
{
    uint64_t i = first_slot(g, g->value[id].name);
    while (g->name_slot[i])
        i = (i + 1) & (uint64_t)(g->n_name_slots - 1);
    g->name_slot[i] = id + 1;
}

assay_status assay_names_rebuild(assay_graph *g, assay_error *err)
{
    int slots = g->n_name_slots ? g->n_name_slots : 64;
    if (!g->n_values && !g->n_name_slots)
        return ASSAY_OK;
    while (slots / 2 <= g->n_values)
        slots *= 2;
    if (slots != g->n_name_slots) {
        int *table = assay_arena_array(g->arena, (size_t)slots, sizeof *table);
        if (!table)
            return assay_out_of_memory(err);
        g->name_slot = table;
        g->n_name_slots = slots;
    } else {
        memset(g->name_slot, 0, (size_t)slots * sizeof *g->name_slot);
    }
    for (int i = 0; i < g->n_values; ++i)
        enter(g, i);
    return ASSAY_OK;
}

assay_status assay_names_add(assay_graph *g, int id, assay_error *err)
{
    if (g->n_name_slots / 2 <= g->n_values)
        return assay_names_rebuild(g, err);
    enter(g, id);
    return ASSAY_OK;
}

int assay_graph_find_value(const assay_graph *g, const char *name)
{
    if (!g->n_name_slots)
        return -1;
    for (uint64_t i = first_slot(g, name); g->name_slot[i];
         i = (i + 1) & (uint64_t)(g->n_name_slots - 1)) {
        int id = g->name_slot[i] - 1;
        if (strcmp(g->value[id].name, name) == 0)
            return id;
    }
    return -1;
}
