/* assay probe: small networks that show a device's arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/cli.h"
#include "interp/probe/probe.h"

static void tell(void *user, const char *op, const char *missing, const char *scheme)
{
    (void)user;
    printf("  %-16s expected bits: %s%s%s\n", op, scheme, missing[0] ? "; not in " : "", missing);
}

static bool read_forms(const char *list, probe_options *o)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const size_t length = strcspn(at, ",");
        bool *form = length == 4 && strncmp(at, "text", 4) == 0     ? &o->text
                     : length == 4 && strncmp(at, "onnx", 4) == 0   ? &o->onnx
                     : length == 6 && strncmp(at, "tflite", 6) == 0 ? &o->tflite
                                                                    : NULL;
        if (!form) {
            cli_trouble(
                "probe: --format takes text, onnx or tflite, separated by commas, not '%.40s'", at);
            return false;
        }
        *form = true;
    }
    return true;
}

static int run(const cli_args *a)
{
    const char *dir = cli_value(a, "output", NULL);
    probe_options o = {.types = cli_value(a, "types", "s8s8"),
                       .ops = cli_value(a, "op", NULL),
                       .scheme = cli_value(a, "scheme", NULL)};
    assay_error err;
    int64_t seed;
    if (!dir)
        return cli_trouble("probe: --output is needed, a folder that is not there yet");
    if (!cli_integer(a, "seed", 1, 0, INT64_MAX, &seed) ||
        !read_forms(cli_value(a, "format", NULL), &o))
        return CLI_TROUBLE;
    o.seed = (uint64_t)seed;
    printf("%s:\n", dir);
    if (probe_write(dir, &o, tell, NULL, &err))
        return cli_failed(&err);
    printf("run DIR/OP/OP.onnx (.tflite, .assay) on DIR/OP/inputs/*.npy, put what comes out into "
           "OUTPUTS/OP/NAME.npy, then\n  assay infer '%s' OUTPUTS -o found.yaml\n",
           dir);
    return CLI_OK;
}

static const cli_option options[] = {
    {"output", 'o', "DIR", "the folder, which must not exist yet"},
    {"op", 0, "OP,OP...", "networks of these ops alone (default: all)"},
    {"types", 0, "TYPES", "activations and weights: s8s8, u8s8, u8u8 or s16s8 (default: s8s8)"},
    {"format", 0, "FORM,...", "text, onnx, tflite (default: each that can hold the network)"},
    {"scheme", 's', "NAME|FILE", "whose bits are expected (default: one for the types)"},
    {"seed", 0, "N", "seed of the numbers drawn (default: 1)"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_probe = {
    .name = "probe",
    .usage = "-o DIR [--op OP,...] [--types s8s8|u8s8|u8u8|s16s8]",
    .summary = "write small networks whose outputs reveal a device's arithmetic",
    .examples = "  assay probe -o probes\n"
                "  assay probe --op conv,add --types u8s8 --format onnx -o probes\n"
                "  assay infer probes outputs -o found.yaml\n",
    .options = options,
    .min_args = 0,
    .max_args = 0,
    .run = run,
};
