/* --json: what a command's table says, for programs. */
#include "interp/cli/json.h"

int cli_json_write(const cli_args *a, json_t *o)
{
    assay_error err;
    const assay_status status = page_json_write(cli_value(a, "json", "-"), o, &err);

    json_decref(o);
    return !status ? CLI_OK : cli_failed(&err);
}

void cli_json_fidelity(json_t **o, const assay_fidelity *f)
{
    page_json_set(o, "output_db", page_json_number(f->output_sqnr));
    page_json_set(o, "output_mse", page_json_number(f->output_mse));
    page_json_set(o, "drop", page_json_number(measure_fidelity_drop(f)));
    page_json_set(o, "drop_of", json_string(measure_fidelity_drop_name(f)));
    page_json_set(o, "samples", json_integer(f->samples));
}
