/* Answers of a rule to a row, by the arithmetic of schemes/; see task.h. */
#include <string.h>

#include "interp/infer/task.h"

void infer_plain_rule(infer_rule *k)
{
    assay_record r;
    assay_record_default(&r);
    *k = r.rescale;
    k->multiplier_bits = 32;
    k->shift_max = INFER_MAX_SHIFT;
    k->left_shift = ASSAY_LEFT_PRODUCT;
    k->round = (assay_steps){.n = 1, .step = {{0, ASSAY_ROUND_FLOOR}}};
    k->sum_bits = 0;
    k->shift_sign = ASSAY_SHIFT_RIGHT;
}

void infer_take_encoding(infer_rule *k, const infer_rule *from)
{
    k->scale = from->scale;
    k->encoding = from->encoding;
    k->multiplier_bits = from->multiplier_bits;
    k->multiplier_round = from->multiplier_round;
    k->multiplier_renormalise = from->multiplier_renormalise;
    k->shift_min = from->shift_min;
    k->below_shift_min = from->below_shift_min;
    k->shift_max = from->shift_max;
    k->beyond_shift_max = from->beyond_shift_max;
    k->denormal_round = from->denormal_round;
    k->exponent_by_log = from->exponent_by_log;
    k->negative_scale = from->negative_scale;
    k->zero_shift = from->zero_shift;
    k->reduced_bits = from->reduced_bits;
    k->reduced_overflow = from->reduced_overflow;
}

void infer_record_of(const infer_rule *k, assay_elem type, int acc_bits, assay_record *rec)
{
    assay_record_default(rec);
    rec->types.activation_bits = (int32_t)type.bits;
    rec->types.activation_signed = type.is_signed;
    rec->types.power_of_two_scales = k->scale == ASSAY_FORM_POW2;
    if (k->encoding == ASSAY_ENCODE_SHIFT)
        rec->types.activation_zero_point = ASSAY_ZERO_POINT_MIDDLE;
    rec->accumulator.bits = acc_bits;
    rec->rescale = *k;
}

void infer_model_start(infer_model *m, const infer_rule *k, const infer_options *o)
{
    infer_record_of(k, o->type, o->acc_bits, &m->record);
    assay_single_of_record(&m->o, &m->record, ASSAY_OP_CONV);
    m->b = (assay_batch){.n = 1, .type = o->type, .per_tensor = true};
    m->scales = o->kind == INFER_SCALE;
}

void infer_model_set(infer_model *m, const infer_rule *k)
{
    m->record.rescale = *k;
    assay_single_of_record(&m->o, &m->record, ASSAY_OP_CONV);
}

int64_t infer_answer(infer_model *m, const infer_row *row)
{
    const int64_t multiplier = row->multiplier, shift = row->shift, zp = row->zp;
    const int64_t lo = row->lo, hi = row->hi;
    int64_t code = 0;
    char why[256];
    m->b.zero_point = &zp;
    m->b.lo = row->bounded ? &lo : NULL;
    m->b.hi = row->bounded ? &hi : NULL;
    m->b.multiplier = &multiplier;
    m->b.shift = &shift;
    const bool ok = (m->scales ? assay_single_form(&m->o, &m->b, 0, row->in, row->weight, row->out,
                                                   why, sizeof why)
                               : assay_single_set(&m->o, &m->b, 0, why, sizeof why)) &&
                    assay_single_code(&m->o, row->acc, false, &code, why, sizeof why);
    return ok ? code : INFER_REFUSED;
}

size_t infer_against(const infer_task *t, const infer_rule *k, size_t max)
{
    infer_model m;
    size_t n = 0;
    infer_model_start(&m, k, t->o);
    for (size_t i = 0; i < t->log.n && n < max; i++)
        n += infer_answer(&m, &t->log.row[i]) != t->log.row[i].answer;
    return n;
}
