/* Refusals of a node, with the scheme's and the node's names in front. */
#include <stdarg.h>
#include <stdio.h>

#include "graph/memory.h"
#include "schemes/derive/derive.h"

assay_status derive_fail(const assay_derive *d, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return assay_fail(d->err, ASSAY_ERR_SCHEME, "scheme %s, node %s (%s): %s", d->scheme->name,
                      d->spec->node, d->spec->op, text);
}

assay_status derive_unknown(const assay_derive *d)
{
    return derive_fail(d, "no arithmetic of this op is known");
}

assay_status derive_memory(const assay_derive *d)
{
    return assay_out_of_memory_for(d->err, "node '%s'", d->spec->node);
}
