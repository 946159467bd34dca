/* A C user of models whose shapes follow from their inputs: loaded for one sample. */
#include <stdlib.h>
#include <string.h>

#include "interp/assay_tools.h"
#include "test/support/onnx_build.h"
#include "test/support/support.h"

typedef struct caller {
    float x[4];
    bool fails;
    int calls;
} caller;

static assay_status sample(void *user, const char *input, const assay_type *type, void *elements,
                           assay_error *err)
{
    caller *c = user;

    assert_string_equal(input, "x");
    assert_int_equal(type->rank, 1);
    assert_int_equal(type->dim[0], 4);
    c->calls++;
    if (c->fails)
        return assay_fail(err, ASSAY_ERR_INPUT, "the caller has no sample");
    memcpy(elements, c->x, sizeof c->x);
    return ASSAY_OK;
}

static assay_status load(const char *text, caller *c, const assay_scheme *scheme, assay_graph **g,
                         assay_error *err)
{
    assay_load_options o = ASSAY_OPTIONS(assay_load_options);
    size_t size;
    void *bytes = onnx_build(17, text, &size);

    o.sample = c ? sample : NULL;
    o.user = c;
    o.sample_scheme = scheme;
    const assay_status status = assay_load_memory("net", bytes, size, &o, g, NULL, err);
    free(bytes);
    return status;
}

/* In steps of a half 0.2 is 0: of four elements that are not 0 three have codes that are not. */
static const char codes[] =
    "in x f32 4\nconst s f32 - = 0.5\nconst z u8 - = 0\n"
    "QuantizeLinear x,s,z -> q\nCast q -> i to=6\nNonZero i -> y\nout y i64";
static const char floats[] = "in x f32 4\nNonZero x -> y\nout y i64";

static void test_floats(void **unused)
{
    caller c = {.x = {0.0F, 0.2F, -1.0F, 3.0F}};
    assay_graph *g;
    assay_error err;

    (void)unused;
    assert_refused(load(floats, NULL, NULL, &g, &err), &err, "NonZero");
    assert_ok(load(floats, &c, NULL, &g, &err), &err);
    assert_true(c.calls >= 1);
    assert_int_equal(assay_value_type(g, assay_output(g, 0))->dim[1], 3);
    assay_graph_free(g);
    c.fails = true;
    assert_refused(load(floats, &c, NULL, &g, &err), &err, "the caller has no sample");
    assert_null(g);
}

static void test_codes(void **unused)
{
    caller c = {.x = {0.2F, 1.0F, 3.0F, 100.0F}};
    assay_scheme *scheme;
    assay_graph *g;
    assay_error err;

    (void)unused;
    assert_ok(assay_scheme_open("onnxruntime", &scheme, &err), &err);
    assert_refused(load(codes, &c, NULL, &g, &err), &err, "scheme");
    assert_ok(load(codes, &c, scheme, &g, &err), &err);
    assert_int_equal(assay_value_type(g, assay_output(g, 0))->dim[1], 3);
    assay_graph_free(g);
    assay_scheme_free(scheme);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_floats),
        cmocka_unit_test(test_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
