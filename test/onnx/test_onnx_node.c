/* ONNX's own tests (Debian: libonnx-testdata) through the importer, the plan and the float engine:
 * the tests of single nodes, and models that PyTorch exported. Nodes on codes run under the scheme
 * onnx-ref.
 *
 * A test whose model the importer declines as unsupported is not claimed, and is listed with the
 * reason. Every claimed test must give ONNX's outputs: same element type and shape, integers equal,
 * floats within ONNX's own tolerances. Inputs that decide shapes (axes, sizes, repeats, ...) arrive
 * at run time in many of these models; where the importer needs them as constants they are bound
 * before the import, as few as suffice; where it takes them from a sample, the test's is given. */
#include "test/support/support.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "interp/run/evaluate.h"
#include "interp/run/program.h"
#include "schemes/scheme.h"
#include "test/support/onnx_case.h"

#define ONNX_TESTS "/usr/share/libonnx-testdata/data"
#define RTOL       1e-3 /* ONNX's backend test runner */
#define ATOL       1e-7
#define REASON_MAX 160

/* ---- comparing ---- */

static bool same_element(const onnx_case_tensor *want, const void *got, int64_t i)
{
    size_t size = assay_elem_size(want->type.elem);
    if (want->type.elem.kind != ASSAY_KIND_F32)
        return memcmp((const char *)want->data + (size_t)i * size,
                      (const char *)got + (size_t)i * size, size) == 0;
    double w = (double)((const float *)want->data)[i], g = (double)((const float *)got)[i];
    if (isnan(w) || isinf(w))
        return isnan(w) ? isnan(g) : w == g;
    return fabs(g - w) <= ATOL + RTOL * fabs(w);
}

/* "" when the value is what the test wants. */
static void compare(const assay_value *got, const void *data, const onnx_case_tensor *want,
                    char *why, size_t n)
{
    char a[8], b[8];
    if (!want->data) {
        snprintf(why, n, "output '%s' is of ONNX type %d, got %s", got->name, want->dtype,
                 assay_elem_print(got->type.elem, a));
        return;
    }
    if (!assay_shape_equal(&got->type, &want->type) ||
        !assay_elem_equal(got->type.elem, want->type.elem)) {
        snprintf(why, n, "output '%s' is %s of rank %d, expected %s of rank %d, or extents differ",
                 got->name, assay_elem_print(got->type.elem, a), got->type.rank,
                 assay_elem_print(want->type.elem, b), want->type.rank);
        return;
    }
    int64_t count = assay_shape_count(&want->type);
    for (int64_t i = 0; i < count; i++)
        if (!same_element(want, data, i)) {
            int k =
                snprintf(why, n, "output '%s' differs at element %lld", got->name, (long long)i);
            if (want->type.elem.kind == ASSAY_KIND_F32)
                snprintf(why + k, n - (size_t)k, ": %.9g, expected %.9g",
                         (double)((const float *)data)[i], (double)((const float *)want->data)[i]);
            return;
        }
}

/* ---- running ---- */

static assay_scheme *onnx_ref; /* of the whole run */

static int open_scheme(void **state)
{
    (void)state;
    return assay_scheme_open("onnx-ref", &onnx_ref, NULL) != ASSAY_OK;
}

static int close_scheme(void **state)
{
    (void)state;
    assay_scheme_free(onnx_ref);
    return 0;
}

static bool set_inputs(const assay_graph *g, assay_run *r, const onnx_case *c, char *why, size_t n)
{
    for (int i = 0; i < g->n_inputs; i++) {
        const assay_value *v = &g->value[g->input[i]];
        int k = 0;
        while (k < c->n_in && strcmp(c->in_name[k], v->name) != 0)
            k++;
        if (k == c->n_in || !c->in[k].data || !assay_shape_equal(&v->type, &c->in[k].type) ||
            !assay_elem_equal(v->type.elem, c->in[k].type.elem)) {
            snprintf(why, n, "input '%s' was imported with another type", v->name);
            return false;
        }
        void *to = assay_run_data(r, g->input[i]);
        if (to) /* NULL: nothing uses it */
            memcpy(to, c->in[k].data,
                   (size_t)assay_shape_count(&v->type) * assay_elem_size(v->type.elem));
    }
    return true;
}

static void compare_outputs(const assay_graph *g, assay_run *r, const onnx_case *c, char *why,
                            size_t n)
{
    if (g->n_outputs != c->n_out)
        snprintf(why, n, "%d outputs, expected %d", g->n_outputs, c->n_out);
    for (int i = 0; !*why && i < g->n_outputs; i++)
        compare(&g->value[g->output[i]], assay_run_data(r, g->output[i]), &c->out[i], why, n);
}

static void run_graph(const assay_graph *g, const onnx_case *c, char *why, size_t n)
{
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err = {0};
    if (assay_program_make_as_is(g, onnx_ref, false, &p, &err) || assay_run_new(p, &r, &err))
        snprintf(why, n, "prepare: %.300s", err.text);
    else if (set_inputs(g, r, c, why, n)) {
        if (run_execute(r, NULL, false, NULL, &err))
            snprintf(why, n, "run: %.300s", err.text);
        else
            compare_outputs(g, r, c, why, n);
    }
    assay_run_free(r);
    assay_program_free(p);
}

/* ---- importing, with as few inputs bound as suffice ---- */

enum { BIND_NONE, BIND_INTEGERS, BIND_ALL_BUT_FIRST, BIND_ALL, BINDINGS };

static bool is_bound(const onnx_case_tensor *t, int k, int binding)
{
    bool integer = t->type.elem.kind == ASSAY_KIND_INT || t->type.elem.kind == ASSAY_KIND_BOOL;
    if (!t->data || binding == BIND_NONE)
        return false;
    return binding == BIND_ALL || (k > 0 && (integer || binding == BIND_ALL_BUT_FIRST));
}

/* What shapes follow from, for the inputs of the test. */
static assay_status compute(void *user, assay_graph *g, int value, const void **data,
                            assay_error *err)
{
    const onnx_case *c = user;
    void *out = assay_arena_alloc(g->arena, assay_type_bytes(&g->value[value].type) + 1);
    const void *in[ONNX_CASE_MAX] = {NULL};
    const assay_status s = assay_graph_set_outputs(g, &value, 1, err);

    for (int i = 0; i < g->n_inputs; i++)
        for (int k = 0; k < c->n_in; k++)
            if (strcmp(c->in_name[k], g->value[g->input[i]].name) == 0)
                in[i] = c->in[k].data;
    *data = out;
    return s ? s : run_whole_graph(g, onnx_ref, in, &out, err);
}

static assay_status import_bound(const onnx_case *c, int binding, assay_graph **g, assay_error *err)
{
    assay_onnx_fixed fixed[ONNX_CASE_MAX];
    assay_onnx_shape shape[ONNX_CASE_MAX];
    bool used = false;
    const assay_sample sample = {compute, (void *)(uintptr_t)c, &used};
    assay_onnx_options options = {.fixed = fixed, .shapes = shape, .sample = sample};
    for (int k = 0; k < c->n_in; k++) {
        const assay_type *t = &c->in[k].type;
        if (is_bound(&c->in[k], k, binding)) {
            fixed[options.n_fixed++] = (assay_onnx_fixed){c->in_name[k], *t, c->in[k].data};
        } else if (c->in[k].data) {
            shape[options.n_shapes] = (assay_onnx_shape){c->in_name[k], t->rank, {0}};
            memcpy(shape[options.n_shapes++].dim, t->dim, (size_t)t->rank * sizeof *t->dim);
        }
    }
    return onnx_import_file(c->model, &options, g, err);
}

static assay_status import_case(const onnx_case *c, int *binding, assay_graph **g, assay_error *err)
{
    assay_status s = ASSAY_ERR_UNSUPPORTED;
    for (*binding = BIND_NONE; *binding < BINDINGS; ++*binding) {
        s = import_bound(c, *binding, g, err);
        if (s != ASSAY_ERR_UNSUPPORTED || c->n_in == 0)
            break;
    }
    return s;
}

/* ---- reporting ---- */

typedef struct reason {
    char text[REASON_MAX];
    int count;
} reason;

typedef struct tally {
    int found, passed, failed, declined, bound[BINDINGS];
    reason reasons[512];
    int n_reasons;
} tally;

/* "OP: what" or what else the importer complains of first, without file and names, which differ
 * from test to test. */
static void shorten(const char *text, char *to)
{
    const char *node = strstr(text, "' ("), *list = strstr(text, "unsupported: ");
    const char *file = strstr(text, ".onnx: "), *at = file ? file + 7 : text;
    size_t n = 0;
    bool quoted = false;
    if (node && (!list || !strchr(list, ';') || node < strchr(list, ';')))
        at = node + 3;
    else if (list)
        at = list + 13;
    for (; *at && *at != ';' && *at != '\n' && n + 1 < REASON_MAX; at++) {
        quoted ^= *at == '\'';
        if (*at != ')' && (!quoted || *at == '\''))
            to[n++] = *at;
    }
    to[n] = '\0';
}

static void decline(tally *t, const assay_error *err)
{
    char text[REASON_MAX];
    int i = 0;
    shorten(err->text, text);
    t->declined++;
    while (i < t->n_reasons && strcmp(t->reasons[i].text, text) != 0)
        i++;
    if (i == (int)(sizeof t->reasons / sizeof *t->reasons))
        return;
    if (i == t->n_reasons)
        t->n_reasons++;
    memcpy(t->reasons[i].text, text, sizeof text);
    t->reasons[i].count++;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const reason *)a)->text, ((const reason *)b)->text);
}

static void report(tally *t, const char *folder)
{
    qsort(t->reasons, (size_t)t->n_reasons, sizeof *t->reasons, by_text);
    for (int i = 0; i < t->n_reasons; i++)
        print_message("# not claimed: %s (%d)\n", t->reasons[i].text, t->reasons[i].count);
    print_message("# ONNX %s tests: %d found, %d run, %d passed, %d failed, %d not claimed\n",
                  folder, t->found, t->passed + t->failed, t->passed, t->failed, t->declined);
    print_message("# inputs bound before import: none %d, integers %d, all but the first %d, all "
                  "%d\n",
                  t->bound[BIND_NONE], t->bound[BIND_INTEGERS], t->bound[BIND_ALL_BUT_FIRST],
                  t->bound[BIND_ALL]);
}

/* ---- the suite ---- */

static void run_case(tally *t, const char *name, const onnx_case *c)
{
    char why[400] = "";
    assay_graph *g = NULL;
    assay_error err = {0};
    int binding;

    t->found++;
    if (strstr(name, "BFLOAT16")) { /* ONNX 1.12 cuts fractions where later releases round */
        decline(t, &(assay_error){.text = "bfloat16 data of an older rule"});
        return;
    }
    assay_status s = import_case(c, &binding, &g, &err);
    if (s == ASSAY_ERR_UNSUPPORTED) {
        decline(t, &err);
        return;
    }
    if (s)
        snprintf(why, sizeof why, "import: %.300s", err.text);
    else
        run_graph(g, c, why, sizeof why);
    assay_graph_free(g);
    t->passed += !*why;
    t->failed += *why != 0;
    t->bound[binding]++;
    if (*why)
        print_message("# FAILED %s: %s\n", name, why);
}

static int skip_dots(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

/* Every test below ONNX_TESTS/folder; at least `least` must pass, and no claimed one fail. */
static void run_suite(const char *folder, int least)
{
    const char *only = getenv("ASSAY_ONNX_ONLY"); /* tests whose name contains this */
    char root[200];
    struct dirent **entry;
    tally *t = calloc(1, sizeof *t);
    snprintf(root, sizeof root, "%s/%s", ONNX_TESTS, folder);
    int n = scandir(root, &entry, skip_dots, alphasort);

    assert_non_null(t);
    if (n < 0) {
        print_message("# %s is missing (apt install libonnx-testdata)\n", root);
        free(t);
        skip();
    }
    for (int i = 0; i < n; i++) {
        char path[500];
        onnx_case c;
        snprintf(path, sizeof path, "%s/%s", root, entry[i]->d_name);
        for (int set = 0; (!only || strstr(path, only)) && onnx_case_read(&c, path, set); set++) {
            run_case(t, entry[i]->d_name, &c);
            onnx_case_free(&c);
        }
        free(entry[i]);
    }
    free(entry);
    report(t, folder);
    int failed = t->failed, passed = t->passed;
    free(t);
    assert_int_equal(failed, 0);
    if (!only)
        assert_true(passed >= least);
}

static void every_claimed_node_test_passes(void **state)
{
    (void)state;
    run_suite("node", 300);
}

static void every_claimed_pytorch_export_passes(void **state)
{
    (void)state;
    run_suite("pytorch-converted", 50);
    run_suite("pytorch-operator", 20);
}

static void every_claimed_simple_model_passes(void **state)
{
    (void)state;
    run_suite("simple", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_claimed_node_test_passes),
        cmocka_unit_test(every_claimed_pytorch_export_passes),
        cmocka_unit_test(every_claimed_simple_model_passes),
    };
    return cmocka_run_group_tests(tests, open_scheme, close_scheme);
}
