/* Inputs of an ONNX model that become constants, from texts. */
#include "interp/api/fixed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/text/npy.h"

static bool is_npy(const char *text)
{
    const size_t n = strlen(text);
    return n > 4 && strcmp(text + n - 4, ".npy") == 0;
}

static assay_status no_such(const char *given, assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "fix takes INPUT=NUMBER,..., or INPUT=FILE.npy, not '%.200s'", given);
}

/* Numbers with commas between them; a list of none is empty. */
static assay_status parse(const char *given, const char *text, assay_onnx_fixed *f, double *number,
                          assay_error *err)
{
    while (*text) {
        char *end;
        errno = 0;
        number[f->n_numbers++] = strtod(text, &end);
        if (end == text || errno || (*end && (*end != ',' || !end[1])))
            return no_such(given, err);
        text = end + (*end == ',');
    }
    return ASSAY_OK;
}

static assay_status read_file(const char *path, assay_onnx_fixed *f, double **number,
                              assay_error *err)
{
    assay_npy a;
    const assay_status status = text_npy_read_file(path, &a, err);

    if (status)
        return status;
    f->n_numbers = text_npy_count(&a);
    *number = calloc(f->n_numbers + 1, sizeof **number);
    for (size_t i = 0; *number && i < f->n_numbers; i++)
        (*number)[i] = text_npy_get(a.data, a.type, i);
    text_npy_free(&a);
    return *number ? ASSAY_OK : assay_out_of_memory(err);
}

static assay_status take(const char *given, assay_onnx_fixed *f, assay_error *err)
{
    const char *equals = strchr(given, '=');
    double *number = NULL;
    assay_status status;

    if (!equals || equals == given)
        return no_such(given, err);
    f->input = strndup(given, (size_t)(equals - given));
    if (f->input && !is_npy(equals + 1))
        number = calloc(strlen(equals), sizeof *number);
    if (!f->input || (!number && !is_npy(equals + 1)))
        return assay_out_of_memory(err);
    status =
        number ? parse(given, equals + 1, f, number, err) : read_file(equals + 1, f, &number, err);
    f->number = number;
    return status;
}

assay_status assay_fixed_read(const char *const *text, size_t n, assay_fixed *out, assay_error *err)
{
    assay_status status = ASSAY_OK;

    *out = (assay_fixed){.list = calloc(n + 1, sizeof *out->list)};
    if (!out->list)
        return assay_out_of_memory(err);
    for (size_t k = 0; k < n && !status; k++)
        status = take(text[k], &out->list[out->n++], err);
    return status;
}

void assay_fixed_free(assay_fixed *fixed)
{
    for (size_t k = 0; k < fixed->n; k++) {
        free((char *)(uintptr_t)fixed->list[k].input);
        free((double *)(uintptr_t)fixed->list[k].number);
    }
    free(fixed->list);
}
