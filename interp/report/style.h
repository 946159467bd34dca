/* The looks of a report's page, and its script. */
#ifndef ASSAY_INTERP_REPORT_STYLE_H
#define ASSAY_INTERP_REPORT_STYLE_H

extern const char report_style[];
/* Search and zoom; without it the page shows neither. */
extern const char report_script[];

#endif
