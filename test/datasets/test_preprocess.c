/* Preprocessing: its text is canonical, its values are exact, and what does not fit is refused. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "datasets/preprocess.h"
#include "datasets/resize.h"

static assay_preprocess parsed(const char *text)
{
    assay_preprocess p;
    assay_error err = {0};
    assert_ok(dataset_preprocess_parse(text, strlen(text), "p.yaml", &p, &err), &err);
    return p;
}

static void preprocess_text(void **state)
{
    (void)state;
    char a[ASSAY_PREPROCESS_TEXT], b[ASSAY_PREPROCESS_TEXT];
    assay_preprocess p = parsed("scale: 1/255\nmean: [0.5, 0.25, 0.125]\nstd: [2, 2, 2]\n"
                                "channel_order: BGR\nlayout: NHWC\n");
    assert_string_equal(dataset_preprocess_print(&p, a),
                        "dtype=f32 layout=NHWC channels=BGR scale=0.00392156862745098 "
                        "mean=0.5,0.25,0.125 std=2");
    p = parsed("{dtype: f32, layout: NHWC, channel_order: BGR, scale: 0.00392156862745098,"
               "mean: [5e-1, 25e-2, 0.125], std: 2}");
    assert_string_equal(dataset_preprocess_print(&p, b), a);
    p = parsed("mean: 0\n");
    assert_string_equal(dataset_preprocess_print(&p, a), "dtype=f32 layout=stored channels=stored");
    memset(&p, 0, sizeof p);
    assert_string_equal(dataset_preprocess_print(&p, a),
                        "dtype=stored layout=stored channels=stored");
    p = parsed("{gray: opencv}");
    assert_string_equal(dataset_preprocess_print(&p, a),
                        "dtype=stored layout=stored channels=gray gray=opencv");
    p = parsed("{gray: [0.299, 587e-3, 0.114], channel_order: gray}");
    assert_string_equal(dataset_preprocess_print(&p, a),
                        "dtype=stored layout=stored channels=gray gray=0.299,0.587,0.114");
}

/* Values computed by hand from the formula of resize.h. */
static void preprocess_resizes(void **state)
{
    (void)state;
    const assay_sample_type in = {.type = ASSAY_NPY_U1, .rank = 3, .shape = {1, 2, 2}};
    const assay_sample_type wide = {.type = ASSAY_NPY_U1, .rank = 3, .shape = {1, 4, 2}};
    const assay_sample_type tall = {.type = ASSAY_NPY_F4, .rank = 2, .shape = {3, 1}};
    const assay_sample_type flat = {.type = ASSAY_NPY_F4, .rank = 2, .shape = {2, 3}};
    const assay_sample_type planes = {
        .type = ASSAY_NPY_I1, .rank = 3, .shape = {2, 1, 2}, .planar = true};
    const assay_sample_type more = {
        .type = ASSAY_NPY_I1, .rank = 3, .shape = {2, 1, 4}, .planar = true};
    uint8_t u[8];
    int8_t s[8];
    float f[6];
    dataset_resize(&in, (const uint8_t[]){0, 100, 10, 200}, false, &wide, u);
    assert_memory_equal(u, ((const uint8_t[]){0, 100, 2, 125, 8, 175, 10, 200}), 8);
    dataset_resize(&in, (const uint8_t[]){0, 100, 10, 200}, true, &wide, u);
    assert_memory_equal(u, ((const uint8_t[]){0, 100, 0, 100, 10, 200, 10, 200}), 8);
    dataset_resize(&planes, (const int8_t[]){-3, 3, -128, 127}, false, &more, s);
    assert_memory_equal(s, ((const int8_t[]){-3, -2, 2, 3, -128, -64, 63, 127}), 8);
    dataset_resize(&tall, (const float[]){1, 2, 4}, false, &flat, f);
    assert_memory_equal(f, ((const float[]){1.25f, 1.25f, 1.25f, 3.5f, 3.5f, 3.5f}), sizeof f);
}

/* Through preprocess.yaml: the network's input has the new size. */
static void preprocess_reads_resized(void **state)
{
    (void)state;
    char path[64];
    assay_dataset *d;
    assay_error err;
    float values[4];
    assay_sample_type type;
    const assay_preprocess p = parsed("resize: [1, 4]\nscale: 1/2\nlayout: NCHW\n");
    const assay_preprocess floats = parsed("resize: [2, 2]\n");
    const assay_sample_type row = {.type = ASSAY_NPY_U1, .rank = 1, .shape = {4}};
    test_temp_dir(path, sizeof path);
    char file[96];
    snprintf(file, sizeof file, "%s/x.npy", path);
    uint8_t pixels[] = {0, 10};
    const assay_npy array = {ASSAY_NPY_U1, 4, {1, 1, 2, 1}, pixels};
    assert_int_equal(text_npy_write_file(file, &array, &err), ASSAY_OK);
    assert_int_equal(dataset_open(file, NULL, &d, &err), ASSAY_OK);
    assert_int_equal(dataset_preprocess_type(&p, dataset_sample_type(d), "x", &type, &err),
                     ASSAY_OK);
    assert_memory_equal(type.shape, ((const int64_t[]){1, 1, 1, 4}), 4 * sizeof(int64_t));
    assert_int_equal(dataset_read_input(d, &p, 0, &type, values, &err), ASSAY_OK);
    assert_memory_equal(values, ((const float[]){0, 1, 4, 5}), sizeof values);
    dataset_close(d);
    test_remove_tree(path);
    assert_int_equal(dataset_preprocess_type(&floats, &row, "x", &type, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "x: preprocessing resizes, but samples are uint8 [4]"));
}

/* The example in README.md, which users have, is read and says what it says there. */
static void preprocess_is_documented(void **state)
{
    char path[700], line[300], text[2000] = "", printed[ASSAY_PREPROCESS_TEXT];
    bool inside = false;
    (void)state;
    FILE *f = fopen(test_source("datasets/README.md", path, sizeof path), "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        inside = line[0] == '#' ? strcmp(line, "## preprocess.yaml\n") == 0 : inside;
        if (inside && strncmp(line, "    ", 4) == 0)
            strncat(text, line + 4, sizeof text - strlen(text) - 1);
    }
    fclose(f);
    const assay_preprocess p = parsed(text);
    assert_string_equal(dataset_preprocess_print(&p, printed),
                        "dtype=f32 layout=NCHW channels=RGB scale=0.00392156862745098 "
                        "mean=0.485,0.456,0.406 std=0.229,0.224,0.225 resize=224x224,bilinear");
}

static void preprocess_longest_text(void **state)
{
    (void)state;
    char text[ASSAY_PREPROCESS_TEXT];
    assay_preprocess p = {.scales = 16,
                          .means = 16,
                          .stds = 16,
                          .resize = {16384, 16384},
                          .gray = ASSAY_GRAY_WEIGHTS};
    for (int i = 0; i < 16; i++)
        p.weight[i % 3] = p.scale[i] = p.mean[i] = p.std[i] = -1.2345678901234567e-300 * (i + 1);
    dataset_preprocess_print(&p, text);
    assert_true(strlen(text) < ASSAY_PREPROCESS_TEXT - 1);
    assert_non_null(strstr(text, " std=-1.23456789012345"));
    assert_non_null(strstr(text, " gray=-"));
    assert_non_null(strstr(text, " resize=16384x16384,bilinear"));
}

static void preprocess_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"resize: 224\n", "p.yaml:1: expected [height, width], each from 1 to 16384"},
        {"resize: [2, 2.5]\n", "expected [height, width], each"},
        {"resize: [2, 16385]\n", "expected [height, width], each"},
        {"interpolation: cubic\n", "expected bilinear or nearest"},
        {"", "expected a mapping, found nothing"},
        {"- 1\n", "p.yaml:1: expected a mapping"},
        {"scale: 1\nmeen: 2\n", "p.yaml:2: expected scale, mean, std, channel_order, gray, layout, "
                                "dtype, resize or interpolation, found \"meen\""},
        {"scale: 1\nscale: 1\n", "p.yaml:2: expected each key once"},
        {"scale: one\n", "expected finite numbers, found \"one\""},
        {"scale: 1/0\n", "finite"},
        {"scale: 1/1e999\n", "finite"},
        {"scale: 1/\n", "finite"},
        {"scale: 1/2/3\n", "finite"},
        {"scale: .nan\n", "finite"},
        {"scale: nan\n", "finite"},
        {"scale: 1e999\n", "finite"},
        {"scale: {a: 1}\n", "found \"a mapping\""},
        {"scale: []\n", "at least one"},
        {"scale: [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]\n", "at most 16"},
        {"mean:\n- 1\n- x\n", "p.yaml:3: expected finite numbers"},
        {"std: [1, 0]\n", "other than 0"},
        {"layout: CHW\n", "NCHW, NHWC or flat"},
        {"channel_order: rgb\n", "gray, RGB or BGR"},
        {"gray: luma\n",
         "expected pillow, opencv or the weights of red, green and blue (3 numbers)"},
        {"gray: 1\n", "(3 numbers), found \"1\""},
        {"gray: [1, 2]\n", "(3 numbers)"},
        {"gray: [1, 2, x]\n", "(3 numbers)"},
        {"channel_order: BGR\ngray: opencv\n", "the key gray needs channel_order: gray"},
        {"dtype: f16\n", "f32, u8 or i8"},
        {"scale: [1\n", "broken YAML"},
        {"\x01", "broken YAML"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assay_preprocess p;
        assay_error err = {0};
        assert_int_equal(
            dataset_preprocess_parse(cases[i].text, strlen(cases[i].text), "p.yaml", &p, &err),
            ASSAY_ERR_INPUT);
        if (!strstr(err.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
    }
}

static void preprocess_values(void **state)
{
    (void)state;
    /* Two pixels of RGB. */
    const assay_sample_type in = {ASSAY_NPY_U1, 3, {1, 2, 3}, false};
    const unsigned char pixels[6] = {10, 20, 30, 40, 50, 60};
    assay_sample_type out;
    float f[6];
    assay_preprocess p =
        parsed("{scale: 1/4, mean: [1, 2, 3], std: [1, 2, 4], layout: NCHW, channel_order: RGB}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, NULL), ASSAY_OK);
    assert_int_equal(out.type, ASSAY_NPY_F4);
    assert_int_equal(out.rank, 4);
    assert_int_equal(out.shape[0], 1);
    assert_int_equal(out.shape[1], 3);
    assert_int_equal(out.shape[3], 2);
    dataset_preprocess_apply(&p, &in, pixels, &out, f);
    static const float planar[6] = {1.5f, 9, 1.5f, 5.25f, 1.125f, 3};
    assert_memory_equal(f, planar, sizeof planar);
    /* BGR: lists are in the network's order. */
    p = parsed("{mean: [1, 2, 3], channel_order: BGR, layout: NHWC}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, NULL), ASSAY_OK);
    dataset_preprocess_apply(&p, &in, pixels, &out, f);
    static const float bgr[6] = {29, 18, 7, 59, 48, 37};
    assert_memory_equal(f, bgr, sizeof bgr);
    /* Rounded once: 10/255 and so on are not doubly rounded through float. */
    p = parsed("{scale: 1/255, mean: 0.5, std: 0.25}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, NULL), ASSAY_OK);
    dataset_preprocess_apply(&p, &in, pixels, &out, f);
    for (int i = 0; i < 6; i++)
        assert_true(f[i] == (float)((pixels[i] * (1 / 255.0) - 0.5) / 0.25));
}

static void preprocess_passes_integers(void **state)
{
    (void)state;
    assay_sample_type in = {ASSAY_NPY_U1, 3, {3, 1, 2}, true}, out;
    const unsigned char planar[6] = {0, 1, 2, 127, 128, 255};
    unsigned char u[6];
    int8_t s[6];
    assay_error err;
    assay_preprocess p = parsed("{dtype: u8, layout: NHWC}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, NULL), ASSAY_OK);
    dataset_preprocess_apply(&p, &in, planar, &out, u);
    assert_memory_equal(u, "\0\2\200\1\177\377", 6);
    p = parsed("{dtype: i8}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, NULL), ASSAY_OK);
    assert_int_equal(out.shape[1], 3);
    dataset_preprocess_apply(&p, &in, planar, &out, s);
    for (int i = 0; i < 6; i++)
        assert_int_equal(s[i], planar[i] - 128);
    p = parsed("{dtype: u8, scale: 2}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "need dtype f32"));
    in.type = ASSAY_NPY_I1;
    p = parsed("{dtype: u8}");
    assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "asks for u8, but samples are int8"));
    /* Anything, of any rank, as it is. */
    const assay_sample_type odd = {ASSAY_NPY_I4, 1, {2}, false};
    const int32_t values[2] = {-7, 1 << 30};
    int32_t copy[2];
    memset(&p, 0, sizeof p);
    assert_int_equal(dataset_preprocess_type(&p, &odd, "d", &out, NULL), ASSAY_OK);
    assert_int_equal(out.rank, 2);
    dataset_preprocess_apply(&p, &odd, values, &out, copy);
    assert_memory_equal(copy, values, sizeof values);
}

static void preprocess_must_fit(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int rank;
        const char *says;
    } cases[] = {
        {"mean: [1, 2]", 3, "2 values of mean, but samples are uint8 [4,4,3]"},
        {"std: [1, 2, 3]", 2, "3 values of std"},
        {"channel_order: gray", 3, "asks for gray, but samples are uint8 [4,4,3]; gray: pillow, "},
        {"mean: [1, 2]\nchannel_order: RGB", 2, "2 values of mean, but samples are uint8 [4,4,3]"},
        {"gray: pillow\nmean: [1, 2]", 3, "2 values of mean, but samples are uint8 [4,4,1]"},
        {"layout: NCHW", 1, "expected images"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const assay_sample_type in = {ASSAY_NPY_U1, cases[i].rank, {4, 4, 3}, false};
        assay_sample_type out;
        assay_error err;
        assay_preprocess p = parsed(cases[i].text);
        assert_int_equal(dataset_preprocess_type(&p, &in, "d", &out, &err), ASSAY_ERR_INPUT);
        if (!strstr(err.text, cases[i].says))
            fail_msg("\"%s\" does not say \"%s\"", err.text, cases[i].says);
    }
}

static void preprocess_is_found_beside(void **state)
{
    (void)state;
    char root[64], yaml[96], folder[96], file[96], image[128];
    bool found;
    assay_preprocess p;
    test_temp_dir(root, sizeof root);
    snprintf(yaml, sizeof yaml, "%s/preprocess.yaml", root);
    snprintf(folder, sizeof folder, "%s/test", root);
    snprintf(file, sizeof file, "%s/a.npy", root);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(dataset_preprocess_find(root, &p, &found, NULL), ASSAY_OK);
    assert_false(found);
    test_write_file(yaml, "scale: 3\n", 9);
    snprintf(image, sizeof image, "%s/a.png", folder);
    const char *const paths[] = {root, folder, file, image};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(dataset_preprocess_find(paths[i], &p, &found, NULL), ASSAY_OK);
        assert_true(found && p.scale[0] == 3);
    }
    test_remove_tree(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(preprocess_resizes),      cmocka_unit_test(preprocess_reads_resized),
        cmocka_unit_test(preprocess_text),         cmocka_unit_test(preprocess_is_documented),
        cmocka_unit_test(preprocess_longest_text), cmocka_unit_test(preprocess_refusals),
        cmocka_unit_test(preprocess_values),       cmocka_unit_test(preprocess_passes_integers),
        cmocka_unit_test(preprocess_must_fit),     cmocka_unit_test(preprocess_is_found_beside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
