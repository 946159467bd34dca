/* Sums of int8mx, 16 columns at a time, beside the unit's own dots: exact ones of any length and
 * tree, aligned ones, and small floats beside integers. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/mac/mac.h"
#include "schemes/mac/tile.h"

enum { K = 4096, TRIALS = 300 };

typedef struct operands {
    uint8_t a[K], b[MAC_TILE][K];
    float value_a[K], value_b[K][MAC_TILE];
    int32_t unit_a[K], unit_b[K][MAC_TILE], tile_scale_a[K];
    uint8_t scale_a[K], scale_b[MAC_TILE][K], tile_scale_b[K][MAC_TILE];
} operands;

static const char *const records[] = {
    "a: int8mx, b: int8mx, group: 32",
    "a: int8mx, b: int8mx, group: 1, out_round: floor",
    "a: int8mx, b: int8mx, group: 0, k_order: descending, flush_acc: plus, zero_sign: plus",
    "a: int8mx, b: int8mx, group: 4, sum: pairs, accumulator: after, product_round: ceil, split_k: "
    "4",
    "a: int8mx, b: int8mx, group: 4, instruction: 8, order: [3, 1, 4, 0, 5, 2, 7, 6], start: zero, "
    "chains: 2, promote: 16, exact_group: 2",
    "a: int8mx, b: int8mx, group: 8, align_bits: 25, out_round: trunc",
    "a: int8mx, b: int8mx, group: 16, align_bits: 7, least_max: 3, out_round: trunc, out_frac: 9",
    "a: int8mx, b: e4m3fn, group: 16, align_bits: 20, out_round: trunc",
    "a: int8mx, b: int8mx, group: 32, scale_block: 32",
    "a: int8mx, b: int8mx, group: 8, exact_group: 4, scale_block: 16, overflow: largest",
    "a: int8mx, b: int8mx, group: 16, align_bits: 23, scale_block: 32, out_round: trunc",
    "a: e2m1, b: int8mx, group: 4, align_bits: 21, out_round: trunc",
};

static void open_record(const char *record, assay_mac *m)
{
    char text[400];
    assay_mac_unit u;
    assay_error err;
    snprintf(text, sizeof text, "unit: x\nmac: {acc: f32, out: f32, nan: 0x7fc00000, %s}\n",
             record);
    assert_ok(mac_read("x", text, strlen(text), &u, &err), &err);
    *m = u.record;
    assert_true(mac_tile_takes(m));
}

/* A pattern; way: any, the least and greatest, few digits. No NaN: e4m3fn's is left to other
 * suites. */
static uint8_t draw(test_rng *r, int64_t format, int way)
{
    if (format == ASSAY_MAC_E2M1)
        return (uint8_t)test_between(r, 0, 15);
    if (format == ASSAY_MAC_E4M3FN)
        return (uint8_t)(test_between(r, 0, 126) | (test_between(r, 0, 1) ? 0x80 : 0));
    static const uint8_t ends[] = {0x80, 0x7f, 0x81, 0};
    return way == 0   ? (uint8_t)test_between(r, 0, 255)
           : way == 1 ? ends[test_between(r, 0, 3)]
           : way == 2 ? 0x80
                      : (uint8_t)test_between(r, -3, 3);
}

static void draw_all(test_rng *r, const assay_mac *m, size_t k, operands *o)
{
    static mac_element a[256], b[256];
    const int way = (int)test_between(r, 0, 3);
    const int64_t min = test_between(r, 0, 2) ? 118 : 0, max = min ? 136 : 254;
    mac_tile_table(m, m->a, a);
    mac_tile_table(m, m->b, b);
    for (size_t i = 0; i < k; i++) {
        o->a[i] = draw(r, m->a, way);
        o->value_a[i] = a[o->a[i]].value;
        o->unit_a[i] = a[o->a[i]].unit;
        o->tile_scale_a[i] = o->scale_a[i] = (uint8_t)test_between(r, min, max);
        for (size_t j = 0; j < MAC_TILE; j++) {
            o->b[j][i] = draw(r, m->b, way);
            o->value_b[i][j] = b[o->b[j][i]].value;
            o->unit_b[i][j] = b[o->b[j][i]].unit;
            o->tile_scale_b[i][j] = o->scale_b[j][i] = (uint8_t)test_between(r, min, max);
        }
    }
}

/* How many columns were compared. */
static int compare(const assay_mac *m, size_t k, const operands *o)
{
    const bool scaled = m->scale_block > 0;
    const int64_t block = scaled ? m->scale_block : (int64_t)k;
    const mac_tile t = {.unit = m,
                        .a_run = block,
                        .b_run = block,
                        .value = &o->value_b[0][0],
                        .exponent = &o->unit_b[0][0],
                        .scale = scaled ? &o->tile_scale_b[0][0] : NULL};
    mac_running run = {.odd = {false}};
    int compared = 0;
    mac_tile_run(&t, o->value_a, o->unit_a, o->tile_scale_a, 0, k, &run);
    for (int j = 0; j < MAC_TILE; j++) {
        const assay_mac_rows in = {.k = k,
                                   .a = o->a,
                                   .b = o->b[j],
                                   .scale_a = scaled ? o->scale_a : NULL,
                                   .scale_b = scaled ? o->scale_b[j] : NULL};
        uint32_t expected;
        assay_error err;
        if (run.odd[j])
            continue;
        assert_ok(mac_dots(m, 1, &in, &expected, &err), &err);
        if (mac_tile_pattern(&run, j) != expected)
            fail_msg("k %zu, column %d: %08x, expected %08x", k, j, mac_tile_pattern(&run, j),
                     expected);
        compared++;
    }
    return compared;
}

static void as_dots(void **state)
{
    static operands o;
    test_rng r = test_seed("integers on tiles", 20);
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        assay_mac m;
        int compared = 0;
        open_record(records[i], &m);
        for (int trial = 0; trial < TRIALS; trial++) {
            const size_t each = mac_multiple(&m),
                         k = each * (size_t)test_between(&r, 1, (trial % 8 ? 256 : K) / (int)each);
            draw_all(&r, &m, k, &o);
            compared += compare(&m, k, &o);
        }
        if (compared < TRIALS * MAC_TILE / 2)
            fail_msg("{%s}: %d columns compared", records[i], compared);
    }
}

/* 1024 products of the greatest magnitude are exact; one more, and the sum is the unit's to make.
 */
static void at_the_end(void **state)
{
    static operands o;
    mac_running run = {.odd = {false}};
    assay_mac m;
    (void)state;
    open_record("a: int8mx, b: int8mx, group: 1", &m);
    for (size_t i = 0; i < K; i++) {
        o.value_a[i] = -2;
        for (int j = 0; j < MAC_TILE; j++)
            o.value_b[i][j] = j == 3 && i >= 600 ? 0 : -2;
    }
    const mac_tile t = {.unit = &m, .value = &o.value_b[0][0], .exponent = &o.unit_b[0][0]};
    mac_tile_run(&t, o.value_a, o.unit_a, NULL, 0, 1024, &run);
    assert_false(run.odd[0]);
    assert_int_equal(mac_tile_pattern(&run, 0), 0x45800000); /* 4096 */
    mac_tile_run(&t, o.value_a, o.unit_a, NULL, 0, 1025, &run);
    assert_true(run.odd[0]);
    assert_false(run.odd[3]);
    assert_int_equal(mac_tile_pattern(&run, 3), 0x45160000); /* 2400 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_dots), cmocka_unit_test(at_the_end)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
