/* The TFLite importer: what it refuses, by name; mutated files. */
#include "test/support/tflite_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"

/* builtin operators */
enum { FC = 9, CUSTOM = 32, CAST = 53, WHERE = 109, ELU = 111 };

/* ---- refusals ---- */

typedef struct seen {
    int n, refused;
    char text[400]; /* "WHERE y:why; " */
} seen;

static void see(void *to, const assay_tflite_row *row)
{
    seen *s = to;
    size_t used = strlen(s->text);

    assert_int_equal(row->index, s->n++);
    assert_int_equal(row->subgraph, 0);
    assert_true(row->type->elem.kind != ASSAY_KIND_NONE);
    s->refused += row->why != NULL;
    snprintf(s->text + used, sizeof s->text - used, "%s %s:%.32s; ", row->kind, row->output,
             row->why ? row->why : "");
}

static void test_unsupported(void **state)
{
    tb_model m = {.n_inputs = 2, .input = {0, 1}, .n_outputs = 1, .output = {6}};
    seen all = {0};
    unsigned char *file;
    size_t size;
    assay_graph *g;
    assay_error err;

    (void)state;
    tb_add(&m, "x", TFL_BOOL, 4, -1);
    tb_add(&m, "f", TFL_FLOAT32, 1, 4, -1);
    tb_add(&m, "w", TFL_INT8, 2, 4, -1); /* without a scale */
    tb_data(&m, tb_conv_weights, 8);
    for (int i = 0; i < 3; ++i) {
        char name[8];
        snprintf(name, sizeof name, "t%d", i);
        tb_add(&m, name, TFL_INT64, 4, 1, -1);
    }
    tb_add(&m, "y", TFL_FLOAT32, 1, 2, -1);
    tb_outputs(tb_operator(&m, WHERE, 0, -2), 3, -2);
    tb_outputs(tb_operator(&m, CUSTOM, 3, -2), 4, -2);
    m.op[1].custom = "Mystery";
    tb_outputs(tb_operator(&m, WHERE, 0, -2), 5, -2);
    tb_outputs(tb_operator(&m, FC, 1, 2, -1, -2), 6, -2);
    tb_add(&m, "z", TFL_FLOAT32, 1, 4, -1);
    tb_outputs(tb_operator(&m, ELU, 1, -2), 7, -2);
    assert_int_equal(tb_import(&m, &file, &g, &err), ASSAY_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(err.text, "WHERE: a shape depends on the contents of input 0 (operators 0, 2)"));
    assert_non_null(strstr(err.text, "CUSTOM: 'Mystery' (operator 1)"));
    assert_non_null(strstr(err.text, "FULLY_CONNECTED: hybrid"));
    free(file);

    file = tb_finish(&m, &size);
    assert_int_equal(tfl_import_entry("m", NULL, file, size,
                                      &(assay_tflite_options){.seen = see, .to = &all}, &g, &err),
                     ASSAY_ERR_UNSUPPORTED);
    assert_int_equal(all.n, 5);
    assert_int_equal(all.refused, 4);
    assert_string_equal(all.text, "WHERE t0:WHERE: a shape depends on the co; "
                                  "CUSTOM t1:CUSTOM: 'Mystery'; "
                                  "WHERE t2:WHERE: a shape depends on the co; "
                                  "FULLY_CONNECTED y:FULLY_CONNECTED: hybrid: integer; "
                                  "ELU z:; ");
    free(file);
}

/* Types of tensors are named. */
static void test_types(void **state)
{
    static const struct {
        int type;
        const char *name;
    } types[] = {{5, "STRING"},       {8, "COMPLEX64"},        {18, "BFLOAT16"},
                 {22, "FLOAT8_E5M2"}, {23, "an unknown type"}, {-1, "an unknown type"}};

    (void)state;
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        tb_model m = {.n_inputs = 1, .n_outputs = 1, .output = {1}};
        char input[64], cast[64];
        snprintf(input, sizeof input, "model input: a tensor of type %s", types[i].name);
        snprintf(cast, sizeof cast, "CAST: to %s (operator 0)", types[i].name);
        tb_add(&m, "x", TFL_FLOAT32, 4, -1);
        tb_add(&m, "y", types[i].type, 4, -1);
        tb_outputs(tb_operator(&m, CAST, 0, -2), 1, -2);
        tb_refuse(&m, cast);
        m.tensor[0].type = types[i].type;
        tb_refuse(&m, input);
    }
}

static void test_malformed(void **state)
{
    tb_model m = tb_conv_model(), good = m;

    (void)state;
    m.tensor[1].dim[3] = 3;
    tb_refuse(&m, "operator 0 (CONV_2D, 'y'): 2 input channels");
    m = good;
    m.op[0].option[0].bits = -2;
    tb_refuse(&m, "'stride'");
    m = good;
    m.tensor[3].dim[2] = 4;
    tb_refuse(&m, "output 'y'");
    m = good;
    m.tensor[0].dim[1] = -5;
    tb_refuse(&m, "tensor 0 'x'");
    m = good;
    m.tensor[0].dim[1] = m.tensor[0].dim[2] = m.tensor[0].dim[3] = INT32_MAX;
    tb_refuse(&m, "tensor 0 'x'");
    m = good;
    m.tensor[1].n_scales = 2;
    tb_refuse(&m, "tensor 1 'w': the number of scales");
    m = good;
    m.tensor[1].axis = 4;
    tb_refuse(&m, "the quantized dimension does not exist");
    m = good;
    m.tensor[0].scale[0] = 0;
    tb_refuse(&m, "tensor 0 'x': a scale is not finite and above 0");
    m.tensor[0].scale[0] = -1;
    tb_refuse(&m, "tensor 0 'x': a scale is not finite and above 0");
    m = good;
    m.tensor[0].zero[0] = 200;
    tb_refuse(&m, "zero point");
    m = good;
    m.tensor[0].zero[0] = INT64_MAX;
    tb_refuse(&m, "a zero point does not fit 32 bits");
    m = good;
    m.tensor[3].n_scales = 0;
    {
        unsigned char *file;
        assay_graph *g;
        assay_scheme *scheme;
        assay_program *p;
        assay_error err;
        g = tb_import_ok(&m, &file);
        assert_ok(assay_scheme_open("tflite", &scheme, &err), &err);
        assert_refused(assay_program_make_as_is(g, scheme, false, &p, &err), &err, "'y'");
        assay_scheme_free(scheme);
        assay_graph_free(g);
        free(file);
    }
    m = good;
    m.op[0].in[0] = 7;
    tb_refuse(&m, "operator 0: there is no tensor 7");
    m = good;
    m.n_inputs = 0;
    tb_refuse(&m, "nothing before it defines its input 0 'x'");
}

static void test_headers(void **state)
{
    tb_model m = tb_conv_model();
    size_t size;
    unsigned char *file = tb_finish(&m, &size);
    assay_graph *g;
    assay_error err;

    (void)state;
    assert_refused(tfl_import_memory("model", file, 7, &g, &err), &err, "TFL3");
    file[4] = 'X';
    assert_refused(tfl_import_memory("model", file, size, &g, &err), &err, "TFL3");
    file[4] = 'T';
    file[0] = 0xf0;
    file[1] = 0xff;
    assert_refused(tfl_import_memory("model", file, size, &g, &err), &err, "at byte 0 of");
    free(file);
    assert_refused(tfl_import_file("/nonexistent.tflite", &g, &err), &err, "/nonexistent.tflite");
    assert_refused(tfl_import_file("/", &g, &err), &err, "not a regular file");
}

/* ---- mutated files: refused or imported, never a crash; the sanitizers watch ---- */

static void test_mutations(void **state)
{
    test_rng rng = test_seed("tflite mutations", 20261121);
    tb_model m = tb_conv_model();
    size_t size;
    unsigned char *file = tb_finish(&m, &size), *copy = malloc(size);
    int imported = 0;

    (void)state;
    assert_non_null(copy);
    for (int i = 0; i < 10000; ++i) {
        size_t n = size;
        assay_graph *g;
        assay_error err;
        memcpy(copy, file, size);
        tb_damage(&rng, copy, &n);
        if (tfl_import_memory("mutant", copy, n, &g, &err) == ASSAY_OK) {
            ++imported;
            assay_graph_free(g);
        } else {
            assert_true(err.text[0] != 0);
        }
    }
    print_message("# %d of 10000 mutants imported\n", imported);
    assert_in_range(imported, 1, 9999);
    free(copy);
    free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsupported), cmocka_unit_test(test_types),
        cmocka_unit_test(test_malformed),   cmocka_unit_test(test_headers),
        cmocka_unit_test(test_mutations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
