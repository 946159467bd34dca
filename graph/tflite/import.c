/* The model's tables, and the order of things. */
#include "graph/tflite/import.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "graph/tflite/tflite.h"

#define SCHEMA_VERSION   3
#define CODE_PLACEHOLDER 127 /* the greatest code that the old one-byte field could hold */
#define BUILTIN_CUSTOM   32
#define SIGNATURES_MAX   64 /* that are looked at */

typedef assay_status (*import_fn)(const tfl_op *o);

static const struct builtin {
    const char *name; /* NULL: no such operator */
    import_fn import; /* NULL: not supported */
    assay_op op;
} builtins[] = {
#define TFL_NONE(code, name)             [code] = {#name, NULL, ASSAY_OP_COUNT},
#define TFL_OP(code, name, function, op) [code] = {#name, assay_tfl_op_##function, ASSAY_OP_##op},
#include "graph/tflite/ops.def"
#undef TFL_OP
#undef TFL_NONE
};

#define N_BUILTINS ((int)(sizeof builtins / sizeof *builtins))

static assay_status fail(tfl_import *m, const char *what)
{
    return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: %s", m->name, what);
}

/* A string of the file, NUL-terminated. */
static char *text_of(tfl_import *m, flat_table t, int slot)
{
    size_t length;
    const char *text = assay_flat_text(t, slot, &length);
    char *copy;

    if (assay_tfl_charge(m, length))
        return NULL;
    copy = assay_arena_alloc(m->temp, length + 1);
    if (copy && text)
        memcpy(copy, text, length);
    return copy;
}

static assay_status read_codes(tfl_import *m, flat_table model)
{
    flat_vector codes = assay_flat_list(model, MODEL_OPERATOR_CODES, 4);

    m->code = assay_arena_array(m->temp, codes.count, sizeof *m->code);
    if (!m->code)
        return assay_tfl_no_memory(m);
    m->n_codes = (int)codes.count;
    for (uint32_t i = 0; i < codes.count; ++i) {
        flat_table t = assay_flat_list_table(codes, i);
        int old = assay_flat_i8(t, CODE_DEPRECATED, 0), code = assay_flat_i32(t, CODE_BUILTIN, 0);
        /* files before version 3a have the old field only */
        m->code[i].builtin = code > old || old >= CODE_PLACEHOLDER ? code : old;
        if (m->code[i].builtin == BUILTIN_CUSTOM && assay_flat_has(t, CODE_CUSTOM)) {
            m->code[i].custom = text_of(m, t, CODE_CUSTOM);
            if (!m->code[i].custom)
                return assay_tfl_no_memory(m);
        }
    }
    return assay_flat_status(&m->file, m->err);
}

assay_status assay_tfl_read_tensors(tfl_import *m, flat_table subgraph)
{
    flat_vector tensors = assay_flat_list(subgraph, SUBGRAPH_TENSORS, 4);
    assay_status s = assay_flat_status(&m->file, m->err);

    m->tensors.at = assay_arena_array(m->temp, tensors.count, sizeof *m->tensors.at);
    if (!m->tensors.at)
        return assay_tfl_no_memory(m);
    m->tensors.n = (int)tensors.count;
    for (uint32_t i = 0; i < tensors.count; ++i)
        m->tensors.at[i].name = "";
    for (uint32_t i = 0; !s && i < tensors.count; ++i)
        s = assay_tfl_describe(m, (int)i, assay_flat_list_table(tensors, i));
    return s;
}

/* Indices of tensors; -1 is kept where `optional`. */
static assay_status read_indices(tfl_import *m, flat_vector v, bool optional, const char *what,
                                 const int **out)
{
    int *index;
    assay_status s = assay_flat_status(&m->file, m->err);

    if (s || (s = assay_tfl_charge(m, (uint64_t)v.count * 4)))
        return s;
    index = assay_arena_array(m->temp, v.count, sizeof *index);
    if (!index)
        return assay_tfl_no_memory(m);
    for (uint32_t i = 0; i < v.count; ++i) {
        index[i] = assay_flat_list_i32(v, i);
        if (index[i] < (optional ? -1 : 0) || index[i] >= m->tensors.n)
            return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: %s: there is no tensor %d", m->name,
                              what, index[i]);
    }
    *out = index;
    return ASSAY_OK;
}

/* The name that the model's signature gives to input tensor `tensor`, or NULL. */
static const char *signature_name(tfl_import *m, flat_table model, int tensor)
{
    flat_vector signatures = assay_flat_list(model, MODEL_SIGNATURE_DEFS, 4), inputs;
    flat_table signature;

    if (signatures.count == 0)
        return NULL;
    signature = assay_flat_list_table(signatures, 0);
    for (uint32_t i = 1; i < signatures.count && i < SIGNATURES_MAX; ++i)
        if (assay_flat_u32(signature, SIGNATURE_SUBGRAPH, 0) != (uint32_t)m->subgraph)
            signature = assay_flat_list_table(signatures, i);
    inputs = assay_flat_list(signature, SIGNATURE_INPUTS, 4);
    if (assay_flat_u32(signature, SIGNATURE_SUBGRAPH, 0) != (uint32_t)m->subgraph ||
        assay_tfl_charge(m, inputs.count))
        return NULL;
    for (uint32_t i = 0; i < inputs.count; ++i) {
        flat_table map = assay_flat_list_table(inputs, i);
        if (assay_flat_u32(map, MAP_TENSOR, 0) == (uint32_t)tensor) {
            const char *name = text_of(m, map, MAP_NAME);
            return name && *name ? name : NULL;
        }
    }
    return NULL;
}

static assay_status add_inputs(tfl_import *m, flat_table model, flat_vector list)
{
    const int *index;
    const tfl_op whole = {.m = m, .kind = "model input", .index = -1};
    int *id = assay_arena_array(m->temp, list.count, sizeof *id);
    assay_status s = read_indices(m, list, false, "model inputs", &index);

    if (!s && !id)
        s = assay_tfl_no_memory(m);
    for (uint32_t i = 0; !s && i < list.count; ++i) {
        tfl_tensor *t = &m->tensors.at[index[i]];
        const char *name = m->depth ? NULL : signature_name(m, model, index[i]);
        if (t->why) {
            s = assay_tfl_unsupported(&whole, "%s", t->why);
            if (s == ASSAY_ERR_UNSUPPORTED)
                s = ASSAY_OK;
            continue;
        }
        if (t->value >= 0)
            return fail(m, "a model input is listed twice");
        t->name = assay_tfl_unique(m, name ? name : t->name, index[i]);
        t->data = NULL; /* what runs, not what may be stored */
        t->is_variable = false;
        s = t->name ? assay_graph_add_value(m->g, t->name, &t->type, &t->value, m->err)
                    : assay_tfl_no_memory(m);
        id[i] = t->value;
        if (!s)
            m->g->value[t->value].source_index = index[i];
    }
    if (!s && m->n_faults == 0)
        s = assay_graph_set_inputs(m->g, id, (int)list.count, m->err);
    return s;
}

static assay_status add_outputs(tfl_import *m, flat_vector list)
{
    const int *index;
    tfl_op whole = {.m = m, .kind = "model output", .index = -1, .n_in = (int)list.count};
    int *id = assay_arena_array(m->temp, list.count, sizeof *id);
    assay_status s = read_indices(m, list, false, "model outputs", &index);

    whole.in = index;
    if (!s && !id)
        s = assay_tfl_no_memory(m);
    for (uint32_t i = 0; !s && i < list.count; ++i)
        s = assay_tfl_value(&whole, (int)i, &id[i]);
    return s ? s : assay_graph_set_outputs(m->g, id, (int)list.count, m->err);
}

/* Outputs of an operator that was refused, so that those behind it can still be looked at. */
static assay_status skip_operator(const tfl_op *o)
{
    for (int i = 0; i < o->n_out; ++i) {
        tfl_tensor *t = assay_tfl_out(o, i);
        assay_status s;
        if (t->value >= 0 || t->why || t->data || t->is_variable)
            continue;
        t->name = assay_tfl_unique(o->m, t->name, o->out[i]);
        s = t->name ? assay_graph_add_value(o->m->g, t->name, &t->type, &t->value, o->m->err)
                    : assay_tfl_no_memory(o->m);
        if (s)
            return s;
    }
    return ASSAY_OK;
}

assay_status assay_tfl_read_operator(tfl_import *m, int index, flat_table t, tfl_op *op)
{
    uint32_t code = assay_flat_u32(t, OPERATOR_CODE, 0);
    flat_vector in = assay_flat_list(t, OPERATOR_INPUTS, 4);
    flat_vector out = assay_flat_list(t, OPERATOR_OUTPUTS, 4);
    const struct builtin *b = NULL;
    char what[40];
    assay_status s;

    *op = (tfl_op){.m = m, .index = index, .n_in = (int)in.count, .n_out = (int)out.count};
    snprintf(what, sizeof what, "operator %d", index);
    if ((s = assay_tfl_charge(m, 16)) || (s = read_indices(m, in, true, what, &op->in)) ||
        (s = read_indices(m, out, false, what, &op->out)))
        return s;
    if (code >= (uint32_t)m->n_codes)
        return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: operator %d: there is no operator code %u",
                          m->name, index, code);
    op->builtin = m->code[code].builtin;
    op->custom = m->code[code].custom;
    if (op->builtin >= 0 && op->builtin < N_BUILTINS)
        b = &builtins[op->builtin];
    op->kind = b && b->name ? b->name : "unknown operator";
    op->options = assay_flat_child(t, OPERATOR_OPTIONS);
    op->op = b ? b->op : ASSAY_OP_COUNT;
    return assay_flat_status(&m->file, m->err);
}

/* Tells whoever wants to see all operators. */
static void show(const tfl_op *o, bool supported)
{
    const assay_tflite_options *to = o->m->options;
    const tfl_tensor *y = o->n_out > 0 ? assay_tfl_out(o, 0) : NULL;

    if (to && to->seen)
        to->seen(to->to, &(assay_tflite_row){.subgraph = o->m->subgraph,
                                             .index = o->index,
                                             .kind = o->kind,
                                             .output = y ? y->name : "",
                                             .type = y ? &y->type : NULL,
                                             .why = supported ? NULL : o->m->why});
}

static assay_status import_operator(tfl_import *m, int index, flat_table t)
{
    tfl_op o;
    const struct builtin *b;
    assay_status s = assay_tfl_read_operator(m, index, t, &o);

    if (s)
        return s;
    b = o.builtin >= 0 && o.builtin < N_BUILTINS ? &builtins[o.builtin] : NULL;
    if (o.custom)
        s = assay_tfl_unsupported(&o, "'%.100s'", o.custom);
    else if (!b || !b->name)
        s = assay_tfl_unsupported(&o, "code %d", o.builtin);
    else if (!b->import)
        s = assay_tfl_unsupported(&o, "%s", "");
    else if (o.n_out < 1 && b->op != ASSAY_OP_ASSIGN)
        s = assay_tfl_fail(&o, "there is no output");
    else if (!(s = assay_tfl_settle(&o)))
        s = b->import(&o);
    if (!s)
        s = assay_flat_status(&m->file, m->err);
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
    flat_vector operators = assay_flat_list(subgraph, SUBGRAPH_OPERATORS, 4);
    assay_status s = assay_flat_status(&m->file, m->err);

    for (uint32_t i = 0; !s && i < operators.count; ++i)
        s = import_operator(m, (int)i, assay_flat_list_table(operators, i));
    return s;
}

/* Tensors, inputs, operators and outputs of one subgraph into m->g. */
static assay_status import_subgraph(tfl_import *m, flat_table model, flat_table subgraph)
{
    flat_vector inputs = assay_flat_list(subgraph, SUBGRAPH_INPUTS, 4);
    flat_vector outputs = assay_flat_list(subgraph, SUBGRAPH_OUTPUTS, 4);
    assay_status s;

    if ((s = assay_flat_status(&m->file, m->err)) || (s = assay_tfl_read_tensors(m, subgraph)) ||
        (s = add_inputs(m, model, inputs)) || (s = import_operators(m, subgraph)))
        return s;
    return m->n_faults ? ASSAY_ERR_UNSUPPORTED : add_outputs(m, outputs);
}

assay_status assay_tfl_import_body(const tfl_op *o, int32_t index, int64_t *number)
{
    tfl_import *m = o->m;
    const tfl_import outer = *m;
    tfl_import inner = *m;
    char name[32];
    int id;
    assay_status s;

    if (index <= 0 || (uint32_t)index >= m->subgraphs.count)
        return assay_tfl_fail(o, "there is no subgraph %d to run", index);
    if (m->depth + 1 == TFL_DEPTH)
        return assay_tfl_fail(o, "subgraphs run each other more than %d deep", m->depth);
    snprintf(name, sizeof name, "subgraph%d", index);
    if ((s = assay_graph_new(name, &inner.g, m->err)))
        return s;
    inner.subgraph = index;
    inner.around = &outer;
    ++inner.depth;
    assay_tfl_enter_body(&inner);
    s = import_subgraph(&inner, (flat_table){0},
                        assay_flat_list_table(m->subgraphs, (uint32_t)index));
    m->file = inner.file; /* what went wrong, and what was spent */
    m->budget = inner.budget;
    m->fault = inner.fault;
    m->n_faults = inner.n_faults;
    m->hidden_faults = inner.hidden_faults;
    memcpy(m->why, inner.why, sizeof m->why);
    if (!s)
        s = assay_tfl_leave_body(o, &inner);
    if (!s)
        s = assay_graph_add_subgraph(m->g, inner.g, &id, m->err);
    if (s)
        assay_graph_free(inner.g);
    else
        *number = id;
    return s;
}

/* The subgraph at which a run begins: that of the signature named `entry`, or the first. */
static assay_status find_entry(tfl_import *m, flat_table model, const char *entry)
{
    flat_vector signatures = assay_flat_list(model, MODEL_SIGNATURE_DEFS, 4);
    char known[200] = "";
    size_t used = 0;

    if (!entry)
        return ASSAY_OK;
    for (uint32_t i = 0; i < signatures.count && i < SIGNATURES_MAX; ++i) {
        flat_table t = assay_flat_list_table(signatures, i);
        uint32_t subgraph = assay_flat_u32(t, SIGNATURE_SUBGRAPH, 0);
        const char *key = text_of(m, t, SIGNATURE_KEY);
        if (!key)
            return assay_tfl_no_memory(m);
        if (strcmp(key, entry) == 0 && subgraph < m->subgraphs.count) {
            m->subgraph = (int)subgraph;
            return ASSAY_OK;
        }
        if (used + 1 < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, " '%.60s'", key);
    }
    return assay_fail(m->err, ASSAY_ERR_INPUT, "%s: there is no signature '%.100s'; there %s:%s",
                      m->name, entry, known[0] ? "are" : "is", known[0] ? known : " none");
}

static assay_status import_model(tfl_import *m, const char *entry)
{
    flat_table model = assay_flat_root(&m->file), main;
    char *name;
    assay_status s;

    if (m->file.size < 8 || memcmp(m->file.bytes + 4, "TFL3", 4) != 0)
        return fail(m, "not a TFLite model: bytes 4 to 7 are not \"TFL3\"");
    if ((s = assay_flat_status(&m->file, m->err)))
        return s;
    if (assay_flat_u32(model, MODEL_VERSION, 0) != SCHEMA_VERSION)
        return assay_fail(m->err, ASSAY_ERR_UNSUPPORTED, "%s: schema version %u, expected %d",
                          m->name, assay_flat_u32(model, MODEL_VERSION, 0), SCHEMA_VERSION);
    m->subgraphs = assay_flat_list(model, MODEL_SUBGRAPHS, 4);
    m->buffers = assay_flat_list(model, MODEL_BUFFERS, 4);
    if ((s = assay_flat_status(&m->file, m->err)))
        return s;
    if (m->subgraphs.count == 0)
        return fail(m, "there is no subgraph");
    if ((s = find_entry(m, model, entry)))
        return s;
    main = assay_flat_list_table(m->subgraphs, (uint32_t)m->subgraph);
    name = text_of(m, main, SUBGRAPH_NAME);
    if ((s = assay_flat_status(&m->file, m->err)))
        return s;
    if (!name)
        return assay_tfl_no_memory(m);
    m->g->name = assay_arena_string(m->g->arena, *name ? name : "main");
    if (!m->g->name)
        return assay_tfl_no_memory(m);
    (void)((s = read_codes(m, model)) || (s = import_subgraph(m, model, main)) ||
           (s = assay_graph_verify(m->g, m->err)));
    return s == ASSAY_ERR_UNSUPPORTED && m->n_faults ? report_faults(m) : s;
}

assay_status assay_tflite_import_entry(const char *name, const char *entry, const void *bytes,
                                       size_t size, const assay_tflite_options *options,
                                       assay_graph **out, assay_error *err)
{
    assay_error unwanted;
    tfl_import m = {.name = name,
                    .file = {.name = name, .bytes = bytes, .size = size},
                    .budget = (uint64_t)size * 16 + (1 << 22),
                    .options = options,
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
    if (s) {
        assay_graph_free(m.g);
        return s;
    }
    snprintf(m.g->model_digest, sizeof m.g->model_digest, "%016llx%016llx",
             (unsigned long long)hash.high64, (unsigned long long)hash.low64);
    *out = m.g;
    return ASSAY_OK;
}

assay_status assay_tflite_import_memory(const char *name, const void *bytes, size_t size,
                                        assay_graph **out, assay_error *err)
{
    return assay_tflite_import_entry(name, NULL, bytes, size, NULL, out, err);
}
