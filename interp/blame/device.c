/* Reading both sides: whose dump is what, in which layout, and whether it can be compared at all.
 */
#include "interp/blame/device.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "graph/memory.h"
#include "interp/blame/layout.h"
#include "interp/blame/layouts.h"
#include "interp/blame/sums.h"
#include "interp/golden/extra.h"

typedef struct reading {
    blame_device *d;
    assay_bundle *other; /* the device is a bundle, */
    assay_dumps dumps;   /* or a folder */
    const char *path;
    blame_layouts layouts[ASSAY_MAX_RANK + 1];
} reading;

/* ---- elements ---- */

static assay_status bad_shape(const reading *r, const assay_bundle_tensor *t,
                              const assay_type *found, assay_error *err)
{
    char a[64], b[64], ea[8], eb[8];
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%.200s: tensor '%.200s': the dump holds %s%s; the golden tensor is %s%s",
                      r->path, t->name, assay_elem_print(found->elem, ea),
                      assay_shape_print(found, a, sizeof a), assay_elem_print(t->type.elem, eb),
                      assay_shape_print(&t->type, b, sizeof b));
}

static bool is_same_storage(assay_elem golden, assay_elem found)
{
    return golden.kind == found.kind && assay_elem_size(golden) == assay_elem_size(found) &&
           (golden.kind != ASSAY_KIND_INT || golden.is_signed == found.is_signed);
}

/* Of what was observed. */
static assay_status check_elements(const reading *r, const assay_bundle_tensor *t,
                                   const blame_tensor *of, assay_error *err)
{
    const int64_t n = of->device ? assay_shape_count(&t->type) : 0;
    const assay_elem e = t->type.elem;
    const void *golden = of->golden, *found = of->device;
    for (int64_t i = 0; i < n && e.kind == ASSAY_KIND_F32; i++)
        if ((!of->mask || of->mask[i]) && isnan(((const float *)found)[i]) &&
            !isnan(((const float *)golden)[i]))
            return assay_fail(err, ASSAY_ERR_INPUT, "%.200s: tensor '%.200s': element %lld is NaN",
                              r->path, t->name, (long long)i);
    const bool bits = e.kind == ASSAY_KIND_INT || assay_is_small_float(e);
    for (int64_t i = 0; i < n && bits && e.bits < 8 * assay_elem_size(e); i++) {
        const int64_t v = assay_elem_get(e, found, (size_t)i);
        if ((!of->mask || of->mask[i]) && (v < assay_elem_min(e) || v > assay_elem_max(e)))
            return assay_fail(
                err, ASSAY_ERR_INPUT,
                "%.200s: tensor '%.200s': element %lld is %lld, outside of its %u bits", r->path,
                t->name, (long long)i, (long long)v, e.bits);
    }
    return ASSAY_OK;
}

/* A dump of type `found` as elements of the golden type. */
static assay_status adopt(reading *r, const assay_bundle_tensor *t, const assay_type *found,
                          void *data, blame_tensor *to, assay_error *err)
{
    int perm[ASSAY_MAX_RANK];
    if (!is_same_storage(t->type.elem, found->elem)) {
        free(data);
        return bad_shape(r, t, found, err);
    }
    if (!to->shapeless)
        blame_layouts_count(r->layouts, &t->type, found);
    if (blame_layout_same(&t->type, found)) {
        to->device = data;
    } else if (blame_layout_find(&t->type, found, perm) >= 0) {
        to->device = blame_layout_transpose(&t->type, found, perm, data);
        free(data);
    } else {
        free(data);
        return bad_shape(r, t, found, err);
    }
    return to->device ? ASSAY_OK : assay_out_of_memory(err);
}

/* ---- a tensor ---- */

static int find_entry(const assay_bundle *b, const assay_bundle_tensor *t)
{
    for (int i = 0; i < b->n_tensors; i++)
        if (b->tensor[i].sample == t->sample && strcmp(b->tensor[i].name, t->name) == 0)
            return i;
    return -1;
}

/* `of`: what the dump holds, whose shape a mask without one has. */
static assay_status read_mask(const reading *r, const assay_bundle_tensor *t, int dump,
                              const assay_type *of, blame_tensor *to, assay_error *err)
{
    assay_bundle_tensor mask = *t;
    assay_type like = *of;
    assay_type found;
    void *data;
    int perm[ASSAY_MAX_RANK];
    const int at = golden_dumps_mask(&r->dumps, dump, t, r->d->bundle->tensor[0].sample);
    if (at < 0)
        return ASSAY_OK;
    mask.type.elem = like.elem = assay_bool();
    to->mask_shapeless = !golden_dumps_has_shape(&r->dumps, at);
    assay_status status = golden_dumps_read(&r->dumps, at, &like, &found, &data, err);
    if (status)
        return status;
    if (assay_elem_size(found.elem) == 1 && !blame_layout_same(&mask.type, &found) &&
        blame_layout_find(&mask.type, &found, perm) >= 0) {
        to->mask = blame_layout_transpose(&mask.type, &found, perm, data);
        free(data);
        return to->mask ? ASSAY_OK : assay_out_of_memory(err);
    }
    if (!blame_layout_same(&mask.type, &found) || assay_elem_size(found.elem) != 1) {
        free(data);
        return bad_shape(r, &mask, &found, err);
    }
    to->mask = data;
    return ASSAY_OK;
}

/* Accumulators whose output was dumped, too, which is what is judged. */
static void put_beside(blame_tensor *to)
{
    to->beside = to->sums;
    free(to->golden_sums);
    to->sums = to->golden_sums = NULL;
}

static assay_status read_device(reading *r, int i, blame_tensor *to, assay_error *err)
{
    const assay_bundle_tensor *t = &r->d->bundle->tensor[i];
    assay_type found = t->type;
    void *data = NULL;
    int at, sums;
    assay_status status;
    if (!r->path)
        return ASSAY_OK;
    if (r->other) {
        at = find_entry(r->other, t);
        if (at < 0)
            return ASSAY_OK;
        status = blame_sums_of_bundle(r->d->bundle, i, r->other, at, r->layouts, to, err);
        if (status || !golden_bundle_has_elements(r->other, at))
            return status;
        found = r->other->tensor[at].type;
        status = golden_bundle_read(r->other, at, &data, err);
        if (!status)
            status = adopt(r, t, &found, data, to, err);
        put_beside(to);
        return status ? status : check_elements(r, t, to, err);
    }
    status = golden_dumps_match(&r->dumps, r->d->bundle, i, &at, err);
    if (!status)
        status =
            blame_sums_of_dumps(r->d->bundle, i, &r->dumps, &sums, &found, r->layouts, to, err);
    if (at >= 0)
        to->shapeless = !golden_dumps_has_shape(&r->dumps, at);
    if (status || at < 0)
        return !status && sums >= 0 ? read_mask(r, t, sums, &found, to, err) : status;
    put_beside(to);
    status = golden_dumps_read(&r->dumps, at, &t->type, &found, &data, err);
    if (!status)
        status = adopt(r, t, &found, data, to, err);
    if (!status)
        status = read_mask(r, t, at, &found, to, err);
    return status ? status : check_elements(r, t, to, err);
}

static assay_status read_tensors(reading *r, assay_error *err)
{
    blame_device *d = r->d;
    const assay_bundle *b = d->bundle;
    assay_status status = ASSAY_OK;
    int sample = -1;
    for (int i = 0; i < b->n_tensors && !status; i++) {
        const assay_bundle_tensor *t = &b->tensor[i];
        int v = 0;
        if (i == 0 || t->sample != b->tensor[i - 1].sample)
            d->number[++sample] = t->sample;
        while (v < d->graph->n_values && d->index[v] != t->index)
            v++;
        if (v == d->graph->n_values || !assay_shape_equal(&d->graph->value[v].type, &t->type) ||
            !assay_elem_equal(d->graph->value[v].type.elem, t->type.elem))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: tensor '%.200s' of the manifest is not in the bundle's network",
                              b->dir, t->name);
        blame_tensor *to = blame_at(d, sample, v);
        if (to->golden)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: tensor '%.200s' occurs twice", b->dir,
                              t->name);
        status = golden_bundle_read(b, i, &to->golden, err);
        if (!status)
            status = read_device(r, i, to, err);
        d->dumped += !status && (to->device || to->sums);
    }
    return status;
}

/* ---- opening ---- */

static assay_status open_device(reading *r, unsigned hex_bits, assay_error *err)
{
    char manifest[4096];
    struct stat st;
    snprintf(manifest, sizeof manifest, "%.4000s/manifest.json", r->path);
    if (stat(r->path, &st) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: %s", r->path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: a folder of dumps or a golden bundle is expected", r->path);
    if (access(manifest, F_OK) == 0)
        return golden_bundle_open(r->path, &r->other, err);
    return golden_dumps_open(r->path, hex_bits, &r->dumps, err);
}

static assay_status open_golden(blame_device *d, const char *golden, int threads, assay_error *err)
{
    const assay_program_options o = {.engine = ASSAY_ENGINE_FAST, .threads = threads};
    bool is_preset;
    assay_status status = golden_bundle_open(golden, &d->bundle, err);
    if (!status)
        status = golden_bundle_network(d->bundle, &d->graph, &d->scheme, &is_preset, err);
    if (!status)
        status = run_program_make_with(d->graph, d->scheme, &o, &d->program, err);
    if (status)
        return status;
    const assay_bundle *b = d->bundle;
    for (int i = 0; i < b->n_tensors; i++)
        d->n_samples += i == 0 || b->tensor[i].sample != b->tensor[i - 1].sample;
    d->sequence = json_is_true(json_object_get(b->manifest, "sequence"));
    d->index = calloc((size_t)d->graph->n_values + 1, sizeof *d->index);
    d->number = calloc((size_t)d->n_samples + 1, sizeof *d->number);
    d->tensor = calloc((size_t)d->n_samples * (size_t)d->graph->n_values + 1, sizeof *d->tensor);
    if (!d->index || !d->number || !d->tensor)
        return assay_out_of_memory(err);
    golden_bundle_number(d->graph, d->index);
    return ASSAY_OK;
}

static bool has_sums(const reading *r)
{
    for (int i = 0; i < r->dumps.n; i++)
        if (r->dumps.dump[i].kind == ASSAY_DUMP_SUMS)
            return true;
    return false;
}

assay_status blame_device_open(const char *golden, const char *device, unsigned hex_bits,
                               int threads, blame_device *out, assay_error *err)
{
    reading r = {.d = out, .path = device};
    *out = (blame_device){0};
    assay_status status = open_golden(out, golden, threads, err);
    if (!status && device)
        status = open_device(&r, hex_bits, err);
    if (!status)
        status = read_tensors(&r, err);
    if (!status)
        status = blame_layouts_arrange(out, r.layouts, err);
    if (!status && device && out->dumped == 0)
        status =
            assay_fail(err, ASSAY_ERR_INPUT,
                       "nothing to blame: %s has no dump of any tensor of %s%s", device, golden,
                       has_sums(&r) ? "; it has accumulators, but the bundle was written "
                                      "without `accumulators`"
                                    : "");
    if (!status && device) {
        out->extra = r.other ? golden_extra_tensors(r.other, out->bundle)
                             : golden_extra_dumps(&r.dumps, out->bundle, true);
        status = out->extra ? ASSAY_OK : assay_out_of_memory(err);
    }
    if (!status && device)
        status = blame_device_numbers(out, r.other, &r.dumps, err);
    if (!status && device && !(out->unread = golden_extra_unread(&r.dumps, out->bundle, true)))
        status = assay_out_of_memory(err);
    golden_bundle_free(r.other);
    golden_dumps_close(&r.dumps);
    if (status)
        blame_device_close(out);
    return status;
}

assay_status blame_device_add(blame_device *d, const char *folder, assay_error *err)
{
    reading r = {.d = d, .path = folder};
    int sample = -1;
    assay_status status = golden_dumps_open(folder, 0, &r.dumps, err);
    for (int i = 0; i < d->bundle->n_tensors && !status; i++) {
        const assay_bundle_tensor *t = &d->bundle->tensor[i];
        int v = 0;
        sample += i == 0 || t->sample != d->bundle->tensor[i - 1].sample;
        while (d->index[v] != t->index)
            v++;
        blame_tensor *to = blame_at(d, sample, v);
        if (!to->device && !to->sums)
            status = read_device(&r, i, to, err);
    }
    golden_dumps_close(&r.dumps);
    if (status)
        blame_device_close(d);
    return status;
}

void blame_device_trust(blame_device *d)
{
    for (int i = 0; i < d->n_samples * d->graph->n_values; i++)
        d->tensor[i].believed = d->tensor[i].golden;
}

void blame_device_close(blame_device *d)
{
    for (int s = 0; d->tensor && s < d->n_samples; s++)
        for (int v = 0; v < d->graph->n_values; v++) {
            blame_tensor *t = blame_at(d, s, v);
            free(t->golden);
            free(t->device);
            free(t->mask);
            free(t->replayed);
            free(t->merged);
            free(t->caused);
            free(t->sums);
            free(t->golden_sums);
            free(t->replayed_sums);
            free(t->beside);
            free(t->slack);
        }
    free(d->tensor);
    json_decref(d->extra);
    json_decref(d->unread);
    json_decref(d->numbers);
    for (int v = 0; d->constant && v < d->graph->n_values; v++)
        free(d->constant[v]);
    free(d->constant);
    free(d->number);
    free(d->index);
    assay_program_free(d->program);
    assay_scheme_free(d->scheme);
    assay_graph_free(d->graph);
    golden_bundle_free(d->bundle);
    *d = (blame_device){0};
}
