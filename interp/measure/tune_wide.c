/* A small set of nodes in a wider type that reaches the target; others may be smaller. Nodes come
 * in the order of what their quantization costs by itself: to be wide helps a node only where its
 * neighbours are wide, too, so that one alone tells nothing. The first 1, 2, 4, ... of them are
 * tried, then the numbers between the last two; at last each, the cheapest first, whether the
 * target is reached without it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/measure/tune_parts.h"
#include "opt/lower/pass.h"

typedef struct candidate {
    int first, last; /* nodes of the float network: the integer node, and what is fused into it */
    const assay_sensitivity_row *row;
    bool wide;
} candidate;

typedef struct widening {
    measure_tuner *t;
    const assay_graph *g;
    candidate *of; /* in order */
    int n;
    bool *moves; /* by node: codes only pass through it */
    bool *wide;  /* by node: it has a rule */
} widening;

/* ---- rules ---- */

static bool has_wide_input(const widening *w, const assay_node *n)
{
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && w->g->value[n->in[k]].producer >= 0 &&
            w->wide[w->g->value[n->in[k]].producer])
            return true;
    return false;
}

/* What codes pass through is as wide as what wide nodes read or make. */
static void follow_moves(widening *w)
{
    for (int i = w->g->n_nodes - 1; i >= 0; i--) {
        const assay_node *n = &w->g->node[i];
        for (int k = 0; w->wide[i] && k < n->n_in; k++) {
            const int made_by = n->in[k] < 0 ? -1 : w->g->value[n->in[k]].producer;
            if (made_by >= 0 && w->moves[made_by])
                w->wide[made_by] = true;
        }
    }
    for (int i = 0; i < w->g->n_nodes; i++)
        if (w->moves[i] && has_wide_input(w, &w->g->node[i]))
            w->wide[i] = true;
}

/* From the last node that became one integer node to the first. */
static int before(const assay_graph *g, int node)
{
    return g->value[g->node[node].in[0]].producer;
}

/* Rules for the wide nodes, in front of those that were given. */
static void put_rules(widening *w)
{
    const assay_quantize_options *given = w->t->trial->options;
    assay_precision_rule *rule = w->t->r->precision;
    int n = 0;
    memset(w->wide, 0, (size_t)w->g->n_nodes * sizeof *w->wide);
    for (int i = 0; i < w->n; i++)
        for (int at = w->of[i].last; w->of[i].wide; at = before(w->g, at)) {
            w->wide[at] = true;
            if (at == w->of[i].first)
                break;
        }
    follow_moves(w);
    for (int i = 0; i < w->g->n_nodes; i++)
        if (w->wide[i])
            rule[n++] = (assay_precision_rule){
                .pattern = w->g->node[i].name, .elem = w->t->o->wide, .exact = true};
    for (int i = 0; i < given->n_precision; i++)
        rule[n++] = given->precision[i];
    w->t->r->options.n_precision = n;
}

/* ---- candidates ---- */

/* What costs most by itself comes first; execution order among equals. */
static int by_cost(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    const double p = x->row->alone.output_sqnr, q = y->row->alone.output_sqnr;
    return p != q ? (p > q) - (p < q) : x->last - y->last;
}

/* The value of that name, where an integer node makes it: codes of a float node's are converted. */
static const assay_value *codes_of(const assay_graph *q, const char *name)
{
    const int v = assay_graph_find_value(q, name), made_by = v < 0 ? -1 : q->value[v].producer;
    return made_by >= 0 && assay_is_quantized(&q->value[v].type) &&
                   !(assay_op_get(q->node[made_by].op)->traits & ASSAY_T_CONVERT)
               ? &q->value[v]
               : NULL;
}

/* Every row with narrower codes, all of them wide. */
static void list(widening *w)
{
    const assay_graph *g = w->g;
    for (int i = 0; i < w->t->table.n; i++) {
        const assay_sensitivity_row *row = &w->t->table.row[i];
        const int last = g->value[assay_graph_find_value(g, row->value)].producer;
        int first = last;
        while (strcmp(g->node[first].name, row->node) != 0)
            first = before(g, first);
        if (row->elem.bits < w->t->o->wide.bits)
            w->of[w->n++] = (candidate){first, last, row, true};
    }
}

/* Leaves out what the target does not compute in the wider type. */
static void leave_out(widening *w, const assay_graph *all)
{
    int kept = 0;
    for (int i = 0; i < w->n; i++) {
        const assay_value *v = codes_of(all, w->of[i].row->value);
        if (v && v->type.elem.bits == w->t->o->wide.bits)
            w->of[kept++] = w->of[i];
    }
    w->n = kept;
}

static assay_status quantize(const widening *w, assay_graph **q)
{
    const assay_trial *t = w->t->trial;
    return quantize_network(w->g, t->profile, t->scheme, &w->t->r->options, q, NULL, w->t->err);
}

static void find_moves(widening *w, const assay_graph *q)
{
    for (int i = 0; i < w->g->n_nodes; i++) {
        const assay_node *n = &w->g->node[i];
        w->moves[i] = !lower_needs_target(n) && codes_of(q, assay_node_out(w->g, n, 0)->name);
    }
}

static assay_status find_candidates(widening *w)
{
    const size_t n = (size_t)w->g->n_nodes + 1;
    assay_graph *q = NULL, *all = NULL;
    w->of = calloc(n, sizeof *w->of);
    w->moves = calloc(n, sizeof *w->moves);
    w->wide = calloc(n, sizeof *w->wide);
    assay_status status =
        w->of && w->moves && w->wide ? quantize(w, &q) : assay_out_of_memory(w->t->err);
    if (!status) {
        find_moves(w, q);
        list(w);
        put_rules(w);
        status = quantize(w, &all);
    }
    if (!status) {
        leave_out(w, all);
        if (w->n > 1)
            qsort(w->of, (size_t)w->n, sizeof *w->of, by_cost);
    }
    assay_graph_free(q);
    assay_graph_free(all);
    return status;
}

/* ---- the search ---- */

static assay_status try_first(widening *w, int n, assay_fidelity *f, bool *reached)
{
    char what[80], elem[8];
    for (int i = 0; i < w->n; i++)
        w->of[i].wide = i < n;
    put_rules(w);
    assay_status status = measure_tuner_try(w->t, f);
    *reached = !status && measure_tuner_is_reached(w->t, f);
    snprintf(what, sizeof what, "the %d node%s that cost%s most in %s", n, n > 1 ? "s" : "",
             n > 1 ? "" : "s", assay_elem_print(w->t->o->wide, elem));
    if (!status)
        measure_tuner_tell(w->t, what, f, *reached ? "  enough" : "");
    return status;
}

/* How many of the first reach the target: *n, with measure *f; *n is 0 where all do not. */
static assay_status find_number(widening *w, int *n, assay_fidelity *f)
{
    int few = 0, enough = 0;
    bool reached = false;
    assay_status status = ASSAY_OK;
    while (!status && few < w->n && !reached) {
        const int next = few == 0 ? 1 : 2 * few;
        enough = next < w->n ? next : w->n;
        status = try_first(w, enough, f, &reached);
        few = reached ? few : enough;
    }
    while (!status && reached && enough - few > 1) {
        const int middle = few + (enough - few) / 2;
        assay_fidelity at;
        bool is_enough;
        status = try_first(w, middle, &at, &is_enough);
        *f = is_enough ? at : *f;
        enough = is_enough ? middle : enough;
        few = is_enough ? few : middle;
    }
    *n = reached ? enough : 0;
    return status;
}

static assay_status narrow_again(widening *w, int n, assay_fidelity *f)
{
    assay_status status = ASSAY_OK;
    for (int i = n - 2; i >= 0 && !status; i--) {
        assay_fidelity without;
        char what[200], elem[8];
        w->of[i].wide = false;
        put_rules(w);
        status = measure_tuner_try(w->t, &without);
        const bool reached = !status && measure_tuner_is_reached(w->t, &without);
        snprintf(what, sizeof what, "%.100s (%s) in %s again", w->of[i].row->node, w->of[i].row->op,
                 assay_elem_print(w->of[i].row->elem, elem));
        if (!status)
            measure_tuner_tell(w->t, what, &without, reached ? "  kept" : "  not kept");
        w->of[i].wide = !reached;
        *f = reached ? without : *f;
    }
    return status;
}

static assay_status search(widening *w)
{
    assay_fidelity f = w->t->r->after;
    int n;
    assay_status status = find_number(w, &n, &f);
    if (status)
        return status;
    const bool all = n == 0 && measure_tuner_is_better(w->t, &f, &w->t->r->after);
    for (int i = 0; i < w->n; i++)
        w->of[i].wide = all || i < n;
    status = narrow_again(w, n, &f);
    put_rules(w);
    if (n > 0 || all)
        w->t->r->after = f;
    return status;
}

assay_status measure_tuner_widen(measure_tuner *t)
{
    widening w = {.t = t, .g = t->trial->floating};
    assay_trial trial = *t->trial;
    trial.options = &t->r->options;
    assay_status status = measure_sensitivity_measure(&trial, NULL, NULL, &t->table, t->err);
    if (!status)
        status = find_candidates(&w);
    if (!status)
        status = search(&w);
    measure_sensitivity_free(&t->table);
    free(w.of);
    free(w.moves);
    free(w.wide);
    return status;
}
