/* 16 columns of a unit that cuts a step's sum (of one lane or several) and the running value once
 * more, relative to the greater of their exponents, and adds them: CDNA3's. */
#include <assert.h>

#include "schemes/mac/tile_sums.h"

enum { COLUMNS = MAC_TILE, LANES = MAC_TILE_LANES, NOTHING = MAC_TILE_NOTHING };

/* The sums of a step in 16 columns: n * 2^(unit - align_bits). */
typedef struct sums {
    int32_t unit[COLUMNS];
    int64_t n[COLUMNS];
} sums;

static int64_t floor_shift(int64_t n, int32_t up)
{
    assert(up < 63);
    return up >= 0 ? n * ((int64_t)1 << up) : apply_shift_right(n, up < -63 ? 63 : (unsigned)-up);
}

static bool is_nothing(int32_t unit)
{
    return unit <= NOTHING / 2;
}

/* Marks the columns odd in which a product may reach product_limit. */
static void sum_lane(const mac_tile *t, const mac_tile_terms *terms, sums *lane, mac_running *r)
{
    const assay_mac *m = t->unit;
    const int32_t none[COLUMNS] = {0};
    mac_tile_greatest(t, terms, lane->unit);
    for (int j = 0; j < COLUMNS; j++) {
        int32_t *unit = &lane->unit[j];
        r->odd[j] |= *unit + 2 > m->product_limit;
        if (!is_nothing(*unit) && m->least_max != ASSAY_MAC_NONE && *unit < m->least_max)
            *unit = (int32_t)m->least_max;
        lane->n[j] = 0;
    }
    mac_tile_sum(t, terms, lane->unit, none, lane->n);
}

/* Brings the lanes to the grid of the greatest and adds them. */
static void join_lanes(const sums *lane, size_t lanes, sums *all)
{
    *all = lane[0];
    for (size_t i = 1; i < lanes; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const int32_t unit = all->unit[j] > lane[i].unit[j] ? all->unit[j] : lane[i].unit[j];
            all->unit[j] = unit;
        }
    for (int j = 0; j < COLUMNS; j++) {
        all->n[j] = 0;
        for (size_t i = 0; i < lanes; i++)
            all->n[j] += floor_shift(lane[i].n[j], lane[i].unit[j] - all->unit[j]);
    }
}

static void add_running(const assay_mac *m, const sums *s, mac_running *r)
{
    const mac_rounder how = mac_rounder_of(m, m->acc_round, m->out_frac);
    const int32_t of_zero =
        m->zero_exponent == ASSAY_MAC_NONE ? NOTHING : (int32_t)m->zero_exponent;
    for (int j = 0; j < COLUMNS; j++) {
        const int32_t acc = r->digits[j] == 0 ? of_zero : r->unit[j];
        const int32_t unit = s->unit[j] > acc ? s->unit[j] : acc;
        const int32_t grid = unit - (int32_t)m->sum_align_bits;
        int64_t sum = floor_shift(s->n[j], s->unit[j] - (int32_t)m->align_bits - grid);
        if (m->acc_drop == ASSAY_MAC_NONE || acc >= unit - m->acc_drop) {
            const int32_t acc_grid = unit - (int32_t)m->acc_align_bits;
            sum += floor_shift(floor_shift(r->digits[j], acc - 23 - acc_grid), acc_grid - grid);
        }
        mac_tile_store(&how, r, j, sum, grid);
    }
}

void mac_tile_run_aside(const mac_tile *t, const float *a, const int32_t *exponent, size_t first,
                        size_t last, mac_running *r)
{
    const assay_mac *m = t->unit;
    const size_t group = (size_t)m->group;
    for (size_t i = first; i < last; i += group) {
        const size_t n = last - i < group ? last - i : group,
                     lanes = (size_t)m->lanes < n ? (size_t)m->lanes : n;
        sums lane[LANES] = {{.unit = {0}}}, all;
        for (size_t l = 0; l < lanes; l++) {
            const mac_tile_terms terms = {a + i + l, exponent + i + l, i + l, n - l,
                                          (size_t)m->lanes};
            sum_lane(t, &terms, &lane[l], r);
        }
        join_lanes(lane, lanes, &all);
        add_running(m, &all, r);
    }
}
