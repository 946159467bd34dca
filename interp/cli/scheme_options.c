/* Options that the verbs of assay scheme read alike. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/cli/scheme.h"

bool cli_scheme_type(const cli_args *a, const assay_scheme *s, assay_elem *out)
{
    assay_error err;
    if (!assay_rows_type(s, cli_value(a, "type", NULL), out, &err))
        return true;
    cli_trouble("scheme: --%s", err.text);
    return false;
}

bool cli_scheme_range(const cli_args *a, const char *option, double lo, double hi, double out[3])
{
    const char *text = cli_value(a, option, "");
    char *end;
    int n = 0;
    for (const char *p = text; n < 3; p = end + 1) {
        out[n] = strtod(p, &end);
        if (end == p || !(out[n] >= lo && (n == 2 || out[n] <= hi)))
            break;
        n++;
        if (*end != ':')
            break;
    }
    if (n == 0 || *end != '\0' || (n > 1 && out[1] < out[0]) ||
        (n > 2 && !(out[2] >= 1 && out[2] <= 1e6))) {
        cli_trouble(
            "scheme: --%s takes X, LO:HI or LO:HI:N with numbers from %g to %g, LO not above "
            "HI, not '%s'",
            option, lo, hi, text);
        return false;
    }
    out[1] = n > 1 ? out[1] : out[0];
    out[2] = n > 2 ? out[2] : 1;
    return true;
}
