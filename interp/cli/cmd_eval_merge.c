/* assay eval merge: the results of shards into those of one run. */
#include <stdlib.h>

#include "interp/api/shard.h"
#include "interp/cli/eval.h"

static void free_files(assay_part_file *f, int n)
{
    for (int i = 0; f && i < n; i++)
        measure_part_file_free(&f[i]);
    free(f);
}

static int load(const cli_args *a, assay_part_file *f)
{
    assay_error err;
    int status = CLI_OK;

    for (int i = 0; i < a->n_positional && status == CLI_OK; i++)
        if (measure_part_load(a->positional[i], &f[i], &err))
            status = cli_failed(&err);
    return status;
}

static int merge(cli_evaluation *e, assay_part_file *f, int n)
{
    assay_shard_said said;
    assay_part whole = {0};
    assay_error err;
    int status = assay_shard_read(f, &said, &err) ? cli_failed(&err) : CLI_OK;

    if (status != CLI_OK)
        return status;
    e->name = said.scheme;
    e->contract = said.contract;
    e->labelled = said.labelled;
    e->judge = said.judge;
    e->by_agreement = said.by_agreement;
    e->twin = f->part.noise != NULL;
    status = cli_evaluation_judges(e, f->path, true);
    if (status == CLI_OK && measure_part_join(f, n, said.first, said.count, &whole, &err))
        status = cli_failed(&err);
    if (status == CLI_OK)
        status = cli_evaluation_report(e, &whole);
    measure_part_free(&whole);
    return status;
}

static int run(const cli_args *a)
{
    const int n = a->n_positional;
    assay_part_file *f = calloc((size_t)n, sizeof *f);
    cli_evaluation e = {0};
    int status = f ? cli_evaluation_options(a, &e) : cli_out_of_memory();

    if (status == CLI_OK)
        status = load(a, f);
    if (status == CLI_OK)
        status = merge(&e, f, n);
    free_files(f, n);
    return status;
}

static const cli_option options[] = {CLI_VERDICT_OPTIONS, {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_eval_merge = {
    .name = "eval merge",
    .usage = "SHARD.json ... [--json FILE]",
    .summary = "join the results of eval's shards: the same bytes as one run, in any order",
    .examples = "  assay eval merge shard1.json shard2.json shard3.json\n"
                "  assay eval merge shard1.json shard2.json shard3.json --max-drop 0.5 --json "
                "result.json\n",
    .options = options,
    .min_args = 1,
    .max_args = -1,
    .run = run,
};
