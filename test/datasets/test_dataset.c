/* Data sets that are one file: every format gives back what was stored; damage is named, not
 * guessed around. And the shipped sets. */
#include "test/support/folder.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "datasets/preprocess.h"

/* ---- files of samples ---------------------------------------------------------------------- */

static void idx_images(void **state)
{
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0,  0,  0,  2,  0,  0,
                                           0, 3, 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 3};
    unsigned char pixels[6];
    folder_put(state, "t10k-images-idx3-ubyte", images, sizeof images);
    assay_dataset *d = folder_opened(state, "t10k-images-idx3-ubyte", NULL);
    assert_int_equal(dataset_label(d, 1), -1);
    dataset_close(d);
    folder_put(state, "t10k-labels-idx1-ubyte", labels, sizeof labels);
    d = folder_opened(state, "t10k-images-idx3-ubyte", NULL);
    assert_int_equal(dataset_count(d), 2);
    assert_int_equal(dataset_sample_type(d)->rank, 3);
    assert_int_equal(dataset_sample_type(d)->shape[2], 1);
    assert_int_equal(dataset_label(d, 0), 7);
    assert_int_equal(dataset_label(d, 1), 3);
    assert_int_equal(dataset_read(d, 1, pixels, NULL), ASSAY_OK);
    assert_memory_equal(pixels, images + 22, 6);
    dataset_close(d);

    folder_put(state, "t10k-labels-idx1-ubyte", labels, sizeof labels - 1);
    folder_refused(state, "t10k-images-idx3-ubyte", NULL, ASSAY_ERR_INPUT, "promises 2 labels");
    folder_put(state, "t10k-images-idx3-ubyte", images, sizeof images - 1);
    folder_refused(state, "t10k-images-idx3-ubyte", NULL, ASSAY_ERR_INPUT,
                   "promises 2 samples of 6");
    folder_put(state, "short", images, 9);
    folder_refused(state, "short", NULL, ASSAY_ERR_IO, "the file ends");
    folder_put(state, "strange", "\0\0\x77\1\0\0\0\1", 8);
    folder_refused(state, "strange", NULL, ASSAY_ERR_INPUT, "IDX type 0x77");
}

static void idx_is_big_endian(void **state)
{
    int32_t values[2];
    folder_put(state, "x", "\0\0\x0c\2\0\0\0\1\0\0\0\2\1\2\3\4\xff\xff\xff\xfe", 20);
    assay_dataset *d = folder_opened(state, "x", NULL);
    assert_int_equal(dataset_read(d, 0, values, NULL), ASSAY_OK);
    assert_int_equal(values[0], 0x01020304);
    assert_int_equal(values[1], -2);
    dataset_close(d);
}

static void cifar10(void **state)
{
    static unsigned char file[2 * 3073], pixels[3072];
    for (size_t i = 0; i < sizeof file; i++)
        file[i] = (unsigned char)(i * 7 % 251);
    file[0] = 9;
    file[3073] = 4;
    folder_put(state, "test_batch.bin", file, sizeof file);
    assay_dataset *d = folder_opened(state, "test_batch.bin", NULL);
    assert_int_equal(dataset_count(d), 2);
    assert_true(dataset_sample_type(d)->planar);
    assert_int_equal(dataset_label(d, 0), 9);
    assert_int_equal(dataset_label(d, 1), 4);
    assert_int_equal(dataset_read(d, 1, pixels, NULL), ASSAY_OK);
    assert_memory_equal(pixels, file + 3074, 3072);
    dataset_close(d);
    folder_put(state, "short.bin", file, sizeof file - 1);
    folder_refused(state, "short.bin", NULL, ASSAY_ERR_INPUT, "3073");
    file[3073] = 10;
    folder_put(state, "label.bin", file, sizeof file);
    folder_refused(state, "label.bin", NULL, ASSAY_ERR_INPUT, "record 1 is 10");
}

static void npy_samples(void **state)
{
    char path[128];
    float values[6] = {1, 2, 3, 4, 5, 6}, sample[2];
    int32_t labels[3] = {5, 0, 2};
    assay_npy a = {ASSAY_NPY_F4, 2, {3, 2}, values}, l = {ASSAY_NPY_I4, 1, {3}, labels};
    assert_int_equal(text_npy_write_file(folder_path(state, "a.npy", path), &a, NULL), ASSAY_OK);
    assert_int_equal(text_npy_write_file(folder_path(state, "a_labels.npy", path), &l, NULL), 0);
    assay_dataset *d = folder_opened(state, "a.npy", NULL);
    assert_int_equal(dataset_count(d), 3);
    assert_int_equal(dataset_sample_type(d)->rank, 1);
    assert_int_equal(dataset_label(d, 2), 2);
    assert_int_equal(dataset_read(d, 2, sample, NULL), ASSAY_OK);
    assert_true(sample[0] == 5 && sample[1] == 6);
    dataset_close(d);

    folder_put_text(state, "labels", "1\n2\n");
    assay_dataset_options options = {.labels = folder_path(state, "labels", path)};
    folder_refused(state, "a.npy", &options, ASSAY_ERR_INPUT, "2 labels for 3 samples");
    folder_put_text(state, "labels", "1\n2\nx\n");
    folder_refused(state, "a.npy", &options, ASSAY_ERR_INPUT, "labels:3: expected a label");
    folder_put_text(state, "labels", "1\n\n# three\n2\n3");
    d = folder_opened(state, "a.npy", &options);
    assert_int_equal(dataset_label(d, 2), 3);
    dataset_close(d);
    labels[1] = -4;
    char other[128];
    assert_int_equal(text_npy_write_file(folder_path(state, "a_labels.npy", other), &l, NULL), 0);
    folder_refused(state, "a.npy", NULL, ASSAY_ERR_INPUT, "label 1 is -4");
    assert_int_equal(truncate(folder_path(state, "a.npy", other), 150), 0);
    folder_refused(state, "a.npy", &options, ASSAY_ERR_INPUT, "promises 3 samples of 8 bytes");
    a.rank = 0;
    assert_int_equal(text_npy_write_file(folder_path(state, "s.npy", other), &a, NULL), ASSAY_OK);
    folder_refused(state, "s.npy", NULL, ASSAY_ERR_INPUT, "no samples");

    unsigned char *file;
    size_t size;
    a.rank = 2;
    assert_int_equal(text_npy_write_memory(&a, (void **)&file, &size, NULL), ASSAY_OK);
    memcpy(strstr((char *)file + 10, "False"), "True ", 5); /* samples lie across each other */
    test_write_file(folder_path(state, "f.npy", path), file, size);
    folder_refused(state, "f.npy", NULL, ASSAY_ERR_UNSUPPORTED, "ascontiguousarray");
    free(file);
}

static void raw_samples(void **state)
{
    int16_t sample[2];
    assay_dataset_options options = {.raw = "i16:1x2"};
    folder_put(state, "r", "\1\0\2\0\3\0\xff\xff", 8);
    assay_dataset *d = folder_opened(state, "r", &options);
    assert_int_equal(dataset_count(d), 2);
    assert_int_equal(dataset_sample_type(d)->rank, 2);
    assert_int_equal(dataset_read(d, 1, sample, NULL), ASSAY_OK);
    assert_int_equal(sample[0], 3);
    assert_int_equal(sample[1], -1);
    dataset_close(d);
    options.raw = "i16:3";
    folder_refused(state, "r", &options, ASSAY_ERR_INPUT, "not a whole number");
    options.raw = "i16"; /* each element is a sample */
    d = folder_opened(state, "r", &options);
    assert_int_equal(dataset_count(d), 4);
    assert_int_equal(dataset_sample_type(d)->rank, 0);
    dataset_close(d);
    static const char *const wrong[] = {"",       "i",      "i16:",   "i17:2",
                                        "i16:2x", "i16:x2", "i16:-2", "u8:1x1x1x1x1x1x1x1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.raw = wrong[i];
        folder_refused(state, "r", &options, ASSAY_ERR_INPUT, "expected a type");
    }
    options.raw = "u8:0";
    folder_refused(state, "r", &options, ASSAY_ERR_LIMIT, "is 0; expected 1 or more");
    options.raw = "u8:999999999x999999999";
    folder_refused(state, "r", &options, ASSAY_ERR_LIMIT, "2^40");
    folder_refused(state, "r", NULL, ASSAY_ERR_INPUT, "unknown data set format");
}

/* ---- the shipped set, from two threads ----------------------------------------------------- */

typedef struct reading {
    const assay_dataset *d;
    const assay_preprocess *p;
    const assay_sample_type *type;
    double sum;
} reading;

static void *read_all(void *arg)
{
    reading *r = arg;
    float values[32 * 32];
    for (int64_t i = 0; i < dataset_count(r->d); i++) {
        if (dataset_read_input(r->d, r->p, i, r->type, values, NULL))
            return "a sample cannot be read";
        for (int k = 0; k < 32 * 32; k++)
            r->sum += values[k];
    }
    return NULL;
}

static void shipped_glyphs(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t count;
    } sets[] = {{"datasets/glyphs/test", 1020}, {"datasets/glyphs/calibration", 256}};
    for (int s = 0; s < 2; s++) {
        char path[512];
        assay_dataset *d;
        assay_preprocess p;
        assay_sample_type type;
        assay_error err = {0};
        test_source(sets[s].name, path, sizeof path);
        assert_ok(dataset_open(path, NULL, &d, &err), &err);
        assert_ok(dataset_preprocess_find(path, &p, NULL, &err), &err);
        assert_int_equal(dataset_count(d), sets[s].count);
        assert_int_equal(dataset_class_count(d), 34);
        assert_int_equal(dataset_preprocess_type(&p, dataset_sample_type(d), path, &type, NULL),
                         ASSAY_OK);
        assert_int_equal(dataset_sample_count(&type), 32 * 32);
        reading a = {d, &p, &type, 0}, b = a;
        pthread_t thread;
        void *trouble;
        assert_int_equal(pthread_create(&thread, NULL, read_all, &a), 0);
        assert_null(read_all(&b));
        assert_int_equal(pthread_join(thread, &trouble), 0);
        assert_null(trouble);
        assert_true(a.sum == b.sum && a.sum != 0);
        dataset_close(d);
    }
}

/* CIFAR-10 and keyword spotting as NumPy wrote them. */
static void real_npy_sets(void **state)
{
    (void)state;
    char path[512], labels[512], text[160];
    assay_dataset *d;
    assay_error err = {0};
    assay_dataset_options options = {.labels = labels};
    if (!test_shared("datasets/kws01/kws01_i8.npy", path, sizeof path) ||
        !test_shared("datasets/kws01/kws01_labels.npy", labels, sizeof labels))
        skip();
    assert_ok(dataset_open(path, &options, &d, &err), &err);
    assert_int_equal(dataset_count(d), 1000);
    assert_string_equal(dataset_sample_print(dataset_sample_type(d), text, sizeof text),
                        "int8 [49,10,1]");
    for (int64_t i = 0; i < 1000; i++)
        assert_in_range(dataset_label(d, i), 0, 11);
    dataset_close(d);
    test_shared("datasets/cifar10_subset/cifar10_exact_u8.npy", path, sizeof path);
    test_shared("datasets/cifar10_subset/cifar10_exact_labels.npy", labels, sizeof labels);
    assert_ok(dataset_open(path, &options, &d, &err), &err);
    assert_int_equal(dataset_count(d), 1017);
    for (int64_t i = 0; i < 1017; i++)
        assert_in_range(dataset_label(d, i), 0, 9);
    dataset_close(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(idx_images),
        IN_FOLDER(idx_is_big_endian),
        IN_FOLDER(cifar10),
        IN_FOLDER(npy_samples),
        IN_FOLDER(raw_samples),
        cmocka_unit_test(shipped_glyphs),
        cmocka_unit_test(real_npy_sets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
