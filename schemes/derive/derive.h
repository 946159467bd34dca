/* Preparing units: real scales to integers. Floating point is allowed here and nowhere after.
 * One file an op class; each function fills the unit of `d` for the op in `d->spec`. */
#ifndef ASSAY_SCHEMES_DERIVE_DERIVE_H
#define ASSAY_SCHEMES_DERIVE_DERIVE_H

#include "schemes/apply/apply.h"
#include "schemes/apply/softfloat.h"
#include "schemes/apply/tell_real.h"
#include "schemes/apply/unit.h"
#include "schemes/record/data.h"

typedef struct assay_derive {
    assay_unit *u;
    const assay_unit_spec *spec;
    const assay_scheme *scheme;
    assay_error *err;
    /* Of a unit that is prepared for it alone: told how entry teller->at of its table is made. */
    const assay_teller *teller;
} assay_derive;

/* ---- fail.c ---- */
/* ASSAY_ERR_SCHEME "scheme S, node N (op): ..." */
assay_status derive_fail(const assay_derive *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
assay_status derive_memory(const assay_derive *d);
/* The class that support.c names for the op does not know it: nothing runs instead. */
assay_status derive_unknown(const assay_derive *d);

/* ---- unit.c: memory ---- */
/* n zeroed entries that live as long as the unit, listed by params() under `name` unless it is
 * NULL. NULL when out of memory. */
int64_t *derive_unit_array(assay_unit *u, const char *name, size_t n);
/* The first n of the unit's constants, listed by params() as "constants". */
assay_status derive_list_constants(const assay_derive *d, size_t n);
void *derive_unit_alloc(assay_unit *u, size_t bytes);
void derive_unit_release(assay_unit *u);

/* ---- encode.c: a real scale as the rule's integers or bits ---- */
typedef struct assay_encoded {
    int64_t multiplier; /* before any reduction */
    int64_t shift;      /* total right shift: R ~ multiplier / 2^shift */
    int64_t pre;        /* Glow's own pre-shift, part of shift */
} assay_encoded;
/* false, with the reason in why, when the rule cannot express R (not finite, negative, not a power
 * of two, out of range). */
bool derive_encode(const assay_rule_rescale *k, double real, assay_encoded *e, char *why,
                   size_t size);
/* The same for a channel under common_shift: `greatest` is the greatest finite |R| of its layer. */
bool derive_encode_beside(const assay_rule_rescale *k, double real, double greatest,
                          assay_encoded *e, char *why, size_t size);
/* Shifts between ours (right, total) and the target's way of writing them. */
int64_t derive_shift_to_target(const assay_rule_rescale *k, int64_t shift);
int64_t derive_shift_from_target(const assay_rule_rescale *k, int64_t shift);
/* Whether a multiplier and shift that were given, not derived, fit the rule's registers. */
bool derive_check_precomputed(const assay_rule_rescale *k, const assay_encoded *e, char *why,
                              size_t size);
/* Where the parts of an encoded scale go: the multiplier after reduction, the right shift after the
 * multiplication, the shift before it. */
void derive_place_encoded(const assay_rule_rescale *k, const assay_encoded *e, int64_t *multiplier,
                          int64_t *shift, int64_t *pre);
/* Whether the rule forms real scales in float32, each step rounded. */
static inline bool derive_forms_f32(const assay_rule_rescale *k)
{
    return k->scale == ASSAY_FORM_F32 || k->scale == ASSAY_FORM_F32_RECIPROCAL ||
           k->scale == ASSAY_FORM_F32_STEPS;
}
/* The real scale in * w / out as the rule forms it; per_tensor: the weights have one scale. */
double derive_form_scale(const assay_rule_rescale *k, float in, float w, float out,
                         bool per_tensor);

/* ---- rescale.c ---- */
/* Fills r from n real scales; r->rule must be set. Parameters are listed as "multiplier", "shift",
 * "pre", "scale_bits" followed by `suffix`. */
assay_status derive_real(const assay_derive *d, assay_rescale *r, const double *real, size_t n,
                         const char *suffix);
/* The same from encoded values (`given` multipliers, or ones changed after encoding). */
assay_status derive_encoded(const assay_derive *d, assay_rescale *r, const assay_encoded *e,
                            size_t n, const char *suffix);
/* One real scale; and the rescale (in * w / out) of an operand, formed by the rule. */
assay_status derive_one(const assay_derive *d, assay_rescale *r, double real, const char *suffix);
assay_status derive_ratio(const assay_derive *d, assay_rescale *r, float in, const float *w,
                          size_t n, float out, const char *suffix);
/* The output rescale of scale in * w[c] / out, with the output's zero point and range; honours
 * multipliers given for the node. */
assay_status derive_output_rescale(const assay_derive *d, float in, const float *w, size_t n,
                                   float out);
/* The output rescale of scale in / out, and in scale[ASSAY_FIRST] the one of negative inputs, of
 * in * slope / out. */
assay_status derive_slope(const assay_derive *d, float slope);
/* near.c: the integers of the short path of float rows, from the n real scales, into near[n];
 * leaves r without them where they do not apply. In steps: real[n] is room for the quotients. */
void derive_near(assay_rescale *r, const double *real, size_t n, int64_t *near);
void derive_near_steps(assay_rescale *r, float in, const float *w, size_t n, float out,
                       double *real, int64_t *near);
/* No code of a relu lies below `zero`, the zero point of its output's type (a given one, or what is
 * subtracted before the scaling, is not a code of 0). */
void derive_relu(assay_rescale *r, int64_t zero);
/* What the device's compiler chose for this node, or NULL; and its multipliers, checked against the
 * rule: e has room for g->n. */
const assay_precomputed *derive_precomputed(const assay_derive *d);
assay_status derive_precomputed_encoded(const assay_derive *d, const assay_precomputed *g, size_t n,
                                        const assay_rule_rescale *k, assay_encoded *e);
/* A rescale without zero point and saturation, for an operand. */
void derive_intermediate(assay_rescale *r);
/* The end of a rescale whose rule is set: codes of type e, within the bounds *lo and *hi (NULL: the
 * type's). Where low bits are stored, bounds are clamped to before and may lie outside the type.
 * False: no code of the type is within the bounds. */
bool derive_end(assay_rescale *r, assay_elem e, const int64_t *lo, const int64_t *hi);
/* The same end as that of another rescale, zero point included. */
void derive_end_of(assay_rescale *r, const assay_rescale *other);
/* Output zero point, type range and fused activation, for the rescale in slot ASSAY_OUT; listed
 * as "zero_point" and "range". */
assay_status derive_range(const assay_derive *d);

/* ---- reach.c: what codes can bring into registers that no parameter states ---- */
/* Code - zero point of a quantized type, over all its zero points; and the greatest |..|. */
assay_interval derive_codes(const assay_type *t);
int64_t derive_reach(const assay_type *t);
/* x * y, x + y, x - y, x * 2^bits for all x, y of two intervals, |x| of one, all within +-2^62; x
 * or 0. */
assay_interval derive_times(assay_interval x, assay_interval y);
assay_interval derive_plus(assay_interval x, assay_interval y);
assay_interval derive_minus(assay_interval x, assay_interval y);
assay_interval derive_shifted(assay_interval x, int bits);
assay_interval derive_with_zero(assay_interval x);
assay_interval derive_magnitudes(assay_interval x);
/* The integers from lo to hi, outwards, and within +-2^62. */
assay_interval derive_around(double lo, double hi);
/* Products are of codes of 32 bits: refused where an input's, less its zero point, could be beyond.
 */
assay_status derive_centred(const assay_derive *d, int input);
/* Refuses what reaches from lo to hi where a signed register of so many bits does not hold it, the
 * least of which is -2^(bits - 1); `what` names it. The same for sums of so many products, and of
 * what is within +-2^62. */
assay_status derive_fits(const assay_derive *d, double lo, double hi, unsigned bits,
                         const char *what);
assay_status derive_fits_product(const assay_derive *d, assay_interval x, assay_interval y,
                                 double terms, unsigned bits, const char *what);
assay_status derive_holds(const assay_derive *d, assay_interval x, unsigned bits, const char *what);
/* Both in 32 bits. */
assay_status derive_hold_both(const assay_derive *d, const assay_interval x[2], const char *what);
/* Only accumulators are checked as a network runs. So nodes are refused whose
 * rescale in that slot may refuse an operand `x`; and, of several, those of the slots ASSAY_FIRST
 * and ASSAY_SECOND: y[i] becomes what they make of x[i], {0, 0} where the target refuses nothing.
 */
assay_status derive_accepts(const assay_derive *d, int slot, assay_interval x, const char *what);
assay_status derive_accepts_both(const assay_derive *d, const assay_interval x[2], const char *what,
                                 assay_interval y[2]);
/* The sum of two operands, or their difference where the unit subtracts. */
assay_interval derive_sum_of(const assay_derive *d, const assay_interval x[2]);
/* The same for the slot's rescale in another form, which stands for it. */
assay_status derive_accepts_form(const assay_derive *d, int slot, const assay_rescale *form,
                                 assay_interval x, const char *what);
/* The same for sums at the output's scale, to which its zero point is added (apply_rescale_end). */
assay_status derive_accepts_end(const assay_derive *d, assay_interval x, const char *what);
assay_status derive_accepts_codes(const assay_derive *d); /* of unary and binary rescales */
/* After all of these: refuses a unit with a rescale that may refuse and was not checked. */
assay_status derive_accepts_rest(const assay_derive *d);
/* The shift to the left of the first n inputs' codes in 32 bits: `wanted`, or as much of it as
 * their magnitudes leave room for (TFLite has 20 for 8-bit codes and 15 for 16-bit ones, which is
 * that room); 0 where a code itself has none. */
void derive_left_shift(const assay_derive *d, int n, int32_t wanted, int32_t *bits);

/* ---- support.c, prepare.c ---- */
typedef struct assay_op_class {
    assay_status (*derive)(const assay_derive *d); /* NULL: no quantized form */
    int codes;                                     /* leading inputs that must be quantized */
} assay_op_class;
assay_op_class derive_class_of(enum assay_op op);
/* What overrides may depend on beside op and name: flags of enum assay_variant. */
unsigned derive_variant_of(const assay_unit_spec *spec);
/* Whether r holds what the short forms of arithmetic were not told of (apply/known.def). */
bool derive_is_untold(const assay_record *r);

/* ---- op classes ---- */
assay_status derive_weighted(const assay_derive *d); /* conv, conv_transpose, fc, matmul */
assay_status derive_add(const assay_derive *d);
assay_status derive_sum(const assay_derive *d); /* add_n, cumsum */
assay_status derive_binary(const assay_derive *d);
assay_status derive_div(const assay_derive *d);
assay_status derive_unary(const assay_derive *d);
assay_status derive_table(const assay_derive *d);
assay_status derive_logistic(const assay_derive *d);
assay_status derive_hard_swish(const assay_derive *d);
assay_status derive_pool(const assay_derive *d);
assay_status derive_row(const assay_derive *d);
assay_status derive_gelu_ibert(const assay_derive *d);
assay_status derive_softmax_ibert(const assay_derive *d); /* after derive_range */
assay_status derive_layer_norm(const assay_derive *d);
assay_status derive_lrn(const assay_derive *d);
assay_status derive_product(const assay_derive *d); /* reduce_prod */
assay_status derive_resize(const assay_derive *d);
assay_status derive_convert(const assay_derive *d);

/* ---- helpers ---- */
/* The teller of entry i of a table, or NULL. */
static inline const assay_teller *derive_teller(const assay_derive *d, int64_t i)
{
    return apply_tell_at(d->teller, (size_t)i);
}
static inline float derive_scale_of(const assay_type *t)
{
    return t->q.scale[0];
}
static inline int32_t derive_zero_of(const assay_type *t)
{
    return t->q.zero_point ? t->q.zero_point[0] : 0;
}
static inline bool derive_same_params(const assay_type *a, const assay_type *b)
{
    return derive_scale_of(a) == derive_scale_of(b) && derive_zero_of(a) == derive_zero_of(b);
}
static inline uint32_t derive_bits_of(float f)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &f, sizeof bits);
    return bits;
}
/* Equal, less, greater and the like: two operands, a boolean result. */
bool derive_is_compare(enum assay_op op);
/* table.c: ops whose output is their input, or one of them, under other parameters. */
bool derive_keeps_value(enum assay_op op);
/* Whether function.def has a line for the op. */
bool derive_is_function(enum assay_op op);
/* The code of a real value in type t by the scheme's quantize rule, saturated to int32 (uint32
 * where that is the type) and no further. */
int64_t derive_code_of(const assay_record *rec, float x, const assay_type *t);
/* The float32 bits by which that rule divides or multiplies. */
uint32_t derive_quantize_bits(const assay_record *rec, float scale);

/* What the target has no integer form of, so that it runs no node of op in integers; NULL: some. */
const char *derive_lacks(const assay_record *r, enum assay_op op);
/* What a record supports of a node: false with the reason (support.c). */
bool derive_family_supports(const assay_scheme *s, const assay_unit_spec *spec, char *why,
                            size_t n);
/* assay_scheme_weight_units (scheme.h) of a record. */
assay_status derive_family_weight_units(const assay_scheme *s, const assay_unit_spec *spec,
                                        float *unit, size_t *n, assay_error *err);

#endif
