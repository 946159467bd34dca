/* Gray of colours, colours of gray, and folders of images that have sizes and channels of their
 * own. */
#include "test/support/folder.h"

#include <string.h>

#include <png.h>

#include "datasets/colour.h"
#include "datasets/preprocess.h"

static assay_preprocess parsed(const char *text)
{
    assay_preprocess p;
    assay_error err = {0};
    assert_ok(dataset_preprocess_parse(text, strlen(text), "p.yaml", &p, &err), &err);
    return p;
}

/* What Pillow 9.4.0 and OpenCV 4.6.0 gave for colours where they part. */
static void gray_is_the_librarys(void **state)
{
    static const uint8_t colours[18] = {180, 223, 77, 116, 148, 210, 233, 153, 123,
                                        198, 46,  64, 162, 188, 129, 176, 112, 238};
    static const struct {
        const char *text;
        uint8_t gray[6];
    } cases[] = {
        {"gray: pillow", {193, 146, 173, 93, 174, 145}},
        {"gray: opencv", {194, 145, 174, 94, 174, 145}},
        {"gray: [0.299, 0.587, 0.114]", {193, 146, 174, 94, 173, 146}},
        {"gray: [1, 0, 0]", {180, 116, 233, 198, 162, 176}},
        {"gray: [-1, 0.5, 2]", {86, 255, 90, 0, 190, 255}}, /* 0.5 goes to the even one */
    };
    (void)state;
    const assay_sample_type in = {ASSAY_NPY_U1, 3, {2, 3, 3}, false};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const assay_preprocess p = parsed(cases[i].text);
        const assay_sample_type out = dataset_recoloured(&in, 1);
        uint8_t gray[6];
        dataset_recolour(&p, &in, colours, &out, gray);
        assert_memory_equal(gray, cases[i].gray, sizeof gray);
    }
}

static void other_types(void **state)
{
    (void)state;
    const assay_preprocess halves = parsed("gray: [0.5, 0.25, 0.25]"),
                           bgr = parsed("channel_order: BGR");
    const assay_sample_type planes = {ASSAY_NPY_F4, 3, {3, 1, 2}, true},
                            one = {ASSAY_NPY_F4, 3, {1, 1, 2}, true};
    const assay_sample_type wide = {ASSAY_NPY_U2, 3, {1, 1, 3}, false},
                            narrow = {ASSAY_NPY_U2, 3, {1, 1, 1}, false};
    const assay_sample_type flat = {ASSAY_NPY_I1, 2, {1, 2}, false};
    float f[2];
    uint16_t u;
    int8_t s[6];
    dataset_recolour(&halves, &planes, (const float[]){1, 2, 3, 4, 5, 7}, &one, f);
    assert_memory_equal(f, ((const float[]){2.5f, 3.75f}), sizeof f);
    dataset_recolour(&halves, &wide, (const uint16_t[]){65535, 65535, 65534}, &narrow, &u);
    assert_int_equal(u, 65535);
    const assay_sample_type three = dataset_recoloured(&flat, 3);
    assert_int_equal(three.rank, 3);
    dataset_recolour(&bgr, &flat, (const int8_t[]){-7, 9}, &three, s);
    assert_memory_equal(s, ((const int8_t[]){-7, -7, -7, 9, 9, 9}), sizeof s);
    assay_error err;
    assay_sample_type out;
    const assay_preprocess pillow = parsed("gray: pillow");
    assert_int_equal(dataset_preprocess_type(&pillow, &wide, "d", &out, &err), ASSAY_ERR_INPUT);
    assert_non_null(
        strstr(err.text, "gray: pillow is defined for u8, but samples are uint16 [1,1,3]"));
    const assay_sample_type ints = {ASSAY_NPY_I4, 3, {1, 1, 3}, false},
                            two = {ASSAY_NPY_U1, 3, {1, 1, 2}, false};
    assert_int_equal(dataset_preprocess_type(&halves, &ints, "d", &out, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "preprocessing changes channels, but samples are int32"));
    assert_int_equal(dataset_preprocess_type(&halves, &two, "d", &out, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "asks for gray, 1 channel, but samples are uint8 [1,1,2]"));
}

/* A colour of one size, a gray image of another. */
static assay_dataset *mixed(void **state)
{
    static const unsigned char colour[6] = {10, 20, 30, 50, 60, 70};
    folder_put_png(state, "a.png", 1, 2, PNG_COLOR_TYPE_RGB, 8, 0, colour, 6);
    folder_gray_png(state, "b.png", 2, 4, 100); /* 100 to 107 */
    return folder_opened(state, ".", NULL);
}

static void images_of_their_own(void **state)
{
    static const struct {
        const char *text;
        float a[3], b[3];
    } cases[] = {
        {"{resize: [1, 1], channel_order: RGB, layout: NCHW, dtype: f32}",
         {30, 40, 50},
         {104, 104, 104}},
        {"{resize: [1, 1], channel_order: BGR, layout: NHWC, dtype: f32, mean: [1, 2, 3]}",
         {49, 38, 27},
         {103, 102, 101}},
        {"{resize: [1, 1], gray: [0.5, 0.25, 0.25], dtype: f32, mean: 1}", {37}, {103}},
    };
    assay_dataset *d = mixed(state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const assay_preprocess p = parsed(cases[i].text);
        const size_t bytes = (p.gray ? 1 : 3) * sizeof(float);
        assay_sample_type type;
        assay_error err = {0};
        float v[3];
        assert_ok(dataset_preprocess_type(&p, dataset_sample_type(d), "d", &type, &err), &err);
        assert_ok(dataset_read_input(d, &p, 0, &type, v, &err), &err);
        assert_memory_equal(v, cases[i].a, bytes);
        assert_ok(dataset_read_input(d, &p, 1, &type, v, &err), &err);
        assert_memory_equal(v, cases[i].b, bytes);
    }
    dataset_close(d);
}

/* What is not said is refused, by the file's name. */
static void unsaid(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"dtype: f32", "b.png: holds uint8 [2,4,1]; expected uint8 [1,2,3] as the first of the "
                       "data set (resize in "},
        {"resize: [1, 1]", "b.png: holds uint8 [2,4,1]; expected uint8 [1,2,3]"},
        {"channel_order: RGB", "b.png: holds uint8 [2,4,1]; expected uint8 [1,2,3]"},
    };
    assay_dataset *d = mixed(state);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const assay_preprocess p = parsed(cases[i].text);
        assay_sample_type type;
        assay_error err = {0};
        float v[24];
        assert_ok(dataset_preprocess_type(&p, dataset_sample_type(d), "d", &type, &err), &err);
        assert_int_equal(dataset_read_input(d, &p, 1, &type, v, &err), ASSAY_ERR_INPUT);
        if (!strstr(err.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
    }
    dataset_close(d);
    /* gray first, and no word of how colours become gray */
    static const unsigned char colour[3] = {10, 20, 30};
    folder_gray_png(state, "0.png", 1, 1, 9);
    folder_put_png(state, "a.png", 1, 1, PNG_COLOR_TYPE_RGB, 8, 0, colour, 3);
    d = folder_opened(state, ".", NULL);
    const assay_preprocess p = parsed("channel_order: gray");
    assay_sample_type type;
    assay_error err = {0};
    uint8_t v;
    assert_ok(dataset_preprocess_type(&p, dataset_sample_type(d), "d", &type, &err), &err);
    assert_ok(dataset_read_input(d, &p, 0, &type, &v, &err), &err);
    assert_int_equal(v, 9);
    assert_int_equal(dataset_read_input(d, &p, 1, &type, &v, &err), ASSAY_ERR_INPUT);
    assert_non_null(
        strstr(err.text,
               "a.png: preprocessing asks for gray, but samples are uint8 [1,1,3]; gray: pillow"));
    dataset_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gray_is_the_librarys),
        cmocka_unit_test(other_types),
        IN_FOLDER(images_of_their_own),
        IN_FOLDER(unsaid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
