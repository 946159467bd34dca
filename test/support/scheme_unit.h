/* Preparing units by hand, for tests of schemes. */
#ifndef ASSAY_TEST_SCHEME_UNIT_H
#define ASSAY_TEST_SCHEME_UNIT_H

#include <stdio.h>
#include <string.h>

#include "schemes/scheme.h"
#include "test/support/support.h"

/* Codes of `bits` bits with one scale and zero point; the pointers must outlive the type. */
static inline assay_type code_type(unsigned bits, bool is_signed, const float *scale,
                                   const int32_t *zero)
{
    assay_type t = {.elem = {ASSAY_KIND_INT, (uint8_t)bits, is_signed}, .rank = 1, .dim = {1}};
    t.q = (assay_qparams){ASSAY_Q_TENSOR, 0, 0, 1, scale, zero};
    return t;
}

static inline assay_unit_spec unit_spec(const char *op, const assay_type *in, int n_in,
                                        const assay_type *out)
{
    return (assay_unit_spec){.size = sizeof(assay_unit_spec),
                             .op = op,
                             .node = "node",
                             .in = in,
                             .n_in = n_in,
                             .out = out,
                             .depth = 1,
                             .act_lo = -__builtin_inf(),
                             .act_hi = __builtin_inf(),
                             .beta = 1};
}

/* A scheme by preset name, or from a text that starts with "scheme:". */
static inline assay_scheme *unit_open(const char *name_or_text)
{
    assay_error err;
    assay_scheme *s;
    if (strncmp(name_or_text, "scheme:", 7) == 0)
        assert_ok(assay_scheme_parse("test", name_or_text, strlen(name_or_text), &s, &err), &err);
    else
        assert_ok(assay_scheme_open(name_or_text, &s, &err), &err);
    return s;
}

/* The scheme of a record in YAML, without its name. */
static inline assay_scheme *unit_scheme(const char *record)
{
    char text[600];
    assay_error err = {0};
    assay_scheme *s;
    snprintf(text, sizeof text, "scheme: t\n%s", record);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    return s;
}

static inline assay_unit *unit_prepare(const assay_scheme *s, const assay_unit_spec *spec)
{
    assay_error err = {0};
    assay_unit *u;
    assert_ok(s->vt->prepare(s, spec, &u, &err), &err);
    return u;
}

/* The values of a unit's parameter and their number; NULL and 0 when it lists none of this name. */
static inline const int64_t *unit_param(const assay_scheme *s, const assay_unit *u,
                                        const char *name, size_t *count)
{
    assay_unit_param list[64];
    size_t n = s->vt->params(u, list, 64);
    *count = 0;
    for (size_t i = 0; i < n && i < 64; i++)
        if (strcmp(list[i].name, name) == 0) {
            *count = list[i].count;
            return list[i].value;
        }
    return NULL;
}

/* Entry i of the parameter `name`, which the unit must list. */
static inline int64_t unit_param_at(const assay_scheme *s, const assay_unit *u, const char *name,
                                    size_t i)
{
    size_t n;
    const int64_t *values = unit_param(s, u, name, &n);
    if (values == NULL || i >= n)
        fail_msg("no parameter %s[%zu]", name, i);
    return values[i];
}

#endif
