#include "opt/rewrite/certificate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/text/text.h"
#include "opt/lower/opt.h"

static void hex_of(const void *bytes, size_t n, char hex[33])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(bytes, n));
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", c.digest[i]);
}

assay_status assay_certificate_digest(const json_t *certificate, char hex[33], assay_error *err)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)certificate);
    if (copy)
        json_object_del(copy, "digest");
    char *text = copy ? json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
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
    assay_type_print(&x->type, b);
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
        s = assay_certificate_network(g->subgraph[i], hex, err);
        if (!s)
            assay_buf_printf(b, "body %s\n", hex);
    }
    return s;
}

assay_status assay_certificate_network(const assay_graph *g, char hex[33], assay_error *err)
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

json_t *assay_certificate_new(const assay_graph *g, const assay_scheme *s)
{
    char hex[33];
    assay_error err;
    if (assay_certificate_network(g, hex, &err) != ASSAY_OK)
        return NULL;
    return json_pack("{s:i, s:{s:s, s:s, s:s}, s:s, s:[]}", "assay_proof",
                     ASSAY_CERTIFICATE_VERSION, "scheme", "name", s->name, "digest", s->digest,
                     "text", s->text, "model", hex, "steps");
}

json_t *assay_certificate_body(json_t *certificate)
{
    json_t *bodies = json_object_get(certificate, "bodies");
    if (!bodies && json_object_set_new(certificate, "bodies", json_array()) == 0)
        bodies = json_object_get(certificate, "bodies");
    json_t *body = json_pack("{s:[]}", "steps");
    return json_array_append_new(bodies, body) == 0 ? body : NULL;
}

static json_t *fragment(const assay_graph *g)
{
    assay_buf text = {0};
    assay_error err;
    json_t *o = NULL;
    if (assay_graph_print(g, NULL, &text, &err) == ASSAY_OK && !text.failed)
        o = json_string(text.text);
    assay_buf_free(&text);
    return o;
}

static const char *const obligations[] = {
    [ASSAY_PROVE_CODES] = "codes",
    [ASSAY_PROVE_TABLE] = "codes",
    [ASSAY_PROVE_ACCUMULATORS] = "accumulators",
    [ASSAY_PROVE_LINEAR] = "linear",
    [ASSAY_PROVE_SUMS] = "sums",
    [ASSAY_PROVE_AVERAGE] = "average",
    [ASSAY_PROVE_MOVE] = "move",
    [ASSAY_PROVE_ORDER] = "order",
    [ASSAY_PROVE_ELEMENTS] = "elements",
    [ASSAY_PROVE_INDICES] = "indices",
    [ASSAY_PROVE_SAME] = "same",
    [ASSAY_PROVE_CONSTANT] = "constant",
    [ASSAY_PROVE_PADDING] = "padding",
    [ASSAY_PROVE_FLOATS] = "floats",
    [ASSAY_PROVE_BLEND] = "blend",
    [ASSAY_PROVE_GAINS] = "gains",
    [ASSAY_PROVE_FORM] = "form",
    [ASSAY_PROVE_LAYOUT] = "layout",
    [ASSAY_PROVE_MOVED] = "moved",
};
static const char *const verdicts[] = {"exact", "bounded", "unproved"};

static json_t *interval(int64_t lo, int64_t hi)
{
    return json_pack("[I, I]", (json_int_t)lo, (json_int_t)hi);
}

/* Sums: what can be reached; of an inexact rescale, how far sums drift. */
static int add_sums(json_t *step, const assay_proof *proof)
{
    int bad = json_object_set_new(step, "reachable", interval(proof->reach.lo, proof->reach.hi));
    if (!proof->drift || bad)
        return bad;
    json_t *drift = json_array();
    for (size_t c = 0; c < proof->n_drift && !bad; c++)
        bad = json_array_append_new(drift, interval(proof->drift[c].down, proof->drift[c].up));
    bad |= json_object_set_new(step, "drift", drift);
    return bad | json_object_set_new(step, "was_reachable", interval(proof->was.lo, proof->was.hi));
}

static int add_spread(json_t *step, const int64_t *spread, int n)
{
    json_t *list = json_array();
    int bad = 0;
    for (int i = 0; i < n && !bad; i++)
        bad = json_array_append_new(list, json_integer((json_int_t)spread[i]));
    return bad | json_object_set_new(step, "spread", list);
}

assay_status assay_certificate_add(json_t *certificate, const assay_rule *rule, const char *node,
                                   const assay_proof *proof, const int64_t *spread, int n_outputs,
                                   assay_error *err)
{
    const assay_verdict *v = &proof->verdict;
    bool sums = rule->obligation == ASSAY_PROVE_ACCUMULATORS ||
                rule->obligation == ASSAY_PROVE_LINEAR || rule->obligation == ASSAY_PROVE_FORM;
    json_t *step =
        json_pack("{s:s, s:s, s:s, s:s, s:I, s:s, s:o, s:o}", "pass", rule->name, "node", node,
                  "obligation", obligations[rule->obligation], "verdict", verdicts[v->kind],
                  "bound", (json_int_t)v->bound, "evidence", v->evidence, "before",
                  fragment(proof->before), "after", fragment(proof->after));
    int bad = !step;
    if (!bad && sums)
        bad = add_sums(step, proof);
    if (!bad && v->kind == ASSAY_BOUNDED)
        bad = add_spread(step, spread, n_outputs);
    if (bad) {
        json_decref(step);
        return assay_out_of_memory(err);
    }
    return json_array_append_new(json_object_get(certificate, "steps"), step)
               ? assay_out_of_memory(err)
               : ASSAY_OK;
}

assay_status assay_certificate_print(json_t *certificate, const assay_graph *result,
                                     int64_t output_bound, assay_buf *out, assay_error *err)
{
    char hex[33];
    assay_status s = assay_certificate_network(result, hex, err);
    if (!s && json_object_set_new(certificate, "result", json_string(hex)))
        s = assay_out_of_memory(err);
    if (!s && json_object_set_new(certificate, "output_bound",
                                  output_bound < 0 ? json_null() : json_integer(output_bound)))
        s = assay_out_of_memory(err);
    if (!s)
        s = assay_certificate_digest(certificate, hex, err);
    if (!s && json_object_set_new(certificate, "digest", json_string(hex)))
        s = assay_out_of_memory(err);
    char *text = s ? NULL : json_dumps(certificate, JSON_INDENT(1));
    if (!s && !text)
        s = assay_out_of_memory(err);
    if (!s) {
        assay_buf_add(out, text, strlen(text));
        assay_buf_add(out, "\n", 1);
        s = assay_buf_status(out, err);
    }
    free(text);
    return s;
}
