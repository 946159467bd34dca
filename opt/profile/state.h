/* The inside of a profile, shared by its state (profile.c, merge.c) and its file
 * (write.c, read.c). */
#ifndef ASSAY_OPT_PROFILE_STATE_H
#define ASSAY_OPT_PROFILE_STATE_H

#include "opt/profile/profile.h"
#include "opt/profile/rows.h"

/* Where elements x are counted: their own histogram and, if there is one, that of what a ReLU or
 * clip makes of them, min(max(x, lo), hi). lo and hi are infinite when there is none. */
typedef struct assay_profile_pair {
    assay_histogram *x, *y; /* y may be NULL */
    float lo, hi;
} assay_profile_pair;

/* Narrow counts of the latest elements, added to their histograms before these are read. */
typedef struct assay_profile_counts {
    uint32_t max;          /* no place has more; 0: all are 0 */
    uint32_t below, above; /* elements that the clamp made lo, hi */
    uint16_t table[ASSAY_PROFILE_TABLE];
} assay_profile_counts;

/* What is not yet in the histogram of a value. */
typedef struct assay_profile_fresh {
    assay_profile_entry *clamped; /* counted together with this one, or NULL */
    float lo, hi;                 /* the clamp */
    bool is_clamped;              /* counted together with another */
    assay_profile_counts counts;
} assay_profile_fresh;

struct assay_profile {
    char *model, *graph, *preprocessing, *dataset;
    assay_profile_range whole;
    int n_entries;
    assay_profile_entry *entry; /* sorted by name, names owned */
    int n_channels;             /* of all values together, while a file is read */
    int n_values;
    assay_profile_fresh *fresh; /* by entry; NULL for a loaded file */
    int *entry_of_value; /* by value index of the graph profiled, or -1; NULL for a loaded file */
    int n_ranges, max_ranges;
    assay_profile_range *range; /* sorted, disjoint, not adjacent */
};

/* A profile with no entries and empty strings. */
assay_status profile_blank(assay_profile **out, assay_error *err);
/* Gives an entry its name and empty bins. */
assay_status profile_entry_init(assay_profile_entry *e, const char *name, assay_error *err);
/* Puts the entries in the order of their names. */
void profile_sort(assay_profile *p);
/* Values that a profile has entries for: floats that are not constants. */
bool profile_is_profiled(const assay_value *v);
/* Adds the fresh counts of every entry to its bins (which is all that queries do to a profile). */
void profile_flush(const assay_profile *p);

#define ASSAY_PROFILE_CHUNK 1024

/* Finds the places of n > 0 elements, at most ASSAY_PROFILE_CHUNK, and notes their range in the
 * pair's histograms and their number there and in `counts`; the places are still to be counted.
 * False, with nothing done, when a histogram is to grow or not all are finite: the counts of its
 * places that are elsewhere are to be added to it now (profile_add), and
 * profile_place_anew is to be called. */
bool profile_place(const assay_profile_pair *p, const float *x, size_t n,
                   assay_profile_counts *counts, uint16_t *at);
/* The same with histograms that grow. False when not all are finite, or y has seen more than
 * clamps of x: all n are then in the histograms, and there are no places. */
bool profile_place_anew(const assay_profile_pair *p, const float *x, size_t n,
                        assay_profile_counts *counts, uint16_t *at);
/* Adds counts to the histograms, and forgets them. */
void profile_add(const assay_profile_pair *p, assay_profile_counts *counts);
/* Adds them when n more might not fit, which is rare: elements are spread over many bins. */
void profile_add_full(const assay_profile_pair *p, assay_profile_counts *counts, size_t n);

#define ASSAY_PROFILE_GATHERED 2048

/* A channel's last elements, gathered until there are enough to count, and the narrow counts of
 * those before. Its size keeps the channels of a value off the same lines of a cache. */
typedef struct assay_profile_row {
    size_t gathered;
    float x[ASSAY_PROFILE_GATHERED];
    assay_profile_counts counts;
} assay_profile_row;

/* What is not yet in the histograms of a value's channels. */
struct assay_profile_pending {
    bool stale; /* the value's own histogram is not all of its channels' */
    assay_profile_row row[];
};
/* channels.c: n elements of a value that has channels; */
void profile_observe_channels(assay_profile_entry *e, const assay_profile_fresh *f, const float *x,
                              size_t n);
/* its channels' histograms (and its clamp's) brought up to all that was observed; then its own. */
void profile_flush_channels(assay_profile_entry *e, const assay_profile_fresh *f);
void profile_join_channels(assay_profile_entry *e);

/* The fastest passes for this machine. */
const assay_profile_rows *profile_rows_best(void);
/* Adds samples [first, end); ASSAY_ERR_INPUT when some were added before. */
assay_status profile_add_range(assay_profile *p, assay_profile_range r, assay_error *err);

#endif
