/* Drawings of a profile's histograms. */
#ifndef ASSAY_INTERP_CLI_PROFILE_DRAW_H
#define ASSAY_INTERP_CLI_PROFILE_DRAW_H

#include <stdio.h>

#include "graph/core/type.h"
#include "opt/calibrate/calibrate.h"

/* One value, or a channel of one, as `profile show` sees it: what was seen, and what codes would
 * represent. */
typedef struct cli_profile_view {
    const char *name; /* of the value */
    int channel;      /* -1: all of it */
    const assay_histogram *seen;
    assay_calibrated range;
    assay_elem elem;
    float scale;
    int32_t zero_point;
    double lo, hi;      /* least and greatest real value of the codes */
    double left, right; /* a drawing shows at least these: channels have their value's axis */
} cli_profile_view;

/* All of them below each other, as one SVG: each a histogram, every bin that is not empty a step of
 * its outline (counts are on a logarithmic scale), with the range that the codes represent shaded
 * behind. `title` stands on top. */
void cli_profile_svg(FILE *f, const char *title, const cli_profile_view *v, int n);
/* The same with the table of ranges, as a page. */
void cli_profile_html(FILE *f, const char *title, const cli_profile_view *v, int n);

#endif
