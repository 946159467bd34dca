/* A certificate and its steps; check.h says what the checker is. */
#include "opt/check/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "graph/text/text.h"
#include "opt/certificate/certificate.h"
#include "opt/check/proof.h"

/* Constants that an element-wise fragment reads are the model's, or one number of it repeated. */
static assay_status check_constants(const check_context *c)
{
    for (int v = 0; v < c->before->n_values; v++) {
        const assay_value *x = &c->before->value[v];
        const assay_value *m = x->data ? check_constant_of(c, x->name) : NULL;
        if (!x->data)
            continue;
        size_t size = assay_elem_size(x->type.elem), n = (size_t)assay_shape_count(&x->type);
        size_t have = m ? (size_t)assay_shape_count(&m->type) : 0;
        bool same = m && check_same_type(&m->type, &x->type) && (have == n || have == 1);
        for (size_t i = 0; i < n && same; i++)
            same = memcmp((const char *)x->data + i * size,
                          (const char *)m->data + (have == n ? i : 0) * size, size) == 0;
        if (!same)
            return check_reject(c, "a constant that is not the model's");
    }
    return ASSAY_OK;
}

/* The same inputs by name and type, and outputs of the same types. Inputs may be needed no more. */
static bool same_border(const assay_graph *a, const assay_graph *b)
{
    if (a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs || a->n_outputs < 1)
        return false;
    for (int i = 0; i < a->n_inputs; i++)
        if (!check_same_value(a, a->input[i], b, b->input[i]) ||
            !assay_shape_equal(&a->value[a->input[i]].type, &b->value[b->input[i]].type))
            return false;
    for (int i = 0; i < a->n_outputs; i++)
        if (!check_same_type(&a->value[a->output[i]].type, &b->value[b->output[i]].type) ||
            !assay_shape_equal(&a->value[a->output[i]].type, &b->value[b->output[i]].type))
            return false;
    return true;
}

static assay_status check_claim(check_context *c, const json_t *step, const char *obligation,
                                int64_t *worst)
{
    static const struct {
        const char *name;
        assay_status (*check)(check_context *, const json_t *, int64_t *);
    } obligations[] = {
#define OBLIGATION(name, checker) {name, check_##checker},
#include "opt/check/obligations.def"
    };
    bool whole = strcmp(obligation, "codes") == 0 || strcmp(obligation, "constant") == 0;
    *worst = 0;
    if (c->model && whole) {
        assay_status s = check_constants(c);
        if (s)
            return s;
    }
    if (strcmp(obligation, "moved") != 0 && !same_border(c->before, c->after))
        return check_reject(c, "the fragments have different inputs or outputs");
    for (size_t i = 0; i < sizeof obligations / sizeof *obligations; i++)
        if (strcmp(obligations[i].name, obligation) == 0)
            return obligations[i].check(c, step, worst);
    return check_reject(c, "an obligation that cannot be proved");
}

/* Constants that a step makes may be weights of a later one. */
static assay_status keep_constants(check_context *c)
{
    bool makes = false;
    for (int v = 0; v < c->after->n_values; v++)
        makes |= c->after->value[v].data != NULL;
    if (!makes)
        return ASSAY_OK;
    assay_graph **more = realloc(c->constant, ((size_t)c->n_constants + 1) * sizeof *more);
    if (!more)
        return check_out_of_memory(c);
    c->constant = more;
    c->constant[c->n_constants++] = c->after;
    c->after = NULL;
    return ASSAY_OK;
}

/* What a bounded step comes to at the network's outputs. */
static assay_status add_spread(check_context *c, const json_t *step)
{
    const json_t *list = json_object_get(step, "spread");
    const size_t n = json_array_size(list);
    if (!c->spread) {
        c->n_spread = c->model ? (size_t)c->model->n_outputs : n;
        c->spread = calloc(c->n_spread + 1, sizeof *c->spread);
    }
    if (!c->spread)
        return check_out_of_memory(c);
    if (n == 0 || n != c->n_spread)
        return check_reject(c, "spread: one number for each output was expected");
    for (size_t i = 0; i < n; i++) {
        const json_t *by = json_array_get(list, i);
        if (!json_is_integer(by) || json_integer_value(by) < 0)
            return check_reject(c, "spread: a number of codes was expected");
        c->spread[i] += json_integer_value(by);
    }
    return c->model
               ? check_spread(c, c->before->value[c->before->output[0]].name,
                              (int64_t)json_integer_value(json_object_get(step, "bound")), list)
               : ASSAY_OK;
}

/* The outputs differ by what all steps together come to. */
static assay_status check_output_bound(const check_context *c, const json_t *claimed)
{
    int64_t worst = 0;
    for (size_t i = 0; i < c->n_spread; i++)
        worst = c->spread[i] > worst ? c->spread[i] : worst;
    if (c->unproved ? json_is_null(claimed)
                    : json_is_integer(claimed) && json_integer_value(claimed) == worst)
        return ASSAY_OK;
    return assay_fail(c->err, ASSAY_ERR_INPUT,
                      c->unproved ? "%s: output_bound: with an unproved step it must be null"
                                  : "%s: output_bound: the steps come to %lld codes",
                      c->file, (long long)worst);
}

typedef struct claims {
    const char *pass, *node, *obligation, *verdict, *before, *after, *evidence;
    json_int_t bound;
} claims;

static assay_status read_claims(check_context *c, const json_t *step, claims *k)
{
    const char *pass = json_string_value(json_object_get(step, "pass"));
    c->pass = pass;
    if (json_unpack((json_t *)(uintptr_t)step, "{s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:s}", "pass",
                    &k->pass, "node", &k->node, "obligation", &k->obligation, "verdict",
                    &k->verdict, "evidence", &k->evidence, "bound", &k->bound, "before", &k->before,
                    "after", &k->after))
        return check_reject(
            c, "a key is missing or of another type; a step has pass, node, obligation, "
               "verdict, evidence, bound, before, after");
    const bool exact = strcmp(k->verdict, "exact") == 0;
    const bool bounded = strcmp(k->verdict, "bounded") == 0;
    if (!exact && !bounded && strcmp(k->verdict, "unproved") != 0)
        return check_reject(c, "verdict is neither exact, bounded nor unproved");
    if ((exact && k->bound != 0) || (bounded && k->bound < 1))
        return assay_fail(c->err, ASSAY_ERR_INPUT,
                          "%s: step %d (%.60s): verdict %s and bound %lld contradict each other",
                          c->file, c->step, k->pass, k->verdict, (long long)k->bound);
    return ASSAY_OK;
}

/* The claim holds for the fragments. */
static assay_status judge_step(check_context *c, const json_t *step, const claims *k)
{
    int64_t worst = 0;
    if (strcmp(k->verdict, "unproved") == 0) {
        c->unproved = true;
        return ASSAY_OK;
    }
    assay_status s = check_claim(c, step, k->obligation, &worst);
    if (!s && worst != k->bound)
        return assay_fail(
            c->err, ASSAY_ERR_INPUT,
            "%s: step %d (%.60s): claimed %s (bound %lld), but outputs differ by %lld", c->file,
            c->step, k->pass, k->verdict, (long long)k->bound, (long long)worst);
    return !s && k->bound > 0 ? add_spread(c, step) : s;
}

static assay_status check_step(check_context *c, const json_t *step, bool *proved)
{
    claims k;
    assay_status s = read_claims(c, step, &k);
    if (s)
        return s;
    *proved = strcmp(k.verdict, "exact") == 0;
    s = text_graph_parse(k.before, strlen(k.before), c->file, NULL, &c->before, c->err);
    if (!s)
        s = text_graph_parse(k.after, strlen(k.after), c->file, NULL, &c->after, c->err);
    if (!s && (c->before->n_outputs < 1 || c->after->n_outputs < 1))
        s = check_reject(c, "a fragment without outputs");
    if (!s)
        s = judge_step(c, step, &k);
    if (!s && c->model)
        s = check_replay_step(c, k.obligation, k.node);
    if (!s && c->model)
        s = keep_constants(c);
    assay_graph_free(c->before);
    assay_graph_free(c->after);
    c->before = c->after = NULL;
    return s;
}

/* The certificate is of this network, or yields this one. */
static assay_status check_network(const check_context *c, const char *what, const char *claimed,
                                  const assay_graph *g)
{
    char hex[33];
    if (!g)
        return ASSAY_OK;
    assay_status s = certificate_network(g, hex, c->err);
    if (!s && strcmp(hex, claimed) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT,
                       "%s: the %s is a different network: its digest is %s, not %.32s", c->file,
                       what, hex, claimed);
    return s;
}

/* Constants that steps made are known within one graph. */
static void forget_constants(check_context *c)
{
    for (int i = 0; i < c->n_constants; i++)
        assay_graph_free(c->constant[i]);
    free(c->constant);
    c->constant = NULL;
    c->n_constants = 0;
}

/* The steps of one graph, from the model to the result, each NULL when it is not at hand. */
static assay_status check_steps(const json_t *steps, check_context *c, const assay_graph *model,
                                const assay_graph *result, assay_proof_report *report)
{
    c->model = model;
    assay_status s = model ? check_replay_begin(c) : ASSAY_OK;
    for (size_t i = 0; i < json_array_size(steps) && !s; i++) {
        bool proved = false;
        c->step = (int)i;
        s = check_step(c, json_array_get(steps, i), &proved);
        if (!s && c->in_body && !proved)
            s = check_reject(c, "bodies of control flow allow exact steps only");
        report->steps++;
        report->proved += proved;
    }
    if (!s && model && result)
        s = check_replay_result(c, result);
    check_replay_end(c);
    forget_constants(c);
    return s;
}

/* Bodies are graphs of their own, each with its steps in the order of the model's. */
static assay_status check_bodies(const json_t *of, check_context *c, const assay_graph *model,
                                 const assay_graph *result, assay_proof_report *report)
{
    const json_t *bodies = json_object_get(of, "bodies");
    const size_t n = json_array_size(bodies);
    const char *file = c->file;
    assay_status s = ASSAY_OK;
    if ((model && n != (size_t)model->n_subgraphs) || (bodies && !json_is_array(bodies)))
        return assay_fail(c->err, ASSAY_ERR_INPUT, "%s: bodies: %d were expected, found %zu", file,
                          model ? model->n_subgraphs : 0, n);
    for (size_t i = 0; i < n && !s; i++) {
        const json_t *body = json_array_get(bodies, i), *steps = json_object_get(body, "steps");
        char where[400];
        snprintf(where, sizeof where, "%.300s: body %zu", file, i);
        c->file = where;
        c->in_body = true;
        const assay_graph *from = model ? model->subgraph[i] : NULL;
        const assay_graph *to = result ? result->subgraph[i] : NULL;
        s = json_is_array(steps) ? check_steps(steps, c, from, to, report)
                                 : assay_fail(c->err, ASSAY_ERR_INPUT, "%s: no steps", where);
        if (!s)
            s = check_bodies(body, c, from, to, report);
        c->file = file;
    }
    return s;
}

static assay_status check_certificate(const json_t *root, check_context *c,
                                      const assay_proof_networks *networks,
                                      assay_proof_report *report)
{
    const char *name, *digest, *text, *seal, *model, *result;
    int version;
    json_t *steps;
    char hex[33];
    assay_scheme *scheme = NULL;
    if (json_unpack((json_t *)(uintptr_t)root, "{s:i, s:{s:s, s:s, s:s}, s:s, s:s, s:s, s:o}",
                    "assay_proof", &version, "scheme", "name", &name, "digest", &digest, "text",
                    &text, "model", &model, "result", &result, "digest", &seal, "steps", &steps) ||
        !json_is_array(steps) || version != ASSAY_CERTIFICATE_VERSION)
        return assay_fail(c->err, ASSAY_ERR_UNSUPPORTED, "%s: not a certificate of version %d",
                          c->file, ASSAY_CERTIFICATE_VERSION);
    assay_status s = ASSAY_OK;
    if (strncmp(text, "plugin:", 7) != 0)
        s = assay_scheme_parse(name, text, strlen(text), &scheme, c->err);
    else if (!networks->plugin || strcmp(networks->plugin->text, text) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT,
                       "%s: its scheme is the plugin '%.100s', which must be given", c->file, name);
    const assay_scheme *arithmetic = scheme ? scheme : networks->plugin;
    if (!s && strcmp(arithmetic->digest, digest) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT,
                       "%s: scheme '%s' was edited: its digest is %s, not %.32s", c->file, name,
                       arithmetic->digest, digest);
    c->scheme = arithmetic;
    if (!s)
        s = check_network(c, "model", model, networks->model);
    if (!s)
        s = check_network(c, "result", result, networks->result);
    if (!s && strcmp(arithmetic->name, name) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT, "%s: scheme '%s' calls itself '%s' in its text",
                       c->file, name, arithmetic->name);
    if (!s)
        s = check_steps(steps, c, networks->model, networks->result, report);
    if (!s)
        s = check_bodies(root, c, networks->model, networks->result, report);
    report->given = c->given;
    if (!s)
        s = check_output_bound(c, json_object_get(root, "output_bound"));
    if (!s)
        s = certificate_digest(root, hex, c->err);
    if (!s && strcmp(hex, seal) != 0)
        s = assay_fail(c->err, ASSAY_ERR_INPUT, "%s: edited: its digest is %s, not %.32s", c->file,
                       hex, seal);
    assay_scheme_free(scheme);
    return s;
}

assay_status check_proof(const char *json, size_t length, const char *file,
                         const assay_proof_networks *networks, assay_proof_report *report,
                         assay_error *err)
{
    const assay_proof_networks none = {NULL, NULL, NULL};
    json_error_t e;
    check_context c = {.file = file, .err = err};
    memset(report, 0, sizeof *report);
    errno = 0;
    json_t *root = json_loadb(json, length, JSON_REJECT_DUPLICATES, &e);
    if (errno == ENOMEM) { /* the reader calls a word that it cannot hold invalid */
        json_decref(root);
        return assay_out_of_memory_for(err, "%s", file);
    }
    if (!root)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s:%d:%d: not a certificate: %s", file,
                          e.line, e.column, e.text);
    assay_status s = check_certificate(root, &c, networks ? networks : &none, report);
    free(c.spread);
    json_decref(root);
    return s;
}
