/* Functions that a model defines: called, nested, with attributes, inputs left out; what is
 * refused. */
#include "test/support/support.h"

#include <stdlib.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "graph/onnx/value/value.h"
#include "interp/run/evaluate.h"
#include "test/support/onnx_build.h"

/* A function as text: inputs, nodes and outputs of a graph; an attribute "@NAME" is the call's. */
typedef struct function {
    const char *name, *text;
} function;

static void refer(pb_attribute *a)
{
    if (a->type != ONNX_ATTR_STRING || a->s.len == 0 || a->s.data[0] != '@')
        return;
    a->ref_attr_name = calloc(1, a->s.len);
    assert_non_null(a->ref_attr_name);
    memcpy(a->ref_attr_name, a->s.data + 1, a->s.len - 1);
    a->has_type = false;
}

/* Adds the function to the model. */
static void define(pb_model *m, const function *f)
{
    size_t size;
    void *bytes = onnx_build(17, f->text, &size);
    pb_model *own = assay__onnx__model__unpack(NULL, size, bytes);
    pb_function *to = calloc(1, sizeof *to);
    const pb_graph *g = own->graph;

    assert_non_null(to);
    assay__onnx__function__init(to);
    to->name = strdup(f->name);
    to->domain = strdup("own");
    to->n_node = g->n_node;
    to->node = g->node;
    to->n_input = g->n_input;
    to->input = calloc(g->n_input + 1, sizeof(char *));
    to->n_output = g->n_output;
    to->output = calloc(g->n_output + 1, sizeof(char *));
    for (size_t i = 0; i < g->n_input; i++)
        to->input[i] = strdup(g->input[i]->name);
    for (size_t i = 0; i < g->n_output; i++)
        to->output[i] = strdup(g->output[i]->name);
    for (size_t i = 0; i < g->n_node; i++)
        for (size_t k = 0; k < g->node[i]->n_attribute; k++)
            refer(g->node[i]->attribute[k]);
    own->graph->n_node = 0;
    own->graph->node = NULL;
    assay__onnx__model__free_unpacked(own, NULL);
    m->functions[m->n_functions++] = to;
    free(bytes);
}

static assay_status import(const char *text, const function *f, assay_graph **g, assay_error *err)
{
    size_t size;
    void *bytes = onnx_build(17, text, &size);
    pb_model *m = assay__onnx__model__unpack(NULL, size, bytes);

    m->functions = calloc(4, sizeof(pb_function *));
    assert_non_null(m->functions);
    for (; f->name; f++)
        define(m, f);
    size = assay__onnx__model__get_packed_size(m);
    uint8_t *file = malloc(size + 1);
    assert_non_null(file);
    assay__onnx__model__pack(m, file);
    const assay_status s = onnx_import_memory("model", file, size, NULL, g, err);
    assay__onnx__model__free_unpacked(m, NULL);
    free(file);
    free(bytes);
    return s;
}

static const function leaky[] = {
    {"Leaky", "in a f32 2\nLeakyRelu a -> t alpha=@slope\nAdd t,a -> b\nout b"},
    {"Twice", "in p f32 2\nin q f32 2\nClip p,q -> c\nown:Leaky c -> d slope=0.25\nout d"},
    {NULL, NULL}};

static void calls_become_the_nodes(void **state)
{
    static const struct {
        const char *text;
        float y[2];
    } cases[] = {
        {"in x f32 2\nown:Leaky x -> y slope=0.5\nout y", {-6, 4}},
        /* without the attribute: the operator's default of 0.01 */
        {"in x f32 2\nown:Leaky x -> y\nout y", {-4.04F, 4}},
        {"in x f32 2\nconst l f32 - = -1\nown:Twice x,l -> y\nout y", {-1.25F, 4}},
        {"in x f32 2\nown:Twice x -> y\nout y", {-5, 4}},
        {"in x f32 2\nown:Leaky x -> u slope=0.5\nown:Leaky u -> y slope=0.5\nout y", {-9, 8}},
    };
    const float x[2] = {-4, 2};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assay_graph *g;
        assay_error err;
        float y[2];
        const void *in[1] = {x};
        void *out[1] = {y};
        assert_ok(import(cases[i].text, leaky, &g, &err), &err);
        assert_ok(run_whole_graph(g, NULL, in, out, &err), &err);
        assert_memory_equal(y, cases[i].y, sizeof y);
        assay_graph_free(g);
    }
}

static void what_cannot_be_called(void **state)
{
    static const function endless[] = {
        {"Self", "in a f32 2\nown:Self a -> b\nown:Self b -> c\nout c"}, {NULL, NULL}};
    static const struct {
        const char *text, *part;
        const function *f;
    } bad[] = {
        {"in x f32 2\nown:Self x -> y\nout y", "subgraphs nested 16 deep", endless},
        {"in x f32 2\nown:Leaky x,x -> y\nout y",
         "2 inputs and 1 outputs, the function has 1 and 1", leaky},
        {"in x f32 2\nown:Other x -> y\nout y", "unknown op in domain own", leaky},
    };
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assay_graph *g;
        assay_error err;
        assert_true(import(bad[i].text, bad[i].f, &g, &err) != ASSAY_OK);
        if (!strstr(err.text, bad[i].part))
            fail_msg("%s", err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_become_the_nodes),
        cmocka_unit_test(what_cannot_be_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
