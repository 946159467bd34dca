/* Random numbers for making rows: splitmix64 (Steele, Lea, Flood 2014), the same on every machine.
 */
#ifndef ASSAY_INTERP_ROWS_RANDOM_H
#define ASSAY_INTERP_ROWS_RANDOM_H

#include <stdint.h>

typedef struct rows_random {
    uint64_t state; /* any seed */
} rows_random;

uint64_t rows_next(rows_random *r);
/* One of lo..hi, both included. */
int64_t rows_between(rows_random *r, int64_t lo, int64_t hi);

#endif
