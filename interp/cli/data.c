/* Samples of a data set, and files given one by one, into a network's inputs. */
#include <stdlib.h>
#include <string.h>

#include "graph/npy.h"
#include "interp/cli/session.h"

/* Element kind of a sample as the network sees it. */
static assay_elem elem_of(assay_npy_type t)
{
    switch (t) {
    case ASSAY_NPY_BOOL:
        return assay_bool();
    case ASSAY_NPY_I1:
        return assay_int(8, true);
    case ASSAY_NPY_U1:
        return assay_int(8, false);
    case ASSAY_NPY_I2:
        return assay_int(16, true);
    case ASSAY_NPY_U2:
        return assay_int(16, false);
    case ASSAY_NPY_I4:
        return assay_int(32, true);
    case ASSAY_NPY_I8:
        return assay_int(64, true);
    case ASSAY_NPY_F4:
        return assay_f32();
    default:
        return (assay_elem){ASSAY_KIND_NONE, 0, false};
    }
}

/* Same shape, where dimensions of 1 in front do not count. */
static bool shapes_agree(const int64_t *a, int rank_a, const int64_t *b, int rank_b)
{
    while (rank_a > 0 && a[0] == 1 && rank_a > rank_b) {
        a++;
        rank_a--;
    }
    while (rank_b > 0 && b[0] == 1 && rank_b > rank_a) {
        b++;
        rank_b--;
    }
    for (int d = 0; d < rank_a && rank_a == rank_b; d++)
        if (a[d] != b[d])
            return false;
    return rank_a == rank_b;
}

static const char *print_type(const assay_type *t, char buf[160])
{
    char elem[8];
    int n = snprintf(buf, 160, "%s[", assay_elem_print(t->elem, elem));
    for (int d = 0; d < t->rank; d++)
        n += snprintf(buf + n, 160 - (size_t)n, "%s%lld", d ? "," : "", (long long)t->dim[d]);
    snprintf(buf + n, 160 - (size_t)n, "]");
    return buf;
}

static assay_status read_sample(void *user, int64_t i, void *input, assay_error *err)
{
    const cli_data *d = user;
    return assay_dataset_read_input(d->dataset, &d->preprocess, i, &d->type, input, err);
}

static int64_t read_label(void *user, int64_t i)
{
    const cli_data *d = user;
    return assay_dataset_label(d->dataset, i);
}

static void sample_done(void *user)
{
    cli_data *d = user;
    cli_progress_step(&d->progress);
}

static int check_type(const cli_data *d, const assay_graph *g, const char *path)
{
    const assay_value *in = &g->value[g->input[0]];
    char wanted[160], found[160];

    if (g->n_inputs != 1)
        return cli_trouble("%s: the network has %d inputs; a data set feeds one", path,
                           g->n_inputs);
    if (assay_elem_equal(elem_of(d->type.type), in->type.elem) &&
        shapes_agree(d->type.shape, d->type.rank, in->type.dim, in->type.rank))
        return CLI_OK;
    return cli_trouble("%s: samples are %s after preprocessing, but input '%s' takes %s", path,
                       assay_sample_print(&d->type, found, sizeof found), in->name,
                       print_type(&in->type, wanted));
}

int cli_data_open(cli_data *d, const cli_args *a, const assay_graph *g, const char *what)
{
    const char *path = cli_value(a, "dataset", NULL), *file = cli_value(a, "preprocess", NULL);
    const assay_dataset_options options = {.labels = cli_value(a, "labels", NULL),
                                           .raw = cli_value(a, "raw", NULL)};
    int64_t first, limit, threads, count;
    assay_status status;
    assay_error err;
    int trouble;

    memset(d, 0, sizeof *d);
    d->graph = g;
    if (!path)
        return cli_trouble("%s: --dataset is needed; 'assay %s --help' says what it may be",
                           a->command->name, a->command->name);
    if (!cli_integer(a, "first", 0, 0, INT64_C(1) << 40, &first) ||
        !cli_integer(a, "limit", INT64_C(1) << 40, 1, INT64_C(1) << 40, &limit) ||
        !cli_integer(a, "threads", 0, 0, 4096, &threads))
        return CLI_TROUBLE;
    status = assay_dataset_open(path, &options, &d->dataset, &err);
    if (status == ASSAY_OK)
        status = file ? assay_preprocess_read(file, &d->preprocess, &err)
                      : assay_preprocess_find(path, &d->preprocess, NULL, &err);
    if (status == ASSAY_OK)
        status = assay_preprocess_type(&d->preprocess, assay_dataset_sample_type(d->dataset), path,
                                       &d->type, &err);
    if (status != ASSAY_OK)
        return cli_failed(&err);
    trouble = check_type(d, g, path);
    if (trouble != CLI_OK)
        return trouble;
    count = assay_dataset_count(d->dataset);
    if (first >= count)
        return cli_trouble("%s: --first %lld, but there are %lld samples", path, (long long)first,
                           (long long)count);
    assay_preprocess_print(&d->preprocess, d->preprocessing);
    d->threads = (int)threads;
    d->samples = (assay_samples){.user = d,
                                 .first = first,
                                 .count = count - first < limit ? count - first : limit,
                                 .read = read_sample,
                                 .label = read_label,
                                 .done = sample_done};
    cli_progress_begin(&d->progress, what, d->samples.count, cli_has(a, "quiet"));
    return CLI_OK;
}

void cli_data_close(cli_data *d)
{
    if (d->dataset)
        cli_progress_end(&d->progress);
    assay_dataset_close(d->dataset);
    d->dataset = NULL;
}

/* ---- inputs given as files ---- */

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static int mismatch(const char *file, const char *found, const assay_value *in)
{
    char wanted[160];
    return cli_trouble("%s: holds %s, but input '%s' takes %s", file, found, in->name,
                       print_type(&in->type, wanted));
}

static int read_npy(const char *file, const assay_value *in, void *to)
{
    assay_npy a;
    assay_error err;
    assay_sample_type t = {0};
    char found[160];
    int status = CLI_OK;

    if (assay_npy_read_file(file, &a, &err) != ASSAY_OK)
        return cli_failed(&err);
    t.type = a.type;
    t.rank = a.rank;
    memcpy(t.shape, a.shape, sizeof t.shape);
    if (!assay_elem_equal(elem_of(a.type), in->type.elem) ||
        !shapes_agree(a.shape, a.rank, in->type.dim, in->type.rank))
        status = mismatch(file, assay_sample_print(&t, found, sizeof found), in);
    else
        memcpy(to, a.data, assay_npy_bytes(&a));
    assay_npy_free(&a);
    return status;
}

/* PNG and raw files are data sets of one sample, with preprocessing found as theirs. */
static int read_image(const cli_args *a, const char *file, const assay_value *in, void *to)
{
    const char *given = cli_value(a, "preprocess", NULL);
    const assay_dataset_options options = {.raw = cli_value(a, "raw", NULL)};
    assay_dataset *d = NULL;
    assay_preprocess p;
    assay_sample_type t;
    assay_error err;
    assay_status status = assay_dataset_open(file, &options, &d, &err);
    char found[160];
    int result = CLI_OK;

    if (status == ASSAY_OK)
        status = given ? assay_preprocess_read(given, &p, &err)
                       : assay_preprocess_find(file, &p, NULL, &err);
    if (status == ASSAY_OK)
        status = assay_preprocess_type(&p, assay_dataset_sample_type(d), file, &t, &err);
    if (status == ASSAY_OK && (!assay_elem_equal(elem_of(t.type), in->type.elem) ||
                               !shapes_agree(t.shape, t.rank, in->type.dim, in->type.rank)))
        result = mismatch(file, assay_sample_print(&t, found, sizeof found), in);
    else if (status == ASSAY_OK)
        status = assay_dataset_read_input(d, &p, 0, &t, to, &err);
    assay_dataset_close(d);
    return status == ASSAY_OK ? result : cli_failed(&err);
}

/* Raw bytes of exactly the input's size, little-endian. */
static int read_raw(const char *file, const assay_value *in, void *to)
{
    const size_t want = (size_t)assay_shape_count(&in->type) * assay_elem_size(in->type.elem);
    FILE *f = fopen(file, "rb");
    size_t n;
    bool more;

    if (!f)
        return cli_trouble("%s: cannot open", file);
    n = fread(to, 1, want, f);
    more = n == want && fgetc(f) != EOF;
    fclose(f);
    if (n != want || more)
        return cli_trouble("%s: %s %zu bytes, but input '%s' takes %zu", file,
                           more ? "more than" : "holds", n, in->name, want);
    return CLI_OK;
}

/* The input that "NAME=FILE" or the k-th unnamed FILE is for; *file receives the file's part. */
static int input_for(const assay_graph *g, const char *text, int *next, const char **file)
{
    for (int i = 0; i < g->n_inputs; i++) {
        const char *name = g->value[g->input[i]].name;
        const size_t n = strlen(name);
        if (strncmp(text, name, n) == 0 && text[n] == '=') {
            *file = text + n + 1;
            return i;
        }
    }
    *file = text;
    return (*next)++;
}

int cli_inputs_read(const cli_args *a, const assay_program *p, assay_run *run, const char **sources)
{
    const assay_graph *g = p->graph;
    const char *text;
    int next = 0;

    for (int i = 0; i < g->n_inputs; i++)
        sources[i] = NULL;
    for (int k = 0; (text = cli_value_at(a, "input", k)); k++) {
        const char *file;
        const int i = input_for(g, text, &next, &file);
        const assay_value *in;
        int status;
        if (i >= g->n_inputs)
            return cli_trouble("--input %s: the network has %d input%s and all are given", text,
                               g->n_inputs, g->n_inputs == 1 ? "" : "s");
        in = &g->value[g->input[i]];
        if (sources[i])
            return cli_trouble("--input %s: input '%s' is given twice", text, in->name);
        if (ends_with(file, ".npy"))
            status = read_npy(file, in, assay_run_data(run, g->input[i]));
        else if (ends_with(file, ".png") || cli_has(a, "raw"))
            status = read_image(a, file, in, assay_run_data(run, g->input[i]));
        else
            status = read_raw(file, in, assay_run_data(run, g->input[i]));
        if (status != CLI_OK)
            return status;
        sources[i] = file;
    }
    for (int i = 0; i < g->n_inputs; i++)
        if (!sources[i])
            return cli_trouble("input '%s' is not given; --input [NAME=]FILE gives it",
                               g->value[g->input[i]].name);
    return CLI_OK;
}
