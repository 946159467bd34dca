/* ONNX Runtime's attention (domain com.microsoft): heads are split, scored, masked and joined by
 * the operators that it stands for.
 *
 * Letters: B batch, S rows of the query, L of keys and values, P of the past, T = P + L, N heads.
 * Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime; tried beside that runtime
 * (test/peer/ops_fused.js). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

/* Two values, one behind the other. */
static onnx_value *joined(onnx_node *n, onnx_value *a, onnx_value *b, int64_t axis,
                          const char *suffix)
{
    return onnx_joined(n, (onnx_value *const[]){a, b}, 2, axis, suffix);
}

onnx_value *onnx_heads(onnx_node *n, onnx_value *x, int64_t heads, const char *suffix)
{
    static const int64_t perm[4] = {0, 2, 1, 3};
    assay_type t = onnx_type(n, x);

    if (n->status || t.rank == 4)
        return x;
    if (t.rank != 3 || heads < 1 || t.dim[2] % heads != 0)
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "operand of rank %d with %lld columns for %lld heads, expected rank 4, or "
                         "rank 3 with columns that divide into the heads",
                         t.rank, (long long)t.dim[t.rank > 0 ? t.rank - 1 : 0], (long long)heads);
    const int64_t dim[4] = {t.dim[0], t.dim[1], heads, t.dim[2] / heads};
    return onnx_transposed(n, onnx_reshaped(n, x, 4, dim, suffix), perm, suffix);
}

void onnx_heads_joined(onnx_node *n, onnx_value *x)
{
    static const int64_t back[4] = {0, 2, 1, 3};
    onnx_value *y = onnx_transposed(n, x, back, "joined");
    assay_type t = onnx_type(n, y);
    const int64_t dim[3] = {t.dim[0], t.dim[1], t.dim[2] * t.dim[3]};

    if (!n->status)
        onnx_reshaped(n, y, 3, dim, NULL);
}

/* ---- masks: what is added to scores, [B or 1,1,S or 1,T] ---- */

static onnx_value *as_positions(onnx_node *n, onnx_value *x, int64_t begin, int64_t count)
{
    const int64_t dim[4] = {count, 1, 1, 1};

    x = onnx_part(n, x, 0, begin, count, "bound");
    return onnx_reshaped(n, x, 4, dim, "bound");
}

/* Where a mask lets a score be: of the forms [B] ends, [2B] ends and starts, [B,T], [B,S,T]. */
static onnx_value *allowed(onnx_node *n, onnx_value *mask, int64_t batch, int64_t total)
{
    assay_type t = onnx_type(n, mask);
    int64_t dim[4] = {t.dim[0], 1, 1, t.dim[t.rank > 0 ? t.rank - 1 : 0]};

    if (n->status)
        return NULL;
    if (t.rank == 2 || t.rank == 3) {
        dim[2] = t.rank == 3 ? t.dim[1] : 1;
        mask = onnx_reshaped(n, mask, 4, dim, "mask");
        return onnx_op2(n, ASSAY_OP_GREATER, NULL, mask, onnx_scalar(n, mask, 0, "none"), "kept");
    }
    if (t.rank != 1 || (t.dim[0] != batch && t.dim[0] != 2 * batch))
        return onnx_refuse(n, "mask of rank %d with %lld entries for a batch of %lld", t.rank,
                           (long long)onnx_count(&t), (long long)batch);
    const int64_t places[4] = {1, 1, 1, total};
    onnx_value *at = onnx_counted(n, ONNX_INT32, 4, places, "position");
    onnx_value *kept =
        onnx_op2(n, ASSAY_OP_LESS, NULL, at, as_positions(n, mask, 0, batch), "kept");
    if (t.dim[0] == batch)
        return kept;
    onnx_value *begun =
        onnx_op2(n, ASSAY_OP_GREATER_EQUAL, NULL, at, as_positions(n, mask, batch, batch), "begun");
    return onnx_op2(n, ASSAY_OP_LOGICAL_AND, NULL, kept, begun, "kept");
}

/* `filter` where nothing is allowed, else 0. */
static onnx_value *padding_mask(onnx_node *n, onnx_value *mask, onnx_value *like, int64_t batch,
                                int64_t total)
{
    const double filter = (double)onnx_float(n, "mask_filter_value", -10000);
    onnx_value *in[3] = {allowed(n, mask, batch, total), onnx_scalar(n, like, 0, "unmasked"),
                         onnx_scalar(n, like, filter, "filter")};

    return onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "mask");
}

/* Row s sees the past and what came up to itself; of what comes later nothing is left, whatever
 * another mask says of it. The last row sees everything, also keys beyond the rows there are (as
 * ONNX Runtime has it). */
static onnx_value *causal_mask(onnx_node *n, onnx_value *padding, onnx_value *like, int64_t past,
                               int64_t rows, int64_t total)
{
    const int64_t dim[4] = {1, 1, rows, total};
    onnx_const *later = onnx_new_const(n->im, ONNX_BOOL, 4, dim);

    if (!later)
        return onnx_no_memory(n);
    for (int64_t i = 0; i < later->count; i++)
        onnx_set_int(later, i, i / total < rows - 1 && i % total > past + i / total);
    onnx_value *in[3] = {onnx_constant(n, later, "later"),
                         onnx_scalar(n, like, (double)-FLT_MAX, "never"),
                         padding ? padding : onnx_scalar(n, like, 0, "unmasked")};
    return onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "causal");
}

static onnx_value *added(onnx_node *n, onnx_value *a, onnx_value *b, const char *suffix)
{
    return a && b ? onnx_op2(n, ASSAY_OP_ADD, NULL, a, b, suffix) : a ? a : b;
}

/* ---- softmax(scale * q k' + masks) v ---- */

typedef struct heads {
    int64_t past;            /* P */
    onnx_value *q, *k, *v;   /* [B,N,S,H], [B,N,T,H], [B,N,T,Hv] */
    onnx_value *mask, *bias; /* key padding, [B|1,N|1,S,T]: either may be NULL */
} heads;

static onnx_value *masks_of(onnx_node *n, const heads *h)
{
    assay_type q = onnx_type(n, h->q), k = onnx_type(n, h->k);
    onnx_value *mask = NULL;

    if (n->status)
        return NULL;
    if (h->mask)
        mask = padding_mask(n, h->mask, h->q, q.dim[0], k.dim[2]);
    if (onnx_int(n, "unidirectional", 0) != 0 && q.dim[2] > 1)
        mask = causal_mask(n, mask, h->q, h->past, q.dim[2], k.dim[2]);
    return added(n, h->bias, mask, "masks");
}

/* The node's first output, [B,S,N*Hv]. */
static void attend(onnx_node *n, const heads *h)
{
    const assay_attrs transposed = {.matmul = {.transpose_b = true}}, plain = {.matmul = {0}};
    const assay_attrs rows = {.softmax = {.axis = 3, .beta = 1}};
    assay_type q = onnx_type(n, h->q);
    const float given = onnx_float(n, "scale", 0);
    onnx_value *masks = masks_of(n, h), *y;

    if (n->status)
        return;
    const float scale = given == 0 ? 1 / sqrtf((float)q.dim[3]) : given;
    y = onnx_op2(n, ASSAY_OP_MATMUL, &transposed, h->q, h->k, "scores");
    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, onnx_scalar(n, y, (double)scale, "scale"), "scaled");
    y = added(n, y, masks, "masked");
    y = onnx_op1(n, ASSAY_OP_SOFTMAX, &rows, y, "weights");
    y = onnx_op2(n, ASSAY_OP_MATMUL, &plain, y, h->v, "heads");
    onnx_heads_joined(n, y);
}

/* ---- Attention: one product makes queries, keys and values ---- */

static onnx_value *projected(onnx_node *n)
{
    onnx_value *bias = onnx_in(n, 2);
    onnx_value *y = onnx_product(n, onnx_in(n, 0), onnx_in(n, 1), bias ? "product" : "projected");

    return bias ? onnx_op2(n, ASSAY_OP_ADD, NULL, y, bias, "projected") : y;
}

/* Keys (which 0) or values (1) of past [2,B,N,P,H]. */
static onnx_value *past_of(onnx_node *n, onnx_value *past, int64_t which)
{
    assay_type t = onnx_type(n, past);

    if (n->status)
        return NULL;
    if (t.rank != 5 || t.dim[0] != 2)
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "past of rank %d, expected [2, batch, heads, past length, head size]",
                         t.rank);
    past = onnx_part(n, past, 0, which, 1, "past");
    return onnx_reshaped(n, past, 4, t.dim + 1, "past");
}

static onnx_value *stacked(onnx_node *n, onnx_value *k, onnx_value *v)
{
    assay_type t = onnx_type(n, k);
    int64_t dim[5] = {1};

    if (n->status)
        return NULL;
    memcpy(dim + 1, t.dim, 4 * sizeof *dim);
    return joined(n, onnx_reshaped(n, k, 5, dim, "present"), onnx_reshaped(n, v, 5, dim, "present"),
                  0, "present");
}

void onnx_import_attention(onnx_node *n)
{
    const int64_t count = onnx_int(n, "num_heads", 0);
    onnx_value *past = onnx_in(n, 4), *x = projected(n);
    heads h = {.mask = onnx_in(n, 3), .bias = onnx_in(n, 5)};
    assay_type t = onnx_type(n, x);
    assay_list sizes;

    if (onnx_int(n, "do_rotary", 0) != 0 || onnx_int(n, "past_present_share_buffer", 0) != 0)
        onnx_refuse(n, "attribute 'do_rotary' or 'past_present_share_buffer' is 1");
    if (n->status)
        return;
    const int64_t third = t.dim[t.rank - 1] / 3;
    if (!onnx_ints(n, "qkv_hidden_sizes", &sizes))
        sizes = (assay_list){.n = 3, .v = {third, third, third}};
    if (t.rank != 3 || sizes.n != 3 || sizes.v[0] + sizes.v[1] + sizes.v[2] != t.dim[2]) {
        onnx_fail(n, ASSAY_ERR_INPUT, "weights of %lld columns are not queries, keys and values",
                  (long long)t.dim[t.rank - 1]);
        return;
    }
    h.q = onnx_heads(n, onnx_part(n, x, 2, 0, sizes.v[0], "query"), count, "query");
    h.k = onnx_heads(n, onnx_part(n, x, 2, sizes.v[0], sizes.v[1], "key"), count, "key");
    h.v = onnx_heads(n, onnx_part(n, x, 2, sizes.v[0] + sizes.v[1], sizes.v[2], "value"), count,
                     "value");
    if (past) {
        h.past = onnx_type(n, past).dim[3];
        h.k = joined(n, past_of(n, past, 0), h.k, 2, "keys");
        h.v = joined(n, past_of(n, past, 1), h.v, 2, "values");
    }
    if (onnx_out_used(n, 1))
        onnx_bind(n, 1, stacked(n, h.k, h.v));
    attend(n, &h);
}

/* ---- MultiHeadAttention: they come made ---- */

/* Adds columns begin.. of the bias that all three have. */
static onnx_value *biased(onnx_node *n, onnx_value *x, onnx_value *bias, int64_t begin,
                          const char *suffix)
{
    assay_type t = onnx_type(n, x);

    if (n->status || !bias || t.rank != 3)
        return x;
    return onnx_op2(n, ASSAY_OP_ADD, NULL, x, onnx_part(n, bias, 0, begin, t.dim[2], "bias"),
                    suffix);
}

void onnx_import_multi_head_attention(onnx_node *n)
{
    const int64_t count = onnx_int(n, "num_heads", 0);
    onnx_value *q = onnx_in(n, 0), *k = onnx_in(n, 1), *v = onnx_in(n, 2), *bias = onnx_in(n, 3);
    onnx_value *past_k = onnx_in(n, 6), *past_v = onnx_in(n, 7);
    heads h = {.mask = onnx_in(n, 4), .bias = onnx_in(n, 5)};
    assay_type t = onnx_type(n, q);

    if (onnx_has(n, 8) || onnx_has(n, 9) || onnx_out_used(n, 3))
        onnx_refuse(n, "past_sequence_length, cache_indirection or output qk");
    if (!k || !v || t.rank != 3)
        onnx_refuse(n, "packed queries, keys and values");
    if (n->status)
        return;
    const int64_t width = t.dim[2];
    h.q = onnx_heads(n, biased(n, q, bias, 0, "query"), count, "query");
    h.k = onnx_heads(n, biased(n, k, bias, width, "key"), count, "key");
    h.v = onnx_heads(n, biased(n, v, bias, 2 * width, "value"), count, "value");
    if (past_k && past_v) {
        h.past = onnx_type(n, past_k).dim[2];
        h.k = joined(n, past_k, h.k, 2, "keys");
        h.v = joined(n, past_v, h.v, 2, "values");
    }
    onnx_bind(n, 1, h.k);
    onnx_bind(n, 2, h.v);
    attend(n, &h);
}
