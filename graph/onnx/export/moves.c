/* Operators that move elements by numbers which ONNX takes as inputs. */
#include <string.h>

#include "graph/onnx/export/parts.h"

void onnx_export_slice(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y)
{
    const assay_attr_slice *a = &n->attr.slice;
    assay_list end = a->begin, axes = a->begin;

    for (int i = 0; i < a->begin.n; i++) {
        end.v[i] = a->begin.v[i] + a->step.v[i] * a->size.v[i];
        if (end.v[i] < 0)
            end.v[i] = INT64_MIN; /* before the first, not counted from the end */
        axes.v[i] = i;
    }
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, y, "starts", &a->begin));
    onnx_write_input(w, onnx_write_integers(w, y, "ends", &end));
    onnx_write_input(w, onnx_write_integers(w, y, "axes", &axes));
    onnx_write_input(w, onnx_write_integers(w, y, "steps", &a->step));
}

void onnx_export_pad(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y)
{
    const assay_attr_pad *a = &n->attr.pad;
    assay_list pads = {.n = 2 * a->begin.n};

    if (a->mode != ASSAY_PAD_CONSTANT || pads.n > ASSAY_ATTR_LIST)
        onnx_write_refuse(w, n, "a pad that is not by a constant");
    for (int i = 0; i < a->begin.n && pads.n <= ASSAY_ATTR_LIST; i++) {
        pads.v[i] = a->begin.v[i];
        pads.v[a->begin.n + i] = a->end.v[i];
    }
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, y, "pads", &pads));
    onnx_write_input(w, onnx_write_number(w, y, "value", a->value));
}

/* The result's shape, or the list of an attribute, as the second input. */
void onnx_export_shaped(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y)
{
    const assay_type *t = &assay_node_out(w->g, n, 0)->type;
    assay_list shape = {.n = t->rank};

    memcpy(shape.v, t->dim, (size_t)shape.n * sizeof *shape.v);
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w,
                     onnx_write_integers(w, y, "shape",
                                         n->op == ASSAY_OP_TILE ? &n->attr.tile.repeats : &shape));
}
