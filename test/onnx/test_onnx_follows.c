/* ONNX models whose shapes follow from what is computed: imported for one sample, or refused. The
 * expected values are NumPy's. */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "interp/run/evaluate.h"
#include "test/support/onnx_build.h"
#include "test/support/sampled.h"

#define MAX_OUT 24

typedef struct fixture {
    void *file;
    assay_graph *g;
    test_sampled sampled;
} fixture;

static assay_status import(fixture *f, const char *text, const void *x, assay_error *err)
{
    size_t size;
    *f = (fixture){.file = onnx_build(17, text, &size), .sampled = {.x = x}};
    assay_onnx_options o = {0};
    if (x)
        o.sample = test_sampled_of(&f->sampled);
    return onnx_import_memory("model", f->file, size, &o, &f->g, err);
}

static void done(fixture *f)
{
    assay_graph_free(f->g);
    free(f->file);
}

static const float x[6] = {1, -2, 0, 4, 0, 6};

/* A model of x, f32[2,3], and the output y of `rank` and `dim`. */
typedef struct sampled {
    const char *nodes;
    int rank;
    int64_t dim[3];
    float y[MAX_OUT]; /* or int64 where `integers` */
    bool integers;
    int asked;
} sampled;

#define ZERO "const zero f32 - = 0\nGreater x,zero -> set\n"
/* What is above 0: 3 elements. */
#define COUNT ZERO "Cast set -> ones to=7\nReduceSum ones,_ -> n keepdims=0\n"

static const sampled cases[] = {
    {"NonZero x -> y\nout y i64\n", 2, {2, 4}, {0, 0, 1, 1, 0, 1, 0, 2}, true, 1},
    {ZERO "NonZero set -> at\nTranspose at -> rows\nGatherND x,rows -> y\nout y f32\n",
     1,
     {3},
     {1, 4, 6},
     false,
     1},
    {ZERO "const five f32 1 = 5\nConstantOfShape shape -> none\nconst shape i64 1 = 1\n"
          "NonZero set -> at\nTranspose at -> rows\nShape rows -> s\n"
          "Expand five,s -> y\nout y f32\n",
     2,
     {3, 2},
     {5, 5, 5, 5, 5, 5},
     false,
     1},
    {"const zero f32 - = 0\nCompress x,k -> y axis=1\nGreater row,zero -> k\n"
     "const two i64 1 = 1\nReduceMax x -> row axes=[0] keepdims=0\nout y f32\n",
     2,
     {2, 2},
     {1, 0, 4, 6},
     false,
     1},
    {ZERO "const flat i64 1 = -1\nReshape set,flat -> k\nCompress x,k -> y\nout y f32\n",
     1,
     {3},
     {1, 4, 6},
     false,
     1},
    {COUNT "const one i64 - = 1\nconst lead i64 - = -1\nAdd n,lead -> start\nAdd n,n -> end\n"
           "Range start,end,one -> y\nout y i64\n",
     1,
     {4},
     {2, 3, 4, 5},
     true,
     2},
    {"const delta f32 - = 0.5\nReduceMax x,_ -> end keepdims=0\nReduceMin x,_ -> start keepdims=0\n"
     "const less f32 - = 4.75\nSub end,less -> limit\nRange start,limit,delta -> y\nout y f32\n",
     1,
     {7},
     {-2, -1.5F, -1, -0.5F, 0, 0.5F, 1},
     false,
     2},
    {COUNT "const depth f32 - = 0\nCast n -> d to=1\nAdd d,depth -> e\nconst at i64 2 = 2 0\n"
           "const values f32 2 = 5 7\nOneHot at,e,values -> y\nout y f32\n",
     2,
     {2, 3},
     {5, 5, 7, 7, 5, 5},
     false,
     1},
    {"const one i64 1 = 1\nTopK flat,one -> top,at\nconst f i64 1 = -1\nReshape x,f -> flat\n"
     "Unsqueeze flat,b -> s\nconst b i64 2 = 0 1\nconst boxes f32 1,6,4 = 0 0 2 2 0 1 2 3 0 3 2 5 "
     "1 1 1 1 0 0 2 2 9 9 8 8\nconst most i64 - = 9\nconst iou f32 - = 0.25\n"
     "const score f32 - = 0\nNonMaxSuppression boxes,s,most,iou,score -> y\nout y i64\n",
     2,
     {3, 3},
     {0, 0, 5, 0, 0, 3, 0, 0, 0},
     true,
     1},
    {"Unique x -> y\nout y f32\n", 1, {5}, {-2, 0, 1, 4, 6}, false, 1},
    {"Unique x -> y sorted=0\nout y f32\n", 1, {5}, {1, -2, 0, 4, 6}, false, 1},
    {"Unique x -> u,y sorted=0\nout y i64\n", 1, {5}, {0, 1, 2, 3, 5}, true, 1},
    {"Unique x -> u,f,y\nout y i64\n", 1, {6}, {2, 0, 1, 3, 1, 4}, true, 1},
    {"Unique x -> u,_,_,y\nout y i64\n", 1, {5}, {1, 2, 1, 1, 1}, true, 1},
    {COUNT "const begin i64 - = 0\nconst one i64 - = 1\nRange begin,n,one -> y\nout y i64\n",
     1,
     {3},
     {0, 1, 2},
     true,
     1},
    {COUNT "const axis i64 1 = 0\nUnsqueeze n,axis -> end\nconst flat i64 1 = -1\n"
           "Reshape x,flat -> row\nSlice row,axis,end -> y\nout y f32\n",
     1,
     {3},
     {1, -2, 0},
     false,
     1},
    {COUNT "const axis i64 1 = 0\nUnsqueeze n,axis -> k\nconst flat i64 1 = -1\n"
           "Reshape x,flat -> row\nTopK row,k -> y,at\nout y f32\n",
     1,
     {3},
     {6, 4, 1},
     false,
     1},
    {COUNT "const axis i64 1 = 0\nUnsqueeze n,axis -> a\nConcat a,a -> parts axis=0\n"
           "const flat i64 1 = -1\nReshape x,flat -> row\nSplit row,parts -> low,y\nout y f32\n",
     1,
     {3},
     {4, 0, 6},
     false,
     1},
    {COUNT "const go bool - = 1\nReduceSum x,_ -> sum keepdims=0\n"
           "Loop n,go,sum -> last,y body={graph in i i64 -; in c bool -; in a f32 -; "
           "const half f32 - = 0.5; Mul a,half -> b; Identity c -> more; Identity b -> row; "
           "out more bool; out b f32; out row f32}\nout y f32\n",
     1,
     {3},
     {4.5F, 2.25F, 1.125F},
     false,
     1},
};

/* Weights of 4 bits in blocks, whose zero point is what is computed: 3. */
#define ZERO_POINTS COUNT "Cast n -> z to=2\nconst rows i64 1 = 2\nExpand z,rows -> zs\n"

static const sampled packed[] = {
    {ZERO_POINTS "const w u8 2,1,2 = 85 5 17 1\nconst s f32 2 = 0.5 0.25\n"
                 "com.microsoft:MatMulNBits x,w,s,zs -> y K=3 N=2 bits=4 block_size=4\nout y f32\n",
     2,
     {2, 2},
     {-1, 0.5F, 10, -5},
     false,
     1},
    {ZERO_POINTS
     "const w u8 2,1 = 85 17\nconst s f32 2,1 = 0.5 0.25\nconst i i64 3 = 1 0 1\n"
     "const two i64 2 = 2 1\nReshape zs,two -> z2\n"
     "com.microsoft:GatherBlockQuantized w,i,s,z2 -> y block_size=16 bits=4\nout y f32\n",
     2,
     {3, 2},
     {-0.5F, -0.5F, 1, 1, -0.5F, -0.5F},
     false,
     1},
};

static void check(const sampled *c)
{
    char text[1500];
    union {
        float f[MAX_OUT];
        int64_t i[MAX_OUT];
    } out;
    const void *in = x;
    void *to = &out;
    fixture f;
    assay_error err;
    int64_t count = 1;

    snprintf(text, sizeof text, "in x f32 2,3\n%s", c->nodes);
    assert_int_equal(import(&f, text, NULL, &err), ASSAY_ERR_UNSUPPORTED);
    done(&f);
    if (import(&f, text, x, &err))
        fail_msg("%s\n%s", text, err.text);
    const assay_type *t = &f.g->value[f.g->output[0]].type;
    assert_true(f.sampled.used);
    if (f.sampled.asked != c->asked)
        fail_msg("%s\nasked %d times, not %d", text, f.sampled.asked, c->asked);
    assert_int_equal(t->rank, c->rank);
    for (int d = 0; d < c->rank; d++, count *= c->dim[d - 1])
        assert_int_equal(t->dim[d], c->dim[d]);
    assert_ok(run_whole_graph(f.g, NULL, &in, &to, &err), &err);
    for (int64_t i = 0; i < count; i++)
        if (c->integers ? out.i[i] != (int64_t)c->y[i] : out.f[i] != c->y[i])
            fail_msg("%s\nelement %d", text, (int)i);
    done(&f);
}

static void shapes_follow_the_sample(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
}

static void packed_weights_follow_the_sample(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        check(&packed[i]);
}

static void another_sample_says_so(void **state)
{
    static const float zeros[6] = {0};
    int64_t out[MAX_OUT];
    const void *in = zeros;
    void *to = out;
    fixture f;
    assay_error err;
    (void)state;

    assert_ok(import(&f, "in x f32 2,3\nNonZero x -> y\nout y i64\n", x, &err), &err);
    assert_int_equal(run_whole_graph(f.g, NULL, &in, &to, &err), ASSAY_ERR_INPUT);
    assert_non_null(strstr(err.text, "0 elements are set"));
    done(&f);
    assert_ok(import(&f, "in x f32 2,3\nNonZero x -> y\nout y i64\n", zeros, &err), &err);
    assert_int_equal(f.g->value[f.g->output[0]].type.dim[1], 0);
    done(&f);
}

/* A scalar counts as one element in a row. */
static void of_a_scalar(void **state)
{
    static const float one = 1;
    int64_t out = -1;
    const void *in = &one;
    void *to = &out;
    fixture f;
    assay_error err;
    (void)state;

    assert_ok(import(&f, "in x f32 -\nNonZero x -> y\nout y i64\n", &one, &err), &err);
    assert_int_equal(f.g->value[f.g->output[0]].type.rank, 2);
    assert_ok(run_whole_graph(f.g, NULL, &in, &to, &err), &err);
    assert_int_equal(out, 0);
    done(&f);
}

/* A body runs any number of times: no sample says what it finds. */
static void not_in_bodies(void **state)
{
    fixture f;
    assay_error err;
    (void)state;

    assert_int_equal(
        import(&f,
               "in x f32 2,3\nconst zero f32 - = 0\nReduceSum x,_ -> sum keepdims=0\n"
               "Greater sum,zero -> c\nIf c -> y "
               "then_branch={graph NonZero x -> p; ReduceSum p,_ -> a keepdims=0; out a i64} "
               "else_branch={graph const b i64 - = 7; Identity b -> d; out d i64}\nout y i64\n",
               x, &err),
        ASSAY_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "or for one sample"));
    assert_int_equal(f.sampled.asked, 0);
    done(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_follow_the_sample),
        cmocka_unit_test(packed_weights_follow_the_sample),
        cmocka_unit_test(another_sample_says_so),
        cmocka_unit_test(of_a_scalar),
        cmocka_unit_test(not_in_bodies),
    };
    return cmocka_run_group_tests_name("onnx_follows", tests, NULL, NULL);
}
