/* Every field of a certificate is edited in turn, and the digest made to fit: with the networks at
 * hand the checker notices each edit but those of the two fields that are commentary. */
#include "test/support/rewrite_case.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opt/certificate/certificate.h"
#include "opt/check/proof.h"

typedef struct editing {
    const rewrite_outcome *o;
    json_t *root;
    int edits;
    char where[200]; /* path of the field at hand */
} editing;

/* Seals the edited certificate and has it checked. */
static void must_be_refused(editing *e, const char *what)
{
    char hex[33];
    assay_error err;
    assay_proof_report r;
    const assay_proof_networks networks = {e->o->before, e->o->after};
    if (json_is_object(e->root) && strcmp(e->where, "/digest") != 0) {
        assert_ok(certificate_digest(e->root, hex, &err), &err);
        json_object_set_new(e->root, "digest", json_string(hex));
    }
    char *text = json_dumps(e->root, 0);
    if (check_proof(text, strlen(text), "cert", &networks, &r, &err) == ASSAY_OK)
        fail_msg("%s: %s: not noticed", e->where, what);
    free(text);
    e->edits++;
}

/* Every run of digits in a string, with another first digit. */
static void edit_numbers(editing *e, json_t *string)
{
    char *was = strdup(json_string_value(string));
    for (size_t i = 0; was[i]; i++) {
        if (!isdigit((unsigned char)was[i]) || (i > 0 && isdigit((unsigned char)was[i - 1])))
            continue;
        char *now = strdup(was), context[64];
        now[i] = was[i] == '9' ? '8' : (char)(was[i] + 1);
        json_string_set(string, now);
        snprintf(context, sizeof context, "%.50s", now + (i > 25 ? i - 25 : 0));
        must_be_refused(e, context);
        free(now);
    }
    json_string_set(string, was);
    free(was);
}

static void edit_string(editing *e, json_t *string)
{
    char *was = strdup(json_string_value(string)), *now = malloc(strlen(was) + 8);
    const char *end = strrchr(e->where, '/');
    if (strcmp(end, "/evidence") != 0 && strcmp(end, "/pass") != 0) {
        sprintf(now, "%sx", was);
        json_string_set(string, now);
        must_be_refused(e, "one letter more");
        json_string_set(string, "");
        must_be_refused(e, "nothing");
        json_string_set(string, was);
        edit_numbers(e, string);
    }
    free(was);
    free(now);
}

static void edit_value(editing *e, json_t *v);

static void edit_object(editing *e, json_t *object)
{
    const char *key;
    json_t *v;
    json_t *keys = json_object(); /* of a copy, since entries come and go */
    json_object_update(keys, object);
    json_object_foreach(keys, key, v)
    {
        const size_t length = strlen(e->where);
        snprintf(e->where + length, sizeof e->where - length, "/%s", key);
        edit_value(e, v);
        json_object_del(object, key);
        must_be_refused(e, "missing");
        json_object_set(object, key, v);
        e->where[length] = '\0';
    }
    json_decref(keys);
}

static void edit_array(editing *e, json_t *array)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        json_t *v = json_array_get(array, i);
        const size_t length = strlen(e->where);
        snprintf(e->where + length, sizeof e->where - length, "/%zu", i);
        edit_value(e, v);
        json_incref(v);
        json_array_remove(array, i);
        must_be_refused(e, "removed");
        json_array_insert_new(array, i, v);
        json_array_insert(array, i, v);
        must_be_refused(e, "doubled");
        json_array_remove(array, i);
        e->where[length] = '\0';
    }
}

static void edit_value(editing *e, json_t *v)
{
    if (json_is_object(v)) {
        edit_object(e, v);
    } else if (json_is_array(v)) {
        edit_array(e, v);
    } else if (json_is_string(v)) {
        edit_string(e, v);
    } else if (json_is_integer(v)) {
        json_int_t was = json_integer_value(v);
        for (int by = -1; by <= 1; by += 2) {
            json_integer_set(v, was + by);
            must_be_refused(e, by < 0 ? "one less" : "one more");
        }
        json_integer_set(v, was);
    }
}

static void edit_all(const char *scheme, const char *network, const assay_optimize_options *options)
{
    rewrite_outcome o = rewrite_with(scheme, network, options);
    editing e = {.o = &o, .root = json_loads(o.report.certificate.text, 0, NULL)};
    assert_non_null(e.root);
    assert_true(o.report.applied > 0);
    rewrite_certified(&o);
    edit_value(&e, e.root);
    print_message("# %d applications, %d edits\n", o.report.applied, e.edits);
    json_decref(e.root);
    rewrite_finish(&o);
}

static void every_field_counts_in_exact_steps(void **state)
{
    (void)state;
    edit_all("tflite",
             "graph t { input x: u8[6] q(0.1,0)\na: u8[6] q(0.1,0) = rescale(x) codes[10,30]\n"
             "b: u8[6] q(0.1,0) = rescale(a) codes[0,40]\n output b }",
             &(assay_optimize_options){.bound = 0});
    edit_all("tosa-single",
             "graph t { input x: i8[1,1,6,6] q(0.1,0)\n" REWRITE_CONV_PARTS
             "c: i8[1,2,5,5] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
             "t: i8[1,2,5,5] q(0.0078125,0) = tanh(c)\n"
             "r: u8[1,2,5,5] q(0.0078125,128) = rescale(t)\n"
             "m: u8[1,2,4,4] q(0.0078125,128) = max_pool(r) {kernel=[2,2]}\n"
             "const v: i8[1,2,2,2] q(0.02,0) = [1,2,3,4,-90,100,-110,120]\n"
             "d: i8[1,1,3,3] q(0.1,0) = conv(m,v) {kernel=[2,2]} output d }",
             &(assay_optimize_options){.bound = 0});
}

static void every_field_counts_in_steps_about_sums(void **state)
{
    (void)state;
    edit_all("tflite",
             "graph t { input x: i8[1,1,3,3] q(0.1,0)\n" REWRITE_CONV_PARTS
             "c: i8[1,2,2,2] q(0.5,0) = conv(x,w,b) {kernel=[2,2]}\n"
             "r: i8[1,2,2,2] q(0.5,0) = relu(c) output r }",
             &(assay_optimize_options){.bound = 0});
    edit_all("tosa-single",
             "graph t { input x: i4[1,1,3,3] q(0.25,0)\n"
             "const w: i8[1,1,2,2] q(0.0078125,0) = [1,2,3,4]\n"
             "const b: i32[1] q(0.0009765625,0) = [100]\n"
             "a: i8[1,1,3,3] q(0.125,0) = rescale(x)\n"
             "c: i8[1,1,2,2] q(0.015625,0) = conv(a,w,b) {kernel=[2,2]} output c }",
             &(assay_optimize_options){.bound = 0});
}

static void every_field_counts_in_bounded_steps(void **state)
{
    (void)state;
    edit_all("tflite",
             "graph t { input x: i8[1,1,3,3] q(0.2,0) a: i8[1,1,3,3] q(0.15,3) = "
             "rescale(x)\n" REWRITE_CONV_PARTS
             "c: i8[1,2,2,2] q(0.5,0) = conv(a,w,b) {kernel=[2,2]} output c }",
             &(assay_optimize_options){.allow = ASSAY_ALLOW_BOUNDED, .bound = 200});
}

/* A smaller bound on the outputs, told alike by the step and for the network: only what the change
 * comes to below tells. */
static void a_bound_on_the_outputs_is_computed_again(void **state)
{
    rewrite_outcome o = rewrite_with(
        "tflite",
        "graph t { input x: i8[1,1,3,3] q(0.1,0) a: i8[1,1,3,3] q(0.15,5) = rescale(x)\n"
        "b: i8[1,1,3,3] q(0.17,-3) = rescale(a) const w: i8[1,1,2,2] q(0.01,0) = [90,-100,3,120]\n"
        "c: i8[1,1,2,2] q(0.3,0) = conv(b,w) {kernel=[2,2]} t: i8[1,1,2,2] q(0.0078125,0) = "
        "tanh(c)\n"
        "output t output c }",
        &(assay_optimize_options){
            .passes = "merge-rescales", .allow = ASSAY_ALLOW_BOUNDED, .bound = 1});
    editing e = {.o = &o, .root = json_loads(o.report.certificate.text, 0, NULL)};
    json_t *steps = json_object_get(e.root, "steps");
    json_t *spread = json_object_get(json_array_get(steps, 0), "spread");
    (void)state;
    assert_int_equal(o.report.bounded, 1);
    rewrite_certified(&o);
    for (size_t i = 0; i < json_array_size(spread); i++) {
        json_t *by = json_array_get(spread, i), *all = json_object_get(e.root, "output_bound");
        const json_int_t was = json_integer_value(by), bound = json_integer_value(all);
        assert_true(was > 1);
        json_integer_set(by, was - 1);
        json_integer_set(all, was == bound ? bound - 1 : bound);
        must_be_refused(&e, "a smaller bound");
        json_integer_set(by, was);
        json_integer_set(all, bound);
    }
    json_decref(e.root);
    rewrite_finish(&o);
}

/* A certificate for each argument that is left. */
static void every_field_counts_in_every_argument(void **state)
{
    static const struct {
        const char *scheme, *passes, *network;
    } cases[] = {
        {"tflite", "fc-to-conv",
         "graph t { input x: i8[2,3] q(0.1,4) const w: i8[2,3] q(0.01,0) = [1,2,-3,-90,100,120]\n"
         "y: i8[2,2] q(0.5,3) = fc(x,w) output y }"},
        {"tflite", "fc-to-matmul,constant-move",
         "graph t { input x: i8[2,3] q(0.1,4) const w: i8[2,3] q(0.01,0) = [1,2,-3,-90,100,120]\n"
         "const b: i32[2] q(0.001,0) = [100,-200] y: i8[2,2] q(0.5,3) = fc(x,w,b) output y }"},
        {"tflite", "sums-to-fc",
         "graph t { input x: i8[2,3] q(0.1,4) const w: i8[3,2] q(0.01,0) = [1,2,-3,-90,100,120]\n"
         "const b: i32[2] = [100,-200] sums: i32[2,2] = matmul(x,w)\n"
         "biased: i32[2,2] = add(sums,b) codes: i32[2,2] q(0.001,0) = relabel(biased)\n"
         "y: i8[2,2] q(0.5,3) = rescale(codes) output y }"},
        {"tflite", "to-nhwc",
         "graph t { input x: i8[1,2,3,4] q(0.1,3) const w: i8[1,2,2,1] q(0.01,0) = [1,2,3,4]\n"
         "c: i8[1,1,2,4] q(0.5,1) = conv(x,w) {kernel=[2,1]} output c }"},
        {"tflite", "sink-move",
         "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.3,5) = rescale(x)\n"
         "c: i8[6] q(0.3,5) = pad(a) {begin=[1],end=[1],has_code=true,code=25} output c }"},
        {"tflite", "sink-order",
         "graph t { input x: i8[1,1,4,5] q(0.1,0) a: i8[1,1,4,5] q(0.3,5) = rescale(x)\n"
         "c: i8[1,1,3,3] q(0.3,5) = max_pool(a) {kernel=[2,3]} output c }"},
        {"tosa-single", "sink-interpolation",
         "graph t { input x: i8[1,1,2,3] q(0.1,0) a: u8[1,1,2,3] q(0.1,128) = rescale(x)\n"
         "c: u8[1,1,4,7] q(0.1,128) = resize(a) {mode=linear,size=[1,1,4,7]} output c }"},
        {"tosa-single", "sink-average",
         "graph t { input x: i4[1,1,4,5] q(0.1,0) a: u4[1,1,4,5] q(0.1,8) = rescale(x)\n"
         "c: u4[1,1,3,3] q(0.1,8) = avg_pool(a) {kernel=[2,3]} output c }"},
        {"tflite", "absorb-up-lrn",
         "graph t { input x: i8[1,4,2,3] q(0.5,0)\n"
         "l: i8[1,4,2,3] q(0.25,3) = lrn(x) {size=3,alpha=0.01}\n"
         "r: i8[1,4,2,3] q(0.25,3) = relu(l) output r }"},
        {"tflite", "absorb-up-average",
         "graph t { input x: i8[1,1,4,5] q(0.1,3)\n"
         "b: i8[1,1,3,3] q(0.1,3) = avg_pool(x) {kernel=[2,3]}\n"
         "r: i8[1,1,3,3] q(0.1,3) = relu(b) output r }"},
        {"tflite", "absorb-up-quantize",
         "graph t { input x: f32[4] q: i8[4] q(0.1,3) = quantize(x)\n"
         "r: i8[4] q(0.1,3) = relu(q) output r }"},
        {"tflite", "sink-transpose",
         "graph t { input x: i8[2,3] q(0.1,0) a: i8[3,2] q(0.1,0) = transpose(x) {perm=[1,0]}\n"
         "c: i8[3,2] q(0.3,0) = neg(a) output c }"},
        {"tflite", "sink-transpose-move",
         "graph t { input x: i8[2,3] q(0.1,0) a: i8[3,2] q(0.1,0) = transpose(x) {perm=[1,0]}\n"
         "c: i8[4,2] q(0.1,0) = pad(a) {begin=[1,0],end=[0,0],has_code=true,code=5} output c }"},
        {"tflite", "common",
         "graph t { input x: i8[4] q(0.1,0) a: i8[4] q(0.2,1) = neg(x)\n"
         "b: i8[4] q(0.2,1) = neg(x) c: i8[4] q(0.3,0) = add(a,b) output c }"},
        {"tflite", "pad-into-conv",
         "graph t { input x: i8[1,1,3,4] q(0.1,5) const w: i8[1,1,2,1] q(0.01,0) = [1,2]\n"
         "p: i8[1,1,5,4] q(0.1,5) = pad(x) {begin=[0,0,1,0],end=[0,0,1,0]}\n"
         "c: i8[1,1,4,4] q(0.5,0) = conv(p,w) {kernel=[2,1]} output c }"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        edit_all(cases[i].scheme, cases[i].network,
                 &(assay_optimize_options){.passes = cases[i].passes});
}

static void every_field_counts_in_bodies(void **state)
{
    (void)state;
    edit_all("tflite",
             "graph t { input p: bool[] input x: i8[4] q(0.1,0)\n"
             "graph a { input v: i8[4] q(0.1,0) b: i8[4] q(0.1,0) = rescale(v) codes[-90,100]\n"
             "c: i8[4] q(0.1,0) = rescale(b) codes[-100,80] output c }\n"
             "graph o { input v: i8[4] q(0.1,0) output v }\n"
             "z: i8[4] q(0.1,0) = rescale(x) y: i8[4] q(0.1,0) = if(p, z) output y }",
             &(assay_optimize_options){.bound = 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_counts_in_exact_steps),
        cmocka_unit_test(every_field_counts_in_steps_about_sums),
        cmocka_unit_test(every_field_counts_in_bounded_steps),
        cmocka_unit_test(a_bound_on_the_outputs_is_computed_again),
        cmocka_unit_test(every_field_counts_in_every_argument),
        cmocka_unit_test(every_field_counts_in_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
