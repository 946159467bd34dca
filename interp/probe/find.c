/* Answers held against records: schemes, their neighbours, what is open. */
#include "interp/probe/find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/memory.h"
#include "interp/probe/makers.h"
#include "schemes/derive/derive.h"
#include "schemes/node/spec.h"
#include "schemes/prepare/asks.h"

enum { MOST_STEPS = PROBE_CHANGES };

/* ---- groups ---- */

static unsigned form_of(const blame_device *d, int node)
{
    const assay_node *n = &d->graph->node[node];
    const assay_value *in = assay_node_in(d->graph, n, 0);
    assay_unit_spec spec = {.op = assay_op_get(n->op)->name,
                            .node = n->name,
                            .in = &in->type,
                            .n_in = n->n_in,
                            .out = &assay_node_out(d->graph, n, 0)->type};
    assay_type types[BLAME_IN] = {{{0}, 0, {0}, {0}}};
    for (int i = 0; i < n->n_in && i < BLAME_IN; i++) {
        const assay_value *v = assay_node_in(d->graph, n, i);
        if (v)
            types[i] = v->type;
    }
    spec.in = types;
    if (n->op == ASSAY_OP_CONV || n->op == ASSAY_OP_CONV_TRANSPOSE || n->op == ASSAY_OP_SVDF_TIME)
        spec.flag = n->attr.conv.group;
    return derive_form_of(&spec);
}

/* Nodes whose arithmetic a record says and whose output was dumped. */
static bool is_asked(const blame_device *d, int node)
{
    const assay_node *n = &d->graph->node[node];
    bool dumped = false;
    for (int k = 0; k < d->n_samples && n->n_out == 1; k++)
        dumped = dumped || blame_at(d, k, n->out[0])->device;
    return dumped && blame_case_can(n) && assay_node_is_quantized(d->graph, n) &&
           !(assay_op_get(n->op)->traits & ASSAY_T_MOVE);
}

static int64_t count_seen(const blame_device *d, int node)
{
    const int value = d->graph->node[node].out[0];
    int64_t n = 0;
    for (int k = 0; k < d->n_samples; k++) {
        const blame_tensor *t = blame_at(d, k, value);
        for (int64_t i = 0; t->device && i < assay_shape_count(&d->graph->value[value].type); i++)
            n += !t->mask || t->mask[i];
    }
    return n;
}

/* The group of `first` and the nodes like it that follow; marks them done. */
static bool gather(const blame_device *d, int first, bool *done, probe_group *g)
{
    *g = (probe_group){.op = d->graph->node[first].op, .form = form_of(d, first)};
    g->node = calloc((size_t)d->graph->n_nodes + 1, sizeof *g->node);
    for (int i = first; g->node && i < d->graph->n_nodes; i++) {
        if (done[i] || d->graph->node[i].op != g->op || !is_asked(d, i) || form_of(d, i) != g->form)
            continue;
        done[i] = true;
        g->node[g->n_nodes++] = i;
        g->elements += count_seen(d, i);
    }
    return g->node != NULL;
}

/* ---- one group ---- */

int probe_changes(enum assay_op op, const assay_record *a, const assay_record *b,
                  const assay_field **field, int most)
{
    size_t n;
    int changes = 0;
    const assay_field *f = assay_record_fields(&n);
    for (size_t i = 0; i < n && changes < most; i++)
        if (strcmp(f[i].section, "types") != 0 && strcmp(f[i].section, "accepts") != 0 &&
            !assay_field_equal(&f[i], assay_record_get(a, &f[i]), assay_record_get(b, &f[i])) &&
            (assay_reads_op(a, op, &f[i]) || assay_reads_op(b, op, &f[i])))
            field[changes++] = &f[i];
    return changes;
}

static bool is_in_float(const assay_scheme *scheme, const probe_group *g)
{
    const assay_scheme_data *d = assay_data(scheme);
    return d->in_float[g->op] || d->unfused[g->form & ASSAY_FORM_WIDE ? 1 : 0][g->op];
}

/* Fills agrees, in_float, nearest, record and given. False: out of memory, or no scheme has such a
 * node. */
static bool try_schemes(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                        probe_op_finding *f)
{
    f->agrees = calloc((size_t)schemes->n + 1, sizeof *f->agrees);
    f->in_float = calloc((size_t)schemes->n + 1, sizeof *f->in_float);
    f->nearest = -1;
    f->given = -1;
    for (int i = 0; f->agrees && f->in_float && i < schemes->n; i++) {
        assay_record r;
        f->in_float[i] = is_in_float(schemes->scheme[i], g);
        if (f->in_float[i] || !probe_record_of(d, g, schemes->scheme[i], &r))
            continue;
        const int64_t given = probe_score(d, g, &r, f->given, NULL);
        f->agrees[i] = given == g->elements;
        if (given <= f->given)
            continue;
        f->nearest = i;
        f->given = given;
        f->record = r;
    }
    return f->nearest >= 0;
}

/* The record's neighbours by one field. */
static bool neighbours(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                       const assay_record *r, blame_value **value, int *n)
{
    blame_case c;
    blame_case_fill(&c, d->graph, &d->graph->node[g->node[0]], d->scheme,
                    (const void *[BLAME_IN]){NULL}, NULL);
    return blame_values_of(&c, r, schemes, value, n);
}

static bool makes_sense(const assay_record *r)
{
    char why[256];
    return assay_record_check(r, why, sizeof why);
}

/* Accumulators of any width and overflow: two fields that show together. */
static int widths_of(const probe_group *g, const assay_record *now, assay_record *out, int most)
{
    enum { LEAST = 8, FULL = 32 };
    const unsigned traits = assay_op_get(g->op)->traits;
    int n = 0;
    if (!(traits & (ASSAY_T_WEIGHTED | ASSAY_T_SUMS)) && g->op != ASSAY_OP_MATMUL)
        return 0;
    for (int bits = LEAST; bits < FULL; bits++)
        for (int overflow = 0; overflow < 3 && n < most; overflow++) {
            static const int kinds[] = {ASSAY_OVERFLOW_WRAP, ASSAY_OVERFLOW_SATURATE_EACH,
                                        ASSAY_OVERFLOW_SATURATE_END};
            out[n] = *now;
            out[n].accumulator.bits = bits;
            out[n++].accumulator.overflow = kinds[overflow];
        }
    return n;
}

/* Takes the best of a record's neighbours, if it gives at least `least` elements. */
static bool step(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                 const assay_record *from, int64_t least, probe_op_finding *f, bool *better)
{
    enum { WIDTHS = 96 };
    assay_record best = *from, *width = calloc(WIDTHS, sizeof *width);
    blame_value *value = NULL;
    int n = 0;
    *better = false;
    const bool good = width && neighbours(d, g, schemes, from, &value, &n);
    const int widths = good ? widths_of(g, from, width, WIDTHS) : 0;
    for (int i = 0; i < n + widths && good; i++) {
        assay_record r = i < n ? *from : width[i - n];
        if (i < n)
            assay_record_set(&r, value[i].field, value[i].value);
        const int64_t given = makes_sense(&r) ? probe_score(d, g, &r, least, NULL) : 0;
        if (given < least)
            continue;
        f->given = given;
        least = given + 1;
        best = r;
        *better = true;
    }
    if (*better)
        f->record = best;
    free(width);
    free(value);
    return good;
}

/* A scheme's neighbour that gives everything, of schemes that compute the op alike the first. */
static bool try_neighbours(const blame_device *d, const probe_group *g,
                           const blame_schemes *schemes, probe_op_finding *f)
{
    assay_record *seen = calloc((size_t)schemes->n + 1, sizeof *seen);
    const assay_field *field;
    bool good = seen != NULL, better = false;
    int n = 0;
    for (int i = 0; i < schemes->n && good && !better; i++) {
        bool is_new = !f->in_float[i] && probe_record_of(d, g, schemes->scheme[i], &seen[n]);
        for (int k = 0; k < n && is_new; k++)
            is_new = probe_changes(g->op, &seen[k], &seen[n], &field, 1) > 0;
        if (!is_new)
            continue;
        good = step(d, g, schemes, &seen[n++], g->elements, f, &better);
        if (better)
            f->nearest = i;
    }
    free(seen);
    return good;
}

/* Changes the field that helps most, as long as one does. */
static bool climb(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                  probe_op_finding *f)
{
    bool good = true, better = true;
    for (int i = 0; i < MOST_STEPS && good && better && f->given < g->elements; i++) {
        const assay_record from = f->record;
        good = step(d, g, schemes, &from, f->given + 1, f, &better);
    }
    return good;
}

/* Which single fields may be otherwise, and which may not. */
static bool find_open(const blame_device *d, const probe_group *g, const blame_schemes *schemes,
                      probe_op_finding *f)
{
    int n;
    if (!neighbours(d, g, schemes, &f->record, &f->open, &n))
        return false;
    for (int i = 0; i < n;) {
        const assay_field *field = f->open[i].field;
        const int before = f->n_open;
        bool told = false; /* a value that can be gives something else */
        for (; i < n && f->open[i].field == field; i++) {
            assay_record r = f->record;
            assay_record_set(&r, field, f->open[i].value);
            bool refused = true;
            if (makes_sense(&r) && probe_score(d, g, &r, g->elements, &refused) == g->elements)
                f->open[f->n_open++] = f->open[i];
            else
                told = told || !refused;
        }
        if (told && f->n_open == before && f->n_settled < PROBE_SETTLED)
            f->settled[f->n_settled++] = field;
    }
    return true;
}

static assay_status judge(const blame_device *d, const probe_group *g, probe_findings *all,
                          const char *network, assay_error *err)
{
    probe_op_finding *more = realloc(all->op, (size_t)(all->n_ops + 1) * sizeof *more);
    if (!more)
        return assay_out_of_memory(err);
    all->op = more;
    probe_op_finding *f = &more[all->n_ops++];
    *f = (probe_op_finding){
        .op = g->op, .form = g->form, .n_nodes = g->n_nodes, .elements = g->elements};
    snprintf(f->network, sizeof f->network, "%.60s", network);
    if (!try_schemes(d, g, &all->schemes, f))
        return f->agrees && f->in_float
                   ? assay_fail(err, ASSAY_ERR_INPUT, "no scheme computes '%s' in integers",
                                assay_op_get(g->op)->name)
                   : assay_out_of_memory(err);
    assay_record nearest;
    bool good = probe_is_full(f) || try_neighbours(d, g, &all->schemes, f);
    good = good && (probe_is_full(f) || climb(d, g, &all->schemes, f));
    probe_record_of(d, g, all->schemes.scheme[f->nearest], &nearest);
    f->n_changes = probe_changes(g->op, &nearest, &f->record, f->change, PROBE_CHANGES);
    if (good && probe_is_full(f))
        good = find_open(d, g, &all->schemes, f);
    else
        f->n_against = probe_contradictions(d, g, &f->record, f->against);
    return good ? ASSAY_OK : assay_out_of_memory(err);
}

/* ---- one network ---- */

static assay_status find_in(blame_device *d, probe_findings *all, const char *network,
                            assay_error *err)
{
    bool *done = calloc((size_t)d->graph->n_nodes + 1, sizeof *done);
    assay_status status = done ? blame_device_replay(d, NULL, NULL, err) : assay_out_of_memory(err);
    for (int i = 0; i < d->graph->n_nodes && !status; i++) {
        probe_group g;
        if (done[i] || !is_asked(d, i))
            continue;
        status =
            gather(d, i, done, &g) ? judge(d, &g, all, network, err) : assay_out_of_memory(err);
        free(g.node);
    }
    free(done);
    return status;
}

static assay_status find_network(const char *golden, const char *device, const probe_ask *ask,
                                 const char *network, probe_findings *all, assay_error *err)
{
    blame_device d;
    assay_status status = blame_device_open(golden, device, (unsigned)ask->hex_bits, 1, &d, err);
    if (status)
        return status;
    if (!d.scheme || !d.scheme->record)
        status = assay_fail(err, ASSAY_ERR_INPUT, "%s: is not of a scheme with a record", golden);
    else
        status = find_in(&d, all, network, err);
    blame_device_close(&d);
    return status;
}

/* ---- all ---- */

static bool is_there(const char *dir, const char *name)
{
    char path[4096 + 64];
    struct stat st;
    snprintf(path, sizeof path, "%.4000s/%.60s", dir, name);
    return stat(path, &st) == 0;
}

static assay_status find_probes(const char *dir, const char *device, const probe_ask *ask,
                                probe_findings *all, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (const probe_network *p = probe_networks; p->name && !status; p++) {
        char golden[4096 + 80], dumps[4096 + 80];
        if (!is_there(dir, p->name))
            continue;
        if (!is_there(device, p->name)) {
            all->unanswered[all->n_unanswered++] = p->name;
            continue;
        }
        snprintf(golden, sizeof golden, "%.4000s/%s/golden", dir, p->name);
        snprintf(dumps, sizeof dumps, "%.4000s/%s", device, p->name);
        status = find_network(golden, dumps, ask, p->name, all, err);
    }
    return status;
}

static assay_status open_schemes(const probe_ask *ask, blame_schemes *out, assay_error *err)
{
    assay_status status = blame_schemes_open(ask->among, ask->n_among, out, err);
    while (!status && ask->only_among && out->n > ask->n_among)
        assay_scheme_free(out->scheme[--out->n]);
    int kept = 0;
    for (int i = 0; i < out->n; i++)
        if (out->scheme[i]->record)
            out->scheme[kept++] = out->scheme[i];
        else
            assay_scheme_free(out->scheme[i]);
    out->n = kept;
    return status;
}

assay_status probe_find(const char *dir, const char *device, const probe_ask *ask,
                        probe_findings **out, assay_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return assay_out_of_memory(err);
    assay_status status = open_schemes(ask, &(*out)->schemes, err);
    if (!status)
        status = is_there(dir, "manifest.json") ? find_network(dir, device, ask, "", *out, err)
                                                : find_probes(dir, device, ask, *out, err);
    if (!status && (*out)->n_ops == 0)
        status = assay_fail(err, ASSAY_ERR_INPUT,
                            is_there(dir, "manifest.json") || is_there(dir, "probe.json")
                                ? "%s: no answers to %s (OUTPUTS/OP/NAME.npy)"
                                : "%s: answers to what? %s holds neither probes nor a bundle",
                            device, dir);
    return status;
}

void probe_findings_free(probe_findings *f)
{
    for (int i = 0; f && i < f->n_ops; i++) {
        free(f->op[i].agrees);
        free(f->op[i].in_float);
        free(f->op[i].open);
    }
    if (f) {
        blame_schemes_close(&f->schemes);
        free(f->op);
    }
    free(f);
}
