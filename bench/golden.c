/* Costs of digests and of full bundles, added to a run. */
#include "bench/golden.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/ours.h"
#include "graph/files/files.h"
#include "interp/golden/bundle.h"

typedef struct bundles {
    bench_ours *ours;
    bool digests_only;
    char dir[64];
} bundles;

/* A bundle of so many samples, without what every bundle costs once. */
static double time_bundle(void *user, int calls)
{
    bundles *b = user;
    const assay_bundle_options o = {.dir = b->dir,
                                    .replace = true,
                                    .digests_only = b->digests_only,
                                    .samples = calls,
                                    .model_file = "bench"};
    assay_bundle_writer *w;
    assay_error err;
    bench_check(golden_bundle_begin(&o, b->ours->program, &w, &err), &err);
    const double begin = bench_now();
    for (int i = 0; i < calls; i++)
        bench_check(golden_bundle_sample(w, b->ours->run, i, NULL, &err), &err);
    const double ns = bench_now() - begin;
    golden_bundle_abort(w);
    return ns;
}

/* ---- the same bytes written plainly ---- */

typedef struct plain {
    bench_ours *ours;
    bool one_file; /* a sample; else one per tensor */
    char dir[64];
} plain;

enum { NPY_HEADER = 128 };

static void check_io(bool good, const char *path)
{
    if (!good) {
        perror(path);
        exit(2);
    }
}

static int create(const char *dir, int call, int tensor)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%d.%d", dir, call, tensor);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check_io(file >= 0, path);
    return file;
}

/* Inputs and the outputs of nodes, which a bundle holds. */
static bool is_dumped(const assay_graph *g, int value)
{
    bool input = false;
    for (int i = 0; i < g->n_inputs; i++)
        input = input || g->input[i] == value;
    return input || g->value[value].producer >= 0;
}

static void write_sample(const plain *p, int call)
{
    static const char header[NPY_HEADER];
    const assay_graph *g = p->ours->graph;
    int file = -1;
    for (int v = 0; v < g->n_values; v++) {
        if (!is_dumped(g, v))
            continue;
        const size_t size = assay_type_bytes(&g->value[v].type);
        if (file < 0)
            file = create(p->dir, call, v);
        check_io(write(file, header, NPY_HEADER) == NPY_HEADER, p->dir);
        check_io(write(file, assay_run_data(p->ours->run, v), size) == (ssize_t)size, p->dir);
        if (!p->one_file) {
            check_io(close(file) == 0, p->dir);
            file = -1;
        }
    }
    check_io(file < 0 || close(file) == 0, p->dir);
}

static double time_plain(void *user, int calls)
{
    plain *p = user;
    check_io(mkdir(p->dir, 0777) == 0, p->dir);
    const double begin = bench_now();
    for (int i = 0; i < calls; i++)
        write_sample(p, i);
    const double ns = bench_now() - begin;
    file_remove_tree(p->dir);
    return ns;
}

/* ---- in turns ---- */

void bench_golden(const assay_graph *g, const char *scheme, bench_result *b)
{
    const assay_program_options how = {.engine = ASSAY_ENGINE_FAST, .keep_all = true};
    bench_ours ours;
    bundles digests = {&ours, true, ""}, dump = {&ours, false, ""};
    plain files = {&ours, false, ""}, file = {&ours, true, ""};
    bench_entrant e[] = {{.time = bench_ours_time, .user = &ours},
                         {.time = time_bundle, .user = &digests},
                         {.time = time_bundle, .user = &dump},
                         {.time = time_plain, .user = &files},
                         {.time = time_plain, .user = &file}};
    double run, dumped;
    char *const dirs[] = {digests.dir, dump.dir, files.dir, file.dir};
    for (int i = 0; i < 4; i++)
        snprintf(dirs[i], sizeof digests.dir, "/tmp/assay-bench-%ld-%d", (long)getpid(), i);
    bench_ours_open(&ours, g, scheme, &how);
    bench_contest(e, 2);
    bench_contest(e + 2, 3);
    b->digests = 1 / bench_entrant_ratio(&e[1], &e[0]);
    run = bench_entrant_times(&e[0]).median;
    dumped = bench_entrant_times(&e[2]).median;
    b->dump = dumped / run;
    b->dump_by_files = (dumped - run) / bench_entrant_times(&e[3]).median;
    b->dump_by_one_file = (dumped - run) / bench_entrant_times(&e[4]).median;
    bench_ours_close(&ours);
}
