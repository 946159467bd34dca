/* Kernels of PTX text, one matrix instruction each.
 *
 * Row i of D is on the diagonal of a matrix product: A's row and B's column i are row i of the
 * operands, the rest of D is not used. In m16n8kK and wgmma m64n8kK a thread holds A's row and B's
 * column groupID = lane / 4, of each 16 bytes of K the 4 at threadID_in_group = lane % 4, whatever
 * the format (PTX ISA, "Matrix Fragments for mma.m16n8k*", "Register Fragments for wgmma"); A's
 * rows groupID + 8 are given the same. D's row groupID has columns 2 * threadID_in_group and the
 * next. In m8n8k4 a thread holds one row of A, one column of B and its own diagonal element.
 * Registers: %r0 lane, %r1 row, %r2 the diagonal element among the thread's, %r3 threadID_in_group,
 * %r4 steps left. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

static bool narrow(const char *format)
{
    return strcmp(format, "f16") == 0;
}

/* Accumulator registers of a thread. */
static unsigned registers(const struct instruction *in, const char *format)
{
    return (in->form == QUADS ? 8U : 4U) / (narrow(format) ? 2U : 1U);
}

/* "f16" accumulators become D in place; others have registers of their own. */
static char result(const struct instruction *in)
{
    return strcmp(in->c, in->d) == 0 ? 'c' : 'd';
}

char *ptx_mnemonic(const struct instruction *in)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        abort();
    if (in->form == TENSOR)
        fprintf(f, "tcgen05.mma.cta_group::1%s", in->kind);
    else if (in->form == GROUP)
        fprintf(f, "wgmma.mma_async.sync.aligned.%s.%s.%s.%s", in->shape, in->d, in->a, in->b);
    else
        fprintf(f, "mma.sync.aligned.%s.row.col%s.%s.%s.%s.%s%s%s", in->shape, in->kind, in->d,
                in->a, in->b, in->c, *in->scale ? "." : "", in->scale);
    fclose(f);
    return text;
}

static void put_head(FILE *f, const struct instruction *in, int capability)
{
    const struct needs n = instruction_needs(in, capability);
    fprintf(f, ".version %d.%d\n.target %s\n.address_size 64\n\n", n.version / 10, n.version % 10,
            n.target);
    fprintf(f, ".visible .entry rows(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d,\n"
               "    .param .u64 scale_a, .param .u64 scale_b, .param .u32 steps)\n{\n");
}

static void put_registers(FILE *f, const struct instruction *in)
{
    fprintf(f, "    .reg .pred %%p<5>;\n    .reg .b32 %%r<12>, %%a<2>, %%b<2>, %%s<2>;\n"
               "    .reg .b64 %%q<9>;\n");
    fprintf(f, "    .reg .%s %%c<8>;\n", narrow(in->c) ? "b32" : "f32");
    fprintf(f, "    .reg .%s %%d<8>;\n", narrow(in->d) ? "b32" : "f32");
    if (in->form == GROUP)
        fprintf(f, "    .shared .align 128 .b8 slab[256];\n");
}

/* %p0: this thread has the diagonal element. */
static void put_place(FILE *f, const struct instruction *in)
{
    fprintf(f, "    mov.u32 %%r5, %%tid.x;\n    and.b32 %%r0, %%r5, 31;\n"
               "    and.b32 %%r3, %%r0, 3;\n    mov.u32 %%r6, %%ctaid.x;\n");
    if (in->form == QUADS) {
        fprintf(f, "    mad.lo.u32 %%r1, %%r6, 32, %%r0;\n    shr.u32 %%r2, %%r0, 2;\n"
                   "    and.b32 %%r2, %%r2, 4;\n    or.b32 %%r2, %%r2, %%r3;\n"
                   "    setp.lt.u32 %%p0, %%r5, 32;\n");
        return;
    }
    fprintf(f, "    shr.u32 %%r7, %%r0, 2;\n    mad.lo.u32 %%r1, %%r6, 8, %%r7;\n"
               "    and.b32 %%r2, %%r7, 1;\n    shr.u32 %%r8, %%r7, 1;\n"
               "    setp.lt.u32 %%p1, %%r5, 32;\n    setp.eq.and.u32 %%p0, %%r3, %%r8, %%p1;\n");
}

void ptx_load_addresses(FILE *f, int n)
{
    static const char *const names[] = {"a", "b", "c", "d", "scale_a", "scale_b"};
    for (int i = 0; i < n; i++)
        fprintf(f, "    ld.param.u64 %%q%d, [%s];\n", i, names[i]);
}

/* %q0, %q1: this thread's first elements of A and B; %q3: its row of D; %q4, %q5: its scales. */
static void put_addresses(FILE *f, const struct instruction *in)
{
    ptx_load_addresses(f, 6);
    fprintf(f, "    ld.param.u32 %%r4, [steps];\n    mul.lo.u32 %%r9, %%r1, %%r4;\n");
    fprintf(f,
            "    mul.wide.u32 %%q6, %%r9, %u;\n    add.u64 %%q0, %%q0, %%q6;\n"
            "    add.u64 %%q1, %%q1, %%q6;\n",
            instruction_bytes(in));
    if (in->form != QUADS)
        fprintf(f, "    mul.wide.u32 %%q6, %%r3, 4;\n    add.u64 %%q0, %%q0, %%q6;\n"
                   "    add.u64 %%q1, %%q1, %%q6;\n");
    fprintf(f, "    mul.wide.u32 %%q6, %%r1, 4;\n    add.u64 %%q2, %%q2, %%q6;\n"
               "    add.u64 %%q3, %%q3, %%q6;\n    mul.wide.u32 %%q6, %%r9, 4;\n"
               "    add.u64 %%q4, %%q4, %%q6;\n    add.u64 %%q5, %%q5, %%q6;\n");
}

/* Every accumulator of the thread is its row's C, in both halves where there are two. */
static void put_c(FILE *f, const struct instruction *in)
{
    fprintf(f, "    ld.b32 %%r10, [%%q2];\n");
    if (narrow(in->c))
        fprintf(f, "    mul.lo.u32 %%r10, %%r10, 65537;\n");
    for (unsigned i = 0; i < registers(in, in->c); i++)
        fprintf(f, "    mov.b32 %%c%u, %%r10;\n", i);
}

/* Matrix B in shared memory without swizzling: two core matrices of 8 columns of 16 bytes, 128
 * bytes apart, which both strides of the descriptor say: its fields count 16 bytes. */
static void put_descriptor(FILE *f)
{
    fprintf(f,
            "    mov.u32 %%r11, slab;\n    cvt.u64.u32 %%q7, %%r11;\n"
            "    and.b64 %%q7, %%q7, 262143;\n    shr.u64 %%q7, %%q7, 4;\n"
            "    or.b64 %%q7, %%q7, %lld;\n    mad.lo.u32 %%r11, %%r7, 16, %%r11;\n"
            "    mad.lo.u32 %%r11, %%r3, 4, %%r11;\n    setp.eq.u32 %%p2, %%r0, %%r0;\n",
            8LL << 16 | 8LL << 32);
}

static void put_list(FILE *f, char name, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "%s%%%c%u", i == 0 ? "{" : ", ", name, i);
    fprintf(f, "}");
}

static void put_operands(FILE *f, const struct instruction *in)
{
    const bool one = instruction_bytes(in) == 16;
    if (in->form == QUADS)
        fprintf(f, ", {%%a0, %%a1}, {%%b0, %%b1}, ");
    else if (one)
        fprintf(f, ", {%%a0, %%a0}, {%%b0}, ");
    else
        fprintf(f, ", {%%a0, %%a0, %%a1, %%a1}, {%%b0, %%b1}, ");
    put_list(f, 'c', registers(in, in->c));
    if (in->scales > 0)
        fprintf(f, ", %%s0, {0, 0}, %%s1, {0, 0}");
}

static void put_mma(FILE *f, const struct instruction *in)
{
    char *mnemonic = ptx_mnemonic(in);
    fprintf(f, "    %s ", mnemonic);
    free(mnemonic);
    put_list(f, result(in), registers(in, in->d));
    if (in->form == GROUP)
        fprintf(f, ", {%%a0, %%a0, %%a1, %%a1}, %%q7, %%p2, 1, 1%s",
                strstr(in->a, "f16") ? ", 0" : "");
    else
        put_operands(f, in);
    fprintf(f, ";\n");
}

static void put_loads(FILE *f, const struct instruction *in)
{
    const unsigned second = in->form == QUADS ? 4 : 16;
    for (unsigned i = 0; i * second < instruction_bytes(in); i++)
        fprintf(f, "    ld.b32 %%a%u, [%%q0+%u];\n    ld.b32 %%b%u, [%%q1+%u];\n", i, i * second, i,
                i * second);
    if (in->scales > 0)
        fprintf(f, "    ld.b32 %%s0, [%%q4];\n    ld.b32 %%s1, [%%q5];\n"
                   "    add.u64 %%q4, %%q4, 4;\n    add.u64 %%q5, %%q5, 4;\n");
}

static void put_group(FILE *f, const struct instruction *in)
{
    fprintf(f,
            "    @%%p1 st.shared.b32 [%%r11], %%b0;\n    @%%p1 st.shared.b32 [%%r11+128], %%b1;\n"
            "    fence.proxy.async;\n    bar.sync 0;\n    wgmma.fence.sync.aligned;\n");
    put_mma(f, in);
    fprintf(f, "    wgmma.commit_group.sync.aligned;\n    wgmma.wait_group.sync.aligned 0;\n"
               "    bar.sync 0;\n");
}

static void put_loop(FILE *f, const struct instruction *in)
{
    fprintf(f, "STEP:\n");
    put_loads(f, in);
    if (in->form == GROUP)
        put_group(f, in);
    else
        put_mma(f, in);
    fprintf(f, "    add.u64 %%q0, %%q0, %u;\n    add.u64 %%q1, %%q1, %u;\n", instruction_bytes(in),
            instruction_bytes(in));
    fprintf(f, "    sub.u32 %%r4, %%r4, 1;\n    setp.ne.u32 %%p3, %%r4, 0;\n    @%%p3 bra STEP;\n");
}

/* Of the thread's elements, the diagonal one. */
static void put_result(FILE *f, const struct instruction *in)
{
    const unsigned elements = in->form == QUADS ? 8 : 2, each = narrow(in->d) ? 2 : 1;
    const char d = result(in);
    fprintf(f, "    shr.u32 %%r6, %%r2, %u;\n    mov.b32 %%r9, %%%c0;\n", each - 1, d);
    for (unsigned i = 1; i < elements / each; i++)
        fprintf(f,
                "    setp.eq.u32 %%p4, %%r6, %u;\n    mov.b32 %%r10, %%%c%u;\n"
                "    selp.b32 %%r9, %%r10, %%r9, %%p4;\n",
                i, d, i);
    if (narrow(in->d))
        fprintf(f, "    and.b32 %%r6, %%r2, 1;\n    shl.b32 %%r6, %%r6, 4;\n"
                   "    shr.u32 %%r9, %%r9, %%r6;\n    and.b32 %%r9, %%r9, 65535;\n");
    fprintf(f, "    @%%p0 st.b32 [%%q3], %%r9;\n    ret;\n}\n");
}

static void put_body(FILE *f, const struct instruction *in)
{
    put_registers(f, in);
    put_place(f, in);
    put_addresses(f, in);
    put_c(f, in);
    if (in->form == GROUP)
        put_descriptor(f);
    put_loop(f, in);
    put_result(f, in);
}

char *ptx_kernel(const struct instruction *in, int capability)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        abort();
    put_head(f, in, capability);
    if (in->form == TENSOR)
        tcgen05_body(f, in);
    else if (in->form == WIDE)
        wide_body(f, in);
    else
        put_body(f, in);
    fclose(f);
    return text;
}
