/* Networks of one node for tests of the fast engine, with types drawn at random. */
#include "test/support/fast_case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interp/fast/fast.h"
#include "interp/run/program.h"

assay_qparams fast_params(size_t count, const float *scale, const int32_t *zero)
{
    return (assay_qparams){count > 1 ? ASSAY_Q_AXIS : ASSAY_Q_TENSOR, 0, 0, count, scale, zero};
}

int32_t fast_draw(test_rng *r, assay_elem e)
{
    return (int32_t)test_between(r, assay_elem_min(e), assay_elem_max(e));
}

/* Floats of every kind: near codes of a scale of 0.05, their ties, any binade, no numbers. */
static float draw_float(test_rng *r)
{
    static const float odd[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 0x1p-149f, 0x1.fffffep127f};
    switch (test_between(r, 0, 3)) {
    case 0:
        return (float)test_between(r, -400, 400) * 0.5f * 0.05f;
    case 1:
        return (float)((test_unit(r) - 0.5) * 20);
    case 2:
        return (float)ldexp(test_unit(r) - 0.5, (int)test_between(r, -140, 128));
    default:
        return odd[test_between(r, 0, 6)];
    }
}

/* Codes at random, sometimes all at the ends of the range. */
static void fast_fill(test_rng *r, const assay_type *t, void *data)
{
    for (int64_t i = 0; i < assay_shape_count(t) && t->elem.kind == ASSAY_KIND_F32; i++)
        ((float *)data)[i] = draw_float(r);
    if (t->elem.kind == ASSAY_KIND_F32)
        return;
    bool extreme = test_between(r, 0, 3) == 0;
    for (int64_t i = 0; i < assay_shape_count(t); i++)
        assay_elem_set(t->elem, data, (size_t)i,
                       !extreme                ? fast_draw(r, t->elem)
                       : test_between(r, 0, 7) ? assay_elem_min(t->elem)
                                               : assay_elem_max(t->elem));
}

fast_net fast_begin(void)
{
    fast_net n = {0};
    assay_error err;
    assert_ok(assay_graph_new("n", &n.graph, &err), &err);
    return n;
}

void fast_add_input(fast_net *n, const assay_type *t)
{
    char name[8];
    assay_error err;
    snprintf(name, sizeof name, "x%d", n->n_in);
    assert_ok(assay_graph_add_value(n->graph, name, t, &n->in[n->n_in++], &err), &err);
}

void fast_add_constant(fast_net *n, const assay_type *t, test_rng *r)
{
    char name[8];
    assay_error err;
    int *id = &n->in[n->n_in];
    snprintf(name, sizeof name, "x%d", n->n_in++);
    assert_ok(assay_graph_add_constant(n->graph, name, t, NULL, id, &err), &err);
    fast_fill(r, t, (void *)(uintptr_t)n->graph->value[*id].data);
}

void fast_add_bias(fast_net *n, int64_t outputs, test_rng *r)
{
    assay_type t = {.elem = assay_int(32, true), .rank = 1, .dim = {outputs}};
    fast_add_constant(n, &t, r);
    int32_t *data = (int32_t *)(uintptr_t)n->graph->value[n->in[n->n_in - 1]].data;
    for (int64_t i = 0; i < outputs; i++)
        data[i] >>= test_between(r, 0, 3) ? 16 : 1;
}

void fast_finish(fast_net *n, assay_op op, const assay_attrs *a, const assay_type *y, test_rng *r)
{
    const char *name = "y";
    int id;
    assay_error err;
    assert_ok(
        assay_graph_add_inferred(n->graph, op, "node", n->in, n->n_in, &name, 1, a, &id, &err),
        &err);
    if (n->graph->value[id].type.elem.kind == ASSAY_KIND_INT) {
        n->graph->value[id].type.elem = y->elem;
        assert_ok(assay_graph_set_qparams(n->graph, id, &y->q, &err), &err);
    }
    if (test_between(r, 0, 2) == 0) {
        n->graph->node[0].act_lo = 0;
        n->graph->node[0].act_hi = 6;
    }
    int inputs[3], count = 0;
    for (int i = 0; i < n->n_in; i++)
        if (!n->graph->value[n->in[i]].data)
            inputs[count++] = n->in[i];
    assert_ok(assay_graph_set_inputs(n->graph, inputs, count, &err), &err);
    assert_ok(assay_graph_set_outputs(n->graph, &id, 1, &err), &err);
}

void fast_finish_given(fast_net *n, assay_op op, const assay_type *y)
{
    int id;
    assay_error err;
    assert_ok(assay_graph_add_value(n->graph, "y", y, &id, &err), &err);
    assert_ok(assay_graph_add_node(n->graph, op, "node", n->in, n->n_in, &id, 1, NULL, NULL, &err),
              &err);
    assert_ok(assay_graph_set_inputs(n->graph, n->in, n->n_in, &err), &err);
    assert_ok(assay_graph_set_outputs(n->graph, &id, 1, &err), &err);
}

void fast_fill_inputs(const assay_graph *g, assay_run *run, test_rng r)
{
    for (int i = 0; i < g->n_inputs; i++)
        fast_fill(&r, &g->value[g->input[i]].type, assay_run_data(run, g->input[i]));
}

void fast_check(const fast_net *n, const assay_scheme *s, test_rng *r, fast_tally *t)
{
    static const char *const isas[] = {"portable", "avx2", "vnni"};
    assay_error err;
    assay_program *ref;
    assay_run *want;
    test_rng input = {test_random(r)};
    if (assay_program_make_as_is(n->graph, s, false, &ref, &err) != ASSAY_OK) {
        t->refused++; /* the scheme has no such node */
        return;
    }
    assert_ok(assay_run_new(ref, &want, &err), &err);
    fast_fill_inputs(n->graph, want, input);
    bool runs = run_execute(want, NULL, false, NULL, &err) == ASSAY_OK; /* false: it traps */
    for (int i = 0; i < 6; i++) {
        assay_program_options o = {
            .engine = ASSAY_ENGINE_BOTH, .isa = isas[i / 2], .threads = 1 + i % 2};
        const assay_isa_kernels *k;
        if (fast_isa_choose(o.isa, &k, &err) != ASSAY_OK)
            continue;
        for (int fast = 0; fast < 2; fast++) {
            assay_program *p;
            assay_run *run;
            o.engine = fast ? ASSAY_ENGINE_FAST : ASSAY_ENGINE_BOTH;
            assert_ok(run_program_make_with(n->graph, s, &o, &p, &err), &err);
            assert_ok(assay_run_new(p, &run, &err), &err);
            fast_fill_inputs(n->graph, run, input);
            assay_status status = run_execute(run, NULL, !fast, NULL, &err);
            if (runs)
                assert_ok(status, &err);
            else
                assert_int_equal(status, ASSAY_ERR_SCHEME);
            int y = n->graph->output[0];
            if (runs && memcmp(assay_run_data(run, y), assay_run_data(want, y),
                               assay_type_bytes(&n->graph->value[y].type)) != 0)
                fail_msg("%s, %s: engine %s differs from ref", s->name, o.isa,
                         fast ? "fast" : "both");
            t->taken += p->fast[0] != NULL;
            t->left += p->fast[0] == NULL;
            assay_run_free(run);
            assay_program_free(p);
        }
    }
    assay_run_free(want);
    assay_program_free(ref);
}

/* ---- under many schemes ---- */

fast_tally fast_presets(fast_cases *cases, test_rng *r)
{
    fast_tally all = {0};
    for (const char *const *name = assay_scheme_presets(); *name; name++) {
        assay_scheme *s;
        assay_error err;
        fast_tally t = {0};
        assert_ok(assay_scheme_open(*name, &s, &err), &err);
        cases(s, r, &t);
        print_message("# %s: %d runs taken, %d left to ref, %d cases refused\n", *name, t.taken,
                      t.left, t.refused);
        all.taken += t.taken;
        all.left += t.left;
        all.refused += t.refused;
        assay_scheme_free(s);
    }
    return all;
}

fast_tally fast_scheme(const char *lines, fast_cases *cases, test_rng *r)
{
    char text[300];
    assay_scheme *s;
    assay_error err;
    fast_tally t = {0};
    snprintf(text, sizeof text, "scheme: t\n%s\n", lines);
    assert_ok(assay_scheme_parse("t", text, strlen(text), &s, &err), &err);
    cases(s, r, &t);
    assay_scheme_free(s);
    return t;
}

/* ---- types ---- */

static float scales[256];
static int32_t zeros[256];
static const float x_scale = 0.05f;
static float y_scale;
static int32_t x_zero, y_zero;

assay_type fast_activation(test_rng *r, int rank, const int64_t *dim)
{
    static const assay_elem kinds[] = {{ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 8, true},  {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 16, true}, {ASSAY_KIND_INT, 4, true}};
    assay_type t = {.elem = kinds[test_between(r, 0, 5)], .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    x_zero = t.elem.bits == 16 || test_between(r, 0, 3) == 0 ? 0 : fast_draw(r, t.elem);
    t.q = fast_params(1, &x_scale, &x_zero);
    return t;
}

assay_type fast_weights(test_rng *r, int rank, const int64_t *dim)
{
    static const assay_elem kinds[] = {{ASSAY_KIND_INT, 8, true},
                                       {ASSAY_KIND_INT, 8, true},
                                       {ASSAY_KIND_INT, 8, false},
                                       {ASSAY_KIND_INT, 4, true}};
    assay_type t = {.elem = kinds[test_between(r, 0, 3)], .rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    bool by_channel = test_between(r, 0, 1) && dim[0] > 1 && dim[0] <= 256;
    bool centred = test_between(r, 0, 2) == 0;
    for (int i = 0; i < 256; i++) {
        scales[i] = (float)ldexp(1 + test_unit(r), (int)test_between(r, -9, -7));
        zeros[i] = centred ? fast_draw(r, t.elem) : 0;
        if (!t.elem.is_signed && !centred)
            zeros[i] = 128;
    }
    t.q = fast_params(by_channel ? (size_t)dim[0] : 1, scales, zeros);
    return t;
}

assay_type fast_output(test_rng *r, int64_t depth)
{
    assay_type t = {.elem = assay_int(test_between(r, 0, 7) ? 8 : 16, test_between(r, 0, 1))};
    y_scale =
        (float)(x_scale * scales[0] * sqrt((double)depth) * ldexp(1, (int)test_between(r, 3, 8)));
    y_zero = t.elem.bits == 16 ? 0 : fast_draw(r, t.elem);
    t.q = fast_params(1, &y_scale, &y_zero);
    return t;
}

void fast_rescale(assay_type *t, float scale, test_rng *r)
{
    y_scale = scale;
    y_zero = fast_draw(r, t->elem);
    t->q = fast_params(1, &y_scale, &y_zero);
}

/* ---- shapes ---- */

void fast_put(assay_list *l, int spatial, test_rng *r, int64_t lo, int64_t hi)
{
    l->n = spatial;
    for (int i = 0; i < spatial; i++)
        l->v[i] = test_between(r, lo, hi);
}

int fast_shape(int64_t *dim, bool nhwc, int64_t a, int64_t b, int spatial, const int64_t *extent)
{
    int rank = 0;
    dim[rank++] = a;
    if (!nhwc)
        dim[rank++] = b;
    for (int i = 0; i < spatial; i++)
        dim[rank++] = extent[i];
    if (nhwc)
        dim[rank++] = b;
    return rank;
}
