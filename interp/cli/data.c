/* Samples of data sets into a network's inputs. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"
#include "interp/run/model.h"

static assay_status read_sample(void *user, int64_t i, int k, void *input, assay_error *err)
{
    const cli_data *d = user;
    const assay_source *from = &d->source[k];
    if (!from->dataset)
        return ASSAY_OK;
    return assay_source_read(from, &d->graph->value[d->graph->input[k]], i, input, err);
}

static int64_t read_label(void *user, int64_t i)
{
    const cli_data *d = user;
    return dataset_label(d->source[d->labels].dataset, i);
}

static assay_status read_map(void *user, int64_t i, int64_t *label, assay_error *err)
{
    const cli_data *d = user;
    return dataset_read_map(d->source[d->labels].dataset, i, d->ignored, label, err);
}

static assay_status read_next(void *user, int64_t i, int64_t *label, assay_error *err)
{
    const cli_data *d = user;
    return dataset_next_tokens(d->source[d->labels].dataset, i, d->ignored, label, err);
}

static const char *name_sample(void *user, int64_t i, char *buf, size_t size)
{
    const cli_data *d = user;
    return dataset_sample_name(d->source[d->labels].dataset, i, buf, size);
}

static void sample_done(void *user)
{
    cli_data *d = user;
    cli_progress_step(&d->progress);
}

int cli_data_open(cli_data *d, const cli_args *a, const assay_graph *g, const char *what)
{
    return cli_data_open_twin(d, a, g, NULL, what);
}

/* Tokens that follow are the labels of a stream's windows, and of rows where that is asked for;
 * other labels of the data set go first. */
static int bind_tokens(cli_data *d, const cli_args *a)
{
    const assay_dataset *of = d->source[d->labels].dataset;
    const assay_sample_type *t = dataset_sample_type(of);
    char text[160];

    if (cli_has(a, "next-tokens") && !text_npy_is_integer(t->type))
        return cli_trouble("--next-tokens: samples of %s are %s, and tokens are integers",
                           d->source[d->labels].path, dataset_sample_print(t, text, sizeof text));
    if (d->samples.label_map || cli_has(a, "labels") ||
        !(cli_has(a, "next-tokens") || dataset_has_windows(of)))
        return CLI_OK;
    d->samples.label_map = read_next;
    d->samples.tokens = (int64_t)dataset_sample_count(t);
    return CLI_OK;
}

/* What labels are, and where classes are in the output. */
static int bind_labels(cli_data *d, const cli_args *a)
{
    const char *by = cli_value(a, "by", "labels");
    const bool maps = dataset_map_size(d->source[d->labels].dataset, d->samples.map);
    int64_t axis;

    if (!cli_integer(a, "class-axis", -1, 0, ASSAY_MAX_RANK - 1, &axis) ||
        !cli_integer(a, "ignore-label", maps ? 255 : -1, 0, INT32_MAX, &d->ignored))
        return CLI_TROUBLE;
    if (strcmp(by, "labels") != 0 && strcmp(by, "agreement") != 0)
        return cli_trouble("--by %s: expected labels or agreement", by);
    d->samples.by_agreement = strcmp(by, "agreement") == 0;
    d->samples.class_axis = (int)axis + 1;
    if (maps)
        d->samples.label_map = read_map;
    return bind_tokens(d, a);
}

int cli_data_judge(const cli_data *d, const assay_value *out, assay_judge *j, bool *labelled)
{
    const assay_judge one_list = {.places = 1};
    char shape[96];
    assay_error err;

    if (measure_judge_make(out, &d->samples, j, &err))
        return cli_failed(&err);
    *labelled = measure_judge_has_labels(j, &d->samples);
    if (d->samples.tokens && !j->tokens)
        fprintf(stderr,
                "assay: next tokens are not judged: output '%s' is %s, not scores for each of %lld "
                "tokens\n",
                out->name, assay_shape_print(&out->type, shape, sizeof shape),
                (long long)d->samples.tokens);
    if (!*labelled && measure_judge_has_labels(&one_list, &d->samples))
        fprintf(stderr,
                "assay: labels of samples are not used: output '%s' is %s, no list of classes; "
                "--labels takes label maps\n",
                out->name, assay_shape_print(&out->type, shape, sizeof shape));
    return CLI_OK;
}

/* The input of `coded` that is input k of its twin: the one of that name, else the k-th. */
static int input_of(const assay_graph *coded, const assay_graph *twin, int k)
{
    const char *name = twin->value[twin->input[k]].name;
    for (int i = 0; i < coded->n_inputs; i++)
        if (strcmp(coded->value[coded->input[i]].name, name) == 0)
            return i;
    return k;
}

/* Paths of d->source by the names of the network that --dataset is for. */
static int find_sources(cli_data *d, const cli_args *a, const assay_graph *coded)
{
    const assay_graph *named = coded ? coded : d->graph;
    const int n = d->graph->n_inputs;
    assay_source *found;
    int first = 0, status;

    if (named->n_inputs != n)
        return cli_trouble("the float twin has %d inputs, and the network %d", n, named->n_inputs);
    found = calloc((size_t)n + 1, sizeof *found);
    d->source = calloc((size_t)n + 1, sizeof *d->source);
    status = found && d->source ? cli_sources_find(a, named, found, &first) : cli_out_of_memory();
    for (int k = 0; k < n && status == CLI_OK; k++) {
        const int i = coded ? input_of(coded, d->graph, k) : k;
        d->source[k].path = found[i].path;
        d->source[k].array = found[i].array;
        d->source[k].codes = coded ? &coded->value[coded->input[i]] : NULL;
        d->labels = i == first ? k : d->labels;
    }
    free(found);
    return status;
}

static assay_status open_source(cli_data *d, const cli_args *a, int k, assay_error *err)
{
    const assay_dataset_options options = {
        .labels = k == d->labels ? cli_value(a, "labels", NULL) : NULL,
        .raw = cli_value(a, "raw", NULL),
        .window_step = d->stride,
        .one_token = k == d->labels && cli_has(a, "next-tokens")};
    return assay_source_open(&d->source[k], &d->graph->value[d->graph->input[k]], &options,
                             cli_has(a, "preprocess"), err);
}

static int open_sources(cli_data *d, const cli_args *a)
{
    const assay_source *first = &d->source[d->labels];
    assay_error err;
    assay_status status = cli_sources_preprocess(a, d->source, d->graph->n_inputs, &err);

    for (int k = 0; k < d->graph->n_inputs && !status; k++)
        if (d->source[k].path)
            status = open_source(d, a, k, &err);
    for (int k = 0; k < d->graph->n_inputs && !status; k++) {
        const assay_source *from = &d->source[k];
        const int64_t count = from->path ? dataset_count(from->dataset) : 1;
        if (count != 1 && count != dataset_count(first->dataset))
            status = assay_fail(&err, ASSAY_ERR_INPUT, "%s: %lld samples, but %s has %lld",
                                from->path, (long long)dataset_count(from->dataset), first->path,
                                (long long)dataset_count(first->dataset));
    }
    if (status)
        return cli_failed(&err);
    d->preprocessing = cli_sources_print(d->graph, d->source, d->labels);
    return d->preprocessing ? CLI_OK : cli_out_of_memory();
}

int cli_data_open_twin(cli_data *d, const cli_args *a, const assay_graph *g,
                       const assay_graph *coded, const char *what)
{
    int64_t first, limit, threads, count;

    memset(d, 0, sizeof *d);
    d->graph = g;
    if (g->n_inputs < 1)
        return cli_trouble("the network has no input that a data set could feed");
    if (!cli_has(a, "dataset"))
        return cli_trouble("%s: --dataset is needed; 'assay %s --help' says what it may be",
                           a->command->name, a->command->name);
    if (!cli_integer(a, "first", 0, 0, INT64_C(1) << 40, &first) ||
        !cli_integer(a, "limit", INT64_C(1) << 40, 1, INT64_C(1) << 40, &limit) ||
        !cli_integer(a, "threads", 0, 0, 4096, &threads) ||
        !cli_integer(a, "stride", 0, 1, INT64_C(1) << 40, &d->stride) ||
        find_sources(d, a, coded) != CLI_OK || open_sources(d, a) != CLI_OK)
        return CLI_TROUBLE;
    count = dataset_count(d->source[d->labels].dataset);
    if (first >= count)
        return cli_trouble("%s: --first %lld, but there are %lld samples",
                           d->source[d->labels].path, (long long)first, (long long)count);
    d->threads = (int)threads;
    d->samples = (assay_samples){.user = d,
                                 .first = first,
                                 .count = count - first < limit ? count - first : limit,
                                 .sequence = cli_has(a, "sequence") && run_model_has_state(g),
                                 .read = read_sample,
                                 .label = read_label,
                                 .done = sample_done,
                                 .name = name_sample};
    if (bind_labels(d, a) != CLI_OK)
        return CLI_TROUBLE;
    cli_progress_begin(&d->progress, what, d->samples.count, cli_has(a, "quiet"));
    return CLI_OK;
}

void cli_data_end(cli_data *d)
{
    if (d->samples.read)
        cli_progress_end(&d->progress);
}

void cli_data_close(cli_data *d)
{
    cli_data_end(d);
    for (int k = 0; d->source && k < d->graph->n_inputs; k++)
        dataset_close(d->source[k].dataset);
    free(d->source);
    free(d->preprocessing);
    *d = (cli_data){0};
}
