/* Matrix units that are refused: each contradiction between two parameters, each wrong list of
 * places; and a matrix product beside its dots, with every allocation failing in turn (the linker
 * wraps malloc, test/meson.build). */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "schemes/mac/parameters.h"
#include "test/support/alloc_fails.h"

#define F16 "a: f16, b: f16, acc: f32, out: f32, nan: 0x7fc00000, "
#define F8  "a: e4m3fn, b: e4m3fn, acc: f32, out: f32, nan: 0x7fc00000, "

static const char *const contradictory[][2] = {
    {"a: f16, b: f16, acc: f64, out: f32, nan: 0x7fc00000, group: 4", "does not hold"},
    {"a: f16, b: f16, acc: tf32, out: f32, nan: 0x7fc00000, group: 4", "acc and out take"},
    {"a: f16, b: f16, acc: f32, out: tf32, nan: 0x7fc00000, group: 4", "acc and out take"},
    {"a: f16, b: f16, acc: e5m2, out: f32, nan: 0x7fc00000, group: 4", "acc and out take"},
    {"a: f16, b: f16, acc: e4m3fn, out: f32, nan: 0x7fc00000, group: 4", "acc and out take"},
    {"a: f16, b: f16, acc: f32, out: f32, nan: 0x3f800000, group: 4",
     "nan is the pattern of a number"},
    {"a: f16, b: f16, acc: f32, out: f32, nan: 0x7f800000, group: 4",
     "nan is the pattern of a number"},
    {F16 "instruction: 4, group: 2, order: [1, 0]", "one place per product"},
    {F16 "group: 2, order: [1, 0]", "one place per product"},
    {F16 "instruction: 6, group: 4", "not a multiple of group"},
    {F16 "instruction: 4, group: 2, chains: 2", "start from zero"},
    {F16 "group: 2, phases: 2", "a_digits and b_digits"},
    {F16 "group: 2, phases: 4, a_digits: 5", "a_digits and b_digits"},
    {F16 "group: 2, phases: 4, b_digits: 5", "a_digits and b_digits"},
    {F16 "group: 4, sum: pairs", "needs accumulator: after"},
    {F16 "group: 4, sum: pairs, accumulator: after, align_bits: 24", "neither"},
    {F16 "group: 4, sum: pairs, accumulator: after, lanes: 2", "neither"},
    {F16 "group: 4, lanes: 2, accumulator: after", "lanes need"},
    {F16 "group: 4, lanes: 2, align_bits: 24", "lanes need"},
    {F16 "group: 4, accumulator: aligned, sum_align_bits: 24, acc_align_bits: 24",
     "needs align_bits"},
    {F16 "group: 4, accumulator: aligned, align_bits: 24, acc_align_bits: 24", "needs align_bits"},
    {F16 "group: 4, accumulator: aligned, align_bits: 24, sum_align_bits: 24", "needs align_bits"},
    {F16 "group: 4, sum_align_bits: 24", "needs accumulator: aligned"},
    {F16 "group: 4, acc_align_bits: 24", "needs accumulator: aligned"},
    {F16 "group: 4, acc_drop: 24", "needs accumulator: aligned"},
    {F16 "group: 4, scale: ue4m3", "scale needs scale_block"},
    {"a: int8mx, b: int8mx, acc: f32, out: f32, nan: 0x7fc00000, group: 4, flush_in: signed",
     "flush_in needs elements with subnormal numbers"},
    {F16 "group: 4, align_cut: floor", "align_cut needs align_bits"},
    {F16 "group: 4, least_max: -133", "least_max needs align_bits"},
    {F16 "group: 4, zero_exponent: -126", "zero_exponent needs align_bits"},
    {F16 "group: 4, align_bits: 24, accumulator: after, sum_cut: trunc", "sum_cut needs"},
    {F16 "group: 4, align_bits: 24, accumulator: aligned, sum_align_bits: 24, acc_align_bits: 24, "
         "out_round: odd",
     "out_round needs"},
    {F16 "group: 4, acc_round: odd", "acc_round needs"},
    {F16 "group: 4, outer_round: odd", "outer_round needs promote or split_k"},
    {F16 "group: 4, split_sum: pairs", "split_sum needs split_k"},
    {F8 "group: 4, scale: f16, scale_block: 32", "scale takes"},
    {F8 "group: 4, scale: f32, scale_block: 32", "scale takes"},
    {F8 "group: 4, scale: f32, scale_place: promoted, scale_block: 32", "a promote that divides"},
    {F8 "group: 4, scale_place: promoted, promote: 32", "a promote that divides"},
    {F8 "group: 4, scale_place: promoted, promote: 32, scale_block: 48", "a promote that divides"},
    {F16 "group: 4, exact_group: 4", "at most 8 bits"},
    {"a: e4m3fn, b: f16, acc: f32, out: f32, nan: 0x7fc00000, group: 4, exact_group: 4",
     "at most 8 bits"},
    {F8 "group: 6, exact_group: 4", "exact_group divides"},
    {F8 "group: 0, instruction: 6, exact_group: 4", "exact_group divides"},
    {F8 "group: 4, exact_group: 4, scale_block: 6", "exact_group divides"},
    {F8 "group: 0, exact_group: 4, promote: 6", "exact_group divides"},
    {F8 "group: 4, exact_group: 2, instruction: 4, order: [0, 2, 1, 3], scale_block: 2",
     "under different scales"},
    {F8 "group: 6, exact_group: 2, instruction: 6, order: [0, 2, 1, 3, 4, 5], scale_block: 4",
     "under different scales"},
    {F8 "group: 6, exact_group: 2, instruction: 6, order: [0, 1, 2, 4, 3, 5], scale_block: 4",
     "under different scales"},
    {F8 "instruction: 8, group: 4, promote: 12", "not a multiple of instruction"},
    {F8 "group: 8, promote: 12", "not a multiple of instruction"},
    {F16 "group: 4, order: 3", "a list of at most 256 places"},
    {F16 "group: 4, order: {a: 1}", "a list of at most 256 places"},
    {F16 "instruction: 2, group: 2, order: [0, 0]", "each of the places"},
    {F16 "instruction: 2, group: 2, order: [0, 2]", "each of the places"},
    {F16 "instruction: 2, group: 2, order: [0, x]", "each of the places"},
    {F16 "instruction: 2, group: 2, order: [0, 1x]", "each of the places"},
    {F16 "instruction: 2, group: 2, order: [0, [1]]", "each of the places"},
    {F16 "group: 4, align_bits: 65", "or none"},
    {F16 "group: 4, align_bits: some", "or none"},
    {F16 "group: 4, product_round: some", "or none"},
    {F16 "group: 4, product_round: [floor]", "or none"},
    {F16 "group: 4, start: middle", "one of accumulator|zero"},
    {F16 "group: 4, start: acc", "one of accumulator|zero"},
    {"a: f16, b: f16, acc: f32, out: f32, group: 4, nan: -1", "a pattern of"},
    {"a: f16, b: f16, acc: f32, out: f32, group: 4, nan: quiet", "a pattern of"},
    {"a: f16, b: f16, acc: f32, out: f32, group: 4, nan: 0x1ffffffffffffffff", "a pattern of"},
    {"a: f16, b: f16, acc: f32, out: f32, group: 4, nan: 7x", "a pattern of"},
};

static assay_status read_record(const char *record, assay_mac_unit *u, assay_error *err)
{
    char text[512];
    snprintf(text, sizeof text, "unit: x\nmac: {%s}\n", record);
    return mac_read("f.yaml", text, strlen(text), u, err);
}

static void contradictions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof contradictory / sizeof *contradictory; i++) {
        assay_mac_unit u;
        assay_error err = {0};
        if (!read_record(contradictory[i][0], &u, &err) || !strstr(err.text, contradictory[i][1]))
            fail_msg("{%s}: \"%s\", expected \"%s\"", contradictory[i][0], err.text,
                     contradictory[i][1]);
    }
}

/* What stands just on the other side of these lines. */
static void taken(void **state)
{
    static const char *const good[] = {
        F16 "group: 4, order: none",
        F16 "instruction: 2, group: 2, order: [1, 0]",
        F16 "group: 2, phases: 4, a_digits: 5, b_digits: 7",
        F16 "instruction: 4, group: 2, chains: 2, start: zero",
        F16 "group: 4, lanes: 2, align_bits: 24, accumulator: after",
        F16 "group: 4, align_bits: 24, accumulator: aligned, sum_align_bits: 24, acc_align_bits: "
            "24, acc_drop: 30",
        "a: int8mx, b: e2m1, acc: f32, out: f32, nan: 0x7fc00000, group: 4, flush_in: signed",
        F16 "group: 4, align_bits: 24, align_cut: floor, least_max: -133, zero_exponent: -126",
        F16 "group: 4, align_bits: 24, accumulator: after, lanes: 2, sum_cut: trunc, acc_round: "
            "odd",
        F16 "group: 4, align_bits: 24, accumulator: aligned, sum_align_bits: 24, acc_align_bits: "
            "24, start: zero, chains: 2, out_round: odd, sum_cut: trunc",
        F16 "group: 4, start: zero, acc_round: odd",
        F16 "group: 4, promote: 8, outer_round: odd",
        F16 "group: 4, split_k: 2, split_sum: pairs, outer_round: odd",
        F8 "group: 8, promote: 128, scale_block: 128, scale: f32, scale_place: promoted",
        F8 "group: 8, exact_group: 4, scale_block: 32",
        F8 "group: 0, exact_group: 4, promote: 8",
        F8 "group: 4, exact_group: 2, instruction: 4, order: [3, 2, 1, 0], scale_block: 2",
        F8 "group: 4, exact_group: 2, instruction: 4, order: [0, 2, 1, 3], scale_block: 4",
        F8 "group: 4, exact_group: 2, instruction: 4, order: [0, 2, 1, 3], scale: f32, "
           "scale_place: promoted, scale_block: 4, promote: 4",
        "a: f16, b: f16, acc: f64, out: f64, nan: 0x7ff8000000000000, group: 4",
        "a: f16, b: f16, acc: bf16, out: f32, nan: 0xffc00000, group: 4, product_round: none",
    };
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assay_mac_unit u;
        assay_error err = {0};
        if (read_record(good[i], &u, &err))
            fail_msg("{%s}: %s", good[i], err.text);
    }
}

/* What nothing reads is at its default again, and all else as it was. */
static void unread_dropped(void **state)
{
    assay_mac_unit u;
    assay_error err = {0};
    (void)state;
    assert_int_equal(read_record(F16 "group: 4, out_round: trunc", &u, &err), ASSAY_OK);
    assay_mac m = u.record;
    m.acc_round = ASSAY_ROUND_ODD;
    m.least_max = -133;
    m.scale = ASSAY_MAC_UE4M3;
    m.split_sum = ASSAY_MAC_BY_PAIRS;
    assert_non_null(mac_contradiction(&m));
    mac_drop_unread(&m);
    assert_null(mac_contradiction(&m));
    assert_memory_equal(&m, &u.record, sizeof m);
}

static void too_long_an_order(void **state)
{
    char text[2048] = "unit: x\nmac: {" F16 "instruction: 257, group: 1, order: [";
    assay_mac_unit u;
    assay_error err = {0};
    (void)state;
    for (int i = 0; i < 257; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d%s", i, i < 256 ? ", " : "]}");
    assert_int_not_equal(mac_read("f.yaml", text, strlen(text), &u, &err), ASSAY_OK);
    assert_non_null(strstr(err.text, "at most 256"));
}

enum { ROWS = 3, COLUMNS = 4, DEPTH = 512 };

/* A matrix product with block scales, its elements by table, is its dots, one by one and decoded
 * each. */
static void product_is_dots(void **state)
{
    uint8_t a[ROWS * DEPTH], b[COLUMNS * DEPTH], scale_a[ROWS], scale_b[COLUMNS];
    uint32_t all[ROWS * COLUMNS], c[ROWS * COLUMNS];
    assay_mac_unit u;
    assay_error err = {0};
    (void)state;
    assert_int_equal(
        read_record(F8 "group: 16, align_bits: 24, scale_block: 512, flush_in: plus", &u, &err),
        ASSAY_OK);
    for (size_t i = 0; i < sizeof a; i++)
        a[i] = (uint8_t)(i % 7 == 0 ? i % 9 : 0x20 + i * 29 % 0x40 + i % 2 * 0x80);
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)(0x18 + i * 43 % 0x48 + i % 3 / 2 * 0x80);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        c[i] = 0x3f800000u + (uint32_t)i;
    for (size_t i = 0; i < ROWS; i++)
        scale_a[i] = (uint8_t)(125 + i);
    for (size_t i = 0; i < COLUMNS; i++)
        scale_b[i] = (uint8_t)(129 - i);
    const assay_mac_rows rows = {
        .k = DEPTH, .a = a, .b = b, .c = c, .scale_a = scale_a, .scale_b = scale_b};
    assert_int_equal(mac_matmul(&u.record, ROWS, COLUMNS, &rows, all, &err), ASSAY_OK);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            uint32_t d;
            const assay_mac_rows row = {.k = DEPTH,
                                        .a = a + i * DEPTH,
                                        .b = b + j * DEPTH,
                                        .c = c + i * COLUMNS + j,
                                        .scale_a = scale_a + i,
                                        .scale_b = scale_b + j};
            assert_int_equal(mac_dots(&u.record, 1, &row, &d, &err), ASSAY_OK);
            assert_int_equal(d, all[i * COLUMNS + j]);
            assert_int_not_equal(d, c[i * COLUMNS + j]);
        }
    long n = 1;
    for (bool reached = true; reached; n++) {
        alloc_countdown = n;
        const assay_status s = mac_matmul(&u.record, ROWS, COLUMNS, &rows, all, &err);
        reached = alloc_countdown == 0;
        alloc_countdown = 0;
        assert_int_equal(s, reached ? ASSAY_ERR_MEMORY : ASSAY_OK);
        alloc_countdown = reached ? n : 0;
        uint32_t d[ROWS];
        if (reached)
            assert_int_equal(mac_dots(&u.record, ROWS, &rows, d, &err), ASSAY_ERR_MEMORY);
        alloc_countdown = 0;
    }
    assert_in_range(n, 3, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions),  cmocka_unit_test(taken),
        cmocka_unit_test(unread_dropped),  cmocka_unit_test(too_long_an_order),
        cmocka_unit_test(product_is_dots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
