/* The op table: one line per op in op.def, with the traits that passes consult. */
#ifndef ASSAY_GRAPH_OP_H
#define ASSAY_GRAPH_OP_H

#include <stdint.h>

#include "graph/core/attr.h"

typedef enum assay_op {
#define OP(ID, name, attr, min_in, max_in, n_out, shape, traits) ASSAY_OP_##ID,
#include "graph/core/op.def"
    ASSAY_OP_COUNT
} assay_op;

/* Traits. Passes test these; they never switch over op names for what a trait states. */
enum assay_trait {
    ASSAY_T_MOVE = 1 << 0,     /* output elements are input elements: same parameters in and out */
    ASSAY_T_UNARY = 1 << 1,    /* element-wise in one value, hence a table on a small domain */
    ASSAY_T_BINARY = 1 << 2,   /* element-wise in two, broadcasting */
    ASSAY_T_MONOTONE = 1 << 3, /* order preserving: commutes with every monotone rescale */
    ASSAY_T_SELECTS = 1 << 4,  /* output codes are chosen among input codes (max, min, max pool) */
    ASSAY_T_ABSORB_OUT = 1 << 5, /* ends in a requantization that can take over an output rescale */
    ASSAY_T_ABSORB_IN = 1 << 6,  /* scales its input exactly, so can take over an input rescale */
    ASSAY_T_WEIGHTED = 1 << 7,   /* input 1 weights, input 2 bias in scale in*w, an accumulator */
    ASSAY_T_LAYOUT = 1 << 8,     /* has a layout attribute */
    ASSAY_T_COMPARE = 1 << 9,    /* yields bool */
    ASSAY_T_ROWWISE = 1 << 10,   /* works on whole rows of the last axis or attr.axis */
    ASSAY_T_STATE = 1 << 11,     /* reads or writes state, or holds subgraphs: never folded */
    ASSAY_T_CONVERT = 1 << 12,   /* quantize, dequantize, rescale, relabel */
    ASSAY_T_SUMS = 1 << 13,      /* sums codes of a window or axis, then one rescale (averages) */
    ASSAY_T_FLOW = 1 << 14,      /* control flow: runs subgraphs; always with ASSAY_T_STATE */
    ASSAY_T_INTERPOLATES = 1 << 15, /* as attribute `mode` says, output cells are input cells, or
                                     * sums of such with weights that add up to one */
    ASSAY_T_FLOAT_ONLY = 1 << 16,   /* no scheme has an integer form: it stays in float */
    ASSAY_T_MAC = 1 << 17           /* of matrix units of small floats: schemes with `mac` */
};

typedef struct assay_op_info {
    const char *name;      /* as in the text form: "conv" */
    const char *attr_name; /* attribute struct: "conv", "none", ... */
    assay_attrs_id attrs;  /* the same as a number: which member of assay_attrs */
    int min_in, max_in;    /* max_in -1: any number */
    int n_out;             /* -1: any number */
    uint32_t traits;
} assay_op_info;

/* NULL when the table does not have op. */
const assay_op_info *assay_op_get(assay_op op);
/* ASSAY_OP_COUNT when no op has that name. */
assay_op assay_op_find(const char *name);

#endif
