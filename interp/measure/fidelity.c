/* Fidelity of one network's values to another's on the same samples; see fidelity.h. */
#include "interp/measure/fidelity.h"
#include "graph/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/compare.h"
#include "interp/measure/judge.h"
#include "interp/measure/workers.h"

static assay_powers compare(const assay_type *tr, const void *r, const assay_type *to,
                            const void *o)
{
    const int64_t n = assay_shape_count(tr);
    assay_powers p = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        const double a = golden_element_real(tr, r, i);
        const double d = a - golden_element_real(to, o, i);
        if (!isfinite(a))
            continue;
        p.signal += a * a;
        p.noise += d * d;
        p.n++;
    }
    return p;
}

typedef struct job {
    const assay_program *program[2];
    const assay_samples *samples;
    const assay_value_pair *pair; /* [n] */
    int n;
    char *recorded;       /* the reference's first output by sample, or NULL */
    bool has_recorded;    /* it has them all: the reference is not run */
    assay_powers *powers; /* [sample][n], whatever thread made them */
    assay_judge judge[2];
    assay_part part; /* of the first outputs */
} job;

/* What one thread has of its own. */
typedef struct worker {
    assay_run *run[2];
    assay_tally tally[2];
    int64_t *label; /* [places] */
    int64_t agree;
} worker;

static const assay_type *type_of(const job *j, int which, int value)
{
    return &j->program[which]->graph->value[value].type;
}

static assay_status run_both(const job *j, assay_run *const run[2], int64_t i, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = j->has_recorded ? 1 : 0; k < 2 && !status; k++) {
        const assay_samples *own = k == 0 ? j->samples->reference : NULL;
        status = measure_sample_run(run[k], own ? own : j->samples, j->program[k]->graph, i, err);
    }
    return status;
}

static size_t output_bytes(const job *j)
{
    return assay_type_bytes(type_of(j, 0, j->program[0]->graph->output[0]));
}

/* The first outputs of both; the reference's is kept where it is recorded. */
static void results_of(const job *j, assay_run *const run[2], int64_t k, const void *result[2])
{
    char *const kept = j->recorded ? j->recorded + (size_t)k * output_bytes(j) : NULL;
    result[0] = j->has_recorded ? kept : assay_run_data(run[0], j->program[0]->graph->output[0]);
    result[1] = assay_run_data(run[1], j->program[1]->graph->output[0]);
    if (kept && !j->has_recorded)
        memcpy(kept, result[0], output_bytes(j));
}

static assay_status judge(const job *j, worker *w, int64_t k, const void *const result[2],
                          assay_error *err)
{
    const int64_t i = j->samples->first + k;
    assay_status status = measure_judge_labels(&j->judge[1], j->samples, i, w->label, err);
    const assay_type *t[2];

    for (int s = 0; s < 2; s++) {
        t[s] = type_of(j, s, j->program[s]->graph->output[0]);
        measure_output_hash(t[s], result[s], &j->part.hash[s][k]);
        if (!status)
            status = measure_tally_add(&w->tally[s], &j->judge[s], t[s], result[s], w->label, err)
                         ? measure_sample_failed(j->samples, i, ASSAY_ERR_INPUT, err)
                         : ASSAY_OK;
        j->part.loss[s][k] = w->tally[s].loss;
    }
    for (int64_t p = 0; p < j->judge[0].places; p++)
        w->agree += measure_judge_best(&j->judge[0], t[0], result[0], p) ==
                    measure_judge_best(&j->judge[1], t[1], result[1], p);
    return status;
}

static assay_status note(const job *j, worker *w, int64_t k, assay_error *err)
{
    const int outputs[2] = {j->program[0]->graph->output[0], j->program[1]->graph->output[0]};
    assay_powers *const at = &j->powers[k * j->n];
    const void *result[2];

    results_of(j, w->run, k, result);
    for (int p = 0; p < j->n; p++) {
        const int r = j->pair[p].reference, o = j->pair[p].other;
        if (r >= 0 && o >= 0)
            at[p] = compare(type_of(j, 0, r), assay_run_data(w->run[0], r), type_of(j, 1, o),
                            assay_run_data(w->run[1], o));
    }
    j->part.noise[k] =
        compare(type_of(j, 0, outputs[0]), result[0], type_of(j, 1, outputs[1]), result[1]);
    return judge(j, w, k, result, err);
}

static assay_status start(void *of, void *own, int thread, assay_error *err)
{
    const job *j = of;
    worker *w = own;
    assay_status status = ASSAY_OK;

    (void)thread;
    for (int k = 0; k < 2 && !status; k++)
        status = measure_tally_make(&j->judge[k], &w->tally[k], err);
    for (int k = j->has_recorded ? 1 : 0; k < 2 && !status; k++)
        status = assay_run_new(j->program[k], &w->run[k], err);
    w->label = calloc((size_t)j->judge[1].places + 1, sizeof *w->label);
    if (!status && !w->label)
        status = assay_out_of_memory(err);
    return status;
}

static assay_status compare_sample(void *of, void *own, int64_t k, assay_error *err)
{
    const job *j = of;
    worker *w = own;
    const assay_status status = run_both(j, w->run, j->samples->first + k, err);
    return status ? status : note(j, w, k, err);
}

static assay_status finish(void *of, void *own, bool failed, assay_error *err)
{
    job *j = of;
    worker *w = own;

    (void)err;
    j->part.agree += w->agree;
    for (int k = 0; k < 2; k++) {
        if (!failed)
            measure_tally_join(&j->part.tally[k], &w->tally[k]);
        measure_tally_free(&w->tally[k]);
        assay_run_free(w->run[k]);
    }
    free(w->label);
    return ASSAY_OK;
}

/* Where classes are in both outputs, and room for what is counted. */
static assay_status prepare(job *j, assay_error *err)
{
    const size_t samples = (size_t)j->samples->count;
    const assay_value *out[2];
    assay_status status = ASSAY_OK;

    for (int k = 0; k < 2; k++) {
        const assay_graph *g = j->program[k]->graph;
        if (g->n_outputs < 1)
            return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: the network has no output", g->name);
        out[k] = &g->value[g->output[0]];
        status = status ? status : measure_judge_make(out[k], j->samples, &j->judge[k], err);
    }
    if (!status && (assay_shape_count(&out[0]->type) != assay_shape_count(&out[1]->type) ||
                    j->judge[0].places != j->judge[1].places))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "outputs '%s' and '%s' of the two networks are not of one shape",
                            out[0]->name, out[1]->name);
    j->part.first = j->samples->first;
    j->part.count = j->samples->count;
    j->part.places = j->judge[0].places;
    j->part.tokens = j->judge[1].tokens;
    if (!status)
        status = measure_part_make(&j->part, true, err);
    for (int k = 0; k < 2 && !status; k++)
        status = measure_tally_make(&j->judge[k], &j->part.tally[k], err);
    j->powers = calloc(samples * (size_t)j->n + 1, sizeof *j->powers);
    if (!status && !j->powers)
        status = assay_out_of_memory(err);
    return status;
}

void measure_fidelity_of(const assay_part *p, assay_fidelity *out)
{
    const assay_powers all = measure_powers_sum(p->noise, p->noise ? p->count : 0, 1);
    assay_accuracy *side[2] = {&out->reference, &out->other};

    *out = (assay_fidelity){.samples = p->count};
    for (int k = p->noise ? 0 : 1; k < 2; k++) {
        measure_tally_end(&p->tally[k], p->tokens ? p->loss[k] : NULL, p->count, side[k]);
        measure_accuracy_digest(p->hash[k], p->count, side[k]->digest);
    }
    if (!p->noise)
        return;
    out->compared = p->count * p->places;
    out->agree = p->agree;
    out->output_sqnr = measure_powers_decibels(all);
    out->output_mse = all.n ? all.noise / (double)all.n : 0;
}

static void decibels_of(const job *j, double *sqnr)
{
    for (int p = 0; p < j->n; p++)
        sqnr[p] = j->pair[p].reference < 0 || j->pair[p].other < 0
                      ? (double)NAN
                      : measure_powers_decibels(
                            measure_powers_sum(j->powers + p, j->samples->count, j->n));
}

static assay_status measure(job *j, int threads, assay_recorded *recorded, assay_error *err)
{
    const measure_work work = {j->samples, j, sizeof(worker), start, compare_sample, finish};
    assay_status status = prepare(j, err);

    if (recorded && !status) {
        const size_t bytes = output_bytes(j), max = ASSAY_RECORDED_BYTES;
        j->has_recorded = j->n == 0 && recorded->output;
        j->recorded = recorded->output;
        if (!j->recorded && bytes > 0 && (size_t)j->samples->count <= max / bytes)
            j->recorded = malloc((size_t)j->samples->count * bytes + 1);
    }
    if (!status)
        status = measure_samples(&work, threads, err);
    if (recorded && !status)
        recorded->output = j->recorded;
    else if (!recorded || j->recorded != recorded->output)
        free(j->recorded);
    return status;
}

assay_status measure_fidelity_measure(const assay_program *reference, const assay_program *other,
                                      const assay_samples *samples, int threads,
                                      const assay_value_pair *pair, int n, assay_recorded *recorded,
                                      double *sqnr, assay_fidelity *out, assay_error *err)
{
    job j = {.program = {reference, other}, .samples = samples, .pair = pair, .n = n};
    const assay_status status = measure(&j, threads, recorded, err);

    *out = (assay_fidelity){0};
    if (!status) {
        decibels_of(&j, sqnr);
        measure_fidelity_of(&j.part, out);
        out->by_agreement = samples->by_agreement;
    }
    measure_part_free(&j.part);
    free(j.powers);
    return status;
}

assay_status measure_fidelity_part(const assay_program *reference, const assay_program *other,
                                   const assay_samples *samples, int threads, assay_part *out,
                                   assay_error *err)
{
    job j = {.program = {reference, other}, .samples = samples};
    const assay_status status = measure(&j, threads, NULL, err);

    *out = j.part;
    free(j.powers);
    return status;
}

double measure_fidelity_drop(const assay_fidelity *f)
{
    const bool labelled = f->other.samples > 0 && !f->by_agreement;
    if (labelled && !isnan(f->other.loss))
        return 100.0 * (exp(f->other.loss - f->reference.loss) - 1);
    if (labelled && !isnan(f->other.mean_iou))
        return 100.0 * (f->reference.mean_iou - f->other.mean_iou);
    if (labelled)
        return 100.0 * (double)(f->reference.top[0] - f->other.top[0]) / (double)f->other.samples;
    return f->compared > 0 ? 100.0 * (double)(f->compared - f->agree) / (double)f->compared
                           : (double)NAN;
}

const char *measure_fidelity_drop_name(const assay_fidelity *f)
{
    if (f->other.samples > 0 && !f->by_agreement && !isnan(f->other.loss))
        return "perplexity, in percent of float's";
    if (f->other.samples > 0 && !f->by_agreement)
        return isnan(f->other.mean_iou) ? "top-1" : "mean IoU";
    if (f->compared > 0)
        return f->by_agreement ? "agreement with float" : "agreement with float (no labels)";
    return "nothing (an output without classes)";
}
