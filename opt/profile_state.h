/* The inside of a profile, shared by its state (profile.c, profile_merge.c) and its file
 * (profile_write.c, profile_read.c). */
#ifndef ASSAY_OPT_PROFILE_STATE_H
#define ASSAY_OPT_PROFILE_STATE_H

#include "opt/profile.h"
#include "opt/profile_rows.h"

/* Counts of an entry's last elements, narrow so that the tables of all values stay in the cache;
 * added to its bins before they are looked at. */
typedef struct assay_profile_fresh {
    uint32_t n; /* elements counted here, none more than 65535 times */
    uint16_t count[2][ASSAY_PROFILE_ROW];
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
assay_status assay_profile_blank(assay_profile **out, assay_error *err);
/* Gives an entry its name and empty bins. */
assay_status assay_profile_entry_init(assay_profile_entry *e, const char *name, assay_error *err);
/* Values that a profile has entries for: floats that are not constants. */
bool assay_is_profiled(const assay_value *v);
/* Adds the fresh counts of every entry to its bins (which is all that queries do to a profile). */
void assay_profile_settle(const assay_profile *p);

#define ASSAY_PROFILE_CHUNK 1024

/* A channel's last elements, gathered until there are enough to count, and as above the narrow
 * counts of those before. Its size keeps the channels of a value off the same lines of a cache. */
typedef struct assay_profile_row {
    float x[ASSAY_PROFILE_CHUNK];
    uint16_t count[ASSAY_PROFILE_ROW];
} assay_profile_row;

/* What is not in the histograms of a value's channels yet. */
struct assay_profile_pending {
    size_t gathered; /* of each channel, at most ASSAY_PROFILE_CHUNK */
    size_t counted;  /* since the narrow counts were 0: so often at most in one place */
    bool stale;      /* the value's own histogram is not all of its channels' */
    assay_profile_row row[];
};
/* profile_channels.c: n elements of a value that has channels; and its histograms brought up to all
 * that was observed. The tables are all 0 before and after. */
void assay_profile_observe_channels(assay_profile_entry *e, assay_profile_fresh *tables,
                                    const float *x, size_t n);
void assay_profile_settle_channels(assay_profile_entry *e, assay_profile_fresh *tables);

/* Elements on their way into a histogram. */
typedef struct assay_profile_chunk {
    const float *x;
    size_t n;                        /* at most ASSAY_PROFILE_CHUNK */
    float lo, hi;                    /* once they are placed */
    int32_t at[ASSAY_PROFILE_CHUNK]; /* of each, as profile_rows.h numbers them */
    float finite[ASSAY_PROFILE_CHUNK];
} assay_profile_chunk;

/* Finds the places in h, which grows when it must, of n > 0 elements; NaN and infinity are counted
 * and left out. The rest of h, but
 * for its counts, is brought up to date. When it is to grow, settle(user) is called first: counts
 * of its places that are elsewhere are to be added now. */
void assay_profile_place(assay_histogram *h, assay_profile_chunk *c,
                         void (*settle)(assay_histogram *, void *), void *user);

/* The passes that this machine does fastest. */
const assay_profile_rows *assay_profile_rows_best(void);
/* Adds samples [first, end); ASSAY_ERR_INPUT when some are there already. */
assay_status assay_profile_add_range(assay_profile *p, assay_profile_range r, assay_error *err);

#endif
