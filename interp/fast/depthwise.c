#include "interp/fast/depthwise.h"

#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = ASSAY_DEPTHWISE,
    LANE = 16, /* bytes */
    ROWS = 8,  /* output cells that are narrowed at once */
};

/* Where the weight of tap k, channel c of a block stands. Words: by taps. Bytes: by fours of taps;
 * in each the unit (4 taps) of channel 16 * lane + 4 * v + i is number i of lane `lane` of vector
 * v: the order in which interleaving brings channels (gemm_vnni.c). */
static int64_t packed_at(const assay_form *form, int64_t k, int64_t c)
{
    if (!form->bytes)
        return (k * BLOCK + c) * form->element;
    const int64_t lane = c / LANE, v = c % LANE / 4, i = c % 4;
    return k / 4 * (4 * BLOCK) + v * BLOCK + lane * LANE + i * ASSAY_UNIT + k % 4;
}

assay_status assay_depthwise_make(const assay_fast_setup *s, const assay_filters *f,
                                  const assay_form *form, const int32_t *run, assay_depthwise *d,
                                  assay_error *err)
{
    const int64_t cells = f->cells, step = form->bytes ? 4 : 1;
    const int64_t blocks = (f->outputs + BLOCK - 1) / BLOCK;
    int32_t *row = malloc((size_t)cells * sizeof *row);
    *d = (assay_depthwise){.taps = form->bytes ? s->kernels->byte_taps : s->kernels->word_taps,
                           .channels = f->outputs,
                           .n_taps = (cells + step - 1) / step * step};
    d->block_bytes = d->n_taps * BLOCK * form->element;
    d->tap = assay_fast_alloc((size_t)d->n_taps * sizeof *d->tap);
    d->packed = assay_fast_alloc((size_t)(blocks * d->block_bytes));
    d->start = assay_fast_alloc((size_t)(blocks * BLOCK) * sizeof *d->start);
    if (!row || !d->tap || !d->packed || !d->start) {
        free(row);
        assay_depthwise_free(d);
        return assay_fast_memory(s, err);
    }
    memcpy(d->tap, run, (size_t)cells * sizeof *run);
    for (int64_t c = 0; c < f->outputs; c++) {
        char *block = d->packed + c / BLOCK * d->block_bytes;
        assay_filter_load(f, c, row);
        d->start[c] = assay_filter_start(f, form, c, row);
        for (int64_t k = 0; k < cells; k++) {
            char *to = block + packed_at(form, k, c % BLOCK);
            if (form->bytes)
                *(int8_t *)to = (int8_t)row[k];
            else
                memcpy(to, &(int16_t){(int16_t)row[k]}, sizeof(int16_t));
        }
    }
    free(row);
    return ASSAY_OK;
}

void assay_depthwise_free(assay_depthwise *d)
{
    free(d->tap);
    free(d->packed);
    free(d->start);
}

/* Rows from..to of one block of channels. */
static void run_block(const assay_depthwise *d, const assay_form *form, const char *left,
                      const int32_t *row, int64_t from, int64_t to, int64_t channel,
                      const assay_sink *sink)
{
    int32_t acc[ROWS * BLOCK];
    const int64_t rest = d->channels - channel;
    assay_taps t = {.tap = d->tap,
                    .n_taps = d->n_taps,
                    .right = d->packed + channel / BLOCK * d->block_bytes,
                    .start = d->start + channel};
    for (int64_t i = 0; i < to - from; i++) {
        t.left = left + row[from + i] + channel * form->element;
        t.acc = acc + i * BLOCK;
        d->taps(&t);
    }
    assay_sink_take(sink, acc, BLOCK, from, (int)(to - from), channel,
                    (int)(rest < BLOCK ? rest : BLOCK));
}

void assay_depthwise_run(const assay_depthwise *d, const assay_form *form, const char *left,
                         const int32_t *row, int64_t rows, const assay_sink *sink, int threads)
{
    const int workers = assay_fast_threads(threads, rows * d->channels * d->n_taps / 16);
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t from = 0; from < rows; from += ROWS)
        for (int64_t channel = 0; channel < d->channels; channel += BLOCK)
            run_block(d, form, left, row, from, from + ROWS < rows ? from + ROWS : rows, channel,
                      sink);
}
