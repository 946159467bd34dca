/* A report as read: its files, and what they say together. */
#ifndef ASSAY_INTERP_REPORT_BOOK_H
#define ASSAY_INTERP_REPORT_BOOK_H

#include "interp/page/json.h"
#include "interp/report/layout.h"
#include "interp/report/look.h"
#include "interp/report/profile_draw.h"
#include "interp/report/report.h"
#include "interp/report/source.h"

/* A node of a bundle. Strings are the manifest's, "" where that does not say. */
typedef struct report_node {
    const char *name, *op;
    const char *output; /* the tensor it makes first */
    const json_t *json;
    int look; /* of that tensor; -1: there is none */
} report_node;

typedef struct report_chapter {
    report_source source;
    int number; /* from 1: anchors of the chapter begin with "cNUMBER" */
    /* ---- of a bundle ---- */
    int n_nodes;
    report_node *node;
    int n_looks; /* tensors, those of all samples as one */
    report_look *look;
    json_t *look_of; /* name -> number of its look */
    int n_inputs;
    int *input;           /* looks of the network's inputs */
    report_layout layout; /* vertices: inputs, then nodes */
    assay_graph *graph;
    assay_plan *plan; /* NULL where the bundle has no network (digests only) */
    /* ---- of a profile ---- */
    int n_views;
    report_profile_view *view;
} report_chapter;

struct report {
    int n;
    report_chapter *chapter;
};

/* What a bundle or a profile holds, read and counted. */
assay_status report_read_bundle(report_chapter *c, const char *pattern, assay_error *err);
assay_status report_read_profile(report_chapter *c, assay_error *err);
/* network.c: the layout of a bundle whose nodes and looks are read. */
assay_status report_lay_out(report_chapter *c, assay_error *err);
void report_chapter_clear(report_chapter *c);
/* Fails where a file or folder `path` would replace one of the report's files, or lie in a bundle
 * of it, whose files are counted when it is verified. */
assay_status report_check_place(const report *r, const char *path, assay_error *err);

/* The first chapter with such a tensor, and its look's number; NULL: none. */
const report_chapter *report_find_tensor(const report *r, const char *name, int *look);
/* The first profile's entry of that name, or NULL. */
const assay_profile_entry *report_find_profiled(const report *r, const char *name);
/* Text of a member, "" where it is none. */
const char *report_text(const json_t *o, const char *key);

#endif
