/* The fewest rows on which records differ, or the reason why there are none. */
#ifndef ASSAY_INTERP_VECTORS_SUITE_H
#define ASSAY_INTERP_VECTORS_SUITE_H

#include "interp/vectors/equal.h"

/* Rescaled accumulators of a setting that are all decided; where there are more, those within
 * VECTORS_WINDOW of 0, of the ends and of the powers of two are. */
#define VECTORS_WHOLE  (1 << 18)
#define VECTORS_WINDOW 256

enum vectors_verdict {
    VECTORS_TOLD, /* a row distinguishes the two */
    VECTORS_SAME, /* one code on every such accumulator, with each of the suite's `settings` */
    VECTORS_OPEN  /* no row was found, and not everything was decided: `why` says what was not */
};

/* Two sides, by number, that are to differ on some row. */
typedef struct vectors_case {
    size_t a, b;
    enum vectors_verdict verdict;
    size_t row;  /* the first that distinguishes them */
    bool proved; /* VECTORS_SAME on all of the domain, by rules; else by the settings alone */
    char why[640];
} vectors_case;

typedef struct vectors_suite {
    vectors_space space;
    const assay_scheme *const *side; /* borrowed: vectors_side */
    size_t n_sides;
    vectors_case *cases; /* borrowed */
    size_t n_cases;
    bool refusals; /* a row that only one side refuses also distinguishes them; else side a never
                    * does
                    */
    uint64_t seed;
    vectors_domain domain; /* of side 0, against which equality is proved */
    bool has_domain;
    size_t
        settings; /* with which VECTORS_SAME was decided where it is not proved, of those drawn */
    vectors_rows rows; /* owned */
    int64_t *code;     /* [n_sides][rows.n], owned; ASSAY_REFUSED where a side refuses */
} vectors_suite;

/* space, side, cases and seed are given; fills verdicts, rows and codes. Free it with
 * vectors_suite_free, also on failure. ASSAY_ERR_MEMORY, or as vectors_ask. */
assay_status vectors_suite_make(vectors_suite *s, assay_error *err);
/* The same for rows that are given: verdicts VECTORS_TOLD or VECTORS_OPEN, and codes. */
assay_status vectors_suite_judge(vectors_suite *s, assay_error *err);
void vectors_suite_free(vectors_suite *s);

#endif
