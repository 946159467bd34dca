/* Rows with the answers of the device. */
#ifndef ASSAY_INTERP_INFER_ROWS_H
#define ASSAY_INTERP_INFER_ROWS_H

#include "graph/base.h"
#include "interp/rows/random.h"

#define INFER_REFUSED INT64_MIN /* in place of an answer */

/* One accumulator through one rescale. */
typedef struct infer_row {
    int64_t acc, multiplier;
    int32_t zp, shift; /* the total right shift */
    int32_t lo, hi;    /* the bounds, where bounded */
    /* kind scale: the three scales; multiplier, shift and pre are then what an encoding makes of
     * them, if it is `live` */
    float in, weight, out;
    int32_t pre; /* the pre-shift of Glow's encoding */
    bool live;
    bool bounded;
    int64_t answer;
} infer_row;

typedef struct infer_rows {
    infer_row *row;
    size_t n, room;
    assay_elem type;
    uint64_t *seen; /* hashes of all rows that were ever added; 0: free */
    size_t seen_room, n_seen;
    bool short_of_memory; /* some row was not added; stays set */
} infer_rows;

/* Bits of a number's magnitude; 0 for 0. */
static inline int infer_bits_of(int64_t x)
{
    const uint64_t magnitude = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    return magnitude ? 64 - __builtin_clzll(magnitude) : 0;
}

/* Adds a row unless it was added before. */
void infer_rows_add(infer_rows *r, const infer_row *row);
/* Appends answered rows; false when out of memory, then short_of_memory is set. */
bool infer_rows_keep(infer_rows *r, const infer_row *row, size_t n);
/* Drops the rows, but remembers that they were added once. */
void infer_rows_clear(infer_rows *r);
void infer_rows_free(infer_rows *r);

#endif
