/* Accuracy, sensitivity and tuning over samples in memory; samples from data sets; drawings. What
 * assay_tools.h says of options, texts and threads holds here, too. */
#ifndef ASSAY_MEASURES_H
#define ASSAY_MEASURES_H

#include "assay_tools.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif

typedef struct assay_labelled {
    size_t size;
    uint64_t count;
    const void *const *input; /* as of assay_profile_observe */
    const int64_t *label;     /* the class of each sample, below 0: none; NULL: of no sample */
    int threads;              /* 0: all cores; nothing depends on it */
    /* In place of `label` labels of places, below 0 where there is none: of each sample map[0] rows
     * of map[1] pixels; or, where `tokens` is above 0, of so many elements of a sample the token
     * that follows. */
    const int64_t *label_map;
    int64_t map[2], tokens;
    int class_axis;    /* 1 + the axis of the first output that counts classes; 0: the one beside
                          pixels or tokens, or all where the output is one list */
    bool by_agreement; /* what is lost is of the classes that are float's, not of labels */
    bool sequence;     /* samples are steps: the state goes on from each to the next */
} assay_labelled;
/* A stream of n tokens as samples of a language model, as `assay eval --dataset tokens.txt` cuts
 * it: `length` tokens each, `stride` (0: length) from the start of one to the next. *windows
 * receives how many there are; input and label (each may be NULL) have room for so many times
 * `length`: the samples, and the tokens that follow, -1 where none does, an earlier window has
 * judged it, or it is `ignored`. */
assay_status assay_token_windows(const int64_t *token, uint64_t n, uint64_t length, uint64_t stride,
                                 int64_t ignored, uint64_t *windows, int64_t *input, int64_t *label,
                                 assay_error *err);
/* `assay eval`: of the first output; beside a reference (may be NULL) that takes the same inputs.
 * predictions (may be NULL) receives the best class of each sample, -1 where the output has none.
 * json: {"samples", "outputs", "top1", ...}; of pixels "pixel_top1" and "mean_iou", of tokens
 * "token_top1" and "perplexity". ASSAY_ERR_INPUT: a label beyond the classes. */
assay_status assay_evaluate(const assay_program *p, const assay_program *reference,
                            const assay_labelled *samples, int64_t *predictions, char **json,
                            assay_error *err);

typedef struct assay_shard {
    size_t size;
    uint64_t first;          /* number of the shard's first sample */
    uint64_t all_first, all; /* number of the first sample of all shards, and how many there are */
    const char *dataset;     /* what the samples are, ... */
    const char *preprocessing; /* ... in words; NULL: none. All shards must say the same. */
} assay_shard;
/* `assay eval --shard`: the measures of a part of the samples in the new file `path`, which `assay
 * eval merge` and assay_evaluate_merge put together. */
assay_status assay_evaluate_shard(const assay_program *p, const assay_program *reference,
                                  const assay_labelled *samples, const assay_shard *shard,
                                  const char *path, assay_error *err);
/* `assay eval merge`: json is what one run over all samples says, to the byte, and "scheme".
 * ASSAY_ERR_INPUT: parts of other evaluations; a sample that is missing, or there twice. */
assay_status assay_evaluate_merge(const char *const *path, size_t n, char **json, assay_error *err);

/* `assay sensitivity` of a float network. */
assay_status assay_sensitivity_of(const assay_graph *g, const assay_profile *p,
                                  const assay_scheme *s, const assay_quantizer_options *options,
                                  const assay_labelled *samples, assay_progress progress,
                                  void *user, char **json, assay_error *err);

typedef struct assay_tuner_options {
    size_t size;
    double target_drop; /* points that may be lost; the drop does not count with: */
    double target_sqnr; /* dB of the first output, above 0 */
    int max_float;      /* nodes that may stay in float */
    void (*log)(void *user, const char *line); /* a line a trial; may be NULL */
    void *user;
} assay_tuner_options;
/* `assay tune`: *out is the network with what was found, whether or not the target is reached. */
assay_status assay_tune(const assay_graph *g, const assay_profile *p, const assay_scheme *s,
                        const assay_quantizer_options *options, const assay_labelled *samples,
                        const assay_tuner_options *goal, assay_graph **out, char **json,
                        assay_error *err);

/* ---- data sets; one may be read by many threads -----------------------------------------------
 */

typedef struct assay_loader assay_loader;
typedef struct assay_loader_options {
    size_t size;
    const char *labels, *raw; /* as the options of these names of `assay eval` */
    const char *preprocess;   /* a file; NULL: preprocess.yaml beside the data set */
    const char *array;        /* of .npz; NULL: the input's name */
    int64_t stride;           /* of windows of a stream of tokens; 0: their length */
} assay_loader_options;
/* `--dataset PATH` for input `input` of a network, which has to stay: any of the formats that
 * datasets/README.md lists. ASSAY_ERR_INPUT: samples do not become what the input is. */
assay_status assay_loader_open(const char *path, const assay_graph *g, int input,
                               const assay_loader_options *options, assay_loader **out,
                               assay_error *err);
void assay_loader_close(assay_loader *d);
int64_t assay_loader_count(const assay_loader *d);
/* Sample i, preprocessed, as the network's input holds it, in native order and storage. */
assay_status assay_loader_read(const assay_loader *d, int64_t i, void *sample, assay_error *err);
int64_t assay_loader_label(const assay_loader *d, int64_t i); /* below 0: it has none */
/* Extents of label maps, {0, 0}: the data set has none; and a sample's, -1 where the map holds
 * `ignored`. */
void assay_loader_map(const assay_loader *d, int64_t extent[2]);
assay_status assay_loader_read_map(const assay_loader *d, int64_t i, int64_t ignored,
                                   int64_t *label, assay_error *err);
/* The preprocessing in words, as profiles note it (assay_profile_describe); borrowed. */
const char *assay_loader_preprocessing(const assay_loader *d);

/* ---- drawings ---------------------------------------------------------------------------------
 */

typedef struct assay_show_options {
    size_t size;
    const char *name;           /* what it is the profile of, for the title; NULL: "profile" */
    const char *value;          /* a pattern; NULL: all values */
    bool channels;              /* also each channel, where they were profiled */
    const assay_scheme *scheme; /* whose activations the codes are; NULL: i8, asymmetric */
    const char *type;           /* of the codes, in place of the scheme's */
    const assay_quantizer_options *choices; /* symmetry, qparams_method, calibration are read */
    const char *svg, *html;                 /* files; NULL: none */
} assay_show_options;
/* `assay profile show`: json: {"model", "dataset", "samples", "values": [{"value", "channel",
 * "min", "max", "elements", "nan", "inf", "type", "scale", "zero_point", "from", "to", "beyond",
 * "note"}]}: codes represent `from` to `to`, a share `beyond` of the elements is outside. */
assay_status assay_profile_show(const assay_profile *p, const assay_show_options *options,
                                char **json, assay_error *err);

typedef struct assay_blame_files {
    size_t size;
    const char *html, *junit; /* NULL: none */
    unsigned hex_bits;        /* as of assay_compare_options */
    assay_progress progress;  /* steps done; NULL: none */
    void *user;
} assay_blame_files;
/* assay_blame_folders, and the report as files. */
assay_status assay_blame_pages(const char *golden, const char *device,
                               const assay_blame_options *options, const assay_blame_files *files,
                               int *faults, char **text, char **json, assay_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
