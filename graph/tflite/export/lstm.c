/* The nodes into which op/lstm.c unrolls a UNIDIRECTIONAL_SEQUENCE_LSTM, as that operator again:
 * TFLite has no other whose results are the gates' 16-bit codes.
 *
 * A match begins at the node that reads the hidden state and follows the formula of op/lstm.c step
 * by step, until the node that assigns the hidden state. Nothing but its last values may be read
 * from outside. */
#include <string.h>

#include "graph/tflite/export/emit.h"

enum { GATE_INPUT, GATE_FORGET, GATE_CELL, GATE_OUTPUT, GATES };
enum { N_INPUTS = 24, N_INTERMEDIATES = 5 };

typedef struct lstm {
    const assay_graph *g;
    int *start, *user; /* nodes that read value v: user[start[v]] to user[start[v + 1] - 1] */
    bool *mine;        /* nodes that the operator stands for */
    int hidden, cell;  /* the variables */
    int weights[GATES], recurrent[GATES], bias[GATES];
    int steps, x, y;
    const assay_node *sum; /* a step's new cell, which is clipped */
    int axis;              /* of time, in x and y */
} lstm;

static bool index_users(tfl_export *x, lstm *l)
{
    const assay_graph *g = x->g;
    size_t edges = 0;

    for (int i = 0; i < g->n_nodes; ++i)
        edges += (size_t)g->node[i].n_in;
    l->start = tfl_room(x, ((size_t)g->n_values + 2) * sizeof *l->start);
    l->user = tfl_room(x, (edges + 1) * sizeof *l->user);
    l->mine = tfl_room(x, (size_t)g->n_nodes + 1);
    if (!l->start || !l->user || !l->mine)
        return false;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < g->n_nodes; ++i)
            for (int k = 0; k < g->node[i].n_in; ++k) {
                int v = g->node[i].in[k];
                if (v >= 0 && pass == 0)
                    ++l->start[v + 2];
                else if (v >= 0)
                    l->user[l->start[v + 1]++] = i;
            }
        for (int v = 2; pass == 0 && v <= g->n_values; ++v)
            l->start[v] += l->start[v - 1];
    }
    return true;
}

static int count_users(const lstm *l, int v)
{
    return l->start[v + 1] - l->start[v];
}

/* The k-th node of that op that reads v, or NULL. */
static const assay_node *reader(const lstm *l, int v, assay_op op, int k)
{
    for (int i = l->start[v]; i < l->start[v + 1]; ++i)
        if (l->g->node[l->user[i]].op == op && k-- == 0)
            return &l->g->node[l->user[i]];
    return NULL;
}

/* The node that reads v, when there is no other. */
static const assay_node *only(const lstm *l, int v, assay_op op)
{
    return count_users(l, v) == 1 ? reader(l, v, op, 0) : NULL;
}

static const assay_node *maker(const lstm *l, int v, assay_op op)
{
    int producer = v >= 0 ? l->g->value[v].producer : -1;
    return producer >= 0 && l->g->node[producer].op == op ? &l->g->node[producer] : NULL;
}

static void take(lstm *l, const assay_node *n)
{
    l->mine[n - l->g->node] = true;
}

/* A constant of zeros, which 16-bit activations have in the place of a bias. */
static bool is_zero(const assay_value *v)
{
    const unsigned char *at = v->data;
    for (size_t i = 0; at && i < assay_type_bytes(&v->type); ++i)
        if (at[i])
            return false;
    return at != NULL;
}

/* The same operand in every step. */
static bool agrees(int *known, int value)
{
    if (*known < 0)
        *known = value;
    return *known == value;
}

typedef struct step {
    int gate[GATES]; /* values */
    int x;           /* [batch, inputs] */
} step;

/* One gate from its recurrent product; which gate it is, only what reads it says. */
static bool match_gate(lstm *l, const assay_node *from_h, const assay_node **from_x,
                       const assay_node **activated)
{
    const assay_node *sum = only(l, from_h->out[0], ASSAY_OP_ADD);

    *from_x = sum && sum->in[1] == from_h->out[0] ? maker(l, sum->in[0], ASSAY_OP_FC) : NULL;
    if (!*from_x || count_users(l, sum->in[0]) != 1 ||
        (from_h->n_in > 2 && from_h->in[2] >= 0 && !is_zero(&l->g->value[from_h->in[2]])))
        return false;
    *activated = only(l, sum->out[0], ASSAY_OP_SIGMOID);
    if (!*activated)
        *activated = only(l, sum->out[0], ASSAY_OP_TANH);
    if (!*activated)
        return false;
    take(l, from_h);
    take(l, *from_x);
    take(l, sum);
    take(l, *activated);
    return true;
}

static int gate_of(const lstm *l, const assay_node *activated, int candidate, int cell)
{
    const assay_node *product = only(l, activated->out[0], ASSAY_OP_MUL);

    if (activated->op == ASSAY_OP_TANH)
        return GATE_CELL;
    if (!product)
        return -1;
    if (product->in[0] == activated->out[0] && product->in[1] == candidate)
        return GATE_INPUT;
    if (product->in[0] == activated->out[0] && product->in[1] == cell)
        return GATE_FORGET;
    return product->in[1] == activated->out[0] ? GATE_OUTPUT : -1;
}

static bool match_gates(lstm *l, int hidden, int cell, step *s)
{
    const assay_node *from_h[GATES], *from_x[GATES], *activated[GATES];
    int candidate = -1;
    unsigned seen = 0;

    if (reader(l, hidden, ASSAY_OP_FC, GATES))
        return false;
    for (int k = 0; k < GATES; ++k) {
        from_h[k] = reader(l, hidden, ASSAY_OP_FC, k);
        if (!from_h[k] || !match_gate(l, from_h[k], &from_x[k], &activated[k]))
            return false;
        if (activated[k]->op == ASSAY_OP_TANH)
            candidate = activated[k]->out[0];
    }
    s->x = from_x[0]->in[0];
    for (int k = 0; k < GATES; ++k) {
        int gate = gate_of(l, activated[k], candidate, cell);
        if (gate < 0 || from_x[k]->in[0] != s->x || from_x[k]->n_in < 3 ||
            !agrees(&l->weights[gate], from_x[k]->in[1]) ||
            !agrees(&l->bias[gate], from_x[k]->in[2]) ||
            !agrees(&l->recurrent[gate], from_h[k]->in[1]))
            return false;
        seen |= 1U << gate;
        s->gate[gate] = activated[k]->out[0];
    }
    return seen == (1U << GATES) - 1;
}

/* The new cell and the new hidden state, in the place of the old. */
static bool match_cell(lstm *l, const step *s, int *hidden, int *cell)
{
    const assay_node *kept = only(l, s->gate[GATE_FORGET], ASSAY_OP_MUL);
    const assay_node *fresh = only(l, s->gate[GATE_INPUT], ASSAY_OP_MUL), *sum, *activated,
                     *relabel, *y;

    sum = kept && fresh ? only(l, kept->out[0], ASSAY_OP_ADD) : NULL;
    if (!sum || sum->in[0] != kept->out[0] || sum->in[1] != fresh->out[0] ||
        count_users(l, fresh->out[0]) != 1 || count_users(l, s->gate[GATE_CELL]) != 1)
        return false;
    relabel = reader(l, sum->out[0], ASSAY_OP_RELABEL, 0);
    activated = relabel ? only(l, relabel->out[0], ASSAY_OP_TANH)
                        : reader(l, sum->out[0], ASSAY_OP_TANH, 0);
    y = activated ? only(l, activated->out[0], ASSAY_OP_MUL) : NULL;
    if (!y || y->in[0] != activated->out[0] || y->in[1] != s->gate[GATE_OUTPUT] ||
        count_users(l, sum->out[0]) != 2)
        return false;
    if (l->sum && (sum->act_lo != l->sum->act_lo || sum->act_hi != l->sum->act_hi ||
                   sum->has_code_bounds != l->sum->has_code_bounds ||
                   sum->code_lo != l->sum->code_lo || sum->code_hi != l->sum->code_hi))
        return false;
    l->sum = sum;
    take(l, kept);
    take(l, fresh);
    take(l, sum);
    if (relabel)
        take(l, relabel);
    take(l, activated);
    take(l, y);
    *cell = sum->out[0];
    *hidden = y->out[0];
    return true;
}

/* Where a step's input comes from: x, or a slice of it. */
static bool match_input(lstm *l, int value)
{
    const assay_node *shaped = maker(l, value, ASSAY_OP_RESHAPE), *slice;
    int x;

    if (!shaped || count_users(l, value) != GATES)
        return false;
    slice = maker(l, shaped->in[0], ASSAY_OP_SLICE);
    x = slice ? slice->in[0] : shaped->in[0];
    if (slice) {
        const assay_attr_slice *a = &slice->attr.slice;
        if (l->axis < 0)
            l->axis = a->size.v[0] == 1 && l->g->value[x].type.dim[0] != 1 ? 0 : 1;
        const int other = 1 - l->axis;
        if (a->size.n != 3 || a->begin.v[l->axis] != l->steps || a->size.v[l->axis] != 1 ||
            a->begin.v[other] || a->begin.v[2] || count_users(l, shaped->in[0]) != 1)
            return false;
        take(l, slice);
    }
    take(l, shaped);
    return agrees(&l->x, x);
}

/* Where a step's hidden state goes: y, or a row of it. */
static bool match_output(lstm *l, int hidden)
{
    const assay_node *row = reader(l, hidden, ASSAY_OP_RESHAPE, 0), *join;

    if (!row || reader(l, hidden, ASSAY_OP_RESHAPE, 1))
        return false;
    take(l, row);
    join = count_users(l, row->out[0]) == 1 ? only(l, row->out[0], ASSAY_OP_CONCAT) : NULL;
    if (l->axis < 0) { /* a single step: the row is y */
        l->y = row->out[0];
        return true;
    }
    if (!join || join->attr.axis.axis != l->axis || l->steps >= join->n_in ||
        join->in[l->steps] != row->out[0])
        return false;
    take(l, join);
    return agrees(&l->y, join->out[0]);
}

static const assay_node *assigned(const lstm *l, int variable, int value)
{
    const assay_node *n = reader(l, value, ASSAY_OP_ASSIGN, 0);
    return n && n->in[0] == variable && n->in[1] == value && count_users(l, n->out[0]) == 0 ? n
                                                                                            : NULL;
}

/* No value inside is an output of the graph. */
static bool is_closed(const lstm *l)
{
    for (int i = 0; i < l->g->n_outputs; ++i) {
        int producer = l->g->value[l->g->output[i]].producer;
        if (producer >= 0 && l->mine[producer] && l->g->output[i] != l->y)
            return false;
    }
    return true;
}

static bool match(lstm *l, const assay_node *read)
{
    int hidden = read->out[0], cell = -1;
    const assay_node *end = NULL;

    l->hidden = read->in[0];
    take(l, read);
    /* the cell's state is what the forget gate's product reads beside the gate */
    for (int i = 0; i < l->g->n_nodes && cell < 0; ++i) {
        const assay_node *n = &l->g->node[i];
        const assay_node *before = n->op == ASSAY_OP_MUL ? maker(l, n->in[1], ASSAY_OP_READ) : NULL;
        const assay_node *gate = before ? maker(l, n->in[0], ASSAY_OP_SIGMOID) : NULL;
        const assay_node *sum = gate ? maker(l, gate->in[0], ASSAY_OP_ADD) : NULL;
        const assay_node *fc = sum ? maker(l, sum->in[1], ASSAY_OP_FC) : NULL;
        if (fc && fc->in[0] == hidden) {
            cell = n->in[1];
            l->cell = before->in[0];
            take(l, before);
        }
    }
    if (cell < 0 || count_users(l, hidden) != GATES || count_users(l, cell) != 1)
        return false;
    for (l->steps = 0; !end; ++l->steps) {
        step s;
        if (!match_gates(l, hidden, cell, &s) || !match_input(l, s.x) ||
            !match_cell(l, &s, &hidden, &cell) || !match_output(l, hidden))
            return false;
        end = assigned(l, l->hidden, hidden);
        if (!end && count_users(l, hidden) != GATES + 1)
            return false;
    }
    take(l, end);
    end = assigned(l, l->cell, cell);
    if (!end || count_users(l, hidden) != 2 || count_users(l, l->hidden) != 2 ||
        count_users(l, l->cell) != 2)
        return false;
    take(l, end);
    return l->axis < 0 || l->g->value[l->x].type.dim[l->axis] == l->steps;
}

/* The quotient by the cell's scale is cut toward zero when it is read. */
static float clip_of(const lstm *l)
{
    const assay_type *t = &l->g->value[l->sum->out[0]].type;

    if (l->sum->has_code_bounds)
        return ((float)l->sum->code_hi + 0.5F) * t->q.scale[0];
    return l->sum->act_hi < 3e38F ? l->sum->act_hi : 0;
}

/* Tensors without elements that say how the gates are quantized. */
static void add_intermediates(tfl_export *x, const assay_node *n, const lstm *l)
{
    static const char *const name[N_INTERMEDIATES] = {"input_gate", "forget_gate", "cell_gate",
                                                      "output_gate", "hidden_state"};
    int *list = tfl_room(x, N_INTERMEDIATES * sizeof *list);

    for (int i = 0; list && i < N_INTERMEDIATES; ++i) {
        assay_type type = x->g->value[i < GATES ? l->sum->out[0] : l->hidden].type;
        static const float scale = 1.0F / 4096;
        type.rank = 1;
        type.dim[0] = 0;
        if (i < GATES)
            type.q.scale = &scale;
        list[i] = tfl_extra(x, n, name[i], &type, NULL);
    }
    if (!list || x->status)
        return;
    x->op[x->n_ops - 1].intermediate = list;
    x->op[x->n_ops - 1].n_intermediates = N_INTERMEDIATES;
}

/* false: not a whole LSTM, or not its first node. */
bool tfl_export_lstm(tfl_export *x, const assay_node *n)
{
    const assay_graph *g = x->g;
    lstm l = {.g = g, .hidden = -1, .cell = -1, .x = -1, .y = -1, .axis = -1};
    int in[N_INPUTS], y;
    const assay_type *t;

    for (int k = 0; k < GATES; ++k)
        l.weights[k] = l.recurrent[k] = l.bias[k] = -1;
    if (n->op != ASSAY_OP_READ || !index_users(x, &l) || !match(&l, n) || !is_closed(&l) ||
        !tfl_starts_at_zero(&g->value[l.hidden]) || !tfl_starts_at_zero(&g->value[l.cell]))
        return false;
    for (int i = 0; i < N_INPUTS; ++i)
        in[i] = -1;
    in[0] = tfl_add_tensor(x, l.x);
    for (int k = 0; k < GATES; ++k) {
        in[1 + k] = tfl_add_tensor(x, l.weights[k]);
        in[5 + k] = tfl_add_tensor(x, l.recurrent[k]);
        in[12 + k] = tfl_add_tensor(x, l.bias[k]);
    }
    in[18] = tfl_add_tensor(x, l.hidden);
    in[19] = tfl_add_tensor(x, l.cell);
    y = tfl_add_tensor(x, l.y);
    if (x->status || in[18] < 0 || in[19] < 0)
        return true;
    x->tensor[in[18]].is_variable = x->tensor[in[19]].is_variable = true;
    t = &g->value[l.x].type;
    tfl_add_operator(x, BUILTIN_UNIDIRECTIONAL_SEQUENCE_LSTM, in, N_INPUTS, &y, 1);
    tfl_option(x, LSTM_ACTIVATION, 1, ACTIVATION_TANH);
    tfl_option_float(x, LSTM_CELL_CLIP, clip_of(&l));
    tfl_option(x, LSTM_TIME_MAJOR, 1, l.axis < 0 ? t->dim[1] != 1 : l.axis == 0);
    if (assay_is_quantized(t))
        add_intermediates(x, n, &l);
    for (int i = 0; i < g->n_nodes; ++i)
        x->written[i] = x->written[i] || l.mine[i];
    return true;
}
