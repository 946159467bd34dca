/* Names of a bundle's files: those of its tensors, their folders, their stems. */
#include <stdio.h>
#include <string.h>

#include "interp/golden/bundle_writer.h"
#include "interp/page/utf8.h"

void golden_bundle_stem(int index, const char *op, const char *name, char stem[ASSAY_BUNDLE_STEM])
{
    char *p;
    char shown[160 + 4]; /* as the manifest has it: readers find files by that */

    page_utf8_escape(name, shown, sizeof shown);
    snprintf(stem, ASSAY_BUNDLE_STEM, "%04d_%s_%.160s", index, op, shown);
    for (p = stem; *p; p++)
        if (!((*p >= '0' && *p <= '9') || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
              *p == '_' || *p == '-' || *p == '.'))
            *p = '_';
}

bool golden_bundle_stem_of(const char *file, char *stem, size_t size)
{
    const size_t n = strlen(file), extension = strlen(".npy");
    if (n <= extension || n - extension >= size || strcmp(file + n - extension, ".npy") != 0)
        return false;
    memcpy(stem, file, n - extension);
    stem[n - extension] = 0;
    return true;
}

void golden_bundle_number(const assay_graph *g, int *index)
{
    int next = 0;

    for (int v = 0; v < g->n_values; v++)
        index[v] = -1;
    for (int i = 0; i < g->n_inputs; i++)
        index[g->input[i]] = next++;
    for (int n = 0; n < g->n_nodes; n++)
        for (int k = 0; k < g->node[n].n_out; k++)
            if (g->node[n].out[k] >= 0)
                index[g->node[n].out[k]] = next++;
}

void golden_bundle_folder(const assay_bundle_writer *w, const char *kind, int64_t sample,
                          char folder[64])
{
    if (w->options.samples > 1)
        snprintf(folder, 64, "%s/s%05lld", kind, (long long)sample);
    else
        snprintf(folder, 64, "%s", kind);
}

const char *golden_bundle_op(const assay_graph *g, int value)
{
    const int n = g->value[value].producer;
    return n >= 0 ? assay_op_get(g->node[n].op)->name : "input";
}

void golden_bundle_part(const assay_bundle_writer *w, const char *kind, int value, int64_t sample,
                        char part[ASSAY_BUNDLE_PART])
{
    const assay_graph *g = w->program->graph;
    char stem[ASSAY_BUNDLE_STEM], folder[64];
    golden_bundle_stem(w->index[value], golden_bundle_op(g, value), g->value[value].name, stem);
    golden_bundle_folder(w, kind, sample, folder);
    snprintf(part, ASSAY_BUNDLE_PART, "%s/%s", folder, stem);
}
