/* Rows of a rescale as columns: inputs of one unit, and a record's answers.
 *
 * A row is a rescale of its own. Of integers R = multiplier / 2^shift, shift the total right shift,
 * a pre-shift in it, whatever way the target writes it; of scales R is formed of the three, as the
 * record says. */
#ifndef ASSAY_INTERP_VECTORS_ROWS_H
#define ASSAY_INTERP_VECTORS_ROWS_H

#include <jansson.h>

#include "schemes/record/data.h"
#include "schemes/rescale/single.h"

typedef struct vectors_row {
    int64_t acc, zero;
    int64_t multiplier, shift; /* of integers */
    double in, weight, out;    /* of scales: float32 values */
} vectors_row;

/* What all rows have in common. */
typedef struct vectors_space {
    const char *op; /* one that is a single rescale (assay_single_start) */
    bool wide;
    bool scales; /* rows of scales, not of integers */
    assay_elem type;
    int64_t lo, hi; /* accumulators */
} vectors_space;

/* Of the record in force: flags of enum assay_variant. */
static inline unsigned vectors_form(const vectors_space *space)
{
    return assay_variant_of_codes(space->wide, space->type);
}

typedef struct vectors_rows {
    size_t n, room;
    vectors_row *row; /* owned: vectors_rows_free */
} vectors_rows;

/* False: out of memory. */
bool vectors_rows_add(vectors_rows *rows, const vectors_row *row);
void vectors_rows_free(vectors_rows *rows);

/* The record of `s` in force for the space, as a scheme of its own whose shifts are written as rows
 * have them; change(record, what) is applied first (NULL: nothing). ASSAY_ERR_SCHEME where the
 * record makes no sense, ASSAY_ERR_INPUT for integers where the encoding has none. Free it with
 * assay_scheme_free. */
assay_status vectors_side(const assay_scheme *s, const vectors_space *space,
                          void (*change)(assay_record *r, const void *what), const void *what,
                          assay_scheme **out, assay_error *err);
/* code[i], ASSAY_REFUSED where the side refuses the row. ASSAY_ERR_INPUT where the op is not one
 * rescale under it. */
assay_status vectors_ask(const assay_scheme *side, const vectors_space *space,
                         const vectors_rows *rows, int64_t *code, assay_error *err);
/* A code, or that it is refused: in words, and null. */
const char *vectors_code_text(int64_t code, char text[24]);
json_t *vectors_code_json(int64_t code);
/* The row's rescale on its own; false: refused whatever the accumulator. */
bool vectors_single(const assay_scheme *side, const vectors_space *space, const vectors_row *row,
                    assay_single *out);

#endif
