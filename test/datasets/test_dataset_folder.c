/* Data sets that are a folder, of images or of arrays, and single images: their order, labels and
 * names; damage is named, not guessed around. */
#include "test/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datasets/preprocess.h"

static void folder_with_labels(void **state)
{
    unsigned char pixels[20];
    char name[160];
    folder_gray_png(state, "b c.png", 4, 5, 100);
    folder_gray_png(state, "a.png", 4, 5, 7);
    folder_put_text(state, "labels.txt", "# a comment\nb c.png 2\r\n\na.png\t0");
    folder_put_text(state, "classes.txt", "zero\none\ntwo # 2\n");
    assay_dataset *d = folder_opened(state, ".", NULL);
    assert_int_equal(dataset_count(d), 2);
    assert_int_equal(dataset_label(d, 0), 2);
    assert_int_equal(dataset_label(d, 1), 0);
    assert_int_equal(dataset_class_count(d), 3);
    assert_string_equal(dataset_class_name(d, 2), "two # 2");
    assert_string_equal(dataset_sample_print(dataset_sample_type(d), name, sizeof name),
                        "uint8 [4,5,1]");
    assert_int_equal(dataset_read(d, 0, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 100);
    assert_int_equal(pixels[19], 119);
    assert_int_equal(dataset_read(d, 1, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 7);
    assert_non_null(strstr(dataset_sample_name(d, 0, name, sizeof name), "/b c.png"));
    assert_int_not_equal(dataset_read(d, 2, pixels, NULL), ASSAY_OK);
    assert_int_not_equal(dataset_read(d, -1, pixels, NULL), ASSAY_OK);
    dataset_close(d);
}

static void folder_without_labels(void **state)
{
    unsigned char pixels[20];
    folder_gray_png(state, "b.png", 4, 5, 2);
    folder_gray_png(state, "a.png", 4, 5, 1);
    folder_put_text(state, "c.txt", "not an image");
    assay_dataset *d = folder_opened(state, ".", NULL);
    assert_int_equal(dataset_count(d), 2);
    assert_int_equal(dataset_label(d, 0), -1);
    assert_int_equal(dataset_class_count(d), 0);
    assert_int_equal(dataset_read(d, 0, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 1);
    dataset_close(d);
}

static void one_image(void **state)
{
    unsigned char pixels[20];
    folder_gray_png(state, "a.png", 4, 5, 9);
    folder_gray_png(state, "b.png", 4, 5, 2);
    folder_put_text(state, "labels.txt", "b.png 1\n");
    assay_dataset *d = folder_opened(state, "a.png", NULL);
    assert_int_equal(dataset_count(d), 1);
    assert_int_equal(dataset_label(d, 0), -1);
    assert_int_equal(dataset_read(d, 0, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 9);
    dataset_close(d);
    folder_put_text(state, "a.png", "broken");
    folder_refused(state, "a.png", NULL, ASSAY_ERR_INPUT, "a.png: not a PNG file");
}

static void folder_refusals(void **state)
{
    char labels[128];
    assay_dataset_options options = {.labels = folder_path(state, "missing.txt", labels)};
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "no PNG images");
    folder_refused(state, "nowhere", NULL, ASSAY_ERR_IO, "nowhere");
    folder_gray_png(state, "a.png", 4, 5, 1);
    folder_refused(state, ".", &options, ASSAY_ERR_IO, "missing.txt");
    folder_put_text(state, "labels.txt", "a.png 0\nb.png 1\n");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:2: there is no image \"b.png\"");
    folder_put_text(state, "labels.txt", "a.png -1\n");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:1: expected \"NAME LABEL\"");
    folder_put_text(state, "labels.txt", "a.png 99999999999\n");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:1: expected \"NAME LABEL\"");
    folder_put_text(state, "labels.txt", "a.png\n");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:1: expected \"NAME LABEL\"");
    folder_put(state, "labels.txt", "a.png 0\0", 8);
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "0 byte");
    folder_put_text(state, "labels.txt", "a.png 3\n");
    folder_put_text(state, "classes.txt", "a\nb\n");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "label 3 is beyond the 2 classes");
    folder_put_text(state, "a.png", "no longer an image");
    folder_put_text(state, "labels.txt", "a.png 1\n");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "a.png: not a PNG file");
}

static void nothing_is_resized(void **state)
{
    unsigned char pixels[1024];
    assay_error err;
    folder_gray_png(state, "a.png", 4, 5, 1);
    folder_gray_png(state, "b.png", 5, 4, 1);
    assay_dataset *d = folder_opened(state, ".", NULL);
    assert_int_equal(dataset_read(d, 1, pixels, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "/b.png: holds uint8 [5,4,1]"));
    assert_non_null(strstr(err.text, "uint8 [4,5,1]"));
    dataset_close(d);
}

/* A folder without images: a sample each .npy, whatever 1s stand in front of an image. */
static void folder_of_arrays(void **state)
{
    float values[12] = {0.5f, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, out[12];
    char path[128], text[160];
    assay_error err;
    assay_npy a = {ASSAY_NPY_F4, 4, {1, 3, 2, 2}, values}, b = {ASSAY_NPY_F4, 3, {3, 2, 2}, values},
              other = {ASSAY_NPY_F4, 3, {2, 2, 3}, values};
    assert_int_equal(text_npy_write_file(folder_path(state, "b.npy", path), &b, NULL), ASSAY_OK);
    assert_int_equal(text_npy_write_file(folder_path(state, "a.npy", path), &a, NULL), ASSAY_OK);
    assay_dataset *d = folder_opened(state, ".", NULL);
    assert_int_equal(dataset_count(d), 2);
    assert_int_equal(dataset_label(d, 0), -1);
    assert_string_equal(dataset_sample_print(dataset_sample_type(d), text, sizeof text),
                        "float32 [3,2,2]");
    for (int64_t i = 0; i < 2; i++) {
        memset(out, 0, sizeof out);
        assert_int_equal(dataset_read(d, i, out, NULL), ASSAY_OK);
        assert_memory_equal(out, values, sizeof out);
    }
    dataset_close(d);
    folder_put_text(state, "labels.txt", "b.npy 1\na.npy 0\n");
    d = folder_opened(state, ".", NULL);
    assert_int_equal(dataset_label(d, 0), 1);
    dataset_close(d);
    assert_int_equal(text_npy_write_file(folder_path(state, "a.npy", path), &other, NULL), 0);
    d = folder_opened(state, ".", NULL);
    assert_int_equal(dataset_read(d, 1, out, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "a.npy: holds float32 [2,2,3]; expected float32 [3,2,2]"));
    dataset_close(d);
    folder_put_text(state, "b.npy", "broken");
    folder_refused(state, ".", NULL, ASSAY_ERR_INPUT, "b.npy");
}

/* Labels that name no samples are in the order of the folder's names; of one image too. */
static void folder_with_array_of_labels(void **state)
{
    static const unsigned char idx[] = {0, 0, 8, 1, 0, 0, 0, 2, 9, 4};
    int32_t classes[2] = {7, 3};
    char path[128];
    const assay_dataset_options options = {.labels = folder_path(state, "classes", path)};
    assay_npy list = {ASSAY_NPY_I4, 1, {2}, classes};
    folder_gray_png(state, "b.png", 4, 5, 1);
    folder_gray_png(state, "a.png", 4, 5, 2);
    assert_int_equal(text_npy_write_file(path, &list, NULL), ASSAY_OK);
    assay_dataset *d = folder_opened(state, ".", &options);
    assert_int_equal(dataset_label(d, 0), 7);
    assert_int_equal(dataset_label(d, 1), 3);
    dataset_close(d);
    list.shape[0] = 1;
    assert_int_equal(text_npy_write_file(path, &list, NULL), ASSAY_OK);
    folder_refused(state, ".", &options, ASSAY_ERR_INPUT, "1 labels for 2 samples");
    d = folder_opened(state, "a.png", &options);
    assert_int_equal(dataset_label(d, 0), 7);
    dataset_close(d);
    folder_put(state, "classes", idx, sizeof idx);
    d = folder_opened(state, ".", &options);
    assert_int_equal(dataset_label(d, 1), 4);
    dataset_close(d);
    folder_refused(state, "a.png", &options, ASSAY_ERR_INPUT, "2 labels for 1 samples");
    folder_put_text(state, "classes", "a.png 0\nb.png 1\n");
    d = folder_opened(state, ".", &options);
    assert_int_equal(dataset_label(d, 1), 1);
    dataset_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(folder_with_labels),
        IN_FOLDER(folder_without_labels),
        IN_FOLDER(folder_with_array_of_labels),
        IN_FOLDER(one_image),
        IN_FOLDER(folder_refusals),
        IN_FOLDER(nothing_is_resized),
        IN_FOLDER(folder_of_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
