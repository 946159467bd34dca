/* Every other value that fields of a record may have. */
#include <stdlib.h>
#include <string.h>

#include "interp/blame/search.h"
#include "schemes/prepare/asks.h"
#include "schemes/record/reads.h"

typedef struct listing {
    const blame_case *node;
    const assay_record *record;
    const blame_schemes *schemes;
    blame_value *value;
    int n;
} listing;

static bool is_listed(const listing *s, const assay_field *f, assay_field_value v)
{
    for (int i = 0; i < s->n; i++)
        if (s->value[i].field == f && assay_field_equal(f, s->value[i].value, v))
            return true;
    return assay_field_equal(f, assay_record_get(s->record, f), v);
}

static bool add_value(listing *s, const assay_field *f, assay_field_value v)
{
    if (is_listed(s, f, v))
        return true;
    blame_value *more = realloc(s->value, (size_t)(s->n + 1) * sizeof *more);
    if (!more)
        return false;
    s->value = more;
    s->value[s->n++] = (blame_value){f, v};
    return true;
}

/* Two steps for one: the multiplier's bits first. */
static bool add_two_steps(listing *s, const assay_field *f)
{
    static const int first[] = {ASSAY_ROUND_HALF_UP, ASSAY_ROUND_HALF_AWAY, ASSAY_ROUND_FLOOR},
                     last[] = {ASSAY_ROUND_HALF_UP, ASSAY_ROUND_HALF_AWAY, ASSAY_ROUND_HALF_EVEN,
                               ASSAY_ROUND_FLOOR};
    assay_field_value v = {.steps = {.n = 2}};
    bool good = true;
    v.steps.step[0].bits = (int32_t)s->record->rescale.multiplier_bits;
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        for (size_t j = 0; j < sizeof last / sizeof *last && good; j++) {
            v.steps.step[0].mode = first[i];
            v.steps.step[1].mode = last[j];
            good = add_value(s, f, v);
        }
    return good;
}

/* Lists of roundings: each step's mode exchanged, a step left out, one step alone, two for one. */
static bool add_steps(listing *s, const assay_field *f)
{
    const assay_field_value now = assay_record_get(s->record, f);
    bool good = true;
    for (int mode = 0; mode < ASSAY_ROUND_COUNT && good; mode++) {
        assay_field_value v = now;
        for (int i = 0; i < now.steps.n && good; i++) {
            v = now;
            v.steps.step[i].mode = mode;
            good = add_value(s, f, v);
        }
        v = (assay_field_value){.steps = {.n = 1}};
        v.steps.step[0].mode = mode;
        good = good && add_value(s, f, v);
    }
    if (now.steps.n == 1 && strcmp(f->section, "rescale") == 0)
        good = good && add_two_steps(s, f);
    for (int i = 0; i < now.steps.n && now.steps.n > 1 && good; i++) {
        assay_field_value v = now;
        memmove(&v.steps.step[i], &v.steps.step[i + 1],
                (size_t)(now.steps.n - i - 1) * sizeof v.steps.step[0]);
        v.steps.n--;
        good = add_value(s, f, v);
    }
    return good;
}

static bool add_numbers(listing *s, const assay_field *f)
{
    const int32_t now = assay_record_get(s->record, f).number;
    bool good = true;
    for (int32_t v = f->min; v <= f->max && good; v++)
        if (f->max - f->min <= 64 || (v >= now - 8 && v <= now + 8))
            good = add_value(s, f, (assay_field_value){.number = v});
    return good;
}

static bool add_choices(listing *s, const assay_field *f)
{
    bool good = true;
    for (int32_t v = 0; f->choices[v] && good; v++)
        if (strcmp(f->choices[v], "refuse") != 0 && strcmp(f->choices[v], "trap") != 0)
            good = add_value(s, f, (assay_field_value){.number = v});
    return good;
}

/* What targets have that are known. */
static bool add_known(listing *s, const assay_field *f)
{
    blame_case c = *s->node;
    bool good = true;
    for (int i = 0; i < s->schemes->n && good; i++) {
        assay_record r;
        c.scheme = s->schemes->scheme[i];
        if (blame_case_record(&c, &r))
            good = add_value(s, f, assay_record_get(&r, f));
    }
    return good;
}

static bool list_values(listing *s)
{
    size_t n;
    const assay_field *f = assay_record_fields(&n);
    bool good = true;
    for (size_t i = 0; i < n && good; i++) {
        if (strcmp(f[i].section, "types") == 0 || strcmp(f[i].section, "accepts") == 0 ||
            !assay_reads_op(s->record, s->node->op, &f[i]) || assay_reads_not(s->record, &f[i]))
            continue;
        good = f[i].kind == ASSAY_FIELD_STEPS ? add_steps(s, &f[i])
               : f[i].kind == ASSAY_FIELD_INT ? add_numbers(s, &f[i])
               : f[i].kind == ASSAY_FIELD_BOOL
                   ? add_value(s, &f[i], (assay_field_value){.number = 0}) &&
                         add_value(s, &f[i], (assay_field_value){.number = 1})
                   : add_choices(s, &f[i]);
        if (good && f[i].kind == ASSAY_FIELD_STEPS)
            good = add_known(s, &f[i]);
    }
    return good;
}

bool blame_values_of(const blame_case *node, const assay_record *record,
                     const blame_schemes *schemes, blame_value **value, int *n)
{
    listing s = {.node = node, .record = record, .schemes = schemes};
    const bool good = list_values(&s);
    *value = s.value;
    *n = s.n;
    return good;
}
