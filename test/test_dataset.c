/* Data sets: every format gives back what was stored; damage is named, not guessed around. */
#include "test/support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <png.h>

#include "datasets/dataset.h"
#include "datasets/png.h"
#include "datasets/preprocess.h"

/* ---- a scratch folder for each test -------------------------------------------------------- */

static int make_folder(void **state)
{
    *state = malloc(64);
    test_temp_dir(*state, 64);
    return 0;
}

static int remove_folder(void **state)
{
    test_remove_tree(*state);
    free(*state);
    return 0;
}

static const char *in_folder(void **state, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", (char *)*state, name);
    return path;
}

static void put(void **state, const char *name, const void *bytes, size_t size)
{
    char path[128];
    test_write_file(in_folder(state, name, path), bytes, size);
}

static void put_text(void **state, const char *name, const char *text)
{
    put(state, name, text, strlen(text));
}

/* Writes rows as they are given, in any of PNG's forms. */
static void put_png(void **state, const char *name, int height, int width, int color, int depth,
                    int interlace, const unsigned char *rows, size_t stride)
{
    char path[128];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *f = fopen(in_folder(state, name, path), "wb");
    assert_non_null(f);
    if (setjmp(png_jmpbuf(png)))
        fail_msg("libpng cannot write %s", path);
    png_init_io(png, f);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, color, interlace, 0, 0);
    if (color == PNG_COLOR_TYPE_PALETTE) {
        static const png_color palette[2] = {{10, 20, 30}, {200, 100, 50}};
        png_set_PLTE(png, info, palette, 2);
    }
    png_write_info(png, info);
    for (int pass = png_set_interlace_handling(png); pass > 0; pass--)
        for (int y = 0; y < height; y++)
            png_write_row(png, rows + (size_t)y * stride);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    fclose(f);
}

static void gray_png(void **state, const char *name, int height, int width, int first)
{
    unsigned char pixels[1024];
    for (int i = 0; i < height * width; i++)
        pixels[i] = (unsigned char)(first + i);
    put_png(state, name, height, width, PNG_COLOR_TYPE_GRAY, 8, 0, pixels, (size_t)width);
}

/* Opening `name` fails with this status and a message that says this. */
static void refused(void **state, const char *name, const assay_dataset_options *options,
                    assay_status status, const char *says)
{
    char path[128];
    assay_dataset *d;
    assay_error err = {0};
    assert_int_equal(assay_dataset_open(in_folder(state, name, path), options, &d, &err), status);
    assert_null(d);
    if (!strstr(err.text, says) || strchr(err.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\" in a line", err.text, says);
}

static assay_dataset *opened(void **state, const char *name, const assay_dataset_options *options)
{
    char path[128];
    assay_dataset *d;
    assay_error err = {0};
    assert_ok(assay_dataset_open(in_folder(state, name, path), options, &d, &err), &err);
    return d;
}

/* ---- PNG ----------------------------------------------------------------------------------- */

static void png_forms(void **state)
{
    static const unsigned char rgb[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251, 252};
    static const unsigned char rgba[16] = {1, 2, 3, 255, 4,   5,   6,   255,
                                           7, 8, 9, 255, 250, 251, 252, 255};
    static const unsigned char bits[2] = {0x40, 0x80}; /* 0 1 / 1 0 */
    char path[128];
    assay_image image;
    put_png(state, "rgb.png", 2, 2, PNG_COLOR_TYPE_RGB, 8, 0, rgb, 6);
    assert_int_equal(assay_png_read_file(in_folder(state, "rgb.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, rgb, 12);
    free(image.pixels);
    put_png(state, "rgba.png", 2, 2, PNG_COLOR_TYPE_RGBA, 8, PNG_INTERLACE_ADAM7, rgba, 8);
    assert_int_equal(assay_png_read_file(in_folder(state, "rgba.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, rgb, 12);
    free(image.pixels);
    put_png(state, "bits.png", 2, 2, PNG_COLOR_TYPE_GRAY, 1, 0, bits, 1);
    assert_int_equal(assay_png_read_file(in_folder(state, "bits.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 1);
    assert_memory_equal(image.pixels, "\0\xff\xff\0", 4);
    free(image.pixels);
    put_png(state, "palette.png", 2, 2, PNG_COLOR_TYPE_PALETTE, 1, 0, bits, 1);
    assert_int_equal(assay_png_read_file(in_folder(state, "palette.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, "\12\24\36\310\144\62\310\144\62\12\24\36", 12);
    free(image.pixels);
}

static void png_refusals(void **state)
{
    static const unsigned char wide[8] = {0};
    static const unsigned char clear[8] = {9, 255, 9, 255, 9, 254, 9, 255};
    char path[128];
    assay_image image;
    assay_error err;
    put_png(state, "deep.png", 2, 2, PNG_COLOR_TYPE_GRAY, 16, 0, wide, 4);
    assert_int_equal(assay_png_read_file(in_folder(state, "deep.png", path), &image, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "16-bit"));
    put_png(state, "clear.png", 2, 2, PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, clear, 4);
    assert_int_equal(assay_png_read_file(in_folder(state, "clear.png", path), &image, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "row 1, column 0"));
    put_text(state, "text.png", "certainly no image");
    assert_int_equal(assay_png_read_file(in_folder(state, "text.png", path), &image, &err),
                     ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "text.png: not a PNG file"));
}

static void every_truncated_png_is_refused(void **state)
{
    char path[128];
    size_t size;
    assay_image image;
    gray_png(state, "a.png", 8, 8, 3);
    char *bytes = test_read_file(in_folder(state, "a.png", path), &size);
    for (size_t n = 0; n < size; n++) {
        assay_error err = {0};
        void *exact = malloc(n + !n);
        memcpy(exact, bytes, n);
        assert_int_equal(assay_png_read_memory(exact, n, "a.png", &image, &err), ASSAY_ERR_INPUT);
        assert_memory_equal(err.text, "a.png: ", 7);
        assert_null(image.pixels);
        free(exact);
    }
    free(bytes);
}

static void every_flipped_byte_is_noticed(void **state)
{
    char path[128];
    size_t size;
    assay_image image;
    gray_png(state, "a.png", 8, 8, 3);
    char *bytes = test_read_file(in_folder(state, "a.png", path), &size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x20;
        assert_int_not_equal(assay_png_read_memory(bytes, size, "a.png", &image, NULL), ASSAY_OK);
        bytes[i] ^= 0x20;
    }
    assert_int_equal(assay_png_read_memory(bytes, size, "a.png", &image, NULL), ASSAY_OK);
    free(image.pixels);
    free(bytes);
}

/* ---- folders ------------------------------------------------------------------------------- */

static void folder_with_labels(void **state)
{
    unsigned char pixels[20];
    char name[160];
    gray_png(state, "b c.png", 4, 5, 100);
    gray_png(state, "a.png", 4, 5, 7);
    put_text(state, "labels.txt", "# a comment\nb c.png 2\r\n\na.png\t0");
    put_text(state, "classes.txt", "zero\none\ntwo # 2\n");
    assay_dataset *d = opened(state, ".", NULL);
    assert_int_equal(assay_dataset_count(d), 2);
    assert_int_equal(assay_dataset_label(d, 0), 2);
    assert_int_equal(assay_dataset_label(d, 1), 0);
    assert_int_equal(assay_dataset_class_count(d), 3);
    assert_string_equal(assay_dataset_class_name(d, 2), "two # 2");
    assert_string_equal(assay_sample_print(assay_dataset_sample_type(d), name, sizeof name),
                        "uint8 [4,5,1]");
    assert_int_equal(assay_dataset_read(d, 0, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 100);
    assert_int_equal(pixels[19], 119);
    assert_int_equal(assay_dataset_read(d, 1, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 7);
    assert_non_null(strstr(assay_dataset_sample_name(d, 0, name, sizeof name), "/b c.png"));
    assert_int_not_equal(assay_dataset_read(d, 2, pixels, NULL), ASSAY_OK);
    assert_int_not_equal(assay_dataset_read(d, -1, pixels, NULL), ASSAY_OK);
    assay_dataset_close(d);
}

static void folder_without_labels(void **state)
{
    unsigned char pixels[20];
    gray_png(state, "b.png", 4, 5, 2);
    gray_png(state, "a.png", 4, 5, 1);
    put_text(state, "c.txt", "not an image");
    assay_dataset *d = opened(state, ".", NULL);
    assert_int_equal(assay_dataset_count(d), 2);
    assert_int_equal(assay_dataset_label(d, 0), -1);
    assert_int_equal(assay_dataset_class_count(d), 0);
    assert_int_equal(assay_dataset_read(d, 0, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 1);
    assay_dataset_close(d);
}

static void one_image(void **state)
{
    unsigned char pixels[20];
    gray_png(state, "a.png", 4, 5, 9);
    gray_png(state, "b.png", 4, 5, 2);
    put_text(state, "labels.txt", "b.png 1\n");
    assay_dataset *d = opened(state, "a.png", NULL);
    assert_int_equal(assay_dataset_count(d), 1);
    assert_int_equal(assay_dataset_label(d, 0), -1);
    assert_int_equal(assay_dataset_read(d, 0, pixels, NULL), ASSAY_OK);
    assert_int_equal(pixels[0], 9);
    assay_dataset_close(d);
    put_text(state, "a.png", "broken");
    refused(state, "a.png", NULL, ASSAY_ERR_INPUT, "a.png: not a PNG file");
}

static void folder_refusals(void **state)
{
    char labels[128];
    assay_dataset_options options = {.labels = in_folder(state, "missing.txt", labels)};
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "no PNG images");
    refused(state, "nowhere", NULL, ASSAY_ERR_IO, "nowhere");
    gray_png(state, "a.png", 4, 5, 1);
    refused(state, ".", &options, ASSAY_ERR_IO, "missing.txt");
    put_text(state, "labels.txt", "a.png 0\nb.png 1\n");
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:2: no image \"b.png\"");
    put_text(state, "labels.txt", "a.png -1\n");
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:1: expected \"NAME LABEL\"");
    put_text(state, "labels.txt", "a.png 99999999999\n");
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:1: expected \"NAME LABEL\"");
    put_text(state, "labels.txt", "a.png\n");
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "labels.txt:1: expected \"NAME LABEL\"");
    put(state, "labels.txt", "a.png 0\0", 8);
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "0 byte");
    put_text(state, "labels.txt", "a.png 3\n");
    put_text(state, "classes.txt", "a\nb\n");
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "label 3 is beyond the 2 classes");
    put_text(state, "a.png", "no longer an image");
    put_text(state, "labels.txt", "a.png 1\n");
    refused(state, ".", NULL, ASSAY_ERR_INPUT, "a.png: not a PNG file");
}

static void nothing_is_resized(void **state)
{
    unsigned char pixels[1024];
    assay_error err;
    gray_png(state, "a.png", 4, 5, 1);
    gray_png(state, "b.png", 5, 4, 1);
    assay_dataset *d = opened(state, ".", NULL);
    assert_int_equal(assay_dataset_read(d, 1, pixels, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "/b.png: the image is [5,4,1]"));
    assert_non_null(strstr(err.text, "uint8 [4,5,1]"));
    assay_dataset_close(d);
}

/* ---- files of samples ---------------------------------------------------------------------- */

static void idx_images(void **state)
{
    static const unsigned char images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0,  0,  0,  2,  0,  0,
                                           0, 3, 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
    static const unsigned char labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 3};
    unsigned char pixels[6];
    put(state, "t10k-images-idx3-ubyte", images, sizeof images);
    assay_dataset *d = opened(state, "t10k-images-idx3-ubyte", NULL);
    assert_int_equal(assay_dataset_label(d, 1), -1);
    assay_dataset_close(d);
    put(state, "t10k-labels-idx1-ubyte", labels, sizeof labels);
    d = opened(state, "t10k-images-idx3-ubyte", NULL);
    assert_int_equal(assay_dataset_count(d), 2);
    assert_int_equal(assay_dataset_sample_type(d)->rank, 3);
    assert_int_equal(assay_dataset_sample_type(d)->shape[2], 1);
    assert_int_equal(assay_dataset_label(d, 0), 7);
    assert_int_equal(assay_dataset_label(d, 1), 3);
    assert_int_equal(assay_dataset_read(d, 1, pixels, NULL), ASSAY_OK);
    assert_memory_equal(pixels, images + 22, 6);
    assay_dataset_close(d);

    put(state, "t10k-labels-idx1-ubyte", labels, sizeof labels - 1);
    refused(state, "t10k-images-idx3-ubyte", NULL, ASSAY_ERR_INPUT, "promises 2 labels");
    put(state, "t10k-images-idx3-ubyte", images, sizeof images - 1);
    refused(state, "t10k-images-idx3-ubyte", NULL, ASSAY_ERR_INPUT, "promises 2 samples of 6");
    put(state, "short", images, 9);
    refused(state, "short", NULL, ASSAY_ERR_IO, "the file ends");
    put(state, "strange", "\0\0\x77\1\0\0\0\1", 8);
    refused(state, "strange", NULL, ASSAY_ERR_INPUT, "IDX type 0x77");
}

static void idx_is_big_endian(void **state)
{
    int32_t values[2];
    put(state, "x", "\0\0\x0c\2\0\0\0\1\0\0\0\2\1\2\3\4\xff\xff\xff\xfe", 20);
    assay_dataset *d = opened(state, "x", NULL);
    assert_int_equal(assay_dataset_read(d, 0, values, NULL), ASSAY_OK);
    assert_int_equal(values[0], 0x01020304);
    assert_int_equal(values[1], -2);
    assay_dataset_close(d);
}

static void cifar10(void **state)
{
    static unsigned char file[2 * 3073], pixels[3072];
    for (size_t i = 0; i < sizeof file; i++)
        file[i] = (unsigned char)(i * 7 % 251);
    file[0] = 9;
    file[3073] = 4;
    put(state, "test_batch.bin", file, sizeof file);
    assay_dataset *d = opened(state, "test_batch.bin", NULL);
    assert_int_equal(assay_dataset_count(d), 2);
    assert_true(assay_dataset_sample_type(d)->planar);
    assert_int_equal(assay_dataset_label(d, 0), 9);
    assert_int_equal(assay_dataset_label(d, 1), 4);
    assert_int_equal(assay_dataset_read(d, 1, pixels, NULL), ASSAY_OK);
    assert_memory_equal(pixels, file + 3074, 3072);
    assay_dataset_close(d);
    put(state, "short.bin", file, sizeof file - 1);
    refused(state, "short.bin", NULL, ASSAY_ERR_INPUT, "3073");
    file[3073] = 10;
    put(state, "label.bin", file, sizeof file);
    refused(state, "label.bin", NULL, ASSAY_ERR_INPUT, "record 1 is 10");
}

static void npy_samples(void **state)
{
    char path[128];
    float values[6] = {1, 2, 3, 4, 5, 6}, sample[2];
    int32_t labels[3] = {5, 0, 2};
    assay_npy a = {ASSAY_NPY_F4, 2, {3, 2}, values}, l = {ASSAY_NPY_I4, 1, {3}, labels};
    assert_int_equal(assay_npy_write_file(in_folder(state, "a.npy", path), &a, NULL), ASSAY_OK);
    assert_int_equal(assay_npy_write_file(in_folder(state, "a_labels.npy", path), &l, NULL), 0);
    assay_dataset *d = opened(state, "a.npy", NULL);
    assert_int_equal(assay_dataset_count(d), 3);
    assert_int_equal(assay_dataset_sample_type(d)->rank, 1);
    assert_int_equal(assay_dataset_label(d, 2), 2);
    assert_int_equal(assay_dataset_read(d, 2, sample, NULL), ASSAY_OK);
    assert_true(sample[0] == 5 && sample[1] == 6);
    assay_dataset_close(d);

    put_text(state, "labels", "1\n2\n");
    assay_dataset_options options = {.labels = in_folder(state, "labels", path)};
    refused(state, "a.npy", &options, ASSAY_ERR_INPUT, "2 labels for 3 samples");
    put_text(state, "labels", "1\n2\nx\n");
    refused(state, "a.npy", &options, ASSAY_ERR_INPUT, "labels:3: expected a label");
    put_text(state, "labels", "1\n\n# three\n2\n3");
    d = opened(state, "a.npy", &options);
    assert_int_equal(assay_dataset_label(d, 2), 3);
    assay_dataset_close(d);
    labels[1] = -4;
    char other[128];
    assert_int_equal(assay_npy_write_file(in_folder(state, "a_labels.npy", other), &l, NULL), 0);
    refused(state, "a.npy", NULL, ASSAY_ERR_INPUT, "label 1 is -4");
    assert_int_equal(truncate(in_folder(state, "a.npy", other), 150), 0);
    refused(state, "a.npy", &options, ASSAY_ERR_INPUT, "promises 3 samples of 8 bytes");
    a.rank = 0;
    assert_int_equal(assay_npy_write_file(in_folder(state, "s.npy", other), &a, NULL), ASSAY_OK);
    refused(state, "s.npy", NULL, ASSAY_ERR_INPUT, "no samples");
}

static void raw_samples(void **state)
{
    int16_t sample[2];
    assay_dataset_options options = {.raw = "i16:1x2"};
    put(state, "r", "\1\0\2\0\3\0\xff\xff", 8);
    assay_dataset *d = opened(state, "r", &options);
    assert_int_equal(assay_dataset_count(d), 2);
    assert_int_equal(assay_dataset_sample_type(d)->rank, 2);
    assert_int_equal(assay_dataset_read(d, 1, sample, NULL), ASSAY_OK);
    assert_int_equal(sample[0], 3);
    assert_int_equal(sample[1], -1);
    assay_dataset_close(d);
    options.raw = "i16:3";
    refused(state, "r", &options, ASSAY_ERR_INPUT, "no whole number");
    static const char *const wrong[] = {"",       "i16",    "i16:",   "i17:2",
                                        "i16:2x", "i16:x2", "i16:-2", "u8:1x1x1x1x1x1x1x1"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.raw = wrong[i];
        refused(state, "r", &options, ASSAY_ERR_INPUT, "expected a type");
    }
    options.raw = "u8:0";
    refused(state, "r", &options, ASSAY_ERR_LIMIT, "is 0; expected 1 or more");
    options.raw = "u8:999999999x999999999";
    refused(state, "r", &options, ASSAY_ERR_LIMIT, "2^40");
    refused(state, "r", NULL, ASSAY_ERR_INPUT, "unknown data set format");
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
    for (int64_t i = 0; i < assay_dataset_count(r->d); i++) {
        if (assay_dataset_read_input(r->d, r->p, i, r->type, values, NULL))
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
        assert_ok(assay_dataset_open(path, NULL, &d, &err), &err);
        assert_ok(assay_preprocess_find(path, &p, NULL, &err), &err);
        assert_int_equal(assay_dataset_count(d), sets[s].count);
        assert_int_equal(assay_dataset_class_count(d), 34);
        assert_int_equal(assay_preprocess_type(&p, assay_dataset_sample_type(d), path, &type, NULL),
                         ASSAY_OK);
        assert_int_equal(assay_sample_count(&type), 32 * 32);
        reading a = {d, &p, &type, 0}, b = a;
        pthread_t thread;
        void *trouble;
        assert_int_equal(pthread_create(&thread, NULL, read_all, &a), 0);
        assert_null(read_all(&b));
        assert_int_equal(pthread_join(thread, &trouble), 0);
        assert_null(trouble);
        assert_true(a.sum == b.sum && a.sum != 0);
        assay_dataset_close(d);
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
    assert_ok(assay_dataset_open(path, &options, &d, &err), &err);
    assert_int_equal(assay_dataset_count(d), 1000);
    assert_string_equal(assay_sample_print(assay_dataset_sample_type(d), text, sizeof text),
                        "int8 [49,10,1]");
    for (int64_t i = 0; i < 1000; i++)
        assert_in_range(assay_dataset_label(d, i), 0, 11);
    assay_dataset_close(d);
    test_shared("datasets/cifar10_subset/cifar10_exact_u8.npy", path, sizeof path);
    test_shared("datasets/cifar10_subset/cifar10_exact_labels.npy", labels, sizeof labels);
    assert_ok(assay_dataset_open(path, &options, &d, &err), &err);
    assert_int_equal(assay_dataset_count(d), 1017);
    for (int64_t i = 0; i < 1017; i++)
        assert_in_range(assay_dataset_label(d, i), 0, 9);
    assay_dataset_close(d);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(png_forms),
        IN_FOLDER(png_refusals),
        IN_FOLDER(every_truncated_png_is_refused),
        IN_FOLDER(every_flipped_byte_is_noticed),
        IN_FOLDER(folder_with_labels),
        IN_FOLDER(folder_without_labels),
        IN_FOLDER(one_image),
        IN_FOLDER(folder_refusals),
        IN_FOLDER(nothing_is_resized),
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
