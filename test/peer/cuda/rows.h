/* Files of rows for one instruction, and their results.
 *
 * Little endian: u32 n; u32 steps; A, then B: n rows of steps * instruction_bytes, packed, the
 * first element lowest; C: n u32, or u64 of f64; where the instruction has scales: those of A, then
 * of B: n * steps u32, the first scale lowest. D: as C. */
#ifndef TEST_PEER_CUDA_ROWS_H
#define TEST_PEER_CUDA_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "ptx.h"

#define ROWS_COLUMNS 5 /* a, b, c, scale_a, scale_b */

struct rows {
    uint32_t n, steps;
    uint8_t *all; /* to be freed */
    const uint8_t *column[ROWS_COLUMNS];
    size_t bytes[ROWS_COLUMNS]; /* of each; 0: there is none */
};

bool rows_read(const char *path, const struct instruction *in, struct rows *r);
bool rows_write(const char *path, const void *d, size_t bytes);

#endif
