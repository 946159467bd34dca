/* assay probe: small networks that show a device's arithmetic. */
#include <stdlib.h>
#include <string.h>

#include "interp/cli/json.h"
#include "interp/probe/probe.h"

/* Where what was written is told. */
typedef struct told {
    FILE *f;
    const char *dir; /* the heading; NULL: it has been printed */
    json_t *networks;
} told;

static void tell(void *user, const char *op, const char *missing, const char *scheme)
{
    told *t = user;
    json_t *o = json_object();
    if (t->dir)
        fprintf(t->f, "%s:\n", t->dir);
    t->dir = NULL;
    fprintf(t->f, "  %-16s expected bits: %s%s%s\n", op, scheme, missing[0] ? "; not in " : "",
            missing);
    page_json_set(&o, "op", json_string(op));
    page_json_set(&o, "scheme", page_json_text(scheme));
    page_json_set(&o, "not_in", json_string(missing));
    page_json_add(&t->networks, o);
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
                       .scheme = cli_value(a, "scheme", NULL),
                       .among = cli_value(a, "among", NULL)};
    assay_error err;
    int64_t seed;
    if (!dir)
        return cli_trouble("probe: --output is needed, a folder that does not exist yet");
    if (!cli_integer(a, "seed", 1, 0, INT64_MAX, &seed) ||
        !read_forms(cli_value(a, "format", NULL), &o))
        return CLI_TROUBLE;
    o.seed = (uint64_t)seed;
    if (o.among && strcmp(o.among, "all") == 0)
        o.among = NULL;
    told t = {cli_notes_of(a), dir, json_array()};
    if (probe_write(dir, &o, tell, &t, &err)) {
        json_decref(t.networks);
        return cli_failed(&err);
    }
    fprintf(t.f,
            "run DIR/OP/OP.onnx (.tflite, .assay) on DIR/OP/inputs/*.npy, write the outputs to "
            "OUTPUTS/OP/NAME.npy, then\n  assay infer '%s' OUTPUTS -o found.yaml\n",
            dir);
    if (cli_has(a, "json"))
        return cli_json_write(a, t.networks);
    json_decref(t.networks);
    return CLI_OK;
}

static const cli_option options[] = {
    {"output", 'o', "DIR", "the folder, which must not exist yet"},
    {"op", 0, "OP,OP...", "networks of these ops alone (default: all)"},
    {"among", 0, "A,B,...|all",
     "schemes that infer is to consider, if it is not told others (default: all that are shipped)"},
    {"types", 0, "TYPES", "activations and weights: s8s8, u8s8, u8u8 or s16s8 (default: s8s8)"},
    {"format", 0, "FORM,...", "text, onnx, tflite (default: each that can hold the network)"},
    {"scheme", 's', "NAME|FILE", "whose bits are expected (default: one for the types)"},
    {"seed", 0, "N", "seed of the numbers drawn (default: 1)"},
    CLI_JSON_OPTION,
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_probe = {
    .name = "probe",
    .usage = "-o DIR [--op OP,...] [--among A,B,...] [--types s8s8|u8s8|u8u8|s16s8]",
    .summary = "write small networks whose outputs reveal a device's arithmetic",
    .examples = "  assay probe -o probes\n"
                "  assay probe --op conv,add --types u8s8 --format onnx -o probes\n"
                "  assay infer probes outputs -o found.yaml\n",
    .options = options,
    .min_args = 0,
    .max_args = 0,
    .run = run,
};
