/* Parsing nodes and graphs of the text form: recursive descent over the grammar in text.h. */
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/text/scan.h"

#define MAX_DEPTH 16

static assay_status parse_graph(assay_scanner *p, int depth, assay_graph **out);

/* ---- nodes ---- */

/* A growing list of value indices. */
typedef struct ids {
    int *v;
    int n;
} ids;

static assay_status push(assay_scanner *p, ids *l, int id)
{
    int *v = text_scan_grow(l->v, (size_t)l->n, sizeof *v);
    if (!v)
        return assay_out_of_memory(p->err);
    l->v = v;
    l->v[l->n++] = id;
    return ASSAY_OK;
}

static assay_status parse_args(assay_scanner *p, const assay_graph *g, ids *in)
{
    assay_status s = text_scan_expect(p, "(");
    while (!s && !text_scan_accept(p, ")")) {
        int id = ASSAY_NO_VALUE;
        if (in->n && (s = text_scan_expect(p, ",")))
            break;
        if (!text_scan_accept(p, "_"))
            s = text_parse_reference(p, g, &id);
        if (!s)
            s = push(p, in, id);
    }
    return s;
}

/* "{" field "=" text ... "}" */
static assay_status parse_attrs(assay_scanner *p, assay_op op, assay_attrs *a)
{
    assay_attrs_id id = assay_op_get(op)->attrs;
    bool first = true;
    assay_status s = ASSAY_OK;

    while (!s && !text_scan_accept(p, "}")) {
        char word[32], text[640];
        const assay_attr_field *f;
        const char *at;
        assay_error inner;
        if (!first && (s = text_scan_expect(p, ",")))
            break;
        first = false;
        at = text_scan_here(p);
        if ((s = text_scan_word(p, word, sizeof word, "an attribute")))
            break;
        f = assay_attr_find(id, word);
        if (!f)
            return text_scan_fail_at(p, at, ASSAY_ERR_INPUT, "%s has no attribute '%s'",
                                     assay_op_get(op)->name, word);
        if (!(s = text_scan_expect(p, "=")) && !(s = text_scan_raw(p, text, sizeof text)))
            s = text_scan_located(p, at, assay_attr_parse(f, text, a, &inner), &inner);
    }
    return s;
}

/* act[..] codes[..] @name, each optional. */
static assay_status parse_fused(assay_scanner *p, assay_node *n, char **name)
{
    int64_t lo, hi;
    assay_status s = ASSAY_OK;
    if (text_scan_accept(p, "act[")) {
        if ((s = text_scan_float(p, &n->act_lo)) || (s = text_scan_expect(p, ",")) ||
            (s = text_scan_float(p, &n->act_hi)) || (s = text_scan_expect(p, "]")))
            return s;
    }
    if (text_scan_accept(p, "codes[")) {
        if ((s = text_scan_int(p, INT32_MIN, INT32_MAX, &lo)) || (s = text_scan_expect(p, ",")) ||
            (s = text_scan_int(p, INT32_MIN, INT32_MAX, &hi)) || (s = text_scan_expect(p, "]")))
            return s;
        n->has_code_bounds = true;
        n->code_lo = (int32_t)lo;
        n->code_hi = (int32_t)hi;
    }
    return text_scan_accept(p, "@") ? text_scan_name(p, name) : ASSAY_OK;
}

static assay_status parse_node_into(assay_scanner *p, assay_graph *g, ids *in, ids *out,
                                    char **name)
{
    const char *at = text_scan_here(p);
    assay_node n = {.act_lo = -INFINITY, .act_hi = INFINITY};
    assay_error inner;
    char word[32];
    int id;
    assay_status s;

    do {
        if ((s = text_parse_value(p, g, ASSAY_TEXT_WITHOUT_DATA, &id)) || (s = push(p, out, id)))
            return s;
    } while (text_scan_accept(p, ","));
    if ((s = text_scan_expect(p, "=")))
        return s;
    at = text_scan_here(p);
    if ((s = text_scan_word(p, word, sizeof word, "an op")))
        return s;
    n.op = assay_op_find(word);
    if (n.op == ASSAY_OP_COUNT)
        return text_scan_fail_at(p, at, ASSAY_ERR_UNSUPPORTED, "there is no op '%s'", word);
    assay_attrs_defaults(assay_op_get(n.op)->attrs, &n.attr);
    if ((s = parse_args(p, g, in)))
        return s;
    if (text_scan_accept(p, "{") && (s = parse_attrs(p, n.op, &n.attr)))
        return s;
    if ((s = parse_fused(p, &n, name)))
        return s;
    s = assay_graph_add_node(g, n.op, *name, in->v, in->n, out->v, out->n, &n.attr, &id, &inner);
    if (s)
        return text_scan_located(p, at, s, &inner);
    g->node[id].act_lo = n.act_lo;
    g->node[id].act_hi = n.act_hi;
    g->node[id].has_code_bounds = n.has_code_bounds;
    g->node[id].code_lo = n.code_lo;
    g->node[id].code_hi = n.code_hi;
    return ASSAY_OK;
}

static assay_status parse_node(assay_scanner *p, assay_graph *g)
{
    ids in = {0}, out = {0};
    char *name = NULL;
    assay_status s = parse_node_into(p, g, &in, &out, &name);
    free(in.v);
    free(out.v);
    free(name);
    return s;
}

/* ---- graphs ---- */

static assay_status parse_model(assay_scanner *p, assay_graph *g)
{
    const char *at = text_scan_here(p);
    char *digest;
    assay_status s = text_scan_string(p, &digest);
    if (s)
        return s;
    if (strlen(digest) == 32 && strspn(digest, "0123456789abcdef") == 32)
        memcpy(g->model_digest, digest, 33);
    else
        s = text_scan_fail_at(p, at, ASSAY_ERR_INPUT,
                              "expected 32 hexadecimal digits, found '%.60s'", digest);
    free(digest);
    return s;
}

/* At the string behind the word, whose quotation mark is what tells it from a value's name. */
static assay_status parse_scheme(assay_scanner *p, assay_graph *g)
{
    const char *at = --p->p;
    assay_error inner;
    char *name;
    assay_status s = text_scan_string(p, &name);
    if (s)
        return s;
    s = text_scan_located(p, at, assay_graph_set_quantized_for(g, name, &inner), &inner);
    free(name);
    return s;
}

static assay_status parse_subgraph(assay_scanner *p, assay_graph *g, int depth)
{
    assay_graph *sub;
    assay_status s;
    if (depth == MAX_DEPTH)
        return text_scan_fail(p, "graphs are nested more than %d deep", MAX_DEPTH);
    if ((s = parse_graph(p, depth + 1, &sub)))
        return s;
    s = assay_graph_add_subgraph(g, sub, NULL, p->err);
    if (s)
        assay_graph_free(sub);
    return s;
}

static assay_status parse_output(assay_scanner *p, const assay_graph *g, ids *outputs)
{
    assay_status s;
    do {
        int id;
        if ((s = text_parse_reference(p, g, &id)) || (s = push(p, outputs, id)))
            return s;
    } while (text_scan_accept(p, ","));
    return ASSAY_OK;
}

static assay_status parse_items(assay_scanner *p, assay_graph *g, int depth, ids *inputs,
                                ids *outputs)
{
    assay_status s = text_scan_expect(p, "{");
    while (!s && !text_scan_accept(p, "}")) {
        int id;
        if (text_scan_accept(p, "input")) {
            if (!(s = text_parse_value(p, g, ASSAY_TEXT_WITHOUT_DATA, &id)))
                s = push(p, inputs, id);
        } else if (text_scan_accept(p, "const"))
            s = text_parse_value(p, g, ASSAY_TEXT_CONSTANT, &id);
        else if (text_scan_accept(p, "var"))
            s = text_parse_value(p, g, ASSAY_TEXT_VARIABLE, &id);
        else if (text_scan_accept(p, "value"))
            s = text_parse_value(p, g, ASSAY_TEXT_WITHOUT_DATA, &id);
        else if (text_scan_accept(p, "output"))
            s = parse_output(p, g, outputs);
        else if (text_scan_accept(p, "model"))
            s = parse_model(p, g);
        else if (text_scan_accept(p, "scheme\""))
            s = parse_scheme(p, g);
        else if (text_scan_accept(p, "graph"))
            s = parse_subgraph(p, g, depth);
        else
            s = parse_node(p, g);
    }
    return s;
}

/* After the word "graph". */
static assay_status parse_graph(assay_scanner *p, int depth, assay_graph **out)
{
    ids inputs = {0}, outputs = {0};
    assay_graph *g = NULL;
    assay_error inner;
    const char *at = text_scan_here(p);
    char *name = NULL;
    assay_status s = text_scan_name(p, &name);

    *out = NULL;
    if (!s)
        s = text_scan_located(p, at, assay_graph_new(name, &g, &inner), &inner);
    free(name);
    if (!s)
        s = parse_items(p, g, depth, &inputs, &outputs);
    if (!s)
        s = assay_graph_set_inputs(g, inputs.v, inputs.n, p->err);
    if (!s)
        s = assay_graph_set_outputs(g, outputs.v, outputs.n, p->err);
    free(inputs.v);
    free(outputs.v);
    if (s)
        assay_graph_free(g);
    else
        *out = g;
    return s;
}

assay_status text_graph_parse(const char *text, size_t length, const char *file,
                              const char *constants_dir, assay_graph **out, assay_error *err)
{
    const assay_text_folder constants = {.path = constants_dir, .inside = -1};
    return text_graph_parse_in(text, length, file, &constants, out, err);
}

assay_status text_graph_parse_in(const char *text, size_t length, const char *file,
                                 const assay_text_folder *constants, assay_graph **out,
                                 assay_error *err)
{
    assay_scanner p;
    assay_error inner;
    assay_status s = text_scan_open(&p, text, length, file, constants, err);

    *out = NULL;
    if (s)
        return s;
    if (!(s = text_scan_expect(&p, "graph")) && !(s = parse_graph(&p, 0, out)) &&
        !(s = text_scan_end(&p)) && (s = assay_graph_verify(*out, &inner)))
        s = assay_fail(err, s, "%.100s: %.600s", file, inner.text);
    if (s) {
        assay_graph_free(*out);
        *out = NULL;
    }
    text_scan_close(&p);
    return s;
}
