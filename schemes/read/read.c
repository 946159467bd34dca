/* Scheme files: from a tree to scheme data, with every complaint at its line and column. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/read/claims.h"
#include "schemes/read/read.h"
#include "schemes/read/uses.h"

static const char *const contract_keys[] = {"exact", "approximate", "not_modelled"};
#define CONTRACT_KEYS                                                                              \
    "exact_ops, exact_narrow_ops, exact_per_tensor_ops, exact_float_ops, exact, approximate, "     \
    "not_modelled"

static assay_status set_text(const assay_reading *c, const assay_tree *t, char **out)
{
    if (t->kind != ASSAY_TREE_SCALAR)
        return assay_read_fail(c, t, "expected a text");
    free(*out);
    *out = strdup(t->text);
    return *out != NULL ? ASSAY_OK : assay_read_no_memory(c);
}

/* A list of sentences, or one, joined by newlines. */
static assay_status set_lines(const assay_reading *c, const assay_tree *t, char **out)
{
    if (t->kind == ASSAY_TREE_SCALAR)
        return set_text(c, t, out);
    size_t size = 1;
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        if (t->kind != ASSAY_TREE_LIST || i->kind != ASSAY_TREE_SCALAR)
            return assay_read_fail(c, i, "expected a list of texts");
        size += strlen(i->text) + 1;
    }
    char *text = calloc(1, size);
    if (text == NULL)
        return assay_read_no_memory(c);
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        strcat(text, i->text);
        if (i->next != NULL)
            strcat(text, "\n");
    }
    free(*out);
    *out = text;
    return ASSAY_OK;
}

static assay_status read_value(const assay_reading *c, const assay_tree *t, const assay_field *f,
                               assay_field_value *v)
{
    char why[256];
    memset(v, 0, sizeof *v);
    if (f->kind == ASSAY_FIELD_STEPS && t->kind == ASSAY_TREE_LIST) {
        for (const assay_tree *i = t->child; i != NULL; i = i->next) {
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
    if (grown == NULL)
        return assay_read_no_memory(c);
    d->override = grown;
    char *copy = strdup(name);
    if (copy == NULL)
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
    if (types && assay_tree_get(section, "weight_narrow") == NULL &&
        (!r->types.weight_signed || r->types.weight_bits == 1))
        r->types.weight_narrow = 0;
    if (rescale && assay_tree_get(section, "shift_sign") == NULL &&
        r->rescale.encoding == ASSAY_ENCODE_SHIFT)
        r->rescale.shift_sign = ASSAY_SHIFT_RIGHT;
}

/* One section's keys, into the base record (scope NULL) or as overrides. */
static assay_status read_section(const assay_reading *c, const assay_tree *t,
                                 const enum assay_scope *scope, const char *name)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "expected keys and values");
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
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
        if (s == ASSAY_OK && scope != NULL)
            s = add_override(c, i, *scope, name, field, v);
        else if (s == ASSAY_OK) {
            assay_record_set(&c->data->base, &fields[field], v);
            c->at[field] = i;
            c->data->origin[field] = (uint8_t)(c->data->n_from + 1);
        }
        if (s != ASSAY_OK)
            return s;
    }
    if (scope == NULL)
        imply(t, &c->data->base);
    return ASSAY_OK;
}

static void consider_sections(assay_guess *g)
{
    size_t n;
    const assay_field *fields = assay_record_fields(&n);
    for (size_t f = 0; f < n; f++)
        assay_guess_consider(g, fields[f].section);
}

/* Sections under one op or node, or under `wide` and the like. */
static assay_status read_sections(const assay_reading *c, const assay_tree *t,
                                  enum assay_scope scope, const char *name)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "expected sections such as rescale: {...}");
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        assay_status s;
        if (scope == ASSAY_SCOPE_NODE && strcmp(i->key, "given") == 0) {
            s = assay_read_precomputed(c, i, name);
        } else if (strcmp(i->key, "types") == 0) {
            s = assay_read_fail(c, i,
                                "types are of the whole scheme; what some nodes may hold "
                                "beside them is accepts: {...}");
        } else if (!assay_record_has_section(i->key)) {
            assay_guess g = ASSAY_GUESS(i->key);
            consider_sections(&g);
            s = assay_read_unknown_key(c, i, name[0] != '\0' ? name : "this key", &g);
        } else {
            s = read_section(c, i, &scope, name);
        }
        if (s != ASSAY_OK)
            return s;
    }
    return ASSAY_OK;
}

/* scope: overrides go by the name, so that depthwise would do too. */
static assay_status check_op(const assay_reading *c, const assay_tree *at, const char *name,
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
        return read_sections(c, t, ASSAY_SCOPE_UNSIGNED_DEPTHWISE, "");
    return read_sections(c, t,
                         ops == ASSAY_SCOPE_OP ? ASSAY_SCOPE_DEPTHWISE : ASSAY_SCOPE_WIDE_DEPTHWISE,
                         ASSAY_DEPTHWISE);
}

static assay_status read_scopes(const assay_reading *c, const assay_tree *t, enum assay_scope scope)
{
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "expected names with sections under them");
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        assay_status s;
        if (scope != ASSAY_SCOPE_NODE && strcmp(i->key, ASSAY_DEPTHWISE) == 0)
            s = read_depthwise(c, i, scope);
        else if (scope == ASSAY_SCOPE_NODE || (s = check_op(c, i, i->key, true)) == ASSAY_OK)
            s = read_sections(c, i, scope, i->key);
        if (s != ASSAY_OK)
            return s;
    }
    return ASSAY_OK;
}

/* A list of op names, or of "all" alone, into a set. */
static assay_status read_op_set(const assay_reading *c, const assay_tree *t, const char *what,
                                bool set[ASSAY_OP_COUNT])
{
    char message[96];

    snprintf(message, sizeof message, "%s: expected a list of op names", what);
    if (t->kind != ASSAY_TREE_LIST)
        return assay_read_fail(c, t, message);
    memset(set, 0, ASSAY_OP_COUNT * sizeof *set);
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        if (i->kind != ASSAY_TREE_SCALAR)
            return assay_read_fail(c, i, message);
        if (strcmp(i->text, "all") == 0) {
            memset(set, 1, ASSAY_OP_COUNT * sizeof *set);
            continue;
        }
        assay_status s = check_op(c, i, i->text, false);
        if (s != ASSAY_OK)
            return s;
        set[assay_op_find(i->text)] = true;
    }
    return ASSAY_OK;
}

/* The set of ops that a key of the contract names, or NULL. */
static bool *claimed_ops(const assay_reading *c, const char *key)
{
    return strcmp(key, "exact_ops") == 0              ? c->data->exact_op
           : strcmp(key, "exact_float_ops") == 0      ? c->data->exact_float
           : strcmp(key, "exact_narrow_ops") == 0     ? c->data->exact_narrow
           : strcmp(key, "exact_per_tensor_ops") == 0 ? c->data->exact_per_tensor
                                                      : NULL;
}

static assay_status read_contract(assay_reading *c, const assay_tree *t)
{
    bool narrow = false, per_tensor = false;
    if (t->kind != ASSAY_TREE_MAP)
        return assay_read_fail(c, t, "contract: expected " CONTRACT_KEYS);
    for (const assay_tree *i = t->child; i != NULL; i = i->next) {
        int which = 0;
        while (which < ASSAY_CONTRACTS && strcmp(i->key, contract_keys[which]) != 0)
            which++;
        bool *ops = claimed_ops(c, i->key);
        c->states_ops = c->states_ops || ops == c->data->exact_op;
        c->states_exact = c->states_exact || which == ASSAY_CONTRACT_EXACT;
        c->states_floats = c->states_floats || ops == c->data->exact_float;
        narrow = narrow || ops == c->data->exact_narrow;
        per_tensor = per_tensor || ops == c->data->exact_per_tensor;
        if (which == ASSAY_CONTRACTS && ops == NULL)
            return assay_read_fail(c, i, "unknown key; contract holds " CONTRACT_KEYS);
        assay_status s = ops != NULL ? read_op_set(c, i, i->key, ops)
                                     : set_lines(c, i, &c->data->contract[which]);
        if (s != ASSAY_OK)
            return s;
    }
    if (c->states_ops && !narrow) /* its own claims are of every width */
        memset(c->data->exact_narrow, 0, sizeof c->data->exact_narrow);
    if (c->states_ops && !per_tensor) /* ... and every granularity */
        memset(c->data->exact_per_tensor, 0, sizeof c->data->exact_per_tensor);
    return ASSAY_OK;
}

/* The parent: a preset's name, or a path relative to the working directory. */
static assay_status read_parent(const assay_reading *c, const assay_tree *t, int depth)
{
    if (t->kind != ASSAY_TREE_SCALAR)
        return assay_read_fail(c, t, "extends: expected the name of a preset or a path");
    if (depth >= ASSAY_MAX_EXTENDS - 1)
        return assay_read_fail(c, t, "extends: a chain of more than 8 schemes (a circle?)");
    size_t length;
    const char *text = assay_preset_text(t->text, &length);
    if (text != NULL)
        return assay_scheme_read(t->text, text, length, c->data, depth + 1, c->err);
    if (strchr(t->text, '/') == NULL && strstr(t->text, ".yaml") == NULL) {
        assay_guess g = ASSAY_GUESS(t->text);
        for (const char *const *p = assay_scheme_presets(); *p != NULL; p++)
            assay_guess_consider(&g, *p);
        return assay_fail(c->err, ASSAY_ERR_INPUT,
                          "%s:%u:%u: extends: no preset \"%s\"; nearest: %s (a path needs a '/')",
                          c->file, t->line, t->column, t->text, g.best);
    }
    char *own;
    assay_status s = assay_scheme_read_file(t->text, &own, &length, c->err);
    if (s == ASSAY_OK) {
        s = assay_scheme_read(t->text, own, length, c->data, depth + 1, c->err);
        free(own);
    }
    return s;
}

/* A name goes into reports, digests and file names: a word of at most 63 letters, digits, . _ - */
static assay_status read_name(const assay_reading *c, const assay_tree *t)
{
    const char *word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    assay_status s = set_text(c, t, &c->data->name);
    if (s != ASSAY_OK)
        return s;
    size_t n = strlen(c->data->name);
    if (n == 0 || n > 63 || strspn(c->data->name, word) != n)
        return assay_read_fail(
            c, t, "scheme: expected a name of 1 to 63 letters, digits, '.', '_' or '-'");
    return ASSAY_OK;
}

static assay_status read_key(assay_reading *c, const assay_tree *t)
{
    static const char *const keys[] = {"scheme",
                                       "description",
                                       "extends",
                                       "contract",
                                       "float_ops",
                                       "unfused_ops",
                                       "wide_unfused_ops",
                                       "narrow_unfused_ops",
                                       "wide",
                                       "ops",
                                       "wide_ops",
                                       "unsigned_ops",
                                       "unsigned_depthwise",
                                       "nodes",
                                       "rules"};
    if (strcmp(t->key, "scheme") == 0)
        return read_name(c, t);
    if (strcmp(t->key, "description") == 0)
        return set_text(c, t, &c->data->description);
    if (strcmp(t->key, "extends") == 0)
        return ASSAY_OK; /* read first */
    if (strcmp(t->key, "contract") == 0)
        return read_contract(c, t);
    if (strcmp(t->key, "float_ops") == 0)
        return read_op_set(c, t, "float_ops", c->data->in_float);
    if (strcmp(t->key, "unfused_ops") == 0)
        return read_op_set(c, t, "unfused_ops", c->data->unfused[0]);
    if (strcmp(t->key, "wide_unfused_ops") == 0)
        return read_op_set(c, t, "wide_unfused_ops", c->data->unfused[1]);
    if (strcmp(t->key, "narrow_unfused_ops") == 0)
        return read_op_set(c, t, "narrow_unfused_ops", c->data->unfused[2]);
    if (strcmp(t->key, "wide") == 0)
        return read_sections(c, t, ASSAY_SCOPE_WIDE, "");
    if (strcmp(t->key, "ops") == 0)
        return read_scopes(c, t, ASSAY_SCOPE_OP);
    if (strcmp(t->key, "wide_ops") == 0)
        return read_scopes(c, t, ASSAY_SCOPE_WIDE_OP);
    if (strcmp(t->key, "unsigned_ops") == 0)
        return read_scopes(c, t, ASSAY_SCOPE_UNSIGNED_OP);
    if (strcmp(t->key, "unsigned_depthwise") == 0)
        return read_sections(c, t, ASSAY_SCOPE_UNSIGNED_DEPTHWISE, "");
    if (strcmp(t->key, "nodes") == 0)
        return read_scopes(c, t, ASSAY_SCOPE_NODE);
    if (strcmp(t->key, "rules") == 0)
        return assay_rule_policies_read(c->file, t, c->data, c->err);
    if (assay_record_has_section(t->key))
        return read_section(c, t, NULL, NULL);
    assay_guess g = ASSAY_GUESS(t->key);
    consider_sections(&g);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assay_guess_consider(&g, keys[i]);
    return assay_read_unknown_key(c, t, "the scheme", &g);
}

/* Where the file states the parameter with which a complaint begins ("section.key..."), or at least
 * its section; else the file's beginning. */
static const assay_tree *place_of(const assay_tree *tree, const char *why)
{
    char section[32], key[48];
    if (sscanf(why, "%31[a-z_].%47[a-z_0-9]", section, key) != 2)
        return tree;
    const assay_tree *s = assay_tree_get(tree, section);
    if (s == NULL || s->kind != ASSAY_TREE_MAP)
        return tree;
    const assay_tree *k = assay_tree_get(s, key);
    return k != NULL ? k : s;
}

/* The same inside the override of `name` ("" for all nodes of a form), whichever scope it stands
 * in. */
static const assay_tree *place_in_override(const assay_tree *tree, const char *name,
                                           const char *why)
{
    const assay_tree *whole = tree;
    for (const assay_tree *scope = tree->child; scope != NULL; scope = scope->next) {
        if (scope->kind != ASSAY_TREE_MAP)
            continue;
        const assay_tree *o = name[0] != '\0' ? assay_tree_get(scope, name) : scope;
        if (o == NULL || o->kind != ASSAY_TREE_MAP)
            continue;
        const assay_tree *at = place_of(o, why);
        if (at != o)
            return at;
        if (o != scope)
            whole = o;
    }
    return whole != tree ? whole : place_of(tree, why);
}

/* The base and every override in force together must make sense. */
static assay_status check_all(const assay_reading *c, const assay_tree *tree)
{
    const assay_scheme_data *d = c->data;
    char why[512];
    if (!assay_record_check(&d->base, why, sizeof why)) {
        const assay_tree *at = place_of(tree, why);
        return assay_fail(c->err, ASSAY_ERR_SCHEME, "%s:%u:%u: %s", c->file, at->line, at->column,
                          why);
    }
    for (size_t i = 0; i < d->n_overrides; i++) {
        const assay_override *o = &d->override[i];
        for (unsigned form = 0; form < 8; form++) {
            assay_record r;
            assay_effective_record(d, assay_override_op(o),
                                   o->scope == ASSAY_SCOPE_NODE ? o->name : "", form, &r);
            if (!assay_record_check(&r, why, sizeof why)) {
                const assay_tree *at = place_in_override(tree, o->name, why);
                return assay_fail(c->err, ASSAY_ERR_SCHEME,
                                  "%s:%u:%u: with the overrides of %s: %s", c->file, at->line,
                                  at->column, o->name[0] != '\0' ? o->name : "all nodes of a form",
                                  why);
            }
        }
    }
    return ASSAY_OK;
}

assay_status assay_scheme_read(const char *file, const char *text, size_t length,
                               assay_scheme_data *d, int depth, assay_error *err)
{
    assay_tree *tree;
    assay_status s = assay_tree_parse(file, text, length, &tree, err);
    if (s != ASSAY_OK)
        return s;
    size_t n;
    (void)assay_record_fields(&n);
    assay_reading c = {file, d, err, calloc(n, sizeof *c.at), false, false, false};
    if (c.at == NULL) {
        assay_tree_free(tree);
        return assay_read_no_memory(&c);
    }
    const assay_tree *parent = NULL;
    assay_claims *claims = NULL;
    if (tree->kind != ASSAY_TREE_MAP)
        s = assay_read_fail(&c, tree, "a scheme is a map of keys");
    else if ((parent = assay_tree_get(tree, "extends")) != NULL)
        s = read_parent(&c, parent, depth);
    if (s == ASSAY_OK && parent != NULL)
        s = assay_claims_begin(&c, &claims);
    if (s == ASSAY_OK && assay_tree_get(tree, "scheme") == NULL)
        s = assay_read_fail(&c, tree, "the key \"scheme\" (its name) is missing");
    for (const assay_tree *t = tree->child; t != NULL && s == ASSAY_OK; t = t->next)
        s = read_key(&c, t);
    if (s == ASSAY_OK)
        s = assay_reads_drop(&c);
    if (s == ASSAY_OK)
        s = check_all(&c, tree);
    if (s == ASSAY_OK)
        s = assay_reads_check(&c);
    assay_claims_end(&c, claims);
    if (s == ASSAY_OK && (d->from[d->n_from++] = strdup(file)) == NULL)
        s = assay_read_no_memory(&c);
    for (size_t i = 0; i < d->n_overrides; i++)
        d->override[i].at = NULL;
    free(c.at);
    assay_tree_free(tree);
    return s;
}
