/* The inside of a profile, shared by its state (profile.c) and its file (profile_write.c,
 * profile_read.c). */
#ifndef ASSAY_OPT_PROFILE_STATE_H
#define ASSAY_OPT_PROFILE_STATE_H

#include "opt/profile.h"

struct assay_profile {
    char *model, *graph, *preprocessing, *dataset;
    int n_entries;
    assay_profile_entry *entry; /* sorted by name, names owned */
    int n_values;
    int *entry_of_value; /* by value index of the graph profiled, or -1; NULL for a loaded file */
    int n_ranges, max_ranges;
    assay_profile_range *range; /* sorted, disjoint, not adjacent */
};

/* A profile with no entries and empty strings. */
assay_status assay_profile_blank(assay_profile **out, assay_error *err);
/* Gives an entry its name and empty bins. */
assay_status assay_profile_entry_init(assay_profile_entry *e, const char *name, assay_error *err);
/* Adds samples [first, end); ASSAY_ERR_INPUT when some are there already. */
assay_status assay_profile_add_range(assay_profile *p, assay_profile_range r, assay_error *err);

#endif
