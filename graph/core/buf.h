/* A growing text buffer. Appending never fails visibly: a failed allocation marks the buffer, and
 * assay_buf_status reports it once at the end. */
#ifndef ASSAY_GRAPH_BUF_H
#define ASSAY_GRAPH_BUF_H

#include <stdbool.h>
#include <stddef.h>

#include "graph/base.h"

typedef struct assay_buf {
    char *text; /* NUL-terminated once anything was appended; else NULL */
    size_t length, capacity;
    bool failed;
} assay_buf;

void assay_buf_free(assay_buf *b);
void assay_buf_add(assay_buf *b, const char *bytes, size_t n);
void assay_buf_printf(assay_buf *b, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* The shortest of %.6g ... %.9g that parses to the same bits; inf, -inf, nan; other NaNs with their
 * bits as nan(0x7fc00001). */
void assay_buf_float(assay_buf *b, float value);
/* Parses a float as assay_buf_float prints it; returns the end, or NULL when `text` does not start
 * with a number. Out of range values give infinities or zeros as strtof does. */
const char *assay_parse_float(const char *text, float *value);
assay_status assay_buf_status(const assay_buf *b, assay_error *err);

#endif
