/* A C user of assay_arithmetic.h and of the data sets and drawings of assay_measures.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/text/npy.h"
#include "interp/assay_arithmetic.h"
#include "interp/assay_measures.h"
#include "test/support/support.h"

static void test_try(void **unused)
{
    const int64_t acc[] = {585, 7}, zero[] = {-126, 0};
    const double scale[] = {(double)0.0111111114F, 0.5};
    assay_rescales rows = ASSAY_OPTIONS(assay_rescales);
    assay_scheme *s;
    assay_error err;
    char *text, *json;

    (void)unused;
    assert_ok(assay_scheme_open("xnnpack-qs8", &s, &err), &err);
    rows.n = 1;
    rows.acc = acc;
    rows.scale = scale;
    rows.zero_point = zero;
    assert_ok(assay_scheme_try(s, &rows, &text, &json, &err), &err);
    assert_non_null(strstr(text, "code                    -120"));
    assert_non_null(strstr(json, "\"code\": -120"));
    assay_free(text);
    assay_free(json);
    assert_ok(assay_scheme_try(s, &rows, NULL, NULL, &err), &err);
    rows.n = 2;
    assert_refused(assay_scheme_try(s, &rows, &text, &json, &err), &err, "only a single row");
    assert_true(!text && !json);
    assay_scheme_free(s);
}

/* What is not wanted is judged all the same. */
static void test_unwanted(void **unused)
{
    assay_vectors_options rows = ASSAY_OPTIONS(assay_vectors_options);
    assay_probe_options probes = ASSAY_OPTIONS(assay_probe_options);
    const assay_scheme *one[1];
    assay_scheme *s;
    assay_error err;
    bool told;
    char *text;

    (void)unused;
    assert_ok(assay_scheme_open("nvdla", &s, &err), &err);
    assert_ok(assay_scheme_show(s, "fc", false, NULL, &err), &err);
    assert_refused(assay_scheme_show(s, "fd", false, NULL, &err), &err, "nearest: fc");
    assert_refused(assay_scheme_show(s, "fd", false, &text, &err), &err, "nearest: fc");
    assert_null(text);
    one[0] = s;
    rows.has_seed = true;
    rows.seed = probes.seed = (uint64_t)INT64_MAX + 1;
    assert_refused(assay_scheme_vectors(one, 1, &rows, &told, NULL, NULL, &err), &err,
                   "seed 9223372036854775808");
    assert_refused(assay_vectors_lint(s, "nowhere", &rows, &told, NULL, NULL, &err), &err,
                   "seed 9223372036854775808");
    assert_refused(assay_probe("nowhere", &probes, &err), &err, "seed 9223372036854775808");
    assay_scheme_free(s);
}

static void test_units(void **unused)
{
    const uint16_t a[] = {0x3c00, 0x8c00, 0, 0}, b[] = {0x3c00, 0x0c00, 0, 0};
    assay_dots rows = ASSAY_OPTIONS(assay_dots);
    assay_matrix_unit *volta, *hopper;
    assay_error err;
    bool apart = false;
    uint32_t d = 0;
    char *text, *json;

    (void)unused;
    assert_non_null(assay_matrix_unit_preset(0));
    assert_null(assay_matrix_unit_preset(-1));
    assert_refused(assay_matrix_unit_open("nv-volt", &volta, &err), &err, "nv-volt");
    assert_null(volta);
    assay_matrix_unit_free(NULL);
    assert_ok(assay_matrix_unit_open("nv-volta-f16-f32", &volta, &err), &err);
    assert_ok(assay_matrix_unit_open("nv-hopper-f16-f32", &hopper, &err), &err);
    rows.n = 1;
    rows.k = 4;
    rows.a = a;
    rows.b = b;
    assert_ok(assay_matrix_unit_dot(volta, &rows, &d, &err), &err);
    assert_int_equal(d, 0x3f800000);
    assert_ok(assay_matrix_unit_try(volta, &rows, &text, &json, &err), &err);
    assert_non_null(strstr(text, "gives 0x3f800000"));
    assert_non_null(strstr(json, "\"d\": \"0x3f800000\""));
    assay_free(text);
    assay_free(json);
    rows.scale_a = a;
    assert_refused(assay_matrix_unit_dot(volta, &rows, &d, &err), &err, "block scales");
    rows.scale_a = NULL;
    rows.b = NULL;
    assert_refused(assay_matrix_unit_dot(volta, &rows, &d, &err), &err, "a and b");
    assert_ok(assay_matrix_units_diff(volta, hopper, 0, &apart, &text, &json, &err), &err);
    assert_true(apart && strstr(text, "differ,") && strstr(json, "\"row\""));
    assay_free(text);
    assay_free(json);
    assay_matrix_unit_free(volta);
    assay_matrix_unit_free(hopper);
}

/* Two samples [2,2] of float32 with labels, as .npy files. */
static void write_npy(const char *path, const char *head, const void *data, size_t size)
{
    char header[129];
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    snprintf(header, sizeof header, "\x93NUMPY\x01%c\x76%c%-117s\n", 0, 0, head);
    memcpy(header, "\x93NUMPY\x01\0\x76\0", 10);
    fwrite(header, 1, 128, f);
    fwrite(data, 1, size, f);
    assert_int_equal(fclose(f), 0);
}

static void test_loader(void **unused)
{
    static const char text[] =
        "graph g {\n input x: f32[1,2]\n y: f32[1,2] = relu(x)\n output y\n}\n";
    const float data[] = {1, 2, 3, 4};
    const int32_t labels[] = {1, 0};
    char dir[] = "/tmp/assay-loader-XXXXXX", file[64], beside[64];
    enum assay_model_form form;
    assay_loader *d;
    assay_graph *g;
    assay_error err;
    float x[2] = {0};
    int64_t extent[2], map[4];

    (void)unused;
    assert_non_null(mkdtemp(dir));
    snprintf(file, sizeof file, "%s/d.npy", dir);
    snprintf(beside, sizeof beside, "%s/d_labels.npy", dir);
    write_npy(file, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }", data,
              sizeof data);
    write_npy(beside, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }", labels,
              sizeof labels);
    assert_ok(assay_load_memory("g", text, sizeof text - 1, NULL, &g, &form, &err), &err);
    assert_refused(assay_loader_open(file, g, 1, NULL, &d, &err), &err,
                   "there is no input number 1");
    assert_null(d);
    assay_loader_close(NULL);
    assert_ok(assay_loader_open(file, g, 0, NULL, &d, &err), &err);
    assert_int_equal(assay_loader_count(d), 2);
    assert_ok(assay_loader_read(d, 1, x, &err), &err);
    assert_true(x[0] == 3 && x[1] == 4);
    assert_true(assay_loader_label(d, 0) == 1 && assay_loader_label(d, 9) == -1);
    assert_refused(assay_loader_read(d, 2, x, &err), &err, "no sample 2 of 2");
    assay_loader_map(d, extent);
    assert_int_equal(extent[0], 0);
    assert_refused(assay_loader_read_map(d, 0, 255, map, &err), &err, "label maps");
    assert_non_null(assay_loader_preprocessing(d));
    assay_loader_close(d);
    assay_graph_free(g);
    unlink(file);
    unlink(beside);
    rmdir(dir);
}

/* A unit behind the row protocol that gives +0 for everything. */
static assay_status answer_zero(void *user, const char *in, const char *out, assay_error *err)
{
    char path[4096];
    assay_npy a, d = {.type = ASSAY_NPY_U4, .rank = 1};
    int *calls = user;
    ++*calls;
    snprintf(path, sizeof path, "%s/a.npy", in);
    assay_status status = text_npy_read_file(path, &a, err);
    if (status)
        return status;
    d.shape[0] = a.shape[0];
    d.data = calloc((size_t)a.shape[0], sizeof(uint32_t));
    snprintf(path, sizeof path, "%s/out.npy", out);
    status = text_npy_write_file(path, &d, err);
    free(d.data);
    text_npy_free(&a);
    return status;
}

static void test_infer_dot(void **unused)
{
    assay_infer_dot_options o = ASSAY_OPTIONS(assay_infer_dot_options);
    enum assay_inferred verdict = ASSAY_INFERRED_UNIQUE;
    assay_matrix_unit *nearest;
    char *text, *json, *unit;
    int calls = 0;
    assay_error err;

    (void)unused;
    o.a = o.b = "f16";
    o.acc = "f32";
    o.k = 4;
    o.seconds = 0.1;
    assert_refused(assay_infer_dot(&o, &verdict, &text, &json, &unit, &err), &err, "either oracle");
    assert_true(!text && !json && !unit);
    o.ask = answer_zero;
    o.user = &calls;
    o.scale_block = 4;
    assert_refused(assay_infer_dot(&o, &verdict, &text, &json, &unit, &err), &err, "together");
    o.scale_block = 0;
    assert_ok(assay_infer_dot(&o, &verdict, &text, &json, &unit, &err), &err);
    assert_true(verdict == ASSAY_INFERRED_NONE && calls > 0);
    assert_non_null(strstr(json, "\"verdict\": \"none\""));
    assert_non_null(strstr(text, "none"));
    assert_ok(assay_matrix_unit_from_text("found", unit, strlen(unit), &nearest, &err), &err);
    assay_matrix_unit_free(nearest);
    assay_free(text);
    assay_free(json);
    assay_free(unit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_try),    cmocka_unit_test(test_unwanted),
        cmocka_unit_test(test_units),  cmocka_unit_test(test_infer_dot),
        cmocka_unit_test(test_loader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
