/* Files given one by one into a network's inputs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/slurp.h"
#include "graph/text/npy.h"
#include "interp/cli/session.h"
#include "interp/page/column.h"

static bool ends_with(const char *s, const char *end)
{
    const size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static assay_status read_npy(const char *file, const assay_value *in, void *to, assay_error *err)
{
    assay_npy a;
    assay_sample_type t = {0};
    assay_status status = text_npy_read_file(file, &a, err);

    if (status)
        return status;
    status = text_npy_widen(&a, err);
    if (!status && in->type.elem.kind == ASSAY_KIND_F32)
        status = text_npy_round(&a, err);
    if (status) {
        text_npy_free(&a);
        return status;
    }
    t.type = a.type;
    t.rank = a.rank;
    memcpy(t.shape, a.shape, sizeof t.shape);
    status = assay_sample_check(&t, in, file, err);
    if (!status) {
        memcpy(to, a.data, text_npy_bytes(&a));
        status = assay_codes_check(in, to, file, err);
    }
    text_npy_free(&a);
    return status;
}

/* PNG and raw files are data sets of one sample, with preprocessing found as theirs. */
static assay_status read_image(const cli_args *a, const char *file, const assay_value *in, void *to,
                               assay_error *err)
{
    const char *given = cli_value(a, "preprocess", NULL);
    const assay_dataset_options options = {
        .raw = ends_with(file, ".png") ? NULL : cli_value(a, "raw", NULL)};
    assay_dataset *d = NULL;
    assay_preprocess p;
    assay_sample_type t;
    assay_status status = dataset_open(file, &options, &d, err);

    if (!status)
        status = given ? dataset_preprocess_read(given, &p, err)
                       : dataset_preprocess_find(file, &p, NULL, err);
    if (!status)
        status = dataset_preprocess_type(&p, dataset_sample_type(d), file, &t, err);
    if (!status)
        status = assay_sample_check(&t, in, file, err);
    if (!status)
        status = dataset_read_input(d, &p, 0, &t, to, err);
    if (!status)
        status = assay_codes_check(in, to, file, err);
    dataset_close(d);
    return status;
}

/* Raw bytes of exactly the input's size, little-endian. */
static assay_status read_raw(const char *file, const assay_value *in, void *to, assay_error *err)
{
    const size_t want = (size_t)assay_shape_count(&in->type) * assay_elem_size(in->type.elem);
    int from;
    size_t size;
    assay_status status = assay_open_regular(file, &from, &size, err);

    if (status)
        return status;
    status = size == want
                 ? assay_read_whole(from, file, to, want, err)
                 : assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: holds %zu bytes, but input '%s' takes %zu (neither .npy nor "
                              ".png: read as raw bytes)",
                              file, size, in->name, want);
    close(from);
    return !status ? assay_codes_check(in, to, file, err) : status;
}

/* ---- which file is for which input of which sample ---- */

/* The first input from `from` on, counting on over samples, that has no file yet. */
static int64_t first_free(const cli_files *f, int64_t from, int64_t step)
{
    while (f->file[from])
        from += step;
    return from;
}

/* The first place that has no file. */
static int too_few(const cli_files *f, int64_t at)
{
    const int64_t inputs = f->graph->n_inputs, given = at / inputs;
    const char *name = f->graph->value[f->graph->input[at % inputs]].name;

    if (given == 0)
        return cli_trouble("input '%s' is not given; --input %s=FILE gives it", name, name);
    return cli_trouble("input '%s' has %lld file%s and others have %lld; each sample takes one of "
                       "each input",
                       name, (long long)given, page_plural(given), (long long)f->samples);
}

/* Whether a file is of raw samples, given --raw, or an image: what preprocessing is for. */
static bool is_sample(const cli_files *f, const char *file)
{
    return ends_with(file, ".png") || (cli_has(f->args, "raw") && !ends_with(file, ".npy"));
}

/* Options that no file is read with. */
static int check_used(const cli_files *f)
{
    static const char *const of_set[] = {"labels", "first", "limit"};
    bool raw = false, preprocess = false;
    for (size_t i = 0; f->samples > 0 && i < sizeof of_set / sizeof *of_set; i++)
        if (cli_has(f->args, of_set[i]))
            return cli_trouble("--%s applies to --dataset; each --input is a sample as it is",
                               of_set[i]);
    for (int64_t i = 0; i < f->samples * f->graph->n_inputs; i++) {
        if (!f->file[i])
            continue;
        preprocess |= is_sample(f, f->file[i]);
        raw |= is_sample(f, f->file[i]) && !ends_with(f->file[i], ".png");
    }
    if (f->samples > 0 && cli_has(f->args, "raw") && !raw)
        return cli_trouble(
            "--raw applies to files of raw samples, and every --input is .npy or .png");
    if (f->samples > 0 && cli_has(f->args, "preprocess") && !preprocess)
        return cli_trouble(
            "--preprocess applies to images and raw samples (--raw), and no --input is one");
    return CLI_OK;
}

int cli_files_open(cli_files *f, const cli_args *a, const assay_graph *g)
{
    const int64_t inputs = g->n_inputs;
    const char *text;
    int64_t given = 0;

    memset(f, 0, sizeof *f);
    f->args = a;
    f->graph = g;
    while (cli_value_at(a, "input", (int)given))
        given++;
    f->file = calloc((size_t)((given + 1) * inputs) + 1, sizeof *f->file);
    if (!f->file)
        return cli_out_of_memory();
    if (inputs == 0)
        return given ? cli_trouble("--input: the network has no inputs") : CLI_OK;
    for (int k = 0; (text = cli_value_at(a, "input", k)); k++) {
        size_t skip;
        const int input = cli_named_input(g, text, &skip);
        const char *equals = strchr(text, '=');
        if (input < 0 && equals && access(text, F_OK) != 0)
            return cli_trouble("--input %s: the network has no input '%.*s'", text,
                               (int)(equals - text), text);
        const int64_t at = input < 0 ? first_free(f, 0, 1) : first_free(f, input, inputs);
        f->file[at] = text + skip;
        if (at / inputs >= f->samples)
            f->samples = at / inputs + 1;
    }
    for (int64_t i = 0; i < f->samples * inputs; i++)
        if (!f->file[i] && cli_takes_data(g, (int)(i % inputs)))
            return too_few(f, i);
    return check_used(f);
}

void cli_files_close(cli_files *f)
{
    free(f->file);
    f->file = NULL;
}

const char *cli_files_name(const cli_files *f, int64_t sample, int input)
{
    return f->file[sample * f->graph->n_inputs + input];
}

assay_status cli_files_read(const cli_files *f, int64_t sample, int input, void *to,
                            assay_error *err)
{
    const char *file = cli_files_name(f, sample, input);
    const assay_value *in = &f->graph->value[f->graph->input[input]];

    if (!file)
        return ASSAY_OK; /* an input without elements */
    if (ends_with(file, ".npy"))
        return read_npy(file, in, to, err);
    if (is_sample(f, file))
        return read_image(f->args, file, in, to, err);
    return read_raw(file, in, to, err);
}

int cli_inputs_open(cli_files *f, const cli_args *a, const assay_graph *g)
{
    int status = cli_files_open(f, a, g);

    if (status == CLI_OK && f->samples == 0 && g->n_inputs > 0)
        status = cli_trouble("input '%s' is not given; --input [NAME=]FILE gives it",
                             g->value[g->input[0]].name);
    if (g->n_inputs == 0)
        f->samples = 1;
    return status;
}

assay_status cli_inputs_read(const cli_files *f, int64_t sample, assay_run *run,
                             const char **sources, assay_error *err)
{
    assay_status s = ASSAY_OK;

    for (int i = 0; i < f->graph->n_inputs && !s; i++) {
        sources[i] = cli_files_name(f, sample, i);
        s = cli_files_read(f, sample, i, assay_run_data(run, f->graph->input[i]), err);
    }
    return s;
}
