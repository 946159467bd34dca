/* The vtable of the built-in families: a node's record, then its unit. */
#include <assert.h>
#include <stdlib.h>

#include "graph/core/type.h"
#include "schemes/apply/tail.h"
#include "schemes/derive/derive.h"
#include "schemes/prepare/asks.h"
#include "schemes/prepare/prepare.h"

/* Parameters are listed once more for whoever recomputes: what the unit read from its types. */
static assay_status list_inputs(const assay_derive *d, int codes)
{
    if (codes == 0)
        return ASSAY_OK;
    int64_t *zero = derive_unit_array(d->u, "input_zero_points", (size_t)codes);
    if (!zero)
        return derive_memory(d);
    for (int i = 0; i < codes; i++)
        zero[i] = d->u->in_zero[i];
    return ASSAY_OK;
}

/* Where the zero point is subtracted before scaling it is an offset in the accumulator's unit,
 * which the type of the output does not tell. */
static assay_status check_offset(const assay_derive *d)
{
    const assay_unit *u = d->u;
    const assay_rescale *o = &u->scale[ASSAY_OUT];
    const assay_precomputed *precomputed = derive_precomputed(d);
    bool rescales = u->by_count || u->op == ASSAY_OP_L2_NORM;
    for (int i = 0; i < 3; i++) /* of min and max each operand's */
        rescales = rescales || (u->scale[i].row && u->scale[i].zero_point != 0);
    if (!apply_zero_is_before(o) || o->zero_point == 0 || !rescales ||
        (precomputed && precomputed->has_zero_point))
        return ASSAY_OK;
    return derive_fail(d,
                       "the output has zero point %lld, but what rescale.zero_point: before "
                       "subtracts is an offset of the accumulator; expected zero point 0, or "
                       "the device's offset as given.zero_point",
                       (long long)o->zero_point);
}

/* Pairs of products saturate where the second factors are signed, as vpmaddubsw takes no others; of
 * paired channels neither in a depthwise convolution whose weights have one zero point nor in one
 * that gives its sums. */
static void choose_record(const assay_scheme *s, const assay_unit_spec *spec, assay_unit *u)
{
    assay_effective_record(assay_data(s), spec->op, spec->node, derive_variant_of(spec), &u->rec);
    assay_rule_accumulator *a = &u->rec.accumulator;
    const bool channels = u->op == ASSAY_OP_CONV && a->pair_channels;
    if (spec->n_in < 2 || !spec->in[1].elem.is_signed ||
        (channels &&
         ((spec->channel_outputs == 1 && assay_qparams_one_zero_point(&spec->in[1].q)) ||
          spec->out->elem.bits == 32)))
        a->saturate_pairs = 0;
    if (channels)
        u->pair_step = spec->channel_step;
    u->untold = derive_is_untold(&u->rec);
}

static assay_status prepare_told(const assay_scheme *s, const assay_unit_spec *spec,
                                 assay_unit **out, const assay_teller *teller, assay_error *err)
{
    char why[256];
    *out = NULL;
    assay_derive d = {.spec = spec, .scheme = s, .err = err, .teller = teller};
    if (!derive_family_supports(s, spec, why, sizeof why))
        return derive_fail(&d, "%s", why);
    assay_status status = assay_reads_check_node(s, spec, err);
    if (status)
        return status;
    assay_unit *u = calloc(1, sizeof *u);
    if (!u)
        return derive_memory(&d);
    d.u = u;
    u->op = assay_op_find(spec->op);
    choose_record(s, spec, u);
    assay_op_class c = derive_class_of(u->op);
    assert(c.derive && c.codes <= (int)(sizeof u->in_zero / sizeof *u->in_zero));
    for (int i = 0; i < c.codes; i++)
        u->in_zero[i] = derive_zero_of(&spec->in[i]);
    for (int i = 0; i < 3; i++) {
        u->scale[i].rule = &u->rec.rescale;
        u->scale[i].n = 1;
        u->scale[i].untold = u->untold;
    }
    u->in_signed = spec->in[0].elem.is_signed;
    status = list_inputs(&d, c.codes);
    if (!status)
        status = c.derive(&d);
    if (!status && derive_precomputed(&d) && !u->precomputed_used)
        status = derive_fail(&d, "multipliers are given, but this arithmetic takes none");
    if (!status)
        status = derive_accepts_codes(&d);
    if (!status)
        status = derive_accepts_rest(&d);
    if (!status)
        status = check_offset(&d);
    if (!status && u->memory_short) /* a name that could not be made */
        status = derive_memory(&d);
    if (status) {
        derive_unit_release(u);
        return status;
    }
    u->simd = simd_choose(&u->scale[ASSAY_OUT]);
    *out = u;
    return ASSAY_OK;
}

static assay_status prepare(const assay_scheme *s, const assay_unit_spec *spec, assay_unit **out,
                            assay_error *err)
{
    return prepare_told(s, spec, out, NULL, err);
}

assay_status assay_tell_table(const assay_scheme *s, const assay_unit_spec *spec,
                              const assay_teller *t, assay_error *err)
{
    assay_unit *u;
    const assay_status status = prepare_told(s, spec, &u, t, err);
    derive_unit_release(u);
    return status;
}

static size_t params(const assay_unit *u, assay_unit_param *list, size_t max)
{
    for (size_t i = 0; i < u->n_params && i < max; i++)
        list[i] = u->param[i];
    return u->n_params;
}

static void requantize(const assay_unit *u, const int64_t *acc, size_t n, size_t channel,
                       int32_t *out)
{
    const assay_rescale *r = &u->scale[ASSAY_OUT];
    assert(r->row);
    r->row(r, acc, n, channel, out);
}

static void binary(const assay_unit *u, const int32_t *a, const int32_t *b, size_t n, int32_t *out)
{
    assert(u->binary);
    u->binary(u, a, b, n, out);
}

static void unary(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    assert(u->unary);
    u->unary(u, x, n, out);
}

static void pool(const assay_unit *u, const int64_t *sum, const int32_t *count, size_t n,
                 int32_t *out)
{
    assert(u->pool);
    u->pool(u, sum, count, n, out);
}

static bool window(const assay_unit *u, const int32_t *x, size_t n, int32_t count, int32_t *out)
{
    if (u->window && n > 0)
        u->window(u, x, n, count, out);
    return u->window != NULL;
}

static void row(const assay_unit *u, const int32_t *x, size_t n, int32_t *out)
{
    assert(u->row);
    u->row(u, x, n, out);
}

static void interpolate(const assay_unit *u, const int32_t *c, const int32_t *fy, const int32_t *fx,
                        size_t n, int32_t *out)
{
    assert(u->interpolate);
    u->interpolate(u, c, fy, fx, n, out);
}

static const assay_scheme_simd simd = {
    .block = simd_block,
    .pair = simd_pair,
    .encode = simd_encode,
    .interpolate = simd_interpolated,
    .bytes = simd_bytes,
    .codes = simd_codes,
};

/* The policy of rules is the record's own (schemes/record/rule_policy.c), and its rescales are
 * looked at themselves. */
static const assay_scheme_facts facts = {.exact = apply_exact,
                                         .limit = apply_limit,
                                         .accepted = apply_accepted,
                                         .may_refuse = apply_may_refuse,
                                         .accepted_codes = apply_accepted_codes,
                                         .accepted_row = apply_accepted_row};

const assay_scheme_vtable assay_family_vtable = {
    .abi = ASSAY_SCHEME_ABI,
    .size = sizeof(assay_scheme_vtable),
    .name = "record",
    .description = "arithmetic described by a parameter record (schemes/record/record.def)",
    .prepare = prepare,
    .release = derive_unit_release,
    .params = params,
    .accumulate = apply_accumulate,
    .combine = apply_combine,
    .apply_overflow = apply_overflow,
    .requantize = requantize,
    .binary = binary,
    .unary = unary,
    .pool = pool,
    .window = window,
    .row = row,
    .interpolate = interpolate,
    .quantize = apply_quantize,
    .dequantize = apply_dequantize,
    .simd = &simd,
    .facts = &facts,
};
