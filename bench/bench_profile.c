/* Profiling beside plain float inference: the same images, held in memory, as many threads, runs of
 * the two in turn; medians, and the median of the ratios of neighbours.
 *
 *   bench_profile MODEL DATASET [IMAGES [THREADS]]
 *
 * Data sets as `assay profile` takes them. Once with a histogram for each value, once for each
 * channel too. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/timing.h"
#include "datasets/dataset.h"
#include "datasets/preprocess.h"
#include "graph/memory.h"
#include "interp/measure/eval.h"
#include "interp/run/model.h"

enum { RUNS = 15 };

typedef struct images {
    const assay_graph *graph;
    int64_t count;
    size_t bytes; /* of one */
    char *data;
    int threads;
} images;

static assay_status read_image(void *user, int64_t i, int k, void *input, assay_error *err)
{
    const images *m = user;
    (void)k;
    (void)err;
    memcpy(input, m->data + (size_t)i * m->bytes, m->bytes);
    return ASSAY_OK;
}

static int64_t no_label(void *user, int64_t i)
{
    (void)user;
    (void)i;
    return 0;
}

static assay_status load(const char *path, int64_t limit, images *m, assay_error *err)
{
    assay_dataset *d = NULL;
    assay_preprocess how;
    assay_sample_type type;
    assay_status status = dataset_open(path, NULL, &d, err);

    if (status == ASSAY_OK)
        status = dataset_preprocess_find(path, &how, NULL, err);
    if (status == ASSAY_OK)
        status = dataset_preprocess_type(&how, dataset_sample_type(d), path, &type, err);
    if (status == ASSAY_OK) {
        m->count = dataset_count(d) < limit ? dataset_count(d) : limit;
        m->bytes = assay_type_bytes(&m->graph->value[m->graph->input[0]].type);
        m->data = malloc((size_t)m->count * m->bytes);
        if (!m->data)
            status = assay_out_of_memory(err);
    }
    for (int64_t i = 0; status == ASSAY_OK && i < m->count; i++)
        status = dataset_read_input(d, &how, i, &type, m->data + (size_t)i * m->bytes, err);
    dataset_close(d);
    return status;
}

static assay_status infer(const images *m, double *ns, assay_error *err)
{
    const assay_samples samples = {
        .user = (void *)(uintptr_t)m, .count = m->count, .read = read_image, .label = no_label};
    assay_program *p = NULL;
    assay_accuracy accuracy;
    assay_status status = assay_program_make(m->graph, NULL, false, &p, err);
    const double start = bench_now();

    if (status == ASSAY_OK)
        status = measure_evaluate(p, &samples, m->threads, NULL, &accuracy, err);
    *ns = bench_now() - start;
    assay_program_free(p);
    return status;
}

static assay_status profile(const images *m, bool by_channel, double *ns, assay_error *err)
{
    const assay_samples samples = {
        .user = (void *)(uintptr_t)m, .count = m->count, .read = read_image};
    assay_program *p = NULL;
    assay_profile *made = NULL;
    assay_status status = assay_program_make(m->graph, NULL, false, &p, err);

    if (status == ASSAY_OK)
        status = profile_new(m->graph, &made, err);
    if (status == ASSAY_OK && by_channel)
        status = profile_by_channel(made, m->graph, "*", err);
    const double start = bench_now();
    if (status == ASSAY_OK)
        status = measure_profile_samples_of(p, &samples, m->threads, made, err);
    *ns = bench_now() - start;
    profile_free(made);
    assay_program_free(p);
    return status;
}

static double median(double *x)
{
    qsort(x, RUNS, sizeof *x, bench_ascending);
    return x[RUNS / 2];
}

static assay_status measure(const char *what, const images *m, bool by_channel, assay_error *err)
{
    double plain[RUNS], with[RUNS], ratio[RUNS];
    images part = *m;
    struct rusage before, after;
    assay_status status = infer(m, plain, err); /* warms up */

    part.count = (m->count + 7) / 8;
    for (int i = 0; status == ASSAY_OK && i < 3; i++)
        status = profile(&part, by_channel, with, err);
    getrusage(RUSAGE_SELF, &before);
    for (int i = 0; status == ASSAY_OK && i < RUNS; i++) {
        status = infer(m, &plain[i], err);
        if (status == ASSAY_OK)
            status = profile(m, by_channel, &with[i], err);
        ratio[i] = with[i] / plain[i];
    }
    getrusage(RUSAGE_SELF, &after);
    if (status != ASSAY_OK)
        return status;
    qsort(ratio, RUNS, sizeof *ratio, bench_ascending);
    printf("  %-34.34s float %8.1f us an image, profile %8.1f, ratio %.2f [%.2f, %.2f], memory "
           "+%ld KiB with 8 times the images\n",
           what, median(plain) / 1e3 / (double)m->count, median(with) / 1e3 / (double)m->count,
           ratio[RUNS / 2], ratio[0], ratio[RUNS - 1], after.ru_maxrss - before.ru_maxrss);
    return ASSAY_OK;
}

int main(int argc, char **argv)
{
    assay_graph *g = NULL;
    images m = {0};
    assay_error err;
    assay_status status;

    if (argc < 3) {
        fprintf(stderr, "usage: bench_profile MODEL DATASET [IMAGES [THREADS]]\n");
        return 2;
    }
    status = run_model_load_canonical(argv[1], NULL, &g, &err);
    m.graph = g;
    m.threads = argc > 4 ? atoi(argv[4]) : 1;
    if (status == ASSAY_OK)
        status = load(argv[2], argc > 3 ? atol(argv[3]) : 256, &m, &err);
    if (status == ASSAY_OK)
        status =
            measure(strrchr(argv[1], '/') ? strrchr(argv[1], '/') + 1 : argv[1], &m, false, &err);
    if (status == ASSAY_OK)
        status = measure("by channel", &m, true, &err);
    free(m.data);
    assay_graph_free(g);
    if (status != ASSAY_OK) {
        fprintf(stderr, "bench_profile: %s\n", err.text);
        return 2;
    }
    return 0;
}
