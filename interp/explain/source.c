/* The source of what was moved: which element of which input. */
#include <stdlib.h>
#include <string.h>

#include "interp/explain/watching.h"

/* Inputs whose elements may be moved to the output, filled with digits of their numbers. */
static void fill_digits(const assay_node *n, const assay_graph *g, const explain_watcher *w,
                        void *const *to)
{
    int64_t number = 0;
    for (int i = 0; i < n->n_in; i++) {
        const int64_t count = to[i] ? assay_shape_count(&assay_node_in(g, n, i)->type) : 0;
        for (int64_t k = 0; k < count; k++, number++) {
            const uint32_t bits = (uint32_t)explain_digit(w, number);
            if (assay_node_in(g, n, i)->type.elem.kind == ASSAY_KIND_F32)
                memcpy((char *)to[i] + k * 4, &bits, sizeof bits);
            else
                assay_elem_set(assay_node_in(g, n, i)->type.elem, to[i], (size_t)k,
                               explain_digit(w, number));
        }
    }
}

static bool is_data(const assay_value *v, const assay_type *out)
{
    return v && !v->data && assay_elem_equal(v->type.elem, out->elem);
}

static bool trace_back(explain_runs *r, void *const *room, int64_t element, int64_t total,
                       int64_t *number)
{
    const assay_graph *g = r->program.graph;
    const assay_node *n = &g->node[r->node];
    const assay_type *t = &assay_node_out(g, n, 0)->type;
    explain_watcher *w = &r->w;
    explain_choose_digits(w, t->elem);
    *number = 0;
    for (; w->shift == 0 || (w->shift < 48 && total >> w->shift != 0); w->shift += w->bits) {
        fill_digits(n, g, w, room);
        if (explain_run_once(r, EXPLAIN_WATCH, NULL))
            return false;
        *number |= (explain_stored(t, r->out[0], element) - w->least) << w->shift;
    }
    return *number >= 0 && *number < total;
}

/* Whether a value put into the source alone comes out at the element: what pads, or computes, does
 * not do so. */
static bool is_source(explain_runs *r, void *const *room, const void *const *in, int input,
                      int64_t at, int64_t element)
{
    const assay_graph *g = r->program.graph;
    const assay_node *n = &g->node[r->node];
    const assay_type *t = &assay_node_out(g, n, 0)->type;
    bool good = true;
    for (int i = 0; i < n->n_in; i++)
        if (room[i])
            memcpy(room[i], in[i], assay_type_bytes(&assay_node_in(g, n, i)->type));
    for (int k = 0; k < 2 && good; k++) {
        const int64_t value = explain_stored(t, room[input], at);
        good = !explain_run_once(r, EXPLAIN_WATCH, NULL) &&
               explain_stored(t, r->out[0], element) == value;
        if (t->elem.kind == ASSAY_KIND_F32)
            ((uint8_t *)room[input])[at * 4] ^= 1;
        else
            assay_elem_set(t->elem, room[input], (size_t)at, value == 0);
    }
    return good;
}

bool explain_source(const assay_program *p, int node, const void *const *in, int64_t element,
                    int *input, int64_t *at)
{
    const assay_node *n = &p->graph->node[node];
    const assay_type *t = &assay_node_out(p->graph, n, 0)->type;
    const void **given = calloc((size_t)n->n_in + 1, sizeof *given);
    void **room = calloc((size_t)n->n_in + 1, sizeof *room);
    explain_seen seen = {0};
    int64_t total = 0;
    explain_runs r = {0};
    bool found = given && room && !p->unit[node];
    for (int i = 0; i < n->n_in && found; i++) {
        const assay_value *v = assay_node_in(p->graph, n, i);
        given[i] = in[i];
        if (!is_data(v, t))
            continue;
        given[i] = room[i] = calloc(assay_type_bytes(&v->type) + 64, 1);
        found = room[i] != NULL;
        total += assay_shape_count(&v->type);
    }
    found = found && !explain_open_runs(&r, p, node, given, &seen, NULL) &&
            trace_back(&r, room, element, total, at);
    for (*input = 0; found && *input < n->n_in; ++*input) {
        const int64_t count =
            room[*input] ? assay_shape_count(&assay_node_in(p->graph, n, *input)->type) : 0;
        if (*at < count)
            break;
        *at -= count;
    }
    found = found && *input < n->n_in && is_source(&r, room, in, *input, *at, element);
    if (r.program.graph)
        explain_close_runs(&r);
    for (int i = 0; i < n->n_in && room; i++)
        free(room[i]);
    free(room);
    free(given);
    return found;
}
