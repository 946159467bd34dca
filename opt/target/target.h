/* A target file: which op runs in which types on a device, and under which constraints on
 * parameters. A scheme says how a device computes; a target file says what it offers at all.
 *
 *     target: my-npu
 *     ops:
 *       conv:    {types: [i8, i16], weights: per-channel}
 *       fc:      {types: [i8], weights: per-tensor, scales: power-of-two, zero_point: none}
 *       add:     {types: [i8], parameters: same}
 *       softmax: {types: [f32]}
 *     others: {types: [i8]}        # ops without a line; when this is missing too: f32
 *     prefer: {products: conv, layout: nhwc}
 *
 * `prefer` is what the optimizer makes of linear layers (conv, fc or matmul) and of image ops (nhwc
 * or nchw); left out, they stay as they are.
 *
 * The first type of an op is what it gets when nothing else is asked for. Nodes that only index
 * (reshape, transpose, lookup, ...) need no line: they run in whatever is around them. */
#ifndef ASSAY_OPT_TARGET_H
#define ASSAY_OPT_TARGET_H

#include "graph/core/graph.h"

#define ASSAY_TARGET_TYPES 16

/* Rules that are in force only where a target's file asks for what they make (`prefer`), or
 * where they are chosen by name: any of these. */
enum assay_preference {
    ASSAY_PREFER_CONV = 1,
    ASSAY_PREFER_FC = 2,
    ASSAY_PREFER_MATMUL = 4,
    ASSAY_PREFER_NHWC = 8,
    ASSAY_PREFER_NCHW = 16
};
#define ASSAY_PREFER_PRODUCTS (ASSAY_PREFER_CONV | ASSAY_PREFER_FC | ASSAY_PREFER_MATMUL)
#define ASSAY_PREFER_LAYOUTS  (ASSAY_PREFER_NHWC | ASSAY_PREFER_NCHW)

typedef struct assay_target_rule {
    bool stated;                         /* the op has a line of its own */
    assay_elem type[ASSAY_TARGET_TYPES]; /* integer kinds, the preferred first */
    int n_types;                         /* 0: float only */
    bool same_params;                    /* one scale and zero point for data inputs and outputs */
    bool power_of_two;                   /* scales of activations and weights */
    bool zero_offset;                    /* zero points of activations are 0 */
    bool per_tensor, per_channel;        /* weights must be so; neither: either */
} assay_target_rule;

typedef struct assay_target {
    char *name;
    assay_target_rule op[ASSAY_OP_COUNT];
    assay_target_rule others;
    uint32_t preference; /* of enum assay_preference */
} assay_target;

/* Reads a file; errors are FILE:LINE:COLUMN. ASSAY_ERR_INPUT: not such a file, unknown keys, ops or
 * values, and entries that contradict each other. *out is freed with target_free. */
assay_status target_read(const char *path, assay_target **out, assay_error *err);
/* The same from text; `file` names it in messages. */
assay_status target_parse(const char *file, const char *text, size_t length, assay_target **out,
                          assay_error *err);
void target_free(assay_target *t);

/* The rule for an op: its own, or that of the others. */
const assay_target_rule *target_rule_of(const assay_target *t, assay_op op);
/* Whether it lists the type. */
bool target_has_type(const assay_target_rule *r, assay_elem elem);
/* Whether parameters satisfy what the rule says about scales and zero points. */
bool target_has_params(const assay_target_rule *r, float scale, int32_t zero_point);

/* Whether integer node n of g is one that the target offers. When not, `why` says what is wrong.
 * Nodes that compute no codes, conversions and nodes that only index are always. */
bool target_allows(const assay_target *t, const assay_graph *g, const assay_node *n, char *why,
                   size_t size);
/* All nodes of a graph and of its bodies; ASSAY_ERR_INPUT names the first that the target does not
 * offer. */
assay_status target_verify(const assay_target *t, const assay_graph *g, assay_error *err);

#endif
