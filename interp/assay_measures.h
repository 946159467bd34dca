/* Accuracy, sensitivity and tuning over samples in memory. What assay_tools.h says of options,
 * texts and threads holds here, too. */
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

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
