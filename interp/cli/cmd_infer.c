/* assay infer: a device's arithmetic, found by asking the device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph/core/type.h"
#include "graph/files/files.h"
#include "interp/cli/infer.h"
#include "interp/cli/json.h"
#include "interp/infer/infer.h"
#include "interp/infer/window.h"

/* "LO:HI" of integers within min..max. */
static bool read_range(const cli_args *a, const char *option, int64_t min, int64_t max,
                       int64_t out[2])
{
    const char *text = cli_value(a, option, NULL);
    char *middle = NULL, *end = NULL;
    out[0] = min;
    out[1] = max;
    if (!text)
        return true;
    errno = 0;
    out[0] = strtoll(text, &middle, 10);
    const bool colon = middle != text && *middle == ':';
    out[1] = colon ? strtoll(middle + 1, &end, 10) : 0;
    if (colon && end != middle + 1 && *end == '\0' && errno == 0 && out[0] >= min &&
        out[1] <= max && out[0] <= out[1])
        return true;
    cli_trouble("infer: --%s takes LO:HI, integers from %lld to %lld, LO not above HI, not '%s'",
                option, (long long)min, (long long)max, text);
    return false;
}

static bool read_kind(const cli_args *a, infer_options *o)
{
    const char *kind = cli_value(a, "kind", "");
    o->kind = strcmp(kind, "scale") == 0 ? INFER_SCALE : INFER_MULTIPLIER;
    if (o->kind == INFER_SCALE || strcmp(kind, "multiplier") == 0)
        return true;
    cli_trouble("infer: --kind takes multiplier, scale or dot, not '%s'", kind);
    return false;
}

static bool read_type(const cli_args *a, infer_options *o)
{
    static const struct {
        const char *name;
        unsigned bits;
        bool is_signed;
    } types[] = {{"i8", 8, true}, {"u8", 8, false}, {"i16", 16, true}};
    const char *type = cli_value(a, "type", "");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(type, types[i].name) == 0) {
            o->type = assay_int(types[i].bits, types[i].is_signed);
            return true;
        }
    cli_trouble("infer: --type takes i8, u8 or i16, not '%s'", type);
    return false;
}

static bool read_options(const cli_args *a, infer_options *o)
{
    int64_t budget, acc_bits, multiplier[2], shift[2];
    const bool rounds = cli_has(a, "rounds"), oracle = cli_has(a, "oracle");
    if (rounds && (oracle || cli_has(a, "timeout"))) {
        cli_trouble("infer: --rounds has no command to call, so --%s does not apply",
                    oracle ? "oracle" : "timeout");
        return false;
    }
    if (!(rounds || oracle) || !cli_has(a, "kind") || !cli_has(a, "type")) {
        cli_trouble("infer: needs --oracle 'CMD' or --rounds DIR, --kind multiplier|scale and "
                    "--type i8|u8|i16, or --kind dot");
        return false;
    }
    if (!read_kind(a, o) || !read_type(a, o) ||
        !cli_integer(a, "budget", INFER_BUDGET, 1, 100000000, &budget) ||
        !cli_integer(a, "acc-bits", 32, 2, 64, &acc_bits) ||
        !cli_number(a, "timeout", 60, 0.01, 1e6, &o->timeout) ||
        !read_range(a, "multiplier", -INFER_MAX_MULTIPLIER, INFER_MAX_MULTIPLIER, multiplier) ||
        !read_range(a, "shift", -INFER_MAX_SHIFT, INFER_MAX_SHIFT, shift))
        return false;
    o->oracle = cli_value(a, "oracle", "");
    o->budget = (size_t)budget;
    o->acc_bits = (int)acc_bits;
    o->multiplier_lo = multiplier[0];
    o->multiplier_hi = multiplier[1];
    o->shift_lo = (int32_t)shift[0];
    o->shift_hi = (int32_t)shift[1];
    return true;
}

static int write_files(const cli_args *a, const infer_options *o, const infer_result *r)
{
    const char *path = cli_value(a, "output", NULL), *json = cli_value(a, "json", NULL);
    const infer_asked x = {o, r};
    assay_error err;
    if (path && file_print(path, infer_print_scheme, &x, &err))
        return cli_failed(&err);
    if (json && cli_json_write(a, infer_json(o, r, path)) != CLI_OK)
        return CLI_TROUBLE;
    const bool taken = (json && strcmp(json, "-") == 0) || (path && strcmp(path, "-") == 0);
    infer_print_report(taken ? stderr : stdout, o, r, path);
    return r->verdict == INFER_UNIQUE ? CLI_OK : CLI_DIFFERENT;
}

/* Options that are for rows, or for answers: named with the other they would do nothing. */
static bool fits(const cli_args *a, bool answers)
{
    static const char *const rows[] = {"oracle",      "rounds",  "kind",       "type",  "budget",
                                       "acc-bits",    "timeout", "multiplier", "shift", "a",
                                       "b",           "acc",     "out",        "k",     "scale",
                                       "scale-block", "seconds", NULL};
    static const char *const others[] = {"among", "hex-bits", "model", "dumps",
                                         "input", "next",     NULL};
    for (const char *const *name = answers ? rows : others; *name; name++)
        if (cli_has(a, *name)) {
            cli_trouble("infer: --%s is for %s", *name,
                        answers ? "--oracle and --rounds, not for given answers"
                                : "given answers, not for --oracle or --rounds");
            return false;
        }
    return true;
}

/* --model and --dumps come together, in place of DIR OUTPUTS. */
static bool fits_model(const cli_args *a)
{
    const bool model = cli_has(a, "model"), dumps = cli_has(a, "dumps");
    if (model != dumps)
        cli_trouble("infer: --model NET and --dumps DIR must be given together");
    else if (model && a->n_positional > 0)
        cli_trouble("infer: DIR OUTPUTS or --model NET --dumps DIR, not both");
    else if (model && cli_has(a, "next"))
        cli_trouble("infer: --next is for DIR OUTPUTS: a next probe is made from a first one");
    else if (!model && cli_has(a, "input"))
        cli_trouble("infer: --input applies to --model");
    else
        return true;
    return false;
}

/* Options of a rescale's rows, or of dot products; of multipliers and shifts, or of scales. */
static bool fits_kind(const cli_args *a, bool dot)
{
    const bool scale = strcmp(cli_value(a, "kind", ""), "scale") == 0;
    static const char *const rescale[] = {"type",  "acc-bits", "multiplier",
                                          "shift", "rounds",   NULL};
    static const char *const dots[] = {"a",     "b",           "acc",     "out", "k",
                                       "scale", "scale-block", "seconds", NULL};
    static const char *const multipliers[] = {"multiplier", "shift", NULL};
    const char *const *const lists[] = {dot ? rescale : dots,
                                        scale ? multipliers : multipliers + 2};
    for (int i = 0; i < 2; i++)
        for (const char *const *name = lists[i]; *name; name++)
            if (cli_has(a, *name)) {
                cli_trouble("infer: --%s does not apply to --kind %s", *name,
                            cli_value(a, "kind", ""));
                return false;
            }
    if (!dot || cli_has(a, "oracle"))
        return true;
    cli_trouble("infer: --kind dot needs --oracle 'CMD'");
    return false;
}

/* Before a device is asked: can what is found be written? */
static int check_places(const cli_args *a)
{
    static const char *const options[] = {"output", "json"};
    assay_error err;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const char *path = cli_value(a, options[i], NULL);
        if (path && file_check_place(path, &err))
            return cli_failed(&err);
    }
    return CLI_OK;
}

static int run(const cli_args *a)
{
    infer_options o = {0};
    infer_result r;
    assay_error err;
    if (a->n_positional == 1)
        return cli_trouble("infer: OUTPUTS is missing: infer DIR OUTPUTS, or --oracle 'CMD'");
    const bool answers = a->n_positional == 2 || cli_has(a, "model") || cli_has(a, "dumps");
    if (!fits(a, answers) || !fits_model(a) || check_places(a) != CLI_OK)
        return CLI_TROUBLE;
    if (answers)
        return cli_infer_probes(a);
    if (strcmp(cli_value(a, "kind", ""), "dot") == 0)
        return fits_kind(a, true) ? cli_infer_dot(a) : CLI_TROUBLE;
    if (!fits_kind(a, false) || !read_options(a, &o))
        return CLI_TROUBLE;
    cli_rounds rounds = {.dir = cli_value(a, "rounds", ""), .type = o.type};
    if (cli_has(a, "rounds")) {
        o.ask = cli_rounds_ask;
        o.user = &rounds;
    }
    cli_progress progress;
    o.told = cli_progress_to;
    o.listener = &progress;
    cli_progress_begin(&progress, "infer", (int64_t)o.budget, !isatty(STDERR_FILENO));
    const assay_status s = infer_run(&o, &r, &err);
    cli_progress_end(&progress);
    const int status = !s               ? write_files(a, &o, &r)
                       : rounds.waiting ? cli_rounds_waiting(&rounds, cli_value(a, "json", NULL))
                                        : cli_failed(&err);
    infer_result_free(&r);
    return status;
}

static const cli_option options[] = {
    {"oracle", 0, "CMD",
     "the device: `/bin/sh -c 'CMD IN_DIR OUT_DIR'` reads rows as .npy files and writes out.npy "
     "and "
     "errors.npy (README of interp/infer)"},
    {"rounds", 0, "DIR",
     "in place of a command: rows as files in DIR/1/rows, answers in DIR/1/answers; called again, "
     "DIR/2, until nothing is left to ask"},
    {"kind", 0, "multiplier|scale|dot",
     "what a row gives: a multiplier and a total right shift, or the three scales; or the operands "
     "of a dot product, of a matrix unit"},
    {"type", 0, "i8|u8|i16", "the type of the codes"},
    {"budget", 0, "ROWS", "rows that may be asked, repeated ones among them (default: 20000)"},
    {"acc-bits", 0, "B", "bits of the accumulators, 2 to 64 (default: 32)"},
    {"multiplier", 0, "LO:HI", "multipliers to ask about (default: all that the device takes)"},
    {"shift", 0, "LO:HI", "total right shifts to ask about (default: all that the device takes)"},
    {"a", 0, "FORMAT", "kind dot: elements of A"},
    {"b", 0, "FORMAT", "kind dot: elements of B"},
    {"acc", 0, "FORMAT", "kind dot: the accumulator, f64, f32, f16 or bf16"},
    {"out", 0, "FORMAT", "kind dot: the results (default: that of --acc)"},
    {"k", 0, "N", "kind dot: products per row; several steps of the unit"},
    {"scale", 0, "FORMAT", "kind dot: block scales, e8m0, ue4m3 or f32"},
    {"scale-block", 0, "N", "kind dot: products that share a scale"},
    {"seconds", 0, "SECONDS", "kind dot: processor time to search for (default: 60)"},
    {"timeout", 0, "SECONDS", "time limit for a call of the oracle (default: 60)"},
    {"model", 0, "NET", "instead of DIR OUTPUTS: the quantized network that the device ran"},
    {"dumps", 0, "DIR", "the device's dumps: any tensors of NET, including its inputs"},
    {"input", 'i', "[NAME=]FILE", "of --model: inputs that were not dumped (as in golden)"},
    {"among", 0, "A,B,...|all",
     "of answers: schemes to consider, and to search near (default: those of assay probe --among, "
     "or all that are shipped)"},
    {"next", 0, "DIR2",
     "of DIR OUTPUTS: the smallest probe that tells the remaining schemes apart, in a new folder"},
    {"hex-bits", 0, "N", "of answers: width in bits of a word in .hex dumps"},
    {"json", 0, "FILE", "the report for programs"},
    {"output", 'o', "FOUND.yaml", "the record found, as a scheme file"},
    {NULL, 0, NULL, NULL}};

const cli_command cli_cmd_infer = {
    .name = "infer",
    .usage = "--oracle 'CMD' --kind multiplier|scale --type i8|u8|i16 [--budget ROWS] "
             "[-o FOUND.yaml] | --oracle 'CMD' --kind dot --a FORMAT --b FORMAT --acc FORMAT --k N "
             "[-o UNIT.yaml] | DIR OUTPUTS | --model NET --dumps DIR",
    .summary = "find a device's arithmetic from its answers: the records that agree, or the "
               "nearest one and what contradicts it",
    .examples =
        "  assay infer --oracle ./device.sh --kind multiplier --type i8 -o found.yaml\n"
        "  assay infer --oracle 'python3 rtl.py' --kind multiplier --type u8 \\\n"
        "      --multiplier 0:65535 --shift 0:31 --json report.json\n"
        "  assay infer --oracle ./unit.sh --kind dot --a e4m3fn --b e4m3fn --acc f32 --k 64 \\\n"
        "      -o found.yaml\n"
        "  assay infer --rounds rtl --kind multiplier --type i8 -o found.yaml\n"
        "  assay probe -o probes; assay infer probes outputs -o found.yaml\n"
        "  assay infer probes outputs --next probes2; assay infer probes2 outputs2\n"
        "  assay infer golden device-dumps/ -o found.yaml\n"
        "  assay infer --model net.tflite --dumps device-dumps/ -i x.npy -o found.yaml\n",
    .options = options,
    .min_args = 0,
    .max_args = 2,
    .run = run,
};
