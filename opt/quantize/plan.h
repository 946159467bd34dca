/* Internals of the quantizer: what is decided before the integer graph is built.
 *
 *   quantize.c           the driver: decide, build, ask the target, decide again; the report
 *   plan.c      which nodes are integer, which activations are fused
 *   runs.c      where a value's elements lie
 *   mask.c      attention masks, cut off where softmax does not see it
 *   phase.c     phases of sine and cosine, which stay in float
 *   state.c     values kept between runs
 *   group.c     which values share parameters, and the parameters
 *   constant.c  weights, biases and other constants as codes
 *   gptq.c      rounding of weights with error feedback
 *   weights.c   which part of a channel's weights is worth codes
 *   norm.c      gamma and beta of layer normalization
 *   build.c     the integer graph
 *   report.c    what was decided, for people */
#ifndef ASSAY_OPT_QUANTIZE_PLAN_H
#define ASSAY_OPT_QUANTIZE_PLAN_H

#include "graph/core/arena.h"
#include "opt/lower/pass.h"
#include "opt/quantize/quantize.h"

/* Per-tensor parameters and the type that they are for. */
typedef struct assay_code {
    assay_elem elem;
    float scale;
    int32_t zero_point;
} assay_code;

enum assay_plan_state {
    ASSAY_PLAN_PLAIN,   /* works on indices, booleans or codes: copied as it is */
    ASSAY_PLAN_FLOAT,   /* works on real values, stays in float */
    ASSAY_PLAN_INTEGER, /* becomes an integer node */
    ASSAY_PLAN_FUSED    /* an activation fused into the node `fused_into` */
};

typedef struct assay_plan_node {
    enum assay_plan_state state;
    const char *reason; /* FLOAT: why */
    assay_elem elem;    /* of its output codes */
    bool keep_apart;    /* an activation that must not be fused */
    bool masked;        /* FLOAT because of an attention mask */
    bool phased;        /* FLOAT because of a phase of many turns */
    int fused_into;
    int out;              /* value that output 0 becomes: its own, or the fused activation's */
    float act_lo, act_hi; /* of the fused activations */
    int built;            /* index in the integer graph, or -1 */
} assay_plan_node;

typedef struct assay_plan_value {
    int group;                      /* union-find parent */
    int producer;                   /* producing node after fusion, or -1 */
    bool has_code;                  /* group roots: elem and range are known */
    bool fixed;                     /* group roots: the parameters are the scheme's own */
    bool power_of_two, zero_offset; /* group roots: what target file and scheme demand */
    double min, max;
    double floor;        /* no reader distinguishes lower values: masked scores; else -infinity */
    bool before_softmax; /* a softmax's input is computed from it by sums, products, moves, ... */
    bool scaled_first;   /* of these a sum or product with constants is the first but moves */
    bool added_first;    /* and a sum with what is computed */
    double reach[2];     /* least and greatest element that a mask has, seen or not; else infinity
                            and -infinity */
    bool final;          /* group roots: [min, max] is Glow's own range of all values in it */
    assay_calibrated range; /* of this value alone, when calibrated */
    bool calibrated;
    assay_code code;
    const double *gptq_factor; /* of its second moments, once it is needed; see gptq.c */
    bool gptq_useless;         /* there is none */
} assay_plan_value;

typedef struct assay_quantizer {
    const assay_graph *g;
    const assay_profile *profile;
    const assay_scheme *scheme;
    const assay_quantize_options *options;
    const assay_smoothing *smoothing; /* what g has smoothed */
    assay_scheme_caps caps;
    assay_choice activation, weight; /* elem, symmetry, narrow, power_of_two */
    bool per_channel;
    int64_t block; /* inputs that share a weight scale; 0: all of an output channel's */
    assay_plan_node *node;
    assay_plan_value *value;
    int *uses;
    assay_arena *arena; /* texts of reasons */
} assay_quantizer;

/* What the scheme requires of an integer node: its sums allow only 0 as a zero point. */
static inline bool quantize_plan_wants_no_zero_point(const assay_quantizer *q, int node)
{
    return assay_scheme_wants_no_zero_point(q->scheme, assay_op_get(q->g->node[node].op)->name,
                                            q->node[node].elem.bits);
}

/* ---- plan.c ---- */
/* First state of every node: what the options and the kernels allow. */
assay_status quantize_plan_nodes(assay_quantizer *q, assay_error *err);
/* mask.c: the floor of every value. */
assay_status quantize_find_masks(assay_quantizer *q, assay_error *err);
/* mask.c: why a mask that no profiled sample has keeps n in float, or NULL. */
const char *quantize_unseen_mask(const assay_quantizer *q, const assay_node *n);
/* mask.c: softmax over values too wide for codes even above their floor, and the nodes that mask
 * them, to float. */
void quantize_plan_masks(assay_quantizer *q);
/* phase.c: sine and cosine of phases too wide for codes, and the nodes that make these, to float.
 */
void quantize_plan_phases(assay_quantizer *q);
/* Given the nodes that cannot be integer: draws the borders of the float parts where they cost
 * least, and fuses activations into the preceding integer nodes. May be called again after more
 * nodes have become float or an activation is kept apart. */
assay_status quantize_plan_borders(assay_quantizer *q, assay_error *err);
/* Whether the op's outputs hold elements of its inputs: parameters are the same on both sides. */
bool quantize_plan_keeps_params(const assay_quantizer *q, const assay_node *n);
/* What the target file says about an op; no constraints when there is none. */
const assay_target_rule *quantize_plan_rule(const assay_quantizer *q, assay_op op);
/* Input `slot` of the node is a real value that is not a constant. */
bool quantize_plan_is_data(const assay_quantizer *q, const assay_node *n, int slot);

/* ---- state.c ---- */
/* Does the node read or assign a variable, its input 0? */
bool quantize_plan_is_state(const assay_node *n);
/* The first that reads or assigns the same variable, by which all of them are asked for a type; any
 * other node itself. */
const assay_node *quantize_plan_first_of_state(const assay_quantizer *q, const assay_node *n);
/* Can the variable be codes: is all that is assigned to it made by integer nodes (made, by value),
 * and is nothing else done with it than to read and assign it? */
bool quantize_plan_state_is_coded(const assay_quantizer *q, int variable, const bool *made);

/* ---- group.c ---- */
/* Parameters of every value that an integer node reads or writes. */
assay_status quantize_plan_groups(assay_quantizer *q, assay_error *err);
bool quantize_plan_is_fixed(const assay_quantizer *q, int value);
assay_code quantize_plan_code(const assay_quantizer *q, int value);
/* What input `slot` of integer node i must be given: the value's own parameters, or others. */
assay_status quantize_plan_input_code(const assay_quantizer *q, int i, int slot, assay_code *code,
                                      assay_error *err);

/* Where output channels lie in the weights: channel = i / stride % channels. axis < 0: the layout
 * has no axis of its own for them (grouped transposed convolution), or per tensor is asked for. */
typedef struct assay_weight_map {
    int axis;
    int64_t channels, stride;
} assay_weight_map;
/* weights.c: narrows range[2c], range[2c + 1] of every channel of `total` weights as
 * options->weight_calibration says. */
assay_status quantize_calibrate_weights(const assay_quantizer *q, const assay_choice *choice,
                                        const float *x, const assay_weight_map *m, int64_t total,
                                        double *range, assay_error *err);

/* gptq.c: codes of node n's weights of this type. Not *done: the node is none of GPTQ's, or there
 * are no moments of its input. */
assay_status quantize_gptq(const assay_quantizer *q, const assay_node *n, const assay_type *type,
                           void *codes, bool *done, assay_error *err);

/* ---- constant.c: types and codes in the arena of graph `to` ---- */
/* Weights of node n (symmetric, per output channel or per tensor), given its input's type and its
 * bias. */
assay_status quantize_weights(const assay_quantizer *q, assay_graph *to, const assay_node *n,
                              const assay_type *in, assay_type *type, const void **data,
                              assay_error *err);
/* blocks.c: whether the target has a scale for each block of this node's inputs, which go
 * along *axis of the weights; such weights, so coarse that the bias is at most bias_limit units;
 * and the units of a node's accumulators (assay_scheme_weight_units). */
bool quantize_takes_blocks(const assay_quantizer *q, const assay_node *n, int *axis);
assay_status quantize_block_size(const assay_quantizer *q, assay_graph *to, const assay_node *n,
                                 float in_scale, int axis, double bias_limit, assay_type *type,
                                 const void **data, assay_error *err);
assay_status quantize_weight_units(const assay_quantizer *q, const assay_node *n, float in_scale,
                                   const assay_type *weights, float *unit, size_t *count,
                                   assay_error *err);
/* Bias at the scale of the accumulators: in * weight, or by block what the scheme says. */
assay_status quantize_bias_constant(const assay_quantizer *q, assay_graph *to, const assay_node *n,
                                    const assay_type *in, const assay_type *weights,
                                    assay_type *type, const void **data, assay_error *err);
/* norm.c: parameters of a layer normalization's constant gamma, and of its constant beta
 * given gamma's scale; wide: the node's codes have more than 8 bits. */
assay_status quantize_gamma_code(const assay_scheme *scheme, const assay_value *gamma, bool wide,
                                 assay_code *code, assay_error *err);
assay_status quantize_beta_code(const assay_scheme *scheme, const assay_value *beta,
                                float gamma_scale, bool wide, assay_code *code, assay_error *err);
/* Any other constant, in the given parameters. */
assay_status quantize_constant_value(assay_graph *to, const assay_value *v, const assay_code *code,
                                     enum assay_rounding round, assay_type *type, const void **data,
                                     assay_error *err);
/* Range of a float constant; ASSAY_ERR_INPUT when an element is not finite. */
assay_status quantize_constant_range(const assay_value *v, double *min, double *max,
                                     assay_error *err);
/* The same for max(element, floor): -infinity is finite above a floor. */
assay_status quantize_constant_range_above(const assay_value *v, double floor, double *min,
                                           double *max, assay_error *err);
/* Type of a value in per-tensor codes; its parameters lie in the arena. */
assay_status quantize_coded_type(assay_arena *arena, const assay_type *source,
                                 const assay_code *code, assay_type *type, assay_error *err);

/* ---- build.c ---- */
assay_status quantize_plan_build(assay_quantizer *q, assay_graph **out,
                                 assay_quantize_report *report, assay_error *err);

/* ---- steep.c ---- */
/* Signal to noise that is predicted of a steep function of codes too coarse for it; infinity: it is
 * none, or good enough. */
double quantize_steep_sqnr(const assay_quantizer *q, int node);

/* ---- report.c ---- */
/* Lists node n as one that stays in float. */
assay_status quantize_report_note(assay_quantize_report *r, const assay_node *n, const char *why,
                                  assay_error *err);
/* Fills what the plan says; the counts of conversions are the builder's. */
assay_status quantize_plan_report(const assay_quantizer *q, assay_quantize_report *r,
                                  assay_error *err);

#endif
