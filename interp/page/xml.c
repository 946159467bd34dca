/* Text inside XML. */
#include "interp/page/xml.h"

#include "interp/page/utf8.h"

/* A character of n bytes, or a byte that is of none. */
static void put_bytes(FILE *f, const char *text, size_t n)
{
    if (n > 0)
        fwrite(text, 1, n, f);
    else
        fprintf(f, "\\x%02x", (unsigned char)*text);
}

void page_xml_text(FILE *f, const char *text)
{
    for (size_t n; *text; text += n > 0 ? n : 1) {
        n = page_utf8_character(text);
        if (n != 1) {
            put_bytes(f, text, n);
            continue;
        }
        switch (*text) {
        case '&':
            fputs("&amp;", f);
            break;
        case '<':
            fputs("&lt;", f);
            break;
        case '>':
            fputs("&gt;", f);
            break;
        case '"':
            fputs("&quot;", f);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, f);
        }
    }
}
