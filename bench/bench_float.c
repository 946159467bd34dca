/* The float engine beside ONNX Runtime in float, on the same networks of random weights, one
 * thread, in turns: ns an image, and how many times as long ours takes (the median of the rounds'
 * ratios).
 *
 *   bench_float [--ort SCRIPT] [--cpu] [--profile] [NAME]
 *
 * --ort runs the peer (bench/ort.js); --cpu takes CPU time, which a busy machine lengthens less;
 * --profile prints the time by node; NAME as for bench_fast. */
#include <stdio.h>
#include <string.h>

#include "bench/nets.h"
#include "bench/ort.h"
#include "bench/ours.h"
#include "bench/session.h"

typedef assay_status (*maker)(const bench_form *f, assay_graph **out, assay_error *err);

static void print_times(const char *engine, const bench_entrant *e, int64_t images, int64_t macs)
{
    const bench_times t = bench_entrant_times(e);
    const double n = (double)images;
    printf("  %-12s %12.0f ns an image [%.0f, %.0f] %8.2f GMAC/s", engine, t.median / n,
           t.least / n, t.greatest / n, (double)macs / t.median);
}

typedef struct options {
    bench_ort *ort;
    bool cpu, profile;
} options;

static void bench_net(const options *o, const char *title, maker make, int64_t batch)
{
    const bench_form f = {.layout = ASSAY_LAYOUT_NCHW, .is_float = true, .batch = batch};
    const assay_program_options how = {.engine = ASSAY_ENGINE_REF, .outputs_only = true};
    bench_session peer = {o->ort, 0};
    bench_ours ours;
    bench_entrant entrant[2] = {{.time = bench_ours_time, .user = &ours},
                                {.time = bench_session_time, .user = &peer}};
    assay_graph *g;
    assay_error err;
    bench_check(make(&f, &g, &err), &err);
    const int64_t macs = bench_macs(g);
    bench_ours_open(&ours, g, NULL, &how);
    if (o->cpu)
        ours.clock = CLOCK_PROCESS_CPUTIME_ID;
    const bool both = o->ort && bench_session_export(&peer, g, 1);
    bench_contest(entrant, both ? 2 : 1);
    printf("%s\n", title);
    print_times("assay", &entrant[0], batch, macs);
    if (both) {
        printf(", %.2f times ONNX Runtime's time\n",
               1 / bench_entrant_ratio(&entrant[0], &entrant[1]));
        print_times("onnxruntime", &entrant[1], batch, macs);
        bench_ort_close(o->ort, peer.id);
    }
    printf("\n");
    if (o->profile)
        bench_ours_profile(&ours);
    bench_ours_close(&ours);
    assay_graph_free(g);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        maker make;
    } nets[] = {{"mobilenet2", bench_mobilenet2}, {"resnet50", bench_resnet50}};
    options o = {NULL, false, false};
    const char *name = "", *script = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--profile") == 0)
            o.profile = true;
        else if (strcmp(argv[i], "--cpu") == 0)
            o.cpu = true;
        else if (strcmp(argv[i], "--ort") == 0 && i + 1 < argc)
            script = argv[++i];
        else
            name = argv[i];
    }
    if (script)
        o.ort = bench_ort_start(script, o.cpu);
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++)
        for (int64_t batch = 1; batch <= 8; batch += 7) {
            char title[64];
            snprintf(title, sizeof title, "%s float batch %d threads 1", nets[i].name, (int)batch);
            if (strstr(title, name))
                bench_net(&o, title, nets[i].make, batch);
        }
    bench_ort_stop(o.ort);
    return 0;
}
