/* Rewriting of what runs, and the public form of it. */
#include "interp/api/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include "interp/api/options.h"
#include "interp/run/evaluate.h"
#include "opt/target/target.h"

assay_status assay_rewrite_allow(const char *text, assay_optimize_options *o, assay_error *err)
{
    char *end;
    if (strcmp(text, "none") == 0)
        return ASSAY_OK;
    if (strcmp(text, "any") == 0) {
        o->allow = ASSAY_ALLOW_ANY;
        return ASSAY_OK;
    }
    if (strncmp(text, "bounded:", 8) == 0 && text[8] >= '0' && text[8] <= '9') {
        o->allow = ASSAY_ALLOW_BOUNDED;
        o->bound = strtol(text + 8, &end, 10);
        if (*end == '\0' && o->bound < 65536)
            return ASSAY_OK;
    }
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "allow takes none, bounded:N (codes) or any; found '%.100s'", text);
}

/* What the scheme or the engines cannot run is not rewritten: proofs are about what runs. */
static assay_status check_runs(const assay_graph *g, const assay_scheme *s, bool as_is,
                               assay_error *err)
{
    assay_program *p;
    const assay_status status = as_is ? assay_program_make_as_is(g, s, false, &p, err)
                                      : assay_program_make(g, s, false, &p, err);
    if (!status)
        assay_program_free(p);
    return status;
}

assay_status assay_rewrite(assay_graph *g, const assay_scheme *s, bool as_is,
                           const assay_optimize_options *o, assay_rewritten *out, assay_error *err)
{
    assay_optimize_options own = *o;
    assay_status status = check_runs(g, s, as_is, err);

    *out = (assay_rewritten){.before = assay_graph_count_nodes(g)};
    own.run = run_whole_graph;
    if (!status)
        status = rewrite_optimize(g, s, &own, &out->report, err);
    out->after = assay_graph_count_nodes(g);
    return status;
}

json_t *assay_rewritten_json(const assay_rewritten *w)
{
    const assay_optimize_report *r = &w->report;
    json_t *o = json_object();
    page_json_set(&o, "applied", json_integer(r->applied));
    page_json_set(&o, "refused", json_integer(r->refused));
    page_json_set(&o, "bounded", json_integer(r->bounded));
    page_json_set(&o, "unproved", json_integer(r->unproved));
    page_json_set(&o, "output_bound", r->unproved ? json_null() : json_integer(r->output_bound));
    page_json_set(&o, "nodes_before", json_integer(w->before));
    page_json_set(&o, "nodes", json_integer(w->after));
    return o;
}

/* What the caller wants of it. */
static assay_status report(assay_rewritten *w, char **certificate, char **json, assay_error *err)
{
    const assay_status status =
        json ? assay_text_of_json(assay_rewritten_json(w), json, err) : ASSAY_OK;
    if (!status && certificate) {
        *certificate = w->report.certificate.text;
        w->report.certificate = (assay_buf){0};
    }
    return status;
}

assay_status assay_optimize(assay_graph *g, const assay_scheme *s,
                            const assay_optimizer_options *options, char **certificate, char **json,
                            assay_error *err)
{
    assay_optimizer_options o;
    assay_target *target = NULL;
    assay_rewritten w = {0};
    assay_error unread;
    err = err ? err : &unread; /* a certificate says why a proof was not possible */
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    assay_optimize_options own = {.passes = o.passes, .log = o.log, .user = o.user};

    if (certificate)
        *certificate = NULL;
    if (json)
        *json = NULL;
    if (!status)
        status = assay_rewrite_allow(o.allow ? o.allow : "none", &own, err);
    if (!status && o.target)
        status = target_read(o.target, &target, err);
    own.target = target;
    if (!status)
        status = assay_rewrite(g, s, o.as_is, &own, &w, err);
    if (!status)
        status = report(&w, certificate, json, err);
    assay_buf_free(&w.report.certificate);
    target_free(target);
    return status;
}
