/* Ops that ONNX has as several operators, or with inputs that they lack. */
#include "graph/onnx/export/parts.h"

void onnx_export_clip(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y)
{
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_number(w, y, "min", n->attr.clip.lo));
    onnx_write_input(w, onnx_write_number(w, y, "max", n->attr.clip.hi));
}

/* To a narrow float and back: values are float32 here. */
static void narrowing(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y)
{
    const char *narrow = onnx_text(w, "%s:narrow", y);

    onnx_write_node(w, name, narrow);
    onnx_write_input(w, in[0]);
    onnx_write_int(w, "to", n->attr.cast.to == ASSAY_CAST_F16 ? ONNX_FLOAT16 : ONNX_BFLOAT16);
    onnx_write_node(w, name, y);
    onnx_write_input(w, narrow);
    onnx_write_int(w, "to", ONNX_FLOAT);
}

void onnx_export_cast(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y)
{
    if (assay_is_narrowing(n)) {
        narrowing(w, n, name, in, y);
        return;
    }
    onnx_write_node(w, name, y);
    onnx_write_int(w, "to", onnx_elem_dtype(assay_node_out(w->g, n, 0)->type.elem));
    for (int i = 0; i < n->n_in; i++)
        onnx_write_input(w, in[i]);
}

void onnx_export_square(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y)
{
    (void)n;
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, in[0]);
}

void onnx_export_rsqrt(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y)
{
    const char *root = onnx_text(w, "%s:root", y);
    (void)n;
    onnx_write_node(w, "Sqrt", root);
    onnx_write_input(w, in[0]);
    onnx_write_node(w, name, y);
    onnx_write_input(w, root);
}

/* ONNX wants a scale. */
void onnx_export_layer_norm(onnx_writer *w, const assay_node *n, const char *name,
                            const char *const *in, const char *y)
{
    const assay_type *x = &assay_node_in(w->g, n, 0)->type;
    const int axis = (int)n->attr.norm.axis + (n->attr.norm.axis < 0 ? x->rank : 0);
    const char *scale = n->n_in > 1 ? in[1] : "";

    if (scale[0] == '\0')
        scale = onnx_write_filled(w, y, "scale", x->rank - axis, x->dim + axis, 1);
    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, scale);
    if (n->n_in > 2)
        onnx_write_input(w, in[2]);
    onnx_write_int(w, "axis", axis);
    onnx_write_float(w, "epsilon", n->attr.norm.epsilon);
}

/* What two operators one after the other give: `first` of the inputs, `name` of that. */
static void in_turn(onnx_writer *w, const assay_node *n, const char *first, const char *name,
                    const char *const *in, const char *y)
{
    const char *made = onnx_text(w, "%s:first", y);

    onnx_write_node(w, first, made);
    for (int i = 0; i < n->n_in; i++)
        onnx_write_input(w, in[i]);
    onnx_write_node(w, name, y);
    onnx_write_input(w, made);
}

void onnx_export_not_equal(onnx_writer *w, const assay_node *n, const char *name,
                           const char *const *in, const char *y)
{
    in_turn(w, n, "Equal", name, in, y);
}

void onnx_export_floor_div(onnx_writer *w, const assay_node *n, const char *name,
                           const char *const *in, const char *y)
{
    if (assay_node_in(w->g, n, 0)->type.elem.kind == ASSAY_KIND_INT)
        onnx_write_refuse(w, n, "a quotient of integers rounded down");
    in_turn(w, n, "Div", name, in, y);
}

void onnx_export_squared_difference(onnx_writer *w, const assay_node *n, const char *name,
                                    const char *const *in, const char *y)
{
    in_turn(w, n, "Sub", name, in, y);
    onnx_write_input(w, onnx_text(w, "%s:first", y));
}
