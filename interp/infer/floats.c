/* Rules of floats; see floats.h. */
#include "interp/infer/floats.h"
#include "graph/memory.h"

#include "interp/infer/check.h"

typedef struct trial {
    infer_engine *e;
    infer_check c;
    infer_rules *out;
    bool short_of_memory;
} trial;

static void try_refusals(trial *f, infer_rule *k)
{
    for (int i = 0; i < f->e->n_inputs; i++) {
        k->input_bits = f->e->inputs[i].bits;
        if (!f->e->inputs[i].by_shift && infer_check_holds(&f->c, k))
            f->short_of_memory |= !infer_rules_keep(f->out, k);
    }
}

/* Tries every end after the rounding. */
static void try_ends(trial *f, infer_rule *k)
{
    for (size_t i = 0; i < f->e->n_ends; i++) {
        const infer_end *end = &f->e->end[i];
        if (end->zero_point == ASSAY_STAGE_BEFORE)
            continue;
        k->sum_bits = end->sum_bits;
        k->sum_overflow = end->sum_overflow;
        k->store = end->store;
        k->zero_point = ASSAY_STAGE_AFTER;
        const bool exact = k->encoding == ASSAY_ENCODE_THRESHOLDS;
        if (exact && (end->store == ASSAY_STORE_WRAP || end->sum_bits > 0))
            continue;
        try_refusals(f, k);
        if (exact || end->sum_bits > 0)
            continue;
        k->zero_point = ASSAY_STAGE_INSIDE;
        try_refusals(f, k);
    }
}

static void try_conversions(trial *f, infer_rule *k)
{
    const bool exact = k->encoding == ASSAY_ENCODE_THRESHOLDS;
    for (int over = 0; over < (exact ? 1 : 2); over++) {
        k->float_overflow = over ? ASSAY_FLOAT_INT_MIN : ASSAY_FLOAT_SATURATE;
        k->float_rounding = ASSAY_FLOAT_ROUND_EXACT;
        try_ends(f, k);
        if (k->encoding != ASSAY_ENCODE_F32 || k->round.step[0].mode != ASSAY_ROUND_HALF_EVEN)
            continue;
        k->float_rounding = ASSAY_FLOAT_ROUND_ADD_ONE;
        try_ends(f, k);
    }
}

assay_status infer_find_floats(infer_engine *e, infer_rules *out, assay_error *err)
{
    static const int32_t encodings[] = {ASSAY_ENCODE_F32, ASSAY_ENCODE_F64,
                                        ASSAY_ENCODE_THRESHOLDS};
    enum { STEPS = 4 }; /* the formations below it have one R, as any encoding may */
    static const int32_t forms[] = {ASSAY_FORM_F32, ASSAY_FORM_F32_RECIPROCAL, ASSAY_FORM_DOUBLE,
                                    ASSAY_FORM_F32_PRODUCT, ASSAY_FORM_F32_STEPS};
    trial f = {.e = e, .out = out};
    const assay_status s = infer_check_open(&f.c, e->t, false, err);
    if (s)
        return s;
    for (int i = 0; i < 3; i++)
        for (int form = 0; form < (encodings[i] == ASSAY_ENCODE_F32 ? STEPS + 1 : STEPS); form++)
            for (int32_t mode = 0; mode < ASSAY_ROUND_COUNT; mode++) {
                infer_rule k;
                infer_plain_rule(&k);
                k.negative_scale = e->t->encoder.negative_scale;
                k.scale = e->t->powers ? ASSAY_FORM_POW2 : forms[form];
                k.encoding = encodings[i];
                k.round.step[0].mode = mode;
                if (!e->t->powers || form == 0)
                    try_conversions(&f, &k);
            }
    infer_check_close(&f.c);
    return f.short_of_memory ? assay_out_of_memory(err) : ASSAY_OK;
}
