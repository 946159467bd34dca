/* The parts of a capsule's folder (capsule_parts.c), for the search of the smallest (capsule.c). */
#ifndef ASSAY_INTERP_BLAME_CAPSULE_PARTS_H
#define ASSAY_INTERP_BLAME_CAPSULE_PARTS_H

#include "interp/blame/capsule.h"

enum { BLAME_CAPSULE_PATH = 4096 + 520 };

typedef struct blame_capsule_parts {
    const blame_report *r;
    blame_capsule *out;
    int row, sample; /* where the element lies that the cut is around */
    int64_t element;
    const char *class; /* that is to be shown; NULL: any */
    bool all_samples;
    char dir[4096]; /* the partial folder */
} blame_capsule_parts;

void blame_capsule_join(const blame_capsule_parts *c, const char *part,
                        char path[BLAME_CAPSULE_PATH]);
const assay_node *blame_capsule_node(const blame_capsule_parts *c);
const assay_type *blame_capsule_type(const blame_capsule_parts *c);
/* golden/ and the node's files of n samples; then device/. */
assay_status blame_capsule_golden(const blame_capsule_parts *c, const blame_cut *cut,
                                  const int *sample, int n, assay_error *err);
assay_status blame_capsule_device(const blame_capsule_parts *c, const blame_cut *cut,
                                  const int *sample, assay_error *err);
#endif
