/* Tables in text: columns of names, which are UTF-8 of any length, and the words around numbers. */
#ifndef ASSAY_INTERP_COLUMN_H
#define ASSAY_INTERP_COLUMN_H

#include <stdint.h>
#include <stdio.h>

/* The width of a column of names that also holds this one, but for a very long one. */
int page_column_widen(int width, const char *name);
/* A name, whole, in such a column, which `indent` characters precede; a very long one ends its
 * line, and the row goes on below. */
void page_column_put(FILE *f, int indent, int width, const char *name);
/* The ending of a noun that n counts: "" or "s". */
const char *page_plural(int64_t n);

#endif
