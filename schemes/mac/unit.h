/* The prepared arithmetic of a node on floats: filled in by prepare.c, computed by floats.c and
 * matrix.c. */
#ifndef ASSAY_SCHEMES_MAC_UNIT_H
#define ASSAY_SCHEMES_MAC_UNIT_H

#include "graph/core/op.h"
#include "schemes/mac/mac.h"
#include "schemes/mac/scale.h"
#include "schemes/vtable.h"

typedef struct assay_mac_node {
    enum assay_op op;
    enum assay_mac_format floats; /* the format of the results */
    uint32_t lo, hi; /* bounds of the fused activation, f32; infinite if there is none */
    uint32_t alpha, beta, epsilon; /* the op's own constants, f32 */
    int64_t flag;                  /* gelu: the form with tanh */
    bool has_operand[2];           /* layer norm: gamma, beta */
    assay_mac_scaling scaling;     /* block_scale, float_encode, float_decode */
    assay_mac mac;                 /* scaled_matmul ... */
    enum assay_mac_format a_scale, b_scale;
    int64_t a_run, b_run; /* elements of K that share a scale */
    size_t depth;
    uint32_t *scale; /* quantize, dequantize: one scale, or one per channel; f32; owned */
    int32_t *zero;
    size_t n_params;
    int64_t least, greatest;    /* codes */
    const assay_teller *teller; /* NULL: the steps are not traced */
} assay_mac_node;

static inline const assay_mac_node *mac_node(const assay_unit *u)
{
    return (const assay_mac_node *)(const void *)u;
}

/* The row functions of the vtable. */
void mac_unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
void mac_binary(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out);
void mac_row(const assay_unit *u, const int32_t *x, size_t n, int32_t *out);
assay_status mac_unit_dot(const assay_unit *u, const assay_dot *d, int32_t *out, assay_error *err);
void mac_quantize(const assay_unit *u, const uint32_t *bits, size_t n, size_t channel,
                  int32_t *out);
void mac_dequantize(const assay_unit *u, const int32_t *q, size_t n, size_t channel,
                    uint32_t *bits);
/* mac_unit_dot with its events reported (terms.h). */
assay_status mac_unit_dot_watched(const assay_unit *u, const assay_dot *d, int32_t *out,
                                  const mac_watch *watch, assay_error *err);
/* The parameters of such codes, into *m, which owns them even after a failure. */
assay_status mac_read_codes(const assay_type *codes, assay_mac_node *m, assay_error *err);
/* The parts of a dot product, for an engine that has computed the unit's dots already: how much of
 * K one of them covers; y after the dot product (f32) of the elements from `first` on, where y is
 * +0 before the first; and the end. */
size_t mac_unit_run(const assay_mac_node *m);
uint32_t mac_unit_add_run(const assay_mac_node *m, const assay_dot *d, size_t first, uint32_t part,
                          uint32_t y);
uint32_t mac_unit_end(const assay_mac_node *m, const assay_dot *d, uint32_t y);
/* The last step of every result: the fused activation, then the format of floats between nodes. */
uint32_t mac_finish(const assay_mac_node *m, uint32_t y);
/* Whether `row` reduces a row of n to one number. */
bool mac_ends_in_one(const assay_mac_node *m);
/* Whether the op is computed here. */
bool mac_computes(enum assay_op op);

#endif
