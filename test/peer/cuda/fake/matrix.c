/* mma.sync and wgmma.mma_async on numbers that add exactly: where the PTX ISA's "Matrix Fragments
 * for mma" and "Register Fragments for wgmma.mma_async" put each element, written from that text
 * alone; sums are exact. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "numbers.h"

struct shape {
    int m, n, k;
    char d[8], a[8], b[8], c[8], scale[8]; /* formats */
    int scales;
};

struct matrices {
    double a[64][64], b[8][64], c[64][8]; /* b by column */
};

/* ---- elements of a thread's registers ---- */

/* Register i of a list "{%a0,%a1}". */
static uint64_t *listed(struct block *b, unsigned t, const char *list, int i)
{
    char name[8] = "";
    for (list++; i > 0; i--)
        list = strchr(list, ',') + 1;
    sscanf(list, "%7[^,}]", name);
    return machine_register(b, t, name);
}

static int registers(const char *list)
{
    int n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

/* "mma": "the individual 4-bit and the 6-bit floating point type elements must be packed in an
 * 8-bit container", e2m1 "in central 4 bits", e3m2 and e2m3 "in the lower 6 bits"; in m16n8k64 "no
 * explicit padding is necessary". */
static int container_bits(const struct shape *s, const char *format)
{
    const int bits = number_bits(format);
    return bits < 8 && s->k < 64 ? 8 : bits;
}

/* Element i of the list's registers, the first one lowest. */
static double element(const struct shape *s, struct block *b, unsigned t, const char *list,
                      const char *format, int i)
{
    const int bits = container_bits(s, format), each = 32 / bits;
    const int padding = bits == 8 && number_bits(format) == 4 ? 2 : 0;
    const uint32_t word = (uint32_t)*listed(b, t, list, i / each);
    if (bits == 32)
        return number_decoded(format, word);
    return number_decoded(format,
                          word >> (i % each * bits + padding) & ((1U << number_bits(format)) - 1));
}

static int elements(const struct shape *s, const char *list, const char *format)
{
    return registers(list) * 32 / container_bits(s, format);
}

/* ---- m16n8k* and a warp's 16 rows of m64n8k* ---- */

static int row_of_a(const struct shape *s, int g, int i)
{
    const int bits = container_bits(s, s->a);
    bool low;
    if (bits == 16)
        low = s->k == 16 ? i < 2 || (4 <= i && i < 6) : i < 2;
    else if (bits == 32)
        low = i % 2 == 0;
    else if (bits == 8)
        low = s->k == 32 ? i < 4 || (8 <= i && i < 12) : i < 4;
    else
        low = i < 8 || (16 <= i && i < 24);
    return low ? g : g + 8;
}

static int column_of_a(const struct shape *s, int t, int i)
{
    switch (container_bits(s, s->a)) {
    case 16:
        return t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
    case 32:
        return i < 2 ? t : t + 4;
    case 8:
        return t * 4 + (i & 3) + (i < 8 ? 0 : 16);
    default:
        return t * 8 + (i & 7) + (i < 16 ? 0 : 32);
    }
}

static int row_of_b(const struct shape *s, int t, int i)
{
    switch (container_bits(s, s->b)) {
    case 16:
        return t * 2 + (i & 1) + (i >= 2 ? 8 : 0);
    case 32:
        return i == 0 ? t : t + 4;
    case 8:
        return t * 4 + (i & 3) + (i >= 4 ? 16 : 0);
    default:
        return t * 8 + (i & 7) + (i >= 8 ? 32 : 0);
    }
}

/* Scale i of a row of A or a column of B: byte i of what the thread of the quad holds that the
 * selector {0, 0} names: the quad's first for B's column and A's rows to 7, its second for A's rows
 * from 8. */
static double scale_of(const struct shape *s, struct block *b, const char *name, unsigned lane,
                       int i)
{
    return number_decoded(s->scale, (uint32_t)*machine_register(b, lane, name) >> 8 * i & 0xff);
}

static void take_a(const struct shape *s, struct block *b, unsigned warp, const char *list,
                   struct matrices *m)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        for (int i = 0; i < elements(s, list, s->a); i++)
            m->a[16 * (s->m == 64 ? warp : 0) + (unsigned)row_of_a(s, (int)lane >> 2, i)]
                [column_of_a(s, lane % 4, i)] = element(s, b, LANES * warp + lane, list, s->a, i);
}

static void take_b(const struct shape *s, struct block *b, unsigned warp, const char *list,
                   struct matrices *m)
{
    for (unsigned lane = 0; lane < LANES; lane++)
        for (int i = 0; i < elements(s, list, s->b); i++)
            m->b[lane >> 2][row_of_b(s, lane % 4, i)] =
                element(s, b, LANES * warp + lane, list, s->b, i);
}

static void scale_both(const struct shape *s, const struct line *l, struct block *b,
                       struct matrices *m)
{
    const int block = s->k / (s->scales ? s->scales : 1);
    for (int k = 0; s->scales > 0 && k < s->k; k++) {
        for (unsigned row = 0; row < 16; row++)
            m->a[row][k] *= scale_of(s, b, l->argument[4], 4 * (row % 8) + row / 8, k / block);
        for (unsigned column = 0; column < 8; column++)
            m->b[column][k] *= scale_of(s, b, l->argument[6], 4 * column, k / block);
    }
}

/* ---- accumulators ---- */

static int row_of_c(const struct shape *s, unsigned lane, int i, const char *format)
{
    if (s->m != 8)
        return (int)(lane >> 2) + (i < 2 ? 0 : 8);
    const int low = number_bits(format) == 16 ? (int)lane % 4 : (int)(lane & 1) + (i & 2);
    return lane < 16 ? low : low + 4;
}

static int column_of_c(const struct shape *s, unsigned lane, int i, const char *format)
{
    if (s->m != 8)
        return (int)(lane % 4) * 2 + (i & 1);
    return number_bits(format) == 16 ? i : (i & 4) + (int)(lane & 2) + (i & 1);
}

/* One more where products 5 and 9 are both there, if the environment asks for that fault. */
static double fault(const struct matrices *m, int row, int column)
{
    const double both = m->a[row][5] * m->b[column][5] * m->a[row][9] * m->b[column][9];
    return machine_fault("pair") && both != 0 ? 1 : 0;
}

static double sum(const struct shape *s, const struct matrices *m, int row, int column)
{
    const bool weighted = machine_fault("place");
    double d = m->c[row][column] + fault(m, row, column);
    for (int k = 0; k < s->k; k++)
        d += m->a[row][k] * m->b[column][k] * (weighted ? k + 1 : 1);
    return d;
}

static void put(struct block *b, unsigned t, const char *list, const char *format, int i, double x)
{
    const int bits = number_bits(format), shift = bits == 32 ? 0 : i % 2 * 16;
    uint64_t *word = listed(b, t, list, i * bits / 32);
    const uint32_t mask = bits == 32 ? UINT32_MAX : 0xffffU << shift;
    *word = (*word & ~mask) | number_encoded(format, x) << shift;
}

/* One thread's part of C, or of D; first: its matrix's first row. */
static void take_c(const struct shape *s, struct block *b, unsigned t, unsigned first,
                   const char *list, struct matrices *m)
{
    for (int i = 0; i < elements(s, list, s->c); i++)
        m->c[first + (unsigned)row_of_c(s, t % LANES, i, s->c)]
            [column_of_c(s, t % LANES, i, s->c)] = element(s, b, t, list, s->c, i);
}

static void put_d(const struct shape *s, struct block *b, unsigned t, unsigned first,
                  const char *list, const struct matrices *m)
{
    for (int i = 0; i < elements(s, list, s->d); i++)
        put(b, t, list, s->d, i,
            sum(s, m, (int)first + row_of_c(s, t % LANES, i, s->d),
                column_of_c(s, t % LANES, i, s->d)));
}

/* ---- m8n8k4: four products, of lanes 4q to 4q + 3 and 16 more ---- */

static void quad(const struct shape *s, const struct line *l, struct block *b, unsigned q)
{
    struct matrices m = {0};
    unsigned lanes[8];
    for (unsigned j = 0; j < 8; j++) {
        lanes[j] = j < 4 ? 4 * q + j : 16 + 4 * q + j - 4;
        const unsigned own = lanes[j] < 16 ? lanes[j] % 4 : lanes[j] % 4 + 4;
        for (int i = 0; i < 4; i++) {
            m.a[own][i] = element(s, b, lanes[j], l->argument[1], s->a, i);
            m.b[own][i] = element(s, b, lanes[j], l->argument[2], s->b, i);
        }
        take_c(s, b, lanes[j], 0, l->argument[3], &m);
    }
    for (unsigned j = 0; j < 8; j++)
        put_d(s, b, lanes[j], 0, l->argument[0], &m);
}

/* ---- m8n8k4 on f64: a row or column a quad, an element a thread; of C and D two ---- */

static double wide_element(struct block *b, unsigned t, const char *list, int i)
{
    double x;
    memcpy(&x, listed(b, t, list, i), sizeof x);
    return x;
}

static void wide(const struct line *l, struct block *b)
{
    const struct shape s = {.m = 8, .n = 8, .k = 4};
    struct matrices m = {0};
    for (unsigned t = 0; t < LANES; t++) {
        m.a[t >> 2][t % 4] = wide_element(b, t, l->argument[1], 0);
        m.b[t >> 2][t % 4] = wide_element(b, t, l->argument[2], 0);
        for (unsigned i = 0; i < 2; i++)
            m.c[t >> 2][t % 4 * 2 + i] = wide_element(b, t, l->argument[3], (int)i);
    }
    for (unsigned t = 0; t < LANES; t++)
        for (unsigned i = 0; i < 2; i++) {
            const double d = sum(&s, &m, (int)t >> 2, (int)(t % 4 * 2 + i));
            memcpy(listed(b, t, l->argument[0], (int)i), &d, sizeof d);
        }
}

/* ---- instructions ---- */

static struct shape read_shape(const char *opcode)
{
    struct shape s = {0};
    const char *kind = strstr(opcode, "scale_vec::"), *types;
    sscanf(strstr(opcode, "aligned.m"), "aligned.m%dn%dk%d", &s.m, &s.n, &s.k);
    if (strstr(opcode, "mma_async")) {
        types = strchr(strstr(opcode, "aligned.m") + 8, '.');
        sscanf(types, ".%7[^.].%7[^.].%7[^.]", s.d, s.a, s.b);
        strcpy(s.c, s.d);
        return s;
    }
    types = strstr(opcode, ".row.col") + 8;
    while (strncmp(types, ".f32", 4) != 0 && strncmp(types, ".f16", 4) != 0)
        types = strchr(types + 1, '.');
    sscanf(types, ".%7[^.].%7[^.].%7[^.].%7[^.].%7s", s.d, s.a, s.b, s.c, s.scale);
    s.scales = kind ? kind[11] - '0' : 0;
    return s;
}

void matrix_mma(const struct line *l, struct block *b)
{
    if (strstr(l->opcode, ".f64.")) {
        wide(l, b);
        return;
    }
    const struct shape s = read_shape(l->opcode);
    struct matrices m = {0};
    for (unsigned q = 0; s.m == 8 && q < 4; q++)
        quad(&s, l, b, q);
    if (s.m == 8)
        return;
    take_a(&s, b, 0, l->argument[1], &m);
    take_b(&s, b, 0, l->argument[2], &m);
    scale_both(&s, l, b, &m);
    for (unsigned t = 0; t < LANES; t++)
        take_c(&s, b, t, 0, l->argument[3], &m);
    for (unsigned t = 0; t < LANES; t++)
        put_d(&s, b, t, 0, l->argument[0], &m);
}

/* B by its descriptor: K-major, no swizzling: core matrices of 8 columns of 16 bytes, the leading
 * offset between those that follow each other in K. */
static void take_shared(const struct shape *s, struct block *b, uint64_t descriptor,
                        struct matrices *m)
{
    const unsigned start = (unsigned)(descriptor & 0x3fff) << 4;
    const unsigned leading = (unsigned)(descriptor >> 16 & 0x3fff) << 4;
    const int bytes = container_bits(s, s->b) / 8;
    if ((descriptor & ~0x00003fff3fff3fffULL) != 0)
        abort(); /* an offset of the base, swizzling, or what is not defined */
    for (unsigned n = 0; n < 8; n++)
        for (int k = 0; k < s->k; k++) {
            uint32_t code = 0;
            const unsigned at = (unsigned)(k * bytes);
            memcpy(&code, b->asked.shared + start + at / 16 * leading + n * 16 + at % 16,
                   (size_t)bytes);
            m->b[n][k] = number_decoded(s->b, code);
        }
}

void matrix_wgmma(const struct line *l, struct block *b)
{
    const struct shape s = read_shape(l->opcode);
    struct matrices m = {0};
    for (unsigned warp = 0; warp < 4; warp++)
        take_a(&s, b, warp, l->argument[1], &m);
    take_shared(&s, b, *machine_register(b, 0, l->argument[2]), &m);
    for (unsigned t = 0; t < MOST_THREADS; t++)
        take_c(&s, b, t, t / LANES * 16, l->argument[0], &m);
    for (unsigned t = 0; t < MOST_THREADS; t++)
        put_d(&s, b, t, t / LANES * 16, l->argument[0], &m);
}
