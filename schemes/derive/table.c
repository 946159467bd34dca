/* Tables of functions of one code. The functions themselves are the C library's: an entry can
 * only differ between libraries when it lies within about 1e-7 of a rounding tie. */
#include <math.h>

#include "graph/core/attr.h"
#include "graph/core/type.h"
#include "schemes/derive/derive.h"
#include "schemes/derive/mlas.h"

bool assay_keeps_value(enum assay_op op)
{
    return op == ASSAY_OP_RESCALE || op == ASSAY_OP_RELU || op == ASSAY_OP_CLIP ||
           op == ASSAY_OP_MAX_POOL || op == ASSAY_OP_REDUCE_MAX || op == ASSAY_OP_REDUCE_MIN ||
           op == ASSAY_OP_RESIZE;
}

/* NaN where op is no function that this file knows: then there is no table (assay_derive_table). */
static double evaluate64(enum assay_op op, const assay_unit_spec *s, double x)
{
    switch (op) {
    case ASSAY_OP_SIGMOID:
        return 1 / (1 + exp(-x));
    case ASSAY_OP_TANH:
        return tanh(x);
    case ASSAY_OP_HARD_SWISH:
        return x * fmin(fmax(x + 3, 0), 6) / 6;
    case ASSAY_OP_HARD_SIGMOID:
        return fmin(fmax(s->alpha * x + s->beta, 0), 1);
    case ASSAY_OP_LEAKY_RELU:
        return x < 0 ? s->alpha * x : x;
    case ASSAY_OP_ELU:
        return x < 0 ? s->alpha * expm1(x) : x;
    case ASSAY_OP_GELU:
        return s->flag == ASSAY_GELU_TANH
                   ? 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)))
                   : 0.5 * x * erfc(-x * 0.70710678118654752440);
    case ASSAY_OP_ERF:
        return erf(x);
    case ASSAY_OP_EXP:
        return exp(x);
    case ASSAY_OP_LOG:
        return log(x);
    case ASSAY_OP_SQRT:
        return sqrt(x);
    case ASSAY_OP_RSQRT:
        return 1 / sqrt(x);
    case ASSAY_OP_SQUARE:
        return x * x;
    case ASSAY_OP_RECIPROCAL:
        return 1 / x;
    case ASSAY_OP_ABS:
        return fabs(x);
    case ASSAY_OP_NEG:
        return -x;
    case ASSAY_OP_SIGN:
        return (x > 0) - (x < 0);
    case ASSAY_OP_FLOOR:
        return floor(x);
    case ASSAY_OP_CEIL:
        return ceil(x);
    case ASSAY_OP_ROUND:
        return rint(x);
    case ASSAY_OP_SIN:
        return sin(x);
    case ASSAY_OP_COS:
        return cos(x);
    case ASSAY_OP_SOFTPLUS:
        return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
    default:
        return assay_keeps_value(op) ? x : (double)NAN;
    }
}

/* False: not a function that MLAS has an approximation of. */
static bool evaluate_mlas(enum assay_op op, const assay_unit_spec *s, float *x)
{
    switch (op) {
    case ASSAY_OP_SIGMOID:
        *x = assay_mlas_sigmoid(*x);
        return true;
    case ASSAY_OP_TANH:
        *x = assay_mlas_tanh(*x);
        return true;
    case ASSAY_OP_EXP:
        *x = assay_mlas_exp(*x);
        return true;
    case ASSAY_OP_ERF:
        *x = assay_mlas_erf(*x);
        return true;
    case ASSAY_OP_HARD_SWISH:
        *x = assay_mlas_hard_swish(*x);
        return true;
    case ASSAY_OP_GELU:
        *x = s->flag == ASSAY_GELU_TANH ? assay_mlas_gelu_tanh(*x) : assay_mlas_gelu(*x);
        return true;
    default:
        return false;
    }
}

/* The functions whose float32 evaluation targets fix operation by operation (TFLite
 * activations.cc, gelu.h; MLAS); the rest are the float64 value rounded. */
static float evaluate32(const assay_record *rec, enum assay_op op, const assay_unit_spec *s,
                        float x)
{
    if (rec->table.sigmoid == ASSAY_SIGMOID_RATIONAL && evaluate_mlas(op, s, &x))
        return x;
    switch (op) {
    case ASSAY_OP_SIGMOID:
        return 1.0f / (1.0f + expf(-x));
    case ASSAY_OP_TANH:
        return tanhf(x);
    case ASSAY_OP_ELU:
        return x < 0.0f ? (float)s->alpha * expm1f(x) : x;
    case ASSAY_OP_EXP:
        return expf(x);
    case ASSAY_OP_LOG:
        return logf(x);
    case ASSAY_OP_GELU:
        if (s->flag == ASSAY_GELU_TANH) {
            float cube = x * x * x;
            return 0.5f * x * (1.0f + tanhf(0.797884583f * (x + 0.044715f * cube)));
        }
        return 0.5f * x * erfcf(x * -0.707106769f);
    default:
        return (float)evaluate64(op, s, (double)x);
    }
}

/* Real to code by the table's rule; what is not a number becomes what convert.nan says. */
static int64_t to_code(const assay_derive *d, float f)
{
    const assay_rule_table *k = &d->u->rec.table;
    const assay_rescale *o = &d->u->scale[ASSAY_OUT];
    float scale = assay_scale_of(d->spec->out), zero = (float)o->zero_point;
    enum assay_rounding mode = (enum assay_rounding)k->round;
    float v = k->division == ASSAY_SCALE_DIVIDE ? f / scale : f * (1.0f / scale);
    if (isnan(v))
        return d->u->rec.convert.nan == ASSAY_NAN_LEAST ? o->lo
                                                        : assay_clamp(o->zero_point, o->lo, o->hi);
    if (k->zero_point == ASSAY_STAGE_INSIDE)
        return assay_rescale_store(
            o, assay_f32_to_int(assay_bits_of(v + zero), mode, INT32_MIN, INT32_MAX, 0));
    int64_t code = assay_f32_to_int(assay_bits_of(v), mode, INT32_MIN, INT32_MAX, 0);
    return assay_rescale_store(o, code + o->zero_point);
}

static assay_status full(const assay_derive *d)
{
    assay_unit *u = d->u;
    const assay_type *in = &d->spec->in[0];
    float scale = assay_scale_of(in);
    int64_t lo = assay_elem_min(in->elem), hi = assay_elem_max(in->elem);
    int64_t *table = assay_unit_array(u, "table", (size_t)(hi - lo + 1));
    if (table == NULL)
        return assay_derive_memory(d);
    float running = scale * (float)(lo - u->in_zero[0]);
    for (int64_t q = lo; q <= hi; q++) {
        float x = u->rec.table.accumulate_input ? running : scale * (float)(q - u->in_zero[0]);
        float f = u->rec.table.precision == ASSAY_PRECISION_F32
                      ? evaluate32(&u->rec, u->op, d->spec, x)
                      : (float)evaluate64(u->op, d->spec, (double)x);
        table[q - lo] = to_code(d, f);
        running += scale;
    }
    u->table = table;
    u->table_min = lo;
    u->unary = assay_apply_table;
    return ASSAY_OK;
}

static float evaluate(const assay_derive *d, float x)
{
    return d->u->rec.table.precision == ASSAY_PRECISION_F32
               ? evaluate32(&d->u->rec, d->u->op, d->spec, x)
               : (float)evaluate64(d->u->op, d->spec, (double)x);
}

/* TFLite LUTPopulate of int16: 513 points, each corrected by half the interpolation error in the
 * middle of its interval. */
static assay_status interpolated(const assay_derive *d)
{
    assay_unit *u = d->u;
    float s_in = assay_scale_of(&d->spec->in[0]), s_out = assay_scale_of(d->spec->out);
    float in_min = s_in * (float)(-32768 - u->in_zero[0]);
    float in_max = s_in * (float)(32767 - u->in_zero[0]);
    float out_min = s_out * (float)(-32768 - u->scale[ASSAY_OUT].zero_point);
    float out_max = s_out * (float)(32767 - u->scale[ASSAY_OUT].zero_point);
    float step = (in_max - in_min) / 512.0f, half = step / 2.0f;
    float inverse = 65536.0f / (out_max - out_min);
    int64_t *table = assay_unit_array(u, "table", 513);
    if (table == NULL)
        return assay_derive_memory(d);
    for (int i = 0; i < 512; i++) {
        float x = in_min + (float)i * step, next = in_min + (float)(i + 1) * step;
        float value = roundf(evaluate(d, x) * inverse);
        float middle = roundf(evaluate(d, x + half) * inverse);
        float line = roundf((evaluate(d, next) * inverse + value) / 2.0f);
        float bias = roundf((line - middle) / 2.0f);
        table[i] = (int64_t)fminf(fmaxf(value - bias, -32768.0f), 32767.0f);
    }
    float last = roundf(evaluate(d, in_max) * inverse);
    table[512] = (int64_t)fminf(fmaxf(last, -32768.0f), 32767.0f);
    u->table = table;
    u->unary = assay_apply_table513;
    return ASSAY_OK;
}

assay_status assay_derive_table(const assay_derive *d)
{
    assay_status s = assay_derive_range(d);
    if (s != ASSAY_OK)
        return s;
    assay_rescale *o = &d->u->scale[ASSAY_OUT];
    if (d->u->op == ASSAY_OP_RELU)
        assay_derive_relu(o);
    /* Every function here is a number at 0.25, in whose argument nothing is out of range. */
    if (isnan(evaluate64(d->u->op, d->spec, 0.25)))
        return assay_derive_unknown(d);
    const assay_elem e = d->spec->in[0].elem;
    bool int16 = e.bits == 16 && e.is_signed && d->spec->out->elem.bits == 16;
    return d->u->rec.table.kind == ASSAY_TABLE_INTERPOLATED && int16 ? interpolated(d) : full(d);
}
