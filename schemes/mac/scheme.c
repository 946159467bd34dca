/* Schemes of matrix units as text: the section `mac`, whose parameters scheme.def lists. */
#include "schemes/mac/scheme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "graph/core/buf.h"
#include "graph/memory.h"
#include "schemes/mac/parameters.h"
#include "schemes/record/guess.h"
#include "schemes/record/tree.h"

enum kind { SCALES, RULE, BY, FORMAT, FLAG };

#define SHARING(ID, name, rows, columns, to, rule, second)                                         \
    {name, rows, columns, ASSAY_MAC_##to, ASSAY_SCALE_##rule, second},
static const assay_mac_sharing sharings[] = {ASSAY_MAC_SCALES(SHARING)};
#define NAME(ID, name, rows, columns, to, rule, second) name,
static const char *const scales[] = {ASSAY_MAC_SCALES(NAME) NULL};
static const char *const rules[] = {"amax", "floor", "ceil", "even", "round_up", NULL};
static const char *const bys[] = {"divide", "reciprocal", NULL};
static const char *const flags[] = {"no", "yes", NULL};
static const char *const *const words[] = {
    [SCALES] = scales, [RULE] = rules, [BY] = bys, [FLAG] = flags};

static const struct parameter {
    const char *name;
    enum kind kind;
    int64_t value;
    size_t offset;
} parameters[] = {
#define PARAMETER(name, kind, value, doc) {#name, kind, value, offsetof(assay_mac_scheme, name)},
    ASSAY_MAC_SCHEME_PARAMETERS(PARAMETER)
#undef PARAMETER
};
enum { N_PARAMETERS = sizeof parameters / sizeof *parameters };

const assay_mac_sharing *mac_sharing_of(enum assay_mac_scales s)
{
    return &sharings[s];
}

static int64_t *member(assay_mac_scheme *s, const struct parameter *p)
{
    return (int64_t *)(void *)((char *)s + p->offset);
}

static const char *word_of(const struct parameter *p, int64_t value)
{
    return p->kind == FORMAT ? mac_layout_of((enum assay_mac_format)value)->name
                             : words[p->kind][value];
}

static assay_status wrong(const char *file, const assay_tree *t, const char *expected,
                          assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_INPUT, "%s:%u:%u: %s: found \"%.40s\", expected %s", file,
                      t->line, t->column, t->key ? t->key : "units",
                      t->kind == ASSAY_TREE_SCALAR ? t->text : "a list or map", expected);
}

static bool find_word(const struct parameter *p, const char *text, int64_t *out)
{
    enum assay_mac_format f;
    if (p->kind == FORMAT) {
        if (!mac_format_parse(text, &f) ||
            (f != ASSAY_MAC_F32 && f != ASSAY_MAC_BF16 && f != ASSAY_MAC_F16))
            return false;
        *out = f;
        return true;
    }
    for (int64_t i = 0; words[p->kind][i]; i++)
        if (strcmp(words[p->kind][i], text) == 0) {
            *out = i;
            return true;
        }
    return false;
}

static assay_status read_parameter(const char *file, const assay_tree *t, const struct parameter *p,
                                   int64_t *out, assay_error *err)
{
    char expected[128] = "f32, bf16 or f16";
    if (t->kind == ASSAY_TREE_SCALAR && find_word(p, t->text, out) &&
        (p->kind != RULE || *out != ASSAY_SCALE_AMAX))
        return ASSAY_OK;
    size_t used = 0;
    for (int i = p->kind == RULE; p->kind != FORMAT && words[p->kind][i]; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s", used ? ", " : "",
                                 words[p->kind][i]);
    return wrong(file, t, expected, err);
}

static assay_status read_units(const char *file, const assay_tree *t, assay_mac_scheme *s,
                               assay_error *err)
{
    if (t->kind != ASSAY_TREE_LIST || !t->child)
        return wrong(file, t, "a list of matrix units", err);
    for (const assay_tree *c = t->child; c; c = c->next) {
        if (s->n_units == ASSAY_MAC_UNITS)
            return wrong(file, c, "at most 8 units", err);
        if (c->kind == ASSAY_TREE_LIST)
            return wrong(file, c, "the name or file of a matrix unit, or its parameters", err);
        assay_mac_unit *u = &s->unit[s->n_units];
        const assay_status status =
            c->kind == ASSAY_TREE_MAP ? mac_read_tree(file, c, u, err) : mac_open(c->text, u, err);
        if (status)
            return status;
        const assay_mac *m = &u->record;
        if (mac_scheme_unit(s, (enum assay_mac_format)m->a, (enum assay_mac_format)m->b))
            return wrong(file, c, "no second unit for the same elements", err);
        if (!mac_is_elem((enum assay_mac_format)m->a) || !mac_is_elem((enum assay_mac_format)m->b))
            return wrong(file, c, "a unit of elements that networks have: f32 or small floats",
                         err);
        if (m->out == ASSAY_MAC_F64)
            return wrong(file, c, "a unit whose results are f32, bf16 or f16", err);
        size_t length;
        s->shipped[s->n_units++] =
            c->kind == ASSAY_TREE_SCALAR && assay_mac_unit_text(c->text, &length);
    }
    return ASSAY_OK;
}

/* Whether elements have f32's range, or half of its bits, so that numbers are converted without a
 * scale. */
static bool is_wide(int64_t format)
{
    return format == ASSAY_MAC_F32 || format == ASSAY_MAC_TF32 || format == ASSAY_MAC_BF16 ||
           format == ASSAY_MAC_F16;
}

/* Fills in the scales that the file does not state; elements of f32 have none. */
static assay_status complete(const char *file, const assay_tree *t, assay_mac_scheme *s,
                             assay_error *err)
{
    const assay_mac *first = &s->unit[0].record;
    const int64_t otherwise =
        is_wide(first->a) && is_wide(first->b) ? ASSAY_MAC_SCALES_NONE : ASSAY_MAC_SCALES_ROW;
    if (s->activation_scales < 0)
        s->activation_scales = otherwise;
    if (s->weight_scales < 0)
        s->weight_scales = otherwise;
    if (first->a == ASSAY_MAC_F32 && first->b == ASSAY_MAC_F32 &&
        (s->activation_scales != ASSAY_MAC_SCALES_NONE ||
         s->weight_scales != ASSAY_MAC_SCALES_NONE))
        return wrong(file, t, "scales none beside a unit of f32 elements", err);
    return ASSAY_OK;
}

static assay_status read_section(const char *file, const assay_tree *t, assay_mac_scheme *s,
                                 assay_error *err)
{
    if (t->kind != ASSAY_TREE_MAP)
        return wrong(file, t, "parameters", err);
    for (const assay_tree *c = t->child; c; c = c->next) {
        assay_guess g = ASSAY_GUESS(c->key);
        const struct parameter *p = NULL;
        assay_guess_consider(&g, "units");
        for (int i = 0; i < N_PARAMETERS; i++) {
            assay_guess_consider(&g, parameters[i].name);
            if (strcmp(parameters[i].name, c->key) == 0)
                p = &parameters[i];
        }
        const bool units = strcmp(c->key, "units") == 0;
        if (!p && !units)
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s:%u:%u: mac has no parameter \"%.40s\"; nearest: %s", file,
                              c->line, c->column, c->key, g.best);
        const assay_status status =
            units ? read_units(file, c, s, err) : read_parameter(file, c, p, member(s, p), err);
        if (status)
            return status;
    }
    return s->n_units > 0 ? complete(file, t, s, err)
                          : wrong(file, t, "units, a list of matrix units", err);
}

static assay_status read_text(const char *file, const assay_tree *t, char *out, size_t size,
                              assay_error *err)
{
    if (t->kind != ASSAY_TREE_SCALAR || t->text[0] == '\0' || strlen(t->text) >= size)
        return wrong(file, t, "a short line", err);
    memcpy(out, t->text, strlen(t->text) + 1);
    return ASSAY_OK;
}

static assay_status read_key(const char *file, const assay_tree *c, assay_mac_scheme *s,
                             assay_error *err)
{
    if (strcmp(c->key, "scheme") == 0)
        return read_text(file, c, s->name, sizeof s->name, err);
    if (strcmp(c->key, "description") == 0)
        return read_text(file, c, s->description, sizeof s->description, err);
    if (strcmp(c->key, "mac") == 0)
        return read_section(file, c, s, err);
    return assay_fail(err, ASSAY_ERR_INPUT,
                      "%s:%u:%u: unknown key \"%.40s\"; a scheme of matrix units has scheme, "
                      "description and mac",
                      file, c->line, c->column, c->key);
}

static assay_status read_tree(const char *file, const assay_tree *t, assay_mac_scheme *s,
                              assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < N_PARAMETERS; i++)
        *member(s, &parameters[i]) = parameters[i].value;
    for (const assay_tree *c = t->child; c && !status; c = c->next)
        status = read_key(file, c, s, err);
    return status;
}

/* A unit that is not shipped is written out, so that the scheme needs no other file. */
static void print_unit(assay_buf *b, const assay_mac_unit *u)
{
    size_t n;
    const assay_mac_parameter *all = mac_parameters(&n);
    assay_buf_printf(b, "{unit: %s, mac: {", u->name);
    for (size_t i = 0; i < n; i++) {
        char value[8 * ASSAY_MAC_MAX_ORDER];
        mac_print(&all[i], &u->record, value, sizeof value);
        assay_buf_printf(b, "%s%s: %s", i > 0 ? ", " : "", all[i].name, value);
    }
    assay_buf_printf(b, "}}");
}

/* Writes all parameters in effect. */
static char *canonical(const assay_mac_scheme *s)
{
    assay_buf b = {0};
    assay_buf_printf(&b, "scheme: %s\n", s->name);
    if (s->description[0] != '\0')
        assay_buf_printf(&b, "description: \"%s\"\n", s->description);
    assay_buf_printf(&b, "mac:\n  units: [");
    for (int i = 0; i < s->n_units; i++) {
        assay_buf_printf(&b, "%s%s", i > 0 ? ", " : "", s->shipped[i] ? s->unit[i].name : "");
        if (!s->shipped[i])
            print_unit(&b, &s->unit[i]);
    }
    assay_buf_printf(&b, "]\n");
    for (int i = 0; i < N_PARAMETERS; i++)
        assay_buf_printf(
            &b, "  %s: %s\n", parameters[i].name,
            word_of(&parameters[i], *member((assay_mac_scheme *)(uintptr_t)s, &parameters[i])));
    if (!assay_buf_status(&b, NULL))
        return b.text;
    assay_buf_free(&b);
    return NULL;
}

assay_status mac_scheme_is(const char *text, size_t length, bool *is, assay_error *err)
{
    assay_tree *t = NULL;
    assay_error why;
    const assay_status s = assay_tree_parse("", text, length, &t, &why);
    *is =
        !s && t->kind == ASSAY_TREE_MAP && assay_tree_get(t, "mac") && assay_tree_get(t, "scheme");
    assay_tree_free(t);
    return s == ASSAY_ERR_MEMORY ? assay_fail(err, s, "%s", why.text) : ASSAY_OK;
}

assay_status mac_scheme_parse(const char *file, const char *text, size_t length, assay_scheme **out,
                              assay_error *err)
{
    assay_tree *t;
    *out = NULL;
    assay_status status = assay_tree_parse(file, text, length, &t, err);
    if (status)
        return status;
    assay_scheme *s = calloc(1, sizeof *s);
    assay_mac_scheme *m = calloc(1, sizeof *m);
    status = !s || !m ? assay_out_of_memory_for(err, "%s", file) : read_tree(file, t, m, err);
    assay_tree_free(t);
    char *own = !status ? canonical(m) : NULL;
    if (!status && !own)
        status = assay_out_of_memory_for(err, "%s", file);
    if (status) {
        free(m);
        free(s);
        return status;
    }
    *s = (assay_scheme){
        .vt = &mac_vtable, .name = m->name, .description = m->description, .text = own, .mac = m};
    const XXH128_hash_t h = XXH3_128bits(own, strlen(own));
    snprintf(s->digest, sizeof s->digest, "%016llx%016llx", (unsigned long long)h.high64,
             (unsigned long long)h.low64);
    *out = s;
    return ASSAY_OK;
}
