/* Codes of more than 16 bits that a scheme refuses to rescale: asked about one by one as a network
 * runs, under every engine. */
#include "test/support/support.h"

#include "graph/core/type.h"
#include "test/interp/refused.h"

/* A node of two codes of `kind`, x of the others'; `given` are its codes. */
typedef struct wide {
    const char *node, *kind, *other, *record;
    int32_t x[2], y[2];
    const char *message; /* NULL: it runs */
    const char *type;    /* of z; NULL: i8[1,2,1,1] q(2,0) */
} wide;

static void check_wide(const wide *w, enum assay_engine engine)
{
    char net[400], message[300];
    assay_error err = {0};
    assay_run *r;
    made m;
    snprintf(net, sizeof net,
             "graph net {\n input x: %s[1,2,1,1] q(1,0)\n input y: %s[1,2,1,1] q(1,0)\n"
             " z: %s = %s\n output z\n}\n",
             w->kind, w->other, w->type ? w->type : "i8[1,2,1,1] q(2,0)", w->node);
    assert_ok(make(net, w->record, engine, &m, &err), &err);
    assert_ok(assay_run_new(m.p, &r, &err), &err);
    for (size_t i = 0; i < 2; i++) {
        const int32_t v[2] = {w->x[i], w->y[i]};
        for (int k = 0; k < 2; k++)
            assay_elem_set(m.g->value[m.g->input[k]].type.elem, assay_run_data(r, m.g->input[k]), i,
                           v[k]);
    }
    const assay_status s = run_execute(r, NULL, false, NULL, &err);
    snprintf(message, sizeof message,
             "node 'z': element 1 of 'z' is made of the %s, which scheme "
             "'t' refuses to rescale",
             w->message ? w->message : "");
    if (!w->message)
        assert_ok(s, &err);
    else if (s != ASSAY_ERR_SCHEME || strcmp(err.text, message) != 0)
        fail_msg("%s of %s, %s, engine %d\nexpected: %s\nfound:    %s", w->node, w->kind, w->record,
                 (int)engine, message, s ? err.text : "it ran");
    assay_run_free(r);
    unmake(&m);
}

/* Codes of more than 16 bits are asked about one by one. */
static void wide_codes(void **state)
{
#define INPUT "rescale: {input_bits: 17}"
#define RANGE                                                                                      \
    "rescale: {input_shift_range: yes, multiplier_bits: 7, left_shift: product, round: [half-up]}"
#define RESULT   "rescale: {result_bits: 16, result_overflow: refuse}"
#define SUM_BITS "rescale: {sum_bits: 16, sum_overflow: refuse}"
#define RESIZE   "resize(x) {size=[1,2,1,1], mode=nearest, layout=nchw}"
#define POOL     "max_pool(x) {kernel=[1,1]}"
#define SHIFTED  "rescale: {input_bits: 15}" /* codes of 24 bits have 7 to the left */
#define SEPARATE "\nadd: {kind: separate}"
#define PLAIN    "\nadd: {kind: plain}"
#define COMMON   "\nadd: {kind: common-exponent, bits: 7}"
#define ALIGN    "\nadd: {kind: align-power-of-two}"
#define COMPARE  "\nbinary: {compare: rescale}"
#define TRUNCATE "\nbinary: {div: truncate-then-scale}"
#define RSQRT    "rescale: {input_bits: 20}\nunary: {rsqrt: newton}"
#define ONE      "i8[1,2,1,1] q(1,0)"
    static const wide list[] = {
        {"rescale(x)", "i32", "i8", INPUT, {65535, 65536}, {0, 0}, "code 65536"},
        {"rescale(x)", "i32", "i8", INPUT, {-65536, -65537}, {0, 0}, "code -65537"},
        {"rescale(x)", "i24", "i8", INPUT, {65535, -65536}, {0, 0}, NULL},
        {"rescale(x)", "u24", "i8", INPUT, {0, 65536}, {0, 0}, "code 65536"},
        {"rescale(x)", "i17", "i8", INPUT, {65535, -65536}, {0, 0}, NULL},
        {"rescale(x)", "i32", "i8", RANGE, {63, 64}, {0, 0}, "code 64"},
        {"rescale(x)", "i32", "i8", RESULT, {65534, 65535}, {0, 0}, "code 65535"},
        {"rescale(x)", "i32", "i8", SUM_BITS, {-65537, -65538}, {0, 0}, "code -65538"},
        {"relu(x)", "i32", "i8", INPUT, {7, -65537}, {0, 0}, "code -65537"},
        {"clip(x) {lo=-2, hi=2}", "i32", "i8", INPUT, {7, -65537}, {0, 0}, "code -65537"},
        {"abs(x)",
         "i32",
         "i8",
         INPUT "\nunary: {abs: rescale}",
         {-65535, -65536},
         {0, 0},
         "code -65536"},
        {"leaky_relu(x) {alpha=-0.5}", "i32", "i8", INPUT, {65535, -65536}, {0, 0}, "code -65536"},
        {POOL, "i32", "i8", INPUT, {7, 65536}, {0, 0}, "code 65536"},
        {"reduce_max(x) {axes=[0], keepdims=true}",
         "i32",
         "i8",
         INPUT,
         {7, 65536},
         {0, 0},
         "code 65536"},
        {"reduce_min(x) {axes=[0], keepdims=true}", "i32", "i8", INPUT, {7, 65535}, {0, 0}, NULL},
        {RESIZE, "i32", "i8", INPUT, {7, 65536}, {0, 0}, "code 65536"},
        {"mul(x, y)", "i32", "i8", INPUT, {65535, 32768}, {1, 2}, "codes 32768 and 2"},
        {"mul(y, x)", "i32", "i8", INPUT, {65535, 32768}, {1, 2}, "codes 2 and 32768"},
        {"mul(x, y)", "i32", "i8", INPUT, {65535, 32768}, {1, -2}, NULL},
        {"mul(x, x)", "i31", "i8", INPUT, {0, 65536}, {0, 0}, "codes 65536 and 65536"},
        {"prelu(x, y)", "i32", "i8", INPUT, {65535, -512}, {7, -128}, "codes -512 and -128"},
        {"prelu(y, x)", "i32", "i8", INPUT, {65535, 32769}, {1, -2}, "codes -2 and 32769"},
        {"prelu(y, x)", "i32", "i8", INPUT, {65537, 32768}, {1, -2}, NULL},
        {"add(x, y)", "i24", "i8", INPUT, {511, 512}, {0, 1}, "codes 512 and 1"},
        {"add(x, y)", "i24", "i8", SHIFTED, {127, -128}, {-128, 127}, NULL},
        {"add(x, y)", "i24", "i8", SHIFTED, {127, 128}, {-128, 0}, "codes 128 and 0"},
        {"sub(y, x)", "i24", "i8", SHIFTED, {-128, 128}, {127, 0}, "codes 0 and 128"},
        {"add(x, y)", "i32", "i8", INPUT SEPARATE, {65535, -65537}, {1, 1}, "codes -65537 and 1"},
        {"add(x, y)", "i32", "i8", SUM_BITS SEPARATE, {65534, 65536}, {0, 0}, "codes 65536 and 0"},
        {"add(x, x)",
         "i31",
         "i8",
         SUM_BITS PLAIN,
         {16383, 16384},
         {0, 0},
         "codes 16384 and 16384",
         .type = ONE},
        {"sub(x, x)", "i31", "i8", SUM_BITS PLAIN, {16383, 16384}, {0, 0}, NULL, .type = ONE},
        {"add(x, y)", "i24", "i8", SUM_BITS COMMON, {65534, 65536}, {0, 0}, "codes 65536 and 0"},
        {"add(x, y)", "i32", "i8", SUM_BITS ALIGN, {65534, 65536}, {0, 0}, "codes 65536 and 0"},
        {"max(x, y)", "i32", "i8", INPUT, {-65536, -65537}, {1, 1}, "codes -65537 and 1"},
        {"less(x, y)",
         "i24",
         "i8",
         INPUT COMPARE,
         {255, 256},
         {1, 1},
         "codes 256 and 1",
         .type = "bool[1,2,1,1]"},
        {"div(x, y)", "i32", "i8", INPUT TRUNCATE, {65537, 65536}, {2, 1}, "codes 65536 and 1"},
        {"div(x, y)", "i32", "i8", INPUT TRUNCATE, {65537, 65536}, {2, 0}, NULL},
        {"div(x, y)",
         "i31",
         "i8",
         RESULT "\nbinary: {div: newton-reciprocal}",
         {65530, 65540},
         {1, 1},
         "codes 65540 and 1"},
        {"rsqrt(x)", "i32", "i8", RSQRT, {5, 4}, {0, 0}, "code 4"},
        {"rsqrt(x)", "i32", "i8", RSQRT, {1 << 30, -7}, {0, 0}, NULL},
        {"leaky_relu(x) {alpha=0.5}",
         "i24",
         "i8",
         SUM_BITS "\nunary: {leaky_relu: fixed-8}",
         {65534, 65536},
         {0, 0},
         "code 65536"}};
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (size_t e = 0; e < sizeof engines / sizeof *engines; e++)
            check_wide(&list[i], engines[e]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wide_codes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
