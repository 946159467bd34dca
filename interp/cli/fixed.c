/* --fix INPUT=NUMBERS: inputs of an ONNX model that become constants. */
#include "interp/cli/fixed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/npy.h"

static bool is_npy(const char *text)
{
    const size_t n = strlen(text);
    return n > 4 && strcmp(text + n - 4, ".npy") == 0;
}

/* Numbers with commas between them; a list of none is empty. */
static int parse(const char *given, const char *text, assay_onnx_fixed *f, double *number)
{
    while (*text) {
        char *end;
        errno = 0;
        number[f->n_numbers++] = strtod(text, &end);
        if (end == text || errno || (*end && (*end != ',' || !end[1])))
            return cli_trouble("--fix takes INPUT=NUMBER,..., or INPUT=FILE.npy, not '%s'", given);
        text = end + (*end == ',');
    }
    return CLI_OK;
}

static int read_file(const char *path, assay_onnx_fixed *f, double **number)
{
    assay_npy a;
    assay_error err;

    if (text_npy_read_file(path, &a, &err))
        return cli_failed(&err);
    f->n_numbers = text_npy_count(&a);
    *number = calloc(f->n_numbers + 1, sizeof **number);
    for (size_t i = 0; *number && i < f->n_numbers; i++)
        (*number)[i] = text_npy_get(a.data, a.type, i);
    text_npy_free(&a);
    return *number ? CLI_OK : cli_out_of_memory();
}

static int take(const char *given, assay_onnx_fixed *f)
{
    const char *equals = strchr(given, '=');
    double *number = NULL;
    int status;

    if (!equals || equals == given)
        return cli_trouble("--fix takes INPUT=NUMBER,..., or INPUT=FILE.npy, not '%s'", given);
    f->input = strndup(given, (size_t)(equals - given));
    if (f->input && !is_npy(equals + 1))
        number = calloc(strlen(equals), sizeof *number);
    if (!f->input || (!number && !is_npy(equals + 1)))
        return cli_out_of_memory();
    status = number ? parse(given, equals + 1, f, number) : read_file(equals + 1, f, &number);
    f->number = number;
    return status;
}

int cli_fixed_read(const cli_args *a, cli_fixed *fixed)
{
    const char *text;
    int status = CLI_OK;

    *fixed = (cli_fixed){.list = calloc((size_t)a->n_given + 1, sizeof *fixed->list)};
    if (!fixed->list)
        return cli_out_of_memory();
    for (int k = 0; status == CLI_OK && (text = cli_value_at(a, "fix", k)); k++)
        status = take(text, &fixed->list[fixed->n++]);
    return status;
}

void cli_fixed_free(cli_fixed *fixed)
{
    for (size_t k = 0; k < fixed->n; k++) {
        free((char *)fixed->list[k].input);
        free((double *)fixed->list[k].number);
    }
    free(fixed->list);
}
