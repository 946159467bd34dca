/* Findings about ops, for find.c (the search), print.c (words, a scheme file) and print_json.c. */
#ifndef ASSAY_INTERP_PROBE_FIND_H
#define ASSAY_INTERP_PROBE_FIND_H

#include "interp/blame/search.h"
#include "interp/probe/probe.h"
#include "schemes/record/data.h"

#define PROBE_FIRST   4
#define PROBE_CHANGES 8

/* Nodes of one op and variant in one network, on which records are judged as a whole. */
typedef struct probe_group {
    enum assay_op op;
    unsigned variant; /* enum assay_variant: together with the op what overrides go by */
    int n_nodes, *node;
    int64_t elements; /* that were dumped */
} probe_group;

typedef struct probe_score {
    int64_t given; /* elements */
    bool refused;  /* a node is, whose elements are not given */
} probe_score;

/* How many elements of a group a record gives, by the ordinary engines. Stops where `min` cannot
 * be reached, with what there is so far. ASSAY_ERR_MEMORY alone: a record that no node can have is
 * `refused`. */
assay_status probe_score_of(const blame_device *d, const probe_group *g, const assay_record *r,
                            int64_t min, probe_score *out, assay_error *err);
/* The record that a scheme has for the group's first node, with the types that the network has;
 * false: it has none. */
bool probe_record_of(const blame_device *d, const probe_group *g, const assay_scheme *scheme,
                     assay_record *r);
/* The first elements that a record does not give, in words, and how many there are of them.
 * ASSAY_ERR_MEMORY alone. */
assay_status probe_contradictions(const blame_device *d, const probe_group *g,
                                  const assay_record *r, char words[PROBE_FIRST][200], int *n,
                                  assay_error *err);

/* ---- what nodes were given (known.c) ---- */
/* A value that a dump, a constant, the network's input or a move of such tells. */
bool probe_is_known(const blame_device *d, int sample, int value);
/* A node whose output was dumped, from inputs that are all known; one of which some are not, but
 * which a scheme computes. */
bool probe_is_asked(const blame_device *d, int node, int sample);
bool probe_is_end(const blame_device *d, int node, int sample);

/* Opens the network of an op in a folder of probes with what was answered to it, now or before;
 * *there: something was. */
assay_status probe_open_network(const char *dir, const char *device, const char *op,
                                const probe_ask *ask, blame_device *d, bool *there,
                                assay_error *err);

/* ---- elements (score.c) ---- */
/* A node of sample k as it was given to the device. */
void probe_case_of(const blame_device *d, int node, int k, assay_arena *arena, blame_case *c);
/* Those that contradict, in words, while there is room. */
typedef struct probe_told_elements {
    char (*words)[200]; /* [PROBE_FIRST] */
    int n;
} probe_told_elements;
/* How many elements of a value that was dumped are as given (NULL: none is); told may be NULL. */
int64_t probe_compare(const blame_device *d, int sample, int value, const void *given,
                      probe_told_elements *told);
int64_t probe_count_seen(const blame_device *d, int sample, int value);
unsigned probe_variant_of(const blame_device *d, int node);
bool probe_computes_in_float(const assay_scheme *scheme, enum assay_op op, unsigned variant);

/* Nodes between what is known and a dump, judged from end to end. */
typedef struct probe_stretch {
    char end[92]; /* the value that was dumped */
    int n_nodes;
    int64_t elements, given; /* given: by the way to compute that gives most */
    bool *agrees;            /* by scheme */
    bool as_found;           /* what was found op by op gives all elements */
    char against[PROBE_FIRST][200];
    int n_against;
} probe_stretch;

/* What is known of a field: by all records that give everything and that were found. */
enum probe_state {
    PROBE_NOT_READ,    /* none of them reads it */
    PROBE_HELD,        /* all have one value; others give something else */
    PROBE_UNSEEN,      /* all have one value; others are refused */
    PROBE_OPEN,        /* several values */
    PROBE_OPEN_MORE,   /* several, and more exist that were not tried */
    PROBE_OPEN_UNREAD, /* some read it and some do not */
};

/* What was found about a group. */
typedef struct probe_op_finding {
    char network[64]; /* "": the one there is */
    enum assay_op op;
    unsigned variant;
    int n_nodes;
    int64_t elements, given; /* given: by `record` */
    bool *agrees;            /* by scheme: it gives all of them */
    bool *in_float;          /* by scheme: it computes the op in floats, of which nothing is said */
    int nearest;             /* of the schemes: what `record` was made from */
    assay_record record;
    const assay_field *change[PROBE_CHANGES]; /* of the nearest's */
    int n_changes;
    blame_value *open; /* values that records which give all have, other than the record's */
    int n_open;
    enum probe_state *state; /* by field of a record; NULL where nothing gives all */
    assay_record *left;      /* n_left that give all, `record` first; no two read alike */
    int n_left;
    int64_t tried; /* records, beside schemes and those on the way to this one */
    char against[PROBE_FIRST][200];
    int n_against;
} probe_op_finding;

/* Fills open, state and tried of a finding whose record gives all (open.c). */
assay_status probe_find_open(const blame_device *d, const probe_group *g,
                             const blame_schemes *schemes, probe_op_finding *f, assay_error *err);
/* Fills the finding of a group whose elements were counted (search.c). */
assay_status probe_search(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                          probe_op_finding *f, assay_error *err);

struct probe_findings {
    blame_schemes schemes;
    probe_op_finding *op;
    int n_ops;
    probe_stretch *stretch;
    int n_stretches;
    int64_t not_of_network;     /* dumps that do not belong to the network's tensors */
    const char *unanswered[32]; /* networks without dumps; of networks.def */
    int n_unanswered;
};

/* "conv", "depthwise"; "wide_ops", "unsigned_ops", "ops": where a scheme file says what holds for
 * it. */
const char *probe_op_name(const probe_op_finding *f);
const char *probe_scope_name(const probe_op_finding *f);
/* Fields that the op reads in which two records differ, at most `max`; returns how many. */
int probe_changes(enum assay_op op, const assay_record *a, const assay_record *b,
                  const assay_field **field, int max);
/* All stretches between dumps of a network, when its ops have been found. */
assay_status probe_find_stretches(const blame_device *d, probe_findings *found, assay_error *err);
bool probe_is_stretch_given(const probe_findings *f, const probe_stretch *s);

/* Of how many ops and stretches scheme k gives everything; whether of all that it computes in
 * integers. */
int probe_count_agreed(const probe_findings *f, int k);
bool probe_agrees(const probe_findings *f, int k);
/* A scheme that agrees with all ops that it computes in integers, else with most; or the one that
 * gives most elements. */
int probe_base(const probe_findings *f);
/* It agrees with as many ops and stretches as the base, and with all where that does. */
bool probe_is_nearest(const probe_findings *f, int k);
bool probe_is_full(const probe_op_finding *f);
/* "class", or "none" where no record gives everything. */
const char *probe_verdict(bool explained);
bool probe_is_open(enum probe_state state);
/* What no record gives, but the base computes in floats. */
bool probe_is_float(const probe_findings *f, const probe_op_finding *o);

#endif
