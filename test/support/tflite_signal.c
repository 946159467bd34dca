/* Models of TFLite Micro's operators on signals, and their runs. */
#include "test/support/tflite_signal.h"

#include <stdlib.h>
#include <string.h>

enum { CUSTOM = 32 };

static size_t put(unsigned char *bytes, size_t at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        bytes[at++] = (unsigned char)(word >> (8 * i));
    return at;
}

/* A FlexBuffers map of integers in words; how many bytes it has. */
static size_t map_of(const ts_option *o, size_t n, unsigned char bytes[512])
{
    size_t key[16], at = 0;
    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) {
        key[i] = at;
        strcpy((char *)bytes + at, o[i].key);
        at += strlen(o[i].key) + 1;
    }
    at = put(bytes, at, (uint32_t)n);
    const size_t keys = at;
    for (size_t i = 0; i < n; i++)
        at = put(bytes, at, (uint32_t)(at - key[i]));
    at = put(bytes, at, (uint32_t)(at - keys));
    at = put(bytes, at, 4);
    at = put(bytes, at, (uint32_t)n);
    const size_t values = at;
    for (size_t i = 0; i < n; i++)
        at = put(bytes, at, (uint32_t)o[i].value);
    memset(bytes + at, 1 << 2 | 2, n);
    at += n;
    assert_true(at + 3 <= 512 && at - values < 256);
    bytes[at] = (unsigned char)(at - values);
    bytes[at + 1] = 9 << 2 | 2;
    bytes[at + 2] = 1;
    return at + 3;
}

static unsigned char room[16][512];

void ts_set(tb_model *m, int op, const ts_option *o, size_t n)
{
    m->op[op].custom_bytes = n ? map_of(o, n, room[op]) : 0;
    m->op[op].custom_options = room[op];
}

tb_op *ts_custom(tb_model *m, const char *name, const ts_option *o, size_t n)
{
    tb_op *op = tb_operator(m, CUSTOM, -2);
    op->custom = name;
    ts_set(m, m->n_ops - 1, o, n);
    return op;
}

void ts_wire(tb_op *op, const int *in, int n_in, const int *out, int n_out)
{
    op->n_in = n_in;
    op->n_out = n_out;
    memcpy(op->in, in, (size_t)n_in * sizeof *in);
    memcpy(op->out, out, (size_t)n_out * sizeof *out);
}

ts_machine ts_start(const tb_model *m)
{
    ts_machine x;
    assay_error err;
    x.g = tb_import_ok(m, &x.file);
    assert_ok(assay_program_make(x.g, NULL, true, &x.program, &err), &err);
    assert_ok(assay_run_new(x.program, &x.run, &err), &err);
    return x;
}

void ts_stop(ts_machine *x)
{
    assay_run_free(x->run);
    assay_program_free(x->program);
    assay_graph_free(x->g);
    free(x->file);
}

void ts_feed(ts_machine *x, const void *data)
{
    assay_error err;
    memcpy(assay_run_data(x->run, x->g->input[0]), data,
           assay_type_bytes(&x->g->value[x->g->input[0]].type));
    assert_ok(run_execute(x->run, NULL, false, NULL, &err), &err);
}

void ts_check(const ts_machine *x, const char *name, const void *want, size_t bytes)
{
    const int v = assay_graph_find_value(x->g, name);
    if (v < 0)
        fail_msg("there is no %s", name);
    assert_int_equal(assay_type_bytes(&x->g->value[v].type), bytes);
    if (memcmp(assay_run_data(x->run, v), want, bytes) != 0)
        fail_msg("%s differs", name);
}

tb_model ts_alone(const char *name, const ts_option *o, size_t n, int type, int in, int out)
{
    tb_model m = {.n_inputs = 1, .input = {0}, .n_outputs = 1, .output = {1}};
    tb_add(&m, "x", type, in, -1);
    tb_add(&m, "y", type, out, -1);
    ts_wire(ts_custom(&m, name, o, n), (int[]){0}, 1, (int[]){1}, 1);
    return m;
}
