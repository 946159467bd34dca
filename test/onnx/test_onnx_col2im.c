/* Col2Im against the loops of ONNX's specification: one to three axes, strides, dilations, pads. */
#include "test/support/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/onnx/onnx.h"
#include "interp/run/program.h"
#include "test/support/onnx_build.h"

#define CHANNELS 2

typedef struct layout {
    int axes, image[3], block[3], stride[3], dilation[3], pads[6];
} layout;

static int padded(const layout *l, int a)
{
    return l->image[a] + l->pads[a] + l->pads[l->axes + a];
}

static int steps(const layout *l, int a)
{
    return (padded(l, a) - l->dilation[a] * (l->block[a] - 1) - 1) / l->stride[a] + 1;
}

static int product(const layout *l, int (*of)(const layout *, int))
{
    int p = 1;
    for (int a = 0; a < l->axes; a++)
        p *= of(l, a);
    return p;
}

static int block_of(const layout *l, int a)
{
    return l->block[a];
}

static int image_of(const layout *l, int a)
{
    return l->image[a];
}

/* y[place of block element e at step s] += x[e, s], where that is inside of the image. */
static void expected(const layout *l, const float *x, double *y)
{
    const int blocks = product(l, block_of), all = product(l, steps), size = product(l, image_of);

    memset(y, 0, (size_t)(CHANNELS * size) * sizeof *y);
    for (int i = 0; i < CHANNELS * blocks * all; i++) {
        int s = i % all, e = i / all % blocks, place = 0, stride = 1;
        bool inside = true;
        for (int a = l->axes - 1; a >= 0; a--) {
            const int at =
                s % steps(l, a) * l->stride[a] + e % l->block[a] * l->dilation[a] - l->pads[a];
            inside &= at >= 0 && at < l->image[a];
            place += at * stride;
            stride *= l->image[a];
            s /= steps(l, a);
            e /= l->block[a];
        }
        if (inside)
            y[i / all / blocks * size + place] += (double)x[i];
    }
}

static char *list(char *to, const char *name, const int *v, int n, const char *between)
{
    to += sprintf(to, "%s", name);
    for (int i = 0; i < n; i++)
        to += sprintf(to, "%s%d", i ? between : "", v[i]);
    return to;
}

static assay_graph *import(const layout *l)
{
    char text[600], *t = text;
    size_t length;
    assay_graph *g;
    assay_error err;

    t += sprintf(t, "in x f32 1,%d,%d\n", CHANNELS * product(l, block_of), product(l, steps));
    t += sprintf(t, "const i i64 %d", l->axes);
    t = list(t, " = ", l->image, l->axes, " ");
    t += sprintf(t, "\nconst b i64 %d", l->axes);
    t = list(t, " = ", l->block, l->axes, " ");
    t = list(t, "\nCol2Im x,i,b -> y strides=[", l->stride, l->axes, ",");
    t = list(t, "] dilations=[", l->dilation, l->axes, ",");
    t = list(t, "] pads=[", l->pads, 2 * l->axes, ",");
    sprintf(t, "]\nout y");
    void *model = onnx_build(18, text, &length);
    assert_ok(onnx_import_memory("col2im", model, length, NULL, &g, &err), &err);
    free(model);
    return g;
}

static void check(const layout *l)
{
    assay_graph *g = import(l);
    assay_program *p;
    assay_run *r;
    assay_error err;
    const int64_t n = assay_shape_count(&g->value[g->input[0]].type);
    const int64_t size = CHANNELS * product(l, image_of);
    double *want = calloc((size_t)size, sizeof *want);

    assert_int_equal(assay_shape_count(&g->value[g->output[0]].type), size);
    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    float *x = assay_run_data(r, g->input[0]);
    for (int64_t i = 0; i < n; i++)
        x[i] = (float)(i * 37 % 101) / 8; /* sums are exact */
    expected(l, x, want);
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const float *y = assay_run_data(r, g->output[0]);
    for (int64_t i = 0; i < size; i++)
        assert_true((double)y[i] == want[i]);
    free(want);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
}

static void blocks_are_laid_where_they_were_cut_out(void **state)
{
    static const layout layouts[] = {
        {1, {6}, {2}, {2}, {2}, {0, 1}},
        {2, {5, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        {2, {6, 5}, {2, 3}, {3, 2}, {2, 1}, {2, 0, 0, 1}},
        {3, {5, 2, 5}, {3, 1, 1}, {3, 2, 2}, {2, 2, 1}, {2, 0, 0, 0, 2, 1}},
        {3, {3, 6, 5}, {2, 3, 3}, {2, 2, 3}, {2, 2, 2}, {2, 1, 1, 2, 2, 2}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        check(&layouts[i]);
}

static void what_does_not_fit_is_refused(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"in x f32 1,5,5\nconst i i64 2 = 5 5\nconst b i64 2 = 1 6\nCol2Im x,i,b -> y\nout y",
         "no block fits along axis 1"},
        {"in x f32 1,5,5\nconst i i64 1 = 25\nconst b i64 1 = 5\nCol2Im x,i,b -> y "
         "dilations=[4611686018427387904]\nout y",
         "no block fits along axis 0"},
        {"in x f32 1,5,5\nconst i i64 1 = 25\nconst b i64 1 = 5\nCol2Im x,i,b -> y "
         "pads=[9223372036854775807,0]\nout y",
         "no block fits along axis 0"},
        {"in x f32 1,5,4\nconst i i64 2 = 5 5\nconst b i64 2 = 1 5\nCol2Im x,i,b -> y\nout y",
         "does not have 5 elements per block for each of 5 block positions"},
        {"in x f32 1,5,5\nconst i i64 2 = 5 5\nconst b i64 1 = 5\nCol2Im x,i,b -> y\nout y",
         "the image has 2 axes; expected block_shape"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        size_t length;
        assay_graph *g;
        assay_error err = {0};
        void *model = onnx_build(18, wrong[i].text, &length);
        assert_int_equal(onnx_import_memory("wrong", model, length, NULL, &g, &err),
                         ASSAY_ERR_INPUT);
        assert_non_null(strstr(err.text, wrong[i].says));
        free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_laid_where_they_were_cut_out),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
