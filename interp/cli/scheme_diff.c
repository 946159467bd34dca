/* assay scheme diff: the differences between two arithmetics, exactly: by record, by a range of
 * scales, by the layers of a network. Exit status 0 when they agree, 1 when they differ, 2 when no
 * difference was found but not all was decided. */
#include <stdlib.h>
#include <string.h>

#include "interp/api/decide.h"
#include "interp/cli/json.h"
#include "interp/cli/scheme.h"
#include "interp/cli/scheme_unit.h"
#include "interp/cli/session.h"
#include "schemes/mac/mac.h"
#include "schemes/mac/scheme.h"

bool cli_scheme_question(const cli_args *a, assay_scheme_question *o)
{
    double range[3] = {0}, acc[3];
    *o = (assay_scheme_question){.size = sizeof *o,
                                 .op = cli_value(a, "op", NULL),
                                 .type = cli_value(a, "type", NULL),
                                 .wide = cli_has(a, "wide"),
                                 .as_is = cli_has(a, "as-is"),
                                 .has_acc = cli_has(a, "acc")};
    if ((cli_has(a, "scale") && !cli_scheme_range(a, "scale", 1e-30, 1e30, range)) ||
        (o->has_acc && !cli_scheme_range(a, "acc", -140737488355328.0, 140737488355328.0, acc)) ||
        !cli_integer(a, "zp", 0, INT32_MIN, INT32_MAX, &o->zero_point) ||
        !cli_integer(a, "in-zp", 0, INT32_MIN, INT32_MAX, &o->in_zero_point))
        return false;
    o->scales = (int)range[2];
    o->scale[0] = range[0];
    o->scale[1] = range[1];
    o->acc[0] = o->has_acc ? (int64_t)acc[0] : 0;
    o->acc[1] = o->has_acc ? (int64_t)acc[1] : 0;
    return true;
}

/* A model for its nodes: quantized under the scheme, which is given as -s is. */
int cli_scheme_network(cli_session *session, const cli_args *args, const char *model,
                       const char *scheme)
{
    static const cli_option option = {"scheme", 's', "NAME", ""};
    cli_args copy = *args;
    copy.positional = &model;
    copy.n_positional = 1;
    copy.given = malloc((size_t)(args->n_given + 1) * sizeof *copy.given);
    if (!copy.given)
        return cli_out_of_memory();
    memcpy(copy.given, args->given, (size_t)args->n_given * sizeof *copy.given);
    copy.given[args->n_given].option = &option;
    copy.given[args->n_given].value = scheme;
    copy.n_given++;
    const int status = cli_session_load(session, &copy);
    free(copy.given);
    return status;
}

/* The status of what was found, after a message where nothing is certain. */
static int judge(const decide_pair *p, const decide_question *q)
{
    char why[160];
    if (decide_is_open(p, q, why, sizeof why))
        return cli_trouble("scheme diff: %s", why);
    return p->differ ? CLI_DIFFERENT : CLI_OK;
}

static int ask(const cli_args *args, decide_pair *p, const decide_question *q)
{
    assay_error err;
    if (decide_compare(p, q, &err))
        return cli_failed(&err);
    if (cli_has(args, "json") && cli_json_write(args, decide_pair_json(p, q)) != CLI_OK)
        return CLI_TROUBLE;
    return judge(p, q);
}

/* Two schemes with records. */
static int compare(const cli_args *args, const assay_scheme *a, const assay_scheme *b)
{
    const assay_scheme *const both[] = {a, b};
    const char *model = cli_value(args, "model", NULL);
    assay_scheme_question o;
    decide_question q;
    decide_pair p;
    cli_session session = {.graph = NULL};
    assay_error err;
    if (!cli_scheme_question(args, &o))
        return CLI_TROUBLE;
    if (assay_decide_question(both, 2, &o, &q, &err))
        return cli_failed(&err);
    int status = model ? cli_scheme_network(&session, args, model, args->positional[1]) : CLI_OK;
    q.graph = session.graph;
    decide_pair_open(&p, a, b, cli_notes_of(args));
    p.as_is = o.as_is;
    if (status == CLI_OK)
        status = ask(args, &p, &q);
    decide_pair_close(&p);
    cli_session_close(&session);
    return status;
}

/* Those that have no records. */
static int compare_units(const cli_args *args, const assay_scheme *a, const assay_scheme *b)
{
    const assay_scheme *without = a->record ? b : a;
    if (a->mac && b->mac)
        return cli_mac_diff(args, a, b);
    return without->mac
               ? cli_trouble("scheme diff: %.200s computes on matrix units and has no record; two "
                             "such schemes are compared, or two units by their names",
                             without->name)
               : cli_trouble("scheme diff: a plugin has no record to compare");
}

int cli_scheme_diff(const cli_args *args)
{
    assay_scheme *a = NULL, *b = NULL;
    assay_error err;
    if (mac_is_unit(args->positional[1]) || mac_is_unit(args->positional[2]))
        return cli_units_diff(args);
    if (assay_scheme_open(args->positional[1], &a, &err))
        return cli_failed(&err);
    if (assay_scheme_open(args->positional[2], &b, &err)) {
        assay_scheme_free(a);
        return cli_failed(&err);
    }
    const int status = a->record && b->record ? compare(args, a, b) : compare_units(args, a, b);
    assay_scheme_free(a);
    assay_scheme_free(b);
    return status;
}
