/* Preprocessing: what a sample becomes, and the mapping itself. */
#include "datasets/preprocess.h"
#include "graph/memory.h"

#include "datasets/colour.h"
#include "datasets/internal.h"
#include "datasets/resize.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the canonical line ------------------------------------------------------------------- */

static const char *const channel_names[] = {"stored", "gray", "RGB", "BGR"};
static const char *const gray_names[] = {"none", "pillow", "opencv", "weights"};
static const char *const layout_names[] = {"stored", "NCHW", "NHWC", "flat"};

/* Appends to buf (of ASSAY_PREPROCESS_TEXT bytes, `used` of them) the shortest text that reads
 * back as the same number. */
static size_t print_number(char *buf, size_t used, double value)
{
    char text[40];
    int digits = 1;
    do {
        snprintf(text, sizeof text, "%.*g", digits, value);
    } while (strtod(text, NULL) != value && digits++ < 17);
    return used + (size_t)snprintf(buf + used, ASSAY_PREPROCESS_TEXT - used, "%s", text);
}

/* " NAME=a,b,c"; one number when all are equal, nothing when all are `identity`. */
static size_t print_list(char *buf, size_t used, const char *name, int count, const double *value,
                         double identity)
{
    int differ = 0;
    for (int i = 1; i < count; i++)
        differ |= value[i] != value[0];
    if (count == 0 || (!differ && value[0] == identity))
        return used;
    used += (size_t)snprintf(buf + used, ASSAY_PREPROCESS_TEXT - used, " %s=", name);
    for (int i = 0; i < (differ ? count : 1); i++) {
        if (i)
            buf[used++] = ',';
        used = print_number(buf, used, value[i]);
    }
    return used;
}

static size_t print_weights(char *buf, size_t used, const double weight[3])
{
    for (int i = 0; i < 3; i++) {
        used +=
            (size_t)snprintf(buf + used, ASSAY_PREPROCESS_TEXT - used, "%s", i ? "," : " gray=");
        used = print_number(buf, used, weight[i]);
    }
    return used;
}

static bool has_affine(const assay_preprocess *p)
{
    return p->scales || p->means || p->stds;
}

static assay_input_dtype output_dtype(const assay_preprocess *p)
{
    return p->dtype == ASSAY_INPUT_STORED && has_affine(p) ? ASSAY_INPUT_F32 : p->dtype;
}

const char *dataset_preprocess_print(const assay_preprocess *p, char buf[ASSAY_PREPROCESS_TEXT])
{
    static const char *const dtype_names[] = {"stored", "f32", "u8", "i8"};
    size_t used = (size_t)snprintf(buf, ASSAY_PREPROCESS_TEXT, "dtype=%s layout=%s channels=%s",
                                   dtype_names[output_dtype(p)], layout_names[p->layout],
                                   channel_names[p->channel_order]);
    used = print_list(buf, used, "scale", p->scales, p->scale, 1);
    used = print_list(buf, used, "mean", p->means, p->mean, 0);
    used = print_list(buf, used, "std", p->stds, p->std, 1);
    if (p->gray == ASSAY_GRAY_WEIGHTS)
        used = print_weights(buf, used, p->weight);
    else if (p->gray)
        used += (size_t)snprintf(buf + used, ASSAY_PREPROCESS_TEXT - used, " gray=%s",
                                 gray_names[p->gray]);
    if (p->resize[0] > 0)
        snprintf(buf + used, ASSAY_PREPROCESS_TEXT - used, " resize=%" PRId64 "x%" PRId64 ",%s",
                 p->resize[0], p->resize[1], p->nearest ? "nearest" : "bilinear");
    return buf;
}

/* ---- types -------------------------------------------------------------------------------- */

/* How many channels are asked for; 0: as stored. */
static int64_t channels_asked(const assay_preprocess *p)
{
    return p->channel_order == ASSAY_CHANNELS_GRAY ? 1 : p->channel_order ? 3 : 0;
}

/* What samples of type `in` are after resizing. */
static assay_sample_type resized(const assay_preprocess *p, const assay_sample_type *in)
{
    assay_sample_type t = *in;
    const int rows = in->rank == 3 && in->planar ? 1 : 0;
    if (p->resize[0] > 0) {
        t.shape[rows] = p->resize[0];
        t.shape[rows + 1] = p->resize[1];
    }
    return t;
}

/* What those are in the channels that are asked for, where that can be. */
static assay_sample_type recoloured(const assay_preprocess *p, const assay_sample_type *in)
{
    assay_extent s;
    const int64_t asked = channels_asked(p);
    if (asked == 0 || !dataset_extent_of(in, &s) || s.channels == asked ||
        (s.channels != 1 && s.channels != 3))
        return *in;
    return dataset_recoloured(in, asked);
}

static assay_status check_size(const assay_preprocess *p, const assay_sample_type *in,
                               const char *name, assay_error *err)
{
    char shape[160];
    assay_extent s;
    const bool fits = in->type == ASSAY_NPY_U1 || in->type == ASSAY_NPY_I1 ||
                      in->type == ASSAY_NPY_U2 || in->type == ASSAY_NPY_F4;
    const bool image = dataset_extent_of(in, &s);
    const bool other = image && channels_asked(p) > 0 && channels_asked(p) != s.channels;
    if ((p->resize[0] == 0 && !other) || (fits && image))
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s: preprocessing %s, but samples are %s; expected images of u8, i8, "
                      "u16 or f32",
                      name, other ? "changes channels" : "resizes",
                      dataset_sample_print(in, shape, sizeof shape));
}

/* Whether colours can become gray as it is said, and other channels what is asked for. */
static assay_status check_colours(const assay_preprocess *p, const assay_sample_type *in,
                                  const char *name, assay_error *err)
{
    char shape[160];
    assay_extent s;
    const int64_t asked = channels_asked(p);
    if (asked == 0 || !dataset_extent_of(in, &s) || s.channels == asked)
        return ASSAY_OK;
    dataset_sample_print(in, shape, sizeof shape);
    if (asked == 1 && s.channels == 3 && !p->gray)
        return assay_fail(
            err, ASSAY_ERR_INPUT,
            "%s: preprocessing asks for gray, but samples are %s; gray: pillow, gray: opencv or "
            "gray: [0.299, 0.587, 0.114] says how to convert colours",
            name, shape);
    if (asked == 1 && s.channels == 3 && p->gray != ASSAY_GRAY_WEIGHTS && in->type != ASSAY_NPY_U1)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: gray: %s is defined for u8, but samples are %s; gray: [0.299, "
                          "0.587, 0.114] takes any type",
                          name, gray_names[p->gray], shape);
    if (s.channels != 1 && s.channels != 3)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: preprocessing asks for %s, %d channel%s, but samples are %s", name,
                          channel_names[p->channel_order], (int)asked, asked > 1 ? "s" : "", shape);
    return ASSAY_OK;
}

static assay_status check_channels(const assay_preprocess *p, const assay_sample_type *in,
                                   const char *name, assay_error *err)
{
    const struct {
        const char *key;
        int count;
    } lists[] = {{"scale", p->scales}, {"mean", p->means}, {"std", p->stds}};
    assay_extent s = {0};
    char shape[160];
    bool image = dataset_extent_of(in, &s);
    dataset_sample_print(in, shape, sizeof shape);
    if ((p->layout || p->channel_order) && !image)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: preprocessing states a layout or channel order, but samples are "
                          "%s; expected images",
                          name, shape);
    for (int i = 0; i < 3; i++)
        if (lists[i].count > 1 && lists[i].count != s.channels)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: preprocessing has %d values of %s, but samples are %s", name,
                              lists[i].count, lists[i].key, shape);
    return ASSAY_OK;
}

static assay_status check_dtype(const assay_preprocess *p, const assay_sample_type *in,
                                const char *name, assay_sample_type *out, assay_error *err)
{
    assay_input_dtype dtype = output_dtype(p);
    if (dtype != ASSAY_INPUT_F32 && has_affine(p))
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "%s: preprocessing has scale, mean or std, which need dtype f32", name);
    if (dtype == ASSAY_INPUT_F32) {
        out->type = ASSAY_NPY_F4;
    } else if (dtype != ASSAY_INPUT_STORED) {
        bool fits =
            in->type == ASSAY_NPY_U1 || (dtype == ASSAY_INPUT_I8 && in->type == ASSAY_NPY_I1);
        if (!fits)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: preprocessing asks for %s, but samples are %s", name,
                              dtype == ASSAY_INPUT_U8 ? "u8" : "i8", text_npy_type_name(in->type));
        out->type = dtype == ASSAY_INPUT_U8 ? ASSAY_NPY_U1 : ASSAY_NPY_I1;
    }
    return ASSAY_OK;
}

assay_status dataset_preprocess_type(const assay_preprocess *p, const assay_sample_type *in,
                                     const char *name, assay_sample_type *out, assay_error *err)
{
    assay_extent s;
    assay_status status = check_size(p, in, name, err);
    if (status)
        return status;
    const assay_sample_type sized = resized(p, in);
    const assay_sample_type coloured = recoloured(p, &sized);
    status = check_colours(p, &sized, name, err);
    in = &coloured;
    *out = *in;
    if (!status)
        status = check_channels(p, in, name, err);
    if (!status)
        status = check_dtype(p, in, name, out, err);
    if (!status && in->rank == ASSAY_NPY_MAX_RANK)
        status = assay_fail(err, ASSAY_ERR_LIMIT,
                            "%s: samples of %d dimensions leave no room for "
                            "a batch dimension",
                            name, in->rank);
    if (status)
        return status;
    out->shape[0] = 1;
    if (p->layout == ASSAY_IMAGE_FLAT) {
        out->planar = false;
        out->rank = 2;
        out->shape[1] = (int64_t)dataset_sample_count(in);
    } else if (p->layout && dataset_extent_of(in, &s)) {
        out->planar = p->layout == ASSAY_IMAGE_NCHW;
        out->rank = 4;
        out->shape[1] = out->planar ? s.channels : s.height;
        out->shape[2] = out->planar ? s.height : s.width;
        out->shape[3] = out->planar ? s.width : s.channels;
    } else {
        out->rank = in->rank + 1;
        memcpy(out->shape + 1, in->shape, (size_t)in->rank * sizeof in->shape[0]);
    }
    return ASSAY_OK;
}

/* ---- mapping ------------------------------------------------------------------------------ */

static double entry(const double *list, int count, int64_t channel, double identity)
{
    return count == 0 ? identity : count == 1 ? list[0] : list[channel];
}

/* One element. `channel` is counted as stored; the lists are in the network's order. */
static void map_element(const assay_preprocess *p, int64_t channel, const void *in,
                        assay_npy_type in_type, size_t from, void *out, assay_npy_type out_type,
                        size_t to)
{
    size_t size = text_npy_type_size(in_type);
    if (out_type == ASSAY_NPY_F4 && (has_affine(p) || in_type != ASSAY_NPY_F4)) {
        double value = text_npy_get(in, in_type, from);
        value *= entry(p->scale, p->scales, channel, 1);
        value -= entry(p->mean, p->means, channel, 0);
        value /= entry(p->std, p->stds, channel, 1);
        ((float *)out)[to] = (float)value;
    } else if (out_type == ASSAY_NPY_I1 && in_type == ASSAY_NPY_U1) {
        ((int8_t *)out)[to] = (int8_t)(((const uint8_t *)in)[from] - 128);
    } else {
        memcpy((char *)out + to * size, (const char *)in + from * size, size);
    }
}

void dataset_preprocess_apply(const assay_preprocess *p, const assay_sample_type *type,
                              const void *in, const assay_sample_type *out_type, void *out)
{
    assay_extent s;
    if (!dataset_extent_of(type, &s)) {
        size_t count = dataset_sample_count(type);
        for (size_t i = 0; i < count; i++)
            map_element(p, 0, in, type->type, i, out, out_type->type, i);
        return;
    }
    size_t pixels = (size_t)(s.height * s.width), channels = (size_t)s.channels;
    for (size_t c = 0; c < channels; c++) {
        size_t stored = p->channel_order == ASSAY_CHANNELS_BGR ? channels - 1 - c : c;
        for (size_t i = 0; i < pixels; i++) {
            size_t from = type->planar ? stored * pixels + i : i * channels + stored;
            size_t to = out_type->planar ? c * pixels + i : i * channels + c;
            map_element(p, (int64_t)c, in, type->type, from, out, out_type->type, to);
        }
    }
}

/* A step of a sample's on its way: *data of type *type becomes one of type `next`, malloc'd. */
static assay_status prepare(const assay_preprocess *p, assay_sample_type *type,
                            const assay_sample_type *next, bool colours, void **data,
                            assay_error *err)
{
    const size_t bytes = dataset_sample_bytes(next);
    void *to = malloc(bytes);
    if (!to)
        return assay_out_of_memory_for(err, "a sample of %zu bytes", bytes);
    if (colours)
        dataset_recolour(p, type, *data, next, to);
    else
        dataset_resize(type, *data, p->nearest, next, to);
    free(*data);
    *data = to;
    *type = *next;
    return ASSAY_OK;
}

assay_status dataset_read_input(const assay_dataset *d, const assay_preprocess *p, int64_t i,
                                const assay_sample_type *out_type, void *out, assay_error *err)
{
    assay_sample_type type;
    void *data;
    char name[4096];
    assay_status status =
        dataset_read_own(d, i, p->resize[0] > 0, p->channel_order != 0, &type, &data, err);
    if (!status)
        status = check_colours(p, &type, dataset_sample_name(d, i, name, sizeof name), err);
    if (!status && p->resize[0] > 0) {
        const assay_sample_type sized = resized(p, &type);
        status = prepare(p, &type, &sized, false, &data, err);
    }
    if (!status && channels_asked(p) > 0) {
        const assay_sample_type coloured = recoloured(p, &type);
        if (dataset_sample_count(&coloured) != dataset_sample_count(&type))
            status = prepare(p, &type, &coloured, true, &data, err);
    }
    if (!status)
        dataset_preprocess_apply(p, &type, data, out_type, out);
    free(data);
    return status;
}
