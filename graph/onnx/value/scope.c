/* Scopes: what the names of a subgraph mean in the table of values. */
#include <string.h>

#include "graph/onnx/value/value.h"

onnx_scope *onnx_push_scope(onnx_import *im, size_t max)
{
    onnx_scope *s = onnx_alloc(im, sizeof *s);

    if (!s || !(s->name = onnx_alloc(im, (max + 1) * sizeof *s->name)) ||
        !(s->real = onnx_alloc(im, (max + 1) * sizeof *s->real)))
        return NULL;
    s->around = im->scope;
    return im->scope = s;
}

void onnx_pop_scope(onnx_import *im)
{
    im->scope = im->scope->around;
}

/* The place of the name, or where it belongs. */
static size_t place(const onnx_scope *s, const char *name, bool *there)
{
    size_t low = 0, high = s->count;

    *there = false;
    while (low < high && !*there) {
        const size_t middle = low + (high - low) / 2;
        const int order = strcmp(s->name[middle], name);
        *there = order == 0;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return *there ? high : low;
}

bool onnx_mean(onnx_scope *s, const char *name, const char *real)
{
    bool there;
    const size_t at = place(s, name, &there), behind = s->count - at;

    if (there)
        return false;
    memmove(s->name + at + 1, s->name + at, behind * sizeof *s->name);
    memmove(s->real + at + 1, s->real + at, behind * sizeof *s->real);
    s->name[at] = name;
    s->real[at] = real;
    s->count++;
    return true;
}

const char *onnx_meaning(const onnx_import *im, const char *name)
{
    for (const onnx_scope *s = im->scope; s; s = s->around) {
        bool there;
        const size_t at = place(s, name, &there);
        if (there)
            return s->real[at];
    }
    return name;
}

onnx_value *onnx_find_here(const onnx_import *im, const char *real)
{
    onnx_value *v = onnx_find_value(im, real);
    return v && v->home == im->home ? v : NULL;
}

onnx_value *onnx_add_fresh(onnx_import *im, const char *name, const char *tag)
{
    const char *fresh = onnx_fresh_name(im, name, tag);
    return fresh ? onnx_add_value(im, fresh) : NULL;
}
