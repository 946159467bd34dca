/* Scan (opset 9), unrolled: each step takes a part of the sequences, and gives one. */
#include <stdio.h>
#include <string.h>

#include "graph/onnx/op/op.h"

typedef struct scan {
    onnx_node *n;
    const pb_graph *g;
    size_t states, sequences, rows; /* of the body: states and sequences in, states and rows out */
    int64_t steps;
    onnx_value **in, **out; /* of the body */
    onnx_value **row;       /* rows * steps */
} scan;

/* Entry i of a list of so many, 0 where the attribute is absent. */
static int64_t entry(onnx_node *n, const char *name, size_t i, size_t count)
{
    assay_list list;

    if (!onnx_ints(n, name, &list) || n->status)
        return 0;
    if ((size_t)list.n == count)
        return list.v[i];
    onnx_fail(n, ASSAY_ERR_INPUT, "attribute '%s' has %d entries, expected %zu", name, list.n,
              count);
    return 0;
}

static bool backwards(const scan *s, const char *name, size_t i, size_t count)
{
    const int64_t way = entry(s->n, name, i, count);

    if (way != 0 && way != 1)
        onnx_fail(s->n, ASSAY_ERR_INPUT, "attribute '%s' has the entry %lld, expected 0 or 1", name,
                  (long long)way);
    return way == 1;
}

static int input_axis(const scan *s, size_t i)
{
    const assay_type t = onnx_type(s->n, onnx_in(s->n, s->states + i));
    return (int)onnx_axis(s->n, entry(s->n, "scan_input_axes", i, s->sequences), t.rank);
}

static bool begin(scan *s, onnx_node *n)
{
    const int64_t sequences = onnx_int(n, "num_scan_inputs", 0);
    const size_t n_in = n->pb->n_input, n_out = n->pb->n_output;

    *s = (scan){.n = n, .steps = -1};
    onnx_since(n, 9);
    if (sequences < 1 || (size_t)sequences > n_in)
        onnx_fail(n, ASSAY_ERR_INPUT,
                  "%lld of its %zu inputs are sequences, expected at least 1 and at most all",
                  (long long)sequences, n_in);
    for (size_t i = 0; i < n_in; i++)
        if (!onnx_has(n, i))
            onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
    if (n->status)
        return false;
    s->sequences = (size_t)sequences;
    s->states = n_in - s->sequences;
    if (n_out < s->states)
        return onnx_fail(n, ASSAY_ERR_INPUT,
                         "%zu outputs for %zu states, expected at least as many", n_out, s->states);
    s->rows = n_out - s->states;
    s->g = onnx_subgraph(n, "body", (int64_t)n_in, n_out, true);
    for (size_t i = 0; i < s->sequences && !n->status; i++) {
        const assay_type t = onnx_type(n, onnx_in(n, s->states + i));
        const int64_t steps = t.dim[input_axis(s, i)];
        if (!n->status && s->steps >= 0 && steps != s->steps)
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "sequences of %lld and of %lld steps, expected equal lengths",
                      (long long)s->steps, (long long)steps);
        s->steps = steps;
    }
    if (!n->status)
        onnx_check_rounds(n, s->g, s->steps);
    return !n->status;
}

/* Step `at` of sequence i. */
static onnx_value *part(const scan *s, size_t i, int64_t at)
{
    onnx_node *n = s->n;
    onnx_value *x = onnx_in(n, s->states + i), *y;
    const int axis = input_axis(s, i);
    assay_type t = onnx_type(n, x);

    if (backwards(s, "scan_input_directions", i, s->sequences))
        at = s->steps - 1 - at;
    x = onnx_part(n, x, axis, at, 1, "step");
    if (n->status)
        return NULL;
    memmove(t.dim + axis, t.dim + axis + 1, (size_t)(t.rank - axis - 1) * sizeof *t.dim);
    y = onnx_reshaped(n, x, t.rank - 1, t.dim, "part");
    if (y)
        y->narrow = onnx_find_value(n->im, n->pb->input[s->states + i])->narrow;
    return y;
}

static void keep_rows(const scan *s, int64_t at)
{
    for (size_t i = 0; i < s->rows && !s->n->status; i++) {
        const bool back = backwards(s, "scan_output_directions", i, s->rows);
        s->row[(int64_t)i * s->steps + (back ? s->steps - 1 - at : at)] =
            onnx_row(s->n, s->out[s->states + i], entry(s->n, "scan_output_axes", i, s->rows));
    }
}

/* False: something in it is unsupported, or a failure. */
static bool run_steps(const scan *s)
{
    onnx_node *n = s->n;

    for (size_t i = 0; i < s->states; i++)
        s->in[i] = onnx_find_value(n->im, n->pb->input[i]);
    for (int64_t at = 0; at < s->steps; at++) {
        char tag[32];
        snprintf(tag, sizeof tag, "step%lld", (long long)at);
        for (size_t i = 0; i < s->sequences && !n->status; i++)
            s->in[s->states + i] = part(s, i, at);
        if (!onnx_put_nodes(n, s->g, tag, s->in, s->out))
            return false;
        keep_rows(s, at);
        for (size_t i = 0; i < s->states; i++)
            s->in[i] = s->out[i];
    }
    return !n->status;
}

static void bind_all(const scan *s)
{
    onnx_node *n = s->n;

    for (size_t i = 0; i < s->states; i++)
        onnx_bind_inner(n, i, s->in[i]);
    for (size_t i = 0; i < s->rows && !n->status; i++) {
        const assay_type t = onnx_type(n, onnx_resolve(s->out[s->states + i]));
        const int64_t axis = onnx_axis(n, entry(n, "scan_output_axes", i, s->rows), t.rank + 1);
        onnx_value *v = onnx_joined(n, s->row + (int64_t)i * s->steps, (int)s->steps, axis, "rows");
        if (!v)
            return;
        v->narrow = s->out[s->states + i]->narrow;
        onnx_bind_inner(n, s->states + i, v);
    }
}

void onnx_import_scan(onnx_node *n)
{
    scan s;
    assay_error cause;

    if (!begin(&s, n))
        return;
    s.in = onnx_alloc(n->im, n->pb->n_input * sizeof(onnx_value *) + 1);
    s.out = onnx_alloc(n->im, n->pb->n_output * sizeof(onnx_value *) + 1);
    s.row = onnx_alloc(n->im, s.rows * (size_t)s.steps * sizeof(onnx_value *) + 1);
    if (!s.in || !s.out || !s.row) {
        onnx_no_memory(n);
        return;
    }
    assay_status status = n->im->begin_body(n->im, s.g, "body", &cause);
    if (status) {
        onnx_fail(n, status, "%.300s", cause.text);
        return;
    }
    const bool done = run_steps(&s);
    onnx_pop_scope(n->im);
    if (done)
        bind_all(&s);
}
