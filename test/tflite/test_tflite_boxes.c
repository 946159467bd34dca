/* The TFLite importer: detections, and the FlexBuffers options of a custom operator. */
#include "test/support/tflite_build.h"

#include <stdlib.h>
#include <string.h>

#include "graph/tflite/flat/flex.h"
#include "graph/tflite/tflite.h"

enum { CUSTOM = 32, NMS_V4 = 120, NMS_V5 = 121 };

/* max_detections 2, max_classes_per_detection 1, num_classes 1, nms_score_threshold 0.5,
 * nms_iou_threshold 0.5, four scales of 1, use_regular_nms true, detections_per_class 5 */
static const unsigned char options[] = {
    100, 101, 116, 101, 99,  116, 105, 111, 110, 115, 95,  112, 101, 114, 95,  99,  108, 97,  115,
    115, 0,   104, 95,  115, 99,  97,  108, 101, 0,   109, 97,  120, 95,  99,  108, 97,  115, 115,
    101, 115, 95,  112, 101, 114, 95,  100, 101, 116, 101, 99,  116, 105, 111, 110, 0,   109, 97,
    120, 95,  100, 101, 116, 101, 99,  116, 105, 111, 110, 115, 0,   110, 109, 115, 95,  105, 111,
    117, 95,  116, 104, 114, 101, 115, 104, 111, 108, 100, 0,   110, 109, 115, 95,  115, 99,  111,
    114, 101, 95,  116, 104, 114, 101, 115, 104, 111, 108, 100, 0,   110, 117, 109, 95,  99,  108,
    97,  115, 115, 101, 115, 0,   117, 115, 101, 95,  114, 101, 103, 117, 108, 97,  114, 95,  110,
    109, 115, 0,   119, 95,  115, 99,  97,  108, 101, 0,   120, 95,  115, 99,  97,  108, 101, 0,
    121, 95,  115, 99,  97,  108, 101, 0,   11,  0,   0,   0,   164, 0,   0,   0,   147, 0,   0,
    0,   143, 0,   0,   0,   121, 0,   0,   0,   110, 0,   0,   0,   96,  0,   0,   0,   80,  0,
    0,   0,   72,  0,   0,   0,   60,  0,   0,   0,   56,  0,   0,   0,   52,  0,   0,   0,   44,
    0,   0,   0,   4,   0,   0,   0,   11,  0,   0,   0,   5,   0,   0,   0,   0,   0,   128, 63,
    1,   0,   0,   0,   2,   0,   0,   0,   0,   0,   0,   63,  0,   0,   0,   63,  1,   0,   0,
    0,   1,   0,   0,   0,   0,   0,   128, 63,  0,   0,   128, 63,  0,   0,   128, 63,  6,   14,
    6,   6,   14,  14,  6,   106, 14,  14,  14,  55,  38,  1};

static flat_vector vector_of(flat_file *f, const unsigned char *bytes, size_t n)
{
    *f = (flat_file){.name = "options", .bytes = bytes, .size = n};
    return (flat_vector){.file = f, .at = 0, .count = (uint32_t)n};
}

static void test_options(void **state)
{
    /* {"a": int8 -3, "b": indirect int16 513, "c": uint8 200} with keys and values of one byte */
    static const unsigned char narrow[] = {'a', 0, 'b', 0,    'c', 0,   3, 7,  6, 5, 1,  2,
                                           5,   1, 3,   0xfd, 6,   200, 4, 25, 8, 6, 36, 1};
    flat_file f;
    double v;
    flat_vector all = vector_of(&f, options, sizeof options);

    (void)state;
    assert_true(tfl_flex_number(all, "max_detections", &v) && v == 2);
    assert_true(tfl_flex_number(all, "nms_iou_threshold", &v) && v == 0.5);
    assert_true(tfl_flex_number(all, "use_regular_nms", &v) && v == 1);
    assert_false(tfl_flex_number(all, "max_detection", &v));
    assert_false(tfl_flex_number((flat_vector){0}, "max_detections", &v));
    all = vector_of(&f, narrow, sizeof narrow);
    assert_true(tfl_flex_number(all, "a", &v) && v == -3);
    assert_true(tfl_flex_number(all, "b", &v) && v == 513);
    assert_true(tfl_flex_number(all, "c", &v) && v == 200);
}

/* What is no number, or one of a width that C has not, is as if it were not there. */
static void test_other_options(void **state)
{
    /* {"a": string, "b": float16} */
    static const unsigned char other[] = {1, 120, 0, 97, 0, 98, 0,  2,  5,  4, 2,  0, 1,
                                          0, 2,   0, 15, 0, 0,  60, 20, 13, 6, 37, 1};
    flat_file f;
    double v = 7;
    const flat_vector all = vector_of(&f, other, sizeof other);

    (void)state;
    assert_false(tfl_flex_number(all, "a", &v) || tfl_flex_number(all, "b", &v));
    assert_true(v == 7);
}

/* No damage leads outside. */
static void test_damaged_options(void **state)
{
    test_rng rng = test_seed("damaged options", 7);

    (void)state;
    for (int k = 0; k < 20000; ++k) {
        double v = 7.5;
        unsigned char *bytes = malloc(sizeof options);
        size_t n = sizeof options;
        flat_file f;
        assert_non_null(bytes);
        memcpy(bytes, options, n);
        tb_damage(&rng, bytes, &n);
        assert_true(tfl_flex_number(vector_of(&f, bytes, n), "w_scale", &v) || v == 7.5);
        free(bytes);
    }
}

/* Box 1 overlaps box 0 by a third, box 2 is apart. */
static const float boxes[12] = {0, 0, 2, 2, 0, 1, 2, 3, 0, 4, 2, 6}, scores[3] = {0.9F, 0.8F, 0.7F};

static void test_nms(void **state)
{
    static const int32_t max = 4, kept[4] = {0, 2, 0, 0}, faded[4] = {0, 1, 2, 0};
    static const float iou[2] = {0.25F, 1}, least = 0, sigma = 0.5F;

    (void)state;
    for (int soft = 0; soft < 2; ++soft) {
        tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1};
        tb_op *op;
        int y;

        tb_add(&m, "boxes", TFL_FLOAT32, 3, 4, -1);
        tb_add(&m, "scores", TFL_FLOAT32, 3, -1);
        tb_add(&m, "max", TFL_INT32, -1);
        tb_data(&m, &max, 4);
        tb_add(&m, "iou", TFL_FLOAT32, -1);
        tb_data(&m, &iou[soft], 4);
        tb_add(&m, "least", TFL_FLOAT32, -1);
        tb_data(&m, &least, 4);
        tb_add(&m, "sigma", TFL_FLOAT32, -1);
        tb_data(&m, &sigma, 4);
        y = tb_add(&m, "kept", TFL_INT32, 4, -1);
        tb_add(&m, "values", TFL_FLOAT32, 4, -1);
        tb_add(&m, "count", TFL_INT32, -1);
        op = tb_operator(&m, soft ? NMS_V5 : NMS_V4, 0, 1, 2, 3, 4, soft ? 5 : -2, -2);
        tb_outputs(op, y, soft ? y + 1 : y + 2, soft ? y + 2 : -2, -2);
        m.output[0] = y;
        tb_run(&m, (const void *[]){boxes, scores}, soft ? faded : kept, sizeof kept);
        m.tensor[3].has_data = false;
        tb_refuse(&m, "input 3 is not a single constant float");
    }
}

/* Encodings of zeros give the anchors' own boxes; shapes of the outputs are left open. */
static void test_detection(void **state)
{
    static const float anchors[12] = {1, 1, 2, 2, 1, 2, 2, 2, 1, 5, 2, 2}, encodings[12];
    static const float want[8] = {0, 0, 2, 2, 0, 1, 2, 3};
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {3}};
    tb_op *op;

    (void)state;
    tb_add(&m, "encodings", TFL_FLOAT32, 1, 3, 4, -1);
    tb_add(&m, "scores", TFL_FLOAT32, 1, 3, 1, -1);
    tb_add(&m, "anchors", TFL_FLOAT32, 3, 4, -1);
    tb_data(&m, anchors, sizeof anchors);
    for (int i = 0; i < 4; ++i)
        tb_add(&m, "y", TFL_FLOAT32, -1);
    op = tb_operator(&m, CUSTOM, 0, 1, 2, -2);
    tb_outputs(op, 3, 4, 5, 6, -2);
    op->custom = "TFLite_Detection_PostProcess";
    op->custom_options = options;
    op->custom_bytes = sizeof options;
    tb_run(&m, (const void *[]){encodings, scores}, want, sizeof want);
    m.tensor[0].type = TFL_INT32;
    tb_refuse(&m, "integers without a scale");
    m.tensor[0].type = TFL_FLOAT32;
    op->custom_bytes = 20;
    tb_refuse(&m, "an option is missing");
    op->custom_bytes = sizeof options;
    op->n_out = 3;
    tb_refuse(&m, "3 outputs");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),         cmocka_unit_test(test_other_options),
        cmocka_unit_test(test_damaged_options), cmocka_unit_test(test_nms),
        cmocka_unit_test(test_detection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
