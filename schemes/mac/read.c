/* Unit files: YAML with the keys unit, description and mac, whose parameters mac.def lists. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/mac/mac.h"
#include "schemes/record/data.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

enum kind { FORMAT, MODE, INT };
#define MUST INT64_MIN

static const struct parameter {
    const char *name;
    enum kind kind;
    int64_t min, max, value;
    size_t offset;
} parameters[] = {
#define PARAMETER(name, kind, min, max, value, doc)                                                \
    {#name, kind, min, max, value, offsetof(assay_mac, name)},
    ASSAY_MAC_PARAMETERS(PARAMETER)
#undef PARAMETER
};
enum { N_PARAMETERS = sizeof parameters / sizeof *parameters };

static int64_t *member(assay_mac *m, const struct parameter *p)
{
    return (int64_t *)(void *)((char *)m + p->offset);
}

static assay_status wrong(const char *file, const assay_tree *t, const char *expected,
                          assay_error *err)
{
    const bool scalar = t->kind == ASSAY_TREE_SCALAR;
    return assay_fail(err, ASSAY_ERR_INPUT, "%s:%u:%u: %s: found %s%.40s%s, expected %s", file,
                      t->line, t->column, t->key, scalar ? "\"" : "",
                      scalar ? t->text : "no single value", scalar ? "\"" : "", expected);
}

static assay_status read_parameter(const char *file, const assay_tree *t, const struct parameter *p,
                                   int64_t *out, assay_error *err)
{
    const char *text = t->kind == ASSAY_TREE_SCALAR ? t->text : "";
    if (p->kind == FORMAT) {
        enum assay_mac_format f;
        if (!mac_format_parse(text, &f))
            return wrong(file, t, "a format (f32, bf16, e4m3fn, ...: schemes/mac/formats.def)",
                         err);
        *out = f;
        return ASSAY_OK;
    }
    if (p->kind == MODE) {
        enum assay_rounding mode;
        if (!apply_rounding_parse(text, &mode))
            return wrong(file, t, "a rounding (trunc, floor, half-even, odd, ...)", err);
        *out = mode;
        return ASSAY_OK;
    }
    char *end, range[64];
    errno = 0;
    *out = strtoll(text, &end, 0);
    snprintf(range, sizeof range, "an integer from %lld to %lld", (long long)p->min,
             (long long)p->max);
    if (end == text || *end != '\0' || errno != 0 || *out < p->min || *out > p->max)
        return wrong(file, t, range, err);
    return ASSAY_OK;
}

static bool is_result(int64_t format)
{
    return format == ASSAY_MAC_F32 || format == ASSAY_MAC_F16 || format == ASSAY_MAC_BF16;
}

/* What no line of mac.def can say alone. */
static const char *contradiction(const assay_mac *m)
{
    if (m->a == ASSAY_MAC_E8M0 || m->b == ASSAY_MAC_E8M0 || m->a == ASSAY_MAC_UE4M3 ||
        m->b == ASSAY_MAC_UE4M3)
        return "e8m0 and ue4m3 are formats of scales; a and b take others";
    if (!is_result(m->acc) || !is_result(m->out))
        return "acc and out take f32, f16 or bf16";
    if (m->acc != m->out && m->out != ASSAY_MAC_F32)
        return "out does not hold every number of acc";
    if (m->out_frac > mac_layout_of((enum assay_mac_format)m->out)->fraction_bits)
        return "out_frac is more than out has";
    if (m->nan >> mac_layout_of((enum assay_mac_format)m->out)->bits != 0)
        return "nan is wider than out";
    return NULL;
}

static assay_status read_record(const char *file, const assay_tree *t, assay_mac *m,
                                assay_error *err)
{
    for (int i = 0; i < N_PARAMETERS; i++)
        *member(m, &parameters[i]) = parameters[i].value;
    if (t->kind != ASSAY_TREE_MAP)
        return wrong(file, t, "parameters", err);
    for (const assay_tree *c = t->child; c; c = c->next) {
        assay_guess g = ASSAY_GUESS(c->key);
        const struct parameter *p = NULL;
        for (int i = 0; i < N_PARAMETERS; i++) {
            assay_guess_consider(&g, parameters[i].name);
            if (strcmp(parameters[i].name, c->key) == 0)
                p = &parameters[i];
        }
        if (!p)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s:%u:%u: mac has no parameter \"%.40s\"; nearest: %s", file,
                              c->line, c->column, c->key, g.best);
        const assay_status s = read_parameter(file, c, p, member(m, p), err);
        if (s)
            return s;
    }
    for (int i = 0; i < N_PARAMETERS; i++)
        if (*member(m, &parameters[i]) == MUST)
            return assay_fail(err, ASSAY_ERR_SCHEME, "%s:%u:%u: mac: %s is not given", file,
                              t->line, t->column, parameters[i].name);
    const char *why = contradiction(m);
    return !why ? ASSAY_OK
                : assay_fail(err, ASSAY_ERR_SCHEME, "%s:%u:%u: mac: %s", file, t->line, t->column,
                             why);
}

static assay_status read_text(const char *file, const assay_tree *t, char *out, size_t size,
                              assay_error *err)
{
    if (t->kind != ASSAY_TREE_SCALAR || t->text[0] == '\0' || strlen(t->text) >= size)
        return wrong(file, t,
                     size > 64 ? "a line of at most 255 bytes" : "a name of at most 63 bytes", err);
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
    if (strcmp(c->key, "mac") == 0)
        return read_record(file, c, &out->record, err);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s:%u:%u: unknown key \"%.40s\"; expected unit, description or mac", file,
                      c->line, c->column, c->key);
}

assay_status mac_read(const char *file, const char *text, size_t length, assay_mac_unit *out,
                      assay_error *err)
{
    assay_tree *t;
    *out = (assay_mac_unit){.name = ""};
    assay_status s = assay_tree_parse(file, text, length, &t, err);
    if (s)
        return s;
    if (t->kind != ASSAY_TREE_MAP || !assay_tree_get(t, "mac") || !assay_tree_get(t, "unit"))
        s = assay_fail(err, ASSAY_ERR_INPUT, "%s: no unit; expected the keys unit and mac", file);
    else
        for (const assay_tree *c = t->child; c && !s; c = c->next)
            s = read_key(file, c, out, err);
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

assay_status mac_open(const char *name, assay_mac_unit *out, assay_error *err)
{
    size_t length;
    const char *text = assay_mac_unit_text(name, &length);
    const char *dot = strrchr(name, '.');
    if (text)
        return mac_read(name, text, length, out, err);
    if (strchr(name, '/') || (dot && strcmp(dot, ".yaml") == 0))
        return open_file(name, out, err);
    assay_guess g = ASSAY_GUESS(name);
    for (const char *const *n = assay_mac_units(); *n; n++)
        assay_guess_consider(&g, *n);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "no matrix unit \"%.60s\"; nearest: %s (a file: ./NAME.yaml)", name, g.best);
}
