/* A line of a verifier's report. */
#include <stdarg.h>
#include <stdio.h>

#include "interp/golden/verify.h"

void golden_verifier_say(const assay_verifier *c, const char *what, const char *format, ...)
{
    char line[1200];
    va_list list;
    int n;
    if (!c->report)
        return;
    n = snprintf(line, sizeof line, "%.400s: ", what);
    va_start(list, format);
    vsnprintf(line + n, sizeof line - (size_t)n, format, list);
    va_end(list);
    c->report(c->user, line);
}
