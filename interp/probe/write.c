/* The folder of probes: networks in their forms, inputs, bundles, probe.json. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/files/files.h"
#include "graph/files/partial.h"
#include "graph/memory.h"
#include "interp/golden/bundle.h"
#include "interp/page/json.h"
#include "interp/probe/makers.h"
#include "interp/probe/probe.h"
#include "interp/run/model.h"

#define PROBE_PATH (4096 + 320)

const probe_network probe_networks[] = {
#define PROBE(name, maker) {#name, probe_##maker},
#include "interp/probe/networks.def"
    {NULL, NULL},
};

typedef struct writing {
    const probe_options *o;
    const probe_types *types;
    const char *dir; /* the partial folder */
    probe_told *told;
    void *user;
    json_t *networks;
} writing;

/* ---- one network ---- */

static assay_status make_folder(const char *path, assay_error *err)
{
    if (mkdir(path, 0777) == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_IO, "%s: %s", path, strerror(errno));
}

static assay_status make(const writing *w, const probe_network *p, probe_net *n, assay_error *err)
{
    *n = (probe_net){.types = w->types, .err = err, .random = {w->o->seed}};
    n->status = assay_graph_new(p->name, &n->graph, err);
    if (!n->status)
        p->make(n, p->name);
    if (!n->status)
        n->status = assay_graph_set_inputs(n->graph, n->input, n->n_inputs, err);
    if (!n->status)
        n->status = assay_graph_set_outputs(n->graph, n->output, n->n_outputs, err);
    return !n->status ? assay_graph_verify(n->graph, err) : n->status;
}

static assay_status save_forms(const writing *w, const probe_network *p, const assay_graph *g,
                               char *missing, size_t size, assay_error *err)
{
    const struct {
        const char *name, *ending;
        bool wanted;
    } forms[] = {{"text", "assay", w->o->text},
                 {"ONNX", "onnx", w->o->onnx},
                 {"TFLite", "tflite", w->o->tflite}};
    const bool all = !w->o->text && !w->o->onnx && !w->o->tflite;
    missing[0] = '\0';
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        char path[PROBE_PATH];
        assay_error why;
        if (!all && !forms[i].wanted)
            continue;
        snprintf(path, sizeof path, "%s/%s/%s.%s", w->dir, p->name, p->name, forms[i].ending);
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

static assay_status save_inputs(const writing *w, const probe_network *p, const probe_net *n,
                                assay_error *err)
{
    char path[PROBE_PATH];
    snprintf(path, sizeof path, "%s/%s/inputs", w->dir, p->name);
    assay_status status = make_folder(path, err);
    for (int i = 0; i < n->n_inputs && !status; i++) {
        const assay_value *v = &n->graph->value[n->input[i]];
        snprintf(path, sizeof path, "%s/%s/inputs/%s.npy", w->dir, p->name, v->name);
        status = golden_dump_npy(path, &v->type, n->data[i], err);
    }
    return status;
}

static assay_status run_bundle(const writing *w, const probe_network *p, const probe_net *n,
                               const assay_program *program, assay_error *err)
{
    char path[PROBE_PATH];
    assay_bundle_writer *writer = NULL;
    assay_run *run = NULL;
    snprintf(path, sizeof path, "%s/%s/golden", w->dir, p->name);
    const assay_bundle_options o = {.dir = path, .samples = 1, .model_file = p->name};
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

static assay_status try_scheme(const writing *w, const probe_network *p, const probe_net *n,
                               const char *name, assay_error *err)
{
    const assay_program_options o = {.keep_all = true, .engine = ASSAY_ENGINE_FAST, .threads = 1};
    assay_scheme *scheme = NULL;
    assay_program *program = NULL;
    assay_status status = assay_scheme_open(name, &scheme, err);
    if (!status)
        status = run_program_make_with(n->graph, scheme, &o, &program, err);
    if (!status)
        status = run_bundle(w, p, n, program, err);
    assay_program_free(program);
    assay_scheme_free(scheme);
    return status;
}

/* The bundle under the scheme that was asked for; where that has no such op in integers, the types'
 * own, then the first preset that has. */
static assay_status save_bundle(const writing *w, const probe_network *p, const probe_net *n,
                                const char **scheme, assay_error *err)
{
    const char *const *preset = assay_scheme_presets();
    *scheme = w->o->scheme ? w->o->scheme : w->types->scheme;
    assay_status status = try_scheme(w, p, n, *scheme, err);
    if ((status == ASSAY_ERR_SCHEME || status == ASSAY_ERR_UNSUPPORTED) && w->o->scheme)
        status = try_scheme(w, p, n, *scheme = w->types->scheme, err);
    for (; *preset && (status == ASSAY_ERR_SCHEME || status == ASSAY_ERR_UNSUPPORTED); preset++)
        status = try_scheme(w, p, n, *scheme = *preset, err);
    return status;
}

/* ---- probe.json ---- */

static json_t *json_value(const probe_network *p, const probe_net *n, int value, const char *about)
{
    const assay_value *v = &n->graph->value[value];
    json_t *o = golden_json_type(&v->type);
    char path[320];
    page_json_set(&o, "name", page_json_text(v->name));
    if (about) {
        page_json_set(&o, "asks", json_string(about));
    } else {
        snprintf(path, sizeof path, "%s/inputs/%s.npy", p->name, v->name);
        page_json_set(&o, "file", json_string(path));
    }
    return o;
}

static void note(writing *w, const probe_network *p, const probe_net *n, const char *missing,
                 const char *scheme)
{
    json_t *o = json_object(), *inputs = json_array(), *outputs = json_array();
    for (int i = 0; i < n->n_inputs; i++)
        page_json_add(&inputs, json_value(p, n, n->input[i], NULL));
    for (int i = 0; i < n->n_outputs; i++)
        page_json_add(&outputs, json_value(p, n, n->output[i], n->about[i]));
    page_json_set(&o, "op", json_string(p->name));
    page_json_set(&o, "not_in", json_string(missing));
    page_json_set(&o, "scheme", json_string(scheme));
    page_json_set(&o, "inputs", inputs);
    page_json_set(&o, "outputs", outputs);
    page_json_add(&w->networks, o);
}

/* ---- all ---- */

static assay_status write_network(writing *w, const probe_network *p, assay_error *err)
{
    char path[PROBE_PATH], missing[64];
    const char *scheme = "";
    probe_net n;
    assay_status status = make(w, p, &n, err);
    snprintf(path, sizeof path, "%s/%s", w->dir, p->name);
    if (!status)
        status = make_folder(path, err);
    if (!status)
        status = save_forms(w, p, n.graph, missing, sizeof missing, err);
    if (!status)
        status = save_inputs(w, p, &n, err);
    if (!status)
        status = save_bundle(w, p, &n, &scheme, err);
    if (!status) {
        note(w, p, &n, missing, scheme);
        w->told(w->user, p->name, missing, scheme);
    }
    assay_graph_free(n.graph);
    return status;
}

/* Is `op` one of a list parted by commas? */
static bool is_in(const char *list, const char *op)
{
    const size_t length = strlen(op);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, op, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

static assay_status check_ops(const char *list, assay_error *err)
{
    char names[512] = "";
    size_t used = 0;
    for (const probe_network *p = probe_networks; p->name; p++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", p->name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int length = (int)strcspn(at, ",");
        const probe_network *p = probe_networks;
        while (p->name && (strncmp(p->name, at, (size_t)length) != 0 || p->name[length] != '\0'))
            p++;
        if (!p->name)
            return assay_fail(err, ASSAY_ERR_INPUT, "no probe is called '%.*s'; there are %s",
                              length > 60 ? 60 : length, at, names);
    }
    return ASSAY_OK;
}

static assay_status write_index(const writing *w, assay_error *err)
{
    char path[PROBE_PATH];
    json_t *o = json_object();
    page_json_set(&o, "probe", json_integer(1));
    page_json_set(&o, "types", json_string(w->types->name));
    page_json_set(&o, "seed", json_integer((json_int_t)w->o->seed));
    page_json_set(&o, "networks", json_incref(w->networks));
    snprintf(path, sizeof path, "%s/probe.json", w->dir);
    const assay_status status = page_json_write(path, o, err);
    json_decref(o);
    return status;
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

static assay_status write_all(writing *w, const char *dir, assay_error *err)
{
    const bool all = !w->o->ops || strcmp(w->o->ops, "all") == 0;
    assay_partial partial;
    assay_status status = file_new_folder(dir, is_partial, &partial, err);
    if (status)
        return status;
    w->dir = partial.path;
    for (const probe_network *p = probe_networks; p->name && !status; p++)
        if (all || is_in(w->o->ops, p->name))
            status = write_network(w, p, err);
    if (!status)
        status = write_index(w, err);
    return file_new_folder_end(&partial, dir, status, err);
}

assay_status probe_write(const char *dir, const probe_options *o, probe_told *told, void *user,
                         assay_error *err)
{
    writing w = {.o = o, .types = probe_types_find(o->types), .told = told, .user = user};
    if (!w.types)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "no probes of types '%.40s'; there are s8s8, u8s8, u8u8, s16s8",
                          o->types);
    assay_status status = o->ops && strcmp(o->ops, "all") != 0 ? check_ops(o->ops, err) : ASSAY_OK;
    if (status)
        return status;
    w.networks = json_array();
    status = w.networks ? write_all(&w, dir, err) : assay_out_of_memory(err);
    json_decref(w.networks);
    return status;
}
