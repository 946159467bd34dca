/* A scratch folder for each test. */
#include "test/support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

int folder_make(void **state)
{
    *state = malloc(64);
    test_temp_dir(*state, 64);
    return 0;
}

int folder_remove(void **state)
{
    test_remove_tree(*state);
    free(*state);
    return 0;
}

const char *folder_path(void **state, const char *name, char path[128])
{
    snprintf(path, 128, "%s/%s", (char *)*state, name);
    return path;
}

void folder_put(void **state, const char *name, const void *bytes, size_t size)
{
    char path[128];
    test_write_file(folder_path(state, name, path), bytes, size);
}

void folder_put_text(void **state, const char *name, const char *text)
{
    folder_put(state, name, text, strlen(text));
}

void folder_put_png(void **state, const char *name, int height, int width, int color, int depth,
                    int interlace, const unsigned char *rows, size_t stride)
{
    char path[128];
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    FILE *f = fopen(folder_path(state, name, path), "wb");
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

void folder_gray_png(void **state, const char *name, int height, int width, int first)
{
    unsigned char pixels[1024];
    for (int i = 0; i < height * width; i++)
        pixels[i] = (unsigned char)(first + i);
    folder_put_png(state, name, height, width, PNG_COLOR_TYPE_GRAY, 8, 0, pixels, (size_t)width);
}

void folder_refused(void **state, const char *name, const assay_dataset_options *options,
                    assay_status status, const char *says)
{
    char path[128];
    assay_dataset *d;
    assay_error err = {0};
    assert_int_equal(dataset_open(folder_path(state, name, path), options, &d, &err), status);
    assert_null(d);
    if (!strstr(err.text, says) || strchr(err.text, '\n'))
        fail_msg("\"%s\" does not say \"%s\" in a line", err.text, says);
}

assay_dataset *folder_opened(void **state, const char *name, const assay_dataset_options *options)
{
    char path[128];
    assay_dataset *d;
    assay_error err = {0};
    assert_ok(dataset_open(folder_path(state, name, path), options, &d, &err), &err);
    return d;
}
