/* A BMP (BITMAPINFOHEADER, 24 bits, or 8 with a palette) in base64. */
#include "interp/page/bitmap.h"

enum { HEAD = 54 };

typedef struct base64 {
    FILE *f;
    uint32_t bits;
    int n; /* bytes in bits */
} base64;

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put(base64 *b, uint8_t byte)
{
    b->bits = b->bits << 8 | byte;
    if (++b->n < 3)
        return;
    for (int i = 3; i >= 0; i--)
        fputc(digits[b->bits >> (6 * i) & 63], b->f);
    b->bits = 0;
    b->n = 0;
}

static void finish(base64 *b)
{
    const int n = b->n;
    if (n == 0)
        return;
    const uint32_t bits = b->bits << (8 * (3 - n));
    for (int i = 0; i < 4; i++)
        fputc(i <= n ? digits[bits >> (18 - 6 * i) & 63] : '=', b->f);
}

static void put_number(base64 *b, uint32_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        put(b, (uint8_t)(v >> (8 * i)));
}

static void put_head(base64 *b, int width, int height, uint32_t colours, uint32_t size)
{
    const uint32_t at = HEAD + 4 * colours;
    const uint32_t head[][2] = {{at + size, 4},
                                {0, 4},
                                {at, 4},
                                {40, 4},
                                {(uint32_t)width, 4},
                                {(uint32_t)height, 4},
                                {1, 2},
                                {colours ? 8 : 24, 2},
                                {0, 4},
                                {size, 4},
                                {2835, 4},
                                {2835, 4},
                                {colours, 4},
                                {0, 4}};
    fputs("data:image/bmp;base64,", b->f);
    put(b, 'B');
    put(b, 'M');
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        put_number(b, head[i][0], (int)head[i][1]);
}

static uint32_t stride_of(int width, uint32_t bytes)
{
    return ((uint32_t)width * bytes + 3) / 4 * 4;
}

void page_bitmap(FILE *f, int width, int height, const uint8_t *rgb)
{
    base64 b = {f, 0, 0};
    const uint32_t stride = stride_of(width, 3);
    put_head(&b, width, height, 0, stride * (uint32_t)height);
    for (int y = height - 1; y >= 0; y--) {
        const uint8_t *row = rgb + (size_t)y * (size_t)width * 3;
        for (int x = 0; x < width; x++, row += 3) {
            put(&b, row[2]);
            put(&b, row[1]);
            put(&b, row[0]);
        }
        for (uint32_t x = (uint32_t)width * 3; x < stride; x++)
            put(&b, 0);
    }
    finish(&b);
}

void page_bitmap_indexed(FILE *f, int width, int height, const uint8_t *pixel,
                         const uint8_t colour[256][3])
{
    base64 b = {f, 0, 0};
    const uint32_t stride = stride_of(width, 1);
    put_head(&b, width, height, 256, stride * (uint32_t)height);
    for (int i = 0; i < 256; i++)
        put_number(&b, (uint32_t)(colour[i][0] << 16 | colour[i][1] << 8 | colour[i][2]), 4);
    for (int y = height - 1; y >= 0; y--) {
        for (int x = 0; x < width; x++)
            put(&b, pixel[(size_t)y * (size_t)width + (size_t)x]);
        for (uint32_t x = (uint32_t)width; x < stride; x++)
            put(&b, 0);
    }
    finish(&b);
}
