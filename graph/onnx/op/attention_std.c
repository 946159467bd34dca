/* Attention of ONNX (opset 23): softmax(softcap(scale Q K') + bias) V, queries in groups that share
 * a head of keys and values; and the rotary embedding that goes in front of it.
 *
 * Letters: B batch, S rows of the query, T of keys with their past, N heads, H columns a head.
 * Source: Operators.md of github.com/onnx/onnx; what that leaves open as ONNX Runtime has it
 * (test/peer/ops_made.js). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

static onnx_value *scaled(onnx_node *n, onnx_value *x, double factor, const char *suffix)
{
    return onnx_op2(n, ASSAY_OP_MUL, NULL, x, onnx_scalar(n, x, factor, "factor"), suffix);
}

/* ---- masks ---- */

static onnx_value *order(onnx_node *n, int dtype, int64_t rows, int64_t total, int64_t past)
{
    const int64_t dim[2] = {rows, total};
    onnx_const *c = onnx_new_const(n->im, dtype, 2, dim);

    for (int64_t i = 0; c && i < c->count; i++) {
        const bool seen = i % total <= past + i / total;
        if (dtype == ONNX_BOOL)
            onnx_set_int(c, i, seen);
        else
            onnx_set_real(c, i, seen ? 0 : (double)-FLT_MAX);
    }
    return c ? onnx_constant(n, c, "causal") : onnx_no_memory(n);
}

/* What rows see of the keys, as the node says it. */
typedef struct sight {
    onnx_value *mask;   /* truth values, or NULL */
    onnx_value *bias;   /* added to the scores, or NULL */
    onnx_value *causal; /* the same, of the order */
} sight;

/* What each row sees of the keys by its own place: none behind it where `ordered`, none further off
 * than a window, and none behind those that are filled. */
typedef struct reach {
    bool ordered;
    int64_t rows, total, past;
    int64_t left, right; /* -1: any number */
    onnx_value *filled;  /* [B]: keys that are there, or NULL: all */
} reach;

static bool limits(const reach *r)
{
    return r->left >= 0 || r->right >= 0 || r->filled;
}

/* So many keys, or -1: as many as there are. */
static int64_t window(onnx_node *n, const char *name, int64_t all)
{
    const int64_t size = onnx_int(n, name, -1);
    return size < all ? size : -1;
}

/* t, s + past - left and so on, [B,1,S,T] or parts of it. */
static onnx_value *compared(onnx_node *n, assay_op op, onnx_value *key, onnx_value *row, int64_t by,
                            onnx_value *seen)
{
    onnx_value *to = by ? onnx_op2(n, ASSAY_OP_ADD, NULL, row,
                                   onnx_scalar(n, row, (double)by, "window"), "reach")
                        : row;
    onnx_value *y = onnx_op2(n, op, NULL, key, to, "near");
    return seen ? onnx_op2(n, ASSAY_OP_LOGICAL_AND, NULL, seen, y, "seen") : y;
}

static onnx_value *seen_in_reach(onnx_node *n, const reach *r)
{
    const int64_t keys[4] = {1, 1, 1, r->total}, rows[4] = {1, 1, r->rows, 1};
    onnx_value *key = onnx_counted(n, ONNX_INT64, 4, keys, "keys"), *seen = NULL;
    onnx_value *row = onnx_counted(n, ONNX_INT64, 4, rows, "rows");

    if (r->filled && !n->status) {
        const int64_t each[4] = {onnx_type(n, r->filled).dim[0], 1, 1, 1};
        onnx_value *filled = onnx_reshaped(n, r->filled, 4, each, "filled");
        seen = compared(n, ASSAY_OP_LESS, key, filled, 0, NULL);
        if (r->past == 0)
            row = onnx_op2(n, ASSAY_OP_ADD, NULL, row,
                           onnx_op2(n, ASSAY_OP_SUB, NULL, filled,
                                    onnx_scalar(n, filled, (double)r->rows, "count"), "begin"),
                           "place");
    }
    if (r->past > 0)
        row = onnx_op2(n, ASSAY_OP_ADD, NULL, row, onnx_scalar(n, row, (double)r->past, "past"),
                       "place");
    if (r->ordered)
        seen = compared(n, ASSAY_OP_LESS_EQUAL, key, row, 0, seen);
    if (r->left >= 0)
        seen = compared(n, ASSAY_OP_GREATER_EQUAL, key, row, -r->left, seen);
    if (r->right >= 0)
        seen = compared(n, ASSAY_OP_LESS_EQUAL, key, row, r->right, seen);
    return seen;
}

/* The sight where reach is limited: by a mask of truth values, numbers of a mask beside it. */
static sight seen_near(onnx_node *n, onnx_value *q, const reach *r, onnx_value *mask)
{
    sight s = {.bias = mask, .mask = seen_in_reach(n, r)};

    if (n->status)
        return s;
    if (mask && onnx_type(n, mask).elem.kind != ASSAY_KIND_F32) {
        s.mask = onnx_op2(n, ASSAY_OP_LOGICAL_AND, NULL, mask, s.mask, "seen");
        s.bias = NULL;
    }
    onnx_value *in[3] = {s.mask, onnx_scalar(n, q, 0, "unmasked"),
                         onnx_scalar(n, q, (double)-FLT_MAX, "never")};
    s.causal = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "mask");
    return s;
}

/* A mask for fewer keys than there are: those behind its end are not seen. */
static onnx_value *lengthened(onnx_node *n, onnx_value *mask, int64_t total)
{
    const assay_type t = onnx_type(n, mask);
    assay_attrs pad = {.pad = {.begin = {.n = t.rank}, .end = {.n = t.rank}}};

    if (n->status || !mask || t.rank < 1 || t.dim[t.rank - 1] >= total || t.dim[t.rank - 1] == 1)
        return mask;
    pad.pad.end.v[t.rank - 1] = total - t.dim[t.rank - 1];
    pad.pad.value = t.elem.kind == ASSAY_KIND_F32 ? -FLT_MAX : 0;
    return onnx_op1(n, ASSAY_OP_PAD, &pad, mask, "lengthened");
}

/* A mask of numbers is added itself, one of truth values as the least float where it is false. In
 * causal order row s sees keys up to its own, counted from the end of the past; a single row behind
 * a past sees all. */
static sight seen_by(onnx_node *n, onnx_value *q, onnx_value *k, int64_t past)
{
    const int64_t rows = onnx_type(n, q).dim[2], total = onnx_type(n, k).dim[2];
    const bool ordered = onnx_int(n, "is_causal", 0) != 0 && (rows > 1 || past == 0);
    sight s = {.bias = onnx_in(n, 3)};

    if (s.bias && onnx_type(n, s.bias).elem.kind == ASSAY_KIND_INT)
        s.bias = onnx_op1(n, ASSAY_OP_CAST, &(assay_attrs){.cast = {.to = ASSAY_CAST_F32}}, s.bias,
                          "mask");
    s.bias = lengthened(n, s.bias, total);
    const reach r = {.ordered = ordered,
                     .rows = rows,
                     .total = total,
                     .past = past,
                     .left = window(n, "left_window_size", rows + total),
                     .right = window(n, "right_window_size", rows + total),
                     .filled = onnx_in(n, 6)};
    if (n->status)
        return s;
    if (limits(&r))
        return seen_near(n, q, &r, s.bias);
    if (!s.bias || onnx_type(n, s.bias).elem.kind == ASSAY_KIND_F32) {
        s.causal = ordered ? order(n, ONNX_FLOAT, rows, total, past) : NULL;
        return s;
    }
    s.mask = s.bias;
    if (ordered)
        s.mask = onnx_op2(n, ASSAY_OP_LOGICAL_AND, NULL, s.mask,
                          order(n, ONNX_BOOL, rows, total, past), "seen");
    onnx_value *in[3] = {s.mask, onnx_scalar(n, q, 0, "unmasked"),
                         onnx_scalar(n, q, (double)-FLT_MAX, "never")};
    s.bias = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "mask");
    return s;
}

/* ---- heads ---- */

static onnx_value *heads_of(onnx_node *n, size_t i, const char *attribute, const char *suffix)
{
    return onnx_heads(n, onnx_in(n, i), onnx_int(n, attribute, 0), suffix);
}

static onnx_value *behind(onnx_node *n, onnx_value *past, onnx_value *now, const char *suffix)
{
    return past ? onnx_joined(n, (onnx_value *const[]){past, now}, 2, 2, suffix) : now;
}

onnx_value *onnx_shared_heads(onnx_node *n, onnx_value *x, int64_t heads, const char *suffix)
{
    assay_type t = onnx_type(n, x);

    if (n->status || t.dim[1] == heads)
        return x;
    if (t.dim[1] < 1 || heads % t.dim[1] != 0)
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "%lld query heads for %lld key heads, expected a multiple",
                         (long long)heads, (long long)t.dim[1]);
    const int64_t one[5] = {t.dim[0], t.dim[1], 1, t.dim[2], t.dim[3]};
    const int64_t all[4] = {t.dim[0], heads, t.dim[2], t.dim[3]};
    assay_attrs expand = {
        .shape = {
            .shape = {.n = 5, .v = {t.dim[0], t.dim[1], heads / t.dim[1], t.dim[2], t.dim[3]}}}};
    x = onnx_op1(n, ASSAY_OP_EXPAND, &expand, onnx_reshaped(n, x, 5, one, suffix), suffix);
    return onnx_reshaped(n, x, 4, all, suffix);
}

onnx_value *onnx_capped(onnx_node *n, onnx_value *x)
{
    const float cap = onnx_float(n, "softcap", 0);

    if (cap == 0)
        return x;
    x = onnx_op2(n, ASSAY_OP_DIV, NULL, x, onnx_scalar(n, x, (double)cap, "softcap"), "uncapped");
    return scaled(n, onnx_op1(n, ASSAY_OP_TANH, NULL, x, "tanh"), (double)cap, "capped");
}

/* What output qk_matmul_output shows, by the attribute qk_matmul_output_mode. */
enum shown { SCORES, CAPPED, MASKED, WEIGHTS };

static void show(onnx_node *n, enum shown what, onnx_value *v)
{
    if (onnx_out_used(n, 3) && onnx_int(n, "qk_matmul_output_mode", SCORES) == (int64_t)what)
        onnx_bind(n, 3, v);
}

/* Scores with their masks: what is not seen is shown as -infinity, as the specification has it,
 * whatever softmax is given (ONNX Runtime 1.30 shows the least float). */
static void show_masked(onnx_node *n, onnx_value *y, const sight *s, int64_t total, int64_t past)
{
    onnx_value *seen = s->mask;

    if (n->status || !onnx_out_used(n, 3) || onnx_int(n, "qk_matmul_output_mode", 0) != MASKED)
        return;
    if (s->causal && !seen)
        seen = order(n, ONNX_BOOL, onnx_type(n, y).dim[2], total, past);
    if (seen)
        y = onnx_op(n, ASSAY_OP_SELECT, NULL,
                    (onnx_value *const[]){seen, y, onnx_scalar(n, y, -INFINITY, "unseen")}, 3,
                    "shown");
    show(n, MASKED, y);
}

static onnx_value *weights_of(onnx_node *n, onnx_value *q, onnx_value *k, int64_t past)
{
    const assay_attrs transposed = {.matmul = {.transpose_b = true}};
    const assay_attrs rows = {.softmax = {.axis = 3, .beta = 1}};
    const assay_type t = onnx_type(n, q);
    const double given = (double)onnx_float(n, "scale", 0);

    if (n->status)
        return NULL;
    const double root = sqrt(given == 0 ? 1 / sqrt((double)t.dim[3]) : given);
    const sight s = seen_by(n, q, k, past);
    onnx_value *y = onnx_op2(n, ASSAY_OP_MATMUL, &transposed, scaled(n, q, root, "query"),
                             scaled(n, k, root, "key"), "scores");
    show(n, SCORES, y);
    y = onnx_capped(n, y);
    show(n, CAPPED, y);
    if (s.bias)
        y = onnx_op2(n, ASSAY_OP_ADD, NULL, y, s.bias, "masked");
    if (s.causal)
        y = onnx_op2(n, ASSAY_OP_ADD, NULL, y, s.causal, "masked");
    show_masked(n, y, &s, onnx_type(n, k).dim[2], past);
    y = onnx_op1(n, ASSAY_OP_SOFTMAX, &rows, y, "weights");
    if (s.mask) { /* rows that see nothing */
        onnx_value *in[3] = {s.mask, y, onnx_scalar(n, y, 0, "unseen")};
        y = onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "attended");
    }
    show(n, WEIGHTS, y);
    return y;
}

void onnx_import_attention_std(onnx_node *n)
{
    const assay_attrs plain = {.matmul = {0}};
    const bool flat = onnx_type(n, onnx_in(n, 0)).rank == 3;
    onnx_value *q = heads_of(n, 0, "q_num_heads", "query"), *past = onnx_in(n, 4);
    onnx_value *k = behind(n, past, heads_of(n, 1, "kv_num_heads", "key"), "keys");
    onnx_value *v = behind(n, onnx_in(n, 5), heads_of(n, 2, "kv_num_heads", "value"), "values");
    assay_type t = onnx_type(n, q);

    if (onnx_has(n, 6) && !n->status &&
        (onnx_type(n, onnx_in(n, 6)).rank != 1 || onnx_type(n, onnx_in(n, 6)).elem.bits != 64))
        onnx_fail(n, ASSAY_ERR_INPUT, "nonpad_kv_seqlen is not one int64 per batch");
    const int64_t mode = onnx_int(n, "qk_matmul_output_mode", SCORES);
    if (mode < SCORES || mode > WEIGHTS)
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute 'qk_matmul_output_mode' is %lld", (long long)mode);
    if (n->status)
        return;
    onnx_bind(n, 1, k);
    onnx_bind(n, 2, v);
    onnx_value *y = weights_of(n, q, onnx_shared_heads(n, k, t.dim[1], "keys"),
                               past ? onnx_type(n, past).dim[2] : 0);
    y = onnx_op2(n, ASSAY_OP_MATMUL, &plain, y, onnx_shared_heads(n, v, t.dim[1], "values"),
                 flat ? "heads" : NULL);
    if (flat)
        onnx_heads_joined(n, y);
}
