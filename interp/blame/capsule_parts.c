/* The contents of a capsule's folder: the node with the device's inputs as a bundle, and the
 * device's side. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/memory.h"
#include "interp/blame/capsule_parts.h"
#include "interp/run/model.h"

void blame_capsule_join(const blame_capsule_parts *c, const char *part,
                        char path[BLAME_CAPSULE_PATH])
{
    snprintf(path, BLAME_CAPSULE_PATH, "%s/%s", c->dir, part);
}

const assay_node *blame_capsule_node(const blame_capsule_parts *c)
{
    return &c->r->device.graph->node[c->r->row[c->row].node];
}

const assay_type *blame_capsule_type(const blame_capsule_parts *c)
{
    return &c->r->device.graph->value[c->r->row[c->row].value].type;
}

static bool case_of(const blame_capsule_parts *c, int k, const blame_cut *cut, assay_arena *arena,
                    blame_case *to)
{
    const blame_device *d = &c->r->device;
    const assay_node *n = blame_capsule_node(c);
    const void *in[BLAME_IN] = {NULL};
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] != ASSAY_NO_VALUE)
            in[i] = blame_at(d, k, n->in[i])->believed;
    blame_case_fill(to, d->graph, n, d->scheme, in, arena);
    to->keep_all = to->plain = true;
    return blame_case_axes(to) == 0 || blame_case_cut(to, cut);
}

/* Part of a tensor of the output's type. */
static void *part_of(const blame_capsule_parts *c, const blame_cut *cut, const void *data,
                     assay_type t, assay_arena *arena)
{
    for (int k = 0; k < blame_capsule_type(c)->rank && data; k++) {
        const int64_t n = cut->end[k] - cut->first[k];
        if (n == t.dim[k])
            continue;
        data = blame_slice(arena, &t, data, k, cut->first[k], n);
        t.dim[k] = n;
    }
    return (void *)(uintptr_t)data;
}

/* ---- the device's side ---- */

static assay_status put_tensor(const blame_capsule_parts *c, const assay_bundle_tensor *t,
                               const void *data, const char *end, bool several, assay_error *err)
{
    char part[512], path[BLAME_CAPSULE_PATH], stem[ASSAY_BUNDLE_STEM];
    assay_type type = t->type;
    if (end[0])
        type.elem = assay_bool();
    golden_bundle_stem(t->index, t->op, t->name, stem);
    if (several) {
        snprintf(part, sizeof part, "device/s%05" PRId64, t->sample);
        blame_capsule_join(c, part, path);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return assay_fail(err, ASSAY_ERR_IO, "%.3000s: %s", path, strerror(errno));
        snprintf(part, sizeof part, "device/s%05" PRId64 "/%.240s%s.npy", t->sample, stem, end);
    } else {
        snprintf(part, sizeof part, "device/%.240s%s.npy", stem, end);
    }
    blame_capsule_join(c, part, path);
    return golden_dump_npy(path, &type, data, err);
}

static assay_status put_output(const blame_capsule_parts *c, const blame_cut *cut, int k,
                               const assay_bundle_tensor *t, bool several, assay_error *err)
{
    const blame_tensor *at = blame_at(&c->r->device, k, c->r->row[c->row].value);
    assay_arena *arena = assay_arena_new();
    assay_type bytes = *blame_capsule_type(c);
    bytes.elem = assay_bool();
    const void *data = arena ? part_of(c, cut, at->device, *blame_capsule_type(c), arena) : NULL;
    const void *mask = arena && at->mask ? part_of(c, cut, at->mask, bytes, arena) : NULL;
    assay_status status = data && (mask || !at->mask) ? put_tensor(c, t, data, "", several, err)
                                                      : assay_out_of_memory(err);
    if (!status && mask)
        status = put_tensor(c, t, mask, ".mask", several, err);
    assay_arena_free(arena);
    return status;
}

/* Every tensor of the bundle: inputs as they are in it, for they are the device's; outputs. */
assay_status blame_capsule_device(const blame_capsule_parts *c, const blame_cut *cut,
                                  const int *sample, assay_error *err)
{
    assay_bundle *b;
    char path[BLAME_CAPSULE_PATH];
    blame_capsule_join(c, "device", path);
    if (mkdir(path, 0777) != 0)
        return assay_fail(err, ASSAY_ERR_IO, "%.3000s: %s", path, strerror(errno));
    blame_capsule_join(c, "golden", path);
    assay_status status = golden_bundle_open(path, &b, err);
    if (status)
        return status;
    for (int i = 0; i < b->n_tensors && !status; i++) {
        const assay_bundle_tensor *t = &b->tensor[i];
        const bool several = b->tensor[b->n_tensors - 1].sample > 0;
        void *data = NULL;
        if (strcmp(t->name, c->r->device.graph->value[c->r->row[c->row].value].name) == 0) {
            status = put_output(c, cut, sample[t->sample], t, several, err);
            continue;
        }
        status = golden_bundle_read(b, i, &data, err);
        if (!status)
            status = put_tensor(c, t, data, "", several, err);
        free(data);
    }
    golden_bundle_free(b);
    return status;
}

/* ---- the golden side ---- */

static assay_status run_sample(const blame_case *k, const blame_built *b, assay_bundle_writer *w,
                               int64_t number, assay_error *err)
{
    assay_run *run;
    assay_status status = assay_run_new(b->program, &run, err);
    if (status)
        return status;
    for (int i = 0, n = 0; i < k->n_in; i++)
        if (k->in[i].elem.kind != ASSAY_KIND_NONE && !k->constant[i])
            memcpy(assay_run_data(run, b->graph->input[n++]), k->data[i],
                   assay_type_bytes(&k->in[i]));
    status = golden_bundle_sample(w, run, number, NULL, err);
    assay_run_free(run);
    return status;
}

static assay_status save(const blame_capsule_parts *c, const assay_graph *g, const char *file,
                         const char *form, assay_error *err)
{
    char path[BLAME_CAPSULE_PATH];
    assay_error why;
    blame_capsule_join(c, file, path);
    const assay_status status = run_model_save(g, path, &why);
    if (status == ASSAY_ERR_MEMORY || status == ASSAY_ERR_IO) {
        if (err)
            *err = why;
        return status;
    }
    const size_t used = strlen(c->out->missing);
    if (status) /* the form has no such op, or no such types */
        snprintf(c->out->missing + used, sizeof c->out->missing - used, "%s%s", used ? ", " : "",
                 form);
    return ASSAY_OK;
}

static assay_status save_all(const blame_capsule_parts *c, const assay_graph *g, assay_error *err)
{
    c->out->missing[0] = 0;
    assay_status status = save(c, g, "node.assay", "text", err);
    if (!status)
        status = save(c, g, "node.onnx", "ONNX", err);
    return status ? status : save(c, g, "node.tflite", "TFLite", err);
}

assay_status blame_capsule_golden(const blame_capsule_parts *c, const blame_cut *cut,
                                  const int *sample, int n, assay_error *err)
{
    assay_arena *arena = assay_arena_new();
    blame_case k;
    blame_built b = {0};
    assay_bundle_writer *w = NULL;
    char path[BLAME_CAPSULE_PATH];
    blame_capsule_join(c, "golden", path);
    const assay_bundle_options o = {
        .dir = path, .samples = n, .model_file = c->r->device.graph->name};
    assay_status status =
        arena && case_of(c, sample[0], cut, arena, &k) ? ASSAY_OK : assay_out_of_memory(err);
    if (!status)
        status = blame_case_build(&k, &b, err);
    if (!status)
        status = save_all(c, b.graph, err);
    if (!status)
        status = golden_bundle_begin(&o, b.program, &w, err);
    for (int i = 0; i < n && !status; i++) {
        blame_case next;
        status = case_of(c, sample[i], cut, arena, &next) ? run_sample(&next, &b, w, i, err)
                                                          : assay_out_of_memory(err);
    }
    if (!status)
        status = golden_bundle_commit(w, NULL, err);
    else
        golden_bundle_abort(w);
    blame_case_drop(&b);
    assay_arena_free(arena);
    return status;
}
