/* Depthwise convolution; see depthwise.h. */
#include "interp/fast/depthwise.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = ASSAY_DEPTHWISE,
    GROUP = 4,  /* taps of a unit of bytes */
    BLOCKS = 8, /* whose accumulators wait for each other */
};

/* Cells that share a block: where windows follow each other cell by cell, so do the bytes under one
 * tap, and a block holds as many cells as fill it. */
static int64_t cells_of(const assay_window *w)
{
    return w->stride[2] == 1 && w->in_channels < BLOCK && BLOCK % w->in_channels == 0
               ? BLOCK / w->in_channels
               : 1;
}

/* A kernel of one row is one column of its taps: they fill units. Else columns run down the
 * kernel's last axis. */
static void find_columns(const assay_window *w, const int32_t *run, assay_depthwise *d)
{
    const int64_t down = w->kernel[0] * w->kernel[1];
    const bool one_row = down == 1;
    const int64_t taps = one_row ? w->taps : down, width = one_row ? 1 : w->kernel[2];
    const int64_t groups = (taps + GROUP - 1) / GROUP;
    const bool shared = w->dilation[2] == 1 && !one_row;
    for (int64_t t = 0; t < groups * GROUP; t++)
        d->tap[t] = run[t < taps ? t * width : 0];
    d->columns = (assay_columns){.tap = d->tap,
                                 .n_groups = (int)groups,
                                 .width = (int)width,
                                 .stride = (int)(w->stride[2] * d->cells),
                                 .column_step = w->dilation[2] * w->in_channels,
                                 .three = groups == 1 && taps != GROUP};
    d->windows = shared && d->columns.stride < width ? d->cells * ASSAY_CELLS : d->cells;
}

/* Where channel c of a block stands in the inner loop's order (isa.h), and which stands there. */
static int64_t interleaved(const assay_depthwise *d, int64_t c)
{
    return d->form.bytes ? c / 16 * 4 + c % 16 / 4 * 16 + c % 4 : c;
}

/* Where the weight of tap k, place c of a block stands. */
static int64_t packed_at(const assay_depthwise *d, int64_t k, int64_t c)
{
    if (!d->form.bytes)
        return (k * BLOCK + c) * d->form.element;
    const int64_t width = d->columns.width, tap = k / width, column = k % width;
    return ((tap / GROUP * width + column) * BLOCK + c) * ASSAY_UNIT + tap % GROUP;
}

static void pack_filter(const assay_depthwise *d, const int32_t *filter, char *block, int64_t lane)
{
    for (int64_t k = 0; k < d->n_taps; k++) {
        char *to = block + packed_at(d, k, lane);
        if (d->form.bytes)
            *(int8_t *)to = (int8_t)filter[k];
        else
            memcpy(to, &(int16_t){(int16_t)filter[k]}, sizeof(int16_t));
    }
}

static bool make_narrowing(const assay_fast_setup *s, assay_depthwise *d, int64_t lanes)
{
    const int64_t bound = d->form.bound;
    int32_t *channel = malloc((size_t)lanes * sizeof *channel);
    if (!channel)
        return false;
    for (int64_t i = 0; i < lanes; i++) {
        const int64_t lane = i / BLOCK * BLOCK + interleaved(d, i % BLOCK);
        channel[i] = (int32_t)(lane < d->cells * d->channels ? lane % d->channels : -1);
    }
    const bool made = fast_narrower_make(s, bound, channel, lanes, &d->narrowing);
    free(channel);
    return made;
}

assay_status fast_depthwise_make(const assay_fast_setup *s, const assay_filters *f,
                                 const assay_window *w, const assay_operand_form *form,
                                 const int32_t *run, assay_depthwise *d, assay_error *err)
{
    const int64_t cells = f->cells, blocks = (f->outputs + BLOCK - 1) / BLOCK;
    int32_t *row = malloc((size_t)cells * sizeof *row);
    *d = (assay_depthwise){.kernels = s->kernels,
                           .form = *form,
                           .channels = f->outputs,
                           .n_taps = cells,
                           .row_cells = w->out[2]};
    d->tap = fast_alloc((size_t)(cells * GROUP) * sizeof *d->tap);
    d->cells = form->bytes ? cells_of(w) : 1;
    if (d->tap && form->bytes)
        find_columns(w, run, d);
    else if (d->tap)
        memcpy(d->tap, run, (size_t)cells * sizeof *run);
    d->block_bytes = form->bytes
                         ? (int64_t)d->columns.n_groups * d->columns.width * BLOCK * ASSAY_UNIT
                         : cells * BLOCK * form->element;
    d->packed = fast_alloc((size_t)(blocks * d->block_bytes));
    d->start = fast_alloc((size_t)(blocks * BLOCK) * sizeof *d->start);
    if (!row || !d->tap || !d->packed || !d->start ||
        (form->bytes && !make_narrowing(s, d, blocks * BLOCK))) {
        free(row);
        fast_depthwise_free(d);
        return fast_memory(s, err);
    }
    for (int64_t c = 0; c < f->outputs; c++) {
        fast_filter_load(f, c, row);
        for (int64_t i = 0; i < d->cells; i++) {
            const int64_t lane = i * f->outputs + c, block = lane / BLOCK;
            const int64_t place = interleaved(d, lane % BLOCK);
            d->start[block * BLOCK + place] = fast_filter_start(f, form, c, row);
            pack_filter(d, row, d->packed + block * d->block_bytes, place);
        }
    }
    free(row);
    return ASSAY_OK;
}

void fast_depthwise_free(assay_depthwise *d)
{
    free(d->tap);
    free(d->packed);
    free(d->start);
    fast_narrower_free(&d->narrowing);
    d->tap = d->start = NULL;
    d->packed = NULL;
}

/* Accumulators of one output cell in a block. */
static int64_t cell_lanes(const assay_depthwise *d)
{
    return BLOCK / d->cells;
}

static void depthwise_words(const assay_depthwise *d, const char *left, const int32_t *row,
                            int64_t rows, int64_t block, int32_t *acc)
{
    assay_taps t = {.tap = d->tap,
                    .n_taps = d->n_taps,
                    .right = d->packed + block * d->block_bytes,
                    .start = d->start + block * BLOCK};
    for (int64_t i = 0; i < rows; i++) {
        t.left = left + row[i];
        t.acc = acc + i * BLOCK;
        d->kernels->word_taps(&t);
    }
}

typedef struct work {
    const assay_depthwise *d;
    const char *left;
    const int32_t *row;
    int64_t rows;
    const assay_sink *sink;
    bool narrows;
} work;

/* Which of a block's bytes are codes, where n cells are left and `rest` channels. */
static uint64_t wanted(const assay_depthwise *d, int64_t n, int64_t rest)
{
    const int64_t bytes = d->cells > 1 ? n * d->channels : rest;
    return bytes < BLOCK ? (UINT64_C(1) << bytes) - 1 : ~UINT64_C(0);
}

/* n windows side by side, to codes or to acc. The last block may hold cells that are none: to acc
 * they are written, and what follows after them. */
static void depthwise_bytes(const work *k, int64_t from, int64_t n, int64_t block, int32_t *acc)
{
    const assay_depthwise *d = k->d;
    const assay_sink *sink = k->sink;
    const int64_t channel = block * BLOCK;
    assay_columns t = d->columns;
    t.right = d->packed + block * d->block_bytes;
    t.start = d->start + channel;
    t.codes_step = d->cells * sink->codes_step;
    if (k->narrows) {
        t.narrowing = &d->narrowing;
        t.lanes = d->narrowing.lanes + channel / ASSAY_TILE_STEP;
    }
    t.wanted[0] = wanted(d, d->cells, d->channels - channel);
    for (int64_t i = 0, cells; i < n; i += cells) {
        cells = n - i < d->windows ? n - i : d->windows;
        const int64_t blocks = (cells + d->cells - 1) / d->cells;
        t.left = k->left + channel + k->row[from + i];
        t.acc = acc + i * cell_lanes(d);
        if (k->narrows)
            t.codes = (uint8_t *)sink->codes + (from + i) * sink->codes_step + channel;
        t.wanted[1] = wanted(d, cells - (blocks - 1) * d->cells, d->channels - channel);
        d->kernels->byte_columns(&t, (int)blocks);
    }
}

/* One block of a row of cells, some at a time. */
static void depthwise_block(const work *k, int64_t from, int64_t to, int64_t block)
{
    const assay_depthwise *d = k->d;
    const int64_t channel = block * BLOCK, rest = d->channels - channel;
    const int64_t part = BLOCKS * d->cells;
    int32_t acc[(BLOCKS + 1) * BLOCK];
    for (int64_t i = from; i < to; i += part) {
        const int64_t n = to - i < part ? to - i : part;
        if (d->form.bytes)
            depthwise_bytes(k, i, n, block, acc);
        else
            depthwise_words(d, k->left + channel * d->form.element, k->row + i, n, block, acc);
        if (!k->narrows)
            fast_sink_take(k->sink, acc, cell_lanes(d), i, (int)n, channel,
                           (int)(rest < BLOCK ? rest : BLOCK));
    }
}

/* A row of cells, all channels. */
static void depthwise_row(void *user, int64_t i)
{
    const work *k = user;
    const int64_t from = i * k->d->row_cells;
    for (int64_t block = 0; block * BLOCK < k->d->channels; block++)
        depthwise_block(k, from, from + k->d->row_cells, block);
}

void fast_depthwise_run(const assay_depthwise *d, const char *left, const int32_t *row,
                        int64_t rows, const assay_sink *sink, int threads)
{
    const bool narrows = d->narrowing.lanes && sink->block && !sink->call->accumulators;
    work k = {d, left, row, rows, sink, narrows};
    fast_each(fast_threads(threads, rows * d->channels * d->n_taps / 16), rows / d->row_cells,
              depthwise_row, &k);
}
