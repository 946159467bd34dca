/* Kernels of tcgen05.mma, m128n16kK in one block of four warps.
 *
 * Row i of D is on the diagonal, i from 0 to 7; the other rows and columns hold what happens to lie
 * in shared memory, and are not used. A and B are K-major without swizzling: core matrices of 8
 * rows of 16 bytes (PTX ISA, "Shared Memory Layout and Swizzling"). An instruction takes two of
 * them side by side in K; both strides of the descriptors are 128 bytes, so that nothing depends on
 * which stride is which. D is in tensor memory, row i in lane i, an element a column, f16 in the
 * low half ("Layout D", "Packing format for matrix D"). Scales are words of four bytes behind D,
 * lane i those of row i, the same in each 32 lanes ("Block Scaling").
 *
 * %r0 lane of the warp, %r1 row of A and B, %r2 row of the others, %r4 steps left, %r5 thread, %r11
 * tensor memory, %r12 its part that this warp reaches, %r13 and %r14 the scales there, %r15 this
 * thread's place in the slab, %r16 the barrier, %r17 its phase, %r18 the instruction descriptor;
 * %p1 first warp, %p5 first thread. */
#include <stdlib.h>
#include <string.h>

#include "ptx.h"

enum { COLUMNS = 16, SLAB_OF_B = 2304, SLAB = 2688 };

/* PTX ISA, "Instruction descriptor". */
static unsigned code_of(const struct instruction *in, const char *format)
{
    static const char *const wide[] = {"f16", "bf16", "tf32"};
    static const char *const small[] = {"e4m3", "e5m2", "", "e2m3", "e3m2", "e2m1"};
    for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++)
        if (strcmp(wide[i], format) == 0)
            return i;
    if (instruction_k(in) == 64)
        return 1; /* e2m1 */
    for (unsigned i = 0; i < sizeof small / sizeof *small; i++)
        if (strcmp(small[i], format) == 0)
            return i;
    return 0;
}

static unsigned descriptor(const struct instruction *in)
{
    const unsigned shape = COLUMNS / 8 << 17 | 128 / 16 << 24;
    const unsigned formats = code_of(in, in->a) << 7 | code_of(in, in->b) << 10;
    if (in->scales > 0)
        return shape | formats | (unsigned)(strcmp(in->scale, "ue8m0") == 0) << 23;
    return shape | formats | (unsigned)(strcmp(in->d, "f32") == 0) << 4;
}

static void put_memory(FILE *f)
{
    fprintf(f,
            "    .reg .pred %%p<6>;\n    .reg .b32 %%r<20>, %%a<2>, %%b<2>, %%s<2>, %%d<8>;\n"
            "    .reg .b64 %%q<9>;\n    .shared .align 128 .b8 slab[%d];\n"
            "    .shared .align 8 .b64 done;\n    .shared .align 4 .b32 place;\n",
            SLAB);
}

static void put_place(FILE *f)
{
    fprintf(f, "    mov.u32 %%r5, %%tid.x;\n    and.b32 %%r0, %%r5, 31;\n"
               "    and.b32 %%r3, %%r0, 3;\n    shr.u32 %%r7, %%r0, 2;\n"
               "    and.b32 %%r8, %%r0, 7;\n    mov.u32 %%r6, %%ctaid.x;\n"
               "    mad.lo.u32 %%r1, %%r6, 8, %%r7;\n    mad.lo.u32 %%r2, %%r6, 8, %%r8;\n"
               "    setp.lt.u32 %%p1, %%r5, 32;\n    setp.eq.u32 %%p5, %%r5, 0;\n");
}

/* %q0, %q1: this thread's words of A and B; %q2, %q3, %q4, %q5: its row's C, D and scales. */
static void put_addresses(FILE *f)
{
    ptx_load_addresses(f, 6);
    fprintf(f, "    ld.param.u32 %%r4, [steps];\n    mul.lo.u32 %%r9, %%r1, %%r4;\n"
               "    mul.wide.u32 %%q6, %%r9, 32;\n    add.u64 %%q0, %%q0, %%q6;\n"
               "    add.u64 %%q1, %%q1, %%q6;\n    mul.wide.u32 %%q6, %%r3, 4;\n"
               "    add.u64 %%q0, %%q0, %%q6;\n    add.u64 %%q1, %%q1, %%q6;\n"
               "    mul.wide.u32 %%q6, %%r2, 4;\n    add.u64 %%q2, %%q2, %%q6;\n"
               "    add.u64 %%q3, %%q3, %%q6;\n    mul.lo.u32 %%r9, %%r2, %%r4;\n"
               "    mul.wide.u32 %%q6, %%r9, 4;\n    add.u64 %%q4, %%q4, %%q6;\n"
               "    add.u64 %%q5, %%q5, %%q6;\n");
}

/* %q7, %q8: the descriptors of A and B; their fields count 16 bytes. */
static void put_descriptors(FILE *f, const struct instruction *in)
{
    fprintf(f, "    mov.u32 %%r15, slab;\n");
    for (int i = 0; i < 2; i++)
        fprintf(f,
                "    add.u32 %%r9, %%r15, %d;\n    cvt.u64.u32 %%q%d, %%r9;\n"
                "    and.b64 %%q%d, %%q%d, 262143;\n    shr.u64 %%q%d, %%q%d, 4;\n"
                "    or.b64 %%q%d, %%q%d, %lld;\n",
                i * SLAB_OF_B, 7 + i, 7 + i, 7 + i, 7 + i, 7 + i, 7 + i, 7 + i,
                8LL << 16 | 8LL << 32 | 1LL << 46);
    fprintf(f,
            "    mad.lo.u32 %%r15, %%r7, 16, %%r15;\n    mad.lo.u32 %%r15, %%r3, 4, %%r15;\n"
            "    mov.u32 %%r18, %u;\n    setp.eq.u32 %%p4, %%r0, %%r0;\n",
            descriptor(in));
}

static void put_vector(FILE *f, const char *name, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        fprintf(f, "%s%s", i == 0 ? "{" : ", ", name);
    fprintf(f, "};\n");
}

/* A barrier and tensor memory; C in every column. A warp reaches 32 lanes: bits 16 and up of an
 * address. */
static void put_start(FILE *f)
{
    fprintf(f, "    mov.u32 %%r16, done;\n    mov.u32 %%r17, place;\n"
               "    @%%p5 mbarrier.init.shared.b64 [%%r16], 1;\n"
               "    @%%p1 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%%r17], 32;\n"
               "    bar.sync 0;\n    ld.shared.b32 %%r11, [%%r17];\n    mov.u32 %%r17, 0;\n"
               "    shr.u32 %%r12, %%r5, 5;\n    shl.b32 %%r12, %%r12, 21;\n"
               "    add.u32 %%r12, %%r12, %%r11;\n    add.u32 %%r13, %%r12, 16;\n"
               "    add.u32 %%r14, %%r12, 20;\n    ld.b32 %%r10, [%%q2];\n"
               "    tcgen05.st.sync.aligned.32x32b.x16.b32 [%%r12], ");
    put_vector(f, "%r10", COLUMNS);
}

static void put_scales(FILE *f)
{
    for (int i = 0; i < 2; i++) {
        const char *name = i == 0 ? "%s0" : "%s1";
        fprintf(f,
                "    ld.b32 %s, [%%q%d];\n    add.u64 %%q%d, %%q%d, 4;\n"
                "    tcgen05.st.sync.aligned.32x32b.x4.b32 [%%r%d], ",
                name, 4 + i, 4 + i, 4 + i, 13 + i);
        put_vector(f, name, 4);
    }
}

/* What this block's threads wrote is seen by the instruction; the first thread issues it; all wait
 * until it has read and written. */
static void put_step(FILE *f, const struct instruction *in)
{
    char *mnemonic = ptx_mnemonic(in);
    for (int i = 0; i < 2; i++)
        fprintf(f,
                "    ld.b32 %%a%d, [%%q0+%d];\n    ld.b32 %%b%d, [%%q1+%d];\n"
                "    @%%p1 st.shared.b32 [%%r15+%d], %%a%d;\n"
                "    @%%p1 st.shared.b32 [%%r15+%d], %%b%d;\n",
                i, i * 16, i, i * 16, i * 128, i, SLAB_OF_B + i * 128, i);
    if (in->scales > 0)
        put_scales(f);
    fprintf(f,
            "    tcgen05.wait::st.sync.aligned;\n    fence.proxy.async;\n"
            "    tcgen05.fence::before_thread_sync;\n    bar.sync 0;\n"
            "    tcgen05.fence::after_thread_sync;\n"
            "    @%%p5 %s [%%r11], %%q7, %%q8, %%r18%s, %%p4;\n",
            mnemonic, in->scales > 0 ? ", [%r13], [%r14]" : "");
    fprintf(f, "    @%%p5 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 "
               "[%%r16];\nWAIT:\n"
               "    mbarrier.try_wait.parity.shared.b64 %%p2, [%%r16], %%r17;\n"
               "    @!%%p2 bra WAIT;\n    xor.b32 %%r17, %%r17, 1;\n"
               "    tcgen05.fence::after_thread_sync;\n");
    free(mnemonic);
}

static void put_loop(FILE *f, const struct instruction *in)
{
    fprintf(f, "STEP:\n");
    put_step(f, in);
    fprintf(f, "    add.u64 %%q0, %%q0, 32;\n    add.u64 %%q1, %%q1, 32;\n"
               "    sub.u32 %%r4, %%r4, 1;\n    setp.ne.u32 %%p3, %%r4, 0;\n"
               "    @%%p3 bra STEP;\n");
}

/* Threads 0 to 7 have a row each, of which they keep the diagonal element. */
static void put_result(FILE *f, const struct instruction *in)
{
    fprintf(f, "    tcgen05.ld.sync.aligned.32x32b.x8.b32 {%%d0, %%d1, %%d2, %%d3, %%d4, %%d5, "
               "%%d6, %%d7}, [%%r12];\n    tcgen05.wait::ld.sync.aligned;\n"
               "    mov.b32 %%r9, %%d0;\n");
    for (int i = 1; i < 8; i++)
        fprintf(f, "    setp.eq.u32 %%p4, %%r8, %d;\n    selp.b32 %%r9, %%d%d, %%r9, %%p4;\n", i,
                i);
    if (strcmp(in->d, "f16") == 0)
        fprintf(f, "    and.b32 %%r9, %%r9, 65535;\n");
    fprintf(f, "    setp.lt.u32 %%p2, %%r5, 8;\n    @%%p2 st.b32 [%%q3], %%r9;\n"
               "    tcgen05.fence::before_thread_sync;\n    bar.sync 0;\n"
               "    tcgen05.fence::after_thread_sync;\n"
               "    @%%p1 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %%r11, 32;\n"
               "    @%%p1 tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n"
               "    ret;\n}\n");
}

void tcgen05_body(FILE *f, const struct instruction *in)
{
    put_memory(f);
    put_place(f);
    put_addresses(f);
    put_start(f);
    put_descriptors(f, in);
    put_loop(f, in);
    put_result(f, in);
}
