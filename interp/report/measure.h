/* Measures of nodes: one colour each in the drawing, one column in the table. */
#ifndef ASSAY_INTERP_REPORT_MEASURE_H
#define ASSAY_INTERP_REPORT_MEASURE_H

#include "interp/report/book.h"

enum { REPORT_GRADES = 6 }; /* colours, from good (0) to bad */

/* How a measure is graded. */
enum report_scale { REPORT_WORDS, REPORT_DB, REPORT_SHARE, REPORT_POINTS, REPORT_SCALES };

typedef struct report_measure {
    const char *name; /* "SQNR in place, dB" */
    enum report_scale scale;
    enum report_kind kind; /* whose rows hold it; REPORT_BUNDLE: the bundle itself */
    const char *key;
    const char *of; /* a share's whole; NULL: it is a share already */
} report_measure;

#define REPORT_MAX_MEASURES 12 /* style.c has colours for as many */
extern const report_measure report_measures[];
extern const int report_n_measures;

/* What measure m says of a node, as text ("" where nothing is said of it): its grade, or -1. */
int report_measure_of(const report *r, const report_chapter *c, const report_node *node, int m,
                      char *text, size_t size);
/* The same as a number, for programs; false: it is none, or nothing is said. */
bool report_measure_number(const report *r, const report_chapter *c, const report_node *node, int m,
                           double *number);
/* Whether it says anything about any node of a bundle. */
bool report_measure_says(const report *r, const report_chapter *c, int m);
/* What a grade of measure m stands for; NULL: it has no such grade. */
const char *report_grade_name(int m, int grade);

#endif
