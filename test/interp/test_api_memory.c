/* An allocation of what explains, reads and draws may fail, each of the first ones and some of
 * many: the call says so and leaves no text, or says what it says otherwise. What a failure leaves
 * behind is ASan's to find. */
#include "test/support/support.h"

#include <stdio.h>
#include <string.h>

#include "interp/assay_arithmetic.h"
#include "interp/assay_measures.h"
#include "test/support/alloc_fails.h"

enum { TEXTS = 3 };

/* What the operations work on, made while nothing fails; and what one says. */
typedef struct fixture {
    char dir[256], network[300], samples[300], golden[300], dumps[320];
    assay_graph *graph;
    assay_profile *profile;
    assay_scheme *scheme, *other;
    assay_matrix_unit *unit[2];
    char *text[TEXTS];
} fixture;

static const char network_text[] = "graph g {\n input x: f32[1,4]\n"
                                   " const w: f32[3,4] = [1,-1,2,4,0.5,3,-4,4,1,1,0.5,-4]\n"
                                   " y: f32[1,3] = fc(x, w)\n output y\n}\n";

static const char *beside(const fixture *f, const char *name, char path[300])
{
    snprintf(path, 300, "%s/%s", f->dir, name);
    return path;
}

/* The network in integers, and a bundle of it. */
static void write_golden(fixture *f)
{
    static const float x[4] = {0.5F, -1, 2, 0.25F};
    assay_graph *q;
    assay_program *p;
    assay_run *r;
    assay_error err;

    assert_ok(assay_quantize(f->graph, f->profile, f->scheme, NULL, &q, NULL, &err), &err);
    assert_ok(assay_save(q, f->network, &err), &err);
    assert_ok(assay_program_make(q, f->scheme, true, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    memcpy(assay_run_data(r, assay_input(q, 0)), x, sizeof x);
    assert_ok(assay_golden(p, r, f->golden, false, NULL, &err), &err);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(q);
}

static fixture prepare(void)
{
    static const char head[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }";
    const float data[8] = {1, 2, 3, 4, -1, -2, -3, -4};
    const void *const input[] = {data};
    fixture f = {.text = {NULL}};
    assay_error err;
    char npy[128 + sizeof data + 1];

    test_temp_dir(f.dir, sizeof f.dir);
    beside(&f, "net.assay", f.network);
    beside(&f, "samples.npy", f.samples);
    beside(&f, "golden", f.golden);
    snprintf(f.dumps, sizeof f.dumps, "%s/tensors", f.golden);
    snprintf(npy, sizeof npy, "\x93NUMPY....%-117s\n", head);
    memcpy(npy + 6, "\x01\0\x76\0", 4);
    memcpy(npy + 128, data, sizeof data);
    test_write_file(f.samples, npy, 128 + sizeof data);
    assert_ok(
        assay_load_memory("g", network_text, sizeof network_text - 1, NULL, &f.graph, NULL, &err),
        &err);
    assert_ok(assay_scheme_open("tflite", &f.scheme, &err), &err);
    assert_ok(assay_scheme_open("tflite-single", &f.other, &err), &err);
    assert_ok(assay_profile_new(f.graph, &f.profile, &err), &err);
    assert_ok(assay_profile_observe(f.profile, f.graph, 0, 2, input, 1, NULL, NULL, &err), &err);
    assert_ok(assay_matrix_unit_open("nv-volta-f16-f32", &f.unit[0], &err), &err);
    assert_ok(assay_matrix_unit_open("nv-hopper-f16-f32", &f.unit[1], &err), &err);
    write_golden(&f);
    return f;
}

static void drop(fixture *f)
{
    assay_matrix_unit_free(f->unit[0]);
    assay_matrix_unit_free(f->unit[1]);
    assay_profile_free(f->profile);
    assay_scheme_free(f->scheme);
    assay_scheme_free(f->other);
    assay_graph_free(f->graph);
    test_remove_tree(f->dir);
}

/* ---- operations ---- */

static assay_status try_rescale(fixture *f, assay_error *err)
{
    const int64_t acc = 585;
    const double scale = 0.0111;
    assay_rescales row = ASSAY_OPTIONS(assay_rescales);
    row.n = 1;
    row.acc = &acc;
    row.scale = &scale;
    return assay_scheme_try(f->scheme, &row, &f->text[0], &f->text[1], err);
}

static assay_status use_unit(fixture *f, assay_error *err)
{
    const uint16_t a[] = {0x3c00, 0x8c00, 0, 0}, b[] = {0x3c00, 0x0c00, 0, 0};
    assay_dots row = ASSAY_OPTIONS(assay_dots);
    assay_matrix_unit *u;
    row.n = 1;
    row.k = 4;
    row.a = a;
    row.b = b;
    assay_status status = assay_matrix_unit_open("nv-volta-f16-f32", &u, err);
    assert_true((u == NULL) == (status != ASSAY_OK));
    if (!status)
        status = assay_matrix_unit_json(u, &f->text[0], err);
    if (!status)
        status = assay_matrix_unit_try(u, &row, &f->text[1], &f->text[2], err);
    assay_matrix_unit_free(u);
    return status;
}

static assay_status diff_units(fixture *f, assay_error *err)
{
    bool apart = false;
    const assay_status status =
        assay_matrix_units_diff(f->unit[0], f->unit[1], 0, &apart, &f->text[0], &f->text[1], err);
    assert_int_equal(apart, status == ASSAY_OK);
    return status;
}

/* Of two schemes, and what a suite is asked of one parameter that they have otherwise. */
static assay_status tell_schemes(fixture *f, assay_error *err)
{
    const assay_scheme *const both[] = {f->scheme, f->other};
    assay_vectors_options o = ASSAY_OPTIONS(assay_vectors_options);
    bool told = false;
    o.has_acc = true;
    o.acc[0] = -300;
    o.acc[1] = 300;
    const assay_status status =
        assay_scheme_vectors(both, 2, &o, &told, &f->text[0], &f->text[1], err);
    assert_int_equal(told, status == ASSAY_OK);
    return status;
}

/* Over scales: two, and many beside each other. */
static assay_status compare_schemes(fixture *f, assay_error *err)
{
    const assay_scheme *const both[] = {f->scheme, f->other};
    assay_scheme_question q = ASSAY_OPTIONS(assay_scheme_question);
    bool differ = false;
    int undecided = -1;
    q.scales = 2;
    q.scale[0] = 0.01;
    q.scale[1] = 0.3;
    q.has_acc = true;
    q.acc[0] = -3000;
    q.acc[1] = 3000;
    assay_status status = assay_scheme_compare(f->scheme, f->other, &q, &differ, &undecided,
                                               &f->text[0], &f->text[1], err);
    assert_int_equal(undecided, status ? -1 : 0);
    if (!status)
        status = assay_scheme_matrix(both, 2, &q, &f->text[2], NULL, err);
    return status;
}

static assay_status show_scheme(fixture *f, assay_error *err)
{
    return assay_scheme_show(f->scheme, NULL, false, &f->text[0], err);
}

static assay_status load_samples(fixture *f, assay_error *err)
{
    float x[4];
    assay_loader *d;
    assay_status status = assay_loader_open(f->samples, f->graph, 0, NULL, &d, err);
    assert_true((d == NULL) == (status != ASSAY_OK));
    if (!status)
        status = assay_loader_read(d, 1, x, err);
    if (!status)
        assert_true(x[0] == -1 && x[3] == -4);
    assay_loader_close(d);
    return status;
}

static assay_status show(fixture *f, assay_error *err)
{
    char svg[300], html[300];
    assay_show_options o = ASSAY_OPTIONS(assay_show_options);
    o.scheme = f->scheme;
    o.svg = beside(f, "p.svg", svg);
    o.html = beside(f, "p.html", html);
    return assay_profile_show(f->profile, &o, &f->text[0], err);
}

static assay_status blame(fixture *f, assay_error *err)
{
    char html[300], junit[300];
    int faults = 1;
    assay_blame_files files = ASSAY_OPTIONS(assay_blame_files);
    files.html = beside(f, "b.html", html);
    files.junit = beside(f, "b.xml", junit);
    const assay_status status = assay_blame_pages(f->golden, f->dumps, NULL, &files, &faults,
                                                  &f->text[0], &f->text[1], err);
    assert_int_equal(faults, status ? 1 : 0);
    return status;
}

/* Under a scheme that does not take the network before one that does. */
static assay_status infer_dumps(fixture *f, assay_error *err)
{
    static const char *const schemes[] = {"max78000", "tflite"};
    bool explained;
    assay_answers_options o = ASSAY_OPTIONS(assay_answers_options);
    o.schemes = schemes;
    o.n_schemes = 2;
    o.only = true;
    return assay_infer_dumps(f->network, f->dumps, 0, NULL, &o, &explained, &f->text[0],
                             &f->text[1], &f->text[2], err);
}

/* ---- tests ---- */

static void forget(fixture *f)
{
    for (int i = 0; i < TEXTS; i++) {
        assay_free(f->text[i]);
        f->text[i] = NULL;
    }
}

/* The texts of a call that went well are the same ones; one that failed leaves none but those of
 * calls before it. */
static void check_texts(const fixture *f, assay_status status, char *const whole[TEXTS])
{
    for (int i = 0; i < TEXTS; i++) {
        if (f->text[i] && whole[i])
            assert_string_equal(f->text[i], whole[i]);
        if (!status)
            assert_true((f->text[i] == NULL) == (whole[i] == NULL));
    }
}

/* Fails the first allocations in turn, then in wider and wider steps, until all succeed. */
static void fail_every(assay_status (*op)(fixture *, assay_error *))
{
    fixture f = prepare();
    char *whole[TEXTS];
    assay_error err;
    int failures = 0;
    bool all = false;

    assert_ok(op(&f, &err), &err);
    memcpy(whole, f.text, sizeof whole);
    for (long n = 1; !all; n += 1 + n / 32) {
        memset(f.text, 0, sizeof f.text);
        alloc_countdown = n;
        const assay_status status = op(&f, &err);
        all = alloc_countdown > 0;
        alloc_countdown = 0;
        failures += status != ASSAY_OK;
        assert_true(status == ASSAY_OK || status == ASSAY_ERR_MEMORY);
        check_texts(&f, status, whole);
        forget(&f);
    }
    assert_true(failures > 0);
    memcpy(f.text, whole, sizeof whole);
    forget(&f);
    drop(&f);
}

static void test_arithmetic(void **state)
{
    (void)state;
    fail_every(try_rescale);
    fail_every(use_unit);
    fail_every(diff_units);
    fail_every(tell_schemes);
    fail_every(compare_schemes);
    fail_every(show_scheme);
}

static void test_files(void **state)
{
    (void)state;
    fail_every(load_samples);
    fail_every(show);
}

static void test_devices(void **state)
{
    (void)state;
    fail_every(blame);
    fail_every(infer_dumps);
}

/* Whoever wants no message gives NULL for it. */
static void test_no_message(void **state)
{
    fixture f = prepare();
    assay_graph *g;
    char path[300];
    (void)state;
    assert_int_equal(infer_dumps(&f, NULL), ASSAY_OK);
    forget(&f);
    test_write_file(beside(&f, "words", path), "words", 5);
    assert_int_equal(assay_load(path, &g, NULL), ASSAY_ERR_INPUT);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arithmetic),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_devices),
        cmocka_unit_test(test_no_message),
    };
    return cmocka_run_group_tests_name("api_memory", tests, NULL, NULL);
}
