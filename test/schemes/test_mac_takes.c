/* Matrix units that the fast forms take: a unit of each kind, and it with one thing changed that
 * the form does not compute; values of parameters in print; and the steps of a dot product in
 * words. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schemes/mac/columns.h"
#include "schemes/mac/explain.h"
#include "schemes/mac/parameters.h"

#define NAN32 ", nan: 0x7fc00000"
#define CHAIN(a, b, out)                                                                           \
    "a: " a ", b: " b ", acc: " out ", out: " out ", zero_sign: ieee" NAN32 ", "
#define F32            CHAIN("f32", "f32", "f32")
#define SUM(a, b, out) "a: " a ", b: " b ", acc: " out ", out: " out NAN32 ", out_round: trunc, "
#define F8             SUM("e4m3fn", "e5m2", "f32")
#define I8             "a: int8mx, b: int8mx, acc: f32, out: f32" NAN32 ", "
#define F4             SUM("e2m1", "e2m1", "f32") "scale_block: 32, "

typedef struct take {
    const char *record;
    bool chain, tile;
} take;

static const take takes[] = {
    {F32 "group: 1", true, false},
    {CHAIN("f16", "tf32", "f32") "group: 1", true, false},
    {CHAIN("bf16", "f16", "f32") "group: 1, out_frac: 23", true, false},
    {F32 "group: 1, overflow: infinity, split_k: 1", true, false},
    {CHAIN("e5m2", "f32", "f32") "group: 1", false, false},
    {CHAIN("f32", "e5m2", "f32") "group: 1", false, false},
    {F32 "group: 2", true, false},
    {F32 "group: 0", true, false},
    {F32 "group: 0, instruction: 8", false, false},
    {F32 "group: 2, instruction: 2", true, false},
    {F32 "group: 1, instruction: 2", false, false},
    {F32 "group: 1, instruction: 2, order: [1, 0]", false, false},
    {F32 "group: 1, k_order: descending", false, false},
    {F32 "group: 1, start: zero, chains: 2", false, false},
    {F32 "group: 1, start: zero", false, false},
    {F32 "group: 1, phases: 4, a_digits: 12, b_digits: 12", false, false},
    {F32 "group: 1, promote: 4", false, false},
    {F32 "group: 1, split_k: 2", false, false},
    {F32 "group: 1, accumulator: after", true, false},
    {F32 "group: 1, accumulator: after, sum: pairs", true, false},
    {F32 "group: 1, accumulator: after, acc_round: floor", true, false},
    {F32 "group: 2, accumulator: after, sum: pairs", true, false},
    {F32 "group: 2, accumulator: after", true, false},
    {F32 "group: 2, accumulator: after, product_round: half-even", false, false},
    {F32 "group: 2, accumulator: after, product_round: trunc, sum: pairs", true, false},
    {F32 "group: 2, accumulator: after, product_round: half-even, sum: pairs", true, false},
    {F32 "group: 3, accumulator: after, product_round: half-even, sum: pairs, flush_in: plus, "
         "flush_acc: plus, flush_out: after",
     true, false},
    {F32 "group: 17, accumulator: after, product_round: half-even, sum: pairs", false, false},
    {F32 "group: 0, accumulator: after, product_round: half-even, sum: pairs", false, false},
    {F32 "group: 1, align_bits: 24", false, false},
    {F32 "group: 1, out_round: trunc", true, false},
    {F32 "group: 1, out_frac: 10", true, false},
    {F32 "group: 1, overflow: largest", true, false},
    {"a: f32, b: f32, acc: f32, out: f32" NAN32 ", group: 1", true, false},
    {"a: f32, b: f32, acc: f32, out: f32, zero_sign: plus" NAN32 ", group: 1", true, false},
    {F32 "group: 1, flush_in: signed", true, false},
    {F32 "group: 1, flush_acc: signed", true, false},
    {F32 "group: 1, flush_out: after", true, false},
    {F32 "group: 1, scale_block: 32", false, false},
    {F32 "group: 1, a_digits: 12", false, false},
    {F32 "group: 1, b_digits: 12", false, false},
    {F32 "group: 1, product_limit: 128", false, false},
    {F32 "group: 1, product_round: half-even", false, false},
    {"a: f32, b: f32, acc: bf16, out: f32, zero_sign: ieee" NAN32 ", group: 1", true, false},
    {"a: f32, b: f32, acc: f32, out: f64, zero_sign: ieee, nan: 0x7ff8000000000000, group: 1",
     false, false},
    {F8 "group: 4, align_bits: 24", false, true},
    {F8 "group: 4, align_bits: 24, instruction: 8", false, true},
    {F8 "group: 4, align_bits: 24, scale_block: 32", false, true},
    {SUM("f16", "bf16", "f32") "group: 4, align_bits: 24", false, true},
    {SUM("e4m3fn", "f16", "f32") "group: 4, align_bits: 24", false, false},
    {SUM("f16", "e4m3fn", "f32") "group: 4, align_bits: 24", false, false},
    {SUM("f16", "f16", "f32") "group: 4, align_bits: 24, scale_block: 4", false, false},
    {"a: e4m3fn, b: e4m3fn, acc: f16, out: f16, nan: 0x7e00, out_round: trunc, group: 4, "
     "align_bits: 24",
     false, true},
    {"a: e4m3fn, b: e4m3fn, acc: f64, out: f64, nan: 0x7ff8000000000000, group: 4, align_bits: 24",
     false, false},
    {SUM("int8mx", "e4m3fn", "f32") "group: 4, align_bits: 24", false, true},
    {I8 "group: 32", false, true},
    {I8 "group: 0, k_order: descending, flush_acc: plus, out_round: floor", false, true},
    {I8 "group: 4, sum: pairs, accumulator: after, product_round: ceil, split_k: 2", false, true},
    {I8 "group: 4, instruction: 8, start: zero, chains: 2, promote: 16, exact_group: 2", false,
     true},
    {I8 "group: 4, align_bits: 24", false, true},
    {I8 "group: 4, scale_block: 32", false, true},
    {I8 "group: 32, exact_group: 4, scale_block: 32", false, true},
    {I8 "group: 0, scale_block: 32", false, false},
    {I8 "group: 2048, scale_block: 2048", false, false},
    {I8 "group: 64, scale_block: 32", false, false},
    {I8 "group: 4, scale_block: 32, scale: ue4m3", false, false},
    {I8 "group: 4, scale_block: 32, out_round: odd", false, false},
    {I8 "group: 4, scale_block: 32, out_frac: 22", false, false},
    {I8 "group: 4, scale_block: 32, accumulator: after", false, false},
    {I8 "group: 4, scale_block: 32, flush_out: after", false, false},
    {I8 "group: 4, out_frac: 22", false, false},
    {I8 "group: 4, a_digits: 6", false, false},
    {I8 "group: 4, b_digits: 6", false, false},
    {I8 "group: 4, product_limit: 1", false, false},
    {I8 "group: 4, zero_sign: ieee", false, false},
    {"a: int8mx, b: int8mx, acc: f16, out: f16, nan: 0x7e00, group: 4", false, false},
    {"a: int8mx, b: e4m3fn, acc: f32, out: f32" NAN32 ", group: 4", false, false},
    {"a: e4m3fn, b: int8mx, acc: f32, out: f32" NAN32 ", group: 4", false, false},
    {"a: e5m2, b: e5m2, acc: f16, out: f32, out_round: trunc" NAN32 ", group: 4, align_bits: 24",
     false, true},
    {F8 "group: 0, align_bits: 24", false, false},
    {F8 "group: 0, align_bits: 24, scale_block: 32", false, false},
    {F8 "group: 65, align_bits: 24", false, false},
    {F8 "group: 4, align_bits: 26", false, false},
    {F8 "group: 4", false, false},
    {F8 "group: 4, align_bits: 24, align_cut: floor", false, false},
    {"a: e4m3fn, b: e5m2, acc: f32, out: f32" NAN32 ", group: 4, align_bits: 24", false, true},
    {F8 "group: 4, align_bits: 24, exact_group: 2", false, false},
    {F8 "group: 4, align_bits: 24, zero_exponent: -9", false, false},
    {F8 "group: 4, align_bits: 24, scale_block: 6", false, false},
    {F8 "group: 4, align_bits: 24, scale_block: 32, scale: ue4m3", false, false},
    {F8 "group: 4, align_bits: 24, scale_block: 32, scale: f32, scale_place: promoted, promote: 32",
     false, false},
    {F8 "group: 4, align_bits: 24, promote: 32", false, false},
    {F8 "group: 4, align_bits: 24, split_k: 2", false, false},
    {F8 "group: 4, align_bits: 24, accumulator: after", false, false},
    {F8 "group: 4, align_bits: 24, accumulator: after, lanes: 2", false, false},
    {F8 "group: 4, accumulator: after, sum: pairs", false, false},
    {F8 "group: 4, align_bits: 24, start: zero", false, false},
    {F8 "group: 4, align_bits: 24, start: zero, chains: 2", false, false},
    {F8 "group: 4, align_bits: 24, k_order: descending", false, false},
    {F8 "group: 2, instruction: 2, order: [1, 0], align_bits: 24", false, false},
    {F8 "group: 4, align_bits: 24, flush_in: plus", false, false},
    {F8 "group: 4, align_bits: 24, flush_acc: plus", false, false},
    {F8 "group: 4, align_bits: 24, flush_out: before", false, false},
    {F8 "group: 4, align_bits: 24, a_digits: 2", false, false},
    {F8 "group: 4, align_bits: 24, b_digits: 2", false, false},
    {F8 "group: 4, align_bits: 24, phases: 4, a_digits: 2, b_digits: 2", false, false},
    {F8 "group: 4, align_bits: 24, product_limit: 16", false, false},
    {F8 "group: 4, align_bits: 24, product_round: trunc", false, false},
    {F8 "group: 4, align_bits: 24, zero_sign: ieee", false, false},
    {F4 "group: 64, align_bits: 35, exact_group: 16", false, true},
    {F4 "group: 64, align_bits: 35, exact_group: 16, scale: ue4m3", false, true},
    {SUM("e2m1", "e2m3", "f32") "scale_block: 32, group: 64, align_bits: 35, exact_group: 16",
     false, false},
    {SUM("e2m3", "e2m1", "f32") "scale_block: 32, group: 64, align_bits: 35, exact_group: 16",
     false, false},
    {F4 "group: 64, align_bits: 35, exact_group: 4", false, false},
    {F4 "group: 64, align_bits: 37, exact_group: 16", false, false},
    {SUM("e2m1", "e2m1", "f32") "scale_block: 64, group: 64, align_bits: 35, exact_group: 64",
     false, false},
    {SUM("e2m1", "e2m1", "f32") "group: 64, align_bits: 35, exact_group: 16", false, false},
    {SUM("e2m1", "e2m1",
         "f32") "group: 64, align_bits: 35, exact_group: 16, scale_block: 64, scale: "
                "f32, scale_place: promoted, promote: 64",
     false, false},
};

static void read_record(const char *record, assay_mac_unit *u)
{
    char text[600];
    assay_error err = {0};
    snprintf(text, sizeof text, "unit: x\nmac: {%s}\n", record);
    if (mac_read("f.yaml", text, strlen(text), u, &err))
        fail_msg("{%s}: %s", record, err.text);
}

static void fast_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof takes / sizeof *takes; i++) {
        assay_mac_unit u;
        read_record(takes[i].record, &u);
        if (mac_chain_takes(&u.record) != takes[i].chain ||
            mac_tile_takes(&u.record) != takes[i].tile)
            fail_msg("{%s}: chain %d, tile %d", takes[i].record, mac_chain_takes(&u.record),
                     mac_tile_takes(&u.record));
    }
}

/* What is above steps. */
static void fast_levels(void **state)
{
#define F16 SUM("f16", "f16", "f32")
    static const struct {
        const char *record;
        bool taken;
    } levels[] = {
        {F8 "group: 4, align_bits: 24, split_k: 64", true},
        {F8 "group: 4, align_bits: 24, split_k: 65", false},
        {F8 "group: 2, instruction: 2, order: [1, 0], align_bits: 24", true},
        {F8 "group: 4, align_bits: 24, k_order: descending", true},
        {F8 "group: 4, align_bits: 24, k_order: descending, scale_block: 4", false},
        {F8 "group: 4, align_bits: 24, promote: 8, scale: f32, scale_block: 8, scale_place: "
            "promoted",
         true},
        {F8 "group: 4, align_bits: 24, promote: 8, scale: f32, scale_block: 8, scale_place: "
            "promoted, k_order: descending",
         false},
        {F8 "group: 4, align_bits: 24, a_digits: 2", false},
        {F8 "group: 4, align_bits: 24, b_digits: 2", false},
        {F32 "group: 4, a_digits: 2", true},
        {F32 "group: 4, a_digits: 2, b_digits: 2, phases: 3", true},
        {F32 "group: 0, b_digits: 2", true},
        {F32 "group: 0, a_digits: 2, b_digits: 2, phases: 3", false},
        {F32 "group: 0, instruction: 8, a_digits: 2, b_digits: 2, phases: 3", true},
        {F16 "group: 4, align_bits: 24, start: zero, chains: 3", true},
        {F16 "group: 4, align_bits: 24, align_cut: floor, promote: 8", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        assay_mac_unit u;
        mac_levels l;
        read_record(levels[i].record, &u);
        if (mac_levels_of(&u.record, ASSAY_ISA_PORTABLE, &l) != levels[i].taken)
            fail_msg("{%s}: %s", levels[i].record, levels[i].taken ? "is left" : "is taken");
    }
}

/* What does not fit is cut, and nothing is written behind it. */
static void values_in_print(void **state)
{
    static const struct {
        const char *name, *text;
    } cases[] = {{"a", "e4m3fn"},        {"group", "2"},        {"order", "[1, 0]"},
                 {"out_round", "trunc"}, {"nan", "0x7fc00000"}, {"product_round", "none"},
                 {"sum", "aligned"},     {"align_bits", "24"},  {"accumulator", "joined"},
                 {"zero_sign", "sum"}};
    assay_mac_unit u;
    size_t n;
    const assay_mac_parameter *all = mac_parameters(&n);
    (void)state;
    read_record(F8 "group: 2, instruction: 2, order: [1, 0], align_bits: 24", &u);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t p = 0; p < n; p++) {
            if (strcmp(all[p].name, cases[i].name) != 0)
                continue;
            for (size_t size = 1; size <= strlen(cases[i].text) + 1; size++) {
                char out[40];
                memset(out, '#', sizeof out);
                mac_print(&all[p], &u.record, out, size);
                assert_int_equal(strlen(out), size - 1);
                assert_memory_equal(out, cases[i].text, size - 1);
                assert_int_equal(out[size], '#');
            }
        }
    read_record(F8 "group: 2, align_bits: 24, product_round: floor", &u);
    for (size_t p = 0; p < n; p++) {
        char out[40];
        mac_print(&all[p], &u.record, out, sizeof out);
        if (all[p].kind == ASSAY_MAC_ORDER)
            assert_string_equal(out, "none");
        if (all[p].kind == ASSAY_MAC_MODE_OR_NONE)
            assert_string_equal(out, "floor");
        assert_int_equal(mac_choices(&all[p]) > 0, all[p].kind > ASSAY_MAC_ORDER);
    }
}

typedef struct story {
    const char *record, *says, *says_not;
    uint8_t a, b; /* A's first element, all of B's */
} story;

/* Ones, but for what is said; e5m2's 0x3c is 1, 0x7c Inf. */
static void steps_in_words(void **state)
{
#define E5 SUM("e5m2", "e5m2", "f32")
    static const story stories[] = {
        {E5 "group: 8, align_bits: 24", "greatest exponent 0: cut to multiples of 2^-24", "phase",
         0x3c, 0x3c},
        {E5 "group: 8", "step over 0 ... 7", "greatest exponent", 0x3c, 0x3c},
        {E5 "group: 8, align_bits: 24, accumulator: after", "  term 7 ", "running", 0x3c, 0x3c},
        {E5 "group: 8, align_bits: 24, accumulator: after, lanes: 2", "gives", "greatest", 0x3c,
         0x3c},
        {E5 "group: 8, accumulator: after, sum: pairs", "gives", "greatest", 0x3c, 0x3c},
        {E5 "group: 8, align_bits: 24", "gives", "greatest", 0x7c, 0x3c},
        {E5 "group: 8, align_bits: 24", "gives", "greatest", 0x3c, 0x80},
        {E5 "group: 8, align_bits: 24, phases: 4, a_digits: 2, b_digits: 2", ", phase 3", "part",
         0x3c, 0x3c},
        {E5 "group: 4, align_bits: 24, start: zero, chains: 2", "end of the instruction", "part",
         0x3c, 0x3c},
        {E5 "group: 4, nan_rule: operand",
         "instruction over 0 ... 7: NaN, as its first operand that is one\n  gives 0xffe00000",
         "part", 0xff, 0x3c},
        {E5 "group: 4, nan_rule: operand", "gives", "as its first operand", 0x7c, 0x80},
        {E5 "group: 4, promote: 4", "promoted 4 ... 7, to ", "part", 0x3c, 0x3c},
        {E5 "group: 4, split_k: 2", "part 2 of 2, to ", "promoted", 0x3c, 0x3c},
    };
    (void)state;
    for (size_t i = 0; i < sizeof stories / sizeof *stories; i++) {
        const story *s = &stories[i];
        uint8_t a[8], b[8];
        assay_mac_unit u;
        char *text = NULL;
        size_t size;
        assay_error err = {0};
        for (int k = 0; k < 8; k++) {
            a[k] = k == 0 ? s->a : 0x3c;
            b[k] = s->b;
        }
        const assay_mac_rows rows = {.k = 8, .a = a, .b = b};
        read_record(s->record, &u);
        FILE *f = open_memstream(&text, &size);
        assert_non_null(f);
        assert_ok(mac_explain(f, &u.record, &rows, &err), &err);
        fclose(f);
        if (!strstr(text, s->says) || strstr(text, s->says_not))
            fail_msg("{%s} says\n%s", s->record, text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_forms), cmocka_unit_test(fast_levels),
                                       cmocka_unit_test(values_in_print),
                                       cmocka_unit_test(steps_in_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
