/* Operators that pick, place, sample and add up elements by positions. */
#include "graph/onnx/export/parts.h"

/* Positions as 64-bit integers, which is what GatherND, ScatterND and RoiAlign take. */
static const char *wide(onnx_writer *w, const assay_node *n, int i, const char *name)
{
    const assay_value *x = assay_node_in(w->g, n, i);
    const char *to = onnx_text(w, "%s:wide%d", w->g->value[n->out[0]].name, i);

    if (x->type.elem.bits == 64)
        return name;
    onnx_write_node(w, "Cast", to);
    onnx_write_input(w, name);
    onnx_write_int(w, "to", ONNX_INT64);
    return to;
}

/* Ends a node whose latest output are positions of 64 bits, into value v, which may have 32. */
static void positions(onnx_writer *w, int v)
{
    const assay_value *to = &w->g->value[v];
    const char *from = onnx_text(w, "%s:positions", to->name);

    if (to->type.elem.bits == 64) {
        onnx_write_output(w, to->name);
        return;
    }
    onnx_write_output(w, from);
    onnx_write_node(w, "Cast", to->name);
    onnx_write_input(w, from);
    onnx_write_int(w, "to", onnx_elem_dtype(to->type.elem));
}

void onnx_export_arg(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y)
{
    (void)y; /* positions, never codes */
    onnx_write_node(w, name, NULL);
    onnx_write_input(w, in[0]);
    onnx_write_int(w, "axis", n->attr.arg.axis);
    onnx_write_int(w, "keepdims", n->attr.arg.keepdims);
    onnx_write_int(w, "select_last_index", n->attr.arg.select_last);
    positions(w, n->out[0]);
}

void onnx_export_topk(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y)
{
    const assay_attr_topk *a = &n->attr.topk;
    const assay_list k = {.n = 1, .v = {a->k}};

    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, y, "k", &k));
    onnx_write_int(w, "axis", a->axis);
    onnx_write_int(w, "largest", a->largest);
    positions(w, n->out[1]);
}

/* An index for each axis in a column, as NonZero gives them, becomes a row for each element. */
void onnx_export_where(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                       const char *y)
{
    const char *columns = onnx_text(w, "%s:columns", y);
    (void)n;
    onnx_write_node(w, name, columns);
    onnx_write_input(w, in[0]);
    onnx_write_node(w, "Transpose", y);
    onnx_write_input(w, columns);
}

void onnx_export_gather_nd(onnx_writer *w, const assay_node *n, const char *name,
                           const char *const *in, const char *y)
{
    const char *at = wide(w, n, 1, in[1]);

    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, at);
}

void onnx_export_scatter(onnx_writer *w, const assay_node *n, const char *name,
                         const char *const *in, const char *y)
{
    static const char *const reductions[] = {"add", "mul", "min", "max"};
    const char *at = wide(w, n, 1, in[1]);

    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, at);
    onnx_write_input(w, in[2]);
    if (n->op == ASSAY_OP_SCATTER_REDUCE)
        onnx_write_string(w, "reduction", reductions[n->attr.scatter.reduction]);
}

void onnx_export_cumsum(onnx_writer *w, const assay_node *n, const char *name,
                        const char *const *in, const char *y)
{
    const assay_attr_cumsum *a = &n->attr.cumsum;
    const assay_list axis = {.n = 1, .v = {a->axis}};

    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, onnx_write_integers(w, y, "axis", &axis));
    onnx_write_int(w, "exclusive", a->exclusive);
    onnx_write_int(w, "reverse", a->reverse);
}

/* Modes have other names before opset 20, which has only images of two dimensions. */
void onnx_export_grid(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                      const char *y)
{
    static const char *const modes[] = {"nearest", "linear", "cubic"};
    static const char *const former[] = {"nearest", "bilinear", "bicubic"};
    static const char *const paddings[] = {"zeros", "border", "reflection"};
    const assay_attr_grid *a = &n->attr.grid;

    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, in[1]);
    onnx_write_string(w, "mode", (w->opset < 20 ? former : modes)[a->mode]);
    onnx_write_string(w, "padding_mode", paddings[a->padding]);
    onnx_write_int(w, "align_corners", a->align_corners);
}

void onnx_export_roi(onnx_writer *w, const assay_node *n, const char *name, const char *const *in,
                     const char *y)
{
    const assay_attr_roi *a = &n->attr.roi;
    const char *image = wide(w, n, 2, in[2]);

    onnx_write_node(w, name, y);
    onnx_write_input(w, in[0]);
    onnx_write_input(w, in[1]);
    onnx_write_input(w, image);
    onnx_write_int(w, "output_height", a->height);
    onnx_write_int(w, "output_width", a->width);
    onnx_write_int(w, "sampling_ratio", a->ratio);
    onnx_write_float(w, "spatial_scale", a->scale);
    onnx_write_string(w, "coordinate_transformation_mode",
                      a->aligned ? "half_pixel" : "output_half_pixel");
}
