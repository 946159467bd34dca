/* Reflection over attribute structs: the field tables that attr.def makes, and what is done with
 * them: defaults, comparison, checks, text. */
#include "graph/core/attr.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/core/buf.h"

/* Names of the enumerations, in the order of attr.h. */
static const char *const names_layout[] = {"nchw", "nhwc", NULL};
static const char *const names_gelu[] = {"none", "tanh", NULL};
static const char *const names_pad_mode[] = {"constant",  "reflect", "edge",
                                             "symmetric", "wrap",    NULL};
static const char *const names_reduction[] = {"add", "mul", "min", "max", NULL};
static const char *const names_d2s_order[] = {"dcr", "crd", NULL};
static const char *const names_resize_mode[] = {"nearest", "linear", "cubic", NULL};
static const char *const names_resize_coordinate[] = {"half_pixel",
                                                      "pytorch_half_pixel",
                                                      "align_corners",
                                                      "asymmetric",
                                                      "half_pixel_symmetric",
                                                      "tflite_half_pixel",
                                                      "tflite_half_pixel_corners",
                                                      NULL};
static const char *const names_resize_nearest[] = {"round_prefer_floor", "round_prefer_ceil",
                                                   "floor", "ceil", NULL};
static const char *const names_grid_padding[] = {"zeros", "border", "reflection", NULL};
static const char *const names_float_elem[] = {
    "f32",        "f16",    "bf16",   "tf32",   "f8e4m3fn", "f8e4m3fnuz", "f8e5m2",
    "f8e5m2fnuz", "f6e3m2", "f6e2m3", "f4e2m1", "f8e8m0",   "int8mx",     NULL};
static const char *const names_scale_rule[] = {"amax", "floor", "ceil", "even", "round_up", NULL};
static const char *const names_scale_by[] = {"divide", "reciprocal", NULL};
static const char *const names_power_round[] = {"up", "down", "nearest", NULL};
static const char *const names_elem[] = {"f32", "bool", "i8",   "u8", "i16", "u16", "i32", "u32",
                                         "i64", "f16",  "bf16", "i4", "u4",  "i2",  "u2",  NULL};
#define names__ NULL

#define ATTRS(name) static const assay_attr_field fields_##name[] = {
#define ATTR(name, kind, field, names, value)                                                      \
    {#field, #kind[0], offsetof(assay_attr_##name, field), names_##names, #value},
#define ATTRS_END(name)                                                                            \
    {                                                                                              \
        NULL, 0, 0, NULL, NULL                                                                     \
    }                                                                                              \
    }                                                                                              \
    ;
#include "graph/core/attr.def"

static const assay_attrs_info infos[ASSAY_ATTRS_COUNT] = {
#define ATTRS(name) {#name, (int)(sizeof fields_##name / sizeof *fields_##name) - 1, fields_##name},
#include "graph/core/attr.def"
};

const assay_attrs_info *assay_attrs_get(assay_attrs_id id)
{
    return &infos[id];
}

const assay_attr_field *assay_attr_find(assay_attrs_id id, const char *name)
{
    const assay_attrs_info *info = &infos[id];
    for (int i = 0; i < info->n_fields; ++i)
        if (strcmp(info->field[i].name, name) == 0)
            return &info->field[i];
    return NULL;
}

static void *at(const assay_attr_field *f, assay_attrs *a)
{
    return (char *)a + f->offset;
}

static const void *at_const(const assay_attr_field *f, const assay_attrs *a)
{
    return (const char *)a + f->offset;
}

void assay_attr_default(const assay_attr_field *f, assay_attrs *a)
{
    if (f->kind == 'L')
        *(assay_list *)at(f, a) = (assay_list){0};
    else if (f->kind == 'G')
        *(assay_float_list *)at(f, a) = (assay_float_list){0};
    else
        assay_attr_parse(f, f->value, a, NULL);
}

void assay_attrs_defaults(assay_attrs_id id, assay_attrs *a)
{
    const assay_attrs_info *info = &infos[id];
    memset(a, 0, sizeof *a);
    for (int i = 0; i < info->n_fields; ++i)
        assay_attr_default(&info->field[i], a);
}

void assay_attrs_copy(assay_attrs_id id, assay_attrs *to, const assay_attrs *from)
{
    const assay_attrs_info *info = &infos[id];
    memset(to, 0, sizeof *to);
    for (int i = 0; i < info->n_fields; ++i) {
        const assay_attr_field *f = &info->field[i];
        const void *p = at_const(f, from);
        size_t size = 0;
        switch (f->kind) {
        case 'I':
            size = sizeof(int64_t);
            break;
        case 'B':
            size = sizeof(bool);
            break;
        case 'F':
            size = sizeof(float);
            break;
        case 'E':
            size = sizeof(int);
            break;
        case 'L':
            size = sizeof(assay_list);
            break;
        case 'G':
            size = sizeof(assay_float_list);
            break;
        }
        memcpy(at(f, to), p, size);
    }
}

bool assay_attr_equal(const assay_attr_field *f, const assay_attrs *a, const assay_attrs *b)
{
    const void *p = at_const(f, a), *q = at_const(f, b);
    switch (f->kind) {
    case 'I':
        return *(const int64_t *)p == *(const int64_t *)q;
    case 'B':
        return *(const bool *)p == *(const bool *)q;
    case 'F':
        return memcmp(p, q, sizeof(float)) == 0;
    case 'E':
        return *(const int *)p == *(const int *)q;
    case 'L': {
        const assay_list *x = p, *y = q;
        return x->n == y->n && memcmp(x->v, y->v, sizeof *x->v * (size_t)x->n) == 0;
    }
    default: {
        const assay_float_list *x = p, *y = q;
        return x->n == y->n && memcmp(x->v, y->v, sizeof *x->v * (size_t)x->n) == 0;
    }
    }
}

bool assay_attrs_equal(assay_attrs_id id, const assay_attrs *a, const assay_attrs *b)
{
    const assay_attrs_info *info = &infos[id];
    for (int i = 0; i < info->n_fields; ++i)
        if (!assay_attr_equal(&info->field[i], a, b))
            return false;
    return true;
}

static int count_names(const assay_attr_field *f)
{
    int n = 0;
    while (f->names[n])
        ++n;
    return n;
}

assay_status assay_attrs_check(assay_attrs_id id, const assay_attrs *a, const char *what,
                               assay_error *err)
{
    const assay_attrs_info *info = &infos[id];
    for (int i = 0; i < info->n_fields; ++i) {
        const assay_attr_field *f = &info->field[i];
        const void *p = at_const(f, a);
        const assay_float_list *g = p;
        bool ok = true;
        if (f->kind == 'E')
            ok = *(const int *)p >= 0 && *(const int *)p < count_names(f);
        else if (f->kind == 'F')
            ok = !isnan(*(const float *)p);
        else if (f->kind == 'L')
            ok = ((const assay_list *)p)->n >= 0 && ((const assay_list *)p)->n <= ASSAY_ATTR_LIST;
        else if (f->kind == 'G') {
            ok = g->n >= 0 && g->n <= ASSAY_ATTR_LIST;
            for (int k = 0; ok && k < g->n; ++k)
                ok = !isnan(g->v[k]);
        }
        if (!ok)
            return assay_fail(err, ASSAY_ERR_INPUT, "%s: attribute '%s' is out of range or NaN",
                              what, f->name);
    }
    return ASSAY_OK;
}

/* ---- text ---- */

void assay_attr_print(const assay_attr_field *f, const assay_attrs *a, assay_buf *buf)
{
    const void *p = at_const(f, a);
    switch (f->kind) {
    case 'I':
        assay_buf_printf(buf, "%lld", (long long)*(const int64_t *)p);
        break;
    case 'B':
        assay_buf_printf(buf, "%s", *(const bool *)p ? "true" : "false");
        break;
    case 'F':
        assay_buf_float(buf, *(const float *)p);
        break;
    case 'E':
        assay_buf_printf(buf, "%s", f->names[*(const int *)p]);
        break;
    case 'L': {
        const assay_list *l = p;
        assay_buf_printf(buf, "[");
        for (int i = 0; i < l->n; ++i)
            assay_buf_printf(buf, "%s%lld", i ? "," : "", (long long)l->v[i]);
        assay_buf_printf(buf, "]");
        break;
    }
    default: {
        const assay_float_list *l = p;
        assay_buf_printf(buf, "[");
        for (int i = 0; i < l->n; ++i) {
            assay_buf_printf(buf, "%s", i ? "," : "");
            assay_buf_float(buf, l->v[i]);
        }
        assay_buf_printf(buf, "]");
    }
    }
}

static const char *skip(const char *p)
{
    while (isspace((unsigned char)*p))
        ++p;
    return p;
}

/* One integer; returns the end or NULL. */
static const char *parse_int(const char *p, int64_t *v)
{
    char *end;
    errno = 0;
    *v = strtoll(p, &end, 10);
    return end == p || errno ? NULL : end;
}

/* "[a, b]" of integers or floats; returns the end or NULL. */
static const char *parse_list(const char *p, assay_list *ints, assay_float_list *floats)
{
    int n = 0;
    if (*p != '[')
        return NULL;
    p = skip(p + 1);
    if (*p != ']') {
        for (;;) {
            if (n == ASSAY_ATTR_LIST)
                return NULL;
            p = ints ? parse_int(p, &ints->v[n]) : assay_parse_float(p, &floats->v[n]);
            if (!p)
                return NULL;
            ++n;
            p = skip(p);
            if (*p != ',')
                break;
            p = skip(p + 1);
        }
    }
    if (ints)
        ints->n = n;
    else
        floats->n = n;
    return *p == ']' ? p + 1 : NULL;
}

static const char *parse_name(const char *p, const char *const *names, int *v)
{
    size_t n = strcspn(p, " \t\r\n");
    for (int i = 0; names[i]; ++i)
        if (strlen(names[i]) == n && memcmp(names[i], p, n) == 0) {
            *v = i;
            return p + n;
        }
    return NULL;
}

assay_status assay_attr_parse(const assay_attr_field *f, const char *text, assay_attrs *a,
                              assay_error *err)
{
    static const char *const booleans[] = {"false", "true", NULL};
    static const char *const expected[] = {['I'] = "an integer",
                                           ['B'] = "true or false",
                                           ['F'] = "a number",
                                           ['E'] = "a name",
                                           ['L'] = "a list of at most 12 integers",
                                           ['G'] = "a list of at most 12 numbers"};
    void *p = at(f, a);
    const char *s = skip(text), *end = NULL;
    int b = 0;

    switch (f->kind) {
    case 'I':
        end = parse_int(s, p);
        break;
    case 'B':
        end = parse_name(s, booleans, &b);
        *(bool *)p = b != 0;
        break;
    case 'F':
        end = assay_parse_float(s, p);
        break;
    case 'E':
        end = parse_name(s, f->names, p);
        break;
    case 'L':
        end = parse_list(s, p, NULL);
        break;
    case 'G':
        end = parse_list(s, NULL, p);
        break;
    }
    if (!end || *skip(end))
        return assay_fail(err, ASSAY_ERR_INPUT, "attribute '%s': expected %s, found '%.60s'",
                          f->name, expected[(unsigned char)f->kind], text);
    return ASSAY_OK;
}
