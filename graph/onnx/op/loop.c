/* Loop: unrolled where it is known at import how many rounds it makes; else a node with two bodies,
 * whose state is the round's number, the limit, the condition and the values carried on. */
#include <stdio.h>
#include <string.h>

#include "graph/onnx/op/op.h"

enum { MAX_ROUNDS = 4096, MAX_NODES = 1 << 17 };

typedef struct loop {
    onnx_node *n;
    const pb_graph *g;
    onnx_value *limit, *go; /* NULL: absent */
    size_t carried, rows;
    onnx_value **in, **out; /* of the body: number, condition, carried; condition, carried, rows */
    onnx_value **row;       /* rows * MAX_ROUNDS, or NULL: not kept */
    int64_t rounds;         /* made so far */
} loop;

typedef enum way { UNROLLED, AT_RUN_TIME, TOO_LONG, LOST } way;

static bool too_long(const pb_graph *g, int64_t rounds)
{
    return rounds > MAX_ROUNDS || (g->n_node > 0 && rounds > MAX_NODES / (int64_t)g->n_node);
}

void onnx_check_rounds(onnx_node *n, const pb_graph *g, int64_t rounds)
{
    if (rounds < 1 || too_long(g, rounds))
        onnx_refuse(n, "%lld iterations of %zu nodes; 1 to %d can be unrolled, of %d nodes in all",
                    (long long)rounds, g->n_node, MAX_ROUNDS, MAX_NODES);
}

/* ---- what there is ---- */

/* A constant of one element, of the rank that the body says of its input. */
static onnx_value *element(loop *l, size_t input, int dtype, int64_t value)
{
    const Assay__Onnx__Type *type = l->g->input[input]->type;
    const Assay__Onnx__TensorType *t = type ? type->tensor_type : NULL;
    const int64_t one = 1;
    onnx_const *c = onnx_new_const(l->n->im, dtype, t && t->shape && t->shape->n_dim == 1, &one);

    if (!c)
        return onnx_no_memory(l->n);
    onnx_set_int(c, 0, value);
    return onnx_constant(l->n, c, input == 0 ? "number" : "true");
}

static onnx_value *number(loop *l, int64_t value)
{
    return element(l, 0, ONNX_INT64, value);
}
static onnx_value *truth(loop *l)
{
    return element(l, 1, ONNX_BOOL, 1);
}

static void check_ends(loop *l)
{
    onnx_node *n = l->n;
    const assay_type limit = onnx_type(n, l->limit), go = onnx_type(n, l->go);

    if (l->limit &&
        (limit.elem.kind != ASSAY_KIND_INT || limit.elem.bits != 64 || onnx_count(&limit) != 1))
        onnx_fail(n, ASSAY_ERR_INPUT, "trip count '%s' is not a single int64", n->pb->input[0]);
    if (l->go && (go.elem.kind != ASSAY_KIND_BOOL || onnx_count(&go) != 1))
        onnx_fail(n, ASSAY_ERR_INPUT, "condition '%s' is not a single bool", n->pb->input[1]);
}

static bool begin(loop *l, onnx_node *n)
{
    const size_t n_in = n->pb->n_input, n_out = n->pb->n_output;

    *l = (loop){.n = n, .limit = onnx_in(n, 0), .go = onnx_in(n, 1)};
    l->carried = n_in < 2 ? 0 : n_in - 2;
    for (size_t i = 2; i < n_in; i++)
        if (!onnx_has(n, i))
            onnx_fail(n, ASSAY_ERR_INPUT, "input %zu is missing", i);
    if (n_out < l->carried)
        onnx_fail(n, ASSAY_ERR_INPUT, "only %zu outputs, %zu carried values", n_out, l->carried);
    l->rows = n_out - l->carried;
    check_ends(l);
    l->g = onnx_subgraph(n, "body", (int64_t)l->carried + 2, n_out + 1, true);
    if (n->status)
        return false;
    l->in = onnx_alloc(n->im, (l->carried + 2) * sizeof(onnx_value *));
    l->out = onnx_alloc(n->im, (n_out + 1) * sizeof(onnx_value *));
    if (!l->in || !l->out)
        return onnx_no_memory(n);
    return true;
}

/* ---- unrolled ---- */

static void keep_rows(loop *l)
{
    for (size_t i = 0; l->row && i < l->rows && !l->n->status; i++)
        l->row[i * MAX_ROUNDS + (size_t)l->rounds] = onnx_row(l->n, l->out[1 + l->carried + i], 0);
}

/* Round after round, from l->in on, as long as it is known that there is another. */
static way make_rounds(loop *l, const char *tag)
{
    const int64_t limit = l->limit ? onnx_get_int(onnx_elements(l->n, l->limit), 0) : INT64_MAX;
    const int nodes = l->n->im->graph->n_nodes;
    bool go = !l->go || onnx_get_int(onnx_elements(l->n, l->go), 0) != 0;

    for (l->rounds = 0; go && l->rounds < limit; l->rounds++) {
        const onnx_const *next;
        char own[32];
        if (l->rounds == MAX_ROUNDS || l->n->im->graph->n_nodes - nodes > MAX_NODES)
            return TOO_LONG;
        snprintf(own, sizeof own, "round%lld", (long long)l->rounds);
        l->in[0] = number(l, l->rounds);
        l->in[1] = truth(l);
        if (!onnx_put_nodes(l->n, l->g, tag ? tag : own, l->in, l->out))
            return LOST;
        next = onnx_elements(l->n, onnx_resolve(l->out[0]));
        if (!next)
            return l->n->status ? LOST : AT_RUN_TIME;
        if (next->dtype != ONNX_BOOL || next->count != 1) {
            onnx_fail(l->n, ASSAY_ERR_INPUT, "its body does not return a single bool as condition");
            return LOST;
        }
        go = onnx_get_int(next, 0) != 0;
        keep_rows(l);
        for (size_t i = 0; i < l->carried; i++)
            l->in[2 + i] = l->out[1 + i];
    }
    return l->n->status ? LOST : UNROLLED;
}

static way unroll(loop *l, const char *tag)
{
    onnx_import *im = l->n->im;
    assay_error cause;
    assay_status s =
        l->n->status ? l->n->status : im->begin_body(im, l->g, tag ? tag : "body", &cause);
    way w;

    if (l->n->status)
        return LOST;
    if (s) {
        onnx_fail(l->n, s, "%.300s", cause.text);
        return LOST;
    }
    w = make_rounds(l, tag);
    onnx_pop_scope(im);
    return w;
}

/* Unrolls into a graph that is thrown away, to see whether it can be done. What is unsupported is
 * listed by whoever imports the body next. */
static way try_unrolling(loop *l)
{
    onnx_import *im = l->n->im;
    const int n_unsupported = im->n_unsupported;
    const size_t length = im->unsupported_length;
    onnx_captures c;
    onnx_inner inner;
    int tensors = 0;
    way w = LOST;
    for (size_t i = 0; i < l->carried; i++)
        tensors += onnx_tensors_of(l->in[2 + i]);
    if (!onnx_capture(l->n, &l->g, 1, &c) || !onnx_enter(l->n, &inner, "trial", &c, tensors))
        return LOST;
    for (size_t i = 0; i < l->carried && !l->n->status; i++)
        l->in[2 + i] = onnx_stand_in(l->n, &inner, l->in[2 + i], true);
    if (!l->n->status)
        w = unroll(l, "trial");
    (void)onnx_leave(l->n, &inner, NULL, 0);
    im->n_unsupported = n_unsupported;
    im->unsupported_length = length;
    im->unsupported[length] = '\0';
    return w;
}

static void begin_state(loop *l)
{
    for (size_t i = 0; i < l->carried; i++)
        l->in[2 + i] = onnx_find_value(l->n->im, l->n->pb->input[2 + i]);
}

/* The body gives the condition that it is given. */
static bool keeps_condition(const loop *l)
{
    return strcmp(l->g->output[0]->name, l->g->input[1]->name) == 0;
}

static way choose(loop *l)
{
    const onnx_const *limit = l->limit ? l->limit->constant : NULL;

    if ((l->limit && !limit) || (l->go && !l->go->constant))
        return AT_RUN_TIME;
    if (limit && too_long(l->g, onnx_get_int(limit, 0)) && keeps_condition(l))
        return TOO_LONG;
    if (limit && keeps_condition(l))
        return UNROLLED;
    begin_state(l);
    const way w = try_unrolling(l);
    return w == LOST ? UNROLLED : w; /* that tells why */
}

/* Rows of rounds that only a run counts: those of the sample that the model is imported for. */
static bool can_count(loop *l)
{
    return (!l->limit || onnx_elements(l->n, l->limit)) && (!l->go || onnx_elements(l->n, l->go)) &&
           l->n->im->options->sample.compute && !l->n->status;
}

static void bind_rounds(loop *l)
{
    onnx_node *n = l->n;

    if (l->rows > 0 && l->rounds == 0)
        onnx_refuse(n, "with no iteration output '%s' is empty", n->pb->output[l->carried]);
    for (size_t i = 0; i < l->carried; i++)
        onnx_bind_inner(n, i, l->in[2 + i]);
    for (size_t i = 0; i < l->rows && !n->status; i++) {
        onnx_value *v = onnx_joined(n, l->row + i * MAX_ROUNDS, (int)l->rounds, 0, "rows");
        if (!v)
            return;
        v->narrow = l->out[1 + l->carried + i]->narrow;
        onnx_bind_inner(n, l->carried + i, v);
    }
}

/* ---- at run time ---- */

/* The state outside: number, condition, limit (where there is one), carried. */
static onnx_value **outer_state(loop *l, int *count)
{
    onnx_value **v = onnx_alloc(l->n->im, (l->carried + 3) * sizeof(onnx_value *));
    int n = 0;

    if (!v)
        return onnx_no_memory(l->n);
    v[n++] = number(l, 0);
    v[n++] = l->go ? l->go : truth(l);
    if (l->limit)
        v[n++] = l->limit;
    for (size_t i = 0; i < l->carried; i++)
        v[n++] = onnx_find_value(l->n->im, l->n->pb->input[2 + i]);
    for (int i = 0; i < n && !l->n->status; i++) {
        assay_error cause;
        if (onnx_materialize(l->n->im, onnx_resolve(v[i]), &cause) == ASSAY_NO_VALUE)
            onnx_fail_because(l->n, cause.status, &cause);
    }
    *count = n;
    return l->n->status ? NULL : v;
}

/* The state inside, behind what is captured. */
static onnx_value **enter(loop *l, onnx_inner *inner, const char *tag, const onnx_captures *c,
                          onnx_value *const *outer, int count)
{
    if (!onnx_enter(l->n, inner, tag, c, count))
        return NULL;
    const int captured = inner->n_in;
    for (int i = 0; i < count; i++)
        (void)onnx_stand_in(l->n, inner, outer[i], false);
    return inner->in + captured;
}

static int import_test(loop *l, const onnx_captures *c, onnx_value *const *outer, int count)
{
    onnx_inner inner;
    onnx_value **in = enter(l, &inner, "test", c, outer, count), *go;

    if (!in)
        return -1;
    go = l->n->status ? NULL : in[1];
    if (l->limit && go)
        go = onnx_op2(l->n, ASSAY_OP_LOGICAL_AND, NULL,
                      onnx_op2(l->n, ASSAY_OP_LESS, NULL, in[0], in[2], "before"), go, "go");
    return onnx_leave(l->n, &inner, go ? &go : NULL, 1);
}

/* What a round gives for the state that it took. */
static void check_round(loop *l, onnx_value *const *in, const onnx_inner *inner)
{
    for (size_t i = 0; i < l->carried && !l->n->status; i++) {
        const int at = inner->n_in - (int)l->carried + (int)i;
        const assay_type a = onnx_type(l->n, inner->in[at]);
        const assay_type b = onnx_type(l->n, onnx_resolve(in[i]));
        char shape[2][160];
        if (!assay_elem_equal(a.elem, b.elem))
            onnx_fail(l->n, ASSAY_ERR_INPUT, "carried value '%s' changes its type",
                      l->n->pb->input[2 + i]);
        else if (!assay_shape_equal(&a, &b))
            onnx_refuse(l->n,
                        "its iterations are not known at import, and carried value '%s' is %s "
                        "before one, %s after it",
                        l->n->pb->input[2 + i], assay_shape_print(&a, shape[0], sizeof shape[0]),
                        assay_shape_print(&b, shape[1], sizeof shape[1]));
    }
}

static int import_round(loop *l, const onnx_captures *c, onnx_value *const *outer, int count,
                        onnx_inner *inner)
{
    onnx_node *n = l->n;
    onnx_value **in = enter(l, inner, "body", c, outer, count), **out;
    const int captured = in ? (int)(in - inner->in) : 0;

    if (!in)
        return -1;
    out = onnx_alloc(n->im, ((size_t)inner->n_in + 1) * sizeof(onnx_value *));
    if (!out)
        onnx_no_memory(n);
    l->in[0] = in[0];
    l->in[1] = in[1];
    for (size_t i = 0; i < l->carried && !n->status; i++)
        l->in[2 + i] = in[count - (int)l->carried + (int)i];
    const bool there = onnx_put_body(n, l->g, "body", l->in, l->out);
    if (there) {
        const assay_type go = onnx_type(n, in[1]), next = onnx_type(n, onnx_resolve(l->out[0]));
        if (next.elem.kind != ASSAY_KIND_BOOL || onnx_count(&next) != 1)
            onnx_fail(n, ASSAY_ERR_INPUT, "its body does not return a single bool as condition");
        check_round(l, l->out + 1, inner);
        onnx_value *one = n->status ? NULL : number(l, 1);
        for (int i = 0; i < captured && one; i++)
            out[i] = inner->in[i];
        if (one) {
            onnx_value **state = out + captured;
            state[0] = onnx_op2(n, ASSAY_OP_ADD, NULL, in[0], one, "next");
            state[1] = onnx_resolve(l->out[0]);
            if (!assay_shape_equal(&go, &next))
                state[1] = onnx_reshaped(n, state[1], go.rank, go.dim, "go");
            if (l->limit)
                state[2] = in[2];
            for (size_t i = 0; i < l->carried; i++)
                state[(l->limit ? 3 : 2) + i] = l->out[1 + i];
        }
    }
    return onnx_leave(n, inner, there && !n->status ? out : NULL, inner->n_in);
}

static void import_while(loop *l)
{
    onnx_node *n = l->n;
    onnx_captures c;
    onnx_inner inner;
    onnx_value **outer, **y;
    int count = 0;

    if (!onnx_capture(n, &l->g, 1, &c) || !(outer = outer_state(l, &count)))
        return;
    const int test = import_test(l, &c, outer, count);
    const int body = n->status ? -1 : import_round(l, &c, outer, count, &inner);
    if (test < 0 || body < 0)
        return;
    const assay_attrs a = {.loop = {.condition = test, .body = body}};
    y = onnx_alloc(n->im, ((size_t)inner.n_in + 1) * sizeof(onnx_value *));
    if (!y) {
        onnx_no_memory(n);
        return;
    }
    for (size_t i = 0; i < l->carried; i++) {
        const char *name = n->pb->output[i];
        onnx_value *v = *name ? onnx_find_value(n->im, name) : NULL;
        y[inner.n_in - (int)l->carried + (int)i] = v;
        if (v)
            v->narrow = l->out[1 + i]->narrow;
    }
    onnx_flow(n, ASSAY_OP_WHILE, &a, inner.outer, inner.n_in, y, inner.n_in);
}

void onnx_import_loop(onnx_node *n)
{
    loop l;

    if (!begin(&l, n))
        return;
    way w = choose(&l);
    if (w == AT_RUN_TIME && l.rows > 0 && can_count(&l))
        w = UNROLLED;
    if (n->status)
        return;
    if (w == UNROLLED) {
        l.row = onnx_alloc(n->im, l.rows * MAX_ROUNDS * sizeof(onnx_value *) + 1);
        if (!l.row) {
            onnx_no_memory(n);
            return;
        }
        begin_state(&l);
        w = unroll(&l, NULL);
        if (w == UNROLLED)
            bind_rounds(&l);
    } else if (l.rows == 0) {
        import_while(&l);
    }
    if (l.rows > 0 && (w == TOO_LONG || w == AT_RUN_TIME))
        onnx_refuse(n,
                    w == TOO_LONG ? "scan outputs of over %d iterations, or of %d nodes unrolled"
                                  : "scan outputs of a loop of unknown length",
                    MAX_ROUNDS, MAX_NODES);
}
