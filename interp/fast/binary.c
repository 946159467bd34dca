/* Functions of two codes of at most 16 bits, of the same shape or broadcast, part by part. Of
 * one-byte codes there are four ways, the first that there is:
 *
 *   linear   a linear function of floats, proved on all pairs (additions)
 *   pair     the scheme's vector form for bytes
 *   table    of all pairs, where the outputs are as many
 *   codes    the scheme's vector form for rows of int32, or its plain row
 *
 * Wider codes go the last. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/linear.h"
#include "interp/fast/operands.h"

enum { CODES = 256, PART = 8192, ROW = 512 };

enum way { LINEAR, PAIR, TABLE, ROWS };

typedef struct binary {
    assay_fast base;
    enum way way;
    assay_pair_fn pair;
    assay_codes_fn codes;
    const assay_rows *rows;
    assay_linear linear;
    uint8_t *table; /* [byte of a][byte of b], or NULL */
} binary;

static void free_binary(assay_fast *f)
{
    free(((binary *)f)->table);
    free(f);
}

/* ---- running ---- */

static void look_up(const uint8_t *table, const uint8_t *a, const uint8_t *b, int64_t n, uint8_t *y)
{
    for (int64_t i = 0; i < n; i++)
        y[i] = table[a[i] * CODES + b[i]];
}

static void run_rows(const assay_call *call, assay_codes_fn f, const char *a, const char *b,
                     int64_t n, char *y)
{
    const assay_elem ea = call->in[0].type->elem, eb = call->in[1].type->elem;
    const assay_elem ey = call->out[0].type->elem;
    int32_t row_a[ROW], row_b[ROW], row_y[ROW];
    for (int64_t i = 0; i < n; i += ROW) {
        const int64_t m = n - i < ROW ? n - i : ROW;
        fast_widen(ea, a + i * (int64_t)assay_elem_size(ea), m, row_a);
        fast_widen(eb, b + i * (int64_t)assay_elem_size(eb), m, row_b);
        f(call->unit, row_a, row_b, (size_t)m, row_y);
        fast_narrow_codes(ey, row_y, m, y + i * (int64_t)assay_elem_size(ey));
    }
}

typedef struct work {
    const binary *u;
    assay_call *call;
    assay_operands operands;
    int64_t count;
} work;

static void run_part(void *user, int64_t part)
{
    const work *k = user;
    const binary *u = k->u;
    const assay_call *call = k->call;
    const int64_t i = part * PART, n = k->count - i < PART ? k->count - i : PART;
    uint16_t buffer[2][PART];
    const void *a = fast_operands_part(&k->operands, 0, i, n, buffer[0]);
    const void *b = fast_operands_part(&k->operands, 1, i, n, buffer[1]);
    char *y = (char *)call->out[0].data + i * (int64_t)assay_elem_size(call->out[0].type->elem);
    switch (u->way) {
    case LINEAR:
        u->rows->linear(&u->linear, a, b, (size_t)n, (uint8_t *)y);
        break;
    case PAIR:
        u->pair(call->unit, a, call->in[0].type->elem.is_signed, b,
                call->in[1].type->elem.is_signed, (size_t)n, (uint8_t *)y);
        break;
    case TABLE:
        look_up(u->table, a, b, n, (uint8_t *)y);
        break;
    case ROWS:
        run_rows(call, u->codes, a, b, n, y);
        break;
    }
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const int64_t count = assay_shape_count(call->out[0].type);
    work k = {.u = (const binary *)f, .call = call, .count = count};
    (void)err;
    fast_operands_begin(&k.operands, call->out[0].type, call->in, 2);
    fast_each(fast_threads(f->threads, count * (k.u->way == ROWS ? 4 : 1)),
              (count + PART - 1) / PART, run_part, &k);
    return ASSAY_OK;
}

/* ---- preparing ---- */

/* All pairs of bytes that are codes. */
static void fill_table(const assay_fast_setup *s, const binary *u, uint8_t *table)
{
    const assay_elem a = assay_node_in(s->graph, s->node, 0)->type.elem;
    const assay_elem b = assay_node_in(s->graph, s->node, 1)->type.elem;
    int32_t row_a[CODES], row_b[CODES], row_y[CODES], x;
    uint8_t byte[CODES], same[CODES], y[CODES];
    int n = 0;
    for (int j = 0; j < CODES; j++)
        if (fast_code(b, j, &row_b[n]))
            byte[n++] = (uint8_t)j;
    for (int i = 0; i < CODES; i++) {
        if (!fast_code(a, i, &x))
            continue;
        memset(same, i, sizeof same);
        for (int j = 0; j < n; j++)
            row_a[j] = x;
        if (u->pair) {
            u->pair(s->unit, same, a.is_signed, byte, b.is_signed, (size_t)n, y);
        } else {
            u->codes(s->unit, row_a, row_b, (size_t)n, row_y);
            fast_narrow_codes((assay_elem){ASSAY_KIND_INT, 8, true}, row_y, n, y);
        }
        for (int j = 0; j < n; j++)
            table[i * CODES + byte[j]] = y[j];
    }
}

/* A way for one-byte codes. Asking for all pairs is worth it where outputs are some thousands; by
 * the scheme's plain row, where they are more than the pairs. */
static assay_status choose_bytes(const assay_fast_setup *s, bool has_rows, binary *u,
                                 assay_error *err)
{
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    const int64_t outputs = assay_shape_count(y);
    const bool pairs = ASSAY_SCHEME_HAS(s->vt, simd, pair) && y->elem.kind == ASSAY_KIND_INT;
    const bool adds = s->node->op == ASSAY_OP_ADD || s->node->op == ASSAY_OP_SUB;
    u->pair = pairs ? s->vt->simd->pair(s->unit, s->kernels->isa) : NULL;
    u->way = u->pair ? PAIR : ROWS;
    const bool quick = u->pair || has_rows;
    if (outputs < CODES * CODES && (!adds || !quick || outputs < CODES * CODES / 16))
        return ASSAY_OK;
    u->table = fast_alloc(CODES * CODES);
    if (!u->table)
        return fast_memory(s, err);
    fill_table(s, u, u->table);
    if (y->elem.kind == ASSAY_KIND_INT && fast_linear_find(s, u->table, &u->linear))
        u->way = LINEAR;
    else if (!u->pair && outputs >= CODES * CODES)
        u->way = TABLE;
    if (u->way != TABLE) {
        free(u->table);
        u->table = NULL;
    }
    return ASSAY_OK;
}

assay_status fast_binary(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *a = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *b = &assay_node_in(s->graph, s->node, 1)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    const bool alike = assay_shape_equal(a, y) && assay_shape_equal(b, y);
    if (!fast_is_short(a) || !fast_is_short(b) || !fast_is_short(y))
        return ASSAY_OK;
    binary *u = fast_alloc(sizeof *u);
    if (!u)
        return fast_memory(s, err);
    u->base = (assay_fast){.run = run,
                           .free = free_binary,
                           .threads = s->threads,
                           .layouts = alike ? ASSAY_LAYOUTS_ALIKE : ASSAY_LAYOUTS_FIXED};
    u->way = ROWS;
    u->rows = s->kernels->rows_of_bytes;
    const assay_codes_fn codes = fast_codes(s);
    u->codes = codes ? codes : s->vt->binary;
    assay_status status = ASSAY_OK;
    if (fast_is_byte(a) && fast_is_byte(b) && assay_elem_size(y->elem) == 1)
        status = choose_bytes(s, codes != NULL, u, err);
    if (!status)
        *out = &u->base;
    else
        free_binary(&u->base);
    return status;
}
