/* TFLite models of recurrent operators, put together and run. */
#include "test/support/tflite_recurrent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"

float rec_real[TB_MAX][64];
int8_t rec_code[TB_MAX][64];
const float rec_scale = 1.0F / 64;

/* A constant of multiples of 1/64, none above 1; with `hybrid` as codes. */
int rec_weights(tb_model *m, const char *name, int rows, int columns, bool hybrid)
{
    const int n = rows * columns,
              t = columns > 1 ? tb_add(m, name, hybrid ? TFL_INT8 : TFL_FLOAT32, rows, columns, -1)
                              : tb_add(m, name, hybrid ? TFL_INT8 : TFL_FLOAT32, rows, -1);
    assert_true(n <= 64);
    for (int i = 0; i < n; ++i) {
        rec_code[t][i] = (int8_t)((t * 29 + i * 37) % 127 - 63);
        rec_real[t][i] = (float)rec_code[t][i] * rec_scale;
    }
    if (hybrid) {
        tb_quant(m, rec_scale, 0);
        tb_data(m, rec_code[t], (size_t)n);
    } else {
        tb_data(m, rec_real[t], (size_t)n * 4);
    }
    return t;
}

int rec_state(tb_model *m, const char *name, int units)
{
    const int t = tb_add(m, name, TFL_FLOAT32, BATCH, units, -1);
    m->tensor[t].is_variable = true;
    return t;
}

int rec_over_time(tb_model *m, const char *name, int n, bool major)
{
    return major ? tb_add(m, name, TFL_FLOAT32, STEPS, BATCH, n, -1)
                 : tb_add(m, name, TFL_FLOAT32, BATCH, STEPS, n, -1);
}

int rec_at(bool major, int b, int s, int n)
{
    return (major ? s * BATCH + b : b * STEPS + s) * n;
}

void rec_run(const tb_model *m, bool hybrid, const float *const *in, float *const *out)
{
    const assay_tflite_options options = {.hybrid = hybrid};
    size_t size;
    unsigned char *file = tb_finish(m, &size);
    assay_graph *g;
    assay_scheme *scheme = NULL;
    assay_program *p;
    assay_run *r;
    assay_error err;

    assert_ok(tfl_import_entry("recurrent", NULL, file, size, &options, &g, &err), &err);
    if (hybrid)
        assert_ok(assay_scheme_open("tflite", &scheme, &err), &err);
    assert_ok(assay_program_make(g, scheme, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int i = 0; i < g->n_inputs; ++i)
        memcpy(assay_run_data(r, g->input[i]), in[i],
               assay_type_bytes(&g->value[g->input[i]].type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    for (int i = 0; i < g->n_outputs; ++i)
        memcpy(out[i], assay_run_data(r, g->output[i]),
               assay_type_bytes(&g->value[g->output[i]].type));
    assay_run_free(r);
    assay_program_free(p);
    assay_scheme_free(scheme);
    assay_graph_free(g);
    free(file);
    if (!hybrid)
        tb_run(
            m, (const void *const *)in, out[0],
            sizeof(float) *
                (size_t)(m->tensor[m->output[0]].dim[0] * m->tensor[m->output[0]].dim[1] *
                         (m->tensor[m->output[0]].rank == 3 ? m->tensor[m->output[0]].dim[2] : 1)));
}

void rec_refuse(const tb_model *m, const char *part)
{
    const assay_tflite_options options = {.hybrid = true};
    size_t size;
    unsigned char *file = tb_finish(m, &size);
    assay_graph *g = NULL;
    assay_error err;
    assert_refused(tfl_import_entry("refused", NULL, file, size, &options, &g, &err), &err, part);
    assert_null(g);
    free(file);
}

void rec_close_to(const float *got, const double *want, int n)
{
    for (int i = 0; i < n; ++i)
        if (!(fabs((double)got[i] - want[i]) < 1e-6))
            fail_msg("element %d is %.9g, expected %.9g", i, (double)got[i], want[i]);
}

void rec_draw(test_rng *rng, float *x, int n)
{
    for (int i = 0; i < n; ++i)
        x[i] = (float)test_between(rng, -192, 192) / 128;
}

double rec_dot(const double *x, const float *w, int n)
{
    double sum = 0;
    for (int i = 0; i < n; ++i)
        sum += x[i] * (double)w[i];
    return sum;
}

lstm_tensors rec_lstm(tb_model *m, const lstm_form *f, const char *prefix)
{
    lstm_tensors t;
    const int out = f->projected ? OUT : UNITS;
    char name[32];

    for (int g = 0; g < GATES; ++g) {
        const bool absent = f->coupled && g == GATE_INPUT;
        snprintf(name, sizeof name, "%sw%d", prefix, g);
        t.w[g] = absent ? NONE : rec_weights(m, name, UNITS, IN, f->hybrid);
        snprintf(name, sizeof name, "%sr%d", prefix, g);
        t.r[g] = absent ? NONE : rec_weights(m, name, UNITS, out, f->hybrid);
        snprintf(name, sizeof name, "%sb%d", prefix, g);
        t.b[g] = absent ? NONE : rec_weights(m, name, UNITS, 1, false);
        snprintf(name, sizeof name, "%sn%d", prefix, g);
        t.norm[g] = absent || !f->norm ? NONE : rec_weights(m, name, UNITS, 1, false);
        snprintf(name, sizeof name, "%sp%d", prefix, g);
        if (g < 3)
            t.p[g] = absent || !f->peephole ? NONE : rec_weights(m, name, UNITS, 1, f->hybrid);
    }
    snprintf(name, sizeof name, "%sprojection", prefix);
    t.projection = f->projected ? rec_weights(m, name, OUT, UNITS, f->hybrid) : NONE;
    snprintf(name, sizeof name, "%sh", prefix);
    t.h = rec_state(m, name, out);
    snprintf(name, sizeof name, "%sc", prefix);
    t.c = rec_state(m, name, UNITS);
    return t;
}
