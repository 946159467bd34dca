/* Scheme files: from a tree to scheme data, with every error at its line and column. Sections
 * are read by sections.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/read/claims.h"
#include "schemes/read/read.h"
#include "schemes/read/uses.h"

/* The parent: a preset's name, or a path relative to the working directory. */
static assay_status read_parent(const assay_reading *c, const assay_tree *t, int depth)
{
    if (t->kind != ASSAY_TREE_SCALAR)
        return assay_read_fail(c, t, "extends: expected the name of a preset or a path");
    if (depth >= ASSAY_MAX_EXTENDS - 1)
        return assay_read_fail(c, t, "extends: a chain of more than 8 schemes (a circle?)");
    size_t length;
    const char *text = assay_preset_text(t->text, &length);
    if (text)
        return assay_scheme_read(t->text, text, length, ASSAY_VOUCHED_TESTED, c->data, depth + 1,
                                 c->err);
    if (!strchr(t->text, '/') && !strstr(t->text, ".yaml")) {
        assay_guess g = ASSAY_GUESS(t->text);
        for (const char *const *p = assay_scheme_presets(); *p; p++)
            assay_guess_consider(&g, *p);
        return assay_fail(c->err, ASSAY_ERR_INPUT,
                          "%s:%u:%u: extends: no preset \"%s\"; nearest: %s (a path needs a '/')",
                          c->file, t->line, t->column, t->text, g.best);
    }
    char *own;
    assay_status s = assay_scheme_read_file(t->text, &own, &length, c->err);
    if (!s) {
        s = assay_scheme_read(t->text, own, length, ASSAY_VOUCHED_NOT, c->data, depth + 1, c->err);
        free(own);
    }
    return s;
}

/* A name goes into reports, digests and file names: a word of at most 63 letters, digits, . _ - */
static assay_status read_name(const assay_reading *c, const assay_tree *t)
{
    const char *word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    assay_status s = assay_read_text(c, t, &c->data->name);
    if (s)
        return s;
    size_t n = strlen(c->data->name);
    if (n == 0 || n > 63 || strspn(c->data->name, word) != n)
        return assay_read_fail(
            c, t, "scheme: expected a name of 1 to 63 letters, digits, '.', '_' or '-'");
    return ASSAY_OK;
}

/* ---- keys ---- */

typedef struct scheme_key {
    const char *name;
    assay_status (*read)(assay_reading *c, const assay_tree *t, const struct scheme_key *k);
    enum assay_scope scope; /* of overrides */
    size_t ops;             /* of a set of ops: its offset in the scheme's data */
} scheme_key;

static assay_status key_name(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    (void)k;
    return read_name(c, t);
}

static assay_status key_description(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    (void)k;
    return assay_read_text(c, t, &c->data->description);
}

/* What a parent says of itself is not true of a file that extends it. */
static assay_status describe_as_child(assay_reading *c)
{
    assay_scheme_data *d = c->data;
    const char *says = "extends ";
    const size_t n = strlen(says) + strlen(d->name) + 1; /* no scheme is without a name */
    char *text = malloc(n);
    if (!text)
        return assay_read_no_memory(c);
    snprintf(text, n, "%s%s", says, d->name);
    free(d->description);
    d->description = text;
    return ASSAY_OK;
}

static assay_status key_extends(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    (void)c, (void)t, (void)k;
    return ASSAY_OK; /* read first */
}

static assay_status key_contract(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    (void)k;
    return assay_read_contract(c, t);
}

static assay_status key_ops(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    return assay_read_op_set(c, t, k->name, (bool *)(void *)((char *)c->data + k->ops));
}

static assay_status key_sections(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    return assay_read_sections(c, t, k->scope, "");
}

static assay_status key_scopes(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    return assay_read_scopes(c, t, k->scope);
}

static assay_status key_rules(assay_reading *c, const assay_tree *t, const scheme_key *k)
{
    (void)k;
    return assay_rule_policies_read(c->file, t, c->data, c->err);
}

#define OPS(member) .read = key_ops, .ops = offsetof(assay_scheme_data, member)
static const scheme_key keys[] = {
    {"scheme", .read = key_name},
    {"description", .read = key_description},
    {"extends", .read = key_extends},
    {"contract", .read = key_contract},
    {"float_ops", OPS(in_float)},
    {"unfused_ops", OPS(unfused[ASSAY_UNFUSED])},
    {"wide_unfused_ops", OPS(unfused[ASSAY_UNFUSED_WIDE])},
    {"narrow_unfused_ops", OPS(unfused[ASSAY_UNFUSED_NARROW])},
    {"mixed_unfused_ops", OPS(unfused[ASSAY_UNFUSED_MIXED])},
    {"clamped_unfused_ops", OPS(unfused[ASSAY_UNFUSED_CLAMPED])},
    {"bare_unfused_ops", OPS(unfused[ASSAY_UNFUSED_BARE])},
    {"wide", .read = key_sections, .scope = ASSAY_SCOPE_WIDE},
    {"ops", .read = key_scopes, .scope = ASSAY_SCOPE_OP},
    {"wide_ops", .read = key_scopes, .scope = ASSAY_SCOPE_WIDE_OP},
    {"unsigned_ops", .read = key_scopes, .scope = ASSAY_SCOPE_UNSIGNED_OP},
    {"unsigned_depthwise", .read = key_sections, .scope = ASSAY_SCOPE_UNSIGNED_DEPTHWISE},
    {"nodes", .read = key_scopes, .scope = ASSAY_SCOPE_NODE},
    {"rules", .read = key_rules},
};
#undef OPS

static assay_status read_key(assay_reading *c, const assay_tree *t)
{
    assay_guess g = ASSAY_GUESS(t->key);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(t->key, keys[i].name) == 0)
            return keys[i].read(c, t, &keys[i]);
    if (assay_record_has_section(t->key))
        return assay_read_section(c, t, NULL, NULL);
    assay_consider_sections(&g);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assay_guess_consider(&g, keys[i].name);
    return assay_read_unknown_key(c, t, "the scheme", &g);
}

/* Where the file states the parameter with which an error message begins ("section.key..."), or at
 * least its section; else the file's beginning. */
static const assay_tree *place_of(const assay_tree *tree, const char *why)
{
    char section[32], key[48];
    if (sscanf(why, "%31[a-z_].%47[a-z_0-9]", section, key) != 2)
        return tree;
    const assay_tree *s = assay_tree_get(tree, section);
    if (!s || s->kind != ASSAY_TREE_MAP)
        return tree;
    const assay_tree *k = assay_tree_get(s, key);
    return k ? k : s;
}

/* What an override is called in messages: an op or a node, or the key of what has no names. */
static const char *title_of(const assay_override *o)
{
    return o->name[0] != '\0'             ? o->name
           : o->scope == ASSAY_SCOPE_WIDE ? "wide"
                                          : "unsigned_depthwise";
}

/* The same inside the override of `name` ("": of the nodes of a variant), whichever scope it stands
 * in. */
static const assay_tree *place_in_override(const assay_tree *tree, const char *name,
                                           const char *why)
{
    const assay_tree *whole = tree;
    for (const assay_tree *scope = tree->child; scope; scope = scope->next) {
        if (scope->kind != ASSAY_TREE_MAP)
            continue;
        const assay_tree *o = name[0] != '\0' ? assay_tree_get(scope, name) : scope;
        if (!o || o->kind != ASSAY_TREE_MAP)
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
        const unsigned variants = assay_variants_of(d, assay_override_op(o));
        if (i > 0 && assay_override_beside(o - 1, o))
            continue;
        for (unsigned variant = 0; variant < ASSAY_VARIANTS; variant++) {
            assay_record r;
            if (variant & ~variants)
                continue;
            assay_effective_record(d, assay_override_op(o),
                                   o->scope == ASSAY_SCOPE_NODE ? o->name : "", variant, &r);
            if (!assay_record_check(&r, why, sizeof why)) {
                const assay_tree *at = place_in_override(tree, o->name, why);
                return assay_fail(c->err, ASSAY_ERR_SCHEME,
                                  "%s:%u:%u: with the overrides of %s: %s", c->file, at->line,
                                  at->column, title_of(o), why);
            }
        }
    }
    return ASSAY_OK;
}

static assay_status without_name(const assay_reading *c, const assay_tree *tree)
{
    char why[400];
    if (!assay_tree_get(tree, "unit"))
        return assay_read_fail(
            c, tree, "the key \"scheme\" (its name) is missing, or \"unit\" of a matrix unit");
    snprintf(why, sizeof why, "this " ASSAY_READ_IS_UNIT, c->file);
    return assay_read_fail(c, tree, why);
}

assay_status assay_scheme_read(const char *file, const char *text, size_t length,
                               enum assay_vouched by, assay_scheme_data *d, int depth,
                               assay_error *err)
{
    assay_tree *tree;
    assay_status s = assay_tree_parse(file, text, length, &tree, err);
    if (s)
        return s;
    size_t n;
    (void)assay_record_fields(&n);
    assay_reading c = {file, d, err, calloc(n, sizeof *c.at), false, false, false};
    if (!c.at) {
        assay_tree_free(tree);
        return assay_read_no_memory(&c);
    }
    const assay_tree *parent = NULL;
    assay_claims *claims = NULL;
    if (tree->kind != ASSAY_TREE_MAP)
        s = assay_read_fail(&c, tree, "a scheme is a map of keys");
    else if ((parent = assay_tree_get(tree, "extends")))
        s = read_parent(&c, parent, depth);
    if (!s && parent && !assay_tree_get(tree, "description"))
        s = describe_as_child(&c);
    if (!s && parent)
        s = assay_claims_begin(&c, &claims);
    if (!s && !assay_tree_get(tree, "scheme"))
        s = without_name(&c, tree);
    for (const assay_tree *t = tree->child; t && !s; t = t->next)
        s = read_key(&c, t);
    if (!s)
        s = assay_reads_drop(&c);
    if (!s && by != ASSAY_VOUCHED_TESTED)
        s = check_all(&c, tree);
    if (!s && by != ASSAY_VOUCHED_TESTED)
        s = assay_reads_check(&c);
    assay_claims_end(&c, claims);
    if (!s && !(d->from[d->n_from++] = strdup(file)))
        s = assay_read_no_memory(&c);
    for (size_t i = 0; i < d->n_overrides; i++)
        d->override[i].at = NULL;
    free(c.at);
    assay_tree_free(tree);
    return s;
}
