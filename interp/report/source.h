/* The files that a report is made of. */
#ifndef ASSAY_INTERP_REPORT_SOURCE_H
#define ASSAY_INTERP_REPORT_SOURCE_H

#include "interp/golden/bundle.h"
#include "opt/profile/profile.h"

enum report_kind {
    REPORT_BUNDLE,
    REPORT_PROFILE,
    REPORT_EVAL,
    REPORT_RUN,
    REPORT_SENSITIVITY,
    REPORT_DIFF,
    REPORT_BLAME
};

typedef struct report_source {
    enum report_kind kind;
    const char *path, *name; /* the caller's; its title on the page */
    assay_bundle *bundle;    /* of REPORT_BUNDLE */
    assay_profile *profile;  /* of REPORT_PROFILE */
    json_t *json;            /* of the others */
    const json_t *rows;      /* its list of nodes or tensors, borrowed; NULL: it has none */
    json_t *by_tensor;       /* the name of a tensor -> its row, of several samples the worst */
} report_source;

/* Identifies the file and reads it. report_source_close whatever the status. */
assay_status report_source_open(const char *path, const char *name, report_source *s,
                                assay_error *err);
void report_source_close(report_source *s);
/* "golden bundle", "profile", "sensitivity", ... */
const char *report_kind_name(enum report_kind kind);
/* The key by which a row of this kind names its tensor; NULL: rows name none. */
const char *report_kind_key(enum report_kind kind);

#endif
