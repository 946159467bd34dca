/* One inference of a matrix unit in progress: the device, what was asked, the record that agrees
 * best. */
#ifndef ASSAY_INTERP_INFER_DOT_TASK_H
#define ASSAY_INTERP_INFER_DOT_TASK_H

#include "interp/infer/dot/draw.h"
#include "interp/infer/oracle.h"

/* Rows compared with a record at once, and the largest number of rows that are kept. */
enum { INFER_DOT_CHUNK = 16, INFER_DOT_KEPT = 20480, INFER_DOT_NANS = 16 };

typedef struct infer_dot_task {
    const infer_dot_options *o;
    infer_oracle device;
    rows_random random;
    /* the log begins with the ladder */
    infer_dot_rows log, next; /* answered; to be asked */
    infer_dot_draft draft;
    size_t spent;
    bool exhausted; /* the budget ended before the questions */
    /* searching */
    assay_mac best;
    double cost; /* of the best: shares of rows that contradict it, summed over the probes */
    infer_dot_rows wrong, right;       /* the log, by what the best answers */
    double weight[INFER_DOT_N_PROBES]; /* the share of its probe's rows that a row is */
    size_t tried;                      /* records compared with rows */
    size_t hot[2]; /* rows that last distinguished a record: of the log, of the right ones */
    double end;    /* processor seconds at which the search ends */
    uint64_t nan[INFER_DOT_NANS]; /* answered patterns that are not numbers */
    int n_nans;
    assay_status status; /* out of memory while a record was tried */
    assay_error *err;
} infer_dot_task;

assay_status infer_dot_begin(infer_dot_task *t, const infer_dot_options *o, assay_error *err);
void infer_dot_end(infer_dot_task *t);
/* Adds n rows of the probe to those that are asked next. */
void infer_dot_want(infer_dot_task *t, enum infer_dot_probe probe, int n);
/* Asks what is in `next`, as far as the budget goes. */
assay_status infer_dot_ask(infer_dot_task *t, assay_error *err);

/* ---- records (values.c) ---- */

/* Whether m is a unit for rows of this form. */
bool infer_dot_takes(const infer_dot_task *t, const assay_mac *m);
/* The parameter at this offset of assay_mac. */
const assay_mac_parameter *infer_dot_at(size_t offset);
/* Whether the parameter is one of those given. */
bool infer_dot_is_given(const assay_mac_parameter *p);
enum { INFER_DOT_VALUES = 512 };
/* Values to try for the parameter instead of m's own; returns how many. */
size_t infer_dot_values(const infer_dot_task *t, const assay_mac *m, const assay_mac_parameter *p,
                        int64_t out[INFER_DOT_VALUES]);
/* Sets a parameter and what it contradicts. */
void infer_dot_set(assay_mac *m, const assay_mac_parameter *p, int64_t value);
/* Gives the record the given formats instead of its own. */
void infer_dot_fit(const infer_dot_task *t, assay_mac *m);
/* A record with nothing but the formats given. */
assay_mac infer_dot_plain(const infer_dot_task *t);

/* ---- rows against records (compare.c) ---- */

/* Processor seconds of this process alone: the device's time is not counted. */
double infer_dot_seconds(void);
bool infer_dot_is_late(const infer_dot_task *t);
/* m's answers to rows from `first` on, at most a chunk of them; returns how many. */
size_t infer_dot_answers(infer_dot_task *t, const assay_mac *m, const infer_dot_rows *rows,
                         size_t first, uint64_t out[INFER_DOT_CHUNK]);
/* The rows that contradict m, from piece *hot on, each the share of its probe's rows in the log;
 * once they are `bound` or more that piece is *hot, and the rest is left. */
double infer_dot_against(infer_dot_task *t, const assay_mac *m, const infer_dot_rows *rows,
                         double bound, size_t *hot);
/* Rows of the log that contradict m, each the share of its probe's rows; at least `bound` where it
 * is that much or more. */
double infer_dot_cost(infer_dot_task *t, const assay_mac *m, double bound);
/* m is the best from here on. */
void infer_dot_take(infer_dot_task *t, const assay_mac *m);
/* Takes m where fewer rows contradict it than the best; false: not. A better one gives some of the
 * answers that the best does not: where it gives none of the first of these, it is left. */
bool infer_dot_offer(infer_dot_task *t, const assay_mac *m);

/* Records to search from, those that fewest rows contradict first. */
enum { INFER_DOT_STARTS = 12 };
typedef struct infer_dot_starts {
    assay_mac record[INFER_DOT_STARTS];
    double cost[INFER_DOT_STARTS];
    uint64_t print[INFER_DOT_STARTS]; /* hashes of their answers, or 0 */
    int n, room;
} infer_dot_starts;
/* The cost from which a record is none of them. */
double infer_dot_worst(const infer_dot_starts *s);
/* Nothing where one of the same print is among them. */
void infer_dot_start(infer_dot_starts *s, const assay_mac *m, double cost, uint64_t print);

/* ---- search (search.c) ---- */

/* How the best's sums may be nested, all else as it is; by the rows that show that (structures.c).
 */
void infer_dot_structures(infer_dot_task *t, const assay_mac *from, infer_dot_starts *by_rows,
                          infer_dot_starts *by_relations);
/* Looks for a record without contradictions, from the best there is and from shipped units. */
void infer_dot_search(infer_dot_task *t);

/* Changes m by one parameter at a time as long as fewer rows contradict it; whether none does then.
 * The best stays as it is. */
bool infer_dot_leads(infer_dot_task *t, assay_mac *m);

/* ---- what agrees, too (refine.c) ---- */

/* Records other than the best that no row contradicts: one parameter of it changed, shipped units,
 * and while rows are drawn what other nestings of its sums lead to. */
typedef struct infer_dot_others {
    assay_mac *record;
    const assay_mac_parameter **changed; /* NULL: not one parameter */
    const char **unit;                   /* a shipped unit's name, or NULL */
    size_t n, room;
} infer_dot_others;

assay_status infer_dot_gather(infer_dot_task *t, infer_dot_others *o);
void infer_dot_others_free(infer_dot_others *o);
/* Asks rows that distinguish these from the best, and some of each probe; again with what is then
 * the best, until no row drawn distinguishes them. */
assay_status infer_dot_refine(infer_dot_task *t, infer_dot_others *o, assay_error *err);

#endif
