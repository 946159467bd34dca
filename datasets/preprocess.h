/* Preprocessing: from a stored sample to a network's input, one affine map a channel.
 *
 *   value = (stored * scale - mean) / std
 *
 * computed in double and rounded to float32 once. Written as YAML:
 *
 *   resize: [224, 224]     # height, width; before anything else (resize.h)
 *   interpolation: bilinear  # or nearest
 *   scale: 1/255           # number or fraction; one, or a list with one per channel
 *   mean: [0.485, 0.456, 0.406]
 *   std: [0.229, 0.224, 0.225]
 *   channel_order: RGB     # what the network wants: gray, RGB or BGR; stored are RGB or gray
 *   gray: pillow           # gray of colours: pillow, opencv or three weights (colour.h)
 *   layout: NCHW           # of the network's input, NHWC, or flat: rows, columns, channels
 *   dtype: f32             # of the network's input; u8 as stored, i8 as stored or u8 - 128
 *
 * Keys that are left out change nothing. README.md has the same for users; a test reads it there.
 */
#ifndef ASSAY_DATASETS_PREPROCESS_H
#define ASSAY_DATASETS_PREPROCESS_H

#include "datasets/dataset.h"

#define ASSAY_MAX_CHANNELS 16
#define ASSAY_MAX_RESIZE   16384 /* rows, columns */

typedef enum assay_channel_order {
    ASSAY_CHANNELS_STORED = 0,
    ASSAY_CHANNELS_GRAY,
    ASSAY_CHANNELS_RGB,
    ASSAY_CHANNELS_BGR
} assay_channel_order;

/* How colours become gray (colour.h). */
typedef enum assay_gray {
    ASSAY_GRAY_NONE = 0, /* they do not */
    ASSAY_GRAY_PILLOW,
    ASSAY_GRAY_OPENCV,
    ASSAY_GRAY_WEIGHTS
} assay_gray;

typedef enum assay_image_layout {
    ASSAY_IMAGE_STORED = 0,
    ASSAY_IMAGE_NCHW,
    ASSAY_IMAGE_NHWC,
    ASSAY_IMAGE_FLAT /* one list: rows, columns, channels */
} assay_image_layout;

typedef enum assay_input_dtype {
    ASSAY_INPUT_STORED = 0, /* float32 when scale, mean or std is given, else as stored */
    ASSAY_INPUT_F32,
    ASSAY_INPUT_U8,
    ASSAY_INPUT_I8
} assay_input_dtype;

typedef struct assay_preprocess {
    int64_t resize[2]; /* height, width; 0: as stored */
    bool nearest;
    int scales, means, stds; /* entries given: 0 (identity), 1 (all channels) or one per channel */
    double scale[ASSAY_MAX_CHANNELS];
    double mean[ASSAY_MAX_CHANNELS];
    double std[ASSAY_MAX_CHANNELS];
    assay_channel_order channel_order;
    assay_gray gray;
    double weight[3]; /* of ASSAY_GRAY_WEIGHTS: red, green, blue */
    assay_image_layout layout;
    assay_input_dtype dtype;
} assay_preprocess;

/* Parse YAML text or file. An unknown key, a second value, std 0 or a number that is not finite is
 * an error that names the line. A zeroed struct is the identity. */
assay_status dataset_preprocess_parse(const char *text, size_t size, const char *name,
                                      assay_preprocess *out, assay_error *err);
assay_status dataset_preprocess_read(const char *path, assay_preprocess *out, assay_error *err);

/* Reads preprocess.yaml beside the data set: in the folder at `path`, or that holds the file at
 * `path`, or in the parent of that folder. None there: *out is the identity and *found, when given,
 * false. */
assay_status dataset_preprocess_find(const char *path, assay_preprocess *out, bool *found,
                                     assay_error *err);

/* The canonical line, such as "dtype=f32 layout=NCHW channels=RGB scale=0.5 mean=0.1,0.2,0.3":
 * equal preprocessing gives equal text. Written to profiles and compared there. Returns buf. */
#define ASSAY_PREPROCESS_TEXT 1408
const char *dataset_preprocess_print(const assay_preprocess *p, char buf[ASSAY_PREPROCESS_TEXT]);

/* Type and shape, with a leading batch dimension of 1, of what samples of type `in` become. Fails
 * when the preprocessing does not fit them: other number of channels, layout of what is no image,
 * numbers that integer output would drop, a new size or other channels for samples other than
 * u8, i8, u16 or f32 images. `name` names the data set in messages. */
assay_status dataset_preprocess_type(const assay_preprocess *p, const assay_sample_type *in,
                                     const char *name, assay_sample_type *out, assay_error *err);

/* Maps one sample that has its size and channels; `in` is of the type that dataset_preprocess_type
 * accepted, in the new size and of the channels that are stated, `out` of the type that it gave. */
void dataset_preprocess_apply(const assay_preprocess *p, const assay_sample_type *type,
                              const void *in, const assay_sample_type *out_type, void *out);

/* Reads sample i of a data set and maps it into `out` (dataset_sample_bytes(out_type) bytes).
 * Images of a folder may have sizes of their own where a new one is stated, and 1 or 3 channels
 * where an order is. May be called from several threads at once. */
assay_status dataset_read_input(const assay_dataset *d, const assay_preprocess *p, int64_t i,
                                const assay_sample_type *out_type, void *out, assay_error *err);

#endif
