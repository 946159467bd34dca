/* --json: what a command's table says, for programs. */
#include "interp/cli/json.h"

int cli_json_write(const cli_args *a, json_t *o)
{
    assay_error err;
    const assay_status status = page_json_write(cli_value(a, "json", "-"), o, &err);

    json_decref(o);
    return !status ? CLI_OK : cli_failed(&err);
}
