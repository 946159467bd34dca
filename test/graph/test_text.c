/* The text form: what is printed parses to the same graph; what is malformed is refused with its
 * line and column; nothing crashes. */
#include "test/support/random_graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/text.h"

static const char sample[] =
    "graph net {\n"
    "  model \"00112233445566778899aabbccddeeff\"\n"
    "  input x: f32[1,3,32,32] src(4)\n"
    "  xq: i8[1,3,32,32] q(0.0078125,-3) = quantize(x)\n"
    "  const w: i8[2,3,1,1] q(axis=0,[0.02,1e-05],[0,0]) = [1,2,3,-4,-5,-128]\n"
    "  const \"b:0\": i32[2] q(axis=0,[0.00015625,7.8125e-08],[0,0]) = [100,-100]\n"
    "  y: i8[1,2,16,16] q(0.1,-128) = conv(xq, w, \"b:0\") {stride=[2,2]} act[0,6] @conv1\n"
    "  z: f32[1,2,16,16] = dequantize(y) codes[-5,7]\n"
    "  a: f32[1,1,16,16], b: f32[1,1,16,16] = split(z) {axis=1}\n"
    "  const unused: f32[] = [-inf]\n"
    "  const blocks: u4[4] q(axis=0,block=2,[0.5,0.25],[8,7]) = [0,15,1,2]\n"
    "  var state: bool[2] = [1,0]\n"
    "  graph \"the body\" {\n"
    "    input t: f32[2]\n"
    "    u: f32[2] = layer_norm(t, _, t) {epsilon=0.25}\n"
    "    output u\n"
    "    output t\n"
    "  }\n"
    "  output b\n"
    "}\n";

static assay_graph *parse(const char *text, const char *dir)
{
    assay_graph *g;
    assay_error err;
    assert_ok(text_graph_parse(text, strlen(text), "text", dir, &g, &err), &err);
    return g;
}

static char *print(const assay_graph *g, const char *dir)
{
    assay_buf b = {0};
    assay_error err;
    assert_ok(text_graph_print(g, dir, &b, &err), &err);
    return b.text;
}

static void test_sample(void **state)
{
    (void)state;
    assay_graph *g = parse(sample, NULL), *again;
    char *once = print(g, NULL), *twice;
    const assay_value *w = &g->value[assay_graph_find_value(g, "w")];
    assert_int_equal(((const int8_t *)w->data)[5], -128);
    assert_true(w->type.q.scale[1] == 1e-5F);
    assert_int_equal(g->n_subgraphs, 1);
    assert_true(g->node[1].act_hi == 6);
    assert_string_equal(g->node[1].name, "conv1");
    assert_int_equal(g->value[g->input[0]].source_index, 4);
    assert_true(g->value[assay_graph_find_value(g, "state")].is_variable);
    again = parse(once, NULL);
    twice = print(again, NULL);
    assert_string_equal(once, twice);
    /* every line of the sample is printed as it stands (the order of unused values is canonical) */
    for (const char *line = sample; *line; line = strchr(line, '\n') + 1) {
        char copy[256];
        snprintf(copy, sizeof copy, "%.*s", (int)(strchr(line, '\n') - line + 1), line);
        if (!strstr(once, copy))
            fail_msg("not printed: %s in\n%s", copy, once);
    }
    assay_graph_free(g);
    assay_graph_free(again);
    free(once);
    free(twice);
}

static void assert_same_type(const assay_type *a, const assay_type *b)
{
    assert_true(assay_elem_equal(a->elem, b->elem));
    assert_true(assay_shape_equal(a, b));
    assert_true(assay_qparams_equal(&a->q, &b->q));
}

static void assert_same_node(const assay_graph *g, const assay_node *m, const assay_graph *h,
                             const assay_node *n)
{
    assert_int_equal(m->op, n->op);
    assert_string_equal(m->name, n->name);
    assert_true(assay_attrs_equal(assay_op_get(m->op)->attrs, &m->attr, &n->attr));
    assert_memory_equal(&m->act_lo, &n->act_lo, sizeof m->act_lo);
    assert_memory_equal(&m->act_hi, &n->act_hi, sizeof m->act_hi);
    assert_int_equal(m->has_code_bounds, n->has_code_bounds);
    assert_int_equal(m->code_lo, n->code_lo);
    assert_int_equal(m->code_hi, n->code_hi);
    assert_int_equal(m->n_in, n->n_in);
    assert_int_equal(m->n_out, n->n_out);
    for (int i = 0; i < m->n_in; ++i) {
        assert_int_equal(m->in[i] == ASSAY_NO_VALUE, n->in[i] == ASSAY_NO_VALUE);
        if (m->in[i] != ASSAY_NO_VALUE)
            assert_string_equal(g->value[m->in[i]].name, h->value[n->in[i]].name);
    }
    for (int i = 0; i < m->n_out; ++i)
        assert_string_equal(g->value[m->out[i]].name, h->value[n->out[i]].name);
}

/* Equal but for the numbering of values. */
static void assert_same_graph(const assay_graph *g, const assay_graph *h)
{
    assert_string_equal(g->name, h->name);
    assert_string_equal(g->model_digest, h->model_digest);
    assert_int_equal(g->n_values, h->n_values);
    assert_int_equal(g->n_nodes, h->n_nodes);
    assert_int_equal(g->n_inputs, h->n_inputs);
    assert_int_equal(g->n_outputs, h->n_outputs);
    for (int i = 0; i < g->n_values; ++i) {
        const assay_value *v = &g->value[i], *w;
        int id = assay_graph_find_value(h, v->name);
        assert_true(id >= 0);
        w = &h->value[id];
        assert_same_type(&v->type, &w->type);
        assert_int_equal(v->source_index, w->source_index);
        assert_int_equal(v->is_variable, w->is_variable);
        assert_int_equal(v->producer, w->producer);
        assert_int_equal(v->data != NULL, w->data != NULL);
        if (v->data)
            assert_memory_equal(v->data, w->data, assay_type_bytes(&v->type));
    }
    for (int i = 0; i < g->n_nodes; ++i)
        assert_same_node(g, &g->node[i], h, &h->node[i]);
    for (int i = 0; i < g->n_inputs; ++i)
        assert_string_equal(g->value[g->input[i]].name, h->value[h->input[i]].name);
    for (int i = 0; i < g->n_outputs; ++i)
        assert_string_equal(g->value[g->output[i]].name, h->value[h->output[i]].name);
}

static void test_random_round_trip(void **state)
{
    (void)state;
    test_rng r = test_seed("text round trip", 20260101);
    char dir[256];
    test_temp_dir(dir, sizeof dir);
    for (int i = 0; i < 20; ++i) {
        assay_graph *g = test_random_graph(&r), *h, *c;
        const char *where = i % 2 ? dir : NULL;
        assay_error err;
        char *once = print(g, where), *twice, *cloned;
        h = parse(once, where);
        assert_same_graph(g, h);
        twice = print(h, where);
        assert_string_equal(once, twice);
        assert_ok(assay_graph_clone(g, &c, &err), &err);
        cloned = print(c, where);
        assert_string_equal(once, cloned);
        assay_graph_free(g);
        assay_graph_free(h);
        assay_graph_free(c);
        free(once);
        free(twice);
        free(cloned);
    }
    test_remove_tree(dir);
}

static void test_floats(void **state)
{
    (void)state;
    test_rng r = test_seed("floats as text", 7);
    for (int i = 0; i < 20000; ++i) {
        uint32_t bits = (uint32_t)test_random(&r), back;
        float f, g;
        assay_buf b = {0};
        if (i % 16 == 0)
            bits |= 0x7f800000U; /* infinities and NaNs with any payload */
        memcpy(&f, &bits, sizeof f);
        assay_buf_float(&b, f);
        assert_non_null(assay_parse_float(b.text, &g));
        memcpy(&back, &g, sizeof back);
        assert_int_equal(back, bits);
        assay_buf_free(&b);
    }
}

static const struct {
    const char *text, *part;
} malformed[] = {
    {"", "t:1:1: expected 'graph', found the end"},
    {"digraph x {}", "t:1:1: expected 'graph', found 'digraph'"},
    {"graph x", "t:1:8: expected '{', found the end"},
    {"graph x {", "expected a name, found the end"},
    {"graph x {} y", "t:1:12: expected the end, found 'y'"},
    {"graph x {\n input a f32[1] }", "t:2:10: expected ':', found 'f32'"},
    {"graph x {\n input a: f33[1] }", "t:2:11: expected an element kind"},
    {"graph x { input a: i0[1] }", "expected an element kind"},
    {"graph x { input a: i08[1] }", "expected an element kind"},
    {"graph x { input a: i33[1] }", "expected an element kind"},
    {"graph x { input a: u64[1] }", "expected an element kind"},
    {"graph x { input a: f32[1,1,1,1,1,1,1] }", "at most 6 dimensions"},
    {"graph x { input a: f32[-1] }", "-1 is outside"},
    {"graph x { input a: f32[9999999999999999999] }", "is outside"},
    {"graph x { input a: f32[1099511627776,2] }", "2^40"},
    {"graph x { input a: f32[1] input a: f32[1] }", "t:1:33: value 'a': the name is used twice"},
    {"graph x { input \"\": f32[1] }", "empty name"},
    {"graph x { input a: i8[1] q(0.5,200) }", "zero point 0 is 200"},
    {"graph x { input a: i8[1] q(0,0) }", "scale 0 is 0"},
    {"graph x { input a: i8[1] q(nan,0) }", "scale 0 is nan"},
    {"graph x { input a: i8[1] q(1) }", "expected ','"},
    {"graph x { input a: i8[2] q(axis=1,[1,1],[0,0]) }", "1 is outside 0..0"},
    {"graph x { input a: i8[2] q(axis=0,[1,1],[0]) }", "2 scales but 1 zero points"},
    {"graph x { input a: i8[2] q(axis=0,[1],[0]) }", "1 quantization parameters, expected 2"},
    {"graph x { input a: i8[2] q(axis=0,block=0,[1],[0]) }", "0 is outside 1.."},
    {"graph x { input a: f32[2] q(1,0) }", "not integer"},
    {"graph x { const a: f32[2] = [1] }", "1 elements, but the type has 2"},
    {"graph x { const a: f32[2] = [1,2,3] }", "more than the 2 elements"},
    {"graph x { const a: f32[1099511627776] = [1,2] }", "2^40"},
    {"graph x { const a: f32[274877906944] = [1,2] }", "2 elements, but the type has 274877906944"},
    {"graph x { const a: f32[1] = [x] }", "expected a number, found 'x'"},
    {"graph x { const a: f32[1] = [nan] }", "not a number"},
    {"graph x { const a: f32[1] = [nan(0x1)] }", "expected a number"},
    {"graph x { const a: i4[1] = [8] }", "8 is outside -8..7"},
    {"graph x { const a: i8[1] = [1.5] }", "expected an integer"},
    {"graph x { const a: i8[1] = }", "expected '['"},
    {"graph x { const a: i8[1] = file \"a.npy\" }", "no directory"},
    {"graph x { const a: i8[1] = file \"../a.npy\" }", "plain file name"},
    {"graph x { const a: i8[1] = file \"..\" }", "plain file name"},
    {"graph x { model \"xyz\" }", "32 hexadecimal digits"},
    {"graph x { input a: f32[1] b: f32[1] = relu(c) }", "t:1:44: nothing before defines 'c'"},
    {"graph x { input a: f32[1] b: f32[1] = rulu(a) }", "t:1:39: there is no op 'rulu'"},
    {"graph x { input a: f32[1] b: f32[1] = relu(a) {x=1} }", "relu has no attribute 'x'"},
    {"graph x { input a: f32[1] b: f32[1] = clip(a) {lo=q} }", "expected a number, found 'q'"},
    {"graph x { input a: f32[1] b: f32[1] = clip(a) {lo=} }", "expected a number"},
    {"graph x { input a: f32[1] b: f32[1] = softmax(a) {axis=1.5} }", "expected an integer"},
    {"graph x { input a: f32[1] b: f32[1] = cast(a) {to=f99} }", "expected a name, found 'f99'"},
    {"graph x { input a: f32[1] b: f32[1] = tile(a) {repeats=[1,1,1,1,1,1,1,1,1,1,1,1,1]} }",
     "at most 12"},
    {"graph x { input a: f32[1] b: f32[1] = relu(a) act[1,0] }", "bounds are empty"},
    {"graph x { input a: f32[1] b: f32[1] = relu(a) act[nan,0] }", "bounds are empty"},
    {"graph x { input a: f32[1] b: f32[1] = relu(a) codes[3,2] }", "bounds are empty"},
    {"graph x { input a: f32[1] output c }", "nothing before defines 'c'"},
    {"graph x { value a: f32[1] output a }", "output 0 is not defined"},
    {"graph x { value a: f32[1] b: f32[1] = relu(a) }", "nothing before it defines its input 'a'"},
    {"graph x { input \"a\nb\": f32[1] }", "does not end on its line"},
    {"graph x { input \"a", "does not end on its line"},
    {"graph x { input \"\x7f\": f32[1] }", "control character 0x7f"},
    {"graph x { input \"\\q\": f32[1] }", "unknown escape"},
    {"graph x { # comment", "found the end"},
    {"graph x { \x01 }", "byte 0x01"},
    {"graph a{graph a{graph a{graph a{graph a{graph a{graph a{graph a{graph a{graph a{graph a{"
     "graph a{graph a{graph a{graph a{graph a{graph a{graph a{",
     "nested more than 16 deep"},
};

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; ++i) {
        assay_graph *g;
        assay_error err;
        assay_status s =
            text_graph_parse(malformed[i].text, strlen(malformed[i].text), "t", NULL, &g, &err);
        if (!s)
            print_error("%s\n", malformed[i].text);
        assert_refused(s, &err, malformed[i].part);
        assert_null(g);
    }
}

static void test_constant_files(void **state)
{
    (void)state;
    static const char text[] = "graph x { const a: i8[2] = file \"a.npy\" }";
    /* one byte each: dtype, shape and content of a version 1 file by hand */
    static const char header[] = "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }";
    char dir[256], path[300], file[128] = "\x93NUMPY\x01\x00\x76\x00";
    assay_graph *g;
    assay_error err;

    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/a.npy", dir);
    assert_refused(text_graph_parse(text, strlen(text), "t", dir, &g, &err), &err, "t:1:33: ");
    memset(file + 10, ' ', 118);
    memcpy(file + 10, header, strlen(header));
    file[127] = '\n';
    test_write_file(path, file, sizeof file);
    assert_refused(text_graph_parse(text, strlen(text), "t", dir, &g, &err), &err, "a.npy");
    {
        char whole[130];
        memcpy(whole, file, sizeof file);
        whole[128] = -7;
        whole[129] = 9;
        test_write_file(path, whole, sizeof whole);
        g = parse(text, dir);
        assert_int_equal(((const int8_t *)g->value[0].data)[0], -7);
        assay_graph_free(g);
        assert_refused(
            text_graph_parse("graph x { const a: u8[2] = file \"a.npy\" }", 41, "t", dir, &g, &err),
            &err, "holds int8[2], expected uint8[2]");
        assert_refused(
            text_graph_parse("graph x { const a: i8[3] = file \"a.npy\" }", 41, "t", dir, &g, &err),
            &err, "holds int8[2], expected int8[3]");
    }
    test_remove_tree(dir);
}

/* Damaged texts are accepted or refused in one line, never worse; sanitizers watch. */
static void test_mutations(void **state)
{
    (void)state;
    test_rng r = test_seed("text mutations", 42);
    static const char bytes[] = "0123456789[](){},:=\"\\#-._@ \nqaxinf";
    assay_graph *big = test_random_graph(&r);
    char *texts[2] = {strdup(sample), print(big, NULL)};
    int refused = 0;
    assay_graph_free(big);
    for (int i = 0; i < 3000; ++i) {
        const char *from = texts[i % 16 == 0];
        size_t length = strlen(from);
        char *text = strdup(from);
        assay_graph *g;
        assay_error err;
        for (int64_t k = test_between(&r, 1, 4); k > 0; --k) {
            size_t at = (size_t)test_between(&r, 0, (int64_t)length - 1);
            if (test_between(&r, 0, 7) == 0)
                length = at + 1; /* cut */
            else if (test_between(&r, 0, 3) == 0)
                text[at] = (char)test_random(&r);
            else
                text[at] = bytes[test_between(&r, 0, (int64_t)sizeof bytes - 2)];
        }
        if (text_graph_parse(text, length, "t", NULL, &g, &err)) {
            assert_null(g);
            assert_null(strchr(err.text, '\n'));
            assert_true(strncmp(err.text, "t:", 2) == 0);
            ++refused;
        } else {
            char *again = print(g, NULL);
            assay_graph_free(g);
            g = parse(again, NULL);
            assay_graph_free(g);
            free(again);
        }
        free(text);
    }
    assert_true(refused > 1000);
    free(texts[0]);
    free(texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),         cmocka_unit_test(test_random_round_trip),
        cmocka_unit_test(test_floats),         cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_constant_files), cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
