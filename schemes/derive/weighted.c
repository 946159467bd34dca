/* conv, conv_transpose, fc, matmul, SVDF's steps: an accumulator and one output rescale, or none
 * where the sums themselves are wanted. Weights with a scale for each block of inputs have a
 * multiplier per block and one unit for the accumulators of an output channel. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/blocks.h"
#include "schemes/derive/derive.h"
#include "schemes/derive/real.h"

/* SVDF's feature saturates to the memory's type before its zero point is added, and the sum keeps
 * the low bits (micro/kernels/svdf_common.cc): that is the op's definition, whatever the target.
 * Floats and thresholds have no such result between. */
static assay_status store_feature(const assay_derive *d)
{
    assay_rule_rescale *rule = &d->u->rec.rescale;
    const assay_elem memory = d->spec->out->elem;
    if (!memory.is_signed)
        return derive_fail(d, "SVDF's memory holds signed codes; found u%u", memory.bits);
    if (rule->encoding != ASSAY_ENCODE_MULTIPLIER && rule->encoding != ASSAY_ENCODE_SHIFT &&
        rule->encoding != ASSAY_ENCODE_GLOW)
        return derive_fail(d, "SVDF's feature needs rescale.encoding: multiplier, shift or glow");
    rule->result_bits = rule->sum_bits = memory.bits;
    rule->result_overflow = ASSAY_NARROW_SATURATE;
    rule->sum_overflow = ASSAY_NARROW_WRAP;
    return ASSAY_OK;
}

/* ---- a scale for each block ---- */

/* The unit of a channel's multipliers; the accumulator's is 2^shift of it. */
static float unit_of(const assay_rule_blocks *k, const assay_blocks *b, const float *scale,
                     int64_t channel)
{
    float largest = 0;
    int exponent;
    for (int64_t i = 0; i < b->count; i++)
        largest = fmaxf(largest, scale[assay_block_scale(b, channel, i)]);
    if (k->unit == ASSAY_BLOCK_UNIT_LARGEST)
        return (float)((double)largest / (ldexp(1, k->multiplier_bits) - 1));
    frexpf(largest, &exponent);
    return ldexpf(1, exponent - k->multiplier_bits);
}

static assay_status blocks_of(const assay_derive *d, const assay_rule_blocks *k, assay_blocks *b)
{
    const assay_type *w = &d->spec->in[1];
    if (w->q.granularity == ASSAY_Q_BLOCK && k->kind == ASSAY_BLOCK_NONE)
        return derive_fail(d, "weights with a scale per block need blocks.kind: multiplier");
    if (!assay_blocks_of(assay_op_find(d->spec->op), d->spec->flag != 0, w, b))
        return derive_fail(d, "weights can have a scale for each block of the inputs of an "
                              "output channel in conv, fc, and matmul by a matrix");
    return ASSAY_OK;
}

assay_status derive_family_weight_units(const assay_scheme *s, const assay_unit_spec *spec,
                                        float *unit, size_t *n, assay_error *err)
{
    const assay_qparams *q = &spec->in[1].q;
    assay_derive d = {NULL, spec, s, err};
    assay_record rec;
    assay_blocks b;
    assay_effective_record(assay_data(s), spec->op, spec->node, derive_variant_of(spec), &rec);
    assay_status status = blocks_of(&d, &rec.blocks, &b);
    if (status)
        return status;
    *n = b.count > 0 ? (size_t)b.channels : q->count;
    for (size_t c = 0; c < *n; c++)
        unit[c] = b.count > 0
                      ? ldexpf(unit_of(&rec.blocks, &b, q->scale, (int64_t)c), rec.blocks.shift)
                      : q->scale[c];
    return ASSAY_OK;
}

/* The codes of a bias count steps of the accumulator, whatever its type says they are worth: the
 * two must be one. */
static assay_status check_bias(const assay_derive *d, const float *unit, size_t channels)
{
    const assay_type *b = d->spec->n_in > 2 ? &d->spec->in[2] : NULL;
    const double in = (double)derive_scale_of(&d->spec->in[0]);
    if (!b || b->q.granularity == ASSAY_Q_NONE)
        return ASSAY_OK;
    for (size_t c = 0; c < channels; c++) {
        double expected = in * (double)unit[c];
        double found = (double)b->q.scale[b->q.count > 1 && c < b->q.count ? c : 0];
        if (fabs(found - expected) > 1e-4 * expected)
            return derive_fail(d,
                               "channel %zu of the bias has the scale %.9g; expected the "
                               "accumulator's %.9g",
                               c, found, expected);
    }
    return ASSAY_OK;
}

static assay_status derive_multipliers(const assay_derive *d, const assay_blocks *b)
{
    const assay_rule_blocks *k = &d->u->rec.blocks;
    const float *scale = d->spec->in[1].q.scale;
    assert(k->multiplier_bits >= 1 && k->multiplier_bits <= 16);
    const int64_t max = (INT64_C(1) << k->multiplier_bits) - 1;
    int64_t *m = derive_unit_array(d->u, "block_multiplier", (size_t)(b->channels * b->count));
    if (!m)
        return derive_memory(d);
    for (int64_t c = 0; c < b->channels; c++) {
        const double unit = (double)unit_of(k, b, scale, c);
        for (int64_t i = 0; i < b->count; i++) {
            double ratio = (double)scale[assay_block_scale(b, c, i)] / unit;
            int64_t v = derive_round_real(ratio, (enum assay_rounding)k->multiplier_round);
            m[c * b->count + i] = v < max ? v : max;
        }
    }
    d->u->list[0] = m;
    return ASSAY_OK;
}

/* ---- the unit ---- */

static assay_status derive_output(const assay_derive *d, const float *unit, size_t n)
{
    if (assay_is_accumulator(d->spec->out)) {
        d->u->scale[ASSAY_OUT].row = apply_rescale_row_sums;
        return ASSAY_OK;
    }
    return derive_output_rescale(d, derive_scale_of(&d->spec->in[0]), unit, n,
                                 derive_scale_of(d->spec->out));
}

static assay_status derive_blocks(const assay_derive *d, const assay_blocks *b)
{
    size_t n;
    float *unit = calloc(d->spec->in[1].q.count, sizeof *unit);
    if (!unit)
        return derive_memory(d);
    assay_status s = derive_family_weight_units(d->scheme, d->spec, unit, &n, d->err);
    for (size_t c = 0; c < n && !s; c++)
        if (!isnormal(unit[c]))
            s = derive_fail(d, "the block scales of channel %zu are out of reach", c);
    if (!s)
        s = check_bias(d, unit, n);
    if (!s)
        s = derive_multipliers(d, b);
    if (!s)
        s = derive_output(d, unit, n);
    free(unit);
    return s;
}

assay_status derive_weighted(const assay_derive *d)
{
    const assay_qparams *q = &d->spec->in[1].q;
    assay_blocks b;
    assay_status s = blocks_of(d, &d->u->rec.blocks, &b);
    if (s)
        return s;
    if ((s = derive_centred(d, 0)) || (s = derive_centred(d, 1)))
        return s;
    const double depth = d->spec->depth > 1 ? (double)d->spec->depth : 1;
    s = derive_fits_product(d, derive_codes(&d->spec->in[0]), derive_codes(&d->spec->in[1]), depth,
                            63, "the exact sum of the products");
    if (s)
        return s;
    if (d->u->op == ASSAY_OP_SVDF_FEATURE)
        s = store_feature(d);
    if (s)
        return s;
    return b.count > 0 ? derive_blocks(d, &b) : derive_output(d, q->scale, q->count);
}
