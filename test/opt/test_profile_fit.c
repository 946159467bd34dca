/* A profile serves other forms of its network: a layer as convolution or fully connected, and nodes
 * that were added. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/core/digest.h"
#include "graph/onnx/onnx.h"
#include "graph/text/text.h"
#include "interp/kernel/kernel.h"
#include "interp/run/evaluate.h"
#include "interp/run/model.h"
#include "interp/run/program.h"
#include "opt/lower/opt.h"
#include "opt/profile/state.h"
#include "opt/quantize/quantize.h"
#include "test/support/net.h"
#include "test/support/onnx_build.h"

/* x[1,4,1,1] through weights [3,4], as a 1x1 convolution and a reshape ("q" -> "y") or as a reshape
 * and a fully-connected layer ("f" -> "y"); with `aside` a branch from y as well. */
static assay_graph *head(bool conv, bool aside)
{
    test_rng rng = {5};
    const assay_attrs group = {.conv = {.group = 1}},
                      flat = {.shape = {.shape = {2, {1, conv ? 3 : 4}}}};
    assay_graph *g = net_new();
    assay_error err;
    int x = net_input(g, "x", NET_SHAPE(1, 4, 1, 1)), y;
    int w = conv ? net_constant(g, &rng, "W", -1, 1, NET_SHAPE(3, 4, 1, 1))
                 : net_constant(g, &rng, "W", -1, 1, NET_SHAPE(3, 4));
    int b = net_constant(g, &rng, "b", -1, 1, NET_SHAPE(3));
    if (conv) {
        y = net_node(g, ASSAY_OP_CONV, "q", &group, x, w, b, -2);
        y = net_node(g, ASSAY_OP_RESHAPE, "y", &flat, y, -2);
    } else {
        y = net_node(g, ASSAY_OP_RESHAPE, "f", &flat, x, -2);
        y = net_node(g, ASSAY_OP_FC, "y", NULL, y, w, b, -2);
    }
    net_output(g, y);
    if (aside)
        net_output(g, net_node(g, ASSAY_OP_TANH, "t", NULL, y, -2));
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    return g;
}

static assay_profile *profile_of(const assay_graph *g)
{
    test_rng rng = {9};
    assay_profile *p;
    assay_error err;
    assert_ok(profile_new(g, &p, &err), &err);
    for (uint64_t i = 0; i < 20; i++) {
        assay_graph *copy;
        float *x = net_random_input(&rng, g, 0);
        float *z = g->n_inputs > 1 ? net_random_input(&rng, g, 1) : NULL;
        assert_ok(assay_graph_clone(g, &copy, &err), &err);
        net_run(copy, (const float *const[]){x, z});
        for (int v = 0; v < g->n_values; v++)
            profile_observe(p, v, copy->value[v].data,
                            (size_t)assay_shape_count(&g->value[v].type));
        assert_ok(profile_add_sample(p, i, &err), &err);
        assay_graph_free(copy);
        free(x);
        free(z);
    }
    return p;
}

/* The integer network as text; free it. */
static char *quantized(const assay_graph *g, const assay_profile *p, assay_quantize_report *report)
{
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assay_scheme *s;
    assay_graph *q;
    assay_error err;
    assay_buf text = {0};
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(quantize_network(g, p, s, &options, &q, report, &err), &err);
    assert_ok(text_graph_print(q, NULL, &text, &err), &err);
    assay_graph_free(q);
    assay_scheme_free(s);
    return text.text;
}

static void test_convolution_or_fully_connected(void **state)
{
    (void)state;
    for (int conv = 0; conv < 2; conv++) {
        assay_graph *g = head(conv, false), *other = head(!conv, false);
        assay_profile *own = profile_of(g), *others = profile_of(other);
        assay_quantize_report report[2];
        char *expected = quantized(g, own, &report[0]), *text = quantized(g, others, &report[1]);
        assert_string_equal(text, expected);
        assert_int_equal(report[1].n_float, 0);
        for (int i = 0; i < 2; i++)
            quantize_report_free(&report[i]);
        free(expected);
        free(text);
        profile_free(own);
        profile_free(others);
        assay_graph_free(g);
        assay_graph_free(other);
    }
}

/* A sum of digests of elements, which older versions wrote of a constant with all its copies. */
static uint64_t older_lineage(const float *element, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= n; i++) {
        uint32_t bits = 0;
        uint64_t x = sum;
        if (i < n) {
            memcpy(&bits, &element[i], sizeof bits);
            x = (uint64_t)bits + UINT64_C(0x9e3779b97f4a7c15);
        }
        x = (x ^ (x >> 33)) * UINT64_C(0xff51afd7ed558ccd);
        x = (x ^ (x >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
        x ^= x >> 33;
        sum = i < n ? sum + x : x;
    }
    return sum;
}

/* Of a constant that is four copies of two elements these count once today; profiles that count one
 * of two equal rows, or every row, serve as well, and those of other weights do not. */
static void test_older_lineage(void **state)
{
    static const float rows[2][4] = {{0.5f, -1, 0.5f, -1}, {0.5f, -1, 0.5f, -1}};
    assay_graph *g = net_new();
    assay_error err;
    int w;
    (void)state;
    const assay_type type = {.elem = assay_f32(), .rank = 2, .dim = {2, 4}};
    const int x = net_input(g, "x", NET_SHAPE(2, 4));
    assert_ok(assay_graph_add_constant(g, "token", &type, rows, &w, &err), &err);
    net_output(g, net_node(g, ASSAY_OP_ADD, "y", NULL, x, w, -2));
    assay_profile *p = profile_of(g);
    const uint64_t older[] = {older_lineage(rows[0], 4), older_lineage(rows[0], 8)};
    const uint64_t once = older_lineage(rows[0], 2);
    assay_profile_entry *y = NULL;
    for (int i = 0; i < p->n_entries; i++)
        if (strcmp(p->entry[i].name, "y") == 0)
            y = &p->entry[i];
    assert_true(y->lineage == once && once != older[0] && once != older[1]);
    for (size_t i = 0; i < 2; i++) {
        y->lineage = older[i];
        assert_ok(profile_check(p, g, &err), &err);
    }
    y->lineage = older[0] + 1;
    assert_refused(profile_check(p, g, &err), &err, "other weights: 'y'");
    profile_free(p);
    assay_graph_free(g);
}

/* What was added has no ranges: it stays in float, with the reason, even behind another lowering.
 */
static void test_nodes_added(void **state)
{
    (void)state;
    for (int conv = 0; conv < 2; conv++) {
        assay_graph *profiled = head(conv, false), *g = head(true, true);
        assay_profile *p = profile_of(profiled);
        assay_quantize_report report;
        char *text = quantized(g, p, &report);
        assert_int_equal(report.n_float, 1);
        assert_string_equal(report.float_node[0].op, "tanh");
        assert_string_equal(report.float_node[0].reason, "the profile has no value 't'");
        quantize_report_free(&report);
        free(text);
        profile_free(p);
        assay_graph_free(profiled);
        assay_graph_free(g);
    }
}

/* A small vision transformer's beginning and end: patches, a class token expanded over the batch in
 * front of them, positions, a layer. */
#define VIT                                                                                        \
    "in x f32 N,1,8,8\nconst k f32 6,1,4,4\nConv x,k -> patches strides=[4,4]\n"                   \
    "Shape x -> xs\nconst zero i64 1 = 0\nGather xs,zero -> n\nconst rest i64 2 = 1 6\n"           \
    "Concat n,rest -> cs axis=0\nconst cls f32 1,1,6\nExpand cls,cs -> token\n"                    \
    "const flat i64 3 = 0 6 -1\nReshape patches,flat -> cells\n"                                   \
    "Transpose cells -> rows perm=[0,2,1]\nConcat token,rows -> all axis=1\n"                      \
    "const pos f32 1,5,6\nAdd all,pos -> placed\nconst w f32 6,4\n"
static const char vit[] = VIT "MatMul placed,w -> y\nout y";
/* The same, and the batch is another axis too. */
static const char transposed_vit[] =
    VIT "Transpose placed -> turned perm=[1,0,2]\nTranspose token -> first perm=[1,0,2]\n"
        "Concat first,turned -> twice axis=0\nMatMul twice,w -> y\nout y";

/* The same with copies that lie elsewhere: positions repeated in rows of all samples, a gain as a
 * list of one a sample, rows of another input that has no batch. */
static const char flat_vit[] =
    VIT "const ones i64 2 = 1 1\nConcat n,ones -> times axis=0\nconst shift f32 1,5,6\n"
        "Tile shift,times -> shifts\nconst row i64 2 = -1 6\nReshape shifts,row -> shift_rows\n"
        "Reshape placed,row -> placed_rows\nAdd placed_rows,shift_rows -> moved\n"
        "const gain f32 1\nExpand gain,n -> gains\nconst each i64 3 = -1 1 1\n"
        "Reshape gains,each -> gain_each\nconst cells5 i64 3 = -1 5 6\n"
        "Reshape moved,cells5 -> samples\nMul samples,gain_each -> scaled\n"
        "in z f32 1,1,6\nExpand z,cs -> zs\nConcat zs,scaled -> whole axis=1\n"
        "MatMul whole,w -> y\nout y";

static assay_graph *vit_of(const char *text, int64_t batch)
{
    const assay_onnx_options options = {.batch = batch};
    size_t length;
    void *bytes = onnx_build(13, text, &length);
    assay_graph *g;
    assay_error err;
    assert_ok(onnx_import_memory("vit", bytes, length, &options, &g, &err), &err);
    assert_ok(lower_canonicalize(g, run_evaluate_node, &err), &err);
    free(bytes);
    return g;
}

/* Copies that the batch makes of a weight are no other weights, wherever they lie. */
static void test_any_batch(void **state)
{
    static const char *const texts[] = {transposed_vit, flat_vit};
    static const int64_t batches[] = {1, 2, 7, 256};
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        assay_graph *g = vit_of(texts[k], 1);
        assay_profile *p = profile_of(g);
        assay_error err;
        for (size_t i = 0; i < sizeof batches / sizeof *batches; i++) {
            assay_graph *more = vit_of(texts[k], batches[i]);
            assert_ok(profile_check(p, more, &err), &err);
            assay_graph_free(more);
        }
        profile_free(p);
        assay_graph_free(g);
    }
}

enum { MOST_RESULTS = 24 };

/* Quantizes the network at a batch by the profile and runs it on one sample repeated; every sample
 * must give the same, of which y receives one. Returns how many numbers that are. */
static size_t run_batch(const char *text, const assay_profile *p, int64_t batch,
                        float y[MOST_RESULTS])
{
    const assay_quantize_options options = {.has_kernel = run_has_integer_kernel};
    assay_graph *g = vit_of(text, batch), *q;
    assay_quantize_report report;
    assay_scheme *s;
    assay_program *program;
    assay_run *run;
    assay_error err;
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(quantize_network(g, p, s, &options, &q, &report, &err), &err);
    assert_int_equal(report.n_float, 0);
    assert_true(run_model_is_quantized(q));
    assert_ok(assay_program_make(q, s, false, &program, &err), &err);
    assert_ok(assay_run_new(program, &run, &err), &err);
    for (int k = 0; k < q->n_inputs; k++) {
        const assay_type *t = &q->value[q->input[k]].type;
        const int64_t n = assay_shape_count(t), once = t->dim[0] == batch ? n / batch : n;
        float *x = assay_run_data(run, q->input[k]);
        for (int64_t i = 0; i < n; i++)
            x[i] = (float)(i % once * 7 % 13) / 6 - 1;
    }
    assert_ok(run_execute(run, NULL, false, NULL, &err), &err);
    const size_t n = (size_t)(assay_shape_count(&q->value[q->output[0]].type) / batch);
    const float *all = assay_run_data(run, q->output[0]);
    assert_in_range(n, 1, MOST_RESULTS);
    for (size_t i = 0; i < (size_t)batch; i++)
        assert_memory_equal(all + i * n, all, n * sizeof *all);
    memcpy(y, all, n * sizeof *all);
    assay_run_free(run);
    assay_program_free(program);
    quantize_report_free(&report);
    assay_graph_free(q);
    assay_graph_free(g);
    assay_scheme_free(s);
    return n;
}

/* A profile of one batch quantizes and runs any, to the same results. */
static void test_runs_at_any_batch(void **state)
{
    static const char *const texts[] = {vit, flat_vit};
    static const int64_t profiled[] = {1, 3}, batches[] = {1, 7, 256};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const char *text = texts[k / 2];
        assay_graph *g = vit_of(text, profiled[k % 2]);
        assay_profile *p = profile_of(g);
        float first[MOST_RESULTS], y[MOST_RESULTS];
        const size_t n = run_batch(text, p, batches[0], first);
        for (size_t i = 1; i < sizeof batches / sizeof *batches; i++) {
            assert_int_equal(run_batch(text, p, batches[i], y), n);
            assert_memory_equal(y, first, n * sizeof *y);
        }
        profile_free(p);
        assay_graph_free(g);
    }
}

/* Shards of one profile may be taken at different batches: the network is the same. */
static void test_digest_of_any_batch(void **state)
{
    static const char *const texts[] = {vit, transposed_vit, flat_vit};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assay_graph *g = vit_of(texts[i], 2), *more = vit_of(texts[i], 5);
        char digest[33], other[33];
        assay_error err;
        assert_ok(assay_graph_digest(g, digest, &err), &err);
        assert_ok(assay_graph_digest(more, other, &err), &err);
        assert_string_equal(other, digest);
        assay_graph_free(g);
        assay_graph_free(more);
    }
}

/* A weight that is another is still noticed, in what does not repeat and in one copy of what does.
 */
static void test_other_weights(void **state)
{
    static const char *const names[] = {"k", "pos", "token"};
    assay_graph *g = vit_of(transposed_vit, 3);
    assay_profile *p = profile_of(g);
    assay_error err;
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assay_graph *other;
        assert_ok(assay_graph_clone(g, &other, &err), &err);
        const int v = assay_graph_find_value(other, names[i]);
        assert_true(v >= 0 && other->value[v].data);
        ((float *)(uintptr_t)other->value[v].data)[1] += 0.5f;
        assert_int_equal(profile_check(p, other, &err), ASSAY_ERR_INPUT);
        assert_non_null(strstr(err.text, "other weights"));
        assay_graph_free(other);
    }
    profile_free(p);
    assay_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolution_or_fully_connected),
        cmocka_unit_test(test_nodes_added),
        cmocka_unit_test(test_any_batch),
        cmocka_unit_test(test_runs_at_any_batch),
        cmocka_unit_test(test_digest_of_any_batch),
        cmocka_unit_test(test_other_weights),
        cmocka_unit_test(test_older_lineage),
    };
    return cmocka_run_group_tests_name("profile_fit", tests, NULL, NULL);
}
