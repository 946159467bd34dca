/* The search from rows with multipliers and shifts to the rules that explain them.
 *
 * What a candidate leaves open may be anything: it is dropped only for a row that no completion of
 * it explains.
 *
 * Two facts carry this. Whatever the rounding steps do, a value between two integers becomes one of
 * them, and an integer stays as it is. And a rounded value of -2..1 passes every narrowing to two
 * bits or more unchanged; a register of one bit is a form of its own. */
#ifndef ASSAY_INTERP_INFER_ENGINE_H
#define ASSAY_INTERP_INFER_ENGINE_H

#include "interp/infer/task.h"
#include "schemes/round.h"

/* How the rounded value is narrowed: to two bits or more or not at all, or to one bit. */
enum infer_form {
    INFER_WIDE,
    INFER_BIT_WRAPS,
    INFER_BIT_SATURATES,
    INFER_BIT_REFUSES,
    INFER_FORMS
};

#define INFER_MIN_TAIL (-4)
#define INFER_TAIL_N   12

/* What happens to small sums on their way into the type; ends that agree on these are one class. */
typedef struct infer_tail {
    bool before; /* the zero point is subtracted first */
    int64_t code[INFER_TAIL_N];
} infer_tail;

/* The end of a rule: stage, sum and store. */
typedef struct infer_end {
    int32_t zero_point, sum_bits, sum_overflow, store;
    int tail; /* the number of its class */
} infer_end;

typedef struct infer_candidate {
    infer_rule rule;
    int tail;
    enum infer_form form;
} infer_candidate;

typedef struct infer_list {
    infer_candidate *item;
    size_t n, room;
} infer_list;

/* How a rule may refuse operands. */
typedef struct infer_inputs {
    int32_t bits;
    bool by_shift;
} infer_inputs;

#define INFER_MAX_INPUTS 128

/* How many bits of a multiplier are kept, and what happens above them. */
typedef struct infer_keep {
    int32_t bits, reduced_bits, reduced_overflow;
} infer_keep;

/* A row as it enters the product: the multiplier, the shift after it, and the pre-shift. */
typedef struct infer_placed {
    int64_t multiplier, shift, pre;
    bool has_pre;
    int operand_bits; /* not counting the sign */
} infer_placed;

/* Two rows with different answers. */
typedef struct infer_pair {
    const infer_row *a, *b;
} infer_pair;

typedef struct infer_engine {
    infer_task *t;
    const infer_row *row;
    size_t *order; /* n rows of these, unbounded and in the window, in the order in which they are
                      tried */
    size_t n;
    infer_pair *pair;
    size_t n_pairs;
    infer_placed *placed; /* each row as it enters the product, by infer_place */
    infer_keep *keep;
    size_t n_keep;
    int32_t shift_lo, shift_hi;           /* of the rows' shifts */
    int64_t multiplier_lo, multiplier_hi; /* of the rows' multipliers */
    int multiplier_bits;                  /* |multiplier| <= 2^this */
    int32_t zeros;                        /* low bits that are 0 in every multiplier of the rows */
    infer_end *end;
    size_t n_ends;
    infer_tail *tail;
    int n_tails;
    infer_inputs inputs[INFER_MAX_INPUTS];
    int n_inputs;
    infer_list list;
    uint64_t begun; /* the task's work when the stage began */
    bool
        firsts; /* kind scale: lists of steps that differ in the first step's bits are kept apart */
} infer_engine;

#define INFER_MAX_CANDIDATES 20000               /* longest list of candidates */
#define INFER_WORK           UINT64_C(100000000) /* of one stage: some ten seconds */

/* The zero point in rows for small values; before: of rules that subtract it first. */
int32_t infer_small_zero(const infer_options *o, bool before);

assay_status infer_engine_open(infer_engine *e, infer_task *t, assay_error *err);
void infer_engine_close(infer_engine *e);
/* Replaces the engine's rows by these. */
assay_status infer_engine_take(infer_engine *e, const infer_row *row, size_t n, assay_error *err);
/* Appends a candidate to the list. */
void infer_push(infer_engine *e, const infer_candidate *c);
/* Whether a stage has to end early, for too much work or too long a list. The task is then
 * incomplete. */
bool infer_stop(infer_engine *e);

/* tails.c: the ends that agree with the rows whose operand is 0. */
assay_status infer_find_ends(infer_engine *e, assay_error *err);
/* The refusals that agree with the rows whose multiplier is 0; every one if there are no such rows.
 */
void infer_find_inputs(infer_engine *e);
/* prefix.c: the multiplier, pre-shift, operand, left shift and product of candidates; fills
 * e->list. */
void infer_find_prefixes(infer_engine *e);
/* steps.c: the rounding steps that each candidate may have; fills e->list. */
void infer_find_steps(infer_engine *e);

/* ---- pairs.c ---- */
/* Collects the pairs among the engine's rows. */
assay_status infer_make_pairs(infer_engine *e, assay_error *err);
/* The smallest operand_bits with which the rule's multiplier, pre-shift and stage map no pair to
 * one operand; 0: no width maps any. */
int infer_least_operand(infer_engine *e, const infer_rule *k);

/* ---- partial.c: incomplete candidates ---- */
typedef struct infer_partial {
    infer_rule rule[2]; /* the extremes of the open fields */
    int n;
    int tail;
    enum infer_form form;
    bool left_open;    /* left shifts and the first step's bits are open */
    int32_t first_max; /* the greatest first step, where left_open */
} infer_partial;

infer_placed infer_placed_by(const infer_rule *k, const infer_row *row);
/* Fills e->placed for all of a rule's fields before the product, for the candidates that share
 * them. */
void infer_place(infer_engine *e, const infer_rule *k);
/* Whether rows whose multiplier loses all its bits are answered as 0 is; needed whatever else the
 * rule has. */
bool infer_keep_holds(const infer_engine *e, const infer_rule *k);
/* The extremes of a candidate whose steps are open; else its rule alone. */
void infer_partial_start(infer_partial *p, const infer_candidate *c, bool steps_open);
/* False: a row contradicts the candidate. The rows are placed for it. */
bool infer_partial_holds(infer_engine *e, const infer_partial *p);
/* The rounded value, before it is narrowed. */
assay_int128 infer_partial_value(const infer_rule *k, const infer_row *row);
/* ends.c: whether some narrowing and end explain the answers to the rows whose rounded value is
 * known. */
bool infer_partial_ends(infer_engine *e, const infer_partial *p);
/* The code that a complete candidate gives a row; false if that depends on something open. */
bool infer_partial_answer(const infer_engine *e, const infer_candidate *c, const infer_row *row,
                          int64_t *code);

#endif
