/* assay capsule: a faulty node as a network of its own, as small as it still shows the fault. */
#include "interp/blame/capsule.h"
#include "interp/cli/json.h"

static int tell(const cli_args *a, const blame_report *r, const blame_capsule *c, const char *dir)
{
    blame_capsule_print(r, c, dir, cli_notes_of(a));
    return cli_has(a, "json") ? cli_json_write(a, blame_capsule_json(r, c)) : CLI_OK;
}

static int run(const cli_args *a)
{
    const char *node = a->positional[2], *dir = cli_value(a, "output", NULL);
    blame_options o = {.threads = 2, .rel = -1, .work = BLAME_WORK, .only = node};
    blame_report *r = NULL;
    blame_capsule c;
    assay_error err;
    int64_t hex_bits;
    int status = CLI_OK;
    if (!dir)
        return cli_trouble("capsule: --output is needed, a folder that does not exist yet");
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
        status = tell(a, r, &c, dir);
    blame_free(r);
    return status;
}

static const cli_option options[] = {
    {"output", 'o', "DIR", "the folder, which must not exist yet"},
    {"rel", 0, "R",
     "floats may differ by R times the reference, sums by what their order can make (default: not "
     "at all)"},
    {"hex-bits", 0, "N", "width in bits of a word in .hex dumps (default: as the files show)"},
    {"json", 0, "FILE", "the same as JSON (- for standard output)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_capsule = {
    .name = "capsule",
    .usage = "GOLDEN DEVICE NODE -o DIR [--json FILE]",
    .summary = "write a faulty node as the smallest network that still shows the fault",
    .examples = "  assay capsule golden-cat device-dumps/ /stem/conv/Conv -o capsule\n",
    .options = options,
    .min_args = 3,
    .max_args = 3,
    .run = run,
};
