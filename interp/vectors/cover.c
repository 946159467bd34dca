/* The least rows; see cover.h. */
#include "interp/vectors/cover.h"

#include <stdlib.h>

static size_t gain_of(const vectors_cover *c, const size_t *by, size_t row)
{
    size_t n = 0;
    for (size_t k = 0; k < c->cases; k++)
        n += by[k] == 0 && c->told[k * c->rows + row];
    return n;
}

/* The row that decides most of what no chosen one does; VECTORS_NONE when none decides any. */
static size_t best(const vectors_cover *c, const size_t *by)
{
    size_t found = VECTORS_NONE, max = 0;
    for (size_t r = 0; r < c->rows; r++) {
        const size_t gain = gain_of(c, by, r);
        if (gain > max) {
            max = gain;
            found = r;
        }
    }
    return found;
}

static void count(const vectors_cover *c, size_t *by, size_t row, bool more)
{
    for (size_t k = 0; k < c->cases; k++)
        if (c->told[k * c->rows + row])
            by[k] = more ? by[k] + 1 : by[k] - 1;
}

static bool is_needless(const vectors_cover *c, const size_t *by, size_t row)
{
    for (size_t k = 0; k < c->cases; k++)
        if (c->told[k * c->rows + row] && by[k] == 1)
            return false;
    return true;
}

size_t vectors_cover_choose(const vectors_cover *c, bool *chosen)
{
    size_t *by = calloc(c->cases + 1, sizeof *by), n = 0; /* chosen rows that decide each case */
    if (!by)
        return VECTORS_NONE;
    for (size_t r; (r = best(c, by)) != VECTORS_NONE; n++) {
        chosen[r] = true;
        count(c, by, r, true);
    }
    for (size_t r = 0; r < c->rows; r++)
        if (chosen[r] && is_needless(c, by, r)) {
            chosen[r] = false;
            count(c, by, r, false);
            n--;
        }
    free(by);
    return n;
}
