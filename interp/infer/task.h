/* One inference in progress: the device, what was asked, and what a rule would have answered. */
#ifndef ASSAY_INTERP_INFER_TASK_H
#define ASSAY_INTERP_INFER_TASK_H

#include "interp/infer/oracle.h"
#include "schemes/rescale/single.h"

/* No field of a record has a greater shift; limits of -INFER_MAX_SHIFT and INFER_MAX_SHIFT mean no
 * limit. */
#define INFER_MAX_SHIFT 1100

typedef assay_rule_rescale infer_rule;

typedef struct infer_task {
    const infer_options *o;
    infer_oracle device;
    infer_rows log;  /* the answered rows */
    infer_rows next; /* rows to ask; a row that was ever added is not added again */
    rows_random random;
    size_t spent;
    bool exhausted;   /* the budget ended before all rows were asked */
    bool complete;    /* no list was cut short: every consistent rule is kept */
    bool one;         /* the kept rules are proved to be one function on the domain */
    size_t spellings; /* how many rules agree; of each function, one of them is kept */
    /* multipliers and shifts that the device accepts; kind scale: those from which R = m / 2^shift
     * is made */
    int64_t multiplier_lo, multiplier_hi;
    int32_t shift_lo, shift_hi;
    /* kind scale: how R becomes a multiplier and a shift; and the R that make a difference, from
     * 2^live_lo up to 2^live_hi */
    infer_rule encoder;
    int live_lo, live_hi;
    bool core;         /* rows that are infer_is_edge do not count as live */
    bool powers;       /* the device accepts no R but powers of two */
    bool zero_refused; /* R = 0, or what underflows to it in float32, is outside of the domain */
    uint64_t work;     /* how many comparisons of a candidate with a row were made */
    uint64_t work_max; /* the work at which searches are cut; 0: never */
    char note[256];
} infer_task;

assay_status infer_task_open(infer_task *t, const infer_options *o, assay_error *err);
void infer_task_close(infer_task *t);
size_t infer_left(const infer_task *t);
/* How many of n rows to ask: all with the default budget, a proportional part with a smaller one,
 * so that each family has some. */
size_t infer_some(const infer_task *t, size_t n);
/* Whether searches have to be cut now. This counts work and reads no clock, so that a verdict is
 * the same on every machine. */
bool infer_is_over(const infer_task *t);
/* Whether the device accepts the row's multiplier and shift; kind scale: whether the encoding
 * covers its R. */
bool infer_in_window(const infer_task *t, const infer_row *row);
/* Asks the rows in `next`, as far as the budget goes, and repeats some old ones. */
assay_status infer_ask(infer_task *t, assay_error *err);

/* Fails if the device accepted none of the rows, or none within the budget. */
assay_status infer_nothing_taken(const infer_task *t, assay_error *err);

/* ---- the answers of a rule (eval.c) ---- */

/* Not to be copied: `o` points into the struct itself. */
typedef struct infer_model {
    assay_single o;
    assay_batch b;
    assay_record record;
    bool scales;
} infer_model;

/* The default rule; each field that rows of this kind can reveal has the value with the least
 * effect. */
void infer_plain_rule(infer_rule *k);
/* Copies how R is formed and encoded. */
void infer_take_encoding(infer_rule *k, const infer_rule *from);
/* A whole record with this rule, for codes of this type. */
void infer_record_of(const infer_rule *k, assay_elem type, int acc_bits, assay_record *rec);
void infer_model_start(infer_model *m, const infer_rule *k, const infer_options *o);
/* Sets another rule under the same options. */
void infer_model_set(infer_model *m, const infer_rule *k);
/* The code that the rule gives the row, or INFER_REFUSED. */
int64_t infer_answer(infer_model *m, const infer_row *row);
/* How many rows of the log contradict the rule, counted up to `max`. */
size_t infer_against(const infer_task *t, const infer_rule *k, size_t max);

#endif
