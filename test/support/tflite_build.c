/* Small TFLite models, put together. */
#include "test/support/tflite_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a FlatBuffers writer: parents before children, every field in eight bytes ---- */

typedef struct writer {
    unsigned char *bytes;
    size_t size, room;
} writer;

static size_t reserve(writer *w, size_t n, size_t align)
{
    size_t at = (w->size + align - 1) / align * align;
    if (at + n > w->room) {
        w->room = (at + n) * 2;
        w->bytes = realloc(w->bytes, w->room);
        assert_non_null(w->bytes);
    }
    memset(w->bytes + w->size, 0, at + n - w->size);
    w->size = at + n;
    return at;
}

static void put(writer *w, size_t at, int64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i)
        w->bytes[at + (size_t)i] = (unsigned char)((uint64_t)value >> (8 * i));
}

/* A table of n fields, none stored yet; field i lives at table + 8 + 8i. */
static size_t table(writer *w, int n)
{
    size_t fields = (size_t)n, vtable = reserve(w, 4 + 2 * fields, 2);
    size_t at = reserve(w, 8 + 8 * fields, 8);
    put(w, vtable, (int64_t)(4 + 2 * fields), 2);
    put(w, vtable + 2, (int64_t)(8 + 8 * fields), 2);
    put(w, at, (int64_t)at - (int64_t)vtable, 4);
    return at;
}

static size_t field(writer *w, size_t t, int slot)
{
    size_t vtable = t - (size_t)(w->bytes[t] | w->bytes[t + 1] << 8 | w->bytes[t + 2] << 16);
    put(w, vtable + 4 + 2 * (size_t)slot, 8 + 8 * slot, 2);
    return t + 8 + 8 * (size_t)slot;
}

static void set(writer *w, size_t t, int slot, int64_t value, int bytes)
{
    put(w, field(w, t, slot), value, bytes);
}

static void refer(writer *w, size_t at, size_t to)
{
    put(w, at, (int64_t)(to - at), 4);
}

static size_t vector(writer *w, int n, int size, size_t align)
{
    size_t at = reserve(w, 4, 4);
    while ((at + 4) % align != 0)
        at = reserve(w, 4, 4);
    put(w, at, n, 4);
    reserve(w, (size_t)n * (size_t)size, 1);
    return at;
}

static size_t ints(writer *w, const int32_t *v, int n)
{
    size_t at = vector(w, n, 4, 4);
    for (int i = 0; i < n; ++i)
        put(w, at + 4 + 4 * (size_t)i, v[i], 4);
    return at;
}

static size_t bytes_of(writer *w, const void *data, size_t n)
{
    size_t at = vector(w, (int)n, 1, 16);
    if (n)
        memcpy(w->bytes + at + 4, data, n);
    return at;
}

static void child(writer *w, size_t t, int slot, size_t to)
{
    refer(w, field(w, t, slot), to);
}

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

static void write_sparsity(writer *w, size_t at)
{
    static const int32_t order[] = {0, 1}, segments[] = {0, 2, 3}, indices[] = {1, 3, 0};
    size_t s = table(w, 3), dims, rows, columns, v;
    child(w, at, TENSOR_SPARSITY, s);
    child(w, s, SPARSITY_ORDER, ints(w, order, 2));
    dims = vector(w, 2, 4, 4);
    child(w, s, SPARSITY_DIMENSIONS, dims);
    rows = table(w, 6);
    refer(w, dims + 4, rows);
    set(w, rows, DIMENSION_DENSE_SIZE, 2, 4);
    columns = table(w, 6);
    refer(w, dims + 8, columns);
    set(w, columns, DIMENSION_FORMAT, 1, 1);
    set(w, columns, DIMENSION_SEGMENTS_TYPE, INDEX_INT32, 1);
    v = table(w, 1);
    child(w, columns, DIMENSION_SEGMENTS, v);
    child(w, v, 0, ints(w, segments, 3));
    set(w, columns, DIMENSION_INDICES_TYPE, INDEX_INT32, 1);
    v = table(w, 1);
    child(w, columns, DIMENSION_INDICES, v);
    child(w, v, 0, ints(w, indices, 3));
}

static void write_tensor(writer *w, size_t at, const tb_tensor *t, int buffer)
{
    size_t q, v;
    child(w, at, TENSOR_SHAPE, ints(w, t->dim, t->rank));
    set(w, at, TENSOR_TYPE, t->type, 1);
    set(w, at, TENSOR_BUFFER, buffer, 4);
    child(w, at, TENSOR_NAME, bytes_of(w, t->name, strlen(t->name)));
    set(w, at, TENSOR_IS_VARIABLE, t->is_variable, 1);
    if (t->n_scales) {
        q = table(w, 7);
        child(w, at, TENSOR_QUANTIZATION, q);
        v = vector(w, t->n_scales, 4, 4);
        memcpy(w->bytes + v + 4, t->scale, (size_t)t->n_scales * 4);
        child(w, q, QUANT_SCALE, v);
        v = vector(w, t->n_scales, 8, 8);
        memcpy(w->bytes + v + 4, t->zero, (size_t)t->n_scales * 8);
        child(w, q, QUANT_ZERO_POINT, v);
        set(w, q, QUANT_DIMENSION, t->axis, 4);
    }
    if (t->block) {
        q = table(w, 7);
        child(w, at, TENSOR_QUANTIZATION, q);
        set(w, q, QUANT_DETAILS_TYPE, DETAILS_BLOCKWISE, 1);
        v = table(w, 3);
        child(w, q, QUANT_DETAILS, v);
        set(w, v, BLOCKWISE_SCALES, t->block_scales, 4);
        set(w, v, BLOCKWISE_SIZE, t->block, 4);
    }
    if (t->sparse)
        write_sparsity(w, at);
}

static void write_operator(writer *w, size_t at, const tb_op *op, int code)
{
    size_t options;
    set(w, at, OPERATOR_CODE, code, 4);
    child(w, at, OPERATOR_INPUTS, ints(w, op->in, op->n_in));
    child(w, at, OPERATOR_OUTPUTS, ints(w, op->out, op->n_out));
    options = table(w, 8);
    child(w, at, OPERATOR_OPTIONS, options);
    if (op->variable)
        child(w, options, 1, bytes_of(w, op->variable, strlen(op->variable)));
    for (int i = 0; i < op->n_options; ++i)
        set(w, options, op->option[i].slot, op->option[i].bits, op->option[i].size);
}

static size_t tables_vector(writer *w, size_t parent, int slot, int n)
{
    size_t at = vector(w, n, 4, 4);
    child(w, parent, slot, at);
    return at + 4;
}

static void write_signature(writer *w, size_t def, const tb_model *m, int subgraph)
{
    size_t list = vector(w, m->n_inputs, 4, 4);
    child(w, def, SIGNATURE_INPUTS, list);
    set(w, def, SIGNATURE_SUBGRAPH, subgraph, 4);
    if (m->key)
        child(w, def, SIGNATURE_KEY, bytes_of(w, m->key, strlen(m->key)));
    for (int i = 0; i < m->n_inputs; ++i) {
        size_t map = table(w, 2);
        refer(w, list + 4 + 4 * (size_t)i, map);
        child(w, map, MAP_NAME, bytes_of(w, m->signature[i], strlen(m->signature[i])));
        set(w, map, MAP_TENSOR, m->input[i], 4);
    }
}

/* Of the subgraphs whose inputs have names. */
static void write_signatures(writer *w, size_t model, const tb_model *m)
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
            size_t def = table(w, 5);
            refer(w, list, def);
            list += 4;
            write_signature(w, def, g, subgraph);
        }
}

static void write_codes(writer *w, size_t list, const tb_model *m)
{
    for (int i = 0; i < m->n_ops; ++i) {
        const tb_op *op = &m->op[i];
        size_t at = table(w, 4);
        refer(w, list + 4 * (size_t)i, at);
        set(w, at, CODE_DEPRECATED, op->builtin < 127 ? op->builtin : 127, 1);
        set(w, at, CODE_BUILTIN, op->builtin, 4);
        if (op->custom)
            child(w, at, CODE_CUSTOM, bytes_of(w, op->custom, strlen(op->custom)));
    }
}

/* Buffer 0 is empty; those of a subgraph's tensors follow from `first_buffer` on. */
static void write_subgraph(writer *w, size_t at, const tb_model *m, int first_buffer,
                           int first_code)
{
    size_t graph = table(w, 5), list;
    refer(w, at, graph);
    list = tables_vector(w, graph, SUBGRAPH_TENSORS, m->n_tensors);
    for (int i = 0; i < m->n_tensors; ++i) {
        at = table(w, 11);
        refer(w, list + 4 * (size_t)i, at);
        write_tensor(w, at, &m->tensor[i], first_buffer + i);
    }
    child(w, graph, SUBGRAPH_INPUTS, ints(w, m->input, m->n_inputs));
    child(w, graph, SUBGRAPH_OUTPUTS, ints(w, m->output, m->n_outputs));
    list = tables_vector(w, graph, SUBGRAPH_OPERATORS, m->n_ops);
    for (int i = 0; i < m->n_ops; ++i) {
        at = table(w, 9);
        refer(w, list + 4 * (size_t)i, at);
        write_operator(w, at, &m->op[i], first_code + i);
    }
}

/* Returns where the buffers' tables are that stand for bytes behind the FlatBuffer. */
static void write_buffers(writer *w, size_t list, const tb_model *m, size_t outside[TB_MAX])
{
    for (int i = 0; i < m->n_tensors; ++i) {
        const tb_tensor *t = &m->tensor[i];
        size_t at = table(w, 3);
        refer(w, list + 4 * (size_t)i, at);
        if (t->has_data && t->outside) {
            outside[i] = at;
            set(w, at, BUFFER_SIZE, (int64_t)t->bytes, 8);
        } else if (t->has_data) {
            child(w, at, BUFFER_DATA, bytes_of(w, t->data, t->bytes));
        }
    }
}

/* The main graph's tensors that stand outside get their bytes behind everything else. */
static void write_outside(writer *w, const tb_model *m, const size_t outside[TB_MAX])
{
    for (int i = 0; i < m->n_tensors; ++i)
        if (outside[i]) {
            size_t behind = reserve(w, m->tensor[i].bytes, 16);
            memcpy(w->bytes + behind, m->tensor[i].data, m->tensor[i].bytes);
            set(w, outside[i], BUFFER_OFFSET, (int64_t)behind, 8);
        }
}

unsigned char *tb_finish(const tb_model *m, size_t *size)
{
    writer w = {0};
    size_t model, list, outside[TB_MAX] = {0}, unused[TB_MAX] = {0};
    int graphs = 0, ops = 0, tensors = 0, buffer = 1, code = 0;

    for (const tb_model *g = m; g; g = g->next, ++graphs) {
        ops += g->n_ops;
        tensors += g->n_tensors;
    }
    reserve(&w, 8, 1);
    memcpy(w.bytes + 4, "TFL3", 4);
    model = table(&w, 8);
    refer(&w, 0, model);
    set(&w, model, MODEL_VERSION, 3, 4);
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
    refer(&w, list, table(&w, 3));
    list += 4;
    for (const tb_model *g = m; g; list += 4 * (size_t)g->n_tensors, g = g->next)
        write_buffers(&w, list, g, g == m ? outside : unused);
    write_signatures(&w, model, m);
    write_outside(&w, m, outside);
    *size = w.size;
    return w.bytes;
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
