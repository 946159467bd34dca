/* GroupQueryAttention of ONNX Runtime (com.microsoft): queries in groups that share a head of keys
 * and values, behind a past, in causal order.
 *
 *   softmax(softcap(scale q k') + bias, where row s sees key j: first(s) <= j <= at + s) v
 *
 * The past is what came before, and the present that and the new rows: at = P. Or it is a buffer
 * that has room for them (total_sequence_length is at most P): the new rows go to at = seqlens_k +
 * 1
 * - S, which a run knows. Rows behind the end of a shorter sequence are computed like others.
 *
 * Letters: B batch, S rows of the query, P of the past, T of keys, N heads, H columns a head.
 * Source: docs/ContribOperators.md of github.com/microsoft/onnxruntime. */
#include <float.h>
#include <math.h>

#include "graph/onnx/op/op.h"

enum { QUERY, KEY, VALUE, PAST_KEY, PAST_VALUE, SEQLENS, TOTAL, COSINE, SINE, POSITIONS, BIAS };

typedef struct grouped {
    onnx_node *n;
    int64_t heads, kv_heads, batch, rows, past;
    bool is_buffer;
    onnx_value *q, *k, *v; /* [B,N,S,H] */
    onnx_value *at;        /* i64[1,1], where the new rows stand */
} grouped;

/* Three operands, or one that has their columns side by side. */
static void split_heads(grouped *g)
{
    onnx_node *n = g->n;
    onnx_value *part[3] = {onnx_in(n, QUERY), onnx_in(n, KEY), onnx_in(n, VALUE)};
    const assay_type t = onnx_type(n, part[0]);
    const int64_t width = g->heads + 2 * g->kv_heads;

    if (!n->status && t.rank != 3)
        onnx_fail(n, ASSAY_ERR_INPUT, "query of rank %d, expected 3", t.rank);
    if (!n->status && !part[1]) {
        if (t.dim[2] % width != 0) {
            onnx_fail(n, ASSAY_ERR_INPUT, "%lld columns are not divisible into %lld heads",
                      (long long)t.dim[2], (long long)width);
            return;
        }
        const int64_t h = t.dim[2] / width, kv = g->kv_heads * h;
        part[2] = onnx_part(n, part[0], 2, g->heads * h + kv, kv, "value");
        part[1] = onnx_part(n, part[0], 2, g->heads * h, kv, "key");
        part[0] = onnx_part(n, part[0], 2, 0, g->heads * h, "query");
    }
    g->q = onnx_heads(n, part[0], g->heads, "query");
    g->k = onnx_heads(n, part[1], g->kv_heads, "key");
    g->v = onnx_heads(n, part[2], g->kv_heads, "value");
    g->batch = t.dim[0];
    g->rows = t.dim[1];
}

/* Where the new rows stand, and in what. */
static void place(grouped *g)
{
    onnx_node *n = g->n;
    onnx_value *past = onnx_in(n, PAST_KEY), *total = onnx_in(n, TOTAL);
    const int64_t one[2] = {1, 1};

    g->past = past ? onnx_type(n, past).dim[2] : 0;
    if (n->status)
        return;
    if (g->past > 0 && g->batch != 1)
        onnx_refuse(n, "a past of %lld sequences", (long long)g->batch);
    if (total->constant && total->constant->count == 1)
        g->is_buffer = onnx_get_int(total->constant, 0) <= g->past && g->past > 0;
    if (!g->is_buffer) {
        onnx_const *c = n->status ? NULL : onnx_new_const(n->im, ONNX_INT64, 2, one);
        if (c)
            onnx_set_int(c, 0, g->past);
        g->at = c ? onnx_constant(n, c, "at") : n->status ? NULL : onnx_no_memory(n);
        return;
    }
    static const assay_attrs wide = {.cast = {.to = ASSAY_CAST_I64}};
    onnx_value *at = onnx_op1(n, ASSAY_OP_CAST, &wide, onnx_in(n, SEQLENS), "last");
    at = onnx_op2(n, ASSAY_OP_ADD, NULL, at, onnx_scalar(n, at, 1 - (double)g->rows, "rows"), "at");
    g->at = onnx_reshaped(n, at, 2, one, "at");
}

/* at + 0, 1, ... along an axis of `dim`. */
static onnx_value *counted_from(grouped *g, int rank, const int64_t *dim, const char *suffix)
{
    onnx_value *rows = onnx_counted(g->n, ONNX_INT64, rank, dim, suffix);

    return onnx_op2(g->n, ASSAY_OP_ADD, NULL, rows, g->at, suffix);
}

static void rotate(grouped *g)
{
    onnx_node *n = g->n;
    onnx_value *const cache[2] = {onnx_in(n, COSINE), onnx_in(n, SINE)};
    onnx_value *rows = onnx_in(n, POSITIONS);
    const bool pairs = onnx_int(n, "rotary_interleaved", 0) != 0;
    const int64_t dim[2] = {1, g->rows};

    if (onnx_int(n, "do_rotary", 0) == 0 || n->status)
        return;
    if (!cache[0] || !cache[1]) {
        onnx_fail(n, ASSAY_ERR_INPUT, "do_rotary without cos_cache and sin_cache");
        return;
    }
    if (!rows)
        rows = counted_from(g, 2, dim, "positions");
    g->q = onnx_rotated(n, g->q, cache, rows, pairs, "query");
    g->k = onnx_rotated(n, g->k, cache, rows, pairs, "key");
}

/* The new rows of keys or values with their past. */
static onnx_value *present(grouped *g, onnx_value *past, onnx_value *now, const char *suffix)
{
    onnx_node *n = g->n;
    const int64_t one[1] = {1};

    if (!past || n->status)
        return now;
    if (!g->is_buffer)
        return onnx_joined(n, (onnx_value *const[]){past, now}, 2, 2, suffix);
    onnx_value *zero = onnx_counted(n, ONNX_INT64, 1, one, "zero");
    onnx_value *const begin[4] = {zero, zero, onnx_reshaped(n, g->at, 1, one, "at"), zero};
    onnx_value *in[3] = {past, now, onnx_joined(n, begin, 4, 0, "begin")};
    return onnx_op(n, ASSAY_OP_UPDATE_SLICE, NULL, in, 3, suffix);
}

/* Which keys each row sees, [1,1,S,T]. */
static onnx_value *seen(grouped *g, int64_t total)
{
    onnx_node *n = g->n;
    const int64_t rows[4] = {1, 1, g->rows, 1}, keys[4] = {1, 1, 1, total};
    const int64_t window = onnx_int(n, "local_window_size", -1);
    onnx_value *row = counted_from(g, 4, rows, "row");
    onnx_value *key = onnx_counted(n, ONNX_INT64, 4, keys, "key");
    onnx_value *y = onnx_op2(n, ASSAY_OP_LESS_EQUAL, NULL, key, row, "seen");

    if (window <= 0 || n->status)
        return y;
    row = onnx_op2(n, ASSAY_OP_SUB, NULL, row, onnx_scalar(n, row, (double)window, "window"),
                   "before");
    return onnx_op2(n, ASSAY_OP_LOGICAL_AND, NULL, y,
                    onnx_op2(n, ASSAY_OP_GREATER, NULL, key, row, "near"), "seen");
}

static void attend(grouped *g, onnx_value *k, onnx_value *v)
{
    static const assay_attrs transposed = {.matmul = {.transpose_b = true}},
                             plain = {.matmul = {0}};
    static const assay_attrs last = {.softmax = {.axis = 3, .beta = 1}};
    onnx_node *n = g->n;
    const assay_type t = onnx_type(n, g->q);
    const float given = onnx_float(n, "scale", 0);
    const double scale = given == 0 ? 1 / sqrt((double)t.dim[3]) : (double)given;
    onnx_value *bias = onnx_in(n, BIAS), *mask = seen(g, onnx_type(n, k).dim[2]);

    onnx_value *y = onnx_op2(n, ASSAY_OP_MATMUL, &transposed, g->q,
                             onnx_shared_heads(n, k, g->heads, "keys"), "scores");
    y = onnx_op2(n, ASSAY_OP_MUL, NULL, y, onnx_scalar(n, y, scale, "scale"), "scaled");
    y = onnx_capped(n, y);
    if (bias)
        y = onnx_op2(n, ASSAY_OP_ADD, NULL, y, bias, "biased");
    onnx_value *in[3] = {mask, y, onnx_scalar(n, y, (double)-FLT_MAX, "never")};
    y = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "masked");
    y = onnx_op1(n, ASSAY_OP_SOFTMAX, &last, y, "weights");
    y = onnx_op2(n, ASSAY_OP_MATMUL, &plain, y, onnx_shared_heads(n, v, g->heads, "values"),
                 "heads");
    onnx_heads_joined(n, y);
}

void onnx_import_grouped(onnx_node *n)
{
    grouped g = {
        .n = n, .heads = onnx_int(n, "num_heads", 0), .kv_heads = onnx_int(n, "kv_num_heads", 0)};

    if (onnx_int(n, "smooth_softmax", 0) > 0)
        onnx_refuse(n, "attribute 'smooth_softmax' is 1");
    if (onnx_has(n, PAST_KEY) != onnx_has(n, PAST_VALUE))
        onnx_fail(n, ASSAY_ERR_INPUT, "past_key or past_value is given without the other");
    if (!onnx_has(n, SEQLENS) || !onnx_has(n, TOTAL) || onnx_has(n, KEY) != onnx_has(n, VALUE))
        onnx_fail(n, ASSAY_ERR_INPUT, "seqlens_k, total_sequence_length, key or value is missing");
    if (g.heads < 1 || g.kv_heads < 1)
        onnx_fail(n, ASSAY_ERR_INPUT, "attributes num_heads and kv_num_heads must be 1 or more");
    if (n->status)
        return;
    split_heads(&g);
    place(&g);
    rotate(&g);
    onnx_value *k = present(&g, onnx_in(n, PAST_KEY), g.k, "keys");
    onnx_value *v = present(&g, onnx_in(n, PAST_VALUE), g.v, "values");
    onnx_bind(n, 1, k);
    onnx_bind(n, 2, v);
    attend(&g, k, v);
}
