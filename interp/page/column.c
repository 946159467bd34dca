/* Columns of names; see column.h. */
#include "interp/page/column.h"

#include "interp/page/utf8.h"

enum { WIDEST = 64 }; /* of a column */

/* Characters; a byte that is of none counts as one. */
static int width_of(const char *name)
{
    int n = 0;
    for (; *name; n++) {
        const size_t step = page_utf8_character(name);
        name += step > 0 ? step : 1;
    }
    return n;
}

int page_column_widen(int width, const char *name)
{
    const int n = width_of(name);
    return n > width && n <= WIDEST ? n : width;
}

void page_column_put(FILE *f, int indent, int width, const char *name)
{
    const int n = width_of(name);
    if (n <= width)
        fprintf(f, "%s%*s", name, width - n, "");
    else
        fprintf(f, "%s\n%*s", name, indent + width, "");
}

const char *page_plural(int64_t n)
{
    return n == 1 ? "" : "s";
}
