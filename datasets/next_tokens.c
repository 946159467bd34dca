/* The tokens that follow each of a sample: what a language model is judged by. */
#include <inttypes.h>
#include <stdlib.h>

#include "datasets/internal.h"
#include "graph/memory.h"

static assay_status next_in_stream(const assay_dataset *d, int64_t i, int64_t *label,
                                   assay_error *err)
{
    const int64_t n = (int64_t)dataset_sample_count(&d->type), first = i * d->step + 1;
    const int64_t there = first + n <= d->stream ? n : d->stream - first;
    const assay_status status = dataset_read_tokens(d, first, (size_t)there, label, err);

    if (there < n)
        label[n - 1] = -1;
    for (int64_t k = 0; k < n - d->step && i > 0; k++)
        label[k] = -1;
    return status;
}

static assay_status next_in_rows(const assay_dataset *d, int64_t i, int64_t *label,
                                 assay_error *err)
{
    const assay_sample_type *t = &d->type;
    const size_t n = dataset_sample_count(t);
    const size_t row = t->rank > 0 ? (size_t)t->shape[t->rank - 1] : 1;
    void *stored = malloc(dataset_sample_bytes(t) + 1);
    assay_status status =
        stored ? dataset_read(d, i, stored, err) : assay_out_of_memory_for(err, "%s", d->path);

    for (size_t k = 0; !status && k < n; k++)
        label[k] = (k + 1) % row ? text_npy_integer(stored, t->type, k + 1) : -1;
    free(stored);
    return status;
}

assay_status dataset_next_tokens(const assay_dataset *d, int64_t i, int64_t ignored, int64_t *label,
                                 assay_error *err)
{
    if (!text_npy_is_integer(d->type.type))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: samples are %s, not tokens (integers)",
                          d->path, text_npy_type_name(d->type.type));
    const assay_status status =
        d->stream ? next_in_stream(d, i, label, err) : next_in_rows(d, i, label, err);
    const size_t n = dataset_sample_count(&d->type);
    for (size_t k = 0; !status && k < n; k++)
        label[k] = label[k] == ignored || label[k] < 0 ? -1 : label[k];
    return status;
}
