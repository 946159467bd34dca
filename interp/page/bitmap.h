/* Small pictures inside of pages. */
#ifndef ASSAY_INTERP_BITMAP_H
#define ASSAY_INTERP_BITMAP_H

#include <stdint.h>
#include <stdio.h>

/* width * height pixels, rows from the top, 3 bytes each (red, green, blue), as a data: address of
 * an uncompressed BMP. */
void page_bitmap(FILE *f, int width, int height, const uint8_t *rgb);
/* The same with one byte per pixel, one of 256 colours: a third of the length. */
void page_bitmap_indexed(FILE *f, int width, int height, const uint8_t *pixel,
                         const uint8_t colour[256][3]);

#endif
