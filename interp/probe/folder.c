/* One folder of probes: networks in their forms, inputs, bundles, probe.json. */
#include "interp/probe/folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/core/slurp.h"
#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/page/json.h"
#include "interp/run/model.h"

#define PROBE_PATH (4096 + 320)

/* ---- one network ---- */

static assay_status make_folder(const char *path, assay_error *err)
{
    if (mkdir(path, 0777) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
}

assay_status probe_folder_make(const probe_folder *w, const char *op, const char *name,
                               assay_error *err)
{
    char path[PROBE_PATH];
    snprintf(path, sizeof path, "%s/%s/%s", w->dir, op, name);
    return make_folder(path, err);
}

static assay_status save_forms(const probe_folder *w, const char *op, const assay_graph *g,
                               char *missing, size_t size, assay_error *err)
{
    const struct {
        const char *name, *ending;
        bool wanted;
    } forms[] = {
        {"text", "assay", w->text}, {"ONNX", "onnx", w->onnx}, {"TFLite", "tflite", w->tflite}};
    const bool all = !w->text && !w->onnx && !w->tflite;
    missing[0] = '\0';
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[PROBE_PATH];
        assay_error why;
        if (!all && !forms[i].wanted)
            continue;
        snprintf(path, sizeof path, "%s/%s/%s.%s", w->dir, op, op, forms[i].ending);
        const assay_status status = run_model_save(g, path, &why);
        if (status == ASSAY_ERR_MEMORY || status == ASSAY_ERR_IO) {
            if (err)
                *err = why;
            return status;
        }
        const size_t used = strlen(missing);
        if (status)
            snprintf(missing + used, size - used, "%s%s", used ? ", " : "", forms[i].name);
    }
    return ASSAY_OK;
}

static assay_status save_inputs(const probe_folder *w, const char *op, const probe_net *n,
                                assay_error *err)
{
    char path[PROBE_PATH];
    assay_status status = probe_folder_make(w, op, "inputs", err);
    for (int i = 0; i < n->n_inputs && !status; i++) {
        const assay_value *v = &n->graph->value[n->input[i]];
        snprintf(path, sizeof path, "%s/%s/inputs/%s.npy", w->dir, op, v->name);
        status = golden_dump_npy(path, &v->type, n->data[i], err);
    }
    return status;
}

static assay_status run_bundle(const probe_folder *w, const char *op, const probe_net *n,
                               const assay_program *program, assay_error *err)
{
    char path[PROBE_PATH];
    assay_bundle_writer *writer = NULL;
    assay_run *run = NULL;
    snprintf(path, sizeof path, "%s/%s/golden", w->dir, op);
    const assay_bundle_options o = {.dir = path, .samples = 1, .model_file = op};
    assay_status status = golden_bundle_begin(&o, program, &writer, err);
    if (!status)
        status = assay_run_new(program, &run, err);
    for (int i = 0; i < n->n_inputs && !status; i++)
        memcpy(assay_run_data(run, n->input[i]), n->data[i],
               assay_type_bytes(&n->graph->value[n->input[i]].type));
    if (!status)
        status = golden_bundle_sample(writer, run, 0, NULL, err);
    assay_run_free(run);
    if (!status)
        return golden_bundle_commit(writer, NULL, err);
    golden_bundle_abort(writer);
    return status;
}

static assay_status try_scheme(const probe_folder *w, const char *op, const probe_net *n,
                               const assay_scheme *scheme, assay_error *err)
{
    const assay_program_options o = {.keep_all = true, .engine = ASSAY_ENGINE_FAST, .threads = 1};
    assay_program *program = NULL;
    assay_status status = run_program_make_with(n->graph, scheme, &o, &program, err);
    if (!status)
        status = run_bundle(w, op, n, program, err);
    assay_program_free(program);
    return status;
}

static assay_status try_preset(const probe_folder *w, const char *op, const probe_net *n,
                               const char *name, assay_error *err)
{
    assay_scheme *scheme;
    assay_status status = assay_scheme_open(name, &scheme, err);
    if (status)
        return status;
    status = try_scheme(w, op, n, scheme, err);
    assay_scheme_free(scheme);
    return status;
}

/* The bundle under the scheme that was asked for; where that has no such op in integers, the types'
 * own, then the first preset that has. */
static assay_status save_bundle(const probe_folder *w, const char *op, const probe_net *n,
                                const char **scheme, assay_error *err)
{
    const char *const *preset = assay_scheme_presets();
    assay_status status = ASSAY_ERR_UNSUPPORTED;
    if (w->scheme)
        status = try_scheme(w, op, n, w->scheme, err);
    *scheme = w->scheme ? w->scheme->name : "";
    if (status == ASSAY_ERR_SCHEME || status == ASSAY_ERR_UNSUPPORTED)
        status = try_preset(w, op, n, *scheme = w->types->scheme, err);
    for (; *preset && (status == ASSAY_ERR_SCHEME || status == ASSAY_ERR_UNSUPPORTED); preset++)
        status = try_preset(w, op, n, *scheme = *preset, err);
    return status;
}

/* ---- probe.json ---- */

static json_t *json_value(const char *op, const probe_net *n, int value, const char *about)
{
    const assay_value *v = &n->graph->value[value];
    json_t *o = golden_json_type(&v->type);
    char path[320];
    page_json_set(&o, "name", page_json_text(v->name));
    if (about) {
        page_json_set(&o, "asks", json_string(about));
    } else {
        snprintf(path, sizeof path, "%s/inputs/%s.npy", op, v->name);
        page_json_set(&o, "file", json_string(path));
    }
    return o;
}

static void note(const probe_folder *w, const char *op, const probe_net *n, const char *missing,
                 const char *scheme)
{
    json_t *o = json_object(), *inputs = json_array(), *outputs = json_array();
    for (int i = 0; i < n->n_inputs; i++)
        page_json_add(&inputs, json_value(op, n, n->input[i], NULL));
    for (int i = 0; i < n->n_outputs; i++)
        page_json_add(&outputs, json_value(op, n, n->output[i], n->about[i]));
    page_json_set(&o, "op", json_string(op));
    page_json_set(&o, "not_in", json_string(missing));
    page_json_set(&o, "scheme", json_string(scheme));
    page_json_set(&o, "inputs", inputs);
    page_json_set(&o, "outputs", outputs);
    page_json_add(w->networks, o);
}

/* ---- all ---- */

assay_status probe_folder_add(const probe_folder *w, const char *op, const probe_net *asked,
                              const probe_net *whole, assay_error *err)
{
    char path[PROBE_PATH], missing[64] = "";
    const char *scheme = "";
    snprintf(path, sizeof path, "%s/%s", w->dir, op);
    assay_status status = make_folder(path, err);
    if (!status && asked->n_outputs > 0)
        status = save_forms(w, op, asked->graph, missing, sizeof missing, err);
    if (!status && asked->n_outputs > 0)
        status = save_inputs(w, op, asked, err);
    if (!status)
        status = save_bundle(w, op, whole, &scheme, err);
    if (!status && asked->n_outputs > 0) {
        note(w, op, asked, missing, scheme);
        w->told(w->user, op, missing, scheme);
    }
    return status;
}

static assay_status write_index(const probe_folder *w, assay_error *err)
{
    char path[PROBE_PATH];
    json_t *o = json_object();
    page_json_set(&o, "probe", json_integer(1));
    page_json_set(&o, "types", json_string(w->types->name));
    page_json_set(&o, "seed", json_integer((json_int_t)w->seed));
    if (w->among)
        page_json_set(&o, "among", json_string(w->among));
    page_json_set(&o, "networks", json_incref(*w->networks));
    snprintf(path, sizeof path, "%s/probe.json", w->dir);
    const assay_status status = page_json_write(path, o, err);
    json_decref(o);
    return status;
}

json_t *probe_folder_index(const char *dir)
{
    char path[PROBE_PATH];
    unsigned char *bytes;
    size_t size;
    snprintf(path, sizeof path, "%.4000s/probe.json", dir);
    if (assay_slurp_max(path, 1 << 20, &bytes, &size, NULL))
        return NULL;
    json_t *index = json_loadb((const char *)bytes, size, 0, NULL);
    free(bytes);
    return index;
}

assay_status probe_among(const char *dir, char **list, assay_error *err)
{
    json_t *index = probe_folder_index(dir);
    const char *among = json_string_value(json_object_get(index, "among"));
    *list = among ? strdup(among) : NULL;
    json_decref(index);
    return among && !*list ? assay_out_of_memory(err) : ASSAY_OK;
}

/* A folder of one that was killed: nothing in it but folders named as networks are. */
static bool is_partial(const char *folder)
{
    DIR *dir = opendir(folder);
    bool ours = dir != NULL;
    for (struct dirent *e; ours && (e = readdir(dir));) {
        const probe_network *p = probe_networks;
        while (p->name && strcmp(p->name, e->d_name) != 0)
            p++;
        ours = p->name || strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
               strncmp(e->d_name, "probe.json", 10) == 0;
    }
    if (dir)
        closedir(dir);
    return ours;
}

assay_status probe_folder_write(probe_folder *w, const char *dir, probe_filler *fill, void *user,
                                assay_error *err)
{
    json_t *networks = json_array();
    assay_partial partial;
    if (!networks)
        return assay_out_of_memory(err);
    assay_status status = file_new_folder(dir, is_partial, &partial, err);
    if (status) {
        json_decref(networks);
        return status;
    }
    w->dir = partial.path;
    w->networks = &networks;
    status = fill(w, user, err);
    if (!status)
        status = write_index(w, err);
    json_decref(networks);
    return file_new_folder_end(&partial, dir, status, err);
}
