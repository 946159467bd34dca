/* The name that was probably meant; see guess.h. */
#include "schemes/guess.h"

#include <string.h>

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

void assay_guess_consider(assay_guess *g, const char *candidate)
{
    size_t d = distance(candidate, g->word);
    if (d < g->least) {
        g->least = d;
        g->best = candidate;
    }
}

const char *assay_guess_near(const assay_guess *g)
{
    return g->least <= 1 + strlen(g->word) / 3 ? g->best : NULL;
}
