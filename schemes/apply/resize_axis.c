/* Places on the input of the output indices of a resized axis; see resize_axis.h. */
#include <assert.h>

#include "schemes/apply/resize_axis.h"

#include <string.h>

#include "schemes/apply/softfloat.h"

#define F32_HALF UINT32_C(0x3f000000)
#define F32_ONE  UINT32_C(0x3f800000)

/* The bits of attribute `scales` at an axis; 0 when the network gives extents only. */
static uint32_t given_scale(const assay_attr_resize *a, int axis)
{
    uint32_t bits = 0;
    if (axis >= 0 && axis < a->scales.n)
        memcpy(&bits, &a->scales.v[axis], sizeof bits);
    return bits;
}

/* n / d in binary32. */
static uint32_t ratio(int64_t n, int64_t d)
{
    return apply_f32_div(apply_f32_from_i64(n), apply_f32_from_i64(d));
}

/* The input coordinate of output index i, in binary32 (ONNX operator Resize,
 * coordinate_transformation_mode; TFLite reference/resize_nearest_neighbor.h where the scale is not
 * given: i times the rounded ratio of the extents). */
static uint32_t coordinate(const assay_attr_resize *a, int axis, int64_t in, int64_t out, int64_t i)
{
    uint32_t scale = given_scale(a, axis), x = apply_f32_from_i64(i);
    uint32_t centre = apply_f32_add(x, F32_HALF);
    uint32_t step = scale ? 0 : ratio(in, out);
    uint32_t half = scale ? apply_f32_div(centre, scale) : apply_f32_mul(centre, step);
    uint32_t half_pixel = apply_f32_sub(half, F32_HALF);
    switch ((enum assay_resize_coordinate)a->coordinate) {
    case ASSAY_COORD_ASYMMETRIC:
        return scale ? apply_f32_div(x, scale) : apply_f32_mul(x, step);
    case ASSAY_COORD_ALIGN_CORNERS:
        return out > 1 ? apply_f32_mul(x, ratio(in - 1, out - 1)) : 0;
    case ASSAY_COORD_TFLITE_HALF_PIXEL: /* the cell that holds the centre: no half taken off */
        return half;
    case ASSAY_COORD_TFLITE_HALF_PIXEL_CORNERS:
        return apply_f32_mul(centre, out > 1 ? ratio(in - 1, out - 1) : ratio(in, out));
    case ASSAY_COORD_PYTORCH_HALF_PIXEL:
        return out > 1 ? half_pixel : 0;
    case ASSAY_COORD_HALF_PIXEL_SYMMETRIC: {
        /* in/2 * (1 - out / (in * scale)) + half pixel */
        uint32_t whole =
            scale ? apply_f32_mul(apply_f32_from_i64(in), scale) : apply_f32_from_i64(out);
        uint32_t adjust = apply_f32_div(apply_f32_from_i64(out), whole);
        uint32_t offset = apply_f32_mul(apply_f32_mul(apply_f32_from_i64(in), F32_HALF),
                                        apply_f32_sub(F32_ONE, adjust));
        return apply_f32_add(offset, half_pixel);
    }
    case ASSAY_COORD_HALF_PIXEL:
        break;
    }
    return half_pixel;
}

static enum assay_rounding nearest_rounding(int nearest)
{
    switch ((enum assay_resize_nearest)nearest) {
    case ASSAY_NEAREST_FLOOR:
        return ASSAY_ROUND_FLOOR;
    case ASSAY_NEAREST_CEIL:
        return ASSAY_ROUND_CEIL;
    case ASSAY_NEAREST_ROUND_PREFER_CEIL:
        return ASSAY_ROUND_HALF_UP;
    case ASSAY_NEAREST_ROUND_PREFER_FLOOR:
        break;
    }
    return ASSAY_ROUND_HALF_ZERO; /* negative coordinates end at 0 in any case */
}

void apply_nearest_indices(const assay_attr_resize *a, int axis, int64_t in, int64_t out,
                           int32_t *index)
{
    enum assay_rounding mode = nearest_rounding(a->nearest);
    bool keeps = in == out && !assay_resize_shifts(a, axis);
    for (int64_t i = 0; i < out; i++)
        index[i] =
            keeps ? (int32_t)i
                  : (int32_t)apply_f32_to_int(coordinate(a, axis, in, out, i), mode, 0, in - 1, 0);
}

/* v = i * scale (half pixel: + scale/2 - one/2), one = 2^bits, scale = (in * one + out/2) / out;
 * align_corners: scale = ((in-1) * one + (out-1)/2) / (out-1). Half pixel, symmetric, of a given
 * scale: half of what the steps leave of the input comes before the first, as much behind the last.
 */
void apply_linear_taps(const assay_attr_resize *a, int axis, int64_t in, int64_t out, unsigned bits,
                       assay_linear_tap *tap)
{
    assert(bits <= 30 && out >= 1);
    const int64_t one = INT64_C(1) << bits;
    bool corners = a->coordinate == ASSAY_COORD_ALIGN_CORNERS && out > 1;
    bool centred = a->coordinate == ASSAY_COORD_HALF_PIXEL ||
                   a->coordinate == ASSAY_COORD_TFLITE_HALF_PIXEL ||
                   a->coordinate == ASSAY_COORD_HALF_PIXEL_SYMMETRIC ||
                   (a->coordinate == ASSAY_COORD_PYTORCH_HALF_PIXEL && out > 1);
    uint32_t given = corners ? 0 : given_scale(a, axis);
    int64_t n = (corners ? in - 1 : in) * one, d = corners ? out - 1 : out;
    int64_t scale = (n + d / 2) / d;
    if (given) /* one / scale, to the nearest integer */
        scale = apply_f32_to_int(apply_f32_div(apply_f32_from_i64(one), given), ASSAY_ROUND_HALF_UP,
                                 0, INT32_MAX, 0);
    int64_t first = centred ? scale / 2 - one / 2 : 0;
    if (given && a->coordinate == ASSAY_COORD_HALF_PIXEL_SYMMETRIC)
        first = apply_shift_right((in - 1) * one - (out - 1) * scale, 1);
    for (int64_t i = 0; i < out; i++) {
        int64_t v = i * scale + first;
        v = apply_clamp_to(v, 0, (in - 1) * one);
        tap[i].lo = (int32_t)(v / one);
        tap[i].hi = (int32_t)((v + one - 1) / one);
        tap[i].fraction = (int32_t)(v % one);
    }
}
