/* The table of hypotheses, and those over the scheme: every field of the record, whole schemes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "interp/blame/families.h"
#include "schemes/prepare/asks.h"

#define FAMILY(family, kind, later) FAMILY_##kind(family, later)
#define ENTRY(family, later, change, ...)                                                          \
    {.id = BLAME_FAMILY_##family,                                                                  \
     .count = blame_##family##_count,                                                              \
     .change = blame_##family##_##change,                                                          \
     .late = later,                                                                                \
     __VA_ARGS__},
#define FAMILY_edit(family, later)        ENTRY(family, later, edit, .behind = false)
#define FAMILY_post(family, later)        ENTRY(family, later, post, .behind = false)
#define FAMILY_end_edit(family, later)    ENTRY(family, later, edit, .behind = true)
#define FAMILY_end_post(family, later)    ENTRY(family, later, post, .behind = true)
#define FAMILY_sought_edit(family, later) ENTRY(family, later, edit, .sought = true)
#define FAMILY_sought_end_edit(family, later)                                                      \
    ENTRY(family, later, edit, .sought = true, .behind = true)
const blame_family blame_families[BLAME_FAMILIES] = {
#include "interp/blame/hypotheses.def"
};
#undef FAMILY_edit
#undef FAMILY_post
#undef FAMILY_end_edit
#undef FAMILY_end_post
#undef FAMILY_sought_edit
#undef FAMILY_sought_end_edit
#undef ENTRY

int blame_rank(const char *class)
{
#define CLASS(name) name,
    static const char *const classes[] = {
#include "interp/blame/hypotheses.def"
    };
    int i = 0;
    while (i < (int)(sizeof classes / sizeof *classes) && strcmp(classes[i], class) != 0)
        i++;
    return i;
}

/* ---- fields ---- */

static bool has_sums(const blame_search *s)
{
    return s->has_record && (assay_op_get(s->n->op)->traits & (ASSAY_T_WEIGHTED | ASSAY_T_SUMS) ||
                             s->n->op == ASSAY_OP_MATMUL);
}

static const char *class_of(const blame_search *s, const assay_field *f)
{
#define FIELD(section, field, class) {#section, #field, class},
    static const struct {
        const char *section, *field, *class;
    } rows[] = {
#include "interp/blame/hypotheses.def"
    };
    const bool sums = assay_op_get(s->n->op)->traits & ASSAY_T_SUMS;
    if (strcmp(f->section, "rescale") == 0 && !has_sums(s) && strcmp(f->name, "operand_bits") == 0)
        return "rescale.width";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].section, f->section) == 0 &&
            (rows[i].field[0] == 0 || strcmp(rows[i].field, f->name) == 0))
            return sums && strcmp(rows[i].class, "rescale.rounding") == 0 ? "pool.rounding"
                                                                          : rows[i].class;
    return "unexplained";
}

/* Ops of two operands rescale each and their result; a rounding may be wrong in one of the three.
 */
static const char *const operand_words[] = {"of the first operand", "of the second operand",
                                            "of the result"};
enum { SINGLE_SCALES = 3 };

int blame_record_count(blame_search *s)
{
    const bool binary = assay_op_get(s->n->op)->traits & ASSAY_T_BINARY;
    return s->n_values * (1 + (binary ? SINGLE_SCALES : 0));
}

static bool edit_single(const blame_value *v, int scale, blame_case *c, blame_story *story)
{
    char now[80];
    assay_record r = c->record;
    if (strcmp(v->field->section, "rescale") != 0 || strcmp(v->field->name, "round") != 0)
        return false;
    assay_field_print(v->field, v->value, now, sizeof now);
    blame_tell(story, "rescale.rounding", 1, "rescale.round: %s, in the rescale %s alone", now,
               operand_words[scale]);
    assay_record_set(&r, v->field, v->value);
    c->has_single = true;
    c->single_scale = scale;
    c->single = r.rescale;
    return true;
}

bool blame_record_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const blame_value *v = &s->value[i % s->n_values];
    const assay_field *f = v->field;
    char now[80], then[80];
    if (i >= s->n_values)
        return edit_single(v, i / s->n_values - 1, c, story);
    /* without a multiplier the product is the accumulator, whose width it then is */
    if (s->record.rescale.encoding == ASSAY_ENCODE_SHIFT && strcmp(f->name, "product_bits") == 0)
        return false;
    assay_field_print(f, v->value, now, sizeof now);
    assay_field_print(f, assay_record_get(&s->record, f), then, sizeof then);
    /* another way of writing R changes every number that stands for it; a register that there was
     * none of has a width and a way to overflow */
    const char *class = class_of(s, f);
    const bool register_made = strcmp(class, "rescale.width") == 0 && strcmp(then, "0") == 0;
    const bool rewritten = strcmp(class, "rescale.multiplier") == 0;
    /* an accumulator that does not even hold a code is no mere narrow one */
    const bool too_narrow = strcmp(class, "accumulator.width") == 0 && f->kind == ASSAY_FIELD_INT &&
                            v->value.number > 0 && v->value.number < s->type->elem.bits;
    blame_tell(story, class, rewritten || register_made || too_narrow ? 2 : 1,
               "%s.%s: %s instead of %s", f->section, f->name, now, then);
    c->has_record = true;
    assay_record_set(&c->record, f, v->value);
    /* a way to round to even says nothing of other roundings */
    if (strcmp(f->section, "rescale") == 0 && strcmp(f->name, "round") == 0)
        c->record.rescale.float_rounding = ASSAY_FLOAT_ROUND_EXACT;
    return true;
}

/* How the last step of a row rounds, which is of its kind and no field of the record. */
int blame_last_count(blame_search *s)
{
    const bool is_row = s->n->op == ASSAY_OP_SOFTMAX || s->n->op == ASSAY_OP_LOG_SOFTMAX;
    return s->has_record && is_row ? ASSAY_ROUND_COUNT : 0;
}

bool blame_last_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    (void)s;
    c->has_last = true;
    c->last = (enum assay_rounding)i;
    blame_tell(story, "rescale.rounding", 1, "the last step rounds by %s",
               assay_rounding_name(c->last));
    return true;
}

/* ---- accumulators ---- */

static const int32_t overflows[] = {ASSAY_OVERFLOW_WRAP, ASSAY_OVERFLOW_SATURATE_EACH,
                                    ASSAY_OVERFLOW_SATURATE_END};
static const char *const overflow_names[] = {"wrap", "saturate-each-step", "saturate-at-end"};
enum { MIN_WIDTH = 8, MAX_WIDTH = 31 };

int blame_width_count(blame_search *s)
{
    return has_sums(s) ? 3 * (MAX_WIDTH - MIN_WIDTH + 1) : 0;
}

bool blame_width_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const int32_t bits = MIN_WIDTH + i / 3;
    assay_rule_accumulator *a = &c->record.accumulator;
    const int changed = (a->bits != bits) + (a->overflow != overflows[i % 3]);
    (void)s;
    blame_tell(story, "accumulator.width", changed, "an accumulator of %d bits, overflow: %s", bits,
               overflow_names[i % 3]);
    a->bits = bits;
    a->overflow = overflows[i % 3];
    c->has_record = true;
    return changed > 0;
}

/* Orders, in which a narrow accumulator saturates otherwise. */
static const struct {
    const char *words;
    int32_t order, lanes, block, bias, pairs;
} orders[] = {
    {"reverse order", ASSAY_ORDER_REVERSE, 1, 1, ASSAY_BIAS_FIRST, 0},
    {"the bias last", ASSAY_ORDER_FORWARD, 1, 1, ASSAY_BIAS_LAST, 0},
    {"2 lanes", ASSAY_ORDER_LANES, 2, 1, ASSAY_BIAS_FIRST, 0},
    {"4 lanes", ASSAY_ORDER_LANES, 4, 1, ASSAY_BIAS_FIRST, 0},
    {"8 lanes", ASSAY_ORDER_LANES, 8, 1, ASSAY_BIAS_FIRST, 0},
    {"16 lanes", ASSAY_ORDER_LANES, 16, 1, ASSAY_BIAS_FIRST, 0},
    {"blocks of 2", ASSAY_ORDER_FORWARD, 1, 2, ASSAY_BIAS_FIRST, 0},
    {"blocks of 4", ASSAY_ORDER_FORWARD, 1, 4, ASSAY_BIAS_FIRST, 0},
    {"blocks of 8", ASSAY_ORDER_FORWARD, 1, 8, ASSAY_BIAS_FIRST, 0},
    {"blocks of 16", ASSAY_ORDER_FORWARD, 1, 16, ASSAY_BIAS_FIRST, 0},
    {"blocks of 32", ASSAY_ORDER_FORWARD, 1, 32, ASSAY_BIAS_FIRST, 0},
    {"saturating pairs", ASSAY_ORDER_FORWARD, 1, 1, ASSAY_BIAS_FIRST, 1},
};
enum { N_ORDERS = sizeof orders / sizeof *orders, MIN_SATURATING = 10, MAX_SATURATING = 26 };

int blame_order_count(blame_search *s)
{
    return has_sums(s) ? N_ORDERS * (MAX_SATURATING - MIN_SATURATING + 1) : 0;
}

bool blame_order_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    assay_rule_accumulator *a = &c->record.accumulator;
    const int o = i % N_ORDERS;
    (void)s;
    a->bits = MIN_SATURATING + i / N_ORDERS;
    a->overflow = ASSAY_OVERFLOW_SATURATE_EACH;
    a->order = orders[o].order;
    a->lanes = orders[o].lanes;
    a->block = orders[o].block;
    a->bias = orders[o].bias;
    a->saturate_pairs = orders[o].pairs;
    c->has_record = true;
    blame_tell(story, "accumulator.order", 3, "%s, in an accumulator of %d bits that saturates",
               orders[o].words, a->bits);
    return true;
}

/* ---- schemes ---- */

/* An average pool whose one window is the image: some targets take it for a global one, which they
 * may round otherwise. */
static bool is_whole_pool(const blame_case *c)
{
    assay_window w;
    if (c->op != ASSAY_OP_AVG_POOL || !blame_case_window(c, &w))
        return false;
    for (int i = 0; i < c->in[0].rank - 2; i++) {
        const int axis = i + (w.nhwc ? 1 : 2);
        if (c->out.dim[axis] != 1 || c->attr.pool.kernel.v[i] != c->in[0].dim[axis])
            return false;
    }
    return true;
}

static void make_global(blame_case *c)
{
    const int layout = c->attr.pool.layout;
    c->op = ASSAY_OP_GLOBAL_AVG_POOL;
    memset(&c->attr, 0, sizeof c->attr);
    c->attr.layout.layout = layout;
}

int blame_scheme_count(blame_search *s)
{
    return s->has_record ? s->schemes->n * (s->n->op == ASSAY_OP_AVG_POOL ? 2 : 1) : 0;
}

static int count_changes(assay_op op, const assay_record *a, const assay_record *b)
{
    size_t n;
    const assay_field *f = assay_record_fields(&n);
    int changes = 0;
    for (size_t i = 0; i < n; i++)
        changes +=
            strcmp(f[i].section, "types") != 0 && strcmp(f[i].section, "accepts") != 0 &&
            !assay_field_equal(&f[i], assay_record_get(a, &f[i]), assay_record_get(b, &f[i])) &&
            (assay_reads_op(a, op, &f[i]) || assay_reads_op(b, op, &f[i]));
    return changes;
}

int blame_scheme_apply(const assay_scheme *scheme, blame_case *c)
{
    blame_case theirs = *c;
    assay_record r;
    theirs.scheme = scheme;
    if (!blame_case_record(&theirs, &r))
        return 0;
    r.types = c->record.types;
    r.accepts = c->record.accepts;
    const int changes = count_changes(c->op, &c->record, &r);
    if (changes == 0)
        return 0;
    c->record = r;
    c->has_record = true;
    return changes;
}

bool blame_scheme_edit(blame_search *s, int i, blame_case *c, blame_story *story)
{
    const bool global = i >= s->schemes->n;
    const assay_scheme *scheme = s->schemes->scheme[i % s->schemes->n];
    if (global && !is_whole_pool(c))
        return false;
    if (global)
        make_global(c);
    const int changes = blame_scheme_apply(scheme, c) + global;
    if (changes == 0)
        return false;
    blame_tell(story, "scheme", changes, "what scheme %s computes%s", scheme->name,
               global ? " of a global average pool" : "");
    snprintf(story->scheme, sizeof story->scheme, "%s", scheme->name);
    return true;
}

assay_status blame_schemes_open(const char *const *given, int n, blame_schemes *out,
                                assay_error *err)
{
    assay_status status = ASSAY_OK;
    int presets = 0;
    *out = (blame_schemes){0};
    while (assay_scheme_presets()[presets])
        presets++;
    out->scheme = calloc((size_t)(n + presets) + 1, sizeof(assay_scheme *));
    if (!out->scheme)
        return assay_out_of_memory(err);
    for (int i = 0; i < n + presets && !status; i++) {
        const char *name = i < n ? given[i] : assay_scheme_presets()[i - n];
        status = assay_scheme_open(name, &out->scheme[out->n], err);
        out->n += !status;
    }
    if (status)
        blame_schemes_close(out);
    return status;
}

void blame_schemes_close(blame_schemes *s)
{
    for (int i = 0; i < s->n; i++)
        assay_scheme_free(s->scheme[i]);
    free(s->scheme);
    *s = (blame_schemes){0};
}
