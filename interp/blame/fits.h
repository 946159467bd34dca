/* The shared part of families that solve for numbers: which way each channel's number must go. */
#ifndef ASSAY_INTERP_BLAME_FITS_H
#define ASSAY_INTERP_BLAME_FITS_H

#include "interp/blame/families.h"

/* How many of the numbers that are there are tried for one that was solved for. */
#define BLAME_CANDIDATES 64

/* By channel: whether the device's codes ask for more, for less. */
typedef struct blame_votes {
    int64_t n;
    bool *more, *less; /* one allocation, of `more`; the holder's */
} blame_votes;

/* Of n channels; false: out of memory. */
bool blame_votes_open(blame_votes *v, int64_t n);
/* Whether the device's code is the greater one, by the bits that are compared. */
bool blame_is_above(const blame_search *s, int32_t device, int32_t predicted);
blame_axis blame_channels_of(const blame_search *s);
/* A number per channel that is solved for explains nothing where a channel is one element. */
bool blame_is_thin(const blame_search *s);
#endif
