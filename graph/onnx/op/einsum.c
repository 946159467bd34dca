/* Einsum: "bij,bjk->bik". Letters that both operands have and nothing behind them has are summed
 * over: the operands are laid out as one matrix product for each index of those that all three
 * have. Of axes with one letter the diagonal is taken first. More than two operands are multiplied
 * one after the other. The axes of an ellipsis are letters, too: digits, counted from the last axis
 * so that they stand below each other. */
#include <stdio.h>
#include <string.h>

#include "graph/onnx/op/op.h"

#define MAX_OPERANDS 8

/* Letters in order, a letter an axis. */
typedef struct letters {
    int n;
    char at[ASSAY_MAX_RANK];
} letters;

/* One product: of two operands, or of one. */
typedef struct equation {
    letters in[2], out;
    const int64_t *extent; /* of a letter */
} equation;

/* All operands; of a letter that an operand has twice the diagonal. */
typedef struct list {
    int n;
    onnx_value *x[MAX_OPERANDS];
    letters in[MAX_OPERANDS], out;
    int64_t extent[128];
} list;

static bool has(const letters *l, char c)
{
    return memchr(l->at, c, (size_t)l->n) != NULL;
}

/* False: there are too many. */
static bool append(letters *l, char c)
{
    if (l->n == ASSAY_MAX_RANK)
        return false;
    l->at[l->n++] = c;
    return true;
}

static bool add(letters *l, char c)
{
    return !has(l, c) && append(l, c);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The axes of an ellipsis. */
static bool add_digits(letters *l, int n)
{
    for (int i = 0; i < n; i++)
        if (!add(l, (char)('0' + n - 1 - i)))
            return false;
    return true;
}

/* How many axes an ellipsis stands for in a term of `rank` axes; 0 without one. */
static int hidden_axes(const char *term, int rank)
{
    int shown = 0;
    bool open = false;

    for (; *term && *term != ',' && *term != '-'; term++) {
        shown += is_letter(*term);
        open = open || *term == '.';
    }
    return open && rank > shown ? rank - shown : 0;
}

/* Letters of the term at *text, which moves behind it. False: something else, or a letter twice,
 * where that is not an operand's. */
static bool parse_term(const char **text, int hidden, bool operand, letters *to)
{
    bool open = false;

    for (; **text && **text != ',' && **text != '-'; ++*text) {
        if (**text == ' ')
            continue;
        if (strncmp(*text, "...", 3) == 0 && !open) {
            open = true;
            *text += 2;
            if (!add_digits(to, hidden))
                return false;
        } else if (!is_letter(**text) || !(operand ? append : add)(to, **text)) {
            return false;
        }
    }
    return true;
}

/* Without "->": the digits, and the letters that stand once, in the alphabet's order. */
static bool imply(list *e, int hidden)
{
    bool fits = add_digits(&e->out, hidden);

    for (char c = 'A'; fits && c <= 'z'; c++) {
        int times = 0;
        for (int k = 0; k < e->n; k++)
            for (int i = 0; i < e->in[k].n; i++)
                times += e->in[k].at[i] == c;
        fits = times != 1 || add(&e->out, c);
    }
    return fits;
}

/* False: something that is no list of as many terms as there are operands. */
static bool parse(onnx_node *n, const char *text, list *e)
{
    int max = 0;

    *e = (list){0};
    do {
        if (e->n == MAX_OPERANDS || (size_t)e->n == n->pb->n_input)
            return false;
        const int hidden = hidden_axes(text, onnx_type(n, onnx_in(n, (size_t)e->n)).rank);
        max = hidden > max ? hidden : max;
        if (n->status || !parse_term(&text, hidden, true, &e->in[e->n++]))
            return false;
    } while (*text == ',' && text++);
    if ((size_t)e->n != n->pb->n_input)
        return false;
    if (!*text)
        return imply(e, max);
    if (max > 0 && !strchr(text, '.')) /* ONNX Runtime takes no such equation */
        return false;
    text += 2;
    return text[-1] == '>' && parse_term(&text, max, false, &e->out) && !*text;
}

static void read_extents(onnx_node *n, list *e)
{
    bool found = true;

    for (int k = 0; k < e->n && !n->status; k++) {
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
    for (int i = 0; i < e->out.n && !n->status; i++) {
        found = false;
        for (int k = 0; k < e->n; k++)
            found = found || has(&e->in[k], e->out.at[i]);
        if (!found)
            onnx_fail(n, ASSAY_ERR_INPUT, "index '%c' of the result is in no operand",
                      e->out.at[i]);
    }
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

/* The first letter that stands twice: where. */
static bool twice(const letters *l, int *first, int *second)
{
    for (*first = 0; *first < l->n; ++*first)
        for (*second = *first + 1; *second < l->n; ++*second)
            if (l->at[*first] == l->at[*second])
                return true;
    return false;
}

/* Both axes of a letter become the last two, then one, of which every (extent + 1)th element is
 * taken, until each letter stands once. */
static onnx_value *diagonal(onnx_node *n, onnx_value *x, letters *l)
{
    int first, second;

    while (!n->status && twice(l, &first, &second)) {
        const assay_type t = onnx_type(n, x);
        const int last = t.rank - 2;
        const char letter = l->at[first];
        assay_attrs a = {.slice = {.begin = {.n = last + 1}, .step = {.n = last + 1}}};
        int64_t perm[ASSAY_MAX_RANK], *dim = a.slice.size.v;

        a.slice.size.n = last + 1;
        for (int i = 0, k = 0; i < t.rank; i++)
            if (i != first && i != second) {
                perm[k] = i;
                dim[k] = t.dim[i];
                l->at[k] = l->at[i];
                a.slice.step.v[k++] = 1;
            }
        perm[last] = first;
        perm[last + 1] = second;
        l->at[last] = letter;
        l->n = last + 1;
        x = onnx_transposed(n, x, perm, "diagonal_last");
        dim[last] = t.dim[first] * t.dim[first];
        x = onnx_reshaped(n, x, last + 1, dim, "diagonal_row");
        dim[last] = t.dim[first];
        a.slice.step.v[last] = t.dim[first] + 1;
        x = onnx_op1(n, ASSAY_OP_SLICE, &a, x, "diagonal");
    }
    return x;
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

/* `last`: the result is the node's. */
static onnx_value *product(onnx_node *n, equation *e, onnx_value *a, onnx_value *b, bool last)
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
    a = onnx_reshaped(n, a, order.n, dim, last && same(&order, &e->out) ? NULL : "axes");
    return arranged(n, a, &order, &e->out, last ? NULL : "arranged");
}

/* What is left when the operands up to k are multiplied: the letters of `done` and of operand k
 * that the result or a later operand has. False: more of them than a value may have axes. */
static bool left(const list *e, const letters *done, int k, letters *kept)
{
    bool fits = true;

    *kept = (letters){0};

    for (int from = 0; from < 2; from++) {
        const letters *l = from ? &e->in[k] : done;
        for (int i = 0; i < l->n; i++) {
            bool wanted = has(&e->out, l->at[i]);
            for (int later = k + 1; later < e->n; later++)
                wanted = wanted || has(&e->in[later], l->at[i]);
            if (wanted && !has(kept, l->at[i]))
                fits = add(kept, l->at[i]) && fits;
        }
    }
    return fits;
}

static void products(onnx_node *n, const list *e)
{
    onnx_value *x = e->x[0];
    letters done = e->in[0];

    for (int k = 1; k < e->n && !n->status; k++) {
        const bool last = k == e->n - 1;
        equation one = {.in = {done, e->in[k]}, .extent = e->extent};
        if (last)
            one.out = e->out;
        else if (!left(e, &done, k, &one.out)) {
            onnx_refuse(n, "more than %d indices between its operands", ASSAY_MAX_RANK);
            return;
        }
        done = one.out;
        x = product(n, &one, x, e->x[k], last);
    }
}

void onnx_import_einsum(onnx_node *n)
{
    static const letters none = {0};
    const pb_attribute *text = onnx_attribute(n, "equation", ONNX_ATTR_STRING);
    char copy[64] = "";
    list e;

    if (text)
        snprintf(copy, sizeof copy, "%.*s", (int)text->s.len, (const char *)text->s.data);
    if (!text || text->s.len >= sizeof copy || !parse(n, copy, &e)) {
        if (!n->status)
            onnx_refuse(n, "attribute 'equation' is '%s'", copy);
        return;
    }
    read_extents(n, &e);
    for (int k = 0; k < e.n && !n->status; k++)
        e.x[k] = diagonal(n, onnx_in(n, (size_t)k), &e.in[k]);
    if (n->status)
        return;
    if (e.n > 1) {
        products(n, &e);
        return;
    }
    onnx_value *x = summed(n, e.x[0], &e.in[0], &e.out, &none, "summed");
    onnx_bind(n, 0, arranged(n, x, &e.in[0], &e.out, "arranged"));
}
