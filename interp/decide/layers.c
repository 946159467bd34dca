/* Layers and what their accumulators can reach; see layers.h. */
#include "interp/decide/layers.h"

#include <stdlib.h>
#include <string.h>

#include "interp/kernel/kernel.h"

static int64_t zero_of(const assay_type *t, int64_t channel)
{
    const assay_qparams *q = &t->q;
    if (!q->zero_point || q->count == 0)
        return 0;
    return q->zero_point[q->count > 1 && (size_t)channel < q->count ? channel : 0];
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Greatest magnitude of code - zero point. */
static int64_t reach(const assay_type *t)
{
    return larger(assay_elem_max(t->elem) - zero_of(t, 0), zero_of(t, 0) - assay_elem_min(t->elem));
}

static void load(const assay_value *v, int64_t first, size_t n, int32_t *row)
{
    const assay_view view = {.type = &v->type, .data = (void *)(uintptr_t)v->data};
    ref_load_row(&view, first, 1, n, row);
}

static int64_t bias_at(const assay_value *v, int64_t i)
{
    int32_t narrow;
    int64_t wide;
    if (v->type.elem.bits == 64) {
        memcpy(&wide, (const char *)v->data + (size_t)i * sizeof wide, sizeof wide);
        return wide;
    }
    load(v, i, 1, &narrow);
    return narrow;
}

/* Filter c of constant weights [O, ...]: every product at its extremes. */
static bool exact_bounds(const assay_type *x, const assay_value *w, const assay_value *bias,
                         decide_layer *l)
{
    size_t n = (size_t)(assay_shape_count(&w->type) / w->type.dim[0]);
    int64_t least = assay_elem_min(x->elem) - zero_of(x, 0);
    int64_t max = assay_elem_max(x->elem) - zero_of(x, 0);
    int32_t *row = malloc((n + 1) * sizeof *row);
    if (!row)
        return false;
    for (size_t c = 0; c < l->channels; c++) {
        load(w, (int64_t)(c * n), n, row);
        int64_t start = bias ? bias_at(bias, (int64_t)c % assay_shape_count(&bias->type)) : 0;
        int64_t magnitude = larger(start, -start);
        l->lo[c] = l->hi[c] = start;
        for (size_t i = 0; i < n; i++) {
            int64_t v = row[i] - zero_of(&w->type, (int64_t)c);
            l->lo[c] += v > 0 ? v * least : v * max;
            l->hi[c] += v > 0 ? v * max : v * least;
            magnitude += larger(v, -v) * larger(max, -least);
        }
        l->bound = larger(l->bound, magnitude);
    }
    free(row);
    return true;
}

static void wide_bounds(const assay_type *x, const assay_type *w, const assay_value *bias,
                        decide_layer *l)
{
    int64_t sum = l->spec.depth * reach(x) * reach(w), max = 0;
    int64_t n = bias ? assay_shape_count(&bias->type) : 0;
    for (int64_t i = 0; i < n; i++)
        max = larger(max, larger(bias_at(bias, i), -bias_at(bias, i)));
    l->hi[0] = sum + max;
    l->lo[0] = -l->hi[0];
    l->bound = l->hi[0];
}

int decide_layer_of(const assay_graph *g, int i, decide_layer *l)
{
    const assay_node *n = &g->node[i];
    bool weighted = n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_FC ||
                    n->op == ASSAY_OP_CONV_TRANSPOSE || n->op == ASSAY_OP_MATMUL;
    memset(l, 0, sizeof *l);
    if (!weighted || !assay_node_is_quantized(g, n))
        return 0;
    l->node = n;
    assay_unit_spec_fill(g, n, l->in, &l->spec);
    const assay_value *w = assay_node_in(g, n, 1), *bias = assay_node_in(g, n, 2);
    bool exact =
        (n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_FC) && w->data && (!bias || bias->data);
    l->channels = exact ? (size_t)w->type.dim[0] : 1;
    l->lo = calloc(l->channels + 1, sizeof *l->lo);
    l->hi = calloc(l->channels + 1, sizeof *l->hi);
    bool ok = l->lo && l->hi;
    if (w->type.q.granularity == ASSAY_Q_BLOCK)
        l->why = "its weights have a scale per block, so schemes differ in what they add up";
    else if (ok && exact)
        ok = exact_bounds(&l->in[0], w, bias, l);
    else if (ok)
        wide_bounds(&l->in[0], &w->type, bias && bias->data ? bias : NULL, l);
    if (!ok)
        decide_layer_free(l);
    return ok ? 1 : -1;
}

bool decide_layer_is_exact(const decide_layer *l, const assay_scheme *s, const assay_unit *u)
{
    const assay_type *x = &l->in[0], *w = &l->in[1];
    int64_t raw_x = assay_elem_max(x->elem) + (x->elem.is_signed ? 128 : 0);
    int64_t raw_w = larger(assay_elem_max(w->elem), -assay_elem_min(w->elem));
    return s->vt->facts->exact(u, l->bound, 2 * raw_x * raw_w);
}

void decide_layer_free(decide_layer *l)
{
    free(l->lo);
    free(l->hi);
    l->lo = l->hi = NULL;
}
