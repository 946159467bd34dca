/* Between the files of the QDQ grouping: qdq_find.c looks, qdq.c decides, qdq_parts.c makes.
 * Internal to opt/. */
#ifndef ASSAY_OPT_QDQ_PARTS_H
#define ASSAY_OPT_QDQ_PARTS_H

#include "opt/lower/pass.h"
#include "opt/quantize/qdq.h"

#define ASSAY_QDQ_IN    64 /* inputs or outputs of a node that is grouped */
#define ASSAY_QDQ_FUSED 8  /* activations after one node, and roundings between them */

typedef struct assay_grouping {
    assay_graph *g;
    const assay_scheme *scheme;
    bool (*has_kernel)(assay_op op);
    bool any; /* the network has conversions */
    int max_in;
    int n_values, n_nodes; /* at the start */
    int *uses, *reader;    /* of those values */
    bool *dead;
    assay_arena *arena;
    const char **reason, **node_name; /* of those nodes: why it is not grouped */
    char why[512];                    /* the latest refusal */
    bool memory_short;                /* the target could not be asked */
    assay_quantize_report report;
} assay_grouping;

/* What is around one node. */
typedef struct assay_qdq_group {
    int in[ASSAY_QDQ_IN];       /* codes in place of floats */
    int quantize[ASSAY_QDQ_IN]; /* nodes, one an output */
    int fused[ASSAY_QDQ_FUSED], n_fused;
    int n_narrowing; /* of those: casts to narrow floats */
    float lo, hi;    /* bounds of the activations */
    int float_bias;  /* a constant, or ASSAY_NO_VALUE */
    bool float_norm; /* a layer normalization with float gamma or beta */
    bool clamped;    /* by an activation that keeps the node in float */
    bool done;
} assay_qdq_group;

/* Same kind and parameters. */
static inline bool quantize_same_codes(const assay_type *a, const assay_type *b)
{
    return assay_elem_equal(a->elem, b->elem) && assay_qparams_equal(&a->q, &b->q);
}

assay_status quantize_qdq_begin(assay_grouping *q, assay_error *err);
void quantize_qdq_end(assay_grouping *q);
/* Notes q->why as the reason why node i stays as it is. */
assay_status quantize_qdq_note(assay_grouping *q, int i, assay_error *err);
/* Fills the report's list from the rewritten graph. */
assay_status quantize_qdq_report(assay_grouping *q, assay_error *err);

bool quantize_qdq_is_output(const assay_grouping *q, int value);
/* The bias of a weighted node: a float constant becomes codes at scale in * weight, codes are
 * checked to be at that scale. False: it does not fit (q->why), or *status says what failed. */
bool quantize_qdq_bias(assay_grouping *q, const assay_node *n, assay_qdq_group *group,
                       assay_status *status, assay_error *err);
/* Constant float gamma and beta of a layer normalization become codes, as the quantizer's. */
assay_status quantize_qdq_norm(assay_grouping *q, const assay_node *n, assay_qdq_group *group,
                               assay_error *err);
/* Appends a rescale of `value` into the parameters of `like`. */
assay_status quantize_qdq_rescale(assay_grouping *q, int value, int like, int *id,
                                  assay_error *err);
/* Adds the plain i32 value that will hold the sums of float value y. */
assay_status quantize_qdq_sums(assay_grouping *q, int y, int *id, assay_error *err);
/* Appends the nodes that compute y from the sums of node i: a cast, times in * weight. */
assay_status quantize_qdq_real_sums(assay_grouping *q, int i, int y, assay_error *err);

/* Sets q->why; false. */
bool quantize_qdq_because(assay_grouping *q, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const assay_type *quantize_qdq_type_of(const assay_grouping *q, int value);
/* The producer of a value before its rounding to a narrow float, which groups look through. */
const assay_node *quantize_qdq_real_maker_of(const assay_grouping *q, int value);
/* Whether a value was rounded to a narrow float, and the target computes on it as on such. */
bool quantize_qdq_keeps_narrow(assay_grouping *q, int value);
/* qdq_pairs.c: two pairs of conversions in a row become one, of a range that lies in both; clips
 * before a quantize that reach its ends within FLT_EPSILON vanish. */
assay_status quantize_qdq_merge_pairs(assay_graph *g, assay_error *err);
/* Codes after every float input; a constant float bias is left for later. */
bool quantize_qdq_find_inputs(assay_grouping *q, const assay_node *n, assay_qdq_group *group);
/* A quantize after every output, with activations between that the node absorbs. */
bool quantize_qdq_find_outputs(assay_grouping *q, const assay_node *n, assay_qdq_group *group);

#endif
