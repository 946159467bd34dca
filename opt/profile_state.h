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
/* profile_channels.c: n elements of a value that has channels. */
void assay_profile_observe_channels(assay_profile_entry *e, const float *x, size_t n);

#define ASSAY_PROFILE_CHUNK 1024

/* Elements on their way into a histogram. */
typedef struct assay_profile_chunk {
    const float *x;
    size_t n;                         /* at most ASSAY_PROFILE_CHUNK */
    float lo, hi;                     /* once they are placed */
    int32_t bin[ASSAY_PROFILE_CHUNK]; /* of each, as profile_rows.h numbers them */
    float finite[ASSAY_PROFILE_CHUNK];
} assay_profile_chunk;

/* Finds the bins of n > 0 elements; false when not all are finite and in h's range. */
bool assay_profile_place(const assay_histogram *h, assay_profile_chunk *c);
/* Counts NaNs and infinities in h and keeps the other elements, and their range. */
void assay_profile_keep_finite(assay_histogram *h, assay_profile_chunk *c);

/* The passes that this machine does fastest. */
const assay_profile_rows *assay_profile_rows_best(void);
/* Adds samples [first, end); ASSAY_ERR_INPUT when some are there already. */
assay_status assay_profile_add_range(assay_profile *p, assay_profile_range r, assay_error *err);

#endif
