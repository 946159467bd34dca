/* The ways of `assay infer`: rows asked of an oracle (cmd_infer.c), answers that are there, dumps
 * of a network. */
#ifndef ASSAY_INTERP_CLI_INFER_H
#define ASSAY_INTERP_CLI_INFER_H

#include "interp/cli/cli.h"

#define CLI_INFER_FOLDER 200

/* DIR OUTPUTS, or --model NET --dumps DIR. */
int cli_infer_probes(const cli_args *a);

/* --model NET: a golden bundle of it in a temporary folder, which the caller removes whatever is
 * returned (dir "": there is none). among: schemes to run it under before the shipped ones. */
int cli_infer_capture(const cli_args *a, const char *const *among, int n_among,
                      char dir[CLI_INFER_FOLDER], char golden[CLI_INFER_FOLDER + 16]);

#endif
