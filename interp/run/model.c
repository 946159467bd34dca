/* Networks from files. */
#include "interp/run/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/outputs.h"
#include "graph/core/slurp.h"
#include "graph/files/files.h"
#include "graph/memory.h"
#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "graph/text/text.h"
#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "opt/lower/opt.h"

/* Text form, FlatBuffers with TFLite's identifier, or ONNX. */
enum assay_model_form run_model_form(const void *head, size_t n)
{
    const char *text = head;
    if (n >= 8 && memcmp(text + 4, "TFL3", 4) == 0)
        return ASSAY_MODEL_TFLITE;
    return (n >= 5 && memcmp(text, "graph", 5) == 0) || (n > 0 && text[0] == '#')
               ? ASSAY_MODEL_TEXT
               : ASSAY_MODEL_ONNX;
}

assay_status run_model_file_form(const char *path, enum assay_model_form *form, assay_error *err)
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
    *form = run_model_form(head, (size_t)n);
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

/* Shapes are asked for; of another form than ONNX they are what they are. */
static assay_status check_shapes(const char *path, const assay_model_options *o,
                                 enum assay_model_form form, assay_error *err)
{
    if (form == ASSAY_MODEL_ONNX || (o->batch <= 0 && o->n_shapes == 0 && o->n_fixed == 0))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: its shapes are fixed; shapes can be given for ONNX models only", path);
}

static assay_onnx_options onnx_options(const assay_model_options *o)
{
    return (assay_onnx_options){.batch = o->batch,
                                .shapes = o->shape,
                                .n_shapes = o->n_shapes,
                                .fixed = o->fixed,
                                .n_fixed = o->n_fixed,
                                .sample = o->sample};
}

/* Gives the outputs of an imported network the names that they have here. Frees *out where that is
 * a failure. */
static assay_status end_import(assay_status status, assay_graph **out, assay_error *err)
{
    if (!status && (status = assay_outputs_from_file(*out, err))) {
        assay_graph_free(*out);
        *out = NULL;
    }
    return status;
}

static assay_status load(const char *path, const assay_model_options *options, assay_graph **out,
                         assay_error *err)
{
    const assay_model_options none = {0}, *o = options ? options : &none;
    const assay_onnx_options onnx = onnx_options(o);
    const assay_tflite_options tflite = {.sample = o->sample, .hybrid = o->hybrid};
    enum assay_model_form form = ASSAY_MODEL_ONNX;
    assay_status status = run_model_file_form(path, &form, err);

    *out = NULL;
    if (!status)
        status = check_shapes(path, o, form, err);
    if (status)
        return status;
    switch (form) {
    case ASSAY_MODEL_TEXT:
        return run_text_load(path, out, err);
    case ASSAY_MODEL_TFLITE:
        return end_import(tfl_import_file_with(path, &tflite, out, err), out, err);
    default:
        status = end_import(onnx_import_file(path, &onnx, out, err), out, err);
        return err && status == ASSAY_ERR_INPUT && !ends_in(path, ".onnx") ? no_model(path, err)
                                                                           : status;
    }
}

static assay_status load_memory(const char *name, const void *bytes, size_t size,
                                const assay_model_options *o, assay_graph **out, assay_error *err)
{
    const assay_onnx_options onnx = onnx_options(o);
    const assay_tflite_options tflite = {.sample = o->sample, .hybrid = o->hybrid};
    const enum assay_model_form form = run_model_form(bytes, size);
    const assay_status status =
        size > 0 ? check_shapes(name, o, form, err)
                 : assay_fail(err, ASSAY_ERR_INPUT, "%s: the model is empty", name);

    *out = NULL;
    if (status)
        return status;
    if (form == ASSAY_MODEL_TEXT)
        return text_graph_parse(bytes, size, name, NULL, out, err);
    if (form == ASSAY_MODEL_TFLITE)
        return end_import(tfl_import_entry(name, NULL, bytes, size, &tflite, out, err), out, err);
    return end_import(onnx_import_memory(name, bytes, size, &onnx, out, err), out, err);
}

/* Frees *out where status, or what no engine computes of it, is a failure. */
static assay_status end_load(assay_status status, const char *path, assay_graph **out,
                             assay_error *err)
{
    if (!status && (status = check_kinds(path, *out, err))) {
        assay_graph_free(*out);
        *out = NULL;
    }
    return status;
}

assay_status run_model_load(const char *path, const assay_model_options *options, assay_graph **out,
                            assay_error *err)
{
    return end_load(load(path, options, out, err), path, out, err);
}

bool run_model_is_onnx(const char *path)
{
    enum assay_model_form form;
    return !run_model_file_form(path, &form, NULL) && form == ASSAY_MODEL_ONNX;
}

bool run_model_is_quantized(const assay_graph *g)
{
    for (int n = 0; n < g->n_nodes; n++)
        if (assay_node_is_quantized(g, &g->node[n]) || g->node[n].op == ASSAY_OP_SCALED_MATMUL)
            return true;
    return false;
}

bool run_model_is_float(const assay_graph *g)
{
    for (int n = 0; n < g->n_nodes; n++) {
        const assay_node *node = &g->node[n];
        const bool decodes =
            node->op == ASSAY_OP_DEQUANTIZE && assay_node_in(g, node, 0)->data != NULL;
        if (node->op == ASSAY_OP_SCALED_MATMUL || (assay_node_is_quantized(g, node) && !decodes))
            return false;
    }
    return true;
}

static assay_status to_canonical(assay_status status, const assay_model_options *options,
                                 assay_graph **out, assay_error *err)
{
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

assay_status run_model_decode(assay_graph **g, const assay_model_options *options, bool canonical,
                              assay_error *err)
{
    int changed;
    if (!run_model_is_quantized(*g) || !run_model_is_float(*g))
        return ASSAY_OK;
    const assay_status status = lower_fold_codes(*g, run_evaluate_node, &changed, err);
    if (!status)
        return canonical ? to_canonical(ASSAY_OK, options, g, err) : ASSAY_OK;
    assay_graph_free(*g);
    *g = NULL;
    return status;
}

assay_status run_model_load_canonical(const char *path, const assay_model_options *options,
                                      assay_graph **out, assay_error *err)
{
    return to_canonical(run_model_load(path, options, out, err), options, out, err);
}

assay_status run_model_load_memory(const char *name, const void *bytes, size_t size,
                                   const assay_model_options *options, bool canonical,
                                   assay_graph **out, assay_error *err)
{
    const assay_model_options none = {0}, *o = options ? options : &none;
    const assay_status status =
        end_load(load_memory(name, bytes, size, o, out, err), name, out, err);
    return canonical ? to_canonical(status, o, out, err) : status;
}

assay_status run_model_parse_shape(const char *text, assay_onnx_shape *shape, char **name,
                                   assay_error *err)
{
    const char *equals = strrchr(text, '='), *s = equals ? equals + 1 : "";

    for (shape->rank = 0; *s && shape->rank < ASSAY_MAX_RANK; shape->rank++) {
        char *end;
        const long long extent = *s >= '0' && *s <= '9' ? strtoll(s, &end, 10) : -1;
        if (extent < 0 || extent > INT32_MAX || (*end && (*end != 'x' || !end[1])))
            break;
        shape->dim[shape->rank] = extent;
        s = end + (*end == 'x');
    }
    if (!equals || equals == text || *s)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "shape takes INPUT=DIMS, such as x=1x3x64x64, not '%s'", text);
    *name = strndup(text, (size_t)(equals - text));
    shape->input = *name;
    return *name ? ASSAY_OK : assay_out_of_memory(err);
}

bool run_model_has_state(const assay_graph *g)
{
    for (int i = 0; i < g->n_values; i++)
        if (g->value[i].is_variable)
            return true;
    for (int i = 0; i < g->n_subgraphs; i++)
        if (run_model_has_state(g->subgraph[i]))
            return true;
    return false;
}

typedef assay_status (*export_fn)(const assay_graph *g, unsigned char **bytes, size_t *length,
                                  assay_error *err);

/* Exports g with the names that its outputs have in files. */
static assay_status export_named(const assay_graph *g, export_fn export, unsigned char **bytes,
                                 size_t *length, assay_error *err)
{
    assay_graph *named;
    if (!assay_outputs_differ(g))
        return export(g, bytes, length, err);
    assay_status status = assay_graph_clone_borrowing(g, &named, err);
    if (status)
        return status;
    status = assay_outputs_for_file(named, err);
    if (!status)
        status = export(named, bytes, length, err);
    assay_graph_free(named);
    return status;
}

static assay_status save_bytes(const assay_graph *g, export_fn export, const char *path,
                               assay_error *err)
{
    unsigned char *bytes = NULL;
    size_t length = 0;
    assay_status status = export_named(g, export, &bytes, &length, err);

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
                      "%s: cannot tell the format to write from this name; it must end in .assay "
                      "(text form), .onnx or .tflite",
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
