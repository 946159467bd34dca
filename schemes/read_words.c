/* Complaints at a place of a scheme file, and the name that was probably meant. */
#include <string.h>

#include "schemes/read.h"

assay_status assay_read_fail(const assay_reading *c, const assay_tree *t, const char *what)
{
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: %s", c->file, t->line, t->column, what);
}

assay_status assay_read_no_memory(const assay_reading *c)
{
    return assay_fail(c->err, ASSAY_ERR_MEMORY, "%s: out of memory", c->file);
}

/* Edit distance of a from b, of which at most 63 letters count. */
static size_t distance(const char *a, const char *b)
{
    size_t row[64], n = strnlen(b, 63);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

void assay_read_consider(assay_guess *g, const char *candidate)
{
    size_t d = distance(candidate, g->word);
    if (d < g->least) {
        g->least = d;
        g->best = candidate;
    }
}

assay_status assay_read_unknown_key(const assay_reading *c, const assay_tree *t, const char *where,
                                    const assay_guess *g)
{
    return assay_fail(c->err, ASSAY_ERR_INPUT, "%s:%u:%u: unknown key \"%s\" in %s; nearest: %s",
                      c->file, t->line, t->column, t->key, where, g->best);
}
