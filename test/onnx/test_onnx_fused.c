/* Operators that ONNX Runtime's own passes write: what they become, and attention against its
 * formula in double. The bits beside that runtime: ./dev peer onnxruntime. */
#include "test/support/support.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/onnx_build.h"
#include "test/support/onnx_form.h"

/* ---- what they become ---- */

static void chains_come_apart(void **state)
{
    static const onnx_form forms[] = {
        {17, "in x f32 2,3\ncom.microsoft:Gelu x -> y\nout y", "gelu", "[2,3]"},
        {17, "in x f32 2,3\nconst b f32 3\ncom.microsoft:BiasGelu x,b -> y\nout y", "add gelu",
         "[2,3]"},
        {17, "in x f32 2,3\ncom.microsoft:FastGelu x -> y\nout y", "gelu", "[2,3]"},
        {17, "in x f32 2,3\ncom.microsoft:QuickGelu x -> y\nout y", "mul sigmoid mul", "[2,3]"},
        {17,
         "in x f32 2,3,4\nin s f32 3,4\nconst g f32 4\nconst b f32 4\nconst c f32 4\n"
         "com.microsoft:SkipLayerNormalization x,s,g,b,c -> y,_,_,t epsilon=0.001\nRelu t -> z\n"
         "out y\nout z",
         "add add layer_norm relu", "[2,3,4]"},
        {17,
         "in x f32 2,3,4\nin s f32 2,3,4\nconst g f32 4\n"
         "com.microsoft:SkipSimplifiedLayerNormalization x,s,g -> y\nout y",
         "add square reduce_mean add rsqrt mul mul", "[2,3,4]"},
        {17, "in x f32 3,4\nconst g f32 4\nSimplifiedLayerNormalization x,g -> y\nout y",
         "square reduce_mean add rsqrt mul mul", "[3,4]"},
        {17,
         "in i i32 2,3\nconst w f32 9,4\nconst p f32 5,4\nconst g f32 4\nconst b f32 4\n"
         "com.microsoft:EmbedLayerNormalization i,_,w,p,_,g,b -> y\nout y",
         "gather add layer_norm", "[2,3,4]"},
        {17,
         "in i i32 2,3\nin s i32 2,3\nin q i32 1,3\nin m i32 2,3\nconst w f32 9,4\nconst p f32 "
         "5,4\n"
         "const e f32 2,4\nconst g f32 4\nconst b f32 4\n"
         "com.microsoft:EmbedLayerNormalization i,s,w,p,e,g,b,m,q -> y,n,t\nout y\nout n\nout t",
         "cast reduce_sum cast reshape gather gather add gather add reshape layer_norm", "[2,3,4]"},
        {17,
         "in x f32 1,2,5,5\nconst w f32 3,2,3,3\nconst b f32 3\nin z f32 1,3,3,3\n"
         "com.microsoft:FusedConv x,w,b,z -> y activation=LeakyRelu activation_params=[0.5]\nout y",
         "conv add leaky_relu", "[1,3,3,3]"},
        {17, "in x f32 1,2,5,5\nconst w f32 3,2,3,3\ncom.microsoft:FusedConv x,w -> y\nout y",
         "conv", "[1,3,3,3]"},
        {17,
         "in x f32 2,3\nconst w f32 4,3\nconst b f32 4\n"
         "com.microsoft:FusedGemm x,w,b -> y transB=1 activation=Tanh\nout y",
         "fc tanh", "[2,4]"},
        {17,
         "in a f32 5,2,3\nin b f32 2,4,3\n"
         "com.microsoft:FusedMatMul a,b -> y transBatchA=1 transB=1 alpha=0.5\nout y",
         "transpose transpose matmul mul", "[2,5,4]"},
        {17,
         "in a f32 2,3\nin b f32 3,4\nin c f32 4,2\nEinsum a,b,c -> y equation=ij,jk,kl->li\nout y",
         "reshape reshape matmul reshape reshape reshape matmul reshape transpose", "[2,2]"},
        {17,
         "in a f32 5,2,3,4\nin b f32 5,2,4,6\nEinsum a,b -> y equation=...ij,...jk->...ik\nout y",
         "reshape reshape matmul reshape", "[5,2,3,6]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

static void refused(const char *text, assay_status status, const char *part)
{
    onnx_form_refused(23, text, status, part);
}

static void what_is_not_taken_is_said(void **state)
{
#define QKV "in x f32 1,2,3\nconst w f32 3,12\nconst b f32 12\n"
    (void)state;
    refused(QKV "com.microsoft:Attention x,w,b -> y num_heads=3\nout y", ASSAY_ERR_INPUT,
            "4 columns for 3 heads");
    refused(QKV "com.microsoft:Attention x,w,b -> y num_heads=2 do_rotary=1\nout y",
            ASSAY_ERR_UNSUPPORTED, "do_rotary");
    refused(QKV "com.microsoft:Attention x,w,b -> y num_heads=2 qkv_hidden_sizes=[4,4,2]\nout y",
            ASSAY_ERR_INPUT, "12 columns are not queries, keys and values");
    refused(QKV "in m i32 1,1,2,2\ncom.microsoft:Attention x,w,b,m -> y num_heads=2\nout y",
            ASSAY_ERR_UNSUPPORTED, "mask of rank 4");
    refused(QKV "in p f32 1,2,2,2\ncom.microsoft:Attention x,w,b,_,p -> y num_heads=2\nout y",
            ASSAY_ERR_INPUT, "past of rank 4");
    refused("in q f32 1,2,4\nin k f32 1,3,4\nin v f32 1,2,4\n"
            "com.microsoft:MultiHeadAttention q,k,v -> y num_heads=2\nout y",
            ASSAY_ERR_INPUT, "MultiHeadAttention");
    refused("in q f32 1,2,4\nin k f32 1,3,4\nin v f32 1,2,4\n"
            "Attention q,k,v -> y q_num_heads=2 kv_num_heads=2\nout y",
            ASSAY_ERR_INPUT, "Attention");
    refused("in q f32 1,2,4\nin k f32 1,3,6\n"
            "com.microsoft:MultiHeadAttention q,k,k -> y num_heads=2\nout y",
            ASSAY_ERR_INPUT, "MultiHeadAttention");
    refused("in x f32 1,2,2,3,2\ncom.microsoft:MultiHeadAttention x -> y num_heads=2\nout y",
            ASSAY_ERR_UNSUPPORTED, "packed queries");
    refused("in x f32 2,3\nconst w f32 4,3\n"
            "com.microsoft:FusedGemm x,w -> y transB=1 activation=Elu\nout y",
            ASSAY_ERR_UNSUPPORTED, "Elu");
    refused("in x f32 2,1,3\nconst w f32 1,8,3\nconst r f32 1,8,2\nLSTM x,w,r -> y clip=1.0\nout y",
            ASSAY_ERR_UNSUPPORTED, "clip");
    refused("in x f32 2,1,3\nconst w f32 1,8,3\nconst r f32 1,8,2\nconst n i32 2 = 1 1\n"
            "LSTM x,w,r,_,n -> y\nout y",
            ASSAY_ERR_INPUT, "lengths do not hold one per batch row");
    refused("in x f32 2,1,3\nconst w f32 1,6,3\nconst r f32 1,8,2\nGRU x,w,r -> y\nout y",
            ASSAY_ERR_INPUT, "recurrence of rank 3");
    refused("in x f32 2,1,3\nconst w f32 1,2,3\nconst r f32 1,2,2\n"
            "RNN x,w,r -> y direction=bidirectional\nout y",
            ASSAY_ERR_INPUT, "does not have extent 2 on its axis of directions");
    refused("in x f32 2,3\nEinsum x -> y equation=i...->i\nout y", ASSAY_ERR_UNSUPPORTED,
            "'equation' is 'i...->i'");
    refused("in x f32 1,2,3,4\nin z f32 2,2,2\nin v f32 2,2,2\n"
            "Einsum x,z,v -> y equation=abcd,efg,efg->abcd\nout y",
            ASSAY_ERR_UNSUPPORTED, "more than 6 indices between its operands");
    refused("in x f32 2,3\nin z f32 4,3\nEinsum x,z -> y equation=ij,jk->ik\nout y",
            ASSAY_ERR_INPUT, "index 'j' has extents 3 and 4");
    refused("in x f32 2,3\nEinsum x -> y equation=ij->ik\nout y", ASSAY_ERR_INPUT,
            "index 'k' of the result is in no operand");
    refused("in x f32 2,3\nin i i64 3,3\nGatherElements x,i -> y axis=1\nout y", ASSAY_ERR_INPUT,
            "3 indices along axis 0, which has only 2 elements");
    refused("in x f32 2,3\nin i i64 4,1\nGatherND x,i -> y batch_dims=1\nout y", ASSAY_ERR_INPUT,
            "batch axis 0 has extent 2 in the data but 4 in the indices");
    refused("in x f32 2,5\nconst g f32 5\nGroupNormalization x,g,g -> y num_groups=2\nout y",
            ASSAY_ERR_INPUT, "2 groups");
    refused("in q f32 1,2,6\nin k f32 1,2,4\nin v f32 1,2,4\n"
            "Attention q,k,v -> y q_num_heads=3 kv_num_heads=2\nout y",
            ASSAY_ERR_INPUT, "3 query heads for 2 key heads, expected a multiple");
    refused("in q f32 1,2,6\nin k f32 1,2,4\nAttention q,k,k -> y\nout y", ASSAY_ERR_INPUT,
            "operand of rank 3 with 6 columns for 0 heads, expected ");
    refused("in x f32 1,2,6\nin c f32 5,2\nin p i64 1,2\n"
            "RotaryEmbedding x,c,c,p -> y num_heads=1\nout y",
            ASSAY_ERR_INPUT, "6 columns per head, of which 6 are rotated");
    refused("in x f32 1,2,4\nin c f32 5,2\nin p i64 1,2\n"
            "com.microsoft:RotaryEmbedding x,p,c,c -> y is_packed_batching=1\nout y",
            ASSAY_ERR_UNSUPPORTED, "is_packed_batching");
    refused("in i i32 2,3\nconst w f32 9,4\nconst p f32 5,4\nconst g f32 4\n"
            "com.microsoft:EmbedLayerNormalization i,_,w,p,_,g -> y\nout y",
            ASSAY_ERR_INPUT, "input 6 is missing");
    refused("in i i32 2,6\nconst w f32 9,4\nconst p f32 5,4\nconst g f32 4\nconst b f32 4\n"
            "com.microsoft:EmbedLayerNormalization i,_,w,p,_,g,b -> y\nout y",
            ASSAY_ERR_INPUT, "6 elements along axis 0 are more than 'p' has");
}

/* A model that names no standard opset has the newest: softmax of the last axis alone. */
static void no_standard_opset_is_the_newest(void **state)
{
    static const onnx_form form = {
        ONNX_BUILD_NO_OPSET, "in x f32 1,2,3\nSoftmax x -> s\ncom.microsoft:Gelu s -> y\nout y",
        "softmax gelu", "[1,2,3]"};
    (void)state;
    onnx_form_check(&form);
    assay_graph *g = onnx_form_import(form.opset, form.text, NULL);
    assert_int_equal(g->node[0].attr.softmax.axis, 2);
    assay_graph_free(g);
}

/* ---- attention ---- */

enum { DRAWN = 60, MAX_ELEMENTS = 4096 };

/* One MultiHeadAttention: sizes, which masks there are, and its numbers. */
typedef struct question {
    int64_t b, s, l, past, heads, h, hv;
    int form; /* of the key padding mask: 0 none, 1 [B], 2 [B,T], 3 [B,S,T] */
    bool causal, bias;
    float scale; /* 0: by the heads' size */
    float q[MAX_ELEMENTS], k[MAX_ELEMENTS], v[MAX_ELEMENTS], past_k[MAX_ELEMENTS],
        past_v[MAX_ELEMENTS], add[MAX_ELEMENTS];
    int32_t mask[MAX_ELEMENTS];
} question;

static void draw(test_rng *r, question *c)
{
    *c = (question){.b = test_between(r, 1, 2),
                    .s = test_between(r, 1, 5),
                    .l = test_between(r, 1, 6),
                    .past = test_between(r, 0, 1) * test_between(r, 1, 3),
                    .heads = test_between(r, 1, 3),
                    .h = test_between(r, 1, 5),
                    .hv = test_between(r, 1, 5),
                    .form = (int)test_between(r, 0, 3),
                    .causal = test_between(r, 0, 1) == 1,
                    .bias = test_between(r, 0, 1) == 1,
                    .scale = test_between(r, 0, 1) == 1 ? (float)test_unit(r) : 0};
    float *const lists[] = {c->q, c->k, c->v, c->past_k, c->past_v, c->add};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        for (int k = 0; k < MAX_ELEMENTS; k++)
            lists[i][k] = (float)(test_unit(r) * 4 - 2);
    const int64_t t = c->past + c->l;
    for (int i = 0; i < MAX_ELEMENTS; i++)
        c->mask[i] = c->form == 1 ? (int32_t)test_between(r, 1, t)
                                  : i % t == 0 || test_between(r, 0, 1) == 1;
}

static void write_model(const question *c, char *text, size_t size)
{
    static const char *const masks[] = {"", "in m i32 %lld\n", "in m i32 %lld,%lld\n",
                                        "in m i32 %lld,%lld,%lld\n"};
    const long long b = c->b, s = c->s, l = c->l, n = c->heads, t = c->past + l;
    size_t u = (size_t)snprintf(text, size,
                                "in q f32 %lld,%lld,%lld\nin k f32 %lld,%lld,%lld\n"
                                "in v f32 %lld,%lld,%lld\n",
                                b, s, n * c->h, b, l, n * c->h, b, l, n * c->hv);
    if (c->form == 3)
        u += (size_t)snprintf(text + u, size - u, masks[3], b, s, t);
    else
        u += (size_t)snprintf(text + u, size - u, masks[c->form], b, t);
    if (c->bias)
        u += (size_t)snprintf(text + u, size - u, "in e f32 1,%lld,%lld,%lld\n", n, s, t);
    if (c->past)
        u += (size_t)snprintf(
            text + u, size - u, "in f f32 %lld,%lld,%lld,%lld\nin g f32 %lld,%lld,%lld,%lld\n", b,
            n, (long long)c->past, (long long)c->h, b, n, (long long)c->past, (long long)c->hv);
    u += (size_t)snprintf(text + u, size - u,
                          "com.microsoft:MultiHeadAttention q,k,v,_,%s,%s%s -> y num_heads=%lld "
                          "unidirectional=%d",
                          c->form ? "m" : "_", c->bias ? "e" : "_", c->past ? ",f,g" : "", n,
                          c->causal);
    if (c->scale != 0)
        u += (size_t)snprintf(text + u, size - u, " scale=%.9f", (double)c->scale);
    snprintf(text + u, size - u, "\nout y");
}

/* Element d of the key (or value) at place j of head n, past first. */
static double at(const float *past, const float *now, const question *c, int64_t b, int64_t n,
                 int64_t j, int64_t d, int64_t size)
{
    if (j < c->past)
        return (double)past[((b * c->heads + n) * c->past + j) * size + d];
    return (double)now[((b * c->l + j - c->past) * c->heads + n) * size + d];
}

static double score(const question *c, int64_t b, int64_t n, int64_t i, int64_t j)
{
    const int64_t t = c->past + c->l;
    const double scale = c->scale != 0 ? (double)c->scale : 1 / sqrt((double)c->h);
    double sum = 0;
    for (int64_t d = 0; d < c->h; d++)
        sum += (double)c->q[((b * c->s + i) * c->heads + n) * c->h + d] *
               at(c->past_k, c->k, c, b, n, j, d, c->h);
    sum = sum * scale + (c->bias ? (double)c->add[(n * c->s + i) * t + j] : 0);
    if (c->causal && i < c->s - 1 && j > c->past + i)
        return -DBL_MAX;
    const bool seen = c->form == 0   ? true
                      : c->form == 1 ? j < c->mask[b]
                      : c->form == 2 ? c->mask[b * t + j] > 0
                                     : c->mask[(b * c->s + i) * t + j] > 0;
    return seen ? sum : sum - 10000;
}

static double expected(const question *c, int64_t b, int64_t i, int64_t n, int64_t d)
{
    const int64_t t = c->past + c->l;
    double max = -DBL_MAX, all = 0, sum = 0;
    for (int64_t j = 0; j < t; j++)
        max = fmax(max, score(c, b, n, i, j));
    for (int64_t j = 0; j < t; j++) {
        const double weight = exp(score(c, b, n, i, j) - max);
        all += weight;
        sum += weight * at(c->past_v, c->v, c, b, n, j, d, c->hv);
    }
    return sum / all;
}

static void put(const assay_graph *g, assay_run *r, const char *name, const void *data)
{
    const int v = assay_graph_find_value(g, name);
    if (v != ASSAY_NO_VALUE)
        memcpy(assay_run_data(r, v), data, assay_type_bytes(&g->value[v].type));
}

static void check(const question *c, const assay_graph *g, const float *y, const char *text)
{
    const assay_type *type = &g->value[g->output[0]].type;
    assert_true(type->rank == 3 && type->dim[0] == c->b && type->dim[1] == c->s &&
                type->dim[2] == c->heads * c->hv);
    for (int64_t k = 0; k < assay_shape_count(type); k++) {
        const int64_t d = k % c->hv, n = k / c->hv % c->heads, i = k / c->hv / c->heads % c->s;
        const double want = expected(c, k / c->hv / c->heads / c->s, i, n, d);
        if (fabs((double)y[k] - want) > 1e-5)
            fail_msg("%s\nelement %lld is %.9g, expected %.9g", text, (long long)k, (double)y[k],
                     want);
    }
}

static void attention_is_its_formula(void **state)
{
    (void)state;
    static question c;
    test_rng r = test_seed("onnx_fused", 18);
    assay_scheme *s;
    assay_error err = {0};
    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    for (int k = 0; k < DRAWN; k++) {
        char text[800];
        assay_program *p;
        assay_run *run;
        draw(&r, &c);
        write_model(&c, text, sizeof text);
        assay_graph *g = onnx_form_import(17, text, NULL);
        assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
        assert_ok(assay_run_new(p, &run, &err), &err);
        const struct {
            const char *name;
            const void *data;
        } in[] = {{"q", c.q},      {"k", c.k},   {"v", c.v},   {"f", c.past_k},
                  {"g", c.past_v}, {"e", c.add}, {"m", c.mask}};
        for (size_t i = 0; i < sizeof in / sizeof *in; i++)
            put(g, run, in[i].name, in[i].data);
        assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
        check(&c, g, assay_run_data(run, g->output[0]), text);
        assay_run_free(run);
        assay_program_free(p);
        assay_graph_free(g);
    }
    assay_scheme_free(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(chains_come_apart),
                                              cmocka_unit_test(what_is_not_taken_is_said),
                                              cmocka_unit_test(no_standard_opset_is_the_newest),
                                              cmocka_unit_test(attention_is_its_formula)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
