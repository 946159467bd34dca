/* Certificate of what was proved, as JSON; see certify.h. */
#include "opt/rewrite/certify.h"
#include "graph/memory.h"

#include <stdlib.h>
#include <string.h>

#include "graph/files/json.h"
#include "graph/text/text.h"
#include "opt/certificate/certificate.h"

json_t *rewrite_certificate_new(const assay_graph *g, const assay_scheme *s)
{
    char hex[33];
    assay_error err;
    if (certificate_network(g, hex, &err))
        return NULL;
    return json_pack("{s:i, s:{s:s, s:s, s:s}, s:s, s:[]}", "assay_proof",
                     ASSAY_CERTIFICATE_VERSION, "scheme", "name", s->name, "digest", s->digest,
                     "text", s->text, "model", hex, "steps");
}

json_t *rewrite_certificate_body(json_t *certificate)
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
    if (!text_graph_print(g, NULL, &text, &err) && !text.failed)
        o = json_string(text.text);
    assay_buf_free(&text);
    return o;
}

static const char *const obligations[] = {
#define OBLIGATION(ID, name, prover) [ASSAY_PROVE_##ID] = name,
#include "opt/prove/obligations.def"
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

assay_status rewrite_certificate_add(json_t *certificate, const assay_rule *rule, const char *node,
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

assay_status rewrite_certificate_print(json_t *certificate, const assay_graph *result,
                                       int64_t output_bound, assay_buf *out, assay_error *err)
{
    char hex[33];
    assay_status s = certificate_network(result, hex, err);
    if (!s && json_object_set_new(certificate, "result", json_string(hex)))
        s = assay_out_of_memory(err);
    if (!s && json_object_set_new(certificate, "output_bound",
                                  output_bound < 0 ? json_null() : json_integer(output_bound)))
        s = assay_out_of_memory(err);
    if (!s)
        s = certificate_digest(certificate, hex, err);
    if (!s && json_object_set_new(certificate, "digest", json_string(hex)))
        s = assay_out_of_memory(err);
    char *text = s ? NULL : file_json_text(certificate, JSON_INDENT(1));
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
