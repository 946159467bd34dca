/* A card in a program: kernels of PTX text run in lockstep, one block after the other; as much of
 * PTX as peer_cuda writes. Global memory is that of the process. */
#ifndef TEST_PEER_CUDA_FAKE_MACHINE_H
#define TEST_PEER_CUDA_FAKE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LANES = 32,
    MOST_THREADS = 128,
    MOST_ARGUMENTS = 8,
    SHARED = 4096,
    MOST_REGISTERS = 32,
    TENSOR_COLUMNS = 512
};

struct line {
    char opcode[112];
    int predicate; /* -1: none */
    bool negated;
    char argument[MOST_ARGUMENTS][96];
};

struct program {
    struct line line[256];
    size_t lines;
    struct {
        char name[8];
        size_t line;
    } label[4];
    size_t labels;
};

/* What is asked for and not done yet. Shared memory as the asynchronous proxy sees it: as it was
 * when a thread fenced. */
struct asked {
    const struct line *mma; /* NULL: none */
    bool fenced, committed;
    uint8_t shared[SHARED];
};

/* Lanes and columns of words; `stored`: what tcgen05.st wrote and nobody waited for. */
struct tensor_memory {
    uint32_t word[MOST_THREADS][TENSOR_COLUMNS], stored[MOST_THREADS][TENSOR_COLUMNS];
    unsigned columns;           /* allocated */
    const struct line *loading; /* tcgen05.ld that nobody waited for; NULL: none */
    unsigned phase;             /* of the barrier that tcgen05.commit arrives at */
};

struct block {
    unsigned threads, number;
    void **parameters;                                     /* a, b, c, d, scale_a, scale_b, steps */
    uint64_t value[MOST_THREADS]['z' + 1][MOST_REGISTERS]; /* by a register's letter and number */
    uint8_t shared[SHARED];
    struct asked asked;
    struct tensor_memory tensor;
};

/* false: `why` says what is not known. */
bool machine_load(const char *ptx, struct program *p, char *why, size_t size);
/* false: an access outside of the buffers. */
bool machine_run(const struct program *p, struct block *b);

/* The value of a register, as "%r3". */
uint64_t *machine_register(struct block *b, unsigned thread, const char *name);
bool machine_is_on(const struct line *l, const struct block *b, unsigned thread);
/* The address in an argument "[%q0+16]". */
uint64_t machine_address(struct block *b, unsigned thread, const char *text);
/* Whether so many bytes at an address lie in a buffer, aligned. */
bool machine_holds(uint64_t address, size_t bytes);
/* Whether the environment asks for that fault (driver.c). */
bool machine_fault(const char *name);

/* mma.sync by every warp, wgmma by the four of a group. */
void matrix_mma(const struct line *l, struct block *b);
void matrix_wgmma(const struct line *l, struct block *b);

/* tcgen05 and the barrier beside it; false: against the PTX ISA. */
bool tensor_line(const struct line *l, struct block *b);

#endif
