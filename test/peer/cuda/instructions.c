/* The table of instructions, and the sizes that follow from a shape and the formats. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

const struct instruction instructions[] = {
#define INSTRUCTION(unit, form, least, most, version, target, shape, kind, d, a, b, c, scale, n)   \
    {unit, form, least, most, version, target, shape, kind, d, a, b, c, scale, n},
#include "instructions.def"
#undef INSTRUCTION
};
const size_t n_instructions = sizeof instructions / sizeof *instructions;

void instruction_name(const struct instruction *in, char *name, size_t size)
{
    static const char *const forms[] = {"mma", "mma", "mma", "wgmma", "tcgen05"};
    snprintf(name, size, "%s.%s", in->unit, forms[in->form]);
}

const struct instruction *instruction_named(const char *name)
{
    for (size_t i = 0; i < n_instructions; i++) {
        char own[64];
        instruction_name(&instructions[i], own, sizeof own);
        if (strcmp(own, name) == 0)
            return &instructions[i];
    }
    return NULL;
}

unsigned instruction_k(const struct instruction *in)
{
    return (unsigned)strtoul(strchr(in->shape, 'k') + 1, NULL, 10);
}

/* Small formats fill 8 bits, but for e2m1 where K is 64. */
static unsigned bits(const struct instruction *in)
{
    if (in->form == WIDE)
        return 64;
    if (strcmp(in->a, "tf32") == 0)
        return 32;
    if (strcmp(in->a, "f16") == 0 || strcmp(in->a, "bf16") == 0)
        return 16;
    return instruction_k(in) == 64 ? 4 : 8;
}

unsigned instruction_bytes(const struct instruction *in)
{
    return instruction_k(in) * bits(in) / 8;
}

unsigned instruction_word(const struct instruction *in)
{
    return in->form == WIDE ? 8 : 4;
}

unsigned instruction_rows(const struct instruction *in)
{
    return in->form == QUADS ? 32 : 8;
}

unsigned instruction_threads(const struct instruction *in)
{
    return in->form == GROUP || in->form == TENSOR ? 128 : 32;
}

/* PTX ISA, "PTX Release History": 6.3 came with CUDA 10.0, 7.0 with 11.0, 8.0 with 12.0, 9.0 with
 * 13.0, a minor version with each of theirs; but none with 12.6. */
static int cuda_of(int version)
{
    if (version < 70)
        return 10000 + 10 * (version - 63);
    return 1000 * (version / 10 + 4) + 10 * (version % 10 + (86 <= version && version < 90));
}

/* PTX ISA, `.target`: the versions that brought the targets with an `a`. */
static int version_of_own(int capability)
{
    static const struct {
        int capability, version;
    } known[] = {{90, 80}, {100, 86}, {101, 86}, {103, 88}, {110, 90}, {120, 87}, {121, 88}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].capability == capability)
            return known[i].version;
    return 90;
}

struct needs instruction_needs(const struct instruction *in, int capability)
{
    struct needs n = {.version = in->version};
    const bool own = *in->target == '\0';
    if (own && version_of_own(capability) > n.version)
        n.version = version_of_own(capability);
    n.cuda = cuda_of(n.version);
    if (own)
        snprintf(n.target, sizeof n.target, "sm_%da", capability);
    else
        snprintf(n.target, sizeof n.target, "%s", in->target);
    return n;
}
