/* Kernels of mma.m8n8k4 on f64. A thread holds A's row and B's column groupID = lane / 4, element
 * threadID_in_group = lane % 4, and of D's row groupID the columns 2 * threadID_in_group and the
 * next (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64 floating point type"). Row i of D is on
 * the diagonal, as in ptx.c. */
#include <stdlib.h>

#include "ptx.h"

/* %r1 row, %r3 threadID_in_group, %r4 steps left, %r7 groupID; %p0: this thread has the diagonal
 * element, %p1: it is the second one of its two. */
static void put_place(FILE *f)
{
    fprintf(f, "    .reg .pred %%p<4>;\n    .reg .b32 %%r<10>;\n    .reg .b64 %%q<9>;\n"
               "    .reg .f64 %%a<1>, %%b<1>, %%c<2>;\n"
               "    mov.u32 %%r5, %%tid.x;\n    and.b32 %%r3, %%r5, 3;\n"
               "    shr.u32 %%r7, %%r5, 2;\n    mov.u32 %%r6, %%ctaid.x;\n"
               "    mad.lo.u32 %%r1, %%r6, 8, %%r7;\n    shr.u32 %%r8, %%r7, 1;\n"
               "    setp.eq.u32 %%p0, %%r3, %%r8;\n    and.b32 %%r8, %%r7, 1;\n"
               "    setp.eq.u32 %%p1, %%r8, 1;\n");
}

/* %q0, %q1: this thread's elements of A and B; %q2, %q3: its row's C and D. */
static void put_addresses(FILE *f)
{
    ptx_load_addresses(f, 4);
    fprintf(f, "    ld.param.u32 %%r4, [steps];\n    mul.lo.u32 %%r9, %%r1, %%r4;\n"
               "    mul.wide.u32 %%q6, %%r9, 32;\n    mul.wide.u32 %%q7, %%r3, 8;\n"
               "    add.u64 %%q6, %%q6, %%q7;\n    add.u64 %%q0, %%q0, %%q6;\n"
               "    add.u64 %%q1, %%q1, %%q6;\n    mul.wide.u32 %%q6, %%r1, 8;\n"
               "    add.u64 %%q2, %%q2, %%q6;\n    add.u64 %%q3, %%q3, %%q6;\n");
}

void wide_body(FILE *f, const struct instruction *in)
{
    char *mnemonic = ptx_mnemonic(in);
    put_place(f);
    put_addresses(f);
    fprintf(f,
            "    ld.b64 %%c0, [%%q2];\n    mov.b64 %%c1, %%c0;\nSTEP:\n"
            "    ld.b64 %%a0, [%%q0];\n    ld.b64 %%b0, [%%q1];\n"
            "    %s {%%c0, %%c1}, {%%a0}, {%%b0}, {%%c0, %%c1};\n"
            "    add.u64 %%q0, %%q0, 32;\n    add.u64 %%q1, %%q1, 32;\n"
            "    sub.u32 %%r4, %%r4, 1;\n    setp.ne.u32 %%p3, %%r4, 0;\n"
            "    @%%p3 bra STEP;\n    mov.b64 %%q6, %%c0;\n    mov.b64 %%q7, %%c1;\n"
            "    selp.b64 %%q6, %%q7, %%q6, %%p1;\n    @%%p0 st.b64 [%%q3], %%q6;\n    ret;\n}\n",
            mnemonic);
    free(mnemonic);
}
