/* Reflection over the parameter record: the table of fields, values as text, consistency. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "schemes/record/record.h"
#include "schemes/round.h"

/* Texts of the enumerations. */
#define ENUM(name)      static const char *const name##_texts[] = {
#define VALUE(ID, text) text,
#define ENUM_END(name)                                                                             \
    NULL                                                                                           \
    }                                                                                              \
    ;
#include "schemes/record/record.def"

static const char *const bool_texts[] = {"no", "yes", NULL};
#define TEXT(ID, name, text, words, ieee, addend) text,
static const char *const round_texts[] = {ASSAY_ROUNDINGS(TEXT) NULL};

#define KIND_INT(of)   ASSAY_FIELD_INT, NULL
#define KIND_BOOL(of)  ASSAY_FIELD_BOOL, bool_texts
#define KIND_ENUM(of)  ASSAY_FIELD_ENUM, of##_texts
#define KIND_ROUND(of) ASSAY_FIELD_ENUM, round_texts
#define FIELD(section, name, kind, of, min, max, value, doc)                                       \
    {#section, #name, doc, KIND_##kind(of), min, max, offsetof(assay_record, section.name)},
#define STEPS(section, name, value, doc)                                                           \
    {#section,    #name, doc, ASSAY_FIELD_STEPS,                                                   \
     round_texts, 0,     0,   offsetof(assay_record, section.name)},
static const assay_field fields[] = {
#include "schemes/record/record.def"
};

#define N_FIELDS (sizeof fields / sizeof *fields)

/* Defaults as texts; enumerators are spelled by identifier in record.def, hence by number here. */
#define DEFAULT_INT(x)                                                                             \
    {                                                                                              \
        .number = x, .text = NULL                                                                  \
    }
#define DEFAULT_BOOL(x)                                                                            \
    {                                                                                              \
        .number = x, .text = NULL                                                                  \
    }
#define DEFAULT_ENUM(x)                                                                            \
    {                                                                                              \
        .number = ASSAY_##x, .text = NULL                                                          \
    }
#define DEFAULT_ROUND(x)                                                                           \
    {                                                                                              \
        .number = 0, .text = x                                                                     \
    }
#define FIELD(section, name, kind, of, min, max, value, doc) DEFAULT_##kind(value),
#define STEPS(section, name, value, doc)                     {.number = 0, .text = value},
static const struct {
    int32_t number;
    const char *text;
} defaults[] = {
#include "schemes/record/record.def"
};

#define SECTION(name, doc) {#name, doc},
static const struct {
    const char *name, *doc;
} sections[] = {
#include "schemes/record/record.def"
};

const assay_field *assay_record_fields(size_t *n)
{
    *n = N_FIELDS;
    return fields;
}

int assay_record_find(const char *section, const char *name)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (strcmp(fields[i].section, section) == 0 && strcmp(fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

const char *assay_record_section_doc(const char *section)
{
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (strcmp(sections[i].name, section) == 0)
            return sections[i].doc;
    return NULL;
}

bool assay_record_has_section(const char *section)
{
    return assay_record_section_doc(section) != NULL;
}

assay_field_value assay_record_get(const assay_record *r, const assay_field *f)
{
    assay_field_value v;
    memset(&v, 0, sizeof v);
    size_t size = f->kind == ASSAY_FIELD_STEPS ? sizeof v.steps : sizeof v.number;
    memcpy(&v, (const char *)r + f->offset, size);
    return v;
}

void assay_record_set(assay_record *r, const assay_field *f, assay_field_value v)
{
    size_t size = f->kind == ASSAY_FIELD_STEPS ? sizeof v.steps : sizeof v.number;
    memcpy((char *)r + f->offset, &v, size);
}

bool assay_field_equal(const assay_field *f, assay_field_value a, assay_field_value b)
{
    if (f->kind != ASSAY_FIELD_STEPS)
        return a.number == b.number;
    if (a.steps.n != b.steps.n)
        return false;
    for (int i = 0; i < a.steps.n; i++)
        if (a.steps.step[i].bits != b.steps.step[i].bits ||
            a.steps.step[i].mode != b.steps.step[i].mode)
            return false;
    return true;
}

void assay_field_print(const assay_field *f, assay_field_value v, char *buf, size_t size)
{
    if (f->kind == ASSAY_FIELD_INT) {
        snprintf(buf, size, "%d", v.number);
    } else if (f->kind != ASSAY_FIELD_STEPS) {
        snprintf(buf, size, "%s", f->choices[v.number]);
    } else {
        size_t used = (size_t)snprintf(buf, size, "[");
        for (int i = 0; i < v.steps.n && used < size; i++) {
            const char *comma = i > 0 ? ", " : "";
            const char *mode = round_texts[v.steps.step[i].mode];
            if (v.steps.step[i].bits > 0)
                used += (size_t)snprintf(buf + used, size - used, "%s%d %s", comma,
                                         v.steps.step[i].bits, mode);
            else
                used += (size_t)snprintf(buf + used, size - used, "%s%s", comma, mode);
        }
        if (used < size)
            snprintf(buf + used, size - used, "]");
    }
}

static int find_text(const char *const *texts, const char *text)
{
    for (int i = 0; texts[i]; i++)
        if (strcmp(texts[i], text) == 0)
            return i;
    return -1;
}

static void list_texts(const char *const *texts, char *why, size_t size)
{
    size_t used = (size_t)snprintf(why, size, "one of:");
    for (int i = 0; texts[i] && used < size; i++)
        used += (size_t)snprintf(why + used, size - used, "%s %s", i > 0 ? "," : "", texts[i]);
}

static bool parse_int(const char *text, int32_t min, int32_t max, int32_t *out)
{
    char *end;
    errno = 0;
    long v = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || v < min || v > max)
        return false;
    *out = (int32_t)v;
    return true;
}

/* "[BITS] MODE" */
static bool parse_step(const char *text, assay_steps *steps, char *why, size_t size)
{
    if (steps->n == ASSAY_MAX_STEPS) {
        snprintf(why, size, "at most %d rounding steps", ASSAY_MAX_STEPS);
        return false;
    }
    int32_t bits = 0;
    const char *mode = strchr(text, ' ');
    if (mode) {
        char number[8] = "";
        if (mode - text < (long)sizeof number)
            memcpy(number, text, (size_t)(mode - text));
        if (!parse_int(number, 1, 63, &bits)) {
            snprintf(why, size, "\"BITS MODE\" with BITS from 1 to 63, such as \"31 half-up\"");
            return false;
        }
        mode++;
    } else {
        mode = text;
    }
    int value = find_text(round_texts, mode);
    if (value < 0) {
        list_texts(round_texts, why, size);
        return false;
    }
    steps->step[steps->n].bits = bits;
    steps->step[steps->n].mode = value;
    steps->n++;
    return true;
}

bool assay_field_parse(const assay_field *f, const char *text, assay_field_value *v, char *why,
                       size_t size)
{
    if (f->kind == ASSAY_FIELD_STEPS)
        return parse_step(text, &v->steps, why, size);
    if (f->kind == ASSAY_FIELD_INT) {
        if (parse_int(text, f->min, f->max, &v->number))
            return true;
        snprintf(why, size, "an integer from %d to %d", f->min, f->max);
        return false;
    }
    v->number = find_text(f->choices, text);
    if (v->number < 0 && f->kind == ASSAY_FIELD_BOOL)
        v->number = strcmp(text, "true") == 0 ? 1 : strcmp(text, "false") == 0 ? 0 : -1;
    if (v->number >= 0)
        return true;
    list_texts(f->choices, why, size);
    return false;
}

static assay_record plain;

static void make_plain(void)
{
    for (size_t i = 0; i < N_FIELDS; i++) {
        assay_field_value v;
        char why[256];
        memset(&v, 0, sizeof v);
        v.number = defaults[i].number;
        if (fields[i].kind == ASSAY_FIELD_STEPS) {
            char text[64];
            snprintf(text, sizeof text, "%s", defaults[i].text);
            char *rest = NULL;
            for (char *t = strtok_r(text, ",", &rest); t; t = strtok_r(NULL, ",", &rest))
                assay_field_parse(&fields[i], t + (*t == ' '), &v, why, sizeof why);
        } else if (defaults[i].text) {
            assay_field_parse(&fields[i], defaults[i].text, &v, why, sizeof why);
        }
        assay_record_set(&plain, &fields[i], v);
    }
}

void assay_record_default(assay_record *r)
{
    static once_flag made = ONCE_FLAG_INIT;
    call_once(&made, make_plain); /* every node's unit asks */
    *r = plain;
}

/* One impossible combination: `bad` when it holds, and what would be possible. */
#define REFUSE(bad, ...)                                                                           \
    if (bad) {                                                                                     \
        snprintf(why, size, __VA_ARGS__);                                                          \
        return false;                                                                              \
    }

static bool is_float(const assay_rule_rescale *k)
{
    return k->encoding == ASSAY_ENCODE_F32 || k->encoding == ASSAY_ENCODE_F64;
}

static bool check_types(const assay_record *r, char *why, size_t size)
{
    REFUSE(r->types.activation_zero_point == ASSAY_ZERO_POINT_MIDDLE &&
               r->types.activation_signed && r->types.activation_bits == 1,
           "types.activation_zero_point: middle needs more than one bit");
    REFUSE(r->types.weight_narrow && !r->types.weight_signed,
           "types.weight_narrow: yes needs weight_signed: yes (unsigned weights have no most "
           "negative code)");
    REFUSE(r->types.weight_narrow && r->types.weight_bits == 1,
           "types.weight_narrow: yes needs weight_bits of at least 2");
    REFUSE(r->accumulator.saturate_pairs && r->types.activation_bits != 8,
           "accumulator.saturate_pairs: yes is defined for activation_bits: 8 only");
    REFUSE(r->accumulator.order == ASSAY_ORDER_LANES && r->accumulator.lanes < 2,
           "accumulator.order: lanes needs lanes of at least 2");
    return true;
}

static bool check_blocks(const assay_record *r, char *why, size_t size)
{
    REFUSE(r->blocks.kind == ASSAY_BLOCK_NONE && r->types.weight_scales == ASSAY_PER_BLOCK,
           "types.weight_scales: per-block needs blocks.kind: multiplier");
    REFUSE(r->blocks.kind != ASSAY_BLOCK_NONE && r->accumulator.saturate_pairs,
           "blocks.kind: none with accumulator.saturate_pairs (pairs are of products)");
    REFUSE(r->blocks.kind != ASSAY_BLOCK_NONE && r->types.power_of_two_scales &&
               r->blocks.unit != ASSAY_BLOCK_UNIT_POW2,
           "blocks.unit: power-of-two with types.power_of_two_scales: yes");
    return true;
}

static bool check_rescale(const assay_record *r, char *why, size_t size)
{
    const assay_rule_rescale *k = &r->rescale;
    REFUSE(k->shift_min > k->shift_max, "rescale.shift_min %d is above shift_max %d", k->shift_min,
           k->shift_max);
    REFUSE(k->below_shift_min == ASSAY_LARGE_GENERATOR && k->shift_min != 2,
           "rescale.below_shift_min: tosa-generator needs shift_min: 2, not %d", k->shift_min);
    REFUSE(k->beyond_shift_max == ASSAY_SMALL_GENERATOR && k->shift_max != 62,
           "rescale.beyond_shift_max: tosa-generator needs shift_max: 62, not %d", k->shift_max);
    REFUSE(k->zero_point == ASSAY_STAGE_INSIDE && !is_float(k),
           "rescale.zero_point: inside needs encoding: float32 or float64 (integers round, then "
           "add: after; or subtract first: before)");
    REFUSE(k->zero_point == ASSAY_STAGE_BEFORE && is_float(k),
           "rescale.zero_point: before needs an integer encoding (floats: inside or after)");
    REFUSE(k->scale == ASSAY_FORM_F32_STEPS && k->encoding != ASSAY_ENCODE_F32,
           "rescale.scale: f32-steps needs encoding: float32 (others take f32, f32-product, double "
           "or power-of-two)");
    REFUSE(k->encoding == ASSAY_ENCODE_SHIFT && k->scale != ASSAY_FORM_POW2,
           "rescale.encoding: shift needs scale: power-of-two");
    REFUSE(k->scale == ASSAY_FORM_POW2 && !r->types.power_of_two_scales,
           "rescale.scale: power-of-two needs types.power_of_two_scales: yes");
    REFUSE(k->reduced_bits >= k->multiplier_bits,
           "rescale.reduced_bits %d must be less than multiplier_bits %d", k->reduced_bits,
           k->multiplier_bits);
    return true;
}

static bool check_pre_shift(const assay_record *r, char *why, size_t size)
{
    const assay_rule_rescale *k = &r->rescale;
    REFUSE(k->pre_shift != ASSAY_PRE_NONE && (is_float(k) || k->encoding == ASSAY_ENCODE_GLOW),
           "rescale.pre_shift: none with this encoding (glow derives its own, floats have none)");
    REFUSE(k->pre_shift == ASSAY_PRE_FIXED && k->pre_shift_bits == 0,
           "rescale.pre_shift: fixed needs pre_shift_bits from 1 to 31");
    return true;
}

static bool check_rounding(const assay_record *r, char *why, size_t size)
{
    const assay_rule_rescale *k = &r->rescale;
    REFUSE(k->round.n == 0, "rescale.round needs at least one rounding step");
    REFUSE(k->pre_shift == ASSAY_PRE_REST && (k->round.n != 1 || k->round.step[0].bits == 0),
           "rescale.pre_shift: rest needs one rounding step with its bits, such as [15 half-up]");
    for (int i = 0; i < k->round.n; i++) {
        bool last = i == k->round.n - 1;
        REFUSE(!last && k->round.step[i].bits == 0,
               "rescale.round: step %d needs its bits, such as \"31 half-up\" (only the last step "
               "takes the rest)",
               i + 1);
        REFUSE(last && k->round.step[i].bits != 0 && k->pre_shift != ASSAY_PRE_REST,
               "rescale.round: the last step takes the remaining bits; write it without a number");
    }
    REFUSE(
        k->encoding == ASSAY_ENCODE_F32 && k->float_rounding == ASSAY_FLOAT_ROUND_ADD_ONE &&
            k->round.step[0].mode != ASSAY_ROUND_HALF_EVEN,
        "rescale.float_rounding: add-one needs round: [half-even] (its neighbour is the nearest, "
        "even on a tie)");
    const bool is_exact = k->encoding == ASSAY_ENCODE_THRESHOLDS;
    REFUSE((is_float(k) || is_exact) && k->round.n != 1,
           "rescale.round: %d steps, but encoding %s rounds its product once; write encoding: "
           "multiplier beside them, or one rounding",
           k->round.n,
           is_exact                          ? "thresholds"
           : k->encoding == ASSAY_ENCODE_F32 ? "float32"
                                             : "float64");
    REFUSE(is_exact && k->store == ASSAY_STORE_WRAP,
           "rescale.store: saturate with encoding: thresholds, which have a least and a greatest "
           "code");
    return true;
}

static bool check_zero_point(const assay_record *r, char *why, size_t size)
{
    const assay_rule_rescale *k = &r->rescale;
    REFUSE(r->types.power_of_two_scales && r->types.activation_zero_point == ASSAY_ZERO_POINT_ANY &&
               k->encoding == ASSAY_ENCODE_SHIFT,
           "types.activation_zero_point: none or middle with encoding: shift");
    return true;
}

bool assay_record_check(const assay_record *r, char *why, size_t size)
{
    return check_types(r, why, size) && check_blocks(r, why, size) && check_rescale(r, why, size) &&
           check_pre_shift(r, why, size) && check_rounding(r, why, size) &&
           check_zero_point(r, why, size);
}
