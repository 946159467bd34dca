/* The greatest or the least of codes of at most 16 bits: maxima of their bits, flipped so that what
 * is sought is the greatest unsigned number. What follows it, an activation or a rescale, is a
 * table of bytes, or asked of the unit. */
#ifndef ASSAY_INTERP_FAST_MAX_H
#define ASSAY_INTERP_FAST_MAX_H

#include "interp/fast/fast.h"

typedef struct assay_fast_max {
    const assay_rows *rows;
    assay_elem elem;
    int size;             /* bytes of a code */
    uint16_t flip;        /* from a code's bits to bits that grow towards what is sought */
    bool bytes, identity; /* bytes become bytes, and stay what they are */
    uint8_t table[256];   /* by flipped maximum */
    assay_codes_fn codes; /* of the unit; NULL: its unary */
} assay_fast_max;

/* For a node whose output 0 is what its unit makes of maxima (minima) of input 0. False: the codes
 * are too wide. */
bool fast_max_make(const assay_fast_setup *s, bool least, assay_fast_max *out);

/* best[i] = the greater of best[i] and x[i], flipped; n codes. Of nothing the greatest is 0. With
 * `flipped`, x is flipped already. */
void fast_max_row(const assay_fast_max *m, const void *x, bool flipped, int64_t n, void *best);
/* The greatest of n codes, flipped, to best. */
void fast_max_of(const assay_fast_max *m, const void *x, int64_t n, void *best);
/* What the unit makes of n flipped maxima, to elements `first`, first + 1, ... of output 0. */
void fast_max_finish(const assay_fast_max *m, assay_call *call, const void *best, int64_t n,
                     int64_t first);

#endif
