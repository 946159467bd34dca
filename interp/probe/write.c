/* Probes of ops: which are asked for, and their networks made. */
#include <string.h>

#include "graph/memory.h"
#include "interp/probe/folder.h"

/* ---- one network ---- */

static assay_status write_network(probe_folder *w, const probe_network *p, assay_error *err)
{
    probe_net n = {.types = w->types, .err = err, .random = {w->seed}};
    assay_status status = probe_make(p, &n);
    if (!status)
        status = probe_folder_add(w, p->name, &n, &n, err);
    assay_graph_free(n.graph);
    return status;
}

/* ---- all ---- */

/* Is `op` one of a list separated by commas? */
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

/* Each of them can be opened. */
static assay_status check_among(const char *list, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (const char *at = list; at && !status; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        char name[4096];
        assay_scheme *scheme = NULL;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        status = assay_scheme_open(name, &scheme, err);
        assay_scheme_free(scheme);
    }
    return status;
}

static assay_status write_all(probe_folder *w, void *user, assay_error *err)
{
    const char *ops = user;
    const bool all = !ops || strcmp(ops, "all") == 0;
    assay_status status = ASSAY_OK;
    for (const probe_network *p = probe_networks; p->name && !status; p++)
        if (all ? w->types->activation.bits <= p->bits : is_in(ops, p->name))
            status = write_network(w, p, err);
    return status;
}

assay_status probe_write(const char *dir, const probe_options *o, probe_told *told, void *user,
                         assay_error *err)
{
    probe_folder w = {.types = probe_types_find(o->types),
                      .seed = o->seed,
                      .among = o->among,
                      .text = o->text,
                      .onnx = o->onnx,
                      .tflite = o->tflite,
                      .told = told,
                      .user = user};
    if (!w.types)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "no probes of types '%.40s'; there are s8s8, u8s8, u8u8, s16s8",
                          o->types);
    assay_scheme *scheme = NULL;
    assay_status status = o->ops && strcmp(o->ops, "all") != 0 ? check_ops(o->ops, err) : ASSAY_OK;
    if (!status)
        status = check_among(o->among, err);
    if (!status && o->scheme)
        status = assay_scheme_open(o->scheme, &scheme, err);
    w.scheme = scheme;
    if (!status)
        status = probe_folder_write(&w, dir, write_all, (void *)(uintptr_t)o->ops, err);
    assay_scheme_free(scheme);
    return status;
}
