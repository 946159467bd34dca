/* If, Loop and Scan of ONNX: what they become, what comes out, what is refused. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "interp/run/program.h"
#include "test/support/onnx_form.h"

/* ---- what they become ---- */

#define BOTH "then_branch={graph Relu x -> u; out u} else_branch={graph Neg x -> v; out v}"
#define LOOP "body={graph in i i64 -; in c bool -; in a f32 2; Add a,x -> b; out c; out b}"
#define ROWS                                                                                       \
    "body={graph in i i64 -; in c bool -; in a f32 2; Add a,x -> b; Neg a -> r; out c; out b; "    \
    "out r}"
#define SCAN                                                                                       \
    "body={graph in s f32 2; in e f32 2; Add s,e -> t; Neg t -> r; out t; out r} "                 \
    "num_scan_inputs=1"

static void control_flow_is_known_or_a_node(void **state)
{
    static const onnx_form forms[] = {
        {13, "in x f32 2\nin c bool -\nIf c -> y " BOTH "\nout y", "if", "[2]"},
        {13, "in x f32 2\nconst c bool 1 = 1\nIf c -> y " BOTH "\nout y", "relu reshape", "[2]"},
        {13,
         "in x f32 2\nin c bool -\nNeg x -> z\nIf c -> y then_branch={graph "
         "If c -> p then_branch={graph Relu z -> u; out u} "
         "else_branch={graph const k f32 2; out k}; out p} else_branch={graph out x}\nout y",
         "neg if", "[2]"},
        {13, "in x f32 2\nconst m i64 - = 3\nLoop m,_,x -> y " LOOP "\nout y",
         "add add add reshape", "[2]"},
        {13, "in x f32 2\nconst m i64 - = -3\nLoop m,_,x -> y " LOOP "\nout y", "reshape", "[2]"},
        {13, "in x f32 2\nin m i64 -\nLoop m,_,x -> y " LOOP "\nout y", "while", "[2]"},
        {13, "in x f32 2\nconst m i64 - = 100000\nLoop m,_,x -> y " LOOP "\nout y", "while", "[2]"},
        /* the condition folds: rounds 0 and 1 */
        {13,
         "in x f32 2\nconst k i64 - = 1\nLoop _,_,x -> y body={graph in i i64 -; "
         "in c bool -; in a f32 2; Add a,x -> b; Less i,k -> d; out d; out b}\nout y",
         "add add reshape", "[2]"},
        {13,
         "in x f32 2\nLoop _,_,x -> y body={graph in i i64 -; in c bool -; in a f32 2; "
         "const o f32 1 = 9; Add a,x -> b; ReduceSum b -> s keepdims=0; "
         "ReduceMax b -> t keepdims=0; Less t,s -> d; out d; out b}\nout y",
         "while", "[2]"},
        {13, "in x f32 2\nconst m i64 - = 2\nLoop m,_,x -> _,y " ROWS "\nout y",
         "add neg reshape add neg reshape concat reshape", "[2,2]"},
        {13,
         "in x f32 1,2\nconst m i64 - = 2\nLoop m,_,x -> y body={graph in i i64 -; "
         "in c bool -; in a f32 1,2; Concat a,x -> b axis=0; out c; out b}\nout y",
         "concat concat reshape", "[3,2]"},
        {13, "in s f32 2\nin x f32 3,2\nScan s,x -> _,y " SCAN "\nout y",
         "slice reshape add neg reshape slice reshape add neg reshape slice reshape add neg "
         "reshape concat reshape",
         "[3,2]"},
        {13,
         "in s f32 2\nin x f32 2,3\nScan s,x -> _,y " SCAN
         " scan_input_axes=[1] scan_output_axes=[-1]\nout y",
         "slice reshape add neg reshape slice reshape add neg reshape slice reshape add neg "
         "reshape concat reshape",
         "[2,3]"},
    };
    (void)state;
    CHECK_ALL(forms);
}

/* ---- what comes out ---- */

typedef struct question {
    const char *text;
    float x[6];
    int64_t m;
    bool c;
    float y[6];
} question;

static void put(const assay_graph *g, assay_run *r, const char *name, const void *data)
{
    const int v = assay_graph_find_value(g, name);

    if (v >= 0 && g->value[v].producer < 0 && !g->value[v].data)
        memcpy(assay_run_data(r, v), data, assay_type_bytes(&g->value[v].type));
}

static void ask(const question *q)
{
    assay_graph *g = onnx_form_import(13, q->text, NULL);
    assay_program *p;
    assay_run *run;
    assay_error err = {0};
    const uint8_t c = q->c;

    assert_ok(assay_program_make_as_is(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &run, &err), &err);
    put(g, run, "x", q->x);
    put(g, run, "m", &q->m);
    put(g, run, "c", &c);
    assert_ok(assay_execute(run, &err), &err);
    const int y = g->output[0];
    if (memcmp(assay_run_data(run, y), q->y, assay_type_bytes(&g->value[y].type)) != 0)
        print_error("%s\n", q->text);
    assert_memory_equal(assay_run_data(run, y), q->y, assay_type_bytes(&g->value[y].type));
    assay_run_free(run);
    assay_program_free(p);
    assay_graph_free(g);
}

static void values_are_those_of_the_rounds(void **state)
{
    static const question list[] = {
        {"in x f32 2\nin c bool -\nIf c -> y " BOTH "\nout y", {-1, 2}, 0, true, {0, 2}},
        {"in x f32 2\nin c bool -\nIf c -> y " BOTH "\nout y", {-1, 2}, 0, false, {1, -2}},
        {"in x f32 2\nin m i64 -\nLoop m,_,x -> y " LOOP "\nout y", {-1, 2}, 3, true, {-4, 8}},
        {"in x f32 2\nin m i64 -\nLoop m,_,x -> y " LOOP "\nout y", {-1, 2}, -7, true, {-1, 2}},
        {"in x f32 2\nin m i64 -\nin c bool 1\nLoop m,c,x -> y " LOOP "\nout y",
         {-1, 2},
         3,
         false,
         {-1, 2}},
        {"in x f32 2\nconst m i64 1 = 3\nLoop m,_,x -> y " LOOP "\nout y",
         {-1, 2},
         0,
         true,
         {-4, 8}},
        {"in x f32 2\nconst m i64 - = 2\nLoop m,_,x -> _,y " ROWS "\nout y",
         {1, -2},
         0,
         true,
         {-1, 2, -2, 4}},
        /* a sequence grows from round to round, whether the condition is passed on or computed */
        {"in x f32 2\nconst m i64 - = 2\nSequenceEmpty - -> e\nLoop m,_,e -> s body={graph in i "
         "i64 "
         "-; "
         "in c bool -; in q f32 -; Cast i -> f to=1; Add x,f -> a; SequenceInsert q,a -> r; "
         "out c; out r}\nConcatFromSequence s -> y axis=0\nout y",
         {1, -2},
         0,
         true,
         {1, -2, 2, -1}},
        {"in x f32 2\nconst m i64 - = 9\nconst k i64 - = 1\nSequenceConstruct x -> e\n"
         "Loop m,_,e -> s body={graph in i i64 -; in c bool -; in q f32 -; Cast i -> f to=1; "
         "Sub x,f -> a; SequenceInsert q,a -> r; Less i,k -> d; out d; out r}\n"
         "ConcatFromSequence s -> y axis=0\nout y",
         {1, -2},
         0,
         true,
         {1, -2, 1, -2, 0, -3}},
        /* branches that a run chooses read the tensors of a sequence */
        {"in x f32 2\nin c bool -\nconst k i64 - = 0\nconst l i64 - = 1\n"
         "SplitToSequence x -> s keepdims=0\nIf c -> y "
         "then_branch={graph SequenceAt s,k -> u; Neg u -> v; out v} "
         "else_branch={graph SequenceAt s,l -> w; Abs w -> z; out z}\nout y",
         {3, -2},
         0,
         false,
         {2}},
        /* until the sum is 10 or more */
        {"in x f32 2\nconst t f32 - = 10\nLoop _,_,x -> y body={graph in i i64 -; in c bool -; "
         "in a f32 2; Add a,x -> b; ReduceSum b -> s keepdims=0; Less s,t -> d; out d; out b}\n"
         "out y",
         {1, 2},
         0,
         true,
         {4, 8}},
        /* loops in loops: the inner one's rounds are the outer one's number */
        {"in x f32 2\nin m i64 -\nLoop m,_,x -> y body={graph in i i64 -; in c bool -; in a f32 2; "
         "Loop i,_,a -> b body={graph in j i64 -; in e bool -; in p f32 2; Add p,x -> q; out e; "
         "out q}; out c; out b}\nout y",
         {1, 2},
         4,
         true,
         {7, 14}},
        {"in x f32 2\nconst m i64 - = 4\nLoop m,_,x -> y body={graph in i i64 -; in c bool -; "
         "in a f32 2; Loop i,_,a -> b body={graph in j i64 -; in e bool -; in p f32 2; "
         "Add p,x -> q; out e; out q}; out c; out b}\nout y",
         {1, 2},
         4,
         true,
         {7, 14}},
        /* sums from the last step to the first, rows put in backwards */
        {"in x f32 3,2\nconst s f32 2 = 0 0\nScan s,x -> _,y body={graph in s f32 2; in e f32 2; "
         "Add s,e -> t; Identity t -> r; out t; out r} num_scan_inputs=1 "
         "scan_input_directions=[1] scan_output_directions=[1]\nout y",
         {1, 2, 3, 4, 5, 6},
         0,
         true,
         {9, 12, 8, 10, 5, 6}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        ask(&list[i]);
}

/* ---- what is refused ---- */

static void wrong(const char *text, const char *part)
{
    onnx_form_refused(13, text, ASSAY_ERR_INPUT, part);
}

static void declined(const char *text, const char *part)
{
    onnx_form_refused(13, text, ASSAY_ERR_UNSUPPORTED, part);
}

static void malformed_bodies_are_named(void **state)
{
    (void)state;
    wrong("in x f32 2\nin c bool 2\nIf c -> y " BOTH "\nout y",
          "condition 'c' is not a single bool");
    wrong("in x f32 2\nin c f32 -\nIf c -> y " BOTH "\nout y",
          "condition 'c' is not a single bool");
    wrong("in x f32 2\nin c bool -\nIf c -> y then_branch={graph Relu x -> u; out u}\nout y",
          "its 'else_branch' is missing");
    wrong("in x f32 2\nin c bool -\nIf c -> y then_branch={graph in a f32 2; Relu a -> u; out u} "
          "else_branch={graph out x}\nout y",
          "its 'then_branch' has 1 inputs, expected 0");
    wrong("in x f32 2\nin c bool -\nIf c -> y then_branch={graph out x; out x} "
          "else_branch={graph out x}\nout y",
          "its 'then_branch' has 2 outputs, expected 1");
    wrong("in x f32 2\nin c bool -\nIf c -> y then_branch={graph Relu x -> u; out u} "
          "else_branch={graph Neg u -> v; out v}\nout y",
          "uses 'u', which nothing defines");
    wrong("in x f32 2\nin c bool -\nIf c -> y then_branch={graph Relu x -> u; out u} "
          "else_branch={graph Neg u/then -> v; out v}\nout y",
          "uses 'u/then', which nothing defines");
    wrong("in x f32 2\nin c bool -\nIf c -> y then_branch={graph Relu x -> u; Neg x -> u; out u} "
          "else_branch={graph out x}\nout y",
          "'u/then' is defined twice");
    wrong("in x f32 2\nin m i32 -\nLoop m,_,x -> y " LOOP "\nout y",
          "trip count 'm' is not a single int64");
    wrong("in x f32 2\nin m i64 2\nLoop m,_,x -> y " LOOP "\nout y",
          "trip count 'm' is not a single int64");
    wrong("in x f32 2\nLoop _,x,x -> y " LOOP "\nout y", "condition 'x' is not a single bool");
    wrong("in x f32 2\nin m i64 -\nLoop m,_,x -> y\nout y", "its 'body' is missing");
    wrong("in x f32 2\nin m i64 -\nLoop m,_,x,x -> y,z " LOOP "\nout y",
          "its 'body' has 3 inputs, expected 4");
    wrong("in x f32 2\nin m i64 -\nLoop m,_,x,x -> y " LOOP "\nout y",
          "only 1 outputs, 2 carried values");
    wrong("in x f32 2\nin m i64 -\nLoop m,_,x -> y body={graph in i i64 -; in c bool -; "
          "in a f32 2; out a; out a}\nout y",
          "its body does not return a single bool as condition");
    wrong("in x f32 2\nin m i64 -\nLoop m,_,x -> y body={graph in i i64 -; in c bool -; "
          "in c f32 2; out c; out c}\nout y",
          "input 'c' of the subgraph occurs twice");
    wrong("in s f32 2\nin x f32 3,2\nScan s,x -> _,y " SCAN " scan_input_axes=[2]\nout y",
          "axis 2 is outside the dimensions of a value of rank 2");
    wrong("in s f32 2\nin x f32 3,2\nScan s,x -> _,y " SCAN " scan_input_axes=[0,0]\nout y",
          "attribute 'scan_input_axes' has 2 entries, expected 1");
    wrong("in s f32 2\nin x f32 3,2\nScan s,x -> _,y " SCAN " scan_output_directions=[7]\nout y",
          "has the entry 7, expected 0 or 1");
    wrong("in x f32 3,2\nin z f32 4,2\nScan x,z -> y body={graph in a f32 2; in b f32 2; "
          "Add a,b -> r; out r} num_scan_inputs=2\nout y",
          "sequences of 3 and of 4 steps, expected equal lengths");
    wrong("in x f32 3,2\nScan x -> y " SCAN " scan_input_axes=[0]\nout y",
          "its 'body' has 2 inputs, expected 1");
}

static void what_cannot_be_is_declined(void **state)
{
    char text[4000] = "Relu x -> u0; out u0";

    (void)state;
    declined("in x f32 2\nin c bool -\nIf c -> y then_branch={graph const k f32 3; out k} "
             "else_branch={graph out x}\nout y",
             "output 'y' is [3] in one branch, [2] in the other");
    declined("in x f32 1,2\nin m i64 -\nLoop m,_,x -> y body={graph in i i64 -; in c bool -; "
             "in a f32 1,2; Concat a,x -> b axis=0; out c; out b}\nout y",
             "carried value 'x' is [1,2] before one, [2,2] after it");
    declined("in x f32 2\nin m i64 -\nLoop m,_,x -> _,y " ROWS "\nout y",
             "scan outputs of a loop of unknown length");
    declined("in x f32 2\nconst m i64 - = 9223372036854775807\nLoop m,_,x -> _,y " ROWS "\nout y",
             "scan outputs of over 4096 iterations");
    declined("in x f32 2\nconst m i64 - = -1\nLoop m,_,x -> _,y " ROWS "\nout y",
             "with no iteration output 'y' is empty");
    declined("in s f32 2\nin x f32 5000,2\nScan s,x -> _,y " SCAN "\nout y",
             "5000 iterations of 2 nodes; 1 to 4096 can be unrolled");
    onnx_form_refused(8, "in s f32 1,2\nin x f32 1,3,2\nScan _,s,x -> _,y " SCAN "\nout y",
                      ASSAY_ERR_UNSUPPORTED, "its form of opset 8");
    declined("in x f32 2\nin c bool -\nIf c -> y then_branch={graph Foo x -> u : here; out u} "
             "else_branch={graph Bar x -> v : there; out v}\nout y",
             "2 unsupported: node 'here' (Foo): unknown op; node 'there' (Bar)");
    declined("in x f32 2\nconst m i64 - = 2\nLoop m,_,x -> y body={graph in i i64 -; in c bool -; "
             "in a f32 2; Identity c -> d; Foo a -> b : here; out d; out b}\nout y",
             "1 unsupported: node 'here' (Foo)");
    for (int i = 1; i < 18; i++) {
        char inner[4000];
        memcpy(inner, text, sizeof inner);
        snprintf(text, sizeof text,
                 "If c -> u%d then_branch={graph %.3600s} else_branch={graph out x}; out u%d", i,
                 inner, i);
    }
    char whole[4400];
    snprintf(whole, sizeof whole,
             "in x f32 2\nin c bool -\nIf c -> y then_branch={graph %s} "
             "else_branch={graph out x}\nout y",
             text);
    declined(whole, "subgraphs nested 16 deep");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_flow_is_known_or_a_node),
        cmocka_unit_test(values_are_those_of_the_rounds),
        cmocka_unit_test(malformed_bodies_are_named),
        cmocka_unit_test(what_cannot_be_is_declined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
