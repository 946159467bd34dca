/* A greedy search for calibrations, and for nodes in a wider type or in float, that lose little
 * accuracy; see tune.h. */
#include "graph/memory.h"
#include "interp/measure/tune_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void measure_tune_result_free(assay_tune_result *r)
{
    for (int i = 0; i < r->n_owned; i++)
        free(r->owned[i]);
    free(r->owned);
    free(r->calibrate);
    free(r->precision);
    *r = (assay_tune_result){0};
}

static bool is_reached(const measure_tuner *t)
{
    return measure_tuner_is_reached(t, &t->r->after);
}

static assay_status check_target(const measure_tuner *t)
{
    const assay_elem wide = t->o->wide;
    if (wide.bits > 0 && (wide.kind != ASSAY_KIND_INT || wide.bits > 16))
        return assay_fail(t->err, ASSAY_ERR_INPUT,
                          "the wider type (`wide`) is an integer of at most 16 bits, such as i16");
    if (t->o->target_sqnr > 0 || !isnan(measure_fidelity_drop(&t->r->before)))
        return ASSAY_OK;
    return assay_fail(t->err, ASSAY_ERR_INPUT,
                      "%s: the first output has no classes, so no accuracy can be lost: state a "
                      "signal to noise ratio to reach, as `target_sqnr` 30, or which of its axes "
                      "is that of the classes (`class_axis`)",
                      t->trial->floating->name);
}

/* Notes f when it is better than the best so far; what was tried is kept then. */
static bool keep_if_better(measure_tuner *t, const char *what, const assay_fidelity *f)
{
    const bool kept = measure_tuner_is_better(t, f, &t->r->after);
    measure_tuner_tell(t, what, f, kept ? "  kept" : "  not kept");
    if (kept)
        t->r->after = *f;
    return kept;
}

/* ---- step 1: one calibration for all values ---- */

static assay_status tune_calibration(measure_tuner *t)
{
    const assay_calibrate_how first = t->r->options.calibration;
    assay_calibrate_how best = first;
    assay_status status = ASSAY_OK;
    for (int c = ASSAY_CALIBRATE_MIN_MAX; c <= ASSAY_CALIBRATE_KL && !status; c++) {
        assay_fidelity f;
        char what[80];
        if (c == (int)first.method)
            continue;
        t->r->options.calibration = (assay_calibrate_how){.method = (assay_calibration)c};
        status = measure_tuner_try(t, &f);
        snprintf(what, sizeof what, "calibration %s", calibrate_name((assay_calibration)c));
        if (!status && keep_if_better(t, what, &f))
            best = t->r->options.calibration;
    }
    t->r->options.calibration = best;
    return status;
}

/* ---- step 3: node by node ---- */

static const char *own(measure_tuner *t, const char *text)
{
    char *copy = strdup(text);
    if (copy)
        t->r->owned[t->r->n_owned++] = copy;
    return copy;
}

/* A name as a pattern that only it matches. */
static const char *own_pattern(measure_tuner *t, const char *name)
{
    char *pattern = malloc(2 * strlen(name) + 1), *to = pattern;
    if (!pattern)
        return NULL;
    for (; *name; *to++ = *name++)
        if (strchr("*?[\\", *name))
            *to++ = '\\';
    *to = 0;
    const char *kept = own(t, pattern);
    free(pattern);
    return kept;
}

/* The calibration of the node's own output, by a rule in front of all others. */
static assay_status tune_value(measure_tuner *t, const assay_sensitivity_row *row)
{
    assay_quantize_options *o = &t->r->options;
    assay_calibrate_rule *rule = t->r->calibrate;
    const assay_calibration all = o->calibration.method;
    const char *pattern = own_pattern(t, row->value);
    bool any = false;
    assay_status status = pattern ? ASSAY_OK : assay_out_of_memory(t->err);
    memmove(rule + 1, rule, (size_t)o->n_calibrate * sizeof *rule);
    rule[0] = (assay_calibrate_rule){.pattern = pattern};
    o->n_calibrate++;
    assay_calibrate_how best = {0};
    for (int c = ASSAY_CALIBRATE_MIN_MAX; c <= ASSAY_CALIBRATE_KL && !status && !is_reached(t);
         c++) {
        assay_fidelity f;
        char what[200];
        if (c == (int)all)
            continue;
        rule[0].how = (assay_calibrate_how){.method = (assay_calibration)c};
        status = measure_tuner_try(t, &f);
        snprintf(what, sizeof what, "calibration %.100s=%s", row->value,
                 calibrate_name((assay_calibration)c));
        if (!status && keep_if_better(t, what, &f)) {
            best = rule[0].how;
            any = true;
        }
    }
    rule[0].how = best;
    if (!any) {
        memmove(rule, rule + 1, (size_t)(o->n_calibrate - 1) * sizeof *rule);
        o->n_calibrate--;
    }
    return status;
}

/* Runs with the node in float, by a rule in front of all others. */
static assay_status try_float(measure_tuner *t, const assay_sensitivity_row *row, char what[200],
                              assay_fidelity *f)
{
    assay_quantize_options *o = &t->r->options;
    assay_precision_rule *rule = t->r->precision;
    const char *name = own(t, row->node);
    if (!name)
        return assay_out_of_memory(t->err);
    memmove(rule + 1, rule, (size_t)o->n_precision * sizeof *rule);
    rule[0] = (assay_precision_rule){.pattern = name, .elem = assay_f32(), .exact = true};
    o->n_precision++;
    snprintf(what, 200, "%.100s (%s) in float", row->node, row->op);
    return measure_tuner_try(t, f);
}

/* Takes the first `n` rules back. */
static void take_back(measure_tuner *t, int n)
{
    assay_quantize_options *o = &t->r->options;
    o->n_precision -= n;
    memmove(t->r->precision, t->r->precision + n, (size_t)o->n_precision * sizeof *t->r->precision);
}

static assay_status tune_float(measure_tuner *t, const assay_sensitivity_row *row, int *kept)
{
    assay_fidelity f;
    char what[200];
    assay_status status = try_float(t, row, what, &f);
    if (!status && keep_if_better(t, what, &f))
        ++*kept;
    else if (!status)
        take_back(t, 1);
    return status;
}

/* ---- step 4: in float, one after the other ---- */

static bool is_float(const measure_tuner *t, const char *node)
{
    for (int i = 0; i < t->r->options.n_precision; i++)
        if (t->r->precision[i].exact && t->r->precision[i].elem.kind == ASSAY_KIND_F32 &&
            strcmp(t->r->precision[i].pattern, node) == 0)
            return true;
    return false;
}

static assay_status tune_rest(measure_tuner *t, int *kept)
{
    const assay_fidelity before = t->r->after;
    const int kept_before = *kept;
    assay_status status = ASSAY_OK;
    for (int i = 0; i < t->table.n && !status && !is_reached(t) && *kept < t->o->max_float; i++) {
        assay_fidelity f;
        char what[200];
        if (is_float(t, t->table.row[i].node))
            continue;
        status = try_float(t, &t->table.row[i], what, &f);
        if (status)
            break;
        measure_tuner_tell(t, what, &f, "  as well");
        t->r->after = f;
        ++*kept;
    }
    t->at_limit = *kept >= t->o->max_float;
    if (!status && !measure_tuner_is_better(t, &t->r->after, &before)) {
        take_back(t, *kept - kept_before);
        t->r->after = before;
        *kept = kept_before;
    }
    return status;
}

/* Whose absence helps the output most comes first; execution order among equals. */
static int by_cost(const void *a, const void *b)
{
    const assay_sensitivity_row *x = a, *y = b;
    const double p = x->without.output_sqnr, q = y->without.output_sqnr;
    return p != q ? (p < q) - (p > q) : 0;
}

static assay_status make_room(measure_tuner *t)
{
    const assay_quantize_options *o = t->trial->options;
    const size_t n = (size_t)t->trial->floating->n_nodes + 1;
    assay_tune_result *r = t->r;
    r->calibrate = calloc(n + (size_t)o->n_calibrate, sizeof *r->calibrate);
    r->precision = calloc(2 * n + (size_t)o->n_precision, sizeof *r->precision);
    r->owned = calloc(3 * n, sizeof *r->owned);
    if (!r->calibrate || !r->precision || !r->owned)
        return assay_out_of_memory(t->err);
    for (int i = 0; i < o->n_calibrate; i++)
        r->calibrate[i] = o->calibrate[i];
    for (int i = 0; i < o->n_precision; i++)
        r->precision[i] = o->precision[i];
    r->options = *o;
    r->options.calibrate = r->calibrate;
    r->options.precision = r->precision;
    return ASSAY_OK;
}

static assay_status tune_nodes(measure_tuner *t, int *kept)
{
    assay_trial trial = *t->trial;
    trial.options = &t->r->options;
    if (t->o->log)
        t->o->log(t->o->user, "sensitivity of every node");
    assay_status status = measure_sensitivity_measure(&trial, NULL, NULL, &t->table, t->err);
    if (!status && t->table.n > 1)
        qsort(t->table.row, (size_t)t->table.n, sizeof *t->table.row, by_cost);
    for (int i = 0; i < t->table.n && !status && !is_reached(t) && *kept < t->o->max_float; i++) {
        status = tune_value(t, &t->table.row[i]);
        if (!status && !is_reached(t))
            status = tune_float(t, &t->table.row[i], kept);
    }
    return status;
}

assay_status measure_tune(const assay_trial *given, const assay_tune_options *o,
                          assay_tune_result *out, assay_error *err)
{
    assay_recorded recorded = {NULL};
    assay_trial trial = *given;
    measure_tuner t = {.trial = &trial, .o = o, .r = out, .err = err};
    int kept = 0;
    trial.recorded = trial.recorded ? trial.recorded : &recorded;
    *out = (assay_tune_result){0};
    assay_status status = make_room(&t);
    if (!status)
        status = measure_tuner_try(&t, &out->before);
    if (!status) {
        out->after = out->before;
        status = check_target(&t);
    }
    if (!status)
        measure_tuner_tell(&t, "as given", &out->before, "");
    if (!status && !is_reached(&t))
        status = tune_calibration(&t);
    if (!status && !is_reached(&t) && o->wide.bits > 0)
        status = measure_tuner_widen(&t);
    if (!status && !is_reached(&t))
        status = tune_nodes(&t, &kept);
    if (!status && !is_reached(&t))
        status = tune_rest(&t, &kept);
    if (!status) {
        out->reached = is_reached(&t);
        if (out->reached)
            snprintf(out->reason, sizeof out->reason, "the target is reached");
        else if (t.at_limit)
            snprintf(out->reason, sizeof out->reason,
                     "%d nodes are in float, which is the limit, and %d are kept so", o->max_float,
                     kept);
        else
            snprintf(out->reason, sizeof out->reason,
                     "no node is left to try: all %d were, with every calibration, in float alone "
                     "and together",
                     t.table.n);
    }
    measure_sensitivity_free(&t.table);
    free(recorded.output);
    return status;
}
