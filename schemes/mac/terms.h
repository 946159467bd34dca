/* The terms of a unit's step and their sums: shared by dot.c, terms.c, sums.c, exact.c and
 * results.c. */
#ifndef ASSAY_SCHEMES_MAC_TERMS_H
#define ASSAY_SCHEMES_MAC_TERMS_H

#include "schemes/mac/mac.h"

/* As assay_mac_value, with room for a product's bits. A zero has `unit` zero_exponent. */
typedef struct mac_term {
    enum assay_mac_kind kind;
    bool negative;
    int unit, exponent;
    assay_uint128 significand;
} mac_term;

/* A row of A, a row of B and their scales, decoded, in the order of summation. */
typedef struct mac_operands {
    const assay_mac_value *a, *b, *scale_a, *scale_b;
} mac_operands;

/* A pattern of format f as a unit reads it: flushed if the unit flushes; zeros have the record's
 * exponent. */
assay_mac_value mac_read_pattern(const assay_mac *m, int64_t f, int64_t flush, uint64_t pattern);
/* The running value from its pattern of `out`. */
mac_term mac_running(const assay_mac *m, uint64_t pattern);
mac_term mac_term_of(const assay_mac_value *v);
/* The leading `digits` bits of v's significand (ASSAY_MAC_NONE: all); second: as many bits after
 * those. */
uint64_t mac_piece(const assay_mac_value *v, int64_t digits, bool second);
/* t times a block scale. */
void mac_scale_term(mac_term *t, const assay_mac_value *scale);
/* Writes the terms of the products at places `at` ... at + n of the instruction that begins at
 * `first`; returns their number. `acc` is the running value. */
size_t mac_terms(const assay_mac *m, const mac_operands *o, size_t first, size_t at, size_t n,
                 int phase, const mac_term *acc, mac_term *out);

/* A finite value (bits below the first 64 as one sticky bit), Inf or NaN as a pattern of `out`;
 * `negative` is the sign of a zero. */
uint64_t mac_result(const assay_mac *m, const mac_term *v, int64_t mode, int64_t fraction);
/* Whether the sum of these terms is Inf or NaN: then its kind and sign, else a NUMBER. */
mac_term mac_special(const mac_term *term, size_t n);
/* The exact sum of n terms, rounded once. */
uint64_t mac_add(const assay_mac *m, const mac_term *term, size_t n, int64_t mode,
                 int64_t fraction);
/* Adds neighbours among n terms until one is left, and returns it. */
mac_term mac_add_pairs(const assay_mac *m, mac_term *term, size_t n);
/* A step's result, from n terms (with room for one more) and the running value. */
uint64_t mac_sum(const assay_mac *m, mac_term *term, size_t n, const mac_term *acc);

/* The greatest exponent of every stride-th of n terms, at least least_max; false if none has one.
 */
bool mac_greatest(const assay_mac *m, const mac_term *term, size_t n, size_t stride, int *unit);
/* A term in units of 2^grid. */
assay_int128 mac_cut(const mac_term *t, int grid, int64_t mode);

/* Events while a dot product is computed. Patterns are of `out`. */
enum mac_event { MAC_STEP, MAC_CHAINS, MAC_OPERAND, MAC_PROMOTED, MAC_PART };
typedef struct mac_seen {
    /* MAC_OPERAND: an operand's NaN is the NaN of the instruction */
    enum mac_event event;
    size_t first, n;      /* places in the order of summation; for a step, of its first product */
    int phase;            /* of a step */
    const mac_term *term; /* of a step */
    size_t n_terms;
    uint64_t before, after; /* the running value; for a part, and when promoted, the outer one */
} mac_seen;
struct mac_watch {
    void (*see)(void *to, const mac_seen *s);
    void *to;
};
/* The first row's dot product, with its events reported. */
assay_status mac_dot_watched(const assay_mac *m, const assay_mac_rows *rows, void *d,
                             const mac_watch *watch, assay_error *err);

/* The exact sum of n NUMBERs. */
mac_term mac_exact_sum(const mac_term *term, size_t n);
/* The bit length of a number; 0 for 0. */
static inline int mac_digits(assay_uint128 x)
{
    const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high != 0 ? 128 - __builtin_clzll(high) : low != 0 ? 64 - __builtin_clzll(low) : 0;
}

#endif
