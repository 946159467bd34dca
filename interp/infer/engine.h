/* The search, from rows with multipliers and shifts to the rules that explain them. What a
 * candidate leaves open may be anything: it is dropped only for a row that no completion of it
 * explains.
 *
 * Two facts carry this. Whatever rounding steps do, a value between two integers becomes one of
 * them, and an integer stays. And a rounded value of -2..1 passes every narrowing of two bits and
 * more as it is; a register of one bit is a form of its own. */
#ifndef ASSAY_INTERP_INFER_ENGINE_H
#define ASSAY_INTERP_INFER_ENGINE_H

#include "interp/infer/task.h"
#include "schemes/round.h"

/* How the rounded value is narrowed: by 2 bits and more or not at all, or by one bit. */
enum infer_form {
    INFER_WIDE,
    INFER_BIT_WRAPS,
    INFER_BIT_SATURATES,
    INFER_BIT_REFUSES,
    INFER_FORMS
};

#define INFER_MIN_TAIL (-4)
#define INFER_TAIL_N   12

/* What happens to small sums on their way into the type: rules that agree on these are a class. */
typedef struct infer_tail {
    bool before; /* the zero point is subtracted first */
    int64_t code[INFER_TAIL_N];
} infer_tail;

/* The end of a rule: stage, sum and store. */
typedef struct infer_end {
    int32_t zero_point, sum_bits, sum_overflow, store;
    int tail; /* its class */
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

/* What a rule's refusals of operands may be. */
typedef struct infer_inputs {
    int32_t bits;
    bool by_shift;
} infer_inputs;

#define INFER_MAX_INPUTS 128

/* How a multiplier is kept. */
typedef struct infer_keep {
    int32_t bits, reduced_bits, reduced_overflow;
} infer_keep;

/* A row as a rule places it: multiplier and shifts after and before the product. */
typedef struct infer_placed {
    int64_t multiplier, shift, pre;
    bool has_pre;
    int operand_bits; /* beside the sign */
} infer_placed;

/* Rows with different answers. */
typedef struct infer_pair {
    const infer_row *a, *b;
} infer_pair;

typedef struct infer_engine {
    infer_task *t;
    const infer_row *row;
    size_t *order; /* n rows of these, unbounded ones in the window: the most telling first */
    size_t n;
    infer_pair *pair;
    size_t n_pairs;
    infer_placed *placed; /* each row, see infer_place */
    infer_keep *keep;
    size_t n_keep;
    int32_t shift_lo, shift_hi;           /* of the rows' shifts */
    int64_t multiplier_lo, multiplier_hi; /* of the rows' multipliers */
    int multiplier_bits;                  /* |multiplier| <= 2^this */
    int32_t zeros;                        /* low bits that are 0 in every multiplier */
    infer_end *end;
    size_t n_ends;
    infer_tail *tail;
    int n_tails;
    infer_inputs inputs[INFER_MAX_INPUTS];
    int n_inputs;
    infer_list list;
    uint64_t begun; /* the task's work when the stage began */
    bool firsts;    /* lists of steps with other first ones are kept apart: kind scale */
} infer_engine;

#define INFER_MAX_CANDIDATES 20000               /* candidates that are kept in a list */
#define INFER_WORK           UINT64_C(100000000) /* of a stage, some ten seconds */

/* The zero point of rows that are asked about small values, by the stage of the zero point. */
int32_t infer_small_zero(const infer_options *o, bool before);

assay_status infer_engine_open(infer_engine *e, infer_task *t, assay_error *err);
void infer_engine_close(infer_engine *e);
/* Takes these rows. */
assay_status infer_engine_take(infer_engine *e, const infer_row *row, size_t n, assay_error *err);
/* Adds to the list. */
void infer_push(infer_engine *e, const infer_candidate *c);
/* Whether a stage has to end early: too much work, too long a list. The
 * task is then incomplete. */
bool infer_stop(infer_engine *e);

/* tails.c: ends that agree with rows whose operand is 0. */
assay_status infer_find_ends(infer_engine *e, assay_error *err);
/* The refusals that agree with rows whose multiplier is 0: all, if there are no such rows. */
void infer_find_inputs(infer_engine *e);
/* prefix.c: multiplier, pre-shift, operand, left shift and product; e->list. */
void infer_find_prefixes(infer_engine *e);
/* steps.c: steps for each prefix; e->list. */
void infer_find_steps(infer_engine *e);

/* ---- pairs.c ---- */
/* Pairs of the engine's rows. */
assay_status infer_make_pairs(infer_engine *e, assay_error *err);
/* The least operand_bits with which a rule's multiplier, pre-shift and stage bring no pair to one
 * operand; 0: they do so with any. */
int infer_least_operand(infer_engine *e, const infer_rule *k);

/* ---- partial.c: candidates that are not complete ---- */
typedef struct infer_partial {
    infer_rule rule[2]; /* the extremes of what is open */
    int n;
    int tail;
    enum infer_form form;
    bool left_open;    /* left shifts and the first step's bits may be any */
    int32_t first_max; /* the greatest first step, where left_open */
    int64_t shift_max; /* rows with greater shifts are left out */
} infer_partial;

infer_placed infer_placed_by(const infer_rule *k, const infer_row *row);
/* Places the rows by all of a rule before the product: for the candidates that have it. */
void infer_place(infer_engine *e, const infer_rule *k);
/* Whether rows whose multiplier loses all its bits give what 0 does; whatever else a rule is. */
bool infer_keep_holds(const infer_engine *e, const infer_rule *k);
/* The extremes of a rule whose steps are open, or the rule. */
void infer_partial_start(infer_partial *p, const infer_candidate *c, bool steps_open);
/* False: a row contradicts it. The rows are placed as it places them. */
bool infer_partial_holds(infer_engine *e, const infer_partial *p);
/* The rounded value, before it is narrowed. */
assay_int128 infer_partial_value(const infer_rule *k, const infer_row *row);
/* ends.c: whether some result and end give what is answered to rows whose rounded value is known.
 */
bool infer_partial_ends(infer_engine *e, const infer_partial *p);
/* What a complete candidate answers to a row; false: that depends on what is open. */
bool infer_partial_answer(const infer_engine *e, const infer_candidate *c, const infer_row *row,
                          int64_t *code);

#endif
