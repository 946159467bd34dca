/* Errors: a status and a line of text. */
#include <stdarg.h>
#include <stdio.h>

#include "graph/base.h"
#include "graph/memory.h"

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

assay_status assay_out_of_memory(assay_error *err)
{
    return assay_fail(err, ASSAY_ERR_MEMORY, "out of memory");
}

assay_status assay_out_of_memory_for(assay_error *err, const char *what, ...)
{
    char text[sizeof err->text / 2];
    va_list args;
    va_start(args, what);
    vsnprintf(text, sizeof text, what, args);
    va_end(args);
    return assay_fail(err, ASSAY_ERR_MEMORY, "%s: out of memory", text);
}
