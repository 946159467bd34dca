/* Fully connected, and products with a constant matrix, whose weights have a scale for each block
 * of inputs: the exact sum of every block by the tiles of the GEMM, in words, one block after the
 * other; the scheme's `combine` then adds the blocks of an output as it does for the reference.
 *
 * Both operands hold block after block, each filled up to a whole unit with zeros. The right one is
 * packed by panels of a tile's width: [panel][block][unit][column][2 words]. */
#include <stdlib.h>
#include <string.h>

#include "graph/core/blocks.h"
#include "interp/fast/fast.h"
#include "interp/ref/ref.h"

enum { MAX_BLOCKS = 1024 };

typedef struct fc_blocks {
    assay_fast base;
    const assay_isa_kernels *kernels;
    assay_blocks blocks;
    assay_view bias;
    int64_t rows, depth, outputs;
    int64_t units;  /* of a block */
    int32_t zero;   /* of the input */
    bool by_output; /* the reference goes output by output (fc), else row by row (matmul) */
    char *packed;
} fc_blocks;

static const int32_t no_start[ASSAY_TILE_COLUMNS] = {0};

static void free_fc(assay_fast *f)
{
    fc_blocks *c = (fc_blocks *)f;
    free(c->packed);
    free(c);
}

static int64_t row_bytes(const fc_blocks *c)
{
    return c->blocks.count * c->units * ASSAY_UNIT;
}

static int64_t tiles_of(const fc_blocks *c)
{
    return (c->rows + c->kernels->rows - 1) / c->kernels->rows;
}

static int64_t panels_of(const fc_blocks *c)
{
    return (c->outputs + c->kernels->columns - 1) / c->kernels->columns;
}

typedef struct pieces {
    char *left;
    int64_t *trapped; /* by part: place in the reference's order of the first that did, or -1 */
    int64_t *sum;     /* of a worker: [row][column][block] */
    int32_t *codes;
} pieces;

static size_t carve_shared(const fc_blocks *c, char *memory, pieces *p)
{
    size_t used = 0;
    p->left = ref_carve(memory, &used, c->rows * row_bytes(c), 1);
    p->trapped = ref_carve(memory, &used, tiles_of(c) * panels_of(c), sizeof *p->trapped);
    p->codes = ref_carve(memory, &used, c->depth, sizeof *p->codes);
    return (used + 63) / 64 * 64;
}

static size_t carve_worker(const fc_blocks *c, char *memory, pieces *p)
{
    size_t used = 0;
    p->sum =
        ref_carve(memory, &used, (int64_t)c->kernels->rows * c->kernels->columns * c->blocks.count,
                  sizeof *p->sum);
    return (used + 63) / 64 * 64;
}

/* Word i of a depth, in bytes from the head of its row or column. */
static int64_t place(const fc_blocks *c, int64_t i)
{
    return (i / c->blocks.block * c->units * 2 + i % c->blocks.block) * (int64_t)sizeof(int16_t);
}

static void stage_row(const fc_blocks *c, const assay_view *x, int64_t row, const pieces *p)
{
    char *to = p->left + row * row_bytes(c);
    memset(to, 0, (size_t)row_bytes(c));
    ref_load_row(x, row * c->depth, 1, (size_t)c->depth, p->codes);
    for (int64_t i = 0; i < c->depth; i++)
        memcpy(to + place(c, i), &(int16_t){(int16_t)(p->codes[i] - c->zero)}, sizeof(int16_t));
}

typedef struct work {
    const fc_blocks *c;
    assay_call *call;
    pieces shared;
    size_t shared_bytes, worker_bytes;
    int workers;
} work;

/* Where the reference comes to an element, and the element that it comes to there. */
static int64_t order_of(const fc_blocks *c, int64_t row, int64_t column)
{
    return c->by_output ? column * c->rows + row : row * c->outputs + column;
}

static int64_t element_at(const fc_blocks *c, int64_t order)
{
    return c->by_output ? order % c->rows * c->outputs + order / c->rows : order;
}

/* The outputs of a row of a tile from the sums of their blocks; the place of the first that
 * trapped, or -1. */
static int64_t combine_row(const work *k, int64_t row, int64_t column, int n, int64_t *sum)
{
    const fc_blocks *c = k->c;
    int64_t acc[ASSAY_TILE_COLUMNS], first = -1;
    int32_t y[ASSAY_TILE_COLUMNS];
    const int64_t element = row * c->outputs + column;
    for (int j = 0; j < n; j++) {
        bool trapped = false;
        acc[j] = k->call->vt->combine(k->call->unit, sum + j * c->blocks.count,
                                      (size_t)c->blocks.count, (size_t)(column + j),
                                      ref_load_bias(&c->bias, column + j), &trapped);
        first = trapped && first < 0 ? order_of(c, row, column + j) : first;
    }
    ref_finish_sums(k->call, element, 1, (size_t)n, (size_t)column, acc, y);
    return first;
}

/* One tile of rows by one panel. */
static void run_part(void *user, int64_t part)
{
    const work *k = user;
    const fc_blocks *c = k->c;
    const int64_t panels = panels_of(c), count = c->blocks.count;
    const int64_t row = part / panels * c->kernels->rows;
    const int64_t column = part % panels * c->kernels->columns;
    const int rows = (int)(c->rows - row < c->kernels->rows ? c->rows - row : c->kernels->rows);
    const int64_t rest = c->outputs - column;
    const int n = (int)(rest < c->kernels->columns ? rest : c->kernels->columns);
    const int width = (n + ASSAY_TILE_STEP - 1) / ASSAY_TILE_STEP * ASSAY_TILE_STEP;
    int32_t acc[ASSAY_TILE_ROWS * ASSAY_TILE_COLUMNS], at[ASSAY_TILE_ROWS], run;
    pieces mine;
    carve_worker(
        c, (char *)k->call->scratch + k->shared_bytes + fast_worker(k->workers) * k->worker_bytes,
        &mine);
    for (int i = 0; i < rows; i++)
        at[i] = (int32_t)((row + i) * row_bytes(c));
    for (int64_t b = 0; b < count; b++) {
        run = (int32_t)(b * c->units * ASSAY_UNIT);
        const assay_tile t = {.left = k->shared.left,
                              .row = at,
                              .run = &run,
                              .n_runs = 1,
                              .run_units = c->units,
                              .right = c->packed + column * row_bytes(c) +
                                       b * c->units * width * ASSAY_UNIT,
                              .start = no_start,
                              .acc = acc};
        c->kernels->words(&t, rows, width);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < n; j++)
                mine.sum[(i * c->kernels->columns + j) * count + b] =
                    acc[i * ASSAY_TILE_COLUMNS + j];
    }
    k->shared.trapped[part] = -1;
    for (int i = 0; i < rows; i++) {
        int64_t *trapped = &k->shared.trapped[part];
        const int64_t first =
            combine_row(k, row + i, column, n, mine.sum + i * c->kernels->columns * count);
        if (first >= 0 && (*trapped < 0 || first < *trapped))
            *trapped = first;
    }
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const fc_blocks *c = (const fc_blocks *)f;
    const int64_t parts = tiles_of(c) * panels_of(c);
    work k = {.c = c, .call = call};
    (void)err;
    k.workers = fast_threads(f->threads, c->rows * c->outputs * c->depth / 8);
    k.shared_bytes = carve_shared(c, call->scratch, &k.shared);
    k.worker_bytes = carve_worker(c, NULL, &(pieces){0});
    for (int64_t r = 0; r < c->rows; r++)
        stage_row(c, &call->in[0], r, &k.shared);
    fast_each(k.workers, parts, run_part, &k);
    int64_t first = -1;
    for (int64_t i = 0; i < parts; i++) {
        const int64_t at = k.shared.trapped[i];
        first = at >= 0 && (first < 0 || at < first) ? at : first;
    }
    ref_note_trap(call, first >= 0, first >= 0 ? element_at(c, first) : 0);
    return ASSAY_OK;
}

/* A block of n weights, centred, in units that stand `apart` bytes apart; the sum of their
 * magnitudes, or -1 where a word does not hold one. */
static int64_t pack_block(const int32_t *code, int64_t n, int32_t zero, char *to, int64_t apart)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t v = (int64_t)code[i] - zero;
        if (v < INT16_MIN || v > INT16_MAX)
            return -1;
        sum += v < 0 ? -v : v;
        memcpy(to + i / 2 * apart + i % 2 * (int64_t)sizeof(int16_t), &(int16_t){(int16_t)v},
               sizeof(int16_t));
    }
    return sum;
}

/* Packs the weights; false where a word or the sum of a block would not hold what may come. `code`
 * is memory for a filter. */
static bool pack(fc_blocks *c, const assay_value *w, bool columns, int64_t reach, int32_t *code)
{
    const assay_view v = {(void *)(uintptr_t)w->data, &w->type};
    for (int64_t o = 0; o < c->outputs; o++) {
        const int64_t column = o / c->kernels->columns * c->kernels->columns;
        const int64_t rest = c->outputs - column;
        const int64_t n = rest < c->kernels->columns ? rest : c->kernels->columns;
        const int64_t apart =
            (n + ASSAY_TILE_STEP - 1) / ASSAY_TILE_STEP * ASSAY_TILE_STEP * ASSAY_UNIT;
        char *head = c->packed + column * row_bytes(c) + (o - column) * ASSAY_UNIT;
        ref_load_row(&v, columns ? o : o * c->depth, columns ? c->outputs : 1, (size_t)c->depth,
                     code);
        for (int64_t b = 0; b < c->blocks.count; b++) {
            const int64_t i = b * c->blocks.block, left = c->depth - i;
            const int64_t sum =
                pack_block(code + i, left < c->blocks.block ? left : c->blocks.block,
                           w->type.q.zero_point[assay_block_scale(&c->blocks, o, b)],
                           head + b * c->units * apart, apart);
            if (sum < 0 || sum * reach > INT32_MAX)
                return false;
        }
    }
    return true;
}

/* The geometry; false when it is not one of plain blocks along the depth. */
static bool find_shape(const assay_fast_setup *s, fc_blocks *c)
{
    const assay_node *n = s->node;
    const assay_type *x = &assay_node_in(s->graph, n, 0)->type;
    const assay_value *w = assay_node_in(s->graph, n, 1);
    const assay_value *bias = n->n_in > 2 ? assay_node_in(s->graph, n, 2) : NULL;
    const bool matmul = n->op == ASSAY_OP_MATMUL;
    c->by_output = !matmul;
    if (w->type.rank != 2 || x->elem.bits > 16 || (matmul && n->attr.matmul.transpose_a) ||
        !assay_blocks_of(n->op, matmul && n->attr.matmul.transpose_b, &w->type, &c->blocks) ||
        c->blocks.outer != 1 || c->blocks.inner != 1 || c->blocks.count > MAX_BLOCKS)
        return false;
    c->outputs = c->blocks.channels;
    c->depth = c->blocks.extent;
    c->rows = assay_shape_count(x) / c->depth;
    c->units = (c->blocks.block + 1) / 2;
    c->zero = ref_zero_point(x, 0);
    if (bias)
        c->bias = (assay_view){(void *)(uintptr_t)bias->data, &bias->type};
    return c->rows < INT32_MAX / row_bytes(c) && c->outputs < INT32_MAX / row_bytes(c);
}

assay_status fast_fc_blocks(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_value *w = assay_node_in(s->graph, s->node, 1);
    const bool columns = s->node->op == ASSAY_OP_MATMUL && !s->node->attr.matmul.transpose_b;
    pieces unused;
    fc_blocks *c = fast_alloc(sizeof *c);
    if (!c)
        return fast_memory(s, err);
    c->kernels = s->kernels;
    const int64_t lo = assay_elem_min(x->elem) - ref_zero_point(x, 0);
    const int64_t hi = assay_elem_max(x->elem) - ref_zero_point(x, 0);
    if (!s->vt->combine || !find_shape(s, c) || lo < INT16_MIN || hi > INT16_MAX) {
        free_fc(&c->base);
        return ASSAY_OK;
    }
    const int64_t whole = (c->outputs + ASSAY_TILE_STEP - 1) / ASSAY_TILE_STEP * ASSAY_TILE_STEP;
    c->packed = fast_alloc((size_t)(whole * row_bytes(c)));
    int32_t *code = fast_alloc((size_t)c->depth * sizeof *code);
    const bool there = c->packed && code;
    const bool fits = there && pack(c, w, columns, -lo > hi ? -lo : hi, code);
    free(code);
    if (!fits) {
        free_fc(&c->base);
        return there ? ASSAY_OK : fast_memory(s, err);
    }
    c->base = (assay_fast){.run = run, .free = free_fc, .threads = s->threads};
    c->base.scratch =
        carve_shared(c, NULL, &unused) + carve_worker(c, NULL, &unused) * (size_t)s->threads;
    *out = &c->base;
    return ASSAY_OK;
}
