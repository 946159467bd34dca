/* Steps of nodes that kernels without a unit compute, followed to the element: floats, and the
 * places of greatest elements. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"
#include "interp/explain/explain.h"

static const char *text_of(const explain_trace *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->step[i].name, name) == 0)
            return t->step[i].text;
    return NULL;
}

typedef void (*check_fn)(const explain_trace *t, const assay_type *type, const void *y, int64_t i);

/* The last step that was told is the element, to the bit; of a code its two forms follow. */
static void check_told(const explain_trace *t, const assay_type *type, const void *y, int64_t i)
{
    char element[64];
    float f;
    uint32_t bits;
    assert_null(t->honest);
    if (t->is_float) {
        memcpy(&f, (const float *)y + i, sizeof f);
        memcpy(&bits, &f, sizeof bits);
        snprintf(element, sizeof element, "%.9g (0x%08x)", (double)f, bits);
    } else {
        snprintf(element, sizeof element, "%lld",
                 (long long)assay_elem_get(type->elem, y, (size_t)i));
    }
    assert_string_equal(t->step[t->n - 1].text, element);
    assert_string_equal(t->step[t->n - (t->is_float ? 2 : 4)].text, element);
}

/* The sum of products is the element, within what rounding may do. */
static void check_products(const explain_trace *t, const assay_type *type, const void *y, int64_t i)
{
    (void)type;
    assert_non_null(text_of(t, "sum"));
    assert_true(fabs(strtod(text_of(t, "sum"), NULL) - (double)((const float *)y)[i]) < 1e-4);
}

static void draw(test_rng *r, const assay_type *t, void *to)
{
    for (int64_t k = 0; k < assay_shape_count(t); k++)
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)to)[k] = (float)test_between(r, -1000, 1000) / 256;
        else
            assay_elem_set(t->elem, to, (size_t)k, test_between(r, -20, 20));
}

/* Every element of the last node. */
static void check_network(const assay_graph *g, test_rng *r, check_fn check)
{
    assay_program *p;
    assay_run *run;
    assay_error err = {0};
    const assay_node *n = &g->node[g->n_nodes - 1];
    const assay_type *type = &g->value[n->out[0]].type;
    const void *in[5] = {NULL};
    assert_ok(assay_program_make(g, NULL, true, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    for (int i = 0; i < g->n_inputs; i++)
        draw(r, &g->value[g->input[i]].type, assay_run_data(run, g->input[i]));
    assert_ok(assay_execute(run, &err), &err);
    for (int i = 0; i < n->n_in; i++)
        in[i] = assay_run_data(run, n->in[i]);
    for (int64_t i = 0; i < assay_shape_count(type); i++) {
        explain_trace t;
        assert_ok(explain_element(p, g->n_nodes - 1, in, i, &t, &err), &err);
        check(&t, type, assay_run_data(run, n->out[0]), i);
        explain_trace_free(&t);
    }
    assay_run_free(run);
    assay_program_free(p);
}

static assay_graph *graph_of(const char *body)
{
    char text[500];
    assay_graph *g;
    assay_error err = {0};
    snprintf(text, sizeof text, "graph g {\n%s\noutput y\n}\n", body);
    assert_ok(text_graph_parse(text, strlen(text), "a node of floats", NULL, &g, &err), &err);
    return g;
}

/* Four draws of each. */
static void check_networks(const char *const *body, size_t n, test_rng *r, check_fn check)
{
    for (size_t i = 0; i < 4 * n; i++) {
        assay_graph *g = graph_of(body[i % n]);
        check_network(g, r, check);
        assay_graph_free(g);
    }
}

static const char *const of_floats[] = {
    "input x: f32[3,40]\ny: f32[3,40] = softmax(x) {axis=1}",
    "input x: f32[3,7,4]\ny: f32[3,7,4] = softmax(x) {axis=1, beta=0.5}",
    "input x: f32[3,300]\ny: f32[3,300] = log_softmax(x) {axis=1}",
    "input x: f32[3,40]\ninput s: f32[40]\ninput b: f32[40]\n"
    "y: f32[3,40] = layer_norm(x, s, b) {axis=1, epsilon=1e-5}",
    "input x: f32[3,4,10]\ninput s: f32[4,10]\ny: f32[3,4,10] = layer_norm(x, s) {axis=1, "
    "epsilon=1e-5}",
    "input x: f32[6,5]\ninput s: f32[5]\ninput b: f32[5]\n"
    "y: f32[6,5] = layer_norm(x, s, b) {axis=1, epsilon=1e-5}",
    "input x: f32[6,50]\ny: f32[6,50] = l2_norm(x) {axis=1, epsilon=1e-6}",
    "input x: f32[2,3,4,5]\ninput s: f32[3]\ninput b: f32[3]\ninput m: f32[3]\n"
    "input v: f32[3]\nw: f32[3] = abs(v)\ny: f32[2,3,4,5] = batch_norm(x, s, b, m, w)",
    "input x: f32[2,7,3,5]\ny: f32[2,7,3,5] = lrn(x) {size=4, alpha=0.5, beta=0.75, bias=1}",
    "input x: f32[2,3,5,5]\ny: f32[2,3,3,3] = avg_pool(x) {kernel=[3,3], stride=[2,2], "
    "pad_begin=[1,1], pad_end=[1,1], count_include_pad=true}",
    "input x: f32[2,7,7,3]\ny: f32[2,7,7,3] = avg_pool(x) {kernel=[6,6], layout=nhwc, "
    "pad_begin=[2,3], pad_end=[3,2]}",
    "input x: f32[2,3,7,7]\ny: f32[2,3,1,1] = global_avg_pool(x)",
    "input x: f32[2,7,7,3]\ny: f32[2,1,1,3] = global_avg_pool(x) {layout=nhwc}",
    "input x: f32[4,6,5]\ny: f32[4,5] = reduce_mean(x) {axes=[1], keepdims=false}",
    "input x: f32[4,6,5]\ny: f32[4,6] = reduce_sum(x) {axes=[2], keepdims=false}",
    "input x: f32[4,6,5]\ny: f32[4,1,1] = reduce_prod(x) {axes=[1,2]}",
    "input x: f32[4,6,5]\ny: f32[4,1,5] = reduce_max(x) {axes=[1]}",
    "input x: f32[4,6,5]\ny: f32[4,1,5] = reduce_min(x) {axes=[1]}",
    "input x: f32[2,50,3]\ny: f32[2,50,3] = cumsum(x) {axis=1}",
    "input x: f32[5,40]\ny: f32[5,40] = cumsum(x) {axis=-1, exclusive=true}",
    "input x: f32[5,6]\ny: f32[5,6] = cumsum(x) {axis=0, exclusive=true, reverse=true}",
    "input x: f32[5,40]\ny: f32[5,40] = cumsum(x) {axis=1, reverse=true}",
    "input x: f32[2,4,3,3]\ninput w: f32[4,3,3,3]\ninput b: f32[6]\ny: f32[2,6,7,6] = "
    "conv_transpose(x, w, b) {group=2, stride=[2,2], pad_begin=[0,1]}",
    "input x: f32[1,3,4,4]\ninput w: f32[3,2,2,3]\ny: f32[1,2,9,8] = conv_transpose(x, w) "
    "{stride=[2,1], dilation=[2,2]} act[0,6]",
    "input x: f32[1,40,1,1]\ninput w: f32[40,2,2,2]\ny: f32[1,2,2,2] = conv_transpose(x, w)",
    "input x: f32[2,5,4]\ninput w: f32[5,3,3]\ny: f32[2,3,10] = conv_transpose(x, w) "
    "{stride=[3], pad_begin=[1], pad_end=[1]}",
    "input x: f32[2,3,4,5]\ninput w: f32[3,3,3,5]\ninput b: f32[3]\ny: f32[2,7,9,3] = "
    "conv_transpose(x, w, b) {layout=nhwc, stride=[2,2]}",
    "input x: f32[2,3,4,5]\ny: f32[2,3,7,8] = resize(x) {size=[2,3,7,8], mode=linear}",
    "input x: f32[4,5]\ny: f32[3,11] = resize(x) {size=[3,11], mode=linear, "
    "coordinate=align_corners}",
    "input x: f32[2,4,5,3]\ny: f32[2,6,4,3] = resize(x) {layout=nhwc, size=[2,6,4,3], "
    "mode=linear}",
    "input x: f32[2,3,4]\ny: f32[3,5,4] = resize(x) {size=[3,5,4], mode=linear, "
    "exclude_outside=true}",
    "input x: f32[1,2,6,5]\ny: f32[1,2,9,7] = resize(x) {size=[1,2,9,7], mode=cubic}",
    "input x: f32[2,3,4,5]\ninput g: f32[2,3,4,2]\ny: f32[2,3,3,4] = grid_sample(x, g)",
    "input x: f32[2,3,4,5]\ninput g: f32[2,3,4,2]\ny: f32[2,3,3,4] = grid_sample(x, g) "
    "{mode=cubic, padding=reflection, align_corners=true}",
    "input x: f32[2,3,4,5]\ninput g: f32[2,3,4,2]\ny: f32[2,3,3,4] = grid_sample(x, g) "
    "{mode=nearest, padding=border}",
    "input x: f32[1,2,3,4,5]\ninput g: f32[1,2,3,2,3]\ny: f32[1,2,2,3,2] = grid_sample(x, g)",
    "input x: f32[2,3,5,6]\ninput r: f32[4,4]\nconst b: i64[4] = [0, 1, 1, 0]\ny: f32[4,3,2,3] = "
    "roi_align(x, r, b) {height=2, width=3, ratio=2, scale=0.5}",
    "input x: f32[2,3,5,6]\ninput r: f32[4,4]\nconst b: i64[4] = [0, 1, 1, 0]\ny: f32[4,3,1,2] = "
    "roi_align(x, r, b) {height=1, width=2, ratio=0, aligned=false}",
    "input x: f32[4,9]\ny: i64[4] = arg_max(x) {axis=1, keepdims=false}",
    "input x: i8[4,9,5] q(0.1,3)\ny: i64[4,9,1] = arg_min(x) {axis=2, select_last=true}",
};

/* Each "x" times its "weight" (1 where there is none), which stand side by side in either order. */
static double sum_of_terms(const explain_trace *t)
{
    double sum = 0;
    for (int i = 0; i < t->n; i++) {
        double weight = 1;
        if (strcmp(t->step[i].name, "x") != 0)
            continue;
        if (strcmp(t->step[i + 1].name, "weight") == 0)
            weight = strtod(t->step[i + 1].text, NULL);
        sum += strtod(t->step[i].text, NULL) * weight;
    }
    return sum;
}

/* Sums that are told are what their last step is, and the terms are the sum's, but for rounding. */
static void check_terms(const explain_trace *t, const assay_type *type, const void *y, int64_t i)
{
    const char *before = text_of(t, "sum of the terms before"), *bias = text_of(t, "bias");
    const char *last = NULL;
    const double rest = (before ? strtod(before, NULL) : 0) + (bias ? strtod(bias, NULL) : 0);
    const double element = (double)((const float *)y)[i];
    check_told(t, type, y, i);
    for (int k = 0; k < t->n; k++)
        if (strcmp(t->step[k].name, "sum so far") == 0)
            last = t->step[k].text;
    assert_true(!last || strcmp(last, text_of(t, bias ? "sum of the taps" : "sum")) == 0);
    assert_true(fabs(sum_of_terms(t) + rest - element) < 1e-4);
}

/* Each tells how its element is made, and ends at the very bits. */
static void floats_told(void **state)
{
    (void)state;
    test_rng r = test_seed("explain floats", 4021);
    check_networks(of_floats, sizeof of_floats / sizeof *of_floats, &r, check_told);
}

/* The same products as numpy.matmul takes, in every form of its operands: their sum in double
 * precision is the element, but for rounding. */
static void products_of_floats(void **state)
{
    static const char *const body[] = {
        "input x: f32[2,3,5]\ninput w: f32[5,4]\ny: f32[2,3,4] = matmul(x, w)",
        "input x: f32[2,1,3,5]\ninput w: f32[3,4,5]\ny: f32[2,3,3,4] = matmul(x, w) "
        "{transpose_b=true}",
        "input x: f32[5,3]\ninput w: f32[2,5,4]\ny: f32[2,3,4] = matmul(x, w) "
        "{transpose_a=true}",
        "input x: f32[5]\ninput w: f32[2,5,4]\ny: f32[2,4] = matmul(x, w)",
        "input x: f32[2,3,5]\ninput w: f32[5]\ny: f32[2,3] = matmul(x, w)",
        "input x: f32[3,5]\ninput w: f32[4,5]\ninput b: f32[4]\ny: f32[3,4] = fc(x, w, b) "
        "{x_turned=true}",
    };
    (void)state;
    test_rng r = test_seed("explain products of floats", 4022);
    check_networks(body, sizeof body / sizeof *body, &r, check_products);
}

/* The terms themselves: inputs and weights, of sums of one level. */
static void terms_of_floats(void **state)
{
    static const char *const body[] = {
        "input x: f32[2,50,3]\ny: f32[2,50,3] = cumsum(x) {axis=1}",
        "input x: f32[5,40]\ny: f32[5,40] = cumsum(x) {axis=1, exclusive=true, reverse=true}",
        "input x: f32[2,4,3,3]\ninput w: f32[4,3,2,3]\ninput b: f32[6]\ny: f32[2,6,6,6] = "
        "conv_transpose(x, w, b) {group=2, stride=[2,2], pad_begin=[0,1]}",
        "input x: f32[2,3,4,3]\ninput w: f32[4,3,3,3]\ninput b: f32[4]\ny: f32[2,7,9,4] = "
        "conv_transpose(x, w, b) {layout=nhwc, stride=[2,2]}",
        "input x: f32[2,3,4,5]\ny: f32[2,3,7,8] = resize(x) {size=[2,3,7,8], mode=linear}",
        "input x: f32[2,9,3]\ny: f32[2,5,3] = resize(x) {size=[2,5,3], mode=linear}",
    };
    (void)state;
    test_rng r = test_seed("explain terms of floats", 4023);
    check_networks(body, sizeof body / sizeof *body, &r, check_terms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_told),
        cmocka_unit_test(products_of_floats),
        cmocka_unit_test(terms_of_floats),
    };
    return cmocka_run_group_tests_name("explain floats", tests, NULL, NULL);
}
