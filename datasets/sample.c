/* Samples: their size, their type in words, their names. */
#include <inttypes.h>
#include <stdio.h>

#include "datasets/internal.h"

size_t dataset_sample_count(const assay_sample_type *t)
{
    size_t count = 1;
    for (int i = 0; i < t->rank; i++)
        count *= (size_t)t->shape[i];
    return count;
}

size_t dataset_sample_bytes(const assay_sample_type *t)
{
    return dataset_sample_count(t) * text_npy_type_size(t->type);
}

const char *dataset_sample_print(const assay_sample_type *t, char *buf, size_t size)
{
    int n = snprintf(buf, size, "%s [", text_npy_type_name(t->type));
    for (int i = 0; i < t->rank && (size_t)n < size; i++)
        n += snprintf(buf + n, size - (size_t)n, "%s%" PRId64, i ? "," : "", t->shape[i]);
    if ((size_t)n < size)
        snprintf(buf + n, size - (size_t)n, "]");
    return buf;
}

const char *dataset_sample_name(const assay_dataset *d, int64_t i, char *buf, size_t size)
{
    if (d->files)
        snprintf(buf, size, "%s", d->files[i]);
    else
        snprintf(buf, size, "%s[%" PRId64 "]", d->path, i);
    return buf;
}
