/* A blame as a page of its own, and as JUnit. */
#ifndef ASSAY_INTERP_BLAME_PAGE_H
#define ASSAY_INTERP_BLAME_PAGE_H

#include "interp/blame/blame.h"

/* Needs nothing but itself: nodes as a column coloured by verdict; for each fault the tensor, the
 * differences, the cause, one element worked through. */
assay_status blame_write_html(const blame_report *r, const char *path, assay_error *err);
/* One test per node; a node at fault fails, one that was not dumped is skipped. */
assay_status blame_write_junit(const blame_report *r, const char *path, assay_error *err);
#endif
