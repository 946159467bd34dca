/* Einsum: "bij,bjk->bik". Letters that both operands have and the result has not are summed over:
 * the operands are laid out as one matrix product for each index of those that all three have. */
#include <stdio.h>
#include <string.h>

#include "graph/onnx/op/op.h"

/* Letters in order, a letter an axis. */
typedef struct letters {
    int n;
    char at[ASSAY_MAX_RANK];
} letters;

typedef struct equation {
    int operands;
    letters in[2], out;
    int64_t extent[128]; /* of a letter */
} equation;

static bool has(const letters *l, char c)
{
    return memchr(l->at, c, (size_t)l->n) != NULL;
}

static bool add(letters *l, char c)
{
    if (l->n == ASSAY_MAX_RANK || has(l, c))
        return false;
    l->at[l->n++] = c;
    return true;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Without "->": the letters that stand once, in the alphabet's order. */
static bool imply(equation *e)
{
    for (char c = 'A'; c <= 'z'; c++) {
        const int times = has(&e->in[0], c) + (e->operands == 2 && has(&e->in[1], c));
        if (times == 1 && !add(&e->out, c))
            return false;
    }
    return true;
}

/* False: something else than one or two operands, an ellipsis, a letter twice in one place. */
static bool parse(const char *text, equation *e)
{
    letters *to = &e->in[0];
    bool said = false;
    *e = (equation){.operands = 1};
    for (; *text; text++) {
        if (*text == ' ')
            continue;
        if (*text == ',' && to == &e->in[0]) {
            e->operands = 2;
            to = &e->in[1];
        } else if (*text == '-' && text[1] == '>' && !said) {
            said = true;
            to = &e->out;
            text++;
        } else if (!is_letter(*text) || !add(to, *text)) {
            return false;
        }
    }
    return said || imply(e);
}

static void read_extents(onnx_node *n, equation *e)
{
    for (int k = 0; k < e->operands && !n->status; k++) {
        assay_type t = onnx_type(n, onnx_in(n, (size_t)k));
        if (!n->status && t.rank != e->in[k].n)
            onnx_fail(n, ASSAY_ERR_INPUT, "operand %d has rank %d but %d letters in the equation",
                      k, t.rank, e->in[k].n);
        for (int i = 0; i < t.rank && !n->status; i++) {
            int64_t *extent = &e->extent[(int)e->in[k].at[i]];
            if (*extent != 0 && *extent != t.dim[i])
                onnx_fail(n, ASSAY_ERR_INPUT, "index '%c' has extents %lld and %lld",
                          e->in[k].at[i], (long long)*extent, (long long)t.dim[i]);
            *extent = t.dim[i];
        }
    }
    for (int i = 0; i < e->out.n && !n->status; i++)
        if (!has(&e->in[0], e->out.at[i]) && !has(&e->in[1], e->out.at[i]))
            onnx_fail(n, ASSAY_ERR_INPUT, "index '%c' of the result is in no operand",
                      e->out.at[i]);
}

/* Sums over the letters of x that are not wanted. */
static onnx_value *summed(onnx_node *n, onnx_value *x, letters *l, const letters *wanted,
                          const letters *also, const char *suffix)
{
    assay_attrs over = {.reduce = {.keepdims = false}};
    letters kept = {0};

    for (int i = 0; i < l->n; i++)
        if (has(wanted, l->at[i]) || has(also, l->at[i]))
            add(&kept, l->at[i]);
        else
            over.reduce.axes.v[over.reduce.axes.n++] = i;
    if (kept.n == l->n)
        return x;
    *l = kept;
    return onnx_op1(n, ASSAY_OP_REDUCE_SUM, &over, x, suffix);
}

static bool same(const letters *a, const letters *b)
{
    return a->n == b->n && memcmp(a->at, b->at, (size_t)a->n) == 0;
}

/* x, whose axes are `from`, with the axes `to`. */
static onnx_value *arranged(onnx_node *n, onnx_value *x, const letters *from, const letters *to,
                            const char *suffix)
{
    int64_t perm[ASSAY_MAX_RANK];

    if (same(from, to))
        return x;
    for (int i = 0; i < to->n; i++)
        perm[i] = (const char *)memchr(from->at, to->at[i], (size_t)from->n) - from->at;
    return onnx_transposed(n, x, perm, suffix);
}

/* The letters of a that b has or has not, and the result has or has not; their extent. */
static int64_t take(const equation *e, const letters *a, const letters *b, bool in_b, bool in_out,
                    letters *to)
{
    int64_t extent = 1;
    for (int i = 0; i < a->n; i++)
        if (has(b, a->at[i]) == in_b && has(&e->out, a->at[i]) == in_out && add(to, a->at[i]))
            extent *= e->extent[(int)a->at[i]];
    return extent;
}

static onnx_value *matrices(onnx_node *n, const equation *e, int k, onnx_value *x,
                            const letters *order, int64_t batch, int64_t rows, int64_t columns)
{
    const int64_t dim[3] = {batch, rows, columns};
    x = arranged(n, x, &e->in[k], order, k ? "b_arranged" : "a_arranged");
    return onnx_reshaped(n, x, 3, dim, k ? "b_matrices" : "a_matrices");
}

static void product(onnx_node *n, equation *e, onnx_value *a, onnx_value *b)
{
    static const letters none = {0};
    const assay_attrs plain = {.matmul = {.transpose_a = false}};
    letters order_a = {0}, order_b = {0}, order = {0};
    int64_t dim[ASSAY_MAX_RANK];

    a = summed(n, a, &e->in[0], &e->in[1], &e->out, "a_summed");
    b = summed(n, b, &e->in[1], &e->in[0], &e->out, "b_summed");
    const int64_t batch = take(e, &e->in[0], &e->in[1], true, true, &order_a);
    const int64_t rows = take(e, &e->in[0], &e->in[1], false, true, &order_a);
    order = order_a;
    const int64_t depth = take(e, &e->in[0], &e->in[1], true, false, &order_a);
    take(e, &e->in[0], &e->in[1], true, true, &order_b);
    take(e, &e->in[0], &e->in[1], true, false, &order_b);
    const int64_t columns = take(e, &e->in[1], &e->in[0], false, true, &order_b);
    take(e, &e->in[1], &none, false, true, &order);
    a = matrices(n, e, 0, a, &order_a, batch, rows, depth);
    b = matrices(n, e, 1, b, &order_b, batch, depth, columns);
    a = onnx_op2(n, ASSAY_OP_MATMUL, &plain, a, b, "product");
    for (int i = 0; i < order.n; i++)
        dim[i] = e->extent[(int)order.at[i]];
    a = onnx_reshaped(n, a, order.n, dim, same(&order, &e->out) ? NULL : "axes");
    arranged(n, a, &order, &e->out, NULL);
}

void onnx_import_einsum(onnx_node *n)
{
    static const letters none = {0};
    const pb_attribute *text = onnx_attribute(n, "equation", ONNX_ATTR_STRING);
    char copy[64] = "";
    equation e;

    if (text)
        snprintf(copy, sizeof copy, "%.*s", (int)text->s.len, (const char *)text->s.data);
    if (!text || text->s.len >= sizeof copy || !parse(copy, &e) ||
        (size_t)e.operands != n->pb->n_input) {
        onnx_refuse(n, "attribute 'equation' is '%s'", copy);
        return;
    }
    read_extents(n, &e);
    if (n->status)
        return;
    if (e.operands == 2) {
        product(n, &e, onnx_in(n, 0), onnx_in(n, 1));
        return;
    }
    onnx_value *x = summed(n, onnx_in(n, 0), &e.in[0], &e.out, &none, "summed");
    onnx_bind(n, 0, arranged(n, x, &e.in[0], &e.out, "arranged"));
}
