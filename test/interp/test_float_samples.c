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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grid_samples_on_a_line),
        cmocka_unit_test(grids_name_the_last_axis_first),
        cmocka_unit_test(rois_are_means_of_samples),
        cmocka_unit_test(rois_of_no_image_are_refused),
        cmocka_unit_test(boxes_that_overlap_are_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
