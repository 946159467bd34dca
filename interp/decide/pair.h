/* Two schemes and where they differ, exactly: by parameters, over a range of scales, node by node.
 */
#ifndef ASSAY_INTERP_DECIDE_PAIR_H
#define ASSAY_INTERP_DECIDE_PAIR_H

#include <stdio.h>

#include <jansson.h>

#include "graph/core/graph.h"
#include "schemes/record/data.h"
#include "schemes/rescale/thresholds.h"
#include "schemes/scheme.h"

/* The rescales to compare. */
typedef struct decide_question {
    const char *op; /* NULL: "conv"; of records: all parameters, not those that the op reads */
    bool wide;      /* the arithmetic of codes of more than 8 bits */
    assay_elem type;
    int64_t zero, in_zero, lo, hi; /* zero points, accumulators */
    double scale[2];               /* from the first to the second, */
    int scales;                    /* so many, their logarithms evenly spaced; 0: none */
    const assay_graph *graph;      /* its nodes, borrowed; NULL: none */
} decide_question;

/* The i-th of the scales. */
double decide_scale(const decide_question *q, int i);
/* The variant (enum assay_variant) that a scheme with a record has of the question's codes. */
unsigned decide_form(const decide_question *q, const assay_scheme *s);

/* Two schemes and what is known so far. */
typedef struct decide_pair {
    const assay_scheme *a, *b;           /* with records */
    FILE *out;                           /* where it prints to */
    json_t *parameters, *scales, *nodes; /* the same for programs: a row each */
    int same;                            /* parameters */
    bool as_is;                          /* nodes that their types do not admit are compared too */
    bool differ;
    bool in_float; /* both leave the op of the question in float */
    int undecided; /* scales, or nodes */
} decide_pair;

void decide_pair_open(decide_pair *p, const assay_scheme *a, const assay_scheme *b, FILE *out);
void decide_pair_close(decide_pair *p);
/* Compares all that the question asks. ASSAY_ERR_INPUT: two schemes of one name with different
 * records. */
assay_status decide_compare(decide_pair *p, const decide_question *q, assay_error *err);
/* The whole for programs; the caller's, NULL: no memory. */
json_t *decide_pair_json(const decide_pair *p, const decide_question *q);
/* How many scales or nodes were not decided, or 1 if both leave the op in float. */
int decide_undecided(const decide_pair *p);
/* True if no difference was found but something is undecided; prints what. */
bool decide_is_open(const decide_pair *p, const decide_question *q, char *why, size_t size);

/* ---- parts ---- */

/* Two rescales of a channel each, for every accumulator of lo..hi. */
assay_status decide_rescales(const assay_rescale *a, size_t ca, const assay_rescale *b, size_t cb,
                             int64_t lo, int64_t hi, assay_disagreements *out, assay_error *err);
/* The first runs of accumulators, a line each; all of them, {"from", "to", "a", "b"}, null where a
 * side refuses: a new reference. */
void decide_print_first(FILE *f, const assay_disagreements *d, size_t max);
json_t *decide_first_json(const assay_disagreements *d);
/* {"parameter", "a", "b"} of a parameter that differs; the caller's, NULL: no memory. */
json_t *decide_parameter_json(const assay_field *f, assay_field_value x, assay_field_value y);
/* The parameters; the scales. */
void decide_records(decide_pair *p, const decide_question *q);
assay_status decide_scales(decide_pair *p, const decide_question *q, assay_error *err);
/* The nodes. A row has "node", "op" and "verdict": "identical", "different" with numbers, "not
 * decided", "not comparable" or "outside" with "why". */
assay_status decide_nodes(decide_pair *p, const assay_graph *g, assay_error *err);

#endif
