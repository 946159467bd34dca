/* Tokens in a text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "datasets/internal.h"
#include "graph/memory.h"

static const char between[] = " \t\r\n,";

static assay_status parse_tokens(assay_dataset *d, const char *text, assay_error *err)
{
    for (const char *p = text + strspn(text, between); *p; p += strspn(p, between)) {
        char *end;
        errno = 0;
        d->tokens[d->count] = strtoll(p, &end, 10);
        if (end == p || errno || (*end && !strchr(between, *end)))
            return assay_fail(err, ASSAY_ERR_INPUT,
                              "%s: token %" PRId64 " is \"%.*s\"; expected integers with blanks or "
                              "commas between them",
                              d->path, d->count, (int)strcspn(p, between) % 40, p);
        d->count++;
        p = end;
    }
    return ASSAY_OK;
}

assay_status dataset_open_text(assay_dataset *d, assay_error *err)
{
    char *text;
    assay_status status = dataset_read_text(d->path, &text, err);

    if (status)
        return status;
    d->tokens = malloc((strlen(text) / 2 + 1) * sizeof *d->tokens);
    status = d->tokens ? parse_tokens(d, text, err) : assay_out_of_memory_for(err, "%s", d->path);
    free(text);
    return status;
}
