/* Every allocation of an import may fail: the answer is ASSAY_ERR_MEMORY, or the model is imported
 * without what would have been folded; nothing leaks (run under ASan). */
#include "test/support/support.h"

#include <stdlib.h>

#include "graph/onnx/onnx.h"
#include "test/support/alloc_fails.h"
#include "test/support/onnx_build.h"

/* Each allocation in turn, until none fails. */
static void fail_every(const char *text)
{
    size_t size;
    void *file = onnx_build(20, text, &size);
    bool reached = true;
    long failed = 0;

    for (long n = 1; reached; n++) {
        assay_graph *g;
        assay_error err;
        alloc_countdown = n;
        const assay_status s = onnx_import_memory("model", file, size, NULL, &g, &err);
        reached = alloc_countdown == 0;
        alloc_countdown = 0;
        if (s != ASSAY_OK && (s != ASSAY_ERR_MEMORY || !reached))
            fail_msg("%s\nallocation %ld, the status is %d: %s", text, n, (int)s, err.text);
        assert_true((s == ASSAY_OK) == (g != NULL));
        failed += s == ASSAY_ERR_MEMORY;
        assay_graph_free(g);
    }
    assert_true(failed > 0);
    free(file);
}

static void imports(void **state)
{
    (void)state;
    fail_every("in x f32 1,2,4,4\nconst w f32 3,2,1,1\nconst b f32 3\nConv x,w,b -> c\n"
               "Relu c -> y\nout y");
    fail_every("in x f32 2,3\nconst s f32 - = 0.5\nconst z i8 - = 3\nQuantizeLinear x,s,z -> q\n"
               "DequantizeLinear q,s,z -> y\nout y");
    fail_every("in x f32 2,3,3,4\nEinsum x -> y equation=aiib->bai\nout y");
    fail_every("in x f32 3,1,2\nconst w f32 1,12,2\nconst r f32 1,12,3\n"
               "LSTM x,w,r -> y hidden_size=3\nout y");
    fail_every("in x f32 2,5\nconst i i64 2,2 = 0 1 1 4\nconst u f32 2 = 1 2\n"
               "ScatterND x,i,u -> s\nconst k i64 1 = 2\nTopK s,k -> y,p\nout y\nout p");
    fail_every("in x f32 3,1,2\nconst w f32 2,9,2\nconst r f32 2,9,3\nconst l i32 1 = 2\n"
               "GRU x,w,r,_,l -> y hidden_size=3 direction=bidirectional\nout y");
    fail_every("in x f32 2,4\nDropout x -> d,m\nWhere m,d,x -> y\nout y");
    fail_every("in x f32 1,1,4,4\nMaxPool x -> y,p kernel_shape=[2,2]\nout y\nout p");
    fail_every("in x f32 1,1,4,4\nconst w f32 1,1,2,2\nin o f32 1,8,3,3\n"
               "DeformConv x,w,o -> y\nout y");
    fail_every("in x f32 2,3\nReshape x,d2 -> r\n"
               "const d2 i64 2 = 3 2\nconst dep i64 - = 4\nconst v f32 2 = 0 1\n"
               "in i i64 2\nOneHot i,dep,v -> h\nHardmax r -> k\nout h\nout k");
    fail_every("in x f32 1,3,4\nin s f32 1,3,4\nconst g f32 4 = 1 2 3 4\n"
               "com.microsoft:SkipLayerNormalization x,s,g -> y\nout y");
    fail_every("in x f32 1,2,4\nconst w f32 4,12\nconst b f32 12\n"
               "com.microsoft:Attention x,w,b -> y num_heads=2 unidirectional=1\nout y");
    fail_every("in x f32 2\nconst m i64 - = 3\nconst k i64 - = 1\nSequenceConstruct x -> e\n"
               "Loop m,_,e -> s body={graph in i i64 -; in c bool -; in q f32 -; Cast i -> f to=1; "
               "Sub x,f -> a; SequenceInsert q,a -> r; Less i,k -> d; out d; out r}\n"
               "SequenceErase s -> t\nConcatFromSequence t -> j axis=0\n"
               "SplitToSequence j -> p\nSequenceMap p -> b body={graph in p f32 1; Neg p -> r; "
               "out r}\nConcatFromSequence b -> y axis=0\nout y");
    fail_every("in x f32 2,4\nconst a f32 4,4\nconst b f32 4,4\nMatMul a,b -> c\nTranspose c -> d\n"
               "MatMul x,d -> y\nout y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
