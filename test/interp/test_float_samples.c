/* Images read at computed places: grid samples and rois, worked by hand. */
#include "test/support/op_case.h"

#include <math.h>
#include <string.h>

static const float row[4] = {10, 20, 30, 40};

static op_case grid_case(int mode, int padding, bool align, float g)
{
    op_case c = op_begin(ASSAY_OP_GRID_SAMPLE, 2, 1);
    c.attr.grid = (assay_attr_grid){.mode = mode, .padding = padding, .align_corners = align};
    c.in[0] = op_floats(3, (int64_t[]){1, 1, 4}, row);
    c.in[1] = op_floats(3, (int64_t[]){1, 1, 1}, &g);
    return c;
}

static void grid_samples_on_a_line(void **state)
{
    enum { N = ASSAY_RESIZE_NEAREST, L = ASSAY_RESIZE_LINEAR, C = ASSAY_RESIZE_CUBIC };
    enum { Z = ASSAY_GRID_ZEROS, B = ASSAY_GRID_BORDER, R = ASSAY_GRID_REFLECTION };
    static const struct {
        int mode, padding;
        bool align;
        float g, want;
    } cases[] = {
        {L, Z, false, 0, 25},     {C, Z, false, 0, 25},      {L, Z, true, -1, 10},
        {L, Z, false, -1, 5},     {L, Z, false, -1.5F, 0},   {L, B, false, -1.5F, 10},
        {L, R, false, -1.5F, 15}, {L, Z, true, -1.5F, 2.5F}, {L, R, true, -1.5F, 17.5F},
        {N, Z, false, -1.5F, 0},  {N, B, false, -1.5F, 10},  {N, R, false, -1.5F, 20},
        {N, Z, false, 0, 30},     {C, B, true, 3, 40},       {L, B, true, 1e30F, 40},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = grid_case(cases[k].mode, cases[k].padding, cases[k].align, cases[k].g);
        op_run(&c);
        if (*(float *)c.out[0].data != cases[k].want)
            fail_msg("case %zu: %g, not %g", k, (double)*(float *)c.out[0].data,
                     (double)cases[k].want);
        op_end(&c);
    }
}

/* The grid's first number goes along the last axis; channels share it. */
static void grids_name_the_last_axis_first(void **state)
{
    const float image[8] = {0, 1, 2, 3, 40, 50, 60, 70}, grid[4] = {0.5F, -0.5F, -0.5F, 0.5F};
    op_case c = op_begin(ASSAY_OP_GRID_SAMPLE, 2, 1);
    (void)state;
    c.attr.grid.mode = ASSAY_RESIZE_LINEAR;
    c.in[0] = op_floats(4, (int64_t[]){1, 2, 2, 2}, image);
    c.in[1] = op_floats(4, (int64_t[]){1, 1, 2, 2}, grid);
    op_run(&c);
    assert_memory_equal(c.out[0].data, ((float[]){1, 2, 50, 60}), 4 * sizeof(float));
    op_end(&c);
}

static op_case roi_case(const float *roi, int64_t image, assay_attr_roi a)
{
    static const float x[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    op_case c = op_begin(ASSAY_OP_ROI_ALIGN, 3, 1);
    c.attr.roi = a;
    c.in[0] = op_floats(4, (int64_t[]){1, 1, 3, 3}, x);
    c.in[1] = op_floats(2, (int64_t[]){1, 4}, roi);
    c.in[2] = op_zeros(assay_int(64, true), 1, (int64_t[]){1});
    *(int64_t *)c.in[2].data = image;
    return c;
}

static void rois_are_means_of_samples(void **state)
{
    static const struct {
        float roi[4];
        assay_attr_roi a;
        int n;
        float want[9];
    } cases[] = {
        {{0, 0, 3, 3},
         {.height = 3, .width = 3, .ratio = 1, .scale = 1, .aligned = true},
         9,
         {0, 1, 2, 3, 4, 5, 6, 7, 8}},
        {{0, 0, 2, 2}, {.height = 2, .width = 2, .ratio = 1, .scale = 1}, 4, {2, 3, 5, 6}},
        {{0, 0, 4, 4}, {.height = 2, .width = 2, .scale = 0.5F}, 4, {2, 3, 5, 6}},
        {{0, 0, 2, 2}, {.height = 1, .width = 1, .ratio = 2, .scale = 1}, 1, {4}},
        {{9, 9, 11, 11}, {.height = 1, .width = 1, .ratio = 2, .scale = 1}, 1, {0}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = roi_case(cases[k].roi, 0, cases[k].a);
        op_run(&c);
        assert_memory_equal(c.out[0].data, cases[k].want, (size_t)cases[k].n * sizeof(float));
        op_end(&c);
    }
}

static void rois_of_no_image_are_refused(void **state)
{
    assay_error err;
    (void)state;
    for (int k = 0; k < 2; k++) {
        const float roi[4] = {0, 0, k ? 1e30F : 2, 2};
        op_case c = roi_case(roi, !k, (assay_attr_roi){.height = 1, .width = 1, .scale = 1});
        assert_int_equal(op_try(&c, &err), ASSAY_ERR_INPUT);
        assert_non_null(strstr(err.text, "roi 0 is of image"));
        op_end(&c);
    }
}

/* y of boxes of two corners and scores of one image, `classes` to a box. */
static op_case nms_case(const float *boxes, const float *scores, int64_t n, int64_t classes,
                        assay_attr_nms a)
{
    op_case c = op_begin(ASSAY_OP_NMS, 2, 1);
    c.attr.nms = a;
    c.in[0] = op_floats(3, (int64_t[]){1, n, 4}, boxes);
    c.in[1] = op_floats(3, (int64_t[]){1, classes, n}, scores);
    return c;
}

static void boxes_that_overlap_are_dropped(void **state)
{
    /* 0 and 1 share 2 of 6 (a third), corners in any order; 2 touches 1; 3 has no area. */
    static const float corners[16] = {0, 0, 2, 2, 2, 3, 0, 1, 0, 3, 2, 5, 1, 1, 1, 1};
    static const float middles[16] = {1, 1, 2, 2, 1, 2, 2, 2, 1, 4, 2, 2, 1, 1, 0, 0};
    static const float scores[8] = {0.5F, 0.75F, 0.5F, 0.5F, 0.9F, 0.1F, NAN, 0.9F};
    static const struct {
        assay_attr_nms a;
        int64_t want[9]; /* of class 0, then of class 1: boxes, each list ended by -1 */
    } cases[] = {
        {{.most = 4, .iou = 0.25F}, {1, 2, 3, -1, 0, 3, -1}},
        {{.most = 4, .iou = 1 / 3.0F}, {1, 0, 2, 3, -1, 0, 3, 1, -1}}, /* not greater */
        {{.most = 2, .iou = 0.25F, .score = 0.1F}, {1, 2, -1, 0, 3, -1}},
        {{.most = 4, .iou = 0.25F, .score = 0.5F}, {1, -1, 0, 3, -1}},
        {{.most = 0, .iou = 0.25F}, {-1, -1}},
    };
    (void)state;
    for (size_t k = 0; k < 2 * sizeof cases / sizeof *cases; k++) {
        const assay_attr_nms *a = &cases[k / 2].a;
        op_case c =
            nms_case(k % 2 ? middles : corners, scores, 4, 2,
                     (assay_attr_nms){
                         .most = a->most, .iou = a->iou, .score = a->score, .center = k % 2 != 0});
        int64_t want[24], class = 0;
        int rows = 0;
        for (const int64_t *w = cases[k / 2].want; class < 2; w++)
            if (*w < 0) {
                class ++;
            } else {
                memcpy(want + (ptrdiff_t)3 * rows++, (int64_t[]){0, class, *w}, 3 * sizeof *want);
            }
        op_run(&c);
        for (int i = 3 * rows; i < 6 * (int)a->most; i++)
            want[i] = -1;
        assert_memory_equal(c.out[0].data, want, 6 * (size_t)a->most * sizeof *want);
        op_end(&c);
    }
}

/* Boxes 0 and 1 share a third; 2 is apart; 3 has no area, overlaps not even itself and is kept
 * again, as TFLite keeps it. */
static void boxes_that_overlap_fade(void **state)
{
    static const float corners[16] = {0, 0, 2, 2, 2, 3, 0, 1, 0, 4, 2, 6, 5, 5, 5, 6};
    static const float scores[4] = {0.9F, 0.8F, 0.7F, 0.1F};
    const float faded = 0.8F * expf(-1.0F / 9);
    const struct {
        assay_attr_soft_nms a;
        int n;
        int32_t kept[5];
        float score[5];
    } cases[] = {
        {{.most = 5, .iou = 0.25F}, 4, {0, 2, 3, 3}, {0.9F, 0.7F, 0.1F, 0.1F}},
        {{.most = 5, .iou = 0.5F}, 4, {0, 1, 2, 3}, {0.9F, 0.8F, 0.7F, 0.1F}},
        {{.most = 2, .iou = 0.5F}, 2, {0, 1}, {0.9F, 0.8F}},
        {{.most = 3, .iou = 1, .score = 0.2F, .sigma = 0.5F}, 3, {0, 1, 2}, {0.9F, faded, 0.7F}},
        {{.most = 3, .iou = 1, .score = 0.75F, .sigma = 0.5F}, 1, {0}, {0.9F}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const int64_t max = cases[k].a.most;
        op_case c = op_begin(ASSAY_OP_SOFT_NMS, 2, 3);
        c.attr.soft_nms = cases[k].a;
        c.in[0] = op_floats(2, (int64_t[]){4, 4}, corners);
        c.in[1] = op_floats(1, (int64_t[]){4}, scores);
        op_run(&c);
        assert_memory_equal(c.out[0].data, cases[k].kept, (size_t)max * 4);
        assert_int_equal(*(int32_t *)c.out[2].data, cases[k].n);
        for (int64_t i = 0; i < max; i++)
            assert_true(fabsf(((float *)c.out[1].data)[i] - cases[k].score[i]) < 1e-6F);
        op_end(&c);
    }
}

/* The boxes above, decoded from anchors: two classes behind a background that does not count. */
static op_case detection_case(const float *anchors, bool by_class, int64_t per_box)
{
    static const float encodings[12],
        scores[9] = {0.1F, 0.6F, 0.5F, 0.9F, 0.2F, 0.7F, 0, 0.4F, 0.3F};
    op_case c = op_begin(ASSAY_OP_DETECTION, 3, 4);
    c.attr.detection = (assay_attr_detection){.most = 3,
                                              .per_box = per_box,
                                              .per_class = 2,
                                              .classes = 2,
                                              .iou = 0.25F,
                                              .score = 0.35F,
                                              .scale = {.n = 4, .v = {10, 10, 5, 5}},
                                              .by_class = by_class};
    c.in[0] = op_floats(3, (int64_t[]){1, 3, 4}, encodings);
    c.in[1] = op_floats(3, (int64_t[]){1, 3, 3}, scores);
    c.in[2] = op_floats(2, (int64_t[]){3, 4}, anchors);
    return c;
}

static void detections_are_boxes_with_classes(void **state)
{
    static const float anchors[12] = {1, 1, 2, 2, 1, 2, 2, 2, 1, 5, 2, 2};
    static const float box[3][4] = {{0, 0, 2, 2}, {0, 1, 2, 3}, {0, 4, 2, 6}}, none[4];
    static const struct {
        bool by_class;
        int64_t per_box;
        float n;
        struct {
            int box;
            float class, score;
        } row[6];
    } cases[] = {
        {false, 1, 2, {{1, 1, 0.7F}, {2, 0, 0.4F}, {-1, 0, 0}}},
        {false,
         2,
         2,
         {{1, 1, 0.7F}, {1, 0, 0.2F}, {2, 0, 0.4F}, {2, 1, 0.3F}, {-1, 0, 0}, {-1, 0, 0}}},
        {true, 1, 3, {{1, 1, 0.7F}, {0, 0, 0.6F}, {2, 0, 0.4F}}},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        op_case c = detection_case(anchors, cases[k].by_class, cases[k].per_box);
        op_run(&c);
        assert_true(*(float *)c.out[3].data == cases[k].n);
        for (int i = 0; i < 3 * cases[k].per_box; i++) {
            const int b = cases[k].row[i].box;
            assert_memory_equal((float *)c.out[0].data + 4 * (ptrdiff_t)i, b < 0 ? none : box[b],
                                16);
            assert_true(((float *)c.out[1].data)[i] == cases[k].row[i].class);
            assert_true(((float *)c.out[2].data)[i] == cases[k].row[i].score);
        }
        op_end(&c);
    }
}

static void detections_need_anchors_with_extents(void **state)
{
    static const float anchors[12] = {1, 1, 2, 2, 1, 2, 2, -2, 1, 5, 2, 2};
    op_case c = detection_case(anchors, false, 1);
    assay_error err;
    (void)state;
    assert_int_equal(op_try(&c, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "box 1 ends before it begins"));
    op_end(&c);
}

/* Rows with a sign, without, and of zeros. */
static void ranges_of_rows_give_parameters(void **state)
{
    static const float x[6] = {-1, 254, 0.5F, 1, 0, 0};
    static const float want[2][3][3] = {{{2, 1 / 127.0F, 1}, {0.5F, 127, 1}, {0, 0, 0}},
                                        {{1, 1 / 255.0F, 1}, {1, 255, 1}, {-127, -128, 0}}};
    (void)state;
    for (int k = 0; k < 2; k++) {
        op_case c = op_begin(ASSAY_OP_DYNAMIC_PARAMS, 1, 3);
        c.attr.dynamic = (assay_attr_dynamic){.axis = 1, .symmetric = k == 0};
        c.in[0] = op_floats(2, (int64_t[]){3, 2}, x);
        op_run(&c);
        for (int i = 0; i < 3; i++)
            op_assert_close(&c.out[i], want[k][i], "dynamic_params");
        op_end(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_samples_on_a_line),
        cmocka_unit_test(grids_name_the_last_axis_first),
        cmocka_unit_test(rois_are_means_of_samples),
        cmocka_unit_test(rois_of_no_image_are_refused),
        cmocka_unit_test(boxes_that_overlap_are_dropped),
        cmocka_unit_test(boxes_that_overlap_fade),
        cmocka_unit_test(detections_are_boxes_with_classes),
        cmocka_unit_test(detections_need_anchors_with_extents),
        cmocka_unit_test(ranges_of_rows_give_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
