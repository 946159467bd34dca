/* Admission of networks that came quantized, by what a target holds; see admit.h. */
#include <assert.h>

#include "schemes/node/admit.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "schemes/node/spec.h"
#include "schemes/record/data.h"

typedef struct asking {
    const assay_scheme *scheme;
    const assay_rule_types *types;
    const assay_rule_accepts *more, *wide; /* wide: of codes of more than 8 bits */
    char *why;
    size_t size;
} asking;

/* "KIND 'NAME' WHAT, and PRESET's KINDs are ... (types.FIELD of scheme PRESET)"; false. */
__attribute__((format(printf, 5, 6))) static bool outside(const asking *a, const char *kind,
                                                          const assay_value *v, const char *field,
                                                          const char *format, ...)
{
    char what[160];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    snprintf(a->why, a->size, "%s '%.80s' %s (%s of scheme %.60s)", kind, v->name, what, field,
             a->scheme->name);
    return false;
}

static const char *sign_word(bool is_signed)
{
    return is_signed ? "signed" : "unsigned";
}

static bool admits_zero_points(const asking *a, const char *kind, const assay_value *v,
                               int32_t rule, const char *field)
{
    const assay_elem e = v->type.elem;
    assert(e.bits >= 1 && e.bits <= 64);
    const int32_t middle = e.is_signed || e.bits > 31 ? 0 : INT32_C(1) << (e.bits - 1);
    for (size_t i = 0; i < v->type.q.count && rule != ASSAY_ZERO_POINT_ANY; i++) {
        const int32_t z = v->type.q.zero_point[i];
        if (z == 0 || (z == middle && rule == ASSAY_ZERO_POINT_MIDDLE))
            continue;
        return outside(a, kind, v, field, "has the zero point %d; the target's %s", (int)z,
                       rule == ASSAY_ZERO_POINT_NONE ? "are all 0" : "are 0 or the middle code");
    }
    return true;
}

static bool admits_scales(const asking *a, const char *kind, const assay_value *v)
{
    for (size_t i = 0; i < v->type.q.count && a->types->power_of_two_scales; i++)
        if (!assay_is_power_of_two(v->type.q.scale[i]))
            return outside(a, kind, v, "types.power_of_two_scales",
                           "has the scale %.9g, which is not a power of two",
                           (double)v->type.q.scale[i]);
    return true;
}

static bool admits_activation(const asking *a, const assay_value *v)
{
    const assay_rule_types *t = a->types;
    const assay_elem e = v->type.elem;
    const bool wide = e.bits > 8;
    const assay_rule_accepts *more = wide ? a->wide : a->more;
    const char *kind = "activation";
    if (e.bits > t->activation_bits && e.bits > more->activation_bits)
        return outside(a, kind, v, "types.activation_bits", "has %d bits, the target's have %d",
                       (int)e.bits, (int)t->activation_bits);
    if (e.is_signed != (t->activation_signed != 0) && !more->activation_either_sign)
        return outside(a, kind, v, "types.activation_signed", "is %s, the target's are %s",
                       sign_word(e.is_signed), sign_word(t->activation_signed));
    if (wide && !t->wide_zero_point)
        return admits_zero_points(a, kind, v, ASSAY_ZERO_POINT_NONE, "types.wide_zero_point") &&
               admits_scales(a, kind, v);
    return admits_zero_points(a, kind, v, t->activation_zero_point,
                              "types.activation_zero_point") &&
           admits_scales(a, kind, v);
}

/* The least and the greatest element of a constant, or of its type. */
static void range_of(const assay_value *v, int64_t *lo, int64_t *hi)
{
    const int64_t n = v->data ? assay_shape_count(&v->type) : 0;
    *lo = assay_elem_min(v->type.elem);
    *hi = assay_elem_max(v->type.elem);
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = assay_elem_get(v->type.elem, v->data, (size_t)i);
        *lo = i == 0 || x < *lo ? x : *lo;
        *hi = i == 0 || x > *hi ? x : *hi;
    }
}

/* Whether the target's weights of this width leave their least code out. */
static bool leaves_least_out(const asking *a, assay_elem e)
{
    const assay_rule_types *t = a->types;
    return t->weight_narrow && !a->more->weight_least_code && e.is_signed &&
           e.bits == t->weight_bits;
}

static bool holds(const assay_value *v, int64_t code)
{
    const int64_t n = v->data ? assay_shape_count(&v->type) : 0;
    if (assay_elem_size(v->type.elem) == 1)
        return n > 0 && memchr(v->data, (int)(code & 0xff), (size_t)n);
    for (int64_t i = 0; i < n; i++)
        if (assay_elem_get(v->type.elem, v->data, (size_t)i) == code)
            return true;
    return false;
}

static bool admits_weights(const asking *a, const assay_value *v)
{
    const assay_rule_types *t = a->types;
    const assay_elem e = v->type.elem;
    const char *kind = "weights";
    if (e.bits > t->weight_bits && e.bits > a->more->weight_bits)
        return outside(a, kind, v, "types.weight_bits", "have %d bits, the target's have %d",
                       (int)e.bits, (int)t->weight_bits);
    if (e.is_signed != (t->weight_signed != 0) && !a->more->weight_either_sign)
        return outside(a, kind, v, "types.weight_signed", "are %s, the target's are %s",
                       sign_word(e.is_signed), sign_word(t->weight_signed));
    if (v->type.q.count > 1 && t->weight_scales == ASSAY_PER_TENSOR)
        return outside(a, kind, v, "types.weight_scales", "have %zu scales, the target's have one",
                       v->type.q.count);
    const int64_t least = assay_elem_min(e);
    if (leaves_least_out(a, e) && holds(v, least))
        return outside(a, kind, v, "types.weight_narrow", "hold %lld, the target's begin at %lld",
                       (long long)least, (long long)least + 1);
    const int32_t rule = t->weight_zero_point > a->more->weight_zero_point
                             ? t->weight_zero_point
                             : a->more->weight_zero_point;
    return admits_zero_points(a, kind, v, rule, "types.weight_zero_point") &&
           admits_scales(a, kind, v);
}

/* The code of a bias whose scale is `found` is the same at `expected`: those differ as products in
 * float32 do, or by less than half a step. */
static bool is_same_code(int64_t code, double found, double expected)
{
    const double off = fabs(found - expected) / expected;
    return off <= 0x1p-20 || fabs((double)code) * off < 0.5;
}

/* A bias counts steps of the products' sum, input * weight; of weights per block deriving asks. */
static bool admits_bias_scale(const asking *a, const assay_type *x, const assay_type *w,
                              const assay_value *v)
{
    const assay_qparams *q = &v->type.q;
    if (a->more->bias_other_scale || q->granularity == ASSAY_Q_NONE || !assay_is_quantized(x) ||
        !assay_is_quantized(w) || w->q.granularity == ASSAY_Q_BLOCK)
        return true;
    for (int64_t c = 0; c < assay_shape_count(&v->type); c++) {
        const double products = (double)x->q.scale[0] * (double)w->q.scale[w->q.count > 1 ? c : 0];
        const double found = (double)q->scale[q->count > 1 ? c : 0];
        if (!is_same_code(v->data ? assay_elem_get(v->type.elem, v->data, (size_t)c) : INT32_MAX,
                          found, products))
            return outside(a, "bias", v, "accepts.bias_other_scale",
                           "has the scale %.9g in channel %lld, its products have %.9g", found,
                           (long long)c, products);
    }
    return true;
}

/* A bias may stand in a wider type than the target's when all of it fits. */
static bool admits_bias(const asking *a, const assay_value *v)
{
    const int bits = (int)a->types->bias_bits;
    int64_t lo, hi;
    assert(bits >= 1);
    if (v->type.elem.kind != ASSAY_KIND_INT || bits >= 64 ||
        (int)v->type.elem.bits <= bits - !v->type.elem.is_signed)
        return true;
    range_of(v, &lo, &hi);
    if (lo >= -(INT64_C(1) << (bits - 1)) && hi < INT64_C(1) << (bits - 1))
        return true;
    return outside(a, "bias", v, "types.bias_bits",
                   "reaches from %lld to %lld, the target's has %d bits", (long long)lo,
                   (long long)hi, bits);
}

static bool has_codes(const assay_value *v)
{
    return v && assay_is_quantized(&v->type) && !assay_is_accumulator(&v->type);
}

static bool admits_input(const asking *a, const assay_graph *g, const assay_node *n, int slot)
{
    const assay_value *v = assay_node_in(g, n, slot);
    const bool weighted = assay_op_get(n->op)->traits & ASSAY_T_WEIGHTED;
    if (v && weighted && slot == 2)
        return admits_bias(a, v) && admits_bias_scale(a, &assay_node_in(g, n, 0)->type,
                                                      &assay_node_in(g, n, 1)->type, v);
    if (!has_codes(v))
        return true;
    if (slot == 1 && (weighted || (n->op == ASSAY_OP_MATMUL && v->data)))
        return admits_weights(a, v);
    return admits_activation(a, v);
}

bool assay_scheme_admits(const assay_scheme *s, const assay_graph *g, const assay_node *n,
                         char *why, size_t size)
{
    const uint32_t traits = assay_op_get(n->op)->traits;
    assay_type in[ASSAY_SPEC_IN];
    assay_unit_spec spec;
    assay_record r, wide;
    if (!s->record || traits & ASSAY_T_MOVE || !assay_node_is_quantized(g, n) ||
        !derive_class_of(n->op).derive)
        return true;
    assay_unit_spec_fill(g, n, in, &spec);
    assay_effective_record(assay_data(s), spec.op, n->name, derive_variant_of(&spec), &r);
    assay_effective_record(assay_data(s), spec.op, n->name,
                           derive_variant_of(&spec) | ASSAY_VARIANT_WIDE, &wide);
    const asking a = {s, &r.types, &r.accepts, &wide.accepts, why, size};
    /* Constants that become floats, and gamma and beta, have types of their own. */
    const int slots = n->op == ASSAY_OP_LAYER_NORM ? 1 : n->n_in;
    if (n->op == ASSAY_OP_DEQUANTIZE && assay_node_in(g, n, 0)->data)
        return true;
    for (int i = 0; i < slots; i++)
        if (!admits_input(&a, g, n, i))
            return false;
    for (int i = 0; i < n->n_out; i++)
        if (has_codes(assay_node_out(g, n, i)) && !admits_activation(&a, assay_node_out(g, n, i)))
            return false;
    return true;
}

/* The first node that the scheme's types do not admit, and how many there are. */
static int first_outside(const assay_graph *g, const assay_scheme *s, const assay_node **first,
                         char why[ASSAY_ADMIT_WHY])
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        char other[ASSAY_ADMIT_WHY];
        if (assay_scheme_admits(s, g, &g->node[i], *first ? other : why, ASSAY_ADMIT_WHY))
            continue;
        *first = *first ? *first : &g->node[i];
        n++;
    }
    for (int i = 0; i < g->n_subgraphs; i++)
        n += first_outside(g->subgraph[i], s, first, why);
    return n;
}

assay_status assay_scheme_admits_graph(const assay_scheme *s, const assay_graph *g,
                                       assay_error *err)
{
    char why[ASSAY_ADMIT_WHY];
    const assay_node *first = NULL;
    const int n = first_outside(g, s, &first, why);
    if (n == 0)
        return ASSAY_OK;
    return assay_fail(err, ASSAY_ERR_UNSUPPORTED,
                      "node '%.80s' (%s): %s; %d of %d nodes are outside the scheme's types",
                      first->name, assay_op_get(first->op)->name, why, n,
                      assay_graph_count_nodes(g));
}
