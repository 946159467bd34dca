/* Detections: NON_MAX_SUPPRESSION_V4 and V5, and the custom operator TFLite_Detection_PostProcess.
 */
#include <math.h>

#include "graph/tflite/flat/flex.h"
#include "graph/tflite/op/op.h"

/* A constant float in input i. */
static assay_status read_float(const tfl_op *o, int i, float *out)
{
    tfl_tensor *t = tfl_in(o, i);
    const void *data;
    assay_status s;

    if (t->why || t->is_variable || !t->data || t->type.elem.kind != ASSAY_KIND_F32 ||
        assay_shape_count(&t->type) != 1)
        return tfl_unsupported(o, "input %d is not a single constant float", i);
    if ((s = tfl_elements(o->m, t, &data)))
        return s;
    *out = *(const float *)data;
    return ASSAY_OK;
}

/* boxes, scores, how many at most, overlap, score, [sigma] -> boxes kept, [their scores], count */
assay_status tfl_op_non_max_suppression(const tfl_op *o)
{
    const bool soft = o->n_in == 6;
    assay_attrs a = {0};
    assay_type scores;
    int in[2], out[3];
    assay_status s = tfl_expect(o, soft ? 6 : 5);

    if (s || (s = tfl_int(o, 2, &a.soft_nms.most)) || (s = read_float(o, 3, &a.soft_nms.iou)) ||
        (s = read_float(o, 4, &a.soft_nms.score)) ||
        (soft && (s = read_float(o, 5, &a.soft_nms.sigma))))
        return s;
    if (o->n_out != (soft ? 3 : 2))
        return tfl_fail(o, "%d outputs, expected %d", o->n_out, soft ? 3 : 2);
    if (!(a.soft_nms.sigma >= 0))
        return tfl_fail(o, "sigma is %g, expected 0 or more", (double)a.soft_nms.sigma);
    scores = (assay_type){.elem = assay_f32(), .rank = 1, .dim = {a.soft_nms.most}};
    if ((s = tfl_value(o, 0, &in[0])) || (s = tfl_value(o, 1, &in[1])) ||
        (s = tfl_result(o, 0, &out[0])) ||
        (s = soft ? tfl_result(o, 1, &out[1]) : tfl_part(o, "scores", &scores, &out[1])) ||
        (s = tfl_result(o, o->n_out - 1, &out[2])))
        return s;
    return tfl_node(o, ASSAY_OP_SOFT_NMS, in, 2, out, 3, &a, NULL);
}

/* ---- TFLite_Detection_PostProcess ---- */

static assay_status read_options(const tfl_op *o, assay_attr_detection *a)
{
    static const char *const scale[4] = {"y_scale", "x_scale", "h_scale", "w_scale"};
    double max = 0, per_box = 0, per_class = 100, by_class = 0, score = 0, iou = 0, classes = 0;
    const flat_vector v = o->custom_options;
    bool whole = tfl_flex_number(v, "max_detections", &max) &&
                 tfl_flex_number(v, "max_classes_per_detection", &per_box) &&
                 tfl_flex_number(v, "nms_score_threshold", &score) &&
                 tfl_flex_number(v, "nms_iou_threshold", &iou) &&
                 tfl_flex_number(v, "num_classes", &classes);

    tfl_flex_number(v, "detections_per_class", &per_class);
    tfl_flex_number(v, "use_regular_nms", &by_class);
    a->scale.n = 4;
    for (int i = 0; i < 4; ++i) {
        double number = 0;
        whole &= tfl_flex_number(v, scale[i], &number);
        a->scale.v[i] = (float)number;
    }
    if (!whole ||
        !(fabs(max) < 1e6 && fabs(per_box) < 1e6 && fabs(per_class) < 1e9 && fabs(classes) < 1e6))
        return tfl_fail(o, "an option is missing or out of range");
    a->most = (int64_t)max;
    a->per_box = (int64_t)per_box;
    a->per_class = (int64_t)fmin(per_class, 1e6);
    a->classes = (int64_t)classes;
    a->score = (float)score;
    a->iou = (float)iou;
    a->by_class = by_class != 0;
    if (!(a->iou > 0 && a->iou <= 1))
        return tfl_fail(o, "an overlap threshold outside 0 to 1");
    return ASSAY_OK;
}

/* Input i as numbers: codes are dequantized, as the kernel does it. */
static assay_status numbers(const tfl_op *o, int i, const char *name, int *value)
{
    assay_type type = tfl_in(o, i)->type;
    int codes;
    assay_status s = tfl_value(o, i, &codes);

    *value = codes;
    if (s || type.elem.kind == ASSAY_KIND_F32)
        return s;
    if (!assay_is_quantized(&type))
        return tfl_unsupported(o, "integers without a scale");
    type.elem = assay_f32();
    type.q = (assay_qparams){0};
    if ((s = tfl_part(o, name, &type, value)))
        return s;
    return tfl_node(o, ASSAY_OP_DEQUANTIZE, &codes, 1, value, 1, NULL, NULL);
}

/* The kernel gives its outputs their shapes; files often leave them open. */
assay_status tfl_custom_detection(const tfl_op *o)
{
    static const char *const name[3] = {"encodings", "predictions", "anchors"};
    assay_attrs a = {0};
    int in[3], out[4];
    assay_status s = tfl_expect(o, 3);

    if (s || (s = read_options(o, &a.detection)))
        return s;
    if (o->n_out != 4)
        return tfl_fail(o, "%d outputs, expected 4", o->n_out);
    for (int i = 0; i < 3; ++i)
        if ((s = numbers(o, i, name[i], &in[i])))
            return s;
    for (int i = 0; i < 4; ++i)
        if ((s = tfl_result(o, i, &out[i])))
            return s;
    if ((s = tfl_infer(o, ASSAY_OP_DETECTION, in, 3, out, 4, &a)))
        return s;
    return tfl_node(o, ASSAY_OP_DETECTION, in, 3, out, 4, &a, NULL);
}
