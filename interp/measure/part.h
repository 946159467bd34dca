/* Measures of some samples, one by one: put together in the samples' order, parts give the bytes of
 * one run over all of them. */
#ifndef ASSAY_INTERP_PART_H
#define ASSAY_INTERP_PART_H

#include "interp/measure/judge.h"

/* Of one value and its twin on one sample: sums of squares of real values, and over how many
 * elements. */
typedef struct assay_powers {
    double signal, noise;
    int64_t n;
} assay_powers;

/* 10 log10(signal / noise), infinite without noise. */
double measure_powers_decibels(assay_powers all);
/* The sum of p[0], p[stride], ... over so many samples, in their order. */
assay_powers measure_powers_sum(const assay_powers *p, int64_t samples, int stride);

typedef struct assay_part {
    int64_t first, count; /* samples first .. first + count - 1 */
    int64_t places;       /* of one sample, where a best class is compared; 0 without a twin */
    int64_t agree;        /* of all of them, with the same best class in both */
    assay_powers *noise;  /* [count], of the first output against the twin's; NULL without one */
    XXH128_canonical_t
        *hash[2];         /* [count], of first outputs, the twin's first; [0] NULL likewise */
    assay_tally tally[2]; /* labels met, the twin's first */
    bool tokens;          /* labels are the tokens that follow */
    double *loss[2];      /* then: [count], of -ln p of them; the twin's first, [0] NULL likewise */
} assay_part;

/* Room for hashes and losses, and with a twin for noise; count is set. measure_part_free either
 * way. */
assay_status measure_part_make(assay_part *p, bool twin, assay_error *err);
void measure_part_free(assay_part *p);

#endif
