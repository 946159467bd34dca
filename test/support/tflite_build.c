/* Small TFLite models, put together. */
#include "test/support/tflite_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/tflite/tflite.h"
#include "interp/run/program.h"
#include "test/support/flat_writer.h"

#define MUTANTS 200 /* of each model that runs */

/* ---- the model ---- */

int tb_add(tb_model *m, const char *name, int type, ...)
{
    tb_tensor *t = &m->tensor[m->n_tensors];
    va_list args;
    assert_true(m->n_tensors < TB_MAX);
    snprintf(t->name, sizeof t->name, "%s", name);
    t->type = type;
    va_start(args, type);
    for (int d; (d = va_arg(args, int)) >= 0;)
        t->dim[t->rank++] = d;
    va_end(args);
    return m->n_tensors++;
}

void tb_quant(tb_model *m, float scale, int64_t zero)
{
    tb_tensor *t = &m->tensor[m->n_tensors - 1];
    t->scale[t->n_scales] = scale;
    t->zero[t->n_scales++] = zero;
}

void tb_data(tb_model *m, const void *data, size_t bytes)
{
    tb_tensor *t = &m->tensor[m->n_tensors - 1];
    t->has_data = true;
    t->data = data;
    t->bytes = bytes;
}

tb_op *tb_operator(tb_model *m, int builtin, ...)
{
    tb_op *op = &m->op[m->n_ops++];
    va_list args;
    op->builtin = builtin;
    va_start(args, builtin);
    for (int i; (i = va_arg(args, int)) != -2;)
        op->in[op->n_in++] = i;
    va_end(args);
    return op;
}

void tb_outputs(tb_op *op, ...)
{
    va_list args;
    va_start(args, op);
    for (int i; (i = va_arg(args, int)) != -2;)
        op->out[op->n_out++] = i;
    va_end(args);
}

static void option(tb_op *op, int slot, int size, int64_t bits)
{
    op->option[op->n_options++] = (tb_option){slot, size, bits};
}

void tb_option_i32(tb_op *op, int slot, int32_t value)
{
    option(op, slot, 4, value);
}

void tb_option_i8(tb_op *op, int slot, int8_t value)
{
    option(op, slot, 1, value);
}

void tb_option_f32(tb_op *op, int slot, float value)
{
    int32_t bits;
    memcpy(&bits, &value, sizeof bits);
    option(op, slot, 4, bits);
}

static void write_sparsity(fb_writer *w, size_t at)
{
    static const int32_t order[] = {0, 1}, segments[] = {0, 2, 3}, indices[] = {1, 3, 0};
    size_t s = fb_table(w, 3), dims, rows, columns, v;
    fb_child(w, at, TENSOR_SPARSITY, s);
    fb_child(w, s, SPARSITY_ORDER, fb_ints(w, order, 2));
    dims = fb_vector(w, 2, 4, 4);
    fb_child(w, s, SPARSITY_DIMENSIONS, dims);
    rows = fb_table(w, 6);
    fb_refer(w, dims + 4, rows);
    fb_set(w, rows, DIMENSION_DENSE_SIZE, 2, 4);
    columns = fb_table(w, 6);
    fb_refer(w, dims + 8, columns);
    fb_set(w, columns, DIMENSION_FORMAT, 1, 1);
    fb_set(w, columns, DIMENSION_SEGMENTS_TYPE, INDEX_INT32, 1);
    v = fb_table(w, 1);
    fb_child(w, columns, DIMENSION_SEGMENTS, v);
    fb_child(w, v, 0, fb_ints(w, segments, 3));
    fb_set(w, columns, DIMENSION_INDICES_TYPE, INDEX_INT32, 1);
    v = fb_table(w, 1);
    fb_child(w, columns, DIMENSION_INDICES, v);
    fb_child(w, v, 0, fb_ints(w, indices, 3));
}

static void write_tensor(fb_writer *w, size_t at, const tb_tensor *t, int buffer)
{
    size_t q, v;
    fb_child(w, at, TENSOR_SHAPE, fb_ints(w, t->dim, t->rank));
    fb_set(w, at, TENSOR_TYPE, t->type, 1);
    fb_set(w, at, TENSOR_BUFFER, buffer, 4);
    fb_child(w, at, TENSOR_NAME, fb_bytes(w, t->name, strlen(t->name)));
    fb_set(w, at, TENSOR_IS_VARIABLE, t->is_variable, 1);
    if (t->n_scales) {
        q = fb_table(w, 7);
        fb_child(w, at, TENSOR_QUANTIZATION, q);
        v = fb_vector(w, t->n_scales, 4, 4);
        memcpy(w->bytes + v + 4, t->scale, (size_t)t->n_scales * 4);
        fb_child(w, q, QUANT_SCALE, v);
        v = fb_vector(w, t->n_scales, 8, 8);
        memcpy(w->bytes + v + 4, t->zero, (size_t)t->n_scales * 8);
        fb_child(w, q, QUANT_ZERO_POINT, v);
        fb_set(w, q, QUANT_DIMENSION, t->axis, 4);
    }
    if (t->block) {
        q = fb_table(w, 7);
        fb_child(w, at, TENSOR_QUANTIZATION, q);
        fb_set(w, q, QUANT_DETAILS_TYPE, DETAILS_BLOCKWISE, 1);
        v = fb_table(w, 3);
        fb_child(w, q, QUANT_DETAILS, v);
        fb_set(w, v, BLOCKWISE_SCALES, t->block_scales, 4);
        fb_set(w, v, BLOCKWISE_SIZE, t->block, 4);
    }
    if (t->sparse)
        write_sparsity(w, at);
}

static void write_operator(fb_writer *w, size_t at, const tb_op *op, int code)
{
    size_t options;
    fb_set(w, at, OPERATOR_CODE, code, 4);
    fb_child(w, at, OPERATOR_INPUTS, fb_ints(w, op->in, op->n_in));
    fb_child(w, at, OPERATOR_OUTPUTS, fb_ints(w, op->out, op->n_out));
    options = fb_table(w, 8);
    fb_child(w, at, op->second_options ? OPERATOR_OPTIONS_2 : OPERATOR_OPTIONS, options);
    if (op->custom_bytes)
        fb_child(w, at, OPERATOR_CUSTOM_OPTIONS, fb_bytes(w, op->custom_options, op->custom_bytes));
    if (op->list)
        fb_child(w, options, 0, fb_ints(w, op->list, op->n_list));
    if (op->variable)
        fb_child(w, options, 1, fb_bytes(w, op->variable, strlen(op->variable)));
    for (int i = 0; i < op->n_options; ++i)
        fb_set(w, options, op->option[i].slot, op->option[i].bits, op->option[i].size);
}

static size_t tables_vector(fb_writer *w, size_t parent, int slot, int n)
{
    size_t at = fb_vector(w, n, 4, 4);
    fb_child(w, parent, slot, at);
    return at + 4;
}

static void write_signature(fb_writer *w, size_t def, const tb_model *m, int subgraph)
{
    size_t list = fb_vector(w, m->n_inputs, 4, 4);
    fb_child(w, def, SIGNATURE_INPUTS, list);
    fb_set(w, def, SIGNATURE_SUBGRAPH, subgraph, 4);
    if (m->key)
        fb_child(w, def, SIGNATURE_KEY, fb_bytes(w, m->key, strlen(m->key)));
    for (int i = 0; i < m->n_inputs; ++i) {
        size_t map = fb_table(w, 2);
        fb_refer(w, list + 4 + 4 * (size_t)i, map);
        fb_child(w, map, MAP_NAME, fb_bytes(w, m->signature[i], strlen(m->signature[i])));
        fb_set(w, map, MAP_TENSOR, m->input[i], 4);
    }
}

/* Of the subgraphs whose inputs have names. */
static void write_signatures(fb_writer *w, size_t model, const tb_model *m)
{
    int n = 0, subgraph = 0;
    size_t list;
    for (const tb_model *g = m; g; g = g->next)
        n += g->signature[0] != NULL;
    if (n == 0)
        return;
    list = tables_vector(w, model, MODEL_SIGNATURE_DEFS, n);
    for (const tb_model *g = m; g; g = g->next, ++subgraph)
        if (g->signature[0]) {
            size_t def = fb_table(w, 5);
            fb_refer(w, list, def);
            list += 4;
            write_signature(w, def, g, subgraph);
        }
}

static void write_codes(fb_writer *w, size_t list, const tb_model *m)
{
    for (int i = 0; i < m->n_ops; ++i) {
        const tb_op *op = &m->op[i];
        size_t at = fb_table(w, 4);
        fb_refer(w, list + 4 * (size_t)i, at);
        fb_set(w, at, CODE_DEPRECATED, op->builtin < 127 ? op->builtin : 127, 1);
        fb_set(w, at, CODE_BUILTIN, op->builtin, 4);
        if (op->custom)
            fb_child(w, at, CODE_CUSTOM, fb_bytes(w, op->custom, strlen(op->custom)));
    }
}

/* Buffer 0 is empty; those of a subgraph's tensors follow from `first_buffer` on. */
static void write_subgraph(fb_writer *w, size_t at, const tb_model *m, int first_buffer,
                           int first_code)
{
    size_t graph = fb_table(w, 5), list;
    fb_refer(w, at, graph);
    list = tables_vector(w, graph, SUBGRAPH_TENSORS, m->n_tensors);
    for (int i = 0; i < m->n_tensors; ++i) {
        at = fb_table(w, 11);
        fb_refer(w, list + 4 * (size_t)i, at);
        write_tensor(w, at, &m->tensor[i], first_buffer + i);
    }
    fb_child(w, graph, SUBGRAPH_INPUTS, fb_ints(w, m->input, m->n_inputs));
    fb_child(w, graph, SUBGRAPH_OUTPUTS, fb_ints(w, m->output, m->n_outputs));
    list = tables_vector(w, graph, SUBGRAPH_OPERATORS, m->n_ops);
    for (int i = 0; i < m->n_ops; ++i) {
        at = fb_table(w, OPERATOR_OPTIONS_2 + 1);
        fb_refer(w, list + 4 * (size_t)i, at);
        write_operator(w, at, &m->op[i], first_code + i);
    }
}

/* Returns where the buffers' tables are that stand for bytes behind the FlatBuffer. */
static void write_buffers(fb_writer *w, size_t list, const tb_model *m, size_t outside[TB_MAX])
{
    for (int i = 0; i < m->n_tensors; ++i) {
        const tb_tensor *t = &m->tensor[i];
        size_t at = fb_table(w, 3);
        fb_refer(w, list + 4 * (size_t)i, at);
        if (t->has_data && t->outside) {
            outside[i] = at;
            fb_set(w, at, BUFFER_SIZE, (int64_t)t->bytes, 8);
        } else if (t->has_data) {
            fb_child(w, at, BUFFER_DATA, fb_bytes(w, t->data, t->bytes));
        }
    }
}

/* The main graph's tensors that stand outside get their bytes behind everything else. */
static void write_outside(fb_writer *w, const tb_model *m, const size_t outside[TB_MAX])
{
    for (int i = 0; i < m->n_tensors; ++i)
        if (outside[i]) {
            size_t behind = fb_reserve(w, m->tensor[i].bytes, 16);
            memcpy(w->bytes + behind, m->tensor[i].data, m->tensor[i].bytes);
            fb_set(w, outside[i], BUFFER_OFFSET, (int64_t)behind, 8);
        }
}

unsigned char *tb_finish(const tb_model *m, size_t *size)
{
    fb_writer w = {0};
    size_t model, list, outside[TB_MAX] = {0}, unused[TB_MAX] = {0};
    int graphs = 0, ops = 0, tensors = 0, buffer = 1, code = 0;

    for (const tb_model *g = m; g; g = g->next, ++graphs) {
        ops += g->n_ops;
        tensors += g->n_tensors;
    }
    fb_reserve(&w, 8, 1);
    memcpy(w.bytes + 4, "TFL3", 4);
    model = fb_table(&w, 8);
    fb_refer(&w, 0, model);
    fb_set(&w, model, MODEL_VERSION, 3, 4);
    list = tables_vector(&w, model, MODEL_OPERATOR_CODES, ops);
    for (const tb_model *g = m; g; list += 4 * (size_t)g->n_ops, g = g->next)
        write_codes(&w, list, g);
    list = tables_vector(&w, model, MODEL_SUBGRAPHS, graphs);
    for (const tb_model *g = m; g; g = g->next, list += 4) {
        write_subgraph(&w, list, g, buffer, code);
        buffer += g->n_tensors;
        code += g->n_ops;
    }
    list = tables_vector(&w, model, MODEL_BUFFERS, 1 + tensors);
    fb_refer(&w, list, fb_table(&w, 3));
    list += 4;
    for (const tb_model *g = m; g; list += 4 * (size_t)g->n_tensors, g = g->next)
        write_buffers(&w, list, g, g == m ? outside : unused);
    write_signatures(&w, model, m);
    write_outside(&w, m, outside);
    *size = w.size;
    return w.bytes;
}

/* Damaged, the model is refused with one line or imported; the sanitizers watch. */
static void survive(const tb_model *m)
{
    static const assay_tflite_options options = {.hybrid = true};
    test_rng rng = {0};
    size_t whole;
    unsigned char *file = tb_finish(m, &whole);

    for (int i = 0; i < MUTANTS; ++i) {
        size_t size = whole;
        unsigned char *copy = malloc(size + 1);
        assay_graph *g;
        assay_error err;
        assert_non_null(copy);
        memcpy(copy, file, size);
        tb_damage(&rng, copy, &size);
        if (tfl_import_entry("mutant", NULL, copy, size, &options, &g, &err) == ASSAY_OK)
            assay_graph_free(g);
        else
            assert_true(err.text[0] != 0 && strchr(err.text, '\n') == NULL);
        free(copy);
    }
    free(file);
}

void tb_run(const tb_model *m, const void *const *in, const void *want, size_t bytes)
{
    unsigned char *file;
    assay_graph *g = tb_import_ok(m, &file);
    assay_program *p;
    assay_run *r;
    assay_error err;

    assert_ok(assay_program_make(g, NULL, false, &p, &err), &err);
    assert_ok(assay_run_new(p, &r, &err), &err);
    for (int i = 0; i < g->n_inputs; ++i)
        memcpy(assay_run_data(r, g->input[i]), in[i],
               assay_type_bytes(&g->value[g->input[i]].type));
    assert_ok(run_execute(r, NULL, false, NULL, &err), &err);
    assert_int_equal(assay_type_bytes(&g->value[g->output[0]].type), bytes);
    assert_memory_equal(assay_run_data(r, g->output[0]), want, bytes);
    assay_run_free(r);
    assay_program_free(p);
    assay_graph_free(g);
    free(file);
    survive(m);
}

/* ---- damage ---- */

static void put_word(unsigned char *bytes, size_t size, size_t at, uint32_t v)
{
    for (size_t i = 0; i < 4 && at + i < size; ++i)
        bytes[at + i] = (unsigned char)(v >> (8 * i));
}

void tb_damage(test_rng *rng, unsigned char *bytes, size_t *size)
{
    static const uint32_t odd[] = {0,          1,          2,          0x7fffffff, 0x80000000,
                                   0xffffffff, 0x00ffffff, 0x40000000, 0xfffffff0, 0x10000};
    int changes = (int)test_between(rng, 1, 6);

    if (test_between(rng, 0, 9) == 0)
        *size = (size_t)test_between(rng, 0, (int64_t)*size);
    for (int i = 0; *size > 0 && i < changes; ++i) {
        size_t at = (size_t)test_between(rng, 0, (int64_t)*size - 1);
        switch (test_between(rng, 0, 4)) {
        case 0:
            bytes[at] ^= (unsigned char)(1 << test_between(rng, 0, 7));
            break;
        case 1:
            bytes[at] = (unsigned char)test_random(rng);
            break;
        case 2:
            put_word(bytes, *size, at & ~(size_t)3, odd[test_between(rng, 0, 9)]);
            break;
        case 3: /* an offset to somewhere else, perhaps back */
            put_word(bytes, *size, at & ~(size_t)3,
                     (uint32_t)(test_between(rng, 0, 2 * (int64_t)*size) - (int64_t)*size));
            break;
        default:
            memset(bytes + at, (int)test_between(rng, 0, 255), *size - at < 16 ? *size - at : 16);
        }
    }
}
