/* Second moments of what a float network's layers read; see moments.h. */
#include "interp/measure/moments.h"

#include "interp/measure/workers.h"

typedef struct observing {
    const assay_program *program;
    const assay_samples *samples;
    assay_moments *moments;
} observing;

typedef struct observer {
    const observing *job;
    assay_run *run;
} observer;

static void observe_value(const observer *o, int v)
{
    const assay_type *t = &o->job->program->graph->value[v].type;
    if (t->elem.kind == ASSAY_KIND_F32)
        profile_moments_observe(o->job->moments, v, run_value(o->run, v),
                                (size_t)assay_shape_count(t));
}

static assay_status observe_node(void *user, assay_run *run, int node, const int64_t *accumulators,
                                 assay_error *err)
{
    const observer *o = user;
    const assay_node *n = &o->job->program->graph->node[node];

    (void)run;
    (void)accumulators;
    (void)err;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0)
            observe_value(o, n->out[k]);
    return ASSAY_OK;
}

static assay_status start(void *job, void *own, int thread, assay_error *err)
{
    observer *o = own;
    (void)thread;
    o->job = job;
    return assay_run_new(o->job->program, &o->run, err);
}

static assay_status observe_sample(void *job, void *own, int64_t k, assay_error *err)
{
    const observing *j = job;
    observer *o = own;
    const assay_graph *g = j->program->graph;
    const int64_t i = j->samples->first + k;
    assay_status status = measure_sample_read(o->run, j->samples, g, i, err);

    if (status)
        return status;
    for (int n = 0; n < g->n_inputs; n++)
        observe_value(o, g->input[n]);
    measure_sample_begin(o->run, j->samples, i);
    status = run_execute(o->run, observe_node, false, o, err);
    return status ? measure_sample_failed(j->samples, i, status, err) : ASSAY_OK;
}

static assay_status finish(void *job, void *own, bool failed, assay_error *err)
{
    observer *o = own;
    (void)job;
    (void)failed;
    (void)err;
    assay_run_free(o->run);
    return ASSAY_OK;
}

assay_status measure_moments(const assay_graph *g, const assay_samples *samples,
                             assay_moments **out, assay_error *err)
{
    observing job = {.samples = samples};
    const measure_work work = {samples, &job, sizeof(observer), start, observe_sample, finish};
    assay_program *program = NULL;
    assay_status status = profile_moments_new(g, out, err);

    if (!status)
        status = assay_program_make(g, NULL, false, &program, err);
    job.program = program;
    job.moments = *out;
    if (!status)
        status = measure_samples(&work, 1, err);
    assay_program_free(program);
    if (status) {
        profile_moments_free(*out);
        *out = NULL;
    }
    return status;
}
