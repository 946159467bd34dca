/* Products of floats on a unit whose step is aligned sums, an exact sum of int8mx, or of IEEE
 * operations, 16 columns of B at a time (schemes/mac/columns.h). What that leaves out is the
 * reference's, element by element. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"
#include "interp/ref/ref.h"
#include "schemes/mac/columns.h"
#include "schemes/mac/scale.h"
#include "schemes/mac/scheme.h"
#include "schemes/mac/unit.h"

enum { COLUMNS = MAC_TILE };
static_assert((int)COLUMNS == (int)MAC_CHAIN, "both go by as many columns");

typedef struct matrix_node {
    assay_fast base;
    mac_levels levels;
    mac_element a[256], b[256]; /* by pattern */
    mac_tile_scale scale[256];
    bool tables;      /* patterns are few enough, and stand for the same at every place */
    size_t run;       /* places of a whole run of K */
    size_t places;    /* of all runs */
    mac_place *place; /* elements of K */
} matrix_node;

typedef struct room {
    float *a, *b; /* a row, a tile */
    int32_t *a_unit, *b_unit;
    int32_t *codes, *other; /* rows as the reference loads them */
    int32_t *a_scale;
    int32_t *scales; /* [COLUMNS][runs], f32 or codes as loaded */
    uint8_t *patterns;
    float *promoted_a, *promoted_b;
} room;

static size_t carve(const matrix_node *f, size_t depth, char *memory, room *r)
{
    const int64_t k = (int64_t)depth, places = (int64_t)f->places;
    size_t used = 0;
    r->a = ref_carve(memory, &used, places, sizeof *r->a);
    r->a_unit = ref_carve(memory, &used, places, sizeof *r->a_unit);
    r->b = ref_carve(memory, &used, places * COLUMNS, sizeof *r->b);
    r->b_unit = ref_carve(memory, &used, places * COLUMNS, sizeof *r->b_unit);
    r->codes = ref_carve(memory, &used, k, sizeof *r->codes);
    r->other = ref_carve(memory, &used, k * COLUMNS, sizeof *r->other);
    r->a_scale = ref_carve(memory, &used, k, sizeof *r->a_scale);
    r->scales = ref_carve(memory, &used, k * COLUMNS, sizeof *r->scales);
    r->patterns = ref_carve(memory, &used, k * COLUMNS, sizeof *r->patterns);
    r->promoted_a = ref_carve(memory, &used, places, sizeof *r->promoted_a);
    r->promoted_b = ref_carve(memory, &used, places * COLUMNS, sizeof *r->promoted_b);
    return used;
}

/* The numbers at all places, of a row of A or B; false when some is none. */
static bool decode(const matrix_node *f, bool is_b, const int32_t *codes, float *value,
                   int32_t *unit, size_t stride)
{
    const mac_element *table = is_b ? f->b : f->a;
    bool special = false;
    for (size_t i = 0; i < f->places; i++) {
        const mac_place p = f->place[i];
        const uint32_t pattern = p.element < 0 ? 0 : (uint32_t)codes[p.element];
        const mac_element e = f->tables ? table[pattern & 0xff]
                                        : mac_levels_element(&f->levels, is_b, pattern, p.phase);
        value[i * stride] = e.value;
        unit[i * stride] = e.unit;
        special = special || e.special;
    }
    return !special;
}

/* Scales of promoted sums, a block of the unit each; those of what is filled up as the last ones
 * are. `run`: elements of K under one of the row's scales. */
static void promoted(const matrix_node *f, const assay_mac_node *m, enum assay_mac_format format,
                     const int32_t *scale, int64_t run, float *value, size_t stride)
{
    const size_t block = (size_t)m->mac.scale_block;
    if (f->levels.plain || block == 0)
        return;
    for (size_t i = 0; i * block * (size_t)m->mac.phases < f->places; i++) {
        const size_t at = i * block < m->depth ? i * block : m->depth - 1;
        const uint32_t bits = mac_to_f32(format, (uint32_t)scale[at / (size_t)run]);
        memcpy(&value[i * stride], &bits, sizeof bits);
    }
}

/* Where the steps take scales: each is a number above 0. */
static bool has_scales(const matrix_node *f, const int32_t *scale, size_t n)
{
    bool all = true;
    for (size_t i = 0; f->levels.steps.scale_block > 0 && i < n; i++)
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
        w->good[j] = decode(w->f, true, codes, w->r.b + j, w->r.b_unit + j, COLUMNS);
        if (j < n) {
            w->good[j] = has_scales(w->f, scale, (size_t)w->b.runs) && w->good[j];
            promoted(w->f, w->m, w->m->b_scale, scale, w->m->b_run, w->r.promoted_b + j, COLUMNS);
        }
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

/* Row `row` of A by the packed columns. */
static assay_status one_row(work *w, assay_dot *d, int64_t batch, int64_t row, int64_t column,
                            int n, int64_t at, assay_error *err)
{
    const matrix_node *f = w->f;
    const assay_mac *steps = &f->levels.steps;
    const mac_columns c = {.levels = &f->levels,
                           .b = {.unit = steps,
                                 .a_run = w->m->a_run,
                                 .b_run = w->m->b_run,
                                 .value = w->r.b,
                                 .exponent = w->r.b_unit,
                                 .scale = steps->scale_block > 0 ? w->r.patterns : NULL,
                                 .scales = f->scale},
                           .a = w->r.a,
                           .a_exponent = w->r.a_unit,
                           .a_scale = w->r.a_scale,
                           .promoted_a = w->r.promoted_a,
                           .promoted_b = w->r.promoted_b};
    uint32_t y[COLUMNS] = {0}, part[COLUMNS];
    float sum[COLUMNS];
    bool odd[COLUMNS] = {false};
    ref_load_operand(&w->a, w->call->out[0].type, batch, row);
    const bool good = decode(f, false, w->r.codes, w->r.a, w->r.a_unit, 1) &&
                      has_scales(f, w->r.a_scale, (size_t)w->a.runs);
    promoted(f, w->m, w->m->a_scale, w->r.a_scale, w->m->a_run, w->r.promoted_a, 1);
    const size_t length = mac_unit_run(w->m);
    for (size_t i = 0; good && i * length < w->depth; i++) {
        const size_t first = i * f->run;
        mac_columns_run(&c, first, first + f->run < f->places ? first + f->run : f->places, sum,
                        odd);
        memcpy(part, sum, sizeof part);
        for (int j = 0; j < n; j++) {
            d->b_scale = w->r.scales + (size_t)j * (size_t)w->b.runs;
            y[j] = mac_unit_add_run(w->m, d, i * length, part[j], y[j]);
        }
    }
    for (int j = 0; j < COLUMNS; j++)
        odd[j] = odd[j] || !good;
    return finish(w, d, y, odd, at, column, n, err);
}

static assay_status run(const assay_fast *f, assay_call *call, assay_error *err)
{
    const assay_attr_scaled_matmul *attr = &call->node->attr.scaled_matmul;
    const assay_type *y = call->out[0].type;
    const int64_t rows = y->dim[y->rank - 2], columns = y->dim[y->rank - 1];
    work w = {.f = (const matrix_node *)f, .m = mac_node(call->unit), .call = call};
    carve(w.f, w.m->depth, call->scratch, &w.r);
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
    free(((matrix_node *)f)->place);
    free(f);
}

/* The places of every run of K; what a run before the last has is `run`. */
static bool fill_places(matrix_node *f, const assay_mac_node *m)
{
    const size_t length = mac_unit_run(m), rest = (m->depth - 1) % length + 1,
                 whole = (m->depth - rest) / length;
    f->run = mac_levels_length(&f->levels, length);
    f->places = whole * f->run + mac_levels_length(&f->levels, rest);
    f->place = malloc(f->places * sizeof *f->place);
    for (size_t i = 0; f->place && i <= whole; i++) {
        mac_place *p = f->place + i * f->run;
        const size_t n = i < whole ? length : rest;
        mac_levels_places(&f->levels, n, p);
        for (size_t k = 0; k < mac_levels_length(&f->levels, n); k++)
            p[k].element += p[k].element < 0 ? 0 : (int32_t)(i * length);
    }
    return f->place != NULL;
}

assay_status fast_scaled_matmul(const assay_fast_setup *s, assay_fast **out, assay_error *err)
{
    const assay_mac_node *m = mac_node(s->unit);
    mac_levels levels;
    room r;
    if (s->vt != &mac_vtable || m->depth == 0 || !mac_levels_of(&m->mac, s->kernels->isa, &levels))
        return ASSAY_OK;
    matrix_node *f = fast_alloc(sizeof *f);
    if (!f)
        return fast_memory(s, err);
    f->levels = levels;
    if (!fill_places(f, m)) {
        free(f);
        return fast_memory(s, err);
    }
    f->base = (assay_fast){
        .run = run, .free = free_node, .scratch = carve(f, m->depth, NULL, &r), .threads = 1};
    f->tables = !levels.chain && !mac_tile_is_wide(&levels.steps);
    if (f->tables) {
        mac_tile_table(&levels.steps, m->mac.a, f->a);
        mac_tile_table(&levels.steps, m->mac.b, f->b);
    }
    if (levels.steps.scale_block > 0)
        mac_tile_scales(&m->mac, f->scale);
    *out = &f->base;
    return ASSAY_OK;
}
