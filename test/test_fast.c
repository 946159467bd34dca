/* The fast engine against the reference: engine `both` compares every element of every node it
 * takes, codes and accumulators, on every instruction set that the machine has. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/nets.h"
#include "interp/fast/fast.h"
#include "interp/program.h"
#include "schemes/scheme.h"

typedef struct tally {
    int taken, left, refused;
} tally;

static assay_qparams params(size_t count, const float *scale, const int32_t *zero)
{
    return (assay_qparams){count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, 0, 0, count, scale, zero};
}

static int32_t draw_code(test_rng *r, assay_elem e)
{
    return (int32_t)test_between(r, assay_elem_min(e), assay_elem_max(e));
}

/* Codes at random, sometimes all at the ends of the range. */
static void fill(test_rng *r, const assay_type *t, void *data)
{
    bool extreme = test_between(r, 0, 3) == 0;
    for (int64_t i = 0; i < assay_shape_count(t); i++)
        assay_elem_set(t->elem, data, (size_t)i,
                       !extreme                ? draw_code(r, t->elem)
                       : test_between(r, 0, 7) ? assay_elem_min(t->elem)
                                               : assay_elem_max(t->elem));
}

typedef struct network {
    assay_graph *graph;
    int in[3], n_in;
} network;

static network begin(void)
{
    network n = {0};
    assay_error err;
    assert_ok(assay_graph_new("n", &n.graph, &err), &err);
    return n;
}

static void add_input(network *n, const assay_type *t)
{
    char name[8];
    assay_error err;
    snprintf(name, sizeof name, "x%d", n->n_in);
    assert_ok(assay_graph_add_value(n->graph, name, t, &n->in[n->n_in++], &err), &err);
}

static void add_constant(network *n, const assay_type *t, test_rng *r)
{
    char name[8];
    assay_error err;
    int *id = &n->in[n->n_in];
    snprintf(name, sizeof name, "x%d", n->n_in++);
    assert_ok(assay_graph_add_constant(n->graph, name, t, NULL, id, &err), &err);
    fill(r, t, (void *)(uintptr_t)n->graph->value[*id].data);
}

static void add_bias(network *n, int64_t outputs, test_rng *r)
{
    assay_type t = {.elem = assay_int(32, true), .rank = 1, .dim = {outputs}};
    add_constant(n, &t, r);
    int32_t *data = (int32_t *)(uintptr_t)n->graph->value[n->in[n->n_in - 1]].data;
    for (int64_t i = 0; i < outputs; i++)
        data[i] >>= test_between(r, 0, 3) ? 16 : 1;
}

/* The node, with an output of element kind and parameters of y. */
static void finish(network *n, assay_op op, const assay_attrs *a, const assay_type *y, test_rng *r)
{
    const char *name = "y";
    int id;
    assay_error err;
    assert_ok(
        assay_graph_add_inferred(n->graph, op, "node", n->in, n->n_in, &name, 1, a, &id, &err),
        &err);
    if (n->graph->value[id].type.elem.kind == ASSAY_KIND_INT) {
        n->graph->value[id].type.elem = y->elem;
        assert_ok(assay_graph_set_qparams(n->graph, id, &y->q, &err), &err);
    }
    if (test_between(r, 0, 2) == 0) {
        n->graph->node[0].act_lo = 0;
        n->graph->node[0].act_hi = 6;
    }
    int inputs[3], count = 0;
    for (int i = 0; i < n->n_in; i++)
        if (!n->graph->value[n->in[i]].data)
            inputs[count++] = n->in[i];
    assert_ok(assay_graph_set_inputs(n->graph, inputs, count, &err), &err);
    assert_ok(assay_graph_set_outputs(n->graph, &id, 1, &err), &err);
}

static void fill_inputs(const assay_graph *g, assay_run *run, test_rng r)
{
    for (int i = 0; i < g->n_inputs; i++)
        fill(&r, &g->value[g->input[i]].type, assay_run_data(run, g->input[i]));
}

/* Runs under engine `both` on every instruction set, then `fast` alone against `ref` alone. */
static void check(const network *n, const assay_scheme *s, test_rng *r, tally *t)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    assay_error err;
    assay_program *ref;
    assay_run *want;
    test_rng input = {test_random(r)};
    if (assay_program_make(n->graph, s, false, &ref, &err) != ASSAY_OK) {
        t->refused++; /* the scheme has no such node */
        return;
    }
    assert_ok(assay_run_new(ref, &want, &err), &err);
    fill_inputs(n->graph, want, input);
    bool runs = assay_run_execute(want, NULL, false, NULL, &err) == ASSAY_OK; /* false: it traps */
    for (int i = 0; i < 6; i++) {
        assay_program_options o = {
            .engine = ASSAY_ENGINE_BOTH, .isa = isas[i / 2], .threads = 1 + i % 2};
        const assay_isa_kernels *k;
        if (assay_isa_choose(o.isa, &k, &err) != ASSAY_OK)
            continue;
        for (int fast = 0; fast < 2; fast++) {
            assay_program *p;
            assay_run *run;
            o.engine = fast ? ASSAY_ENGINE_FAST : ASSAY_ENGINE_BOTH;
            assert_ok(assay_program_make_with(n->graph, s, &o, &p, &err), &err);
            assert_ok(assay_run_new(p, &run, &err), &err);
            fill_inputs(n->graph, run, input);
            assay_status status = assay_run_execute(run, NULL, !fast, NULL, &err);
            if (runs)
                assert_ok(status, &err);
            else
                assert_int_equal(status, ASSAY_ERR_SCHEME);
            int y = n->graph->output[0];
            if (runs && memcmp(assay_run_data(run, y), assay_run_data(want, y),
                               assay_type_bytes(&n->graph->value[y].type)) != 0)
                fail_msg("%s, %s: engine %s differs from ref", s->name, o.isa,
                         fast ? "fast" : "both");
            t->taken += p->fast[0] != NULL;
            t->left += p->fast[0] == NULL;
            assay_run_free(run);
            assay_program_free(p);
        }
    }
    assay_run_free(want);
    assay_program_free(ref);
}

/* ---- types ---- */

static float scales[256];
static int32_t zeros[256];
static float x_scale = 0.05f, y_scale;
static int32_t x_zero, y_zero;

static assay_type activation(test_rng *r, int rank, const int64_t *dim)
{
    static const assay_elem kinds[] = {{ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 16, true}, {ASSAY_KIND_INT, 4, true}};
    assay_type t = {.elem = kinds[test_between(r, 0, 5)], .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    x_zero = t.elem.bits == 16 || test_between(r, 0, 3) == 0 ? 0 : draw_code(r, t.elem);
    t.q = params(1, &x_scale, &x_zero);
    return t;
}

static assay_type weights(test_rng *r, int rank, const int64_t *dim)
{
    static const assay_elem kinds[] = {{ASSAY_KIND_INT, 8, true},
                                       {ASSAY_KIND_INT, 8, true},
                                       {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 4, true}};
    assay_type t = {.elem = kinds[test_between(r, 0, 3)], .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    bool by_channel = test_between(r, 0, 1) && dim[0] > 1 && dim[0] <= 256;
    bool centred = test_between(r, 0, 2) == 0;
    for (int i = 0; i < 256; i++) {
        scales[i] = (float)ldexp(1 + test_unit(r), (int)test_between(r, -9, -7));
        zeros[i] = centred ? draw_code(r, t.elem) : 0;
        if (!t.elem.is_signed && !centred)
            zeros[i] = 128;
    }
    t.q = params(by_channel ? (size_t)dim[0] : 1, scales, zeros);
    return t;
}

/* An output whose codes spread over the range for sums of `depth` products. */
static assay_type output(test_rng *r, int64_t depth)
{
    assay_type t = {.elem = assay_int(test_between(r, 0, 7) ? 8 : 16, test_between(r, 0, 1))};
    y_scale =
        (float)(x_scale * scales[0] * sqrt((double)depth) * ldexp(1, (int)test_between(r, 3, 8)));
    y_zero = t.elem.bits == 16 ? 0 : draw_code(r, t.elem);
    t.q = params(1, &y_scale, &y_zero);
    return t;
}

/* ---- weighted ops ---- */

static void put(assay_list *l, int spatial, test_rng *r, int64_t lo, int64_t hi)
{
    l->n = spatial;
    for (int i = 0; i < spatial; i++)
        l->v[i] = test_between(r, lo, hi);
}

static int shape(int64_t *dim, bool nhwc, int64_t a, int64_t b, int spatial, const int64_t *extent)
{
    int rank = 0;
    dim[rank++] = a;
    if (!nhwc)
        dim[rank++] = b;
    for (int i = 0; i < spatial; i++)
        dim[rank++] = extent[i];
    if (nhwc)
        dim[rank++] = b;
    return rank;
}

static void check_conv(const assay_scheme *s, test_rng *r, tally *t)
{
    network n = begin();
    assay_attrs a;
    int spatial = (int)test_between(r, 1, 3);
    bool nhwc = test_between(r, 0, 1);
    int64_t dim[6], extent[3], group = 1, c = test_between(r, 1, 40), o = test_between(r, 1, 70);
    if (test_between(r, 0, 2) == 0) {
        group = test_between(r, 2, 5);
        c = group * test_between(r, 1, 6);
        o = group * test_between(r, 1, 20);
    } else if (test_between(r, 0, 2) == 0) {
        group = c = o = test_between(r, 2, 140);
    }
    assay_attrs_defaults(ASSAY_ATTRS_conv, &a);
    a.conv.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    a.conv.group = group;
    put(&a.conv.kernel, spatial, r, 1, spatial == 3 ? 2 : 4);
    put(&a.conv.stride, spatial, r, 1, 3);
    put(&a.conv.dilation, spatial, r, 1, test_between(r, 0, 1) ? 1 : 2);
    put(&a.conv.pad_begin, spatial, r, 0, 0);
    put(&a.conv.pad_end, spatial, r, 0, 0);
    int64_t cells = 1;
    for (int i = 0; i < spatial; i++) {
        int64_t reach = (a.conv.kernel.v[i] - 1) * a.conv.dilation.v[i];
        if (test_between(r, 0, 1)) {
            a.conv.pad_begin.v[i] = test_between(r, 0, reach);
            a.conv.pad_end.v[i] = test_between(r, 0, reach);
        }
        extent[i] = test_between(r, reach + 1, reach + (spatial == 1 ? 40 : spatial == 2 ? 9 : 4));
        cells *= a.conv.kernel.v[i];
    }
    int rank = shape(dim, nhwc, test_between(r, 1, 2), c, spatial, extent);
    assay_type x = activation(r, rank, dim);
    shape(dim, nhwc, o, c / group, spatial, a.conv.kernel.v);
    assay_type w = weights(r, rank, dim), y = output(r, c / group * cells);
    add_input(&n, &x);
    add_constant(&n, &w, r);
    if (test_between(r, 0, 3))
        add_bias(&n, o, r);
    finish(&n, ASSAY_OP_CONV, &a, &y, r);
    check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_matrix(const assay_scheme *s, test_rng *r, tally *t)
{
    network n = begin();
    assay_attrs a;
    bool matmul = test_between(r, 0, 1), constant = test_between(r, 0, 3) > 0;
    int64_t k = test_between(r, 1, 200), o = test_between(r, 1, 100);
    assay_attrs_defaults(ASSAY_ATTRS_matmul, &a);
    a.matmul.transpose_b = test_between(r, 0, 1);
    assay_type x = activation(r, 3, (int64_t[]){test_between(r, 1, 2), test_between(r, 1, 30), k});
    bool columns = matmul && !a.matmul.transpose_b;
    assay_type w = weights(r, 2, columns ? (int64_t[]){k, o} : (int64_t[]){o, k});
    if (matmul)
        w.q = params(1, scales, zeros);
    assay_type y = output(r, k);
    add_input(&n, &x);
    if (constant || !matmul)
        add_constant(&n, &w, r);
    else
        add_input(&n, &w);
    if (!matmul && test_between(r, 0, 1))
        add_bias(&n, o, r);
    finish(&n, matmul ? ASSAY_OP_MATMUL : ASSAY_OP_FC, matmul ? &a : NULL, &y, r);
    check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* ---- others ---- */

static void check_pool(const assay_scheme *s, test_rng *r, tally *t)
{
    network n = begin();
    assay_attrs a;
    bool nhwc = test_between(r, 0, 1), global = test_between(r, 0, 3) == 0;
    int spatial = (int)test_between(r, 1, 3);
    int64_t dim[6], extent[3] = {1, 1, 1};
    assay_op op = global                  ? ASSAY_OP_GLOBAL_AVG_POOL
                  : test_between(r, 0, 1) ? ASSAY_OP_MAX_POOL
                                          : ASSAY_OP_AVG_POOL;
    if (global) {
        assay_attrs_defaults(ASSAY_ATTRS_layout, &a);
        a.layout.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
    } else {
        assay_attrs_defaults(ASSAY_ATTRS_pool, &a);
        a.pool.layout = nhwc ? ASSAY_LAYOUT_NHWC : ASSAY_LAYOUT_NCHW;
        a.pool.count_include_pad = test_between(r, 0, 1);
        put(&a.pool.kernel, spatial, r, 1, 3);
        put(&a.pool.stride, spatial, r, 1, 3);
        put(&a.pool.dilation, spatial, r, 1, 1);
        put(&a.pool.pad_begin, spatial, r, 0, 0);
        put(&a.pool.pad_end, spatial, r, 0, 0);
        for (int i = 0; i < spatial; i++)
            a.pool.pad_begin.v[i] = test_between(r, 0, a.pool.kernel.v[i] - 1);
    }
    for (int i = 0; i < spatial; i++)
        extent[i] = test_between(r, 3, spatial == 1 ? 40 : 9);
    int rank = shape(dim, nhwc, test_between(r, 1, 2), test_between(r, 1, 40), spatial, extent);
    assay_type x = activation(r, rank, dim), y = x;
    if (test_between(r, 0, 1)) {
        y_scale = 0.07f;
        y_zero = draw_code(r, y.elem);
        y.q = params(1, &y_scale, &y_zero);
    }
    add_input(&n, &x);
    finish(&n, op, &a, &y, r);
    check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_element_wise(const assay_scheme *s, test_rng *r, tally *t)
{
    static const assay_op binary[] = {ASSAY_OP_ADD, ASSAY_OP_SUB, ASSAY_OP_MUL, ASSAY_OP_MAX,
                                      ASSAY_OP_LESS};
    static const assay_op unary[] = {ASSAY_OP_RELU, ASSAY_OP_SIGMOID, ASSAY_OP_HARD_SWISH,
                                     ASSAY_OP_EXP};
    network n = begin();
    bool two = test_between(r, 0, 1);
    assay_op op = two ? binary[test_between(r, 0, 4)] : unary[test_between(r, 0, 3)];
    assay_attrs a;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    assay_type x = activation(
        r, 3, (int64_t[]){two ? 260 : 3, test_between(r, 1, two ? 2 : 300), two ? 255 : 5});
    assay_type b = x, y = x;
    if (two)
        x.dim[1] = 1;
    if (two && test_between(r, 0, 1))
        b.dim[2] = 1;
    y_scale = 0.03f;
    y_zero = draw_code(r, y.elem);
    y.q = params(1, &y_scale, &y_zero);
    add_input(&n, &x);
    if (two)
        add_input(&n, &b);
    finish(&n, op, &a, &y, r);
    check(&n, s, r, t);
    assay_graph_free(n.graph);
}

static void check_add(const assay_scheme *s, test_rng *r, tally *t)
{
    network n = begin();
    assay_attrs a;
    assay_op op = test_between(r, 0, 2) ? ASSAY_OP_ADD : ASSAY_OP_SUB;
    assay_attrs_defaults(assay_op_get(op)->attrs, &a);
    assay_type x = activation(r, 1, (int64_t[]){test_between(r, 1, 3000)}), b = x, y = x;
    static float b_scale;
    static int32_t b_zero;
    b_scale = (float)(0.05 * ldexp(1 + test_unit(r), (int)test_between(r, -4, 2)));
    b_zero = draw_code(r, x.elem);
    y_scale = (float)(0.05 * ldexp(1 + test_unit(r), (int)test_between(r, -3, 3)));
    y_zero = draw_code(r, x.elem);
    b.q = params(1, &b_scale, &b_zero);
    y.q = params(1, &y_scale, &y_zero);
    add_input(&n, &x);
    add_input(&n, &b);
    finish(&n, op, &a, &y, r);
    check(&n, s, r, t);
    assay_graph_free(n.graph);
}

/* A quarter of the cases of each preset is another op; shapes differ from preset to preset. */
static void test_presets(void **state)
{
    test_rng r = test_seed("fast engine", 1);
    tally all = {0};
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        tally t = {0};
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        for (int i = 0; i < 6; i++) {
            check_conv(s, &r, &t);
            check_conv(s, &r, &t);
            check_matrix(s, &r, &t);
            check_pool(s, &r, &t);
            check_add(s, &r, &t);
        }
        check_element_wise(s, &r, &t);
        print_message("# %s: %d runs taken, %d left to ref, %d cases refused\n", *name, t.taken,
                      t.left, t.refused);
        all.taken += t.taken;
        all.left += t.left;
        assay_scheme_free(s);
    }
    assert_true(all.taken > 2 * all.left);
}

/* Accumulators whose policy or order matters: saturating, trapping, narrow, in lanes. */
static void test_policies(void **state)
{
    static const char *const rules[] = {
        "bits: 16\n  overflow: saturate-each-step",
        "bits: 20\n  overflow: trap",
        "bits: 18\n  overflow: wrap",
        "bits: 24\n  overflow: saturate-at-end",
        "bits: 16\n  overflow: saturate-each-step\n  order: lanes\n  lanes: 4",
        "saturate_pairs: yes"};
    test_rng r = test_seed("policies", 2);
    (void)state;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        char text[256];
        assay_scheme *s;
        assay_error err;
        tally t = {0};
        snprintf(text, sizeof text, "scheme: t\naccumulator:\n  %s\n", rules[k]);
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        for (int i = 0; i < 20; i++) {
            check_conv(s, &r, &t);
            check_matrix(s, &r, &t);
        }
        assert_true(t.left > 0);
        assay_scheme_free(s);
    }
}

/* Whole networks, first with every value in its place, then with values stored as the engine likes.
 */
static void check_whole(const char *scheme, const assay_graph *g, test_rng *r)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    assay_scheme *s;
    assay_program *ref;
    assay_run *want;
    assay_error err;
    const test_rng input = {test_random(r)};
    const int y = g->output[0];
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    assert_ok(assay_program_make(g, s, false, &ref, &err), &err);
    assert_ok(assay_run_new(ref, &want, &err), &err);
    fill_inputs(g, want, input);
    assert_ok(assay_run_execute(want, NULL, false, NULL, &err), &err);
    for (int i = 0; i < 6; i++) {
        const assay_program_options o = {.engine = ASSAY_ENGINE_FAST,
                                         .isa = isas[i / 2],
                                         .outputs_only = i % 2,
                                         .threads = 1 + i % 2};
        const assay_isa_kernels *k;
        assay_program *p;
        assay_run *run;
        if (assay_isa_choose(o.isa, &k, &err) != ASSAY_OK)
            continue;
        assert_ok(assay_program_make_with(g, s, &o, &p, &err), &err);
        assert_ok(assay_run_new(p, &run, &err), &err);
        fill_inputs(g, run, input);
        assert_ok(assay_run_execute(run, NULL, false, NULL, &err), &err);
        assert_memory_equal(assay_run_data(run, y), assay_run_data(want, y),
                            assay_type_bytes(&g->value[y].type));
        assay_run_free(run);
        assay_program_free(p);
    }
    assay_run_free(want);
    assay_program_free(ref);
    assay_scheme_free(s);
}

static void test_whole_networks(void **state)
{
    static const struct {
        const char *scheme;
        int layout;
        bool is_signed;
    } cases[] = {{"onnxruntime", ASSAY_LAYOUT_NCHW, false},
                 {"tflite", ASSAY_LAYOUT_NHWC, true},
                 {"tflite-single", ASSAY_LAYOUT_NCHW, true}};
    test_rng r = test_seed("networks", 4);
    (void)state;
    for (int i = 0; i < 3; i++) {
        bench_form f = {cases[i].layout, cases[i].is_signed, 2};
        assay_graph *g;
        assay_error err;
        assert_ok(bench_ds_cnn(&f, &g, &err), &err);
        check_whole(cases[i].scheme, g, &r);
        assay_graph_free(g);
        f.batch = 1;
        assert_ok(bench_residual(&f, &g, &err), &err);
        check_whole(cases[i].scheme, g, &r);
        assay_graph_free(g);
    }
}

static void test_isa_names(void **state)
{
    const assay_isa_kernels *k;
    assay_error err;
    (void)state;
    assert_ok(assay_isa_choose("portable", &k, &err), &err);
    assert_string_equal(k->name, "portable");
    assert_refused(assay_isa_choose("sse9", &k, &err), &err, "found 'sse9'");
}

/* What `both` says of a difference. */
static assay_status wrong(const assay_fast *f, assay_call *call, assay_error *err)
{
    (void)f;
    (void)err;
    uint8_t *y = call->out[0].data;
    for (int i = 0; i < 6; i++)
        y[i] = i == 4 ? 9 : 0;
    return ASSAY_OK;
}

static void test_both_names_the_element(void **state)
{
    test_rng r = test_seed("both", 3);
    network n = begin();
    assay_attrs a;
    assay_scheme *s;
    assay_program *p;
    assay_run *run;
    assay_error err;
    float scale = 1;
    int32_t zero = 0;
    (void)state;
    assay_type x = {
        .elem = assay_int(8, true), .rank = 2, .dim = {2, 3}, .q = params(1, &scale, &zero)};
    assay_attrs_defaults(assay_op_get(ASSAY_OP_RELU)->attrs, &a);
    add_input(&n, &x);
    finish(&n, ASSAY_OP_RELU, &a, &x, &r);
    n.graph->node[0].act_lo = -INFINITY;
    n.graph->node[0].act_hi = INFINITY;
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    const assay_program_options o = {.engine = ASSAY_ENGINE_BOTH};
    assert_ok(assay_program_make_with(n.graph, s, &o, &p, &err), &err);
    assert_non_null(p->fast[0]);
    p->fast[0]->run = wrong;
    assert_ok(assay_run_new(p, &run, &err), &err);
    assert_refused(assay_run_execute(run, NULL, false, NULL, &err), &err,
                   "the code of 'y' at [1,1] is 0 by the reference, 9 by the fast engine");
    assay_run_free(run);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(n.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets), cmocka_unit_test(test_policies),
        cmocka_unit_test(test_whole_networks), cmocka_unit_test(test_isa_names),
        cmocka_unit_test(test_both_names_the_element)};
    return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
