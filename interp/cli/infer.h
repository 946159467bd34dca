/* The two ways of `assay infer`: rows asked of an oracle (cmd_infer.c), answers that are there. */
#ifndef ASSAY_INTERP_CLI_INFER_H
#define ASSAY_INTERP_CLI_INFER_H

#include "interp/cli/cli.h"

/* DIR OUTPUTS. */
int cli_infer_probes(const cli_args *a);

#endif
