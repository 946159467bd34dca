/* Options of rows that tell schemes apart, for `assay scheme vectors` and `assay vectors lint`. */
#ifndef ASSAY_INTERP_CLI_VECTORS_H
#define ASSAY_INTERP_CLI_VECTORS_H

#include "interp/api/vectors.h"
#include "interp/cli/cli.h"

/* --op, --wide, --kind, --type and --acc; false after a message. */
bool cli_vectors_options(const cli_args *a, assay_vectors_options *out);

#endif
