/* Tables of functions of one code. The functions themselves are the C library's: an entry can
 * only differ between libraries when it lies within about 1e-7 of a rounding tie. */
#include <assert.h>
#include <math.h>

#include "graph/core/attr.h"
#include "graph/core/type.h"
#include "schemes/apply/tail.h"
#include "schemes/derive/derive.h"
#include "schemes/derive/mlas.h"

bool derive_keeps_value(enum assay_op op)
{
    return op == ASSAY_OP_RESCALE || op == ASSAY_OP_RELU || op == ASSAY_OP_CLIP ||
           op == ASSAY_OP_MAX_POOL || op == ASSAY_OP_REDUCE_MAX || op == ASSAY_OP_REDUCE_MIN ||
           op == ASSAY_OP_RESIZE;
}

bool derive_is_function(enum assay_op op)
{
    switch (op) {
#define FUNCTION(ID, integers, y) case ASSAY_OP_##ID:
#include "schemes/derive/function.def"
        return true;
    default:
        return false;
    }
}

static double gelu_tanh(double x)
{
    return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}

static float gelu_tanhf(float x)
{
    float cube = x * x * x;
    return 0.5f * x * (1.0f + tanhf(0.797884583f * (x + 0.044715f * cube)));
}

/* NaN where op is no function that this file knows: then there is no table (derive_table). */
static double evaluate64(enum assay_op op, const assay_unit_spec *s, double x)
{
    const double alpha = s->alpha, beta = s->beta;
    const bool by_tanh = s->flag == ASSAY_GELU_TANH;
    switch (op) {
#define FUNCTION(ID, integers, y)                                                                  \
    case ASSAY_OP_##ID:                                                                            \
        return y;
#include "schemes/derive/function.def"
    default:
        return derive_keeps_value(op) ? x : (double)NAN;
    }
}

#define ROUNDED ((float)evaluate64(op, s, (double)x))

/* False: not a function that MLAS has an approximation of. */
static bool evaluate_mlas(enum assay_op op, const assay_unit_spec *s, float *value)
{
    const float x = *value;
    const bool by_tanh = s->flag == ASSAY_GELU_TANH;
    switch (op) {
#define FUNCTION_F32(ID, integers, y, table, engine)
#define FUNCTION_MLAS(ID, integers, y, table, engine)                                              \
    case ASSAY_OP_##ID:                                                                            \
        *value = engine;                                                                           \
        return true;
#include "schemes/derive/function.def"
    default:
        return false;
    }
}

/* Tables of precision f32. */
static float evaluate32(const assay_record *rec, enum assay_op op, const assay_unit_spec *s,
                        float x)
{
    const float alpha = (float)s->alpha;
    const bool by_tanh = s->flag == ASSAY_GELU_TANH;
    if (rec->table.sigmoid == ASSAY_SIGMOID_RATIONAL && evaluate_mlas(op, s, &x))
        return x;
    switch (op) {
#define FUNCTION_F32(ID, integers, y, table, engine)                                               \
    case ASSAY_OP_##ID:                                                                            \
        return table;
#include "schemes/derive/function.def"
    default:
        return ROUNDED;
    }
}

#undef ROUNDED

/* Real to code by the table's rule; what is not a number becomes what convert.nan says. */
static int64_t to_code(const assay_derive *d, float f, const assay_teller *t)
{
    const assay_rule_table *k = &d->u->rec.table;
    const assay_rescale *o = &d->u->scale[ASSAY_OUT];
    float scale = derive_scale_of(d->spec->out), zero = (float)o->zero_point;
    enum assay_rounding mode = (enum assay_rounding)k->round;
    float v = k->division == ASSAY_SCALE_DIVIDE ? f / scale : f * (1.0f / scale);
    apply_tell_float(t, k->division == ASSAY_SCALE_DIVIDE ? "over the scale" : "times 1 / scale",
                     v);
    if (isnan(v)) {
        const bool least = d->u->rec.convert.nan == ASSAY_NAN_LEAST;
        const int64_t code = least ? o->lo : apply_clamp_to(o->zero_point, o->lo, o->hi);
        apply_tell(t, "what is not a number", code);
        return code;
    }
    const bool inside = k->zero_point == ASSAY_ZERO_INSIDE;
    const uint32_t bits = derive_bits_of(inside ? v + zero : v);
    const int64_t code = apply_f32_to_int(bits, mode, INT32_MIN, apply_float_max(o), 0);
    if (inside)
        apply_tell_f32(t, "plus zero point", bits);
    apply_tell_rounded(t, bits, code, mode);
    if (!inside)
        apply_tell_sum(t, "plus zero point", code, o->zero_point);
    const int32_t stored = apply_tell_store(t, o, inside ? code : code + o->zero_point);
    return o->out_bits == 32 && !o->out_signed ? (uint32_t)stored : (int64_t)stored;
}

static assay_status full(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_type *in = &d->spec->in[0];
    float scale = derive_scale_of(in);
    int64_t lo = assay_elem_min(in->elem), hi = assay_elem_max(in->elem);
    assert(in->elem.bits <= 16);
    int64_t *table = derive_unit_array(u, "table", (size_t)(hi - lo + 1));
    if (!table)
        return derive_memory(d);
    float running = scale * (float)(lo - u->in_zero[0]);
    for (int64_t q = lo; q <= hi; q++) {
        float x = u->rec.table.accumulate_input ? running : scale * (float)(q - u->in_zero[0]);
        float f = u->rec.table.precision == ASSAY_PRECISION_F32
                      ? evaluate32(&u->rec, u->op, d->spec, x)
                      : (float)evaluate64(u->op, d->spec, (double)x);
        const assay_teller *t = derive_teller(d, q - lo);
        apply_tell_sum(t, "minus zero point", q, -u->in_zero[0]);
        apply_tell_float(t, "times the input's scale", x);
        apply_tell_float(t, "function", f);
        table[q - lo] = to_code(d, f, t);
        running += scale;
    }
    u->table = table;
    u->table_min = lo;
    u->unary = apply_table;
    return ASSAY_OK;
}

static float evaluate(const assay_derive *d, float x)
{
    return d->u->rec.table.precision == ASSAY_PRECISION_F32
               ? evaluate32(&d->u->rec, d->u->op, d->spec, x)
               : (float)evaluate64(d->u->op, d->spec, (double)x);
}

/* Of a point, which may lie half a step before the 0 where a function begins (roots): what it is
 * there. */
static float at_point(const assay_derive *d, float x)
{
    const float f = evaluate(d, x);
    return isnan(f) && x < 0 ? evaluate(d, 0) : f;
}

/* TFLite LUTPopulate of int16: 513 points, each corrected by half the interpolation error in the
 * middle of its interval; by nothing where that is beyond float32 (in TFLite a NaN as an integer,
 * which C++ leaves undefined). */
static assay_status interpolated(const assay_derive *d)
{
    assay_unit *u = d->u;
    float s_in = derive_scale_of(&d->spec->in[0]), s_out = derive_scale_of(d->spec->out);
    float in_min = s_in * (float)(-32768 - u->in_zero[0]);
    float in_max = s_in * (float)(32767 - u->in_zero[0]);
    float out_min = s_out * (float)(-32768 - u->scale[ASSAY_OUT].zero_point);
    float out_max = s_out * (float)(32767 - u->scale[ASSAY_OUT].zero_point);
    float step = (in_max - in_min) / 512.0f, half = step / 2.0f;
    float inverse = 65536.0f / (out_max - out_min);
    int64_t *table = derive_unit_array(u, "table", 513);
    if (!table)
        return derive_memory(d);
    for (int i = 0; i < 512; i++) {
        float x = in_min + (float)i * step, next = in_min + (float)(i + 1) * step;
        float value = roundf(at_point(d, x) * inverse);
        float middle = roundf(at_point(d, x + half) * inverse);
        float line = roundf((at_point(d, next) * inverse + value) / 2.0f);
        float bias = roundf((line - middle) / 2.0f);
        if (!isfinite(bias))
            bias = 0;
        table[i] = (int64_t)fminf(fmaxf(value - bias, -32768.0f), 32767.0f);
        const assay_teller *t = derive_teller(d, i);
        apply_tell_float(t, "point", x);
        apply_tell_float(t, "function there", at_point(d, x));
        apply_tell_float(t, "65536 / output's range", inverse);
        apply_tell_float(t, "their product, rounded", value);
        apply_tell_float(t, "the same half a step on", middle);
        apply_tell_float(t, "what a straight line has there", line);
        apply_tell_float(t, "half the difference", bias);
        apply_tell(t, "entry", table[i]);
    }
    float last = roundf(evaluate(d, in_max) * inverse);
    table[512] = (int64_t)fminf(fmaxf(last, -32768.0f), 32767.0f);
    u->table = table;
    u->unary = apply_table513;
    return ASSAY_OK;
}

assay_status derive_table(const assay_derive *d)
{
    assay_status s = derive_range(d);
    if (s)
        return s;
    assay_rescale *o = &d->u->scale[ASSAY_OUT];
    if (d->u->op == ASSAY_OP_RELU)
        derive_relu(o, derive_zero_of(d->spec->out));
    /* Every function here is a number at 1, in whose argument nothing is out of range. */
    if (isnan(evaluate64(d->u->op, d->spec, 1)))
        return derive_unknown(d);
    const assay_elem e = d->spec->in[0].elem;
    if (e.bits > 16)
        return derive_fail(d, "a table needs an input of at most 16 bits; found %u", e.bits);
    bool int16 = e.bits == 16 && e.is_signed && d->spec->out->elem.bits == 16;
    return d->u->rec.table.kind == ASSAY_TABLE_INTERPOLATED && int16 ? interpolated(d) : full(d);
}
