/* --json: what a command's table says, for programs. */
#ifndef ASSAY_INTERP_CLI_JSON_H
#define ASSAY_INTERP_CLI_JSON_H

#include "interp/cli/cli.h"
#include "interp/page/json.h"

#define CLI_JSON_OPTION                                                                            \
    {                                                                                              \
        "json", 0, "FILE", "the table as JSON (- for standard output)"                             \
    }
/* Writes `o`, which is taken, to the file that --json names. */
int cli_json_write(const cli_args *a, json_t *o);

#endif
