/* Terms of 16 columns, cut and summed; see tile_sums.h. */
#include "schemes/mac/tile_sums.h"

enum { COLUMNS = MAC_TILE };

void mac_tile_greatest(const mac_tile *t, const mac_tile_terms *s, int32_t top[MAC_TILE])
{
    const int32_t *b = t->exponent + s->first * COLUMNS;
    for (int j = 0; j < COLUMNS; j++)
        top[j] = MAC_TILE_NOTHING;
    for (size_t k = 0; k < s->n; k += s->stride)
        for (int j = 0; j < COLUMNS; j++) {
            const int32_t u = s->exponent[k] + b[k * COLUMNS + (size_t)j];
            top[j] = u > top[j] ? u : top[j];
        }
}

/* Sums of significands times their own powers of two: below 2^27. */
static void sum_wide(const mac_tile *t, const mac_tile_terms *s, const int32_t top[COLUMNS],
                     int64_t sum[COLUMNS])
{
    const float *b = t->value + s->first * COLUMNS;
    const int32_t *exponent = t->exponent + s->first * COLUMNS;
    const int32_t bits = (int32_t)t->unit->align_bits;
    for (size_t k = 0; k < s->n; k += s->stride)
        for (int j = 0; j < COLUMNS; j++) {
            const size_t at = k * COLUMNS + (size_t)j;
            const int32_t up = s->exponent[k] + exponent[at] - top[j] + bits;
            sum[j] += (int32_t)(s->a[k] * b[at] * mac_power_of_two(up < -126 ? -126 : up));
        }
}

static void sum_small(const mac_tile *t, const mac_tile_terms *s, const float factor[COLUMNS],
                      int64_t sum[COLUMNS])
{
    const float *b = t->value + s->first * COLUMNS;
    const int64_t bits = t->unit->align_bits;
    if (bits <= 20) { /* at most 64 terms below 2^22 each */
        int32_t narrow[COLUMNS] = {0};
        for (size_t k = 0; k < s->n; k += s->stride)
            for (int j = 0; j < COLUMNS; j++)
                narrow[j] += (int32_t)(s->a[k] * b[k * COLUMNS + (size_t)j] * factor[j]);
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += narrow[j];
        return;
    }
    for (size_t k = 0; k < s->n; k += s->stride)
        for (int j = 0; j < COLUMNS; j++)
            sum[j] += (int32_t)(s->a[k] * b[k * COLUMNS + (size_t)j] * factor[j]);
}

void mac_tile_sum(const mac_tile *t, const mac_tile_terms *s, const int32_t top[MAC_TILE],
                  const int32_t shift[MAC_TILE], int64_t sum[MAC_TILE])
{
    float factor[COLUMNS];
    if (mac_format_is_wide(t->unit->a)) {
        sum_wide(t, s, top, sum);
        return;
    }
    for (int j = 0; j < COLUMNS; j++)
        factor[j] = mac_power_of_two(shift[j] - top[j] + (int32_t)t->unit->align_bits);
    sum_small(t, s, factor, sum);
}
