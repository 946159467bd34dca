/* Findings about ops, for find.c (the search) and print.c (words, JSON, a scheme file). */
#ifndef ASSAY_INTERP_PROBE_FIND_H
#define ASSAY_INTERP_PROBE_FIND_H

#include "interp/blame/search.h"
#include "interp/probe/probe.h"
#include "schemes/record/data.h"

#define PROBE_FIRST   4
#define PROBE_CHANGES 8
#define PROBE_SETTLED 64

/* Nodes of one op and form in one network: what is asked of records as a whole. */
typedef struct probe_group {
    enum assay_op op;
    unsigned form; /* enum assay_form: together with the op what overrides go by */
    int n_nodes, *node;
    int64_t elements; /* that were dumped */
} probe_group;

/* How many elements of a group a record gives, by the ordinary engines. Stops below `least`, with
 * what there is so far. *refused (may be NULL): a node is refused, whose elements are not given. */
int64_t probe_score(const blame_device *d, const probe_group *g, const assay_record *r,
                    int64_t least, bool *refused);
/* The record that a scheme has for the group's first node, with the types that the network has;
 * false: it has none. */
bool probe_record_of(const blame_device *d, const probe_group *g, const assay_scheme *scheme,
                     assay_record *r);
/* The first elements that a record does not give, in words; returns how many. */
int probe_contradictions(const blame_device *d, const probe_group *g, const assay_record *r,
                         char words[PROBE_FIRST][200]);

/* What was found about a group. */
typedef struct probe_op_finding {
    char network[64]; /* "": the one there is */
    enum assay_op op;
    unsigned form;
    int n_nodes;
    int64_t elements, given; /* given: by `record` */
    bool *agrees;            /* by scheme: it gives all of them */
    bool *in_float;          /* by scheme: it computes the op in floats, of which nothing is said */
    int nearest;             /* of the schemes: what `record` was made from */
    assay_record record;
    const assay_field *change[PROBE_CHANGES]; /* of the nearest's */
    int n_changes;
    blame_value *open; /* values that are not the record's, each of which alone gives all, too */
    int n_open;
    const assay_field *settled[PROBE_SETTLED]; /* other values give something else */
    int n_settled;
    char against[PROBE_FIRST][200];
    int n_against;
} probe_op_finding;

struct probe_findings {
    blame_schemes schemes;
    probe_op_finding *op;
    int n_ops;
    const char *unanswered[32]; /* networks without dumps; of networks.def */
    int n_unanswered;
};

/* "conv", "depthwise"; "wide_ops", "unsigned_ops", "ops": where a scheme file says what holds for
 * it. */
const char *probe_op_name(const probe_op_finding *f);
const char *probe_scope_name(const probe_op_finding *f);
/* Fields that the op reads in which two records differ, at most `most`; returns how many. */
int probe_changes(enum assay_op op, const assay_record *a, const assay_record *b,
                  const assay_field **field, int most);
/* Of how many ops scheme k gives everything; whether of all that it computes in integers. */
int probe_count_agreed(const probe_findings *f, int k);
bool probe_agrees(const probe_findings *f, int k);
/* The scheme that agrees with most ops, or gives most elements. */
int probe_base(const probe_findings *f);
bool probe_is_full(const probe_op_finding *f);
/* What no record gives, but the base computes in floats. */
bool probe_is_float(const probe_findings *f, const probe_op_finding *o);

#endif
