/* Errors: a status and a line of text. */
#include <stdarg.h>
#include <stdio.h>

#include "graph/base.h"

/* A message may quote what a broken file holds; it stays one line that a terminal can show. */
static void one_line(char *text)
{
    for (char *s = text; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
}

assay_status assay_fail(assay_error *err, assay_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        err->status = status;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
        one_line(err->text);
    }
    return status;
}
