/* Data sets of a network's inputs: which is for which, and how its samples are read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interp/cli/session.h"

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

/* One [NAME=]PATH. */
static int bind(const assay_graph *g, const char *text, cli_source *source, int *input)
{
    const char *equals = strchr(text, '=');
    size_t skip;

    *input = cli_named_input(g, text, &skip);
    if (*input < 0 && g->n_inputs != 1 && equals && access(text, F_OK) != 0)
        return cli_trouble("--dataset %s: the network has no input '%.*s'", text,
                           (int)(equals - text), text);
    if (*input < 0 && g->n_inputs != 1)
        return cli_trouble("%s: the network has %d inputs; a data set feeds one: --dataset %s=PATH "
                           "and so on",
                           text, g->n_inputs, g->n_inputs ? input_name(g, 0) : "");
    *input = *input < 0 ? 0 : *input;
    if (source[*input].path)
        return cli_trouble("--dataset %s: input '%s' has a data set, %s", text,
                           input_name(g, *input), source[*input].path);
    source[*input].path = text + skip;
    return CLI_OK;
}

int cli_sources_find(const cli_args *a, const assay_graph *g, cli_source *source, int *first)
{
    static const char *const of_one[] = {"raw", "preprocess"};
    const char *text;
    int input;

    for (int k = 0; (text = cli_value_at(a, "dataset", k)); k++) {
        if (bind(g, text, source, &input) != CLI_OK)
            return CLI_TROUBLE;
        *first = k == 0 ? input : *first;
    }
    for (int k = 0; k < g->n_inputs; k++)
        if (!source[k].path)
            return cli_trouble("input '%s' has no data set; --dataset %s=PATH gives it",
                               input_name(g, k), input_name(g, k));
    for (size_t i = 0; g->n_inputs > 1 && i < sizeof of_one / sizeof *of_one; i++)
        if (cli_has(a, of_one[i]))
            return cli_trouble("--%s is of one data set, and there are %d; .npy and "
                               "preprocess.yaml beside each say it",
                               of_one[i], g->n_inputs);
    return CLI_OK;
}

assay_status cli_sources_preprocess(const cli_args *a, cli_source *source, int n, assay_error *err)
{
    const char *file = cli_value(a, "preprocess", NULL);
    assay_status status = ASSAY_OK;

    for (int k = 0; k < n && !status; k++)
        status = file ? dataset_preprocess_read(file, &source[k].preprocess, err)
                      : dataset_preprocess_find(source[k].path, &source[k].preprocess, NULL, err);
    return status;
}

char *cli_sources_print(const assay_graph *g, const cli_source *source)
{
    char one[ASSAY_PREPROCESS_TEXT], other[ASSAY_PREPROCESS_TEXT], *text = NULL;
    size_t size = 0;
    bool alike = true;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    for (int k = 0; k < g->n_inputs; k++)
        alike &= strcmp(dataset_preprocess_print(&source[0].preprocess, one),
                        dataset_preprocess_print(&source[k].preprocess, other)) == 0;
    for (int k = 0; k < (alike ? 1 : g->n_inputs); k++)
        fprintf(f, "%s%s%s%s", k ? "; " : "", alike ? "" : input_name(g, k), alike ? "" : ": ",
                dataset_preprocess_print(&source[k].preprocess, one));
    if (fclose(f)) {
        free(text);
        return NULL;
    }
    return text;
}
