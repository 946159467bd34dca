/* The search for the cause of what one node gives: hypotheses tried against everything that was
 * dumped of it.
 *
 * A hypothesis is a family's choice number i: an edit of the node before it runs (case.h), or a
 * change of the codes that come out of it. Either predicts every element; nothing is scored by
 * likelihood. */
#ifndef ASSAY_INTERP_BLAME_SEARCH_H
#define ASSAY_INTERP_BLAME_SEARCH_H

#include "interp/blame/case.h"
#include "interp/blame/device.h"

#define BLAME_CLASS   32
#define BLAME_DETAIL  240
#define BLAME_PREFIX  2  /* edits that are assumed while another is sought */
#define BLAME_CLASSES 16 /* full explanations that are listed */
#define BLAME_SOUGHT  4  /* choices of a family that are looked for */

struct blame_search;

/* How a hypothesis describes itself. */
typedef struct blame_story {
    char class[BLAME_CLASS];
    char detail[BLAME_DETAIL];
    int changed;     /* how many numbers it changes: the fewest come first */
    char scheme[64]; /* of class `scheme`: its name */
} blame_story;

typedef enum blame_family_id {
#define FAMILY(id, kind, late) BLAME_FAMILY_##id,
#include "interp/blame/hypotheses.def"
    BLAME_FAMILIES
} blame_family_id;

/* Codes of all samples as the fields of blame_search have them. */
typedef struct blame_family {
    blame_family_id id;
    /* How many choices there are for this node. */
    int (*count)(struct blame_search *s);
    /* Edits the case; false: not for this node. Exactly one of edit and post is set. */
    bool (*edit)(struct blame_search *s, int i, blame_case *c, blame_story *story);
    /* Changes the node's codes, which are as replayed, all samples one after the other. */
    bool (*post)(struct blame_search *s, int i, int32_t *codes, blame_story *story);
    bool late;   /* many choices: tried only where no other family explains everything */
    bool sought; /* its choices are looked for: count leaves them in s->sought */
    bool behind; /* after the sums: accumulators do not show it */
} blame_family;

/* The families by their id, in the order of the data path. */
extern const blame_family blame_families[BLAME_FAMILIES];
/* Where a class stands in the data path; unknown ones come last. */
int blame_rank(const char *class);

/* Schemes that may explain a node: the shipped ones and those that were given. */
typedef struct blame_schemes {
    int n;
    assay_scheme **scheme;
} blame_schemes;
assay_status blame_schemes_open(const char *const *given, int n, blame_schemes *out,
                                assay_error *err);
void blame_schemes_close(blame_schemes *s);

typedef struct blame_value {
    const assay_field *field;
    assay_field_value value;
} blame_value;

/* What a node (filled: blame_case_fill) reads of a record: each field at every other value, of wide
 * ranges at those near, of lists of roundings also those that a scheme has. *value is to be freed
 * whatever is returned; false: out of memory. */
bool blame_values_of(const blame_case *node, const assay_record *record,
                     const blame_schemes *schemes, blame_value **value, int *n);

/* Channels that differ: first, first + step, ... hold them all; step 0: there is one. */
typedef struct blame_lane {
    bool known; /* looked for already */
    int64_t first, step;
} blame_lane;

/* Work that is left, hypotheses that it was spent on, and whether some were not tried for want of
 * it (budget.h). */
typedef struct blame_budget {
    int64_t left, tried;
    bool cut;
} blame_budget;

typedef struct blame_search {
    const blame_device *d;
    const blame_schemes *schemes;
    int node;
    const assay_node *n;
    const assay_type *type; /* of the node's output */
    int64_t count;          /* its elements a sample */
    int channel_axis;       /* of the output; -1: none */
    int other_axis;         /* the last one, where the op does not say whether that is it; -1 */
    int n_samples;          /* whose end was dumped, and of those some where others were left out */
    int *sample;
    int64_t left_out; /* elements of samples that blame_search_leave_clean left out */
    /* What is compared: the end of the region, which is the node's own output where that was
     * dumped. [n_samples][end_count] */
    int end;
    const assay_type *end_type;
    int64_t end_count;
    bool explained; /* something explains everything: what is solved for is named beside it */
    bool on_sums;   /* what was dumped of the end are its accumulators: they stand for its codes */
    int32_t *dev, *gold, *end_base;
    uint8_t *seen;
    int64_t n_seen, differing;
    /* The node's own codes as replayed. [n_samples][count] */
    int32_t *base;
    int64_t *sums;        /* before the rescale, made when first asked for (blame_sums) */
    blame_lane lane[2];   /* along channel_axis, along other_axis */
    uint32_t unseen_bits; /* of codes: not compared */
    bool wants_edits; /* what is found is to be taken as given: edits beside numbers solved for */
    double rel;       /* relative difference allowed between floats; below 0: none */
    /* Nodes from this one to the end, in order; none where the node makes the end. */
    const int *after;
    int n_after;
    int asked_end, n_asked_after; /* as the search was opened, before it was pulled (pull.c) */
    int sought[BLAME_SOUGHT];
    bool has_record;
    assay_record record;
    blame_value *value; /* of the record's fields that the node reads: every other one */
    int n_values;
    struct {
        const blame_family *family;
        int i;
    } prefix[BLAME_PREFIX];
    int n_prefix;
    /* A change to the node's codes that is taken as given behind all others, and the codes before
     * it; NULL: none is. */
    const blame_family *last;
    int last_i;
    int32_t *bare;
    blame_budget *budget; /* NULL: there is no limit */
    assay_arena *arena;
} blame_search;

/* Opens the search of a node: `end` is the value that was dumped, `after` the nodes that lead from
 * the node to it. */
assay_status blame_search_open(blame_search *s, const blame_device *d, const blame_schemes *schemes,
                               int node, int end, const int *after, int n_after, double rel,
                               assay_error *err);
void blame_search_close(blame_search *s);
/* Leaves out the samples in which nothing differs: a cause may be of the others alone. False: there
 * are none, or no others. */
bool blame_search_leave_clean(blame_search *s);

/* After what is compared has changed. */
void blame_search_forget_lanes(blame_search *s);
/* Leaves out the cells, all channels of each, that a prediction of everything (blame_predict)
 * changes. Whether something still differs. */
bool blame_search_leave_out(blame_search *s, const int32_t *codes);

/* One explanation. */
typedef struct blame_finding {
    blame_story story;
    const blame_family *family;
    int i;
    int64_t explained; /* of n_seen */
    int64_t spoilt;    /* of those that the replay explains, what this does not */
    bool full;
} blame_finding;

/* Takes a finding as given from here on, the node as replayed has it: an edit, or where the node's
 * own output was not dumped a change to its codes, which then comes after whatever is sought. */
bool blame_search_assume(blame_search *s, const blame_finding *f);

/* What is tried: whole schemes alone; the families that are not late; and the late ones where those
 * explain nothing. */
enum blame_effort { BLAME_SCHEMES, BLAME_QUICK, BLAME_THOROUGH };

/* All full explanations, simplest first, at most `max`; if there is none, the best partial
 * one. Returns how many. */
int blame_search_run(blame_search *s, enum blame_effort effort, blame_finding *out, int max);

/* ---- looks (look.c) ---- */
/* The part of a sample that is examined first: all of it, or if the node is large some of it. */
typedef struct blame_look {
    int k;          /* index into s->sample */
    bool part;      /* less than all of it: */
    blame_cut box;  /* of the output */
    int64_t n, *at; /* its elements: which of the sample's they are */
} blame_look;
/* Of the sample in which most elements differ the rows where most do. *out is to be closed whatever
 * is returned; false: out of memory. */
bool blame_look_open(const blame_search *s, blame_look *out);
/* Of a look the cells and channels where most elements differ, at a small part of its cost; out->n
 * is 0 where the look costs little itself, or the node cannot be cut. */
bool blame_glance_open(const blame_search *s, const blame_look *look, blame_look *out);
/* The n places along an axis where most differ, of the sample in which most do, whole otherwise. */
bool blame_band_open(const blame_search *s, int axis, int64_t n, blame_look *out);
/* Likewise a few elements, for many tries; all of a look that cannot be cut. */
bool blame_few_open(const blame_search *s, const blame_look *look, blame_look *out);
void blame_look_close(blame_look *l);
/* Whether an edited case can be cut to it. */
bool blame_look_fits(const blame_search *s, const blame_look *l, const blame_case *c);

/* ---- predictions (predict.c) ---- */
/* What an edit predicts of a look: codes has room for l->n. False: it is not for this node. */
bool blame_predict_look(blame_search *s, const blame_family *f, int i, const blame_look *l,
                        int32_t *codes, blame_story *story);
/* The same with the sums before the rescale, of an edit (f NULL: of the replay) of a node that has
 * sums and can be cut to the look. */
bool blame_predict_sums(blame_search *s, const blame_family *f, int i, const blame_look *l,
                        int32_t *codes, int64_t *sums, blame_story *story);
/* What a hypothesis predicts of everything that was dumped: n_samples * end_count codes. False: it
 * is not for this node, or predicts what the replay gives. */
bool blame_predict(blame_search *s, const blame_family *f, int i, int32_t *codes,
                   blame_story *story);

/* The end's codes from the node's own, of sample k. */
bool blame_finish(const blame_search *s, int k, const int32_t *codes, int32_t *end);

/* ---- pull.c ---- */
/* Where the following nodes only move codes: compares what they show of the node's own output, of
 * which what they do not show is not seen. */
void blame_search_pull(blame_search *s);
/* The same search opened once more, with the same samples left out and dumps pulled back; nothing
 * is given. On failure `again` is closed. */
assay_status blame_search_again(const blame_search *s, blame_search *again);

/* ---- for families ---- */
/* Runs a case: its codes, or its sums where those were dumped of the node; room for c->out. */
bool blame_search_outcome(blame_search *s, const blame_case *c, int32_t *codes);
/* Makes the case of sample k (an index into s->sample), prefixes applied. */
bool blame_search_case(blame_search *s, int k, blame_case *c);
const int64_t *blame_sums(blame_search *s);
/* Whether what the device gave for element e (of all samples) is as good as predicted. */
bool blame_same(const blame_search *s, int64_t e, int32_t predicted);
void blame_load(const assay_type *t, const void *data, int32_t *codes);
void blame_load_sums(const int64_t *sums, int64_t n, int32_t *codes);
void blame_store(const assay_type *t, const int32_t *codes, void *data);
/* Elements of the output: axis extents inside and outside of an axis. */
typedef struct blame_axis {
    int64_t outer, n, inner;
} blame_axis;
blame_axis blame_axis_of(const assay_type *t, int axis);
#endif
