/* Cost of quantizing each node; see sensitivity.h. */
#include "interp/measure/sensitivity.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opt/lower/pass.h"

#define MAX_FUSED 8 /* nodes that become one integer node */

/* ---- one trial ---- */

static assay_status compare(const assay_trial *t, const assay_graph *q, const char *const *name,
                            int n, double *sqnr, assay_fidelity *out, assay_error *err)
{
    const assay_program_options keep = {.keep_all = true, .engine = ASSAY_ENGINE_FAST};
    assay_program *p[2] = {NULL, NULL};
    assay_value_pair *pair = calloc((size_t)n + 1, sizeof *pair);
    assay_status status = pair ? ASSAY_OK : assay_out_of_memory(err);
    for (int k = 0; k < n && !status; k++) {
        pair[k].reference = assay_graph_find_value(t->floating, name[k]);
        pair[k].other = assay_graph_find_value(q, name[k]);
        if (pair[k].other >= 0 && !assay_is_quantized(&q->value[pair[k].other].type))
            pair[k].other = -1;
    }
    if (!status)
        status = assay_program_make(t->floating, NULL, true, &p[0], err);
    if (!status)
        status = run_program_make_with(q, t->scheme, &keep, &p[1], err);
    if (!status)
        status = measure_fidelity_measure(p[0], p[1], t->samples, t->threads, pair, n, t->recorded,
                                          sqnr, out, err);
    assay_program_free(p[0]);
    assay_program_free(p[1]);
    free(pair);
    return status;
}

assay_status measure_trial_run(const assay_trial *t, const char *const *name, int n, double *sqnr,
                               assay_fidelity *out, assay_graph **made,
                               assay_quantize_report *report, assay_error *err)
{
    assay_graph *q = NULL;
    assay_status status =
        quantize_network(t->floating, t->profile, t->scheme, t->options, &q, report, err);
    if (!status)
        status = compare(t, q, name, n, sqnr, out, err);
    if (made && !status)
        *made = q;
    else
        assay_graph_free(q);
    return status;
}

/* ---- the nodes of a row ---- */

/* Float nodes that became integer node n of q: its namesake, and the activations fused into it up
 * to the one that makes its output. Returns their number, 0 when they are not there. */
static int nodes_of(const assay_graph *g, const assay_graph *q, const assay_node *n,
                    const char **name)
{
    int v = assay_graph_find_value(g, q->value[n->out[0]].name), count = 0;
    while (v >= 0 && g->value[v].producer >= 0 && count < MAX_FUSED) {
        const assay_node *at = &g->node[g->value[v].producer];
        name[count++] = at->name;
        if (strcmp(at->name, n->name) == 0)
            return count;
        v = at->n_in > 0 ? at->in[0] : -1;
    }
    return 0;
}

static bool is_measured(const assay_graph *g, const assay_graph *q, const assay_node *n)
{
    const char *name[MAX_FUSED];
    return assay_node_is_quantized(q, n) && lower_needs_target(n) &&
           !(assay_op_get(n->op)->traits & ASSAY_T_CONVERT) &&
           assay_is_quantized(&q->value[n->out[0]].type) && nodes_of(g, q, n, name) > 0;
}

/* Options with rules in front of t's own for the nodes of a row, and one behind for all others when
 * `rest` is not NULL. The caller frees *rules. */
static assay_status with_rules(const assay_trial *t, const char *const *name, int n,
                               assay_elem elem, const assay_elem *rest,
                               assay_precision_rule **rules, assay_quantize_options *o,
                               assay_error *err)
{
    int own = t->options->n_precision, at = 0;
    *rules = calloc((size_t)(n + own + 1), sizeof **rules);
    if (!*rules)
        return assay_out_of_memory(err);
    for (int i = 0; i < n; i++)
        (*rules)[at++] = (assay_precision_rule){.pattern = name[i], .exact = true, .elem = elem};
    if (rest)
        (*rules)[at++] = (assay_precision_rule){.pattern = "*", .elem = *rest};
    for (int i = 0; i < own && !rest; i++)
        (*rules)[at++] = t->options->precision[i];
    *o = *t->options;
    o->precision = *rules;
    o->n_precision = at;
    return ASSAY_OK;
}

static assay_status measure_row(const assay_trial *t, const assay_graph *q, const assay_node *n,
                                bool alone, assay_sensitivity_row *row, assay_error *err)
{
    const assay_elem floating = assay_f32();
    const char *name[MAX_FUSED], *own = row->value;
    const int count = nodes_of(t->floating, q, n, name);
    assay_precision_rule *rules;
    assay_quantize_options o;
    assay_trial trial = *t;
    double sqnr;
    assay_status status = with_rules(t, name, count, alone ? row->elem : floating,
                                     alone ? &floating : NULL, &rules, &o, err);
    trial.options = &o;
    if (!status)
        status = measure_trial_run(&trial, &own, alone ? 1 : 0, &sqnr,
                                   alone ? &row->alone : &row->without, NULL, NULL, err);
    if (!status && alone)
        row->isolated = sqnr;
    free(rules);
    return status;
}

void measure_sensitivity_free(assay_sensitivity *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->row[i].node);
        free(s->row[i].op);
        free(s->row[i].value);
    }
    free(s->row);
    *s = (assay_sensitivity){0};
}

/* Rows with names, nothing measured; index[i]: the node of q. */
static assay_status make_rows(const assay_graph *g, const assay_graph *q, assay_sensitivity *s,
                              int *index, assay_error *err)
{
    s->row = calloc((size_t)q->n_nodes + 1, sizeof *s->row);
    if (!s->row)
        return assay_out_of_memory(err);
    for (int i = 0; i < q->n_nodes; i++) {
        const assay_node *n = &q->node[i];
        if (!is_measured(g, q, n))
            continue;
        assay_sensitivity_row *r = &s->row[s->n];
        index[s->n++] = i;
        r->node = strdup(n->name);
        r->op = strdup(assay_op_get(n->op)->name);
        r->value = strdup(q->value[n->out[0]].name);
        r->elem = q->value[n->out[0]].type.elem;
        if (!r->node || !r->op || !r->value)
            return assay_out_of_memory(err);
    }
    return ASSAY_OK;
}

static assay_status measure_whole(const assay_trial *t, const assay_graph *q, assay_sensitivity *s,
                                  assay_error *err)
{
    const char **name = calloc((size_t)s->n + 1, sizeof *name);
    double *sqnr = calloc((size_t)s->n + 1, sizeof *sqnr);
    assay_status status = name && sqnr ? ASSAY_OK : assay_out_of_memory(err);
    for (int i = 0; i < s->n && !status; i++)
        name[i] = s->row[i].value;
    if (!status)
        status = compare(t, q, name, s->n, sqnr, &s->whole, err);
    for (int i = 0; i < s->n && !status; i++)
        s->row[i].cumulative = sqnr[i];
    free(name);
    free(sqnr);
    return status;
}

static assay_status measure(const assay_trial *t, void (*step)(void *, int done, int of),
                            void *user, assay_sensitivity *out, assay_error *err)
{
    assay_graph *q = NULL;
    int *index = NULL;
    assay_status status =
        quantize_network(t->floating, t->profile, t->scheme, t->options, &q, NULL, err);
    *out = (assay_sensitivity){0};
    if (!status && !(index = calloc((size_t)q->n_nodes + 1, sizeof *index)))
        status = assay_out_of_memory(err);
    if (!status)
        status = make_rows(t->floating, q, out, index, err);
    if (!status)
        status = measure_whole(t, q, out, err);
    for (int k = 0; k < 2 * out->n && !status; k++) {
        if (step)
            step(user, k, 2 * out->n);
        status = measure_row(t, q, &q->node[index[k / 2]], k % 2 == 0, &out->row[k / 2], err);
    }
    assay_graph_free(q);
    free(index);
    return status;
}

assay_status measure_sensitivity_measure(const assay_trial *t,
                                         void (*step)(void *, int done, int of), void *user,
                                         assay_sensitivity *out, assay_error *err)
{
    assay_recorded recorded = {NULL};
    assay_trial trial = *t;
    if (!trial.recorded)
        trial.recorded = &recorded;
    assay_status status = measure(&trial, step, user, out, err);
    free(recorded.output);
    return status;
}
