/* Faults of a report while causes are sought. */
#ifndef ASSAY_INTERP_BLAME_FAULTS_H
#define ASSAY_INTERP_BLAME_FAULTS_H

#include "interp/blame/blame.h"

enum { BLAME_FINDINGS = 96 }; /* of a node, that are held at once */
enum { BLAME_MANY = 8 };      /* numbers changed: one cause that changes no more is believed */

/* A fault of a row, `unexplained` so far, with an element that differs from what s replays. NULL:
 * out of memory. */
blame_fault *blame_add_fault(blame_report *r, int row, const blame_search *s);
/* What was found, the best first. */
void blame_fill_fault(blame_fault *f, const blame_finding *found, int n);
/* apart.c: what would tell found[0] from the others that explain everything: the smallest
 * accumulator, or that all were tried. Of conv and fc, where they differ after the sum. */
void blame_say_apart(blame_search *s, const blame_finding *found, int n, blame_fault *f);
void blame_drop_faults(blame_report *r);

/* unseen.c: what is believed of what was not observed of the search's end: what the cause gives;
 * where f is NULL nothing, and what reads it is not judged. *replay: the device is to be replayed
 * anew; set where there is such. */
assay_status blame_assume_unseen(blame_search *s, const blame_finding *f, bool *replay,
                                 assay_error *err);

/* Whether a row, or a node of the region that ends in it, reads what was not observed of a tensor
 * at fault and is believed for its cause alone. That is then believed no longer: what reads it is
 * not judged. */
bool blame_doubt_unseen(const blame_report *r, int row);

/* behind.c: of a row whose accumulators differ and were all that was dumped: whether what a node
 * before does after its own accumulators explains them entirely. That is then its fault. */
bool blame_behind(blame_report *r, int row);

/* region.c: the fault of the region that ends in a row; *replay as above. */
assay_status blame_region(blame_report *r, int row, bool *replay, assay_error *err);
/* whole.c: where several nodes are at fault: *all when one scheme or more explain everything; then
 * every faulty node is a fault of class `scheme`, with those schemes. Else the report has none. */
assay_status blame_whole(blame_report *r, bool *all, assay_error *err);
#endif
