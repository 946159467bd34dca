/* PNG through libpng. libpng reports errors by longjmp: everything that must be freed lives in a
 * `decoder` outside the function that sets the jump. */
#include "datasets/png.h"
#include "graph/memory.h"

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "graph/core/slurp.h"

#define MAX_SIDE   (1 << 14)
#define MAX_PIXELS (1 << 26)

typedef struct decoder {
    const unsigned char *next;
    size_t left;
    const char *name;
    assay_error *err;
    assay_status status; /* set before a jump */
    png_structp png;
    png_infop info;
    unsigned char *rows; /* [height, width, stored channels] */
    png_bytep *row;
    bool indices; /* pixels are numbers, not colours */
    jmp_buf jump;
} decoder;

static void on_error(png_structp png, png_const_charp text)
{
    decoder *d = png_get_error_ptr(png);
    d->status = assay_fail(d->err, ASSAY_ERR_INPUT, "%s: broken PNG: %s", d->name, text);
    longjmp(d->jump, 1);
}

static void on_warning(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep to, png_size_t n)
{
    decoder *d = png_get_io_ptr(png);
    if (n > d->left)
        png_error(png, "the file ends too early");
    memcpy(to, d->next, n);
    d->next += n;
    d->left -= n;
}

static bool is_palette(const decoder *d)
{
    return png_get_color_type(d->png, d->info) == PNG_COLOR_TYPE_PALETTE;
}

static bool is_little_endian(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one == 1;
}

/* Header and transformations. On return the stored channels are 1..4: gray or RGB, and alpha. */
static assay_status read_header(decoder *d, assay_image *out)
{
    png_set_user_limits(d->png, MAX_SIDE, MAX_SIDE);
    png_set_crc_action(d->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_read_fn(d->png, d, on_read);
    png_read_info(d->png, d->info);
    out->width = (int)png_get_image_width(d->png, d->info);
    out->height = (int)png_get_image_height(d->png, d->info);
    if ((int64_t)out->width * out->height > MAX_PIXELS)
        return assay_fail(d->err, ASSAY_ERR_LIMIT, "%s: %dx%d pixels; at most 2^26 are accepted",
                          d->name, out->width, out->height);
    out->bytes = png_get_bit_depth(d->png, d->info) == 16 ? 2 : 1;
    if (out->bytes == 2 && d->indices)
        return assay_fail(d->err, ASSAY_ERR_UNSUPPORTED,
                          "%s: PNG with 16-bit samples; expected numbers of at most 8 bits",
                          d->name);
    if (d->indices || is_palette(d))
        png_set_packing(d->png); /* a byte an index */
    else
        png_set_expand(d->png); /* gray below 8 bits, tRNS to alpha */
    if (out->bytes == 2 && is_little_endian())
        png_set_swap(d->png);
    png_set_interlace_handling(d->png);
    png_read_update_info(d->png, d->info);
    return ASSAY_OK;
}

static assay_status transparent(const decoder *d, const assay_image *image, size_t pixel)
{
    return assay_fail(d->err, ASSAY_ERR_UNSUPPORTED,
                      "%s: PNG with a transparent pixel at row %zu, column %zu; expected an opaque "
                      "image (put it on its background first)",
                      d->name, pixel / (size_t)image->width, pixel % (size_t)image->width);
}

/* Drops the alpha channel, which must be opaque everywhere, in place. */
static assay_status drop_alpha(decoder *d, assay_image *image, int channels)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    const size_t width = (size_t)image->bytes, kept = (size_t)(channels - 1) * width;
    for (size_t i = 0; i < count; i++) {
        const unsigned char *pixel = d->rows + i * (kept + width);
        for (size_t k = 0; k < width; k++)
            if (pixel[kept + k] != 255)
                return transparent(d, image, i);
        memmove(d->rows + i * kept, pixel, kept);
    }
    image->channels = channels - 1;
    return ASSAY_OK;
}

/* Colours in place of a palette's indices. */
static assay_status paint(decoder *d, assay_image *image)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    png_colorp colour = NULL;
    png_bytep alpha = NULL;
    int colours = 0, alphas = 0;
    unsigned char *rows = malloc(3 * count);
    if (!rows)
        return assay_out_of_memory_for(d->err, "%s: %zu pixels", d->name, count);
    png_get_PLTE(d->png, d->info, &colour, &colours);
    png_get_tRNS(d->png, d->info, &alpha, &alphas, NULL);
    for (size_t i = 0; i < count; i++) {
        const unsigned char index = d->rows[i];
        if (index >= colours || (index < alphas && alpha[index] != 255)) {
            free(rows);
            return index < colours
                       ? transparent(d, image, i)
                       : assay_fail(d->err, ASSAY_ERR_INPUT,
                                    "%s: broken PNG: row %zu, column %zu has colour %d of a "
                                    "palette of %d",
                                    d->name, i / (size_t)image->width, i % (size_t)image->width,
                                    index, colours);
        }
        memcpy(rows + 3 * i,
               (const unsigned char[]){colour[index].red, colour[index].green, colour[index].blue},
               3);
    }
    free(d->rows);
    d->rows = rows;
    image->channels = 3;
    return ASSAY_OK;
}

static assay_status decode(decoder *d, assay_image *out)
{
    if (setjmp(d->jump))
        return d->status;
    assay_status status = read_header(d, out);
    if (status)
        return status;
    int channels = png_get_channels(d->png, d->info);
    size_t stride = (size_t)out->width * (size_t)channels * (size_t)out->bytes;
    if (png_get_rowbytes(d->png, d->info) != stride)
        return assay_fail(d->err, ASSAY_ERR_INTERNAL, "%s: libpng gives rows of %zu bytes, not %zu",
                          d->name, png_get_rowbytes(d->png, d->info), stride);
    d->rows = malloc(stride * (size_t)out->height);
    d->row = malloc(sizeof *d->row * (size_t)out->height);
    if (!d->rows || !d->row)
        return assay_out_of_memory_for(d->err, "%s: %dx%d pixels", d->name, out->width,
                                       out->height);
    for (size_t y = 0; y < (size_t)out->height; y++)
        d->row[y] = d->rows + y * stride;
    png_read_image(d->png, d->row);
    png_read_end(d->png, NULL);
    out->channels = channels;
    if (is_palette(d) && !d->indices)
        return paint(d, out);
    return channels % 2 == 0 ? drop_alpha(d, out, channels) : ASSAY_OK;
}

static assay_status read_memory(const void *bytes, size_t size, const char *name, bool indices,
                                assay_image *out, assay_error *err)
{
    decoder d = {.next = bytes, .left = size, .name = name, .indices = indices, .err = err};
    memset(out, 0, sizeof *out);
    if (size < 8 || png_sig_cmp(bytes, 0, 8) != 0)
        return assay_fail(err, ASSAY_ERR_INPUT, "%s: not a PNG file", name);
    d.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &d, on_error, on_warning);
    d.info = d.png ? png_create_info_struct(d.png) : NULL;
    assay_status status = d.info ? decode(&d, out) : assay_out_of_memory_for(err, "%s", name);
    png_destroy_read_struct(&d.png, &d.info, NULL);
    free(d.row);
    if (status) {
        free(d.rows);
        memset(out, 0, sizeof *out);
    } else {
        out->pixels = d.rows;
    }
    return status;
}

assay_status dataset_png_read_memory(const void *bytes, size_t size, const char *name,
                                     assay_image *out, assay_error *err)
{
    return read_memory(bytes, size, name, false, out, err);
}

static assay_status read_file(const char *path, bool indices, assay_image *out, assay_error *err)
{
    unsigned char *bytes;
    size_t size;
    memset(out, 0, sizeof *out);
    assay_status status = assay_slurp(path, &bytes, &size, err);
    if (status)
        return status;
    status = read_memory(bytes, size, path, indices, out, err);
    free(bytes);
    return status;
}

assay_status dataset_png_read_file(const char *path, assay_image *out, assay_error *err)
{
    return read_file(path, false, out, err);
}

assay_status dataset_png_read_indices(const char *path, assay_image *out, assay_error *err)
{
    return read_file(path, true, out, err);
}
