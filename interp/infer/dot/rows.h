/* Rows of dot products as a device gets them, and its answers. */
#ifndef ASSAY_INTERP_INFER_DOT_ROWS_H
#define ASSAY_INTERP_INFER_DOT_ROWS_H

#include "interp/infer/dot/dot.h"
#include "interp/infer/dot/probes.def"

#define INFER_DOT_PROBE_ID(ID, rows, shows)  DOT_##ID,
#define INFER_DOT_PROBE_ONE(ID, rows, shows) +1
enum infer_dot_probe { INFER_DOT_PROBES(INFER_DOT_PROBE_ID) };
enum { INFER_DOT_N_PROBES = 0 INFER_DOT_PROBES(INFER_DOT_PROBE_ONE) };

enum { DOT_A, DOT_B, DOT_C, DOT_SCALE_A, DOT_SCALE_B, DOT_COLUMNS };
extern const char *const infer_dot_columns[DOT_COLUMNS]; /* names */

/* One column of all rows: `width` patterns a row, stored as wide as .npy files have them. */
typedef struct infer_dot_column {
    enum assay_mac_format format;
    size_t width, row_bytes; /* width 0: no such column */
    void *data;
} infer_dot_column;

typedef struct infer_dot_rows {
    size_t n, room, k;
    infer_dot_column column[DOT_COLUMNS];
    enum assay_mac_format out;
    uint64_t *answer; /* patterns of `out` */
    uint8_t *probe;   /* of which kind each row is */
    bool short_of_memory;
} infer_dot_rows;

/* One row, a number a pattern. */
typedef struct infer_dot_draft {
    uint64_t *value[DOT_COLUMNS]; /* stored as wide as the columns */
    enum infer_dot_probe probe;
} infer_dot_draft;

/* Room for a row, values NULL when out of memory; freed by infer_dot_draft_close. */
bool infer_dot_draft_open(infer_dot_draft *d, const infer_dot_rows *like);
void infer_dot_draft_close(infer_dot_draft *d);

/* Gives the list at `at` room for so many bytes and one more; false: it is unchanged. */
bool infer_dot_widen(void *at, size_t bytes);
void infer_dot_rows_open(infer_dot_rows *r, const infer_dot_options *o);
void infer_dot_rows_free(infer_dot_rows *r);
/* Appends the row, or sets short_of_memory. */
void infer_dot_rows_add(infer_dot_rows *r, const infer_dot_draft *d);
/* Appends row i of `from`, which has the same columns. */
void infer_dot_rows_copy(infer_dot_rows *r, const infer_dot_rows *from, size_t i);
/* The rows from `first` on, in the form that units take. */
assay_mac_rows infer_dot_rows_view(const infer_dot_rows *r, size_t first);

#endif
