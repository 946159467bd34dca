/* Common parts of the loaders: one file per kind of source fills this. */
#ifndef ASSAY_DATASETS_INTERNAL_H
#define ASSAY_DATASETS_INTERNAL_H

#include "datasets/dataset.h"

struct assay_dataset {
    char *path;
    assay_sample_type type;
    int64_t count;
    int64_t *labels; /* [count], or NULL */
    int64_t class_count;
    char **class_names; /* [class_count] */

    char **files; /* a folder: path of each image or array, [count]; else NULL */
    char *array;  /* name of the array in .npz; or NULL */

    int fd;         /* one file with all samples; -1 for a folder */
    int64_t offset; /* of the first sample */
    int64_t stride; /* bytes from one sample to the next */
    bool swap;      /* elements are in the other byte order */

    int64_t *tokens;        /* of a text; or NULL */
    int64_t stream;         /* tokens in it, where samples are windows of a stream; else 0 */
    int64_t step;           /* then: from the start of a window to that of the next */
    assay_npy_type element; /* then: of a token as it is stored in the file */

    assay_dataset *maps; /* labels by pixel, a sample each; or NULL */
    bool indices;        /* these are such: a palette's indices are read, not its colours */
    int64_t map[2];      /* then: height, width */
};

/* Each fills type, count and the source of samples; what a failure leaves is released by
 * dataset_close. `labels` is a labels file or NULL. Of a file, its labels are opened apart, but for
 * those that its records hold. */
assay_status dataset_open_folder(assay_dataset *d, const char *labels, assay_error *err);
assay_status dataset_open_image(assay_dataset *d, assay_error *err);
assay_status dataset_open_file(assay_dataset *d, const assay_dataset_options *options,
                               assay_error *err);

/* The type of one sample of an array whose first dimension is the sample; count and stride. */
assay_status dataset_split_samples(assay_dataset *d, assay_npy_type type, int rank,
                                   const int64_t *shape, assay_error *err);

/* A text of integers, blanks or commas between them: a stream of tokens in memory, and how many. */
assay_status dataset_open_text(assay_dataset *d, assay_error *err);
/* Cuts an opened stream (a file of integers, each a sample) into windows; others stay. */
assay_status dataset_cut_windows(assay_dataset *d, const assay_dataset_options *options,
                                 assay_error *err);
assay_status dataset_read_window(const assay_dataset *d, int64_t i, void *out, assay_error *err);
/* n tokens of a stream from the first one on. */
assay_status dataset_read_tokens(const assay_dataset *d, int64_t first, size_t n, int64_t *token,
                                 assay_error *err);
/* Bytes of the file, in native byte order: n elements of `size` from `offset`. */
assay_status dataset_read_elements(const assay_dataset *d, int64_t offset, size_t n, size_t size,
                                   void *out, assay_error *err);

/* Whether the files of a folder are arrays, and sample i of such; *data is malloc'd. */
bool dataset_has_arrays(const assay_dataset *d);
assay_status dataset_read_array(const assay_dataset *d, int64_t i, assay_sample_type *type,
                                void **data, assay_error *err);
/* Sample i and its own type: the data set's, but for the size or the channels of images in files of
 * their own, where these may differ. free(*data), whatever is returned. */
assay_status dataset_read_own(const assay_dataset *d, int64_t i, bool any_size, bool any_channels,
                              assay_sample_type *type, void **data, assay_error *err);

/* The type of all samples of d->files, which is the first one's. */
assay_status dataset_take_type(assay_dataset *d, assay_error *err);

/* Are these labels maps, one per sample: a folder, or an array [N,H,W]? Opens them as d->maps. */
bool dataset_are_label_maps(const char *labels);
assay_status dataset_open_maps(assay_dataset *d, const char *labels, assay_error *err);

/* Does the name end in .png, in any case? */
bool dataset_is_png_name(const char *name);

/* Sample i of a file, in native byte order. */
assay_status dataset_read_record(const assay_dataset *d, int64_t i, void *out, assay_error *err);

/* The labels file that goes with a file of samples by its name: A_labels.npy with A.npy,
 * X-labels-idx1-Y with X-images-idx3-Y. *labels is malloc'd, or NULL when there is none. */
assay_status dataset_labels_beside(const char *path, char **labels, assay_error *err);

/* Labels of an opened file of samples from text, .npy or IDX; there must be d->count of them. */
assay_status dataset_read_labels(assay_dataset *d, const char *path, assay_error *err);

/* Do a file's first bytes say .npy or IDX? Such labels name no samples: they are in their order. */
bool dataset_is_array(const char *path);

/* classes.txt, if there is one beside the data set; then labels must lie below its count. */
assay_status dataset_read_classes(assay_dataset *d, assay_error *err);

/* Reads a text file for dataset_next_line; a 0 byte in it is an error. free(*text). */
assay_status dataset_read_text(const char *path, char **text, assay_error *err);

/* Does the text end so, letter by letter? */
bool dataset_ends_with(const char *text, const char *end);

/* Cuts the next line off *rest, without its end and trailing blanks. NULL at the end. */
char *dataset_next_line(char **rest);

/* A label: digits only, at most 2^31 - 1. False otherwise. */
bool dataset_parse_label(const char *text, int64_t *label);

/* The path of an existing file `name` in the folder at `path`, or that holds the file at `path`, or
 * in the parent of that folder; *found is malloc'd, or NULL when there is none. */
assay_status dataset_find_beside(const char *path, const char *name, char **found,
                                 assay_error *err);

#endif
