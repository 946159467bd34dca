/* The scanner of the text form: tokens, and failures with line and column. For the files of graph/
 * only. Every function skips white space and comments first. */
#ifndef ASSAY_GRAPH_SCAN_H
#define ASSAY_GRAPH_SCAN_H

#include <math.h>

#include "graph/text/constant.h"
#include "graph/text/text.h"

typedef struct assay_scanner {
    const char *file;
    const assay_text_folder *constants;
    char *text; /* a NUL-terminated copy */
    const char *end, *p;
    assay_error *err;
} assay_scanner;

assay_status text_scan_open(assay_scanner *p, const char *text, size_t length, const char *file,
                            const assay_text_folder *constants, assay_error *err);
void text_scan_close(assay_scanner *p);

/* Where the next token starts. */
const char *text_scan_here(assay_scanner *p);

/* "FILE:LINE:COLUMN: ..." for the next token, or for a place seen before. */
assay_status text_scan_fail(assay_scanner *p, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
assay_status text_scan_fail_at(assay_scanner *p, const char *at, assay_status status,
                               const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 4, 5)))
#endif
    ;

/* Puts "FILE:LINE:COLUMN: " before what another function said in *inner; ASSAY_OK stays. */
assay_status text_scan_located(assay_scanner *p, const char *at, assay_status s,
                               const assay_error *inner);

/* Takes a token if it is the next one. A word is not taken out of a longer one; "q(" and the like
 * may have white space before the bracket. */
bool text_scan_accept(assay_scanner *p, const char *token);
assay_status text_scan_expect(assay_scanner *p, const char *token);
/* Nothing may follow. */
assay_status text_scan_end(assay_scanner *p);

/* Letters, digits and '_'; `what` says what was expected. */
assay_status text_scan_word(assay_scanner *p, char *buf, size_t size, const char *what);
/* A bare name or a string; a string. malloc'd. */
assay_status text_scan_name(assay_scanner *p, char **name);
assay_status text_scan_string(assay_scanner *p, char **text);
assay_status text_scan_int(assay_scanner *p, int64_t lo, int64_t hi, int64_t *v);
assay_status text_scan_float(assay_scanner *p, float *v);
/* An attribute's value: up to ',' or '}', or a whole "[...]". */
assay_status text_scan_raw(assay_scanner *p, char *buf, size_t size);

/* Makes room for element n of a malloc'd array that grows by doubling; NULL when out of memory (the
 * old array is then still there). */
void *text_scan_grow(void *array, size_t n, size_t size);

/* ---- types (graph/text/parse_type.c) ---- */
/* The arrays of a parsed type's parameters; freed once the value has been added to its graph. */
typedef struct assay_text_params {
    float *scale;
    int32_t *zero_point;
    size_t n_scales, n_zero_points;
} assay_text_params;

void text_params_free(assay_text_params *q);
/* A type with "q(...)" and "src(...)"; *source_index is -1 without src. *q must be zeroed before
 * and freed after, also on failure. */
assay_status text_parse_type(assay_scanner *p, assay_type *t, assay_text_params *q,
                             int *source_index);

/* What follows "file": the elements of a file of the directory of constants, and of no other, which
 * must be of type t; *data is malloc'd. */
assay_status text_parse_file(assay_scanner *p, const assay_type *t, void **data);

/* name ":" type [ "=" data ], added to the graph. */
typedef enum assay_text_value {
    ASSAY_TEXT_WITHOUT_DATA,
    ASSAY_TEXT_CONSTANT,
    ASSAY_TEXT_VARIABLE
} assay_text_value;
assay_status text_parse_value(assay_scanner *p, assay_graph *g, assay_text_value kind, int *id);
/* The name of a value that is there already. */
assay_status text_parse_reference(assay_scanner *p, const assay_graph *g, int *id);

#endif
