/* Operators that ONNX Runtime's own passes make of chains of others (domain com.microsoft):
 * activations behind products, GELU with its bias, normalization of a sum, embeddings.
 *
 * Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime; the bits are tried beside
 * that runtime (test/peer/ops_fused.js). */
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

/* ---- activations ---- */

/* An attribute's float k, of a list or of its own. */
static float parameter(onnx_node *n, const char *name, size_t k, float otherwise)
{
    const pb_attribute *a = onnx_attribute(n, name, ONNX_ATTR_FLOATS);

    return a && k < a->n_floats ? a->floats[k] : otherwise;
}

/* The op that attribute `activation` names; ASSAY_OP_COUNT: none. */
static assay_op activation_of(onnx_node *n)
{
    static const char *const names[] = {"",          "Relu", "Tanh",        "Sigmoid",
                                        "LeakyRelu", "Clip", "HardSigmoid", NULL};
    static const assay_op ops[] = {ASSAY_OP_COUNT,       ASSAY_OP_RELU,       ASSAY_OP_TANH,
                                   ASSAY_OP_SIGMOID,     ASSAY_OP_LEAKY_RELU, ASSAY_OP_CLIP,
                                   ASSAY_OP_HARD_SIGMOID};

    return ops[onnx_choice(n, "activation", names, 0)];
}

/* The node's result: op of y, with its parameters. */
static void activate(onnx_node *n, assay_op op, onnx_value *y, float alpha, float beta)
{
    assay_attrs a = {.alpha = {.alpha = alpha}};

    if (op == ASSAY_OP_CLIP)
        a = (assay_attrs){.clip = {.lo = alpha, .hi = beta}};
    if (op == ASSAY_OP_HARD_SIGMOID)
        a = (assay_attrs){.alpha_beta = {.alpha = alpha, .beta = beta}};
    if (op != ASSAY_OP_COUNT)
        onnx_op1(n, op, &a, y, NULL);
}

/* activation(Conv(X, W, B) + Z) */
void onnx_import_fused_conv(onnx_node *n)
{
    const assay_op op = activation_of(n);
    const char *last = op == ASSAY_OP_COUNT ? NULL : "sum";
    onnx_value *z = onnx_in(n, 3), *y = onnx_conv(n, z || last ? "conv" : NULL);

    if (z)
        y = onnx_op2(n, ASSAY_OP_ADD, NULL, y, z, last);
    activate(n, op, y, parameter(n, "activation_params", 0, 0.01f),
             parameter(n, "activation_params", 1, 0));
}

void onnx_import_fused_gemm(onnx_node *n)
{
    const assay_op op = activation_of(n);

    activate(n, op, onnx_gemm(n, op == ASSAY_OP_COUNT ? NULL : "gemm"),
             onnx_float(n, "activation_alpha", 0.01f), onnx_float(n, "activation_beta", 0));
}

/* Gelu(X), BiasGelu(X, bias) by erf; FastGelu(X, bias) by tanh. */
static void gelu(onnx_node *n, int approximate)
{
    onnx_value *x = onnx_in(n, 0), *bias = onnx_in(n, 1);
    const assay_attrs a = {.gelu = {.approximate = approximate}};

    if (bias)
        x = onnx_op2(n, ASSAY_OP_ADD, NULL, x, bias, "biased");
    onnx_op1(n, ASSAY_OP_GELU, &a, x, NULL);
}

void onnx_import_bias_gelu(onnx_node *n)
{
    gelu(n, 0);
}

void onnx_import_fast_gelu(onnx_node *n)
{
    gelu(n, 1);
}

/* x * sigmoid(alpha * x) */
void onnx_import_quick_gelu(onnx_node *n)
{
    onnx_value *x = onnx_in(n, 0), *s;

    s = onnx_op2(n, ASSAY_OP_MUL, NULL, x,
                 onnx_scalar(n, x, (double)onnx_float(n, "alpha", 1.702f), "alpha"), "scaled");
    onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_op1(n, ASSAY_OP_SIGMOID, NULL, s, "sigmoid"), NULL);
}

/* ---- normalization of sums ---- */

/* Outputs that only training has: nothing may use them. */
static void only_training(onnx_node *n, size_t first, size_t last)
{
    for (size_t i = first; i <= last; i++)
        if (onnx_out_used(n, i))
            onnx_refuse(n, "output %zu, which only training has", i);
}

static void skip_norm(onnx_node *n, onnx_value *beta, onnx_value *bias, bool rms)
{
    onnx_value *sum = onnx_op2(n, ASSAY_OP_ADD, NULL, onnx_in(n, 0), onnx_in(n, 1), "sum");

    only_training(n, 1, 2);
    if (bias)
        sum = onnx_op2(n, ASSAY_OP_ADD, NULL, sum, bias, "biased");
    onnx_bind(n, 3, sum);
    onnx_normalized(n, sum, onnx_in(n, 2), beta, rms, NULL);
}

/* LayerNormalization(input + skip + bias) */
void onnx_import_skip_layer_norm(onnx_node *n)
{
    skip_norm(n, onnx_in(n, 3), onnx_in(n, 4), false);
}

void onnx_import_skip_rms_norm(onnx_node *n)
{
    skip_norm(n, NULL, onnx_in(n, 3), true);
}

/* ---- embeddings ---- */

/* How many positions of each row of the mask count, as int32; without a mask 0. */
static void count_mask(onnx_node *n, onnx_value *ids, onnx_value *mask)
{
    assay_type t = onnx_type(n, ids);
    assay_attrs over = {.reduce = {.axes = {.n = 1, .v = {1}}}};
    assay_attrs back = {.cast = {.to = ASSAY_CAST_I32}}, to = {.cast = {.to = ASSAY_CAST_F32}};

    if (n->status || !onnx_out_used(n, 1))
        return;
    if (mask) {
        mask = onnx_op1(n, ASSAY_OP_CAST, &to, mask, "mask");
        mask = onnx_op1(n, ASSAY_OP_REDUCE_SUM, &over, mask, "mask_count");
        onnx_bind(n, 1, onnx_op1(n, ASSAY_OP_CAST, &back, mask, "mask_index"));
        return;
    }
    const onnx_const *zeros = onnx_new_const(n->im, ONNX_INT32, 1, t.dim);
    onnx_bind(n, 1, onnx_constant(n, zeros, "mask_index"));
}

/* LayerNormalization(word[id] + position[p] + segment[s]): p counts from 0 in each row unless it is
 * given. */
void onnx_import_embed_layer_norm(onnx_node *n)
{
    onnx_value *ids = onnx_in(n, 0), *segments = onnx_in(n, 1), *positions = onnx_in(n, 8);
    onnx_value *table = onnx_in(n, 3), *sum;
    assay_type t = onnx_type(n, ids);

    if (onnx_int(n, "mask_index_type", 1) != 1 && onnx_out_used(n, 1))
        onnx_refuse(n, "attribute 'mask_index_type' is %lld",
                    (long long)onnx_int(n, "mask_index_type", 1));
    for (size_t i = 2; i < 7; i++)
        if (i != 4 && !onnx_has(n, i))
            onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
    if (segments && !onnx_has(n, 4))
        onnx_fail(n, ASSAY_ERR_INPUT, "input 4 is missing: segments have no table");
    if (!n->status && t.rank != 2)
        onnx_fail(n, ASSAY_ERR_INPUT, "ids of rank %d, expected 2", t.rank);
    if (n->status)
        return;
    count_mask(n, ids, onnx_in(n, 7));
    sum = onnx_rows(n, onnx_in(n, 2), ids, "words");
    sum = onnx_op2(n, ASSAY_OP_ADD, NULL, sum,
                   positions ? onnx_rows(n, table, positions, "positions")
                             : onnx_part(n, table, 0, 0, t.dim[1], "positions"),
                   "placed");
    if (segments)
        sum = onnx_op2(n, ASSAY_OP_ADD, NULL, sum,
                       onnx_rows(n, onnx_in(n, 4), segments, "segments"), "embedded");
    onnx_bind(n, 2, sum);
    onnx_normalized(n, sum, onnx_in(n, 5), onnx_in(n, 6), false, NULL);
}
