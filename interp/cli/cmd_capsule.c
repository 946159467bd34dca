/* assay capsule: a faulty node as a network of its own, as small as it still shows the fault. */
#include "interp/blame/capsule.h"
#include "interp/cli/cli.h"

static int run(const cli_args *a)
{
    const char *node = a->positional[2], *dir = cli_value(a, "output", NULL);
    blame_options o = {.threads = 2, .rel = -1, .only = node};
    blame_report *r = NULL;
    blame_capsule c;
    assay_error err;
    int64_t hex_bits;
    int status = CLI_OK;
    if (!dir)
        return cli_trouble("capsule: --output is needed, a folder that is not there yet");
    if (!cli_integer(a, "hex-bits", 0, 0, 1024, &hex_bits) ||
        !cli_number(a, "rel", -1, 0, 1, &o.rel))
        return CLI_TROUBLE;
    o.hex_bits = (unsigned)hex_bits;
    if (blame_run(a->positional[0], a->positional[1], &o, &r, &err))
        return cli_failed(&err);
    const int row = blame_find_row(r, node);
    if (row < 0)
        status = cli_trouble("%s: no node or tensor of a node is '%.200s'", a->positional[0], node);
    else if (blame_capsule_write(r, row, dir, &c, &err))
        status = cli_failed(&err);
    else
        blame_capsule_print(r, &c, dir, stdout);
    blame_free(r);
    return status;
}

static const cli_option options[] = {
    {"output", 'o', "DIR", "the folder, which must not exist yet"},
    {"rel", 0, "R",
     "floats may differ by R times the reference, sums by what their order can make (default: not "
     "at all)"},
    {"hex-bits", 0, "N", "bits of a word of .hex dumps (default: as the files show)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_capsule = {
    .name = "capsule",
    .usage = "GOLDEN DEVICE NODE -o DIR",
    .summary = "write a faulty node as the smallest network that still shows the fault",
    .examples = "  assay capsule golden-cat device-dumps/ /stem/conv/Conv -o capsule\n",
    .options = options,
    .min_args = 3,
    .max_args = 3,
    .run = run,
};
