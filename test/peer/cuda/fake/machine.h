/* A card in a program: kernels of PTX text run in lockstep, one block after the other; as much of
 * PTX as peer_cuda writes. Global memory is that of the process. */
#ifndef TEST_PEER_CUDA_FAKE_MACHINE_H
#define TEST_PEER_CUDA_FAKE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LANES = 32, MOST_THREADS = 128, MOST_ARGUMENTS = 8, SHARED = 1024, MOST_REGISTERS = 32 };

struct line {
    char opcode[112];
    int predicate; /* -1: none */
    char argument[MOST_ARGUMENTS][96];
};

struct program {
    struct line line[256];
    size_t lines;
    size_t label; /* of the only one */
};

struct block {
    unsigned threads, number;
    void **parameters;                                     /* a, b, c, d, scale_a, scale_b, steps */
    uint64_t value[MOST_THREADS]['z' + 1][MOST_REGISTERS]; /* by a register's letter and number */
    uint8_t shared[SHARED];
};

/* false: `why` says what is not known. */
bool machine_load(const char *ptx, struct program *p, char *why, size_t size);
/* false: an access outside of the buffers. */
bool machine_run(const struct program *p, struct block *b);

/* The value of a register, as "%r3". */
uint64_t *machine_register(struct block *b, unsigned thread, const char *name);
/* Whether 4 bytes at an address lie in a buffer. */
bool machine_holds(uint64_t address);
/* Whether the environment asks for that fault (driver.c). */
bool machine_fault(const char *name);

/* mma.sync by every warp, wgmma by the four of a group. */
void matrix_mma(const struct line *l, struct block *b);
void matrix_wgmma(const struct line *l, struct block *b);

#endif
