/* Parts of a scheme file that the records in force read: the rest is dropped where it was
 * inherited, and refused where the file states it. */
#include "schemes/read/uses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/op.h"
#include "schemes/record/reads.h"

/* ---- overrides ---- */

/* Whether the op that an override names asks for its field; of nodes, and of all wide ones, any. */
static bool is_asked_for(const assay_record *r, const assay_override *o)
{
    size_t n;
    const assay_field *f = &assay_record_fields(&n)[o->field];
    const char *name = assay_override_op(o);
    if (strcmp(name, ASSAY_DEPTHWISE) == 0)
        return assay_reads_given(r, ASSAY_OP_CONV, o->scope, f);
    if (name[0] != '\0')
        return assay_reads_given(r, assay_op_find(name), o->scope, f);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        if (assay_reads_given(r, (assay_op)op, o->scope, f))
            return true;
    return false;
}

/* Who does not ask, in words. */
static void name_asked(const assay_override *o, char *out, size_t size)
{
    static const char *const variants[ASSAY_SCOPES] = {
        [ASSAY_SCOPE_WIDE_OP] = " of codes of more than 8 bits",
        [ASSAY_SCOPE_WIDE_DEPTHWISE] = " of codes of more than 8 bits",
        [ASSAY_SCOPE_UNSIGNED_OP] = " of unsigned codes",
        [ASSAY_SCOPE_UNSIGNED_DEPTHWISE] = " of unsigned codes",
    };
    if (o->scope == ASSAY_SCOPE_NODE)
        snprintf(out, size, "a node on its own");
    else if (o->scope == ASSAY_SCOPE_WIDE)
        snprintf(out, size, "nodes of codes of more than 8 bits");
    else
        snprintf(out, size, "%s%s", assay_override_op(o),
                 variants[o->scope] ? variants[o->scope] : "");
}

/* ---- all records in force ---- */

/* What each field of the base, and each override, is read by. */
typedef struct uses {
    bool *base, *override; /* owned */
} uses;

static void note(const assay_scheme_data *d, const char *op, const char *node, unsigned variant,
                 uses *u)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    assay_record r;
    assay_effective_record(d, op, node, variant, &r);
    for (size_t i = 0; i < n; i++)
        u->base[i] = u->base[i] || !assay_reads_not(&r, &fields[i]);
    for (size_t i = 0; i < d->n_overrides; i++) {
        const assay_override *o = &d->override[i];
        if (!u->override[i] && assay_override_applies(o, op, node, variant))
            u->override[i] = !assay_reads_not(&r, &fields[o->field]) && is_asked_for(&r, o);
    }
}

static void note_forms(const assay_scheme_data *d, const char *op, const char *node, uses *u)
{
    const unsigned variants = assay_variants_of(d, op);
    for (unsigned variant = 0; variant < ASSAY_VARIANTS; variant++)
        if (!(variant & ~variants))
            note(d, op, node, variant, u);
}

/* The node that an override names, or "". */
static const char *node_of(const assay_override *o)
{
    return o->scope == ASSAY_SCOPE_NODE ? o->name : "";
}

/* Whether an override before i is of the same op and node: its variants are noted then. */
static bool is_noted(const assay_scheme_data *d, size_t i)
{
    const char *op = assay_override_op(&d->override[i]), *node = node_of(&d->override[i]);
    for (size_t k = i; k > 0; k--)
        if (strcmp(assay_override_op(&d->override[k - 1]), op) == 0 &&
            strcmp(node_of(&d->override[k - 1]), node) == 0)
            return true;
    return op[0] == '\0' && node[0] == '\0';
}

static bool find_uses(const assay_scheme_data *d, uses *u)
{
    size_t n;
    (void)assay_record_fields(&n);
    u->base = calloc(n, sizeof *u->base);
    u->override = calloc(d->n_overrides + 1, sizeof *u->override);
    if (!u->base || !u->override)
        return false;
    note_forms(d, "", "", u);
    for (size_t i = 0; i < d->n_overrides; i++)
        if (!is_noted(d, i))
            note_forms(d, assay_override_op(&d->override[i]), node_of(&d->override[i]), u);
    return true;
}

static void free_uses(uses *u)
{
    free(u->base);
    free(u->override);
}

static bool is_default(int field, assay_field_value v)
{
    size_t n;
    const assay_field *f = &assay_record_fields(&n)[field];
    assay_record plain;
    assay_record_default(&plain);
    return assay_field_equal(f, v, assay_record_get(&plain, f));
}

/* Whether the scheme holds anything that its file does not state. */
static bool has_inherited(const assay_reading *c)
{
    const assay_scheme_data *d = c->data;
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t i = 0; i < d->n_overrides; i++)
        if (!d->override[i].at)
            return true;
    for (size_t i = 0; i < n; i++)
        if (!c->at[i] && !is_default((int)i, assay_record_get(&d->base, &fields[i])))
            return true;
    return false;
}

assay_status assay_reads_drop(const assay_reading *c)
{
    assay_scheme_data *d = c->data;
    size_t n, kept = 0;
    const assay_field *fields = assay_record_fields(&n);
    assay_record plain;
    uses u = {NULL, NULL};
    if (!has_inherited(c))
        return ASSAY_OK;
    if (!find_uses(d, &u)) {
        free_uses(&u);
        return assay_read_no_memory(c);
    }
    assay_record_default(&plain);
    for (size_t i = 0; i < n; i++)
        if (!u.base[i] && !c->at[i])
            assay_record_set(&d->base, &fields[i], assay_record_get(&plain, &fields[i]));
    for (size_t i = 0; i < d->n_overrides; i++) {
        if (u.override[i] || d->override[i].at)
            d->override[kept++] = d->override[i];
        else
            free(d->override[i].name);
    }
    d->n_overrides = kept;
    free_uses(&u);
    return ASSAY_OK;
}

static assay_status refuse_unasked(const assay_reading *c, const assay_override *o)
{
    size_t n;
    const assay_field *f = &assay_record_fields(&n)[o->field];
    char value[128], who[128];
    assay_field_print(f, o->value, value, sizeof value);
    name_asked(o, who, sizeof who);
    return assay_fail(c->err, ASSAY_ERR_SCHEME, "%s:%u:%u: %s.%s: %s is not read by %s", c->file,
                      o->at->line, o->at->column, f->section, f->name, value, who);
}

static assay_status refuse(const assay_reading *c, const assay_tree *at, int field,
                           assay_field_value v, const assay_record *r)
{
    size_t n;
    const assay_field *f = &assay_record_fields(&n)[field];
    const char *why = assay_reads_not(r, f);
    char value[128];
    assay_field_print(f, v, value, sizeof value);
    return assay_fail(c->err, ASSAY_ERR_SCHEME, "%s:%u:%u: %s.%s: %s is not read here; it needs %s",
                      c->file, at->line, at->column, f->section, f->name, value, why);
}

assay_status assay_reads_check(const assay_reading *c)
{
    const assay_scheme_data *d = c->data;
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    uses u = {NULL, NULL};
    assay_record r;
    assay_status s = find_uses(d, &u) ? ASSAY_OK : assay_read_no_memory(c);
    assay_effective_record(d, "", "", 0, &r);
    for (int i = 0; i < (int)n && !s; i++) {
        const assay_field_value v = assay_record_get(&d->base, &fields[i]);
        if (!u.base[i] && c->at[i] && !is_default(i, v))
            s = refuse(c, c->at[i], i, v, &r);
    }
    for (size_t i = 0; i < d->n_overrides && !s; i++) {
        const assay_override *o = &d->override[i];
        unsigned variant = 0;
        if (u.override[i] || !o->at)
            continue;
        const char *op = assay_override_op(o), *node = node_of(o);
        while (!assay_override_applies(o, op, node, variant))
            variant++;
        assay_effective_record(d, op, node, variant, &r);
        if (!assay_reads_not(&r, &fields[o->field]))
            s = refuse_unasked(c, o);
        else if (!is_default(o->field, o->value))
            s = refuse(c, o->at, o->field, o->value, &r);
    }
    free_uses(&u);
    return s;
}
