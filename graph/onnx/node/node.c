/* Questions of op handlers: inputs and attributes of a node; and how they fail. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph/onnx/node/node.h"

/* ---- failures ---- */

static void fail(onnx_node *n, assay_status status, const char *format, va_list args)
{
    char text[400];

    if (n->status)
        return;
    n->status = status;
    vsnprintf(text, sizeof text, format, args);
    if (status == ASSAY_ERR_UNSUPPORTED)
        assay_fail(n->err, status, "node '%s' (%s): %s", n->name, n->pb->op_type, text);
    else
        assay_fail(n->err, status, "%s: node '%s' (%s): %s", n->im->file, n->name, n->pb->op_type,
                   text);
}

void *onnx_fail(onnx_node *n, assay_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(n, status, format, args);
    va_end(args);
    return NULL;
}

void *onnx_refuse(onnx_node *n, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fail(n, ASSAY_ERR_UNSUPPORTED, format, args);
    va_end(args);
    return NULL;
}

void onnx_since(onnx_node *n, int64_t opset)
{
    if (n->opset < opset)
        onnx_refuse(n, "its form of opset %lld; it is supported from %lld on", (long long)n->opset,
                    (long long)opset);
}

void *onnx_no_memory(onnx_node *n)
{
    return onnx_fail(n, ASSAY_ERR_MEMORY, "out of memory");
}

void *onnx_fail_because(onnx_node *n, assay_status status, const assay_error *cause)
{
    const char *text = cause->text, *end = strstr(text, "): ");

    if (status == ASSAY_ERR_MEMORY)
        return onnx_no_memory(n);
    if (end && strncmp(text, "node '", 6) == 0) /* named by fail() in the model's own words */
        text = end + 3;
    return onnx_fail(n, status, "%.300s", text);
}

/* ---- inputs ---- */

bool onnx_has(const onnx_node *n, size_t i)
{
    return i < n->pb->n_input && n->pb->input[i][0] != '\0';
}

onnx_value *onnx_in(onnx_node *n, size_t i)
{
    return onnx_has(n, i) ? onnx_resolve(onnx_find_value(n->im, n->pb->input[i])) : NULL;
}

assay_type onnx_type(onnx_node *n, onnx_value *v)
{
    assay_type t = {.rank = 0};

    if (!v || n->status)
        return t;
    if (v->list) {
        onnx_refuse(n, "'%s' is a sequence", v->name);
    } else if (v->constant) {
        (void)onnx_dtype_elem(v->constant->dtype, &t.elem);
        t.rank = v->constant->rank;
        memcpy(t.dim, v->constant->dim, sizeof t.dim);
    } else if (v->id == ASSAY_NO_VALUE && v->codes) {
        t = onnx_type(n, v->codes->constant);
        t.elem = assay_f32();
    } else {
        t = n->im->graph->value[v->id].type;
        t.q = (assay_qparams){0};
    }
    return t;
}

int64_t onnx_count(const assay_type *t)
{
    return assay_shape_count(t);
}

void onnx_check_finite(onnx_node *n, onnx_value *v)
{
    const onnx_const *c = v ? v->constant : NULL;
    const uint32_t exponent = 0x7f800000; /* all ones: infinities and NaNs */
    bool finite = true;

    if (!c || n->status || c->dtype != ONNX_FLOAT)
        return;
    for (int64_t i = 0; i < c->count; i++) {
        uint32_t bits;
        memcpy(&bits, (const char *)c->data + (size_t)i * sizeof bits, sizeof bits);
        finite &= (bits & exponent) != exponent;
    }
    for (int64_t i = 0; i < c->count && !finite; i++) {
        double x = onnx_get_real(c, i);
        if (!isfinite(x)) {
            onnx_fail(n, ASSAY_ERR_INPUT,
                      "constant '%s' has the element %g at index %lld, expected a finite number",
                      v->name, x, (long long)i);
            return;
        }
    }
}

bool onnx_out_used(const onnx_node *n, size_t i)
{
    onnx_value *v = i < n->pb->n_output ? onnx_find_value(n->im, n->pb->output[i]) : NULL;
    return v && v->uses > 0;
}

/* ---- attributes ---- */

const pb_attribute *onnx_attribute(onnx_node *n, const char *name, int type)
{
    for (size_t i = 0; i < n->pb->n_attribute; i++) {
        const pb_attribute *a = n->pb->attribute[i];
        if (!a->name || strcmp(a->name, name) != 0)
            continue;
        if (a->type != type) {
            onnx_fail(n, ASSAY_ERR_INPUT, "attribute '%s' has type %d, expected %d", name,
                      (int)a->type, type);
            return NULL;
        }
        return a;
    }
    return NULL;
}

int64_t onnx_int(onnx_node *n, const char *name, int64_t otherwise)
{
    const pb_attribute *a = onnx_attribute(n, name, ONNX_ATTR_INT);
    return a ? a->i : otherwise;
}

int onnx_dtype_attribute(onnx_node *n, const char *name, int otherwise)
{
    const int64_t dtype = onnx_int(n, name, otherwise);
    return dtype >= 0 && dtype <= INT32_MAX ? (int)dtype : -1;
}

float onnx_float(onnx_node *n, const char *name, float otherwise)
{
    const pb_attribute *a = onnx_attribute(n, name, ONNX_ATTR_FLOAT);

    if (a && !(a->f == a->f))
        onnx_fail(n, ASSAY_ERR_INPUT, "attribute '%s' is NaN", name);
    return a ? a->f : otherwise;
}

bool onnx_ints(onnx_node *n, const char *name, assay_list *list)
{
    const pb_attribute *a = onnx_attribute(n, name, ONNX_ATTR_INTS);

    *list = (assay_list){0};
    if (!a)
        return false;
    if (a->n_ints > ASSAY_ATTR_LIST) {
        onnx_refuse(n, "attribute '%s' has %zu entries, at most %d are supported", name, a->n_ints,
                    ASSAY_ATTR_LIST);
        return false;
    }
    list->n = (int)a->n_ints;
    for (int i = 0; i < list->n; i++)
        list->v[i] = a->ints[i];
    return true;
}

int onnx_choice(onnx_node *n, const char *name, const char *const *choices, int otherwise)
{
    const pb_attribute *a = onnx_attribute(n, name, ONNX_ATTR_STRING);

    if (!a)
        return otherwise;
    for (int i = 0; choices[i]; i++)
        if (strlen(choices[i]) == a->s.len && memcmp(choices[i], a->s.data, a->s.len) == 0)
            return i;
    onnx_refuse(n, "attribute '%s' is '%.*s'", name, (int)(a->s.len > 60 ? 60 : a->s.len),
                a->s.len ? (const char *)a->s.data : "");
    return otherwise;
}

int64_t onnx_axis(onnx_node *n, int64_t axis, int rank)
{
    if (axis < -rank || axis >= rank) {
        onnx_fail(n, ASSAY_ERR_INPUT, "axis %lld is outside the dimensions of a value of rank %d",
                  (long long)axis, rank);
        return 0;
    }
    return axis < 0 ? axis + rank : axis;
}
