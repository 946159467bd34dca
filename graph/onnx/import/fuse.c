/* Patterns that exporters write for operators that their opset lacks:
 *
 *   GELU         0.5 * x * (1 + erf(x / sqrt(2)))
 *                0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
 *   hard swish   x * hard_sigmoid(x; 1/6, 1/2),  x * clip(x + 3, 0, 6) / 6
 *   layer norm   (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) [* scale [+ bias]]
 *
 * A pattern is replaced only when every value inside it has no other use. Its last node becomes the
 * op, so the result keeps its name. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/import/import.h"

typedef struct fuser {
    assay_graph *g;
    int *uses;     /* of each value, graph outputs included */
    int *consumer; /* the last node that uses a value, or -1 */
    bool *dead;
    int mark[16]; /* inner nodes of the pattern being matched */
    int n_marks;
} fuser;

/* The node that makes v when it is `op`, else NULL. */
static const assay_node *made_by(const fuser *f, int v, assay_op op)
{
    int p = v >= 0 ? f->g->value[v].producer : -1;
    return p >= 0 && !f->dead[p] && f->g->node[p].op == op ? &f->g->node[p] : NULL;
}

/* Remembers an inner node; false when there are too many. */
static bool inner(fuser *f, const assay_node *n)
{
    if (f->n_marks == (int)(sizeof f->mark / sizeof f->mark[0]))
        return false;
    f->mark[f->n_marks++] = (int)(n - f->g->node);
    return true;
}

/* v is made by `op` and used once: an inner value of a pattern. */
static const assay_node *step_back(fuser *f, int v, assay_op op)
{
    const assay_node *n = made_by(f, v, op);
    return n && f->uses[v] == 1 && inner(f, n) ? n : NULL;
}

/* The only node that uses v, when it is `op`. */
static const assay_node *step_on(const fuser *f, int v, assay_op op)
{
    int c = f->uses[v] == 1 ? f->consumer[v] : -1;
    return c >= 0 && !f->dead[c] && f->g->node[c].op == op ? &f->g->node[c] : NULL;
}

/* v is a constant of one element that is `value`, as near as float32 exporters write it. */
static bool is_number(const fuser *f, int v, double value)
{
    const assay_value *c = v >= 0 ? &f->g->value[v] : NULL;

    return c && c->data && c->type.elem.kind == ASSAY_KIND_F32 &&
           assay_shape_count(&c->type) == 1 &&
           fabs((double)*(const float *)c->data - value) <= 1e-6 * fabs(value);
}

/* The other operand of a commutative node that has `v`; -1 when it has not. */
static int other(const assay_node *n, int v)
{
    return n->in[0] == v ? n->in[1] : n->in[1] == v ? n->in[0] : -1;
}

/* The operand that goes with the number; -1 when neither operand is that. */
static int beside_number(const fuser *f, const assay_node *n, double value)
{
    return is_number(f, n->in[1], value) ? n->in[0] : is_number(f, n->in[0], value) ? n->in[1] : -1;
}

/* The inner nodes go, and node `last` becomes `op` of the inputs. */
static bool replace(fuser *f, const assay_node *last, assay_op op, const int *in, int n_in,
                    const assay_attrs *attr)
{
    assay_node *n = &f->g->node[last - f->g->node];
    int *copy = assay_arena_copy(f->g->arena, in, (size_t)n_in * sizeof *in);

    if (!copy)
        return false;
    for (int i = 0; i < f->n_marks; i++)
        f->dead[f->mark[i]] = true;
    f->dead[n - f->g->node] = false;
    n->op = op;
    n->in = copy;
    n->n_in = n_in;
    n->attr = *attr;
    return true;
}

static bool same_shape(const fuser *f, int a, int b)
{
    return assay_shape_equal(&f->g->value[a].type, &f->g->value[b].type);
}

/* From a = 1 + erf(...) or 1 + tanh(...): the last node of x * a * 0.5 in any order, or NULL. */
static const assay_node *gelu_tail(fuser *f, int a, int x)
{
    const assay_node *m = step_on(f, a, ASSAY_OP_MUL), *last, *half;
    int with;

    if (!m)
        return NULL;
    with = other(m, a);
    if (with == x || is_number(f, with, 0.5)) {
        last = step_on(f, m->out[0], ASSAY_OP_MUL);
        if (!last || !inner(f, m))
            return NULL;
        with = other(last, m->out[0]);
        return is_number(f, with, 0.5) != (with == x) &&
                       (with == x) == is_number(f, other(m, a), 0.5)
                   ? last
                   : NULL;
    }
    half = step_back(f, with, ASSAY_OP_MUL);
    return half && beside_number(f, half, 0.5) == x ? m : NULL;
}

static bool finish_gelu(fuser *f, const assay_node *curve, int x, int form)
{
    const assay_node *one = step_on(f, curve->out[0], ASSAY_OP_ADD), *last;
    assay_attrs attr = {.gelu = {.approximate = form}};

    if (!one || beside_number(f, one, 1) != curve->out[0] || !inner(f, curve) || !inner(f, one))
        return false;
    last = gelu_tail(f, one->out[0], x);
    return last && same_shape(f, last->out[0], x) && replace(f, last, ASSAY_OP_GELU, &x, 1, &attr);
}

static bool match_erf_gelu(fuser *f, const assay_node *erf)
{
    const assay_node *scaled = step_back(f, erf->in[0], ASSAY_OP_DIV);
    int x = -1;

    if (scaled && is_number(f, scaled->in[1], sqrt(2)))
        x = scaled->in[0];
    else if (!scaled && (scaled = step_back(f, erf->in[0], ASSAY_OP_MUL)))
        x = beside_number(f, scaled, sqrt(0.5));
    return x >= 0 && finish_gelu(f, erf, x, ASSAY_GELU_NONE);
}

/* x where v is x^3, else -1. */
static int cube_root(fuser *f, int v)
{
    const assay_node *n = step_back(f, v, ASSAY_OP_POW), *square;

    if (n)
        return is_number(f, n->in[1], 3) ? n->in[0] : -1;
    n = step_back(f, v, ASSAY_OP_MUL);
    for (int i = 0; n && i < 2; i++) {
        square = made_by(f, n->in[i], ASSAY_OP_MUL);
        if (square && square->in[0] == square->in[1] && square->in[0] == n->in[1 - i] &&
            step_back(f, n->in[i], ASSAY_OP_MUL))
            return square->in[0];
    }
    return -1;
}

static bool match_tanh_gelu(fuser *f, const assay_node *tanh)
{
    const double c = sqrt(2 / acos(-1));
    const assay_node *scaled = step_back(f, tanh->in[0], ASSAY_OP_MUL), *sum, *term;
    int v = scaled ? beside_number(f, scaled, c) : -1;

    sum = step_back(f, v, ASSAY_OP_ADD);
    for (int i = 0; sum && i < 2; i++) {
        int x = sum->in[i], before = f->n_marks;
        term = step_back(f, sum->in[1 - i], ASSAY_OP_MUL);
        v = term ? beside_number(f, term, 0.044715) : -1;
        if (v >= 0 && cube_root(f, v) == x)
            return finish_gelu(f, tanh, x, ASSAY_GELU_TANH);
        f->n_marks = before;
    }
    return false;
}

static bool is_close(float a, double b)
{
    return fabs((double)a - b) <= 1e-6;
}

/* Anchored at the hard sigmoid. */
static bool match_hard_swish(fuser *f, const assay_node *h)
{
    const assay_node *m = step_on(f, h->out[0], ASSAY_OP_MUL);
    const assay_attrs none = {.none = {0}};

    return is_close(h->attr.alpha_beta.alpha, 1.0 / 6) && is_close(h->attr.alpha_beta.beta, 0.5) &&
           m && other(m, h->out[0]) == h->in[0] && inner(f, h) &&
           replace(f, m, ASSAY_OP_HARD_SWISH, h->in, 1, &none);
}

/* Anchored at the clip: x * clip / 6 or x * (clip / 6). */
static bool match_relu6_swish(fuser *f, const assay_node *clip)
{
    const assay_node *shift, *last;
    const assay_attrs none = {.none = {0}};
    int x, v = clip->out[0];

    if (clip->attr.clip.lo != 0 || clip->attr.clip.hi != 6)
        return false;
    shift = step_back(f, clip->in[0], ASSAY_OP_ADD);
    x = shift ? beside_number(f, shift, 3) : -1;
    if (x < 0 || !inner(f, clip))
        return false;
    for (int i = 0, divided = 0, multiplied = 0; i < 2; i++) {
        if (!divided && (last = step_on(f, v, ASSAY_OP_DIV)) && last->in[0] == v &&
            is_number(f, last->in[1], 6))
            divided = 1;
        else if (!multiplied && (last = step_on(f, v, ASSAY_OP_MUL)) && other(last, v) == x)
            multiplied = 1;
        else
            return false;
        if (i == 1)
            return same_shape(f, last->out[0], x) &&
                   replace(f, last, ASSAY_OP_HARD_SWISH, &x, 1, &none);
        if (!inner(f, last))
            return false;
        v = last->out[0];
    }
    return false;
}

/* The first axis when v is the mean of `of` over all axes from it to the last, else -1. */
static int mean_axis(const fuser *f, int v, int of)
{
    const assay_node *n = made_by(f, v, ASSAY_OP_REDUCE_MEAN);
    const assay_attr_reduce *a = n ? &n->attr.reduce : NULL;
    int rank;

    if (!n || n->in[0] != of || !a->keepdims || a->axes.n == 0)
        return -1;
    rank = f->g->value[of].type.rank;
    for (int i = 0; i < a->axes.n; i++)
        if (a->axes.v[i] != rank - a->axes.n + i)
            return -1;
    return rank - a->axes.n;
}

/* v = x - mean(x) over the axes from *axis on: returns x, else -1. Marks both nodes. */
static int centred(fuser *f, int v, int *axis)
{
    const assay_node *sub = made_by(f, v, ASSAY_OP_SUB);

    *axis = sub ? mean_axis(f, sub->in[1], sub->in[0]) : -1;
    if (*axis < 0 || !inner(f, sub) || !inner(f, made_by(f, sub->in[1], ASSAY_OP_REDUCE_MEAN)))
        return -1;
    return sub->in[0];
}

/* v when it is d^2 for some d, which is returned; else -1. */
static int square_root(fuser *f, int v)
{
    const assay_node *n = step_back(f, v, ASSAY_OP_POW);

    if (n)
        return is_number(f, n->in[1], 2) ? n->in[0] : -1;
    if ((n = step_back(f, v, ASSAY_OP_SQUARE)))
        return n->in[0];
    n = step_back(f, v, ASSAY_OP_MUL);
    return n && n->in[0] == n->in[1] ? n->in[0] : -1;
}

/* A constant with the shape of x from `axis` on. */
static bool fits_axes(const fuser *f, int v, int x, int axis)
{
    const assay_value *c = v >= 0 ? &f->g->value[v] : NULL;
    const assay_type *t = &f->g->value[x].type;

    if (!c || !c->data || c->type.rank != t->rank - axis || c->type.elem.kind != ASSAY_KIND_F32)
        return false;
    for (int i = axis; i < t->rank; i++)
        if (c->type.dim[i - axis] != t->dim[i])
            return false;
    return true;
}

/* Every use of the values that the marked nodes make is by a marked node or by `last`. */
static bool closed(const fuser *f, const assay_node *last)
{
    for (int i = 0; i < f->n_marks; i++) {
        int v = f->g->node[f->mark[i]].out[0], inside = 0;
        for (int k = 0; k < f->n_marks; k++) {
            bool twice = false;
            for (int j = 0; j < k; j++)
                twice = twice || f->mark[j] == f->mark[k];
            const assay_node *n = &f->g->node[f->mark[k]];
            for (int j = 0; j < n->n_in && !twice && n != last; j++)
                inside += n->in[j] == v;
        }
        for (int j = 0; j < last->n_in; j++)
            inside += last->in[j] == v;
        if (inside != f->uses[v])
            return false;
    }
    return true;
}

/* Anchored at the division by the deviation. */
static bool match_layer_norm(fuser *f, const assay_node *div)
{
    const assay_node *root = step_back(f, div->in[1], ASSAY_OP_SQRT), *sum, *mean, *last = div;
    int axis, axis2, x, d, in[3], n_in = 1;
    assay_attrs attr = {.norm = {.axis = 0}};

    sum = root ? step_back(f, root->in[0], ASSAY_OP_ADD) : NULL;
    if (!sum)
        return false;
    int eps = f->g->value[sum->in[1]].data ? sum->in[1] : sum->in[0];
    const assay_value *e = &f->g->value[eps];
    if (!e->data || e->type.elem.kind != ASSAY_KIND_F32 || assay_shape_count(&e->type) != 1)
        return false;
    mean = step_back(f, other(sum, eps), ASSAY_OP_REDUCE_MEAN);
    d = mean ? square_root(f, mean->in[0]) : -1;
    if (d < 0)
        return false;
    x = centred(f, div->in[0], &axis);
    if (x < 0 || centred(f, d, &axis2) != x || axis2 != axis ||
        mean_axis(f, mean->out[0], mean->in[0]) != axis)
        return false;
    if (!closed(f, div))
        return false;
    in[0] = x;
    const assay_node *scale = step_on(f, div->out[0], ASSAY_OP_MUL);
    if (scale && fits_axes(f, other(scale, div->out[0]), x, axis) && inner(f, div)) {
        in[n_in++] = other(scale, div->out[0]);
        last = scale;
        const assay_node *bias = step_on(f, scale->out[0], ASSAY_OP_ADD);
        if (bias && fits_axes(f, other(bias, scale->out[0]), x, axis) && inner(f, scale)) {
            in[n_in++] = other(bias, scale->out[0]);
            last = bias;
        }
    }
    attr.norm.axis = axis;
    attr.norm.epsilon = *(const float *)e->data;
    return replace(f, last, ASSAY_OP_LAYER_NORM, in, n_in, &attr);
}

static bool match(fuser *f, const assay_node *n)
{
    f->n_marks = 0;
    switch (n->op) {
    case ASSAY_OP_ERF:
        return match_erf_gelu(f, n);
    case ASSAY_OP_TANH:
        return match_tanh_gelu(f, n);
    case ASSAY_OP_HARD_SIGMOID:
        return match_hard_swish(f, n);
    case ASSAY_OP_CLIP:
        return match_relu6_swish(f, n);
    case ASSAY_OP_DIV:
        return match_layer_norm(f, n);
    default:
        return false;
    }
}

assay_status onnx_fuse(assay_graph *g, assay_error *err)
{
    size_t values = (size_t)g->n_values + 1, nodes = (size_t)g->n_nodes + 1;
    fuser f = {.g = g,
               .uses = calloc(values, sizeof(int)),
               .consumer = calloc(values, sizeof(int)),
               .dead = calloc(nodes, sizeof(bool))};
    assay_status s = ASSAY_OK;
    int fused = 0;

    if (!f.uses || !f.consumer || !f.dead) {
        s = assay_out_of_memory(err);
    } else {
        for (int i = 0; i < g->n_nodes; i++)
            for (int k = 0; k < g->node[i].n_in; k++)
                if (g->node[i].in[k] >= 0) {
                    f.uses[g->node[i].in[k]]++;
                    f.consumer[g->node[i].in[k]] = i;
                }
        for (int i = 0; i < g->n_outputs; i++)
            f.uses[g->output[i]]++;
        /* A graph output with one use has no consumer: node 0 cannot use what is made later. */
        for (int i = 0; i < g->n_outputs; i++)
            f.consumer[g->output[i]] = -1;
        for (int i = 0; i < g->n_nodes; i++)
            if (!f.dead[i] && match(&f, &g->node[i]))
                fused++;
        if (fused > 0)
            s = assay_graph_compact(g, f.dead, err);
    }
    free(f.uses);
    free(f.consumer);
    free(f.dead);
    return s;
}
