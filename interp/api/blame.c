/* A blame as the public header has it. */
#include <stdlib.h>

#include "graph/memory.h"
#include "interp/blame/blame.h"

typedef struct kept {
    assay_blame_report report; /* first: what the caller has */
    blame_report *of;
    assay_blame_node *node;
    assay_blame_fault *fault;
    const char *(*causes)[BLAME_CLASSES];
} kept;

static assay_blame_node node_of(const blame_report *r, const blame_row *row)
{
    static const enum assay_blame_verdict verdicts[] = {
        [BLAME_CLEAN] = ASSAY_BLAME_CLEAN,     [BLAME_INHERITED] = ASSAY_BLAME_INHERITED,
        [BLAME_OWN] = ASSAY_BLAME_OWN,         [BLAME_NOT_DUMPED] = ASSAY_BLAME_NOT_DUMPED,
        [BLAME_SUSPECT] = ASSAY_BLAME_SUSPECT,
    };
    const assay_graph *g = r->device.graph;
    const bool dumped = row->elements > 0;
    return (assay_blame_node){.index = r->device.index[row->value],
                              .name = g->value[row->value].name,
                              .node = g->node[row->node].name,
                              .op = assay_op_get(g->node[row->node].op)->name,
                              .verdict = verdicts[row->verdict],
                              .differing_cumulative = dumped ? row->cumulative : -1,
                              .differing_isolated = dumped ? row->isolated : -1};
}

static void fill(kept *k)
{
    const blame_report *r = k->of;
    for (int i = 0; i < r->device.graph->n_nodes; i++)
        k->node[i] = node_of(r, &r->row[i]);
    for (int i = 0; i < r->n_faults; i++) {
        const blame_fault *f = &r->fault[i];
        for (int c = 0; c < f->n_classes; c++)
            k->causes[i][c] = f->classes[c];
        k->fault[i] = (assay_blame_fault){.at = &k->node[f->row],
                                          .cause = f->class,
                                          .causes = k->causes[i],
                                          .n_causes = f->n_classes,
                                          .detail = f->detail,
                                          .example = f->sample,
                                          .elements = f->elements,
                                          .differing = f->differing,
                                          .explained = f->explained};
    }
    k->report = (assay_blame_report){.fault = k->fault,
                                     .n_faults = r->n_faults,
                                     .node = k->node,
                                     .n_nodes = r->device.graph->n_nodes};
}

assay_status assay_blame(const char *golden, const char *device, const assay_blame_options *options,
                         const assay_blame_report **out, assay_error *err)
{
    blame_options o = {.rel = -1, .threads = 2, .work = BLAME_WORK};
    kept *k = calloc(1, sizeof *k);
    *out = NULL;
    if (!k)
        return assay_out_of_memory(err);
    if (options) {
        o.rel = options->rel;
        o.schemes = options->schemes;
        o.n_schemes = options->n_schemes;
        o.threads = options->threads > 0 ? options->threads : 2;
    }
    assay_status status = blame_run(golden, device, &o, &k->of, err);
    if (!status) {
        k->node = calloc((size_t)k->of->device.graph->n_nodes + 1, sizeof *k->node);
        k->fault = calloc((size_t)k->of->n_faults + 1, sizeof *k->fault);
        k->causes = calloc((size_t)k->of->n_faults + 1, sizeof *k->causes);
        status = k->node && k->fault && k->causes ? ASSAY_OK : assay_out_of_memory(err);
    }
    if (status) {
        assay_blame_free(&k->report);
        return status;
    }
    fill(k);
    *out = &k->report;
    return ASSAY_OK;
}

void assay_blame_free(const assay_blame_report *report)
{
    kept *k = (kept *)(uintptr_t)report;
    if (!k)
        return;
    blame_free(k->of);
    free(k->node);
    free(k->fault);
    free(k->causes);
    free(k);
}
