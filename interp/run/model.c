/* Networks from files. */
#include "interp/run/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/files/files.h"
#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "graph/text/text.h"
#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "opt/lower/opt.h"

/* What a file is, by its first bytes: text form, FlatBuffers with TFLite's identifier, or ONNX. */
enum form { FORM_TEXT, FORM_ONNX, FORM_TFLITE };

static assay_status sniff(const char *path, enum form *form, assay_error *err)
{
    char room[4096], head[8] = {0};
    const char *entry, *opened = tfl_split(path, room, &entry);
    int file;
    size_t size;
    assay_status status = assay_open_regular(opened, &file, &size, err);

    if (status)
        return status;
    const ssize_t n = read(file, head, sizeof head);
    const int cause = errno;
    close(file);
    if (n < 0)
        return assay_fail(err, ASSAY_ERR_IO, "%s: cannot read: %s", path, strerror(cause));
    if (n == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: the file is empty", path);
    if (n == 8 && memcmp(head + 4, "TFL3", 4) == 0)
        *form = FORM_TFLITE;
    else if (memcmp(head, "graph", 5) == 0 || head[0] == '#')
        *form = FORM_TEXT;
    else
        *form = FORM_ONNX;
    return ASSAY_OK;
}

/* Adds what no engine computes of the graph to the list in `all`; returns how many there are. */
static int list_without_kernel(const assay_graph *g, assay_error *all)
{
    int count = 0;

    for (int i = 0; i < g->n_subgraphs; i++)
        count += list_without_kernel(g->subgraph[i], all);
    for (int i = 0; i < g->n_nodes; i++) {
        size_t used = strlen(all->text), room = sizeof all->text - used;
        assay_error why;
        if (assay_node_is_quantized(g, &g->node[i]) ||
            !float_check_float_node(g, &g->node[i], &why))
            continue;
        count++;
        if (strlen(why.text) + 2 < room)
            snprintf(all->text + used, room, "%s%s", used ? "; " : "", why.text);
    }
    return count;
}

static assay_status check_kinds(const char *path, const assay_graph *g, assay_error *err)
{
    assay_error all = {.status = ASSAY_OK};
    int count = list_without_kernel(g, &all);

    return count ? assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%.200s: %d unsupported: %.600s", path,
                              count, all.text)
                 : ASSAY_OK;
}

static bool ends_in(const char *path, const char *suffix)
{
    const char *name = file_base_name(path);
    const size_t length = strlen(name), n = strlen(suffix);
    return length > n && strcmp(name + length - n, suffix) == 0;
}

/* What does not begin as the other forms do was tried as ONNX: of a file that is not called so,
 * that it is damaged ONNX is not what its user wants to hear. */
static assay_status no_model(const char *path, assay_error *err)
{
    if (!strstr(err->text, "not an ONNX model"))
        return err->status;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: not a network: neither text form ('graph NAME {'), nor TFLite, nor ONNX",
                      path);
}

static assay_status load(const char *path, const assay_model_options *options, assay_graph **out,
                         assay_error *err)
{
    const assay_model_options none = {0}, *o = options ? options : &none;
    const assay_onnx_options onnx = {
        .batch = o->batch, .shapes = o->shape, .n_shapes = o->n_shapes};
    enum form form = FORM_ONNX;
    assay_status status = sniff(path, &form, err);

    *out = NULL;
    if (status)
        return status;
    if (form != FORM_ONNX && (o->batch > 0 || o->n_shapes > 0))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: its shapes are fixed; only an ONNX model takes others", path);
    switch (form) {
    case FORM_TEXT:
        return run_text_load(path, out, err);
    case FORM_TFLITE:
        return tfl_import_file_with(path, o->tflite, out, err);
    default:
        status = onnx_import_file(path, &onnx, out, err);
        return status == ASSAY_ERR_INPUT && !ends_in(path, ".onnx") ? no_model(path, err) : status;
    }
}

assay_status run_model_load(const char *path, const assay_model_options *options, assay_graph **out,
                            assay_error *err)
{
    assay_status status = load(path, options, out, err);

    if (!status && (status = check_kinds(path, *out, err))) {
        assay_graph_free(*out);
        *out = NULL;
    }
    return status;
}

bool run_model_is_onnx(const char *path)
{
    enum form form;
    return !sniff(path, &form, NULL) && form == FORM_ONNX;
}

bool run_model_is_quantized(const assay_graph *g)
{
    for (int n = 0; n < g->n_nodes; n++)
        if (assay_node_is_quantized(g, &g->node[n]))
            return true;
    return false;
}

assay_status run_model_load_canonical(const char *path, const assay_model_options *options,
                                      assay_graph **out, assay_error *err)
{
    assay_status status = run_model_load(path, options, out, err);

    if (!status && !run_model_is_quantized(*out)) {
        if (!options || !options->keep_narrow)
            status = lower_drop_narrowing(*out, err);
        if (!status)
            status = lower_canonicalize(*out, run_evaluate_node, err);
        if (status) {
            assay_graph_free(*out);
            *out = NULL;
        }
    }
    return status;
}

typedef assay_status (*export_fn)(const assay_graph *g, unsigned char **bytes, size_t *length,
                                  assay_error *err);

static assay_status save_bytes(const assay_graph *g, export_fn export, const char *path,
                               assay_error *err)
{
    unsigned char *bytes = NULL;
    size_t length = 0;
    assay_status status = export(g, &bytes, &length, err);

    if (!status)
        status = file_write_file(path, bytes, length, err);
    free(bytes);
    return status;
}

assay_status run_model_check_ending(const char *path, assay_error *err)
{
    if (ends_in(path, ".assay") || ends_in(path, ".onnx") || ends_in(path, ".tflite") ||
        file_is_stream(path))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: cannot tell the form to write by this name; it ends in .assay (text "
                      "form), .onnx or .tflite",
                      path);
}

assay_status run_model_save(const assay_graph *g, const char *path, assay_error *err)
{
    const assay_status status = run_model_check_ending(path, err);

    if (status)
        return status;
    if (ends_in(path, ".onnx"))
        return save_bytes(g, onnx_export_graph, path, err);
    if (ends_in(path, ".tflite"))
        return save_bytes(g, tfl_export_graph, path, err);
    return run_text_save(g, path, err);
}
