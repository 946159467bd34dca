/* Choices of the command line for quantizing. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/session.h"

const char *const *cli_values(const cli_args *a, const char *option, const char ***room, size_t *n)
{
    const char *const *first = *room;
    const char *text;
    for (*n = 0; (text = cli_value_at(a, option, (int)*n)); ++*n)
        *(*room)++ = text;
    return first;
}

assay_quantizer_options cli_quantizer_options(const cli_args *a, const char **room)
{
    assay_quantizer_options o = {.size = sizeof o,
                                 .symmetry = cli_value(a, "symmetry", NULL),
                                 .qparams_method = cli_value(a, "qparams-method", NULL),
                                 .weights = cli_value(a, "calibrate-weights", NULL),
                                 .per_tensor = cli_has(a, "per-tensor"),
                                 .target = cli_value(a, "target", NULL),
                                 .integer_io = cli_has(a, "integer-io"),
                                 .smooth = cli_value(a, "smooth", NULL)};
    o.calibration = cli_values(a, "calibration", &room, &o.n_calibrations);
    o.keep_float = cli_values(a, "keep-float", &room, &o.n_keep_float);
    o.precision = cli_values(a, "precision", &room, &o.n_precisions);
    return o;
}

int cli_quantize_options(const cli_args *a, assay_choices *q)
{
    const char **room = calloc((size_t)a->n_given + 1, sizeof *room);
    assay_error err;

    memset(q, 0, sizeof *q);
    if (!room)
        return cli_out_of_memory();
    const assay_quantizer_options o = cli_quantizer_options(a, room);
    const assay_status status = assay_choices_make(&o, q, &err);
    free(room);
    return !status ? CLI_OK : cli_failed(&err);
}
