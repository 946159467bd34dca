/* Unit files: YAML with the keys unit, description, contract and mac, whose parameters mac.def
 * lists. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/mac/parameters.h"
#include "schemes/record/data.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

static assay_status wrong(const char *file, const assay_tree *t, const char *expected,
                          assay_error *err)
{
    const bool scalar = t->kind == ASSAY_TREE_SCALAR;
    return assay_fail(err, ASSAY_ERR_INPUT, "%s:%u:%u: %s: found %s%.40s%s, expected %s", file,
                      t->line, t->column, t->key, scalar ? "\"" : "",
                      scalar ? t->text : "a list or map", scalar ? "\"" : "", expected);
}

/* A list with each of 0 .. n-1 once, or `none`. */
static assay_status read_order(const char *file, const assay_tree *t, assay_mac *m,
                               assay_error *err)
{
    bool seen[ASSAY_MAC_MAX_ORDER] = {false};
    size_t n = 0;
    if (t->kind == ASSAY_TREE_SCALAR && strcmp(t->text, "none") == 0)
        return ASSAY_OK;
    for (const assay_tree *c = t->child; c; c = c->next)
        n++;
    if (t->kind != ASSAY_TREE_LIST || n > ASSAY_MAC_MAX_ORDER)
        return wrong(file, t, "a list of at most 256 places, or none", err);
    for (const assay_tree *c = t->child; c; c = c->next) {
        char *end;
        const char *text = c->kind == ASSAY_TREE_SCALAR ? c->text : "";
        const unsigned long i = strtoul(text, &end, 10);
        if (end == text || *end != '\0' || i >= n || seen[i])
            return wrong(file, t, "each of the places 0 to n-1 once", err);
        seen[i] = true;
        m->places[m->order++] = (uint8_t)i;
    }
    return ASSAY_OK;
}

static assay_status read_parameter(const char *file, const assay_tree *t,
                                   const assay_mac_parameter *p, assay_mac *m, assay_error *err)
{
    char expected[256];
    if (p->kind == ASSAY_MAC_ORDER)
        return read_order(file, t, m, err);
    if (t->kind == ASSAY_TREE_SCALAR && mac_parse(p, t->text, mac_member(m, p)))
        return ASSAY_OK;
    return wrong(file, t, mac_expected(p, expected, sizeof expected), err);
}

static assay_status read_record(const char *file, const assay_tree *t, assay_mac *m,
                                assay_error *err)
{
    size_t n;
    const assay_mac_parameter *all = mac_parameters(&n);
    *m = mac_defaults();
    if (t->kind != ASSAY_TREE_MAP)
        return wrong(file, t, "parameters", err);
    for (const assay_tree *c = t->child; c; c = c->next) {
        assay_guess g = ASSAY_GUESS(c->key);
        const assay_mac_parameter *p = NULL;
        for (size_t i = 0; i < n; i++) {
            assay_guess_consider(&g, all[i].name);
            if (strcmp(all[i].name, c->key) == 0)
                p = &all[i];
        }
        if (!p)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s:%u:%u: mac has no parameter \"%.40s\"; nearest: %s", file,
                              c->line, c->column, c->key, g.best);
        const assay_status s = read_parameter(file, c, p, m, err);
        if (s)
            return s;
    }
    for (size_t i = 0; i < n; i++)
        if (*mac_member(m, &all[i]) == ASSAY_MAC_MUST)
            return assay_fail(err, ASSAY_ERR_SCHEME, "%s:%u:%u: mac: %s is not given", file,
                              t->line, t->column, all[i].name);
    const char *why = mac_contradiction(m);
    return !why ? ASSAY_OK
                : assay_fail(err, ASSAY_ERR_SCHEME, "%s:%u:%u: mac: %s", file, t->line, t->column,
                             why);
}

static assay_status read_text(const char *file, const assay_tree *t, char *out, size_t size,
                              assay_error *err)
{
    char expected[64];
    snprintf(expected, sizeof expected, "a %s of at most %zu bytes", size > 64 ? "line" : "name",
             size - 1);
    if (t->kind != ASSAY_TREE_SCALAR || t->text[0] == '\0' || strlen(t->text) >= size)
        return wrong(file, t, expected, err);
    memcpy(out, t->text, strlen(t->text) + 1);
    return ASSAY_OK;
}

static assay_status read_key(const char *file, const assay_tree *c, assay_mac_unit *out,
                             assay_error *err)
{
    if (strcmp(c->key, "unit") == 0)
        return read_text(file, c, out->name, sizeof out->name, err);
    if (strcmp(c->key, "description") == 0)
        return read_text(file, c, out->description, sizeof out->description, err);
    if (strcmp(c->key, "contract") == 0)
        return read_text(file, c, out->contract, sizeof out->contract, err);
    if (strcmp(c->key, "mac") == 0)
        return read_record(file, c, &out->record, err);
    return assay_fail(
        err, ASSAY_ERR_INPUT,
        "%s:%u:%u: unknown key \"%.40s\"; expected unit, description, contract or mac", file,
        c->line, c->column, c->key);
}

assay_status mac_read_tree(const char *file, const assay_tree *t, assay_mac_unit *out,
                           assay_error *err)
{
    assay_status s = ASSAY_OK;
    *out = (assay_mac_unit){.name = ""};
    if (t->kind != ASSAY_TREE_MAP || !assay_tree_get(t, "mac") || !assay_tree_get(t, "unit"))
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: no unit; expected the keys unit and mac",
                          file);
    for (const assay_tree *c = t->child; c && !s; c = c->next)
        s = read_key(file, c, out, err);
    return s;
}

assay_status mac_read(const char *file, const char *text, size_t length, assay_mac_unit *out,
                      assay_error *err)
{
    assay_tree *t;
    *out = (assay_mac_unit){.name = ""};
    assay_status s = assay_tree_parse(file, text, length, &t, err);
    if (s)
        return s;
    s = mac_read_tree(file, t, out, err);
    assay_tree_free(t);
    return s;
}

static assay_status open_file(const char *path, assay_mac_unit *out, assay_error *err)
{
    char *text;
    size_t length;
    assay_status s = assay_scheme_read_file(path, &text, &length, err);
    if (s)
        return s;
    s = mac_read(path, text, length, out, err);
    free(text);
    return s;
}

static bool is_path(const char *name)
{
    const char *dot = strrchr(name, '.');
    return strchr(name, '/') || (dot && strcmp(dot, ".yaml") == 0);
}

bool mac_is_unit(const char *name)
{
    assay_error err;
    char *text;
    size_t length;
    assay_tree *t = NULL;
    if (assay_mac_unit_text(name, &length))
        return true;
    if (!is_path(name) || assay_scheme_read_file(name, &text, &length, &err))
        return false;
    const bool is_unit = !assay_tree_parse(name, text, length, &t, &err) &&
                         t->kind == ASSAY_TREE_MAP && assay_tree_get(t, "unit");
    assay_tree_free(t);
    free(text);
    return is_unit;
}

assay_status mac_open(const char *name, assay_mac_unit *out, assay_error *err)
{
    size_t length;
    const char *text = assay_mac_unit_text(name, &length);
    if (text)
        return mac_read(name, text, length, out, err);
    if (is_path(name))
        return open_file(name, out, err);
    assay_guess g = ASSAY_GUESS(name);
    for (const char *const *n = assay_mac_units(); *n; n++)
        assay_guess_consider(&g, *n);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "no matrix unit \"%.60s\"; nearest: %s; `units` names "
                      "them (a file needs a '/' or ends in .yaml)",
                      name, g.best);
}
