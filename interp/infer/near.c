/* Presets that agree, and the nearest rule; see near.h. */
#include "interp/infer/near.h"

#include <string.h>

#include "interp/infer/window.h"
#include "schemes/record/data.h"
#include "schemes/record/reads.h"

/* The rescale of a preset as a rule for rows of this kind; false: the preset has none. */
static bool preset_rule(const infer_task *t, const char *name, infer_rule *k)
{
    assay_scheme *s;
    assay_error err;
    assay_record r;
    if (assay_scheme_open(name, &s, &err))
        return false;
    assay_effective_record(assay_data(s), "conv", "",
                           assay_variant_of_codes(t->o->type.bits > 8, t->o->type), &r);
    assay_scheme_free(s);
    *k = r.rescale;
    if (t->o->kind == INFER_MULTIPLIER)
        k->shift_sign = ASSAY_SHIFT_RIGHT;
    return true;
}

int infer_presets(const infer_task *t, const char **name, int room)
{
    const char *const *preset = assay_scheme_presets();
    int n = 0;
    for (int i = 0; preset[i] && n < room; i++) {
        infer_rule k;
        if (preset_rule(t, preset[i], &k) && infer_against(t, &k, 1) == 0)
            name[n++] = preset[i];
    }
    return n;
}

#define STARTS 3

typedef struct climb {
    infer_rule rule;
    size_t against;
} climb;

/* Inserts c among the STARTS best. */
static void keep_start(climb best[STARTS], const climb *c)
{
    int i = STARTS;
    while (i > 0 && best[i - 1].against > c->against) {
        if (i < STARTS)
            best[i] = best[i - 1];
        i--;
    }
    if (i < STARTS)
        best[i] = *c;
}

/* Sets the fields that nothing reads to their defaults; false: the rule is still invalid. */
static bool make_valid(const infer_task *t, infer_rule *k)
{
    assay_record r;
    char why[256];
    infer_record_of(k, t->o->type, t->o->acc_bits, &r);
    assay_reads_normalize(&r);
    *k = r.rescale;
    return assay_record_check(&r, why, sizeof why);
}

static bool improve(const infer_task *t, climb *c, const infer_rule *tried)
{
    infer_rule k = *tried;
    if (!make_valid(t, &k))
        return false;
    const size_t against = infer_against(t, &k, c->against);
    if (against >= c->against)
        return false;
    *c = (climb){k, against};
    return true;
}

/* Tries the values of a field; of a list of steps, one mode and a few widths at a time. */
static bool try_steps(const infer_task *t, climb *c)
{
    static const int32_t widths[] = {0, 1, 7, 8, 15, 16, 31};
    bool better = false;
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (int32_t a = 0; a < ASSAY_ROUND_COUNT; a++)
            for (int32_t b = 0; b < (widths[w] ? ASSAY_ROUND_COUNT : 1); b++) {
                infer_rule k = c->rule;
                k.round = (assay_steps){.n = widths[w] ? 2 : 1, .step = {{widths[w], a}, {0, b}}};
                better |= improve(t, c, &k);
            }
    return better;
}

static bool try_field(const infer_task *t, climb *c, const assay_field *f)
{
    assay_record r;
    bool better = false;
    infer_record_of(&c->rule, t->o->type, t->o->acc_bits, &r);
    if (f->kind == ASSAY_FIELD_STEPS)
        return try_steps(t, c);
    int32_t max = f->kind == ASSAY_FIELD_BOOL ? 1 : f->max < 64 ? f->max : 64;
    for (int i = 0; f->kind == ASSAY_FIELD_ENUM && f->choices[i]; i++)
        max = i;
    for (int32_t v = f->min > 0 ? f->min : 0; v <= max; v++) {
        assay_field_value value;
        memset(&value, 0, sizeof value);
        value.number = v;
        assay_record_set(&r, f, value);
        better |= improve(t, c, &r.rescale);
    }
    return better;
}

static bool climb_once(const infer_task *t, climb *c)
{
    size_t n;
    const assay_field *f = assay_record_fields(&n);
    bool better = false;
    for (size_t i = 0; i < n && c->against > 0; i++)
        if (strcmp(f[i].section, "rescale") == 0)
            better |= try_field(t, c, &f[i]);
    return better;
}

void infer_nearest(const infer_task *t, infer_rule *out)
{
    const char *const *preset = assay_scheme_presets();
    climb best[STARTS];
    for (int i = 0; i < STARTS; i++)
        best[i].against = SIZE_MAX;
    for (int i = 0; preset[i]; i++) {
        climb c;
        if (!preset_rule(t, preset[i], &c.rule))
            continue;
        c.against = infer_against(t, &c.rule, SIZE_MAX);
        keep_start(best, &c);
    }
    for (int i = 0; i < STARTS; i++)
        for (int round = 0; round < 4 && climb_once(t, &best[i]); round++)
            ;
    *out = best[0].rule;
    for (int i = 1; i < STARTS; i++)
        if (best[i].against < best[0].against) {
            best[0] = best[i];
            *out = best[i].rule;
        }
}
