/* Agreement of the writer of certificates (opt/rewrite/certify.c) and their checker (opt/check):
 * the version, and what is digested in which way; see certificate.h. */
#include "opt/certificate/certificate.h"
#include "graph/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/core/digest.h"
#include "graph/core/type.h"
#include "graph/files/json.h"
#include "graph/text/text.h"

static void hex_of(const void *bytes, size_t n, char hex[33])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(bytes, n));
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", c.digest[i]);
}

assay_status certificate_digest(const json_t *certificate, char hex[33], assay_error *err)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)certificate);
    /* what json_copy (jansson 2.14) has no memory for, it leaves out */
    const bool whole = copy && json_object_size(copy) == json_object_size(certificate);
    if (whole)
        json_object_del(copy, "digest");
    char *text = whole ? file_json_text(copy, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (text)
        hex_of(text, strlen(text), hex);
    assay_status s = text ? ASSAY_OK : assay_out_of_memory(err);
    free(text);
    json_decref(copy);
    return s;
}

static void add_value(const assay_graph *g, int v, bool *seen, assay_buf *b)
{
    const assay_value *x = v < 0 ? NULL : &g->value[v];
    char hex[33];
    if (!x || seen[v])
        return;
    seen[v] = true;
    assay_buf_printf(b, "%s:", x->name);
    text_type_print(&x->type, b);
    if (x->data) {
        hex_of(x->data, assay_type_bytes(&x->type), hex);
        assay_buf_printf(b, "=%s", hex);
    }
    assay_buf_add(b, "\n", 1);
}

/* Types, parameters and bounds, which the structure's digest leaves out, and constants' bytes.
 * Values come in the order in which inputs, nodes and outputs name them. Bodies follow. */
static assay_status add_details(const assay_graph *g, assay_buf *b, assay_error *err)
{
    bool *seen = calloc((size_t)g->n_values + 1, sizeof *seen);
    if (!seen)
        return assay_out_of_memory(err);
    for (int i = 0; i < g->n_inputs; i++)
        add_value(g, g->input[i], seen, b);
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        assay_buf_printf(b, "%s %a %a %d %d %d\n", n->name, (double)n->act_lo, (double)n->act_hi,
                         n->has_code_bounds, n->code_lo, n->code_hi);
        for (int k = 0; k < n->n_in; k++)
            add_value(g, n->in[k], seen, b);
        for (int k = 0; k < n->n_out; k++)
            add_value(g, n->out[k], seen, b);
    }
    for (int i = 0; i < g->n_outputs; i++)
        add_value(g, g->output[i], seen, b);
    free(seen);
    assay_status s = ASSAY_OK;
    for (int i = 0; i < g->n_subgraphs && !s; i++) {
        char hex[33];
        s = certificate_network(g->subgraph[i], hex, err);
        if (!s)
            assay_buf_printf(b, "body %s\n", hex);
    }
    return s;
}

assay_status certificate_network(const assay_graph *g, char hex[33], assay_error *err)
{
    assay_buf text = {0};
    assay_status s = assay_graph_digest(g, hex, err);
    if (!s) {
        assay_buf_add(&text, hex, 32);
        s = add_details(g, &text, err);
    }
    if (!s)
        s = assay_buf_status(&text, err);
    if (!s)
        hex_of(text.text, text.length, hex);
    assay_buf_free(&text);
    return s;
}
