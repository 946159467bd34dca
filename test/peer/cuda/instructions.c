/* The table of instructions, and the sizes that follow from a shape and the formats. */
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
    snprintf(name, size, "%s.%s", in->unit, in->form == GROUP ? "wgmma" : "mma");
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

static unsigned bits(const char *format)
{
    if (strcmp(format, "tf32") == 0)
        return 32;
    if (strcmp(format, "f16") == 0 || strcmp(format, "bf16") == 0)
        return 16;
    return strcmp(format, "e2m1") == 0 ? 4 : 8;
}

unsigned instruction_bytes(const struct instruction *in)
{
    return instruction_k(in) * bits(in->a) / 8;
}

unsigned instruction_rows(const struct instruction *in)
{
    return in->form == QUADS ? 32 : 8;
}

unsigned instruction_threads(const struct instruction *in)
{
    return in->form == GROUP ? 128 : 32;
}
