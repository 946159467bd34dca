/* The quantizer: a canonical float graph, a profile and a target make an integer graph.
 *
 *  - Every value keeps its source name; the integer value takes it. Where a value is needed both
 *    as codes and as floats, the float twin is NAME:f32. A graph input keeps its name and its
 *    type; its codes are NAME:q. With integer_io inputs and outputs are codes themselves.
 *  - Weights are symmetric, per output channel or per tensor; the bias has scale in * weight and
 *    zero point 0. A weight scale grows where the bias would not fit its type otherwise.
 *  - Data movement and max pools have one scale and zero point in and out; the values that they
 *    connect share parameters, so that a rescale is inserted only where a target's fixed output,
 *    or another width, forbids it (V:as:W is V in the parameters of W, V:i16 is V in 16 bits).
 *  - relu and clip become bounds of the layer in front when nobody else sees its output, whose
 *    parameters then come from the profile after the activation.
 *  - What the target cannot do stays in float between explicit quantize and dequantize nodes, and
 *    is reported with the reason. */
#ifndef ASSAY_OPT_QUANTIZE_H
#define ASSAY_OPT_QUANTIZE_H

#include "opt/calibrate/calibrate.h"
#include "opt/calibrate/qparams.h"
#include "opt/profile/moments.h"
#include "opt/profile/profile.h"
#include "opt/quantize/smooth.h"
#include "opt/target/target.h"
#include "schemes/scheme.h"

/* Nodes whose name, op or output name matches `pattern` (as in fnmatch(3)) are computed in `elem`:
 * an integer kind, or f32 to keep them in float. The first rule that matches decides. */
typedef struct assay_precision_rule {
    const char *pattern;
    assay_elem elem;
    bool exact; /* the pattern is a node's name as it stands */
} assay_precision_rule;

/* Values whose name matches `pattern` are calibrated so; the first rule that matches decides. */
typedef struct assay_calibrate_rule {
    const char *pattern;
    assay_calibrate_how how;
} assay_calibrate_rule;

typedef enum assay_weight_scales {
    ASSAY_WEIGHTS_AS_TARGET, /* per block of inputs or per channel where the target can */
    ASSAY_WEIGHTS_PER_TENSOR,
    ASSAY_WEIGHTS_PER_CHANNEL
} assay_weight_scales;

/* All zero: what the target does best, min-max calibration, float inputs and outputs. */
typedef struct assay_quantize_options {
    bool has_symmetry;       /* false: asymmetric where the target allows it, else symmetric */
    assay_choice activation; /* symmetry, narrow, nearest of activations; qparams method of all */
    bool power_of_two; /* scales are powers of two even where the target does not ask for it */
    assay_calibrate_how calibration;
    const assay_calibrate_rule *calibrate; /* for values that are not to have `calibration` */
    int n_calibrate;
    assay_calibrate_how weight_calibration; /* by output channel where scales are; KL would need
                                               more weights than a channel has */
    bool gptq; /* weights of fully connected layers are rounded by it (gptq.c), given the moments */
    const assay_moments *moments;
    assay_weight_scales weights;
    const assay_precision_rule *precision;
    int n_precision;
    bool integer_io;
    double smooth; /* activations are smoothed into weights with this alpha (smooth.h); 0: not */
    const assay_target *target; /* what the device offers; NULL: all that the scheme computes */
    /* Whether there is an integer kernel for an op (supplied by interp); NULL: for all. */
    bool (*has_kernel)(assay_op op);
} assay_quantize_options;

/* A node that stayed in float. */
typedef struct assay_float_node {
    char *node, *op, *reason;
} assay_float_node;

/* The parameters of one activation, and where they come from. Values that share parameters have
 * each their own calibrated range and the same scale. */
typedef struct assay_value_choice {
    char *value;
    double seen_min, seen_max; /* what the profile saw */
    assay_calibrated range;
    assay_elem elem;
    float scale;
    int32_t zero_point;
    bool fixed; /* the target's own parameters: the range had no say */
} assay_value_choice;

/* An integer node of which little signal is left. */
typedef struct assay_weak_node {
    char *node, *op;
    double sqnr; /* predicted from the profile, in dB */
} assay_weak_node;

typedef struct assay_quantize_report {
    int n_integer; /* nodes computed in integers */
    int n_fused;   /* activations that went into the layer in front */
    int n_rescale; /* rescales inserted */
    int n_convert; /* quantize and dequantize nodes inserted */
    int n_gptq;    /* layers whose weights GPTQ rounded */
    int n_float;   /* nodes on real values that stayed in float, listed below */
    assay_float_node *float_node;
    int n_choices;
    assay_value_choice *choice;
    assay_smoothing smoothing;
    int n_weak;
    assay_weak_node *weak;
} assay_quantize_report;
void quantize_report_free(assay_quantize_report *r);

/* Quantizes g, which must be canonical (lower_canonicalize). *out is a new graph; `report` may be
 * NULL, else free it with quantize_report_free whatever the status.
 * ASSAY_ERR_INPUT: the profile is of another network, a constant is not finite, a precision rule
 * matches no node. ASSAY_ERR_SCHEME: the options ask for what the target cannot do. */
assay_status quantize_network(const assay_graph *g, const assay_profile *profile,
                              const assay_scheme *scheme, const assay_quantize_options *options,
                              assay_graph **out, assay_quantize_report *report, assay_error *err);

#endif
