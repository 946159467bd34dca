/* A BMP (BITMAPINFOHEADER, 24 bits) in base64. */
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

void page_bitmap(FILE *f, int width, int height, const uint8_t *rgb)
{
    base64 b = {f, 0, 0};
    const uint32_t stride = ((uint32_t)width * 3 + 3) / 4 * 4;
    const uint32_t size = stride * (uint32_t)height;
    const uint32_t head[][2] = {{HEAD + size, 4},
                                {0, 4},
                                {HEAD, 4},
                                {40, 4},
                                {(uint32_t)width, 4},
                                {(uint32_t)height, 4},
                                {1, 2},
                                {24, 2},
                                {0, 4},
                                {size, 4},
                                {2835, 4},
                                {2835, 4},
                                {0, 4},
                                {0, 4}};
    fputs("data:image/bmp;base64,", f);
    put(&b, 'B');
    put(&b, 'M');
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        put_number(&b, head[i][0], (int)head[i][1]);
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
