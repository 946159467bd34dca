/* Subgraphs: in place, or as graphs of their own, to which the values that they use of the graphs
 * around them are inputs. */
#include <stdio.h>
#include <string.h>

#include "graph/memory.h"
#include "graph/onnx/node/node.h"

const pb_graph *onnx_subgraph(onnx_node *n, const char *attribute, int64_t n_in, size_t n_out,
                              bool exact)
{
    const pb_attribute *a = onnx_attribute(n, attribute, ONNX_ATTR_GRAPH);
    assay_error cause;
    pb_graph *g;

    if (n->status)
        return NULL;
    if (!a)
        return onnx_fail(n, ASSAY_ERR_INPUT, "its '%s' is missing", attribute);
    assay_status s = onnx_parse_graph(n->im, &a->g, &g, &cause);
    if (s)
        return onnx_fail(n, s, "%.300s", cause.text);
    if (n_in >= 0 && g->n_input != (size_t)n_in)
        return onnx_fail(n, ASSAY_ERR_INPUT, "its '%s' has %zu inputs, expected %lld", attribute,
                         g->n_input, (long long)n_in);
    if (g->n_output < n_out || (exact && g->n_output > n_out))
        return onnx_fail(n, ASSAY_ERR_INPUT, "its '%s' has %zu outputs, expected %s%zu", attribute,
                         g->n_output, exact ? "" : "at least ", n_out);
    return g;
}

bool onnx_put_nodes(onnx_node *n, const pb_graph *g, const char *tag, onnx_value *const *in,
                    onnx_value **out)
{
    assay_error cause;
    bool there = true;

    if (n->status)
        return false;
    assay_status s = n->im->import_body(n->im, g, tag, in, out, &cause);
    if (s)
        return onnx_fail(n, s, "%.300s", cause.text);
    for (size_t i = 0; i < g->n_output; i++)
        there = there && onnx_is_made(onnx_resolve(out[i]));
    return there;
}

bool onnx_put_body(onnx_node *n, const pb_graph *g, const char *tag, onnx_value *const *in,
                   onnx_value **out)
{
    assay_error cause;
    assay_status s = n->im->begin_body(n->im, g, tag, &cause);

    if (s)
        return onnx_fail(n, s, "%.300s", cause.text);
    const bool done = onnx_put_nodes(n, g, tag, in, out);
    onnx_pop_scope(n->im);
    return done;
}

void onnx_bind_inner(onnx_node *n, size_t i, onnx_value *v)
{
    onnx_value *y = i < n->pb->n_output ? onnx_find_value(n->im, n->pb->output[i]) : NULL;

    if (n->status || !y || !v)
        return;
    y->narrow = v->narrow;
    if (onnx_is_made(onnx_resolve(v)))
        onnx_bind(n, i, onnx_resolve(v));
}

/* ---- what bodies use of the graphs around them ---- */

static size_t count_names(onnx_import *im, const pb_graph *g, int depth);

static size_t count_node_names(onnx_import *im, const pb_node *n, int depth)
{
    size_t count = n->n_input;
    assay_error unused;
    pb_graph *g;

    for (size_t i = 0; i < n->n_attribute; i++)
        if (n->attribute[i]->type == ONNX_ATTR_GRAPH && depth < ONNX_MAX_DEPTH &&
            !onnx_parse_graph(im, &n->attribute[i]->g, &g, &unused))
            count += count_names(im, g, depth + 1);
    return count;
}

static size_t count_names(onnx_import *im, const pb_graph *g, int depth)
{
    size_t count = g->n_output;

    for (size_t i = 0; i < g->n_node; i++)
        count += count_node_names(im, g->node[i], depth);
    return count;
}

static void capture_name(onnx_import *im, onnx_captures *c, const char *name)
{
    onnx_value *v = *name ? onnx_find_here(im, onnx_meaning(im, name)) : NULL;

    if (!v || !onnx_mean(c->seen, name, v->name))
        return;
    c->name[c->count] = name;
    c->outer[c->count++] = v;
    onnx_resolve(v)->uses++;
}

/* A malformed subgraph is named when it is imported. */
static void capture_graph(onnx_import *im, onnx_captures *c, const pb_graph *g, int depth)
{
    assay_error unused;
    pb_graph *deeper;

    for (size_t i = 0; i < g->n_node; i++) {
        const pb_node *n = g->node[i];
        for (size_t k = 0; k < n->n_input; k++)
            capture_name(im, c, n->input[k]);
        for (size_t k = 0; k < n->n_attribute; k++)
            if (n->attribute[k]->type == ONNX_ATTR_GRAPH && depth < ONNX_MAX_DEPTH &&
                !onnx_parse_graph(im, &n->attribute[k]->g, &deeper, &unused))
                capture_graph(im, c, deeper, depth + 1);
    }
    for (size_t i = 0; i < g->n_output; i++)
        capture_name(im, c, g->output[i]->name);
}

bool onnx_capture(onnx_node *n, const pb_graph *const *g, int n_g, onnx_captures *c)
{
    size_t max = 0;

    for (int i = 0; i < n_g; i++)
        max += count_names(n->im, g[i], 0);
    *c = (onnx_captures){.seen = onnx_push_scope(n->im, max),
                         .name = onnx_alloc(n->im, (max + 1) * sizeof *c->name),
                         .outer = onnx_alloc(n->im, (max + 1) * sizeof(onnx_value *))};
    if (c->seen)
        onnx_pop_scope(n->im);
    if (!c->seen || !c->name || !c->outer)
        return onnx_no_memory(n);
    for (int i = 0; i < n_g; i++)
        capture_graph(n->im, c, g[i], 0);
    return true;
}

/* ---- graphs of their own ---- */

static void add_input(onnx_node *n, onnx_inner *inner, int outer, onnx_value *v)
{
    assay_error cause;
    assay_status s = assay_graph_add_value(n->im->graph, v->name, &inner->around->value[outer].type,
                                           &v->id, &cause);
    if (s) {
        onnx_fail_because(n, s, &cause);
        return;
    }
    inner->outer[inner->n_in] = outer;
    inner->in[inner->n_in++] = v;
}

int onnx_tensors_of(onnx_value *v)
{
    const onnx_list *l = onnx_resolve(v)->list;
    return l ? l->n : 1;
}

static const onnx_list *stand_in_list(onnx_node *n, onnx_inner *inner, const onnx_list *outer)
{
    onnx_list *l = onnx_alloc(n->im, sizeof *l);
    onnx_value **item = onnx_alloc(n->im, (size_t)outer->n * sizeof *item + 1);

    if (!l || !item)
        return onnx_no_memory(n);
    *l = (onnx_list){outer->n, item};
    for (int i = 0; i < l->n && !n->status; i++)
        item[i] = onnx_stand_in(n, inner, outer->item[i], true);
    return l;
}

/* What is not made yet, or lost, is so inside too. */
onnx_value *onnx_stand_in(onnx_node *n, onnx_inner *inner, onnx_value *outer, bool copied)
{
    const onnx_value *v = onnx_resolve(outer);
    onnx_value *y = n->status ? NULL : onnx_add_fresh(n->im, outer->name, inner->tag);

    if (n->status)
        return NULL;
    if (!y)
        return onnx_no_memory(n);
    y->maker = v->maker ? v->maker : n->name;
    y->narrow = outer->narrow;
    y->is_lost = v->is_lost;
    if (copied && v->constant) {
        y->constant = v->constant;
    } else if (copied && v->list) {
        y->list = stand_in_list(n, inner, v->list);
    } else if (copied && v->codes) {
        onnx_codes *codes = onnx_alloc(n->im, sizeof *codes);
        if (!codes)
            return onnx_no_memory(n);
        *codes = *v->codes;
        codes->constant = onnx_stand_in(n, inner, v->codes->constant, true);
        y->codes = codes;
    } else if (v->id != ASSAY_NO_VALUE) {
        add_input(n, inner, v->id, y);
    }
    return n->status ? NULL : y;
}

bool onnx_enter(onnx_node *n, onnx_inner *inner, const char *tag, const onnx_captures *c, int more)
{
    onnx_import *im = n->im;
    size_t max = (size_t)more;
    assay_graph *g;
    assay_error cause;
    char name[200];

    for (size_t i = 0; i < c->count; i++)
        max += (size_t)onnx_tensors_of(c->outer[i]);

    *inner = (onnx_inner){.around = im->graph,
                          .home = im->home,
                          .tag = tag,
                          .in = onnx_alloc(im, (max + 1) * sizeof(onnx_value *)),
                          .outer = onnx_alloc(im, (max + 1) * sizeof *inner->outer)};
    snprintf(name, sizeof name, "%.160s/%s", n->name, tag);
    if (n->status || !inner->in || !inner->outer || !onnx_push_scope(im, c->count))
        return onnx_no_memory(n);
    assay_status s = assay_graph_new(name, &g, &cause);
    if (s) {
        onnx_pop_scope(im);
        return onnx_fail_because(n, s, &cause);
    }
    im->graph = g;
    im->home = ++im->n_homes;
    for (size_t i = 0; i < c->count && !n->status; i++) {
        const onnx_value *v = onnx_stand_in(n, inner, c->outer[i], true);
        if (v)
            (void)onnx_mean(im->scope, c->name[i], v->name);
    }
    return true;
}

/* The outputs; what is an input, a constant or there twice is copied. */
static void set_ends(onnx_node *n, const onnx_inner *inner, onnx_value *const *out, int n_out)
{
    assay_graph *g = n->im->graph;
    int *id = onnx_alloc(n->im, ((size_t)n_out + (size_t)inner->n_in) * sizeof *id + 1);
    assay_error cause = {.status = ASSAY_ERR_MEMORY, .text = "out of memory"};
    assay_status s = id ? ASSAY_OK : ASSAY_ERR_MEMORY;

    for (int i = 0; i < inner->n_in && !s; i++)
        id[i] = inner->in[i]->id;
    if (!s)
        s = assay_graph_set_inputs(g, id, inner->n_in, &cause);
    for (int i = 0; i < n_out && !s; i++) {
        onnx_value *v = onnx_resolve(out[i]);
        bool copied;
        id[i] = onnx_materialize(n->im, v, &cause);
        if (id[i] == ASSAY_NO_VALUE) {
            s = cause.status;
            break;
        }
        copied = g->value[id[i]].producer < 0;
        for (int k = 0; k < i; k++)
            copied = copied || id[k] == id[i];
        if (copied) {
            const assay_type *t = &g->value[id[i]].type;
            const char *name = onnx_fresh_name(n->im, v->name, "given");
            const int from = id[i];
            assay_attrs a = {.shape = {.shape = {.n = t->rank}}};
            memcpy(a.shape.shape.v, t->dim, sizeof t->dim);
            s = name ? assay_graph_add_inferred(g, ASSAY_OP_RESHAPE, NULL, &from, 1, &name, 1, &a,
                                                &id[i], &cause)
                     : assay_out_of_memory(&cause);
        }
    }
    if (!s)
        s = assay_graph_set_outputs(g, id, n_out, &cause);
    if (s)
        onnx_fail_because(n, s, &cause);
}

int onnx_leave(onnx_node *n, onnx_inner *inner, onnx_value *const *out, int n_out)
{
    onnx_import *im = n->im;
    assay_graph *g = im->graph;
    assay_error cause;
    int number = -1;

    if (out && !n->status)
        set_ends(n, inner, out, n_out);
    im->graph = inner->around;
    im->home = inner->home;
    onnx_pop_scope(im);
    if (out && !n->status) {
        assay_status s = assay_graph_add_subgraph(im->graph, g, &number, &cause);
        if (s)
            onnx_fail_because(n, s, &cause);
    }
    if (number < 0)
        assay_graph_free(g);
    return number;
}

/* A value that is read with one set of parameters here and another there. */
static void check_params(onnx_node *n, const assay_graph *a, int x, const assay_graph *b, int y)
{
    if (!assay_qparams_equal(&a->value[x].type.q, &b->value[y].type.q))
        onnx_refuse(n, "'%s' has other quantization parameters in graph '%s' than in '%s'",
                    b->value[y].name, b->name, a->name);
}

static void check_flow(onnx_node *n, assay_op op, const assay_attrs *a, const int *in)
{
    const assay_graph *g = n->im->graph;
    const bool branch = op == ASSAY_OP_IF;
    const assay_graph *one = g->subgraph[branch ? a->branch.on_true : a->loop.condition];
    const assay_graph *two = g->subgraph[branch ? a->branch.on_false : a->loop.body];

    for (int i = 0; i < one->n_inputs; i++) {
        check_params(n, g, in[branch ? i + 1 : i], one, one->input[i]);
        check_params(n, g, in[branch ? i + 1 : i], two, two->input[i]);
    }
    for (int i = 0; i < two->n_outputs; i++)
        if (branch)
            check_params(n, one, one->output[i], two, two->output[i]);
        else
            check_params(n, two, two->input[i], two, two->output[i]);
}

void onnx_flow(onnx_node *n, assay_op op, const assay_attrs *attr, const int *in, int n_in,
               onnx_value **y, int n_out)
{
    assay_graph *g = n->im->graph;
    const char **names = onnx_alloc(n->im, (size_t)n_out * sizeof *names + 1);
    int *out = onnx_alloc(n->im, (size_t)n_out * sizeof *out + 1);
    assay_error cause;
    assay_status s;

    if (!names || !out)
        onnx_no_memory(n);
    for (int i = 0; i < n_out && !n->status; i++) {
        y[i] = y[i] ? y[i] : onnx_result(n, "unused");
        if (y[i])
            names[i] = y[i]->name;
    }
    if (n->status)
        return;
    s = onnx_tie_params(g, op, attr, in, NULL, &cause);
    if (!s)
        check_flow(n, op, attr, in);
    if (!s && !n->status)
        s = assay_graph_add_inferred(g, op, n->name, in, n_in, names, n_out, attr, out, &cause);
    if (s)
        onnx_fail_because(n, s, &cause);
    for (int i = 0; i < n_out && !n->status; i++)
        y[i]->id = out[i];
}
