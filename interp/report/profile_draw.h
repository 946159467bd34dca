/* Drawings of a profile's histograms. */
#ifndef ASSAY_INTERP_REPORT_PROFILE_DRAW_H
#define ASSAY_INTERP_REPORT_PROFILE_DRAW_H

#include <stdio.h>

#include "graph/core/type.h"
#include "opt/calibrate/calibrate.h"
#include "opt/profile/profile.h"

/* One value, or a channel of one: what was observed, and what codes would represent. */
typedef struct report_profile_view {
    const char *name; /* of the value */
    int channel;      /* -1: all of it */
    const assay_histogram *seen;
    assay_calibrated range;
    assay_elem elem;
    float scale;
    int32_t zero_point;
    double lo, hi;      /* least and greatest real value of the codes */
    double left, right; /* a drawing shows at least these: channels have their value's axis */
} report_profile_view;

/* The codes that a choice and a calibration give a value that was seen so. */
assay_status report_profile_view_of(const char *name, int channel, const assay_histogram *seen,
                                    const assay_choice *choice, const assay_calibrate_how *how,
                                    report_profile_view *v, assay_error *err);
/* A profile's entries in the order of execution, malloc'ed; by name where an older file does not
 * state it. NULL when out of memory. */
const assay_profile_entry **report_profile_order(const assay_profile *p);

/* All of them below each other, as one SVG: each a histogram, every bin that is not empty a step of
 * its outline (counts are on a logarithmic scale), with the range that the codes represent shaded
 * behind. `title` stands on top. */
void report_profile_svg(FILE *f, const char *title, const report_profile_view *v, int n);
/* The same with the table of ranges, as a page. */
void report_profile_html(FILE *f, const char *title, const report_profile_view *v, int n);

/* Its parts, for other pages: the table, whose row i leads to #PREFIXi, and the histograms that
 * stand there. */
#define REPORT_PROFILE_LEGEND                                                                      \
    "Blue: how often each real value was seen (every bin that is not empty, on a logarithmic "     \
    "scale). Green: what the codes represent."
void report_profile_table(FILE *f, const char *prefix, const report_profile_view *v, int n);
/* One histogram alone. */
void report_profile_plot(FILE *f, const report_profile_view *v);
void report_profile_plots(FILE *f, const char *prefix, const report_profile_view *v, int n);

#endif
