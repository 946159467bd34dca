/* Answers held against records: networks, groups of nodes. */
#include "interp/probe/find.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "graph/memory.h"
#include "interp/probe/makers.h"
#include "schemes/record/data.h"

/* ---- groups ---- */

static bool is_asked(const blame_device *d, int node)
{
    int sample = 0;
    while (sample < d->n_samples && !probe_is_asked(d, node, sample))
        sample++;
    return sample < d->n_samples;
}

static int64_t count_seen(const blame_device *d, int node)
{
    int64_t n = 0;
    for (int k = 0; k < d->n_samples; k++)
        if (probe_is_asked(d, node, k))
            n += probe_count_seen(d, k, d->graph->node[node].out[0]);
    return n;
}

/* The group of `first` and the nodes like it that follow; marks them done. */
static bool gather(const blame_device *d, int first, bool *done, probe_group *g)
{
    *g = (probe_group){.op = d->graph->node[first].op, .variant = probe_variant_of(d, first)};
    g->node = calloc((size_t)d->graph->n_nodes + 1, sizeof *g->node);
    for (int i = first; g->node && i < d->graph->n_nodes; i++) {
        if (done[i] || d->graph->node[i].op != g->op || !is_asked(d, i) ||
            probe_variant_of(d, i) != g->variant)
            continue;
        done[i] = true;
        g->node[g->n_nodes++] = i;
        g->elements += count_seen(d, i);
    }
    return g->node != NULL;
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
        .op = g->op, .variant = g->variant, .n_nodes = g->n_nodes, .elements = g->elements};
    snprintf(f->network, sizeof f->network, "%.60s", network);
    return probe_search(d, g, &all->schemes, f, err);
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
    if (!status)
        status = probe_find_stretches(d, all, err);
    all->not_of_network += (int64_t)json_array_size(d->extra);
    return status;
}

static assay_status find_opened(blame_device *d, const char *network, probe_findings *all,
                                assay_error *err)
{
    const assay_status status =
        d->scheme && d->scheme->record
            ? find_in(d, all, network, err)
            : assay_fail(err, ASSAY_ERR_INPUT, "%s: was not made under a scheme with a record",
                         d->bundle->dir);
    blame_device_close(d);
    return status;
}

static assay_status find_bundle(const char *golden, const char *device, const probe_ask *ask,
                                probe_findings *all, assay_error *err)
{
    blame_device d;
    const assay_status status =
        blame_device_open(golden, device, (unsigned)ask->hex_bits, 1, &d, err);
    return status ? status : find_opened(&d, "", all, err);
}

/* ---- all ---- */

static bool is_there(const char *dir, const char *name)
{
    char path[4096 + 64];
    struct stat st;
    snprintf(path, sizeof path, "%.4000s/%.60s", dir, name);
    return stat(path, &st) == 0;
}

/* Whether the folder of an op holds anything: an op that the device's compiler refused may have
 * left an empty one. */
static bool is_answered(const char *device, const char *op)
{
    char path[4096 + 64];
    const struct dirent *entry;
    bool any = false;
    snprintf(path, sizeof path, "%.4000s/%.60s", device, op);
    DIR *dir = opendir(path);
    if (!dir)
        return is_there(device, op);
    while (!any && (entry = readdir(dir)))
        any = entry->d_name[0] != '.';
    closedir(dir);
    return any;
}

assay_status probe_open_network(const char *dir, const char *device, const char *op,
                                const probe_ask *ask, blame_device *d, bool *there,
                                assay_error *err)
{
    char path[4096 + 80], golden[4096 + 80], dumps[4096 + 80];
    const unsigned bits = (unsigned)ask->hex_bits;
    snprintf(golden, sizeof golden, "%.4000s/%s/golden", dir, op);
    snprintf(dumps, sizeof dumps, "%.4000s/%s", device, op);
    snprintf(path, sizeof path, "%.4000s/%s", dir, op);
    const bool now = is_answered(device, op), before = is_there(path, "answered");
    *there = is_there(dir, op) && (now || before);
    snprintf(path, sizeof path, "%.4000s/%s/answered", dir, op);
    if (!*there)
        return ASSAY_OK;
    const assay_status status = blame_device_open(golden, now ? dumps : path, bits, 1, d, err);
    return !status && now && before ? blame_device_add(d, path, err) : status;
}

static assay_status find_probes(const char *dir, const char *device, const probe_ask *ask,
                                probe_findings *all, assay_error *err)
{
    assay_status status = ASSAY_OK;
    for (const probe_network *p = probe_networks; p->name && !status; p++) {
        blame_device d;
        bool there;
        status = probe_open_network(dir, device, p->name, ask, &d, &there, err);
        if (!status && there)
            status = find_opened(&d, p->name, all, err);
        else if (!status && is_there(dir, p->name))
            all->unanswered[all->n_unanswered++] = p->name;
    }
    return status;
}

static assay_status open_schemes(const probe_ask *ask, blame_schemes *out, assay_error *err)
{
    assay_status status = blame_schemes_open(ask->among, ask->n_among, out, err);
    for (int i = 0; i < ask->n_among && !status; i++)
        if (!out->scheme[i]->record)
            status =
                assay_fail(err, ASSAY_ERR_INPUT, "%s: has no record to hold answers against (a %s)",
                           ask->among[i], assay_scheme_sort(out->scheme[i]));
    if (status)
        return status;
    while (ask->only_among && out->n > ask->n_among)
        assay_scheme_free(out->scheme[--out->n]);
    int kept = 0;
    for (int i = 0; i < out->n; i++)
        if (out->scheme[i]->record)
            out->scheme[kept++] = out->scheme[i];
        else
            assay_scheme_free(out->scheme[i]);
    out->n = kept;
    return ASSAY_OK;
}

assay_status probe_find(const char *dir, const char *device, const probe_ask *ask,
                        probe_findings **out, assay_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return assay_out_of_memory(err);
    assay_status status = open_schemes(ask, &(*out)->schemes, err);
    if (!status)
        status = is_there(dir, "manifest.json") ? find_bundle(dir, device, ask, *out, err)
                                                : find_probes(dir, device, ask, *out, err);
    if (!status && (*out)->n_ops == 0 && (*out)->n_stretches == 0)
        status = assay_fail(
            err, ASSAY_ERR_INPUT,
            is_there(dir, "manifest.json") || is_there(dir, "probe.json")
                ? "%s: no answers to %s (OUTPUTS/OP/NAME.npy)"
                : "%s: nothing to compare the answers with: %s holds neither probes nor a bundle",
            device, dir);
    return status;
}

void probe_findings_free(probe_findings *f)
{
    for (int i = 0; f && i < f->n_ops; i++) {
        free(f->op[i].agrees);
        free(f->op[i].in_float);
        free(f->op[i].open);
        free(f->op[i].state);
        free(f->op[i].left);
    }
    for (int i = 0; f && i < f->n_stretches; i++)
        free(f->stretch[i].agrees);
    if (f) {
        blame_schemes_close(&f->schemes);
        free(f->stretch);
        free(f->op);
    }
    free(f);
}
