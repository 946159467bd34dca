/* assay scheme matrix: the share of disagreement of each pair of arithmetics, over a range of
 * scales or node by node over a network. */
#include <string.h>

#include "interp/api/decide.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/session.h"

#define MAX DECIDE_MATRIX_SCHEMES

typedef struct schemes {
    int n;
    assay_scheme *scheme[MAX];
} schemes;

static bool add(schemes *f, const char *name)
{
    assay_error err;
    if (f->n == MAX) {
        cli_trouble("scheme matrix: more than %d schemes", MAX);
        return false;
    }
    if (assay_scheme_open(name, &f->scheme[f->n], &err)) {
        cli_failed(&err);
        return false;
    }
    f->n++;
    return true;
}

static bool open_schemes(schemes *f, const cli_args *a)
{
    const char *list = cli_value(a, "schemes", NULL);
    for (const char *const *name = assay_scheme_presets(); !list && *name; name++)
        if (!add(f, *name))
            return false;
    while (list && *list != '\0') {
        char name[256];
        size_t n = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        if (n > 0 && !add(f, name))
            return false;
        list += n + (list[n] == ',');
    }
    return f->n > 0;
}

/* What is asked where the options do not say it. */
static void complete(const cli_args *a, assay_scheme_question *o)
{
    if (a->n_positional > 1)
        o->scales = 0;
    else if (!cli_has(a, "scale"))
        o->scales = 40, o->scale[0] = 0.001, o->scale[1] = 0.5;
    if (!o->has_acc)
        o->has_acc = true, o->acc[0] = -4096, o->acc[1] = 4096;
    o->type = o->type ? o->type : "i8";
}

static int ask(const cli_args *a, const schemes *f, const assay_scheme_question *o,
               const assay_graph *g)
{
    const assay_scheme *const *all = (const assay_scheme *const *)f->scheme;
    decide_question q;
    json_t *tables = NULL;
    assay_error err;
    assay_status status = assay_decide_question(all, f->n, o, &q, &err);
    q.graph = g;
    if (!status)
        status = decide_matrix(all, f->n, &q, o->as_is, cli_notes_of(a), &tables, &err);
    if (!status && cli_has(a, "json"))
        return cli_json_write(a, tables);
    json_decref(tables);
    return status ? cli_failed(&err) : CLI_OK;
}

static int compare(const cli_args *a, const schemes *f)
{
    assay_scheme_question o;
    cli_session session = {.graph = NULL};
    int status = CLI_OK;
    if (!cli_scheme_question(a, &o))
        return CLI_TROUBLE;
    complete(a, &o);
    if (a->n_positional > 1) /* whose rules quantize a float network: -s, or the first's */
        status = cli_scheme_network(&session, a, a->positional[1],
                                    cli_value(a, "scheme", f->scheme[0]->name));
    if (status == CLI_OK)
        status = ask(a, f, &o, session.graph);
    cli_session_close(&session);
    return status;
}

int cli_scheme_matrix(const cli_args *a)
{
    schemes f = {.n = 0};
    const int status = open_schemes(&f, a) ? compare(a, &f) : CLI_TROUBLE;
    for (int i = 0; i < f.n; i++)
        assay_scheme_free(f.scheme[i]);
    return status;
}
