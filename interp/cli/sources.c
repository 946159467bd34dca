/* Data sets of a network's inputs: which is for which, and how its samples are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interp/cli/session.h"

bool cli_takes_data(const assay_graph *g, int input)
{
    return assay_shape_count(&g->value[g->input[input]].type) > 0;
}

int cli_named_input(const assay_graph *g, const char *text, size_t *skip)
{
    *skip = 0;
    for (int i = 0; i < g->n_inputs; i++) {
        const char *name = g->value[g->input[i]].name;
        const size_t n = strlen(name);
        if (strncmp(text, name, n) == 0 && text[n] == '=') {
            *skip = n + 1;
            return i;
        }
    }
    return -1;
}

static const char *input_name(const assay_graph *g, int k)
{
    return g->value[g->input[k]].name;
}

/* The input that a data set without a name is for: the one that takes data; -1 for several. */
static int only_input(const assay_graph *g)
{
    int only = g->n_inputs == 1 ? 0 : -1;

    for (int k = 0, found = 0; k < g->n_inputs; k++)
        if (cli_takes_data(g, k))
            only = found++ ? -1 : k;
    return only;
}

/* An .npz without a name is for each input that has no data set of its own. */
static int bind_arrays(const assay_graph *g, const char *path, assay_source *source, int *first)
{
    int bound = 0;

    for (int k = 0; k < g->n_inputs; k++)
        if (!source[k].path && cli_takes_data(g, k)) {
            source[k].path = path;
            *first = bound++ || *first >= 0 ? *first : k;
        }
    return bound ? CLI_OK : cli_trouble("--dataset %s: every input has a data set", path);
}

/* One [NAME=]PATH. */
static int bind(const assay_graph *g, const char *text, assay_source *source, int *input)
{
    const char *equals = strchr(text, '=');
    const int only = only_input(g);
    size_t skip;

    *input = cli_named_input(g, text, &skip);
    if (*input < 0 && only < 0 && equals && access(text, F_OK) != 0)
        return cli_trouble("--dataset %s: the network has no input '%.*s'", text,
                           (int)(equals - text), text);
    if (*input < 0 && only < 0)
        return cli_trouble("%s: the network has %d inputs; a data set feeds one: --dataset %s=PATH "
                           "and so on",
                           text, g->n_inputs, g->n_inputs ? input_name(g, 0) : "");
    *input = *input < 0 ? only : *input;
    if (source[*input].path)
        return cli_trouble("--dataset %s: input '%s' has a data set, %s", text,
                           input_name(g, *input), source[*input].path);
    source[*input].path = text + skip;
    return CLI_OK;
}

int cli_sources_find(const cli_args *a, const assay_graph *g, assay_source *source, int *first)
{
    static const char *const of_one[] = {"raw", "preprocess"};
    const char *text, *arrays = NULL;
    size_t skip;
    int input, given = 0, labels = -1;

    for (; (text = cli_value_at(a, "dataset", given)); given++) {
        const bool all = cli_named_input(g, text, &skip) < 0 && dataset_is_npz(text);
        if (all && arrays)
            return cli_trouble("--dataset %s: %s has the arrays of all inputs", text, arrays);
        if (!all && bind(g, text, source, &input) != CLI_OK)
            return CLI_TROUBLE;
        arrays = all ? text : arrays;
        labels = given == 0 && !all ? input : labels;
    }
    if (arrays && bind_arrays(g, arrays, source, &labels) != CLI_OK)
        return CLI_TROUBLE;
    *first = labels < 0 ? 0 : labels;
    for (int k = 0; k < g->n_inputs; k++)
        if (source[k].path && dataset_is_npz(source[k].path))
            source[k].array = input_name(g, k);
    for (int k = 0; k < g->n_inputs; k++)
        if (!source[k].path && cli_takes_data(g, k))
            return cli_trouble("input '%s' has no data set; --dataset %s=PATH gives it",
                               input_name(g, k), input_name(g, k));
    for (size_t i = 0; given > 1 && i < sizeof of_one / sizeof *of_one; i++)
        if (cli_has(a, of_one[i]))
            return cli_trouble(
                "--%s describes one data set, but there are %d; use .npy files and a "
                "preprocess.yaml beside each",
                of_one[i], given);
    return CLI_OK;
}

assay_status cli_sources_preprocess(const cli_args *a, assay_source *source, int n,
                                    assay_error *err)
{
    const char *file = cli_value(a, "preprocess", NULL);
    assay_status status = ASSAY_OK;

    for (int k = 0; k < n && !status; k++)
        if (source[k].path)
            status = assay_source_preprocess(&source[k], file, err);
    return status;
}

char *cli_sources_print(const assay_graph *g, const assay_source *source, int first)
{
    char one[ASSAY_PREPROCESS_TEXT], other[ASSAY_PREPROCESS_TEXT], *text = NULL;
    size_t size = 0;
    bool alike = true;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    dataset_preprocess_print(&source[first].preprocess, one);
    for (int k = 0; k < g->n_inputs; k++)
        alike &= !source[k].path ||
                 strcmp(one, dataset_preprocess_print(&source[k].preprocess, other)) == 0;
    if (alike)
        fputs(one, f);
    for (int k = 0, n = 0; k < g->n_inputs && !alike; k++)
        if (source[k].path)
            fprintf(f, "%s%s: %s", n++ ? "; " : "", input_name(g, k),
                    dataset_preprocess_print(&source[k].preprocess, other));
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}
