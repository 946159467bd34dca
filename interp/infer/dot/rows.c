/* Rows of dot products in columns; see rows.h. */
#include "interp/infer/dot/rows.h"

#include <stdlib.h>
#include <string.h>

const char *const infer_dot_columns[DOT_COLUMNS] = {"a", "b", "c", "scale-a", "scale-b"};

static void set_column(infer_dot_column *c, int64_t format, size_t width)
{
    *c = (infer_dot_column){.format = (enum assay_mac_format)format, .width = width};
    c->row_bytes = width * (size_t)mac_layout_of(c->format)->bits / 8;
}

void infer_dot_rows_open(infer_dot_rows *r, const infer_dot_options *o)
{
    const size_t blocks = o->scale_block > 0 ? o->k / o->scale_block : 0;
    *r = (infer_dot_rows){.k = o->k, .out = (enum assay_mac_format)o->out};
    set_column(&r->column[DOT_A], o->a, o->k);
    set_column(&r->column[DOT_B], o->b, o->k);
    set_column(&r->column[DOT_C], o->acc, 1);
    set_column(&r->column[DOT_SCALE_A], o->scale, blocks);
    set_column(&r->column[DOT_SCALE_B], o->scale, blocks);
}

void infer_dot_rows_free(infer_dot_rows *r)
{
    for (int c = 0; c < DOT_COLUMNS; c++)
        free(r->column[c].data);
    free(r->answer);
    free(r->probe);
    *r = (infer_dot_rows){.n = 0};
}

bool infer_dot_widen(void *at, size_t bytes)
{
    void **data = at, *more = realloc(*data, bytes + 1);
    *data = more ? more : *data;
    return more != NULL;
}

static bool reserve(infer_dot_rows *r)
{
    if (r->n < r->room)
        return true;
    const size_t room = r->room > 0 ? 2 * r->room : 256;
    bool good =
        infer_dot_widen(&r->answer, room * sizeof *r->answer) && infer_dot_widen(&r->probe, room);
    for (int c = 0; c < DOT_COLUMNS && good; c++)
        good = infer_dot_widen(&r->column[c].data, room * r->column[c].row_bytes);
    r->room = good ? room : r->room;
    r->short_of_memory = r->short_of_memory || !good;
    return good;
}

void infer_dot_rows_add(infer_dot_rows *r, const infer_dot_draft *d)
{
    if (!reserve(r))
        return;
    for (int i = 0; i < DOT_COLUMNS; i++) {
        const infer_dot_column *c = &r->column[i];
        for (size_t j = 0; j < c->width; j++)
            mac_store(c->format, c->data, r->n * c->width + j, d->value[i][j]);
    }
    r->probe[r->n] = (uint8_t)d->probe;
    r->answer[r->n++] = 0;
}

void infer_dot_rows_copy(infer_dot_rows *r, const infer_dot_rows *from, size_t i)
{
    if (!reserve(r))
        return;
    for (int c = 0; c < DOT_COLUMNS; c++) {
        const size_t bytes = r->column[c].row_bytes;
        if (bytes > 0)
            memcpy((char *)r->column[c].data + r->n * bytes,
                   (const char *)from->column[c].data + i * bytes, bytes);
    }
    r->probe[r->n] = from->probe[i];
    r->answer[r->n++] = from->answer[i];
}

assay_mac_rows infer_dot_rows_view(const infer_dot_rows *r, size_t first)
{
    const void *at[DOT_COLUMNS];
    for (int i = 0; i < DOT_COLUMNS; i++) {
        const infer_dot_column *c = &r->column[i];
        at[i] = c->width > 0 ? (char *)c->data + first * c->row_bytes : NULL;
    }
    return (assay_mac_rows){r->k,      at[DOT_A],       at[DOT_B],
                            at[DOT_C], at[DOT_SCALE_A], at[DOT_SCALE_B]};
}

bool infer_dot_draft_open(infer_dot_draft *d, const infer_dot_rows *like)
{
    bool good = true;
    for (int c = 0; c < DOT_COLUMNS; c++) {
        d->value[c] = calloc(like->column[c].width + 1, sizeof *d->value[c]);
        good = good && d->value[c];
    }
    return good;
}

void infer_dot_draft_close(infer_dot_draft *d)
{
    for (int c = 0; c < DOT_COLUMNS; c++)
        free(d->value[c]);
}
