/* Layered drawings: vertices by their longest path, ordered by the mean of their neighbours, set
 * apart evenly (after Sugiyama, Tagawa and Toda, Methods for visual understanding of hierarchical
 * system structures, 1981). */
#include "interp/report/layout.h"

#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

enum { ORDERINGS = 8, SHIFTS = 16, MAX_BENDS = 100000 };

/* ---- layers ---- */

static int by_end(const void *a, const void *b)
{
    const report_edge *x = a, *y = b;
    return x->to != y->to ? (x->to > y->to) - (x->to < y->to)
                          : (x->from > y->from) - (x->from < y->from);
}

/* The edges that count, each once, by their end: malloc'ed, *kept of them. */
static report_edge *tidy(int n, const report_edge *edge, int n_edges, int *kept)
{
    report_edge *e = malloc(((size_t)n_edges + 1) * sizeof *e);
    int k = 0, m = 0;
    for (int i = 0; e && i < n_edges; i++)
        if (edge[i].from >= 0 && edge[i].from < edge[i].to && edge[i].to < n)
            e[k++] = edge[i];
    if (e)
        qsort(e, (size_t)k, sizeof *e, by_end);
    for (int i = 0; e && i < k; i++)
        if (m == 0 || by_end(&e[i], &e[m - 1]) != 0)
            e[m++] = e[i];
    *kept = m;
    return e;
}

/* Longest paths; then sources come as near as they can to what they feed. */
static void rank(report_layout *l, const report_edge *edge, int n_edges, int *far)
{
    for (int e = 0; e < n_edges; e++)
        if (l->layer[edge[e].to] <= l->layer[edge[e].from])
            l->layer[edge[e].to] = l->layer[edge[e].from] + 1;
    for (int v = 0; v < l->n_real; v++)
        far[v] = l->layer[v] == 0 ? -1 : 0; /* -1: a source, whose layer is to be found */
    for (int e = 0; e < n_edges; e++) {
        const int v = edge[e].from, above = l->layer[edge[e].to] - 1;
        if (far[v] < 0 && (l->layer[v] == 0 || above < l->layer[v]))
            l->layer[v] = above;
        if (above == 0)
            far[v] = 0; /* it stays at the top */
    }
    for (int v = 0; v < l->n_real; v++)
        l->n_layers = l->layer[v] >= l->n_layers ? l->layer[v] + 1 : l->n_layers;
}

static int span(const report_layout *l, const report_edge *e)
{
    return l->layer[e->to] - l->layer[e->from];
}

/* How many bends edges of at most l->span layers need. far[v]: the last layer that they lead to
 * from v. */
static size_t reach(const report_layout *l, const report_edge *edge, int n_edges, int *far)
{
    size_t bends = 0;
    for (int v = 0; v < l->n_real; v++)
        far[v] = l->layer[v] + 1;
    for (int e = 0; e < n_edges; e++)
        if (span(l, &edge[e]) <= l->span && l->layer[edge[e].to] > far[edge[e].from])
            far[edge[e].from] = l->layer[edge[e].to];
    for (int v = 0; v < l->n_real; v++)
        bends += (size_t)(far[v] - l->layer[v] - 1);
    return bends;
}

/* Bends below v, down to the layer above far[v]; each edge hangs on the last one above its end. */
static void bend(report_layout *l, const report_edge *edge, int n_edges, const int *far, int *first)
{
    l->n = l->n_real;
    for (int v = 0; v < l->n_real; v++) {
        first[v] = l->n;
        for (int layer = l->layer[v] + 1; layer < far[v]; layer++) {
            l->layer[l->n] = layer;
            l->edge[l->n_edges++] = (report_edge){layer == l->layer[v] + 1 ? v : l->n - 1, l->n};
            l->n++;
        }
    }
    for (int e = 0; e < n_edges; e++) {
        const int v = edge[e].from, down = span(l, &edge[e]) - 1;
        l->omitted += down >= l->span;
        if (down >= l->span)
            continue;
        l->edge[l->n_edges++] = (report_edge){down == 0 ? v : first[v] + down - 1, edge[e].to};
    }
}

/* ---- order and places ---- */

/* Vertices layer by layer, and the neighbours of each above [0] and below [1]. */
typedef struct work {
    report_layout *l;
    int *begin; /* of each layer in `at`, and behind the last */
    int *at;
    int *first[2]; /* by vertex, and behind the last */
    int *other[2];
    double *left, *right;
    struct placed {
        double key;
        int v;
    } * sorted;
} work;

static double half(const report_layout *l, int v)
{
    return (v < l->n_real ? REPORT_BOX : REPORT_BEND) / 2;
}

static void find_neighbours(work *w, int side)
{
    const report_layout *l = w->l;
    int *first = w->first[side];
    for (int e = 0; e < l->n_edges; e++)
        first[(side ? l->edge[e].from : l->edge[e].to) + 1]++;
    for (int v = 0; v < l->n; v++)
        first[v + 1] += first[v];
    for (int e = l->n_edges - 1; e >= 0; e--) {
        const int v = side ? l->edge[e].from : l->edge[e].to;
        w->other[side][--first[v + 1]] = side ? l->edge[e].to : l->edge[e].from;
    }
    /* Each count was taken down to its begin, which now stands one place too far. */
    for (int v = 0; v < l->n; v++)
        first[v] = first[v + 1];
    first[l->n] = l->n_edges;
}

static void fill_layers(work *w)
{
    const report_layout *l = w->l;
    for (int v = 0; v < l->n; v++)
        w->begin[l->layer[v] + 1]++;
    for (int k = 0; k < l->n_layers; k++)
        w->begin[k + 1] += w->begin[k];
    for (int v = l->n - 1; v >= 0; v--)
        w->at[--w->begin[l->layer[v] + 1]] = v;
    for (int k = 0; k < l->n_layers; k++)
        w->begin[k] = w->begin[k + 1];
    w->begin[l->n_layers] = l->n;
}

/* The mean place of a vertex's neighbours on one side; its own where it has none. */
static double wanted(const work *w, int v, int side)
{
    const int *first = w->first[side];
    double sum = 0;
    for (int i = first[v]; i < first[v + 1]; i++)
        sum += w->l->x[w->other[side][i]];
    return first[v + 1] > first[v] ? sum / (first[v + 1] - first[v]) : w->l->x[v];
}

static int by_key(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    return x->key != y->key ? (x->key > y->key) - (x->key < y->key) : (x->v > y->v) - (x->v < y->v);
}

/* Side by side from the left, about the middle. */
static void pack(work *w, int layer)
{
    double at = 0;
    for (int i = w->begin[layer]; i < w->begin[layer + 1]; i++) {
        w->l->x[w->at[i]] = at + half(w->l, w->at[i]);
        at += 2 * half(w->l, w->at[i]);
    }
    for (int i = w->begin[layer]; i < w->begin[layer + 1]; i++)
        w->l->x[w->at[i]] -= at / 2;
}

static void order(work *w, int layer, int side)
{
    const int begin = w->begin[layer], n = w->begin[layer + 1] - begin;
    for (int i = 0; i < n; i++)
        w->sorted[i] = (struct placed){wanted(w, w->at[begin + i], side), w->at[begin + i]};
    qsort(w->sorted, (size_t)n, sizeof *w->sorted, by_key);
    for (int i = 0; i < n; i++)
        w->at[begin + i] = w->sorted[i].v;
    pack(w, layer);
}

/* Near to where each wants to be: pushed to the right where they overlap, pushed to the left, and
 * the mean of both, which keeps every distance. */
static void shift(work *w, int layer, int side)
{
    const int begin = w->begin[layer], end = w->begin[layer + 1];
    for (int i = begin; i < end; i++) {
        const int v = w->at[i];
        w->left[v] = w->right[v] = wanted(w, v, side);
    }
    for (int i = begin + 1; i < end; i++) {
        const int u = w->at[i - 1], v = w->at[i];
        const double min = w->right[u] + half(w->l, u) + half(w->l, v);
        w->right[v] = w->right[v] > min ? w->right[v] : min;
    }
    for (int i = end - 2; i >= begin; i--) {
        const int v = w->at[i], u = w->at[i + 1];
        const double max = w->left[u] - half(w->l, u) - half(w->l, v);
        w->left[v] = w->left[v] < max ? w->left[v] : max;
    }
    for (int i = begin; i < end; i++)
        w->l->x[w->at[i]] = (w->left[w->at[i]] + w->right[w->at[i]]) / 2;
}

static void sweep(work *w, void (*step)(work *, int, int), int rounds)
{
    for (int round = 0; round < rounds; round++) {
        for (int k = 1; k < w->l->n_layers; k++)
            step(w, k, 0);
        for (int k = w->l->n_layers - 2; k >= 0; k--)
            step(w, k, 1);
    }
}

static void place(work *w)
{
    report_layout *l = w->l;
    double min = 0;
    find_neighbours(w, 0);
    find_neighbours(w, 1);
    fill_layers(w);
    for (int k = 0; k < l->n_layers; k++)
        pack(w, k);
    sweep(w, order, ORDERINGS);
    sweep(w, shift, SHIFTS);
    for (int v = 0; v < l->n; v++)
        min = v == 0 || l->x[v] - half(l, v) < min ? l->x[v] - half(l, v) : min;
    for (int v = 0; v < l->n; v++) {
        l->x[v] -= min;
        l->width = l->x[v] + half(l, v) > l->width ? l->x[v] + half(l, v) : l->width;
    }
}

/* ---- memory ---- */

static bool place_all(report_layout *l)
{
    const size_t n = (size_t)l->n + 1, edges = (size_t)l->n_edges + 1;
    int *ints = calloc((size_t)l->n_layers + 1 + 3 * n + 2 * edges, sizeof *ints);
    double *reals = calloc(2 * n, sizeof *reals);
    struct placed *sorted = calloc(n, sizeof *sorted);
    if (ints && reals && sorted) {
        int *first = ints + l->n_layers + 1 + n;
        work w = {.l = l,
                  .begin = ints,
                  .at = ints + l->n_layers + 1,
                  .first = {first, first + n},
                  .other = {first + 2 * n, first + 2 * n + edges},
                  .left = reals,
                  .right = reals + n,
                  .sorted = sorted};
        place(&w);
    }
    const bool good = ints && reals && sorted;
    free(ints);
    free(reals);
    free(sorted);
    return good;
}

assay_status report_layout_make(int n, const report_edge *edge, int n_edges, report_layout *out,
                                assay_error *err)
{
    int kept;
    report_edge *e = tidy(n, edge, n_edges, &kept);
    int *far = calloc((size_t)n + 1, sizeof *far), *first = calloc((size_t)n + 1, sizeof *first);
    size_t bends;
    bool good = false;

    *out = (report_layout){.n_real = n, .layer = calloc((size_t)n + 1, sizeof *out->layer)};
    if (e && far && first && out->layer) {
        rank(out, e, kept, far);
        out->span = out->n_layers;
        while ((bends = reach(out, e, kept, far)) > MAX_BENDS)
            out->span = out->span / 2;
        int *layer = realloc(out->layer, ((size_t)n + bends + 1) * sizeof *layer);
        out->layer = layer ? layer : out->layer;
        out->edge = calloc((size_t)kept + bends + 1, sizeof *out->edge);
        out->x = calloc((size_t)n + bends + 1, sizeof *out->x);
        if (layer && out->edge && out->x) {
            bend(out, e, kept, far, first);
            good = place_all(out);
        }
    }
    free(e);
    free(far);
    free(first);
    return good ? ASSAY_OK : assay_out_of_memory(err);
}

void report_layout_free(report_layout *l)
{
    free(l->layer);
    free(l->x);
    free(l->edge);
}
