/* Accuracy, sensitivity and tuning over samples in memory; samples from data sets; drawings. What
 * assay_tools.h says about options, texts and threads also applies here. */
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
    const void *const *input; /* as for assay_profile_observe */
    const int64_t *label;     /* the class of each sample, below 0: none; NULL: no labels */
    int threads;              /* 0: all cores; results do not depend on it */
    /* Instead of `label`, labels of positions, below 0 where there is none: per sample, map[0] rows
     * of map[1] pixels; or, if `tokens` is above 0, for each of a sample's `tokens` elements the
     * token that follows it. */
    const int64_t *label_map;
    int64_t map[2], tokens;
    int class_axis;    /* 1 + the first output's axis of classes; 0: the one besides those of
                          pixels or tokens, or all axes if the output is one list */
    bool by_agreement; /* the drop is measured in agreement with float's classes, not with labels */
    bool sequence;     /* samples are steps: state is carried from each to the next */
} assay_labelled;
/* Cuts a stream of n tokens into samples for a language model, as `assay eval --dataset tokens.txt`
 * does: windows of `length` tokens each, `stride` (0: length) tokens from one start to the next.
 * *windows receives their number; input and label (each may be NULL) have room for *windows times
 * `length` elements: the samples and, for each of their tokens, the one that follows it: -1 where
 * none follows, where an earlier window has judged it, or where it is `ignored`. */
assay_status assay_token_windows(const int64_t *token, uint64_t n, uint64_t length, uint64_t stride,
                                 int64_t ignored, uint64_t *windows, int64_t *input, int64_t *label,
                                 assay_error *err);
/* `assay eval`: judges the first output, beside a reference (may be NULL) that takes the same
 * inputs. predictions (may be NULL) receives the best class of each sample, -1 where the output has
 * none. json: {"samples", "outputs", "top1", ...}; for pixels "pixel_top1" and "mean_iou", for
 * tokens "token_top1" and "perplexity". ASSAY_ERR_INPUT: a label beyond the number of classes. */
assay_status assay_evaluate(const assay_program *p, const assay_program *reference,
                            const assay_labelled *samples, int64_t *predictions, char **json,
                            assay_error *err);

typedef struct assay_shard {
    size_t size;
    uint64_t first;            /* number of the shard's first sample */
    uint64_t all_first, all;   /* number of the first sample of all shards; how many they have */
    const char *dataset;       /* the samples, and how they were preprocessed, ... */
    const char *preprocessing; /* ... in words; NULL: none. The same in all shards. */
} assay_shard;
/* `assay eval --shard`: writes the measures of a part of the samples to the new file `path`, for
 * `assay eval merge` and assay_evaluate_merge to put together. */
assay_status assay_evaluate_shard(const assay_program *p, const assay_program *reference,
                                  const assay_labelled *samples, const assay_shard *shard,
                                  const char *path, assay_error *err);
/* `assay eval merge`: json is byte for byte that of one run over all samples, plus "scheme".
 * ASSAY_ERR_INPUT: shards of different evaluations; a sample that is missing or occurs twice. */
assay_status assay_evaluate_merge(const char *const *path, size_t n, char **json, assay_error *err);

/* `assay sensitivity` for a float network. */
assay_status assay_sensitivity_of(const assay_graph *g, const assay_profile *p,
                                  const assay_scheme *s, const assay_quantizer_options *options,
                                  const assay_labelled *samples, assay_progress progress,
                                  void *user, char **json, assay_error *err);

typedef struct assay_tuner_options {
    size_t size;
    double target_drop; /* points of accuracy that may be lost; ignored if the next is set */
    double target_sqnr; /* dB at the first output, above 0 */
    int max_float;      /* how many nodes may stay in float */
    void (*log)(void *user, const char *line); /* gets one line per trial; may be NULL */
    void *user;
    const char *wide; /* type of a small set of nodes, before any is in float; or NULL */
} assay_tuner_options;
/* `assay tune`: *out is the best network found, whether or not it reaches the target. */
assay_status assay_tune(const assay_graph *g, const assay_profile *p, const assay_scheme *s,
                        const assay_quantizer_options *options, const assay_labelled *samples,
                        const assay_tuner_options *goal, assay_graph **out, char **json,
                        assay_error *err);

/* ---- data sets; threads may share a loader ----------------------------------------------------
 */

typedef struct assay_loader assay_loader;
typedef struct assay_loader_options {
    size_t size;
    const char *labels, *raw; /* as the options --labels and --raw of `assay eval` */
    const char *preprocess;   /* a file; NULL: preprocess.yaml beside the data set */
    const char *array;        /* the array's name in an .npz file; NULL: the input's name */
    int64_t stride;           /* between windows of a stream of tokens; 0: their length */
    bool next_tokens;         /* an input of one integer takes a stream's tokens one at a time */
} assay_loader_options;
/* `--dataset PATH` for input number `input` of g, which is borrowed until assay_loader_close: any
 * of the formats that datasets/README.md lists. ASSAY_ERR_INPUT: samples do not fit the input. */
assay_status assay_loader_open(const char *path, const assay_graph *g, int input,
                               const assay_loader_options *options, assay_loader **out,
                               assay_error *err);
void assay_loader_close(assay_loader *d);
int64_t assay_loader_count(const assay_loader *d);
/* Sample i, preprocessed, as the network's input holds it, in native order and storage. */
assay_status assay_loader_read(const assay_loader *d, int64_t i, void *sample, assay_error *err);
int64_t assay_loader_label(const assay_loader *d, int64_t i); /* below 0: it has none */
/* Rows and columns of the label maps; {0, 0}: the data set has none. And the map of sample i, -1
 * where the file holds `ignored`. */
void assay_loader_map(const assay_loader *d, int64_t extent[2]);
assay_status assay_loader_read_map(const assay_loader *d, int64_t i, int64_t ignored,
                                   int64_t *label, assay_error *err);
/* The preprocessing in words, as recorded in profiles (assay_profile_describe); borrowed. */
const char *assay_loader_preprocessing(const assay_loader *d);

/* ---- drawings ---------------------------------------------------------------------------------
 */

typedef struct assay_show_options {
    size_t size;
    const char *name;           /* of the profiled network, for the title; NULL: "profile" */
    const char *value;          /* a pattern of names; NULL: all values */
    bool channels;              /* also shows each channel, where channels were profiled */
    const assay_scheme *scheme; /* gives the activations' type; NULL: i8, asymmetric */
    const char *type;           /* of the codes, instead of the scheme's */
    const assay_quantizer_options *choices; /* only symmetry, qparams_method, calibration count */
    const char *svg, *html;                 /* files to write; NULL: none */
} assay_show_options;
/* `assay profile show`: json: {"model", "dataset", "samples", "values": [{"value", "channel",
 * "min", "max", "elements", "nan", "inf", "type", "scale", "zero_point", "from", "to", "beyond",
 * "note"}]}: codes represent the range `from` to `to`; `beyond` is the share of elements outside.
 */
assay_status assay_profile_show(const assay_profile *p, const assay_show_options *options,
                                char **json, assay_error *err);

typedef struct assay_blame_files {
    size_t size;
    const char *html, *junit; /* files to write; NULL: none */
    unsigned hex_bits;        /* as in assay_compare_options */
    assay_progress progress;  /* steps done; NULL: none */
    void *user;
} assay_blame_files;
/* As assay_blame_folders, and also writes the report to files. */
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
