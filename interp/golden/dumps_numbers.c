/* A device's dumps of constants and of nodes' parameters; see dumps.h. */
#include <stdio.h>
#include <string.h>

#include "graph/files/files.h"
#include "interp/golden/dumps.h"

static int find(const assay_dumps *d, enum assay_dump_kind kind, const char *stem, const char *name)
{
    int best = -1, best_fit = 0;
    for (int i = 0; i < d->n; i++) {
        const int f = d->dump[i].kind == kind ? golden_dumps_fit_names(d, i, stem, name) : 0;
        if (f > best_fit) {
            best = i;
            best_fit = f;
        }
    }
    return best;
}

int golden_dumps_constant(const assay_dumps *d, const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *file = json_string_value(json_object_get(entry, "file"));
    char stem[ASSAY_BUNDLE_STEM];
    if (!name || !file || !golden_bundle_stem_of(file_base_name(file), stem, sizeof stem))
        return -1;
    return find(d, ASSAY_DUMP_CONSTANT, stem, name);
}

/* The bundle's name of the files of a node's parameters. */
static void stem_of(const assay_bundle *b, const json_t *node, const char *name, char *stem)
{
    const char *first = json_string_value(json_array_get(json_object_get(node, "outputs"), 0));
    *stem = 0;
    for (int i = 0; i < b->n_tensors && first && !*stem; i++)
        if (strcmp(b->tensor[i].name, first) == 0)
            golden_bundle_stem(b->tensor[i].index, b->tensor[i].op, name, stem);
}

int golden_dumps_parameter(const assay_dumps *d, const assay_bundle *b, const json_t *node,
                           const char *key)
{
    const char *name = json_string_value(json_object_get(node, "name"));
    char base[ASSAY_BUNDLE_STEM], stem[ASSAY_BUNDLE_STEM + 64], full[1024];
    if (!name || !d->n)
        return -1;
    stem_of(b, node, name, base);
    snprintf(stem, sizeof stem, "%s.%.60s", base, key);
    snprintf(full, sizeof full, "%.900s.%.60s", name, key);
    return find(d, ASSAY_DUMP_PARAMETER, stem, full);
}

bool golden_dumps_is_number(const assay_dumps *d, int i, const assay_bundle *b)
{
    size_t k;
    json_t *entry, *list;
    const char *key;
    json_array_foreach(json_object_get(b->manifest, "constants"), k, entry)
    {
        if (golden_dumps_constant(d, entry) == i)
            return true;
    }
    json_array_foreach(json_object_get(b->manifest, "nodes"), k, entry)
    {
        json_object_foreach(json_object_get(entry, "parameters"), key, list)
        {
            if (golden_dumps_parameter(d, b, entry, key) == i)
                return true;
        }
    }
    return false;
}
