/* Networks written as TFLite and read again. */
#include "test/support/tflite_roundtrip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/export.h"
#include "graph/tflite/tflite.h"
#include "interp/run/program.h"

/* A graph that runs. */
typedef struct runner {
    const assay_graph *g;
    assay_program *program;
    assay_run *run;
} runner;

static runner start(const assay_graph *g, const assay_scheme *scheme)
{
    runner r = {.g = g};
    assay_error err;
    assert_ok(assay_program_make_as_is(g, scheme, true, &r.program, &err), &err);
    assert_ok(assay_run_new(r.program, &r.run, &err), &err);
    return r;
}

static void stop(runner *r)
{
    assay_run_free(r->run);
    assay_program_free(r->program);
}

static void put_random(test_rng *rng, const assay_type *t, void *a, void *b)
{
    for (size_t i = 0; i < (size_t)assay_shape_count(t); ++i) {
        if (t->elem.kind == ASSAY_KIND_F32)
            ((float *)a)[i] = (float)(test_unit(rng) * 2 - 1);
        else if (t->elem.kind == ASSAY_KIND_BOOL)
            assay_elem_set(t->elem, a, i, test_between(rng, 0, 1));
        else if (t->elem.bits > 16) /* indices */
            assay_elem_set(t->elem, a, i, test_between(rng, 0, 1));
        else
            assay_elem_set(t->elem, a, i,
                           test_between(rng, assay_elem_min(t->elem), assay_elem_max(t->elem)));
    }
    memcpy(b, a, assay_type_bytes(t));
}

static bool differs(const assay_type *t, const void *a, size_t i, const void *b, size_t k)
{
    if (t->elem.kind == ASSAY_KIND_F32) {
        double x = (double)((const float *)a)[i], y = (double)((const float *)b)[k];
        return !(x == y || fabs(x - y) <= 1e-5 * (1 + fabs(y)));
    }
    return assay_elem_get(t->elem, a, i) != assay_elem_get(t->elem, b, k);
}

/* Index in [N,C,H,W] of element i of [N,H,W,C]. */
static size_t first_index(const assay_type *last, size_t i)
{
    size_t n[4], c, w, h;
    for (int k = 0; k < 4; ++k)
        n[k] = (size_t)last->dim[k];
    c = i % n[3];
    w = i / n[3] % n[2];
    h = i / n[3] / n[2] % n[1];
    return ((i / n[3] / n[2] / n[1] * n[3] + c) * n[1] + h) * n[2] + w;
}

static bool is_transposed(const assay_type *first, const assay_type *last)
{
    return first->rank == 4 && last->rank == 4 && first->dim[0] == last->dim[0] &&
           first->dim[1] == last->dim[3] && first->dim[2] == last->dim[1] &&
           first->dim[3] == last->dim[2];
}

/* Elements of value u of a that differ from value v of b, which may be in the other layout. */
static long differing(const runner *a, int u, const runner *b, int v, bool transposed)
{
    const assay_type *t = &b->g->value[v].type;
    long wrong = 0;
    for (size_t i = 0; i < (size_t)assay_shape_count(t); ++i)
        wrong += differs(t, assay_run_data(a->run, u), transposed ? first_index(t, i) : i,
                         assay_run_data(b->run, v), i);
    return wrong;
}

static void compare(const runner *a, const runner *b, roundtrip *sum)
{
    for (int v = 0; v < b->g->n_values; ++v) {
        const assay_value *y = &b->g->value[v];
        int u = assay_graph_find_value(a->g, y->name);
        const assay_type *t = u < 0 ? NULL : &a->g->value[u].type;
        long wrong;
        if (!t || y->data || y->is_variable || a->g->value[u].data)
            continue;
        assert_true(assay_elem_equal(t->elem, y->type.elem));
        assert_true(assay_qparams_equal(&t->q, &y->type.q));
        if (!assay_shape_equal(t, &y->type) && !is_transposed(t, &y->type))
            fail_msg("'%s' has another shape", y->name);
        wrong = differing(a, u, b, v, !assay_shape_equal(t, &y->type));
        if (wrong && is_transposed(t, &y->type)) /* a cube: the shape does not say which */
            wrong = differing(a, u, b, v, true);
        if (wrong)
            print_message("# '%s': %ld of %lld elements differ\n", y->name, wrong,
                          (long long)assay_shape_count(t));
        sum->values++;
        sum->elements += assay_shape_count(t);
        sum->mismatches += wrong;
    }
}

static void same_ends(const assay_graph *a, const int *of_a, const assay_graph *b, const int *of_b,
                      int n)
{
    for (int i = 0; i < n; ++i) {
        const assay_value *x = &a->value[of_a[i]], *y = &b->value[of_b[i]];
        assert_string_equal(x->name, y->name);
        assert_true(assay_elem_equal(x->type.elem, y->type.elem));
        assert_true(assay_shape_equal(&x->type, &y->type));
    }
}

void test_tflite_roundtrip(const assay_graph *g, const char *scheme, int runs, test_rng *rng,
                           roundtrip *sum)
{
    unsigned char *bytes;
    size_t length;
    assay_graph *back;
    assay_scheme *s;
    runner a, b;
    assay_error err;

    assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
    assert_ok(tfl_import_memory("written", bytes, length, &back, &err), &err);
    assert_int_equal(g->n_inputs, back->n_inputs);
    assert_int_equal(g->n_outputs, back->n_outputs);
    same_ends(g, g->input, back, back->input, g->n_inputs);
    same_ends(g, g->output, back, back->output, g->n_outputs);
    assert_ok(assay_scheme_open(scheme, &s, &err), &err);
    a = start(g, s);
    b = start(back, s);
    for (int k = 0; k < runs; ++k) {
        for (int i = 0; i < g->n_inputs; ++i)
            put_random(rng, &g->value[g->input[i]].type, assay_run_data(a.run, g->input[i]),
                       assay_run_data(b.run, back->input[i]));
        assert_ok(run_execute(a.run, NULL, false, NULL, &err), &err);
        assert_ok(run_execute(b.run, NULL, false, NULL, &err), &err);
        compare(&a, &b, sum);
    }
    stop(&a);
    stop(&b);
    assay_scheme_free(s);
    assay_graph_free(back);
    free(bytes);
}

void tflite_leave_seed(const assay_graph *g)
{
    const char *folder = getenv("ASSAY_SEEDS");
    char path[4096];
    unsigned char *bytes;
    size_t length;
    assay_error err;

    if (!folder)
        return;
    snprintf(path, sizeof path, "%s/%s.tflite", folder, g->name);
    assert_ok(tfl_export_graph(g, &bytes, &length, &err), &err);
    test_write_file(path, bytes, length);
    free(bytes);
}
