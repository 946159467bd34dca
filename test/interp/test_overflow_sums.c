/* Accumulators that could leave their width, found when a program is made: sums of codes, operands
 * of any rank, weights with a scale for each block; and that what is accepted never overflows. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/random_layers.h"

static assay_scheme *scheme_of(int bits, const char *more)
{
    char text[300];
    assay_scheme *s;
    assay_error err;
    snprintf(text, sizeof text, "scheme: t\naccumulator: {bits: %d, overflow: refuse}\n%s", bits,
             more);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    return s;
}

static assay_status prepare(const char *lines, int bits, const char *more, assay_error *err)
{
    char text[1000];
    assay_graph *g;
    assay_program *p = NULL;
    snprintf(text, sizeof text, "graph net {\n%s  output y\n}\n", lines);
    assert_ok(text_graph_parse(text, strlen(text), "t", NULL, &g, err), err);
    assay_scheme *s = scheme_of(bits, more);
    const assay_status status = assay_program_make_as_is(g, s, false, &p, err);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
    return status;
}

/* `bits` hold what the node may reach, bits - 1 do not. */
static void check_border(const char *lines, int bits, const char *more, const char *said)
{
    assay_error err;
    assert_ok(prepare(lines, bits, more, &err), &err);
    assert_int_equal(prepare(lines, bits - 1, more, &err), ASSAY_ERR_SCHEME);
    if (!strstr(err.text, said) || !strstr(err.text, "node 'y'"))
        fail_msg("'%s' does not say '%s'", err.text, said);
}

#define IMAGE "  input x: i8[1,2,8,8] q(0.1,0)\n"
#define WORDS "  input x: i16[1,2,8,8] q(0.1,0)\n"

/* Signed codes of 8 bits reach 128. */
static void test_sums(void **state)
{
    (void)state;
    check_border(IMAGE "  y: i8[1,2,5,5] q(0.1,0) = avg_pool(x) {kernel=[4,4]}\n", 13, "",
                 "may reach 2048");
    check_border(WORDS "  y: i16[1,2,5,5] q(0.1,0) = avg_pool(x) {kernel=[4,4]}\n", 21, "",
                 "may reach 524288");
    check_border("  input x: i8[1,2,3,8] q(0.1,0)\n"
                 "  y: i8[1,2,1,5] q(0.1,0) = avg_pool(x) {kernel=[5,4],pad_begin=[1,0],"
                 "pad_end=[1,0]}\n",
                 12, "", "may reach 1536"); /* 3 rows at most */
    check_border("  input x: i8[1,2,3,8] q(0.1,0)\n"
                 "  y: i8[1,2,1,5] q(0.1,0) = avg_pool(x) {kernel=[5,4],pad_begin=[1,0],"
                 "pad_end=[1,0],count_include_pad=true}\n",
                 13, "", "may reach 2560");
    check_border(IMAGE "  y: i8[1,2,1,1] q(0.1,0) = global_avg_pool(x)\n", 15, "",
                 "may reach 8192");
    check_border(IMAGE "  y: i8[1,2,1,8] q(0.1,0) = reduce_mean(x) {axes=[-2]}\n", 12, "",
                 "may reach 1024");
    check_border(IMAGE "  y: i8[1,1,1,1] q(0.1,0) = reduce_sum(x)\n", 16, "", "may reach 16384");
    check_border(IMAGE "  y: i8[1,2,8,8] q(0.1,0) = add_n(x, x, x)\n", 10, "", "may reach 384");
    check_border(IMAGE "  y: i8[1,2,8,8] q(0.1,0) = cumsum(x) {axis=3}\n", 12, "",
                 "may reach 1024");
}

/* A float sum has no accumulator. */
static void test_ordered(void **state)
{
    assay_error err;
    (void)state;
    assert_ok(prepare(IMAGE "  y: i8[1,2,5,5] q(0.1,0) = avg_pool(x) {kernel=[4,4]}\n", 8,
                      "pool: {kind: float-sum}\n", &err),
              &err);
}

/* Second operands: two matrices, each with columns of its own; a vector; both computed. */
static void test_products(void **state)
{
    (void)state;
    check_border("  input x: i8[2,1,3] q(0.1,0)\n"
                 "  const w: i8[2,3,2] q(0.1,0) = [1,9,1,9,1,9, 1,2,1,2,1,2]\n"
                 "  y: i8[2,1,2] q(0.1,0) = matmul(x, w)\n",
                 13, "", "output channel 1 may reach 3456"); /* 128 * 27 */
    check_border("  input x: i8[2,1,3] q(0.1,0)\n"
                 "  const w: i8[2,2,3] q(0.1,0) = [1,1,1,9,9,9, 1,1,1,2,2,2]\n"
                 "  y: i8[2,1,2] q(0.1,0) = matmul(x, w) {transpose_b=true}\n",
                 13, "", "output channel 1 may reach 3456");
    check_border("  input x: i8[4,3] q(0.1,0)\n"
                 "  const w: i8[3] q(0.1,0) = [9,-9,9]\n"
                 "  y: i8[4] q(0.1,0) = matmul(x, w)\n",
                 13, "", "may reach 3456");
    check_border("  input a: i8[3,4] q(0.1,0)\n"
                 "  input b: i8[3,5] q(0.1,0)\n"
                 "  y: i8[4,5] q(0.1,0) = matmul(a, b) {transpose_a=true}\n",
                 17, "", "may reach 49152");
    check_border("  input x: i8[1,3] q(0.1,0)\n"
                 "  const w: i8[2,3] q(0.1,0) = [1,1,1,9,9,9]\n"
                 "  y: i16[1,2] q(0.1,0) = svdf_feature(x, w)\n",
                 13, "", "output channel 1 may reach 3456");
}

/* Convolutions of every kind: channels of their own, groups, zero points of the weights per
 * channel, several samples at once; and a bias that alone goes too far. */
static void test_convolutions(void **state)
{
    (void)state;
    check_border("  input x: i8[1,2,2,2] q(0.1,0)\n" /* 128 * 4 * 9 */
                 "  const w: i8[2,1,2,2] q(0.1,0) = [1,1,1,1, 9,-9,9,9]\n"
                 "  y: i8[1,2,1,1] q(0.1,0) = conv(x, w) {group=2}\n",
                 14, "", "output channel 1 may reach 4608");
    check_border("  input x: i8[1,2,2,2] q(0.1,0)\n" /* two filters a channel */
                 "  const w: i8[4,2,2,1] q(0.1,0) = [1,1,1,1, 1,1,1,1, 1,1,1,1, 9,-9,9,9]\n"
                 "  y: i8[1,1,1,4] q(0.1,0) = conv(x, w) {layout=nhwc,group=2}\n",
                 14, "", "output channel 3 may reach 4608");
    check_border("  input x: u8[1,2,3] q(0.1,255)\n" /* 255 * 2 * (100 + 28) */
                 "  const w: i8[2,2,1] q(axis=0,[0.1,0.1],[0,-28]) = [1,1, 100,100]\n"
                 "  y: i8[1,2,3] q(0.1,0) = conv(x, w)\n",
                 17, "", "output channel 1 may reach 65280");
    check_border("  input x: i8[1,2,1,1] q(0.1,0)\n" /* of two groups, one input each */
                 "  const w: i8[2,2,1,1] q(0.1,0) = [1,1, 1,9]\n"
                 "  y: i8[1,4,1,1] q(0.1,0) = conv_transpose(x, w) {group=2}\n",
                 12, "", "output channel 3 may reach 1152");
    check_border("  input x: i16[1,1,4,1] q(0.1,0)\n"
                 "  const w: i8[1,1,4,1] q(0.1,0) = [9,-9,9,9]\n"
                 "  y: i8[1,1,1,1] q(0.1,0) = svdf_time(x, w)\n",
                 22, "", "output channel 0 may reach 1179648");
    check_border("  input x: i8[1,1] q(0.1,0)\n"
                 "  const w: i8[1,1] q(0.1,0) = [0]\n"
                 "  const b: i32[1] = [-4096]\n"
                 "  y: i8[1,1] q(0.1,0) = fc(x, w, b)\n",
                 14, "", "output channel 0 may reach 4096");
}

/* Two blocks of two inputs: multipliers 255 and 85 of a channel's unit; sums of at most 128 * 6. */
#define BLOCKS                                                                                     \
    "  input x: i8[1,4] q(0.1,0)\n"                                                                \
    "  const w: i8[1,4] q(axis=1,block=2,[0.3,0.1],[0,0]) = [3,-3,3,3]\n"                          \
    "  y: i8[1,1] q(0.1,0) = fc(x, w)\n"

static void test_blocks(void **state)
{
    const char *const exact = "blocks: {kind: multiplier, multiplier_bits: 8}\n";
    const char *const wrapped =
        "blocks: {kind: multiplier, multiplier_bits: 8, sum_bits: 6, sum_overflow: wrap}\n";
    const char *const held =
        "blocks: {kind: multiplier, multiplier_bits: 8, sum_bits: 6, sum_overflow: saturate}\n";
    (void)state;
    /* 768 * (255 + 85) = 261,120 */
    check_border(BLOCKS, 19, exact, "blocks of output channel 0");
    /* 32 * (255 + 85) = 10,880: the greatest sum, 768, itself wraps to 0 */
    check_border(BLOCKS, 15, wrapped, "blocks of output channel 0");
    check_border(BLOCKS, 15, held, "blocks of output channel 0");
}

/* What a scheme of narrow accumulators accepts runs on extreme inputs without leaving them. */
static void test_accepted(void **state)
{
    static const char *const more[] = {
        "", "blocks: {kind: multiplier, multiplier_bits: 4, sum_bits: 9, sum_overflow: wrap}\n"};
    test_rng r = test_seed("accepted", 8);
    int runs = 0;
    (void)state;
    for (int i = 0; i < 300; i++) {
        assay_scheme *s = scheme_of((int)test_between(&r, 6, 26), more[i % 2]);
        assay_graph *g = test_random_layers(&r, s, (int)test_between(&r, 1, 3));
        assay_program *p = NULL;
        assay_run *run = NULL;
        assay_error err;
        if (g) {
            assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
            assert_ok(assay_run_new(p, &run, &err), &err);
        }
        for (int how = 0; g && how < TEST_DATA_WAYS; how++, runs++) {
            for (int k = 0; k < g->n_inputs; k++)
                test_random_data(&r, (enum test_data)how, &g->value[g->input[k]].type,
                                 assay_run_data(run, g->input[k]));
            if (run_execute(run, NULL, false, NULL, &err) == ASSAY_ERR_SCHEME)
                fail_msg("%s", err.text);
        }
        assay_run_free(run);
        assay_program_free(p);
        assay_graph_free(g);
        assay_scheme_free(s);
    }
    assert_true(runs > 800);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),     cmocka_unit_test(test_ordered),
        cmocka_unit_test(test_products), cmocka_unit_test(test_convolutions),
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_accepted)};
    return cmocka_run_group_tests_name("overflow_sums", tests, NULL, NULL);
}
