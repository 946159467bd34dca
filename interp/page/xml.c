/* Text inside XML. */
#include "interp/page/xml.h"

void page_xml_text(FILE *f, const char *text)
{
    for (; *text; text++)
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
