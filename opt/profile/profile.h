/* A profile: the numbers that the values of a float network were observed to hold.
 *
 * The state is integer and depends only on the set of observations: in any order, over any number
 * of threads or shards, merged in any grouping, it is the same, and so is the file. For each value
 * a histogram (opt/profile/histogram.h), and on request one for each of its channels.
 *
 * Memory does not depend on the number of samples: 48 KiB a value while observing, 56 KiB a
 * channel, of which there are at most ASSAY_PROFILE_CHANNELS, and all that for each thread. */
#ifndef ASSAY_OPT_PROFILE_H
#define ASSAY_OPT_PROFILE_H

#include "graph/core/graph.h"
#include "opt/profile/histogram.h"

#define ASSAY_PROFILE_CHANNELS 65536 /* of all values together: 3.5 GiB */

typedef struct assay_profile_pending assay_profile_pending;

typedef struct assay_profile_entry {
    const char *name; /* the value's name */
    uint64_t lineage; /* digest of the weights that the value depends on (graph/core/digest.h) */
    int step; /* its place in the order of execution among the values; -1: the file does not say */
    assay_histogram seen; /* all its elements */
    int n_channels;       /* 0 unless asked for; element i is of channel i / stride % n_channels */
    assay_histogram *channel;
    size_t stride;                  /* while observing only */
    assay_profile_pending *pending; /* NULL otherwise (opt/profile/state.h) */
} assay_profile_entry;

/* Samples [first, end) of the data set. */
typedef struct assay_profile_range {
    uint64_t first, end;
} assay_profile_range;

/* Where the numbers come from. Strings are "" when unknown. Merging requires them to agree. */
typedef struct assay_profile_origin {
    const char *model;         /* XXH3-128 hex of the source file */
    const char *graph;         /* assay_graph_digest of the canonical graph */
    const char *preprocessing; /* canonical text of the preprocessing */
    const char *dataset;       /* a name of the data set */
    assay_profile_range whole; /* the samples that all shards together cover; end 0 when unknown */
} assay_profile_origin;

typedef struct assay_profile assay_profile;

/* An empty profile for every float value of a canonical graph that is not a constant. */
assay_status profile_new(const assay_graph *g, assay_profile **out, assay_error *err);
void profile_free(assay_profile *p);

/* Both are copied; they are part of the file. */
assay_status profile_set_preprocessing(assay_profile *p, const char *text, assay_error *err);
assay_status profile_set_dataset(assay_profile *p, const char *name, assay_error *err);

assay_status profile_set_whole(assay_profile *p, assay_profile_range whole,
                               assay_error *err); /* ASSAY_ERR_INPUT when it is empty */
/* Histograms per channel as well, from now on, of the values whose name matches `pattern` (as in
 * fnmatch(3)); p must be new, and g the graph that it was made for. The channels are along the axis
 * that layouts say, else along the last one. ASSAY_ERR_LIMIT when there are more than
 * ASSAY_PROFILE_CHANNELS, ASSAY_ERR_INPUT when no value's name matches. */
assay_status profile_by_channel(assay_profile *p, const assay_graph *g, const char *pattern,
                                assay_error *err);
/* Channels of the same values as `like` has, which is of the same graph. */
assay_status profile_channels_like(assay_profile *p, const assay_profile *like, assay_error *err);

/* From now on what a ReLU or a clip to constant bounds makes of a value is counted together with
 * that value, which is cheaper than twice: its own observation is ignored. p must be new, g the
 * graph that it was made for, and what is observed what the network computes. Request channels
 * before. */
void profile_follow_clamps(assay_profile *p, const assay_graph *g);

/* Counts n elements, all of each sample, of the value with this index in the profile's graph. A
 * value that is not profiled (constants, integers) is ignored. Never fails and never allocates. */
void profile_observe(assay_profile *p, int value, const float *x, size_t n);
/* Notes that sample number `sample` of the data set has been observed in full.
 * ASSAY_ERR_INPUT when it had been before. */
assay_status profile_add_sample(assay_profile *p, uint64_t sample, assay_error *err);

/* Adds `from` to `into`. ASSAY_ERR_INPUT when they are of different networks, preprocessing or
 * data sets, or share a sample: `into` is then unchanged. */
assay_status profile_merge(assay_profile *into, const assay_profile *from, assay_error *err);

/* The file, as text: YAML, values sorted by name, floats that parse to the same bits. Written
 * whole or not at all. */
assay_status profile_save(const assay_profile *p, const char *path, assay_error *err);
/* Strict: unknown or missing keys, counts that do not add up, min > max, NaN, and an empty profile
 * are errors that name line and value. */
assay_status profile_load(const char *path, assay_profile **out, assay_error *err);

/* Whether the profile can serve canonical graph g: the weights that a value depends on are those of
 * the profiled network, and every value has an entry, unless g has all that was profiled and more:
 * nodes that were added. Batch size, lowering and unrelated nodes do not matter. The error lists
 * the values at fault. */
assay_status profile_check(const assay_profile *p, const assay_graph *g, assay_error *err);
/* ASSAY_ERR_INPUT when a sample of the whole (or, when that is unknown, one below the greatest) was
 * not observed: a shard is missing. */
assay_status profile_complete(const assay_profile *p, assay_error *err);

/* Axis of the channels of every value of g: what a node with a layout reads and writes has that
 * layout's; values computed from another of the same rank have its; of what remains, the last axis.
 */
void profile_channel_axes(const assay_graph *g, int *axis);

/* A value whose channel c is multiplied by 2^-exponent[c], and its name then. seen: a value of the
 * same elements, perhaps in another order, whose channels these are (it may be the value). */
typedef struct assay_profile_scaling {
    const char *name, *scaled, *seen;
    const int *exponent;
} assay_profile_scaling;

/* Whether the histogram of its elements times 2^exponent is exact: neither overflow nor underflow.
 */
bool profile_histogram_scales(const assay_histogram *h, int exponent);
/* The profile of g, which is the profiled network but for n scaled values, whose channels p has
 * seen, and which scale: to the count what observing g would give, without channels. */
assay_status profile_scaled(const assay_profile *p, const assay_graph *g,
                            const assay_profile_scaling *s, int n, assay_profile **out,
                            assay_error *err);

/* ---- queries; entries are sorted by name ---- */
int profile_count(const assay_profile *p);
const assay_profile_entry *profile_get(const assay_profile *p, int i);
const assay_profile_entry *profile_find(const assay_profile *p, const char *name); /* or NULL */
/* The entry that serves value v of canonical graph g: its own, or that of a value which holds the
 * same elements (a reshape, a transpose, copies away); NULL when there is none. */
const assay_profile_entry *profile_entry_of(const assay_profile *p, const assay_graph *g, int v);
assay_profile_origin profile_get_origin(const assay_profile *p);
uint64_t profile_samples(const assay_profile *p);

#endif
