/* assay run: a network's outputs on its inputs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "interp/cli/json.h"
#include "interp/cli/session.h"
#include "interp/golden/bundle.h"
#include "interp/golden/compare.h"
#include "interp/golden/contract.h"
#include "interp/run/model.h"

/* The five greatest of a vector of scores. */
static void print_best(FILE *f, const assay_value *v, const void *data)
{
    const int64_t n = assay_shape_count(&v->type);
    int64_t shown[5];

    for (int k = 0; k < 5 && k < n; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < n; i++) {
            bool taken = false;
            for (int j = 0; j < k; j++)
                taken = taken || shown[j] == i;
            if (!taken && (best < 0 || golden_element_real(&v->type, data, i) >
                                           golden_element_real(&v->type, data, best)))
                best = i;
        }
        shown[k] = best;
        fprintf(f, "  %6lld  %.9g\n", (long long)best, golden_element_real(&v->type, data, best));
    }
}

/* ---- times ---- */

/* Milliseconds: of each node the least of all samples, of which one has begun. */
typedef struct times {
    const assay_graph *graph;
    double *least; /* [n_nodes], negative before the first */
    double since;
} times;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static assay_status note_time(void *user, assay_run *run, int node, const int64_t *accumulators,
                              assay_error *err)
{
    times *t = user;
    const double at = now(), took = at - t->since;
    (void)run;
    (void)accumulators;
    (void)err;
    if (t->least[node] < 0 || took < t->least[node])
        t->least[node] = took;
    t->since = now();
    return ASSAY_OK;
}

static int times_make(times *t, const assay_graph *g)
{
    *t = (times){.graph = g, .least = calloc((size_t)g->n_nodes + 1, sizeof *t->least)};
    for (int i = 0; t->least && i < g->n_nodes; i++)
        t->least[i] = -1;
    return t->least ? CLI_OK : cli_out_of_memory();
}

static int write_times(const cli_args *a, const times *t, int64_t samples)
{
    const assay_graph *g = t->graph;
    json_t *o = json_object(), *rows = json_array();
    double all = 0;
    for (int i = 0; i < g->n_nodes; i++)
        all += t->least[i];
    for (int i = 0; i < g->n_nodes; i++) {
        const assay_node *n = &g->node[i];
        json_t *row = json_object();
        page_json_set(&row, "node", page_json_text(n->name));
        page_json_set(&row, "op", json_string(assay_op_get(n->op)->name));
        page_json_set(&row, "value", page_json_text(n->n_out > 0 ? g->value[n->out[0]].name : ""));
        page_json_set(&row, "ms", page_json_number(t->least[i]));
        page_json_set(&row, "share", page_json_number(all > 0 ? t->least[i] / all : 0));
        page_json_add(&rows, row);
    }
    page_json_set(&o, "engine", json_string(cli_value(a, "engine", "ref")));
    page_json_set(&o, "samples", json_integer(samples));
    page_json_set(&o, "ms", page_json_number(all));
    page_json_set(&o, "nodes", rows);
    return cli_json_write(a, o);
}

/* ---- outputs ---- */

static int make_folder(const char *dir)
{
    struct stat st;

    if (mkdir(dir, 0777) == 0)
        return CLI_OK;
    if (errno != EEXIST)
        return cli_trouble("%s: cannot create the folder: %s", dir, strerror(errno));
    return stat(dir, &st) == 0 && S_ISDIR(st.st_mode) ? CLI_OK
                                                      : cli_trouble("%s: is not a folder", dir);
}

/* Into `dir`, when it is not NULL. */
static int show_outputs(FILE *f, const char *dir, const assay_graph *g, assay_run *run)
{
    if (dir && make_folder(dir) != CLI_OK)
        return CLI_TROUBLE;
    for (int i = 0; i < g->n_outputs; i++) {
        const assay_value *v = &g->value[g->output[i]];
        const void *data = assay_run_data(run, g->output[i]);
        char stem[ASSAY_BUNDLE_STEM], path[4096 + ASSAY_BUNDLE_STEM + 8];
        assay_error err;
        fprintf(f, "%s: %lld elements; greatest:\n", v->name,
                (long long)assay_shape_count(&v->type));
        print_best(f, v, data);
        if (!dir)
            continue;
        golden_bundle_stem(i, "output", v->name, stem);
        snprintf(path, sizeof path, "%s/%s.npy", dir, stem);
        if (golden_dump_npy(path, &v->type, data, &err))
            return cli_failed(&err);
        fprintf(f, "  in %s\n", path);
    }
    return CLI_OK;
}

/* One sample; of several, each has a folder of its own, as in a bundle. */
static int run_sample(const cli_args *a, const cli_files *f, int64_t sample, assay_run *run,
                      const char **sources, times *t)
{
    const char *dir = cli_value(a, "output", NULL);
    char folder[4096];
    assay_error err;

    if (f->samples > 1)
        fprintf(cli_notes_of(a), "%s %lld\n", run_model_has_state(f->graph) ? "step" : "sample",
                (long long)sample);
    if (dir && f->samples > 1) {
        if (make_folder(dir) != CLI_OK)
            return CLI_TROUBLE;
        snprintf(folder, sizeof folder, "%s/s%05lld", dir, (long long)sample);
        dir = folder;
    }
    if (cli_inputs_read(f, sample, run, sources, &err))
        return cli_failed(&err);
    t->since = now();
    if (run_execute(run, cli_has(a, "json") ? note_time : NULL, false, t, &err))
        return cli_failed(&err);
    return show_outputs(cli_notes_of(a), dir, f->graph, run);
}

static int execute(const cli_args *a, const assay_program *p)
{
    const char **sources = calloc((size_t)p->graph->n_inputs + 1, sizeof *sources);
    assay_run *run = NULL;
    cli_files f;
    times t = {0};
    assay_error err;
    int status = cli_inputs_open(&f, a, p->graph);

    if (status == CLI_OK && !sources)
        status = cli_out_of_memory();
    if (status == CLI_OK)
        status = times_make(&t, p->graph);
    if (status == CLI_OK && assay_run_new(p, &run, &err))
        status = cli_failed(&err);
    for (int64_t k = 0; k < f.samples && status == CLI_OK; k++)
        status = run_sample(a, &f, k, run, sources, &t);
    if (status == CLI_OK)
        golden_contract_print(p, cli_notes_of(a));
    if (status == CLI_OK && cli_has(a, "json"))
        status = write_times(a, &t, f.samples);
    assay_run_free(run);
    cli_files_close(&f);
    free(sources);
    free(t.least);
    return status;
}

static int run(const cli_args *a)
{
    cli_session s;
    int status = cli_session_open(&s, a, false);

    if (status == CLI_OK)
        status = execute(a, s.program);
    cli_session_close(&s);
    return status;
}

static const cli_option options[] = {
    CLI_RUN_OPTIONS,
    CLI_INPUT_OPTION,
    {"preprocess", 0, "FILE", "preprocessing of images (default: preprocess.yaml beside them)"},
    {"raw", 0, "TYPE", "inputs are raw samples, such as u8:32x32x3, to be preprocessed"},
    {"output", 'o', "DIR", "write the outputs as .npy"},
    {"json", 0, "FILE",
     "each node's time as JSON, the shortest of several samples (- for standard output)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_run = {
    .name = "run",
    .usage = "MODEL [--scheme S] --input FILE ... [-o DIR]",
    .summary = "run a network on an input, or a sequence of them, and show its outputs",
    .examples = "  assay run net.onnx --input cat.png\n"
                "  assay run net-int8.assay -s tflite -i x.npy --engine fast --json times.json\n"
                "  assay run net-int8.assay --scheme tflite --input x.npy -o out/\n"
                "  assay run streaming.tflite -s tflite -i t0.npy -i t1.npy -i t2.npy\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
