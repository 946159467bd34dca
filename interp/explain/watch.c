/* Runs of a node under watch; see watch.h. */
#include "interp/explain/watching.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "graph/memory.h"

static void begin_watch(explain_runs *r, const assay_program *p)
{
    explain_watcher *w = &r->w;
    const assay_scheme *s = run_scheme_of(p, r->node);
    w->real = p->unit[r->node];
    w->vt = s->vt;
    if (s->record) { /* a plugin's units are its own */
        w->unit = *w->real;
        explain_watch_unit(w);
    } else if (s->mac) {
        explain_watch_mac(w);
    }
    r->scheme = *s;
    r->scheme.vt = s->mac ? &explain_watching_mac : &explain_watching;
    r->program.scheme = &r->scheme;
}

assay_status explain_open_runs(explain_runs *r, const assay_program *p, int node,
                               const void *const *in, explain_seen *seen, assay_error *err)
{
    const assay_node *n = &p->graph->node[node];
    assay_status status = ASSAY_OK;
    *r = (explain_runs){.program = *p, .node = node, .in = in};
    r->program.engine = ASSAY_ENGINE_REF;
    r->w.seen = seen;
    r->unit = calloc((size_t)p->graph->n_nodes + 1, sizeof *r->unit);
    r->out = calloc((size_t)n->n_out + 1, sizeof *r->out);
    if (!r->unit || !r->out)
        return assay_out_of_memory(err);
    for (int j = 0; j < n->n_out && !status; j++) {
        r->out[j] = calloc(assay_type_bytes(&p->graph->value[n->out[j]].type) + 64, 1);
        if (!r->out[j])
            status = assay_out_of_memory(err);
    }
    if (!p->unit[node])
        return status;
    begin_watch(r, p);
    r->unit[node] = &r->w.unit;
    r->program.unit = (assay_unit **)(uintptr_t)r->unit;
    return status;
}

void explain_close_runs(explain_runs *r)
{
    for (int j = 0; r->out && j < r->program.graph->node[r->node].n_out; j++)
        free(r->out[j]);
    free(r->out);
    free(r->unit);
}

assay_status explain_run_once(explain_runs *r, enum watch_mode mode, assay_error *err)
{
    r->w.mode = mode;
    r->w.made = r->w.sums = 0;
    const assay_teller *teller = r->tells_itself ? &r->w.teller : NULL;
    assay_status status = run_replay_told(&r->program, r->node, r->in, r->out, NULL, teller, err);
    return !status && r->w.short_of_memory ? assay_out_of_memory(err) : status;
}

static unsigned bits_of(assay_elem e)
{
    assert(e.kind == ASSAY_KIND_BOOL || e.bits >= 1);
    return e.kind == ASSAY_KIND_BOOL ? 1 : e.bits < 32 ? e.bits : 32;
}

/* bits_of(e) gives 1 to 32. */
static int64_t least_of(assay_elem e)
{
    return e.kind == ASSAY_KIND_INT && e.is_signed ? -(INT64_C(1) << (bits_of(e) - 1)) : 0;
}

void explain_choose_digits(explain_watcher *w, assay_elem e)
{
    w->bits = bits_of(e);
    w->least = least_of(e);
    w->shift = 0;
}

int64_t explain_stored(const assay_type *t, const void *data, int64_t i)
{
    uint32_t bits;
    if (t->elem.kind != ASSAY_KIND_F32)
        return assay_elem_get(t->elem, data, (size_t)i);
    memcpy(&bits, (const char *)data + i * 4, sizeof bits);
    return bits;
}

/* Which production the element is; -1: none. */
static assay_status find_production(explain_runs *r, const assay_type *t, int64_t element,
                                    assay_error *err)
{
    explain_watcher *w = &r->w;
    assay_status status = ASSAY_OK;
    int64_t found = 0;
    explain_choose_digits(w, t->elem);
    do {
        status = explain_run_once(r, EXPLAIN_NUMBER, err);
        if (!status)
            found |= (explain_stored(t, r->out[0], element) - w->least) << w->shift;
        w->shift += w->bits;
    } while (!status && w->shift < 48 && w->made >> w->shift != 0);
    w->want = w->made > 0 && found >= 0 && found < w->made ? found : -1;
    return status;
}

assay_status explain_watch(const assay_program *p, int node, const void *const *in, int64_t element,
                           explain_seen *seen, assay_error *err)
{
    const assay_type *t = &assay_node_out(p->graph, &p->graph->node[node], 0)->type;
    explain_runs r;
    *seen = (explain_seen){.kind = EXPLAIN_NOTHING};
    assay_status status = explain_open_runs(&r, p, node, in, seen, err);
    r.w.want = r.w.want_sum = -1;
    r.w.whole = !(p->kernel[node].calls & ASSAY_CALLS_ACCUMULATE);
    if (!status && !p->unit[node]) {
        explain_watch_kernel(&r.w, element);
        r.tells_itself = true;
    }
    if (!status && p->unit[node])
        status = find_production(&r, t, element, err);
    if (!status && r.w.want >= 0 && !r.w.whole)
        status = explain_run_once(&r, EXPLAIN_FIND, err);
    if (!status)
        status = explain_run_once(&r, EXPLAIN_WATCH, err);
    if (!status && seen->kind == EXPLAIN_NOTHING)
        seen->value = explain_stored(t, r.out[0], element);
    explain_close_runs(&r);
    return status;
}

void explain_seen_free(explain_seen *seen)
{
    free(seen->row);
    free(seen->x);
    free(seen->w);
    free(seen->block);
    explain_trace_free(&seen->told);
    *seen = (explain_seen){0};
}
