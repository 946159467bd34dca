/* LSTM, GRU and RNN, unrolled: what the inputs of all steps bring is one product; then each step is
 * the formulas of ONNX's specification.
 *
 * Letters: S steps, B batch, I inputs, H hidden, D directions, G gates (LSTM iofc, GRU zrh). */
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/op/op.h"

enum { GATES = 4, MAX_STEPS = 4096 };

typedef struct recurrent {
    onnx_node *n;
    int gates;
    int64_t steps, batch, hidden, directions;
    bool batch_first, reverse; /* reverse: the first direction is */
    assay_op bend[6]; /* activations: of gates, of candidates, of what goes out; by direction */
    int bends;
    onnx_value *lens; /* [B,1]: steps of each row, or NULL where all have all */
} recurrent;

/* One direction's constants and state. */
typedef struct lane {
    const recurrent *r;
    onnx_value *brought;  /* [S,B,G*H]: x W' + Wb (+ Rb) */
    onnx_value *weights;  /* R: [G*H,H] */
    onnx_value *bias;     /* Rb [G*H] where it is not in `brought`, or NULL */
    onnx_value *peep;     /* [3*H], or NULL */
    onnx_value *h, *c;    /* [B,H] */
    const assay_op *bend; /* its activations */
} lane;

/* x w', w [N,K]: fc where w is a constant. */
static onnx_value *times(onnx_node *n, onnx_value *x, onnx_value *w, onnx_value *bias,
                         const char *suffix)
{
    onnx_value *in[3] = {x, w, bias};
    const assay_attrs transposed = {.matmul = {.transpose_b = true}}, plain = {.fc = {0}};

    if (n->status)
        return NULL;
    if (w->constant && (!bias || bias->constant))
        return onnx_op(n, ASSAY_OP_FC, &plain, in, bias ? 3 : 2, suffix);
    x = onnx_op2(n, ASSAY_OP_MATMUL, &transposed, x, w, bias ? "product" : suffix);
    return bias ? onnx_op2(n, ASSAY_OP_ADD, NULL, x, bias, suffix) : x;
}

static onnx_value *add(const lane *l, onnx_value *a, onnx_value *b)
{
    return onnx_op2(l->r->n, ASSAY_OP_ADD, NULL, a, b, "sum");
}

static onnx_value *mul(const lane *l, onnx_value *a, onnx_value *b)
{
    return onnx_op2(l->r->n, ASSAY_OP_MUL, NULL, a, b, "product");
}

static onnx_value *bent(const lane *l, int which, onnx_value *x)
{
    return onnx_op1(l->r->n, l->bend[which], NULL, x, "bent");
}

/* Gate k of [B,G*H], or of [G*H]. */
static onnx_value *gate(const lane *l, onnx_value *x, int k)
{
    const int axis = onnx_type(l->r->n, x).rank - 1;
    return onnx_part(l->r->n, x, axis, k * l->r->hidden, l->r->hidden, "gate");
}

/* ---- one step; x: what the input brings, [B,G*H] ---- */

static onnx_value *peeped(const lane *l, onnx_value *x, int k, onnx_value *cell)
{
    return l->peep ? add(l, x, mul(l, cell, gate(l, l->peep, k))) : x;
}

static void lstm_step(lane *l, onnx_value *x)
{
    x = add(l, x, times(l->r->n, l->h, l->weights, NULL, "recurrence"));
    onnx_value *in = bent(l, 0, peeped(l, gate(l, x, 0), 0, l->c));
    onnx_value *forget = bent(l, 0, peeped(l, gate(l, x, 2), 2, l->c));
    onnx_value *candidate = bent(l, 1, gate(l, x, 3));
    l->c = add(l, mul(l, forget, l->c), mul(l, in, candidate));
    onnx_value *out = bent(l, 0, peeped(l, gate(l, x, 1), 1, l->c));
    l->h = mul(l, out, bent(l, 2, l->c));
}

/* linear_before_reset: the reset gate acts on the product, else on what is multiplied. */
static void gru_step(lane *l, onnx_value *x)
{
    onnx_node *n = l->r->n;
    const int64_t hidden = l->r->hidden;
    const bool late = onnx_int(n, "linear_before_reset", 0) != 0;
    onnx_value *sums = late ? times(n, l->h, l->weights, l->bias, "recurrence")
                            : times(n, l->h, onnx_part(n, l->weights, 0, 0, 2 * hidden, "weights"),
                                    NULL, "recurrence");
    onnx_value *update = bent(l, 0, add(l, gate(l, x, 0), gate(l, sums, 0)));
    onnx_value *reset = bent(l, 0, add(l, gate(l, x, 1), gate(l, sums, 1)));
    onnx_value *kept =
        late ? mul(l, reset, gate(l, sums, 2))
             : times(n, mul(l, reset, l->h),
                     onnx_part(n, l->weights, 0, 2 * hidden, hidden, "weights"), NULL, "kept");
    onnx_value *candidate = bent(l, 1, add(l, gate(l, x, 2), kept));
    onnx_value *rest =
        onnx_op2(n, ASSAY_OP_SUB, NULL, onnx_scalar(n, update, 1, "one"), update, "rest");
    l->h = add(l, mul(l, rest, candidate), mul(l, update, l->h));
}

static void rnn_step(lane *l, onnx_value *x)
{
    l->h = bent(l, 0, add(l, x, times(l->r->n, l->h, l->weights, NULL, "recurrence")));
}

/* ---- one direction ---- */

/* Direction d of input i, without the axis of the directions; NULL: there is no such input. */
static onnx_value *of_direction(const recurrent *r, size_t i, int axis, int64_t d)
{
    onnx_value *v = onnx_in(r->n, i);
    assay_type t = onnx_type(r->n, v);
    int64_t dim[ASSAY_MAX_RANK];
    int rank = 0;

    if (!v || r->n->status)
        return NULL;
    if (axis >= t.rank || t.dim[axis] != r->directions)
        return onnx_fail(r->n, ASSAY_ERR_INPUT,
                         "input %zu does not have extent %lld on its axis of directions", i,
                         (long long)r->directions);
    for (int k = 0; k < t.rank; k++)
        if (k != axis)
            dim[rank++] = t.dim[k];
    return onnx_reshaped(r->n, onnx_part(r->n, v, axis, d, 1, "direction"), rank, dim, "direction");
}

/* The state before the first step: zeros unless it is given. */
static onnx_value *initial(const recurrent *r, size_t i, int64_t d)
{
    const int64_t dim[2] = {r->batch, r->hidden};
    onnx_value *given = of_direction(r, i, r->batch_first ? 1 : 0, d);

    if (given || r->n->status)
        return given;
    return onnx_constant(r->n, onnx_new_const(r->n->im, ONNX_FLOAT, 2, dim), "state");
}

static void open_lane(const recurrent *r, lane *l, onnx_value *x, int64_t d)
{
    onnx_node *n = r->n;
    const int64_t rows = r->gates * r->hidden;
    const bool late = r->gates == 3 && onnx_int(n, "linear_before_reset", 0) != 0;
    onnx_value *w = of_direction(r, 1, 0, d), *both = of_direction(r, 3, 0, d), *bias = NULL;

    *l = (lane){.r = r, .bend = r->bend + d * r->bends};
    if (both) { /* Wb, Rb */
        bias = onnx_part(n, both, 0, 0, rows, "bias");
        l->bias = onnx_part(n, both, 0, rows, rows, "bias");
        if (!late) {
            bias = onnx_op2(n, ASSAY_OP_ADD, NULL, bias, l->bias, "bias");
            l->bias = NULL;
        }
    }
    l->brought = times(n, x, w, bias, "brought");
    l->weights = of_direction(r, 2, 0, d);
    l->h = initial(r, 5, d);
    if (r->gates == GATES) {
        l->c = initial(r, 6, d);
        l->peep = of_direction(r, 7, 0, d);
    }
}

/* Rows that have ended, or where steps go backwards not begun, keep their state; their output is
 * 0. */
static onnx_value *where_inside(lane *l, int64_t s, onnx_value *h, onnx_value *c)
{
    onnx_node *n = l->r->n;
    onnx_value *inside = onnx_op2(n, ASSAY_OP_GREATER, NULL, l->r->lens,
                                  onnx_scalar(n, l->r->lens, (double)s, "step"), "inside");

    l->h = onnx_op(n, ASSAY_OP_SELECT, NULL, (onnx_value *const[]){inside, l->h, h}, 3, "kept");
    if (c)
        l->c = onnx_op(n, ASSAY_OP_SELECT, NULL, (onnx_value *const[]){inside, l->c, c}, 3, "kept");
    onnx_value *in[3] = {inside, l->h, onnx_scalar(n, h, 0, "nothing")};
    return onnx_op(n, ASSAY_OP_SELECT, NULL, in, 3, "shown");
}

/* Runs a direction; the hidden state of step s becomes out[s], [1,1,B,H]. */
static void run_lane(lane *l, bool reverse, onnx_value **out)
{
    const recurrent *r = l->r;
    const int64_t row[2] = {r->batch, r->gates * r->hidden}, dim[4] = {1, 1, r->batch, r->hidden};

    for (int64_t k = 0; k < r->steps && !r->n->status; k++) {
        const int64_t s = reverse ? r->steps - 1 - k : k;
        onnx_value *x = onnx_part(r->n, l->brought, 0, s, 1, "step");
        onnx_value *h = l->h, *c = l->c;
        x = onnx_reshaped(r->n, x, 2, row, "step");
        if (r->gates == GATES)
            lstm_step(l, x);
        else if (r->gates == 3)
            gru_step(l, x);
        else
            rnn_step(l, x);
        h = r->lens && !r->n->status ? where_inside(l, s, h, c) : l->h;
        out[s] = onnx_reshaped(r->n, h, 4, dim, "hidden");
    }
}

/* ---- all of it ---- */

static bool read_bends(recurrent *r)
{
    static const char *const names[] = {"Sigmoid", "Tanh", "Relu"};
    static const assay_op ops[] = {ASSAY_OP_SIGMOID, ASSAY_OP_TANH, ASSAY_OP_RELU};
    const pb_attribute *a = onnx_attribute(r->n, "activations", ONNX_ATTR_STRINGS);

    r->bends = r->gates == GATES ? 3 : r->gates == 3 ? 2 : 1;
    for (int i = 0; i < r->bends * 2; i++)
        r->bend[i] = r->gates > 1 && i % r->bends == 0 ? ASSAY_OP_SIGMOID : ASSAY_OP_TANH;
    if (a && a->n_strings != (size_t)(r->bends * r->directions))
        return onnx_fail(r->n, ASSAY_ERR_INPUT, "%zu activations, expected %lld", a->n_strings,
                         (long long)(r->bends * r->directions));
    for (size_t i = 0; a && i < a->n_strings; i++) {
        size_t k = 0;
        while (k < 3 && (strlen(names[k]) != a->strings[i].len ||
                         memcmp(names[k], a->strings[i].data, a->strings[i].len) != 0))
            k++;
        if (k == 3)
            return onnx_refuse(r->n, "activation '%.*s'", (int)a->strings[i].len,
                               (const char *)a->strings[i].data);
        r->bend[i] = ops[k];
    }
    return true;
}

/* The lengths of rows, where not all are known to have all steps. */
static onnx_value *lengths(const recurrent *r)
{
    onnx_value *v = onnx_in(r->n, 4);
    const assay_type t = onnx_type(r->n, v);
    const int64_t dim[2] = {r->batch, 1};
    bool whole = !v || v->constant;

    if (v && !r->n->status && (t.rank != 1 || t.dim[0] != r->batch))
        return onnx_fail(r->n, ASSAY_ERR_INPUT, "sequence lengths do not hold one per batch row");
    for (int64_t i = 0; v && v->constant && i < v->constant->count; i++)
        whole &= onnx_get_int(v->constant, i) == r->steps;
    return whole ? NULL : onnx_reshaped(r->n, v, 2, dim, "lengths");
}

static bool begin(recurrent *r, onnx_node *n, int gates)
{
    static const char *const ways[] = {"forward", "reverse", "bidirectional", NULL};
    assay_type x = onnx_type(n, onnx_in(n, 0)), w = onnx_type(n, onnx_in(n, 2));

    *r = (recurrent){.n = n, .gates = gates, .batch_first = onnx_int(n, "layout", 0) != 0};
    const int way = onnx_choice(n, "direction", ways, 0);
    r->directions = way == 2 ? 2 : 1;
    r->reverse = way == 1;
    if (n->status)
        return false;
    if (x.rank != 3 || w.rank != 3 || w.dim[1] != gates * w.dim[2])
        return onnx_fail(n, ASSAY_ERR_INPUT, "input of rank %d, recurrence of rank %d", x.rank,
                         w.rank);
    r->steps = x.dim[r->batch_first ? 1 : 0];
    r->batch = x.dim[r->batch_first ? 0 : 1];
    r->hidden = w.dim[2];
    if (onnx_attribute(n, "clip", ONNX_ATTR_FLOAT) || onnx_int(n, "input_forget", 0) != 0)
        onnx_refuse(n, "attribute 'clip' or 'input_forget'");
    r->lens = lengths(r);
    if (r->steps < 1 || r->steps > MAX_STEPS)
        onnx_refuse(n, "%lld steps; 1 to %d can be unrolled", (long long)r->steps, MAX_STEPS);
    return !n->status && read_bends(r);
}

/* Output i: last states by direction, [D,B,H] or [B,D,H]. */
static void bind_state(const recurrent *r, size_t i, onnx_value *const *state)
{
    const int axis = r->batch_first ? 1 : 0;
    const int64_t dim[3] = {r->batch_first ? r->batch : 1, r->batch_first ? 1 : r->batch,
                            r->hidden};
    onnx_value *part[2];

    for (int64_t d = 0; d < r->directions; d++)
        part[d] = onnx_reshaped(r->n, state[d], 3, dim, "state");
    onnx_bind(r->n, i, onnx_joined(r->n, part, (int)r->directions, axis, "joined"));
}

static void import(onnx_node *n, int gates)
{
    static const int64_t steps_first[3] = {1, 0, 2}, batch_first[4] = {2, 0, 1, 3};
    recurrent r;
    lane l[2] = {{0}};
    onnx_value *side[2] = {NULL, NULL}, *x = onnx_in(n, 0);

    if (!begin(&r, n, gates))
        return;
    onnx_value **out = assay_arena_array(n->im->temp, (size_t)r.steps, sizeof(onnx_value *));
    if (!out) {
        onnx_no_memory(n);
        return;
    }
    if (r.batch_first)
        x = onnx_transposed(n, x, steps_first, "steps");
    for (int64_t d = 0; d < r.directions && !n->status; d++) {
        open_lane(&r, &l[d], x, d);
        run_lane(&l[d], d == 1 || r.reverse, out);
        if (!n->status && onnx_out_used(n, 0))
            side[d] = onnx_joined(n, out, (int)r.steps, 0, "joined");
    }
    if (n->status)
        return;
    if (side[0]) {
        onnx_value *y = onnx_joined(n, side, (int)r.directions, 1, "joined");
        onnx_bind(n, 0, r.batch_first ? onnx_transposed(n, y, batch_first, "batch") : y);
    }
    bind_state(&r, 1, (onnx_value *const[]){l[0].h, l[1].h});
    if (gates == GATES)
        bind_state(&r, 2, (onnx_value *const[]){l[0].c, l[1].c});
}

void onnx_import_lstm(onnx_node *n)
{
    import(n, GATES);
}

void onnx_import_gru(onnx_node *n)
{
    import(n, 3);
}

void onnx_import_rnn(onnx_node *n)
{
    import(n, 1);
}
