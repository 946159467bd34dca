/* Screens over a cause: changes of a node's codes on their way out that the search can look
 * through.
 */
#ifndef ASSAY_INTERP_BLAME_SCREENS_H
#define ASSAY_INTERP_BLAME_SCREENS_H

#include "interp/blame/search.h"

enum blame_screen_kind {
    BLAME_SCREEN_FLIP,
    BLAME_SCREEN_BIT,
    BLAME_SCREEN_LANE,
    BLAME_SCREEN_MOVED,
    BLAME_SCREEN_SAMPLE
};

typedef struct blame_screen {
    enum blame_screen_kind kind;
    int bit;
    int sample;      /* that is stale: an index into the search's */
    double distance; /* of the device's codes from the replay's, put back; 0: a usual order */
    int axis, lanes, lane, run; /* of lanes: places c along an axis, lane <= c mod lanes < lane +
                                   run, */
    int from; /* that hold what the place so far off does, if there is one; 0: one code */
    const blame_family
        *family; /* and its choice i, the same change as a hypothesis; NULL: none is */
    int i;
    blame_story story;
} blame_screen;

/* Those that a device's codes allow, at most max; returns how many. Only where the node's own
 * output was dumped. */
int blame_screens(const blame_search *s, blame_screen *out, int max);
/* Lets the search look through one: a fault that it then finds was there before the screen. */
void blame_screen_through(blame_search *s, const blame_screen *screen);
/* ---- moved.c ---- */
/* Choices of a family that puts codes elsewhere: those that put back bring the device's nearer to
 * the replay's, the nearest first; samples that repeat the one before. At most max; how many. */
int blame_moved_screens(const blame_search *s, const blame_family *f, blame_screen *out, int max);
int blame_repeated_screens(const blame_search *s, blame_screen *out, int max);
void blame_moved_through(blame_search *s, const blame_screen *screen);
#endif
