/* Samples of a data set into a network's input. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"

/* Codes of 8 bits in the first quarter of a float input become floats, from the last to the first.
 */
static void codes_to_real(const assay_type *t, void *input)
{
    float *real = input;
    for (size_t i = (size_t)assay_shape_count(t); i-- > 0;)
        real[i] = t->q.scale[0] * (float)(assay_elem_get(t->elem, input, i) - t->q.zero_point[0]);
}

static assay_status read_sample(void *user, int64_t i, int k, void *input, assay_error *err)
{
    const cli_data *d = user;
    assay_status status = dataset_read_input(d->dataset, &d->preprocess, i, &d->type, input, err);
    if (!status)
        status = cli_check_codes(d->codes ? d->codes : &d->graph->value[d->graph->input[k]], input,
                                 "data set", err);
    if (!status && d->codes)
        codes_to_real(&d->codes->type, input);
    return status;
}

static int64_t read_label(void *user, int64_t i)
{
    const cli_data *d = user;
    return dataset_label(d->dataset, i);
}

static assay_status read_map(void *user, int64_t i, int64_t *label, assay_error *err)
{
    const cli_data *d = user;
    return dataset_read_map(d->dataset, i, d->ignored, label, err);
}

static void sample_done(void *user)
{
    cli_data *d = user;
    cli_progress_step(&d->progress);
}

static assay_status check_input(const assay_graph *g, const assay_sample_type *t, const char *path,
                                assay_error *err)
{
    if (g->n_inputs != 1)
        return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                          "%s: the network has %d inputs; a data set feeds one", path, g->n_inputs);
    assay_sample_type stored = *t; /* without the batch dimension, which is not the data's */
    stored.rank--;
    memmove(stored.shape, t->shape + 1, (size_t)stored.rank * sizeof t->shape[0]);
    return cli_check_sample(&stored, &g->value[g->input[0]], path, err);
}

int cli_data_open(cli_data *d, const cli_args *a, const assay_graph *g, const char *what)
{
    return cli_data_open_twin(d, a, g, NULL, what);
}

/* Are the samples codes of that input, while the network takes as many floats? */
static bool are_codes(const assay_sample_type *t, const assay_graph *g, const assay_value *codes)
{
    return codes && g->n_inputs == 1 && codes->type.q.granularity == ASSAY_Q_TENSOR &&
           codes->type.elem.bits <= 8 && g->value[g->input[0]].type.elem.kind == ASSAY_KIND_F32 &&
           assay_shape_count(&g->value[g->input[0]].type) == assay_shape_count(&codes->type) &&
           !cli_check_sample(t, codes, "", NULL);
}

/* What labels are, and where classes are in the output. */
static int bind_labels(cli_data *d, const cli_args *a)
{
    int64_t axis;

    if (!cli_integer(a, "class-axis", -1, 0, ASSAY_MAX_RANK - 1, &axis) ||
        !cli_integer(a, "ignore-label", 255, 0, INT32_MAX, &d->ignored))
        return CLI_TROUBLE;
    d->samples.class_axis = (int)axis + 1;
    if (dataset_map_size(d->dataset, d->samples.map))
        d->samples.label_map = read_map;
    return CLI_OK;
}

int cli_data_judge(const cli_data *d, const assay_value *out, assay_judge *j, bool *labelled)
{
    const assay_judge one_list = {.places = 1};
    char shape[96];
    assay_error err;

    if (measure_judge_make(out, &d->samples, j, &err))
        return cli_failed(&err);
    *labelled = measure_judge_has_labels(j, &d->samples);
    if (!*labelled && measure_judge_has_labels(&one_list, &d->samples))
        fprintf(stderr,
                "assay: labels of samples are not used: output '%s' is %s, no list of classes; "
                "--labels takes label maps\n",
                out->name, assay_shape_print(&out->type, shape, sizeof shape));
    return CLI_OK;
}

int cli_data_open_twin(cli_data *d, const cli_args *a, const assay_graph *g,
                       const assay_value *codes, const char *what)
{
    const char *path = cli_value(a, "dataset", NULL), *file = cli_value(a, "preprocess", NULL);
    const assay_dataset_options options = {.labels = cli_value(a, "labels", NULL),
                                           .raw = cli_value(a, "raw", NULL)};
    int64_t first, limit, threads, count;
    assay_status status;
    assay_error err;

    memset(d, 0, sizeof *d);
    d->graph = g;
    if (!path)
        return cli_trouble("%s: --dataset is needed; 'assay %s --help' says what it may be",
                           a->command->name, a->command->name);
    if (!cli_integer(a, "first", 0, 0, INT64_C(1) << 40, &first) ||
        !cli_integer(a, "limit", INT64_C(1) << 40, 1, INT64_C(1) << 40, &limit) ||
        !cli_integer(a, "threads", 0, 0, 4096, &threads))
        return CLI_TROUBLE;
    status = dataset_open(path, &options, &d->dataset, &err);
    if (!status)
        status = file ? dataset_preprocess_read(file, &d->preprocess, &err)
                      : dataset_preprocess_find(path, &d->preprocess, NULL, &err);
    if (!status)
        status = dataset_preprocess_type(&d->preprocess, dataset_sample_type(d->dataset), path,
                                         &d->type, &err);
    if (!status && are_codes(&d->type, g, codes))
        d->codes = codes;
    else if (!status)
        status = check_input(g, &d->type, path, &err);
    if (status)
        return cli_failed(&err);
    count = dataset_count(d->dataset);
    if (first >= count)
        return cli_trouble("%s: --first %lld, but there are %lld samples", path, (long long)first,
                           (long long)count);
    dataset_preprocess_print(&d->preprocess, d->preprocessing);
    d->threads = (int)threads;
    d->samples = (assay_samples){.user = d,
                                 .first = first,
                                 .count = count - first < limit ? count - first : limit,
                                 .read = read_sample,
                                 .label = read_label,
                                 .done = sample_done};
    if (bind_labels(d, a) != CLI_OK)
        return CLI_TROUBLE;
    cli_progress_begin(&d->progress, what, d->samples.count, cli_has(a, "quiet"));
    return CLI_OK;
}

void cli_data_close(cli_data *d)
{
    if (d->dataset)
        cli_progress_end(&d->progress);
    dataset_close(d->dataset);
    d->dataset = NULL;
}
