/* Matrix units: what is in one, its dot products, and where two differ. */
#ifndef ASSAY_INTERP_API_UNITS_H
#define ASSAY_INTERP_API_UNITS_H

#include <stdio.h>

#include "interp/assay_arithmetic.h"
#include "interp/page/json.h"
#include "interp/vectors/units.h"

struct assay_matrix_unit {
    assay_mac_unit unit;
};

/* Longest text of a parameter's value. */
enum { ASSAY_UNIT_WORD = 1300 };

/* A unit by its shipped name or file; or, of a scheme of matrix units by name or file, the first,
 * which `quantize` makes patterns for. */
assay_status assay_units_open(const char *name, assay_mac_unit *out, assay_error *err);
/* Name, description, contract, the multiple that k is of, and all parameters as a unit file has
 * them. */
json_t *assay_unit_json(const assay_mac_unit *u);
/* ASSAY_ERR_INPUT: columns that are missing or that the unit lacks, a k that it does not take, a
 * code that is none. */
assay_status assay_dots_check(const assay_mac_unit *u, const assay_dots *d, assay_error *err);
assay_mac_rows assay_dots_rows(const assay_dots *d);

/* One row in words, and as JSON (NULL when out of memory); *status becomes the status of printing
 * it. */
typedef struct assay_unit_trial {
    const assay_mac_unit *unit;
    const assay_dots *row;
    assay_status *status;
    assay_error *err;
} assay_unit_trial;
void assay_unit_print_trial(FILE *f, const void *trial);
json_t *assay_unit_trial_json(const assay_unit_trial *t);

/* The seed of random rows unless another is given. */
enum { ASSAY_UNITS_SEED = 17 };

/* Two units, the parameters that differ, and a row that distinguishes them. */
typedef struct assay_units_pair {
    const assay_mac_unit *unit[2];
    size_t differ, same; /* parameters */
    const char *unlike;  /* why no row fits both, or NULL */
    bool found;
    vectors_dot row;
} assay_units_pair;
assay_status assay_units_compare(const assay_mac_unit *a, const assay_mac_unit *b, uint64_t seed,
                                 assay_units_pair *out, assay_error *err);
void assay_units_pair_free(assay_units_pair *p);
/* Parameters, and the row; the row alone. */
void assay_units_print(FILE *f, const void *pair);
void assay_units_print_row(FILE *f, const assay_units_pair *p);
json_t *assay_units_json(const assay_units_pair *p);

#endif
