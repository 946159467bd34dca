/* Sums of products: their channels, biases, extremes, and the accumulators that can occur. */
#include "opt/prove/products.h"

#include "graph/core/type.h"
#include "opt/lower/pass.h"
#include "schemes/node/spec.h"

static int64_t zero_point(const assay_type *t, int64_t channel)
{
    return !t->q.zero_point ? 0 : t->q.zero_point[t->q.count > 1 ? channel : 0];
}

/* Weights stand as I,O/group,k... */
static bool first_to_last(const assay_node *n)
{
    return n->op == ASSAY_OP_CONV_TRANSPOSE && n->attr.conv.layout == ASSAY_LAYOUT_NCHW;
}

int64_t prove_product_channels(const assay_graph *g, const assay_node *n)
{
    const assay_type *w = &g->value[n->in[1]].type;
    if (n->op == ASSAY_OP_MATMUL) /* columns are alike but for their parameters */
        return w->q.count > 1 ? (int64_t)w->q.count : 1;
    return first_to_last(n) ? w->dim[1] * n->attr.conv.group : w->dim[0];
}

bool prove_product_bias(const assay_graph *g, const assay_node *n, int64_t channel, int64_t *bias)
{
    int b = n->n_in > 2 ? n->in[2] : ASSAY_NO_VALUE;
    *bias = 0;
    if (b < 0)
        return true;
    if (lower_is_constant(g, b))
        *bias = assay_elem_get(g->value[b].type.elem, g->value[b].data, (size_t)channel);
    return lower_is_constant(g, b);
}

/* Adds a product of e in lo..hi and a centred weight in w_lo..w_hi, `count` times. */
static void add_product(assay_extremes *e, int64_t lo, int64_t hi, int64_t w_lo, int64_t w_hi,
                        int64_t count)
{
    int64_t p[4] = {lo * w_lo, lo * w_hi, hi * w_lo, hi * w_hi}, least = p[0], max = p[0];
    for (int i = 1; i < 4; i++) {
        least = p[i] < least ? p[i] : least;
        max = p[i] > max ? p[i] : max;
    }
    least = least > 0 ? 0 : least; /* a cell of padding adds nothing */
    max = max < 0 ? 0 : max;
    e->lo += least * count;
    e->hi += max * count;
    e->magnitude += (max > -least ? max : -least) * count;
}

static int64_t depth_of(const assay_graph *g, const assay_node *n)
{
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_unit_spec_fill(g, n, in, &spec);
    return spec.depth;
}

/* Where weight i of a channel stands. */
static int64_t weight_of(const assay_value *w, const assay_node *n, int64_t channel, int64_t depth,
                         int64_t i)
{
    if (!first_to_last(n))
        return channel * depth + i;
    const int64_t outputs = w->type.dim[1], inputs = w->type.dim[0] / n->attr.conv.group;
    const int64_t taps = depth / inputs;
    const int64_t input = channel / outputs * inputs + i / taps;
    return (input * outputs + channel % outputs) * taps + i % taps;
}

assay_extremes prove_product_extremes(const assay_graph *g, const assay_node *n, int64_t lo,
                                      int64_t hi, int64_t channel)
{
    const assay_value *w = &g->value[n->in[1]];
    int64_t zw = zero_point(&w->type, channel), depth = depth_of(g, n);
    assay_extremes e = {0, 0, 0};
    if (!lower_is_constant(g, n->in[1]) || n->op == ASSAY_OP_MATMUL) {
        add_product(&e, lo, hi, assay_elem_min(w->type.elem) - zw,
                    assay_elem_max(w->type.elem) - zw, depth);
        return e;
    }
    for (int64_t i = 0; i < depth; i++) {
        const size_t at = (size_t)weight_of(w, n, channel, depth, i);
        int64_t c = assay_elem_get(w->type.elem, w->data, at) - zw;
        add_product(&e, lo, hi, c, c, 1);
    }
    return e;
}

/* Greatest magnitude of a raw code; bytes may be moved up to unsigned. */
static int64_t raw_of(const assay_type *t)
{
    return INT64_C(1) << (t->elem.bits < 9 ? 8 : t->elem.bits);
}

/* Least and greatest of what is added to the sums of a channel: what node n adds, or what stands
 * behind it. */
static void bias_range(const assay_graph *g, const assay_node *n, int behind, int64_t channel,
                       int64_t *least, int64_t *max)
{
    const int b = behind >= 0 ? behind : n->n_in > 2 ? n->in[2] : ASSAY_NO_VALUE;
    if (behind < 0 && prove_product_bias(g, n, channel, least)) {
        *max = *least;
        return;
    }
    const assay_type *t = &g->value[b].type;
    *least = assay_elem_min(t->elem);
    *max = assay_elem_max(t->elem);
    for (int64_t i = 0; lower_is_constant(g, b) && i < assay_shape_count(t); i++) {
        const int64_t code = assay_elem_get(t->elem, g->value[b].data, (size_t)i);
        *least = i == 0 || code < *least ? code : *least;
        *max = i == 0 || code > *max ? code : *max;
    }
}

assay_status prove_product_reach(const assay_graph *g, const assay_node *n, int behind,
                                 const assay_scheme *s, const assay_unit *u, assay_sums *sums,
                                 assay_error *err)
{
    const assay_type *x = &g->value[n->in[0]].type, *w = &g->value[n->in[1]].type;
    const int b = n->n_in > 2 ? n->in[2] : ASSAY_NO_VALUE;
    const int64_t zx = zero_point(x, 0);
    if (x->elem.bits > 16 || w->elem.bits > 16 || depth_of(g, n) > INT64_C(1) << 18 ||
        (b >= 0 && g->value[b].type.elem.bits > 48))
        return assay_fail(err, ASSAY_ERR_LIMIT, "node '%s': sums too wide for an interval",
                          n->name);
    *sums = (assay_sums){.pair = 2 * raw_of(x) * raw_of(w)};
    assay_interval *r = &sums->reach;
    for (int64_t c = 0, channels = prove_product_channels(g, n); c < channels; c++) {
        int64_t least, max;
        assay_extremes e = prove_product_extremes(g, n, assay_elem_min(x->elem) - zx,
                                                  assay_elem_max(x->elem) - zx, c);
        bias_range(g, n, behind, c, &least, &max);
        e.magnitude += max > -least ? max : -least;
        r->lo = e.lo + least < r->lo ? e.lo + least : r->lo;
        r->hi = e.hi + max > r->hi ? e.hi + max : r->hi;
        sums->greatest = e.magnitude > sums->greatest ? e.magnitude : sums->greatest;
    }
    return prove_sums_apply_overflow(s, u, sums, err);
}
