/* One inference in progress: the device, what was asked, and what a rule would have answered. */
#ifndef ASSAY_INTERP_INFER_TASK_H
#define ASSAY_INTERP_INFER_TASK_H

#include "interp/infer/oracle.h"
#include "schemes/rescale/single.h"

/* No field of a record has a greater shift; limits of -INFER_MAX_SHIFT and INFER_MAX_SHIFT are
 * none.
 */
#define INFER_MAX_SHIFT 1100

typedef assay_rule_rescale infer_rule;

typedef struct infer_task {
    const infer_options *o;
    infer_oracle device;
    infer_rows log;  /* rows that were answered */
    infer_rows next; /* rows to ask; what was ever among them is not added again */
    rows_random random;
    size_t spent;
    bool exhausted;   /* the budget ended before the questions */
    bool complete;    /* no list was cut short: every consistent rule is kept */
    bool one;         /* the kept rules are one function on the domain */
    size_t spellings; /* so many rules agree, of which one of each function is kept */
    /* multipliers and shifts that the device takes; kind scale: of which R = m / 2^shift is made */
    int64_t multiplier_lo, multiplier_hi;
    int32_t shift_lo, shift_hi;
    /* kind scale: how R becomes a multiplier and a shift, and where R makes a difference, from
     * 2^live_lo up to 2^live_hi */
    infer_rule encoder;
    int live_lo, live_hi;
    bool core;         /* rows that are infer_is_edge are not live */
    bool powers;       /* R has to be a power of two */
    bool zero_refused; /* R = 0, or what underflows to it in float32, is outside of the domain */
    uint64_t work;     /* how often a candidate was compared with a row */
    uint64_t work_max; /* searches are cut after this much; 0: never */
    char note[256];
} infer_task;

assay_status infer_task_open(infer_task *t, const infer_options *o, assay_error *err);
void infer_task_close(infer_task *t);
size_t infer_left(const infer_task *t);
/* How many rows to ask of n: all within the usual budget, a part within a smaller one, so that some
 * of each family are asked. */
size_t infer_some(const infer_task *t, size_t n);
/* Whether searches are cut by now: by a count of work and not by a clock, so that a verdict is the
 * same on every machine. */
bool infer_is_over(const infer_task *t);
/* Whether the row's multiplier and shift are ones that the device takes; kind scale: are known. */
bool infer_in_window(const infer_task *t, const infer_row *row);
/* Asks what is in `next`, as far as the budget goes, and some old rows again. */
assay_status infer_ask(infer_task *t, assay_error *err);

/* Fails: no row was taken, of all or of those that the budget had. */
assay_status infer_nothing_taken(const infer_task *t, assay_error *err);

/* ---- what a rule answers (eval.c) ---- */

/* `o` points into itself: not to be copied. */
typedef struct infer_model {
    assay_single o;
    assay_batch b;
    assay_record record;
    bool scales;
} infer_model;

/* The default rule, every field that rows of the kind can show at the value that does least. */
void infer_plain_rule(infer_rule *k);
/* How R is formed and encoded, as another rule has it. */
void infer_take_encoding(infer_rule *k, const infer_rule *from);
/* A whole record around a rule, for codes of this type. */
void infer_record_of(const infer_rule *k, assay_elem type, int acc_bits, assay_record *rec);
void infer_model_start(infer_model *m, const infer_rule *k, const infer_options *o);
/* Another rule of the same options. */
void infer_model_set(infer_model *m, const infer_rule *k);
/* The code, or INFER_REFUSED. */
int64_t infer_answer(infer_model *m, const infer_row *row);
/* Rows of the log that contradict the rule, at most `max` of them counted. */
size_t infer_against(const infer_task *t, const infer_rule *k, size_t max);

#endif
