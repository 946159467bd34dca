/* assay scheme diff: where two arithmetics part, exactly: by record, by a range of scales, by the
 * layers of a network. Exit status 0 when they agree, 1 when they differ, 2 when no difference was
 * found but not all was decided. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "interp/cli/domain.h"
#include "interp/cli/layers.h"
#include "interp/cli/scheme.h"
#include "interp/cli/session.h"
#include "schemes/node/admit.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/data.h"
#include "schemes/rescale/single.h"
#include "schemes/rescale/thresholds.h"

typedef struct pair {
    const assay_scheme *a, *b;
    bool as_is; /* nodes that their types do not admit are compared too */
    bool differ;
    int undecided; /* scales, or nodes */
} pair;

/* ---- the records ---- */

static void compare_records(pair *p, const cli_args *args)
{
    const char *op = cli_value(args, "op", "conv");
    const assay_op of = assay_op_find(op);
    bool wide_a = cli_has(args, "wide") || cli_scheme_is_wide(p->a);
    bool wide_b = cli_has(args, "wide") || cli_scheme_is_wide(p->b);
    assay_record a, b;
    size_t n, same = 0, differ = 0;
    const assay_field *fields = assay_record_fields(&n);
    assay_effective_record(assay_data(p->a), op, "", wide_a, &a);
    assay_effective_record(assay_data(p->b), op, "", wide_b, &b);
    printf("parameters %s %s:\n", cli_has(args, "op") ? "that are read for" : "for", op);
    for (size_t i = 0; i < n; i++) {
        if (cli_has(args, "op") && !assay_reads_op(&a, of, &fields[i]) &&
            !assay_reads_op(&b, of, &fields[i]))
            continue;
        assay_field_value x = assay_record_get(&a, &fields[i]),
                          y = assay_record_get(&b, &fields[i]);
        char key[80], left[128], right[128];
        if (assay_field_equal(&fields[i], x, y)) {
            same++;
            continue;
        }
        differ++;
        snprintf(key, sizeof key, "%s.%s", fields[i].section, fields[i].name);
        assay_field_print(&fields[i], x, left, sizeof left);
        assay_field_print(&fields[i], y, right, sizeof right);
        printf("  %-32s %-28s %s\n", key, left, right);
    }
    printf("  %zu differ, %zu are the same\n", differ, same);
    if (!cli_has(args, "scale") && !cli_has(args, "model"))
        p->differ = differ > 0;
}

/* ---- one rescale against another ---- */

static const char *code_text(int64_t code, char buf[24])
{
    if (code == ASSAY_REFUSED)
        return "refused";
    snprintf(buf, 24, "%" PRId64, code);
    return buf;
}

static void print_first(const assay_disagreements *d, size_t max)
{
    char a[24], b[24];
    for (size_t i = 0; i < d->n_first && i < max; i++) {
        const assay_disagreement *r = &d->first[i];
        printf("    acc %" PRId64, r->from);
        if (r->to != r->from)
            printf("..%" PRId64, r->to);
        printf(": %s, %s\n", code_text(r->a, a), code_text(r->b, b));
    }
}

/* Two forms; they are freed. */
static void compare_forms(assay_threshold_form *a, assay_threshold_form *b,
                          assay_disagreements *out)
{
    assay_threshold_form_compare(a, b, out);
    assay_threshold_form_free(a);
    assay_threshold_form_free(b);
}

static assay_status compare_rescales(const assay_rescale *a, size_t ca, const assay_rescale *b,
                                     size_t cb, int64_t lo, int64_t hi, assay_disagreements *out,
                                     assay_error *err)
{
    assay_threshold_form x, y;
    assay_status status = assay_threshold_form_make(a, ca, lo, hi, &x, err);
    if (status != ASSAY_OK)
        return status;
    status = assay_threshold_form_make(b, cb, lo, hi, &y, err);
    if (status == ASSAY_OK)
        compare_forms(&x, &y, out);
    else
        assay_threshold_form_free(&x);
    return status;
}

#define MAX_SUMS (1 << 22) /* that are all tried, where an accumulator does not hold them */

static int64_t code_of(const void *single, int64_t acc)
{
    int64_t code;
    char why[256];
    return assay_single_code(single, acc, true, &code, why, sizeof why) ? code : ASSAY_REFUSED;
}

/* Lone rescales of exact sums. */
static assay_status compare_single(const assay_single *a, const assay_single *b, int64_t lo,
                                   int64_t hi, assay_disagreements *out, assay_error *err)
{
    assay_threshold_form x, y;
    if (assay_single_holds(a, lo, hi) && assay_single_holds(b, lo, hi))
        return compare_rescales(&a->r, 0, &b->r, 0, lo, hi, out, err);
    if (hi - lo >= MAX_SUMS)
        return assay_fail(err, ASSAY_ERR_LIMIT,
                          "sums leave an accumulator of %d or %d bits; give --acc within it, or at "
                          "most %d of them",
                          a->rec.accumulator.bits, b->rec.accumulator.bits, MAX_SUMS);
    assay_status status = assay_threshold_form_ask(code_of, a, false, lo, hi, &x, err);
    if (status != ASSAY_OK)
        return status;
    status = assay_threshold_form_ask(code_of, b, false, lo, hi, &y, err);
    if (status == ASSAY_OK)
        compare_forms(&x, &y, out);
    else
        assay_threshold_form_free(&x);
    return status;
}

/* ---- a range of scales ---- */

typedef struct question {
    assay_elem type;
    int64_t zero, in_zero, lo, hi;
    const char *op;
    bool wide;
} question;

static bool set(assay_single *o, const assay_scheme *s, const question *q, double real, char *why,
                size_t size)
{
    assay_error err;
    const assay_batch b = {
        .n = 1, .type = q->type, .scale = &real, .zero_point = &q->zero, .in_zero = &q->in_zero};
    if (assay_single_start(o, s, q->op, q->wide || cli_scheme_is_wide(s), &err) == ASSAY_OK)
        return assay_single_set(o, &b, 0, why, size);
    snprintf(why, size, "%.200s", err.text);
    return false;
}

/* One scale; adds to the totals. */
static int compare_scale(pair *p, const question *q, double real, bool alone, uint64_t totals[2])
{
    assay_single a, b;
    assay_disagreements d;
    assay_error err;
    char why[256];
    const assay_scheme *who = p->a;
    bool ok = set(&a, who, q, real, why, sizeof why);
    if (ok)
        ok = set(&b, who = p->b, q, real, why, sizeof why);
    if (!ok) {
        printf("  R = %-12.9g not decided: %s refuses: %s\n", real, who->name, why);
        p->undecided++;
        return CLI_OK;
    }
    if (compare_single(&a, &b, q->lo, q->hi, &d, &err) != ASSAY_OK)
        return cli_failed(&err);
    totals[0] += d.count;
    totals[1] += d.considered;
    if (d.count == 0 && !alone)
        return CLI_OK;
    if (d.count == 0) {
        printf("  R = %-12.9g identical for every accumulator\n", real);
        return CLI_OK;
    }
    p->differ = true;
    printf("  R = %-12.9g %" PRIu64 " accumulators in %" PRIu64 " runs, by at most %" PRId64 "\n",
           real, d.count, d.runs, d.greatest);
    print_first(&d, alone ? ASSAY_FIRST_DISAGREEMENTS : 2);
    return CLI_OK;
}

static int compare_scales(pair *p, const cli_args *args)
{
    question q = {.op = cli_value(args, "op", NULL), .wide = cli_has(args, "wide")};
    double range[3], acc[3] = {-(1 << 20), 1 << 20, 1};
    uint64_t totals[2] = {0, 0};
    if (!cli_scheme_range(args, "scale", 1e-30, 1e30, range) ||
        (cli_has(args, "acc") &&
         !cli_scheme_range(args, "acc", -140737488355328.0, 140737488355328.0, acc)) ||
        !cli_scheme_type(args, p->a, &q.type) ||
        !cli_integer(args, "zp", 0, INT32_MIN, INT32_MAX, &q.zero) ||
        !cli_integer(args, "in-zp", 0, INT32_MIN, INT32_MAX, &q.in_zero))
        return CLI_TROUBLE;
    q.lo = (int64_t)acc[0];
    q.hi = (int64_t)acc[1];
    int n = (int)range[2];
    char elem[8];
    printf("accumulators %" PRId64 "..%" PRId64 " to %s, %d scale%s from %.9g to %.9g:\n", q.lo,
           q.hi, assay_elem_print(q.type, elem), n, n > 1 ? "s" : "", range[0], range[1]);
    for (int i = 0; i < n; i++) {
        double t = n > 1 ? (double)i / (n - 1) : 0; /* evenly spaced logarithms */
        double real = (double)(float)(range[0] * pow(range[1] / range[0], t));
        int status = compare_scale(p, &q, n > 1 ? real : range[0], n == 1, totals);
        if (status != CLI_OK)
            return status;
    }
    if (totals[1] == 0)
        printf("  nothing was decided\n");
    else if (totals[0] == 0)
        printf("  identical for every accumulator%s (%" PRIu64 " considered)\n",
               p->undecided > 0 ? " of the other scales" : "", totals[1]);
    else
        printf("  %" PRIu64 " of %" PRIu64 " differ\n", totals[0], totals[1]);
    return CLI_OK;
}

/* ---- the layers of a network ---- */

/* A node whose operands are too many to try all. */
static void not_decided(pair *p, const assay_node *n, const assay_unit_spec *spec, const char *why)
{
    const char *op = assay_op_get(n->op)->name;
    if (assay_reads_same(p->a, p->b, spec)) {
        printf("  %-28.60s %-8s identical: it reads the same parameters\n", n->name, op);
        return;
    }
    printf("  %-28.60s %-8s not decided: %s\n", n->name, op, why);
    p->undecided++;
}

/* The same where both schemes have arithmetic for it. */
static void leave_node(pair *p, const assay_node *n, const assay_unit_spec *spec, const char *why)
{
    const assay_scheme *const side[2] = {p->a, p->b};
    assay_error err;
    for (int i = 0; i < 2; i++) {
        assay_unit *u;
        if (side[i]->vt->prepare(side[i], spec, &u, &err) != ASSAY_OK) {
            printf("  %-28.60s %-8s not comparable: %s\n", n->name, assay_op_get(n->op)->name,
                   err.text);
            p->undecided++;
            return;
        }
        side[i]->vt->release(u);
    }
    not_decided(p, n, spec, why);
}

typedef struct totals {
    uint64_t count, considered, channels;
    int64_t greatest;
    int64_t channel; /* of the first example */
    assay_disagreements first;
} totals;

static assay_status compare_channels(const cli_layer *l, const assay_unit *a, const assay_unit *b,
                                     totals *t, assay_error *err)
{
    memset(t, 0, sizeof *t);
    for (size_t c = 0; c < l->channels; c++) {
        assay_disagreements d;
        assay_status status = compare_rescales(&a->scale[ASSAY_OUT], c, &b->scale[ASSAY_OUT], c,
                                               l->lo[c], l->hi[c], &d, err);
        if (status != ASSAY_OK)
            return status;
        t->considered += d.considered;
        t->count += d.count;
        t->channels += d.count > 0;
        t->greatest = d.greatest > t->greatest ? d.greatest : t->greatest;
        if (d.count > 0 && t->first.n_first == 0) {
            t->first = d;
            t->channel = (int64_t)c;
        }
    }
    return ASSAY_OK;
}

static int compare_layer(pair *p, const cli_layer *l)
{
    assay_unit *a = NULL, *b = NULL;
    assay_error err;
    totals t;
    const char *name = l->node->name, *op = assay_op_get(l->node->op)->name;
    assay_status status = p->a->vt->prepare(p->a, &l->spec, &a, &err);
    if (status == ASSAY_OK)
        status = p->b->vt->prepare(p->b, &l->spec, &b, &err);
    if (status != ASSAY_OK) {
        printf("  %-28.60s %-8s not comparable: %s\n", name, op, err.text);
        p->undecided++;
    } else if (l->why != NULL) {
        not_decided(p, l->node, &l->spec, l->why);
    } else if (!cli_layer_is_exact(l, p->a, a) || !cli_layer_is_exact(l, p->b, b)) {
        char why[160];
        snprintf(why, sizeof why, "sums can leave %.80s's accumulator; compare runs of both",
                 (cli_layer_is_exact(l, p->a, a) ? p->b : p->a)->name);
        not_decided(p, l->node, &l->spec, why);
    } else if ((status = compare_channels(l, a, b, &t, &err)) != ASSAY_OK) {
        not_decided(p, l->node, &l->spec, err.text);
    } else if (t.count == 0) {
        printf("  %-28.60s %-8s identical for every reachable accumulator\n", name, op);
    } else {
        printf("  %-28.60s %-8s %" PRIu64 " of %" PRIu64 " accumulators, in %" PRIu64
               " of %zu channels, by at most %" PRId64 "; channel %" PRId64 ":\n",
               name, op, t.count, t.considered, t.channels, l->channels, t.greatest, t.channel);
        print_first(&t.first, 2);
        p->differ = true;
    }
    if (a != NULL)
        p->a->vt->release(a);
    if (b != NULL)
        p->b->vt->release(b);
    return CLI_OK;
}

/* A node with few operands: all of them. */
static int compare_domain(pair *p, const cli_domain *d)
{
    const char *name = d->node->name, *op = assay_op_get(d->node->op)->name;
    const size_t n = d->n * d->width;
    int32_t *a = malloc(2 * n * sizeof *a), *b = a + n;
    assay_error err;
    size_t count = 0, first = 0;
    int64_t greatest = 0;
    if (a == NULL)
        return cli_out_of_memory();
    if (cli_domain_run(d, p->a, a, &err) != ASSAY_OK ||
        cli_domain_run(d, p->b, b, &err) != ASSAY_OK) {
        printf("  %-28.60s %-8s not comparable: %s\n", name, op, err.text);
        p->undecided++;
        free(a);
        return CLI_OK;
    }
    for (size_t i = 0; i < d->n; i++) {
        size_t at = i * d->width;
        bool differs = false;
        for (size_t k = at; k < at + d->width; k++) {
            int64_t apart = llabs((long long)a[k] - b[k]);
            if (apart > 0 && !differs && count++ == 0)
                first = k;
            differs = differs || apart > 0;
            greatest = apart > greatest ? apart : greatest;
        }
    }
    if (count == 0) {
        printf("  %-28.60s %-8s identical for all %zu %s\n", name, op, d->n, d->what);
    } else {
        char point[64];
        printf("  %-28.60s %-8s %zu of %zu %s, by at most %" PRId64 ":\n    %s: %d, %d\n", name, op,
               count, d->n, d->what, greatest,
               cli_domain_point(d, first / d->width, point, sizeof point), a[first], b[first]);
        p->differ = true;
    }
    free(a);
    return CLI_OK;
}

/* Whether a side has no claim on the node, which its types do not admit. */
static bool is_outside(pair *p, const assay_graph *g, const assay_node *n)
{
    const assay_scheme *const side[2] = {p->a, p->b};
    char why[ASSAY_ADMIT_WHY];
    for (int i = 0; i < 2; i++) {
        if (p->as_is || assay_scheme_admits(side[i], g, n, why, sizeof why))
            continue;
        printf("  %-28.60s %-8s outside the types of %s: %s; --as-is compares\n", n->name,
               assay_op_get(n->op)->name, side[i]->name, why);
        p->undecided++;
        return true;
    }
    return false;
}

/* The nodes of a graph and of the bodies of its control flow; adds to *count those that can be
 * decided. */
static int compare_nodes(pair *p, const assay_graph *g, int *count)
{
    int found = 0, status = CLI_OK;
    for (int i = 0; i < g->n_subgraphs && status == CLI_OK; i++)
        status = compare_nodes(p, g->subgraph[i], count);
    if (status != CLI_OK)
        return status;
    for (int i = 0; i < g->n_nodes; i++) {
        cli_layer l;
        cli_domain d;
        if (is_outside(p, g, &g->node[i])) {
            found++;
            continue;
        }
        int is = cli_layer_of(g, i, &l);
        if (is < 0)
            return cli_out_of_memory();
        if (is == 0 && cli_domain_of(g, i, &d)) {
            found++;
            if (compare_domain(p, &d) != CLI_OK)
                return CLI_TROUBLE;
        } else if (is == 0 && d.why[0] != '\0') {
            leave_node(p, d.node, &d.spec, d.why);
        }
        if (is == 0)
            continue;
        found++;
        status = compare_layer(p, &l);
        cli_layer_free(&l);
        if (status != CLI_OK)
            return status;
    }
    *count += found;
    return CLI_OK;
}

static int compare_layers(pair *p, const assay_graph *g)
{
    int found = 0;
    printf("nodes, with the accumulators that their weights can reach, or all their operands:\n");
    if (compare_nodes(p, g, &found) != CLI_OK)
        return CLI_TROUBLE;
    if (found == 0)
        printf("  none: the network has no quantized node that can be decided\n");
    p->undecided += found == 0;
    return CLI_OK;
}

static int compare_network(pair *p, const cli_args *args)
{
    /* The session takes the model and a scheme for quantizing as its own arguments. */
    static const cli_option scheme = {"scheme", 's', "NAME", ""};
    const char *model = cli_value(args, "model", NULL);
    cli_args copy = *args;
    copy.positional = &model;
    copy.n_positional = 1;
    copy.given = malloc((size_t)(args->n_given + 1) * sizeof *copy.given);
    if (copy.given == NULL)
        return cli_out_of_memory();
    memcpy(copy.given, args->given, (size_t)args->n_given * sizeof *copy.given);
    copy.given[args->n_given].option = &scheme;
    copy.given[args->n_given].value = args->positional[1];
    copy.n_given++;
    cli_session session;
    int status = cli_session_load(&session, &copy);
    if (status == CLI_OK)
        status = compare_layers(p, session.graph);
    cli_session_close(&session);
    free(copy.given);
    return status;
}

int cli_scheme_diff(const cli_args *args)
{
    assay_scheme *a = NULL, *b = NULL;
    assay_error err;
    int status = CLI_OK;
    if (assay_scheme_open(args->positional[1], &a, &err) != ASSAY_OK)
        return cli_failed(&err);
    if (assay_scheme_open(args->positional[2], &b, &err) != ASSAY_OK) {
        assay_scheme_free(a);
        return cli_failed(&err);
    }
    pair p = {a, b, cli_has(args, "as-is"), false, 0};
    if (!cli_scheme_names_differ(a, b) || !cli_scheme_op(args))
        status = CLI_TROUBLE;
    else if (a->record == NULL || b->record == NULL) {
        status = cli_trouble("scheme diff: a plugin has no record to compare");
    } else {
        compare_records(&p, args);
        if (cli_has(args, "scale"))
            status = compare_scales(&p, args);
        if (status == CLI_OK && cli_has(args, "model"))
            status = compare_network(&p, args);
    }
    assay_scheme_free(a);
    assay_scheme_free(b);
    if (status != CLI_OK || p.differ)
        return status != CLI_OK ? status : CLI_DIFFERENT;
    if (p.undecided == 0)
        return CLI_OK;
    return cli_trouble("scheme diff: no difference found, but %d of the %s not decided",
                       p.undecided, cli_has(args, "model") ? "nodes were" : "scales were");
}
