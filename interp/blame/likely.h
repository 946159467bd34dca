/* Edits that are likely although they explain little alone, as another cause follows them. */
#ifndef ASSAY_INTERP_BLAME_LIKELY_H
#define ASSAY_INTERP_BLAME_LIKELY_H

#include "interp/blame/search.h"

enum { BLAME_LIKELY = 6 };

typedef struct blame_likely {
    blame_finding finding; /* an edit of the node before its rescale */
    double share;          /* of the channels that it leaves unexplainable */
} blame_likely;

/* Keeps the likeliest of a list of n. */
void blame_note_likely(blame_likely *list, int *n, const blame_likely *one);
/* The likeliest first; returns how many. Only of nodes with weights, whose codes were dumped. */
int blame_likely_edits(blame_search *s, blame_likely list[BLAME_LIKELY]);

/* reordered.c: edits that leave the device's codes in other places; how many. */
int blame_reordered_edits(blame_search *s, blame_likely list[BLAME_LIKELY]);

/* crossed.c: edits that leave one distance between all codes, the likeliest first; how many. */
int blame_distant_edits(blame_search *s, blame_likely list[BLAME_LIKELY]);
/* An edit with which another one explains everything; false: none was found, or not so cheaply. */
bool blame_crossed_edit(blame_search *s, blame_finding *given);
#endif
