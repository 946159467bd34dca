/* Rows of a rescale; see rows.h. */
#include "interp/vectors/rows.h"

#include <inttypes.h>

#include <stdlib.h>

#include "graph/memory.h"
#include "schemes/record/data.h"
#include "schemes/rescale/thresholds.h"

bool vectors_rows_add(vectors_rows *rows, const vectors_row *row)
{
    if (!assay_make_room(&rows->row, &rows->room, rows->n + 1, sizeof *rows->row))
        return false;
    rows->row[rows->n++] = *row;
    return true;
}

void vectors_rows_free(vectors_rows *rows)
{
    free(rows->row);
    *rows = (vectors_rows){0};
}

assay_status vectors_side(const assay_scheme *s, const vectors_space *space,
                          void (*change)(assay_record *r, const void *what), const void *what,
                          assay_scheme **out, assay_error *err)
{
    assay_record r;
    assay_single probe;
    assay_status status = assay_single_start(&probe, s, space->op, vectors_form(space), err);
    if (status)
        return status;
    assay_effective_record(assay_data(s), space->op, "", vectors_form(space), &r);
    if (!space->scales) /* else zero_shift would be another */
        r.rescale.shift_sign = ASSAY_SHIFT_RIGHT;
    if (change)
        change(&r, what);
    const int32_t e = r.rescale.encoding;
    if (!space->scales && e != ASSAY_ENCODE_MULTIPLIER && e != ASSAY_ENCODE_SHIFT)
        return assay_fail(err, ASSAY_ERR_INPUT,
                          "scheme %s takes scales, not multipliers and shifts: `kind` scale",
                          s->name);
    return assay_scheme_of_record(s, &r, NULL, out, err);
}

/* The row as a batch of one; it points into *row and *space. */
static assay_batch batch_of(const vectors_space *space, const vectors_row *row)
{
    assay_batch b = {.n = 1,
                     .op = space->op,
                     .wide = space->wide,
                     .type = space->type,
                     .acc = &row->acc,
                     .zero_point = &row->zero};
    if (space->scales) {
        b.in = &row->in;
    } else {
        b.multiplier = &row->multiplier;
        b.shift = &row->shift;
    }
    return b;
}

static bool set(assay_single *o, const vectors_space *space, const vectors_row *row)
{
    const assay_batch b = batch_of(space, row);
    char why[256];
    if (!space->scales)
        return assay_single_set(o, &b, 0, why, sizeof why);
    return assay_single_form(o, &b, 0, (float)row->in, (float)row->weight, (float)row->out, why,
                             sizeof why);
}

assay_status vectors_ask(const assay_scheme *side, const vectors_space *space,
                         const vectors_rows *rows, int64_t *code, assay_error *err)
{
    assay_single o;
    char why[256];
    assay_status status = assay_single_start(&o, side, space->op, vectors_form(space), err);
    for (size_t i = 0; i < rows->n && !status; i++)
        if (!set(&o, space, &rows->row[i]) ||
            !assay_single_code(&o, rows->row[i].acc, false, &code[i], why, sizeof why))
            code[i] = ASSAY_REFUSED;
    return status;
}

bool vectors_single(const assay_scheme *side, const vectors_space *space, const vectors_row *row,
                    assay_single *out)
{
    assay_error err;
    return !assay_single_start(out, side, space->op, vectors_form(space), &err) &&
           set(out, space, row);
}

const char *vectors_code_text(int64_t code, char text[24])
{
    if (code == ASSAY_REFUSED)
        return "refused";
    snprintf(text, 24, "%" PRId64, code);
    return text;
}

json_t *vectors_code_json(int64_t code)
{
    return code == ASSAY_REFUSED ? json_null() : json_integer(code);
}
