/* Own, inherited or clean: what each node's output is against golden and against its replay. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "interp/blame/blame.h"
#include "interp/blame/floats.h"
#include "interp/golden/compare.h"

bool blame_is_dumped(const blame_device *d, int value)
{
    for (int s = 0; s < d->n_samples; s++)
        if (blame_at(d, s, value)->device || blame_at(d, s, value)->sums)
            return true;
    return false;
}

const char *blame_verdict_name(enum blame_verdict v)
{
    static const char *const names[] = {"clean", "inherited", "own", "not_dumped", "suspect"};
    return names[v];
}

typedef struct measure {
    int64_t elements, differing;
    double lsb, signal, noise;
} measure;

static void add(measure *m, const assay_type *t, const void *a, const void *b, const uint8_t *mask,
                double rel, const float *slack)
{
    assay_thresholds limits = ASSAY_THRESHOLDS_EXACT;
    const int64_t n = assay_shape_count(t);
    if (!mask && memcmp(a, b, assay_type_bytes(t)) == 0) {
        m->elements += n;
        return;
    }
    if (t->elem.kind == ASSAY_KIND_F32)
        limits.rel = rel;
    for (int64_t i = 0; i < n; i++) {
        if (mask && !mask[i])
            continue;
        const assay_element_error e = golden_element_compare(t, a, t, b, i, &limits);
        m->elements++;
        m->signal += e.a * e.a;
        if (e.good || e.same || (slack && fabs(e.a - e.b) <= (double)slack[i]))
            continue;
        m->differing++;
        m->lsb = e.lsb > m->lsb ? e.lsb : m->lsb;
        m->noise += (e.a - e.b) * (e.a - e.b);
    }
}

static void add_sums(measure *m, int64_t n, const int64_t *a, const int64_t *b, const uint8_t *mask)
{
    for (int64_t i = 0; i < n; i++) {
        const double d = (double)a[i] - (double)b[i];
        if (mask && !mask[i])
            continue;
        m->elements++;
        m->differing += a[i] != b[i];
        m->lsb = fmax(m->lsb, fabs(d));
        m->signal += (double)a[i] * (double)a[i];
        m->noise += d * d;
    }
}

static double sqnr(const measure *m)
{
    return m->noise == 0.0 ? INFINITY : 10.0 * log10(m->signal / m->noise);
}

static bool codes_differ(const blame_tensor *t, const assay_type *type, double rel)
{
    measure m = {0};
    if (t->device && t->replayed)
        add(&m, type, t->replayed, t->device, t->mask, rel, t->slack);
    return m.differing > 0;
}

static bool sums_differ(const blame_tensor *t, const assay_type *type)
{
    measure m = {0};
    if (t->sums && t->replayed_sums)
        add_sums(&m, assay_shape_count(type), t->replayed_sums, t->sums, t->mask);
    return m.differing > 0;
}

bool blame_is_on_sums(const blame_device *d, int value, double rel)
{
    const assay_type *type = &d->graph->value[value].type;
    bool on_codes = false, differ = false, on_sums = false;
    for (int k = 0; k < d->n_samples; k++) {
        const blame_tensor *t = blame_at(d, k, value);
        on_codes = on_codes || t->device;
        on_sums = on_sums || t->sums;
    }
    if (!on_codes || !on_sums)
        return on_sums;
    for (int k = 0; k < d->n_samples; k++) {
        if (codes_differ(blame_at(d, k, value), type, rel))
            return false;
        differ = differ || sums_differ(blame_at(d, k, value), type);
    }
    return differ;
}

static void measure_row(const blame_device *d, blame_row *r, int value, double rel)
{
    const assay_type *t = &d->graph->value[value].type;
    measure golden = {0}, replay = {0};
    r->on_sums = r->on_sums || blame_is_on_sums(d, value, rel);
    for (int k = 0; k < d->n_samples; k++) {
        const blame_tensor *at = blame_at(d, k, value);
        if (at->sums && r->on_sums) {
            add_sums(&golden, assay_shape_count(t), at->golden_sums, at->sums, at->mask);
            add_sums(&replay, assay_shape_count(t), at->replayed_sums, at->sums, at->mask);
        }
        if (!at->device || !at->golden)
            continue;
        add(&golden, t, at->golden, at->device, at->mask, rel, at->slack);
        add(&replay, t, at->replayed, at->device, at->mask, rel, at->slack);
    }
    r->elements += golden.elements;
    r->cumulative += golden.differing;
    r->isolated += replay.differing;
    r->lsb = fmax(r->lsb, golden.lsb);
    r->lsb_isolated = fmax(r->lsb_isolated, replay.lsb);
    r->sqnr = fmin(r->sqnr, sqnr(&golden));
    r->sqnr_isolated = fmin(r->sqnr_isolated, sqnr(&replay));
}

/* Marks the nodes between the dumps and this row's output as suspects of its region; false: there
 * are none. */
static bool mark_region(blame_report *r, int row, int node)
{
    const blame_device *d = &r->device;
    const assay_node *n = &d->graph->node[node];
    bool found = false;
    for (int i = 0; i < n->n_in; i++) {
        const assay_value *v = assay_node_in(d->graph, n, i);
        if (!v || v->data || v->is_variable || v->producer < 0 || blame_is_dumped(d, n->in[i]))
            continue;
        found = true;
        if (r->row[v->producer].verdict != BLAME_NOT_DUMPED)
            continue; /* of a region already */
        r->row[v->producer].verdict = BLAME_SUSPECT;
        r->row[v->producer].region = row;
        mark_region(r, row, v->producer);
    }
    return found;
}

/* Where floats need not be to the bit. */
static assay_status allow_orders(blame_device *d, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (int i = 0; i < d->graph->n_nodes; i++)
        for (int k = 0; k < d->n_samples && !status; k++) {
            blame_tensor *t = blame_at(d, k, d->graph->node[i].out[0]);
            free(t->slack);
            t->slack = NULL;
            if (t->device)
                status = blame_float_slack(d, i, k, &t->slack, err);
        }
    return status;
}

assay_status blame_judge(blame_report *r, double rel, assay_error *err)
{
    const blame_device *d = &r->device;
    const assay_status status = r->path && rel >= 0 ? allow_orders(&r->device, err) : ASSAY_OK;
    if (status)
        return status;
    for (int i = 0; i < d->graph->n_nodes; i++) {
        blame_row *row = &r->row[i];
        const assay_node *n = &d->graph->node[i];
        *row = (blame_row){.node = i,
                           .value = n->out[0],
                           .sqnr = INFINITY,
                           .sqnr_isolated = INFINITY,
                           .region = -1};
        for (int j = 0; j < n->n_out; j++)
            measure_row(d, row, n->out[j], rel);
        row->verdict = row->elements == 0    ? BLAME_NOT_DUMPED
                       : row->isolated > 0   ? BLAME_OWN
                       : row->cumulative > 0 ? BLAME_INHERITED
                                             : BLAME_CLEAN;
    }
    for (int i = 0; i < d->graph->n_nodes; i++)
        if (r->row[i].verdict == BLAME_OWN && mark_region(r, i, i)) {
            r->row[i].verdict = BLAME_SUSPECT;
            r->row[i].region = i;
        }
    return ASSAY_OK;
}
