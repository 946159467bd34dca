/* Sections of a scheme file: values of parameters, for the base, for ops and for nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/read/read.h"

static assay_status read_value(const assay_reading *c, const assay_tree *t, const assay_field *f,
                               assay_field_value *v)
{
    char why[256];
    memset(v, 0, sizeof *v);
    if (f->kind == ASSAY_FIELD_STEPS && t->kind == ASSAY_TREE_LIST) {
        for (const assay_tree *i = t->child; i; i = i->next) {
            if (i->kind != ASSAY_TREE_SCALAR)
                return assay_read_fail(c, i, "expected a rounding step such as \"31 half-up\"");
            if (!assay_field_parse(f, i->text, v, why, sizeof why))
                return assay_fail(c->err, ASSAY_ERR_INPUT,
                                  "%s:%u:%u: %s.%s: found \"%.40s\", expected %s", c->file, i->line,
                                  i->column, f->section, f->name, i->text, why);
        }
        return ASSAY_OK;
    }
    if (t->kind != ASSAY_TREE_SCALAR)
        return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: %s.%s: expected one value", c->file,
                          t->line, t->column, f->section, f->name);
    if (assay_field_parse(f, t->text, v, why, sizeof why))
        return ASSAY_OK;
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: %s.%s: found \"%.40s\", expected %s",
                      c->file, t->line, t->column, f->section, f->name, t->text, why);
}

static assay_status add_override(const assay_reading *c, const assay_tree *at,
                                 enum assay_scope scope, const char *name, int field,
                                 assay_field_value v)
{
    assay_scheme_data *d = c->data;
    for (size_t i = 0; i < d->n_overrides; i++) {
        assay_override *o = &d->override[i];
        if (o->scope == scope && o->field == field && strcmp(o->name, name) == 0) {
            o->value = v;
            o->origin = d->n_from + 1;
            o->at = at;
            return ASSAY_OK;
        }
    }
    assay_override *grown = realloc(d->override, (d->n_overrides + 1) * sizeof *grown);
    if (!grown)
        return assay_read_no_memory(c);
    d->override = grown;
    char *copy = strdup(name);
    if (!copy)
        return assay_read_no_memory(c);
    grown[d->n_overrides++] = (assay_override){scope, copy, field, v, d->n_from + 1, at};
    return ASSAY_OK;
}

/* What follows from other keys of a section unless the file says it: weights without a most
 * negative code to spare are not narrow (who says that they are is refused), and a shift without a
 * multiplier is written as it is. */
static void imply(const assay_tree *section, assay_record *r)
{
    bool types = strcmp(section->key, "types") == 0, rescale = strcmp(section->key, "rescale") == 0;
    if (types && !assay_tree_get(section, "weight_narrow") &&
        (!r->types.weight_signed || r->types.weight_bits == 1))
        r->types.weight_narrow = 0;
    if (rescale && !assay_tree_get(section, "shift_sign") &&
        r->rescale.encoding == ASSAY_ENCODE_SHIFT)
        r->rescale.shift_sign = ASSAY_SHIFT_RIGHT;
}

/* One section's keys, into the base record (scope NULL) or as overrides. */
assay_status assay_read_section(const assay_reading *c, const assay_tree *t,
                                const enum assay_scope *scope, const char *name)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "expected keys and values");
    for (const assay_tree *i = t->child; i; i = i->next) {
        int field = assay_record_find(t->key, i->key);
        if (field < 0) {
            assay_guess g = ASSAY_GUESS(i->key);
            for (size_t f = 0; f < n; f++)
                if (strcmp(fields[f].section, t->key) == 0)
                    assay_guess_consider(&g, fields[f].name);
            return assay_read_unknown_key(c, i, t->key, &g);
        }
        assay_field_value v;
        assay_status s = read_value(c, i, &fields[field], &v);
        if (!s && scope)
            s = add_override(c, i, *scope, name, field, v);
        else if (!s) {
            assay_record_set(&c->data->base, &fields[field], v);
            c->at[field] = i;
            c->data->origin[field] = (uint8_t)(c->data->n_from + 1);
        }
        if (s)
            return s;
    }
    if (!scope)
        imply(t, &c->data->base);
    return ASSAY_OK;
}

void assay_consider_sections(assay_guess *g)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t f = 0; f < n; f++)
        assay_guess_consider(g, fields[f].section);
}

/* Sections under one op or node, or under `wide` and the like. */
assay_status assay_read_sections(const assay_reading *c, const assay_tree *t,
                                 enum assay_scope scope, const char *name)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "expected sections such as rescale: {...}");
    for (const assay_tree *i = t->child; i; i = i->next) {
        assay_status s;
        if (scope == ASSAY_SCOPE_NODE && strcmp(i->key, "given") == 0) {
            s = assay_read_precomputed(c, i, name);
        } else if (strcmp(i->key, "types") == 0) {
            s = assay_read_fail(c, i,
                                "types are for the whole scheme; what some nodes may "
                                "hold beside them is in accepts: {...}");
        } else if (!assay_record_has_section(i->key)) {
            assay_guess g = ASSAY_GUESS(i->key);
            assay_consider_sections(&g);
            s = assay_read_unknown_key(c, i, name[0] != '\0' ? name : "this key", &g);
        } else {
            s = assay_read_section(c, i, &scope, name);
        }
        if (s)
            return s;
    }
    return ASSAY_OK;
}

/* scope: overrides go by the name, so that depthwise would do too. */
assay_status assay_read_op(const assay_reading *c, const assay_tree *at, const char *name,
                           bool scope)
{
    if (assay_op_find(name) != ASSAY_OP_COUNT)
        return ASSAY_OK;
    assay_guess g = ASSAY_GUESS(name);
    for (int op = 0; op < ASSAY_OP_COUNT; op++)
        assay_guess_consider(&g, assay_op_get((assay_op)op)->name);
    if (scope)
        assay_guess_consider(&g, ASSAY_DEPTHWISE);
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: unknown op \"%s\"; nearest: %s", c->file,
                      at->line, at->column, name, g.best);
}

/* `depthwise` among the ops of a scope. Of unsigned codes it is also spelled unsigned_depthwise. */
static assay_status read_depthwise(const assay_reading *c, const assay_tree *t,
                                   enum assay_scope ops)
{
    if (ops == ASSAY_SCOPE_UNSIGNED_OP)
        return assay_read_sections(c, t, ASSAY_SCOPE_UNSIGNED_DEPTHWISE, "");
    return assay_read_sections(
        c, t, ops == ASSAY_SCOPE_OP ? ASSAY_SCOPE_DEPTHWISE : ASSAY_SCOPE_WIDE_DEPTHWISE,
        ASSAY_DEPTHWISE);
}

assay_status assay_read_scopes(const assay_reading *c, const assay_tree *t, enum assay_scope scope)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "expected names with sections under them");
    for (const assay_tree *i = t->child; i; i = i->next) {
        assay_status s;
        if (scope != ASSAY_SCOPE_NODE && strcmp(i->key, ASSAY_DEPTHWISE) == 0)
            s = read_depthwise(c, i, scope);
        else if (scope == ASSAY_SCOPE_NODE || !(s = assay_read_op(c, i, i->key, true)))
            s = assay_read_sections(c, i, scope, i->key);
        if (s)
            return s;
    }
    return ASSAY_OK;
}

assay_status assay_read_text(const assay_reading *c, const assay_tree *t, char **out)
{
    if (t->kind != ASSAY_TREE_SCALAR)
        return assay_read_fail(c, t, "expected a text");
    free(*out);
    *out = strdup(t->text);
    return *out ? ASSAY_OK : assay_read_no_memory(c);
}

/* A list of op names, or of "all" alone, into a set. */
assay_status assay_read_op_set(const assay_reading *c, const assay_tree *t, const char *what,
                               bool set[ASSAY_OP_COUNT])
{
    char message[96];

    snprintf(message, sizeof message, "%s: expected a list of op names", what);
    if (t->kind != ASSAY_TREE_LIST)
        return assay_read_fail(c, t, message);
    memset(set, 0, ASSAY_OP_COUNT * sizeof *set);
    for (const assay_tree *i = t->child; i; i = i->next) {
        if (i->kind != ASSAY_TREE_SCALAR)
            return assay_read_fail(c, i, message);
        if (strcmp(i->text, "all") == 0) {
            memset(set, 1, ASSAY_OP_COUNT * sizeof *set);
            continue;
        }
        assay_status s = assay_read_op(c, i, i->text, false);
        if (s)
            return s;
        set[assay_op_find(i->text)] = true;
    }
    return ASSAY_OK;
}
