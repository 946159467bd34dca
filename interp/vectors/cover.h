/* The fewest rows that decide as much as all rows: every case that some row decides is decided by a
 * chosen one. */
#ifndef ASSAY_INTERP_VECTORS_COVER_H
#define ASSAY_INTERP_VECTORS_COVER_H

#include <stdbool.h>
#include <stddef.h>

#define VECTORS_NONE ((size_t)-1)

/* Which row decides which case: told[c * rows + r] is not 0. */
typedef struct vectors_cover {
    size_t cases, rows;
    const unsigned char *told;
} vectors_cover;

/* Marks the rows that are chosen (chosen[rows], all false before): the row that decides most cases
 * first, then the one that decides most of the rest; finally those that others make redundant are
 * dropped. None of those left can be spared. Returns their number; VECTORS_NONE: out of memory. */
size_t vectors_cover_choose(const vectors_cover *c, bool *chosen);

#endif
