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

/* Each axis from its last element to its first. */
void onnx_export_reverse(onnx_writer *w, const assay_node *n, const char *name,
                         const char *const *in, const char *y)
{
    const assay_list *axes = &n->attr.axes.axes;
    assay_list start = {.n = axes->n}, end = {.n = axes->n};

    for (int i = 0; i < axes->n; i++) {
        start.v[i] = -1;
        end.v[i] = INT64_MIN; /* before the first */
    }
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, y, "starts", &start));
    onnx_write_input(w, onnx_write_integers(w, y, "ends", &end));
    onnx_write_input(w, onnx_write_integers(w, y, "axes", axes));
    onnx_write_input(w, onnx_write_integers(w, y, "steps", &start));
}

/* The fill of integers that are not codes: the least one for what no integer is. */
static int64_t integer_fill(const assay_attr_pad *a, assay_elem elem)
{
    if (a->has_code)
        return a->code;
    return a->value > -0x1p62F && a->value < 0x1p62F ? (int64_t)a->value : assay_elem_min(elem);
}

/* What fills a constant pad: a real number, or an integer of x's type. */
static const char *fill(onnx_writer *w, const assay_node *n, const char *y)
{
    const assay_type *x = &assay_node_in(w->g, n, 0)->type;
    const assay_attr_pad *a = &n->attr.pad;
    const char *to = onnx_text(w, "%s:value", y);
    int64_t *code;

    if (assay_is_quantized(x) && a->has_code) {
        if (x->q.granularity != ASSAY_Q_TENSOR)
            onnx_write_refuse(w, n, "a pad by a code where channels have scales of their own");
        return onnx_write_number(w, y, "value",
                                 x->q.scale[0] * (float)(a->code - x->q.zero_point[0]));
    }
    if (assay_is_quantized(x) || x->elem.kind == ASSAY_KIND_F32)
        return onnx_write_number(w, y, "value", a->value);
    if ((code = onnx_memory(w, sizeof *code)))
        assay_elem_set(x->elem, code, 0, integer_fill(a, x->elem));
    onnx_write_tensor(w, to, x->elem, 0, NULL, code);
    return to;
}

/* Reflection that repeats the border, which ONNX's Pad lacks: the elements by their positions, one
 * axis after the other. */
static void symmetric(onnx_writer *w, const assay_node *n, const char *from, const char *y)
{
    const assay_type *x = &assay_node_in(w->g, n, 0)->type, *to = &assay_node_out(w->g, n, 0)->type;

    for (int i = 0; i < x->rank; i++) {
        const int64_t extent = x->dim[i];
        const char *made = i + 1 < x->rank ? onnx_text(w, "%s:axis%d", y, i) : y;
        int64_t *at = onnx_memory(w, (size_t)to->dim[i] * sizeof *at + 1);
        for (int64_t k = 0; at && k < to->dim[i]; k++) {
            const int64_t p = k - n->attr.pad.begin.v[i];
            at[k] = p < 0 ? -1 - p : p < extent ? p : 2 * extent - 1 - p;
        }
        onnx_write_tensor(w, onnx_text(w, "%s:at%d", y, i), assay_int(64, true), 1, &to->dim[i],
                          at);
        onnx_write_node(w, "Gather", made);
        onnx_write_input(w, from);
        onnx_write_input(w, onnx_text(w, "%s:at%d", y, i));
        onnx_write_int(w, "axis", i);
        from = made;
    }
}

void onnx_export_pad(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y)
{
    static const char *const modes[] = {"constant", "reflect", "edge", "symmetric", "wrap"};
    const assay_attr_pad *a = &n->attr.pad;
    assay_list pads = {.n = 2 * a->begin.n};

    if (a->mode == ASSAY_PAD_SYMMETRIC) {
        symmetric(w, n, in[0], y);
        return;
    }
    if (pads.n > ASSAY_ATTR_LIST)
        onnx_write_refuse(w, n, "a pad of too many axes");
    for (int i = 0; i < a->begin.n && pads.n <= ASSAY_ATTR_LIST; i++) {
        pads.v[i] = a->begin.v[i];
        pads.v[a->begin.n + i] = a->end.v[i];
    }
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, y, "pads", &pads));
    if (a->mode == ASSAY_PAD_CONSTANT)
        onnx_write_input(w, fill(w, n, y));
    onnx_write_string(w, "mode", modes[a->mode]);
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
