/* Real inputs with labels (../shared/datasets) through the reference networks: the output of every
 * sample equals what TFLite Micro's kernels gave (../shared/golden/tflite), hence so does top-1. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/text/npy.h"
#include "graph/tflite/tflite.h"
#include "interp/run/program.h"

typedef struct set {
    const char *model, *golden, *inputs, *labels;
    int offset;     /* added to a stored input to get the code */
    double top1[2]; /* per cent, double and single rounding (golden/tflite/README.md) */
} set;

static const set sets[] = {
    {"kws_ref_model", "kws01", "kws01/kws01_i8.npy", "kws01/kws01_labels.npy", 0, {90.1, 90.2}},
    {"pretrainedResnet_quant",
     "exact1017",
     "cifar10_subset/cifar10_exact_u8.npy",
     "cifar10_subset/cifar10_exact_labels.npy",
     -128,
     {87.9056, 87.7089}},
    {"pretrainedResnet",
     "exact1017",
     "cifar10_subset/cifar10_exact_u8.npy",
     "cifar10_subset/cifar10_exact_labels.npy",
     0,
     {88.0039, 88.0039}},
};

static bool load(const char *folder, const char *name, assay_npy *a)
{
    char part[400], path[4096];
    assay_error err;
    snprintf(part, sizeof part, "%s/%s", folder, name);
    if (!test_shared(part, path, sizeof path))
        return false;
    assert_ok(text_npy_read_file(path, a, &err), &err);
    return true;
}

static void put_input(const assay_type *t, void *to, const assay_npy *all, size_t sample,
                      int offset)
{
    size_t n = (size_t)assay_shape_count(t);
    for (size_t i = 0; i < n; ++i) {
        double x = text_npy_get(all->data, all->type, sample * n + i) + offset;
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)to)[i] = (float)x;
        else
            ((int8_t *)to)[i] = (int8_t)x;
    }
}

static double output_at(const assay_type *t, const void *y, size_t i)
{
    return t->elem.kind == ASSAY_KIND_F32 ? (double)((const float *)y)[i] : ((const int8_t *)y)[i];
}

/* Elements that differ (floats: by more than 1e-5), and whether the greatest is the label. */
static long compare(const assay_type *t, const void *y, const assay_npy *want, size_t sample,
                    int label, bool *right)
{
    size_t n = (size_t)assay_shape_count(t), best = 0;
    double tolerance = t->elem.kind == ASSAY_KIND_F32 ? 1e-5 : 0;
    long wrong = 0;
    for (size_t i = 0; i < n; ++i) {
        double a = output_at(t, y, i), b = text_npy_get(want->data, want->type, sample * n + i);
        wrong += fabs(a - b) > tolerance;
        best = a > output_at(t, y, best) ? i : best;
    }
    *right = (int)best == label;
    return wrong;
}

static void run_set(const set *s, bool single)
{
    char folder[300], model[300], path[4096];
    assay_npy x, labels, want;
    assay_scheme *scheme;
    assay_graph *g;
    assay_program *p;
    assay_run *r;
    assay_error err;
    long wrong = 0, right = 0;
    double top1;

    snprintf(folder, sizeof folder, "golden/tflite/%s/%s%s", s->model, s->golden,
             single ? ".single" : "");
    snprintf(model, sizeof model, "models/%s.tflite", s->model);
    if (!load("datasets", s->inputs, &x))
        skip();
    assert_true(load("datasets", s->labels, &labels) && load(folder, "out0.npy", &want));
    assert_non_null(test_shared(model, path, sizeof path));
    assert_ok(tfl_import_file(path, &g, &err), &err);
    assert_ok(assay_scheme_open(single ? "tflite-single" : "tflite", &scheme, &err), &err);
    assert_ok(assay_program_make_as_is(g, scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (size_t i = 0; i < (size_t)x.shape[0]; ++i) {
        const assay_type *in = &g->value[g->input[0]].type, *out = &g->value[g->output[0]].type;
        int label = (int)text_npy_get(labels.data, labels.type, i);
        bool hit;
        put_input(in, assay_run_data(r, g->input[0]), &x, i, s->offset);
        assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
        wrong += compare(out, assay_run_data(r, g->output[0]), &want, i, label, &hit);
        right += hit;
    }
    top1 = 100.0 * (double)right / (double)x.shape[0];
    print_message("# %-24s %-6s %5lld samples, %ld outputs differ, top-1 %.4f %%\n", s->model,
                  single ? "single" : "double", (long long)x.shape[0], wrong, top1);
    assert_int_equal(wrong, 0);
    assert_true(fabs(top1 - s->top1[single]) < 0.0001);
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(scheme);
    assay_graph_free(g);
    text_npy_free(&x);
    text_npy_free(&labels);
    text_npy_free(&want);
}

static void test_sets(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; ++i) {
        run_set(&sets[i], false);
        if (i < 2) /* floats do not round */
            run_set(&sets[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
