/* assay scheme matrix: the share of disagreement of each pair of arithmetics, decided from
 * threshold forms: over a range of scales, or node by node over a network (domain.h: by trying all
 * operands). Schemes that never disagree are one row. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/cli/domain.h"
#include "interp/cli/json.h"
#include "interp/cli/layers.h"
#include "interp/cli/scheme.h"
#include "interp/cli/session.h"
#include "schemes/node/admit.h"
#include "schemes/rescale/single.h"
#include "schemes/rescale/thresholds.h"

#define MAX 64 /* schemes */

typedef struct field {
    int n;
    assay_scheme *scheme[MAX];
    bool in[MAX]; /* can compute what is asked */
    bool as_is;
    bool outside[MAX];        /* its types do not admit the node */
    bool wraps[MAX];          /* its accumulator may overflow, so that rescales decide nothing */
    uint64_t count[MAX][MAX]; /* accumulators on which a pair disagrees */
    uint64_t considered;
    FILE *to;       /* the tables */
    json_t *tables; /* the same for programs */
} field;

static bool add(field *f, const char *name, bool required)
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
    if (!f->scheme[f->n]->record && required) {
        cli_trouble("scheme matrix: %s is a plugin; it has no record", name);
        f->n++;
        return false;
    }
    f->n++;
    for (int i = 0; i + 1 < f->n; i++)
        if (!cli_scheme_names_differ(f->scheme[i], f->scheme[f->n - 1]))
            return false;
    return true;
}

static bool open_schemes(field *f, const cli_args *a)
{
    const char *list = cli_value(a, "schemes", NULL);
    if (!list) {
        for (const char *const *name = assay_scheme_presets(); *name; name++)
            if (!add(f, *name, true))
                return false;
        return true;
    }
    while (*list != '\0') {
        char name[256];
        size_t n = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)n, list);
        if (n > 0 && !add(f, name, true))
            return false;
        list += n + (list[n] == ',');
    }
    return true;
}

static void start(field *f)
{
    memset(f->count, 0, sizeof f->count);
    f->considered = 0;
    for (int i = 0; i < f->n; i++) {
        f->in[i] = true;
        f->outside[i] = false;
        f->wraps[i] = false;
    }
}

/* The same for a node of a network: schemes whose types do not admit it are not asked. */
static void start_node(field *f, const assay_graph *g, const assay_node *n)
{
    char why[ASSAY_ADMIT_WHY];
    start(f);
    for (int i = 0; i < f->n && !f->as_is; i++)
        f->outside[i] = !assay_scheme_admits(f->scheme[i], g, n, why, sizeof why);
}

/* Adds the disagreements of one rescale; a NULL leaves its scheme out from now on. */
static int add_rescales(field *f, const assay_rescale *const *r, size_t channel, int64_t lo,
                        int64_t hi)
{
    assay_threshold_form form[MAX];
    assay_error err;
    memset(form, 0, sizeof form);
    for (int i = 0; i < f->n; i++)
        if (f->in[i])
            f->in[i] = r[i] && !assay_threshold_form_make(r[i], channel, lo, hi, &form[i], &err);
    for (int i = 0; i < f->n; i++)
        for (int j = 0; j < i; j++)
            if (f->in[i] && f->in[j]) {
                assay_disagreements d;
                assay_threshold_form_compare(&form[i], &form[j], &d);
                f->count[i][j] += d.count;
                f->count[j][i] += d.count;
            }
    f->considered += (uint64_t)(hi - lo) + 1;
    for (int i = 0; i < f->n; i++)
        assay_threshold_form_free(&form[i]);
    return CLI_OK;
}

static const char *left_out(const field *f, int i)
{
    return f->wraps[i]     ? "is not decided: sums can leave its accumulator"
           : f->outside[i] ? "does not have these types; --as-is compares"
                           : "cannot compute this";
}

/* Of a node, or (NULL) of a range of scales: fractions on which two schemes disagree, by pair. */
static void note_matrix(field *f, const assay_node *n, const char *what)
{
    json_t *o = json_object(), *schemes = json_array(), *without = json_object(),
           *rows = json_array();
    for (int i = 0; i < f->n; i++) {
        json_t *row = json_array();
        for (int j = 0; j < f->n && f->in[i]; j++)
            if (f->in[j])
                page_json_add(&row,
                              page_json_number((double)f->count[i][j] / (double)f->considered));
        if (f->in[i]) {
            page_json_add(&schemes, page_json_text(f->scheme[i]->name));
            page_json_add(&rows, row);
        } else {
            page_json_set(&without, f->scheme[i]->name, json_string(left_out(f, i)));
            json_decref(row);
        }
    }
    page_json_set(&o, "node", n ? page_json_text(n->name) : json_null());
    page_json_set(&o, "op", n ? json_string(assay_op_get(n->op)->name) : json_null());
    page_json_set(&o, "of", json_string(what));
    page_json_set(&o, "considered", json_integer((json_int_t)f->considered));
    page_json_set(&o, "schemes", schemes);
    page_json_set(&o, "disagree", rows);
    page_json_set(&o, "left_out", without);
    page_json_add(&f->tables, o);
}

static void print_matrix(field *f, const assay_node *of, const char *what)
{
    int row[MAX], n = 0; /* the first of each class */
    bool taken[MAX] = {false};
    note_matrix(f, of, what);
    fprintf(f->to, "  (%% of %" PRIu64 " %s on which row and column disagree; 0 means none)\n",
            f->considered, what);
    for (int i = 0; i < f->n; i++) {
        if (taken[i] || !f->in[i])
            continue;
        fprintf(f->to, "  %2d %s", n + 1, f->scheme[i]->name);
        for (int j = i + 1; j < f->n; j++)
            if (f->in[j] && !taken[j] && f->count[i][j] == 0) {
                fprintf(f->to, " = %s", f->scheme[j]->name);
                taken[j] = true;
            }
        fprintf(f->to, "\n");
        row[n++] = i;
    }
    for (int i = 0; i < f->n; i++)
        if (!f->in[i])
            fprintf(f->to, "   - %s %s\n", f->scheme[i]->name, left_out(f, i));
    if (n < 2)
        return;
    fprintf(f->to, "      ");
    for (int j = 0; j + 1 < n; j++)
        fprintf(f->to, "%9d", j + 1);
    fprintf(f->to, "\n");
    for (int i = 1; i < n; i++) {
        fprintf(f->to, "  %4d", i + 1);
        for (int j = 0; j < i; j++)
            fprintf(f->to, "%9.3g",
                    100.0 * (double)f->count[row[i]][row[j]] / (double)f->considered);
        fprintf(f->to, "\n");
    }
}

/* ---- over a range of scales ---- */

static int over_scales(field *f, const cli_args *a)
{
    double range[3] = {0.001, 0.5, 40}, acc[3] = {-4096, 4096, 1};
    int64_t zero;
    assay_elem type = {ASSAY_KIND_INT, 8, true};
    if ((cli_has(a, "scale") && !cli_scheme_range(a, "scale", 1e-30, 1e30, range)) ||
        (cli_has(a, "acc") &&
         !cli_scheme_range(a, "acc", -140737488355328.0, 140737488355328.0, acc)) ||
        (cli_has(a, "type") && !cli_scheme_type(a, f->scheme[0], &type)) ||
        !cli_integer(a, "zp", 0, INT32_MIN, INT32_MAX, &zero))
        return CLI_TROUBLE;
    assay_single *single = calloc((size_t)f->n, sizeof *single);
    if (!single)
        return cli_out_of_memory();
    start(f);
    for (int i = 0; i < (int)range[2]; i++) {
        double t = range[2] > 1 ? i / (range[2] - 1) : 0;
        double real = (double)(float)(range[0] * pow(range[1] / range[0], t));
        const assay_batch b = {.n = 1, .type = type, .scale = &real, .zero_point = &zero};
        const assay_rescale *r[MAX] = {NULL};
        char why[256];
        for (int k = 0; k < f->n; k++) {
            const unsigned form = cli_scheme_form(a, f->scheme[k], type);
            assay_error err;
            if (!assay_single_start(&single[k], f->scheme[k], cli_value(a, "op", NULL), form,
                                    &err) &&
                assay_single_set(&single[k], &b, 0, why, sizeof why)) {
                f->wraps[k] = !assay_single_holds(&single[k], (int64_t)acc[0], (int64_t)acc[1]);
                r[k] = f->wraps[k] ? NULL : &single[k].r;
            }
        }
        add_rescales(f, r, 0, (int64_t)acc[0], (int64_t)acc[1]);
    }
    free(single);
    fprintf(f->to, "%d scales from %.6g to %.6g, accumulators %.0f..%.0f:\n", (int)range[2],
            range[0], range[1], acc[0], acc[1]);
    print_matrix(f, NULL, "accumulators");
    return CLI_OK;
}

/* ---- layer by layer ---- */

static void over_layer(field *f, const assay_graph *g, const cli_layer *l)
{
    assay_unit *unit[MAX] = {NULL};
    const assay_rescale *r[MAX] = {NULL};
    start_node(f, g, l->node);
    for (int k = 0; k < f->n; k++) {
        assay_error err;
        const assay_scheme *s = f->scheme[k];
        if (f->outside[k] || s->vt->prepare(s, &l->spec, &unit[k], &err))
            continue;
        f->wraps[k] = !cli_layer_is_exact(l, s, unit[k]);
        r[k] = f->wraps[k] ? NULL : &unit[k]->scale[ASSAY_OUT];
    }
    for (size_t c = 0; c < l->channels; c++)
        add_rescales(f, r, c, l->lo[c], l->hi[c]);
    for (int k = 0; k < f->n; k++)
        if (unit[k])
            f->scheme[k]->vt->release(unit[k]);
    fprintf(f->to, "%s (%s, %zu channels):\n", l->node->name, assay_op_get(l->node->op)->name,
            l->channels);
    print_matrix(f, l->node, "accumulators");
}

/* A node with few operands: all of them under every scheme. */
static int over_domain(field *f, const assay_graph *g, const cli_domain *d)
{
    const size_t n = d->n * d->width;
    int32_t *out = malloc((size_t)f->n * n * sizeof *out);
    assay_error err;
    if (!out)
        return cli_out_of_memory();
    start_node(f, g, d->node);
    for (int i = 0; i < f->n; i++) {
        int32_t *mine = out + (size_t)i * n;
        f->in[i] = !f->outside[i] && !cli_domain_run(d, f->scheme[i], mine, &err);
        for (int j = 0; j < i && f->in[i]; j++) {
            for (size_t k = 0; k < n && f->in[j]; k += d->width)
                f->count[i][j] +=
                    memcmp(mine + k, out + (size_t)j * n + k, d->width * sizeof *out) != 0;
            f->count[j][i] = f->count[i][j];
        }
    }
    f->considered = d->n;
    free(out);
    fprintf(f->to, "%s (%s):\n", d->node->name, assay_op_get(d->node->op)->name);
    print_matrix(f, d->node, d->what);
    return CLI_OK;
}

static void undecided(field *f, const assay_node *n, const char *why)
{
    json_t *o = json_object();
    page_json_set(&o, "node", page_json_text(n->name));
    page_json_set(&o, "op", json_string(assay_op_get(n->op)->name));
    page_json_set(&o, "not_decided", page_json_text(why));
    page_json_add(&f->tables, o);
    fprintf(f->to, "%s (%s):\n  not decided: %s\n", n->name, assay_op_get(n->op)->name, why);
}

/* The nodes of a graph and of the bodies of its control flow; adds to *found those that can be
 * decided. */
static int over_nodes(field *f, const assay_graph *g, int *found)
{
    int status = CLI_OK;
    for (int i = 0; status == CLI_OK && i < g->n_subgraphs; i++)
        status = over_nodes(f, g->subgraph[i], found);
    for (int i = 0; status == CLI_OK && i < g->n_nodes; i++) {
        cli_layer l;
        cli_domain d;
        int is = cli_layer_of(g, i, &l);
        if (is < 0)
            status = cli_out_of_memory();
        if (is == 0 && cli_domain_of(g, i, &d)) {
            ++*found;
            status = over_domain(f, g, &d);
        } else if (is == 0 && d.why[0] != '\0') {
            undecided(f, d.node, d.why);
        }
        if (is <= 0)
            continue;
        ++*found;
        if (l.why)
            undecided(f, l.node, l.why);
        else
            over_layer(f, g, &l);
        cli_layer_free(&l);
    }
    return status;
}

static int over_network(field *f, const cli_args *a)
{
    static const cli_option scheme = {"scheme", 's', "NAME", ""};
    struct cli_given given[32];
    cli_args copy = *a;
    if (a->n_given > 30)
        return cli_trouble("scheme matrix: too many options");
    memcpy(given, a->given, (size_t)a->n_given * sizeof *given);
    copy.positional = a->positional + 1;
    copy.n_positional = 1;
    copy.given = given;
    if (!cli_has(a, "scheme")) /* whose rules quantize a float network */
        given[copy.n_given++] = (struct cli_given){&scheme, f->scheme[0]->name};
    cli_session session;
    int status = cli_session_load(&session, &copy), found = 0;
    if (status == CLI_OK)
        status = over_nodes(f, session.graph, &found);
    if (status == CLI_OK && found == 0)
        fprintf(f->to, "the network has no quantized node that can be decided\n");
    cli_session_close(&session);
    return status;
}

int cli_scheme_matrix(const cli_args *a)
{
    field *f = calloc(1, sizeof *f);
    if (!f)
        return cli_out_of_memory();
    int status = CLI_TROUBLE;
    f->as_is = cli_has(a, "as-is");
    f->to = cli_notes_of(a);
    f->tables = json_array();
    if (open_schemes(f, a) && f->n > 0)
        status = a->n_positional > 1 ? over_network(f, a) : over_scales(f, a);
    if (status == CLI_OK && cli_has(a, "json"))
        status = cli_json_write(a, json_incref(f->tables));
    json_decref(f->tables);
    for (int i = 0; i < f->n; i++)
        assay_scheme_free(f->scheme[i]);
    free(f);
    return status;
}
