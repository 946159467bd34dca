/* The record in force for a node, and the canonical text of a scheme. */
#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/record/data.h"
#include "schemes/record/reads.h"

assay_scheme_data *assay_scheme_data_new(void)
{
    assay_scheme_data *d = calloc(1, sizeof *d);
    size_t n;
    (void)assay_record_fields(&n);
    uint8_t *origin = d ? calloc(n, 1) : NULL;
    if (!origin) {
        free(d);
        return NULL;
    }
    d->origin = origin;
    assay_record_default(&d->base);
    return d;
}

void assay_scheme_data_free(assay_scheme_data *d)
{
    if (!d)
        return;
    for (size_t i = 0; i < d->n_overrides; i++)
        free(d->override[i].name);
    for (size_t i = 0; i < d->n_precomputed; i++) {
        free(d->precomputed[i].node);
        free(d->precomputed[i].multiplier);
        free(d->precomputed[i].shift);
    }
    for (int i = 0; i < ASSAY_CONTRACTS; i++)
        free(d->contract[i]);
    for (int i = 0; i < d->n_from; i++)
        free(d->from[i]);
    free(d->origin);
    assay_rule_policies_free(d);
    free(d->override);
    free(d->precomputed);
    free(d->name);
    free(d->description);
    free(d);
}

/* A depthwise conv is a conv of one variant. */
static const char *plain_op(const char *op, unsigned *variant)
{
    if (strcmp(op, ASSAY_DEPTHWISE) != 0)
        return op;
    *variant |= ASSAY_VARIANT_DEPTHWISE;
    return "conv";
}

/* The flags that must be set for the override to be in force. */
static unsigned flags_of(const assay_override *o)
{
    static const unsigned flags[ASSAY_SCOPES] = {
        [ASSAY_SCOPE_WIDE] = ASSAY_VARIANT_WIDE,
        [ASSAY_SCOPE_DEPTHWISE] = ASSAY_VARIANT_DEPTHWISE,
        [ASSAY_SCOPE_WIDE_OP] = ASSAY_VARIANT_WIDE,
        [ASSAY_SCOPE_WIDE_DEPTHWISE] = ASSAY_VARIANT_WIDE | ASSAY_VARIANT_DEPTHWISE,
        [ASSAY_SCOPE_UNSIGNED_OP] = ASSAY_VARIANT_UNSIGNED,
        [ASSAY_SCOPE_UNSIGNED_DEPTHWISE] = ASSAY_VARIANT_UNSIGNED | ASSAY_VARIANT_DEPTHWISE,
    };
    return flags[o->scope];
}

/* op: a name of the op table. */
static bool applies(const assay_override *o, const char *op, const char *node, unsigned variant)
{
    if (flags_of(o) & ~variant)
        return false;
    switch (o->scope) {
    case ASSAY_SCOPE_OP:
    case ASSAY_SCOPE_WIDE_OP:
    case ASSAY_SCOPE_UNSIGNED_OP:
        return strcmp(o->name, op) == 0;
    case ASSAY_SCOPE_NODE:
        return strcmp(o->name, node) == 0;
    default:
        return true;
    }
}

bool assay_override_beside(const assay_override *a, const assay_override *b)
{
    return a->scope == b->scope && strcmp(a->name, b->name) == 0;
}

bool assay_override_applies(const assay_override *o, const char *op, const char *node,
                            unsigned variant)
{
    op = plain_op(op, &variant);
    return applies(o, op, node, variant);
}

unsigned assay_variants_of(const assay_scheme_data *d, const char *op)
{
    unsigned variants = 0;
    for (size_t i = 0; i < d->n_overrides; i++)
        if (assay_override_applies(&d->override[i], op, "", flags_of(&d->override[i])))
            variants |= flags_of(&d->override[i]);
    return strcmp(op, "conv") == 0 || op[0] == '\0' ? variants
                                                    : variants & ~(unsigned)ASSAY_VARIANT_DEPTHWISE;
}

const char *assay_override_op(const assay_override *o)
{
    switch (o->scope) {
    case ASSAY_SCOPE_DEPTHWISE:
    case ASSAY_SCOPE_WIDE_DEPTHWISE:
    case ASSAY_SCOPE_UNSIGNED_DEPTHWISE:
        return ASSAY_DEPTHWISE;
    case ASSAY_SCOPE_WIDE:
    case ASSAY_SCOPE_NODE:
        return "";
    case ASSAY_SCOPE_OP:
    case ASSAY_SCOPE_WIDE_OP:
    case ASSAY_SCOPE_UNSIGNED_OP:
        break;
    }
    return o->name;
}

void assay_effective_record(const assay_scheme_data *d, const char *op, const char *node,
                            unsigned variant, assay_record *out)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    unsigned scopes = 0; /* that hold anything for this node, a bit each */
    op = plain_op(op, &variant);
    for (size_t i = 0; i < d->n_overrides; i++)
        if (applies(&d->override[i], op, node, variant)) {
            assert((unsigned)d->override[i].scope < ASSAY_SCOPES);
            scopes |= 1U << d->override[i].scope;
        }
    *out = d->base;
    for (int scope = 0; scope < ASSAY_SCOPES; scope++)
        for (size_t i = 0; i < d->n_overrides && scopes >> scope & 1; i++) {
            const assay_override *o = &d->override[i];
            if ((int)o->scope == scope && applies(o, op, node, variant))
                assay_record_set(out, &fields[o->field], o->value);
        }
    assay_reads_normalize(out);
}

typedef struct text {
    char *s;
    size_t used, size;
    bool failed;
} text;

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    size_t length = strlen(line);
    if (t->used + length + 1 > t->size) {
        size_t size = t->size * 2 + length + 1024;
        char *grown = realloc(t->s, size);
        if (!grown) {
            t->failed = true;
            return;
        }
        t->s = grown;
        t->size = size;
    }
    memcpy(t->s + t->used, line, length + 1);
    t->used += length;
}

/* A node's name as a double-quoted YAML text. */
static void put_quoted(text *t, const char *name)
{
    put(t, "\"");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c < 0x20 || c == 0x7f)
            put(t, "\\x%02x", c);
        else
            put(t, c == '"' || c == '\\' ? "\\%c" : "%c", c);
    }
    put(t, "\"");
}

static int compare_overrides(const void *a, const void *b)
{
    const assay_override *x = a, *y = b;
    if (x->scope != y->scope)
        return (int)x->scope - (int)y->scope;
    int names = strcmp(x->name, y->name);
    return names != 0 ? names : x->field - y->field;
}

/* The given multipliers of a node, below its name. */
static void put_precomputed(text *t, const assay_precomputed *g)
{
    put(t, "    given:\n      multiplier: [");
    for (size_t i = 0; i < g->n; i++)
        put(t, "%s%lld", i > 0 ? ", " : "", (long long)g->multiplier[i]);
    put(t, "]\n      shift: [");
    for (size_t i = 0; i < g->n; i++)
        put(t, "%s%lld", i > 0 ? ", " : "", (long long)g->shift[i]);
    put(t, "]\n");
    if (g->has_zero_point)
        put(t, "      zero_point: %d\n", g->zero_point);
    if (g->has_diff_min)
        put(t, "      diff_min: %d\n", g->diff_min);
}

static const assay_precomputed *find_precomputed(const assay_scheme_data *d, const char *node)
{
    for (size_t i = 0; i < d->n_precomputed; i++)
        if (strcmp(d->precomputed[i].node, node) == 0)
            return &d->precomputed[i];
    return NULL;
}

static bool has_override(const assay_scheme_data *d, const char *node)
{
    for (size_t i = 0; i < d->n_overrides; i++)
        if (d->override[i].scope == ASSAY_SCOPE_NODE &&
            (!node || strcmp(d->override[i].name, node) == 0))
            return true;
    return false;
}

static void put_overrides(text *t, const assay_scheme_data *d)
{
    static const char *const scopes[ASSAY_SCOPES] = {
        "wide", "ops", "ops", "wide_ops", "wide_ops", "unsigned_ops", "unsigned_depthwise",
        "nodes"};
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_override *sorted = malloc((d->n_overrides + 1) * sizeof *sorted);
    if (!sorted) {
        t->failed = true;
        return;
    }
    if (d->n_overrides > 0)
        memcpy(sorted, d->override, d->n_overrides * sizeof *sorted);
    qsort(sorted, d->n_overrides, sizeof *sorted, compare_overrides);
    for (size_t i = 0; i < d->n_overrides; i++) {
        const assay_override *o = &sorted[i], *last = i > 0 ? &sorted[i - 1] : NULL;
        const assay_field *f = &fields[o->field];
        bool new_scope = !last || strcmp(scopes[last->scope], scopes[o->scope]) != 0;
        bool new_name = new_scope || strcmp(last->name, o->name) != 0;
        bool new_section = new_name || strcmp(fields[last->field].section, f->section) != 0;
        const char *indent = assay_scope_is_named(o->scope) ? "  " : "";
        char value[128];
        assay_field_print(f, o->value, value, sizeof value);
        if (new_scope)
            put(t, "%s:\n", scopes[o->scope]);
        if (new_name && o->scope == ASSAY_SCOPE_NODE) {
            put(t, "  ");
            put_quoted(t, o->name);
            put(t, ":\n");
            if (find_precomputed(d, o->name))
                put_precomputed(t, find_precomputed(d, o->name));
        } else if (new_name && assay_scope_is_named(o->scope)) {
            put(t, "  %s:\n", o->name);
        }
        if (new_section)
            put(t, "%s  %s:\n", indent, f->section);
        put(t, "%s    %s: %s\n", indent, f->name, value);
    }
    free(sorted);
}

static void put_op_set(text *t, const char *key, const bool set[ASSAY_OP_COUNT])
{
    bool any = false;
    for (int op = 0; op < ASSAY_OP_COUNT; op++) {
        if (!set[op])
            continue;
        put(t, any ? ", %s%s" : "%s: [%s", any ? "" : key, assay_op_get((assay_op)op)->name);
        any = true;
    }
    if (any)
        put(t, "]\n");
}

static int compare_policies(const void *a, const void *b)
{
    return strcmp(((const assay_rule_policy *)a)->rule, ((const assay_rule_policy *)b)->rule);
}

static void put_policies(text *t, const assay_scheme_data *d)
{
    assay_rule_policy *sorted = malloc((d->n_policies + 1) * sizeof *sorted);
    if (!sorted) {
        t->failed = true;
        return;
    }
    if (d->n_policies > 0)
        memcpy(sorted, d->policy, d->n_policies * sizeof *sorted);
    qsort(sorted, d->n_policies, sizeof *sorted, compare_policies);
    for (size_t i = 0; i < d->n_policies; i++) {
        put(t, i == 0 ? "rules:\n  " : "  ");
        put_quoted(t, sorted[i].rule);
        put(t, sorted[i].bound < 0 ? ": never\n" : ": %lld\n", (long long)sorted[i].bound);
    }
    free(sorted);
}

char *assay_scheme_text(const assay_scheme_data *d)
{
    text t = {0};
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    put(&t, "scheme: %s\n", d->name);
    for (size_t i = 0; i < n; i++) {
        char value[128];
        if (i == 0 || strcmp(fields[i].section, fields[i - 1].section) != 0)
            put(&t, "%s:\n", fields[i].section);
        assay_field_print(&fields[i], assay_record_get(&d->base, &fields[i]), value, sizeof value);
        put(&t, "  %s: %s\n", fields[i].name, value);
    }
    put_op_set(&t, "float_ops", d->in_float);
    put_op_set(&t, "unfused_ops", d->unfused[ASSAY_UNFUSED]);
    put_op_set(&t, "wide_unfused_ops", d->unfused[ASSAY_UNFUSED_WIDE]);
    put_op_set(&t, "narrow_unfused_ops", d->unfused[ASSAY_UNFUSED_NARROW]);
    put_op_set(&t, "mixed_unfused_ops", d->unfused[ASSAY_UNFUSED_MIXED]);
    put_op_set(&t, "clamped_unfused_ops", d->unfused[ASSAY_UNFUSED_CLAMPED]);
    put_op_set(&t, "bare_unfused_ops", d->unfused[ASSAY_UNFUSED_BARE]);
    put_policies(&t, d);
    put_overrides(&t, d);
    if (d->n_precomputed > 0 && !has_override(d, NULL))
        put(&t, "nodes:\n");
    for (size_t i = 0; i < d->n_precomputed; i++)
        if (!has_override(d, d->precomputed[i].node)) {
            put(&t, "  ");
            put_quoted(&t, d->precomputed[i].node);
            put(&t, ":\n");
            put_precomputed(&t, &d->precomputed[i]);
        }
    if (t.failed) {
        free(t.s);
        return NULL;
    }
    return t.s;
}
