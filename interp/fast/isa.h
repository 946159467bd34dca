/* Instruction sets of the fast engine: the inner loops, and the shape of their tiles.
 *
 * A tile is `rows` output cells by `columns` output channels of int32 accumulators, all of which
 * stay in registers while the loop runs over the depth. Depth is cut into units of 4 bytes: four
 * products of bytes (u8 x s8) or two of words (s16 x s16). Every loop adds exact products modulo
 * 2^32, so the order of addition cannot matter; interp/fast/weights.h proves that the sums fit. */
#ifndef ASSAY_INTERP_FAST_ISA_H
#define ASSAY_INTERP_FAST_ISA_H

#include "schemes/apply/simd/narrow.h"

enum {
    ASSAY_TILE_ROWS = 14,    /* the greatest tile of any instruction set */
    ASSAY_TILE_COLUMNS = 32, /* a multiple of ASSAY_TILE_STEP */
    ASSAY_TILE_STEP = 16,    /* columns come in such steps */
    ASSAY_UNIT = 4,          /* bytes of a unit */
    ASSAY_DEPTHWISE = 64,    /* channels of a depthwise block */
    ASSAY_CELLS = 4,         /* output cells that share columns */
};

/* One tile. Row i of the left operand is made of n_runs runs of run_units units; run r stands at
 * left + row[i] + run[r]. The right operand is packed (interp/fast/README.md has the drawing). */
typedef struct assay_tile {
    const char *left;
    const int32_t *row;
    const int32_t *run;
    int64_t n_runs, run_units;
    const void *right;
    const int32_t *start; /* by column: what the accumulators begin with */
    int32_t *acc;         /* rows x ASSAY_TILE_COLUMNS; unused with: */
    const assay_narrower *narrowing;
    const assay_sixteen *lanes; /* of the first column */
    uint8_t *codes;
    int64_t codes_step;
    int wanted; /* columns that are codes */
} assay_tile;

/* One block of ASSAY_DEPTHWISE channels of one output cell, in words. Tap k of the window stands at
 * left + tap[k]; weights are packed by taps. */
typedef struct assay_taps {
    const char *left;
    const int32_t *tap;
    int64_t n_taps;
    const void *right;
    const int32_t *start;
    int32_t *acc; /* ASSAY_DEPTHWISE */
} assay_taps;

/* The same in bytes, for several output cells side by side. A window is `width` columns of taps,
 * column_step bytes apart; the taps of a column stand at tap[] from its head, in groups of four,
 * one unit a channel. Windows begin `stride` columns apart: neighbours share columns. Weights are
 * packed as [group][column][channel][tap of the group]. */
typedef struct assay_columns {
    const char *left;
    const int32_t *tap;
    int n_groups, width, stride;
    bool three; /* the fourth tap of every group has weight 0 */
    int64_t column_step;
    const void *right;
    const int32_t *start;
    int32_t *acc; /* cells x ASSAY_DEPTHWISE, channels in order; unused with: */
    const assay_narrower *narrowing;
    const assay_sixteen *lanes;
    uint8_t *codes;
    int64_t codes_step; /* from a cell's to the next */
    uint64_t wanted[2]; /* which of a cell's bytes are codes: of all cells but the last; of it */
} assay_columns;

/* Codes y = round(a * slope[0] + b * slope[1] + offset) + zero, kept between lo and hi; a and b are
 * their bytes ^ flip. |slope| < 1024. */
typedef struct assay_linear {
    float slope[2], offset;
    int32_t zero, lo, hi;
    uint8_t flip[2];
} assay_linear;

typedef void (*assay_tile_fn)(const assay_tile *t, int rows, int columns);
typedef void (*assay_taps_fn)(const assay_taps *t);
typedef void (*assay_columns_fn)(const assay_columns *t, int cells);
/* Rows of bytes (rows.c). A byte ^ flip is a signed code's place among unsigned ones. */
typedef struct assay_rows {
    void (*linear)(const assay_linear *l, const uint8_t *a, const uint8_t *b, size_t n, uint8_t *y);
    /* best[i] = the greater of best[i] and x[i] ^ flip */
    void (*max)(const uint8_t *x, size_t n, uint8_t flip, uint8_t *best);
    /* y[i] = x[i] ^ flip */
    void (*flip)(const uint8_t *x, size_t n, uint8_t flip, uint8_t *y);
    /* sum[i] += the code of byte x[i], and the sum of n codes; a signed code is (x ^ 0x80) - 0x80
     */
    void (*add)(const uint8_t *x, size_t n, bool is_signed, int32_t *sum);
    int64_t (*sum)(const uint8_t *x, size_t n, bool is_signed);
    /* y[i * planes + c] = x[c * step + i] ^ flip */
    void (*weave)(const uint8_t *x, size_t step, int planes, size_t n, uint8_t flip, uint8_t *y);
} assay_rows;

typedef struct assay_isa_kernels {
    enum assay_isa isa;
    const char *name;
    int rows, columns;          /* of the greatest tile */
    assay_tile_fn bytes, words; /* bytes: NULL where there is no exact byte product */
    assay_taps_fn word_taps;
    assay_columns_fn byte_columns; /* with bytes */
    bool narrows;                  /* bytes and byte_columns do */
    const assay_rows *rows_of_bytes;
} assay_isa_kernels;

extern const assay_isa_kernels fast_isa_portable, fast_isa_avx2, fast_isa_vnni;

/* depthwise_vnni.c */
void fast_vnni_depthwise_columns(const assay_columns *t, int cells);
void fast_vnni_depthwise_taps(const assay_taps *t);

extern const assay_rows fast_rows_portable, fast_rows_avx2, fast_rows_avx512;

/* The kernels of an instruction set by name ("portable", "avx2", "vnni"); NULL: the environment's
 * ASSAY_ISA, else the best of this machine. An unknown name, or one that the machine lacks,
 * is refused. */
assay_status fast_isa_choose(const char *name, const assay_isa_kernels **out, assay_error *err);

#endif
