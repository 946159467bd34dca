/* Floats in ONNX Runtime's order: linear resize and layer normalization, whose last bits decide the
 * codes of a quantize behind. Numbers are ONNX Runtime 1.30's (x86-64, AVX2) on the same inputs,
 * bit for bit. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/run/program.h"

static const float row[31] = {-0x1.d03f52p-1F, 0x1.6ee2e6p+1F,  0x1.d251f8p+0F,  0x1.49752ap+0F,
                              0x1.24e6b6p-1F,  0x1.dafc1ep+0F,  0x1.6ccd5ep+1F,  0x1.501052p-1F,
                              0x1.c2b32cp-2F,  0x1.6920fap-3F,  0x1.e2b2c2p-3F,  0x1.8c8136p-3F,
                              -0x1.2f80bep-3F, -0x1.edc03ap-1F, -0x1.f8785cp+0F, 0x1.9abd0cp-4F,
                              -0x1.01a4a6p+0F, -0x1.c96954p-4F, 0x1.627226p+1F,  -0x1.90e4bap+1F,
                              -0x1.ef0b18p-2F, 0x1.96991p+0F,   0x1.c241b4p-3F,  0x1.0accdap-2F,
                              0x1.1a999ep+2F,  -0x1.0baaf2p-1F, -0x1.e66f2ap-1F, -0x1.c75ed2p-1F,
                              0x1.2e4846p+1F,  0x1.c29e92p-5F,  0x1.433a5ep-1F};
static const float scale[31] = {
    0x1.1aed62p+0F, 0x1.430042p+0F, 0x1.e3b314p-1F, 0x1.d3caccp-1F, 0x1.67b4cep+0F, 0x1.c2df1ap-1F,
    0x1.f93586p-1F, 0x1.580c22p+0F, 0x1.556108p+0F, 0x1.124124p+0F, 0x1.42072cp+0F, 0x1.515446p+0F,
    0x1.a01992p-1F, 0x1.c5e1b4p-1F, 0x1.07aa14p+0F, 0x1.a67114p-2F, 0x1.029294p+0F, 0x1.20d768p+0F,
    0x1.c6e5e4p-1F, 0x1.05b56ap+0F, 0x1.5dbc7cp-1F, 0x1.f83bcp-1F,  0x1.699194p-1F, 0x1.08563p+0F,
    0x1.01d48p+0F,  0x1.e497eap-1F, 0x1.2eb32cp+0F, 0x1.4a8acp+0F,  0x1.04b86cp+0F, 0x1.d439fp-1F,
    0x1.387566p-1F};
static const float bias[31] = {-0x1.0d98b4p-3F, 0x1.08382cp-2F,   -0x1.cc6d5ep-3F, 0x1.3e3fc6p-4F,
                               0x1.97af86p-2F,  -0x1.420988p-6F,  0x1.5b1a0cp-2F,  -0x1.a02d48p-4F,
                               -0x1.f6b67cp-4F, 0x1.6b7222p-2F,   0x1.2d6ffp-1F,   0x1.e29538p-3F,
                               0x1.e6cb88p-4F,  -0x1.aa03d8p-2F,  0x1.2eb01p-3F,   -0x1.019828p-3F,
                               -0x1.82e354p-3F, -0x1.2c981cp-4F,  -0x1.efd9eep-3F, -0x1.5832e6p-1F,
                               -0x1.55a016p-3F, -0x1.558a8ap-12F, 0x1.eb2e6cp-4F,  -0x1.74ad34p-6F,
                               -0x1.97597ep-9F, -0x1.2b56b6p-3F,  -0x1.01891p-2F,  0x1.d192d8p-4F,
                               0x1.8bfcccp-2F,  0x1.2e3416p-3F,   -0x1.02f8f8p-2F};
static const float normalized[31] = {
    -0x1.1c7776p+0F, 0x1.1cf36ap+1F,  0x1.37c782p-1F,  0x1.227bcap-1F,  0x1.ffeb9ep-2F,
    0x1.8dbe86p-1F,  0x1.de250ep+0F,  0x1.1b7ba8p-4F,  -0x1.1f1ef6p-3F, 0x1.42e692p-3F,
    0x1.9f443ap-2F,  0x1.fcdb7p-8F,   -0x1.9d44eap-3F, -0x1.3c207cp+0F, -0x1.79b7eep+0F,
    -0x1.c6d322p-3F, -0x1.2640ep+0F,  -0x1.f7ap-2F,    0x1.167b76p+0F,  -0x1.86d118p+1F,
    -0x1.2b682ep-1F, 0x1.709332p-1F,  0x1.417edep-7F,  -0x1.4080f8p-3F, 0x1.4a30c4p+1F,
    -0x1.7fb736p-1F, -0x1.552e2ep+0F, -0x1.0427dp+0F,  0x1.a46072p+0F,  -0x1.7bf636p-4F,
    -0x1.7b6794p-3F};
static const float image[12] = {-0x1.13fda2p+0F, -0x1.331cb2p-3F, -0x1.b3fe2cp+0F, 0x1.cb3f9ep-4F,
                                -0x1.bf43bp+0F,  -0x1.1c657ep+0F, -0x1.13eb78p-2F, -0x1.e7f266p-1F,
                                0x1.a9ae2ap-1F,  0x1.940c76p+0F,  -0x1.5044acp-1F, -0x1.371704p-3F};
static const float half_pixel[24] = {
    -0x1.13fda2p+0F, -0x1.3a6138p-1F, -0x1.a2a00ep-2F, -0x1.71b9bcp+0F, -0x1.974a32p-1F,
    0x1.cb3f9ep-4F,  -0x1.69a0a8p+0F, -0x1.05829ap+0F, -0x1.612666p-1F, -0x1.da9bb6p-1F,
    -0x1.681f22p-1F, -0x1.ae8a72p-2F, -0x1.513f3cp+0F, -0x1.fae714p-1F, -0x1.3742e4p-1F,
    -0x1.8e1f6p-2F,  -0x1.274c42p-1F, -0x1.a395a2p-1F, 0x1.9b4a6ep-2F,  0x1.882164p-1F,
    0x1.afa4bep-1F,  -0x1.387d48p-2F, -0x1.c15a0cp-2F, -0x1.244514p-2F};
static const float asymmetric[24] = {
    -0x1.13fda2p+0F, -0x1.d65bbcp-2F, -0x1.55d8e6p-1F, -0x1.b3fe2cp+0F, -0x1.f8c84p-2F,
    0x1.cb3f9ep-4F,  -0x1.862c56p+0F, -0x1.08fcaep+0F, -0x1.8d6758p-1F, -0x1.7ea29ap-1F,
    -0x1.4ba748p-1F, -0x1.32299ep-1F, -0x1.c67582p-1F, -0x1.c16974p-2F, -0x1.1a7b22p-2F,
    -0x1.982018p-2F, -0x1.2e2b4p-1F,  -0x1.5f38d6p-1F, 0x1.a9ae2ap-1F,  0x1.545p+0F,
    0x1.aaa46p-1F,   -0x1.5044acp-1F, -0x1.47e01cp-2F, -0x1.371704p-3F};

/* Runs a network of one output on its inputs in order. */
static void expect(const char *text, const float *const *in, const float *want, size_t n)
{
    assay_graph *g;
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err;

    assert_ok(text_graph_parse(text, strlen(text), "test", NULL, &g, &err), &err);
    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        memcpy(assay_run_data(r, g->input[i]), in[i],
               assay_type_bytes(&g->value[g->input[i]].type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    assert_int_equal(assay_shape_count(&g->value[g->output[0]].type), n);
    const float *got = assay_run_data(r, g->output[0]);
    for (size_t i = 0; i < n; i++)
        if (memcmp(&got[i], &want[i], sizeof *got) != 0)
            fail_msg("%s\nelement %zu is %a, expected %a", text, i, (double)got[i],
                     (double)want[i]);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

static void layer_normalization(void **state)
{
    const float *const in[] = {row, scale, bias};
    (void)state;
    expect("graph g {\ninput x: f32[1,31]\ninput s: f32[31]\ninput b: f32[31]\n"
           "y: f32[1,31] = layer_norm(x, s, b) {axis=1, epsilon=1e-05}\noutput y\n}\n",
           in, normalized, 31);
}

static void linear_resize(void **state)
{
    const float *const in[] = {image};
    (void)state;
    expect("graph g {\ninput x: f32[1,1,3,4]\ny: f32[1,1,4,6] = resize(x) {mode=linear, "
           "coordinate=half_pixel, size=[1,1,4,6], scales=[1,1,1.5,1.5]}\noutput y\n}\n",
           in, half_pixel, 24);
    expect("graph g {\ninput x: f32[1,1,3,4]\ny: f32[1,1,4,6] = resize(x) {mode=linear, "
           "coordinate=asymmetric, size=[1,1,4,6], scales=[1,1,1.5,1.5]}\noutput y\n}\n",
           in, asymmetric, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layer_normalization),
        cmocka_unit_test(linear_resize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
