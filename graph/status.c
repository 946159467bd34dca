/* Errors: a status and a line of text. */
#include <stdarg.h>
#include <stdio.h>

#include "interp/assay.h"

assay_status assay_fail(assay_error *err, assay_status status, const char *format, ...)
{
    if (err) {
        va_list args;
        err->status = status;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}
