/* The dump of a tensor among those of its sample; see dumps.h. */
#include <stdio.h>
#include <string.h>

#include "graph/core/outputs.h"
#include "graph/text/npy.h"
#include "interp/golden/dumps.h"

/* ---- outputs that are computed as codes (graph/core/outputs.h) ---- */

/* The tensor of i's sample that is called as i with this suffix: its place, or -1. */
static int extended(const assay_bundle *b, int i, const char *suffix)
{
    const assay_bundle_tensor *t = &b->tensor[i];
    const size_t n = strlen(t->name);
    for (int k = 0; k < b->n_tensors; k++)
        if (b->tensor[k].sample == t->sample && strncmp(b->tensor[k].name, t->name, n) == 0 &&
            strcmp(b->tensor[k].name + n, suffix) == 0)
            return k;
    return -1;
}

/* The tensor whose floats tensor i is: its place, or -1. */
static int codes_of(const assay_bundle *b, int i)
{
    for (int k = 0; k < b->n_tensors; k++)
        if (extended(b, k, ASSAY_OUTPUT_FLOATS) == i)
            return k;
    return -1;
}

static int find(const assay_dumps *d, const assay_bundle *b, int i)
{
    return golden_dumps_find(d, &b->tensor[i], b->tensor[0].sample, false);
}

/* Whether a dump says of itself that it holds floats; one that cannot be read is left to who reads
 * it. */
static bool holds_floats(const assay_dumps *d, int dump)
{
    assay_npy a;
    char path[4096];
    const size_t n = strlen(d->dump[dump].path);
    snprintf(path, sizeof path, "%.2000s/%.2000s", d->folder, d->dump[dump].path);
    if (n < 4 || strcmp(d->dump[dump].path + n - 4, ".npy") != 0 ||
        text_npy_read_file(path, &a, NULL))
        return false;
    const bool floats = a.type == ASSAY_NPY_F2 || a.type == ASSAY_NPY_F4 || a.type == ASSAY_NPY_F8;
    text_npy_free(&a);
    return floats;
}

/* The codes' dump where `dump`, which has their name, holds the floats. */
static int dump_of_codes(const assay_dumps *d, const assay_bundle *b, int i, int dump)
{
    const int floats = extended(b, i, ASSAY_OUTPUT_FLOATS);
    char name[1024];
    assay_bundle_tensor t = b->tensor[i];
    if (floats < 0 || dump < 0 || find(d, b, floats) >= 0 || !holds_floats(d, dump))
        return dump;
    snprintf(name, sizeof name, "%.1000s" ASSAY_OUTPUT_CODES, t.name);
    t.name = name;
    return golden_dumps_find(d, &t, b->tensor[0].sample, false);
}

/* The dump of floats that has their codes' name, or -1. */
static int dump_of_floats(const assay_dumps *d, const assay_bundle *b, int i)
{
    const int codes = codes_of(b, i), dump = codes < 0 ? -1 : find(d, b, codes);
    return dump >= 0 && holds_floats(d, dump) ? dump : -1;
}

/* ---- any tensor ---- */

static assay_status match_by_name(const assay_dumps *d, const assay_bundle *b, int i, int *dump,
                                  assay_error *err)
{
    *dump = find(d, b, i);
    for (int k = 0; k < b->n_tensors && *dump >= 0; k++) {
        if (k == i || b->tensor[k].sample != b->tensor[i].sample)
            continue;
        const int theirs = golden_dumps_fit(d, *dump, &b->tensor[k]);
        const int mine = golden_dumps_fit(d, *dump, &b->tensor[i]);
        if (theirs == mine)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%.300s: the dump of '%.100s' or of '%.100s'? Name it as in the "
                              "bundle's folder, with its number",
                              d->dump[*dump].path, b->tensor[i].name, b->tensor[k].name);
        if (theirs > mine)
            *dump = -1;
    }
    return ASSAY_OK;
}

assay_status golden_dumps_match(const assay_dumps *d, const assay_bundle *b, int i, int *dump,
                                assay_error *err)
{
    const assay_status status = match_by_name(d, b, i, dump, err);
    if (!status)
        *dump = *dump < 0 ? dump_of_floats(d, b, i) : dump_of_codes(d, b, i, *dump);
    return status;
}
