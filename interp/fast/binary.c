/* Functions of two 8-bit codes. All pairs are asked of the unit, or of the scheme's vector form;
 * where a linear function gives them it runs, else the vector form, else their table is looked up.
 */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/linear.h"
#include "interp/move/broadcast.h"

enum { CODES = 256, PART = 16384 };

/* Values of the same shape: one of two. */
typedef struct pairs {
    assay_fast base;
    assay_pair_fn pair; /* NULL: the linear function */
    const assay_rows *rows;
    assay_linear linear;
} pairs;

typedef struct binary {
    assay_fast base;
    uint8_t table[CODES * CODES]; /* [byte of a][byte of b] */
} binary;

static void free_binary(assay_fast *f)
{
    free(f);
}

/* ---- the same shape ---- */

typedef struct work {
    const pairs *u;
    assay_call *call;
    int64_t count;
} work;

static void run_part(void *user, int64_t part)
{
    const work *k = user;
    const assay_view *a = &k->call->in[0], *b = &k->call->in[1];
    const int64_t i = part * PART, n = k->count - i < PART ? k->count - i : PART;
    const uint8_t *x = (const uint8_t *)a->data + i, *y = (const uint8_t *)b->data + i;
    uint8_t *out = (uint8_t *)k->call->out[0].data + i;
    if (k->u->pair)
        k->u->pair(k->call->unit, x, a->type->elem.is_signed, y, b->type->elem.is_signed, (size_t)n,
                   out);
    else
        k->u->rows->linear(&k->u->linear, x, y, (size_t)n, out);
}

static assay_status run_pairs(const assay_fast *f, assay_call *call, assay_error *err)
{
    work k = {(const pairs *)f, call, assay_shape_count(call->out[0].type)};
    (void)err;
    assay_fast_each(assay_fast_threads(f->threads, k.count / 4), (k.count + PART - 1) / PART,
                    run_part, &k);
    return ASSAY_OK;
}

/* table: all pairs, or NULL where trying them costs more than it saves. *out stays NULL where there
 * is neither a linear function nor a vector form. */
static assay_status make_pairs(const assay_fast_setup *s, assay_pair_fn pair, const uint8_t *table,
                               assay_fast **out, assay_error *err)
{
    pairs *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->base = (assay_fast){.run = run_pairs,
                           .free = free_binary,
                           .threads = s->threads,
                           .layouts = ASSAY_LAYOUTS_ALIKE};
    u->rows = s->kernels->rows_of_bytes;
    const bool is_linear = table && assay_linear_find(s, table, &u->linear);
    u->pair = is_linear ? NULL : pair;
    if (is_linear || pair)
        *out = &u->base;
    else
        free(u);
    return ASSAY_OK;
}

/* ---- tables ---- */

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

static assay_status run_table(const assay_fast *f, assay_call *call, assay_error *err)
{
    const binary *u = (const binary *)f;
    const uint8_t *a = call->in[0].data, *b = call->in[1].data;
    uint8_t *y = call->out[0].data;
    assay_broadcast w;
    (void)err;
    for (bool row = assay_broadcast_begin(&w, call->out[0].type, call->in, 2); row;
         row = assay_broadcast_next(&w))
        look_up(u->table, a + w.at[0], w.step[0], b + w.at[1], w.step[1], w.columns, y + w.at_out);
    return ASSAY_OK;
}

static void ask_unit(const assay_fast_setup *s, assay_elem a, assay_elem b, uint8_t *table)
{
    int32_t row_a[CODES], row_b[CODES], row_y[CODES];
    int bytes[CODES], n = 0;
    for (int j = 0; j < CODES; j++)
        if (assay_fast_code(b, j, &row_b[n]))
            bytes[n++] = j;
    for (int i = 0; i < CODES; i++) {
        int32_t x;
        if (!assay_fast_code(a, i, &x))
            continue;
        for (int j = 0; j < n; j++)
            row_a[j] = x;
        s->vt->binary(s->unit, row_a, row_b, (size_t)n, row_y);
        for (int j = 0; j < n; j++)
            table[i * CODES + bytes[j]] = (uint8_t)row_y[j];
    }
}

static void fill_table(const assay_fast_setup *s, assay_pair_fn pair, assay_elem a, assay_elem b,
                       uint8_t *table)
{
    uint8_t row_a[CODES], row_b[CODES];
    if (!pair) {
        ask_unit(s, a, b, table);
        return;
    }
    for (int j = 0; j < CODES; j++)
        row_b[j] = (uint8_t)j;
    for (int i = 0; i < CODES; i++) {
        memset(row_a, i, sizeof row_a);
        pair(s->unit, row_a, a.is_signed, row_b, b.is_signed, CODES, table + i * CODES);
    }
}

/* Asking for all pairs is worth it where outputs are some thousands, and if there is no vector form
 * to ask, where they are more than the pairs. */
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
        return pair ? make_pairs(s, pair, NULL, out, err) : ASSAY_OK;
    binary *u = assay_fast_alloc(sizeof *u);
    if (!u)
        return assay_fast_memory(s, err);
    u->base = (assay_fast){.run = run_table,
                           .free = free_binary,
                           .layouts = alike ? ASSAY_LAYOUTS_ALIKE : ASSAY_LAYOUTS_FIXED};
    fill_table(s, pair, a->elem, b->elem, u->table);
    assay_status status = alike ? make_pairs(s, pair, u->table, out, err) : ASSAY_OK;
    if (status == ASSAY_OK && !*out)
        *out = &u->base;
    else
        free(u);
    return status;
}
