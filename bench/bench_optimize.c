/* Time of optimizing and proving integer networks: ResNet-50 and MobileNetV2 with random weights,
 * whose fused activations are taken apart again: a relu, or a rescale to another zero point, behind
 * every convolution and addition. One thread; processor time. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/nets.h"
#include "bench/timing.h"
#include "interp/run/evaluate.h"
#include "opt/check/proof.h"
#include "opt/rewrite/optimize.h"

/* Node n yields NAME:raw; a node behind it yields what n did. */
static assay_status take_apart(assay_graph *g, int n, assay_error *err)
{
    const bool relu = g->node[n].act_lo == 0;
    int y = g->node[n].out[0], raw, behind;
    assay_type t = g->value[y].type;
    const int32_t zero = t.q.zero_point[0] + 1;
    char name[256];

    if (!relu)
        t.q.zero_point = &zero;
    snprintf(name, sizeof name, "%.200s:raw", g->value[y].name);
    assay_status s = assay_graph_add_value(g, name, &t, &raw, err);
    if (s)
        return s;
    g->node[n].out[0] = raw;
    g->value[raw].producer = n;
    g->value[y].producer = -1;
    g->node[n].act_lo = -INFINITY;
    g->node[n].act_hi = INFINITY;
    return assay_graph_add_node(g, relu ? ASSAY_OP_RELU : ASSAY_OP_RESCALE, NULL, &raw, 1, &y, 1,
                                NULL, &behind, err);
}

static assay_status take_all_apart(assay_graph *g, assay_error *err)
{
    assay_status s = ASSAY_OK;
    for (int i = 0, n = g->n_nodes; i < n && !s; i++)
        if (g->node[i].op == ASSAY_OP_CONV || g->node[i].op == ASSAY_OP_ADD)
            s = take_apart(g, i, err);
    return s ? s : assay_graph_compact(g, NULL, err);
}

static assay_status measure(const char *what, assay_graph *g, const assay_scheme *scheme,
                            assay_error *err)
{
    const assay_optimize_options o = {.run = run_whole_graph};
    assay_optimize_report r;
    assay_proof_report proof;
    assay_graph *copy = NULL;
    assay_status s = take_all_apart(g, err);
    if (!s)
        s = assay_graph_clone(g, &copy, err);
    double start = bench_clock(CLOCK_PROCESS_CPUTIME_ID), proved, checked;
    int before = g->n_nodes;
    if (!s)
        s = rewrite_optimize(g, scheme, &o, &r, err);
    if (s) {
        assay_graph_free(copy);
        return s;
    }
    proved = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
    start += proved;
    s = check_proof(r.certificate.text, r.certificate.length, what,
                    &(assay_proof_networks){copy, g}, &proof, err);
    checked = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
    printf("%-12s %4d nodes, %3d applied, %3d refused, %4d left: %6.2f s; checking %6.2f s\n", what,
           before, r.applied, r.refused, g->n_nodes, proved * 1e-9, checked * 1e-9);
    assay_buf_free(&r.certificate);
    assay_graph_free(copy);
    return s;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        assay_status (*make)(const bench_form *, assay_graph **, assay_error *);
    } nets[] = {{"mobilenet2", bench_mobilenet2}, {"resnet50", bench_resnet50}};
    const bench_form form = {ASSAY_LAYOUT_NHWC, true, 1};
    assay_scheme *scheme = NULL;
    assay_error err;
    assay_status s = assay_scheme_open(argc > 1 ? argv[1] : "tflite", &scheme, &err);

    for (size_t i = 0; i < 2 && !s; i++) {
        assay_graph *g = NULL;
        s = nets[i].make(&form, &g, &err);
        if (!s)
            s = measure(nets[i].name, g, scheme, &err);
        assay_graph_free(g);
    }
    assay_scheme_free(scheme);
    if (s)
        fprintf(stderr, "bench_optimize: %s\n", err.text);
    return s ? 1 : 0;
}
