/* Products of floats on a unit whose step is aligned sums, an exact sum of int8mx, or of IEEE
 * operations, 16 columns of B at a time (schemes/mac/tile.h, chain.h). What that leaves out
 * is the reference's, element by element. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"
#include "interp/ref/ref.h"
#include "schemes/mac/chain.h"
#include "schemes/mac/scheme.h"
#include "schemes/mac/tile.h"
#include "schemes/mac/unit.h"

enum { COLUMNS = MAC_TILE };
static_assert((int)COLUMNS == (int)MAC_CHAIN, "both go by as many columns");

typedef struct matrix_node {
    assay_fast base;
    mac_element a[256], b[256]; /* by pattern */
    mac_tile_scale scale[256];
    bool wide;          /* patterns are too many for tables */
    mac_chain_fn chain; /* IEEE steps: elements are their numbers; NULL: aligned sums */
} matrix_node;

typedef struct room {
    float *a, *b; /* a row, a tile */
    int32_t *a_unit, *b_unit;
    int32_t *codes, *other; /* rows as the reference loads them */
    int32_t *a_scale;
    int32_t *scales; /* [COLUMNS][runs], f32 or codes as loaded */
    uint8_t *patterns;
} room;

static size_t carve(const assay_graph *g, const assay_node *n, char *memory, room *r)
{
    const assay_type *a = &assay_node_in(g, n, 0)->type;
    const int64_t k = a->dim[a->rank - 1];
    size_t used = 0;
    r->a = ref_carve(memory, &used, k, sizeof *r->a);
    r->a_unit = ref_carve(memory, &used, k, sizeof *r->a_unit);
    r->b = ref_carve(memory, &used, k * COLUMNS, sizeof *r->b);
    r->b_unit = ref_carve(memory, &used, k * COLUMNS, sizeof *r->b_unit);
    r->codes = ref_carve(memory, &used, k, sizeof *r->codes);
    r->other = ref_carve(memory, &used, k * COLUMNS, sizeof *r->other);
    r->a_scale = ref_carve(memory, &used, k, sizeof *r->a_scale);
    r->scales = ref_carve(memory, &used, k * COLUMNS, sizeof *r->scales);
    r->patterns = ref_carve(memory, &used, k * COLUMNS, sizeof *r->patterns);
    return used;
}

/* A row's numbers, of patterns of a format; false when some is none. table: by pattern. */
static bool decode(const matrix_node *f, const assay_mac *m, const mac_element *table,
                   int64_t format, const int32_t *codes, size_t k, float *value, int32_t *unit,
                   size_t stride)
{
    bool special = false;
    for (size_t i = 0; i < k; i++) {
        const mac_element e =
            f->chain  ? (mac_element){.value = mac_chain_number(m, format, (uint32_t)codes[i])}
            : f->wide ? mac_tile_element(m, format, (uint32_t)codes[i])
                      : table[codes[i] & 0xff];
        value[i * stride] = e.value;
        unit[i * stride] = e.unit;
        special = special || e.special;
    }
    return !special;
}

/* Where the unit takes scales: each is a number above 0. */
static bool has_scales(const matrix_node *f, const assay_mac_node *m, const int32_t *scale,
                       size_t n)
{
    bool all = true;
    for (size_t i = 0; m->mac.scale_block > 0 && i < n; i++)
        all = all && f->scale[scale[i] & 0xff].digits > 0;
    return all;
}

typedef struct work {
    const matrix_node *f;
    const assay_mac_node *m;
    assay_call *call;
    ref_operand a, b;
    room r;
    bool good[COLUMNS];
    size_t depth;
} work;

/* Columns first to first + n of B in one batch. */
static void pack(work *w, int64_t batch, int64_t first, int n)
{
    for (int j = 0; j < COLUMNS; j++) {
        int32_t *codes = w->r.other + (size_t)j * w->depth;
        int32_t *scale = w->r.scales + (size_t)j * (size_t)w->b.runs;
        if (j < n) {
            w->b.row = codes;
            w->b.scale = scale;
            ref_load_operand(&w->b, w->call->out[0].type, batch, first + j);
        } else
            memset(codes, 0, w->depth * sizeof *codes);
        w->good[j] = decode(w->f, &w->m->mac, w->f->b, w->m->mac.b, codes, w->depth, w->r.b + j,
                            w->r.b_unit + j, COLUMNS);
        if (j < n)
            w->good[j] = has_scales(w->f, w->m, scale, (size_t)w->b.runs) && w->good[j];
        for (size_t i = 0; i < (size_t)w->b.runs; i++)
            w->r.patterns[i * COLUMNS + (size_t)j] = (uint8_t)(j < n ? scale[i] : 127);
    }
}

static assay_status finish(work *w, assay_dot *d, const uint32_t y[COLUMNS],
                           const bool odd[COLUMNS], int64_t at, int64_t column, int n,
                           assay_error *err)
{
    for (int j = 0; j < n; j++) {
        d->b = w->r.other + (size_t)j * w->depth;
        d->b_scale = w->r.scales + (size_t)j * (size_t)w->b.runs;
        d->bias = ref_operand_element(w->call, 6, column + j, 0);
        int32_t result = (int32_t)mac_unit_end(w->m, d, y[j]);
        if (odd[j] || !w->good[j]) {
            const assay_status s = w->call->vt->dot(w->call->unit, d, &result, err);
            if (s)
                return s;
        }
        ((int32_t *)w->call->out[0].data)[at + j] = result;
    }
    return ASSAY_OK;
}

/* The dots of elements first to last of K as f32 patterns; odd: not to be used. */
static void dots(const work *w, const mac_tile *t, size_t first, size_t last, mac_running *r,
                 uint32_t part[COLUMNS])
{
    if (!w->f->chain) {
        mac_tile_run(t, w->r.a, w->r.a_unit, w->r.a_scale, first, last, r);
        for (int j = 0; j < COLUMNS; j++)
            part[j] = mac_tile_pattern(r, j);
        return;
    }
    float y[COLUMNS];
    w->f->chain(&w->m->mac, w->r.a + first, w->r.b + first * COLUMNS, last - first, y, r->odd);
    memcpy(part, y, sizeof y);
}

/* Row `row` of A by the packed columns. */
static assay_status one_row(work *w, assay_dot *d, int64_t batch, int64_t row, int64_t column,
                            int n, int64_t at, assay_error *err)
{
    const mac_tile t = {.unit = &w->m->mac,
                        .a_run = w->m->a_run,
                        .b_run = w->m->b_run,
                        .value = w->r.b,
                        .exponent = w->r.b_unit,
                        .scale = w->m->mac.scale_block > 0 ? w->r.patterns : NULL,
                        .scales = w->f->scale};
    uint32_t y[COLUMNS] = {0}, part[COLUMNS];
    mac_running r = {.odd = {false}};
    ref_load_operand(&w->a, w->call->out[0].type, batch, row);
    const bool good = decode(w->f, &w->m->mac, w->f->a, w->m->mac.a, w->r.codes, w->depth, w->r.a,
                             w->r.a_unit, 1) &&
                      has_scales(w->f, w->m, w->r.a_scale, (size_t)w->a.runs);
    const size_t length = mac_unit_run(w->m);
    for (size_t i = 0; good && i < w->depth; i += length) {
        dots(w, &t, i, i + length < w->depth ? i + length : w->depth, &r, part);
        for (int j = 0; j < n; j++) {
            d->b_scale = w->r.scales + (size_t)j * (size_t)w->b.runs;
            y[j] = mac_unit_add_run(w->m, d, i, part[j], y[j]);
        }
    }
    for (int j = 0; j < COLUMNS; j++)
        r.odd[j] = r.odd[j] || !good;
    return finish(w, d, y, r.odd, at, column, n, err);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const assay_attr_scaled_matmul *attr = &call->node->attr.scaled_matmul;
    const assay_type *y = call->out[0].type;
    const int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
    work w = {.f = (const matrix_node *)f, .m = mac_node(call->unit), .call = call};
    carve(call->graph, call->node, call->scratch, &w.r);
    w.a = ref_operand_of(&call->in[0], &call->in[2], &attr->a_block, w.r.codes, w.r.a_scale);
    w.b = ref_operand_of(&call->in[1], &call->in[3], &attr->b_block, NULL, NULL);
    w.depth = (size_t)w.a.depth;
    assay_dot d = {.k = w.depth,
                   .a = w.r.codes,
                   .a_scale = w.r.a_scale,
                   .a_second = ref_operand_element(call, 4, 0, ASSAY_REF_ONE),
                   .b_second = ref_operand_element(call, 5, 0, ASSAY_REF_ONE)};
    assay_status s = ASSAY_OK;
    for (int64_t batch = 0; batch < assay_shape_count(y) / (rows * columns); batch++)
        for (int64_t c = 0; c < columns; c += COLUMNS) {
            const int n = (int)(columns - c < COLUMNS ? columns - c : COLUMNS);
            pack(&w, batch, c, n);
            for (int64_t row = 0; row < rows && !s; row++)
                s = one_row(&w, &d, batch, row, c, n, (batch * rows + row) * columns + c, err);
        }
    return s;
}

static void free_node(assay_fast *f)
{
    free(f);
}

assay_status fast_scaled_matmul(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_mac_node *m = mac_node(s->unit);
    const assay_type *a = &assay_node_in(s->graph, s->node, 0)->type;
    room r;
    if (s->vt != &mac_vtable || a->dim[a->rank - 1] == 0 ||
        !(mac_tile_takes(&m->mac) || mac_chain_takes(&m->mac)))
        return ASSAY_OK;
    matrix_node *f = fast_alloc(sizeof *f);
    if (!f)
        return fast_memory(s, err);
    f->base = (assay_fast){
        .run = run, .free = free_node, .scratch = carve(s->graph, s->node, NULL, &r), .threads = 1};
    f->chain = mac_chain_takes(&m->mac) ? mac_chain_choose(s->kernels->isa) : NULL;
    f->wide = mac_tile_is_wide(&m->mac);
    if (!f->wide && !f->chain) {
        mac_tile_table(&m->mac, m->mac.a, f->a);
        mac_tile_table(&m->mac, m->mac.b, f->b);
    }
    if (m->mac.scale_block > 0)
        mac_tile_scales(&m->mac, f->scale);
    *out = &f->base;
    return ASSAY_OK;
}
