/* The left operand of a convolution; see image.h. */
#include "interp/fast/image.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/fast/transpose_tile.h"
#include "interp/ref/ref.h"

enum {
    SLACK = 128, /* bytes that loads may reach over an image's end */
    WOVEN = 4,   /* channels of planes that are interleaved row by row */
    WORTH = 1024 /* elements of a row that are worth a step of their own */
};

static int64_t max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Cells of the staged image along axis i: the padding before, the input, and what windows see
 * beyond it. */
static int64_t staged_extent(const assay_window *w, const int64_t spread[3], int i)
{
    int64_t seen = (w->out[i] - 1) * w->stride[i] + (w->kernel[i] - 1) * w->dilation[i] + 1;
    return max64(seen, w->pad[i] + (w->in[i] - 1) * spread[i] + 1);
}

static void index_cells(const int64_t extent[3], int64_t cell, int64_t at[3])
{
    at[2] = cell % extent[2];
    at[1] = cell / extent[2] % extent[1];
    at[0] = cell / extent[2] / extent[1];
}

static void find_places(const assay_window *w, const int64_t spread[3], bool merge, assay_stage *g)
{
    const int64_t element = g->form.element;
    int64_t at[3];
    for (int64_t c = 0; c < w->in_area; c++) {
        index_cells(w->in, c, at);
        g->place[c] = 0;
        for (int i = 0; i < 3; i++)
            g->place[c] += (int32_t)((at[i] * spread[i] + w->pad[i]) * g->step[i]);
    }
    for (int64_t c = 0; c < w->out_area; c++) {
        index_cells(w->out, c, at);
        g->row[c] = 0;
        for (int i = 0; i < 3; i++)
            g->row[c] += (int32_t)(at[i] * w->stride[i] * g->step[i] * element);
    }
    const int64_t cells = merge ? w->kernel[2] : 1; /* of a run */
    for (int64_t r = 0; r < g->n_runs; r++) {
        index_cells(w->kernel, r * cells, at);
        g->run[r] = 0;
        for (int i = 0; i < 3; i++)
            g->run[r] += (int32_t)(at[i] * w->dilation[i] * g->step[i] * element);
    }
}

bool fast_stage_make(const assay_window *w, const int64_t spread[3], bool nhwc,
                     const assay_operand_form *form, bool merge, assay_stage *g, bool *memory)
{
    int64_t count = w->in_channels;
    *g = (assay_stage){.form = *form,
                       .cells = w->in_area,
                       .channels = w->in_channels,
                       .nhwc = nhwc || w->in_area == 1};
    *memory = false;
    merge = merge && w->dilation[2] == 1;
    for (int i = 2; i >= 0; i--) {
        const int64_t extent = staged_extent(w, spread, i);
        g->step[i] = count;
        if (extent > INT32_MAX / 2 / form->element / count)
            return false;
        count *= extent;
        g->padded = g->padded || extent != w->in[i];
    }
    g->count = count;
    assert(count * form->element <= INT32_MAX);                          /* places are int32 */
    const bool by_row = g->padded || w->in[2] * w->in_channels >= WORTH; /* threads share rows */
    g->row_cells = spread[2] > 1 ? 1 : by_row ? w->in[2] : w->in_area;
    g->n_runs = merge ? w->kernel[0] * w->kernel[1] : w->taps;
    g->place = malloc((size_t)w->in_area * sizeof *g->place);
    g->row = malloc((size_t)w->out_area * sizeof *g->row);
    g->run = malloc((size_t)g->n_runs * sizeof *g->run);
    if (!g->place || !g->row || !g->run) {
        fast_stage_free(g);
        *memory = true;
        return false;
    }
    find_places(w, spread, merge, g);
    return true;
}

void fast_stage_free(assay_stage *g)
{
    free(g->place);
    free(g->row);
    free(g->run);
    g->place = g->row = g->run = NULL;
}

size_t fast_stage_bytes(const assay_stage *g)
{
    return ((size_t)(g->count * g->form.element) + SLACK + 63) / 64 * 64;
}

#define CENTRE(T)                                                                                  \
    do {                                                                                           \
        const T *p = (const T *)x->data + first;                                                   \
        int16_t *w = (int16_t *)(void *)to;                                                        \
        for (int64_t i = 0; i < n; i++)                                                            \
            w[i] = (int16_t)(p[i] - form->centre);                                                 \
    } while (0)

void fast_form_row(const assay_operand_form *form, const assay_view *x, int64_t first, int64_t n,
                   char *to)
{
    if (form->bytes) {
        form->rows->flip((const uint8_t *)x->data + first, (size_t)n, (uint8_t)form->up,
                         (uint8_t *)to); /* + 128 modulo 256 */
    } else if (fast_is_byte(x->type)) {
        if (x->type->elem.is_signed)
            CENTRE(int8_t);
        else
            CENTRE(uint8_t);
    } else {
        if (x->type->elem.is_signed)
            CENTRE(int16_t);
        else
            CENTRE(uint16_t);
    }
}

/* ---- staging ---- */

typedef struct staging {
    const assay_stage *g;
    const assay_view *x;
    int64_t first;
    char *to;
} staging;

/* Channels-first bytes, by tiles of 16 channels and 16 cells: all of 16 cells. */
static void stage_tiles(void *user, int64_t tile)
{
    const staging *s = user;
    const assay_stage *g = s->g;
    const int64_t cells = g->cells,
                  down = (g->channels + ASSAY_TRANSPOSE_TILE - 1) / ASSAY_TRANSPOSE_TILE;
    const int64_t cell = fast_transpose_tile_at(tile, cells);
    const uint8_t *from = (const uint8_t *)s->x->data + s->first;
    const uint8_t up = (uint8_t)g->form.up;
    for (int64_t i = 0; i < down; i++) {
        const int64_t c = fast_transpose_tile_at(i, g->channels);
        assay_v16 v[ASSAY_TRANSPOSE_TILE];
        fast_transpose_load(from + c * cells + cell, cells, v);
        for (int k = 0; k < ASSAY_TRANSPOSE_TILE; k++) {
            v[k] ^= up;
            memcpy(s->to + g->place[cell + k] + c, &v[k], sizeof v[k]);
        }
    }
}

/* Channels-first, one channel after the other. */
static void stage_planes(const assay_stage *g, const assay_view *x, int64_t first, char *to)
{
    enum { PART = 256 };
    char part[PART * 2];
    const int64_t cells = g->cells;
    for (int64_t c = 0; c < g->channels; c++)
        for (int64_t i = 0; i < cells; i += PART) {
            const int64_t n = cells - i < PART ? cells - i : PART;
            fast_form_row(&g->form, x, first + c * cells + i, n, part);
            if (g->form.element == 1)
                for (int64_t k = 0; k < n; k++)
                    to[g->place[i + k] + c] = part[k];
            else
                for (int64_t k = 0; k < n; k++)
                    memcpy(to + 2 * (g->place[i + k] + c), part + 2 * k, 2);
        }
}

/* A row of cells of all channels, and the zeros before it. */
static void stage_row(void *user, int64_t row)
{
    const staging *s = user;
    const assay_stage *g = s->g;
    const int64_t element = g->form.element, n = g->row_cells * g->channels;
    const int64_t cell = row * g->row_cells, place = g->place[cell];
    const int64_t end = cell > 0 ? g->place[cell - g->row_cells] + n : 0; /* of the row before */
    memset(s->to + end * element, g->form.zero, (size_t)((place - end) * element));
    if (g->nhwc)
        fast_form_row(&g->form, s->x, s->first + cell * g->channels, n, s->to + place * element);
    else
        g->form.rows->weave((const uint8_t *)s->x->data + s->first + cell, (size_t)g->cells,
                            (int)g->channels, (size_t)g->row_cells, (uint8_t)g->form.up,
                            (uint8_t *)s->to + place);
}

static void stage_rows(staging *s, int threads)
{
    const assay_stage *g = s->g;
    const int64_t element = g->form.element, rows = g->cells / g->row_cells;
    const int64_t end = g->place[g->cells - g->row_cells] + g->row_cells * g->channels;
    fast_each(fast_threads(threads, g->count / 8), rows, stage_row, s);
    memset(s->to + end * element, g->form.zero, (size_t)((g->count - end) * element));
}

void fast_stage_fill(const assay_stage *g, const assay_view *x, int64_t first, char *to,
                     int threads)
{
    staging s = {g, x, first, to};
    const bool tiles =
        g->form.bytes && g->cells >= ASSAY_TRANSPOSE_TILE && g->channels >= ASSAY_TRANSPOSE_TILE;
    if (g->nhwc || (g->form.bytes && g->channels <= WOVEN)) {
        stage_rows(&s, threads);
        return;
    }
    if (g->padded) /* the zero of words is 0 in both bytes */
        memset(to, g->form.zero, (size_t)(g->count * g->form.element));
    if (tiles)
        fast_each(fast_threads(threads, g->cells * g->channels / 8),
                  (g->cells + ASSAY_TRANSPOSE_TILE - 1) / ASSAY_TRANSPOSE_TILE, stage_tiles, &s);
    else
        stage_planes(g, x, first, to);
}
