/* Streams of tokens, cut into windows. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/internal.h"
#include "graph/memory.h"

assay_status dataset_cut_windows(assay_dataset *d, const assay_dataset_options *options,
                                 assay_error *err)
{
    if (d->files || d->type.rank > 0 || !text_npy_is_integer(d->type.type))
        return ASSAY_OK;
    if (!options->window)
        return d->tokens
                   ? assay_fail(err, ASSAY_ERR_INPUT,
                                "%s: a file of tokens needs an input of more than one integer, or, "
                                "where they come one at a time, `next_tokens`",
                                d->path)
                   : ASSAY_OK;
    const int64_t length = (int64_t)dataset_sample_count(options->window);
    if (d->count < length)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: %" PRId64 " tokens; a window has %" PRId64,
                          d->path, d->count, length);
    d->stream = d->count;
    d->element = d->type.type;
    d->step = options->window_step ? options->window_step : length;
    d->type = *options->window;
    d->count = 1 + (d->stream - length) / d->step;
    return ASSAY_OK;
}

bool dataset_has_windows(const assay_dataset *d)
{
    return d->stream > 0;
}

/* n tokens from number `first` of the stream on. */
assay_status dataset_read_tokens(const assay_dataset *d, int64_t first, size_t n, int64_t *out,
                                 assay_error *err)
{
    const size_t size = text_npy_type_size(d->element);
    if (d->tokens) {
        memcpy(out, d->tokens + first, n * sizeof *out);
        return ASSAY_OK;
    }
    void *stored = malloc(n * size + 1);
    assay_status status =
        stored ? dataset_read_elements(d, d->offset + first * d->stride, n, size, stored, err)
               : assay_out_of_memory_for(err, "%s", d->path);
    for (size_t k = 0; !status && k < n; k++)
        out[k] = text_npy_integer(stored, d->element, k);
    free(stored);
    return status;
}

/* Stores v as element k; false where the type does not hold it. */
static bool put_integer(void *data, assay_npy_type type, size_t k, int64_t v)
{
    switch (type) {
    case ASSAY_NPY_I8:
        ((int64_t *)data)[k] = v;
        return true;
    case ASSAY_NPY_I4:
        ((int32_t *)data)[k] = (int32_t)v;
        return v >= INT32_MIN && v <= INT32_MAX;
    case ASSAY_NPY_U4:
        ((uint32_t *)data)[k] = (uint32_t)v;
        return v >= 0 && v <= UINT32_MAX;
    case ASSAY_NPY_I2:
        ((int16_t *)data)[k] = (int16_t)v;
        return v >= INT16_MIN && v <= INT16_MAX;
    case ASSAY_NPY_U2:
        ((uint16_t *)data)[k] = (uint16_t)v;
        return v >= 0 && v <= UINT16_MAX;
    case ASSAY_NPY_I1:
        ((int8_t *)data)[k] = (int8_t)v;
        return v >= INT8_MIN && v <= INT8_MAX;
    case ASSAY_NPY_U1:
        ((uint8_t *)data)[k] = (uint8_t)v;
        return v >= 0 && v <= UINT8_MAX;
    default:
        return false;
    }
}

assay_status dataset_read_window(const assay_dataset *d, int64_t i, void *out, assay_error *err)
{
    const size_t n = dataset_sample_count(&d->type);
    int64_t *token = malloc((n + 1) * sizeof *token);
    assay_status status = token ? dataset_read_tokens(d, i * d->step, n, token, err)
                                : assay_out_of_memory_for(err, "%s", d->path);

    for (size_t k = 0; !status && k < n; k++)
        if (!put_integer(out, d->type.type, k, token[k]))
            status =
                assay_fail(err, ASSAY_ERR_INPUT,
                           "%s: token %" PRId64 " is %" PRId64 ", which %s does not hold", d->path,
                           i * d->step + (int64_t)k, token[k], text_npy_type_name(d->type.type));
    free(token);
    return status;
}
