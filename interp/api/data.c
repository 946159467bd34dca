/* Data sets of a network's inputs; see data.h. */
#include "interp/api/data.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/type.h"
#include "graph/memory.h"
#include "interp/api/options.h"

/* ---- sources ---- */

assay_status assay_source_preprocess(assay_source *from, const char *file, assay_error *err)
{
    return file ? dataset_preprocess_read(file, &from->preprocess, err)
                : dataset_preprocess_find(from->path, &from->preprocess, NULL, err);
}

static assay_status check_input(const assay_value *in, const assay_sample_type *t, const char *path,
                                assay_error *err)
{
    assay_sample_type stored = *t; /* without the batch dimension, which is not the data's */
    stored.rank--;
    memmove(stored.shape, t->shape + 1, (size_t)stored.rank * sizeof t->shape[0]);
    return assay_sample_check(&stored, in, path, err);
}

/* Are the samples codes of that input, while the network takes as many floats? */
static bool are_codes(const assay_sample_type *t, const assay_value *in, const assay_value *codes)
{
    return codes && codes->type.q.granularity == ASSAY_Q_TENSOR && codes->type.elem.bits <= 8 &&
           in->type.elem.kind == ASSAY_KIND_F32 &&
           assay_shape_count(&in->type) == assay_shape_count(&codes->type) &&
           !assay_sample_check(t, codes, "", NULL);
}

assay_status assay_source_open(assay_source *from, const assay_value *in,
                               const assay_dataset_options *o, bool is_stated, assay_error *err)
{
    const assay_sample_type window = assay_sample_of(in);
    const bool tokens = in->type.elem.kind == ASSAY_KIND_INT && !assay_is_quantized(&in->type) &&
                        assay_shape_count(&in->type) > (o->one_token ? 0 : 1);
    const assay_dataset_options options = {.labels = o->labels,
                                           .raw = o->raw,
                                           .array = from->array,
                                           .window = tokens ? &window : NULL,
                                           .window_step = o->window_step};
    assay_status status = dataset_open(from->path, &options, &from->dataset, err);

    if (!status && dataset_has_windows(from->dataset) && !is_stated)
        from->preprocess = (assay_preprocess){0}; /* a file beside tokens is about images */
    if (!status)
        status = dataset_preprocess_type(&from->preprocess, dataset_sample_type(from->dataset),
                                         from->path, &from->type, err);
    if (!status && in->type.elem.kind == ASSAY_KIND_F32 &&
        (from->type.type == ASSAY_NPY_F2 || from->type.type == ASSAY_NPY_F8))
        from->type.type = ASSAY_NPY_F4; /* as text_npy_widen and text_npy_round */
    if (!status && !are_codes(&from->type, in, from->codes)) {
        from->codes = NULL;
        status = check_input(in, &from->type, from->path, err);
    }
    return status;
}

/* Codes of 8 bits in the first quarter of a float input become floats, from the last to the first.
 */
static void codes_to_real(const assay_type *t, void *input)
{
    float *real = input;
    for (size_t i = (size_t)assay_shape_count(t); i-- > 0;)
        real[i] = t->q.scale[0] * (float)(assay_elem_get(t->elem, input, i) - t->q.zero_point[0]);
}

assay_status assay_source_read(const assay_source *from, const assay_value *in, int64_t i,
                               void *input, assay_error *err)
{
    if (dataset_count(from->dataset) == 1)
        i = 0;
    assay_status status =
        dataset_read_input(from->dataset, &from->preprocess, i, &from->type, input, err);
    if (!status)
        status = assay_codes_check(from->codes ? from->codes : in, input, "data set", err);
    if (!status && from->codes)
        codes_to_real(&from->codes->type, input);
    return status;
}

/* ---- for callers ---- */

struct assay_loader {
    assay_source source;
    const assay_value *in;
    char *path;
    char preprocessing[ASSAY_PREPROCESS_TEXT];
};

static assay_status open_data(assay_loader *d, const assay_loader_options *o, assay_error *err)
{
    const assay_dataset_options options = {
        .labels = o->labels, .raw = o->raw, .window_step = o->stride, .one_token = o->next_tokens};
    d->source.path = d->path;
    if (dataset_is_npz(d->path))
        d->source.array = o->array ? o->array : d->in->name;
    assay_status status = assay_source_preprocess(&d->source, o->preprocess, err);
    if (!status)
        status = assay_source_open(&d->source, d->in, &options, o->preprocess != NULL, err);
    d->source.array = NULL; /* the caller's */
    dataset_preprocess_print(&d->source.preprocess, d->preprocessing);
    return status;
}

assay_status assay_loader_open(const char *path, const assay_graph *g, int input,
                               const assay_loader_options *options, assay_loader **out,
                               assay_error *err)
{
    assay_loader_options o;
    assay_status status = ASSAY_OPTIONS_TAKE(options, &o, err);
    *out = NULL;
    if (!status && (input < 0 || input >= g->n_inputs))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "the network has %d inputs; there is no input number %d", g->n_inputs,
                            input);
    if (!status && (o.stride < 0 || o.stride > INT64_C(1) << 40))
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            "stride must be from 1 to 2^40, or 0 for the window's length");
    if (status)
        return status;
    assay_loader *d = calloc(1, sizeof *d);
    char *copy = d ? strdup(path) : NULL;
    if (!copy) {
        free(d);
        return assay_out_of_memory(err);
    }
    d->path = copy;
    d->in = &g->value[g->input[input]];
    status = open_data(d, &o, err);
    if (status)
        assay_loader_close(d);
    else
        *out = d;
    return status;
}

void assay_loader_close(assay_loader *d)
{
    if (!d)
        return;
    dataset_close(d->source.dataset);
    free(d->path);
    free(d);
}

int64_t assay_loader_count(const assay_loader *d)
{
    return dataset_count(d->source.dataset);
}

static assay_status check_number(const assay_loader *d, int64_t i, assay_error *err)
{
    return i >= 0 && i < assay_loader_count(d)
               ? ASSAY_OK
               : assay_fail(err, ASSAY_ERR_INPUT, "%s: there is no sample %lld of %lld", d->path,
                            (long long)i, (long long)assay_loader_count(d));
}

assay_status assay_loader_read(const assay_loader *d, int64_t i, void *sample, assay_error *err)
{
    const assay_status status = check_number(d, i, err);
    return status ? status : assay_source_read(&d->source, d->in, i, sample, err);
}

int64_t assay_loader_label(const assay_loader *d, int64_t i)
{
    return i >= 0 && i < assay_loader_count(d) ? dataset_label(d->source.dataset, i) : -1;
}

void assay_loader_map(const assay_loader *d, int64_t extent[2])
{
    extent[0] = extent[1] = 0;
    dataset_map_size(d->source.dataset, extent);
}

assay_status assay_loader_read_map(const assay_loader *d, int64_t i, int64_t ignored,
                                   int64_t *label, assay_error *err)
{
    int64_t extent[2];
    const assay_status status = check_number(d, i, err);
    assay_loader_map(d, extent);
    if (!status && extent[0] == 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: it has no label maps", d->path);
    return status ? status : dataset_read_map(d->source.dataset, i, ignored, label, err);
}

const char *assay_loader_preprocessing(const assay_loader *d)
{
    return d->preprocessing;
}
