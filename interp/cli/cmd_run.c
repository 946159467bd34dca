/* assay run: a network's outputs on one input. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "interp/bundle.h"
#include "interp/cli/session.h"
#include "interp/compare.h"
#include "interp/contract.h"

/* The five greatest of a vector of scores. */
static void print_best(const assay_value *v, const void *data)
{
    const int64_t n = assay_shape_count(&v->type);
    int64_t shown[5];

    for (int k = 0; k < 5 && k < n; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < n; i++) {
            bool taken = false;
            for (int j = 0; j < k; j++)
                taken = taken || shown[j] == i;
            if (!taken && (best < 0 || assay_element_real(&v->type, data, i) >
                                           assay_element_real(&v->type, data, best)))
                best = i;
        }
        shown[k] = best;
        printf("  %6lld  %.9g\n", (long long)best, assay_element_real(&v->type, data, best));
    }
}

static int show_outputs(const cli_args *a, const assay_graph *g, assay_run *run)
{
    const char *dir = cli_value(a, "output", NULL);

    if (dir && mkdir(dir, 0777) != 0) {
        struct stat st;
        if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
            return cli_trouble("%s: cannot create the folder", dir);
    }
    for (int i = 0; i < g->n_outputs; i++) {
        const assay_value *v = &g->value[g->output[i]];
        const void *data = assay_run_data(run, g->output[i]);
        char stem[ASSAY_BUNDLE_STEM], path[4096];
        assay_error err;
        printf("%s: %lld elements; greatest:\n", v->name, (long long)assay_shape_count(&v->type));
        print_best(v, data);
        if (!dir)
            continue;
        assay_bundle_stem(i, "output", v->name, stem);
        snprintf(path, sizeof path, "%s/%s", dir, stem);
        if (assay_form_write(path, ASSAY_FORM_NPY, 0, &v->type, data, &err) != ASSAY_OK)
            return cli_failed(&err);
        printf("  in %s.npy\n", path);
    }
    return CLI_OK;
}

static int execute(const cli_args *a, const assay_program *p)
{
    const char **sources = calloc((size_t)p->graph->n_inputs + 1, sizeof *sources);
    assay_run *run = NULL;
    assay_error err;
    int status = CLI_OK;

    if (!sources)
        return cli_trouble("out of memory");
    if (assay_run_new(p, &run, &err) != ASSAY_OK)
        status = cli_failed(&err);
    if (status == CLI_OK)
        status = cli_inputs_read(a, p, run, sources);
    if (status == CLI_OK && assay_run_execute(run, NULL, false, NULL, &err) != ASSAY_OK)
        status = cli_failed(&err);
    if (status == CLI_OK)
        status = show_outputs(a, p->graph, run);
    if (status == CLI_OK)
        assay_contract_print(p, stdout);
    assay_run_free(run);
    free(sources);
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
    {"raw", 0, "TYPE", "inputs are raw samples, as u8:32x32x3, to be preprocessed"},
    {"output", 'o', "DIR", "write the outputs as .npy"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_run = {
    .name = "run",
    .usage = "MODEL [--scheme S] --input FILE ... [-o DIR]",
    .summary = "run a network on one input and show its outputs",
    .examples = "  assay run net.onnx --input cat.png\n"
                "  assay run net-int8.assay --scheme tflite --input x.npy -o out/\n",
    .options = options,
    .min_args = 1,
    .max_args = 1,
    .run = run,
};
