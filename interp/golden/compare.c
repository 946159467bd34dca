/* Measures between two tensors: equal codes, LSB, relative and absolute error, cosine, SQNR.
 *
 *   SQNR = 10 log10( sum a^2 / sum (a-b)^2 ),  cosine = <a,b> / (|a| |b|),  a the reference. */
#include "interp/golden/compare.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "schemes/mac/scheme.h"

int64_t golden_element_code(const assay_type *type, const void *data, int64_t i)
{
    const size_t width = assay_elem_size(type->elem);
    const uint8_t *p = (const uint8_t *)data + (size_t)i * width;
    const bool s = type->elem.is_signed && type->elem.kind != ASSAY_KIND_BOOL;

    switch (width) {
    case 1:
        return s ? (int64_t)(int8_t)*p : (int64_t)*p;
    case 2: {
        uint16_t v;
        memcpy(&v, p, sizeof v);
        return s ? (int64_t)(int16_t)v : (int64_t)v;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, p, sizeof v);
        return s ? (int64_t)(int32_t)v : (int64_t)v;
    }
    default: {
        int64_t v;
        memcpy(&v, p, sizeof v);
        return v;
    }
    }
}

/* Index into the parameters for flat element i. */
static size_t param_index(const assay_type *t, int64_t i)
{
    int64_t inner = 1;
    int64_t index;

    if (t->q.granularity == ASSAY_Q_TENSOR)
        return 0;
    for (int d = t->rank - 1; d > t->q.axis; d--)
        inner *= t->dim[d];
    index = (i / inner) % t->dim[t->q.axis];
    if (t->q.granularity == ASSAY_Q_AXIS)
        return (size_t)index;
    /* Block: parameters in C order over (outer, blocks of the axis, inner). */
    {
        const int64_t blocks = (t->dim[t->q.axis] + t->q.block - 1) / t->q.block;
        const int64_t outer = i / (inner * t->dim[t->q.axis]);
        return (size_t)((outer * blocks + index / t->q.block) * inner + i % inner);
    }
}

/* A pattern's number, exact; NaN where it is none. */
static double small_float_real(assay_elem e, uint32_t pattern)
{
    enum assay_mac_format f = ASSAY_MAC_F32;
    mac_format_of(e, &f);
    const assay_mac_value v = mac_decode(f, pattern);
    const double magnitude = v.kind == ASSAY_MAC_NAN   ? (double)NAN
                             : v.kind == ASSAY_MAC_INF ? (double)INFINITY
                                                       : ldexp((double)v.significand, v.exponent);
    return v.negative ? -magnitude : magnitude;
}

/* A pattern's rank among the numbers of its format, counted from zero: neighbours are one step
 * apart, and both zeros have rank 0. */
static int64_t small_float_step(assay_elem e, int64_t pattern)
{
    assert(e.bits >= 1 && e.bits <= 32);
    const int64_t sign = INT64_C(1) << (e.bits - 1);
    if (e.kind == ASSAY_KIND_F8E8M0)
        return pattern;
    if (e.kind == ASSAY_KIND_INT8MX)
        return pattern & sign ? pattern - 2 * sign : pattern;
    if (e.kind == ASSAY_KIND_TF32) /* of its 19 bits */
        return pattern & sign ? -((pattern - sign) >> 13) : pattern >> 13;
    return pattern & sign ? sign - pattern : pattern;
}

double golden_element_real(const assay_type *type, const void *data, int64_t i)
{
    if (type->elem.kind == ASSAY_KIND_F32) {
        float f;
        memcpy(&f, (const uint8_t *)data + (size_t)i * sizeof f, sizeof f);
        return (double)f;
    }
    {
        const int64_t code = golden_element_code(type, data, i);
        size_t k;
        if (assay_is_small_float(type->elem))
            return small_float_real(type->elem, (uint32_t)code);
        if (!assay_is_quantized(type))
            return (double)code;
        k = param_index(type, i);
        return (double)type->q.scale[k] * (double)(code - type->q.zero_point[k]);
    }
}

/* Same value and sign (0 and -0 differ, as their bits do); any NaN equals any NaN. */
static bool equal_reals(double a, double b)
{
    return (a == b && signbit(a) == signbit(b)) || (isnan(a) && isnan(b));
}

/* Errors of values that are not the same. 0 and -0 are at distance 0; NaN is infinitely far from
 * any number, and so is infinity. */
static void measure(assay_element_error *e)
{
    const double apart = fabs(e->a - e->b);
    e->abs = isnan(apart) ? (double)INFINITY : apart;
    e->rel = e->abs == 0.0                  ? 0.0
             : isinf(e->a) || isinf(e->abs) ? (double)INFINITY
                                            : e->abs / fabs(e->a);
}

static bool elementwise(const assay_thresholds *l)
{
    return l->max_lsb >= 0.0 || l->rel >= 0.0 || l->abs >= 0.0;
}

/* When only a whole-tensor measure is asked for, it alone decides. */
static bool only_whole_tensor(const assay_thresholds *l)
{
    return !elementwise(l) && (l->cosine >= 0.0 || l->sqnr >= 0.0);
}

/* Steps between two patterns of one format; NaN is infinitely far from any number. */
static double small_float_lsb(const assay_type *type_a, const void *a, const assay_type *type_b,
                              const void *b, int64_t i, const assay_element_error *e)
{
    if (isnan(e->a) || isnan(e->b))
        return isnan(e->a) && isnan(e->b) ? 0.0 : (double)INFINITY;
    return fabs((double)small_float_step(type_a->elem, golden_element_code(type_a, a, i)) -
                (double)small_float_step(type_b->elem, golden_element_code(type_b, b, i)));
}

/* Element i beside one of type `other`: where that is a float, the real value of a code is what
 * dequantizing it gives, rounded to binary32. */
static double real_beside(const assay_type *other, const assay_type *type, const void *data,
                          int64_t i)
{
    const double real = golden_element_real(type, data, i);
    return other->elem.kind == ASSAY_KIND_F32 && assay_is_quantized(type) ? (double)(float)real
                                                                          : real;
}

assay_element_error golden_element_compare(const assay_type *type_a, const void *a,
                                           const assay_type *type_b, const void *b, int64_t i,
                                           const assay_thresholds *limits)
{
    const bool codes = type_a->elem.kind != ASSAY_KIND_F32 && type_b->elem.kind != ASSAY_KIND_F32;
    assay_element_error e = {.a = real_beside(type_b, type_a, a, i),
                             .b = real_beside(type_a, type_b, b, i)};

    if (!equal_reals(e.a, e.b))
        measure(&e);
    if (codes && assay_is_small_float(type_a->elem) && assay_elem_equal(type_a->elem, type_b->elem))
        e.lsb = small_float_lsb(type_a, a, type_b, b, i, &e);
    else if (codes)
        e.lsb = fabs((double)golden_element_code(type_a, a, i) -
                     (double)golden_element_code(type_b, b, i));
    e.same = codes && !assay_is_small_float(type_a->elem) ? e.lsb == 0.0 : equal_reals(e.a, e.b);
    e.good = e.same || only_whole_tensor(limits) ||
             (codes && limits->max_lsb >= 0.0 && e.lsb <= limits->max_lsb) ||
             (limits->rel >= 0.0 && e.rel <= limits->rel) ||
             (limits->abs >= 0.0 && e.abs <= limits->abs);
    return e;
}

typedef struct sums {
    double aa, bb, ab, noise;
    bool beyond; /* some element is no finite number on one side alone, or not the same on both */
} sums;

/* Elements that are equal and not finite are left out of cosine and SQNR. */
static void add_element(sums *s, const assay_element_error *e)
{
    if (!isfinite(e->a) || !isfinite(e->b)) {
        s->beyond = s->beyond || e->abs != 0.0;
        return;
    }
    s->aa += e->a * e->a;
    s->bb += e->b * e->b;
    s->ab += e->a * e->b;
    s->noise += e->abs * e->abs;
}

static void finish(const assay_thresholds *limits, const sums *s, assay_comparison *out)
{
    if (s->beyond)
        out->cosine = 0.0;
    else if (s->aa == 0.0 && s->bb == 0.0)
        out->cosine = 1.0;
    else if (s->aa == 0.0 || s->bb == 0.0)
        out->cosine = 0.0;
    else
        out->cosine = s->ab / (sqrt(s->aa) * sqrt(s->bb));
    out->sqnr = s->beyond         ? -(double)INFINITY
                : s->noise == 0.0 ? (double)INFINITY
                                  : 10.0 * log10(s->aa / s->noise);
    if (limits->cosine >= 0.0 && !(out->cosine >= limits->cosine))
        out->pass = false;
    if (limits->sqnr >= 0.0 && !(out->sqnr >= limits->sqnr))
        out->pass = false;
}

assay_status assay_compare(const assay_type *type_a, const void *a, const assay_type *type_b,
                           const void *b, const assay_thresholds *limits, assay_comparison *out,
                           assay_error *err)
{
    const bool whole_only = only_whole_tensor(limits);
    sums s = {0};

    if (!assay_shape_equal(type_a, type_b))
        return assay_fail(err, ASSAY_ERR_INPUT, "the shapes differ");
    memset(out, 0, sizeof *out);
    out->elements = assay_shape_count(type_a);
    out->first = -1;
    out->pass = true;
    for (int64_t i = 0; i < out->elements; i++) {
        const assay_element_error e = golden_element_compare(type_a, a, type_b, b, i, limits);

        if (!e.same)
            out->differing++;
        if (!e.good) {
            out->mismatches++;
            out->pass = false;
        }
        if (!e.good || (whole_only && !e.same))
            out->first = out->first < 0 ? i : out->first;
        if (e.lsb > out->max_lsb)
            out->max_lsb = e.lsb;
        if (e.abs > out->max_abs)
            out->max_abs = e.abs;
        if (e.rel > out->max_rel)
            out->max_rel = e.rel;
        add_element(&s, &e);
    }
    finish(limits, &s, out);
    return ASSAY_OK;
}
