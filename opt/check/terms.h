/* A network as terms, which a certificate's steps rewrite: replay.c holds it, result.c
 * compares what is left with the result. Internal to opt/check. */
#ifndef ASSAY_OPT_CHECK_TERMS_H
#define ASSAY_OPT_CHECK_TERMS_H

#include "opt/check/check.h"

typedef struct check_term check_term;

typedef struct check_work {
    assay_node node; /* without its operands, which are terms */
    check_term **in; /* NULL where absent */
} check_work;

struct check_term {
    const char *name;       /* of an input or variable */
    check_work *by;         /* NULL: a constant, an input, a variable */
    int index;              /* which output of `by` */
    const check_term *same; /* another term took this one's place */
    assay_type type;
    bool shapeless;   /* made in a fragment without the network's extents */
    const void *data; /* of a constant */
    int round;        /* of spread.c, in which `change` was computed: */
    int64_t change;   /* codes by which the current step may change it */
    int64_t max;      /* ... and by which any step may */
};

struct check_replay {
    assay_arena *arena;
    size_t room, used; /* names to terms: a table with open addressing */
    const char **name;
    check_term **named;
    int round;
};

/* The term that stands for t now. */
check_term *check_term_now(const check_term *t);
/* By a value's name; NULL: there is none. */
check_term *check_term_find(const check_replay *r, const char *name);
/* Of a product that a fragment shrank only group and layout tell. */
bool check_same_attributes(const assay_node *a, const assay_node *b, bool shrunk);

#endif
