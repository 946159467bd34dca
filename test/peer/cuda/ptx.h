/* The matrix instructions of instructions.def, and a kernel of PTX text for each. */
#ifndef TEST_PEER_CUDA_PTX_H
#define TEST_PEER_CUDA_PTX_H

#include <stddef.h>
#include <stdio.h>

/* How rows lie in a kernel: QUADS: m8n8k4, a row a thread; TILE: m16n8, 8 rows a warp; WIDE: m8n8k4
 * of f64, 8 rows a warp; GROUP: wgmma, 8 rows a warp group, B in shared memory; TENSOR: tcgen05, 8
 * rows a warp group, A and B in shared memory, C and D in tensor memory. */
enum form { QUADS, TILE, WIDE, GROUP, TENSOR };

struct instruction {
    const char *unit;
    enum form form;
    int least, most;    /* compute capabilities, 10 times major + minor */
    int version;        /* of PTX, 10 times major + minor */
    const char *target; /* "": the card's own */
    const char *shape, *kind, *d, *a, *b, *c, *scale;
    unsigned scales; /* a row, in one instruction */
};

extern const struct instruction instructions[];
extern const size_t n_instructions;

/* NULL where there is none so called: UNIT.mma, UNIT.wgmma or UNIT.tcgen05. */
const struct instruction *instruction_named(const char *name);
void instruction_name(const struct instruction *in, char *name, size_t size);
unsigned instruction_k(const struct instruction *in);
/* Of a row of A in one instruction, packed. */
unsigned instruction_bytes(const struct instruction *in);
unsigned instruction_word(const struct instruction *in);    /* of C and D in files: 4 or 8 bytes */
unsigned instruction_rows(const struct instruction *in);    /* of a block */
unsigned instruction_threads(const struct instruction *in); /* of a block */

/* What the instruction's kernel asks for on a card of that compute capability: PTX version, the
 * driver's CUDA version that knows it (1000 times major + 10 times minor), target. */
struct needs {
    int version, cuda;
    char target[16];
};
struct needs instruction_needs(const struct instruction *in, int capability);

/* The PTX name of the instruction; the text of a kernel `rows`, to be freed: row i of D is the
 * chain of `steps` instructions over row i of A and B from C. */
char *ptx_mnemonic(const struct instruction *in);
char *ptx_kernel(const struct instruction *in, int capability);
/* %q0, ...: the first n parameters of a kernel, addresses: A, B, C, D and both scales. */
void ptx_load_addresses(FILE *f, int n);
/* The lines behind the head of a TENSOR kernel (tcgen05.c) and of a WIDE one (wide.c). */
void tcgen05_body(FILE *f, const struct instruction *in);
void wide_body(FILE *f, const struct instruction *in);

#endif
