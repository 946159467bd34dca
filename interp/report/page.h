/* The parts that a report's page is written from. */
#ifndef ASSAY_INTERP_REPORT_PAGE_H
#define ASSAY_INTERP_REPORT_PAGE_H

#include <stdio.h>

#include "interp/report/book.h"

/* ---- chapters, below their headings ---- */
void report_put_bundle(FILE *f, const report *r, const report_chapter *c);
void report_put_profile(FILE *f, const report_chapter *c);
void report_put_eval(FILE *f, const json_t *o);
void report_put_run(FILE *f, const report *r, const report_chapter *c);
void report_put_sensitivity(FILE *f, const report *r, const report_chapter *c);
void report_put_diff(FILE *f, const report *r, const report_chapter *c);
void report_put_blame(FILE *f, const report *r, const report_chapter *c);

/* ---- parts of a bundle's ---- */
/* The network as layers of boxes, coloured by the measures; nothing without nodes. */
void report_put_graph(FILE *f, const report *r, const report_chapter *c);
/* A tensor: its type and counts, histogram, picture, and the parameters of the node it is of. */
void report_put_tensor(FILE *f, const report *r, const report_chapter *c, int look);

/* ---- tables and charts ---- */
typedef struct report_column {
    const char *key, *head;
} report_column;
/* Rows of a list of objects: their number, the tensor that `name` names, a cell a column. */
void report_put_table(FILE *f, const report *r, const json_t *rows, const char *name,
                      const report_column *column, int n);
/* A cell: a text, a number, a list of integers. */
void report_put_cell(FILE *f, const json_t *value);
/* A tensor's name, which leads to where a bundle shows it. */
void report_put_name(FILE *f, const report *r, const char *name);
/* Numbers of rows as lines over the rows' numbers, at most 4; nothing where no row has one. */
void report_put_lines(FILE *f, const json_t *rows, const char *name, const char *unit,
                      const report_column *column, int n);
/* One fact: "<dt>TERM<dd>TEXT", escaped. */
void report_put_fact(FILE *f, const char *term, const char *text);

#endif
