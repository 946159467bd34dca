/* Floats under a scheme in ONNX Runtime's order: what ONNX Runtime 1.30 gave (x86-64, AVX-512,
 * without optimizations) for inputs that anybody can make again, as digests of the bits. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"

typedef struct sums_case {
    const char *name, *text;
    uint64_t digest; /* FNV-1a of the little-endian output */
} sums_case;

#define WINDOW(k, p, q) "{kernel=" k ", stride=[1,1], dilation=[1,1], pad_begin=" p ", pad_end=" q

static const sums_case cases[] = {
    {"one row, by fours", "input a: f32[1,19]\ninput b: f32[19,5]\ny: f32[1,5] = matmul(a, b)\n",
     0x5c5bdbe621014ad7},
    {"one row, transposed",
     "input a: f32[1,27]\ninput b: f32[7,27]\ny: f32[1,7] = matmul(a, b) {transpose_b=true}\n",
     0x11f4033f2d4128ef},
    {"blocks of 128", "input a: f32[3,700]\ninput b: f32[700,70]\ny: f32[3,70] = matmul(a, b)\n",
     0x2bf47142e525644b},
    {"blocks of 512", "input a: f32[3,700]\ninput b: f32[700,20]\ny: f32[3,20] = matmul(a, b)\n",
     0x51f836fd8210b793},
    {"one column", "input a: f32[7,29]\ninput b: f32[29,1]\ny: f32[7,1] = matmul(a, b)\n",
     0x6ce6bec034e8e1db},
    {"depthwise",
     "input x: f32[1,2,6,5]\ninput w: f32[2,1,3,3]\ninput b: f32[2]\n"
     "y: f32[1,2,6,5] = conv(x, w, b) " WINDOW("[3,3]", "[1,1]", "[1,1]") ", group=2}\n",
     0xfe2f72c41860a859},
    {"convolution",
     "input x: f32[1,40,7,6]\ninput w: f32[5,40,3,3]\ninput b: f32[5]\n"
     "y: f32[1,5,7,4] = conv(x, w, b) " WINDOW("[3,3]", "[1,0]", "[1,0]") "}\n",
     0xd3581fddcfba75b1},
    {"windows of whole rows",
     "input x: f32[1,1,6,11]\ninput w: f32[1,1,2,11]\n"
     "y: f32[1,1,5,1] = conv(x, w) " WINDOW("[2,11]", "[0,0]", "[0,0]") "}\n",
     0xeb6781c4f7abf23d},
    {"transposed convolution",
     "input x: f32[1,3,3,4]\ninput w: f32[3,2,3,2]\ninput b: f32[2]\n"
     "y: f32[1,2,6,4] = conv_transpose(x, w, b) {kernel=[3,2], stride=[2,1], dilation=[1,1], "
     "pad_begin=[1,0], pad_end=[0,1], output_padding=[0,0]}\n",
     0x3647fde4c7e9c239},
    {"mean of rows", "input x: f32[5,23]\ny: f32[5] = reduce_mean(x) {axes=[1], keepdims=false}\n",
     0x1de558c3652569f0},
    {"mean of columns",
     "input x: f32[23,5]\ny: f32[5] = reduce_mean(x) {axes=[0], keepdims=false}\n",
     0x8861a49c7f977d20},
    {"sum over the middle",
     "input x: f32[3,11,5]\ny: f32[3,5] = reduce_sum(x) {axes=[1], keepdims=false}\n",
     0x74b36cf7e23e63ea},
    {"sum over both ends",
     "input x: f32[3,4,13]\ny: f32[4] = reduce_sum(x) {axes=[0,2], keepdims=false}\n",
     0x272c937a89b6f143},
    {"sum in turn",
     "input x: f32[3,2,5,3]\ny: f32[2,3] = reduce_sum(x) {axes=[0,2], keepdims=false}\n",
     0x2969b0bdb13dadb6},
    {"global average", "input x: f32[1,3,5,3]\ny: f32[1,3,1,1] = global_avg_pool(x)\n",
     0x57ee584ffaed93a4},
    {"average by columns",
     "input x: f32[1,2,6,7]\ny: f32[1,2,4,4] = avg_pool(x) " WINDOW(
         "[3,4]", "[0,0]", "[0,0]") ", columns_first=true}\n",
     0xf7bfc6f9dc05548d},
    {"average by taps",
     "input x: f32[1,2,6,7]\ny: f32[1,2,4,4] = avg_pool(x) " WINDOW("[3,4]", "[0,0]",
                                                                    "[0,0]") "}\n",
     0xd62d25350388f926},
    {"softmax", "input x: f32[3,41]\ny: f32[3,41] = softmax(x) {axis=1}\n", 0x4b6510f9d01d6cbe},
    {"log softmax", "input x: f32[3,41]\ny: f32[3,41] = log_softmax(x) {axis=1}\n",
     0x322dcccbebc0d0a2},
    {"normalization of short rows",
     "input x: f32[6,5]\ninput s: f32[5]\ninput b: f32[5]\n"
     "y: f32[6,5] = layer_norm(x, s, b) {axis=1, epsilon=1e-05}\n",
     0x5072dcbc0f3fc362},
    {"sigmoid", "input x: f32[997]\ny: f32[997] = sigmoid(x)\n", 0x88c3e2b2fbd3f1ad},
    {"tanh", "input x: f32[997]\ny: f32[997] = tanh(x)\n", 0x2516264a2dcb610c},
    {"erf", "input x: f32[997]\ny: f32[997] = erf(x)\n", 0x7f7ab8fe2ebf5e1e},
    {"exp", "input x: f32[997]\ny: f32[997] = exp(x)\n", 0x76516792a75f494f},
    {"gelu", "input x: f32[997]\ny: f32[997] = gelu(x)\n", 0x500cb4c7260226c7},
    {"gelu by tanh", "input x: f32[997]\ny: f32[997] = gelu(x) {approximate=tanh}\n",
     0xc08db6fde3061452},
};

static uint64_t digest_of(const float *y, size_t n)
{
    uint64_t h = 14695981039346656037U;
    for (size_t i = 0; i < n; i++) {
        uint32_t bits;
        memcpy(&bits, &y[i], sizeof bits);
        for (int shift = 0; shift < 32; shift += 8)
            h = (h ^ (bits >> shift & 255)) * 1099511628211U;
    }
    return h;
}

static void run(const sums_case *c, const assay_scheme *s)
{
    char text[600];
    assay_graph *g = NULL;
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err;

    snprintf(text, sizeof text, "graph g {\n%soutput y\n}\n", c->text);
    assert_ok(text_graph_parse(text, strlen(text), c->name, NULL, &g, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int k = 0; k < g->n_inputs; k++) {
        float *x = assay_run_data(r, g->input[k]);
        int64_t n = assay_shape_count(&g->value[g->input[k]].type);
        for (int64_t i = 0; i < n; i++)
            x[i] = (float)((i * 7919 + k * 104729) % 2003 - 1001) / 317.0F;
    }
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    size_t n = (size_t)assay_shape_count(&g->value[g->output[0]].type);
    uint64_t got = digest_of(assay_run_data(r, g->output[0]), n);
    if (got != c->digest)
        fail_msg("%s: digest %016llx, expected %016llx", c->name, (unsigned long long)got,
                 (unsigned long long)c->digest);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

static void in_onnx_runtimes_order(void **state)
{
    assay_scheme *s = NULL;
    assay_error err;
    (void)state;

    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run(&cases[i], s);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_onnx_runtimes_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
