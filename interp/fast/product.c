/* Many rows times packed weights; see product.h. */
#include "interp/fast/product.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/ref/ref.h"

enum {
    TILES = 8,     /* of a block of rows: what a panel meets while the rows are in the cache */
    SHELF = 4,     /* tiles whose accumulators wait for each other where tiles are quick: */
    QUICK = 64,    /* at most so many units deep */
    NEAR = 1 << 17 /* bytes of weights that stay in a second-level cache beside rows and codes */
};

static int64_t panel_width(const assay_product *p, int64_t column)
{
    const int64_t rest =
        (p->outputs - column + ASSAY_TILE_STEP - 1) / ASSAY_TILE_STEP * ASSAY_TILE_STEP;
    return rest < p->kernels->columns ? rest : p->kernels->columns;
}

static int64_t depth_units(const assay_product *p)
{
    return p->n_runs * p->run_units;
}

char *fast_product_column(const assay_product *p, int64_t j, int64_t *step)
{
    const int64_t column = j / p->kernels->columns * p->kernels->columns;
    *step = panel_width(p, column) * ASSAY_UNIT;
    return p->packed + column * depth_units(p) * ASSAY_UNIT + (j - column) * ASSAY_UNIT;
}

/* Column j: each run from a whole unit on, first side by side in `line`, zeros behind its end. */
static void pack_filter(const assay_product *p, const assay_operand_form *form,
                        const int32_t *filter, int64_t run_length, int64_t j, char *line)
{
    int64_t step;
    char *head = fast_product_column(p, j, &step);
    for (int64_t r = 0; r < p->n_runs; r++, filter += run_length) {
        char *run = line + r * p->run_units * ASSAY_UNIT;
        if (form->bytes)
            for (int64_t i = 0; i < run_length; i++)
                ((int8_t *)run)[i] = (int8_t)filter[i];
        else
            for (int64_t i = 0; i < run_length; i++)
                ((int16_t *)(void *)run)[i] = (int16_t)filter[i];
    }
    for (int64_t u = 0; u < depth_units(p); u++)
        memcpy(head + u * step, line + u * ASSAY_UNIT, ASSAY_UNIT);
}

/* Lanes are columns. */
static bool make_narrowing(const assay_fast_setup *s, int64_t bound, int64_t first, int64_t outputs,
                           int64_t whole, assay_narrower *out)
{
    int32_t *channel = malloc((size_t)whole * sizeof *channel);
    if (!channel)
        return false;
    for (int64_t i = 0; i < whole; i++)
        channel[i] = (int32_t)(i < outputs ? first + i : -1);
    const bool made = fast_narrower_make(s, bound, channel, whole, out);
    free(channel);
    return made;
}

assay_status fast_product_make(const assay_fast_setup *s, const assay_filters *f,
                               const assay_operand_form *form, int64_t first, int64_t outputs,
                               const int32_t *run, int64_t n_runs, assay_product *out,
                               assay_error *err)
{
    const int64_t depth = fast_filter_depth(f), length = depth / n_runs;
    const int64_t whole = (outputs + ASSAY_TILE_STEP - 1) / ASSAY_TILE_STEP * ASSAY_TILE_STEP;
    int32_t *row = malloc((size_t)depth * sizeof *row);
    char *line;
    *out = (assay_product){.kernels = s->kernels,
                           .tile = form->bytes ? s->kernels->bytes : s->kernels->words,
                           .outputs = outputs,
                           .n_runs = n_runs,
                           .run_units = (length * form->element + ASSAY_UNIT - 1) / ASSAY_UNIT,
                           .run = run};
    assert(length * n_runs == depth && first >= 0 && first + outputs <= f->outputs);
    line = fast_alloc((size_t)(depth_units(out) * ASSAY_UNIT));
    out->packed = fast_alloc((size_t)(whole * depth_units(out) * ASSAY_UNIT));
    out->start = fast_alloc((size_t)whole * sizeof *out->start);
    if (!row || !line || !out->packed || !out->start ||
        (form->bytes && !make_narrowing(s, form->bound, first, outputs, whole, &out->narrowing))) {
        free(row);
        free(line);
        fast_product_free(out);
        return fast_memory(s, err);
    }
    for (int64_t o = 0; o < outputs; o++) {
        fast_filter_load(f, first + o, row);
        out->start[o] = fast_filter_start(f, form, first + o, row);
        pack_filter(out, form, row, length, o, line);
    }
    free(row);
    free(line);
    return ASSAY_OK;
}

void fast_product_free(assay_product *p)
{
    free(p->packed);
    free(p->start);
    fast_narrower_free(&p->narrowing);
    p->packed = NULL;
    p->start = NULL;
}

assay_block_fn fast_sink_block(const assay_fast_setup *s)
{
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    bool has = ASSAY_SCHEME_HAS(s->vt, simd, block) && fast_is_byte(y);
    return has ? s->vt->simd->block(s->unit, s->kernels->isa) : NULL;
}

void fast_sink_take(const assay_sink *k, const int32_t *acc, int64_t acc_step, int64_t row,
                    int rows, int64_t column, int columns)
{
    int64_t wide[ASSAY_DEPTHWISE];
    int32_t y[ASSAY_DEPTHWISE];
    assert(columns <= ASSAY_DEPTHWISE);
    if (k->block) {
        k->block(k->call->unit, acc, (size_t)rows, (size_t)columns, (size_t)acc_step,
                 (size_t)(k->channel + column), (uint8_t *)k->codes + row * k->codes_step + column,
                 (size_t)k->codes_step);
        if (!k->call->accumulators)
            return;
    }
    for (int i = 0; i < rows; i++) {
        const int64_t first = k->first + (row + i) * k->row_step + column * k->column_step;
        for (int j = 0; j < columns; j++)
            wide[j] = acc[i * acc_step + j];
        if (!k->block)
            ref_finish_sums(k->call, first, k->column_step, (size_t)columns,
                            (size_t)(k->channel + column), wide, y);
        else
            for (int j = 0; j < columns; j++)
                k->call->accumulators[first + j * k->column_step] = wide[j];
    }
}

typedef struct work {
    const assay_product *p;
    const char *left;
    const int32_t *row;
    int64_t rows, blocks, panels;
    bool by_rows; /* all panels of a block of rows, then the next block */
    const assay_sink *sink;
} work;

/* One block of rows of one panel, in tiles of as equal a height as can be. */
static void gemm_block(void *user, int64_t block)
{
    const work *k = user;
    const assay_product *p = k->p;
    const assay_sink *sink = k->sink;
    int32_t acc[SHELF * ASSAY_TILE_ROWS * ASSAY_TILE_COLUMNS];
    const int64_t b = k->by_rows ? block / k->panels : block % k->blocks;
    const int64_t panel = k->by_rows ? block % k->panels : block / k->blocks;
    const int64_t column = panel * p->kernels->columns;
    const int64_t from = k->rows * b / k->blocks, to = k->rows * (b + 1) / k->blocks;
    const int64_t width = panel_width(p, column), rest = p->outputs - column;
    const int64_t tiles = (to - from + p->kernels->rows - 1) / p->kernels->rows;
    const int64_t shelf = depth_units(p) <= QUICK ? SHELF : 1;
    int64_t begin = from, waiting = from; /* the first row of the tile; without a code */
    assert(p->kernels->rows <= ASSAY_TILE_ROWS && width <= ASSAY_TILE_COLUMNS);
    assay_tile t = {.left = k->left,
                    .run = p->run,
                    .n_runs = p->n_runs,
                    .run_units = p->run_units,
                    .right = p->packed + column * depth_units(p) * ASSAY_UNIT,
                    .start = p->start + column,
                    .codes_step = sink->codes_step,
                    .wanted = (int)(rest < width ? rest : width)};
    if (p->narrowing.lanes && sink->block && !sink->call->accumulators) {
        t.narrowing = &p->narrowing;
        t.lanes = p->narrowing.lanes + column / ASSAY_TILE_STEP;
    }
    for (int64_t i = 0; i < tiles; i++) {
        const int64_t end = from + (to - from) * (i + 1) / tiles;
        t.row = k->row + begin;
        t.acc = acc + (begin - waiting) * ASSAY_TILE_COLUMNS;
        if (t.narrowing)
            t.codes = (uint8_t *)sink->codes + begin * sink->codes_step + column;
        p->tile(&t, (int)(end - begin), (int)width);
        begin = end;
        if (t.narrowing || ((i + 1) % shelf != 0 && end < to))
            continue;
        fast_sink_take(sink, acc, ASSAY_TILE_COLUMNS, waiting, (int)(end - waiting), column,
                       t.wanted);
        waiting = end;
    }
}

void fast_product_run(const assay_product *p, const char *left, const int32_t *row, int64_t rows,
                      const assay_sink *sink, int threads)
{
    const int64_t columns = p->kernels->columns, height = p->kernels->rows * TILES;
    const int64_t panels = (p->outputs + columns - 1) / columns;
    const bool by_rows = p->outputs * depth_units(p) * ASSAY_UNIT <= NEAR;
    work k = {p, left, row, rows, (rows + height - 1) / height, panels, by_rows, sink};
    fast_each(fast_threads(threads, rows * p->outputs * depth_units(p) / 16), panels * k.blocks,
              gemm_block, &k);
}
