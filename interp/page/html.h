/* Self-contained pages of HTML: their head, their colours, sorted tables. */
#ifndef ASSAY_INTERP_HTML_H
#define ASSAY_INTERP_HTML_H

#include <stdio.h>

/* --c0 to --c5 on white. */
#define PAGE_C0 "#cfe8cf"
#define PAGE_C1 "#e3efbf"
#define PAGE_C2 "#f8edb4"
#define PAGE_C3 "#fbd8a0"
#define PAGE_C4 "#f7b899"
#define PAGE_C5 "#ef9a9a"

/* All up to the body's first element. The page has a light and a dark look and one for paper, as
 * the reader's system asks; `style` (CSS) may use the colours --page, --panel, --line, --text,
 * --quiet, --link, --good, --bad and --c0 (the best) to --c5, grounds for text. Drawings made for
 * white paper (plan_draw.c) are given colours that show on a dark ground. */
void page_html_begin(FILE *f, const char *title, const char *style);
/* `text` escaped, between `before` and `after`, which are markup. */
void page_html_put(FILE *f, const char *before, const char *text, const char *after);
/* Rows of every table by the column whose head was clicked, downwards (the first two columns,
 * numbers and names, upwards); a second time the other way round. A table marks with
 * aria-sort="ascending" what it is sorted by. */
void page_html_sorting(FILE *f);
void page_html_end(FILE *f);

#endif
