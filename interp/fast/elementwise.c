/* Functions of one or two 8-bit codes, where the scheme has no vector form of them, are their
 * tables: the unit itself is asked for every value that can occur, so the table is exact under any
 * scheme. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/linear.h"
#include "interp/move/broadcast.h"

enum { CODES = 256, PART = 16384 };

typedef struct unary {
    assay_fast base;
    uint8_t table[CODES];
} unary;

/* Same shapes, by the scheme's own vector form. */
typedef struct pairs {
    assay_fast base;
    assay_pair_fn pair;
} pairs;

typedef struct binary {
    assay_fast base;
    uint8_t table[CODES * CODES]; /* [byte of a][byte of b] */
} binary;

/* The code that a byte stands for, and whether it is one. */
static bool code_of(assay_elem e, int byte, int32_t *code)
{
    *code = e.is_signed ? (int8_t)byte : byte;
    return *code >= assay_elem_min(e) && *code <= assay_elem_max(e);
}

bool assay_fast_table(const assay_fast_setup *s, const assay_elem in, uint8_t table[CODES])
{
    bool identity = true;
    for (int i = 0; i < CODES; i++) {
        int32_t x, y = 0;
        if (code_of(in, i, &x)) {
            s->vt->unary(s->unit, &x, 1, &y);
            identity = identity && (uint8_t)y == i;
        }
        table[i] = (uint8_t)y;
    }
    return identity;
}

static void free_table(assay_fast *f)
{
    free(f);
}

static assay_status run_unary(const assay_fast *f, assay_call *call, assay_error *err)
{
    const unary *u = (const unary *)f;
    const uint8_t *x = call->in[0].data;
    uint8_t *y = call->out[0].data;
    const int64_t count = assay_shape_count(call->out[0].type);
    const int workers = assay_fast_threads(f->threads, count);
    (void)err;
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t i = 0; i < count; i++)
        y[i] = u->table[x[i]];
    return ASSAY_OK;
}

assay_status assay_fast_unary(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *x = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    if (!assay_is_byte(x) || !assay_is_byte(y))
        return ASSAY_OK;
    unary *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->base = (assay_fast){.run = run_unary,
                           .free = free_table,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    assay_fast_table(s, x->elem, u->table);
    *out = &u->base;
    return ASSAY_OK;
}

static void look_up(const uint8_t *table, const uint8_t *a, int64_t a_step, const uint8_t *b,
                    int64_t b_step, int64_t n, uint8_t *y)
{
    if (a_step == 1 && b_step == 1)
        for (int64_t i = 0; i < n; i++)
            y[i] = table[a[i] * CODES + b[i]];
    else
        for (int64_t i = 0; i < n; i++)
            y[i] = table[a[i * a_step] * CODES + b[i * b_step]];
}

static assay_status run_binary(const assay_fast *f, assay_call *call, assay_error *err)
{
    const binary *u = (const binary *)f;
    const uint8_t *a = call->in[0].data, *b = call->in[1].data;
    uint8_t *y = call->out[0].data;
    assay_broadcast w;
    (void)err;
    for (bool row = assay_broadcast_begin(&w, call->out[0].type, call->in, 2); row;
         row = assay_broadcast_next(&w)) {
        const int64_t parts = (w.columns + PART - 1) / PART;
        const int workers = assay_fast_threads(f->threads, w.columns);
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
        for (int64_t p = 0; p < parts; p++) {
            const int64_t i = p * PART, n = w.columns - i < PART ? w.columns - i : PART;
            look_up(u->table, a + w.at[0] + i * w.step[0], w.step[0], b + w.at[1] + i * w.step[1],
                    w.step[1], n, y + w.at_out + i);
        }
    }
    return ASSAY_OK;
}

static void fill_binary(const assay_fast_setup *s, assay_elem a, assay_elem b, uint8_t *table)
{
    int32_t row_a[CODES], row_b[CODES], row_y[CODES];
    int bytes[CODES], n = 0;
    for (int j = 0; j < CODES; j++)
        if (code_of(b, j, &row_b[n]))
            bytes[n++] = j;
    for (int i = 0; i < CODES; i++) {
        int32_t x;
        if (!code_of(a, i, &x))
            continue;
        for (int j = 0; j < n; j++)
            row_a[j] = x;
        s->vt->binary(s->unit, row_a, row_b, (size_t)n, row_y);
        for (int j = 0; j < n; j++)
            table[i * CODES + bytes[j]] = (uint8_t)row_y[j];
    }
}

static assay_status run_pairs(const assay_fast *f, assay_call *call, assay_error *err)
{
    const pairs *u = (const pairs *)f;
    const uint8_t *a = call->in[0].data, *b = call->in[1].data;
    uint8_t *y = call->out[0].data;
    const int64_t count = assay_shape_count(call->out[0].type), parts = (count + PART - 1) / PART;
    const int workers = assay_fast_threads(f->threads, count / 4);
    (void)err;
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t i = p * PART, n = count - i < PART ? count - i : PART;
        u->pair(call->unit, a + i, call->in[0].type->elem.is_signed, b + i,
                call->in[1].type->elem.is_signed, (size_t)n, y + i);
    }
    return ASSAY_OK;
}

static assay_status make_pairs(const assay_fast_setup *s, assay_pair_fn pair, assay_fast **out,
                               assay_error *err)
{
    pairs *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->pair = pair;
    u->base = (assay_fast){.run = run_pairs,
                           .free = free_table,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    *out = &u->base;
    return ASSAY_OK;
}

typedef struct linear {
    assay_fast base;
    const assay_rows *rows;
    assay_linear function;
} linear;

static assay_status run_linear(const assay_fast *f, assay_call *call, assay_error *err)
{
    const linear *u = (const linear *)f;
    const uint8_t *a = call->in[0].data, *b = call->in[1].data;
    uint8_t *y = call->out[0].data;
    const int64_t count = assay_shape_count(call->out[0].type), parts = (count + PART - 1) / PART;
    const int workers = assay_fast_threads(f->threads, count / 4);
    (void)err;
#pragma omp parallel for schedule(static) num_threads(workers) if (workers > 1)
    for (int64_t p = 0; p < parts; p++) {
        const int64_t i = p * PART, n = count - i < PART ? count - i : PART;
        u->rows->linear(&u->function, a + i, b + i, (size_t)n, y + i);
    }
    return ASSAY_OK;
}

/* *out stays NULL where no linear function is the table. */
static assay_status make_linear(const assay_fast_setup *s, const uint8_t *table, assay_fast **out,
                                assay_error *err)
{
    linear *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->rows = s->kernels->rows_of_bytes;
    u->base = (assay_fast){.run = run_linear,
                           .free = free_table,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    if (assay_linear_find(s, table, &u->function))
        *out = &u->base;
    else
        free(u);
    return ASSAY_OK;
}

/* Both are bytes' tables: of a pair function where the scheme has one, else asked of the unit. */
static void fill_pairs(const assay_fast_setup *s, assay_pair_fn pair, const assay_type *a,
                       const assay_type *b, uint8_t *table)
{
    uint8_t row_a[CODES], row_b[CODES];
    if (!pair) {
        fill_binary(s, a->elem, b->elem, table);
        return;
    }
    for (int j = 0; j < CODES; j++)
        row_b[j] = (uint8_t)j;
    for (int i = 0; i < CODES; i++) {
        memset(row_a, i, sizeof row_a);
        pair(s->unit, row_a, a->elem.is_signed, row_b, b->elem.is_signed, CODES, table + i * CODES);
    }
}

/* Trying all pairs is worth it where there are some thousand outputs and a pair function, or more
 * outputs than pairs; so is a table in the latter case. */
assay_status assay_fast_binary(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_type *a = &assay_node_in(s->graph, s->node, 0)->type;
    const assay_type *b = &assay_node_in(s->graph, s->node, 1)->type;
    const assay_type *y = &assay_node_out(s->graph, s->node, 0)->type;
    const int64_t outputs = assay_shape_count(y);
    const bool alike = assay_shape_equal(a, y) && assay_shape_equal(b, y);
    bool bytes = y->elem.kind == ASSAY_KIND_BOOL || assay_is_byte(y);
    if (!assay_is_byte(a) || !assay_is_byte(b) || !bytes)
        return ASSAY_OK;
    bool has = ASSAY_FAST_HAS(s->vt, pair) && alike && y->elem.kind == ASSAY_KIND_INT;
    assay_pair_fn pair = has ? s->vt->pair(s->unit, s->kernels->isa) : NULL;
    if (outputs < (pair ? CODES * CODES / 16 : CODES * CODES))
        return pair ? make_pairs(s, pair, out, err) : ASSAY_OK;
    binary *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->base = (assay_fast){.run = run_binary,
                           .free = free_table,
                           .threads = s->threads,
                           .layouts = alike ? ASSAY_LAYOUTS_ALIKE : ASSAY_LAYOUTS_FIXED};
    fill_pairs(s, pair, a, b, u->table);
    assay_status status = alike ? make_linear(s, u->table, out, err) : ASSAY_OK;
    if (status == ASSAY_OK && !*out && pair)
        status = make_pairs(s, pair, out, err);
    if (status == ASSAY_OK && !*out)
        *out = &u->base;
    else
        free(u);
    return status;
}
