/* Evaluations of a network as `eval` makes them, whole or in shards, and `eval merge` puts them
 * together: both report with the code here. */
#ifndef ASSAY_INTERP_CLI_EVAL_H
#define ASSAY_INTERP_CLI_EVAL_H

#include "interp/cli/session.h"
#include "interp/measure/part_file.h"

/* What was requested, and the results. */
typedef struct cli_evaluation {
    const cli_args *args;
    const char *name;          /* of the scheme */
    const char *contract;      /* as golden_contract_print prints it */
    bool twin;                 /* there is a float network to compare with */
    bool labelled;             /* the samples have labels, which are what this says */
    assay_judge judge;         /* where shards are merged, only its `maps` and `tokens` */
    bool by_agreement;         /* what --max-drop is about, whatever labels there are */
    double max_drop, min_sqnr; /* infinite if not requested */
    assay_fidelity result;     /* without a twin only `other` */
} cli_evaluation;

/* The criteria of eval and eval merge. */
#define CLI_VERDICT_OPTIONS                                                                        \
    {"max-drop", 0, "POINTS",                                                                      \
     "exit 1 when top-1 (mean IoU, with label maps) falls by more than this below the float "      \
     "twin's, or perplexity is this many percent above; or agreement, with --by"},                 \
        {"min-sqnr", 0, "DB",                                                                      \
         "exit 1 when the output's signal-to-noise ratio against the float twin is less"},         \
    {                                                                                              \
        "json", 0, "FILE", "the result as JSON (- for standard output)"                            \
    }
/* Reads those; CLI_TROUBLE after a message. */
int cli_evaluation_options(const cli_args *a, cli_evaluation *e);
/* Is what --max-drop and --min-sqnr judge by available? `where`, in messages: the data set, or a
 * file of those that are merged. */
int cli_evaluation_judges(const cli_evaluation *e, const char *where, bool merged);
/* Prints the numbers of a part that is all there is; the exit status. */
int cli_evaluation_report(cli_evaluation *e, const assay_part *whole);

/* Writes a part of `whole` to --output, with what it is a part of. */
int cli_shard_save(const cli_evaluation *e, const cli_session *s, const assay_graph *twin,
                   const cli_data *d, const assay_samples *whole, const assay_part *part);

#endif
