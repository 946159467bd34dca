/* A quantized model from text, run. */
#include "test/support/onnx_sample.h"

#include "interp/run/program.h"
#include "opt/quantize/qdq.h"
#include "test/support/onnx_form.h"
#include "test/support/support.h"

assay_scheme *onnx_sample_scheme(const char *name)
{
    assay_scheme *s = NULL;
    assay_error err;
    assert_ok(assay_scheme_open(name, &s, &err), &err);
    return s;
}

/* An element of any kind that occurs here. */
static double element(const assay_value *v, const void *data, size_t i)
{
    if (v->type.elem.kind == ASSAY_KIND_F32)
        return (double)((const float *)data)[i];
    return (double)assay_elem_get(v->type.elem, data, i);
}

static void put(const assay_value *v, void *data, size_t i, double x)
{
    if (v->type.elem.kind == ASSAY_KIND_F32)
        ((float *)data)[i] = (float)x;
    else
        assay_elem_set(v->type.elem, data, i, (int64_t)x);
}

void onnx_sample_check(const onnx_sample *c)
{
    assay_graph *g = onnx_form_import(21, c->text, NULL);
    assay_scheme *s = onnx_sample_scheme("onnxruntime");
    assay_program *p = NULL;
    assay_run *r = NULL;
    assay_error err;

    if (c->grouped)
        assert_ok(quantize_group_qdq(g, s, run_has_integer_kernel, NULL, &err), &err);
    assert_ok(assay_program_make_as_is(g, s, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int k = 0; k < g->n_inputs; k++) {
        const assay_value *v = &g->value[g->input[k]];
        for (size_t i = 0; i < (size_t)assay_shape_count(&v->type); i++)
            put(v, assay_run_data(r, g->input[k]), i, k ? c->second[i] : c->in[i]);
    }
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    const assay_value *y = &g->value[g->output[0]];
    for (size_t i = 0; i < (size_t)assay_shape_count(&y->type); i++) {
        double got = element(y, assay_run_data(r, g->output[0]), i);
        if (got != c->want[i])
            fail_msg("%s\nelement %zu is %.9g, expected %.9g", c->text, i, got, c->want[i]);
    }
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(s);
    assay_graph_free(g);
}
