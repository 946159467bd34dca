/* Watching of an element (watch.c, calls.c, source.c): the vtable that notes what passes, and
 * runs of a node under it. */
#ifndef ASSAY_INTERP_EXPLAIN_WATCHING_H
#define ASSAY_INTERP_EXPLAIN_WATCHING_H

#include "interp/explain/watch.h"
#include "schemes/mac/unit.h"

/* What the watching functions do: give codes that are digits of the number of their production, so
 * that the output says which production its element is; give accumulators that are their own
 * numbers; watch the one that is wanted. */
enum watch_mode { EXPLAIN_NUMBER, EXPLAIN_FIND, EXPLAIN_WATCH };

typedef struct explain_watcher {
    assay_unit unit;    /* first: what row functions are given; its rescales tell what they do */
    assay_mac_node mac; /* in its place where is_mac: under a scheme of matrix units */
    bool is_mac;
    assay_teller teller; /* of the unit */
    const assay_unit *real;
    const assay_scheme_vtable *vt;
    enum watch_mode mode;
    int64_t made, want; /* codes so far; the one that is wanted */
    int64_t sums, want_sum;
    unsigned shift, bits; /* of digits */
    int64_t least;
    bool inside; /* the wanted code is being computed */
    bool whole;  /* every code is computed, for later ones may rest on it */
    bool short_of_memory;
    explain_seen *seen;
} explain_watcher;

/* The watching functions; the unit that they are given is a watcher. */
extern const assay_scheme_vtable explain_watching, explain_watching_mac;
/* A record's unit tells its steps: its functions theirs, its rescales that they were asked. */
void explain_watch_unit(explain_watcher *w);
/* The same of a matrix unit's node. */
void explain_watch_mac(explain_watcher *w);
/* A kernel without a unit tells those of an element. */
void explain_watch_kernel(explain_watcher *w, int64_t element);
/* The unit that tells the steps of element `at` of a row; a plugin's tells none. */
const assay_unit *explain_telling(explain_watcher *w, size_t at);
/* A line of a matrix unit's dot (schemes/mac/explain.h), as a step; `to` is a watcher. */
void explain_hear_line(void *to, const char *line);
/* The digit of production i. */
int64_t explain_digit(const explain_watcher *w, int64_t i);

typedef struct explain_runs {
    assay_program program; /* the given one, watched */
    assay_scheme scheme;
    const assay_unit **unit; /* its */
    int node;
    const void *const *in;
    void **out;
    bool tells_itself; /* the kernel tells the teller of w */
    explain_watcher w;
} explain_runs;

assay_status explain_open_runs(explain_runs *r, const assay_program *p, int node,
                               const void *const *in, explain_seen *seen, assay_error *err);
void explain_close_runs(explain_runs *r);
assay_status explain_run_once(explain_runs *r, enum watch_mode mode, assay_error *err);
/* Chooses digits for an element kind; element i as digits are stored in it. */
void explain_choose_digits(explain_watcher *w, assay_elem e);
int64_t explain_stored(const assay_type *t, const void *data, int64_t i);
#endif
