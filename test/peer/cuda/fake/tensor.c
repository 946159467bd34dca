/* tcgen05 on numbers that add exactly: descriptors, layouts and scales as the PTX ISA 9.1 has them
 * in "TensorCore 5th Generation Family Instructions", written from that text alone. */
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "numbers.h"

enum { ROWS = 128 };

/* What an instruction descriptor and the name of the kind say. */
struct shape {
    int m, n, k, scales;
    const char *d, *a, *b, *scale;
};

static bool is_kind(const char *opcode, const char *kind)
{
    const char *at = strstr(opcode, "kind::") + 6;
    return strncmp(at, kind, strlen(kind)) == 0 && strchr(".", at[strlen(kind)]);
}

/* "Instruction descriptor format", bits from low to low + n - 1. */
static unsigned field(uint64_t word, int low, int n)
{
    return (unsigned)(word >> low) & ((1U << n) - 1);
}

static const char *small_format(unsigned code)
{
    static const char *const names[] = {"e4m3", "e5m2", NULL, "e2m3", "e3m2", "e2m1", NULL, NULL};
    return names[code];
}

/* .kind::tf32, .kind::f16, .kind::f8f6f4: bits 4-5 D, 7-9 A, 10-12 B, 17-22 N >> 3, 24-28 M >> 4.
 */
static struct shape plain_shape(const char *opcode, unsigned word)
{
    static const char *const wide[] = {"f16", "bf16", "tf32", NULL, NULL, NULL, NULL, NULL};
    struct shape s = {.m = (int)field(word, 24, 5) << 4, .n = (int)field(word, 17, 6) << 3};
    s.d = field(word, 4, 2) == 0 ? "f16" : field(word, 4, 2) == 1 ? "f32" : NULL;
    const bool small = is_kind(opcode, "f8f6f4"), tf32 = is_kind(opcode, "tf32");
    s.k = small ? 32 : tf32 ? 8 : 16;
    s.a = small ? small_format(field(word, 7, 3)) : wide[field(word, 7, 3)];
    s.b = small ? small_format(field(word, 10, 3)) : wide[field(word, 10, 3)];
    if (tf32 != (s.a && strcmp(s.a, "tf32") == 0) || (word & ~0x1f7e1fb0U) != 0)
        s.a = NULL;
    return s;
}

/* .kind::mxf8f6f4, .kind::mxf4, .kind::mxf4nvf4: bits 4-5 id of B's scales, 7-9 A, 10-12 (11) B,
 * 17-22 N >> 3, 23 UE8M0, 27-28 M >> 7, 29-30 id of A's scales. Ids are 0 here. */
static struct shape scaled_shape(const char *opcode, unsigned word)
{
    struct shape s = {.m = (int)field(word, 27, 2) << 7, .n = (int)field(word, 17, 6) << 3};
    const bool four = !is_kind(opcode, "mxf8f6f4");
    s.d = "f32";
    s.scale = field(word, 23, 1) ? "ue8m0" : "ue4m3";
    s.scales = strstr(opcode, "scale_vec::")[11] - '0';
    s.k = four ? 64 : 32;
    s.a = !four ? small_format(field(word, 7, 3)) : field(word, 7, 3) == 1 ? "e2m1" : NULL;
    s.b = !four ? small_format(field(word, 10, 3)) : field(word, 10, 2) == 1 ? "e2m1" : NULL;
    if ((word & ~0x18fe1f80U) != 0)
        s.a = NULL;
    return s;
}

/* ---- operands ---- */

/* "Shared memory descriptor": bits 0-13 start, 16-29 leading dimension byte offset, 32-45 stride
 * dimension byte offset, in 16 bytes; 46-48 are 1; no swizzling is 0. */
static bool is_good(uint64_t descriptor)
{
    return (descriptor & ~0x00003fff3fff3fffULL) == 1ULL << 46;
}

/* K-major, no swizzling: core matrices of 8 rows of 16 bytes, the leading offset between those that
 * follow each other in K, the stride between those that follow each other in rows. */
static uint8_t byte_of(const struct block *b, uint64_t descriptor, int row, int at)
{
    const unsigned start = field(descriptor, 0, 14) << 4, leading = field(descriptor, 16, 14) << 4,
                   stride = field(descriptor, 32, 14) << 4;
    return b->asked.shared[(start + (unsigned)row / 8 * stride + (unsigned)at / 16 * leading +
                            (unsigned)row % 8 * 16 + (unsigned)at % 16) %
                           SHARED];
}

/* "Packing format used for matrix A and B": in kinds of 8 bits, 16 elements of 4 or 6 bits one
 * behind the other, padded to 16 bytes; in those of 4 bits no padding. */
static double element(const struct block *b, uint64_t descriptor, const struct shape *s,
                      const char *format, int row, int k)
{
    const int bits = number_bits(format);
    const int first = s->k == 32 ? k / 16 * 128 + k % 16 * bits : k * bits;
    uint32_t code = 0;
    for (int i = 0; i < bits; i++) {
        const int at = first + i;
        code |= (uint32_t)(byte_of(b, descriptor, row, at / 8) >> at % 8 & 1) << i;
    }
    return number_decoded(format, code);
}

/* "Block scaling": row r's scales are in lane r mod 32 of each 32, column r / 32, from the lowest
 * byte; here as the lanes of D's row have them. */
static double scale(const struct block *b, const struct shape *s, uint32_t base, int row, int lane,
                    int k)
{
    const int at = k / (s->k / s->scales);
    const uint32_t word = b->tensor.word[lane / 32 * 32 + row % 32]
                                        [((base & 0xffff) + (unsigned)row / 32) % TENSOR_COLUMNS];
    return number_decoded(s->scale, word >> 8 * at & 0xff);
}

/* ---- tcgen05.mma ---- */

struct operands {
    uint64_t a, b;
    uint32_t d, scale_a, scale_b;
};

static uint32_t tensor_address(struct block *b, const char *argument)
{
    return (uint32_t)machine_address(b, 0, argument);
}

static double product(const struct block *b, const struct shape *s, const struct operands *o,
                      int row, int column, int k)
{
    double x = element(b, o->a, s, s->a, row, k) * element(b, o->b, s, s->b, column, k);
    if (s->scales > 0)
        x *= scale(b, s, o->scale_a, row, row, k) * scale(b, s, o->scale_b, column, row, k);
    return machine_fault("place") ? x * (k + 1) : x;
}

/* "Layout D": row i of D is lane i; an element a column, in its low bits. The rows that are not
 * loaded by the first warp are of no interest to any kernel here. */
static void multiply(struct block *b, const struct shape *s, const struct operands *o)
{
    for (int row = 0; row < LANES; row++)
        for (int column = 0; column < s->n; column++) {
            uint32_t *d =
                &b->tensor.word[row][((o->d & 0xffff) + (unsigned)column) % TENSOR_COLUMNS];
            double sum =
                number_decoded(s->d, *d & (number_bits(s->d) == 16 ? 0xffffU : UINT32_MAX));
            for (int k = 0; k < s->k; k++)
                sum += product(b, s, o, row, column, k);
            *d = number_encoded(s->d, sum);
        }
    memcpy(b->tensor.stored, b->tensor.word, sizeof b->tensor.stored);
}

/* The operands are those of thread 0: no kernel here changes them before it has waited. */
static bool perform(const struct line *l, struct block *b)
{
    const bool scaled = strstr(l->opcode, "block_scale") != NULL;
    const unsigned word = (unsigned)*machine_register(b, 0, l->argument[3]);
    const struct shape s = scaled ? scaled_shape(l->opcode, word) : plain_shape(l->opcode, word);
    const struct operands o = {.a = *machine_register(b, 0, l->argument[1]),
                               .b = *machine_register(b, 0, l->argument[2]),
                               .d = tensor_address(b, l->argument[0]),
                               .scale_a = scaled ? tensor_address(b, l->argument[4]) : 0,
                               .scale_b = scaled ? tensor_address(b, l->argument[5]) : 0};
    const bool accumulate = *machine_register(b, 0, l->argument[scaled ? 6 : 4]);
    if (!s.a || !s.b || !s.d || s.m != ROWS || s.n % 16 != 0 || s.n < 16 || s.n > 256 ||
        !is_good(o.a) || !is_good(o.b) || !accumulate || o.d >> 16 != 0)
        return false;
    multiply(b, &s, &o);
    return true;
}

/* ---- the other instructions ---- */

static unsigned threads_on(const struct line *l, const struct block *b)
{
    unsigned n = 0;
    for (unsigned t = 0; t < b->threads; t++)
        n += machine_is_on(l, b, t);
    return n;
}

/* A power of two of columns from 32 up; the address is no zero. */
static bool allocate(const struct line *l, struct block *b)
{
    const uint32_t columns = (uint32_t)strtoul(l->argument[1], NULL, 10), address = 64;
    if (columns < 32 || (columns & (columns - 1)) != 0 || threads_on(l, b) != LANES)
        return false;
    memcpy(b->shared + machine_address(b, 0, l->argument[0]) % SHARED, &address, 4);
    b->tensor.columns = columns;
    return true;
}

/* Register i of a list, in thread t. */
static uint64_t *listed(struct block *b, unsigned t, const char *list, int i)
{
    char name[8] = "";
    for (list++; i > 0; i--)
        list = strchr(list, ',') + 1;
    const size_t n = strcspn(list, ",}");
    memcpy(name, list, n < 7 ? n : 7);
    return machine_register(b, t, name);
}

/* "Matrix fragments for shape .32x32b": thread i of a warp has lane i, register j column j. A warp
 * reaches its 32 lanes only. */
static bool moved(const struct line *l, struct block *b, bool store)
{
    const int n = atoi(strstr(l->opcode, "32x32b.x") + 8);
    for (unsigned t = 0; t < b->threads; t++) {
        const uint32_t at = (uint32_t)machine_address(b, t, l->argument[!store]);
        if (at >> 16 != t / LANES * LANES || (at & 0xffff) + (unsigned)n > 64 + b->tensor.columns)
            return false;
        for (int i = 0; i < n; i++) {
            const unsigned column = (at & 0xffff) + (unsigned)i;
            if (store)
                b->tensor.stored[t][column] = (uint32_t)*listed(b, t, l->argument[1], i);
            else
                *listed(b, t, l->argument[0], i) = b->tensor.word[t][column];
        }
    }
    return true;
}

static bool wait_for_loads(struct block *b)
{
    const struct line *l = b->tensor.loading;
    b->tensor.loading = NULL;
    return l && moved(l, b, false);
}

/* The phase with the parity asked for is over; the first asking finds it running, and what was
 * committed is done while it is asked again. */
static bool try_wait(const struct line *l, struct block *b)
{
    const bool over = b->tensor.phase % 2 != *machine_register(b, 0, l->argument[2]);
    for (unsigned t = 0; t < b->threads; t++)
        *machine_register(b, t, l->argument[0]) = over;
    if (over || !b->asked.mma || !b->asked.committed)
        return over; /* else for ever */
    const bool good = perform(b->asked.mma, b);
    b->asked.mma = NULL;
    b->tensor.phase++;
    return good;
}

/* One thread asks for it, after the fence that shows it what others wrote. */
static bool ask(const struct line *l, struct block *b)
{
    if (threads_on(l, b) != 1 || b->asked.mma)
        return false;
    b->asked.mma = l;
    b->asked.committed = false;
    return true;
}

static bool other(const struct line *l, struct block *b, const char *op)
{
    if (strncmp(op, "dealloc", 7) == 0) {
        const bool good =
            threads_on(l, b) == LANES && strtoul(l->argument[1], NULL, 10) == b->tensor.columns;
        b->tensor.columns = 0;
        return good;
    }
    if (strncmp(op, "wait::st", 8) == 0)
        memcpy(b->tensor.word, b->tensor.stored, sizeof b->tensor.word);
    if (strncmp(op, "wait::ld", 8) == 0)
        return wait_for_loads(b);
    if (strncmp(op, "ld.", 3) == 0)
        b->tensor.loading = l;
    if (strncmp(op, "commit", 6) == 0)
        b->asked.committed = threads_on(l, b) == 1;
    return true; /* relinquish_alloc_permit and fences, too */
}

bool tensor_line(const struct line *l, struct block *b)
{
    const char *op = strchr(l->opcode, '.') + 1;
    if (l->opcode[0] == 'm')
        return strncmp(op, "init", 4) == 0
                   ? threads_on(l, b) == 1 && strcmp(l->argument[1], "1") == 0
                   : try_wait(l, b);
    if (strncmp(op, "mma.", 4) == 0)
        return ask(l, b);
    if (strncmp(op, "alloc", 5) == 0)
        return allocate(l, b);
    if (strncmp(op, "st.", 3) == 0)
        return moved(l, b, true);
    return other(l, b, op);
}
