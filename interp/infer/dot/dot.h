/* Inference of a matrix unit: a device is asked for dot products, and the record `mac`
 * (schemes/mac) that gives all of its answers is searched for. */
#ifndef ASSAY_INTERP_INFER_DOT_H
#define ASSAY_INTERP_INFER_DOT_H

#include <stdio.h>

#include <jansson.h>

#include "interp/infer/infer.h"
#include "schemes/mac/parameters.h"

typedef struct infer_dot_options {
    infer_options device; /* only oracle, ask, user, told, listener, timeout and budget count */
    int64_t a, b, acc, out, scale; /* formats */
    size_t scale_block;            /* 0: no scales */
    size_t k;                      /* products in a row */
    double seconds;                /* processor time for the search */
} infer_dot_options;

enum { INFER_DOT_UNITS = 100, INFER_DOT_OPEN = 64 };

/* A parameter for which other values also agree with every row. */
typedef struct infer_dot_open {
    const assay_mac_parameter *parameter;
    char values[160];
} infer_dot_open;

typedef struct infer_dot_result {
    enum infer_verdict verdict; /* INFER_CLASS, or INFER_NONE if none that was tried agrees */
    assay_mac found;            /* a record that agrees, or else the nearest one */
    const char *unit[INFER_DOT_UNITS]; /* the shipped units that agree */
    int n_units;
    infer_dot_open open[INFER_DOT_OPEN];
    int n_open;
    size_t rows, tried; /* rows asked; comparisons of a record with a row */
    size_t n_against;   /* rows that contradict `found` */
    infer_contradiction against[INFER_FIRST_ROWS]; /* codes: patterns */
} infer_dot_result;

/* The whole loop of questions. ASSAY_ERR_INPUT: no unit takes the formats, or the scales do not
 * divide k; the oracle failed, did not end, gave unusable answers, or answered the same row in two
 * ways. */
assay_status infer_dot_run(const infer_dot_options *o, infer_dot_result *r, assay_error *err);

/* The record found, as a unit file; `result` is an infer_dot_result. */
void infer_dot_print_unit(FILE *f, const void *result);
void infer_dot_print_report(FILE *f, const infer_dot_options *o, const infer_dot_result *r,
                            const char *path);
/* The same as JSON for programs; path: the unit file, or NULL. Owned by the caller; NULL when out
 * of memory. */
json_t *infer_dot_json(const infer_dot_options *o, const infer_dot_result *r, const char *path);

#endif
