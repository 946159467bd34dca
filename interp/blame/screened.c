/* A cause and a screen over it (screens.h): the two faults of a node. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/pairs.h"
#include "interp/blame/screens.h"

enum { SCREENS = 12 };

static blame_finding finding_of(const blame_screen *screen, int64_t explained)
{
    return (blame_finding){.story = screen->story,
                           .family = screen->family,
                           .i = screen->i,
                           .explained = explained,
                           .full = true};
}

/* Whether a cause of that class is found through another screen as well. */
static bool holds_behind(const blame_search *s, const blame_finding *first,
                         const blame_screen *screen)
{
    blame_search with;
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    bool good = found && screen->family && !blame_search_again(s, &with);
    if (good) {
        blame_screen_through(&with, screen);
        good = with.differing > 0 &&
               blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS) > 0 &&
               found[0].full && strcmp(found[0].story.class, first->story.class) == 0 &&
               found[0].story.changed <= first->story.changed;
        blame_search_close(&with);
    }
    free(found);
    return good;
}

/* The cause that was found, and the screens: the first one, through which it was found, and those
 * of the others that hold as well. */
static void add_screened(blame_report *r, int row, const blame_search *s,
                         const blame_finding *found, int n, const blame_screen *screen,
                         int n_screens)
{
    blame_fault *f = blame_add_fault(r, row, s);
    blame_finding last[SCREENS];
    int held = 0;
    for (int i = 0; i < n_screens; i++)
        if (i == 0 || holds_behind(s, &found[0], &screen[i]))
            last[held++] = finding_of(&screen[i], s->n_seen);
    if (f)
        blame_fill_fault(f, found, n);
    if (f)
        f->explained = 1;
    f = blame_add_fault(r, row, s);
    if (!f)
        return;
    if (found[0].family->edit && screen->family) {
        f->cause[0].family = found[0].family;
        f->cause[f->n_causes++].i = found[0].i;
    }
    blame_fill_fault(f, last, held);
    if (!screen->family)
        f->n_causes = 0;
}

bool blame_try_screens(blame_report *r, int row, const blame_search *s, int64_t max)
{
    blame_screen screen[SCREENS];
    blame_finding *found = malloc(BLAME_FINDINGS * sizeof *found);
    bool done = false;
    int k = 0;
    const int n = found ? blame_screens(s, screen, SCREENS) : 0;
    for (int i = 0; i < n && !done; i++) {
        blame_search with;
        if (!blame_search_again(s, &with)) {
            blame_screen_through(&with, &screen[i]);
            k = with.differing > 0 ? blame_search_run(&with, BLAME_THOROUGH, found, BLAME_FINDINGS)
                                   : 0;
            done = k > 0 && found[0].full && found[0].story.changed + screen[i].story.changed < max;
        }
        if (done)
            add_screened(r, row, s, found, k, &screen[i], n - i);
        blame_search_close(&with);
    }
    free(found);
    return done;
}
