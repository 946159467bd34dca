/* PNG images: every form gives back what was stored; damage is named, not guessed around. */
#include "test/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "datasets/png.h"

/* ---- PNG ----------------------------------------------------------------------------------- */

static void png_forms(void **state)
{
    static const unsigned char rgb[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 250, 251, 252};
    static const unsigned char rgba[16] = {1, 2, 3, 255, 4,   5,   6,   255,
                                           7, 8, 9, 255, 250, 251, 252, 255};
    static const unsigned char bits[2] = {0x40, 0x80}; /* 0 1 / 1 0 */
    char path[128];
    assay_image image;
    folder_put_png(state, "rgb.png", 2, 2, PNG_COLOR_TYPE_RGB, 8, 0, rgb, 6);
    assert_int_equal(dataset_png_read_file(folder_path(state, "rgb.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, rgb, 12);
    free(image.pixels);
    folder_put_png(state, "rgba.png", 2, 2, PNG_COLOR_TYPE_RGBA, 8, PNG_INTERLACE_ADAM7, rgba, 8);
    assert_int_equal(dataset_png_read_file(folder_path(state, "rgba.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, rgb, 12);
    free(image.pixels);
    folder_put_png(state, "bits.png", 2, 2, PNG_COLOR_TYPE_GRAY, 1, 0, bits, 1);
    assert_int_equal(dataset_png_read_file(folder_path(state, "bits.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 1);
    assert_memory_equal(image.pixels, "\0\xff\xff\0", 4);
    free(image.pixels);
    folder_put_png(state, "palette.png", 2, 2, PNG_COLOR_TYPE_PALETTE, 1, 0, bits, 1);
    assert_int_equal(dataset_png_read_file(folder_path(state, "palette.png", path), &image, NULL),
                     0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, "\12\24\36\310\144\62\310\144\62\12\24\36", 12);
    free(image.pixels);
}

/* Two bytes a sample, the high one first in the file, a number of the machine's in memory. */
static void png_of_16_bits(void **state)
{
    static const unsigned char gray[8] = {0, 1, 1, 0, 255, 254, 18, 52};
    static const unsigned char rgba[16] = {0, 1, 0, 2, 0,  3,  255, 255,
                                           4, 0, 5, 6, 18, 52, 255, 255};
    static const uint16_t numbers[4] = {1, 256, 65534, 0x1234};
    static const uint16_t colours[6] = {1, 2, 3, 1024, 1286, 0x1234};
    char path[128];
    assay_image image;
    folder_put_png(state, "g.png", 2, 2, PNG_COLOR_TYPE_GRAY, 16, PNG_INTERLACE_ADAM7, gray, 4);
    assert_int_equal(dataset_png_read_file(folder_path(state, "g.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 1);
    assert_int_equal(image.bytes, 2);
    assert_memory_equal(image.pixels, numbers, sizeof numbers);
    free(image.pixels);
    folder_put_png(state, "c.png", 1, 2, PNG_COLOR_TYPE_RGBA, 16, 0, rgba, 16);
    assert_int_equal(dataset_png_read_file(folder_path(state, "c.png", path), &image, NULL), 0);
    assert_int_equal(image.channels, 3);
    assert_memory_equal(image.pixels, colours, sizeof colours);
    free(image.pixels);
}

static void png_refusals(void **state)
{
    static const unsigned char wide[8] = {0};
    static const unsigned char hazy[16] = {0, 0, 255, 255, 0, 0, 255, 254};
    static const unsigned char strange[2] = {0x01, 0x12}; /* colours 0 1 / 1 2 */
    static const unsigned char clear[8] = {9, 255, 9, 255, 9, 254, 9, 255};
    char path[128];
    assay_image image;
    assay_error err;
    folder_put_png(state, "deep.png", 2, 2, PNG_COLOR_TYPE_GRAY, 16, 0, wide, 4);
    assert_int_equal(dataset_png_read_indices(folder_path(state, "deep.png", path), &image, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "16-bit"));
    folder_put_png(state, "hazy.png", 1, 2, PNG_COLOR_TYPE_GRAY_ALPHA, 16, 0, hazy, 8);
    assert_int_equal(dataset_png_read_file(folder_path(state, "hazy.png", path), &image, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "row 0, column 1"));
    folder_put_png(state, "strange.png", 2, 2, PNG_COLOR_TYPE_PALETTE, 4, 0, strange, 1);
    assert_int_equal(dataset_png_read_file(folder_path(state, "strange.png", path), &image, &err),
                     ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "row 1, column 1 has colour 2 of a palette of 2"));
    folder_put_png(state, "clear.png", 2, 2, PNG_COLOR_TYPE_GRAY_ALPHA, 8, 0, clear, 4);
    assert_int_equal(dataset_png_read_file(folder_path(state, "clear.png", path), &image, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "row 1, column 0"));
    folder_put_text(state, "text.png", "certainly no image");
    assert_int_equal(dataset_png_read_file(folder_path(state, "text.png", path), &image, &err),
                     ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "text.png: not a PNG file"));
}

static void every_truncated_png_is_refused(void **state)
{
    char path[128];
    size_t size;
    assay_image image;
    folder_gray_png(state, "a.png", 8, 8, 3);
    char *bytes = test_read_file(folder_path(state, "a.png", path), &size);
    for (size_t n = 0; n < size; n++) {
        assay_error err = {0};
        void *exact = malloc(n + !n);
        memcpy(exact, bytes, n);
        assert_int_equal(dataset_png_read_memory(exact, n, "a.png", &image, &err), ASSAY_ERR_INPUT);
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
    folder_gray_png(state, "a.png", 8, 8, 3);
    char *bytes = test_read_file(folder_path(state, "a.png", path), &size);
    for (size_t i = 0; i < size; i++) {
        bytes[i] ^= 0x20;
        assert_int_not_equal(dataset_png_read_memory(bytes, size, "a.png", &image, NULL), ASSAY_OK);
        bytes[i] ^= 0x20;
    }
    assert_int_equal(dataset_png_read_memory(bytes, size, "a.png", &image, NULL), ASSAY_OK);
    free(image.pixels);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(png_forms),
        IN_FOLDER(png_of_16_bits),
        IN_FOLDER(png_refusals),
        IN_FOLDER(every_truncated_png_is_refused),
        IN_FOLDER(every_flipped_byte_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
