/* Driver of the import: a model, its subgraphs, their operators; what is not supported. */
#include "graph/tflite/import/import.h"
#include "graph/memory.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "graph/tflite/tflite.h"

#define SCHEMA_VERSION 3

typedef assay_status (*import_fn)(const tfl_op *o);

static const struct builtin {
    const char *name; /* NULL: no such operator */
    import_fn import; /* NULL: not supported */
    assay_op op;
} builtins[] = {
#define TFL_NONE(code, name)             [code] = {#name, NULL, ASSAY_OP_COUNT},
#define TFL_OP(code, name, function, op) [code] = {#name, tfl_op_##function, ASSAY_OP_##op},
#include "graph/tflite/op/ops.def"
};

static const struct custom {
    const char *name;
    import_fn import;
} customs[] = {
#define TFL_CUSTOM(name, function) {name, tfl_custom_##function},
#include "graph/tflite/op/ops.def"
};

#define N_BUILTINS ((int)(sizeof builtins / sizeof *builtins))

static assay_status fail(tfl_import *m, const char *what)
{
    return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: %s", m->name, what);
}

/* Outputs of an operator that was refused, so that those behind it can still be looked at. */
static assay_status skip_operator(const tfl_op *o)
{
    for (int i = 0; i < o->n_out; ++i) {
        tfl_tensor *t = tfl_out(o, i);
        assay_status s;
        if (t->value >= 0 || t->why || t->data || t->is_variable)
            continue;
        t->name = tfl_unique(o->m, t->name, o->out[i]);
        s = t->name ? assay_graph_add_value(o->m->g, t->name, &t->type, &t->value, o->m->err)
                    : tfl_no_memory(o->m);
        if (s)
            return s;
    }
    return ASSAY_OK;
}

static assay_status read_operator(tfl_import *m, int index, flat_table t, tfl_op *op)
{
    uint32_t code = tfl_flat_u32(t, OPERATOR_CODE, 0);
    flat_vector in = tfl_flat_list(t, OPERATOR_INPUTS, 4);
    flat_vector out = tfl_flat_list(t, OPERATOR_OUTPUTS, 4);
    const struct builtin *b = NULL;
    char what[40];
    assay_status s;

    *op = (tfl_op){.m = m, .index = index, .n_in = (int)in.count, .n_out = (int)out.count};
    snprintf(what, sizeof what, "operator %d", index);
    if ((s = tfl_charge(m, 16)) || (s = tfl_read_indices(m, in, true, what, &op->in)) ||
        (s = tfl_read_indices(m, out, false, what, &op->out)))
        return s;
    if (code >= (uint32_t)m->n_codes)
        return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: operator %d: no operator code %u exists",
                          m->name, index, code);
    op->builtin = m->code[code].builtin;
    op->custom = m->code[code].custom;
    if (op->builtin >= 0 && op->builtin < N_BUILTINS)
        b = &builtins[op->builtin];
    op->kind = b && b->name ? b->name : "unknown operator";
    op->options = tfl_flat_child(t, tfl_flat_has(t, OPERATOR_OPTIONS_2) ? OPERATOR_OPTIONS_2
                                                                        : OPERATOR_OPTIONS);
    op->custom_options = tfl_flat_list(t, OPERATOR_CUSTOM_OPTIONS, 1);
    op->op = b ? b->op : ASSAY_OP_COUNT;
    return tfl_flat_status(&m->file, m->err);
}

/* Tells whoever wants to see all operators. */
static void show(const tfl_op *o, bool supported)
{
    const assay_tflite_options *to = o->m->options;
    const tfl_tensor *y = o->n_out > 0 ? tfl_out(o, 0) : NULL;

    if (to && to->seen)
        to->seen(to->to, &(assay_tflite_row){.subgraph = o->m->subgraph,
                                             .index = o->index,
                                             .kind = o->kind,
                                             .output = y ? y->name : "",
                                             .type = y ? &y->type : NULL,
                                             .why = supported ? NULL : o->m->why});
}

static assay_status import_custom(const tfl_op *o)
{
    for (size_t i = 0; i < sizeof customs / sizeof *customs; ++i)
        if (strcmp(customs[i].name, o->custom) == 0)
            return customs[i].import(o);
    return tfl_unsupported(o, "'%.100s'", o->custom);
}

static assay_status import_operator(tfl_import *m, int index, flat_table t)
{
    tfl_op o;
    const struct builtin *b;
    assay_status s = read_operator(m, index, t, &o);

    if (s)
        return s;
    b = o.builtin >= 0 && o.builtin < N_BUILTINS ? &builtins[o.builtin] : NULL;
    if (o.custom)
        s = import_custom(&o);
    else if (!b || !b->name)
        s = tfl_unsupported(&o, "code %d", o.builtin);
    else if (!b->import)
        s = tfl_unsupported(&o, "%s", "");
    else if (o.n_out < 1 && b->op != ASSAY_OP_ASSIGN)
        s = tfl_fail(&o, "there is no output");
    else if (!(s = tfl_infer_outputs(&o)))
        s = b->import(&o);
    if (!s)
        s = tfl_flat_status(&m->file, m->err);
    if (!s || s == ASSAY_ERR_UNSUPPORTED)
        show(&o, !s);
    return s == ASSAY_ERR_UNSUPPORTED && m->n_faults ? skip_operator(&o) : s;
}

/* "WHERE (operators 3, 9, ... 12 in all); IF (operator 5)". */
static assay_status report_faults(const tfl_import *m)
{
    char text[sizeof m->err->text];
    size_t used = (size_t)snprintf(text, sizeof text, "%.300s: not supported: ", m->name);
    int untold = m->hidden_faults;

    for (int i = 0; i < m->n_faults; ++i) {
        const tfl_fault *f = &m->fault[i];
        char entry[480];
        int shown = f->count < 6 ? f->count : 6;
        size_t n = (size_t)snprintf(entry, sizeof entry, "%s%.330s", i ? "; " : "", f->what);
        for (int k = 0; k < shown && f->first[0] >= 0; ++k)
            n += (size_t)snprintf(entry + n, sizeof entry - n, "%s%d",
                                  k           ? ", "
                                  : shown > 1 ? " (operators "
                                              : " (operator ",
                                  f->first[k]);
        if (f->first[0] >= 0)
            snprintf(entry + n, sizeof entry - n, f->count > shown ? ", ... %d in all)" : ")",
                     f->count);
        if (used + strlen(entry) + 60 > sizeof text)
            ++untold;
        else
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", entry);
    }
    if (untold)
        snprintf(text + used, sizeof text - used, "; and %d more kinds ('assay inspect')", untold);
    return assay_fail(m->err, ASSAY_ERR_UNSUPPORTED, "%s", text);
}

/* The operators of the subgraph whose inputs stand in the graph. What is not supported is noted and
 * passed over. */
static assay_status import_operators(tfl_import *m, flat_table subgraph)
{
    flat_vector operators = tfl_flat_list(subgraph, SUBGRAPH_OPERATORS, 4);
    assay_status s = tfl_flat_status(&m->file, m->err);

    for (uint32_t i = 0; !s && i < operators.count; ++i)
        s = import_operator(m, (int)i, tfl_flat_list_table(operators, i));
    return s;
}

/* Tensors, inputs, operators and outputs of one subgraph into m->g. */
static assay_status import_subgraph(tfl_import *m, flat_table model, flat_table subgraph)
{
    flat_vector inputs = tfl_flat_list(subgraph, SUBGRAPH_INPUTS, 4);
    flat_vector outputs = tfl_flat_list(subgraph, SUBGRAPH_OUTPUTS, 4);
    assay_status s;

    if ((s = tfl_flat_status(&m->file, m->err)) || (s = tfl_read_tensors(m, subgraph)) ||
        (s = tfl_add_inputs(m, model, inputs)) || (s = import_operators(m, subgraph)))
        return s;
    return m->n_faults ? ASSAY_ERR_UNSUPPORTED : tfl_add_outputs(m, outputs);
}

static assay_status import_body(const tfl_op *o, int32_t index, int64_t *number)
{
    tfl_import *m = o->m;
    const tfl_import outer = *m;
    tfl_import inner = *m;
    char name[32];
    int id;
    assay_status s;

    if (index <= 0 || (uint32_t)index >= m->subgraphs.count)
        return tfl_fail(o, "there is no subgraph %d to run", index);
    if (m->depth + 1 == TFL_DEPTH)
        return tfl_fail(o, "subgraphs run each other more than %d deep", m->depth);
    snprintf(name, sizeof name, "subgraph%d", index);
    if ((s = assay_graph_new(name, &inner.g, m->err)))
        return s;
    inner.subgraph = index;
    inner.around = &outer;
    ++inner.depth;
    tfl_enter_body(&inner);
    s = import_subgraph(&inner, (flat_table){0},
                        tfl_flat_list_table(m->subgraphs, (uint32_t)index));
    m->file = inner.file; /* what went wrong, and what was spent */
    m->budget = inner.budget;
    m->fault = inner.fault;
    m->n_faults = inner.n_faults;
    m->hidden_faults = inner.hidden_faults;
    memcpy(m->why, inner.why, sizeof m->why);
    if (!s)
        s = tfl_leave_body(o, &inner);
    if (!s)
        s = assay_graph_add_subgraph(m->g, inner.g, &id, m->err);
    if (s)
        assay_graph_free(inner.g);
    else
        *number = id;
    return s;
}

/* The operands are the tensors that a subgraph takes, of the list `inner`; its results are called
 * as the operator's outputs are. What shapes it declares for its operands is not asked. */
static assay_status hand_in(const tfl_op *o, tfl_tensor *inner, const int *in, const int *out)
{
    int variable;
    assay_status s;
    for (int i = 0; i < o->n_in; ++i) {
        if (o->in[i] < 0)
            return tfl_fail(o, "input %d is missing", i);
        for (int k = 0; k < i; ++k)
            if (in[k] == in[i])
                return tfl_fail(o, "its body takes operands %d and %d as one tensor", k, i);
        const tfl_tensor *x = tfl_in(o, i);
        if (x->is_variable && (s = tfl_value(o, i, &variable))) /* one, given twice or not */
            return s;
        if (tfl_flat_present(x->blockwise)) /* scales are numbered in the list around */
            return tfl_unsupported(o, "operand %d has a scale for each block", i);
        if (!assay_elem_equal(inner[in[i]].type.elem, x->type.elem))
            return tfl_unsupported(o, "operand %d has another type inside than outside", i);
        inner[in[i]] = *x;
    }
    for (int i = 0; i < o->n_out; ++i)
        if (!inner[out[i]].data && inner[out[i]].value < 0)
            inner[out[i]].name = tfl_out(o, i)->name;
    return ASSAY_OK;
}

/* Values that the subgraph made, from number n_values on, are those of the tensors at hand. */
static assay_status hand_back(const tfl_op *o, const tfl_tensor *inner, int n_values, const int *in,
                              const int *out)
{
    for (int i = 0; i < o->n_in; ++i)
        if (tfl_in(o, i)->value < 0)
            tfl_in(o, i)->value = inner[in[i]].value;
    for (int i = 0; i < o->n_out; ++i) {
        tfl_tensor *y = tfl_out(o, i);
        const tfl_tensor *t = &inner[out[i]];
        if (t->value < 0 || y->value >= 0 || y->data || y->is_variable)
            return tfl_unsupported(o, "output %d is not computed, or its tensor exists already", i);
        if (!assay_elem_equal(t->type.elem, y->type.elem))
            return tfl_unsupported(o, "output %d has another type inside than outside", i);
        y->value = t->value;
        y->type = t->type;
        if (y->value >= n_values) /* else an operand, passed on */
            o->m->g->value[y->value].source_index = o->out[i];
    }
    return ASSAY_OK;
}

static assay_status inline_tensors(const tfl_op *o, tfl_tensor_list outer, flat_table body)
{
    tfl_import *m = o->m;
    const flat_vector inputs = tfl_flat_list(body, SUBGRAPH_INPUTS, 4);
    const flat_vector outputs = tfl_flat_list(body, SUBGRAPH_OUTPUTS, 4);
    const int n_values = m->g->n_values;
    const int *in, *out;
    assay_status s;

    if ((s = tfl_flat_status(&m->file, m->err)) || (s = tfl_read_tensors(m, body)) ||
        (s = tfl_read_indices(m, inputs, false, "a body's inputs", &in)) ||
        (s = tfl_read_indices(m, outputs, false, "a body's outputs", &out)))
        return s;
    if (inputs.count != (uint32_t)o->n_in || outputs.count != (uint32_t)o->n_out)
        return assay_fail(m->err, ASSAY_ERR_INPUT,
                          "%s: operator %d has %d inputs and %d outputs, its body %u and %u",
                          m->name, o->index, o->n_in, o->n_out, inputs.count, outputs.count);
    const tfl_tensor_list inner = m->tensors;
    const int subgraph = m->subgraph;
    m->tensors = outer; /* which the operator's own messages name */
    if ((s = hand_in(o, inner.at, in, out)))
        return s;
    m->tensors = inner;
    m->subgraph = tfl_flat_i32(o->options, COMPOSITE_BODY, 0);
    s = import_operators(m, body);
    for (int i = n_values; i < m->g->n_values; ++i)
        m->g->value[i].source_index = -1;
    m->tensors = outer;
    m->subgraph = subgraph;
    return s ? s : hand_back(o, inner.at, n_values, in, out);
}

static assay_status inline_body(const tfl_op *o, int32_t index)
{
    tfl_import *m = o->m;
    const tfl_tensor_list outer = m->tensors;
    assay_status s;

    if (index <= 0 || (uint32_t)index >= m->subgraphs.count)
        return tfl_fail(o, "there is no subgraph %d", index);
    if (m->inlined + 1 == TFL_DEPTH)
        return tfl_fail(o, "subgraphs hold each other more than %d deep", m->inlined);
    ++m->inlined;
    s = inline_tensors(o, outer, tfl_flat_list_table(m->subgraphs, (uint32_t)index));
    --m->inlined;
    m->tensors = outer;
    return s;
}

static assay_status import_model(tfl_import *m, const char *entry)
{
    flat_table model = tfl_flat_root(&m->file), main;
    char *name;
    assay_status s;

    if (m->file.size < 8 || memcmp(m->file.bytes + 4, "TFL3", 4) != 0)
        return fail(m, "not a TFLite model: bytes 4 to 7 are not \"TFL3\"");
    if ((s = tfl_flat_status(&m->file, m->err)))
        return s;
    if (tfl_flat_u32(model, MODEL_VERSION, 0) != SCHEMA_VERSION)
        return assay_fail(m->err, ASSAY_ERR_UNSUPPORTED, "%s: schema version %u, expected %d",
                          m->name, tfl_flat_u32(model, MODEL_VERSION, 0), SCHEMA_VERSION);
    m->subgraphs = tfl_flat_list(model, MODEL_SUBGRAPHS, 4);
    m->buffers = tfl_flat_list(model, MODEL_BUFFERS, 4);
    if ((s = tfl_flat_status(&m->file, m->err)))
        return s;
    if (m->subgraphs.count == 0)
        return fail(m, "there is no subgraph");
    if ((s = tfl_find_entry(m, model, entry)))
        return s;
    main = tfl_flat_list_table(m->subgraphs, (uint32_t)m->subgraph);
    name = tfl_text(m, main, SUBGRAPH_NAME);
    if ((s = tfl_flat_status(&m->file, m->err)))
        return s;
    if (!name)
        return tfl_no_memory(m);
    m->g->name = assay_arena_string(m->g->arena, *name ? name : "main");
    if (!m->g->name)
        return tfl_no_memory(m);
    (void)((s = tfl_read_codes(m, model)) || (s = import_subgraph(m, model, main)) ||
           (s = assay_graph_verify(m->g, m->err)));
    return s == ASSAY_ERR_UNSUPPORTED && m->n_faults ? report_faults(m) : s;
}

assay_status tfl_import_once(const char *name, const char *entry, const void *bytes, size_t size,
                             const assay_tflite_options *options, bool inferred, bool *placeholders,
                             assay_graph **out, assay_error *err)
{
    assay_error unwanted;
    tfl_import m = {.name = name,
                    .file = {.name = name, .bytes = bytes, .size = size},
                    .budget = (uint64_t)size * 16 + (1 << 22),
                    .options = options,
                    .follows_data = inferred,
                    .read_operator = read_operator,
                    .import_body = import_body,
                    .inline_body = inline_body,
                    .err = err ? err : &unwanted};
    XXH128_hash_t hash = XXH3_128bits(bytes, size);
    assay_status s = assay_graph_new("main", &m.g, err);

    *out = NULL;
    m.temp = assay_arena_new();
    if (!s && !m.temp)
        s = assay_out_of_memory(err);
    if (!s)
        s = import_model(&m, entry);
    assay_arena_free(m.temp);
    *placeholders = m.placeholders;
    if (s) {
        assay_graph_free(m.g);
        return s;
    }
    snprintf(m.g->model_digest, sizeof m.g->model_digest, "%016llx%016llx",
             (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    *out = m.g;
    return ASSAY_OK;
}
