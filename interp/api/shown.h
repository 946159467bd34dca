/* A profile's values beside the codes that would represent them. */
#ifndef ASSAY_INTERP_API_SHOWN_H
#define ASSAY_INTERP_API_SHOWN_H

#include "interp/assay_measures.h"
#include "interp/page/json.h"
#include "interp/report/profile_draw.h"

typedef struct assay_shown {
    report_profile_view *view;
    int n;
    char title[600];
} assay_shown;

/* Values that match, and with channels each channel after its value. ASSAY_ERR_INPUT: none matches;
 * channels that were not profiled; unknown types of codes. Free with
 * assay_shown_free whatever the status. */
assay_status assay_shown_make(const assay_profile *p, const assay_show_options *o, assay_shown *out,
                              assay_error *err);
void assay_shown_free(assay_shown *s);
json_t *assay_shown_json(const assay_profile *p, const assay_shown *s);
/* The files that the options name. */
assay_status assay_shown_draw(const assay_shown *s, const assay_show_options *o, assay_error *err);

#endif
