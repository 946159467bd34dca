/* Reports: what commands found about a network, gathered on one page. */
#ifndef ASSAY_INTERP_REPORT_H
#define ASSAY_INTERP_REPORT_H

#include "graph/base.h"

typedef struct report report;

/* Reads n files: folders of golden bundles, profiles, and what run, eval, sensitivity, diff and
 * blame wrote with --json, in any order. Of bundles only tensors whose names match `pattern` (as in
 * fnmatch(3)) are looked into. A file that is none of these, or not whole, is ASSAY_ERR_INPUT and
 * named. The page calls path[i] name[i]; all are borrowed; *out is to be freed by report_free. */
assay_status report_open(const char *const *path, const char *const *name, int n,
                         const char *pattern, report **out, assay_error *err);
void report_free(report *r);

/* One self-contained page of HTML: one chapter per file. The same files give the same
 * bytes. "-" is standard output. ASSAY_ERR_INPUT where `path` is one of the files, or in one of the
 * bundles, which it would spoil; the same of `dir` below. */
assay_status report_write_html(const report *r, const char *path, assay_error *err);
/* What the files say of each node of the first bundle, as "node data" of Google's Model Explorer: a
 * new folder with a file a measure, NAME.json. ASSAY_ERR_INPUT where no bundle was given, or
 * nothing is said of its nodes. */
assay_status report_write_explorer(const report *r, const char *dir, assay_error *err);

#endif
