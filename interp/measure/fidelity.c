#include "interp/measure/fidelity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/golden/compare.h"
#include "interp/run/workers.h"

/* Of one pair on one sample; summed over samples in their order, whatever thread made them. */
typedef struct powers {
    double signal, noise;
} powers;

static powers compare(const assay_type *tr, const void *r, const assay_type *to, const void *o)
{
    const int64_t n = assay_shape_count(tr);
    powers p = {0, 0};
    for (int64_t i = 0; i < n; i++) {
        const double a = assay_element_real(tr, r, i);
        const double d = a - assay_element_real(to, o, i);
        if (!isfinite(a))
            continue;
        p.signal += a * a;
        p.noise += d * d;
    }
    return p;
}

static double decibels(const powers *p, int64_t samples, int stride)
{
    powers all = {0, 0};
    for (int64_t i = 0; i < samples; i++) {
        all.signal += p[i * stride].signal;
        all.noise += p[i * stride].noise;
    }
    return all.noise == 0 ? INFINITY : 10 * log10(all.signal / all.noise);
}

static int64_t best_class(const assay_type *t, const void *scores)
{
    int64_t best = 0;
    for (int64_t i = 1, n = assay_shape_count(t); i < n; i++)
        if (assay_element_real(t, scores, i) > assay_element_real(t, scores, best))
            best = i;
    return best;
}

typedef struct job {
    const assay_program *program[2];
    const assay_samples *samples;
    const assay_value_pair *pair; /* n of them, and the first outputs behind */
    int n;
    char *recorded;    /* the reference's first output by sample, or NULL */
    bool has_recorded; /* it has them all: the reference is not run */
    powers *powers;    /* [sample][n + 1] */
    assay_fidelity *out;
} job;

static const assay_type *type_of(const job *j, int which, int value)
{
    return &j->program[which]->graph->value[value].type;
}

static assay_status run_both(const job *j, assay_run *const run[2], int64_t i, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int k = j->has_recorded ? 1 : 0; k < 2 && status == ASSAY_OK; k++) {
        status = assay_sample_read(run[k], j->samples, j->program[k]->graph, i, err);
        if (status != ASSAY_OK)
            break;
        assay_run_reset(run[k]);
        status = assay_run_execute(run[k], NULL, false, NULL, err);
    }
    return status;
}

static size_t output_bytes(const job *j)
{
    return assay_type_bytes(type_of(j, 0, j->program[0]->graph->output[0]));
}

static void note(const job *j, assay_run *const run[2], int64_t k, assay_fidelity *mine)
{
    const int outputs[2] = {j->program[0]->graph->output[0], j->program[1]->graph->output[0]};
    const int64_t label =
        j->samples->label ? j->samples->label(j->samples->user, j->samples->first + k) : -1;
    const void *result[2] = {NULL, assay_run_data(run[1], outputs[1])};
    powers *const at = &j->powers[k * (j->n + 1)];
    int64_t best[2];
    if (j->has_recorded)
        result[0] = j->recorded + (size_t)k * output_bytes(j);
    else
        result[0] = assay_run_data(run[0], outputs[0]);
    if (j->recorded && !j->has_recorded)
        memcpy(j->recorded + (size_t)k * output_bytes(j), result[0], output_bytes(j));
    for (int p = 0; p < j->n; p++) {
        const int r = j->pair[p].reference, o = j->pair[p].other;
        if (r >= 0 && o >= 0)
            at[p] = compare(type_of(j, 0, r), assay_run_data(run[0], r), type_of(j, 1, o),
                            assay_run_data(run[1], o));
    }
    at[j->n] = compare(type_of(j, 0, outputs[0]), result[0], type_of(j, 1, outputs[1]), result[1]);
    for (int w = 0; w < 2; w++)
        best[w] = best_class(type_of(j, w, outputs[w]), result[w]);
    mine->samples++;
    mine->agree += best[0] == best[1];
    mine->labelled += label >= 0;
    mine->right_reference += label >= 0 && best[0] == label;
    mine->right += label >= 0 && best[1] == label;
}

static void add(assay_fidelity *to, const assay_fidelity *from)
{
    to->samples += from->samples;
    to->labelled += from->labelled;
    to->right_reference += from->right_reference;
    to->right += from->right;
    to->agree += from->agree;
}

static void work(job *j, int threads, assay_shared_error *shared)
{
#pragma omp parallel num_threads(assay_worker_count(threads, j->samples->count))
    {
        assay_run *run[2] = {NULL, NULL};
        assay_fidelity mine = {0};
        assay_error e;
        assay_status status = ASSAY_OK;
        for (int k = j->has_recorded ? 1 : 0; k < 2 && status == ASSAY_OK; k++)
            status = assay_run_new(j->program[k], &run[k], &e);
        if (status != ASSAY_OK)
            assay_share_error(shared, status, &e);
#pragma omp for schedule(dynamic, 4)
        for (int64_t k = 0; k < j->samples->count; k++) {
            if (assay_has_failed(shared))
                continue;
            status = run_both(j, run, j->samples->first + k, &e);
            if (status != ASSAY_OK) {
                assay_share_error(shared, status, &e);
                continue;
            }
            note(j, run, k, &mine);
            assay_sample_done(j->samples);
        }
#pragma omp critical(assay_fidelity_add)
        add(j->out, &mine);
        assay_run_free(run[0]);
        assay_run_free(run[1]);
    }
}

assay_status assay_fidelity_measure(const assay_program *reference, const assay_program *other,
                                    const assay_samples *samples, int threads,
                                    const assay_value_pair *pair, int n, assay_recorded *recorded,
                                    double *sqnr, assay_fidelity *out, assay_error *err)
{
    job j = {{reference, other}, samples, pair, n, NULL, false, NULL, out};
    assay_shared_error shared = {ASSAY_OK, err};
    memset(out, 0, sizeof *out);
    if (reference->graph->n_outputs < 1 || other->graph->n_outputs < 1)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED, "%s: the network has no output",
                          reference->graph->name);
    if (recorded) {
        const size_t bytes = output_bytes(&j), most = ASSAY_RECORDED_BYTES;
        j.has_recorded = n == 0 && recorded->output;
        j.recorded = recorded->output;
        if (!j.recorded && bytes > 0 && (size_t)samples->count <= most / bytes)
            j.recorded = malloc((size_t)samples->count * bytes + 1);
    }
    j.powers = calloc((size_t)samples->count * ((size_t)n + 1), sizeof *j.powers);
    if (!j.powers)
        shared.status = assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
    else
        work(&j, threads, &shared);
    if (recorded && shared.status == ASSAY_OK)
        recorded->output = j.recorded;
    else if (!recorded || j.recorded != recorded->output)
        free(j.recorded);
    if (!j.powers)
        return shared.status;
    for (int p = 0; p < n; p++)
        sqnr[p] = pair[p].reference < 0 || pair[p].other < 0
                      ? (double)NAN
                      : decibels(j.powers + p, samples->count, n + 1);
    out->output_sqnr = decibels(j.powers + n, samples->count, n + 1);
    free(j.powers);
    return shared.status;
}

double assay_fidelity_drop(const assay_fidelity *f)
{
    if (f->labelled > 0)
        return 100.0 * (double)(f->right_reference - f->right) / (double)f->labelled;
    return f->samples > 0 ? 100.0 * (double)(f->samples - f->agree) / (double)f->samples : 0;
}
