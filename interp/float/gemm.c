/* C = A*B (+ C) in binary32, added in the order of MLAS, ONNX Runtime's library of kernels, on
 * x86-64 (onnxruntime/core/mlas/lib: sgemm.cpp, SgemmKernelM1*.S, FgemmKernel*.h): the same bits on
 * every machine, and ONNX Runtime's where it computes in floats.
 *
 * The order for one element of C, a row of A times a column of B:
 *
 *   general   the depth is cut into blocks (float_gemm_block); within one,
 *             s = fma(a[k], b[k], s) from s = 0; C is the blocks' sums added in turn
 *   one row   of A, B as it stands: by fours, ((a0*b0 + a1*b1) + a2*b2) + a3*b3, which is added to
 *             C; then two, then one that are left
 *   one row   of A, B transposed: eight sums of every eighth product, added as lanes_of says
 *
 * One column of B (and C) is one row, with the operands exchanged. */
#include <assert.h>
#include <string.h>

#include "interp/float/float.h"
#include "interp/float/gemm_tile.h"

#define BLOCK        128
#define PACKED_BLOCK 256 /* of a B that is constant, and laid out beforehand */
#define LANES        8

int64_t float_gemm_block(const assay_gemm *g)
{
    int64_t columns = BLOCK, block = BLOCK;

    if (g->packed)
        return PACKED_BLOCK;
    if (g->n < g->k && g->a_t == g->a_transposed)
        for (; columns > 16 && columns / 2 >= g->n; columns /= 2)
            block *= 2;
    return block;
}

/* ---- one row ---- */

/* c (+)= a[0]*b[0] + a[1]*b[1] + ... of `count` rows of B, `down` apart. */
static inline __attribute__((always_inline)) void add_rows(int count, const float *a,
                                                           const float *b, int64_t down,
                                                           int64_t across, int64_t n, bool add,
                                                           float *c)
{
    for (int64_t j = 0; j < n; j++) {
        float s = a[0] * b[j * across];
        for (int i = 1; i < count; i++)
            s += a[i] * b[i * down + j * across];
        c[j] = s + (add ? c[j] : 0);
    }
}

static inline __attribute__((always_inline)) void add_all_rows(const float *a, const float *b,
                                                               int64_t down, int64_t across,
                                                               int64_t k, int64_t n, bool add,
                                                               float *c)
{
    for (; k >= 4; k -= 4, a += 4, b += 4 * down, add = true)
        add_rows(4, a, b, down, across, n, add, c);
    if (k >= 2) {
        add_rows(2, a, b, down, across, n, add, c);
        a += 2;
        b += 2 * down;
        k -= 2;
        add = true;
    }
    if (k == 1)
        add_rows(1, a, b, down, across, n, add, c);
}

static void one_row(const float *a, const float *b, int64_t down, int64_t across, int64_t k,
                    int64_t n, bool add, float *c)
{
    if (across == 1) /* neighbours side by side: the loop over them is vectors */
        add_all_rows(a, b, down, 1, k, n, add, c);
    else
        add_all_rows(a, b, down, across, k, n, add, c);
}

static inline __attribute__((always_inline)) void
dot_of(const float *a, const float *b, int64_t along, int64_t k, float lane[LANES])
{
    int64_t i = 0;
    for (int l = 0; l < LANES; l++)
        lane[l] = 0;
    for (; i + LANES <= k; i += LANES)
        for (int l = 0; l < LANES; l++)
            lane[l] += a[i + l] * b[(i + l) * along];
    for (int l = 0; i < k; i++, l++)
        lane[l] += a[i] * b[i * along];
}

static void dot(const float *a, const float *b, int64_t along, int64_t k, float lane[LANES])
{
    if (along == 1) /* the lanes are vectors */
        dot_of(a, b, 1, k, lane);
    else
        dot_of(a, b, along, k, lane);
}

/* The lanes' sum, which depends on how many columns are done at once: 4, 2 or 1. */
static float sum_of(const float l[LANES], int together)
{
    if (together == 4)
        return (((l[0] + l[1]) + l[2]) + l[3]) + (((l[4] + l[5]) + l[6]) + l[7]);
    if (together == 2)
        return ((l[0] + l[2]) + (l[4] + l[6])) + ((l[1] + l[3]) + (l[5] + l[7]));
    return ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
}

/* Element k of column j of B is b[k * down + j * across]. */
static void one_row_transposed(const float *a, const float *b, int64_t down, int64_t across,
                               int64_t k, int64_t n, bool add, float *c)
{
    for (int64_t j = 0; j < n; j++) {
        float lane[LANES];
        dot(a, b + j * across, down, k, lane);
        int together = j < n / 4 * 4 ? 4 : j < n / 2 * 2 ? 2 : 1;
        c[j] = sum_of(lane, together) + (add ? c[j] : 0);
    }
}

/* ---- many rows: a tile after the other ---- */

/* What of a block of B a column of tiles reads, TILE_STEP columns or more: 256 deep where it is
 * TILE_COLUMNS wide, and twice as deep with each halving of n (float_gemm_block). */
#define MAX_DEPTH 1024
#define PANEL     (TILE_STEP * MAX_DEPTH)

/* A panel of B: `depth` rows of `pitch`, zeros beyond its `columns`. */
static void pack(const float *b, int64_t down, int64_t across, int64_t depth, int64_t columns,
                 int64_t pitch, float *panel)
{
    for (int64_t k = 0; k < depth; k++, b += down, panel += pitch) {
        if (across == 1)
            memcpy(panel, b, (size_t)columns * sizeof *panel);
        for (int64_t j = 0; across != 1 && j < columns; j++)
            panel[j] = b[j * across];
        for (int64_t j = columns; j < pitch; j++)
            panel[j] = 0;
    }
}

/* Lays out a block of `columns` columns of B for the tiles, or finds it where it stands. */
static void place(const assay_gemm *g, int64_t from, int64_t column, float_tile *t,
                  int64_t at[MAX_DEPTH], float panel[PANEL])
{
    const int64_t down = g->b_t ? 1 : g->ldb, across = g->b_t ? g->ldb : 1;
    const float_windows *w = &g->b_window;
    const int64_t pitch = (t->columns + TILE_STEP - 1) / TILE_STEP * TILE_STEP;

    t->b = panel;
    t->at = at;
    if (w->at) {
        t->b = g->b + column;
        for (int64_t k = 0; k < t->depth; k++)
            at[k] = (from + k) / w->taps * w->plane + w->at[(from + k) % w->taps];
        return;
    }
    assert(t->depth <= MAX_DEPTH && t->depth * pitch <= PANEL);
    for (int64_t k = 0; k < t->depth; k++)
        at[k] = k * pitch;
    pack(g->b + from * down + column * across, down, across, t->depth, t->columns, pitch, panel);
}

/* `depth` products from `from` on, of all rows and `columns` columns. */
static void column_of_tiles(const assay_gemm *g, const float_tiles *tiles, int64_t from,
                            int64_t depth, int64_t column, int columns)
{
    float_tile t = {.down = g->a_t ? 1 : g->lda,
                    .along = g->a_t ? g->lda : 1,
                    .ldc = g->ldc,
                    .depth = depth,
                    .columns = columns,
                    .add = g->add || from > 0};
    const float *a = g->a + from * t.along;
    float panel[PANEL];
    int64_t at[MAX_DEPTH];

    place(g, from, column, &t, at, panel);
    for (int64_t row = 0; row < g->m; row += tiles->rows) {
        const int64_t left = g->m - row;
        t.rows = left < tiles->rows ? (int)left : tiles->rows;
        t.a = a + row * t.down;
        t.next = left > tiles->rows ? t.a + tiles->rows * t.down : a;
        t.c = g->c + row * g->ldc + column;
        tiles->run(&t);
    }
}

/* Floats of C, of all rows and some columns, to which block after block is added: they stay in the
 * cache. */
#define GROUP (1 << 17)

static int64_t at_most(int64_t n, int64_t max)
{
    return n < max ? n : max;
}

static void many_rows(const assay_gemm *g, int64_t block)
{
    const float_tiles *tiles = float_tiles_choose();
    const int64_t width = tiles->columns, group = (GROUP / g->m / width + 1) * width;

    for (int64_t first = 0; first < g->n; first += group)
        for (int64_t from = 0; from < g->k; from += block)
            for (int64_t column = first; column < at_most(g->n, first + group); column += width)
                column_of_tiles(g, tiles, from, at_most(g->k - from, block), column,
                                (int)at_most(g->n - column, width));
}

/* ---- one product after the other: SIDE * SIDE sums side by side, for speed only ---- */

#define SIDE 4

static void in_turn(const assay_gemm *g)
{
    const int64_t a_down = g->a_t ? 1 : g->lda, a_along = g->a_t ? g->lda : 1;
    const int64_t b_down = g->b_t ? 1 : g->ldb, b_across = g->b_t ? g->ldb : 1;

    for (int64_t i = 0; i < g->m; i += SIDE)
        for (int64_t j = 0; j < g->n; j += SIDE) {
            const int rows = g->m - i < SIDE ? (int)(g->m - i) : SIDE;
            const int columns = g->n - j < SIDE ? (int)(g->n - j) : SIDE;
            const float *a[SIDE], *b[SIDE]; /* beyond the edge: the last one again */
            float sum[SIDE][SIDE] = {{0}};
            for (int r = 0; r < SIDE; r++) {
                a[r] = g->a + (i + (r < rows ? r : rows - 1)) * a_down;
                b[r] = g->b + (j + (r < columns ? r : columns - 1)) * b_across;
            }
            for (int64_t k = 0; k < g->k; k++)
                for (int r = 0; r < SIDE; r++)
                    for (int c = 0; c < SIDE; c++)
                        sum[r][c] += a[r][k * a_along] * b[c][k * b_down];
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < columns; c++) {
                    float *y = g->c + (i + r) * g->ldc + j + c;
                    *y = g->add ? sum[r][c] + *y : sum[r][c];
                }
        }
}

void float_gemm_run(const assay_gemm *g)
{
    const bool a_t = g->a_t != g->a_transposed,
               b_t = g->b_t != g->b_transposed; /* as ONNX Runtime has it */
    const bool row = g->m == 1 && !a_t && !g->a_t && !g->packed;
    const bool column = g->n == 1 && g->ldc == 1 && !g->packed && (g->b_transposed || g->ldb == 1);
    const int64_t a_down = g->a_t ? 1 : g->lda, a_along = g->a_t ? g->lda : 1;
    const int64_t b_down = g->b_t ? 1 : g->ldb, b_across = g->b_t ? g->ldb : 1;

    if (g->m == 0 || g->n == 0)
        return;
    if (g->in_turn)
        in_turn(g);
    else if (g->k == 0)
        for (int64_t i = 0; !g->add && i < g->m; i++)
            for (int64_t j = 0; j < g->n; j++)
                g->c[i * g->ldc + j] = 0;
    else if (row)
        (b_t ? one_row_transposed : one_row)(g->a, g->b, b_down, b_across, g->k, g->n, g->add,
                                             g->c);
    else if (column)
        (a_t ? one_row : one_row_transposed)(g->b, g->a, a_along, a_down, g->k, g->m, g->add, g->c);
    else
        many_rows(g, g->block ? g->block : float_gemm_block(g));
}
