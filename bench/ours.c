/* One of our programs, ready to be timed; the memory that it takes. */
#include "bench/ours.h"

#include <stdio.h>
#include <string.h>

void bench_check(assay_status status, const assay_error *err)
{
    if (status != ASSAY_OK) {
        fprintf(stderr, "bench: %s\n", err->text);
        exit(2);
    }
}

int64_t bench_macs(const assay_graph *g)
{
    int64_t macs = 0;
    for (int i = 0; i < g->n_nodes; i++)
        macs += assay_node_macs(g, &g->node[i]);
    return macs;
}

/* A line of /proc/self/status in bytes, or 0. */
static int64_t status_bytes(const char *key)
{
    char line[256];
    long long kb = 0;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lld", &kb);
    if (f)
        fclose(f);
    return kb * 1024;
}

/* Makes the peak of resident memory what is resident now. */
static void reset_peak(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (f) {
        fputs("5", f);
        fclose(f);
    }
}

static void fill_inputs(const bench_ours *o)
{
    for (int i = 0; i < o->graph->n_inputs; i++) {
        const int v = o->graph->input[i];
        const assay_type *t = &o->graph->value[v].type;
        const size_t n = (size_t)assay_shape_count(t);
        void *data = assay_run_data(o->run, v);
        for (size_t k = 0; k < n; k++) {
            const uint8_t byte = (uint8_t)(k * 2654435761u >> 13);
            if (t->elem.kind == ASSAY_KIND_F32)
                ((float *)data)[k] = (float)byte / 128 - 1;
            else if (assay_elem_size(t->elem) == 1)
                ((uint8_t *)data)[k] = byte;
        }
    }
}

void bench_ours_open(bench_ours *o, const assay_graph *g, const char *scheme,
                     const assay_program_options *how)
{
    assay_error err;
    reset_peak();
    const int64_t before = status_bytes("VmRSS:");
    const double begin = bench_now();
    *o = (bench_ours){.graph = g, .clock = CLOCK_MONOTONIC};
    if (scheme)
        bench_check(assay_scheme_open(scheme, &o->scheme, &err), &err);
    bench_check(run_program_make_with(g, o->scheme, how, &o->program, &err), &err);
    bench_check(assay_run_new(o->program, &o->run, &err), &err);
    o->prepare_ns = bench_now() - begin;
    fill_inputs(o);
    bench_ours_time(o, 1);
    o->peak_bytes = before ? status_bytes("VmHWM:") - before : 0;
}

void bench_ours_close(bench_ours *o)
{
    assay_run_free(o->run);
    assay_program_free(o->program);
    assay_scheme_free(o->scheme);
}

double bench_ours_time(void *ours, int calls)
{
    bench_ours *o = ours;
    assay_error err;
    const double begin = bench_clock(o->clock);
    for (int i = 0; i < calls; i++)
        bench_check(run_execute(o->run, NULL, false, NULL, &err), &err);
    return bench_clock(o->clock) - begin;
}

double bench_reference_ns(const assay_graph *g, const char *scheme)
{
    const assay_program_options how = {.engine = ASSAY_ENGINE_REF};
    bench_ours o;
    bench_ours_open(&o, g, scheme, &how);
    const double ns = bench_ours_time(&o, 1);
    bench_ours_close(&o);
    return ns;
}

typedef struct node_times {
    double last, *ns;
} node_times;

static assay_status note(void *user, assay_run *r, int node, const int64_t *acc, assay_error *err)
{
    node_times *t = user;
    const double now = bench_now();
    (void)r;
    (void)acc;
    (void)err;
    if (t->ns[node] == 0 || now - t->last < t->ns[node])
        t->ns[node] = now - t->last;
    t->last = now;
    return ASSAY_OK;
}

void bench_ours_profile(const bench_ours *o)
{
    const assay_program *p = o->program;
    node_times t = {.ns = calloc((size_t)o->graph->n_nodes + 1, sizeof *t.ns)};
    assay_error err;
    for (int i = 0; i < BENCH_ROUNDS && t.ns; i++) {
        t.last = bench_now();
        bench_check(run_execute(o->run, note, false, &t, &err), &err);
    }
    for (int i = 0; i < o->graph->n_nodes && t.ns; i++) {
        const assay_node *n = &o->graph->node[i];
        const double ns = t.ns[i];
        printf("    %-24s %-4s %10.1f us %8.2f GMAC/s\n", n->name,
               p->fast && p->fast[i] ? "fast" : "ref", ns / 1e3,
               (double)assay_node_macs(o->graph, n) / ns);
    }
    free(t.ns);
}
