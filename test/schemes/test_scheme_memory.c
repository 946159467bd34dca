/* Every allocation of opening a scheme, preparing its units, batches of rows and threshold forms
 * may fail: the answer is ASSAY_ERR_MEMORY, and nothing leaks (run under ASan). The linker wraps
 * malloc and its kin, and the two calls by which libyaml tells of its own failures
 * (test/meson.build). */
#include "test/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "schemes/record/data.h"
#include "schemes/rescale/single.h"
#include "schemes/rescale/thresholds.h"
#include "test/support/alloc_fails.h"
#include "test/support/scheme_unit.h"

int __real_yaml_parser_initialize(yaml_parser_t *p);
int __wrap_yaml_parser_initialize(yaml_parser_t *p);
int __real_yaml_parser_parse(yaml_parser_t *p, yaml_event_t *e);
int __wrap_yaml_parser_parse(yaml_parser_t *p, yaml_event_t *e);

int __wrap_yaml_parser_initialize(yaml_parser_t *p)
{
    return alloc_fails() ? 0 : __real_yaml_parser_initialize(p);
}

int __wrap_yaml_parser_parse(yaml_parser_t *p, yaml_event_t *e)
{
    if (!alloc_fails())
        return __real_yaml_parser_parse(p, e);
    p->error = YAML_MEMORY_ERROR;
    return 0;
}

typedef assay_status (*work)(const void *what, assay_error *err);

/* Lets the first allocation fail, then the second, ... until none is left to fail. */
static void each_in_turn(work run, const void *what, const char *name)
{
    for (long k = 1; k < 5000; k++) {
        assay_error err = {0};
        alloc_countdown = k;
        assay_status status = run(what, &err);
        bool reached = alloc_countdown == 0;
        alloc_countdown = 0;
        if (!reached)
            return;
        if (status != ASSAY_ERR_MEMORY)
            fail_msg("%s, allocation %ld: status %d (%s)", name, k, (int)status, err.text);
    }
    fail_msg("%s: no end of allocations", name);
}

static assay_status open_one(const void *what, assay_error *err)
{
    assay_scheme *s;
    assay_status status = assay_scheme_open(what, &s, err);
    if (status == ASSAY_OK)
        assay_scheme_free(s);
    return status;
}

static void opening(void **state)
{
    (void)state;
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++)
        each_in_turn(open_one, *name, *name);
    /* A file that bears a preset's name is compared with it; two nodes have given multipliers. */
    static const char preset[] = "scheme: vta\nextends: vta\n";
    static const char nodes[] =
        "scheme: a\ncontract: {exact: [x, y]}\nnodes:\n"
        "  m: {add: {bits: 3}, given: {multiplier: [1, 2], shift: [3, 4], zero_point: 5}}\n"
        "  n: {given: {multiplier: 1, shift: 3}}\nrules: {a: never, b: 3}\n";
    char dir[600], path[700];
    test_temp_dir(dir, sizeof dir);
    snprintf(path, sizeof path, "%s/t.yaml", dir);
    test_write_file(path, preset, sizeof preset - 1);
    each_in_turn(open_one, path, "a preset's name");
    test_write_file(path, nodes, sizeof nodes - 1);
    each_in_turn(open_one, path, "given multipliers");
    test_remove_tree(dir);
    each_in_turn(open_one, PLUGIN, "plugin");
}

typedef struct question {
    const assay_scheme *scheme;
    const assay_unit_spec *spec;
} question;

static assay_status prepare_one(const void *what, assay_error *err)
{
    const question *q = what;
    assay_unit *u;
    assay_status status = q->scheme->vt->prepare(q->scheme, q->spec, &u, err);
    if (status == ASSAY_OK)
        q->scheme->vt->release(u);
    return status;
}

/* Ops that the scheme refuses on these types are passed over. */
static void preparing(void **state)
{
    (void)state;
    static const char *const ops[] = {"conv",        "fc",         "add",
                                      "sub",         "mul",        "min",
                                      "div",         "prelu",      "less",
                                      "rescale",     "relu",       "leaky_relu",
                                      "sigmoid",     "tanh",       "elu",
                                      "softmax",     "hard_swish", "avg_pool",
                                      "reduce_mean", "reduce_sum", "log_softmax",
                                      "l2_norm",     "quantize",   "dequantize",
                                      "resize",      "max_pool",   "squared_difference"};
    static const float scales[4] = {0.125f, 0.25f, 0.0625f, 0.03125f};
    static const int32_t zeros[4] = {0, 0, 0, 0};
    size_t units = 0;
    for (const char *const *name = assay_scheme_presets(); *name != NULL; name++) {
        assay_scheme *s;
        assay_scheme_caps caps;
        assay_error err;
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        assay_scheme_get_caps(s, &caps);
        for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
            bool sign = caps.activation_signed;
            assay_type in[2] = {code_type(caps.activation_bits, sign, &scales[0], &zeros[0]),
                                code_type(caps.activation_bits, sign, &scales[1], &zeros[0])};
            assay_type out = code_type(caps.activation_bits, sign, &scales[2], &zeros[0]);
            assay_unit_spec spec = unit_spec(ops[i], in, 2, &out);
            assay_unit *u;
            spec.depth = 4;
            spec.alpha = 0.25;
            if (strcmp(ops[i], "conv") == 0) { /* per channel */
                in[1].rank = 1;
                in[1].dim[0] = 4;
                in[1].q = (assay_qparams){ASSAY_Q_AXIS, 0, 0, 4, scales, zeros};
            }
            if (s->vt->prepare(s, &spec, &u, &err) != ASSAY_OK)
                continue;
            s->vt->release(u);
            units++;
            const question q = {s, &spec};
            char what[100];
            snprintf(what, sizeof what, "%s, %s", *name, ops[i]);
            each_in_turn(prepare_one, &q, what);
        }
        assay_scheme_free(s);
    }
    print_message("# %zu units\n", units);
    assert_true(units > 600);
}

/* Units that the presets' usual types do not reach. */
static void special(void **state)
{
    (void)state;
    static const struct {
        const char *record, *op;
        unsigned bits;
        float scale_out;
        int32_t zero_out;
        double act_hi;
    } cases[] = {
        {"unary: {logistic: fixed-point}\n", "sigmoid", 8, 0x1p-8f, -128, 0},
        {"unary: {logistic: fixed-point}\n", "tanh", 16, 0x1p-15f, 0, 0},
        {"unary: {hard_swish: fixed-point}\n", "hard_swish", 8, 0.125f, 0, 0},
        {"table: {kind: interpolated-513}\n", "exp", 16, 0.125f, 0, 0},
        {"softmax: {kind: lut-16}\n", "softmax", 16, 0x1p-15f, 0, 0},
        {"softmax: {log_softmax: yes}\n", "log_softmax", 8, 0x1p-4f, 127, 0},
        {"rescale: {encoding: thresholds, round: [floor]}\n", "conv", 8, 0.125f, 0, 6},
        {"rescale: {encoding: float32, scale: f32-steps, round: [floor]}\n", "conv", 8, 0.125f, 0,
         0},
        {"rescale: {pre_shift: rest, round: [15 half-up]}\n", "conv", 8, 0.125f, 0, 0},
        {"nodes: {node: {given: {multiplier: 3, shift: 4, zero_point: 1}}}\n", "conv", 8, 0.125f, 0,
         0},
        {"softmax: {layer_norm: integer-sqrt}\n", "layer_norm", 8, 0.125f, 0, 0},
        {"pool: {kind: float-sum}\n", "avg_pool", 8, 0.125f, 0, 0},
        {"pool: {kind: dpu}\n", "avg_pool", 8, 0.125f, 0, 0},
        {"pool: {kind: divided-multiplier}\n", "avg_pool", 8, 0.125f, 0, 0},
        {"add: {kind: align-power-of-two}\n", "add", 8, 0.125f, 0, 0},
        {"", "add_n", 8, 0.125f, 0, 0},
        {"add: {kind: separate}\n", "sub", 8, 0.125f, 0, 0},
        {"unary: {leaky_relu: fixed-8}\n", "leaky_relu", 8, 0.25f, 0, 0},
        {"binary: {compare: rescale}\n", "less", 8, 0.125f, 0, 0},
        {"lrn: {cells: 2}\n", "lrn", 8, 0.125f, 0, 0},
        {"blocks: {kind: multiplier}\n", "fc", 8, 0.125f, 0, 0},
    };
    const float scale = 0.125f, by_block[2] = {0.125f, 0.25f};
    const int32_t zero = 0, zeros[2] = {0, 0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300];
        assay_scheme *s;
        assay_error err;
        snprintf(text, sizeof text, "scheme: t\n%s", cases[i].record);
        assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
        assay_type in[2] = {code_type(cases[i].bits, true, &scale, &zero),
                            code_type(8, true, &scale, &zero)};
        if (strcmp(cases[i].op, "fc") == 0) {
            in[1].rank = 2;
            in[1].dim[1] = 4;
            in[1].q = (assay_qparams){ASSAY_Q_BLOCK, 1, 2, 2, by_block, zeros};
        }
        const assay_type out =
            code_type(cases[i].bits, true, &cases[i].scale_out, &cases[i].zero_out);
        assay_unit_spec spec = unit_spec(cases[i].op, in, 2, &out);
        spec.depth = 4;
        spec.alpha = 0.25;
        spec.gamma = 1; /* lrn's bias */
        if (cases[i].act_hi > 0)
            spec.act_hi = cases[i].act_hi;
        const question q = {s, &spec};
        assert_ok(prepare_one(&q, &err), &err);
        each_in_turn(prepare_one, &q, text);
        assay_scheme_free(s);
    }
}

static assay_status make_form(const void *what, assay_error *err)
{
    const assay_single *o = what;
    assay_threshold_form form;
    assay_status status = assay_threshold_form_make(&o->r, 0, -5000, 5000, &form, err);
    if (status == ASSAY_OK)
        assay_threshold_form_free(&form);
    return status;
}

static assay_status make_one(const void *given, assay_error *err)
{
    assay_scheme *like, *s;
    assay_status status = assay_scheme_open("vta", &like, err);
    if (status != ASSAY_OK)
        return status;
    status = assay_scheme_of_record(like, &assay_data(like)->base, given, &s, err);
    assay_scheme_free(like);
    if (status == ASSAY_OK)
        assay_scheme_free(s);
    return status;
}

/* A scheme of a record that was made, with and without given multipliers. */
static void making(void **state)
{
    char node[] = "n";
    int64_t m[2] = {1, 2}, shift[2] = {3, 4};
    const assay_precomputed given = {.node = node, .n = 2, .multiplier = m, .shift = shift};
    (void)state;
    each_in_turn(make_one, NULL, "a made record");
    each_in_turn(make_one, &given, "a made record with multipliers");
}

static void forms(void **state)
{
    (void)state;
    const double scale = 0.25;
    const assay_batch b = {.n = 1, .type = {ASSAY_KIND_INT, 16, true}, .scale = &scale};
    assay_scheme *s;
    assay_error err;
    assay_single o;
    char why[256];
    assert_ok(assay_scheme_open("tflite", &s, &err), &err);
    assert_ok(assay_single_start(&o, s, NULL, false, &err), &err);
    assert_true(assay_single_set(&o, &b, 0, why, sizeof why));
    each_in_turn(make_form, &o, "a form of 2,500 runs");
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(opening), cmocka_unit_test(preparing),
                                       cmocka_unit_test(special), cmocka_unit_test(making),
                                       cmocka_unit_test(forms)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
