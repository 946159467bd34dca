/* Steps of an element that was computed in floats: functions of one value and of two; products and
 * their sum. */
#include "interp/explain/forms.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/kernel/window.h"

typedef struct node_of {
    const assay_graph *g;
    const assay_node *n;
    const void *const *in;
    int64_t element;
} node_of;

static const assay_value *value_in(const node_of *k, int i)
{
    return i < k->n->n_in && k->n->in[i] != ASSAY_NO_VALUE ? assay_node_in(k->g, k->n, i) : NULL;
}

/* A float input's elements; NULL: it has none, or others. */
static const float *floats_in(const node_of *k, int i)
{
    const assay_value *v = value_in(k, i);
    if (!v || v->type.elem.kind != ASSAY_KIND_F32)
        return NULL;
    return k->in[i] ? k->in[i] : v->data;
}

/* ---- element-wise ---- */

static const char *formula(assay_op op)
{
    switch (op) {
#define FUNCTION(ID, integers, y)                                                                  \
    case ASSAY_OP_##ID:                                                                            \
        return #y;
#define FUNCTION_F32(ID, integers, y, table, engine)                                               \
    case ASSAY_OP_##ID:                                                                            \
        return #engine;
#include "schemes/derive/function.def"
#define BINARY(ID, integers, y)                                                                    \
    case ASSAY_OP_##ID:                                                                            \
        return #y;
#include "graph/core/binary.def"
    default:
        return NULL;
    }
}

/* The element of an operand that broadcasting hands to the output's. */
static int64_t broadcast(const assay_type *from, const assay_type *to, int64_t element)
{
    int64_t at = 0, step = 1;
    for (int a = to->rank - 1, b = from->rank - 1; a >= 0; a--, b--) {
        const int64_t i = element % to->dim[a];
        element /= to->dim[a];
        if (b >= 0) {
            at += from->dim[b] == 1 ? 0 : i * step;
            step *= from->dim[b];
        }
    }
    return at;
}

static void say_attributes(const node_of *k, explain_trace *t)
{
    const assay_attrs_info *info = assay_attrs_get(assay_op_get(k->n->op)->attrs);
    for (int i = 0; i < info->n_fields; i++) {
        const assay_attr_field *f = &info->field[i];
        float v;
        if (f->kind != 'F')
            continue;
        memcpy(&v, (const char *)&k->n->attr + f->offset, sizeof v);
        explain_say(t, f->name, "%.9g", (double)v);
    }
}

static bool say_elementwise(const node_of *k, explain_trace *t)
{
    static const char *const names[] = {"x", "z"};
    const assay_type *out = &assay_node_out(k->g, k->n, 0)->type;
    const char *text = formula(k->n->op);
    if (!text || k->n->n_in > 2 || out->elem.kind != ASSAY_KIND_F32)
        return false;
    for (int i = 0; i < k->n->n_in; i++)
        if (!floats_in(k, i))
            return false;
    for (int i = 0; i < k->n->n_in; i++) {
        const assay_type *type = &value_in(k, i)->type;
        const int64_t at = broadcast(type, out, k->element);
        uint32_t bits;
        char place[96];
        memcpy(&bits, &floats_in(k, i)[at], sizeof bits);
        explain_say(t, names[i], "%.9g (0x%08" PRIx32 "), '%s'%s", explain_real(bits), bits,
                    value_in(k, i)->name, explain_place(type, at, place, sizeof place));
    }
    say_attributes(k, t);
    explain_say(t, "function", "%s", text);
    return true;
}

/* ---- sums of products ---- */

typedef struct product {
    float x, w;
    int64_t channel, tap;
} product;

typedef struct products {
    product *at;
    int64_t n;
    int64_t output; /* the channel, whose bias is added */
} products;

static void add_tap(const node_of *k, const assay_window *w, int64_t cell, int64_t tap,
                    int64_t image, products *p)
{
    const assay_strides s = kernel_strides_in(w);
    const int64_t per = w->in_channels / k->n->attr.conv.group,
                  first = p->output / (w->out_channels / k->n->attr.conv.group) * per;
    int64_t input = 0, scale = 1;
    for (int d = ASSAY_SPATIAL - 1; d >= 0; d--) {
        const int64_t at =
            cell % w->out[d] * w->stride[d] - w->pad[d] + tap % w->kernel[d] * w->dilation[d];
        if (at < 0 || at >= w->in[d])
            return;
        input += at * scale;
        scale *= w->in[d];
        cell /= w->out[d];
        tap /= w->kernel[d];
    }
    const float *x = floats_in(k, 0) + image * s.image + input * s.cell;
    for (int64_t c = 0; c < per; c++)
        p->at[p->n++] = (product){.x = x[(first + c) * s.channel], .channel = c};
}

static bool gather_conv(const node_of *k, products *p)
{
    assay_window w;
    kernel_window_of_conv(&w, &k->n->attr.conv, &value_in(k, 0)->type,
                          &assay_node_out(k->g, k->n, 0)->type);
    const assay_strides s = kernel_strides_out(&w);
    const int64_t per = w.in_channels / k->n->attr.conv.group, rest = k->element % s.image,
                  cell = rest / s.cell % w.out_area;
    p->output = rest / s.channel % w.out_channels;
    p->at = calloc((size_t)(per * w.taps) + 1, sizeof *p->at);
    for (int64_t tap = 0; tap < w.taps && p->at; tap++) {
        const int64_t before = p->n;
        add_tap(k, &w, cell, tap, k->element / s.image, p);
        for (int64_t i = before; i < p->n; i++) {
            product *to = &p->at[i];
            to->tap = tap;
            to->w =
                floats_in(k, 1)[p->output * per * w.taps +
                                (w.nhwc ? tap * per + to->channel : to->channel * w.taps + tap)];
        }
    }
    return p->at != NULL;
}

static bool gather_fc(const node_of *k, products *p)
{
    const assay_type *w = &value_in(k, 1)->type;
    const int64_t outputs = w->dim[0], depth = w->dim[1], row = k->element / outputs;
    p->output = k->element % outputs;
    p->at = calloc((size_t)depth + 1, sizeof *p->at);
    for (int64_t c = 0; c < depth && p->at; c++)
        p->at[p->n++] = (product){floats_in(k, 0)[row * depth + c],
                                  floats_in(k, 1)[p->output * depth + c], c, 0};
    return p->at != NULL;
}

/* The first element of the matrix that broadcasting hands to the output's, whose own axes are
 * `axes`; `apart`: axes of the output behind the batch. */
static int64_t matrix_of(const assay_type *from, const assay_type *out, int axes, int apart,
                         int64_t batch)
{
    assay_type many = *out, of = *from;
    int64_t size = 1;
    many.rank = out->rank - apart;
    of.rank = from->rank > axes ? from->rank - axes : 0;
    for (int d = of.rank; d < from->rank; d++)
        size *= from->dim[d];
    return broadcast(&of, &many, batch) * size;
}

/* y[.., m, n] = sum over k of a[.., m, k] * b[.., k, n], as interp/float/matmul.c has it. */
static bool gather_matmul(const node_of *k, products *p)
{
    const assay_attr_matmul *m = &k->n->attr.matmul;
    const assay_type *a = &value_in(k, 0)->type, *b = &value_in(k, 1)->type;
    const assay_type *y = &assay_node_out(k->g, k->n, 0)->type;
    const bool row = a->rank == 1, column = b->rank == 1;
    const bool a_t = m->transpose_a && !row, b_t = m->transpose_b && !column;
    const int64_t lda = a->dim[a->rank - 1], ldb = column ? 1 : b->dim[b->rank - 1];
    const int64_t rows = row ? 1 : a->dim[a->rank - 2], depth = a_t ? rows : lda;
    const int64_t height = a_t ? lda : rows;
    const int64_t width = column ? 1 : b_t ? b->dim[b->rank - 2] : ldb;
    const int64_t i = k->element / width % height, j = k->element % width;
    const int64_t batch = k->element / width / height;
    const float *x = floats_in(k, 0) + matrix_of(a, y, 2, 2 - row - column, batch);
    const float *w = floats_in(k, 1) + matrix_of(b, y, 2, 2 - row - column, batch);
    p->at = calloc((size_t)depth + 1, sizeof *p->at);
    for (int64_t c = 0; c < depth && p->at; c++)
        p->at[p->n++] =
            (product){x[a_t ? c * lda + i : i * lda + c], w[b_t ? j * ldb + c : c * ldb + j], c, 0};
    return p->at != NULL;
}

static double sum_of(const products *p, int64_t begin, int64_t end)
{
    double sum = 0;
    for (int64_t i = begin; i < end; i++)
        sum += (double)p->at[i].x * (double)p->at[i].w;
    return sum;
}

static void say_products(explain_trace *t, const products *p)
{
    const int64_t group = p->n > EXPLAIN_PRODUCTS ? (p->n - 1) / EXPLAIN_PRODUCTS + 1 : 1;
    char name[96];
    for (int64_t i = 0; i < p->n; i += group) {
        const int64_t end = i + group < p->n ? i + group : p->n;
        const product *a = &p->at[i], *b = &p->at[end - 1];
        if (end - i == 1) {
            snprintf(name, sizeof name, "product c%" PRId64 " t%" PRId64, a->channel, a->tap);
            explain_say(t, name, "%.9g * %.9g = %.17g", (double)a->x, (double)a->w,
                        sum_of(p, i, end));
        } else {
            snprintf(name, sizeof name,
                     "products c%" PRId64 " t%" PRId64 " to c%" PRId64 " t%" PRId64, a->channel,
                     a->tap, b->channel, b->tap);
            explain_say(t, name, "%.17g", sum_of(p, i, end));
        }
    }
}

static void say_sum(const node_of *k, explain_trace *t, const products *p, float element)
{
    const float *bias = floats_in(k, 2);
    const double exact = sum_of(p, 0, p->n) + (bias ? (double)bias[p->output] : 0);
    double held = exact < (double)k->n->act_lo ? (double)k->n->act_lo : exact, magnitudes = 0;
    held = held > (double)k->n->act_hi ? (double)k->n->act_hi : held;
    for (int64_t i = 0; i < p->n; i++)
        magnitudes += fabs((double)p->at[i].x * (double)p->at[i].w);
    if (bias)
        explain_say(t, "bias", "%.9g", (double)bias[p->output]);
    explain_say(t, "sum", "%.17g, in double precision", exact);
    if (isfinite(k->n->act_lo) || isfinite(k->n->act_hi))
        explain_say(t, "bounds", "%.9g to %.9g: %.9g", (double)k->n->act_lo, (double)k->n->act_hi,
                    held);
    explain_say(t, "rounding", "%.3g from it; orders of addition may make up to %.3g",
                (double)element - held,
                ldexp((double)(p->n + 1), -24) *
                    (magnitudes + (bias ? fabs((double)bias[p->output]) : 0)));
}

/* How an op's products are found; NULL: it has none that this file knows. */
static bool (*gatherer_of(const node_of *k))(const node_of *, products *)
{
    return k->n->op == ASSAY_OP_CONV     ? gather_conv
           : k->n->op == ASSAY_OP_FC     ? gather_fc
           : k->n->op == ASSAY_OP_MATMUL ? gather_matmul
                                         : NULL;
}

static bool say_weighted(const node_of *k, explain_trace *t, float element)
{
    products p = {0};
    bool (*const gather)(const node_of *, products *) = gatherer_of(k);
    if (!gather || !floats_in(k, 0) || !floats_in(k, 1) || (value_in(k, 2) && !floats_in(k, 2)))
        return false;
    if (gather(k, &p)) {
        say_products(t, &p);
        say_sum(k, t, &p, element);
    } else {
        t->short_of_memory = true;
    }
    free(p.at);
    t->honest = "floats are added in the engine's order, which no scheme fixes: the sum is the "
                "products' in double precision";
    return true;
}

bool explain_float_form(explain_trace *t, const assay_graph *g, const assay_node *n,
                        const void *const *in, int64_t element)
{
    const node_of k = {g, n, in, element};
    const uint32_t bits = (uint32_t)t->value;
    float f;
    memcpy(&f, &bits, sizeof f);
    return assay_node_out(g, n, 0)->type.elem.kind == ASSAY_KIND_F32 &&
           (say_elementwise(&k, t) || say_weighted(&k, t, f));
}
