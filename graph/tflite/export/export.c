/* A graph as a TFLite model. */
#include "graph/tflite/export.h"
#include "graph/memory.h"

#include <stdio.h>
#include <string.h>

#include "graph/layout/layout.h"
#include "graph/tflite/export/emit.h"

/* ---- nodes ---- */

/* Codes that move and then take other parameters are one operator in TFLite: the mover writes the
 * relabelled tensor. */
static bool joins_mover(const assay_graph *g, const assay_node *n)
{
    const assay_value *moved = assay_node_in(g, n, 0);
    const assay_node *mover = moved->producer >= 0 ? &g->node[moved->producer] : NULL;

    return n->op == ASSAY_OP_RELABEL && mover && mover->n_out == 1 &&
           assay_op_get(mover->op)->traits & ASSAY_T_MOVE &&
           assay_graph_count_uses(g, n->in[0]) == 1;
}

static void export_node(tfl_export *x, const assay_node *n)
{
    if (n->op == ASSAY_OP_RELABEL && x->tensor_of[n->in[0]] == x->tensor_of[n->out[0]] &&
        x->tensor_of[n->in[0]] >= 0)
        return;
    if (!tfl_export_svdf(x, n) && !tfl_export_lstm(x, n) && !tfl_export_conv(x, n) &&
        !tfl_export_math(x, n) && !tfl_export_move(x, n) && !tfl_export_state(x, n))
        tfl_refuse(x, n, "no TFLite operator is written for it");
}

static void export_nodes(tfl_export *x)
{
    const assay_graph *g = x->g;

    for (int i = 0; i < g->n_inputs; ++i)
        tfl_add_tensor(x, g->input[i]);
    for (int i = 0; i < g->n_nodes; ++i)
        if (joins_mover(g, &g->node[i]))
            x->tensor_of[g->node[i].in[0]] = tfl_add_tensor(x, g->node[i].out[0]);
    for (int i = 0; i < g->n_nodes && !x->status; ++i)
        if (!x->written[i])
            export_node(x, &g->node[i]);
    for (int i = 0; i < g->n_outputs; ++i)
        tfl_add_tensor(x, g->output[i]);
}

/* ---- parts: a graph and its bodies, one behind the other ---- */

typedef struct tfl_parts {
    tfl_export *at;
    int n;
    assay_arena *arena;
    tfl_refusals refused;
    assay_error *err;
} tfl_parts;

static int count_graphs(const assay_graph *g)
{
    int n = 1;
    for (int i = 0; i < g->n_subgraphs; ++i)
        n += count_graphs(g->subgraph[i]);
    return n;
}

/* Makes g (image ops with their channels last) the next part. */
static assay_status add_part(tfl_parts *p, const assay_graph *g)
{
    tfl_export *x = &p->at[p->n++];
    assay_status s;

    *x = (tfl_export){.arena = p->arena, .refused = &p->refused, .err = p->err};
    if ((s = layout_change(g, ASSAY_LAYOUT_NHWC, &x->own, p->err)))
        return s;
    x->g = x->own ? x->own : g;
    x->tensor_of = tfl_room(x, (size_t)x->g->n_values * sizeof *x->tensor_of + 1);
    x->written = tfl_room(x, (size_t)x->g->n_nodes * sizeof *x->written + 1);
    x->body = tfl_room(x, (size_t)g->n_subgraphs * sizeof *x->body + 1);
    if (x->status)
        return x->status;
    for (int i = 0; i < x->g->n_values; ++i)
        x->tensor_of[i] = -1;
    for (int i = 0; i < g->n_subgraphs && !s; ++i) {
        x->body[i] = p->n;
        s = add_part(p, g->subgraph[i]);
    }
    return s;
}

/* The first part's CALL_ONCE runs the last, which gives variables their first values. */
static assay_status add_initial(tfl_parts *p)
{
    assay_graph *g;
    assay_status s = tfl_initial_graph(p->at, p->n, &g, p->err);

    if (s || !g)
        return s;
    tfl_add_operator(&p->at[0], BUILTIN_CALL_ONCE, NULL, 0, NULL, 0);
    tfl_option(&p->at[0], 0, 4, p->n);
    s = add_part(p, g);
    p->at[p->n - 1].own = g;
    return s;
}

static assay_status refusal(const tfl_parts *p)
{
    char more[40] = "";
    assay_status s = assay_buf_status(&p->refused.text, p->err);

    if (s)
        return s;
    if (p->refused.untold)
        snprintf(more, sizeof more, "; and %d more", p->refused.untold);
    return assay_fail(p->err, ASSAY_ERR_UNSUPPORTED, "TFLite cannot express %s%s",
                      p->refused.text.text, more);
}

static assay_status export_parts(tfl_parts *p, const assay_graph *g, unsigned char **bytes,
                                 size_t *length)
{
    flat_writer w = {0};
    assay_status s;

    if ((s = add_part(p, g)) || (s = add_initial(p)))
        return s;
    for (int i = 0; i < p->n && !s; ++i) {
        export_nodes(&p->at[i]);
        s = p->at[i].status;
    }
    if (!s && p->refused.n)
        s = refusal(p);
    if (s)
        return s;
    tfl_write_model(&w, p->at, p->n);
    if (!(s = p->at[0].status))
        s = tfl_flat_write_status(&w, p->err);
    if (s) {
        assay_buf_free(&w.bytes);
        return s;
    }
    *bytes = (unsigned char *)w.bytes.text;
    *length = w.bytes.length;
    return ASSAY_OK;
}

assay_status tfl_export_graph(const assay_graph *g, unsigned char **bytes, size_t *length,
                              assay_error *err)
{
    assay_error unwanted;
    tfl_parts p = {.arena = assay_arena_new(), .err = err ? err : &unwanted};
    assay_status s;

    *bytes = NULL;
    *length = 0;
    if (p.arena)
        p.at = assay_arena_array(p.arena, (size_t)count_graphs(g) + 1, sizeof *p.at);
    s = p.at ? export_parts(&p, g, bytes, length) : assay_out_of_memory(err);
    for (int i = 0; i < p.n; ++i)
        assay_graph_free(p.at[i].own);
    assay_buf_free(&p.refused.text);
    assay_arena_free(p.arena);
    return s;
}
