/* 16 columns of a unit above its steps: instructions, promotion, parts of K; columns.h. */
#include "schemes/mac/columns.h"
#include "schemes/mac/rounded.h"

#include <string.h>

enum { COLUMNS = MAC_TILE, CHAINS = 64 /* at most, of mac.def */ };

/* Steps over places first to first + n, from +0. */
static void steps(const mac_columns *c, size_t first, size_t n, float y[COLUMNS], bool odd[COLUMNS])
{
    const mac_levels *l = c->levels;
    if (l->chain) {
        l->chain(&l->steps, c->a + first, c->b.value + first * COLUMNS, n, y, odd);
        return;
    }
    mac_running r;
    memcpy(r.odd, odd, sizeof r.odd);
    mac_tile_run(&c->b, c->a, c->a_exponent, c->a_scale, first, first + n, &r);
    for (int j = 0; j < COLUMNS; j++) {
        const uint32_t pattern = mac_tile_pattern(&r, j);
        memcpy(&y[j], &pattern, sizeof y[j]);
    }
    memcpy(odd, r.odd, sizeof r.odd);
}

/* y = y + x * scale (NULL: 1), rounded once. */
static void add(const mac_rounder *how, const float x[COLUMNS], const float scale[COLUMNS],
                float y[COLUMNS], bool odd[COLUMNS])
{
    for (int j = 0; j < COLUMNS; j++) {
        uint64_t left = 0;
        const double term = scale ? (double)x[j] * (double)scale[j] : (double)x[j];
        y[j] = (float)mac_round_double(how, mac_add_to_odd((double)y[j], term), &left);
        odd[j] |= left != 0;
    }
}

/* Values added by pairs until one is left, the first. */
static void add_pairs(const mac_rounder *how, float value[][COLUMNS], size_t n, bool odd[COLUMNS])
{
    for (; n > 1; n = (n + 1) / 2)
        for (size_t i = 0; i < n; i += 2) {
            if (i + 1 < n)
                add(how, value[i + 1], NULL, value[i], odd);
            memmove(value[i / 2], value[i], sizeof value[i]);
        }
}

/* An instruction of `steps` steps of `each` places that start from zero: its chains, their sum, and
 * that to y. */
static void from_zero(const mac_columns *c, size_t first, size_t n_steps, size_t each,
                      float y[COLUMNS], bool odd[COLUMNS])
{
    const assay_mac *m = &c->levels->unit;
    const size_t chains = (size_t)m->chains;
    const mac_rounder out = mac_rounder_of(m, m->out_round, m->out_frac),
                      acc = mac_rounder_of(m, m->acc_round, m->out_frac);
    float chain[CHAINS][COLUMNS] = {{0}};
    for (size_t i = 0; i < chains; i++) {
        const size_t length = (n_steps + chains - 1 - i) / chains * each;
        steps(c, first, length, chain[i], odd);
        first += length;
    }
    add_pairs(&out, chain, chains, odd);
    add(&acc, chain[0], NULL, y, odd);
}

/* Instructions over n places, from +0. */
static void run(const mac_columns *c, size_t first, size_t n, float y[COLUMNS], bool odd[COLUMNS])
{
    const assay_mac *m = &c->levels->unit;
    const size_t phases = (size_t)m->phases,
                 each = m->instruction > 0 ? (size_t)m->instruction * phases : n,
                 group = m->group > 0 ? (size_t)m->group * phases : each;
    if (m->start == ASSAY_MAC_START_ACC) {
        steps(c, first, n, y, odd);
        return;
    }
    memset(y, 0, COLUMNS * sizeof *y);
    for (size_t i = 0; i < n; i += each)
        from_zero(c, first + i, each / group, group, y, odd);
}

/* The products of block b's scales, each rounded to f32. */
static const float *promoted_scales(const mac_columns *c, size_t b, float scale[COLUMNS],
                                    bool odd[COLUMNS])
{
    if (c->levels->unit.scale_block == 0)
        return NULL;
    static const assay_mac of_scales = {.out = ASSAY_MAC_F32};
    const mac_rounder f32 = mac_rounder_of(&of_scales, ASSAY_ROUND_HALF_EVEN, 0);
    for (int j = 0; j < COLUMNS; j++) {
        uint64_t left = 0;
        const double product =
            (double)c->promoted_a[b] * (double)c->promoted_b[b * COLUMNS + (size_t)j];
        scale[j] = (float)mac_round_double(&f32, product, &left);
        odd[j] |= left != 0;
    }
    return scale;
}

/* A part of K: n places, from +0. */
static void part(const mac_columns *c, size_t first, size_t n, float y[COLUMNS], bool odd[COLUMNS])
{
    const assay_mac *m = &c->levels->unit;
    const size_t each = (size_t)(m->promote * m->phases),
                 block = (size_t)(m->scale_block * m->phases);
    const mac_rounder outer = mac_rounder_of(m, m->outer_round, 0);
    if (each == 0) {
        run(c, first, n, y, odd);
        return;
    }
    memset(y, 0, COLUMNS * sizeof *y);
    for (size_t i = first; i < first + n; i += each) {
        float sum[COLUMNS], scale[COLUMNS];
        run(c, i, each, sum, odd);
        add(&outer, sum, promoted_scales(c, block > 0 ? i / block : 0, scale, odd), y, odd);
    }
}

/* All n places: parts of K, by pairs or one after the other, onto +0. */
static void parts(const mac_columns *c, size_t first, size_t n, float y[COLUMNS], bool odd[COLUMNS])
{
    const assay_mac *m = &c->levels->unit;
    const mac_rounder outer = mac_rounder_of(m, m->outer_round, 0);
    const size_t count = (size_t)m->split_k, each = n / count;
    float value[MAC_LEVELS_PARTS][COLUMNS];
    if (count == 1) {
        part(c, first, n, y, odd);
        return;
    }
    for (size_t i = 0; i < count; i++)
        part(c, first + i * each, each, value[i], odd);
    const bool by_pairs = m->split_sum == ASSAY_MAC_BY_PAIRS;
    if (by_pairs)
        add_pairs(&outer, value, count, odd);
    memset(y, 0, COLUMNS * sizeof *y);
    for (size_t i = 0; i < (by_pairs ? 1 : count); i++)
        add(&outer, value[i], NULL, y, odd);
}

void mac_columns_run(const mac_columns *c, size_t first, size_t last, float y[COLUMNS],
                     bool odd[COLUMNS])
{
    if (c->levels->plain)
        steps(c, first, last - first, y, odd);
    else
        parts(c, first, last - first, y, odd);
}
