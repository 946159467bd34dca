/* The network and the scheme that a bundle holds. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/slurp.h"
#include "graph/text/text.h"
#include "interp/golden/bundle.h"
#include "schemes/mac/scheme.h"

static bool is_shipped(const char *name)
{
    bool is = false;
    for (const char *const *p = assay_scheme_presets(); *p; p++)
        is = is || strcmp(*p, name) == 0;
    for (const char *const *p = assay_mac_schemes(); *p; p++)
        is = is || strcmp(*p, name) == 0;
    return is;
}

static assay_status load_scheme(const json_t *scheme, assay_scheme **out, bool *is_preset,
                                assay_error *err)
{
    const char *name = json_string_value(json_object_get(scheme, "name"));
    const char *text = json_string_value(json_object_get(scheme, "text"));
    assay_scheme *preset = NULL;
    assay_status status;

    if (!name || !text)
        return ASSAY_OK;
    status = assay_scheme_parse_whole(name, text, strlen(text), out, err);
    if (!status && is_shipped(name) && !assay_scheme_open(name, &preset, NULL)) {
        *is_preset = strcmp(preset->digest, (*out)->digest) == 0;
        assay_scheme_free(*is_preset ? *out : preset);
        *out = *is_preset ? preset : *out;
    }
    return status;
}

assay_status golden_bundle_network(const assay_bundle *b, assay_graph **graph,
                                   assay_scheme **scheme, bool *is_preset, assay_error *err)
{
    const assay_text_folder constants = {"constants", b->folder, b->dir};
    unsigned char *bytes;
    size_t size;
    assay_status status;

    *graph = NULL;
    *scheme = NULL;
    *is_preset = false;
    if (!json_object_get(json_object_get(b->manifest, "graph"), "file"))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: holds digests only, no network to run again; its files alone can "
                          "be checked (`replay`)",
                          b->dir);
    status = assay_slurp_inside(b->folder, b->dir, "graph.assay", &bytes, &size, err);
    if (status)
        return status;
    status = text_graph_parse_in((const char *)bytes, size, "graph.assay", &constants, graph, err);
    free(bytes);
    if (!status)
        status = load_scheme(json_object_get(b->manifest, "scheme"), scheme, is_preset, err);
    if (status) {
        assay_graph_free(*graph);
        *graph = NULL;
    }
    return status;
}
