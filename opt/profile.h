/* A profile: what the values of a float network were seen to hold.
 *
 * The state is integer and depends only on the set of observations: in any order, over any number
 * of threads or shards, merged in any grouping, it is the same, and so is the file. For each
 * value: least and greatest finite element, counts of finite elements, NaNs and infinities, and
 * 64-bit counts over ASSAY_PROFILE_BINS equal bins of [-2^k, 2^k), where k is the least exponent
 * (at least ASSAY_PROFILE_MIN_EXPONENT) whose range holds every element. When k grows by one, bins
 * 2i and 2i+1 become one bin exactly. Data on one side of zero still cover at least 2048 bins. */
#ifndef ASSAY_OPT_PROFILE_H
#define ASSAY_OPT_PROFILE_H

#include "graph/graph.h"

#define ASSAY_PROFILE_BINS         8192
#define ASSAY_PROFILE_MIN_EXPONENT (-100)
#define ASSAY_PROFILE_CHANNELS     65536 /* values with more have no ranges by channel */

typedef struct assay_profile_channel {
    uint64_t finite, nan, inf;
    float min, max; /* over finite elements; 0 when there are none */
} assay_profile_channel;

typedef struct assay_profile_entry {
    const char *name;  /* the value's name */
    uint64_t lineage;  /* digest of the weights that the value depends on (opt/digest.h) */
    uint64_t finite;   /* elements counted in bins */
    uint64_t nan, inf; /* elements that are in no bin */
    float min, max;    /* over finite elements; 0 when there are none */
    int exponent;      /* bins cover [-2^exponent, 2^exponent) */
    uint64_t *bin;     /* ASSAY_PROFILE_BINS counts */
    int n_channels;    /* 0 unless asked for; element i is of channel i / stride % n_channels */
    size_t stride;     /* (known while observing only) */
    assay_profile_channel *channel;
} assay_profile_entry;

/* Samples [first, end) of the data set. */
typedef struct assay_profile_range {
    uint64_t first, end;
} assay_profile_range;

/* Where the numbers come from. Strings are "" when unknown. Merging demands that they agree. */
typedef struct assay_profile_origin {
    const char *model;         /* XXH3-128 hex of the source file */
    const char *graph;         /* assay_graph_digest of the canonical graph */
    const char *preprocessing; /* canonical text of the preprocessing */
    const char *dataset;       /* a name of the data set */
    assay_profile_range whole; /* the samples that all shards together cover; end 0 when unknown */
} assay_profile_origin;

typedef struct assay_profile assay_profile;

/* An empty profile for every float value of a canonical graph that is not a constant. */
assay_status assay_profile_new(const assay_graph *g, assay_profile **out, assay_error *err);
void assay_profile_free(assay_profile *p);

/* Both are copied; they are part of the file. */
assay_status assay_profile_set_preprocessing(assay_profile *p, const char *text, assay_error *err);
assay_status assay_profile_set_dataset(assay_profile *p, const char *name, assay_error *err);

assay_status assay_profile_set_whole(assay_profile *p, assay_profile_range whole,
                                     assay_error *err); /* ASSAY_ERR_INPUT when it is empty */
/* Ranges by channel as well, from now on; p must be new, and g the graph that it was made for. The
 * channels are along the axis that layouts say, else along the last one. */
assay_status assay_profile_by_channel(assay_profile *p, const assay_graph *g, assay_error *err);
bool assay_profile_has_channels(const assay_profile *p);

/* Counts n elements of the value with this index in the profile's graph. A value that is not
 * profiled (constants, integers) is ignored. Never fails and never allocates. */
void assay_profile_observe(assay_profile *p, int value, const float *x, size_t n);
/* Notes that sample number `sample` of the data set has been observed in full.
 * ASSAY_ERR_INPUT when it had been before. */
assay_status assay_profile_add_sample(assay_profile *p, uint64_t sample, assay_error *err);

/* Adds `from` to `into`. ASSAY_ERR_INPUT when they are of different networks, preprocessing or
 * data sets, or share a sample: `into` is then unchanged. */
assay_status assay_profile_merge(assay_profile *into, const assay_profile *from, assay_error *err);

/* The file, as text: YAML, values sorted by name, floats that parse to the same bits. Written
 * whole or not at all. */
assay_status assay_profile_save(const assay_profile *p, const char *path, assay_error *err);
/* Strict: unknown or missing keys, counts that do not add up, min > max, NaN, and an empty profile
 * are errors that name line and value. */
assay_status assay_profile_load(const char *path, assay_profile **out, assay_error *err);

/* Whether the profile can serve canonical graph g: every value has an entry, and the weights that
 * it depends on are those of the profiled network. Batch size, lowering and unrelated nodes do not
 * matter. The error lists the values at fault. */
assay_status assay_profile_check(const assay_profile *p, const assay_graph *g, assay_error *err);
/* ASSAY_ERR_INPUT when a sample of the whole (or, when that is unknown, one below the greatest) was
 * not observed: a shard is missing. */
assay_status assay_profile_complete(const assay_profile *p, assay_error *err);

/* ---- queries; entries are sorted by name ---- */
int assay_profile_count(const assay_profile *p);
const assay_profile_entry *assay_profile_get(const assay_profile *p, int i);
const assay_profile_entry *assay_profile_find(const assay_profile *p,
                                              const char *name); /* or NULL */
assay_profile_origin assay_profile_get_origin(const assay_profile *p);
uint64_t assay_profile_samples(const assay_profile *p);
/* Edges of bin i in real values: [*lo, *hi). */
void assay_profile_bin_edges(const assay_profile_entry *e, int i, double *lo, double *hi);

#endif
