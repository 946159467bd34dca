/* Labels of a file of samples, class names, and the small text files that hold them. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "datasets/internal.h"
#include "graph/core/slurp.h"
#include "graph/memory.h"

assay_status dataset_read_text(const char *path, char **text, assay_error *err)
{
    unsigned char *bytes;
    size_t size;
    *text = NULL;
    assay_status status = assay_slurp(path, &bytes, &size, err);
    if (status)
        return status;
    if (strlen((char *)bytes) != size) {
        free(bytes);
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: expected text, found a 0 byte", path);
    }
    *text = (char *)bytes;
    return ASSAY_OK;
}

char *dataset_next_line(char **rest)
{
    char *line = *rest;
    if (*line == 0)
        return NULL;
    char *end = strchr(line, '\n');
    *rest = end ? end + 1 : line + strlen(line);
    if (!end)
        end = *rest;
    while (end > line && strchr(" \t\r", end[-1]))
        end--;
    *end = 0;
    return line;
}

bool dataset_parse_label(const char *text, int64_t *label)
{
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 10 || text[digits])
        return false;
    *label = strtoll(text, NULL, 10);
    return *label <= INT32_MAX;
}

bool dataset_ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

assay_status dataset_find_beside(const char *path, const char *name, char **found, assay_error *err)
{
    struct stat st;
    const char *slash = strrchr(path, '/');
    bool is_folder = stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    const char *folder = is_folder || slash ? path : ".";
    int n = (int)(is_folder || !slash ? strlen(folder) : (size_t)(slash - path));
    for (int parent = 0; parent < 2; parent++) {
        if (asprintf(found, "%.*s/%s%s", n, folder, parent ? "../" : "", name) < 0) {
            *found = NULL;
            return assay_out_of_memory_for(err, "%s", path);
        }
        if (access(*found, F_OK) == 0)
            return ASSAY_OK;
        free(*found);
    }
    *found = NULL;
    return ASSAY_OK;
}

/* ---- labels ------------------------------------------------------------------------------- */

static assay_status wrong_count(const assay_dataset *d, const char *path, int64_t found,
                                assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_INPUT, "%s: %" PRId64 " labels for %" PRId64 " samples of %s",
                      path, found, d->count, d->path);
}

static assay_status labels_from_npy(assay_dataset *d, const char *path, const unsigned char *bytes,
                                    size_t size, assay_error *err)
{
    assay_npy a;
    assay_status status = text_npy_read_memory(bytes, size, path, &a, err);
    if (status)
        return status;
    int64_t count = (int64_t)text_npy_count(&a);
    if (count != d->count)
        status = wrong_count(d, path, count, err);
    for (int64_t i = 0; !status && i < count; i++) {
        double value = text_npy_get(a.data, a.type, (size_t)i);
        if (value >= 0 && value <= INT32_MAX && value == floor(value))
            d->labels[i] = (int64_t)value;
        else
            status = assay_fail(err, ASSAY_ERR_INPUT,
                                "%s: label %" PRId64 " is %g; expected an integer from 0", path, i,
                                value);
    }
    text_npy_free(&a);
    return status;
}

/* IDX of one dimension and type 0x08. */
static assay_status labels_from_idx(assay_dataset *d, const char *path, const unsigned char *b,
                                    size_t size, assay_error *err)
{
    if (size < 8 || b[2] != 8 || b[3] != 1)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: expected IDX labels: type 0x08, one dimension",
                          path);
    int64_t count = (int64_t)b[4] << 24 | b[5] << 16 | b[6] << 8 | b[7];
    if ((int64_t)size - 8 != count)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: the header promises %" PRId64 " labels, the file has %zu", path,
                          count, size - 8);
    if (count != d->count)
        return wrong_count(d, path, count, err);
    for (int64_t i = 0; i < count; i++)
        d->labels[i] = b[8 + i];
    return ASSAY_OK;
}

/* A label a line; empty lines and comments are passed over. */
static assay_status labels_from_text(assay_dataset *d, const char *path, assay_error *err)
{
    char *text, *line;
    int64_t count = 0;
    int number = 0;
    assay_status status = dataset_read_text(path, &text, err);
    for (char *rest = text; !status && (line = dataset_next_line(&rest));) {
        int64_t label;
        number++;
        if (*line == 0 || *line == '#')
            continue;
        if (!dataset_parse_label(line, &label))
            status =
                assay_fail(err, ASSAY_ERR_INPUT, "%s:%d: expected a label from 0, found \"%.60s\"",
                           path, number, line);
        else if (count < d->count)
            d->labels[count] = label;
        count++;
    }
    free(text);
    if (!status && count != d->count)
        status = wrong_count(d, path, count, err);
    return status;
}

assay_status dataset_labels_beside(const char *path, char **labels, assay_error *err)
{
    int length = 0;
    const char *base = strrchr(path, '/');
    const char *idx = strstr(base ? base : path, "images-idx3");
    *labels = NULL;
    if (dataset_ends_with(path, ".npy"))
        length = asprintf(labels, "%.*s_labels.npy", (int)(strlen(path) - 4), path);
    else if (idx)
        length = asprintf(labels, "%.*slabels-idx1%s", (int)(idx - path), path,
                          idx + strlen("images-idx3"));
    if (length < 0) {
        *labels = NULL;
        return assay_out_of_memory_for(err, "%s", path);
    }
    if (*labels && access(*labels, F_OK) != 0) {
        free(*labels);
        *labels = NULL;
    }
    return ASSAY_OK;
}

static const char npy_magic[] = "\x93NUMPY";

bool dataset_is_array(const char *path)
{
    char start[sizeof npy_magic - 1] = "?";
    struct stat st;
    FILE *f = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    const size_t n = f ? fread(start, 1, sizeof start, f) : 0;
    if (f)
        fclose(f);
    return n == sizeof start && (start[0] == 0 || memcmp(start, npy_magic, n) == 0);
}

assay_status dataset_read_labels(assay_dataset *d, const char *path, assay_error *err)
{
    unsigned char *bytes;
    size_t size;
    assay_status status = assay_slurp(path, &bytes, &size, err);
    if (status)
        return status;
    free(d->labels);
    d->labels = malloc((size_t)d->count * sizeof *d->labels);
    if (!d->labels)
        status = assay_out_of_memory_for(err, "%s: labels", path);
    else if (size >= 6 && memcmp(bytes, npy_magic, 6) == 0)
        status = labels_from_npy(d, path, bytes, size, err);
    else if (size >= 4 && bytes[0] == 0)
        status = labels_from_idx(d, path, bytes, size, err);
    else
        status = labels_from_text(d, path, err);
    free(bytes);
    return status;
}

/* ---- class names -------------------------------------------------------------------------- */

static assay_status split_classes(assay_dataset *d, char *text, const char *path, assay_error *err)
{
    size_t lines = 1;
    char *line = NULL;
    for (const char *p = text; *p; p++)
        lines += *p == '\n';
    d->class_names = calloc(lines, sizeof *d->class_names);
    while (d->class_names && (line = dataset_next_line(&text))) {
        char *name = strdup(line);
        if (!name)
            break;
        d->class_names[d->class_count++] = name;
    }
    if (!d->class_names || line)
        return assay_out_of_memory_for(err, "%s: class names", path);
    for (int64_t i = 0; d->labels && i < d->count; i++) {
        char name[256];
        if (d->labels[i] >= d->class_count)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: label %" PRId64 " is beyond the %" PRId64 " classes of %s",
                              dataset_sample_name(d, i, name, sizeof name), d->labels[i],
                              d->class_count, path);
    }
    return ASSAY_OK;
}

assay_status dataset_read_classes(assay_dataset *d, assay_error *err)
{
    char *path, *text;
    assay_status status = dataset_find_beside(d->path, "classes.txt", &path, err);
    if (status || !path)
        return status;
    status = dataset_read_text(path, &text, err);
    if (!status)
        status = split_classes(d, text, path, err);
    free(text);
    free(path);
    return status;
}
