/* Data sets: samples with labels, read one at a time from any thread.
 *
 *   folder of PNG   labels.txt in it: one line "NAME LABEL" per image
 *   folder of .npy  the same, a sample a file; read where a folder holds no PNG; 1s in front of an
 *                   image's three dimensions do not count
 *   one PNG         *.png: a data set of one sample, without a label
 *   IDX             MNIST's format: train-images-idx3-ubyte and train-labels-idx1-ubyte
 *   CIFAR-10        binary version, *.bin: records of a label and 3x32x32 bytes
 *   NPY             NAME.npy, first dimension the samples; NAME_labels.npy
 *   raw             samples one after another; element type and shape come from the caller
 *   folder of .npz  a sample a file, an array in each for every input; read where a folder holds
 *                   neither PNG nor .npy
 *   NPZ             NAME.npz, of each array the first dimension the samples
 *   tokens          .npy of one dimension, .txt with integers, raw integers without a shape: one
 *                   stream, cut into windows
 *
 * Labels by pixel (segmentation): a folder with a map a sample, NAME.png or NAME.npy as the sample
 * is called, or an array [N,H,W] of integers.
 *
 * A data set is never read whole: memory does not grow with the number of samples (but for
 * labels, names and the tokens of a text). Nothing is resized or converted silently: all samples
 * have one type and shape, and one that differs is an error that names it. */
#ifndef ASSAY_DATASETS_DATASET_H
#define ASSAY_DATASETS_DATASET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graph/base.h"
#include "graph/text/npy.h"

typedef struct assay_dataset assay_dataset;

/* Type, shape and, where the shape is an image's, layout of one sample. */
typedef struct assay_sample_type {
    assay_npy_type type;
    int rank;
    int64_t shape[ASSAY_NPY_MAX_RANK];
    bool planar; /* an image is [C,H,W] rather than [H,W,C] */
} assay_sample_type;

typedef struct assay_dataset_options {
    /* Labels file: text ("NAME LABEL" a line for a folder, else "LABEL"), .npy or IDX, in the
     * samples' order; or the folder or .npy of label maps.
     * NULL: where the list above says; none there means that no sample has a label. */
    const char *labels;
    /* For raw data: the type of one sample, as "u8:32x32x3". NULL for every other format:
     * folders and PNGs refuse it. */
    const char *raw;
    /* Planar images ([C,H,W]) in .npy or raw data; the other formats say themselves. */
    bool planar;
    /* Name of the array in .npz; NULL for other formats, which have one. */
    const char *array;
    /* What windows of a stream of tokens are, a type of integers, and tokens from the start of one
     * to that of the next (0: its length, so that none overlap). NULL: a token is a sample. */
    const assay_sample_type *window;
    int64_t window_step;
    bool one_token; /* what opens data sets for a network: a window may be of one token */
} assay_dataset_options;

/* Opens the data set at `path`; options may be NULL. The folder, all labels and the first sample
 * are checked here. On success *out must be closed. Errors name the file and, in a labels file,
 * the line. */
assay_status dataset_open(const char *path, const assay_dataset_options *options,
                          assay_dataset **out, assay_error *err);
/* A stream of n tokens in memory, copied; `of` is what it is called in messages, and options say
 * the windows that it is cut into. */
assay_status dataset_open_tokens(const int64_t *token, int64_t n, const char *of,
                                 const assay_dataset_options *options, assay_dataset **out,
                                 assay_error *err);
void dataset_close(assay_dataset *d);

int64_t dataset_count(const assay_dataset *d);
const assay_sample_type *dataset_sample_type(const assay_dataset *d);

/* Label of sample i, or -1 when the data set has none. */
int64_t dataset_label(const assay_dataset *d, int64_t i);

/* Are there labels per pixel? Then size[] receives the height and width of their maps. */
bool dataset_map_size(const assay_dataset *d, int64_t size[2]);
/* The label of each pixel of sample i, of a data set that has them: label[height * width], -1 where
 * the map holds `ignored`. May be called from several threads at once. */
assay_status dataset_read_map(const assay_dataset *d, int64_t i, int64_t ignored, int64_t *label,
                              assay_error *err);

/* Is it a stream of tokens, cut into windows? */
bool dataset_has_windows(const assay_dataset *d);
/* The token that follows each element of sample i, of a data set of integers: label[elements of a
 * sample], -1 where there is none or it is `ignored`. In a window the last one's is the first
 * behind it in the stream; what an earlier window has judged (they overlap) has none. Of other
 * samples
 * [.., T] the last of each row has none. May be called from several threads at once. */
assay_status dataset_next_tokens(const assay_dataset *d, int64_t i, int64_t ignored, int64_t *label,
                                 assay_error *err);

/* Does the path name an .npz file, or a folder of .npz files without PNG and .npy files? */
bool dataset_is_npz(const char *path);

/* Number of class names (classes.txt, looked for as preprocess.yaml; else 0) and their text. */
int64_t dataset_class_count(const assay_dataset *d);
const char *dataset_class_name(const assay_dataset *d, int64_t label);

/* Writes "FILE" or "FILE[i]" for sample i into buf and returns buf. */
const char *dataset_sample_name(const assay_dataset *d, int64_t i, char *buf, size_t size);

/* Reads sample i as it is stored, in native byte order, into `out`, which holds
 * dataset_sample_bytes() bytes. May be called from several threads at once. */
assay_status dataset_read(const assay_dataset *d, int64_t i, void *out, assay_error *err);

/* Elements and bytes of one sample. */
size_t dataset_sample_count(const assay_sample_type *t);
size_t dataset_sample_bytes(const assay_sample_type *t);

/* Writes "uint8 [32,32,3]" into buf and returns buf. */
const char *dataset_sample_print(const assay_sample_type *t, char *buf, size_t size);

#endif
