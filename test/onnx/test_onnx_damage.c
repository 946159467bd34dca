/* The ONNX importer on damaged models: one clear line, never a crash. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "interp/kernel/kernel.h"
#include "opt/quantize/qdq.h"
#include "schemes/scheme.h"
#include "test/support/onnx_build.h"

/* A model with something of everything, for damage. */
static void *sample(size_t *length)
{
    return onnx_build(
        13,
        "in x f32 N,3,6,6\nconst w f32 2,3,3,3\nlist b f32 2 = 1 -1\n"
        "Conv x,w,b -> c pads=[1,1,1,1] strides=[2,2] : conv\n"
        "BatchNormalization c,b,b,b,v -> n\nlist v f32 2 = 1 1\nRelu n -> r\n"
        "Shape r -> s\nconst i i64 - = 0\nGather s,i -> g\nconst a i64 1 = 0\n"
        "Unsqueeze g,a -> u\nconst m i64 1 = -1\nConcat u,m -> t axis=0\n"
        "Reshape r,t -> f\nconst fw f32 4,18\nconst odd u8 261\nGemm f,fw -> o transB=1\n"
        "Softmax o -> y axis=-1\nSplit o -> p,q axis=1\nPad p,pads -> z\n"
        "list pads i64 4 = 0 1 0 -1\nConstant - -> k value={f32 2 1 2}\n"
        "Max q,k -> l\nSlice x,a,sz,a -> sl\nconst sz i64 1 = 1\nout y\nout z\n"
        "out l\nout sl",
        length);
}

/* The same of codes. */
static void *quantized_sample(size_t *length)
{
    return onnx_build(
        21,
        "in x f32 1,2,6,6\nconst s f32 - = 0.5\nconst z u8 - = 3\nconst w i8 2,2,3,3\n"
        "const ws f32 2 = 0.25 0.5\nconst wz i8 2 = 0 0\nconst b i32 2 = 5 -5\n"
        "const bs f32 2 = 0.125 0.25\nQuantizeLinear x,s,z -> xq\n"
        "DequantizeLinear xq,s,z -> xd\nDequantizeLinear w,ws,wz -> wd axis=0\n"
        "DequantizeLinear b,bs -> bd axis=0\nConv xd,wd,bd -> c pads=[1,1,1,1]\nRelu c -> r\n"
        "QuantizeLinear r,s,z -> rq\nDequantizeLinear rq,s,z -> rd\n"
        "MaxPool rd -> m kernel_shape=[2,2] strides=[2,2]\nQuantizeLinear m,s,z -> mq\n"
        "QLinearConv mq,s,z,w,ws,wz,s,z,b -> k pads=[1,1,1,1]\n"
        "com.microsoft:QLinearAdd k,s,z,mq,s,z,s,z -> a\n"
        "com.microsoft:QLinearConcat s,z,a,s,z,k,s,z -> cc axis=1\n"
        "com.microsoft:QLinearAveragePool cc,s,z,s,z -> p kernel_shape=[3,3]\n"
        "const t i64 2 = 1 4\nReshape p,t -> f\nconst g i8 4,3\nconst gz i8 - = 0\n"
        "QLinearMatMul f,s,z,g,s,gz,s,z -> o\nDequantizeLinear o,s,z -> y\n"
        "const u u4 4,4 = 33 67 101 135 33 67 101 135\nconst us f32 2,4 = 1 1 1 1 2 2 2 2\n"
        "DequantizeLinear u,us -> ud axis=0 block_size=2\n"
        "DequantizeLinear f,s,z -> fd\nMatMul fd,ud -> v\nDynamicQuantizeLinear v -> dq,ds,dz\n"
        "MatMulInteger dq,g,dz -> mm\nout y\nout mm\nout ds",
        length);
}

/* Imports; what comes of it is grouped and written again. */
static void import_any(const void *bytes, size_t length, const assay_scheme *s)
{
    assay_graph *g = NULL;
    assay_error err = {0};
    unsigned char *again = NULL;

    if (onnx_import_memory("damaged", bytes, length, NULL, &g, &err) != ASSAY_OK) {
        assert_true(err.text[0] != '\0');
        return;
    }
    assert_non_null(g);
    assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    if (onnx_export_graph(g, &again, &length, &err) != ASSAY_OK)
        assert_true(err.text[0] != '\0');
    free(again);
    assay_graph_free(g);
}

static void *(*const samples[])(size_t *) = {sample, quantized_sample};
#define N_SAMPLES (sizeof samples / sizeof *samples)

static assay_scheme *some_scheme(void)
{
    assay_scheme *s = NULL;
    assay_error err;
    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    return s;
}

static void truncate_everywhere(char *bytes, size_t length, const assay_scheme *s)
{
    assay_graph *g;
    assay_error err;

    assert_ok(onnx_import_memory("sample", bytes, length, NULL, &g, &err), &err);
    assay_graph_free(g);
    for (size_t n = 0; n < length; n++) {
        void *cut = malloc(n ? n : 1); /* exact, so that a sanitizer sees overreads */
        memcpy(cut, bytes, n);
        import_any(cut, n, s);
        free(cut);
    }
}

static void truncation_anywhere_is_survived(void **state)
{
    assay_scheme *s = some_scheme();
    (void)state;
    for (size_t k = 0; k < N_SAMPLES; k++) {
        size_t length;
        char *bytes = samples[k](&length);
        truncate_everywhere(bytes, length, s);
        free(bytes);
    }
    assay_scheme_free(s);
}

static void bit_flips_are_survived(void **state)
{
    test_rng rng = test_seed("onnx bit flips", 20261121);
    assay_scheme *s = some_scheme();

    (void)state;
    for (size_t n = 0; n < N_SAMPLES; n++) {
        size_t length;
        char *bytes = samples[n](&length), *copy = malloc(length);
        for (int i = 0; i < 5000; i++) {
            memcpy(copy, bytes, length);
            for (int64_t k = test_between(&rng, 1, 4); k > 0; k--)
                copy[test_between(&rng, 0, (int64_t)length - 1)] ^=
                    (char)(1 << test_between(&rng, 0, 7));
            import_any(copy, length, s);
        }
        free(copy);
        free(bytes);
    }
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(truncation_anywhere_is_survived),
        cmocka_unit_test(bit_flips_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
