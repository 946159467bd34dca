/* --fix INPUT=NUMBERS: inputs of an ONNX model that become constants, such as the numbers that its
 * shapes follow from. */
#ifndef ASSAY_INTERP_CLI_FIXED_H
#define ASSAY_INTERP_CLI_FIXED_H

#include "graph/onnx/onnx.h"
#include "interp/cli/cli.h"

typedef struct cli_fixed {
    assay_onnx_fixed *list;
    size_t n;
} cli_fixed;

/* All that are given. CLI_OK or CLI_TROUBLE after a message; cli_fixed_free either way. */
int cli_fixed_read(const cli_args *a, cli_fixed *fixed);
void cli_fixed_free(cli_fixed *fixed);

#endif
