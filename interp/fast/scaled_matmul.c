/* Products of small floats on a unit whose step is one aligned sum, 16 columns of B at a time.
 *
 * Elements of at most 8 bits have at most 4 significant digits: a product is exact in a float, and
 * times a power of two that brings the step's last kept digit to 1, truncating it to an integer is
 * the unit's cut. The greatest exponents come first, then the cut terms and their sum, in integers.
 * What is no number, and results below the least normal or beyond the greatest number, are the
 * reference's, element by element. */
#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"
#include "interp/ref/ref.h"
#include "schemes/mac/scheme.h"
#include "schemes/mac/unit.h"

enum { COLUMNS = 16, NOTHING = -20000 }; /* the exponent of a zero: below any other */

typedef struct element {
    float value;
    int32_t unit;
    bool special;
} element;

typedef struct matrix_node {
    assay_fast base;
    element a[256], b[256]; /* by pattern */
} matrix_node;

/* ---- which units ---- */

static bool is_small(int64_t format)
{
    return format >= ASSAY_MAC_E5M2 && format <= ASSAY_MAC_E2M1 && format != ASSAY_MAC_UE4M3;
}

/* A step is one aligned sum of its products and the running value, truncated. */
static bool is_one_sum(const assay_mac *m)
{
    return m->order == 0 && m->k_order == ASSAY_MAC_ASCENDING && m->chains == 1 &&
           m->start == ASSAY_MAC_START_ACC && m->phases == 1 && m->exact_group == 1 &&
           m->sum == ASSAY_MAC_ALIGNED && m->lanes == 1 && m->accumulator == ASSAY_MAC_ACC_JOINED &&
           m->promote == 0 && m->split_k == 1;
}

static bool is_plain(const assay_mac *m)
{
    return m->flush_in == ASSAY_MAC_FLUSH_NONE && m->flush_acc == ASSAY_MAC_FLUSH_NONE &&
           m->a_digits == ASSAY_MAC_NONE && m->b_digits == ASSAY_MAC_NONE &&
           m->product_limit == ASSAY_MAC_NONE && m->product_round == ASSAY_MAC_NONE &&
           m->zero_exponent == ASSAY_MAC_NONE && m->flush_out == ASSAY_MAC_TINY_NONE &&
           m->zero_sign == ASSAY_MAC_ZERO_SUM;
}

static bool takes(const assay_mac *m)
{
    const bool truncates = m->align_cut == ASSAY_ROUND_TRUNC && m->out_round == ASSAY_ROUND_TRUNC;
    const bool scales =
        m->scale_block == 0 || (m->scale == ASSAY_MAC_E8M0 && m->scale_place == ASSAY_MAC_AT_TERM &&
                                m->scale_block % m->group == 0);
    return is_small(m->a) && is_small(m->b) && m->out == ASSAY_MAC_F32 && m->acc == ASSAY_MAC_F32 &&
           m->group > 0 && m->group <= 64 &&
           (m->instruction == 0 || m->instruction % m->group == 0) && is_one_sum(m) &&
           is_plain(m) && truncates && scales && m->align_bits != ASSAY_MAC_NONE &&
           m->align_bits <= 25;
}

/* ---- one step of 16 columns ---- */

/* Running values: sign and significand of 24 bits, exponent of its unit digit; 0 and NOTHING. */
typedef struct running {
    int32_t digits[COLUMNS], unit[COLUMNS];
    bool odd[COLUMNS]; /* left the normal numbers */
} running;

typedef struct tile {
    const assay_mac_node *m;
    const float *value; /* [K][COLUMNS] */
    const int32_t *unit;
    const uint8_t *scale; /* [runs][COLUMNS], e8m0; of units with block scales */
    size_t depth;
} tile;

static float power_of_two(int32_t n)
{
    const uint32_t bits = (uint32_t)((n < -126 ? -126 : n > 127 ? 127 : n) + 127) << 23;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The running value cut to multiples of 2^grid. */
static int64_t cut(int32_t digits, int32_t unit, int32_t grid)
{
    const int32_t up = unit - 23 - grid, drop = -up > 31 ? 31 : -up;
    const int64_t magnitude = digits < 0 ? -(int64_t)digits : digits;
    const int64_t kept = up >= 0 ? magnitude << up : magnitude >> drop;
    return digits < 0 ? -kept : kept;
}

/* sum * 2^grid, its leading fraction_bits + 1 digits. */
static void store(running *r, int j, int64_t sum, int32_t grid, int fraction_bits)
{
    const double exact = (double)sum; /* below 2^53 */
    uint64_t bits;
    memcpy(&bits, &exact, sizeof bits);
    if (sum == 0) {
        r->digits[j] = 0;
        r->unit[j] = NOTHING;
        return;
    }
    const int32_t unit = grid + (int32_t)(bits >> 52 & 0x7ff) - 1023;
    const int32_t top = (int32_t)(bits >> 29 & 0x7fffff) >> (23 - fraction_bits)
                                                                << (23 - fraction_bits);
    r->digits[j] = sum < 0 ? -(top | 0x800000) : top | 0x800000;
    r->unit[j] = unit;
    r->odd[j] = r->odd[j] || unit < -126 || unit > 127;
}

static void sum_terms(const tile *t, const float *a, size_t first, size_t n,
                      const float factor[COLUMNS], int64_t sum[COLUMNS])
{
    const float *b = t->value + first * COLUMNS;
    const int64_t bits = t->m->mac.align_bits;
    if (bits <= 20) { /* at most 64 terms below 2^22 each */
        int32_t narrow[COLUMNS] = {0};
        for (size_t k = 0; k < n; k++)
            for (int j = 0; j < COLUMNS; j++)
                narrow[j] += (int32_t)(a[k] * b[k * COLUMNS + (size_t)j] * factor[j]);
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += narrow[j];
        return;
    }
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += (int32_t)(a[k] * b[k * COLUMNS + (size_t)j] * factor[j]);
}

static void step(const tile *t, const float *a, const int32_t *units, int32_t a_scale, size_t first,
                 size_t n, running *r)
{
    const assay_mac *m = &t->m->mac;
    const int32_t least = m->least_max == ASSAY_MAC_NONE ? NOTHING : (int32_t)m->least_max;
    const int fraction_bits = m->out_frac > 0 ? (int)m->out_frac : 23;
    const int32_t *b = t->unit + first * COLUMNS;
    int32_t top[COLUMNS], shift[COLUMNS] = {0};
    float factor[COLUMNS];
    int64_t sum[COLUMNS];
    for (int j = 0; j < COLUMNS; j++)
        top[j] = NOTHING;
    for (size_t k = 0; k < n; k++)
        for (int j = 0; j < COLUMNS; j++) {
            const int32_t u = units[k] + b[k * COLUMNS + (size_t)j];
            top[j] = u > top[j] ? u : top[j];
        }
    for (int j = 0; j < COLUMNS; j++) {
        if (t->scale)
            shift[j] = a_scale + t->scale[first / (size_t)t->m->b_run * COLUMNS + (size_t)j] - 254;
        top[j] = top[j] > NOTHING / 2 ? top[j] + shift[j] : NOTHING;
        top[j] = top[j] > r->unit[j] ? top[j] : r->unit[j];
        top[j] = top[j] > least ? top[j] : least;
        const int32_t grid = top[j] - (int32_t)m->align_bits;
        factor[j] = power_of_two(shift[j] - grid);
        sum[j] = cut(r->digits[j], r->unit[j], grid);
    }
    sum_terms(t, a, first, n, factor, sum);
    for (int j = 0; j < COLUMNS; j++)
        store(r, j, sum[j], top[j] - (int32_t)m->align_bits, fraction_bits);
}

static uint32_t pattern(const running *r, int j)
{
    const int32_t d = r->digits[j];
    const uint32_t magnitude = (uint32_t)(d < 0 ? -d : d);
    return d == 0 ? 0
                  : (d < 0 ? 0x80000000u : 0) | ((uint32_t)(r->unit[j] + 127) << 23) |
                        (magnitude & 0x7fffff);
}

/* ---- the node ---- */

typedef struct room {
    float *a, *b; /* a row, a tile */
    int32_t *a_unit, *b_unit;
    int32_t *codes, *other; /* rows as the reference loads them */
    int32_t *a_scale;
    int32_t *scales; /* [COLUMNS][runs], f32 or codes as loaded */
    uint8_t *e8m0;
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
    r->e8m0 = ref_carve(memory, &used, k * COLUMNS, sizeof *r->e8m0);
    return used;
}

/* A row's numbers; false when some element or scale is none. */
static bool decode(const element *table, const int32_t *codes, size_t k, float *value,
                   int32_t *unit, size_t stride)
{
    bool special = false;
    for (size_t i = 0; i < k; i++) {
        const element *e = &table[codes[i] & 0xff];
        value[i * stride] = e->value;
        unit[i * stride] = e->unit;
        special = special || e->special;
    }
    return !special;
}

static bool has_scales(const assay_mac_node *m, const int32_t *scale, size_t n)
{
    bool all = true;
    for (size_t i = 0; m->mac.scale_block > 0 && i < n; i++)
        all = all && scale[i] != 0xff;
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
        w->good[j] = decode(w->f->b, codes, w->depth, w->r.b + j, w->r.b_unit + j, COLUMNS);
        if (j < n)
            w->good[j] = has_scales(w->m, scale, (size_t)w->b.runs) && w->good[j];
        for (size_t i = 0; i < (size_t)w->b.runs; i++)
            w->r.e8m0[i * COLUMNS + (size_t)j] = (uint8_t)(j < n ? scale[i] : 127);
    }
}

/* Elements first to last of K, from +0. */
static void run_of(const work *w, size_t first, size_t last, running *r)
{
    const tile t = {w->m, w->r.b, w->r.b_unit, w->m->mac.scale_block > 0 ? w->r.e8m0 : NULL,
                    w->depth};
    const size_t group = (size_t)w->m->mac.group;
    for (int j = 0; j < COLUMNS; j++) {
        r->digits[j] = 0;
        r->unit[j] = NOTHING;
    }
    for (size_t i = first; i < last; i += group) {
        const int32_t scale = t.scale ? w->r.a_scale[i / (size_t)w->m->a_run] : 0;
        step(&t, w->r.a + i, w->r.a_unit + i, scale, i, last - i < group ? last - i : group, r);
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
    uint32_t y[COLUMNS] = {0};
    running r = {.odd = {false}};
    ref_load_operand(&w->a, w->call->out[0].type, batch, row);
    const bool good = decode(w->f->a, w->r.codes, w->depth, w->r.a, w->r.a_unit, 1) &&
                      has_scales(w->m, w->r.a_scale, (size_t)w->a.runs);
    const size_t length = mac_unit_run(w->m);
    for (size_t i = 0; good && i < w->depth; i += length) {
        run_of(w, i, i + length < w->depth ? i + length : w->depth, &r);
        for (int j = 0; j < n; j++) {
            d->b_scale = w->r.scales + (size_t)j * (size_t)w->b.runs;
            y[j] = mac_unit_add_run(w->m, d, i, pattern(&r, j), y[j]);
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

static void tabulate(int64_t format, element table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        const assay_mac_value v = mac_decode((enum assay_mac_format)format, i);
        const float magnitude = (float)v.significand * power_of_two(v.exponent);
        table[i] = (element){v.negative ? -magnitude : magnitude,
                             v.significand > 0 ? v.unit : NOTHING, v.kind != ASSAY_MAC_NUMBER};
    }
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
    if (s->vt != &mac_vtable || !takes(&m->mac) || a->dim[a->rank - 1] == 0)
        return ASSAY_OK;
    matrix_node *f = fast_alloc(sizeof *f);
    if (!f)
        return fast_memory(s, err);
    f->base = (assay_fast){
        .run = run, .free = free_node, .scratch = carve(s->graph, s->node, NULL, &r), .threads = 1};
    tabulate(m->mac.a, f->a);
    tabulate(m->mac.b, f->b);
    *out = &f->base;
    return ASSAY_OK;
}
