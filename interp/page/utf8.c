/* Characters of UTF-8: their bytes. */
#include "interp/page/utf8.h"

#include <stdio.h>
#include <string.h>

size_t page_utf8_character(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    const size_t n = p[0] < 0x80   ? 1
                     : p[0] < 0xc2 ? 0
                     : p[0] < 0xe0 ? 2
                     : p[0] < 0xf0 ? 3
                     : p[0] < 0xf5 ? 4
                                   : 0;
    for (size_t i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
        (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return n;
}

size_t page_utf8_cut(const char *text, size_t length)
{
    size_t cut = 0;
    while (text[cut]) {
        const size_t n = page_utf8_character(text + cut), step = n > 0 ? n : 1;
        if (cut + step > length)
            break;
        cut += step;
    }
    return cut;
}

void page_utf8_escape(const char *bytes, char *text, size_t size)
{
    size_t used = 0;
    while (*bytes) {
        const size_t n = page_utf8_character(bytes), step = n > 0 ? n : strlen("\\x00");
        if (used + step >= size)
            break;
        if (n > 0)
            memcpy(text + used, bytes, n);
        else
            snprintf(text + used, size - used, "\\x%02x", (unsigned char)*bytes);
        bytes += n > 0 ? n : 1;
        used += step;
    }
    text[used] = 0;
}
