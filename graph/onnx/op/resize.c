/* Resize and its predecessor Upsample. */
#include <math.h>
#include <string.h>

#include "graph/onnx/op/op.h"

/* Scales for the axes in `axes`; the extents follow: floor(extent * scale), in float as the
 * published reference does. Absent or empty: returns false. */
static bool use_scales(onnx_node *n, const onnx_const *scales, const assay_list *axes,
                       const assay_type *x, assay_attr_resize *a)
{
    if (!scales || scales->count == 0 || n->status)
        return false;
    if (scales->count != axes->n || !onnx_is_float(scales->dtype)) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%lld scales of %s for %d axes", (long long)scales->count,
                  onnx_dtype_name(scales->dtype), axes->n);
        return false;
    }
    a->scales.n = x->rank;
    for (int i = 0; i < x->rank; i++)
        a->scales.v[i] = 1;
    for (int i = 0; i < axes->n; i++) {
        float scale = (float)onnx_get_real(scales, i);
        float extent = floorf((float)x->dim[axes->v[i]] * scale);
        if (!(scale > 0) || !(extent >= 1) || !(extent < 0x1p40f)) {
            onnx_fail(n, ASSAY_ERR_INPUT, "scale %g of an axis of %lld", (double)scale,
                      (long long)x->dim[axes->v[i]]);
            return false;
        }
        a->scales.v[axes->v[i]] = scale;
        a->size.v[axes->v[i]] = (int64_t)extent;
    }
    return true;
}

static bool use_sizes(onnx_node *n, size_t input, const assay_list *axes, assay_attr_resize *a)
{
    assay_list sizes;

    if (!onnx_int_list(n, input, "sizes", &sizes) || sizes.n == 0)
        return false;
    if (sizes.n != axes->n) {
        onnx_fail(n, ASSAY_ERR_INPUT, "%d sizes for %d axes", sizes.n, axes->n);
        return false;
    }
    for (int i = 0; i < axes->n; i++) {
        if (sizes.v[i] < 1)
            onnx_fail(n, ASSAY_ERR_INPUT, "size %lld", (long long)sizes.v[i]);
        a->size.v[axes->v[i]] = sizes.v[i];
    }
    return true;
}

/* The axes that scales and sizes speak of: all, unless the attribute (18) says otherwise. */
static assay_list resize_axes(onnx_node *n, int rank)
{
    assay_list axes;
    bool seen[ASSAY_MAX_RANK] = {false};

    if (!onnx_ints(n, "axes", &axes)) {
        axes.n = rank;
        for (int i = 0; i < rank; i++)
            axes.v[i] = i;
    }
    for (int i = 0; i < axes.n && !n->status; i++) {
        axes.v[i] = onnx_axis(n, axes.v[i], rank);
        if (seen[axes.v[i]])
            onnx_fail(n, ASSAY_ERR_INPUT, "axis %lld is given twice", (long long)axes.v[i]);
        seen[axes.v[i]] = true;
    }
    return axes;
}

static void start_sizes(const assay_type *x, assay_attr_resize *a)
{
    a->size.n = x->rank;
    memcpy(a->size.v, x->dim, (size_t)x->rank * sizeof *x->dim);
}

/* Opset 10 has scales only and no attributes but the mode: asymmetric, nearest by floor. */
void onnx_import_resize(onnx_node *n)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
    static const char *const coordinates[] = {"half_pixel", "pytorch_half_pixel",   "align_corners",
                                              "asymmetric", "half_pixel_symmetric", NULL};
    static const char *const nearests[] = {"round_prefer_floor", "round_prefer_ceil", "floor",
                                           "ceil", NULL};
    static const char *const policies[] = {"stretch", NULL};
    bool old = n->opset < 11;
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_list axes = resize_axes(n, x.rank);
    assay_attrs a = {
        .resize = {.layout = ASSAY_LAYOUT_NCHW,
                   .mode = onnx_choice(n, "mode", modes, ASSAY_RESIZE_NEAREST),
                   .coordinate = onnx_choice(n, "coordinate_transformation_mode", coordinates,
                                             old ? ASSAY_COORD_ASYMMETRIC : ASSAY_COORD_HALF_PIXEL),
                   .nearest =
                       onnx_choice(n, "nearest_mode", nearests,
                                   old ? ASSAY_NEAREST_FLOOR : ASSAY_NEAREST_ROUND_PREFER_FLOOR),
                   .cubic_a = onnx_float(n, "cubic_coeff_a", -0.75f),
                   .exclude_outside = onnx_int(n, "exclude_outside", 0) != 0}};

    onnx_choice(n, "keep_aspect_ratio_policy", policies, 0);
    if (onnx_int(n, "antialias", 0) != 0)
        onnx_refuse(n, "attribute 'antialias' is 1");
    if (n->status)
        return;
    start_sizes(&x, &a.resize);
    if (!use_scales(n, onnx_known(n, old ? 1 : 2, "scales"), &axes, &x, &a.resize) &&
        (old || !use_sizes(n, 3, &axes, &a.resize)))
        onnx_fail(n, ASSAY_ERR_INPUT, "neither scales nor sizes are given");
    onnx_op1(n, ASSAY_OP_RESIZE, &a, onnx_in(n, 0), NULL);
}

/* Scales are an attribute before opset 9 and an input in 9. */
void onnx_import_upsample(onnx_node *n)
{
    static const char *const modes[] = {"nearest", "linear", NULL};
    assay_type x = onnx_type(n, onnx_in(n, 0));
    assay_list axes = resize_axes(n, x.rank);
    const pb_attribute *list = onnx_attribute(n, "scales", ONNX_ATTR_FLOATS);
    onnx_const given = {.dtype = ONNX_FLOAT, .rank = 1};
    assay_attrs a = {.resize = {.layout = ASSAY_LAYOUT_NCHW,
                                .mode = onnx_choice(n, "mode", modes, ASSAY_RESIZE_NEAREST),
                                .coordinate = ASSAY_COORD_ASYMMETRIC,
                                .nearest = ASSAY_NEAREST_FLOOR,
                                .cubic_a = -0.75f}};

    if (list) {
        given.count = (int64_t)list->n_floats;
        given.data = list->floats;
    }
    if (n->status)
        return;
    start_sizes(&x, &a.resize);
    if (!use_scales(n, list ? &given : onnx_known(n, 1, "scales"), &axes, &x, &a.resize))
        onnx_fail(n, ASSAY_ERR_INPUT, "scales are missing");
    onnx_op1(n, ASSAY_OP_RESIZE, &a, onnx_in(n, 0), NULL);
}
