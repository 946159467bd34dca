/* Quantized ONNX against ONNX Runtime 1.30's bits (../shared/golden/onnx): single operators and
 * whole networks under the preset `onnxruntime`, every element of every output. */
#include "test/support/support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/export.h"
#include "graph/onnx/onnx.h"
#include "graph/text/npy.h"
#include "interp/kernel/kernel.h"
#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "schemes/scheme.h"

typedef struct tally {
    char op[64];
    int cases, bad_cases;
    int64_t elements, mismatches;
} tally;

#define TALLIES 64

typedef struct table {
    tally row[TALLIES];
    int n;
} table;

static tally *row_of(table *t, const char *op)
{
    for (int i = 0; i < t->n; i++)
        if (strcmp(t->row[i].op, op) == 0)
            return &t->row[i];
    assert_true(t->n < TALLIES);
    snprintf(t->row[t->n].op, sizeof t->row[t->n].op, "%s", op);
    return &t->row[t->n++];
}

/* Elements of v that are not want's, bit for bit; all of them when the shape or type is another. */
static int64_t mismatches(const assay_value *v, const void *got, const assay_npy *want)
{
    size_t size = assay_elem_size(v->type.elem), count = text_npy_count(want);
    int64_t bad = 0;
    bool shape = v->type.rank == want->rank && count * size == text_npy_bytes(want);
    for (int d = 0; shape && d < want->rank; d++)
        shape = v->type.dim[d] == want->shape[d];
    if (!shape)
        return (int64_t)count;
    for (size_t i = 0; i < count; i++)
        bad += memcmp((const char *)got + i * size, (const char *)want->data + i * size, size) != 0;
    return bad;
}

static void read_npy(const char *folder, const char *name, assay_npy *a)
{
    char relative[400], path[600];
    assay_error err = {0};
    snprintf(relative, sizeof relative, "golden/onnx/%s%s.npy", folder, name);
    assert_ok(text_npy_read_file(test_shared(relative, path, sizeof path), a, &err), &err);
}

static void set_input(assay_run *r, const assay_graph *g, int value, const assay_npy *x)
{
    assert_int_equal(assay_type_bytes(&g->value[value].type), text_npy_bytes(x));
    void *to = assay_run_data(r, value);
    if (to)
        memcpy(to, x->data, text_npy_bytes(x));
}

/* Imports, groups and makes ready to run. False: `why` says where it stopped. */
static bool prepare(const char *model, const assay_onnx_options *options, const assay_scheme *s,
                    assay_graph **g, assay_program **p, assay_run **r, assay_error *why)
{
    *p = NULL;
    *r = NULL;
    return onnx_import_file(model, options, g, why) == ASSAY_OK &&
           quantize_group_qdq(*g, s, run_has_integer_kernel, NULL, why) == ASSAY_OK &&
           assay_program_make_as_is(*g, s, false, p, why) == ASSAY_OK &&
           assay_run_new(*p, r, why) == ASSAY_OK;
}

#define INPUTS 6

typedef struct case_inputs {
    int n;
    const char *name[INPUTS];
    assay_npy x[INPUTS];
    assay_onnx_fixed fixed[INPUTS];
    assay_onnx_options options;
} case_inputs;

/* Scales and zero points that the model takes at run time (single elements) become constants. */
static void read_inputs(const json_t *c, const char *folder, case_inputs *in)
{
    const json_t *list = json_object_get(c, "inputs");
    in->n = (int)json_array_size(list);
    in->options = (assay_onnx_options){.fixed = in->fixed};
    assert_true(in->n <= INPUTS);
    for (int i = 0; i < in->n; i++) {
        char file[20];
        assay_npy *x = &in->x[i];
        in->name[i] = json_string_value(json_array_get(json_array_get(list, (size_t)i), 0));
        snprintf(file, sizeof file, "in_%d", i);
        read_npy(folder, file, x);
        if (i == 0 || text_npy_count(x) != 1)
            continue;
        assay_elem elem = x->type == ASSAY_NPY_F4   ? assay_f32()
                          : x->type == ASSAY_NPY_I1 ? assay_int(8, true)
                                                    : assay_int(8, false);
        assay_type type = {.elem = elem, .rank = x->rank};
        for (int d = 0; d < x->rank; d++)
            type.dim[d] = 1;
        in->fixed[in->options.n_fixed++] = (assay_onnx_fixed){in->name[i], type, x->data};
    }
}

/* The row of the table that a case belongs to: its op, of a QDQ group the op between. */
static tally *row_of_case(table *t, const json_t *c)
{
    const json_t *ops = json_object_get(c, "ops");
    char op[64];
    snprintf(op, sizeof op, "%s", json_string_value(json_array_get(ops, 0)));
    for (size_t i = 0; json_object_get(c, "fused_ops") && i < json_array_size(ops); i++) {
        const char *inner = json_string_value(json_array_get(ops, i));
        if (!strstr(inner, "quantizeLinear") && !strstr(inner, "QuantizeLinear")) {
            snprintf(op, sizeof op, "QDQ %s", inner);
            break;
        }
    }
    return row_of(t, op);
}

static bool execute(const case_inputs *in, const assay_graph *g, assay_run *r, assay_error *why)
{
    for (int i = 0; i < in->n; i++) {
        const int value = assay_graph_find_value(g, in->name[i]);
        if (value >= 0 && !g->value[value].data)
            set_input(r, g, value, &in->x[i]);
    }
    return run_execute(r, NULL, false, NULL, why) == ASSAY_OK;
}

/* Elements of the outputs that are not the golden ones: all of the first, where there is no run. */
static int64_t count_bad(const char *folder, const assay_graph *g, assay_run *r, bool ready,
                         tally *row)
{
    int64_t bad = 0;
    for (int i = 0; i < (ready ? g->n_outputs : 1); i++) {
        assay_npy y;
        char name[20];
        snprintf(name, sizeof name, "out_%d", i);
        read_npy(folder, name, &y);
        row->elements += (int64_t)text_npy_count(&y);
        bad += ready ? mismatches(&g->value[g->output[i]], assay_run_data(r, g->output[i]), &y)
                     : (int64_t)text_npy_count(&y);
        text_npy_free(&y);
    }
    return bad;
}

static void run_case(const assay_scheme *s, const json_t *c, table *t)
{
    const char *name = json_string_value(json_object_get(c, "name"));
    char relative[300], model[600], folder[200];
    assay_graph *g = NULL;
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err = {0};
    case_inputs in;
    tally *row = row_of_case(t, c);
    snprintf(folder, sizeof folder, "ops/%s/", name);
    snprintf(relative, sizeof relative, "golden/onnx/%smodel.onnx", folder);
    read_inputs(c, folder, &in);
    const bool ready =
        prepare(test_shared(relative, model, sizeof model), &in.options, s, &g, &p, &r, &err) &&
        execute(&in, g, r, &err);
    const int64_t bad = count_bad(folder, g, r, ready, row);
    row->cases++;
    row->mismatches += bad;
    row->bad_cases += bad > 0;
    for (int i = 0; i < in.n; i++)
        text_npy_free(&in.x[i]);
    if (bad > 0)
        print_message("# %s: %lld mismatches%s%s\n", name, (long long)bad, ready ? "" : ": ",
                      ready ? "" : err.text);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

static void single_operators(void **state)
{
    char path[600];
    assay_scheme *s = NULL;
    assay_error err = {0};
    table t = {.n = 0};
    tally all = {.op = "all"};
    (void)state;

    if (!test_shared("golden/onnx/ops/manifest.json", path, sizeof path)) {
        print_message("# golden/onnx/ops is missing\n");
        skip();
    }
    json_t *manifest = json_load_file(path, 0, NULL);
    assert_non_null(manifest);
    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    const json_t *cases = json_object_get(manifest, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++)
        run_case(s, json_array_get(cases, i), &t);
    print_message("# %-28s %6s %10s %10s\n", "op", "cases", "elements", "mismatches");
    for (int i = 0; i < t.n; i++) {
        const tally *row = &t.row[i];
        print_message("# %-28s %6d %10lld %10lld\n", row->op, row->cases, (long long)row->elements,
                      (long long)row->mismatches);
        all.cases += row->cases;
        all.bad_cases += row->bad_cases;
        all.elements += row->elements;
        all.mismatches += row->mismatches;
    }
    print_message("# %-28s %6d %10lld %10lld\n", all.op, all.cases, (long long)all.elements,
                  (long long)all.mismatches);
    assert_true(all.cases >= 276);
    assert_int_equal(all.mismatches, 0);
    json_decref(manifest);
    assay_scheme_free(s);
}

/* The grouped network written as ONNX, read and grouped again. */
static assay_graph *exported(const assay_graph *g, const assay_scheme *s)
{
    unsigned char *bytes = NULL;
    size_t length = 0;
    assay_graph *back = NULL;
    assay_error err = {0};
    assert_ok(onnx_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(onnx_import_memory("exported", bytes, length, NULL, &back, &err), &err);
    assert_ok(quantize_group_qdq(back, s, run_has_integer_kernel, NULL, &err), &err);
    free(bytes);
    return back;
}

/* Mismatches of g's output on x with y. */
static int64_t run_again(const assay_graph *g, const assay_scheme *s, const assay_npy *x,
                         const assay_npy *y)
{
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err = {0};
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    set_input(r, g, g->input[0], x);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    int64_t bad = mismatches(&g->value[g->output[0]], assay_run_data(r, g->output[0]), y);
    assay_run_free(r);
    assay_program_free(p);
    return bad;
}

/* One network: NET_VARIANT.onnx on NET_x gives NET_VARIANT_SUFFIX. */
static int64_t run_network(const assay_scheme *s, const char *net, const char *variant,
                           const char *suffix)
{
    char name[100], relative[300], model[600];
    assay_graph *g = NULL;
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err = {0};
    assay_npy x, y;
    snprintf(name, sizeof name, "%s_x", net);
    read_npy("nets/", name, &x);
    snprintf(name, sizeof name, "%s_%s_%s", net, variant, suffix);
    read_npy("nets/", name, &y);
    snprintf(relative, sizeof relative, "golden/onnx/nets/%s_%s.onnx", net, variant);
    const assay_onnx_options options = {.batch = x.shape[0]};
    bool ready = prepare(test_shared(relative, model, sizeof model), &options, s, &g, &p, &r, &err);
    if (!ready)
        print_message("# %s_%s: %s\n", net, variant, err.text);
    assert_true(ready);
    set_input(r, g, g->input[0], &x);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    int quantized = 0;
    for (int i = 0; i < g->n_nodes; i++)
        quantized += assay_node_is_quantized(g, &g->node[i]);
    int64_t bad = mismatches(&g->value[g->output[0]], assay_run_data(r, g->output[0]), &y);
    assay_graph *back = exported(g, s);
    int64_t bad_back = run_again(back, s, &x, &y);
    print_message("# %-12s %-10s %4d nodes, %4d on codes, %6zu elements, %lld mismatches; exported "
                  "and read: %d nodes, %lld\n",
                  net, variant, g->n_nodes, quantized, text_npy_count(&y), (long long)bad,
                  back->n_nodes, (long long)bad_back);
    bad += bad_back;
    assay_graph_free(back);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    text_npy_free(&x);
    text_npy_free(&y);
    return bad;
}

/* S8S8: as ONNX Runtime computes it where int8 activations are allowed to stay so. */
static void networks(void **state)
{
    static const char *const list[][3] = {
        {"dscnn", "qdq_u8s8", "y"},       {"dscnn", "qlin_u8s8", "y"},
        {"dscnn", "qlin_s8s8", "y"},      {"dscnn", "qdq_s8s8", "int8allowed_y"},
        {"resnet8", "qdq_u8s8", "y"},     {"resnet8", "qlin_u8s8", "y"},
        {"resnet8", "qlin_s8s8", "y"},    {"resnet8", "qdq_s8s8", "int8allowed_y"},
        {"mobilenetv2", "qdq_u8s8", "y"}, {"encoder", "qdq_u8s8", "y"},
        {"encoder", "qlin_u8s8", "y"},
    };
    char path[600];
    assay_scheme *s = NULL;
    assay_error err = {0};
    int64_t bad = 0;
    (void)state;

    if (!test_shared("golden/onnx/nets/nets.json", path, sizeof path)) {
        print_message("# golden/onnx/nets is missing\n");
        skip();
    }
    assert_ok(assay_scheme_open("onnxruntime", &s, &err), &err);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        bad += run_network(s, list[i][0], list[i][1], list[i][2]);
    assert_int_equal(bad, 0);
    assay_scheme_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_operators),
        cmocka_unit_test(networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
