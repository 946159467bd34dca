/* Operands of a tile: patterns that are drawn, and the same in the columns that it takes. */
#ifndef ASSAY_TEST_SCHEMES_MAC_TILE_OPERANDS_H
#define ASSAY_TEST_SCHEMES_MAC_TILE_OPERANDS_H

#include <string.h>

#include "schemes/mac/formats.h"
#include "schemes/mac/tile.h"
#include "test/support/support.h"

enum { K = 256 };

typedef struct operands {
    uint8_t a[K], b[MAC_TILE][K];
    uint8_t a_scale[K], b_scale[MAC_TILE][K];
} operands;

/* A pattern of the format; way: any, of few exponents, near zero. */
static uint8_t draw(test_rng *r, int64_t format, int way)
{
    const struct assay_mac_layout *l = mac_layout_of((enum assay_mac_format)format);
    const int sign = 1 << (l->bits - 1), fraction = 1 << l->fraction_bits;
    const int max = way == 0 ? sign - 1 : way == 1 ? sign / 2 + fraction : 3 * fraction;
    const int min = way == 1 ? sign / 2 - fraction : 0;
    return (uint8_t)(test_between(r, min, max < sign ? max : sign - 1) |
                     (test_between(r, 0, 1) ? sign : 0));
}

static void draw_all(test_rng *r, const assay_mac *m, size_t k, operands *o)
{
    const int way = (int)test_between(r, 0, 2);
    const int64_t min = test_between(r, 0, 3) ? 120 : 0, max = min ? 134 : 254;
    for (size_t i = 0; i < k; i++) {
        o->a[i] = draw(r, m->a, way);
        o->a_scale[i] = (uint8_t)test_between(r, min, max);
    }
    for (int j = 0; j < MAC_TILE; j++)
        for (size_t i = 0; i < k; i++) {
            o->b[j][i] = draw(r, m->b, way);
            o->b_scale[j][i] = (uint8_t)test_between(r, min, max);
        }
    if (m->a == m->b) /* column 0: what comes cancels, but for little */
        for (size_t i = 0; i + 1 < k; i += 2) {
            o->a[i + 1] = o->a[i];
            o->b[0][i + 1] =
                (uint8_t)(o->b[0][i] ^ 1 << (mac_layout_of((enum assay_mac_format)m->a)->bits - 1));
        }
}

/* Operands as a tile takes them: values and exponents in columns, and what is special. */
typedef struct columns {
    float a[K], b[K][MAC_TILE];
    int32_t a_exponent[K], b_exponent[K][MAC_TILE], a_scale[K];
    uint8_t b_scale[K][MAC_TILE];
    bool special[MAC_TILE];
} columns;

static void lay_out(const assay_mac *m, size_t k, size_t blocks, const operands *o, columns *c)
{
    static mac_element table_a[256], table_b[256];
    mac_tile_table(m, m->a, table_a);
    mac_tile_table(m, m->b, table_b);
    memset(c->special, 0, sizeof c->special);
    for (size_t i = 0; i < k; i++) {
        c->a[i] = table_a[o->a[i]].value;
        c->a_exponent[i] = table_a[o->a[i]].unit;
        for (int j = 0; j < MAC_TILE; j++) {
            const mac_element *b = &table_b[o->b[j][i]];
            c->b[i][j] = b->value;
            c->b_exponent[i][j] = b->unit;
            c->special[j] = c->special[j] || b->special || table_a[o->a[i]].special;
        }
    }
    for (size_t i = 0; i < blocks; i++) {
        c->a_scale[i] = o->a_scale[i];
        for (int j = 0; j < MAC_TILE; j++)
            c->b_scale[i][j] = o->b_scale[j][i];
    }
}

#endif
