/* Operators that become several of ours, on small numbers (made_cases.h). */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "interp/run/evaluate.h"
#include "test/onnx/made_lists.h"
#include "test/support/onnx_form.h"

static void check(const made *m)
{
    assay_graph *g = onnx_form_import(m->opset, m->text, NULL);
    const assay_type *t = &g->value[g->output[0]].type;
    float out[MADE_MAX];
    const void *in = m->x;
    void *to = out;
    assay_error err;

    if (t->rank != m->rank)
        fail_msg("%s\nrank %d", m->text, t->rank);
    for (int d = 0; d < m->rank; d++)
        if (t->dim[d] != m->dim[d])
            fail_msg("%s\nextent %d is %lld", m->text, d, (long long)t->dim[d]);
    assert_ok(run_whole_graph(g, NULL, &in, &to, &err), &err);
    for (int64_t i = 0; i < assay_shape_count(t); i++)
        if (!(fabs((double)out[i] - m->y[i]) <= 2e-5 * fmax(1, fabs(m->y[i]))))
            fail_msg("%s\nelement %lld is %g, expected %g", m->text, (long long)i, (double)out[i],
                     m->y[i]);
    assay_graph_free(g);
}

static void as_specified(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check(&cases[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        check(&lists[i]);
}

static void refused(void **state)
{
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"in x f32 1,2,4\nLpPool x -> y kernel_shape=[2] p=0\nout y", "attribute 'p' is 0"},
        {"in x f32 2,4\nLpNormalization x -> y p=3\nout y", "attribute 'p' is 3"},
        {"in x f32 2,4\nGlobalLpPool x -> y\nout y", "input of rank 2"},
        {"in x f32 2,4\nconst s i64 3 = 1 2 3\nCenterCropPad x,s -> y\nout y",
         "3 extents for 2 axes, expected one per axis"},
        {"in x f32 2,4\nconst s i64 2 = 1 -1\nCenterCropPad x,s -> y\nout y", "extent -1"},
        {"in x f32 2,2,3\nconst s i64 3 = 2 1 4\nAffineGrid x,s -> y\nout y",
         "3 sizes for matrices"},
        {"in x f32 2,3,4\nconst s i64 5 = 2 1 999999 9 9\nAffineGrid x,s -> y\nout y",
         "more than 2^20 places"},
        {"in x f32 2,3\nDet x -> y\nout y", "not square"},
        {"in x f32 7,7\nDet x -> y\nout y", "up to 6 are supported"},
        {"in x f32 1,2,3,3\nconst w f32 1,2,2,2\nconst o f32 1,7,2,2\nDeformConv x,w,o -> "
         "y\nout y",
         "expected offsets of shape [N, 2 * groups * taps"},
        {"in x f32 2,3\nin t i64 3\nNegativeLogLikelihoodLoss x,t -> y\nout y",
         "labels do not have the input's shape"},
        {"in x f32 2\nin t i64 -\nSoftmaxCrossEntropyLoss x,t -> y\nout y", "scores of rank 1"},
        {"in x f32 2,4,3\nDFT x -> y\nout y", "last axis has extent 1 or 2"},
        {"in x f32 2,4,1\nDFT x -> y inverse=1 onesided=1\nout y", "one-sided input of an inverse"},
        {"in x f32 2,4,2\nconst n i64 - = 0\nDFT x,n -> y\nout y", "a transform of 0 elements"},
        {"in x f32 2,4\nconst s i64 - = 1\nconst w f32 5\nSTFT x,s,w -> y\nout y",
         "in frames of 5"},
        {"in x f32 2,4\nconst s i64 - = 1\nSTFT x,s -> y\nout y", "frames of 0 elements"},
        {"in x f32 2,4,2\nconst u f32 2,5,2\nTensorScatter x,u -> y\nout y", "an update of rank 3"},
        {"in x f32 1,1,2\nin i i64 1,1,3\nMaxUnpool x,i -> y kernel_shape=[2]\nout y",
         "do not fit the input"},
        {"in x f32 1,1,2\nin i i64 1,1,2\nMaxUnpool x,i -> y kernel_shape=[2,2]\nout y",
         "a kernel of 2 axes"},
        /* numbers near the ends of int64 */
        {"in x f32 2,4\nconst s i64 2 = 1 -9223372036854775808\nCenterCropPad x,s -> y\nout y",
         "extent -9223372036854775808"},
        {"in x f32 2,3,4\nconst s i64 5 = 2 1 2 9223372036854775807 9\nAffineGrid x,s -> y\nout y",
         "more than 2^20 places"},
        {"in x f32 2,4,2\nconst n i64 - = 9223372036854775807\nDFT x,n -> y\nout y",
         "a transform of 9223372036854775807 elements"},
        {"in x f32 1,1,2\nin i i64 1,1,2\nMaxUnpool x,i -> y kernel_shape=[2] "
         "strides=[2147483648]\nout y",
         "2147483650 elements along axis 2"},
        {"in x f32 1,1,2\nin i i64 1,1,2\nconst s i64 3 = 1 1 -9223372036854775808\n"
         "MaxUnpool x,i,s -> y kernel_shape=[2]\nout y",
         "do not fit the input"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const bool unsupported = strstr(bad[i].part, "support") ||
                                 strstr(bad[i].part, "transform") || strstr(bad[i].part, "2^20");
        onnx_form_refused(20, bad[i].text, unsupported ? ASSAY_ERR_UNSUPPORTED : ASSAY_ERR_INPUT,
                          bad[i].part);
    }
}

static void sequences_are_refused(void **state)
{
    static const struct {
        const char *text, *part;
        assay_status status;
    } bad[] = {
        {"in x f32 2,4\nSequenceConstruct x,_ -> s\nSequenceLength s -> y\nout y",
         "input 1 is missing", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nSplitToSequence x -> s\nRelu s -> y\nout y", "'s' is a sequence",
         ASSAY_ERR_UNSUPPORTED},
        {"in x f32 2,4\nSplitToSequence x -> y\nout y", "a sequence as output of the network",
         ASSAY_ERR_UNSUPPORTED},
        {"in x f32 2,4\nSplitToSequence x -> s\nIdentity s -> y\nout y", "is a sequence",
         ASSAY_ERR_UNSUPPORTED},
        {"in x f32 2,4\nSplitToSequence x -> s\nSequenceConstruct s,x -> t\n"
         "SequenceLength t -> y\nout y",
         "input 's' is a sequence, expected a tensor", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nconst i i64 - = 0\nSequenceAt x,i -> y\nout y", "input 'x' is no sequence",
         ASSAY_ERR_INPUT},
        {"in x f32 2,4\nconst i i64 - = 2\nSplitToSequence x -> s\nSequenceAt s,i -> y\nout y",
         "position 2 in a sequence of 2 tensors", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nconst i i64 - = -3\nSplitToSequence x -> s\nSequenceErase s,i -> t\n"
         "SequenceLength t -> y\nout y",
         "position -3 in a sequence of 2", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nin i i64 -\nSplitToSequence x -> s\nSequenceAt s,i -> y\nout y",
         "position ('i') is not known at import", ASSAY_ERR_UNSUPPORTED},
        {"in x f32 2,4\nSequenceEmpty - -> e\nSequenceErase e -> t\nSequenceLength t -> y\nout y",
         "position -1 in a sequence of 0", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nSequenceEmpty - -> e\nConcatFromSequence e -> y axis=0\nout y",
         "the sequence is empty", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nSplitToSequence x -> s\nConcatFromSequence s -> y\nout y",
         "its 'axis' is missing", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nconst z i64 2 = 1 4\nSplitToSequence x,z -> s axis=1\n"
         "SequenceLength s -> y\nout y",
         "part 1 has size 4 of an axis of 4", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nconst z i64 2 = 1 2\nSplitToSequence x,z -> s axis=1\n"
         "SequenceLength s -> y\nout y",
         "the parts hold 3 of the axis's 4", ASSAY_ERR_INPUT},
        {"in x f32 2,4\nconst z i64 - = 0\nSplitToSequence x,z -> s\nSequenceLength s -> y\nout y",
         "parts of 0 elements", ASSAY_ERR_INPUT},
        {"in x f32 70000,1\nSplitToSequence x -> s\nSequenceLength s -> y\nout y",
         "a sequence of 70000 tensors", ASSAY_ERR_UNSUPPORTED},
        {"in x f32 2,4\nin w f32 3,4\nSplitToSequence x -> s\nSplitToSequence w -> t\n"
         "SequenceMap s,t -> m body={graph in p f32 1,4; in q f32 1,4; Add p,q -> r; out r}\n"
         "SequenceLength m -> y\nout y",
         "sequences of 2 and 3 tensors", ASSAY_ERR_INPUT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        onnx_form_refused(20, bad[i].text, bad[i].status, bad[i].part);
}

/* A window of more keys than there are hides none. */
static void window_of_all(void **state)
{
    static const char *const windows[] = {"", " left_window_size=9223372036854775807",
                                          " right_window_size=9223372036854775807"};
    const float x[4] = {1, -2, 0.5F, 3};
    float out[sizeof windows / sizeof *windows][4];
    const void *in = x;
    assay_error err;
    (void)state;
    for (int i = 0; i < (int)(sizeof windows / sizeof *windows); i++) {
        char text[200];
        void *to = out[i];
        snprintf(text, sizeof text, "in x f32 1,1,2,2\nAttention x,x,x -> y%s\nout y", windows[i]);
        assay_graph *g = onnx_form_import(24, text, NULL);
        assert_ok(run_whole_graph(g, NULL, &in, &to, &err), &err);
        assay_graph_free(g);
        assert_memory_equal(out[i], out[0], sizeof out[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_specified),
        cmocka_unit_test(refused),
        cmocka_unit_test(sequences_are_refused),
        cmocka_unit_test(window_of_all),
    };
    return cmocka_run_group_tests_name("onnx_made", tests, NULL, NULL);
}
