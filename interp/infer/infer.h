/* Inference of a rescale: a device is asked rows, and every record that its answers do not rule out
 * is kept. A record is dropped only if a row contradicts it whatever its other fields are. */
#ifndef ASSAY_INTERP_INFER_H
#define ASSAY_INTERP_INFER_H

#include <stdio.h>

#include <jansson.h>

#include "graph/base.h"
#include "schemes/record/record.h"

enum infer_kind { INFER_MULTIPLIER, INFER_SCALE };
/* INFER_UNIQUE: all records that agree with every row are one function on the domain, by the named
 * proof. INFER_CLASS: two of them may differ; `found` is one of them (or the nearest one if the
 * search was cut before any was found: then n_against > 0). INFER_NONE: no record agrees. */
enum infer_verdict { INFER_UNIQUE, INFER_CLASS, INFER_NONE };

#define INFER_BUDGET 20000 /* the default number of rows */

typedef struct infer_options {
    const char *oracle; /* a shell command, called with a folder of rows and one for the answers */
    /* In place of the command, unless NULL: reads the rows in one folder, writes the answers to the
     * other. */
    assay_status (*ask)(void *user, const char *in, const char *out, assay_error *err);
    void *user;
    enum infer_kind kind;
    assay_elem type; /* of the codes: i8, u8 or i16 */
    int acc_bits;    /* of the accumulators, 2..64 */
    size_t budget;   /* largest number of rows, including repeated ones */
    double timeout;  /* seconds a call of the oracle may take */
    int64_t multiplier_lo, multiplier_hi;
    int32_t shift_lo, shift_hi; /* total right shifts */
    /* Called after each call of the device with the number of rows asked so far; may be NULL. */
    void (*told)(void *listener, size_t rows);
    void *listener;
} infer_options;

#define INFER_FIRST_ROWS 8
#define INFER_PRESETS    64

/* A row that contradicts `found`. */
typedef struct infer_contradiction {
    char row[160];
    int64_t device, record; /* codes; INT64_MIN: refused */
} infer_contradiction;

typedef struct infer_result {
    enum infer_verdict verdict;
    bool complete;    /* every consistent record is in `left` */
    size_t spellings; /* how many records agree; where several are proved to be one function, `left`
                         has one of them */
    assay_rule_rescale found;
    assay_rule_rescale *left; /* the consistent records, n_left of them; owned */
    size_t n_left;
    const char *preset[INFER_PRESETS]; /* shipped presets that are consistent */
    int n_presets;
    size_t rows;                          /* number of rows asked */
    int64_t multiplier_lo, multiplier_hi; /* the domain: what the device does not refuse */
    int32_t shift_lo, shift_hi;
    int real_lo, real_hi; /* kind scale: the domain's R are 2^real_lo and more, below 2^real_hi */
    size_t n_against;     /* rows that contradict `found` */
    infer_contradiction against[INFER_FIRST_ROWS];
    char note[256]; /* why the verdict is class, or what was assumed; "" for nothing */
} infer_result;

/* The whole loop of questions. ASSAY_ERR_INPUT: the oracle failed, did not end, gave unusable
 * answers, or answered the same row in two ways. Free with infer_result_free, whatever is returned.
 */
assay_status infer_run(const infer_options *o, infer_result *r, assay_error *err);
void infer_result_free(infer_result *r);

/* What was asked, and the result. */
typedef struct infer_asked {
    const infer_options *o;
    const infer_result *r;
} infer_asked;
/* The record found, as a scheme file; `asked` is an infer_asked. */
void infer_print_scheme(FILE *f, const void *asked);
void infer_print_report(FILE *f, const infer_options *o, const infer_result *r, const char *path);
/* The same as JSON for programs. path: the scheme file, NULL if none was written. Returns a new
 * reference, NULL when out of memory. */
json_t *infer_json(const infer_options *o, const infer_result *r, const char *path);

#endif
